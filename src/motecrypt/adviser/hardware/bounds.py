"""The error bound or range seen of each device, from the residuals that came with it. Runs nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from motecrypt.adviser.hardware.residuals import (
    BOUND,
    CONFIDENCE,
    RANGE,
    SCORED,
    Fidelity,
    Residual,
    fidelity,
    residuals,
)
from motecrypt.adviser.hardware.rows import rows, settings
from motecrypt.results.findings import recorded
from motecrypt.results.findings.hardware import HardwareFigures, HardwareQuestion

STUDY = "hardware"


def by_device(compared: Iterable[Residual], standing: str = SCORED) -> dict[str, Fidelity]:
    """What the residuals of a standing come to on each device; devices without any are left out."""
    own: dict[str, list[Residual]] = {}
    for each in compared:
        own.setdefault(each.chip.device, []).append(each)
    found = {device: fidelity(device, group[0].chip.memory, group, standing) for device, group in own.items()}
    return {device: known for device, known in found.items() if known is not None}


@cache
def recorded_residuals() -> Sequence[Residual]:
    """The residuals that came with the program."""
    rules, found = settings(), {}
    for answer in recorded.read(recorded.file_of(STUDY)):
        row = rows().get(answer.asked.get("row", ""))
        chip = None if row is None else rules.chip_of(row)
        figures = HardwareFigures.from_json(answer.finding.outcome)
        if row is not None and chip is not None and figures is not None:
            found[row.id] = figures
    return list(residuals(found, rules).values())


def recorded_bounds() -> Mapping[str, Fidelity]:
    """How far the devices are from their chips, by name, from the recorded residuals."""
    return by_device(recorded_residuals())


def bound_text(device: str) -> str:
    """The difference of a device, such as "± 2.4 %"; empty where no row of hardware was compared."""
    known = recorded_bounds().get(device)
    return "" if known is None else known.text


def bound_named(device: str) -> str:
    """The same with its name, such as "± 2.4 %, range seen"."""
    known = recorded_bounds().get(device)
    return "" if known is None else f"{known.text}, {known.kind}"


def bound_told(device: str) -> str:
    """The same with the number of rows, what it covers and of which code; empty where there is none."""
    known = recorded_bounds().get(device)
    return "" if known is None else known.told


def bound_fields(device: str) -> dict[str, Any]:
    """The same for JSON: the error bound or the range seen, of how many rows, what share of all rows like
    these it covers, and with what confidence; both are null where there is no row."""
    known = recorded_bounds().get(device)
    found: dict[str, Any] = dict.fromkeys((*_NAMES.values(), "hardware_condition"), "")
    found |= {"hardware_rows": 0, "hardware_coverage": None, "hardware_confidence": None}
    if known is not None:
        found[_NAMES[known.kind]] = known.text
        found |= {"hardware_rows": known.rows, "hardware_condition": known.condition}
        found |= {"hardware_coverage": known.percent_covered / 100, "hardware_confidence": CONFIDENCE}
    return found


COVERS = f"covers: at least this share of rows like these, with {100 * CONFIDENCE:g} % confidence"
"""What a legend adds to `bound_told`."""

_NAMES = {BOUND: "error_bound", RANGE: "range_seen"}


def recorded_questions() -> list[HardwareQuestion]:
    """The questions whose answers came with the program."""
    answers = recorded.read(recorded.file_of(STUDY))
    return [HardwareQuestion(answer.asked["row"], answer.asked["device"]) for answer in answers]
