"""Traces: shapes that belong together, parts, and noise that repeats by its seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from motecrypt.attack.leakage.traces import Traces
from motecrypt.base.errors import InputError


def _traces(**changes: Any) -> Traces:
    fields: dict[str, Any] = {
        "samples": np.arange(12, dtype=np.uint8).reshape(4, 3),
        "inputs": np.arange(8, dtype=np.uint8).reshape(4, 2),
        "keys": np.array([7, 8], np.uint8),
        "marks": np.array([2, 4, 6], np.uint32),
        "labels": np.array([0, 1, 0, 1], np.uint8),
    }
    return Traces(**(fields | changes))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("samples", np.zeros((4, 3), np.int64)),
        ("samples", np.zeros(12, np.uint8)),
        ("inputs", np.zeros((3, 2), np.uint8)),
        ("keys", np.zeros((3, 2), np.uint8)),
        ("marks", np.zeros(4, np.uint32)),
        ("labels", np.zeros(3, np.uint8)),
    ],
)
def test_shapes_that_do_not_belong_together_are_refused(field: str, value: Any) -> None:
    with pytest.raises(InputError, match="traces"):
        _traces(**{field: value})


def test_a_part_keeps_each_trace_with_its_input_key_and_label() -> None:
    keys = np.arange(8, dtype=np.uint8).reshape(4, 2)
    part = _traces(keys=keys).part(np.array([2, 1]))
    assert part.samples.tolist() == [[6, 7, 8], [3, 4, 5]]
    assert part.inputs.tolist() == [[4, 5], [2, 3]]
    assert part.labels is not None
    assert part.labels.tolist() == [0, 1]
    assert part.key_of(0).tolist() == [4, 5]
    assert _traces().part(slice(0, 1)).key_of(0).tolist() == [7, 8]


def test_noise_has_its_deviation_and_repeats_by_seed() -> None:
    quiet = Traces(
        np.zeros((400, 50), np.uint8),
        np.zeros((400, 1), np.uint8),
        np.zeros(1, np.uint8),
        np.zeros(50, np.uint32),
    )
    once, again, other = quiet.noisy(3.0, 1), quiet.noisy(3.0, 1), quiet.noisy(3.0, 2)
    assert np.array_equal(once.samples, again.samples)
    assert not np.array_equal(once.samples, other.samples)
    assert 2.9 < float(once.samples.std()) < 3.1
    assert abs(float(once.samples.mean())) < 0.1
    assert once.noise_sd == 3.0
    assert once.samples.dtype == np.dtype(np.float32)
    assert once.noisy(4.0, 5).noise_sd == 5.0
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="noise"):
            quiet.noisy(wrong, 1)
