"""Every published row whose code was run, with its residual. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from motecrypt.adviser.hardware.residuals import Residual, residuals
from motecrypt.adviser.hardware.rows import HardwareRow, rows, settings
from motecrypt.base.model import RECORDED
from motecrypt.results import Results
from motecrypt.results.experiments.hardware import KIND, VERSION, HardwareFigures


@dataclass(frozen=True)
class Compared:
    """A residual, the day its figures were made, and whether they came with the program."""

    residual: Residual
    day: str
    recorded: bool


def compared(results: Results) -> list[Compared]:
    """The rows that were run, in the order of the published rows; of several runs of one the newest."""
    newest: dict[str, tuple[HardwareFigures, str, bool]] = {}
    rules = settings()
    for found in results.experiments(KIND, VERSION):
        name, device = str(found.inputs.get("row")), found.inputs.get("device")
        row = rows().get(name)
        chip = None if row is None else rules.chip_of(row)
        figures = HardwareFigures.from_json(found.outcome)
        if row is None or chip is None or chip.device != device or figures is None or not figures.runs:
            continue
        newest.setdefault(name, (figures, found.made_at[:10], RECORDED in found.inputs))
    made = residuals({name: figures for name, (figures, _, _) in newest.items()}, rules)
    return [Compared(made[name], newest[name][1], newest[name][2]) for name in rows() if name in made]


def not_compared(ran: list[Compared]) -> list[tuple[HardwareRow, str]]:
    """The other rows, each with the reason."""
    known = {each.residual.row.id for each in ran}
    return [(row, _reason(row)) for row in rows().values() if row.id not in known]


def _reason(row: HardwareRow) -> str:
    if row.mark:
        return row.mark
    return "no device for its chip" if settings().chip_of(row) is None else "its code is not here"
