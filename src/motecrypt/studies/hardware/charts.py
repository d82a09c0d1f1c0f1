"""The residuals of the study as a figure: a line for each chip. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from motecrypt.adviser.hardware.residuals import EXCLUDED, SCORED, SEEN
from motecrypt.adviser.hardware.rows import settings
from motecrypt.studies.hardware.compared import Compared

SCORINGS = {SCORED: "scored", SEEN: "seen", EXCLUDED: "excluded"}
STEP = 24


def residual_chart(ran: Sequence[Compared]) -> dict[str, dict[str, Any]]:
    """The residuals of each chip in per cent, scored or not; nothing where no row was run."""
    values = [_value(each) for each in ran if each.residual.scoring in SCORINGS]
    if not values:
        return {}
    series = {"field": "scoring", "type": "nominal", "title": None, "legend": {"orient": "top"}}
    domain = {"scale": {"domain": list(SCORINGS.values())}}
    points = {
        "mark": {"type": "point", "size": 42, "strokeWidth": 1.6, "filled": False},
        "encoding": {
            "y": {"field": "chip", "type": "nominal", "title": None, "axis": {"labelLimit": 260}},
            "x": {
                "field": "residual",
                "type": "quantitative",
                "title": "residual, %",
                "axis": {"tickCount": 9},
            },
            "color": {**series, **domain},
            "shape": {**series, **domain},
            "tooltip": [{"field": name} for name in ("row", "code", "residual", "scoring")],
        },
    }
    exact = {"mark": {"type": "rule", "opacity": 0.5}, "encoding": {"x": {"datum": 0}}}
    goals = ", ".join(f"{100 * goal.percentile_95:g} % {name}" for name, goal in settings().goals.items())
    return {
        "hardware-residuals": {
            "title": "residuals of published rows, by chip",
            "description": (
                "Our cycles divided by the published ones, less 1, for each row whose code was run. Scored "
                f"rows make the error bounds and ranges; 95 of 100 should be within {goals}. Seen: looked at "
                "while the model was made."
            ),
            "data": {"values": values},
            "height": STEP * max(2, len({value["chip"] for value in values})),
            "layer": [exact, points],
        }
    }


def _value(ran: Compared) -> dict[str, Any]:
    own = ran.residual
    return {
        "chip": f"{own.row.chip} ({own.chip.device})",
        "row": own.row.id,
        "code": own.row.code.rpartition("/")[2],
        "residual": round(100 * own.share, 2),
        "scoring": SCORINGS[own.scoring],
    }
