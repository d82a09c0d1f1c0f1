"""Names use one word for one thing: none of those that vocabulary.toml replaces."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from lint.sources import Source

VOCABULARY: dict[str, str] = tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text())
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def _named(source: Source) -> Iterator[tuple[int, str]]:
    """Each name that the module gives or uses, with its line; the module's own has line 1."""
    yield 1, str(source.place)
    for node in source.nodes:
        for field in ("id", "attr", "arg", "name"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield getattr(node, "lineno", 1), name


def replaced(name: str) -> str:
    """The word of a name that has another now, in the singular; empty where there is none."""
    words = (part.lower() for part in _PART.findall(name.replace("motecrypt", "")))
    return next(
        (found for word in words for found in (word, word.removesuffix("s")) if found in VOCABULARY), ""
    )


def offences(sources: tuple[Source, ...]) -> Iterator[str]:
    """Each such name, with its place and the word to use."""
    for source in sources:
        for line, name in sorted(set(_named(source))):
            if word := replaced(name):
                yield f"{source.place}:{line}: {name}: '{word}' is called '{VOCABULARY[word]}'"
