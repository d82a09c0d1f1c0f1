"""Correlation power analysis: which guess of a part of the key predicts the traces best. Pure.

For each guess of a part of the key, the Hamming weight of a predicted value is correlated with each sample.
(Brier, Clavier, Olivier, "Correlation power analysis with a leakage model", CHES 2004.) A guess's
score is its greatest absolute correlation over the samples, since a real probe may turn the sign.

The known data of a trace falls into few classes, so only sums of traces by class are kept. They
are added to as traces come, and one matrix product gives the correlations of all guesses after any number of
traces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from motecrypt.attack.leakage.targets import PowerTarget
from motecrypt.attack.leakage.traces import Bytes, Traces
from motecrypt.base.errors import InputError

Samples = NDArray[np.float32]

#: Two-sided 95 % of a normal distribution.
Z_95 = 1.959964
#: The share of experiments that must find the key before a number of traces counts as enough.
ENOUGH = 0.8
#: How many experiments are attacked side by side.
THREADS = 2
#: The least number of traces of an attack.
TRACES_LEAST = 4


@dataclass(frozen=True)
class ClassSums:
    """Sums of traces by the class of what is known.

    Attributes
    ----------
    counts
        (classes,): how many traces each class has.
    sums
        (classes, s): their sum, of samples from which a constant was subtracted.
    """

    counts: NDArray[np.float64]
    sums: Samples

    @classmethod
    def empty(cls, classes: int, samples: int) -> ClassSums:
        """Return sums of no traces."""
        return cls(np.zeros(classes), np.zeros((classes, samples), np.float32))

    def add(self, samples: Samples, classes: NDArray[np.intp]) -> None:
        """Add traces (n, s) with their classes (n,)."""
        order = np.argsort(classes, kind="stable")
        present, starts = np.unique(classes[order], return_index=True)
        self.sums[present] += np.add.reduceat(samples[order], starts, axis=0)
        self.counts[:] += np.bincount(classes, minlength=len(self.counts))


def correlations(
    sums: ClassSums, variations: NDArray[np.float64], weights: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the correlation of each guess's prediction with each sample, (guesses, s).

    Parameters
    ----------
    sums
        The traces by class.
    variations
        (s,): the sum of squared differences from the mean, for each sample.
    weights
        (guesses, classes): the prediction for each class.
    """
    n = sums.counts.sum()
    counts = sums.counts.astype(np.float32)
    centred = weights - (weights @ counts / np.float32(n))[:, None]
    # The centred predictions sum to 0 over the traces, so the traces' own mean cancels.
    of_weights = _inverse_root(np.square(centred) @ counts, n)
    scaled = sums.sums * _inverse_root(variations, n)
    found: Samples = (centred * of_weights[:, None]) @ scaled
    return found


def correlations_of(predicted: Samples, centred: Samples) -> Samples:
    """Return the correlation of each prediction (n, p) with each sample (n, s), both centred: (p, s)."""
    moved, shown = (
        rows * _inverse_root(np.square(rows, dtype=np.float64).sum(axis=0), len(rows))
        for rows in (predicted, centred)
    )
    found: Samples = moved.T @ shown
    return found


def _inverse_root(variations: NDArray[np.floating[Any]], n: float) -> Samples:
    """1 / sqrt; 0 for what never changes. (Rounding leaves a little of it.)"""
    moving = variations > 1e-6 * n
    return np.where(moving, 1 / np.sqrt(np.where(moving, variations, 1)), 0).astype(np.float32)


