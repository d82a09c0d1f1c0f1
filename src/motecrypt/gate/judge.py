"""Figures against budgets and against the base: which checks there are, and which of them fail. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from motecrypt.base.errors import InputError
from motecrypt.gate.figures import GROWING, UNITS, Benchmark
from motecrypt.gate.plan import Budget, GatePlan, Growth

Rule = Literal["budget", "growth", "timing", "runs"]


@dataclass(frozen=True)
class GateCheck:
    """One demand on one figure.

    Attributes
    ----------
    value, base, limit : None where there is none: a failed run, no base.
    rule : a "budget" of the file, "growth" from the base, "timing", or that it "runs".
    demand : what is demanded, in words.
    causes : of a failed check: what changed in the code, largest first.
    """

    benchmark: str
    build: str
    measure: str
    rule: Rule
    demand: str
    value: float | None
    base: float | None
    limit: float | None
    passed: bool
    reason: str = ""
    causes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Delta:
    """A figure here and at the base; None where one of them has none."""

    benchmark: str
    measure: str
    base: float | None
    value: float | None

    @property
    def percent(self) -> float | None:
        """Growth in per cent; None where it grew from 0 or only one is there."""
        if not self.base or self.value is None:
            return None
        return 100 * (self.value - self.base) / self.base


@dataclass(frozen=True)
class Judgement:
    """All checks, the figures that differ, what could not be compared, in words, and the benchmarks that are
    new: those that the base does not have."""

    checks: tuple[GateCheck, ...]
    deltas: tuple[Delta, ...]
    figures: int
    equal: int
    notes: tuple[str, ...] = ()
    new: tuple[str, ...] = ()

    @property
    def failed(self) -> list[GateCheck]:
        """The checks that fail, in order."""
        return [check for check in self.checks if not check.passed]

    @property
    def passed(self) -> bool:
        """Whether all do."""
        return not self.failed

    def with_causes(self, causes: Mapping[tuple[str, str], Sequence[str]]) -> Judgement:
        """The same with what caused the failures, by benchmark and measure."""
        checks = tuple(
            replace(check, causes=tuple(causes.get((check.benchmark, check.measure), ())))
            for check in self.checks
        )
        return replace(self, checks=checks)


def judge_gate(
    plan: GatePlan, head: Sequence[Benchmark], base: Sequence[Benchmark], notes: Sequence[str] = ()
) -> Judgement:
    """Every check that the plan demands of these benchmarks.

    Raises
    ------
    InputError
        A budget is for no benchmark, or for a measure that none of its benchmarks has.
    """
    _check_budgets(plan, head, base)
    before = {benchmark.name: benchmark for benchmark in base}
    checks: list[GateCheck] = []
    deltas: list[Delta] = []
    figures = equal = 0
    for benchmark in head:
        was = before.get(benchmark.name)
        if not benchmark.ran:
            checks.append(_does_not_run(plan, benchmark, was))
            continue
        mine = [budget for budget in plan.budgets if budget.covers(benchmark.name)]
        for measure, value in benchmark.figures.items():
            old = was.figures.get(measure) if was is not None else None
            figures += 1
            equal += old == value
            if old != value:
                deltas.append(Delta(benchmark.name, measure, old, value))
            checks += _checks(plan, mine, benchmark, measure, old)
        for measure, old in was.figures.items() if was is not None else ():
            if measure in benchmark.figures or (measure == "battery_days" and plan.battery is None):
                continue
            deltas.append(Delta(benchmark.name, measure, old, None))
            checks.append(_without_figure(benchmark, measure, old))
    known = {*before, *(benchmark.build for benchmark in base)}
    new = tuple(benchmark.name for benchmark in head if benchmark.name not in known)
    here = {benchmark.name for benchmark in head}
    gone = [benchmark.name for benchmark in base if benchmark.name not in here]
    said = [f"only at the base: {name}" for name in gone]
    return Judgement(tuple(checks), tuple(deltas), figures, equal, (*notes, *said), new)


def _check_budgets(plan: GatePlan, head: Sequence[Benchmark], base: Sequence[Benchmark]) -> None:
    """A budget that can never fail is a mistake in the file."""
    for number, budget in enumerate(plan.budgets):
        where = f"{plan.file}: budget[{number}]"
        covered = [benchmark for benchmark in head if budget.covers(benchmark.name)]
        if not covered and not all(benchmark.ran for benchmark in head):
            continue  # code that does not build has no benchmark of its sizes, a fault none of functions
        if not covered:
            few = ", ".join(benchmark.name for benchmark in head[:3])
            raise InputError(f"{where}: 'of' matches no benchmark; the names are such as {few}")
        wanted = {*budget.most, *budget.growth}
        wanted |= {"battery_days"} if budget.battery_days or budget.battery_days_loss else set()
        wanted |= {"timing_varies"} if budget.constant_time else set()
        if not wanted:
            raise InputError(f'{where}: has no limit; add one, such as flash = 4096 or cycles_growth = "1%"')
        if not all(benchmark.ran for benchmark in covered):
            continue  # what it would have had is not known
        names = {benchmark.name for benchmark in covered}
        had = [benchmark for benchmark in base if benchmark.name in names]
        there = {measure for benchmark in (*covered, *had) for measure in benchmark.figures}
        for measure in sorted(wanted - there):
            raise InputError(
                f"{where}: no benchmark that 'of' matches has '{measure}'{_who_has(measure, head)}"
            )


def _who_has(measure: str, head: Sequence[Benchmark]) -> str:
    one = next((benchmark.name for benchmark in head if measure in benchmark.figures), "")
    if not one and measure == "battery_days":
        return "; add [battery] to the file"
    return f"; {one} has it" if one else ""


def _does_not_run(plan: GatePlan, benchmark: Benchmark, was: Benchmark | None) -> GateCheck:
    """A failure that the base has too is not counted, unless the file sets a budget."""
    before = was is not None and not was.ran
    absolute = any(
        budget.covers(benchmark.name) and (budget.most or budget.battery_days or budget.constant_time)
        for budget in plan.budgets
    )
    told = (
        "ran at the base" if was is not None and was.ran else "fails at the base, too" if before else "is new"
    )
    demand = "runs, so that its budget can be checked" if absolute and before else "runs"
    return GateCheck(
        benchmark=benchmark.name,
        build=benchmark.build,
        measure="status",
        rule="runs",
        demand=demand,
        value=None,
        base=None,
        limit=None,
        passed=before and not absolute,
        reason=f"{benchmark.status}: {benchmark.reason} ({told})",
    )


def _without_figure(benchmark: Benchmark, measure: str, old: float) -> GateCheck:
    """Of a figure that the base has, such as a bound of the stack that recursion has undone."""
    return GateCheck(
        benchmark=benchmark.name,
        build=benchmark.build,
        measure=measure,
        rule="timing" if measure == "timing_varies" else "growth",
        demand="a figure, as at the base",
        value=None,
        base=old,
        limit=None,
        passed=False,
        reason="has no figure any more",
    )


def _checks(
    plan: GatePlan, budgets: Sequence[Budget], benchmark: Benchmark, measure: str, old: float | None
) -> list[GateCheck]:
    value = benchmark.figures[measure]
    found: list[GateCheck] = []

    def add(rule: Rule, demand: str, limit: float, passed: bool) -> None:
        found.append(
            GateCheck(
                benchmark=benchmark.name,
                build=benchmark.build,
                measure=measure,
                rule=rule,
                demand=demand,
                value=value,
                base=old,
                limit=limit,
                passed=passed,
            )
        )

    for budget in budgets:
        if measure in budget.most:
            limit = budget.most[measure]
            add("budget", f"at most {number(limit)} {UNITS[measure]}", limit, value <= limit)
        if measure == "battery_days" and budget.battery_days is not None:
            limit = budget.battery_days
            add("budget", f"at least {number(limit)} days", limit, value >= limit)
        if measure == "timing_varies" and budget.constant_time:
            add("budget", "no variation of timing", 0, value == 0)
    if old is None:
        return found
    if measure in GROWING:
        for growth in _growths(plan, budgets, measure):
            limit = growth.limit(old)
            add("growth", f"at most {growth.text} above the base", limit, value <= limit)
    elif measure == "battery_days":
        for loss in (b.battery_days_loss for b in budgets if b.battery_days_loss is not None):
            limit = loss.limit(old, falls=True)
            add("growth", f"at most {loss.text} below the base", limit, value >= limit)
    elif measure == "timing_varies":
        add("timing", "no variation that the base does not have", old, value <= old)
    return found


def _growths(plan: GatePlan, budgets: Sequence[Budget], measure: str) -> list[Growth]:
    """Those of the budgets; without any, the file's own."""
    own = [budget.growth[measure] for budget in budgets if measure in budget.growth]
    return own or [plan.growth]


def number(value: float | None) -> str:
    """A figure for people: whole where it is, else with one decimal place; empty where there is none."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"
