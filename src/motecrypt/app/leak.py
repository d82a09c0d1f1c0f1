"""Test whether the current of a function depends on its secrets, with simulated power traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from motecrypt.app.run import load_firmware
from motecrypt.app.selection import select
from motecrypt.attack.audits.oracle import key_bytes, nearest_length, randomness
from motecrypt.attack.leakage.assessment import Assessment, LeakQuestion, Variable, assess, drawn
from motecrypt.attack.leakage.bench_firmware import bench_recorder
from motecrypt.attack.leakage.capture_attack import CaptureReport, analyse
from motecrypt.attack.leakage.captures import recorded_traces
from motecrypt.attack.leakage.controls import CONTROLS, ControlOutcome, check
from motecrypt.attack.leakage.files import FORMS, write_traces
from motecrypt.attack.leakage.harness import LeakWindow, harness
from motecrypt.attack.leakage.places import LeakPlace, line_of, places
from motecrypt.attack.leakage.recording import Recorder, refuse_other
from motecrypt.attack.leakage.targets import target_named
from motecrypt.attack.leakage.traces import Traces
from motecrypt.base.errors import InputError
from motecrypt.build.setup import need
from motecrypt.catalog import DEVICE, nearest
from motecrypt.simulate.emulate.run import Ended

if TYPE_CHECKING:
    from motecrypt.base.progress import Progress


@dataclass(frozen=True)
class LeakRequest:
    """What to assess: a firmware with a harness (docs/leakage.md), or a cipher of ours.

    Attributes
    ----------
    variant : of our implementation of the cipher; None: the first.
    input : an open file that the UART receives.
    max_seconds : simulated time within which the function has to be called.
    """

    firmware: Path | str | None = None
    cipher: str | None = None
    variant: str | None = None
    device: str = DEVICE
    window: LeakWindow = field(default_factory=LeakWindow)
    question: LeakQuestion = field(default_factory=LeakQuestion)
    input: BinaryIO | None = None
    max_seconds: float = 10.0


@dataclass(frozen=True)
class LeakPlan:
    """A firmware that is built and ready to be recorded."""

    recorder: Recorder
    variables: tuple[Variable, ...]
    question: LeakQuestion

    @property
    def function(self) -> str:
        """The function that is assessed."""
        return self.recorder.window.function


@dataclass(frozen=True)
class LeakResult:
    """What leaks.

    Attributes
    ----------
    found : the verdict, and the test of each order.
    places : for each order: source line, values that meet, and strength, the strongest first.
    parts_at : where paths part that depend on the input; None where they do not.
    ended : one run: what it used that is not modelled.
    """

    plan: LeakPlan
    found: Assessment
    places: tuple[Sequence[LeakPlace], ...]
    parts_at: str | None
    ended: Ended

    def document(self) -> dict[str, Any]:
        """The verdict, each order with its places, and the curve of the test, as JSON."""
        found, question = self.found, self.plan.question
        return {
            "verdict": found.verdict,
            "model": {
                "name": question.model.name,
                "channels": question.model.channels,
                "coefficients": question.model.coefficients,
            },
            "traces": found.traces,
            "least_class": found.least_class,
            "snr": found.snr,
            "snr_most": round(found.snr_most, 4),
            "noise_sd": found.noise_sd,
            "seed": question.seed,
            "paths": found.paths,
            "instructions": found.instructions,
            "not_tested": found.rare,
            "orders": [
                {
                    "order": order.order,
                    "tests": order.tests,
                    "threshold": order.threshold,
                    "largest": order.largest,
                    "leaks": places,
                }
                for order, places in zip(found.orders, self.places, strict=True)
            ],
            "curve": {
                "pcs": found.pcs.tolist(),
                "rows": question.model.rows,
                "t": found.curve,
            },
            "path_parts_at": self.parts_at,
        }

    def save(self, path: Path) -> None:
        """Write the first set's traces, without noise: NAME.npz, NAME.trs, or a folder."""
        made = self.plan
        write_traces(recorded_traces(made.recorder, made.variables, made.question), path)


