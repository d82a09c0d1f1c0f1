"""The t-test against SciPy-like formulas in two passes, false alarms at their rate, and the threshold."""

from __future__ import annotations

from math import lgamma

import numpy as np
import pytest

from motecrypt.attack.leakage.welch import Means, Products, threshold


def _two_passes(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    spread = first.var(axis=0, ddof=1) / len(first) + second.var(axis=0, ddof=1) / len(second)
    return np.asarray((first.mean(axis=0) - second.mean(axis=0)) / np.sqrt(spread))


def _traces(seed: int, n: int = 3000, s: int = 6) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, n, dtype=np.uint8)
    samples = random.normal(100, 3, (n, s)).astype(np.float32)
    samples[:, 2] += 0.5 * labels
    samples[:, 4] = 100 + np.where(labels == 0, 1, -1) * (samples[:, 3] - 100)
    samples[:, 5] = 100 + (samples[:, 5] - 100) * np.where(labels == 0, 1, 1.5)
    return samples, labels


def test_means_added_in_parts_are_those_of_two_passes() -> None:
    samples, labels = _traces(1)
    sums = Means(np.full(6, 99))
    for part in np.array_split(np.arange(len(samples)), 7):
        sums.add(samples[part], labels[part])
    wide = samples.astype(np.float64)
    wanted = _two_passes(wide[labels == 0], wide[labels == 1])
    assert sums.t() == pytest.approx(wanted, rel=1e-3, abs=1e-3)
    assert sums.counts.tolist() == [(labels == 0).sum(), (labels == 1).sum()]
    assert sums.t()[2] < -3


def test_products_added_in_parts_are_those_of_two_passes() -> None:
    samples, labels = _traces(2)
    sums = Products(np.full(6, 90))
    for part in np.array_split(np.arange(len(samples)), 7):
        sums.add(samples[part], labels[part])
    classes = [samples[labels == label].astype(np.float64) for label in (0, 1)]
    centred = [one - one.mean(axis=0) for one in classes]
    products = [one[:, :, None] * one[:, None, :] for one in centred]
    assert sums.t() == pytest.approx(_two_passes(*products), rel=1e-2, abs=1e-2)
    assert abs(sums.t()[3, 4]) > 30
    assert sums.t()[5, 5] < -10


def test_what_never_varies_has_no_t_and_what_only_the_class_decides_has_an_infinite_one() -> None:
    labels = np.array([0, 1] * 50, np.uint8)
    samples = np.stack([np.full(100, 7.0), labels * 2.0], axis=1).astype(np.float32)
    sums = Means(samples[0])
    sums.add(samples, labels)
    assert sums.t().tolist() == [0.0, -np.inf]


@pytest.mark.parametrize(
    ("tests", "least", "alpha", "wanted"),
    [  # two-sided quantiles of Student's t; the last one of a normal variable
        (1, 31, 0.05, 2.0423),
        (1, 61, 0.001, 3.4602),
        (10, 31, 0.01, 3.6460),
        (1, 10**9, 1e-5, 4.4172),
    ],
)
def test_the_threshold_is_students_quantile(tests: int, least: int, alpha: float, wanted: float) -> None:
    assert threshold(tests, least, alpha) == pytest.approx(wanted, abs=2e-3)


def test_noise_alone_is_not_a_leak() -> None:
    random = np.random.default_rng(5)
    exceeded = 0
    for _ in range(20):
        sums = Means(np.zeros(500))
        sums.add(
            random.standard_normal((400, 500), dtype=np.float32), random.integers(0, 2, 400, dtype=np.uint8)
        )
        exceeded += int((np.abs(sums.t()) > threshold(500, 190, 0.5)).sum())
    assert 1 <= exceeded <= 30


@pytest.mark.parametrize(("degrees", "alpha"), [(29, 0.05), (60, 0.05), (60, 1e-3), (999, 1e-5)])
def test_the_threshold_leaves_alpha_beyond_it(alpha: float, degrees: int) -> None:
    """What the t distribution has beyond it, integrated in steps."""
    limit = threshold(1, degrees + 1, alpha)
    t = np.linspace(0, limit, 200_001)
    density = (1 + t**2 / degrees) ** (-(degrees + 1) / 2)
    scale = np.exp(lgamma((degrees + 1) / 2) - lgamma(degrees / 2)) / np.sqrt(degrees * np.pi)
    inside = 2 * scale * (density[1:] + density[:-1]).sum() / 2 * (t[1] - t[0])
    assert 1 - inside == pytest.approx(alpha, rel=1e-4)
