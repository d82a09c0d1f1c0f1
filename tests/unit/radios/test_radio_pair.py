"""The pair of radios: channel faults, turn-round, command mode."""

from __future__ import annotations

from motecrypt.air.radios import Channel, RadioPair, load_radio
from motecrypt.air.radios.module import COMMAND_TIMEOUT_US, GUARD_US

SECOND = 1_000_000.0


def run(pair: RadioPair, until_us: float) -> dict[int, bytes]:
    got = {0: b"", 1: b""}
    for arrival in pair.advance(until_us):
        got[arrival.end] += arrival.data
    return got


def command(pair: RadioPair, end: int, *lines: bytes) -> list[bytes]:
    """Enter command mode, send lines, return what came back line by line."""
    pair.advance(pair.now_us + 1.1 * SECOND)
    pair.write(end, b"+++", pair.now_us)
    assert run(pair, pair.now_us + 1.1 * SECOND)[end] == b"OK\r"
    answers = []
    for line in lines:
        pair.write(end, line + b"\r", pair.now_us)
        answers.append(run(pair, pair.now_us + 0.6 * SECOND)[end])
    return answers


def test_settings_are_read_set_stored_and_restored() -> None:
    pair = RadioPair(load_radio("srf"))
    answers = command(pair, 0, b"ATPK", b"ATPK24", b"ATPK", b"atid", b"ATWR", b"ATRE", b"ATPK", b"ATDN")
    assert answers == [
        b"0C\rOK\r",
        b"OK\r",
        b"24\rOK\r",
        b"5AA5\rOK\r",
        b"OK\r",
        b"OK\r",
        b"0C\rOK\r",
        b"OK\r",
    ]
    assert not pair.module(0).commanding
    pair.module(0).restart()
    assert pair.module(0).settings.packet_bytes == 0x24


def test_rates_wait_for_atac() -> None:
    pair = RadioPair(load_radio("srf"))
    assert command(pair, 0, b"ATDR2", b"ATDR", b"ATAC", b"ATDR")[1::2] == [b"1\rOK\r", b"2\rOK\r"]
    assert pair.radio(0).value("air_rate_baud") == 38_400


def test_garbage_and_overlong_lines_are_answered_with_err() -> None:
    pair = RadioPair(load_radio("srf"))
    lines = [
        b"\x00\xff\xfe",
        b"A" * 5000,
        b"ATPK00",
        b"ATPKFFF",
        b"ATPK-1",
        b"ATEK12",
        b"ATXX",
        b"ATWR1",
        b"AT",
    ]
    assert command(pair, 0, *lines) == [b"ERR\r"] * 8 + [b"OK\r"]


def test_command_mode_ends_by_itself() -> None:
    pair = RadioPair(load_radio("srf"))
    command(pair, 0, b"AT")
    pair.advance(pair.now_us + COMMAND_TIMEOUT_US + 1)
    pair.write(0, b"hello world!", pair.now_us)
    assert run(pair, pair.now_us + SECOND)[1] == b"hello world!"


def test_command_mode_ends_whatever_the_time_is_rounded_to() -> None:
    begin_us = 4494910.647887
    assert begin_us + COMMAND_TIMEOUT_US - begin_us < COMMAND_TIMEOUT_US
    pair = RadioPair(load_radio("srf"))
    state = pair._ends[0]
    state.module.commanding, state.last_command_us = True, begin_us
    calls: list[float] = []

    def timeout(now_us: float) -> None:
        calls.append(now_us)
        assert len(calls) < 3, "it is asked again at the same time, for ever"
        RadioPair._command_timeout(pair, 0, now_us)

    pair._command_timeout = lambda end, now_us: timeout(now_us)  # type: ignore[method-assign]
    pair.at(begin_us + 1, timeout)
    pair.advance(begin_us + COMMAND_TIMEOUT_US - 1)
    assert state.module.commanding
    pair.advance(begin_us + COMMAND_TIMEOUT_US)
    assert not state.module.commanding and calls == [begin_us + 1, begin_us + COMMAND_TIMEOUT_US]


