"""Does a function's current depend on its secret? Fixed against random, in two independent sets of traces.

In each set, runs with one fixed input and runs with random inputs come in random order; everything else that
the firmware is given is drawn in the same way for both. A sample leaks if it exceeds the threshold in both
sets and in the same direction. What never varied in a pilot is not tested, but compared in every trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from motecrypt.attack.leakage.models import MODELS, Model
from motecrypt.attack.leakage.noise import noise_sd_of, snr_of
from motecrypt.attack.leakage.recording import CHANNELS, Recorder
from motecrypt.attack.leakage.traces import Bytes
from motecrypt.attack.leakage.welch import ALPHA, Floats, Means, Products, threshold
from motecrypt.base.errors import InputError

PILOT = 256
#: Traces of a class in a set: fewer than `LEAST` are refused; with fewer than `CLAIM` no absence is claimed.
LEAST, CLAIM = 100, 1000
#: Samples of which all pairs are tested.
PAIRED_MOST = 1200
SETS = 2


@dataclass(frozen=True)
class Variable:
    """What a run's input is made of.

    Attributes
    ----------
    name
        The poke of that name.
    role
        "vary": fixed in class 0, random in class 1; "fixed": the same in all runs; "random": random in all.
    shares
        Boolean shares that it is split into, with fresh masks in each run; 1: none.
    """

    name: str
    role: str
    shares: int = 1


@dataclass(frozen=True)
class LeakQuestion:
    """How to ask.

    Attributes
    ----------
    traces
        Of both sets together.
    snr
        Size of the noise, as `noise` defines it; above 0 and finite.
    pairs
        Instructions [first, last) of which order 2 tests all pairs of samples; None: order 1 alone.
    align
        Where runs take different paths: keep those of the most common path. Otherwise nothing is tested.
    """

    traces: int = 20_000
    snr: float = 0.1
    seed: int = 1
    model: Model = field(default_factory=lambda: MODELS["both"])
    pairs: tuple[int, int] | None = None
    align: bool = False
    processes: int = 2


@dataclass(frozen=True)
class Leak:
    """A sample, or a pair of two, that leaks: instruction of the window and channel, and t in each set."""

    instruction: int
    channel: str
    t: tuple[float, ...]
    other: tuple[int, str] | None = None

    @property
    def strength(self) -> float:
        """The smaller |t| of the sets."""
        return min(abs(t) for t in self.t)


@dataclass(frozen=True)
class OrderTest:
    """The test of one order: samples or pairs tested, the threshold for |t|, the largest |t| in both sets."""

    order: int
    tests: int
    threshold: float
    largest: float
    leaks: tuple[Leak, ...]


@dataclass(frozen=True)
class Assessment:
    """An answer.

    Attributes
    ----------
    verdict
        "leaks", "no leak found", "no claim" (too few traces for one), or "path varies": nothing was tested.
    paths
        Different paths through the window in the pilot.
    instructions
        Fewest and most instructions in the pilot.
    traces, least_class
        That were tested; of the smallest class of a set.
    noise_sd
        In units of a sample: bits, if the model has no coefficients.
    rare
        Samples that were constant in the pilot and varied later: not tested.
    pcs
        Address of each instruction of the window.
    details
        What met in each instruction of a run with a random input (`Recorder.details`).
    """

    verdict: str
    paths: int
    instructions: tuple[int, int]
    pcs: NDArray[np.uint32]
    details: NDArray[Any]
    traces: int = 0
    least_class: int = 0
    noise_sd: float = 0.0
    snr: float = 0.0
    snr_most: float = 0.0
    """At the sample that varies most, as in the pilot."""
    rare: int = 0
    orders: tuple[OrderTest, ...] = ()
    parts_at: int | None = None
    """Address of the instruction after which two of the paths part first; None for one path."""
    curve: tuple[tuple[float, ...], ...] = ()
    """(instructions, channels): the smaller |t| of the sets, of order 1."""


def drawn(
    variables: Sequence[Variable], sizes: Sequence[int], count: int, seed: Sequence[int]
) -> tuple[Bytes, NDArray[np.uint8]]:
    """Draw inputs and the class of each run.

    Parameters
    ----------
    sizes
        Bytes of each variable, with all its shares.
    seed
        Begins with the seed of the whole question, which alone decides on what is fixed.

    Raises
    ------
    InputError
        For a variable whose bytes cannot be split into its shares.
    """
    fixed = np.random.default_rng([seed[0], 0xF1])
    random = np.random.default_rng(list(seed))
    labels = random.integers(0, 2, count, dtype=np.uint8)
    columns = []
    for variable, size in zip(variables, sizes, strict=True):
        if size % variable.shares:
            raise InputError(f"{variable.name}: {size} bytes are not {variable.shares} shares")
        plain = size // variable.shares
        constant = fixed.integers(0, 256, plain, dtype=np.uint8)
        values = random.integers(0, 256, (count, plain), dtype=np.uint8)
        if variable.role == "fixed":
            values[:] = constant
        elif variable.role == "vary":
            values[labels == 0] = constant
        parts = [random.integers(0, 256, (count, plain), dtype=np.uint8) for _ in range(variable.shares - 1)]
        for part in parts:
            values ^= part
        columns += [values, *parts]
    return np.concatenate(columns, axis=1), labels


def assess(
    recorder: Recorder,
    variables: Sequence[Variable],
    question: LeakQuestion,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Assessment:
    """Record and test.

    Parameters
    ----------
    variables
        One for each poke of the recorder, in its order.
    progress
        Called with the traces done, and all.

    Raises
    ------
    InputError
        For too few traces, a window that never begins or is too long, or too many samples for pairs.
    """
    if not 0 < question.snr < np.inf:
        raise InputError(f"--snr {question.snr:g}: noise has to be above zero; give a ratio such as 0.1")
    if question.traces < 2 * SETS * LEAST:
        raise InputError(f"--traces {question.traces}: at least {2 * SETS * LEAST} are needed")
    return _Assessor(recorder, variables, question).assess(progress)


class _Assessor:
    def __init__(self, recorder: Recorder, variables: Sequence[Variable], question: LeakQuestion) -> None:
        self._recorder, self._question = recorder, question
        self._variables = variables
        self._sizes = [poke.bytes for poke in recorder.pokes]

    def assess(self, progress: Callable[[int, int], None]) -> Assessment:
        question = self._question
        inputs, _ = drawn(self._variables, self._sizes, PILOT, (question.seed, 0))
        head, detail = self._recorder.details(inputs[:1])[0]
        samples, paths, lengths = self._pilot(inputs, head.instructions)
        common, counts = np.unique(paths, return_counts=True)
        usual = int(common[counts.argmax()])
        told: dict[str, Any] = {
            "paths": len(common),
            "instructions": (int(lengths.min()), int(lengths.max())),
        }
        if head.path != usual:
            head, detail = self._recorder.details(inputs[paths == usual][:1])[0]
        told |= {"pcs": detail["pc"].copy(), "details": detail}
        if len(common) > 1:
            other = self._recorder.details(inputs[paths != usual][:1])[0][1]
            told["parts_at"] = _parting(detail["pc"], other["pc"])
            if not question.align:
                return Assessment("path varies", **told)
        count = head.instructions
        measured = question.model.of(samples[paths == usual, :, :count])
        flat = measured.reshape(len(measured), -1)
        varies = (flat != flat[0]).any(axis=0)
        deviation = noise_sd_of(question.snr, question.model.unit)
        tester = Tester(flat[0], flat.mean(axis=0), varies, self._paired(varies, count), deviation)
        for number in range(SETS):
            self._test(tester, number, count, usual, progress)
        told["snr_most"] = snr_of(deviation, float(flat.var(axis=0).max()))
        return self._told(tester, told, count, deviation)

    def _pilot(self, inputs: Bytes, instructions: int) -> tuple[NDArray[np.uint8], Any, Any]:
        """The pilot's samples, paths and lengths; recorded again where a run is longer than the first."""
        window = self._recorder.window
        most = instructions if window.instructions else max(instructions * 2, instructions + 1000)
        batches = list(self._recorder.record(inputs, most, CHANNELS, self._question.processes))
        samples, paths, lengths = (
            np.concatenate([getattr(batch, name) for batch in batches])
            for name in ("samples", "paths", "instructions")
        )
        return samples, paths, lengths

    def _paired(self, varies: NDArray[np.bool_], count: int) -> NDArray[np.bool_] | None:
        """The samples whose pairs are tested, among all."""
        pairs = self._question.pairs
        if pairs is None:
            return None
        first, last = pairs
        if not 0 <= first < last <= count:
            raise InputError(f"--pairs {first}-{last}: the window has the instructions 0 to {count}")
        instruction = np.tile(np.arange(count), len(self._question.model.rows))
        chosen = varies & (instruction >= first) & (instruction < last)
        if chosen.sum() > PAIRED_MOST:
            raise InputError(
                f"--pairs {first}-{last}: {chosen.sum():,} samples vary there, and at most {PAIRED_MOST:,} "
                "can be paired; state fewer instructions"
            )
        return np.asarray(chosen)

    def _batches(
        self, number: int, count: int, usual: int, progress: Callable[[int, int], None]
    ) -> Iterator[tuple[Any, NDArray[np.uint8]]]:
        question = self._question
        total = question.traces // SETS
        inputs, labels = drawn(self._variables, self._sizes, total, (question.seed, 1 + number))
        channels = question.model.channels
        for batch in self._recorder.record(inputs, count, channels, question.processes):
            kept = batch.paths == usual
            if not kept.all() and not question.align:
                raise InputError(
                    f"{self._recorder.window.function}: its path depends on its input in "
                    f"{int((~kept).sum())} of {len(kept)} traces, though not in the pilot; add --align"
                )
            own = labels[batch.first : batch.first + len(kept)]
            yield question.model.of(batch.samples[kept], channels), own[kept]
            progress(number * total + batch.first + len(kept), SETS * total)

    def _test(
        self, tester: Tester, number: int, count: int, usual: int, progress: Callable[[int, int], None]
    ) -> None:
        noise = np.random.default_rng([self._question.seed, 0x6E, number])
        tester.begin()
        for samples, labels in self._batches(number, count, usual, progress):
            tester.add(samples.reshape(len(samples), -1), labels, noise)

    def _told(self, tester: Tester, told: dict[str, Any], count: int, deviation: float) -> Assessment:
        rows = self._question.model.rows
        least = int(min(sums.counts.min() for sums in tester.means))
        if least < LEAST:
            raise InputError(f"only {least} traces of a class are left; {LEAST} are needed: add --traces")
        orders = [tester.order_1(rows, count)]
        if tester.paired is not None:
            orders.append(tester.order_2(rows, count))
        leaks = any(order.leaks for order in orders)
        curve = np.zeros(len(rows) * count)
        curve[tester.varies] = np.min([np.abs(sums.t()) for sums in tester.means], axis=0)
        return Assessment(
            "leaks" if leaks else "no leak found" if least >= CLAIM else "no claim",
            **told,
            traces=int(sum(sums.counts.sum() for sums in tester.means)),
            least_class=least,
            noise_sd=deviation,
            snr=self._question.snr,
            rare=int(tester.rare.sum()),
            orders=tuple(orders),
            curve=tuple(map(tuple, curve.reshape(len(rows), count).T.tolist())),
        )


