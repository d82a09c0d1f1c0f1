"""The history of every figure over versions: its values, and the first version that changed it. Pure.

A version is a results file, or a commit of the history that `motecrypt ci` writes. A figure is matched by
what was measured, as `compare` does; versions are in the order in which the caller gives them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from motecrypt.base.model import Measurement, implementation_name
from motecrypt.gate.figures import UNITS
from motecrypt.gate.history import HistoryPoint
from motecrypt.present.compare import BY_BUILD, FIGURES, ComparedBuild, ComparedCell, identity_of

MORE_IS_BETTER = ("battery_days",)
ChangeKind = Literal["worse", "better", "broke", "fixed"]


@dataclass(frozen=True)
class FigureVersion:
    """One version: `label` is unique among all; `source` is where its figures come from."""

    label: str
    source: str
    cells: int
    compilers: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    """Versions of motecrypt that measured."""


@dataclass(frozen=True)
class FigureStep:
    """A version in which a figure differs from the one before that had it.

    Attributes
    ----------
    version, before_version
        Their labels.
    before, after
        Values; None on the side that failed.
    percent
        Growth; None from 0, and where a side failed.
    """

    kind: ChangeKind
    version: str
    before_version: str
    before: float | None
    after: float | None
    percent: float | None


@dataclass(frozen=True)
class FigureHistory:
    """One figure of one cell, or of one build, over all versions.

    Attributes
    ----------
    name
        The cell in words, unique together with `figure`.
    values
        One for each version; None where it was not measured or failed.
    failed
        Labels of the versions in which it failed.
    steps
        Every version that changed it, the oldest first.
    """

    name: str
    device: str
    cipher: str
    implementation: str
    operation: str
    message_bytes: int | None
    figure: str
    unit: str
    values: tuple[float | None, ...]
    failed: tuple[str, ...]
    steps: tuple[FigureStep, ...]

    @property
    def known(self) -> list[float]:
        """The values, without versions that have none."""
        return [value for value in self.values if value is not None]

    @property
    def percent(self) -> float | None:
        """Growth from the first version that has it to the last; None from 0, or with less than two."""
        known = self.known
        return (known[-1] - known[0]) * 100 / known[0] if len(known) > 1 and known[0] > 0 else None


@dataclass(frozen=True)
class History:
    """All figures; those that changed are first, the largest change in total before others."""

    versions: tuple[FigureVersion, ...]
    figures: tuple[FigureHistory, ...]

    @property
    def changed(self) -> tuple[FigureHistory, ...]:
        """The figures that some version changed."""
        return tuple(figure for figure in self.figures if figure.steps)

    def worse(self, threshold_percent: float) -> list[FigureHistory]:
        """The figures that the last version made worse past the threshold, or broke."""
        last = self.versions[-1].label
        return [
            figure
            for figure in self.figures
            if figure.steps
            and figure.steps[-1].version == last
            and (figure.steps[-1].kind == "broke" or _grew(figure.steps[-1], threshold_percent))
        ]


def _grew(step: FigureStep, threshold_percent: float) -> bool:
    return step.kind == "worse" and (step.percent is None or abs(step.percent) > threshold_percent)


@dataclass
class _Line:
    """What is collected of a figure: its words, and values and failures by the number of the version."""

    words: Mapping[str, object]
    values: dict[int, float] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)


class Collector:
    """Takes in one version after the other and gives the history. Keeps figures alone."""

    def __init__(self, across_flags: bool = False) -> None:
        self._across_flags = across_flags
        self._versions: list[FigureVersion] = []
        self._lines: dict[tuple[object, str], _Line] = {}
        self._builds: dict[ComparedBuild, ComparedBuild] = {}

    def add_measurements(self, label: str, source: str, measurements: Iterable[Measurement]) -> FigureVersion:
        """A version from a results file; of equal cells the first counts."""
        number, cells = len(self._versions), 0
        compilers, programs = set(), set()
        seen: set[object] = set()
        for m in measurements:
            cell = identity_of(m, self._across_flags, self._builds)
            if cell in seen:
                continue
            seen.add(cell)
            cells += 1
            compilers.add(m.compiler)
            programs.add(m.motecrypt_version)
            for figure in FIGURES:
                self._take(number, cell, figure, m, seen)
        known = tuple(sorted(compilers - {""}))
        version = FigureVersion(label, source, cells, known, tuple(sorted(programs - {""})))
        self._versions.append(version)
        return version

    def _take(self, number: int, cell: ComparedCell, figure: str, m: Measurement, seen: set[object]) -> None:
        of_build = figure in BY_BUILD
        key: tuple[object, str] = (cell.build if of_build else cell, figure)
        value = getattr(m, figure)
        if m.status != "ok":
            if figure == FIGURES[0]:
                self._line(key, cell, figure).failed.add(number)
        elif value is not None and key not in seen:
            seen.add(key)
            self._line(key, cell, figure).values[number] = value

    def _line(self, key: tuple[object, str], cell: ComparedCell, figure: str) -> _Line:
        if key not in self._lines:
            self._lines[key] = _Line(_words(cell, figure, self._across_flags))
        return self._lines[key]

    def add_points(self, label: str, source: str, points: Sequence[HistoryPoint]) -> FigureVersion:
        """A version from the history of `motecrypt ci`: the points of one commit."""
        number = len(self._versions)
        for point in points:
            for figure, value in point.figures:
                words = {"name": point.benchmark, "figure": figure, "unit": UNITS[figure]}
                line = self._lines.setdefault((point.benchmark, figure), _Line(words))
                line.values[number] = value
        compilers = tuple(sorted({point.compiler for point in points} - {""}))
        version = FigureVersion(label, source, len(points), compilers)
        self._versions.append(version)
        return version

    def history(self) -> History:
        """What has been taken in."""
        figures = [self._figure(line) for line in self._lines.values()]
        figures.sort(key=lambda one: (not one.steps, -_size(one), one.name, one.figure))
        return History(tuple(self._versions), tuple(figures))

    def _figure(self, line: _Line) -> FigureHistory:
        words = {"device": "", "cipher": "", "implementation": "", "operation": "", "message_bytes": None}
        return FigureHistory(
            **{**words, **line.words},  # type: ignore[arg-type]
            values=tuple(line.values.get(n) for n in range(len(self._versions))),
            failed=tuple(self._versions[n].label for n in sorted(line.failed)),
            steps=tuple(_steps(line, [version.label for version in self._versions])),
        )


def _size(figure: FigureHistory) -> float:
    """How much it changed: a figure that broke before all."""
    broke = any(step.kind in ("broke", "fixed") for step in figure.steps)
    return float("inf") if broke else max((abs(step.percent or 0.0) for step in figure.steps), default=0.0)


def _steps(line: _Line, labels: Sequence[str]) -> Iterable[FigureStep]:
    before: int | None = None
    for number, label in enumerate(labels):
        value, failed = line.values.get(number), number in line.failed
        if value is None and not failed:
            continue
        if before is not None:
            was = line.values.get(before)
            if was is None and value is not None:
                yield FigureStep("fixed", label, labels[before], None, value, None)
            elif was is not None and value is None:
                yield FigureStep("broke", label, labels[before], was, None, None)
            elif was is not None and value is not None and was != value:
                percent = (value - was) * 100 / was if was > 0 else None
                grew = (value > was) != (line.words["figure"] in MORE_IS_BETTER)
                kind: ChangeKind = "worse" if grew else "better"
                yield FigureStep(kind, label, labels[before], was, value, percent)
        before = number


def _words(cell: ComparedCell, figure: str, across_flags: bool) -> dict[str, object]:
    build = cell.build
    of_build = figure in BY_BUILD
    implementation = implementation_name(build.library, build.configuration, build.variant)
    bits = "" if str(cell.key_bits) in build.cipher else f" {cell.key_bits} bits"
    place = "" if build.placement == "flash" else f", {build.placement}"
    parts = [f"{build.cipher}{'' if of_build else bits}", f"{implementation}{place}", build.device]
    if not of_build:
        cached = "" if cell.cache in ("", "none") else f", {cell.cache} cache"
        more = f" + {cell.ad_bytes} AD" if cell.ad_bytes else ""
        parts.append(f"{cell.operation} {cell.message_bytes}{more} bytes{cached}")
    if build.flags_asked and not across_flags:
        parts.append(build.flags_asked)
    return {
        "name": " · ".join(parts),
        "device": build.device,
        "cipher": build.cipher,
        "implementation": f"{implementation}{place}",
        "operation": "" if of_build else cell.operation,
        "message_bytes": None if of_build else cell.message_bytes,
        "figure": figure.removesuffix("_median").replace("_bytes", ""),
        "unit": "cycles" if figure.startswith("cycles") else "bytes",
    }
