"""Pinned toolchains make the same figures on every system: the system's own, and one that is unpacked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.build.toolchain.pinned import with_toolchain
from motecrypt.catalog import Catalog
from motecrypt.measuring import bench
from motecrypt.results import Results
from tool_sets import skip_without

CATALOG = Catalog.load()
#: By device: cipher and variant, and by toolchain cycles of set-up and encryption, and flash, as Debian 12
#: and Debian 13 gave them, each with one toolchain of its own and one unpacked.
FIGURES = {
    "uno": ("aes128-cbc", "fast", {"gcc-5.4": (1812, 3322, 3532), "gcc-14": (2077, 3696, 3714)}),
    "pico": ("aes128-cbc", "fast", {"gcc-12": (2715, 4828, 3472), "gcc-14": (2605, 4828, 3468)}),
}


@pytest.mark.parametrize("device", FIGURES)
def test_a_toolchain_makes_the_same_figures_everywhere(device: str, tmp_path: Path) -> None:
    target = CATALOG.device(device)
    skip_without(target.tool_set, compiler=False)
    cipher, variant, expected = FIGURES[device]
    body = next(b for b in CATALOG.implementations_of(cipher, device, ("motecrypt",)) if b.variant == variant)
    for name in expected:
        try:
            with_toolchain(target, name, CATALOG.toolchains)
        except InputError as error:
            pytest.skip(str(error))
    cells = bench.cells_for(CATALOG, target, body, message_bytes=[16], placements=["flash"])
    cells = [cell for cell in cells if cell.cache in ("none", "warm") and cell.operation != "decrypt"]
    asked = [replace(cell, toolchain=name) for name in expected for cell in cells]
    with Results(tmp_path / "r.db") as results:
        measured = bench.ensure(asked, results)
        assert results.newest(asked) == measured  # each is found by its toolchain
    found = {
        name: tuple(
            measured[replace(cell, toolchain=name)].cycles_median
            for operation in ("setup", "encrypt")
            for cell in cells
            if cell.operation == operation
        )
        for name in expected
    }
    assert {m.status for m in measured.values()} == {"ok"}, {m.reason for m in measured.values()}
    flash = {m.toolchain: m.flash_bytes for m in measured.values()}
    assert {name: (*found[name], flash[name]) for name in expected} == expected
