"""The judge of the gate: each rule passes at its limit and fails one above."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from motecrypt.base.errors import InputError
from motecrypt.gate.causes import PartFacts, grown, sizes
from motecrypt.gate.figures import Benchmark
from motecrypt.gate.forms import junit, markdown
from motecrypt.gate.judge import Delta, Judgement, judge_gate, number
from motecrypt.gate.plan import Budget, GatePlan, Growth


def budget(of: str = "*", **limits: Any) -> Budget:
    return Budget(
        of=(of,),
        most=limits.get("most", {}),
        growth=limits.get("growth", {}),
        battery_days=limits.get("days"),
        battery_days_loss=limits.get("loss"),
        constant_time=limits.get("constant", False),
    )


def plan(*budgets: Budget, growth: Growth | None = None) -> GatePlan:
    return GatePlan(
        file=Path("/r/motecrypt.toml"),
        base="",
        growth=growth or Growth(0.0, None),
        history="",
        measured=(),
        firmware=(),
        battery=None,
        budgets=budgets,
    )


def one(name: str = "uno/x", **figures: float) -> Benchmark:
    return Benchmark(name, name, figures)


def failed(judgement: Judgement) -> list[tuple[str, str, str]]:
    return [(c.benchmark, c.measure, c.rule) for c in judgement.failed]


@pytest.mark.parametrize(("value", "passes"), [(99, True), (100, True), (101, False)])
@pytest.mark.parametrize("measure", ["flash", "ram", "stack", "stack_worst", "cycles"])
def test_an_absolute_budget(measure: str, value: int, passes: bool) -> None:
    judgement = judge_gate(plan(budget(most={measure: 100})), [one(**{measure: value})], [])
    assert judgement.passed is passes
    assert failed(judgement) == ([] if passes else [("uno/x", measure, "budget")])
    check = judgement.checks[0]
    assert (check.value, check.base, check.limit, check.demand) == (
        value,
        None,
        100,
        f"at most 100 {'cycles' if measure == 'cycles' else 'bytes'}",
    )


@pytest.mark.parametrize(("value", "passes"), [(199, True), (200, True), (201, False)])
def test_without_a_word_nothing_may_grow(value: int, passes: bool) -> None:
    assert judge_gate(plan(), [one(cycles=value)], [one(cycles=200)]).passed is passes


@pytest.mark.parametrize(("value", "passes"), [(204, True), (205, False)])
def test_growth_of_the_file(value: int, passes: bool) -> None:
    assert judge_gate(plan(growth=Growth(2.0, None)), [one(ram=value)], [one(ram=200)]).passed is passes


@pytest.mark.parametrize(("value", "passes"), [(216, True), (217, False)])
def test_growth_of_a_budget_replaces_that_of_the_file(value: int, passes: bool) -> None:
    mine = budget(growth={"flash": Growth(None, 16.0)})
    judgement = judge_gate(plan(mine), [one(flash=value, ram=1)], [one(flash=200, ram=1)])
    assert judgement.passed is passes
    other = budget(growth={"flash": Growth(None, 8.0)})
    both = judge_gate(plan(mine, other), [one(flash=210)], [one(flash=200)])
    assert failed(both) == [("uno/x", "flash", "growth")], "each of two holds"


@pytest.mark.parametrize(("days", "passes"), [(300, True), (299.9, False), (400, True)])
def test_battery_days_are_at_least(days: float, passes: bool) -> None:
    judgement = judge_gate(plan(budget(days=300.0)), [one(battery_days=days)], [])
    assert judgement.passed is passes and judgement.checks[0].demand == "at least 300 days"


@pytest.mark.parametrize(("days", "passes"), [(99, True), (98.9, False)])
def test_battery_days_may_fall_where_the_file_says_how_far(days: float, passes: bool) -> None:
    base = [one(battery_days=100)]
    assert judge_gate(plan(), [one(battery_days=1)], base).passed, "no limit without a word"
    assert judge_gate(plan(budget(loss=Growth(1.0, None))), [one(battery_days=days)], base).passed is passes


def test_timing_that_did_not_vary_must_not_begin_to() -> None:
    still, varies = one(timing_varies=0), one(timing_varies=1)
    assert failed(judge_gate(plan(), [varies], [still])) == [("uno/x", "timing_varies", "timing")]
    assert judge_gate(plan(), [varies], [varies]).passed and judge_gate(plan(), [still], [varies]).passed
    assert judge_gate(plan(), [varies], []).passed
    assert failed(judge_gate(plan(budget(constant=True)), [varies], [varies])) == [
        ("uno/x", "timing_varies", "budget")
    ]


def broken(reason: str = "needs 9 of 8 bytes") -> Benchmark:
    return Benchmark("uno/x", "uno/x", {}, "does-not-fit", reason)


def test_what_ran_at_the_base_must_run() -> None:
    judgement = judge_gate(plan(), [broken()], [one(cycles=1)])
    assert failed(judgement) == [("uno/x", "status", "runs")]
    assert judgement.checks[0].reason == "does-not-fit: needs 9 of 8 bytes (ran at the base)"
    assert failed(judge_gate(plan(), [broken()], [])) == [("uno/x", "status", "runs")], "and what is new"
    same = judge_gate(plan(), [broken()], [broken("needs 10 of 8 bytes")])
    assert same.passed and same.checks[0].reason.endswith("(fails at the base, too)")


def test_what_has_a_budget_must_run_even_if_the_base_does_not() -> None:
    assert not judge_gate(plan(budget(most={"flash": 1})), [broken()], [broken()]).passed
    assert not judge_gate(plan(budget(days=1.0)), [broken()], [broken()]).passed
    assert not judge_gate(plan(budget(constant=True)), [broken()], [broken()]).passed
    assert judge_gate(plan(budget(growth={"flash": Growth(1.0, None)})), [broken()], [broken()]).passed
    assert judge_gate(plan(), [one(cycles=1)], [broken()]).passed, "what was mended has no base"


def test_deltas_and_what_is_gone() -> None:
    head = [one("a", flash=12, ram=3), one("new", flash=1)]
    base = [one("a", flash=10, ram=3), one("old", flash=1)]
    judgement = judge_gate(plan(growth=Growth(50.0, None)), head, base, ["a note"])
    assert judgement.passed and (judgement.figures, judgement.equal) == (3, 1)
    assert judgement.deltas == (Delta("a", "flash", 10, 12), Delta("new", "flash", None, 1))
    assert [delta.percent for delta in judgement.deltas] == [20.0, None]
    assert Delta("a", "ram", 0, 4).percent is None and Delta("a", "ram", 4, None).percent is None
    assert judgement.notes == ("a note", "only at the base: old")


def test_a_figure_that_disappears_fails() -> None:
    """Such as the bound of the stack, which recursion undoes."""
    head, base = [one(flash=1)], [one(flash=1, stack_worst=90, timing_varies=0)]
    for demanded in (plan(), plan(budget(most={"stack_worst": 100}))):
        judgement = judge_gate(demanded, head, base)
        assert failed(judgement) == [("uno/x", "stack_worst", "growth"), ("uno/x", "timing_varies", "timing")]
        check = judgement.failed[0]
        assert (check.value, check.base, check.reason) == (None, 90, "has no figure any more")
        assert judgement.deltas[0] == Delta("uno/x", "stack_worst", 90, None)
        assert "| stack_worst | 90 |  | gone | " in markdown(judgement, "main", [])
        assert "stack_worst has no figure any more (base: 90)" in junit(judgement).decode()
    unasked = judge_gate(plan(), head, [one(flash=1, battery_days=3)])
    assert unasked.passed and not unasked.deltas, "the file has no [battery] any more"


def test_a_budget_of_what_no_longer_builds_is_a_failure_and_not_a_mistake_of_the_file() -> None:
    """A build that fails has no benchmark of its sizes."""
    cell = Benchmark("uno/x/encrypt/16", "uno/x", {}, "build-error", "no such file")
    sizes = plan(budget("*/x", most={"flash": 1}))
    judgement = judge_gate(sizes, [cell], [one(flash=1), one("uno/x/encrypt/16", cycles=1)])
    assert failed(judgement) == [("uno/x/encrypt/16", "status", "runs")]
    with pytest.raises(InputError, match="'of' matches no benchmark"):
        judge_gate(sizes, [one("uno/y", flash=1)], [])


@pytest.mark.parametrize("first", ["*/gone", "uno/x/*"])  # its build fails; it does
def test_what_does_not_build_hides_no_other_mistake_of_the_file(first: str) -> None:
    cell = Benchmark("uno/x/encrypt/16", "uno/x", {}, "build-error", "no such file")
    budgets = plan(budget(first, most={"flash": 1}), budget("uno/y", most={"ram": 1}))
    with pytest.raises(InputError, match=r"budget\[1\]: no benchmark that 'of' matches has 'ram'$"):
        judge_gate(budgets, [cell, one("uno/y", flash=1)], [])


def test_only_what_the_base_does_not_have_is_new() -> None:
    head = [one("a", flash=1, ram=2), one("b", flash=1), one("build", flash=1), one("c", flash=1)]
    base = [one("a", flash=1), Benchmark("b", "b", {}, "fault"), Benchmark("build/16", "build", {}, "fault")]
    judgement = judge_gate(plan(), head, base)
    assert judgement.new == ("c",)
    assert "; 1 benchmarks are new." in markdown(judgement, "main", [])


def test_a_budget_that_can_never_fail_is_a_mistake_of_the_file() -> None:
    for wrong, said in (
        (budget("pico/*", most={"flash": 1}), r"budget\[0\]: 'of' matches no benchmark.*such as uno/x"),
        (budget(), r"budget\[0\]: has no limit"),
        (budget(most={"stack_worst": 1}), "no benchmark that 'of' matches has 'stack_worst'"),
        (budget(days=1.0), "has 'battery_days'; add \\[battery\\]"),
        (budget("uno/x", constant=True), "'timing_varies'; uno/y has it"),
    ):
        with pytest.raises(InputError, match=said):
            judge_gate(plan(wrong), [one(flash=1), one("uno/y", timing_varies=0)], [])
    judge_gate(plan(budget(most={"cycles": 1})), [broken()], [broken()])  # what it would have is not known


def test_causes_go_to_their_checks() -> None:
    judgement = judge_gate(plan(), [one(flash=2, ram=2)], [one(flash=1, ram=1)])
    told = judgement.with_causes({("uno/x", "ram"): ["box +1 bytes"]})
    assert [check.causes for check in told.checks] == [(), ("box +1 bytes",)]


def test_what_grew_is_told_largest_first() -> None:
    before = {"a": 10.0, "b": 5.0, "gone": 3.0, "same": 1.0}
    after = {"a": 12.0, "b": 9.0, "new": 1200.0, "same": 1.0}
    assert grown(before, after, "bytes") == [
        "new +1,200 bytes (new)",
        "b +4 bytes (5 to 9)",
        "a +2 bytes (10 to 12)",
        "others -3 bytes",
    ]
    assert grown(before, before, "bytes") == []
    assert "no named function" in grown(before, before, "bytes", 4)[0]
    assert grown({"a": 2.0}, {"a": 1.0}, "bytes", 0) == []


def test_parts_of_one_name_count_together() -> None:
    parts = [PartFacts("t", 4, 2), PartFacts("t", 1, 0, 7), PartFacts("u", 0, 0)]
    assert [sizes(parts, measure) for measure in ("flash", "ram", "stack")] == [{"t": 5}, {"t": 2}, {"t": 7}]


def test_numbers_for_people() -> None:
    assert [number(value) for value in (None, 1234567, 12.0, 1234.56)] == ["", "1,234,567", "12", "1,234.6"]
