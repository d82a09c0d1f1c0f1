"""The judge says yes and no in both directions, and nothing but the evidence decides."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from motecrypt.studies.facts import Comparison, Tolerance, Verdict
from motecrypt.studies.judge import Between, Bound, Check, Evidence, compare, judge

VALUES = st.floats(min_value=1e-3, max_value=1e6)
SHARES = st.floats(min_value=0.0, max_value=0.5)
ROOMS = st.floats(min_value=0.0, max_value=10.0)
OTHERS = Evidence("same algorithm, ours")


def row(published: Any, measured: Any, **more: Any) -> Comparison:
    given: dict[str, Any] = {"id": "a-b", "source": "s", "table": "t", "row": "r", "column": "c"} | more
    return compare(published=published, measured=measured, **given)


@given(VALUES, SHARES, ROOMS, st.floats(min_value=0.0, max_value=0.999), st.sampled_from((-1, 1)))
def test_inside_the_tolerance_matches_above_and_below(
    said: float, share: float, room: float, part: float, side: int
) -> None:
    tolerance = Tolerance(share, room, "model")
    ours = said + side * part * (share * said + room)
    assert judge("figure", said, ours, tolerance) == "matches"


@given(VALUES, SHARES, ROOMS, st.floats(min_value=1e-6, max_value=100.0), st.sampled_from((-1, 1)))
def test_outside_the_tolerance_differs_above_and_below(
    said: float, share: float, room: float, more: float, side: int
) -> None:
    tolerance = Tolerance(share, room, "model")
    ours = said + side * (share * said + room + more * said)
    assert judge("figure", said, ours, tolerance) == "differs"


@given(VALUES, VALUES, SHARES, st.sampled_from((True, False)))
def test_better_is_a_column_and_never_a_verdict(said: float, ours: float, share: float, less: bool) -> None:
    tolerance = Tolerance(share, 0.0, "model")
    plain = row(said, ours, tolerance=tolerance)
    told = row(said, ours, tolerance=tolerance, evidence=Evidence("other", less_is_better=less))
    assert plain.verdict == told.verdict and plain.better is None
    assert told.better is (told.verdict == "differs" and (ours < said if less else ours > said))


def test_ours_at_a_tenth_of_the_print_is_better_and_no_match() -> None:
    far = row(11040.0, 829.7, tolerance=Tolerance(0.05), evidence=Evidence("other", less_is_better=True))
    assert (far.verdict, far.better, far.cause_known) == ("differs", True, "unknown")


@given(VALUES, VALUES, SHARES)
def test_a_bound_holds_on_its_own_side_only(limit: float, found: float, share: float) -> None:
    assume(abs(found / limit - 1) > 1e-6)
    above, below = found > limit, found < limit
    assert (judge("claim", Bound("above", limit), found) == "matches") is above
    assert (judge("claim", Bound("at least", limit), found) == "matches") is above
    assert (judge("claim", Bound("below", limit), found) == "matches") is below
    assert (judge("claim", Bound("at most", limit), found) == "matches") is below
    room = Tolerance(share, 0.0, "clock")
    for relation in ("at least", "at most", "above", "below"):
        if judge("claim", Bound(relation, limit), found) == "matches":  # type: ignore[arg-type]
            assert judge("claim", Bound(relation, limit), found, room) == "matches"  # type: ignore[arg-type]


def test_a_bound_at_its_value() -> None:
    at = {relation: judge("claim", Bound(relation, 2.0), 2.0) for relation in ("above", "below")}  # type: ignore[arg-type]
    assert at == {"above": "differs", "below": "differs"}
    at = {relation: judge("claim", Bound(relation, 2.0), 2.0) for relation in ("at least", "at most")}  # type: ignore[arg-type]
    assert set(at.values()) == {"matches"}
    assert (
        judge("claim", Bound("at least", 0.0), 0.0) == judge("claim", Bound("at most", 0.0), 0.0) == "matches"
    )
    assert (
        judge("claim", Bound("at most", 0.0), 1.0)
        == judge("claim", Bound("at least", 0.0), -1.0)
        == "differs"
    )


@given(VALUES, VALUES, VALUES)
def test_a_range_matches_between_its_ends(low: float, width: float, found: float) -> None:
    assume(min(abs(found / low - 1), abs(found / (low + width) - 1)) > 1e-6)
    inside = low < found < low + width
    assert (judge("claim", Between(low, low + width), found) == "matches") is inside


@given(VALUES, VALUES, VALUES)
def test_a_print_that_fails_its_check_is_judged_by_nothing_else(
    said: float, other: float, ours: float
) -> None:
    evidence = Evidence("other", checks=(Check(said, other, "why", "motecrypt x"),))
    told = row(said, ours, evidence=evidence)
    if abs(said / other - 1) > 1e-6:
        assert (told.verdict, told.cause, told.command) == ("paper is inconsistent", "why", "motecrypt x")
        assert told.cause_known == "shown by experiment" and told.better is None
    assert judge("figure", said, ours, evidence=Evidence(checks=(Check(said, said, "", ""),))) != (
        "paper is inconsistent"
    )


def test_each_verdict_has_its_evidence() -> None:
    wrong = Check("a", "b", "why", "motecrypt x")
    every = Evidence("other", checks=(wrong,), needs_hardware="radios", bring="the sketch")
    cases: dict[Verdict, Comparison] = {
        "not printed": row(None, 1.0, evidence=every),
        "paper is inconsistent": row(1.0, 1.0, evidence=every),
        "needs hardware": row(1.0, 1.0, evidence=Evidence(needs_hardware="radios", bring="the sketch")),
        "bring the code": row(1.0, 1.0, evidence=Evidence(bring="the sketch")),
        "not measured": row(1.0, None),
        "matches": row("full", "full"),
        "differs": row("Full", "full"),
    }
    assert row(None, None).verdict == "not printed" == row(None, 1.0, expected=1.0, found=1.0).verdict
    assert {name: told.verdict for name, told in cases.items()} == {name: name for name in get_args(Verdict)}
    assert cases["needs hardware"].missing == "radios" and cases["bring the code"].missing == "the sketch"
    assert not any(
        told.missing for name, told in cases.items() if name not in ("needs hardware", "bring the code")
    )


def test_a_cause_stands_only_where_something_differs() -> None:
    known = Evidence("other", cause="the clock", known="shown by experiment", command="motecrypt measure")
    same, apart = row(1.0, 1.0, evidence=known), row(1.0, 2.0, evidence=known)
    nothing = row(1.0, None, evidence=known)
    for told in (same, nothing):
        assert (told.cause, told.cause_known, told.command) == ("", "", "")
    assert (apart.cause, apart.cause_known, apart.command) == (
        *("the clock", "shown by experiment", "motecrypt measure"),
    )
    guessed = row(1.0, 2.0, evidence=Evidence("other", cause="the clock"))
    assert (guessed.cause_known, row(1.0, 2.0).cause_known) == ("consistent with", "unknown")


def test_what_is_shown_may_be_words_and_what_is_judged_a_number() -> None:
    told = row("faster", "-3 %", kind="claim", expected=Bound("below", 1.0), found=0.97)
    assert (told.verdict, told.published, told.measured, told.ratio) == ("matches", "faster", "-3 %", None)
    assert row("faster", "+3 %", kind="claim", expected=Bound("below", 1.0), found=1.03).verdict == "differs"
    assert (
        row("faster", None, kind="claim", expected=Bound("below", 1.0), found=0.9).verdict == "not measured"
    )


@pytest.mark.parametrize(
    ("kind", "published", "measured", "evidence"),
    [
        ("derived", 1.0, 1.0, OTHERS),
        ("figure", Bound("above", 1.0), 1.0, OTHERS),
        ("input", 1.0, 1.0, OTHERS),
        ("figure", 1.0, "one", OTHERS),
        ("claim", "one", 1.0, OTHERS),
        ("claim", Bound("above", 1.0), "one", OTHERS),
        ("figure", float("nan"), 1.0, OTHERS),
        ("figure", 1.0, float("inf"), OTHERS),
        ("claim", Bound("above", 1.0), float("nan"), OTHERS),
    ],
)
def test_what_cannot_be_judged_is_refused(
    kind: Any, published: Any, measured: Any, evidence: Evidence
) -> None:
    with pytest.raises(ValueError, match=r"derived|bound|compared|judged"):
        judge(kind, published, measured, evidence=evidence)
