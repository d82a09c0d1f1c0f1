"""The energy model against the source's sample and against arithmetic done by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motecrypt.base.energy import (
    Battery,
    Processor,
    battery_percent,
    energy_uj,
    parse_battery,
    work,
)
from motecrypt.base.errors import InputError
from motecrypt.catalog.processors import processor, processors


def test_the_sample_of_the_source() -> None:
    """20,000 cycles at 700 MHz and 1.35 V: charge 5.71e-3 mA s, 7.7 microjoule."""
    energy = work(20_000, processor("sample-700mhz"))
    assert energy.time_us == pytest.approx(28.571, abs=0.001)
    assert energy.charge_mas == pytest.approx(5.71e-3, rel=1e-4)
    assert round(energy.energy_uj, 1) == 7.7


def test_units() -> None:
    assert energy_uj(supply_v=5.0, current_ma=10.0, duration_us=1000.0) == pytest.approx(
        50.0
    )  # 50 mW for 1 ms


@given(st.floats(1, 1e12), st.floats(1e3, 1e10), st.floats(0.1, 50), st.floats(0.001, 1e5))
def test_energy_is_charge_times_voltage(
    cycles: float, clock_hz: float, supply_v: float, current_ma: float
) -> None:
    energy = work(cycles, Processor("x", "x", clock_hz, supply_v, current_ma, "x"))
    assert energy.energy_uj == pytest.approx(energy.charge_mas * supply_v * 1000)


def test_battery() -> None:
    battery = parse_battery("1000 mAh, 3.6 V")
    assert battery == parse_battery("1Ah,3.6v") == Battery(1000.0, 3.6)
    assert battery.energy_j == pytest.approx(12_960)
    assert battery_percent(129.6e6, battery) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "text", ["", "1000", "1000,3.7V", "mAh,3.7V", "0mAh,3.7V", "1mAh,-1V", "nanmAh,1V", "1mAh,infV"]
)
def test_no_battery(text: str) -> None:
    with pytest.raises(InputError, match="battery"):
        parse_battery(text)


def test_every_processor_has_a_source() -> None:
    for each in processors().values():
        assert each.source and each.current_ma > 0


def test_a_user_may_add_processors(tmp_path: Path) -> None:
    extra = tmp_path / "mine.toml"
    extra.write_text('[mine]\ntitle = "m"\nclock_hz = 1e6\nsupply_v = 3\ncurrent_ma = 2\nsource = "bench"\n')
    assert processor("mine", extra).current_ma == 2.0
    assert processor("i486dx2", extra).supply_v == 3.3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[mine", "not valid TOML"),
        ("mine = 1", "outside a table"),
        ('[mine]\ntitle = "m"\nclock_hz = 1\nsupply_v = 3\ncurrent_ma = 2\n', "'source' is missing"),
        (
            '[mine]\ntitle = "m"\nsource = "s"\nclock_hz = 0\nsupply_v = 3\ncurrent_ma = 2\n',
            "'clock_hz' is 0; expected a number above 0",
        ),
    ],
)
def test_a_bad_processor_file_says_so(tmp_path: Path, text: str, said: str) -> None:
    extra = tmp_path / "mine.toml"
    extra.write_text(text)
    with pytest.raises(InputError, match=said):
        processors(extra)


def test_an_unknown_processor_says_which_there_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="strongarm"):
        processor("z80")
    with pytest.raises(InputError, match="cannot be read"):
        processors(tmp_path / "missing.toml")
