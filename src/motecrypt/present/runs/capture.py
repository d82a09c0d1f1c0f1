"""What an assessment of recorded traces, or an attack on them, found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from motecrypt.present.runs.leak import ROWS, order_line
from motecrypt.present.terminal import TextAnswer, TextBlock, TextTable, more_rows

if TYPE_CHECKING:
    from motecrypt.attack.leakage.capture_attack import CaptureReport
    from motecrypt.attack.leakage.captures import CaptureTest

#: Beyond this a signal has no noise except rounding.
SNR_SHOWN_MOST = 1_000


def capture_view(title: str, found: CaptureTest, traces: int, samples: int) -> list[TextBlock]:
    """The verdict on so many traces of so many samples, and the samples that leak."""
    few = f"no leak found, and no claim: {found.least_class:,} traces of a class are too few"
    verdicts = {"leaks": "it leaks", "no leak found": "no leak found"}
    lines = [("Result", verdicts.get(found.verdict, few))]
    lines.append(("Traces", f"{traces:,} of {samples:,} samples, every other one in set 2"))
    blocks: list[TextBlock] = [TextAnswer(title, [*lines, *map(order_line, found.orders)])]
    for order in found.orders:
        if order.leaks:
            rows = [
                [
                    f"{leak.instruction:,}" + (f" and {leak.other[0]:,}" if leak.other else ""),
                    f"{leak.strength:.1f}",
                ]
                for leak in order.leaks[:ROWS]
            ]
            title = f"Samples that leak at order {order.order}, the strongest first"
            blocks.append(TextTable(title, ("sample", "|t|"), rows, more_rows(len(order.leaks), ROWS)))
    return blocks


def attack_view(title: str, found: CaptureReport) -> list[TextBlock]:
    """The outcome of an attack on a key."""
    return [TextAnswer(title, _lines(found))]


def _lines(found: CaptureReport) -> list[tuple[str, str]]:
    lines = [("Result", _result(found)), ("Best guess", found.key.hex())]
    lines.append(("Traces", f"{found.traces:,} of random inputs, {found.samples:,} samples each"))
    lines.append(
        (
            "Signal",
            f"{found.above} of {found.parts} parts correlate above {found.limit:.3f}, the limit of chance",
        )
    )
    if found.snr is not None:
        shown = f"{found.snr:.3g}" if found.snr < SNR_SHOWN_MOST else f"above {SNR_SHOWN_MOST:,}"
        lines.append(("SNR", f"{shown} at a part's best sample (median)"))
    if found.curve:
        told = [f"{traces:,}: {right} parts, {bits:g} bits left" for traces, right, bits in found.curve[-4:]]
        lines.append(("By traces", "; ".join(told)))
    return lines


def _result(found: CaptureReport) -> str:
    if found.known is not None:
        right = found.curve[-1][1]
        return "the key is found" if found.key == found.known else f"{right} of {found.parts} parts are right"
    if found.above == found.parts:
        return "every part of the key has a guess above chance; check it with a known output"
    below = found.parts - found.above
    return f"no claim: {below} parts of the key have no guess above chance; record more traces"
