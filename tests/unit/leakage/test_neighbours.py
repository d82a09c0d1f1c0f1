"""Distances between values: predicting them finds what weights do not show, and nothing in noise."""

import numpy as np
import pytest

from motecrypt.attack.leakage import cpa, neighbours
from motecrypt.attack.leakage.targets import WEIGHT_OF_BYTE, aes_sbox, target_named

TARGET = target_named("aes-encrypt-first")


def chained(n, noise_sd, seed, *, first=True):
    """One register takes all S-box outputs, one after the other; before the first one it is cleared."""
    random = np.random.default_rng(seed)
    key, inputs = random.bytes(16), random.integers(0, 256, (n, 16), dtype=np.uint8)
    values = aes_sbox()[inputs ^ np.frombuffer(key, np.uint8)]
    before = np.concatenate([np.zeros((n, 1), np.uint8), values[:, :-1]], axis=1)
    samples = random.normal(0, noise_sd, (n, 20)).astype(np.float32)
    samples[:, 2:18] += WEIGHT_OF_BYTE[values ^ before]
    if not first:
        samples[:, 2] = samples[:, 0]
    return key, inputs, samples


@pytest.mark.parametrize(("noise_sd", "traces"), [(0.0, 60), (2.0, 500)])
def test_one_value_after_the_other_is_found(noise_sd, traces):
    key, inputs, samples = chained(traces, noise_sd, 3)
    plain = cpa.scores_of(samples, inputs, TARGET, [traces])[0]
    assert (cpa.ranks_of(plain, TARGET, key) == 1).sum() < 4
    few, all_of_them = neighbours.distance_scores(samples, inputs, TARGET, [8, traces])
    assert TARGET.rebuild(all_of_them) == key and TARGET.rebuild(few) != key
    assert all_of_them.max() <= 1.001


def test_without_a_first_value_nothing_is_decided():
    _, inputs, samples = chained(300, 1.0, 4, first=False)
    plain = cpa.scores_of(samples, inputs, TARGET, [300])
    assert np.array_equal(neighbours.distance_scores(samples, inputs, TARGET, [300]), plain)


def test_noise_alone_decides_nothing():
    random = np.random.default_rng(9)
    inputs, samples = random.integers(0, 256, (300, 16), np.uint8), random.normal(0, 1, (300, 30))
    plain = cpa.scores_of(samples, inputs, TARGET, [100, 300])
    assert np.array_equal(neighbours.distance_scores(samples, inputs, TARGET, [100, 300]), plain)
