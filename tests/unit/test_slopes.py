"""Cycles a byte: one rule in all places. The contract tests compare the figure of docs/wlan.md."""

from __future__ import annotations

import pytest

from motecrypt.air.wlan import filecost
from motecrypt.base.energy import cycles_per_byte, settled
from motecrypt.catalog import Catalog
from motecrypt.studies.wlan.plan import node_cells

CATALOG = Catalog.load()


def test_a_slope_is_of_two_messages() -> None:
    assert cycles_per_byte((32, 2759), (64, 5283)) == 78.875


@pytest.mark.parametrize(
    ("caches", "state"),
    [(("warm", "cold"), "warm"), (("cold", "warm"), "warm"), (("none",), "none"), (("cold",), "cold")],
)
def test_the_settled_cache_is_warm_or_none(caches: tuple[str, ...], state: str) -> None:
    assert settled(caches) == state


def test_no_slope_is_of_a_cold_cache() -> None:
    for device in CATALOG.devices.values():
        cells = filecost.cells(CATALOG, device.name, "aes128-cbc")
        assert {cell.cache for cell in cells} <= {"warm", "none"}, device.name
    studied = [cell for own in node_cells(CATALOG).values() for cell in own]
    assert studied and {cell.cache for cell in studied} == {"warm", "none"}
