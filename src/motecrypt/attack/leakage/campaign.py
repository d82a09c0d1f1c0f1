"""Repeated attacks on a cipher's benchmark firmware: traces to the key, over noise and models.

Each experiment has a key of its own. Traces are recorded once, without noise, and every noise level and model
analyses the same ones. The window is found with a known key: an attacker sees the rounds in a trace by eye.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from motecrypt.attack.leakage import cpa, template
from motecrypt.attack.leakage.bench_firmware import bench_recorder
from motecrypt.attack.leakage.models import MODELS
from motecrypt.attack.leakage.neighbours import distance_scores
from motecrypt.attack.leakage.noise import noise_sd_of
from motecrypt.attack.leakage.recording import CHANNELS, Recorder
from motecrypt.attack.leakage.targets import PowerTarget, aes_encrypted, target_named
from motecrypt.attack.leakage.traces import Bytes, Traces
from motecrypt.base.errors import MotecryptError
from motecrypt.base.model import Cipher, Device, Implementation

#: The models that are attacked. The channels of one are added up, as one probe shows them together.
MODEL_NAMES = ("weight", "distance")
#: Traces of the known key that find the window, and the most instructions looked at.
PILOT_TRACES, PILOT_TRACES_BITS, PILOT_INSTRUCTIONS = 400, 2_000, 5_000
#: How many parts of the key are looked for, evenly spread.
PILOT_PARTS = 16
#: What a correlation has to exceed there, in its standard deviations under chance.
PILOT_DEVIATIONS = 5.8
#: A value comes again (CCM encrypts the nonce twice): the first sample with this share of the best counts.
NEARLY = 0.8
#: A curve begins at this many traces, or at this share of its most.
COUNTS_LEAST, COUNTS_SPAN = 10, 32
#: Instructions before and after those that show the values.
MARGIN = 8
#: Profiling of templates: keys, and traces of each.
PROFILE_KEYS, PROFILE_TRACES = 16, 160


class TimeVaries(MotecryptError):
    """Traces are not aligned: the instructions executed depend on the data, which is a result of its own."""


@dataclass(frozen=True)
class PlannedAttack:
    """An attack that a cipher's interface allows.

    Attributes
    ----------
    target
        What is predicted.
    operation, vary
        What the firmware does, and which of its inputs changes from trace to trace.
    known
        known(inputs (n, k), nonce, key): what the target's side is, (n, k).
    late
        The values are at the end of the operation.
    """

    target: PowerTarget
    operation: str
    vary: str
    known: Callable[[Bytes, bytes, bytes], Bytes]
    late: bool = False


def _itself(inputs: Bytes, nonce: bytes, key: bytes) -> Bytes:
    return inputs


def _chained(inputs: Bytes, nonce: bytes, key: bytes) -> Bytes:
    return inputs ^ np.frombuffer(nonce, np.uint8)


def _encrypted(inputs: Bytes, nonce: bytes, key: bytes) -> Bytes:
    return aes_encrypted(key, inputs)


#: By family and mode of a cipher: target, operation, what varies, what is known. The first one is the usual.
_PLANS: dict[tuple[str, str | None], list[tuple[str, str, str, Callable[[Bytes, bytes, bytes], Bytes]]]] = {
    ("aes", "ecb"): [
        ("aes-encrypt-first", "encrypt", "message", _itself),
        ("aes-decrypt-first", "decrypt", "message", _itself),
        ("aes-encrypt-last", "encrypt", "message", _encrypted),
    ],
    ("aes", "cbc"): [
        ("aes-encrypt-first", "encrypt", "message", _chained),
        ("aes-decrypt-first", "decrypt", "message", _itself),
    ],
    ("aes", "ctr"): [("aes-encrypt-first", "encrypt", "nonce", _itself)],
    ("aes-ccm", "ccm"): [("aes-ccm-nonce", "encrypt", "nonce", _itself)],
    ("ascon", None): [("ascon-initialisation", "encrypt", "nonce", _itself)],
}


def attacks_on(cipher: Cipher) -> list[PlannedAttack]:
    """Return the attacks that apply to a cipher; none for one whose values are not predicted here."""
    plans = _PLANS.get((cipher.family, cipher.mode), [])
    return [
        PlannedAttack(target_named(name), operation, vary, known, late=name.endswith("-last"))
        for name, operation, vary, known in plans
    ]


@dataclass(frozen=True)
class Level:
    """One level of noise as SNR (`noise`), and the most traces that are tried at it."""

    snr: float
    traces_most: int

    @property
    def title(self) -> str:
        """The noise, in words."""
        return "no noise" if np.isinf(self.snr) else f"SNR {self.snr:.3g}"


LEVELS = (Level(float("inf"), 226), Level(0.5, 640), Level(0.125, 1_280), Level(0.03125, 3_620))
LEVELS_FEW = (Level(float("inf"), 160), Level(0.125, 905))
#: A target of single bits needs far more traces.
LEVELS_BITS = (Level(float("inf"), 1_280), Level(0.5, 5_120))
LEVELS_BITS_FEW = (Level(float("inf"), 1_280),)


def levels_of(target: PowerTarget, *, thorough: bool, alone: bool) -> tuple[Level, ...]:
    """Return the levels of noise at which a target is attacked.

    `alone`: only the one at which variants are compared.
    """
    few = LEVELS_FEW if target.guesses == 256 else LEVELS_BITS_FEW
    many = LEVELS if target.guesses == 256 else LEVELS_BITS
    return few[-1:] if alone else many if thorough else few


@dataclass(frozen=True)
class Bed:
    """One implementation on one device under one attack.

    Attributes
    ----------
    message_bytes
        Length of the message.
    seed
        Keys, inputs and noise are drawn from it.
    """

    device: Device
    cipher: Cipher
    implementation: Implementation
    placement: str
    attack: PlannedAttack
    message_bytes: int
    seed: int

    def key(self, experiment: int) -> bytes:
        """The key of one experiment; -1 is the pilot's, those below are for profiling."""
        bits = min(bits for bits in self.cipher.key_bits if bits >= 128)
        return self._random("key", experiment).bytes(bits // 8)

    def nonce(self, experiment: int) -> bytes:
        """The nonce of one experiment, where it does not vary."""
        return self._random("nonce", experiment).bytes(self.cipher.nonce_bytes)

    def inputs(self, experiment: int, traces: int) -> Bytes:
        """What varies, (traces, k)."""
        size = self.message_bytes if self.attack.vary == "message" else self.cipher.nonce_bytes
        return self._random("inputs", experiment).integers(0, 256, (traces, size), dtype=np.uint8)

    def _random(self, what: str, experiment: int) -> np.random.Generator:
        words = [self.seed, experiment % (1 << 32), *what.encode()]
        return np.random.default_rng(words)

    def recorder(self, experiment: int, skip: int = 0, instructions: int | None = None) -> Recorder:
        """The firmware, ready to be recorded under the experiment's key."""
        return bench_recorder(
            self.device,
            self.implementation,
            self.cipher,
            self.attack.operation,
            self.key(experiment),
            self.nonce(experiment),
            bytes(self.message_bytes),
            vary=self.attack.vary,
            placement=self.placement,
            skip=skip,
            instructions=instructions,
        )


@dataclass(frozen=True)
class Recorded:
    """The traces of one experiment, by model; without noise."""

    models: dict[str, Traces]
    known: Bytes


@dataclass(frozen=True)
class AttackWindow:
    """Which instructions are recorded.

    `executed`: how many the operation has. `marks`: (instructions,), the address of each that is recorded.
    """

    skip: int
    instructions: int
    executed: int
    marks: NDArray[np.uint32]


def find_window(bed: Bed) -> AttackWindow:
    """Return the instructions between the first and the last one that shows a predicted value best.

    Raises
    ------
    TimeVaries
        When the traces are not aligned.
    """
    recorder = bed.recorder(-1)
    of_bytes = bed.attack.target.guesses == 256
    inputs = bed.inputs(-1, PILOT_TRACES if of_bytes else PILOT_TRACES_BITS)
    head, detail = recorder.details(inputs[:1])[0]
    looked_at = min(head.instructions, PILOT_INSTRUCTIONS)
    first = head.instructions - looked_at if bed.attack.late else 0
    marks = detail["pc"][first : first + looked_at]
    recorder = bed.recorder(-1, first) if first else recorder
    recorded = _record(bed, -1, recorder, inputs, looked_at, MODEL_NAMES, marks)
    peaks = [
        peak for traces in recorded.models.values() for peak in _peaks(bed, traces.samples, recorded.known)
    ]
    if not peaks:
        peaks = [0, looked_at - 1]
    skip = max(0, min(peaks) - MARGIN)
    end = min(looked_at, max(peaks) + MARGIN + 1)
    return AttackWindow(first + skip, end - skip, head.instructions, marks[skip:end].astype(np.uint32))


def _peaks(bed: Bed, samples: NDArray[Any], known: Bytes) -> list[int]:
    """The first sample that shows each part's value nearly as well as the best one, where there is any."""
    target, key = bed.attack.target, bed.key(-1)
    parts = range(0, target.parts, max(1, target.parts // PILOT_PARTS))
    right = [target.weights(part)[target.truth(key, part)] for part in parts]
    classes = [target.classes_of(known, part) for part in parts]
    predicted = cpa.centre(np.stack([row[own] for row, own in zip(right, classes, strict=True)], axis=1))
    shown = np.abs(cpa.correlations_of(predicted, cpa.centre(samples)))
    best = shown.max(axis=1)
    found = (shown > NEARLY * best[:, None]).argmax(axis=1)
    return [int(place) for place in found[best > PILOT_DEVIATIONS / sqrt(len(samples))]]


def record(bed: Bed, experiment: int, window: AttackWindow, traces: int, models: Sequence[str]) -> Recorded:
    """Record the traces of one experiment.

    Raises
    ------
    TimeVaries
        When they are not aligned.
    """
    inputs = bed.inputs(experiment, traces)
    recorder = bed.recorder(experiment, window.skip, window.instructions)
    return _record(bed, experiment, recorder, inputs, window.instructions, models, window.marks)


def _record(
    bed: Bed,
    experiment: int,
    recorder: Recorder,
    inputs: Bytes,
    instructions: int,
    models: Sequence[str],
    marks: NDArray[Any],
) -> Recorded:
    channels = [name for name in CHANNELS if any(name in MODELS[model].channels for model in models)]
    samples = {model: np.zeros((len(inputs), instructions), np.uint8) for model in models}
    paths: set[int] = set()
    for batch in recorder.record(inputs, instructions, channels):
        paths |= set(batch.paths.tolist())
        if len(paths) > 1:
            raise TimeVaries("the instructions executed depend on the data, so traces are not aligned")
        for model, table in samples.items():
            chosen = [channels.index(name) for name in MODELS[model].channels]
            added = batch.samples[:, chosen].sum(axis=1, dtype=np.uint16)
            table[batch.first : batch.first + len(added)] = np.minimum(added, 255)
    key = np.frombuffer(bed.key(experiment), np.uint8)
    pcs = np.ascontiguousarray(marks, np.uint32)
    return Recorded(
        {model: Traces(table, inputs, key, pcs, model=model) for model, table in samples.items()},
        bed.attack.known(inputs, bed.nonce(experiment), bed.key(experiment)),
    )


@dataclass(frozen=True)
class Curve:
    """Success over the number of traces, at one level of noise, in one model.

    `attacker`: "correlation", of weights; "distance", the same with distances (`neighbours`); or "template".
    """

    model: str
    attacker: str
    snr: float
    points: tuple[cpa.CurvePoint, ...]

    @property
    def traces_to_key(self) -> int | None:
        """As `cpa.traces_to_key`."""
        return cpa.traces_to_key(self.points)

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON values; no noise is null as an SNR."""
        return {
            "model": self.model,
            "attacker": self.attacker,
            "snr": None if np.isinf(self.snr) else self.snr,
            "noise_sd": noise_sd_of(self.snr),
            "traces_to_key": self.traces_to_key,
            "points": [
                {
                    "traces": point.traces,
                    "experiments": point.experiments,
                    "successes": point.successes,
                    "success_low": round(point.low, 4),
                    "success_high": round(point.high, 4),
                    "parts_right": round(point.parts_right, 4),
                    "guessing_entropy_bits": round(point.guessing_entropy_bits, 2),
                }
                for point in self.points
            ],
        }


def curves(
    bed: Bed,
    window: AttackWindow,
    levels: Sequence[Level],
    experiments: int,
    models: Sequence[str] = MODEL_NAMES,
    template_at: float | None = None,
    distances_at: Sequence[float] = (),
    done: Callable[[str], None] = lambda what: None,
) -> list[Curve]:
    """Repeat the attack at all levels of noise.

    Parameters
    ----------
    experiments
        How many attacks, each with a key of its own.
    template_at
        The SNR at which templates are tried as well, in the first model; None: nowhere.
    distances_at
        Those at which distances are predicted as well (`neighbours`), in the last model.
    done
        Called after each curve, with what it is of.
    """
    most = max(level.traces_most for level in levels)
    pool = [record(bed, number, window, most, models) for number in range(experiments)]
    found = []
    for model in models:
        for level in levels:
            found.append(_curve(bed, pool, model, level, "correlation", cpa.scores_of))
            done(f"{model}, {level.title}")
    for level in levels:
        if level.snr in distances_at:
            found.append(_curve(bed, pool, models[-1], level, "distance", distance_scores))
            done(f"predicted distances, {level.title}")
        if level.snr == template_at:
            profiled = _profile(bed, window, models[0], level)
            found.append(_curve(bed, pool, models[0], level, "template", profiled.scores))
            done(f"templates, {level.title}")
    return found


def _curve(
    bed: Bed, pool: Sequence[Recorded], model: str, level: Level, name: str, attacker: cpa.Attacker
) -> Curve:
    noise_sd = noise_sd_of(level.snr)

    def draw(experiment: int) -> Traces:
        traces = pool[experiment].models[model].part(slice(level.traces_most))
        known = pool[experiment].known[: level.traces_most]
        return replace(traces.noisy(noise_sd, bed.seed * 1_000 + experiment), inputs=known)

    counts = cpa.counts_up_to(level.traces_most, max(COUNTS_LEAST, level.traces_most // COUNTS_SPAN))
    target = bed.attack.target
    points = cpa.success_curve(draw, lambda traces: traces.inputs, target, counts, len(pool), attacker)
    return Curve(model, name, level.snr, tuple(points))


@dataclass(frozen=True)
class CorrelationCurve:
    """Absolute correlations with each sample, (s,): the best of all right guesses, and of all wrong ones."""

    right: NDArray[np.float32]
    wrong: NDArray[np.float32]


def correlation_curve(bed: Bed, window: AttackWindow, level: Level) -> CorrelationCurve:
    """Attack once in the weight model, and return the correlations over time."""
    recorded = record(bed, 0, window, level.traces_most, MODEL_NAMES[:1])
    traces = recorded.models[MODEL_NAMES[0]].noisy(noise_sd_of(level.snr), bed.seed * 1_000)
    target, key = bed.attack.target, bed.key(0)
    centred = cpa.centre(traces.samples)
    variations = np.square(centred, dtype=np.float64).sum(axis=0)
    right, wrong = (np.zeros(window.instructions, np.float32) for _ in range(2))
    for part in range(target.parts):
        sums = cpa.ClassSums.empty(target.classes, window.instructions)
        sums.add(centred, target.classes_of(recorded.known, part))
        found = np.abs(cpa.correlations(sums, variations, target.weights(part)))
        truth = target.truth(key, part)
        right = np.maximum(right, found[truth])
        wrong = np.maximum(wrong, np.delete(found, truth, axis=0).max(axis=0))
    return CorrelationCurve(right, wrong)


def _profile(bed: Bed, window: AttackWindow, model: str, level: Level) -> template.Templates:
    """Templates of a like device with keys of the attacker's own."""
    numbers = [-2 - key for key in range(PROFILE_KEYS)]
    pool = [record(bed, number, window, PROFILE_TRACES, (model,)) for number in numbers]
    noise_sd = noise_sd_of(level.snr)
    samples = [
        recorded.models[model].noisy(noise_sd, bed.seed * 1_000 + 500 + place).samples
        for place, recorded in enumerate(pool)
    ]
    keys = [np.frombuffer(bed.key(number) * PROFILE_TRACES, np.uint8) for number in numbers]
    size = len(bed.key(-2))
    return template.profile(
        np.concatenate(samples),
        np.concatenate([recorded.known for recorded in pool]),
        np.concatenate(keys).reshape(-1, size),
        bed.attack.target,
    )
