"""What `reproduce` measures for the adviser of its report: the recommended ciphers on common devices."""

from __future__ import annotations

from collections.abc import Mapping

from motecrypt.base.model import Cell, Device, Implementation
from motecrypt.catalog import Catalog
from motecrypt.catalog.cells import cells_for
from motecrypt.studies import Needs

DEVICES = ("uno", "pico")
KEY_BITS = (128, 256)
#: Bytes: the shortest message, the front page's question, and two to four blocks of AES.
LENGTHS = (1, 16, 20, 32, 64)


def baseline(catalog: Catalog, toolchains: Mapping[str, str]) -> Needs:
    """Our code for a device's own core, of each recommended cipher: a few seconds of work.

    Parameters
    ----------
    toolchains
        By device the toolchain to build with; a device without one is left out, so that nothing is installed
        for it.
    """
    cells: list[Cell] = []
    named = {name: toolchains[name] for name in DEVICES if name in toolchains}
    for name, toolchain in named.items():
        device = catalog.device(name)
        for body in catalog.implementations:
            if _taken(catalog, device, body):
                cells += cells_for(
                    catalog,
                    device,
                    body,
                    message_bytes=LENGTHS,
                    key_bits=KEY_BITS,
                    placements=("flash",),
                    caches=_caches(device),
                    toolchain=toolchain,
                )
    return Needs(toolchains=named, cells=cells)


def _taken(catalog: Catalog, device: Device, body: Implementation) -> bool:
    own = body.library == "motecrypt" and not any(core.startswith(("*", "[!")) for core in body.cores)
    return own and body.runs_on(device.core) and catalog.cipher(body.cipher).security == "recommended"


def _caches(device: Device) -> tuple[str, ...]:
    """A flash cache counts as cold: a node wakes, runs the code once and sleeps again."""
    caches = device.placements["flash"].caches
    return ("cold",) if "cold" in caches else caches[:1]
