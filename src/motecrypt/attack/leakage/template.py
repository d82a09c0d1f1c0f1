"""Template attack: an attacker who could first measure a like device with keys of their own. Pure.

Chari, Rao, Rohatgi, "Template attacks" (CHES 2002), with one covariance for all values. The means are fitted
by linear regression on the bits of the values (Schindler, Lemke, Paar, "A stochastic model for differential
side channel cryptanalysis", CHES 2005). Regression needs far fewer profiling traces than a mean
for each value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from motecrypt.attack.leakage.cpa import ClassSums
from motecrypt.attack.leakage.targets import PowerTarget
from motecrypt.attack.leakage.traces import Bytes
from motecrypt.base.errors import InputError

#: Samples that a template of one part uses.
POINTS = 24
#: Profiling traces for each fitted number, at the least.
PROFILING_FACTOR = 10
#: The ridge on the covariance, as a share of its mean variance: noise-free traces give a singular one.
RIDGE = 1e-3


@dataclass(frozen=True)
class PartTemplate:
    """The template of one part of the key.

    Attributes
    ----------
    points
        (p,): the samples it uses.
    means
        (guesses, classes, p): the expected samples.
    inverse
        (p, p): the inverse of the covariance of the noise.
    """

    points: NDArray[np.intp]
    means: NDArray[np.float64]
    inverse: NDArray[np.float64]


@dataclass(frozen=True)
class Templates:
    """Templates of all parts of one target; made by `profile`."""

    target: PowerTarget
    parts: tuple[PartTemplate, ...]

    def scores(
        self, samples: NDArray[np.generic], known: Bytes, target: PowerTarget, counts: Sequence[int]
    ) -> NDArray[np.float32]:
        """Return the log-likelihood of each guess, (len(counts), parts, guesses), as an `Attacker` does."""
        known = target.check(known)
        found = np.zeros((len(counts), target.parts, target.guesses), np.float32)
        for part, template in enumerate(self.parts):
            chosen = samples[: counts[-1], template.points].astype(np.float32)
            classes = target.classes_of(known[: counts[-1]], part)
            sums = ClassSums.empty(target.classes, len(template.points))
            weighed = template.means @ template.inverse
            own = np.einsum("gcp,gcp->gc", weighed, template.means)
            done = 0
            for row, count in enumerate(counts):
                sums.add(chosen[done:count], classes[done:count])
                likelihood = np.einsum("gcp,cp->g", weighed, sums.sums) - own @ sums.counts / 2
                found[row, part] = likelihood - likelihood.max()
                done = count
        return found


def profile(
    samples: NDArray[np.generic],
    known: Bytes,
    keys: Bytes,
    target: PowerTarget,
    points: int = POINTS,
) -> Templates:
    """Fit templates to traces of known keys.

    Parameters
    ----------
    samples
        (n, s), of many keys.
    known
        (n, k), the known data of each.
    keys
        (n, k2): the key of each; a single key would leave the values' bits and the inputs' apart.
    target
        What is predicted; one of AES.
    points
        How many samples each template uses.

    Raises
    ------
    InputError
        For too few traces, or a target that is not of AES.
    """
    if target.guesses != 256:
        raise InputError(f"templates are for attacks on AES, not for '{target.name}'")
    known = target.check(known)
    bits = 1 + 2 * 8
    least = PROFILING_FACTOR * (bits + points)
    if len(samples) < least:
        raise InputError(f"{len(samples):,} traces are too few for templates: record {least:,} or more")
    values = np.array([[target.truth(key.tobytes(), part) for part in range(target.parts)] for key in keys])
    chosen = samples.astype(np.float32)
    return Templates(
        target,
        tuple(
            _part(chosen, target.classes_of(known, part), values[:, part], target, part, points)
            for part in range(target.parts)
        ),
    )


def _part(
    samples: NDArray[np.float32],
    classes: NDArray[np.intp],
    right: NDArray[np.intp],
    target: PowerTarget,
    part: int,
    points: int,
) -> PartTemplate:
    basis = _basis(target.values(part), classes=target.classes)
    design = basis[right, classes]
    fitted, _, _, _ = np.linalg.lstsq(design, samples, rcond=None)
    rest = samples - design @ fitted
    within = np.square(rest).sum(axis=0) / (len(samples) - basis.shape[2])
    explained = (design @ fitted).var(axis=0)
    # The samples with the most signal; the ridge bounds those without noise.
    chosen = np.sort(np.argsort(explained / (within + RIDGE))[::-1][:points])
    means = basis @ fitted[:, chosen]
    covariance = np.cov(rest[:, chosen], rowvar=False).reshape(len(chosen), len(chosen))
    ridge = RIDGE * (1 + np.trace(covariance) / len(chosen))
    return PartTemplate(chosen, means, np.linalg.inv(covariance + ridge * np.eye(len(chosen))))


def _basis(values: NDArray[np.uint8], classes: int) -> NDArray[np.float64]:
    """What means are fitted to, (guesses, classes, 17): 1, and the bits of the value and of guess XOR class.

    The latter is what enters an S-box of AES: loads of it, and the address of a table, leak as well.
    """
    guesses = values.shape[0]
    entering = (np.arange(guesses)[:, None] ^ np.arange(classes)[None, :]).astype(np.uint8)
    ones = np.ones((guesses, classes, 1))
    bits = [np.unpackbits(table[:, :, None], axis=2) for table in (values, entering)]
    return np.concatenate([ones, *bits], axis=2)
