"""The residuals that came with the program, and what they come to on each device. Runs nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from motecrypt.adviser.hardware.fidelity import Fidelity
from motecrypt.adviser.hardware.residuals import Residual, by_device, residuals
from motecrypt.adviser.hardware.rows import rows, settings
from motecrypt.results.experiments import recorded
from motecrypt.results.experiments.hardware import HardwareFigures, HardwareQuestion

STUDY = "hardware"


@cache
def recorded_residuals() -> Sequence[Residual]:
    """The residuals that came with the program."""
    rules, found = settings(), {}
    for answer in recorded.read(recorded.file_of(STUDY)):
        row = rows().get(answer.asked.get("row", ""))
        chip = None if row is None else rules.chip_of(row)
        figures = HardwareFigures.from_json(answer.experiment.outcome)
        if row is not None and chip is not None and figures is not None:
            found[row.id] = figures
    return list(residuals(found, rules).values())


def fidelities() -> Mapping[str, Fidelity]:
    """How far the devices are from their chips, by name, worked out from the recorded residuals."""
    return by_device(recorded_residuals())


def newest(answers: Iterable[recorded.RecordedAnswer]) -> list[recorded.RecordedAnswer]:
    """The newest answer of each row and device, in the order of the published rows; an older one never
    replaces it, whatever file it comes from."""
    found: dict[tuple[str, str], recorded.RecordedAnswer] = {}
    for answer in answers:
        key = answer.asked["row"], answer.asked["device"]
        if key not in found or found[key].experiment.made_at <= answer.experiment.made_at:
            found[key] = answer
    order = {name: number for number, name in enumerate(rows())}
    return sorted(found.values(), key=lambda each: (order[each.asked["row"]], each.asked["device"]))


def recorded_questions() -> list[HardwareQuestion]:
    """The questions whose answers came with the program."""
    answers = recorded.read(recorded.file_of(STUDY))
    return [HardwareQuestion(answer.asked["row"], answer.asked["device"]) for answer in answers]
