"""The page of a radio: where each byte of a message is at each time, for every length under a slider."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from motecrypt.air.radios.catalog import Radio
from motecrypt.air.radios.timeline import Timeline, timeline
from motecrypt.present.pages.charts import Series, axis, line_chart
from motecrypt.present.pages.shell import render

KINDS = ("serial in", "wait", "air", "serial out")
LENGTHS_MIN, LENGTHS_MAX = 64, 256
"""A page has the lengths up to five packets, within these."""


def variants_of(radio: Radio) -> list[tuple[str, Radio]]:
    """The radio, and the same with the timeout of newer firmware if it has one; each with its name."""
    newer = radio.figures.get("timeout_ms_new")
    if newer is None:
        return [(radio.title, radio)]
    known = f"{radio.value('timeout_ms'):g} ms", f"{newer.value:g} ms"
    return [
        (f"timeout {known[0]}", radio),
        (f"timeout {known[1]} (newer firmware)", radio.with_figures(timeout_ms=newer.value)),
    ]


def radio_page(variants: Sequence[tuple[str, Radio]], answer_bytes: int, command: str) -> str:
    """The page as HTML.

    Parameters
    ----------
    variants
        Radios with their names; the slider is shared. All lengths are computed here, by the model that all
        figures of radios come from.
    answer_bytes
        What the receiver's program answers; 0 for no answer.
    command
        What the user typed.
    """
    packet = variants[0][1].packet_bytes
    most = min(LENGTHS_MAX, max(LENGTHS_MIN, 5 * packet))
    lengths = range(1, most + 1)
    made = [(name, [timeline(radio, n, answer_bytes) for n in lengths]) for name, radio in variants]
    first = packet + 1 if packet < most else most
    return render(
        "radio.html",
        ("pages.js", "radio.js"),
        {
            "kinds": KINDS,
            "variants": [{"name": name, "lengths": [_packed(one) for one in lines]} for name, lines in made],
        },
        title=f"{variants[0][1].title}: a message on its way",
        command=command,
        packet=packet,
        most=most,
        first=first,
        answer=answer_bytes,
        names=[name for name, _ in variants],
        note=variants[0][1].note,
        chart=_chart(made),
        rows=[[n, *(round(lines[n - 1].delivered_us / 1000, 3) for _, lines in made)] for n in lengths],
    )


def _packed(one: Timeline) -> dict[str, Any]:
    """Times in microseconds with a digit behind the point; kinds as numbers."""
    return {
        "spans": [
            [KINDS.index(s.kind), s.sender, round(s.begin_us, 1), round(s.end_us, 1), s.payload_bytes]
            for s in one.spans
            if s.end_us > s.begin_us
        ],
        "delivered": round(one.delivered_us, 1),
        "answered": None if one.answered_us is None else round(one.answered_us, 1),
    }


def _chart(made: Sequence[tuple[str, Sequence[Timeline]]]) -> Any:
    most = len(made[0][1])
    slowest = max(one.delivered_us for _, lines in made for one in lines) / 1000
    lines = [Series(name, _steps([one.delivered_us / 1000 for one in of]), steps=True) for name, of in made]
    label = "Time to deliver a message, by its length. The table below has every length."
    x = axis("bytes of the message", 0, most, ends=True)
    return line_chart(label, x, axis("time to deliver, ms", 0, slowest), lines)


def _steps(values: Sequence[float]) -> list[tuple[float, float]]:
    """Values of 1, 2, ... bytes as steps, each around its length."""
    return [(n + 0.5, value) for n, value in enumerate([*values, values[-1]])]
