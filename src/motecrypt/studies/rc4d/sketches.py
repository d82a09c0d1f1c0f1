"""What the author's own sketches take: run here by the user who has them, or as recorded. Pure.

Recorded figures come from `data/recorded/rc4d_sketches.toml` and are never counted as run here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

from motecrypt.base.descriptor import Table
from motecrypt.catalog.places import DATA
from motecrypt.results import Results
from motecrypt.results.experiments.sketch import SketchFigures, SketchQuestion
from motecrypt.studies.facts import LikeForLike
from motecrypt.studies.rc4d.figures import DEVICE, Printed

FILE = DATA / "recorded" / "rc4d_sketches.toml"
NOOP = "noop"
PROVENANCE = ("repository", "commit", "licence", "recorded", "toolchain", "simulator", "repeat")


@dataclass(frozen=True)
class RecordedSketches:
    """Recorded figures of the author's sketches.

    Attributes
    ----------
    provenance : repository, commit, licence, toolchain, simulator, day, and how to repeat them.
    prints : by cipher, the hexadecimal digits that its sketch prints before its time.
    figures : by row.
    """

    provenance: Mapping[str, str]
    prints: Mapping[str, str]
    figures: Mapping[str, SketchFigures]


def read_sketches(path: Path) -> RecordedSketches:
    """Read the recorded figures; InputError when the file is not as it should be."""
    table = Table.read(path)
    origin = table.table("provenance")
    provenance = {key: origin.text(key, filled=True) for key in PROVENANCE}
    origin.done()
    prints, figures = {}, {}
    for cipher, entry in table.named_tables("prints").items():
        prints[cipher] = entry.text("hex", filled=True)
        entry.text("source")
        entry.done()
    for row, entry in table.named_tables("sketch").items():
        figures[row] = SketchFigures(
            entry.number("time_ms", low=0),
            entry.integer("flash_bytes", low=1),
            entry.integer("ram_bytes", low=0),
        )
        entry.done()
    table.done()
    return RecordedSketches(provenance, prints, figures)


@cache
def _recorded() -> RecordedSketches:
    return read_sketches(FILE)


def provenance() -> Mapping[str, str]:
    """Of the recorded figures: repository, commit, toolchain, simulator, day, and how to repeat them."""
    return _recorded().provenance


def recorded() -> Mapping[str, SketchFigures]:
    """The recorded figures by row."""
    return _recorded().figures


def questions() -> list[SketchQuestion]:
    """One for each row of the table, and for each sketch with a no-op cipher."""
    return [SketchQuestion("rc4d", row, DEVICE, _prints(row)) for row in recorded()]


def _prints(row: str) -> str:
    cipher, _, rest = row.partition("-")
    if NOOP in rest.split("-"):
        return ""
    return _recorded().prints[cipher]


def noop_rows() -> list[str]:
    """The rows of the sketches with a no-op cipher."""
    return [row for row in recorded() if not _prints(row)]


def sketch_of(row: Printed) -> str:
    """The name of a row's sketch, such as rc4d-ki-opt."""
    return _name(row.cipher, row.letters, row.style)


def _name(cipher: str, letters: str, style: str) -> str:
    base = "aes" if cipher == "aes128-ecb" else cipher
    return "-".join(part for part in (base, letters, style) if part)


@dataclass(frozen=True)
class AuthorFigure:
    """A figure of the author's code; `run_here` if none of what it was computed from is recorded."""

    value: float
    run_here: bool

    @property
    def like_for_like(self) -> LikeForLike:
        """How a row with this figure is marked."""
        return "author's code" if self.run_here else "author's code, recorded"


def joined(compute: Callable[..., float], *figures: AuthorFigure) -> AuthorFigure:
    """A figure computed from others: run here only if all of them are."""
    return AuthorFigure(compute(*(f.value for f in figures)), all(f.run_here for f in figures))


@dataclass(frozen=True)
class Authors:
    """The author's sketches: what was run here, by row."""

    runs: Mapping[str, SketchFigures]

    @classmethod
    def stored(cls, results: Results) -> Self:
        """Those whose sketches were run here."""
        found = {question.row: question.answer(results) for question in questions()}
        return cls({row: figures for row, figures in found.items() if figures is not None})

    def time_ms(self, cipher: str, letters: str, style: str) -> AuthorFigure:
        """The milliseconds that the row's sketch prints."""
        row = _name(cipher, letters, style)
        here = row in self.runs
        return AuthorFigure(float((self.runs if here else recorded())[row].time_ms), here)

    def flash_bytes(self, cipher: str, letters: str, style: str) -> AuthorFigure:
        """Flash by difference to the sketch with a no-op cipher."""
        whole, noop, here = self._pair(cipher, letters, style, letters.removesuffix("e"))
        return AuthorFigure(float(whole.flash_bytes - noop.flash_bytes), here)

    def ram_bytes(self, cipher: str, letters: str, style: str) -> AuthorFigure:
        """Variables by the same difference. A precomputed S-box is also in the no-op sketch of p, so there
        the one without p counts."""
        without = letters.partition("p")[0]
        whole, noop, here = self._pair(cipher, letters, style, without)
        return AuthorFigure(float(whole.ram_bytes - noop.ram_bytes), here)

    def _pair(
        self, cipher: str, letters: str, style: str, without: str
    ) -> tuple[SketchFigures, SketchFigures, bool]:
        """A sketch and its no-op one: both run here, or both recorded, as one compiler made them."""
        rows = _name(cipher, letters, style), _name(cipher, without, NOOP)
        here = all(row in self.runs for row in rows)
        one, other = ((self.runs if here else recorded())[row] for row in rows)
        return one, other, here
