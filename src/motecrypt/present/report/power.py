"""Figures of an audit's power part: bits of the key left over traces, and where they show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from motecrypt.present.report.figure import Figure
from motecrypt.results.experiments.power import PowerAttack, PowerData, PowerTest

#: Width of a panel, in pixels.
PANEL = 260
#: Source lines that are named in a panel.
PEAKS = 4
#: Attackers that do not correlate weights, in words.
KINDS = {"template": "templates", "distance": "predicted distances"}


def power_figure(cipher: str, part: str, data: Mapping[str, Any]) -> Figure | None:
    """Return the figure of one part's audited variant, or None where nothing was attacked."""
    read = PowerData.from_json(data)
    if read is None or not read.rows or not read.rows[0].attacks:
        return None
    row = read.rows[0]
    attack = row.attacks[0]
    panels = [_entropy(attack), *_success(attack), *_correlation(attack), *_t_test(row.t_test)]
    device = part.partition(":")[2]
    return Figure(
        name=f"{cipher}-power-{device}",
        title=f"{cipher} on {device}: what its power shows",
        caption=(
            f"Simulated power traces of {cipher} ({row.variant}) on {device}, attacked at the "
            f"{attack.title}: bits of the key left to search, and share of attacks by correlation in the "
            "weight model that found it (bars: 95 % intervals), by number of traces and noise; "
            "correlation of right and wrong guesses by instruction; largest |t| of fixed against random "
            "inputs. The highest points have their source lines; the table has all. SNR is that of one "
            "byte's weight. The noise is Gaussian and not calibrated to a chip."
        ),
        command=f"motecrypt audit {cipher} --part {part}",
        specification={
            "concat": panels,
            "columns": 2,
            "spacing": 18,
            "resolve": {"scale": {"color": "independent", "strokeDash": "independent"}},
        },
    )


def _panel(title: str, values: list[dict[str, Any]], x: dict[str, Any], y: str) -> dict[str, Any]:
    series: dict[str, Any] = {"field": "series", "type": "nominal", "title": None, "sort": None}
    series |= {"legend": {"orient": "bottom", "columns": 2}}
    return {
        "title": {"text": title, "fontSize": 11, "fontWeight": 500},
        "data": {"values": values},
        "width": PANEL,
        "height": 180,
        "mark": {"type": "line", "strokeWidth": 1.5},
        "encoding": {
            "x": {"type": "quantitative", **x},
            "y": {"field": "value", "type": "quantitative", "title": y},
            "color": series,
            "strokeDash": series,
        },
    }


def _over_time(title: str, values: list[dict[str, Any]], y: str) -> dict[str, Any]:
    """A panel over the instructions, with the source lines of the points marked as `peak`."""
    x = {"field": "instruction", "title": "instruction", "scale": {"zero": False}}
    panel = _panel(title, values, x, y)
    encoding = panel.pop("encoding")
    line = {"mark": panel.pop("mark"), "encoding": {name: encoding[name] for name in ("color", "strokeDash")}}
    label = {
        "mark": {"type": "text", "align": "left", "dx": 3, "dy": -5, "fontSize": 9},
        "transform": [{"filter": "datum.peak"}],
        "encoding": {"text": {"field": "line", "type": "nominal"}},
    }
    return panel | {"encoding": {axis: encoding[axis] for axis in "xy"}, "layer": [line, label]}


def _timed(
    name: str, first: int, curve: Sequence[float], places: Sequence[str], *, peaks: int = 0
) -> list[dict[str, Any]]:
    """A curve over the instructions; of its points in the upper half, one for each source line is a peak."""
    named = [PurePosixPath(place).name for place in places]
    lines = named if len(named) == len(curve) else [""] * len(curve)
    marked: dict[str, int] = {}
    high = [at for at, value in enumerate(curve) if 2 * value >= max(curve)]
    for at in sorted(high, key=lambda at: -curve[at]):
        if lines[at] and lines[at] not in marked and len(marked) < peaks:
            marked[lines[at]] = at
    return [
        {"series": name, "instruction": first + at, "value": value}
        | ({"line": lines[at]} if lines[at] else {})
        | ({"peak": True} if at in marked.values() else {})
        for at, value in enumerate(curve)
    ]


def _success(attack: PowerAttack) -> list[dict[str, Any]]:
    """How often correlation in the weight model found the key, with the intervals."""
    values = [
        {
            "series": "no noise" if curve.snr is None else f"SNR {curve.snr:.3g}",
            "traces": point.traces,
            "value": round(point.successes / point.experiments, 4),
            "low": point.success_low,
            "high": point.success_high,
        }
        for curve in attack.curves
        if (curve.model, curve.attacker) == ("weight", "correlation")
        for point in curve.points
        if point.experiments
    ]
    if not values:
        return []
    x = {"field": "traces", "title": "traces", "scale": {"type": "log"}}
    panel = _panel("attacks that found the key", values, x, "share")
    encoding = panel.pop("encoding")
    line = {"mark": panel.pop("mark")}
    bars = {
        "mark": {"type": "rule", "strokeWidth": 0.75},
        "encoding": {"y": {"field": "low", "type": "quantitative"}, "y2": {"field": "high"}},
    }
    return [panel | {"encoding": encoding, "layer": [line, bars]}]


def _entropy(attack: PowerAttack) -> dict[str, Any]:
    values = []
    for curve in attack.curves:
        noise = "no noise" if curve.snr is None else f"SNR {curve.snr:.3g}"
        kind = KINDS.get(curve.attacker, curve.model)
        values += [
            {"series": f"{kind}, {noise}", "traces": point.traces, "value": point.guessing_entropy_bits}
            for point in curve.points
        ]
    x = {"field": "traces", "title": "traces", "scale": {"type": "log"}}
    return _panel("key left to search", values, x, "bits")


def _correlation(attack: PowerAttack) -> list[dict[str, Any]]:
    shown = attack.correlation
    if shown is None:
        return []
    first, places = shown.first_instruction, shown.places
    values = _timed("right guesses", first, shown.right, places, peaks=PEAKS)
    values += _timed("wrong guesses", first, shown.wrong, places)
    return [_over_time(f"correlation, {shown.traces:,} traces", values, "|r|")]


def _t_test(test: PowerTest | None) -> list[dict[str, Any]]:
    if test is None or test.threshold is None or not test.curve:
        return []
    ends = (0, len(test.curve) - 1)
    values = _timed("largest |t|", test.first_instruction, test.curve, test.places, peaks=PEAKS)
    values += [
        {"series": "threshold", "instruction": test.first_instruction + place, "value": test.threshold}
        for place in ends
    ]
    return [_over_time("fixed against random inputs", values, "|t|")]
