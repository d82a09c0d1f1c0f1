"""Traces as a whole: recorded for other programs, and tested whatever their origin, such as a capture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from motecrypt.attack.leakage.assessment import (
    CLAIM,
    LEAST,
    PAIRED_MOST,
    SETS,
    LeakQuestion,
    OrderTest,
    Tester,
    Variable,
    drawn,
)
from motecrypt.attack.leakage.recording import Recorder
from motecrypt.attack.leakage.traces import Bytes, Traces
from motecrypt.base.errors import InputError

#: Larger recordings are refused.
BYTES_MOST = 1 << 30
_PART = 1000


@dataclass(frozen=True)
class CaptureTest:
    """What a test of given traces found; a leak's `instruction` is the number of its sample."""

    verdict: str
    least_class: int
    orders: tuple[OrderTest, ...]


def recorded_traces(recorder: Recorder, variables: Sequence[Variable], question: LeakQuestion) -> Traces:
    """Record the traces of the first set of an assessment, without noise.

    Returns
    -------
    Samples row by row of the model, uint8 or float32; `inputs` and `keys` are the variables leak_input and
    leak_key, of shares their XOR; labels are the classes.

    Raises
    ------
    InputError
        When they would take more than 1 GiB, or take different paths.
    """
    sizes = [poke.bytes for poke in recorder.pokes]
    total = question.traces // SETS
    inputs, labels = drawn(variables, sizes, total, (question.seed, 1))
    head, detail = recorder.details(inputs[:1])[0]
    model, count = question.model, head.instructions
    if total * len(model.rows) * count > BYTES_MOST:
        raise InputError(
            f"--save: {total:,} traces of {count:,} instructions take more than 1 GiB; record fewer"
        )
    parts = []
    for batch in recorder.record(inputs, count, model.channels, question.processes):
        if (batch.paths != head.path).any():
            raise InputError("--save: the path depends on the input; record fewer --instructions")
        parts.append(model.of(batch.samples, model.channels).reshape(len(batch.samples), -1))
    given = _plain(variables, sizes, inputs)
    nothing = np.zeros((total, 1), np.uint8)
    return Traces(
        samples=np.concatenate(parts),
        inputs=given.get("leak_input", nothing),
        keys=given.get("leak_key", nothing),
        marks=np.tile(detail["pc"], len(model.rows)).astype(np.uint32),
        labels=labels,
        model=model.name,
        seed=question.seed,
    )


def _plain(variables: Sequence[Variable], sizes: Sequence[int], inputs: Bytes) -> dict[str, Bytes]:
    found: dict[str, Bytes] = {}
    at = 0
    for variable, size in zip(variables, sizes, strict=True):
        parts = inputs[:, at : at + size].reshape(len(inputs), variable.shares, -1)
        found[variable.name] = np.bitwise_xor.reduce(parts, axis=1)
        at += size
    return found


def assess_traces(traces: Traces, pairs: tuple[int, int] | None = None) -> CaptureTest:
    """Test given traces, in any unit: every other one belongs to the second set. No noise is added.

    Parameters
    ----------
    traces
        With labels; without them the most frequent input is the fixed one.
    pairs
        Samples [first, last) of which order 2 tests all pairs.

    Raises
    ------
    InputError
        When there are no two classes, too few traces, or too many samples for pairs.
    """
    labels = traces.labels if traces.labels is not None else _classes(traces)
    length = traces.samples.shape[1]
    first_one, some = traces.samples[0], traces.samples[:_PART].astype(np.float32)
    moving = np.zeros(length, bool)
    for start in range(0, len(traces), _PART):
        moving |= (traces.samples[start : start + _PART] != first_one).any(axis=0)
    scale = float(some[:, moving].std(axis=0).max()) if moving.any() else 1.0
    scale = scale or 1.0
    paired = None
    if pairs is not None:
        first, last = pairs
        if not 0 <= first < last <= length:
            raise InputError(f"--pairs {first}-{last}: the traces have the samples 0 to {length}")
        paired = moving & (np.arange(length) >= first) & (np.arange(length) < last)
        if paired.sum() > PAIRED_MOST:
            raise InputError(
                f"--pairs {first}-{last}: {paired.sum():,} samples vary there, and at most {PAIRED_MOST:,} "
                "can be paired; state fewer"
            )
    tester = Tester(first_one / scale, some.mean(axis=0) / scale, moving, paired, 0.0)
    noise = np.random.default_rng(0)
    for number in range(SETS):
        own, classes = traces.samples[number::SETS], labels[number::SETS]
        least = min(int((classes == 0).sum()), int((classes == 1).sum()))
        if least < LEAST:
            raise InputError(f"{least} traces of a class in one half; {LEAST} are needed for a test")
        tester.begin()
        for start in range(0, len(own), _PART):
            part = own[start : start + _PART].astype(np.float32) / np.float32(scale)
            tester.add(part, classes[start : start + _PART], noise)
    orders = [tester.order_1(("sample",), length)]
    if paired is not None:
        orders.append(tester.order_2(("sample",), length))
    least = int(min(sums.counts.min() for sums in tester.means))
    leaks = any(order.leaks for order in orders)
    verdict = "leaks" if leaks else "no leak found" if least >= CLAIM else "no claim"
    return CaptureTest(verdict, least, tuple(orders))


def _classes(traces: Traces) -> NDArray[np.uint8]:
    """0 for the most frequent input, 1 for the others."""
    _, which, counts = np.unique(traces.inputs, axis=0, return_inverse=True, return_counts=True)
    if counts.max() * 10 < len(traces):
        raise InputError(
            "the traces have no classes: neither labels nor an input that a tenth of them have; "
            "capture fixed and random inputs in random order"
        )
    return np.asarray(which.reshape(-1) != counts.argmax(), np.uint8)
