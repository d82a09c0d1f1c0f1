"""Controls: firmware of which it is known whether it leaks, and where. They show that an assessment works."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import numpy as np

from motecrypt.attack.leakage.assessment import Assessment, LeakQuestion, Variable, assess
from motecrypt.attack.leakage.harness import LeakWindow, harness
from motecrypt.attack.leakage.models import MODELS
from motecrypt.attack.leakage.places import LeakPlace, places
from motecrypt.attack.leakage.recording import Recorder, refuse_other
from motecrypt.base.model import Device
from motecrypt.build.toolchain.leak_controls import FOLDER, built_control
from motecrypt.simulate.emulate.images import read_image

TRACES, SNR = 20_000, 4.0


@dataclass(frozen=True)
class Control:
    """A build and what it has to show.

    Attributes
    ----------
    leaks
        Whether it leaks at this order in this model.
    line_has
        A text in the source line of the strongest leak, where that is known; empty: anywhere.
    """

    build: str
    title: str
    model: str
    order: int
    leaks: bool
    line_has: str = ""


CONTROLS = (
    Control("empty", "an empty function", "both", 1, False),
    Control("constant", "work on constants", "both", 1, False),
    Control("sbox", "a plain S-box", "weight", 1, True),
    Control("sbox", "a plain S-box", "distance", 1, True),
    Control("masked", "a masked S-box", "both", 1, False),
    Control("masked", "a masked S-box", "both", 2, True),
    Control("overwrite", "the same, a mask over its share", "weight", 1, False),
    Control("overwrite", "the same, a mask over its share", "distance", 1, True, "MASKS_IN"),
)


@dataclass(frozen=True)
class ControlOutcome:
    """A control and what was found; `place` is the strongest leak's."""

    control: Control
    assessment: Assessment
    found: bool
    place: LeakPlace | None
    passed: bool


def check(
    device: Device, traces: int = TRACES, seed: int = 1, processes: int = 2
) -> Iterator[ControlOutcome]:
    """Build, record and test each control on a device, one after another.

    Raises
    ------
    InputError
        For a device whose simulator does not record.
    """
    refuse_other(device)
    for build, controls in groupby(CONTROLS, key=lambda control: control.build):
        with built_control(device, build) as elf:
            image = read_image(elf, device)
            recorder, variables = harness(image, device, LeakWindow("leak_window", "leak_start"))
            for control in controls:
                yield _checked(
                    control, recorder, variables, LeakQuestion(traces, SNR, seed, processes=processes)
                )


def _checked(
    control: Control, recorder: Recorder, variables: Sequence[Variable], question: LeakQuestion
) -> ControlOutcome:
    pairs = None
    if control.order == 2:
        pairs = (0, recorder.details(np.zeros((1, recorder.input_bytes), np.uint8))[0][0].instructions)
    assessment = assess(recorder, variables, replace(question, model=MODELS[control.model], pairs=pairs))
    leaks = assessment.orders[control.order - 1].leaks if assessment.orders else ()
    place = places(recorder.image, recorder.device, assessment, leaks[:1])[0] if leaks else None
    found = bool(leaks)
    right_line = not control.line_has or (place is not None and control.line_has in _source(place))
    claims = found or assessment.verdict != "no claim"
    return ControlOutcome(control, assessment, found, place, found == control.leaks and right_line and claims)


def _source(place: LeakPlace) -> str:
    path = FOLDER / Path(place.file).name
    lines = path.read_text().splitlines() if path.is_file() else []
    return lines[place.line - 1] if 0 < place.line <= len(lines) else ""
