"""Air time against published examples, costs against the event-by-event pair, descriptors' faults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motecrypt.air.radios import Channel, RadioPair, costs, load_radio, padded_bytes, radio_names
from motecrypt.air.radios.air import air_time_us
from motecrypt.air.radios.catalog import FOLDER, read_radio
from motecrypt.base.errors import InputError


@pytest.mark.parametrize(
    ("radio", "figures", "payload_bytes", "expected_us"),
    [
        ("lora", {}, 13, 164_864),  # Semtech AN1200.13, the worked example
        ("802.15.4", {}, 116, 4_256),  # the longest frame: 133 bytes x 32 us
        ("ble-1m", {"mic_bytes": 4}, 251, 2_120),  # Core 4.2, connMaxTxTime of the longest packet
        ("ble-1m", {}, 27, 296),
        ("nrf24", {}, 32, 130 + (8 + 40 + 9 + 256 + 16) / 2),
        ("cc1101", {}, 20, (4 + 4 + 1 + 20 + 2) * 32),
        ("esp-now", {}, 250, 192 + (43 + 250) * 8),
    ],
)
def test_air_time_of_published_examples(
    radio: str, figures: dict[str, float], payload_bytes: int, expected_us: float
) -> None:
    assert air_time_us(load_radio(radio).with_figures(**figures), payload_bytes) == pytest.approx(expected_us)


def test_lora_uses_low_data_rate_optimisation_above_16_ms_a_symbol() -> None:
    # SX1276 data sheet, 4.1.1.6: mandated at SF11 and SF12 with 125 kHz. The lengths are ones where it shows:
    # groups of 4 (SF - 2) bits of payload, without it 4 SF.
    lora = load_radio("lora")
    for factor, bandwidth, payload, groups, symbol_us in (
        (12, 125_000, 16, 4, 32_768),  # ceil(124 / 40), not ceil(124 / 48)
        (11, 125_000, 10, 3, 16_384),  # ceil(80 / 36), not ceil(80 / 44)
        (11, 250_000, 10, 2, 8_192),
        (12, 256_000, 16, 3, 16_000),  # 16 ms are not more than 16 ms
        (10, 125_000, 9, 2, 8_192),  # ceil(76 / 40), not ceil(76 / 32)
    ):
        radio = lora.with_figures(spreading_factor=factor, bandwidth_hz=bandwidth)
        assert air_time_us(radio, payload) == pytest.approx((12.25 + 8 + groups * 5) * symbol_us), factor


def deliver(radio_name: str, packet_bytes: int, air_rate: int, message_bytes: int) -> tuple[float, float]:
    radio = load_radio(radio_name).with_figures(packet_bytes=packet_bytes)
    if radio_name == "srf":
        radio = radio.with_figures(air_rate_baud=air_rate)
    pair = RadioPair(radio)
    pair.write(0, bytes(message_bytes), 0)
    arrived, last_us = 0, 0.0
    while (due := pair.next_us()) is not None:
        for arrival in pair.advance(due):
            arrived += len(arrival.data)
            last_us = arrival.time_us
    assert arrived == message_bytes
    return last_us, costs(radio, message_bytes).delivery_time_us


@pytest.mark.long
@settings(max_examples=150)
@given(
    st.sampled_from(radio_names()),
    st.integers(1, 32),
    st.sampled_from([250_000, 38_400, 1_200]),
    st.integers(1, 700),
)
def test_costs_equal_the_pair(radio: str, packet_bytes: int, air_rate: int, message_bytes: int) -> None:
    simulated, formula = deliver(radio, packet_bytes, air_rate, message_bytes)
    assert simulated == pytest.approx(formula, abs=1e-3)


@pytest.mark.parametrize("name", radio_names())
def test_arrays_give_what_numbers_give(name: str) -> None:
    radio = load_radio(name)
    lengths = np.arange(1, 400)
    many = costs(radio, lengths)
    for index in (0, 11, 12, 13, 200, 398):
        one = costs(radio, int(lengths[index]))
        for field in (
            "packets",
            "air_bytes",
            "air_time_us",
            "write_time_us",
            "delivery_time_us",
            "sender_uj",
        ):
            assert getattr(many, field)[index] == pytest.approx(getattr(one, field))


def test_a_short_packet_waits_for_the_timeout_and_padding_spares_it() -> None:
    radio = load_radio("srf")
    assert padded_bytes(radio, 31) == 36
    short, padded = costs(radio, 31).delivery_time_us, costs(radio, 36).delivery_time_us
    assert 95_000 < short - padded < 100_000


def test_figures_outside_the_range_are_refused() -> None:
    with pytest.raises(InputError, match="it takes 1 to 240"):
        load_radio("srf").with_figures(packet_bytes=241)
    with pytest.raises(InputError, match="unknown radio"):
        load_radio("nonesuch")
    with pytest.raises(InputError, match="probability"):
        Channel(loss=1.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("packet_bytes = ", "packets = "), "did you mean 'packet_bytes'"),
        (('source = "8N1', 'sauce = "8N1'), "did you mean 'source'"),
        (('air = "fsk"', 'air = "smoke"'), "'air' is 'smoke'; expected one of"),
        (("value = 250000", "value = -1"), "expected a number from 0 on"),
        (("[figure]", "[figure"), "not valid TOML"),
        (('name = "srf"', 'name = ""'), "name"),
    ],
)
def test_faulty_descriptors_are_refused(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    text = (FOLDER / "srf.toml").read_text().replace(*change)
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(InputError, match=message):
        read_radio(tmp_path / "bad.toml")