def _parting(one: NDArray[np.uint32], other: NDArray[np.uint32]) -> int:
    """The last address before two paths differ."""
    length = min(len(one), len(other))
    differ = np.flatnonzero(one[:length] != other[:length])
    return int(one[max(0, (differ[0] if len(differ) else length) - 1)])


class Tester:
    """The sums of all sets, and what follows from them."""

    def __init__(
        self,
        constant: NDArray[Any],
        origin: NDArray[Any],
        varies: NDArray[np.bool_],
        paired: NDArray[np.bool_] | None,
        deviation: float,
    ) -> None:
        self.varies, self.paired = varies, paired
        self.rare = np.zeros(len(varies), bool)
        self.means: list[Means] = []
        self.products: list[Products] = []
        self._constant, self._origin, self._deviation = constant, origin, deviation

    def begin(self) -> None:
        """Begin a set."""
        self.means.append(Means(self._origin[self.varies]))
        if self.paired is not None:
            self.products.append(Products(self._origin[self.paired]))

    def add(self, samples: Any, labels: NDArray[np.uint8], noise: np.random.Generator) -> None:
        """Add traces to the set, with noise."""
        self.rare |= ~self.varies & (samples != self._constant).any(axis=0)
        noisy: Floats = samples[:, self.varies].astype(np.float32)
        noisy += np.float32(self._deviation) * noise.standard_normal(noisy.shape, dtype=np.float32)
        self.means[-1].add(noisy, labels)
        if self.paired is not None:
            self.products[-1].add(noisy[:, self.paired[self.varies]], labels)

    def _limit(self, tests: int) -> float:
        return threshold(max(1, tests), int(min(sums.counts.min() for sums in self.means)), ALPHA)

    def order_1(self, rows: Sequence[str], count: int) -> OrderTest:
        """Judge each sample."""
        tests = int(self.varies.sum())
        limit = self._limit(tests)
        t = np.array([sums.t() for sums in self.means])
        where = np.flatnonzero(self.varies)
        leaks = [
            Leak(int(where[i] % count), rows[where[i] // count], tuple(t[:, i].tolist()))
            for i in np.flatnonzero(_agreeing(t, limit))
        ]
        return _order(1, tests, limit, t, leaks)

    def order_2(self, rows: Sequence[str], count: int) -> OrderTest:
        """Judge each pair."""
        assert self.paired is not None
        where = np.flatnonzero(self.paired)
        upper = np.triu_indices(len(where))
        limit = self._limit(len(upper[0]))
        t = np.array([sums.t()[upper] for sums in self.products])
        leaks = []
        for i in np.flatnonzero(_agreeing(t, limit)):
            one, other = where[upper[0][i]], where[upper[1][i]]
            second = (int(other % count), rows[other // count])
            leaks.append(Leak(int(one % count), rows[one // count], tuple(t[:, i].tolist()), second))
        return _order(2, len(upper[0]), limit, t, leaks)


def _agreeing(t: NDArray[Any], limit: float) -> NDArray[np.bool_]:
    """The tests that exceed the limit in every set, in one direction."""
    return np.asarray((t > limit).all(axis=0) | (t < -limit).all(axis=0))


def _order(number: int, tests: int, limit: float, t: NDArray[Any], leaks: list[Leak]) -> OrderTest:
    largest = float(np.abs(t).min(axis=0).max()) if t.size else 0.0
    leaks.sort(key=lambda leak: leak.strength, reverse=True)
    return OrderTest(number, tests, limit, largest, tuple(leaks))
