"""Where the randomness of keys can come from on a chip, from data/public_key/entropy.toml. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.catalog.places import DATA

ENTROPY = DATA / "public_key" / "entropy.toml"
QUALITIES = ("none", "unassessed", "generator")


@dataclass(frozen=True)
class Entropy:
    """A source of randomness of the chips that match a pattern of `chips`.

    `quality` is "none", "unassessed" (hardware whose maker does not promise unpredictable output) or
    "generator". `advice` says how to use it.
    """

    chips: tuple[str, ...]
    title: str
    quality: str
    advice: str
    source: str


def entropies(path: Path = ENTROPY) -> list[Entropy]:
    """All of them, in the order in which they are tried; InputError where the file is wrong."""
    table, found = Table.read(path), []
    for entry in table.tables("entropy"):
        found.append(
            Entropy(
                chips=entry.texts("chips"),
                title=entry.text("title", filled=True),
                quality=entry.text("quality", choices=QUALITIES),
                advice=entry.text("advice", filled=True),
                source=entry.text("source"),
            )
        )
        entry.done()
    table.done()
    return found


def entropy_of(chip: str, path: Path = ENTROPY) -> Entropy:
    """The first that matches a chip; InputError where none does."""
    for one in entropies(path):
        if any(fnmatchcase(chip, pattern) for pattern in one.chips):
            return one
    raise InputError(f"{path}: no entry matches {chip}; end with one for '*'")
