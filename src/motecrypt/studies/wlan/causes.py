"""Why a printed duration differs from ours, as far as one set of assumptions or our own runs show. Pure."""

from __future__ import annotations

from motecrypt.studies.facts import Tolerance
from motecrypt.studies.judge import Between, agree
from motecrypt.studies.wlan import plan
from motecrypt.studies.wlan.hypotheses import NAMED, Cell, cell_sets
from motecrypt.studies.wlan.plan import COLUMNS, Stored

SPREAD = Tolerance(plan.NOISE["poor"], 0.0, "model: the spread of simulated runs")


def duration_cause(stored: Stored, cell: Cell) -> str:
    """What a printed ratio is consistent with; empty where nothing that was tried explains it."""
    kind = "plain" if cell[1] == "none" else "encrypted"
    asked = cell_sets()[kind]
    if cell not in asked.cells:
        return ""
    if asked.explains(NAMED, cell):
        return f"{NAMED.title}: one set of assumptions for all cells (hypotheses in --rows)"
    if COLUMNS[cell[2]][2] != "poor":
        return ""
    said = asked.measure(plan.durations().__getitem__, cell)
    if kind == "plain":
        return _walls_cause(stored, said)
    if agree(asked.measure(NAMED.seconds, cell), said, SPREAD):
        spread = f"{100 * SPREAD.share:.0f} %"
        return f"within the spread of single transfers with a poor signal ({spread}) from: {NAMED.title}"
    return ""


def _walls_cause(stored: Stored, said: float) -> str:
    """Where the printed ratio is between those of fewer and of more walls."""
    good = stored.seconds(plan.good("adhoc"))
    poor = [stored.seconds(plan.walls("adhoc", decibel)) for decibel in plan.WALLS]
    ratios = [each.mean / good.mean for each in poor if each is not None and good is not None]
    if len(ratios) < len(plan.WALLS) or not agree(Between(min(ratios), max(ratios)), said, Tolerance()):
        return ""
    return (
        f"the walls, which are not described: {plan.WALLS[0]:g} to {plan.WALLS[-1]:g} dB give "
        f"{min(ratios):.2f} to {max(ratios):.2f}"
    )
