"""Residuals of published rows, and what they say of a device: median, 95th percentile, and the error
bound, or the range seen where the rows are too few for a bound. Pure.

A residual is ours divided by the published value, less 1. A row is scored if it is of a real chip and
consistent, if its code was not looked at while the device's model was made, and if our toolchains differ by
little on it. Assembly has no such spread, and neither has code whose compiler is known
(`StudyRules.compilers_known`): that one alone counts. A row of code in `StudyRules.differences` is compared
by what it takes more than the shortest message of its series, here and there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from motecrypt.adviser.hardware.fidelity import CONFIDENCE, COVERED, Fidelity
from motecrypt.adviser.hardware.rows import Chip, HardwareRow, StudyRules, rows, settings, shortest
from motecrypt.results.experiments.hardware import HardwareFigures, TimedRun

SCORED = "scored"
SEEN = "seen by the model's makers"
COMPILERS = "our toolchains differ"
ANOTHER = "not built by its compiler"
EXCLUDED = "excluded"
SHORTEST = "shortest of its series"
ALONE = "its shortest message was not run"


@dataclass(frozen=True)
class Residual:
    """A published row next to ours.

    Attributes
    ----------
    cycles
        Ours: halfway between the least and the most of our toolchains, without variants; by byte where
        the row is.
    ours
        The same in the row's unit.
    published
        The row's value, less that of `less` if there is one; so are ours.
    resolution
        Steps of the clock that was read, in the row's unit: two where two values were read.
    less
        The row of the shortest message that was subtracted; None where the row counts as a whole.
    share
        ours divided by published, less 1.
    spread
        How far our toolchains and their variants differ, as a share of the least; 0 of assembly, and where
        the compiler is known.
    scoring
        "scored", or why not.
    compiler
        The toolchain of the series that compiled the row, where it is known; it alone counts then.
    """

    row: HardwareRow
    chip: Chip
    figures: HardwareFigures
    cycles: float
    ours: float
    published: float
    resolution: float
    less: HardwareRow | None
    share: float
    spread: float
    scoring: str
    compiler: str = ""

    @property
    def scored(self) -> bool:
        """Whether it counts for the device's error bound."""
        return self.scoring == SCORED

    @property
    def title(self) -> str:
        """What was done, and what was subtracted."""
        less = "" if self.less is None else f", less those of {self.less.bytes} bytes"
        return self.row.title + less


def residual(
    row: HardwareRow, chip: Chip, figures: HardwareFigures, rules: StudyRules, short: HardwareFigures | None
) -> Residual:
    """The residual of one row; `short`: what the shortest message of its series takes here, if it was run.

    ValueError where nothing was run.
    """
    first = shortest(row) if rules.by_difference(row.code) else None
    less = None if first is None or first.id == row.id or short is None else first
    compiler = rules.compiler_of(chip.device, row)
    own = tuple(run for run in figures.runs if run.toolchain == compiler and not run.variant)
    built = own if compiler and own else figures.runs
    runs = built
    if less is not None and short is not None:
        further = _differences(built, short.runs)
        if further and min(run.cycles for run in further) > 0 and row.value > less.value:
            runs = tuple(further)
        else:  # no difference to compare: of other toolchains, or lost in the clock
            less = None
    published, readings = row.value, 1
    if less is not None:
        published, readings = row.value - less.value, 2
    cycles = [run.cycles for run in runs]
    plain = [run.cycles for run in runs if not run.variant] or cycles
    middle = (min(plain) + max(plain)) / 2
    ours = row.in_unit(middle)
    spread = max(cycles) / min(cycles) - 1
    scoring = row.mark
    if not scoring and compiler and not own:
        scoring = ANOTHER
    if not scoring and first is not None and less is None:
        scoring = SHORTEST if first.id == row.id else ALONE
    if not scoring and rules.trained(chip.device, row.code):
        scoring = SEEN
    if not scoring and rules.left_out(row.code):
        scoring = EXCLUDED
    if not scoring and spread > rules.compilers:
        scoring = COMPILERS
    return Residual(
        row=row,
        chip=chip,
        figures=figures,
        cycles=middle,
        ours=ours,
        published=published,
        resolution=readings * row.resolution,
        less=less,
        share=ours / published - 1,
        spread=spread,
        scoring=scoring or SCORED,
        compiler=compiler,
    )


