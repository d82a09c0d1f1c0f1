"""Attacks traces of any source, a real capture as well as our own. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import tanh

import numpy as np
from numpy.typing import NDArray

from motecrypt.attack.leakage import cpa
from motecrypt.attack.leakage.targets import PowerTarget
from motecrypt.attack.leakage.traces import Bytes, Traces
from motecrypt.attack.leakage.welch import threshold
from motecrypt.base.errors import InputError

#: The chance that any guess of any part exceeds the limit of an attack without a signal.
ALPHA = 1e-5
#: An input of this share of the traces is the fixed one of a t-test.
FIXED_SHARE = 0.05


@dataclass(frozen=True)
class CaptureReport:
    """What an attack on one file came to.

    Attributes
    ----------
    traces, samples
        Of the attack.
    key
        What the best guesses give.
    limit
        The correlation that chance does not exceed.
    above
        How many parts of the key have a best guess above it, of `parts`.
    snr
        Of the best sample of a part, the median over the parts above the limit: the variance that the
        predicted weight explains, over the rest. None: no part is above.
    places
        The sample at which each part's best guess correlates most.
    known
        What the key in the file gives; None where it has none.
    curve
        With a known key, for growing numbers of traces: traces, parts right, guessing entropy in bits.
    """

    traces: int
    samples: int
    parts: int
    key: bytes
    limit: float
    above: int
    snr: float | None
    places: tuple[int, ...]
    known: bytes | None
    curve: tuple[tuple[int, int, float], ...]


def analyse(traces: Traces, target: PowerTarget) -> CaptureReport:
    """Attack traces of one key by correlation.

    Parameters
    ----------
    traces
        Only those of random inputs are attacked: class 1, or without classes all but one frequent input.

    Raises
    ------
    InputError
        For several keys, missing inputs or outputs, or too few traces.
    """
    chosen = traces.part(np.flatnonzero(_varied(traces)))
    if chosen.keys.ndim == 2:
        raise InputError("the traces have several keys, and an attack needs one: give those of one key")
    known = chosen.inputs if target.side == "input" else chosen.outputs
    if known is None:
        raise InputError(f"the attack '{target.name}' needs outputs, which these traces do not have")
    if len(chosen) < cpa.TRACES_LEAST:
        raise InputError(f"{len(chosen)} traces of random inputs are too few for an attack: record more")
    known = target.check(known)
    scores = cpa.scores_of(chosen.samples, known, target, _counts(len(chosen)))
    best, places = _best(chosen, known, target, scores[-1])
    tests = chosen.samples.shape[1] * target.guesses * target.parts
    limit = tanh(threshold(tests, max(20, len(chosen)), ALPHA) / (len(chosen) - 3) ** 0.5)
    above = best > limit
    share = np.square(best[above])
    key = chosen.keys.tobytes()
    given = len(key) in (16, 24, 32)
    return CaptureReport(
        traces=len(chosen),
        samples=chosen.samples.shape[1],
        parts=target.parts,
        key=target.rebuild(scores[-1]),
        limit=limit,
        above=int(above.sum()),
        snr=float(np.median(share / np.maximum(1 - share, 1e-6))) if above.any() else None,
        places=places,
        known=target.recovered(key) if given else None,
        curve=_curve(scores, target, key, _counts(len(chosen))) if given else (),
    )


def _varied(traces: Traces) -> NDArray[np.bool_]:
    """Which traces have random inputs, (n,): those of a fixed one differ in more than the attacked value."""
    if traces.labels is not None:
        return np.asarray(traces.labels == 1)
    _, which, counts = np.unique(traces.inputs, axis=0, return_inverse=True, return_counts=True)
    fixed = counts.max() > max(2, FIXED_SHARE * len(traces))
    return np.asarray(which.reshape(-1) != counts.argmax()) if fixed else np.ones(len(traces), bool)


def _counts(traces: int) -> list[int]:
    return cpa.counts_up_to(traces, min(traces, max(10, traces // 64)))


def _best(
    traces: Traces,
    known: Bytes,
    target: PowerTarget,
    scores: cpa.Samples,
) -> tuple[cpa.Samples, tuple[int, ...]]:
    """The score of each part's best guess, and where it is."""
    centred = cpa.centre(traces.samples)
    variations = np.square(centred, dtype=np.float64).sum(axis=0)
    places = []
    for part in range(target.parts):
        sums = cpa.ClassSums.empty(target.classes, centred.shape[1])
        sums.add(centred, target.classes_of(known, part))
        guess = target.weights(part)[[int(scores[part].argmax())]]
        places.append(int(np.abs(cpa.correlations(sums, variations, guess)[0]).argmax()))
    return scores.max(axis=1), tuple(places)


def _curve(
    scores: cpa.Samples,
    target: PowerTarget,
    key: bytes,
    counts: Sequence[int],
) -> tuple[tuple[int, int, float], ...]:
    found = []
    for row, count in enumerate(counts):
        ranks = cpa.ranks_of(scores[row], target, key)
        found.append((count, int((ranks == 1).sum()), round(float(np.log2(ranks).sum()), 2)))
    return tuple(found)
