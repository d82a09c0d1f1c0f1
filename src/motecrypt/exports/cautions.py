"""What the README of an export says of a device's memory: reads whose time may leak data, and what faults."""

from __future__ import annotations

from collections.abc import Sequence

from motecrypt.base.model import Device, Implementation
from motecrypt.exports.targets import Target

_WITHOUT_TABLES = "armv7m-fixsliced"


def cautions(target: Target, device: Device, body: Implementation, placement: str) -> Sequence[str]:
    """A line each.

    Parameters
    ----------
    device
        The target's; where the export is for another core, what runs it is not known.
    placement
        Where code and tables are.
    """
    sources = {source.rpartition("/")[2] for source in body.sources}
    said = []
    if any("armv7m" in name for name in sources):
        said.append(
            "The assembly reads and writes unaligned words: "
            "a program that sets `CCR.UNALIGN_TRP` faults in it."
        )
    if not _reads_tables_of_aes(sources):
        return said
    if device.core != target.core:
        said.append(
            "This AES reads tables. On a processor with a data cache, or with a cache before its flash, "
            "a read may take a time that depends on the data. `ascon-aead128` reads no table."
        )
        return said
    if device.placements[placement].caches == ("none",):
        return said
    constant = [
        f"with `--placement {place.name}` they do not"
        for place in device.placements.values()
        if place.name in body.placements and place.caches == ("none",)
    ]
    if device.core.startswith("cortex-m4"):
        constant.append(f"for ECB, CBC, CTS, CTR and CCM `--variant {_WITHOUT_TABLES}` reads no table")
    said.append(
        f"Table reads from the flash of {device.title}, which has a cache, "
        "may take a time that depends on the data" + "".join(f"; {way}" for way in constant) + "."
    )
    return said


def _reads_tables_of_aes(sources: set[str]) -> bool:
    """All our AES does, except the one that is fixsliced."""
    return any(name.startswith("aes_") and not name.startswith("aes_armv7m_fixsliced") for name in sources)