def _differences(runs: Sequence[TimedRun], short: Sequence[TimedRun]) -> list[TimedRun]:
    """What each run takes more than the short message built in the same way."""
    of = {run.name: run.cycles for run in short}
    return [replace(run, cycles=run.cycles - of[run.name]) for run in runs if run.name in of]


def residuals(figures: Mapping[str, HardwareFigures], rules: StudyRules) -> dict[str, Residual]:
    """The residuals of rows that were run, by id, as those of one series need each other."""
    found = {}
    for name, own in figures.items():
        row = rows()[name]
        chip = rules.chip_of(row)
        if chip is not None:
            found[name] = residual(row, chip, own, rules, figures.get(shortest(row).id))
    return found


def percentile(values: Sequence[float], share: float) -> float:
    """The least of the values that this share of them does not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered) - 1e-9) - 1)]


def covering(count: int) -> tuple[int, float]:
    """Which of so many residuals, the least being 1, is the bound or the range, and what share it covers.

    The r-th of n covers a share p of all with confidence P(X < r), where X is binomial of n and p: a
    distribution-free tolerance limit (S. S. Wilks, Annals of Mathematical Statistics 12, 1941). The bound is
    the least that covers 95 % with 95 % confidence. With fewer than 59 there is none: the largest covers
    0.05^(1/n).
    """
    enough, below = 0, 0.0
    for rank in range(1, count + 1):
        below += math.comb(count, rank - 1) * COVERED ** (rank - 1) * (1 - COVERED) ** (count - rank + 1)
        if below >= CONFIDENCE:
            enough = rank
            break
    return (enough, COVERED) if enough else (count, (1 - CONFIDENCE) ** (1 / count))


def fidelity(
    device: str, memory: str, residuals: Iterable[Residual], scoring: str = SCORED
) -> Fidelity | None:
    """What the residuals that are scored so come to; None where there are none."""
    scored = [each for each in residuals if each.scoring == scoring]
    if not scored:
        return None
    far = [abs(each.share) for each in scored]
    rank, coverage = covering(len(scored))
    return Fidelity(
        device=device,
        memory=memory,
        rows=len(scored),
        median=median(far),
        percentile_95=percentile(far, 0.95),
        worst=max(far),
        difference=sorted(abs(each.share) + each.spread for each in scored)[rank - 1],
        coverage=coverage,
        condition=_condition(scored),
    )


def by_device(compared: Iterable[Residual], scoring: str = SCORED) -> dict[str, Fidelity]:
    """What the residuals that are scored so come to on each device; devices without any are left out."""
    own: dict[str, list[Residual]] = {}
    for each in compared:
        own.setdefault(each.chip.device, []).append(each)
    found = {device: fidelity(device, group[0].chip.memory, group, scoring) for device, group in own.items()}
    return {device: known for device, known in found.items() if known is not None}


def _condition(scored: Sequence[Residual]) -> str:
    """Of which code these rows are: the difference of other code is not known."""
    compiled = [each for each in scored if not each.row.assembly]
    said = ["assembly"] if len(compiled) < len(scored) else []
    known = sorted({each.compiler for each in compiled if each.compiler})
    if known:
        said.append(f"C built by {' or '.join(known)} as the rows were")
    ours = {run.toolchain for each in compiled if not each.compiler for run in each.figures.runs}
    if len(ours) == 1:
        said.append(f"C built by {ours.pop()}")
    elif ours:
        names = sorted(
            ours, key=lambda name: [int(n) for n in name.removeprefix("gcc-").split(".") if n.isdigit()]
        )
        limit = f"{100 * settings().compilers:g} %"
        said.append(f"C on which {', '.join(names[:-1])} and {names[-1]} differ by at most {limit}")
    return "; ".join(said) if len(said) > 1 else f"{said[0]} alone" if said == ["assembly"] else said[0]