def plan(request: LeakRequest) -> LeakPlan:
    """Build and read what is assessed.

    Raises
    ------
    InputError
        Nothing or too much to assess, a name that does not exist, or a tool that is not available.
    """
    firmware, cipher, window = request.firmware, request.cipher, request.window
    device = select(devices=[request.device]).device
    if firmware is not None and window.function is None:
        raise InputError(f"{firmware}: name its --function to assess; or give traces: {FORMS}")
    if firmware is not None and cipher is not None:
        raise InputError(f"{firmware} and --cipher {cipher}: give one of them")
    if cipher is not None:
        recorder, variables = _of_cipher(cipher, request)
    elif firmware is not None:
        uart = b"" if request.input is None else request.input.read()
        image = load_firmware(Path(firmware), device)
        recorder, variables = harness(image, device, window, uart, request.max_seconds)
    else:
        raise InputError("nothing to assess: give a FIRMWARE and its --function, a --cipher, or --controls")
    return LeakPlan(recorder, variables, request.question)


def leak(request: LeakRequest, progress: Progress | None = None) -> LeakResult:
    """Compare traces of one fixed input with traces of random inputs, in two independent sets.

    Raises
    ------
    InputError
        As `plan`, or the function is not called, or a variable is not read.
    """
    return leak_plan(plan(request), progress)


def leak_plan(made: LeakPlan, progress: Progress | None = None) -> LeakResult:
    """As `leak`, for what is built."""
    recorder, variables, question = made.recorder, made.variables, made.question
    report = progress or (lambda *_: None)
    found = assess(recorder, variables, question, lambda done, total: report(done, total, "traces"))
    image, device = recorder.image, recorder.device
    inputs = drawn(variables, [poke.bytes for poke in recorder.pokes], 1, (question.seed, 0))
    return LeakResult(
        made,
        found,
        tuple(places(image, device, found, order.leaks) for order in found.orders),
        None if found.parts_at is None else line_of(image, device, found.parts_at),
        recorder.ended(inputs[0]),
    )


def _of_cipher(name: str, request: LeakRequest) -> tuple[Recorder, tuple[Variable, ...]]:
    """The benchmark firmware of a cipher of ours, with a key, a nonce and a message of one block."""
    chosen = select(ciphers=[name], devices=[request.device])
    cipher, device, window, variant = chosen.cipher, chosen.device, request.window, request.variant
    refuse_other(device)
    need(device.tool_set)
    ours = chosen.catalog.implementations_of(cipher.name, device.name, ("motecrypt",), protected=True)
    bodies = {body.variant: body for body in ours}
    if not bodies:
        raise InputError(
            f"{cipher.name}: none of our variants runs on {device.name}; choose another --device"
        )
    if variant is not None and variant not in bodies:
        raise InputError(nearest("variant", variant, bodies))
    body = bodies[variant] if variant is not None else next(iter(bodies.values()))
    random = randomness(request.question.seed, "leak", cipher.name)
    of_key = window.vary == "key"
    varied = "key" if of_key else "message" if body.protection is None else "nonce"
    recorder = bench_recorder(
        device,
        body,
        cipher,
        "setup" if of_key else "encrypt",
        random.randbytes(key_bytes(cipher)),
        random.randbytes(cipher.nonce_bytes),
        random.randbytes(nearest_length(cipher, 16)),
        vary=varied,
        skip=window.skip,
        instructions=window.instructions,
    )
    return recorder, tuple(
        Variable(poke.name, "vary" if poke.name == varied else "random") for poke in recorder.pokes
    )


def leak_controls(
    device: str = DEVICE, traces: int = 20_000, seed: int = 1, progress: Progress | None = None
) -> list[ControlOutcome]:
    """Check the assessment itself on a device, with functions of known leakage."""
    target = select(devices=[device]).device
    refuse_other(target)
    need(target.tool_set)
    outcomes = []
    for outcome in check(target, traces, seed):
        outcomes.append(outcome)
        if progress is not None:
            progress(len(outcomes), len(CONTROLS), outcome.control.title)
    return outcomes


def attack_traces(traces: Traces, attack: str) -> CaptureReport:
    """Attack traces of one key by correlation, with the target of that name, such as aes-encrypt-first.

    Raises
    ------
    InputError
        No such target, or traces that it is not for.
    """
    return analyse(traces, target_named(attack))
