"""The command mode of a radio module, command by command, answer by answer."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest

from motecrypt.air.radios import RadioPair, load_radio
from motecrypt.air.radios.module import Module, Settings

SRF = load_radio("srf")
GUARD_US, COMMAND_TIMEOUT_US = 1e6, 5e6
FRESH = {
    "packet_bytes": 12,
    "timeout_ms": 100,
    "baud": 115_200,
    "turn_round_ms": round(SRF.value("turn_round_us") / 1000),
    "air_rate": 1,
    "network_id": 0x5AA5,
    "channel": 0,
    "encrypted": 0,
    "key": "0" * 32,
}


def changed(settings: Settings, name: str, value: int) -> Settings:
    values: dict[str, Any] = {name: value}
    return replace(settings, **values)


def asked(module: Module, *lines: str) -> list[str]:
    answers = []
    for line in lines:
        answer, rest = module.feed(line.encode("latin-1") + b"\r")
        assert rest == b""
        answers.append(answer.decode())
    return answers


def entered(name: str = "srf") -> Module:
    module = Module(load_radio(name))
    assert module.enter() == b"OK\r" and module.commanding
    return module


def test_a_module_fresh_from_its_box() -> None:
    assert asdict(Settings.of(SRF)) == FRESH
    assert Settings.of(load_radio("lora")).baud == 0
    module = Module(SRF)
    assert not module.commanding and module.apply() == SRF.with_figures(
        packet_bytes=12, timeout_ms=100, serial_baud=115_200
    )


@pytest.mark.parametrize(
    ("command", "name", "low", "high", "digits", "pending"),
    [
        ("PK", "packet_bytes", 1, 240, 2, False),
        ("RO", "timeout_ms", 1, 0xFFFF, 1, False),
        ("RT", "turn_round_ms", 0, 0xFF, 1, False),
        ("DR", "air_rate", 1, 5, 1, True),
        ("BD", "baud", 1200, 250_000, 1, True),
        ("CN", "channel", 0, 255, 1, True),
        ("ID", "network_id", 0, 0xFFFF, 4, False),
        ("EE", "encrypted", 0, 1, 1, False),
    ],
)
def test_a_number_has_its_range_and_its_digits(
    command: str, name: str, low: int, high: int, digits: int, pending: bool
) -> None:
    for value in (low, low + 1, high):
        if value > high:
            continue
        module = entered()
        before = module.settings
        assert asked(module, f"AT{command}{value:X}") == ["OK\r"]
        if pending:
            assert module.settings == before
            assert asked(module, "ATAC") == ["OK\r"]
        assert module.settings == changed(before, name, value)
        assert asked(module, f"AT{command}") == [f"{value:0{digits}X}\rOK\r"]
    module = entered()
    wrong = [high + 1, *([low - 1] if low else [])]
    assert asked(module, *(f"AT{command}{value:X}" for value in wrong), "ATAC") == ["ERR\r"] * len(wrong) + [
        "OK\r"
    ]
    assert asdict(module.settings) == FRESH


def test_numbers_have_up_to_eight_digits_of_hex() -> None:
    module = entered()
    assert asked(module, "ATPK00000018", "ATPK000000018", "ATPK1G", "ATPK 1f ", "atpk") == [
        *("OK\r", "ERR\r", "ERR\r", "OK\r"),
        "1F\rOK\r",
    ]


def test_packets_are_as_long_as_the_radio_takes_them() -> None:
    assert asked(entered("nrf24"), "ATPK20", "ATPK21") == ["OK\r", "ERR\r"]


def test_what_applies_to_the_radio() -> None:
    module = entered()
    asked(module, "ATPK20", "ATRO10", "ATRT7", "ATDR3", "ATBD2580", "ATAC")
    radio = module.apply()
    values = ("packet_bytes", "timeout_ms", "turn_round_us", "air_rate_baud", "serial_baud")
    assert [radio.value(name) for name in values] == [0x20, 0x10, 7000, 1200, 9600]
    for code, rate in ((1, 250_000), (2, 38_400), (4, 100_000), (5, 50_000)):
        asked(module, f"ATDR{code}", "ATAC")
        assert module.apply().value("air_rate_baud") == rate
    bare = entered("lora")
    asked(bare, "ATDR3", "ATAC")
    assert "air_rate_baud" not in bare.apply().figures and "serial_baud" not in bare.apply().figures


def test_what_is_stored_comes_back_after_a_loss_of_power() -> None:
    module = entered()
    asked(module, "ATID1234", "ATCN5", "ATWR", "ATID4321")
    module.feed(b"ATID")
    module.restart()
    assert module.settings.network_id == 0x1234 and not module.commanding
    module.enter()
    assert asked(module, "ATAC") == ["OK\r"] and module.settings.channel == 0
    asked(module, "ATCN5", "ATRE", "ATAC")
    assert asdict(module.settings) == FRESH


def test_keys_are_32_digits_or_16_characters() -> None:
    module = entered()
    digits = "00112233445566778899AABBCCDDEEFF"
    assert asked(module, "ATEK", f"ATEK{digits}", "ATEK") == [
        "0" * 32 + "\rOK\r",
        "OK\r",
        f"{digits}\rOK\r",
    ]
    assert asked(module, f"ATEK{digits}0", f"ATEK{digits[:-1]}", f"ATEK{digits[:-1]}G") == ["ERR\r"] * 3
    assert asked(module, "ATEA", "ATEASIXTEEN LETTERS!", "ATEK") == [
        *("ERR\r", "OK\r"),
        b"SIXTEEN LETTERS!".hex().upper() + "\rOK\r",
    ]
    assert asked(module, "ATEASIXTEEN LETTERS") == ["ERR\r"]


def test_the_network_is_what_both_must_share() -> None:
    plain = Settings.of(SRF)
    key = "1" * 32
    assert plain.network() == (12, 1, 0x5AA5, 0, "")
    assert replace(plain, key=key).network() == plain.network()
    assert replace(plain, key=key, encrypted=1).network() == (12, 1, 0x5AA5, 0, key)
    for name, value in (("packet_bytes", 13), ("air_rate", 2), ("network_id", 1), ("channel", 1)):
        assert changed(plain, name, value).network() != plain.network()
    for name in ("timeout_ms", "baud", "turn_round_ms"):
        assert changed(plain, name, 1).network() == plain.network()


def test_plain_commands_take_no_argument_and_some_only_tell() -> None:
    module = entered()
    assert asked(module, "AT", "ATAC", "ATRE", "ATWR") == ["OK\r"] * 4
    assert (
        asked(module, "ATAC1", "ATRE1", "ATWR1", "ATDN1", "ATVR1", "ATSN1", "ATXX", "A", "XXPK")
        == ["ERR\r"] * 9
    )
    assert asked(module, "ATVR", "ATSN") == ["0.40B motecrypt\rOK\r", "00000001\rOK\r"]
    assert module.commanding


def test_lines_end_with_a_carriage_return_and_empty_ones_say_nothing() -> None:
    module = entered()
    assert module.feed(b"\r\n\r  \rA") == (b"", b"")
    assert module.feed(b"\nT\n\rATDN\r\nrest\r") == (b"OK\rOK\r", b"\nrest\r")
    assert not module.commanding
    module.enter()
    for length, answer in ((80, b"ERR\r"), (81, b"ERR\r"), (500, b"ERR\r")):
        assert module.feed(b" " * length + b"\r")[0] == (answer if length > 80 else b"")
    assert module.feed(b"AT" + b" " * 78 + b"\r") == (b"OK\r", b"")
    assert module.feed(b"AT" + b" " * 79 + b"\r") == (b"ERR\r", b"")
    module.feed(b"ATPK")
    module.enter()
    assert module.feed(b"AT\r") == (b"OK\r", b"")


# --- the way into command mode -----------------------------------------------------------------------------


def said(pair: RadioPair, until_us: float) -> dict[int, bytes]:
    got = {0: b"", 1: b""}
    for arrival in pair.advance(until_us):
        got[arrival.end] += arrival.data
    return got


def test_three_pluses_in_quiet_and_a_second_of_quiet() -> None:
    byte_us = SRF.serial_byte_us
    pair = RadioPair(SRF)
    pair.write(0, b"+++", 10.0)
    due = 10 + 3 * byte_us + GUARD_US
    assert said(pair, due - 1) == {0: b"", 1: b""} and not pair.module(0).commanding
    assert said(pair, due + 3 * byte_us - 1) == {0: b"", 1: b""} and pair.module(0).commanding
    assert said(pair, due + 3 * byte_us + 1) == {0: b"OK\r", 1: b""}
    assert said(pair, due + COMMAND_TIMEOUT_US - 1) == {0: b"", 1: b""} and pair.module(0).commanding
    said(pair, due + COMMAND_TIMEOUT_US + 1)
    assert not pair.module(0).commanding and not pair.module(1).commanding


def test_each_command_puts_the_end_of_command_mode_off() -> None:
    pair = RadioPair(SRF)
    pair.write(0, b"+++", 0.0)
    said(pair, 1.1e6)
    pair.write(0, b"AT\r", 4e6)
    last_us = 4e6 + 3 * SRF.serial_byte_us
    assert said(pair, last_us + COMMAND_TIMEOUT_US - 1)[0] == b"OK\r" and pair.module(0).commanding
    said(pair, last_us + COMMAND_TIMEOUT_US + 1)
    assert not pair.module(0).commanding


@pytest.mark.parametrize("pluses", [b"+", b"++", b"++++", b"+++a", b"+a"])
def test_other_than_three_pluses_are_data(pluses: bytes) -> None:
    pair = RadioPair(SRF)
    pair.write(0, pluses, 0.0)
    assert said(pair, 3e6) == {0: b"", 1: pluses} and not pair.module(0).commanding


def test_pluses_one_by_one_count_and_others_among_them_make_them_data() -> None:
    for last, expected in ((b"+", {0: b"OK\r", 1: b""}), (b"x", {0: b"", 1: b"++x"})):
        pair = RadioPair(SRF)
        for number, byte in enumerate((b"+", b"+", last)):
            pair.write(0, byte, number * 50_000.0)
            pair.advance(number * 50_000.0 + 40_000)
        assert said(pair, 3e6) == expected


def test_what_follows_the_end_of_command_mode_is_data() -> None:
    pair = RadioPair(SRF)
    pair.write(0, b"+++", 0.0)
    said(pair, 1.1e6)
    pair.write(0, b"ATDN\rhello", 2e6)
    assert said(pair, 3e6) == {0: b"OK\r", 1: b"hello"}
