"""The error bound of each device, from the residuals that came with the program. Runs nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from motecrypt.findings import recorded
from motecrypt.findings.hardware import HardwareFigures, HardwareQuestion
from motecrypt.hardware.residuals import SCORED, Fidelity, Residual, fidelity, residuals
from motecrypt.hardware.rows import rows, settings

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
    """The error bounds of the devices, by name, from the recorded residuals."""
    return by_device(recorded_residuals())


def bound_text(device: str) -> str:
    """The bound of a device for people, such as "± 2.4 %"; empty where no row of hardware was compared."""
    known = recorded_bounds().get(device)
    return "" if known is None else known.text


def recorded_questions() -> list[HardwareQuestion]:
    """The questions whose answers came with the program."""
    answers = recorded.read(recorded.file_of(STUDY))
    return [HardwareQuestion(answer.asked["row"], answer.asked["device"]) for answer in answers]
