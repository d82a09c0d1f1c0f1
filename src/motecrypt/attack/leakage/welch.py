"""Welch's t-test over many samples, of means and of centred products, in one pass. Pure.

Sources: Goodwill, Jun, Jaffe and Rohatgi, "A testing methodology for side-channel resistance validation"
(2011), for the test; Schneider and Moradi, "Leakage assessment methodology" (CHES 2015), for higher orders
and sums that need one pass. Moments are taken about an origin near the mean, so that sums lose no digits.
"""

from __future__ import annotations

from math import erfc, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

#: Chance that any of all tests of an assessment is exceeded without a leak.
ALPHA = 1e-5


def threshold(tests: int, least_class: int, alpha: float = ALPHA) -> float:
    """Return the |t| that one of `tests` tests exceeds by chance with probability `alpha` at most.

    Parameters
    ----------
    tests
        How many are made, 1 or more (Bonferroni's correction).
    least_class
        Traces of the smaller class: degrees of freedom, less one. 20 or more.

    Notes
    -----
    The normal quantile, corrected for the degrees of freedom by the first three terms of its expansion
    (Abramowitz and Stegun, 26.7.5).
    """
    z = _quantile(alpha / tests)
    nu = least_class - 1
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / nu + second / nu**2 + third / nu**3


def _quantile(p: float) -> float:
    """The z that a normal variable exceeds, in either direction, with probability p."""
    low, high = 0.0, 40.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if erfc(middle / sqrt(2)) > p else (low, middle)
    return high


class Means:
    """Sums for the t-test of order 1 over s samples.

    Parameters
    ----------
    origin
        (s,): a value near each sample's mean.
    """

    def __init__(self, origin: NDArray[Any]) -> None:
        self._origin = origin.astype(np.float32)
        self.counts = np.zeros(2)
        self._sums = np.zeros((2, len(origin)))
        self._squares = np.zeros((2, len(origin)))

    def add(self, samples: Floats, labels: NDArray[np.uint8]) -> None:
        """Add traces: (n, s) and (n,), the class of each: 0 or 1."""
        moved = samples - self._origin
        member = np.stack([labels == 0, labels == 1]).astype(np.float32)
        self.counts += member.sum(axis=1)
        self._sums += member @ moved
        np.multiply(moved, moved, out=moved)
        self._squares += member @ moved

    def t(self) -> Doubles:
        """Return t of each sample, (s,): above 0 where class 0 has the larger mean; 0 for a constant one."""
        n = self.counts[:, None]
        mean = self._sums / n
        spread = (self._squares / n - mean**2) / (n - 1)
        return _divided(mean[0] - mean[1], spread[0] + spread[1])


class Products:
    """Sums for the t-test of order 2: the centred product of each pair of s samples, and of each with itself.

    Parameters
    ----------
    origin
        (s,): a value near each sample's mean. Memory: 80 s^2 bytes.
    """

    def __init__(self, origin: NDArray[Any]) -> None:
        size = len(origin)
        self._origin = origin.astype(np.float32)
        self.counts = np.zeros(2)
        self._one = np.zeros((2, 2, size))
        self._two = np.zeros((2, 3, size, size))

    def add(self, samples: Floats, labels: NDArray[np.uint8]) -> None:
        """Add traces: (n, s) and (n,), the class of each: 0 or 1."""
        for label in (0, 1):
            moved = samples[labels == label] - self._origin
            squares = moved * moved
            self.counts[label] += len(moved)
            self._one[label, 0] += moved.sum(axis=0, dtype=np.float64)
            self._one[label, 1] += squares.sum(axis=0, dtype=np.float64)
            self._two[label, 0] += moved.T @ moved
            self._two[label, 1] += squares.T @ moved
            self._two[label, 2] += squares.T @ squares

    def t(self) -> Doubles:
        """Return t of each pair, (s, s), symmetric."""
        means, spreads = zip(*(self._product(label) for label in (0, 1)), strict=True)
        return _divided(means[0] - means[1], spreads[0] + spreads[1])

    def _product(self, label: int) -> tuple[Doubles, Doubles]:
        """Mean of the centred product, and the variance of that mean."""
        n = self.counts[label]
        x, xx = self._one[label, 0] / n, self._one[label, 1] / n
        xy, xxy, xxyy = self._two[label] / n
        mean = xy - np.outer(x, x)
        fourth = xxyy - 2 * xxy * x - 2 * (xxy * x).T + np.outer(xx, x**2) + np.outer(x**2, xx)
        fourth += 4 * np.outer(x, x) * xy - 3 * np.outer(x**2, x**2)
        return mean, (fourth - mean**2) / (n - 1)


def _divided(difference: Doubles, variance: Doubles) -> Doubles:
    """A difference in its standard deviations; without any variance 0, or infinite where the means differ."""
    tiny = 1e-12
    still = variance <= tiny
    t = difference / np.sqrt(np.where(still, 1.0, variance))
    t[still] = np.where(np.abs(difference[still]) > 1e-6, np.copysign(np.inf, difference[still]), 0.0)
    return np.asarray(t)
