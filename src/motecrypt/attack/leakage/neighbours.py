"""Correlation with distances: bits that change where a value replaces one that was found before. Pure.

Hardware shows how many bits of a register or bus change. Where one secret value replaces another one, the
weight of the new value alone predicts nothing: their distance does (Brier, Clavier, Olivier, CHES 2004).
The attack begins with weights. A part of the key whose best guess is clearly ahead is decided, and its
values are known in every trace. Each part that is still open is then attacked by the distance between its
values and those of a decided part, until no more are decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from motecrypt.attack.leakage import cpa
from motecrypt.attack.leakage.targets import WEIGHT_OF_BYTE, PowerTarget
from motecrypt.attack.leakage.traces import Bytes

#: The best guess of a decided part is ahead of the second one by this many standard deviations (Fisher's z).
DECIDED = 3.0
_R_MOST = 0.9999


def distance_scores(
    samples: NDArray[np.generic], known: Bytes, target: PowerTarget, counts: Sequence[int]
) -> NDArray[np.float32]:
    """Return the score of each guess, (len(counts), parts, guesses), as a `cpa.Attacker` does.

    A score is the greatest absolute correlation of a sample with the weight of the guess's value, or with the
    distance from a decided part's value.
    """
    found = cpa.scores_of(samples, known, target, counts)
    known = target.check(known)
    for row, count in enumerate(counts):
        _extend(found[row], cpa.centre(samples[:count]), known[:count], target)
    return found


def _extend(scores: NDArray[np.float32], centred: cpa.Samples, known: Bytes, target: PowerTarget) -> None:
    """Attack open parts next to decided ones, and raise their scores."""
    own = [target.values(part)[:, target.classes_of(known, part)] for part in range(target.parts)]
    open_parts = set(range(target.parts))
    while frontier := {part for part in open_parts if _is_decided(scores[part], len(centred))}:
        open_parts -= frontier
        for part in sorted(open_parts):
            for partner in sorted(frontier):
                neighbour = own[partner][int(scores[partner].argmax())]
                predicted = WEIGHT_OF_BYTE[own[part] ^ neighbour].T
                shown = cpa.correlations_of(cpa.centre(predicted), centred)
                np.maximum(scores[part], np.abs(shown).max(axis=1), out=scores[part])


def _is_decided(scores: NDArray[np.float32], traces: int) -> bool:
    second, best = np.arctanh(np.minimum(np.sort(scores)[-2:], _R_MOST).astype(np.float64))
    return bool(best - second > DECIDED * sqrt(2 / max(1, traces - 3)))
