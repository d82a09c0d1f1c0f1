"""Say what messages cost on a radio: packets, times and energy, by its model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from motecrypt.base.errors import InputError
from motecrypt.build.setup import need

if TYPE_CHECKING:
    from motecrypt.air.radios import Radio
    from motecrypt.air.radios.survey import Survey

BYTES_MAX = 1_000_000
LENGTHS_MAX = 100_000


def message_costs(radio: Radio, message_bytes: Sequence[int]) -> Survey:
    """What messages of these lengths cost on a radio without loss, and which lengths are best.

    Raises
    ------
    InputError
        No length, more than 100,000, or one that is not from 1 to 1,000,000.
    """
    if not 1 <= len(message_bytes) <= LENGTHS_MAX:
        raise InputError(f"{len(message_bytes)} lengths of messages; give 1 to {LENGTHS_MAX}")
    if not 1 <= min(message_bytes) <= max(message_bytes) <= BYTES_MAX:
        wrong = next(length for length in message_bytes if not 1 <= length <= BYTES_MAX)
        raise InputError(f"a message of {wrong:,} bytes; give lengths from 1 to {BYTES_MAX:,}")
    need("link")
    import numpy as np

    from motecrypt.air.radios.survey import survey

    return survey(radio, np.array(message_bytes, dtype=np.int64))
