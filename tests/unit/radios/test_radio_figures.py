"""Every figure of the radio models against arithmetic written here again from the models' sources."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from motecrypt.air.radios import Channel, RadioPair, costs, load_radio, padded_bytes
from motecrypt.air.radios.air import AIRS, air_time_us, overhead_bytes
from motecrypt.air.radios.catalog import FOLDER, Radio, SourcedNumber, read_radio
from motecrypt.air.radios.survey import PacketChoice, survey
from motecrypt.base.errors import InputError


def set_to(kind: str, **values: float) -> Radio:
    """A radio of that kind with figures of our own, each other than the others."""
    common = {
        "packet_bytes": 7,
        "packet_bytes_min": 2,
        "packet_bytes_max": 9,
        "timeout_ms": 13,
        "gap_us": 210,
        "turn_round_us": 700,
        "supply_v": 3.0,
        "tx_ma": 20.0,
        "rx_ma": 10.0,
    }
    figures = {name: SourcedNumber(value, "", "here") for name, value in {**common, **values}.items()}
    return Radio(name=kind, title=kind, air=kind, figures=figures)


# --- the air -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("payload", [1, 2, 17, 61])
@pytest.mark.parametrize("rate", [1200, 38_400, 250_000])
@pytest.mark.parametrize("parts", [(4, 4, 1, 0, 2), (8, 2, 0, 1, 0), (3, 5, 1, 2, 7)])
def test_fsk_sends_every_part_at_the_air_rate(parts: tuple[int, ...], rate: int, payload: int) -> None:
    names = ("preamble_bytes", "sync_bytes", "length_bytes", "address_bytes", "crc_bytes")
    radio = set_to("fsk", air_rate_baud=rate, **dict(zip(names, parts, strict=True)))
    assert overhead_bytes(radio) == sum(parts)
    assert air_time_us(radio, payload) == pytest.approx(1e6 * 8 * (sum(parts) + payload) / rate)


@pytest.mark.parametrize("payload", [1, 2, 31, 32])
@pytest.mark.parametrize("rate", [250_000, 1_000_000, 2_000_000])
@pytest.mark.parametrize(("address", "crc", "settle"), [(5, 2, 130), (3, 1, 130), (4, 0, 0)])
def test_nrf24_sends_preamble_address_control_field_payload_and_crc(
    address: int, crc: int, settle: int, rate: int, payload: int
) -> None:
    radio = set_to("nrf24", air_rate_baud=rate, address_bytes=address, crc_bytes=crc, settle_us=settle)
    bits = 8 + 8 * address + 9 + 8 * payload + 8 * crc  # product specification, 7.3: one byte of preamble
    assert overhead_bytes(radio) == (8 + 8 * address + 9 + 8 * crc) / 8
    assert air_time_us(radio, payload) == pytest.approx(settle + bits / rate * 1e6)


@pytest.mark.parametrize("payload", [1, 2, 3, 10, 13, 51, 222])
@pytest.mark.parametrize("factor", [6, 7, 9, 11, 12])
@pytest.mark.parametrize(
    ("bandwidth", "rate", "preamble", "explicit", "crc"),
    [(125_000, 1, 8, 1, 1), (250_000, 4, 6, 0, 1), (125_000, 2, 12, 1, 0), (500_000, 3, 8, 0, 0)],
)
def test_lora_follows_the_application_note(
    factor: int, bandwidth: int, rate: int, preamble: int, explicit: int, crc: int, payload: int
) -> None:
    radio = set_to(
        "lora",
        spreading_factor=factor,
        bandwidth_hz=bandwidth,
        coding_rate=rate,
        preamble_symbols=preamble,
        explicit_header=explicit,
        crc_on=crc,
    )
    symbol_s = 2**factor / bandwidth
    optimised = 1 if symbol_s > 0.016 else 0
    asked = 8 * payload - 4 * factor + 28 + 16 * crc - (0 if explicit else 20)
    coded = max(math.ceil(asked / (4 * (factor - 2 * optimised))) * (rate + 4), 0)
    expected_us = ((preamble + 4.25) + (8 + coded)) * symbol_s * 1e6
    assert air_time_us(radio, payload) == pytest.approx(expected_us)
    assert overhead_bytes(radio) == {(1, 1): 4.5, (0, 1): 2, (1, 0): 2.5, (0, 0): 0}[explicit, crc]
    assert air_time_us(radio, np.array([payload, payload]))[1] == pytest.approx(expected_us)


@pytest.mark.parametrize("payload", [1, 50, 116])
@pytest.mark.parametrize(("header", "crc", "phy", "byte_us"), [(9, 2, 6, 32), (21, 4, 5, 400)])
def test_802_15_4_sends_each_byte_of_the_frame(
    header: int, crc: int, phy: int, byte_us: int, payload: int
) -> None:
    radio = set_to("802.15.4", header_bytes=header, crc_bytes=crc, phy_bytes=phy, byte_us=byte_us)
    assert overhead_bytes(radio) == header + crc + phy
    assert air_time_us(radio, payload) == (header + crc + phy + payload) * byte_us


@pytest.mark.parametrize("payload", [1, 27, 251])
@pytest.mark.parametrize("mic", [0, 4])
def test_ble_sends_ten_bytes_and_the_mic_beside_the_payload(mic: int, payload: int) -> None:
    radio = set_to("ble", mic_bytes=mic)
    assert overhead_bytes(radio) == 10 + mic  # 1 preamble, 4 access address, 2 header, 3 CRC
    assert air_time_us(radio, payload) == (80 + 8 * mic) + 8 * payload


@pytest.mark.parametrize("payload", [1, 250])
@pytest.mark.parametrize(("rate", "preamble"), [(1_000_000, 192), (11_000_000, 96)])
def test_esp_now_sends_the_frame_after_the_preamble(rate: int, preamble: int, payload: int) -> None:
    radio = set_to("esp-now", air_rate_baud=rate, header_bytes=39, crc_bytes=4, preamble_us=preamble)
    assert overhead_bytes(radio) == 43
    assert air_time_us(radio, payload) == pytest.approx(preamble + 8e6 * (43 + payload) / rate)


def test_each_air_asks_for_what_its_formula_reads() -> None:
    for kind, air in AIRS.items():
        read: set[str] = set()

        def value(figure: str, read: set[str] = read) -> float:
            read.add(figure)
            return 8.0

        air.time_us(value, 1)
        air.overhead_bytes(value)
        assert read == set(air.figures), kind


# --- what a message costs ----------------------------------------------------------------------------------


def by_hand(radio: Radio, message_bytes: int) -> dict[str, float]:
    """Packet by packet: the serial line in, the air, the serial line out."""
    packet, byte_us = radio.packet_bytes, radio.serial_byte_us
    sizes = [packet] * (message_bytes // packet) + [message_bytes % packet] * (message_bytes % packet > 0)
    line_us = air_free_us = out_free_us = on_air_us = 0.0
    for size in sizes:
        line_us += size * byte_us
        ready_us = line_us if size == packet else line_us + radio.value("timeout_ms") * 1000
        start_us = max(ready_us, air_free_us)
        took_us = air_time_us(radio, size)
        air_free_us = start_us + took_us + radio.value("gap_us")
        out_free_us = max(out_free_us, start_us + took_us) + size * byte_us
        on_air_us += took_us
    power_mw = radio.value("supply_v") * radio.value("tx_ma"), radio.value("supply_v") * radio.value("rx_ma")
    return {
        "message_bytes": message_bytes,
        "packets": len(sizes),
        "air_bytes": message_bytes + len(sizes) * overhead_bytes(radio),
        "air_time_us": on_air_us,
        "write_time_us": message_bytes * byte_us,
        "delivery_time_us": out_free_us,
        "sender_uj": power_mw[0] * on_air_us * 1e-3,
        "receiver_uj": power_mw[1] * on_air_us * 1e-3,
    }


def slow_air(serial_baud: float = 0.0) -> Radio:
    line = {"serial_baud": serial_baud, "serial_bits_per_byte": 10} if serial_baud else {}
    return set_to("ble", mic_bytes=4, **line)


# The line slower than the air, as fast as it, faster, and none.
@pytest.mark.parametrize("baud", [9_600, 115_200, 1_000_000, 0])
@pytest.mark.parametrize("message_bytes", [1, 6, 7, 8, 13, 14, 15, 70, 71])
def test_all_that_a_message_costs(baud: int, message_bytes: int) -> None:
    radio = slow_air(baud)
    assert asdict(costs(radio, message_bytes)) == pytest.approx(by_hand(radio, message_bytes))


@pytest.mark.parametrize("name", ["srf", "cc1101", "nrf24", "lora", "802.15.4", "ble-1m", "esp-now"])
def test_all_that_a_message_costs_on_the_radios_there_are(name: str) -> None:
    radio = load_radio(name)
    for message_bytes in (1, radio.packet_bytes - 1, radio.packet_bytes, radio.packet_bytes + 1, 1000):
        assert asdict(costs(radio, message_bytes)) == pytest.approx(by_hand(radio, message_bytes))


def test_figures_of_one_message_done_with_pencil_and_paper() -> None:
    # 10 bytes in packets of 7: 7 and 3; on the air (14 + 7) x 8 = 168 and (14 + 3) x 8 = 136 us. The line
    # takes 100 us a byte: the last byte is in after 1000 us, and 13,000 us later the rest goes.
    found = costs(slow_air(100_000), 10)
    assert asdict(found) == pytest.approx(
        {
            "message_bytes": 10,
            "packets": 2,
            "air_bytes": 10 + 2 * 14,
            "air_time_us": 168 + 136,
            "write_time_us": 1000,
            "delivery_time_us": 1000 + 13_000 + 136 + 300,
            "sender_uj": 0.304 * 3 * 20,
            "receiver_uj": 0.304 * 3 * 10,
        }
    )


def test_padding_goes_up_to_whole_packets() -> None:
    assert [padded_bytes(slow_air(), n) for n in (1, 6, 7, 8, 14, 15)] == [7, 7, 7, 14, 14, 21]


# --- a survey ----------------------------------------------------------------------------------------------


def test_a_survey_has_each_length_and_each_packet() -> None:
    radio, lengths = slow_air(115_200), np.array([1, 7, 9, 14, 20])
    found = survey(radio, lengths)
    assert [choice.packet_bytes for choice in found.packets] == [2, 3, 4, 5, 6, 7, 8, 9]
    for choice in found.packets:
        other = radio.with_figures(packet_bytes=choice.packet_bytes)
        plain = [by_hand(other, int(n))["delivery_time_us"] for n in lengths]
        padded = [by_hand(other, int(padded_bytes(other, n)))["delivery_time_us"] for n in lengths]
        assert choice.mean_delivery_us == pytest.approx(sum(plain) / 5)
        assert choice.mean_padded_us == pytest.approx(sum(padded) / 5)
    assert found.best_packet.mean_delivery_us == min(c.mean_delivery_us for c in found.packets)
    assert found.best_packet_padded.mean_padded_us == min(c.mean_padded_us for c in found.packets)
    rates = [n / by_hand(radio, int(n))["delivery_time_us"] for n in lengths]
    assert found.best_message == rates.index(max(rates))
    for row, n in zip(found.rows(), lengths, strict=True):
        longer = -(-int(n) // 7) * 7
        whole = by_hand(radio, longer)["delivery_time_us"]
        plain_figures = by_hand(radio, int(n))
        assert list(row) == [
            *("message_bytes", "packets", "air_bytes", "air_time_us", "write_time_us", "delivery_time_us"),
            *("sender_uj", "receiver_uj", "padded_bytes", "padded_delivery_time_us", "padding_gain_us"),
        ]
        assert row == pytest.approx(
            {
                **plain_figures,
                "padded_bytes": longer,
                "padded_delivery_time_us": whole,
                "padding_gain_us": plain_figures["delivery_time_us"] - whole,
            },
            abs=0.000_51,
        )
        assert all(round(value, 3) == value for value in row.values())
    assert isinstance(found.packets[0], PacketChoice)


# --- two radios --------------------------------------------------------------------------------------------


def arrivals(pair: RadioPair, until_us: float = 1e9) -> list[tuple[int, bytes, Any]]:
    return [(a.end, a.data, pytest.approx(a.time_us)) for a in pair.advance(until_us)]


def test_packets_leave_when_line_air_and_gap_let_them() -> None:
    pair = RadioPair(slow_air(100_000))
    assert pair.next_us() is None
    pair.write(0, bytes(range(17)), 50.0)
    assert pair.line_booked_us(0, 50.0) == pytest.approx(1700)
    assert pair.next_us() == pytest.approx(750) and not pair.next_is_arrival()
    assert pair.advance(800.0) == [] and pair.line_booked_us(0, 800.0) == pytest.approx(950)
    # Full after 700 and 1400 us of line; 168 us of air, 700 us of line out. The rest (3) goes 13 ms after
    # its last byte.
    assert arrivals(pair) == [
        (1, bytes(range(7)), 50 + 700 + 168 + 700),
        (1, bytes(range(7, 14)), 50 + 1400 + 168 + 700),
        (1, bytes(range(14, 17)), 50 + 1700 + 13_000 + 136 + 300),
    ]
    tally = pair.tally(0)
    assert asdict(tally) == {
        **dict.fromkeys(("lost", "unheard", "duplicated", "reordered"), 0),
        "sent": 3,
        "delivered": 3,
        "air_time_us": pytest.approx(2 * 168 + 136),
    }
    assert pair.tally(1).sent == 0 and pair.now_us == 1e9 and pair.line_booked_us(0, 1e9) == 0


def test_without_a_serial_line_the_gap_alone_parts_packets() -> None:
    pair = RadioPair(slow_air())
    pair.write(0, bytes(14), 0.0)
    assert arrivals(pair) == [(1, bytes(7), 168), (1, bytes(7), 168 + 210 + 168)]


def test_the_other_end_sends_after_the_turn_round_and_the_last_sender_waits_for_it() -> None:
    pair = RadioPair(slow_air())
    pair.write(0, bytes(7), 0.0)
    pair.write(1, bytes([1] * 7), 100.0)
    # 168 off the air, 700 to turn round (the gap of 210 ends before), 168 on the air.
    assert arrivals(pair) == [(1, bytes(7), 168), (0, bytes([1] * 7), 168 + 700 + 168)]
    assert (pair.tally(0).sent, pair.tally(1).sent) == (1, 1)


def test_what_happens_next_is_known() -> None:
    pair = RadioPair(slow_air(100_000))
    pair.write(1, bytes(7), 0.0)
    seen = []
    while (due := pair.next_us()) is not None:
        seen.append((due, pair.next_is_arrival()))
        pair.advance(due)
    assert seen == [(700, False), (868, False), (1568, True)]
    pair.write(1, b"", 5000.0)
    assert pair.next_us() is None


def test_a_channel_that_does_it_to_all() -> None:
    packets = b"".join(bytes([n] * 7) for n in range(6))
    lost = RadioPair(slow_air(), Channel(loss=1.0))
    lost.write(0, packets, 0.0)
    assert lost.advance(1e6) == [] and (lost.tally(0).lost, lost.tally(0).delivered) == (6, 0)

    doubled = RadioPair(slow_air(), Channel(duplicate=1.0))
    doubled.write(0, packets, 0.0)
    assert [a.data[0] for a in doubled.advance(1e6)] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert (doubled.tally(0).duplicated, doubled.tally(0).delivered) == (6, 12)

    swapped = RadioPair(slow_air(), Channel(reorder=1.0))
    swapped.write(0, packets, 0.0)
    assert [a.data[0] for a in swapped.advance(1e6)] == [1, 0, 3, 2, 5, 4]
    assert (swapped.tally(0).reordered, swapped.tally(0).delivered) == (3, 6)


def test_a_packet_that_nothing_overtakes_comes_after_four_packets_and_10_ms() -> None:
    pair = RadioPair(slow_air(), Channel(reorder=1.0))
    pair.write(0, bytes(7), 0.0)
    assert arrivals(pair) == [(1, bytes(7), 168 + 4 * 168 + 10_000)]


def test_damage_follows_the_channel() -> None:
    packet = bytes(range(20))
    sound = Channel()
    assert sound.damage(sound.generator(), packet) == packet
    checked = Channel(bit_error_rate=1.0)
    assert checked.damage(checked.generator(), packet) is None
    bare = Channel(bit_error_rate=1.0, crc=False)
    assert bare.damage(bare.generator(), packet) == bytes(255 - byte for byte in packet)
    assert Channel(seed=5).generator().random() == Channel(seed=5).generator().random()
    # (1 - 0.001)^160 of the packets are intact: 85.2 %; 3.1 standard deviations of 4000 draws are 1.7 %.
    rare = Channel(bit_error_rate=0.001, crc=True, seed=2)
    generator = rare.generator()
    intact = sum(rare.damage(generator, packet) == packet for _ in range(4000)) / 4000
    assert intact == pytest.approx(0.999**160, abs=0.0175)


@pytest.mark.parametrize("name", ["loss", "bit_error_rate", "duplicate", "reorder"])
@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan")])
def test_what_is_no_probability_is_refused(name: str, value: float) -> None:
    bad: dict[str, Any] = {name: value}
    with pytest.raises(InputError, match=f"^{name} is {value}; give a probability from 0 to 1$"):
        Channel(**bad)
    good: list[dict[str, Any]] = [{name: 0.0}, {name: 1.0}]
    assert [getattr(Channel(**kept), name) for kept in good] == [0.0, 1.0]


# --- descriptors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ({"packet_bytes": 10}, "radio ble: packets of 10 bytes; it takes 2 to 9"),
        ({"packet_bytes": 1}, "radio ble: packets of 1 bytes; it takes 2 to 9"),
        ({"packet_bytes": 2.5}, "radio ble: a packet has a whole number of bytes"),
        ({"gap_us": -1}, "radio ble: gap_us is -1; give 0 or more"),
        ({"gap_us": float("inf")}, "radio ble: gap_us is inf; give 0 or more"),
        ({"gap": 1}, "radio ble has no figure 'gap'; known: packet_bytes, packet_bytes_min, "),
    ],
)
def test_a_setting_that_the_radio_does_not_take(figures: dict[str, float], said: str) -> None:
    with pytest.raises(InputError) as told:
        slow_air().with_figures(**figures)
    assert str(told.value).startswith(said)


def test_a_setting_says_who_set_it_and_leaves_the_rest() -> None:
    radio = load_radio("srf")
    changed = radio.with_figures(gap_us=0, packet_bytes=240)
    assert changed.figures["gap_us"] == SourcedNumber(0, radio.figures["gap_us"].unit, "set by the user")
    assert changed.packet_bytes == 240 and changed.with_figures(packet_bytes=1).packet_bytes == 1
    assert {n for n in radio.figures if radio.figures[n] != changed.figures[n]} == {"gap_us", "packet_bytes"}
    assert radio.timeout_us == 100_000 and radio.serial_byte_us == pytest.approx(1e7 / 115_200)
    assert load_radio("lora").serial_byte_us == 0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("gap_us = {", "timeout_ms_new = {", "not valid TOML"),
        ("tx_ma = {", "sleep_ma = {", "figure 'tx_ma' is missing"),
        ("air_rate_baud = { value = 250000", "air_rate_baud = { value = 0", "'air_rate_baud' is 0; expected"),
        ("serial_baud = { value = 115200", "serial_baud = { value = 0", "'serial_baud' is 0; expected"),
        ("serial_bits_per_byte = {", "wake_us = {", "figure 'serial_bits_per_byte' is missing"),
        ("packet_bytes_min = { value = 1,", "packet_bytes_min = { value = 0,", "'packet_bytes_min' is 0;"),
        ("packet_bytes = { value = 12,", "packet_bytes = { value = 241,", "it takes 1 to 240"),
        ("[figure]", "wrong = 1\n[figure]", "unknown 'wrong'"),
        ('unit = "V"', 'unite = "V"', "did you mean 'unit'"),
    ],
)
def test_a_faulty_descriptor_says_where(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = (FOLDER / "srf.toml").read_text()
    kept = [line for line in text.splitlines() if not line.startswith(("sleep_ma", "wake_us"))]
    assert old in "\n".join(kept)
    (tmp_path / "bad.toml").write_text("\n".join(kept).replace(old, new, 1))
    with pytest.raises(InputError) as told:
        read_radio(tmp_path / "bad.toml")
    assert said in str(told.value)


def test_a_descriptor_is_named_as_its_file(tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text((FOLDER / "srf.toml").read_text())
    with pytest.raises(InputError, match=r"its radio is named 'srf'; name the file srf\.toml"):
        load_radio("srf", folder=tmp_path)
    assert load_radio(str(tmp_path / "other.toml")).name == "srf"
