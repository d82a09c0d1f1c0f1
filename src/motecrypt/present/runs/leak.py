"""What leaks of a function, in a simulated model of its current: verdict, places and controls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from motecrypt.present.terminal import TextAnswer, TextBlock, TextTable, more_rows

if TYPE_CHECKING:
    from motecrypt.attack.leakage.assessment import Assessment, LeakQuestion, OrderTest
    from motecrypt.attack.leakage.controls import ControlOutcome
    from motecrypt.attack.leakage.places import LeakPlace

ROWS = 20
LIMITS = "simulated, in a model of what changes bits; not a proof for silicon (docs/leakage.md)"
COLUMNS = ("line", "function", "channel", "|t|", "samples", "what meets")


def leak_view(
    function: str,
    found: Assessment,
    question: LeakQuestion,
    places: Sequence[Sequence[LeakPlace]],
    parts_at: str | None,
) -> list[TextBlock]:
    """The verdict on a function, and the places of each order that leak; `parts_at`: where paths part."""
    lines = [("Result", _verdict(found, parts_at))]
    if found.orders:
        shown = f"SNR {found.snr:g} where a byte's weight shows, up to {found.snr_most:.3g} at a sample"
        lines.append(("Window", f"{found.instructions[0]:,} instructions, model {question.model.name}"))
        lines.append(("Traces", f"{found.traces:,} in two sets, {shown}"))
    lines += [order_line(order) for order in found.orders]
    if found.rare:
        lines.append(("Not tested", f"{found.rare:,} samples that vary in very few traces"))
    lines.append(("Limits", LIMITS))
    blocks: list[TextBlock] = [TextAnswer(f"Leakage of {function}", lines)]
    for order, those in zip(found.orders, places, strict=True):
        if those:
            title = f"Leaks of order {order.order}, the strongest first"
            rows, more = [_row(place) for place in those[:ROWS]], more_rows(len(those), ROWS)
            blocks.append(TextTable(title, COLUMNS, rows, more, ("function", "samples"), ("line",)))
    return blocks


def _verdict(found: Assessment, parts: str | None) -> str:
    low, high = found.instructions
    if found.verdict == "path varies":
        took = f"{low:,} to {high:,} instructions" if low != high else f"{low:,} instructions"
        return (
            f"the path depends on the input from {parts} on: {found.paths} paths in a pilot, {took}. Time or "
            "branches leak; power was not tested, because traces of different paths do not compare"
        )
    if found.verdict == "no claim":
        return f"no leak found, and no claim: {found.least_class:,} traces of a class are too few"
    if found.verdict == "leaks":
        return "it leaks"
    return "no leak found in this model"


def order_line(order: OrderTest) -> tuple[str, str]:
    """How many samples or pairs leak at an order."""
    unit = "samples" if order.order == 1 else "pairs"
    return (
        f"Order {order.order}",
        f"{len(order.leaks):,} of {order.tests:,} {unit} leak; |t| up to {order.largest:.1f}, "
        f"limit {order.threshold:.1f}",
    )


def _row(place: LeakPlace) -> list[object]:
    ends = [place] + ([place.other] if place.other else [])
    return [
        " and ".join(end.where for end in ends),
        place.function,
        " and ".join(end.channel for end in ends),
        f"{place.strength:.1f}",
        f"{place.times:,}",
        "; ".join(end.what for end in ends),
    ]


def controls_view(title: str, outcomes: Sequence[ControlOutcome], taken: str) -> list[TextBlock]:
    """Whether the assessment found of each control what it has to find."""
    columns = ("function", "model", "order", "leaks", "expected", "line", "result")
    rows = [_control_row(outcome) for outcome in outcomes]
    return [TextTable(title, columns, rows, f"{taken}; {LIMITS}", ("line",), ("result",))]


def control_document(outcome: ControlOutcome) -> dict[str, Any]:
    """A control and what was found, as JSON."""
    order = outcome.assessment.orders[outcome.control.order - 1]
    return {
        **asdict(outcome.control),
        "found": outcome.found,
        "passed": outcome.passed,
        "tests": order.tests,
        "threshold": order.threshold,
        "largest": order.largest,
        "place": outcome.place,
    }


def _control_row(outcome: ControlOutcome) -> list[object]:
    control = outcome.control
    return [
        control.title,
        control.model,
        control.order,
        "yes" if outcome.found else "no",
        "yes" if control.leaks else "no",
        outcome.place.where if outcome.place else "",
        "ok" if outcome.passed else "FAILED",
    ]
