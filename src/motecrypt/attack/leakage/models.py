"""Models of what a device's current shows: which channels of the simulators count, and with which weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from motecrypt.attack.leakage.recording import CHANNELS
from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError

#: How a model without weights of its own calls what it makes of an instruction.
SUM = "sum"


@dataclass(frozen=True)
class Model:
    """What a sample is.

    Attributes
    ----------
    name
        "weight", "distance", "both", or the file that the coefficients come from.
    channels
        Of `recording.CHANNELS`, in that order.
    coefficients
        Empty: each channel gives a sample of its own. Otherwise one for each channel: an instruction's sample
        is their weighted sum.
    """

    name: str
    channels: tuple[str, ...]
    coefficients: tuple[float, ...] = ()

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the samples of an instruction."""
        return (SUM,) if self.coefficients else self.channels

    @property
    def unit(self) -> float:
        """How much one bit adds to a sample: on the channel that counts most."""
        return max(map(abs, self.coefficients), default=1.0)

    def of(self, samples: NDArray[np.uint8], recorded: Sequence[str] = CHANNELS) -> NDArray[Any]:
        """Make samples of this model.

        Parameters
        ----------
        samples
            (n, channels, instructions), of the channels `recorded`.

        Returns
        -------
        (n, rows, instructions): uint8, or float32 for a weighted sum.
        """
        own: NDArray[Any] = samples[:, [list(recorded).index(name) for name in self.channels]]
        if not self.coefficients:
            return own
        weights = np.array(self.coefficients, np.float32)
        summed: NDArray[Any] = np.einsum("c,nci->ni", weights, own.astype(np.float32), optimize=True)
        return summed[:, None, :]


MODELS = {
    "weight": Model("weight", CHANNELS[:1]),
    "distance": Model("distance", CHANNELS[1:]),
    "both": Model("both", CHANNELS),
}


def read_coefficients(path: Path) -> Model:
    """Read a weighted model: a TOML file with a table `coefficients`, channel by channel.

    Raises
    ------
    InputError
        For a file that is not as described.
    """
    table = Table.read(path)
    given = table.table("coefficients")
    weights = {name: given.number(name, 0.0) for name in CHANNELS}
    given.done()
    table.done()
    used = tuple(name for name in CHANNELS if weights[name])
    if not used:
        raise InputError(f"{path}: every coefficient is 0; one at least has to differ")
    return Model(path.name, used, tuple(weights[name] for name in used))
