"""What the README of an export says before its use: reads whose time may leak data, and what faults."""

from __future__ import annotations

from collections.abc import Sequence

from motecrypt.base.model import Cipher, Implementation
from motecrypt.catalog import Catalog
from motecrypt.exports.targets import Target
from motecrypt.exports.timing import timing_line


def cautions(
    catalog: Catalog, target: Target, cipher: Cipher, body: Implementation, placement: str, asked: str
) -> Sequence[str]:
    """A line each, the one on timing first.

    Parameters
    ----------
    placement
        Where code and tables are.
    asked
        How a command names the cipher.
    """
    said = [timing_line(catalog, target, cipher, body, placement, asked)]
    if any("armv7m" in source.rpartition("/")[2] for source in body.sources):
        said.append(
            "The assembly reads and writes unaligned words: "
            "a program that sets `CCR.UNALIGN_TRP` faults in it."
        )
    return said
