"""The part of `motecrypt leak` that works on files of traces."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from motecrypt.cli._output import print_answer, print_json, print_next, typed_with

#: Beyond this a signal has no noise except rounding.
SNR_SHOWN_MOST = 1_000

if TYPE_CHECKING:
    from motecrypt.attack.leakage.capture_attack import CaptureReport


def attack_capture(path: Path, attack: str, as_json: bool) -> None:
    """Attack the traces of a file and print the outcome."""
    from motecrypt.app.leak import attack_traces
    from motecrypt.attack.leakage.files import read_traces
    from motecrypt.attack.leakage.targets import target_named

    target, traces = target_named(attack), read_traces(path)
    found = attack_traces(traces, attack)
    if as_json:
        known = None if found.known is None else found.known.hex()
        print_json(
            {"attack": attack, "model": traces.model}
            | asdict(found)
            | {"key": found.key.hex(), "known": known}
        )
        return
    print_answer(f"{target.title} in {path.name}", _lines(found))
    print_next(typed_with("--json"))


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