def test_pluses_without_quiet_are_data() -> None:
    pair = RadioPair(load_radio("srf"))
    pair.write(0, b"a", 0)
    pair.write(0, b"+++", 10)
    pair.advance(5 * SECOND)
    pair.write(0, b"+++", 6 * SECOND)
    pair.advance(6 * SECOND + GUARD_US / 2)
    pair.write(0, b"bcdefgh", pair.now_us)
    later = run(pair, 9 * SECOND)
    assert later[1] == b"+++bcdefgh" and later[0] == b""


def test_ends_with_other_packet_length_or_key_do_not_hear_each_other() -> None:
    for line in (b"ATPK18", b"ATEE1", b"ATID0001"):
        pair = RadioPair(load_radio("srf"))
        command(pair, 0, line, b"ATDN")
        pair.write(0, bytes(48), pair.now_us)
        assert run(pair, pair.now_us + SECOND)[1] == b""
        assert pair.tally(0).unheard == pair.tally(0).sent > 0


def test_both_ends_encrypted_with_one_key_hear_each_other() -> None:
    pair = RadioPair(load_radio("srf"))
    for end in (0, 1):
        command(pair, end, b"ATEK" + b"0123456789ABCDEF" * 2, b"ATEE1", b"ATDN")
    pair.write(1, b"twelve bytes", pair.now_us)
    assert run(pair, pair.now_us + SECOND)[0] == b"twelve bytes"


def test_the_answer_waits_for_the_turn_round() -> None:
    radio = load_radio("srf")
    pair = RadioPair(radio)
    pair.write(0, bytes(12), 0)
    first = pair.advance(10_000)[0]
    pair.write(1, bytes(12), first.time_us)
    second = pair.advance(SECOND)[0]
    air_end = 12 * radio.serial_byte_us + 800
    assert second.time_us >= air_end + 3_000


def test_the_channel_loses_doubles_and_reorders_and_repeats_by_seed() -> None:
    def transfer(seed: int) -> tuple[list[bytes], RadioPair]:
        channel = Channel(loss=0.1, duplicate=0.1, reorder=0.1, bit_error_rate=1e-4, crc=False, seed=seed)
        pair = RadioPair(load_radio("srf"), channel)
        pair.write(0, b"".join(index.to_bytes(12, "big") for index in range(1000)), 0)
        return [arrival.data for arrival in pair.advance(10 * SECOND)], pair

    packets, pair = transfer(7)
    tally = pair.tally(0)
    assert tally.sent == 1000 and 60 < tally.lost < 150
    assert 50 < tally.duplicated < 150 and 50 < tally.reordered < 150
    assert len(packets) == tally.delivered == 1000 - tally.lost + tally.duplicated
    assert packets != sorted(packets)
    assert transfer(7)[0] == packets and transfer(8)[0] != packets


def test_the_line_was_quiet_before_the_power_came() -> None:
    pair = RadioPair(load_radio("srf"))
    pair.write(0, b"+++", 0.0)
    assert run(pair, 1.1 * SECOND)[0] == b"OK\r"


def test_bit_errors_hit_every_bit_of_a_packet() -> None:
    channel = Channel(bit_error_rate=0.02, crc=False, seed=3)
    generator, packet, hit = channel.generator(), bytes(12), set()
    for _ in range(3000):
        arrived = channel.damage(generator, packet)
        assert arrived is not None and len(arrived) == 12
        hit |= {bit for bit in range(96) if arrived[bit // 8] >> bit % 8 & 1}
    assert hit == set(range(96))


def test_more_bytes_put_the_timeout_of_a_short_packet_off() -> None:
    radio = load_radio("srf")
    pair = RadioPair(radio)
    pair.write(0, b"ab", 0.0)
    assert run(pair, radio.timeout_us * 0.9)[1] == b""
    pair.write(0, b"cd", radio.timeout_us * 0.9)
    assert run(pair, radio.timeout_us * 1.7)[1] == b""
    assert run(pair, radio.timeout_us * 3)[1] == b"abcd"