def attack(
    samples: NDArray[np.generic], known: Bytes, target: PowerTarget, counts: Sequence[int]
) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Attack with the first of the traces, in growing numbers.

    Parameters
    ----------
    samples
        (n, s), traces of one key.
    known
        (n, k), the known data of each: the target's inputs or outputs.
    target
        What is predicted.
    counts
        Numbers of traces, ascending, at most n.

    Yields
    ------
    part and scores (len(counts), guesses): the greatest absolute correlation of each guess.

    Raises
    ------
    InputError
        For numbers that are not ascending, or not there.
    """
    _check_counts(counts, len(samples))
    known = target.check(known)
    centred = centre(samples[: counts[-1]])
    variations = list(_variations(centred, counts))
    for part in range(target.parts):
        classes = target.classes_of(known[: counts[-1]], part)
        weights = target.weights(part)
        sums = ClassSums.empty(target.classes, centred.shape[1])
        scores = np.zeros((len(counts), target.guesses), np.float32)
        done = 0
        for row, count in enumerate(counts):
            sums.add(centred[done:count], classes[done:count])
            found = correlations(sums, variations[row], weights)
            scores[row] = np.maximum(found.max(axis=1), -found.min(axis=1))
            done = count
        yield part, scores


def centre(samples: NDArray[Any]) -> Samples:
    """Return the samples less their mean over the traces: sums then stay small, and float32 is enough."""
    mean = samples.mean(axis=0, dtype=np.float64).astype(np.float32)
    centred: Samples = samples.astype(np.float32) - mean
    return centred


def _variations(centred: Samples, counts: Sequence[int]) -> Iterator[NDArray[np.float64]]:
    """The sum of squared differences from the mean of the first traces, for each number of them."""
    total = np.zeros(centred.shape[1])
    squares = np.zeros(centred.shape[1])
    done = 0
    for count in counts:
        rows = centred[done:count]
        total += rows.sum(axis=0, dtype=np.float64)
        squares += np.einsum("ij,ij->j", rows, rows, dtype=np.float64)
        done = count
        yield squares - np.square(total) / count


def _check_counts(counts: Sequence[int], traces: int) -> None:
    if not counts or list(counts) != sorted(set(counts)):
        raise InputError("the numbers of traces must ascend")
    if counts[0] < TRACES_LEAST:
        raise InputError(f"an attack needs at least {TRACES_LEAST} traces, not {counts[0]}: record more")
    if counts[-1] > traces:
        raise InputError(
            f"an attack on {counts[-1]:,} traces needs as many, these are {traces:,}: record more"
        )


def scores_of(
    samples: NDArray[np.generic], known: Bytes, target: PowerTarget, counts: Sequence[int]
) -> NDArray[np.float32]:
    """Return the scores of `attack` for all parts: (len(counts), parts, guesses)."""
    found = np.zeros((len(counts), target.parts, target.guesses), np.float32)
    for part, scores in attack(samples, known, target, counts):
        found[:, part] = scores
    return found


def ranks_of(scores: NDArray[np.float32], target: PowerTarget, key: bytes) -> NDArray[np.intp]:
    """Return the rank of the right guess of each part, from 1; guesses that tie with it come before it.

    `scores`: (parts, guesses).
    """
    right = np.array([target.truth(key, part) for part in range(target.parts)])
    at = scores[np.arange(target.parts), right]
    ranks: NDArray[np.intp] = (scores >= at[:, None]).sum(axis=1)
    return ranks


def wilson(successes: int, experiments: int, z: float = Z_95) -> tuple[float, float]:
    """Return Wilson's interval for a share (Wilson, JASA 22, 1927); two-sided 95 % by default."""
    share, square = successes / experiments, z * z
    middle = share + square / (2 * experiments)
    reach = z * sqrt(share * (1 - share) / experiments + square / (4 * experiments**2))
    scale = 1 + square / experiments
    return max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)


@dataclass(frozen=True)
class CurvePoint:
    """What attacks on a number of traces came to, over repeated experiments.

    Attributes
    ----------
    traces
        How many traces each attack had.
    experiments, successes
        How many attacks, and how many of them found the whole key.
    low, high
        Wilson's 95 % interval of the success rate.
    parts_right
        The mean share of parts whose right guess came first.
    guessing_entropy_bits
        The mean over the experiments of the sum, over the parts, of log2 of the right guess's rank. 0: found.
        It estimates, from above, how many bits of the key are left to search for.
    """

    traces: int
    experiments: int
    successes: int
    low: float
    high: float
    parts_right: float
    guessing_entropy_bits: float

    @property
    def success_rate(self) -> float:
        """The share of experiments that found the key."""
        return self.successes / self.experiments


#: Scores (len(counts), parts, guesses) of one experiment's traces: `scores_of`, or a template's.
Attacker = Callable[[NDArray[np.generic], Bytes, PowerTarget, Sequence[int]], NDArray[np.float32]]


def success_curve(
    draw: Callable[[int], Traces],
    known_of: Callable[[Traces], Bytes],
    target: PowerTarget,
    counts: Sequence[int],
    experiments: int,
    attacker: Attacker = scores_of,
) -> list[CurvePoint]:
    """Repeat an attack on fresh traces and return how often it found the key, by number of traces.

    Parameters
    ----------
    draw
        draw(experiment): at least counts[-1] traces of one key, with noise.
    known_of
        The known data of the traces, (n, k).
    target
        What is predicted.
    counts
        Numbers of traces, ascending.
    experiments
        How many attacks, each with its own traces.
    attacker
        Scores the guesses.
    """
    found = np.zeros((experiments, len(counts)), bool)
    ranks = np.zeros((experiments, len(counts), target.parts))

    def repeat(experiment: int) -> None:
        traces = draw(experiment)
        key = traces.key_of(0).tobytes()
        scores = attacker(traces.samples, known_of(traces), target, counts)
        right = target.recovered(key)
        for row in range(len(counts)):
            ranks[experiment, row] = ranks_of(scores[row], target, key)
            found[experiment, row] = target.rebuild(scores[row]) == right

    with ThreadPoolExecutor(THREADS) as pool:  # matrix products release the interpreter's lock
        list(pool.map(repeat, range(experiments)))
    points = []
    for row, count in enumerate(counts):
        successes = int(found[:, row].sum())
        low, high = wilson(successes, experiments)
        here = ranks[:, row]
        entropy = float(np.log2(here).sum(axis=1).mean())
        points.append(
            CurvePoint(count, experiments, successes, low, high, float((here == 1).mean()), entropy)
        )
    return points


def traces_to_key(points: Sequence[CurvePoint], enough: float = ENOUGH) -> int | None:
    """Return the least number of traces from which on every success rate is enough; None: not reached."""
    found = None
    for point in reversed(points):
        if point.success_rate < enough:
            break
        found = point.traces
    return found


def counts_up_to(most: int, least: int = 10) -> list[int]:
    """Return numbers of traces from `least` to `most`, about the square root of two apart."""
    found = {most}
    step = 0
    while (count := round(least * 2 ** (step / 2))) < most:
        found.add(count)
        step += 1
    return sorted(found)
