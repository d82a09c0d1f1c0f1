"""What attacks on power traces mean, in words: verdict and sentences from the kept figures. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from motecrypt.attack.audits.oracle import Weight

Row = Mapping[str, Any]

#: What the timing part's verdict gives someone who can only measure time.
_BY_TIME = {
    "constant": "The time gives nothing",
    "addresses only, no cache": "The time gives nothing",
    "branches, equal cycles": "The time gave nothing here",
    "addresses only, cached flash": "The time depends on the key, through the flash cache",
    "cycles vary": "The time depends on the key or the message",
}


def judge(row: Row) -> tuple[str, Weight]:
    """Return the verdict on one variant, and how to read it."""
    best = _least(row)
    if best is not None:
        curve = best
        return f"key in {curve['traces_to_key']:,} traces at {snr_text(curve['snr'])}", "bad"
    verdict = str(row["t_test"]["verdict"])
    if verdict == "no leak found":
        return "no leak found in this model", "good"
    if verdict == "leaks":
        return "leaks, no attack succeeded", "note"
    return verdict, "note"


def _curves(row: Row, attacker: str = "correlation") -> list[Mapping[str, Any]]:
    """All curves of the usual attack."""
    attacks = row["attacks"]
    return [curve for curve in attacks[0]["curves"] if curve["attacker"] == attacker] if attacks else []


def _least(row: Row) -> Mapping[str, Any] | None:
    """The curve of correlation that finds the key under the most noise, then with the fewest traces."""
    found = [curve for curve in _curves(row) if curve["traces_to_key"] is not None]
    return min(found, key=lambda c: (_snr(c), c["traces_to_key"]), default=None)


def _snr(curve: Mapping[str, Any]) -> float:
    return float("inf") if curve["snr"] is None else float(curve["snr"])


def snr_text(snr: float | None) -> str:
    """Return an SNR in words."""
    return "no noise" if snr is None else f"SNR {snr:.3g}"


def sentences(rows: Sequence[Row], timing: str, device: str) -> list[str]:
    """Return what was found, for people.

    Parameters
    ----------
    rows
        One for each variant, the audited one first.
    timing
        The verdict of the timing part.
    """
    told = [_attacker(rows[0], timing)]
    told += [_model(row, model) for row in rows for model in ("weight", "distance") if _full(row, model)]
    told += [text for row in rows if (text := _distances(row))]
    told += [text for row in rows if (text := _template(row))]
    told += [_others(rows)] if len(rows) > 1 and any(row["attacks"] for row in rows) else []
    told += [_further(rows[0])] if len(rows[0]["attacks"]) > 1 else []
    told.append(_t_test(rows[0]))
    told.append(
        f"These are simulated traces of {device} with Gaussian noise. SNR is the variance of one byte's "
        "weight (2) over that of the noise. How much noise a real probe has was not measured."
    )
    return told


def _attacker(row: Row, timing: str) -> str:
    by_time = _BY_TIME.get(timing, f"Timing: {timing}")
    best = _least(row)
    if best is None:
        return f"With the device in hand: {by_time.lower()}; no attack here found the key from its power."
    return (
        f"With the device in hand: {by_time.lower()}; its power gives the key of {row['variant']} from "
        f"{best['traces_to_key']:,} traces at {snr_text(best['snr'])}."
    )


def _full(row: Row, model: str) -> bool:
    return len([curve for curve in _curves(row) if curve["model"] == model]) > 2


def _model(row: Row, model: str) -> str:
    """The traces to the key over noise."""
    parts = [
        f"{_shown(curve)} at {snr_text(curve['snr'])}" for curve in _curves(row) if curve["model"] == model
    ]
    experiments = _curves(row)[0]["points"][-1]["experiments"]
    return (
        f"{row['variant']}, {model} model, traces to the key: {'; '.join(parts)} (the least that found it in "
        f"80 % of {experiments} attacks)."
    )


def _distances(row: Row) -> str:
    """The same where distances between values are predicted."""
    parts = [f"{_shown(curve)} at {snr_text(curve['snr'])}" for curve in _curves(row, "distance")]
    if not parts:
        return ""
    return f"{row['variant']}, distance model, with distances predicted: {'; '.join(parts)}."


def _template(row: Row) -> str:
    found = _curves(row, "template")
    if not found:
        return ""
    curve = found[0]
    plain = next(c for c in _curves(row) if (c["model"], c["snr"]) == (curve["model"], curve["snr"]))
    needed, usual = (_shown(c) for c in (curve, plain))
    return (
        f"{row['variant']}: with templates of a like device, {needed} traces at {snr_text(curve['snr'])} "
        f"instead of {usual}."
    )


def _shown(curve: Mapping[str, Any]) -> str:
    needed = curve["traces_to_key"]
    return f"{needed:,}" if needed is not None else f"more than {curve['points'][-1]['traces']:,}"


def _others(rows: Sequence[Row]) -> str:
    """All variants at the level at which the least attacked one was, in the weight model."""
    shared = min((_of_weight(row) for row in rows), key=len)
    snr = shared[-1]["snr"] if shared else None
    parts = []
    for row in rows:
        at = [curve for curve in _of_weight(row) if curve["snr"] == snr]
        parts.append(f"{row['variant']} {_shown(at[0])}" if at else f"{row['variant']} not attacked")
    return f"Traces to the key at {snr_text(snr)}, weight model: {', '.join(parts)}."


def _of_weight(row: Row) -> list[Mapping[str, Any]]:
    return [curve for curve in _curves(row) if curve["model"] == "weight"]


def _further(row: Row) -> str:
    parts = []
    for attack in row["attacks"][1:]:
        curve = [c for c in attack["curves"] if c["model"] == "weight"][-1]
        parts.append(f"{attack['title']}, {_shown(curve)} at {snr_text(curve['snr'])}")
    return f"Other attacks on {row['variant']}: {'; '.join(parts)}."


def _t_test(row: Row) -> str:
    found = row["t_test"]
    if "tests" not in found:
        return f"Fixed against random inputs: {found['verdict']}; nothing was compared."
    text = (
        f"Fixed against random {found['varied']} at {snr_text(found['snr'])}: "
        f"{found['leaking_samples']:,} of {found['tests']:,} samples differ "
        f"(largest |t| {found['largest_t']:g}, threshold {found['threshold']:g}, {found['traces']:,} traces)"
    )
    return text + (f"; first at {', '.join(found['lines'][:4])}." if found["lines"] else ".")
