"""Traces of a file: their classes, their test at any scale, and those that an assessment writes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from motecrypt.attack.leakage.captures import assess_traces
from motecrypt.attack.leakage.traces import Traces
from motecrypt.base.errors import InputError


def _capture(scale: float = 1.0, n: int = 4400, seed: int = 1) -> Traces:
    """Sample 2 leaks the input's weight; 4 and 5 are the shares of it."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, n, dtype=np.uint8)
    inputs = random.integers(0, 256, (n, 2), dtype=np.uint8)
    inputs[labels == 0] = (0xFF, 3)
    masks = random.integers(0, 256, n, dtype=np.uint8)
    samples = random.normal(0, 1, (n, 7))
    samples[:, 2] += np.bitwise_count(inputs[:, 0])
    samples[:, 4] += np.bitwise_count(inputs[:, 0] ^ masks)
    samples[:, 5] += np.bitwise_count(masks)
    samples[:, 6] = 0
    return Traces(
        (5 + scale * samples).astype(np.float32),
        inputs,
        np.zeros(1, np.uint8),
        np.zeros(7, np.uint32),
        labels,
    )


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_leaks_are_found_whatever_the_unit_of_a_sample(scale: float) -> None:
    found = assess_traces(_capture(scale), (3, 7))
    assert found.verdict == "leaks"
    assert [leak.instruction for leak in found.orders[0].leaks] == [2]
    assert [(leak.instruction, leak.other) for leak in found.orders[1].leaks] == [(4, (5, "sample"))]
    assert [order.tests for order in found.orders] == [6, 6]


def test_without_labels_the_most_frequent_input_is_the_fixed_one() -> None:
    given = _capture()
    assert assess_traces(replace(given, labels=None)) == assess_traces(given)
    random: Any = np.random.default_rng(2).integers(0, 256, (4400, 2), dtype=np.uint8)
    with pytest.raises(InputError, match="no classes"):
        assess_traces(replace(given, labels=None, inputs=random))


def test_few_traces_claim_nothing() -> None:
    quiet = _capture()
    quiet.samples[:, 2] = quiet.samples[:, 3]
    assert assess_traces(quiet).verdict == "no leak found"
    assert assess_traces(quiet.part(slice(0, 1000))).verdict == "no claim"
    with pytest.raises(InputError, match="100 are needed"):
        assess_traces(quiet.part(slice(0, 100)))


@pytest.mark.parametrize("pairs", [(0, 8), (4, 4)])
def test_pairs_are_within_the_traces(pairs: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="samples 0 to 7"):
        assess_traces(_capture(), pairs)
