"""The one judge: every verdict on a published fact is computed here, by the same rule in both directions.

A study hands over what was printed, what was found, how far the two may be apart and what else is known.
Whether ours is better is a column of its own and never makes a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from motecrypt.studies.facts import CauseKnown, Comparison, FactKind, LikeForLike, Tolerance, Verdict

EXACT = Tolerance()
#: Room for the last bit of a floating-point number, as a share: no tolerance ends on it.
ROUNDING = 1e-9

Relation = Literal["above", "at least", "at most", "below"]


@dataclass(frozen=True)
class Bound:
    """What a sentence promises without a figure: "faster" is a ratio of times below 1."""

    relation: Relation
    value: float

    def holds(self, found: float, tolerance: Tolerance = EXACT) -> bool:
        """Whether a value keeps to the bound, which the tolerance moves outwards."""
        room = _room(self.value, tolerance)
        if self.relation == "above":
            return found > self.value - room
        if self.relation == "below":
            return found < self.value + room
        room += ROUNDING * abs(self.value)
        return found >= self.value - room if self.relation == "at least" else found <= self.value + room


@dataclass(frozen=True)
class Between:
    """What a text promises as a range, both ends included."""

    low: float
    high: float


Expected = float | str | Bound | Between


@dataclass(frozen=True)
class Check:
    """What the paper must agree with, apart from ours: its own other figures, a standard, or physics.

    `said` is what the paper says here, `expected` what it would have to say, `why` the sentence that
    explains a failure, and `command` what shows it.
    """

    said: float | str
    expected: Expected
    why: str
    command: str
    tolerance: Tolerance = EXACT

    @property
    def holds(self) -> bool:
        """Whether the paper passes."""
        return agree(self.expected, self.said, self.tolerance)


@dataclass(frozen=True)
class Evidence:
    """The evidence of a comparison, next to the two values.

    Attributes
    ----------
    like_for_like
        Where our side comes from; "recorded" where the author's code did not run here.
    checks
        What the paper must pass before it can be compared with anything.
    needs_hardware, bring
        What is missing and how to get it, where only hardware or only someone's code can answer.
    derived_from
        The ids of the rows that a derived one repeats.
    less_is_better
        Whether a smaller value is the better one; None where neither is.
    cause, known, command
        Why ours differs, how that is known, and the command that shows it.
    """

    like_for_like: LikeForLike = "other"
    checks: tuple[Check, ...] = ()
    needs_hardware: str = ""
    bring: str = ""
    derived_from: tuple[str, ...] = ()
    less_is_better: bool | None = None
    cause: str = ""
    known: CauseKnown = ""
    command: str = ""

    @property
    def failed(self) -> Check | None:
        """The first check that the paper does not pass."""
        return next((check for check in self.checks if not check.holds), None)


NOTHING_ELSE = Evidence()


def _room(value: float, tolerance: Tolerance) -> float:
    return tolerance.share * abs(value) + tolerance.absolute


def agree(expected: Expected, found: float | str, tolerance: Tolerance) -> bool:
    """Whether a value is what was expected: numbers within the tolerance up and down, words exactly.

    Raises
    ------
    ValueError
        If a number is compared with words, or a number is not finite.
    """
    if isinstance(expected, str) or isinstance(found, str):
        if not (isinstance(expected, str) and isinstance(found, str)):
            raise ValueError(f"{expected!r} and {found!r} cannot be compared")
        return expected == found
    if isinstance(expected, Bound):
        return expected.holds(_finite(found), tolerance)
    low, high = (
        (expected.low, expected.high) if isinstance(expected, Between) else (_finite(expected), expected)
    )
    least = low - _room(low, tolerance) - ROUNDING * abs(low)
    most = high + _room(high, tolerance) + ROUNDING * abs(high)
    return least <= _finite(found) <= most


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"{value} cannot be judged")
    return value


def judge(
    kind: FactKind,
    published: Expected | None,
    measured: float | str | None,
    tolerance: Tolerance = EXACT,
    evidence: Evidence = NOTHING_ELSE,
) -> Verdict:
    """The verdict on one published fact.

    Parameters
    ----------
    kind
        A figure is a value; only a claim or a derived row may be a `Bound`. An input is taken from the
        source, so nothing is measured of it: a value always agrees with itself.
    published
        What was printed, or what a sentence promises; None where the source prints nothing.
    measured
        What was found, in the same unit; None where nothing was.
    tolerance
        How far the two may be apart, up and down.
    evidence
        What else is known.

    Raises
    ------
    ValueError
        If a derived row names no row, a figure is a bound, something was measured of an input, or the two
        cannot be compared.
    """
    if kind == "derived" and not evidence.derived_from:
        raise ValueError("a derived row names the rows that it is derived from")
    if kind == "figure" and isinstance(published, Bound):
        raise ValueError("a figure is a value, not a bound")
    if kind == "input" and measured is not None:
        raise ValueError("an input cannot be judged: it is the printed value itself")
    if published is None:
        return "not printed"
    if evidence.failed is not None:
        return "paper is inconsistent"
    if evidence.needs_hardware:
        return "needs hardware"
    if evidence.bring:
        return "bring the code"
    if measured is None:
        return "not measured"
    return "matches" if agree(published, measured, tolerance) else "differs"


def _better(
    verdict: Verdict, published: object, measured: object, less_is_better: bool | None
) -> bool | None:
    if less_is_better is None or verdict not in ("matches", "differs"):
        return None
    if not isinstance(published, int | float) or not isinstance(measured, int | float):
        return None
    if verdict == "matches":
        return False
    return measured < published if less_is_better else measured > published


def compare(
    *,
    id: str,
    source: str,
    table: str,
    row: str,
    column: str,
    published: float | str | None,
    measured: float | str | None,
    unit: str = "",
    kind: FactKind = "figure",
    tolerance: Tolerance = EXACT,
    evidence: Evidence = NOTHING_ELSE,
    expected: Expected | None = None,
    found: float | str | None = None,
    note: str = "",
    brief: str = "",
    figures: Mapping[str, float] | None = None,
    topic: str = "",
) -> Comparison:
    """A row with its verdict.

    `expected` and `found` are judged in place of `published` and `measured` where these are words for people
    ("faster", "7 of 9"); without `published` nothing is judged, without `measured` nothing was found.
    """
    promised = None if published is None else published if expected is None else expected
    ours = None if measured is None else measured if found is None else found
    verdict = judge(kind, promised, ours, tolerance, evidence)
    cause, known, command = _cause(verdict, evidence)
    ratio = None
    if isinstance(published, int | float) and isinstance(measured, int | float) and published:
        ratio = measured / published
    words = isinstance(promised, str) or promised is None
    return Comparison(
        source=source,
        table=table,
        row=row,
        column=column,
        unit=unit,
        published=published,
        measured=measured,
        ratio=ratio,
        verdict=verdict,
        note=note,
        brief=brief,
        figures=figures or {},
        id=id,
        topic=topic,
        kind=kind,
        derived_from=evidence.derived_from,
        tolerance=None if words else tolerance,
        like_for_like=evidence.like_for_like,
        better=_better(verdict, promised, ours, evidence.less_is_better),
        cause=cause,
        cause_known=known,
        command=command,
        missing=_missing(verdict, evidence),
    )


def _cause(verdict: Verdict, evidence: Evidence) -> tuple[str, CauseKnown, str]:
    """Only where the two differ there is a cause; without one it is unknown."""
    failed = evidence.failed
    if verdict == "paper is inconsistent" and failed is not None:
        return failed.why, "shown by experiment", failed.command
    if verdict != "differs":
        return "", "", ""
    if not evidence.cause:
        return "", "unknown", ""
    if evidence.known == "shown by experiment":
        return evidence.cause, evidence.known, evidence.command
    return evidence.cause, evidence.known or "consistent with", evidence.command


def _missing(verdict: Verdict, evidence: Evidence) -> str:
    return {"needs hardware": evidence.needs_hardware, "bring the code": evidence.bring}.get(verdict, "")
