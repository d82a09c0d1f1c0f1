"""Traces: what recording gives and analyses take. Pure; it does not know simulators or files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from motecrypt.base.errors import InputError

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Traces:
    """Traces of equal length, aligned: sample i of each comes from the same executed instruction.

    Attributes
    ----------
    samples
        (n, s), uint8 as a simulator records them, or float32: n traces of s samples.
    inputs
        (n, k), uint8: what the firmware was given in each run.
    keys
        (n, k2), or (k2,) where all runs have one key; uint8.
    marks
        (s,), uint32: address of the instruction that each sample belongs to; 0 where it is not known.
    labels
        (n,), uint8: class of each trace (0 fixed, 1 random), or None.
    model
        What a sample is: "weight", "distance", the name of a file of coefficients, "capture".
    noise_sd
        Standard deviation of the noise that was added, in units of a sample. 0: none.
    seed
        What inputs and noise were drawn from; None: not known.
    outputs
        (n, m), uint8: what each run gave back, or None.
    """

    samples: NDArray[Any]
    inputs: Bytes
    keys: Bytes
    marks: NDArray[np.uint32]
    labels: Bytes | None = None
    model: str = "weight"
    noise_sd: float = 0.0
    seed: int | None = None
    outputs: Bytes | None = None

    def __post_init__(self) -> None:
        """Refuse shapes that do not belong together.

        Raises
        ------
        InputError
            For a shape or type that is not as described.
        """
        if self.samples.ndim != 2 or self.samples.dtype not in (np.uint8, np.float32):
            raise InputError("traces: samples must be a table (traces, samples) of uint8 or float32")
        n, length = self.samples.shape
        if self.inputs.ndim != 2 or len(self.inputs) != n:
            raise InputError(f"traces: {n} traces need {n} rows of inputs, not {self.inputs.shape}")
        if self.keys.ndim not in (1, 2) or (self.keys.ndim == 2 and len(self.keys) != n):
            raise InputError(f"traces: {n} traces need one key or {n} keys, not {self.keys.shape}")
        if self.marks.shape != (length,):
            raise InputError(f"traces: {length} samples need {length} marks, not {self.marks.shape}")
        if self.labels is not None and self.labels.shape != (n,):
            raise InputError(f"traces: {n} traces need {n} labels, not {self.labels.shape}")
        if self.outputs is not None and (self.outputs.ndim != 2 or len(self.outputs) != n):
            raise InputError(f"traces: {n} traces need {n} rows of outputs, not {self.outputs.shape}")

    def __len__(self) -> int:
        return len(self.samples)

    def key_of(self, trace: int) -> Bytes:
        """Return the key of one trace, (k2,)."""
        key: Bytes = self.keys if self.keys.ndim == 1 else self.keys[trace]
        return key

    def part(self, rows: slice | NDArray[Any]) -> Traces:
        """Return some of the traces, by a slice or an index."""
        return replace(
            self,
            samples=self.samples[rows],
            inputs=self.inputs[rows],
            keys=self.keys if self.keys.ndim == 1 else self.keys[rows],
            labels=None if self.labels is None else self.labels[rows],
            outputs=None if self.outputs is None else self.outputs[rows],
        )

    def noisy(self, sd: float, seed: int) -> Traces:
        """Return the traces with Gaussian noise added, as float32.

        Parameters
        ----------
        sd
            Standard deviation, in units of a sample; 0 or more.
        seed
            Draws the noise. Equal traces and seeds give equal noise.
        """
        if not sd >= 0 or not np.isfinite(sd):
            raise InputError(f"noise of standard deviation {sd}: give a number of 0 or more")
        samples = self.samples.astype(np.float32)
        if sd > 0:
            random = np.random.default_rng([seed, 0x6E6F6973])
            samples += np.float32(sd) * random.standard_normal(samples.shape, dtype=np.float32)
        total = float(np.hypot(self.noise_sd, sd))
        return replace(self, samples=samples, noise_sd=total, seed=seed)
