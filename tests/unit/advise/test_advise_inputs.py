"""How the adviser reads times, sizes, batteries and devices."""

from __future__ import annotations

import pytest
from advise_parts import CATALOG

from motecrypt.adviser import api as advise
from motecrypt.adviser.costs import usable_fraction
from motecrypt.base.errors import InputError


@pytest.mark.parametrize(
    ("text", "value"),
    [("10s", 10), ("5min", 300), ("50ms", 0.05), ("250 us", 2.5e-4), ("1.5h", 5400), ("1d", 86400)],
)
def test_times(text: str, value: float) -> None:
    assert advise.seconds(text, "--every") == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "value"), [("4k", 4096), ("512", 512), ("1.5k", 1536), ("2 KiB", 2048), ("0", 0)]
)
def test_bytes(text: str, value: int) -> None:
    assert advise.whole_bytes(text, "--flash") == value


@pytest.mark.parametrize("text", ["10", "10m", "10 sec", "-3s", "s", "", "0s", "1e3s", "10S"])
def test_unknown_times_are_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError, match="--every"):
        advise.seconds(text, "--every")


@pytest.mark.parametrize("text", ["4x", "-1", "k", "0.3", "4 kb/s", ""])
def test_unknown_sizes_are_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError, match="--flash"):
        advise.whole_bytes(text, "--flash")


@pytest.mark.parametrize("text", ["AB", "0xAA", "25xAA", "3x", "x", "1200mAh", "1200mAh,-3V"])
def test_unknown_batteries_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        advise.battery_part(text)


def test_batteries_in_series_and_of_ones_own() -> None:
    three = advise.battery_part("3xaa-nimh")
    assert (three.name, three.cells) == ("3xAA-NiMH", 3)
    assert (three.volts, three.capacity_mah) == (pytest.approx(3.6), 1900)
    own = advise.battery_part("1200mAh,3.7V")
    assert usable_fraction(own, 3.0) == 1.0 and own.volts == 3.7
    for name in advise.cell_names():
        assert advise.battery_part(name).curve[-1][1] == 1


def test_a_device_without_currents_is_refused() -> None:
    with pytest.raises(InputError, match="no 'active' current"):
        advise.device_part(CATALOG.device("host"))
