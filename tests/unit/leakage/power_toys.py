"""Synthetic traces of a known signal: the weight of each S-box output in a sample of its own."""

import numpy as np
import pytest

from motecrypt.attack.leakage.files import read_traces
from motecrypt.attack.leakage.targets import WEIGHT_OF_BYTE, aes_sbox
from motecrypt.attack.leakage.traces import Traces
from motecrypt.base.errors import InputError

FIRST = 4  # the samples before the first S-box hold noise only


def sbox_traces(n, noise_sd, seed, samples=40, *, many_keys=False):
    random = np.random.default_rng(seed)
    keys = random.integers(0, 256, (n, 16) if many_keys else 16, dtype=np.uint8)
    inputs = random.integers(0, 256, (n, 16), dtype=np.uint8)
    found = random.normal(0, noise_sd, (n, samples)).astype(np.float32)
    found[:, FIRST : FIRST + 16] += WEIGHT_OF_BYTE[aes_sbox()[inputs ^ keys]]
    return Traces(found, inputs, keys, np.zeros(samples, np.uint32), noise_sd=noise_sd, seed=seed)


def refused(path):
    """What reading a trace file is refused with: one line that names it."""
    with pytest.raises(InputError) as caught:
        read_traces(path)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)
    return str(caught.value)
