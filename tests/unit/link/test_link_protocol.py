"""Frames, sealing, and the two halves of the link held together without a radio."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motecrypt.errors import InputError
from motecrypt.link import Counters, MemoryStore, Receiver, Sender, SendOutcome, Timing, Window
from motecrypt.link.frames import (
    ACCEPTED,
    STATUS,
    Frame,
    FrameReader,
    crc8,
    fragments,
    frame_bytes,
    joined,
    largest_message_bytes,
)
from motecrypt.link.sealing import Sealer
from motecrypt.radios import load_radio

KEY = bytes(range(16))
RADIO = load_radio("srf")


def test_crc8_check_value() -> None:
    # The catalogue of parametrised CRC algorithms gives F4 for CRC-8/SMBUS over "123456789".
    assert crc8(b"123456789") == 0xF4


@pytest.mark.parametrize(("packet", "frame"), [(1, 12), (5, 15), (8, 16), (12, 12), (13, 13), (240, 240)])
def test_frames_fill_whole_packets(packet: int, frame: int) -> None:
    assert frame_bytes(packet) == frame and frame % packet == 0


@given(st.binary(max_size=600), st.sampled_from([12, 15, 32, 240]))
def test_fragments_join_to_what_was_cut(sealed: bytes, length: int) -> None:
    assert joined(fragments(sealed, length)) == sealed


@given(st.lists(st.binary(max_size=30), max_size=6), st.randoms(use_true_random=False))
def test_frames_are_found_between_garbage(garbage: list[bytes], generator: random.Random) -> None:
    frames = [Frame(0, number, bytes([number]) + b"fragment") for number in range(8)]
    reader, found = FrameReader(12), []
    stream = b"".join(frame.encode(12) for frame in frames)
    for piece in [*garbage, stream, bytes(24)]:
        found += list(reader.feed(piece))
    # Garbage may swallow frames that a false start covers, but never for longer than that.
    assert [frame.message for frame in found][-6:] == [2, 3, 4, 5, 6, 7]


def test_a_sealed_message_is_ccm_by_the_book() -> None:
    from Crypto.Cipher import AES

    sealed = Sealer(KEY).seal(0x80000001, 77, b"18.5 degrees")
    nonce = b"\x01\x80\x00\x00\x01\x00\x00\x00\x4d\x00\x00\x00\x00"
    other = AES.new(KEY, AES.MODE_CCM, nonce=nonce, mac_len=8).update(b"motecrypt1")
    ciphertext, tag = other.encrypt_and_digest(b"18.5 degrees")
    assert sealed == bytes.fromhex("800000010000004d") + ciphertext + tag


def test_the_three_kinds_are_told_apart_by_the_nonce() -> None:
    from Crypto.Cipher import AES

    from motecrypt.link.sealing import ACCEPTANCE, MESSAGE, REFUSAL

    assert (MESSAGE, ACCEPTANCE, REFUSAL) == (1, 2, 3)
    for kind in (2, 3):
        nonce = bytes([kind]) + b"\x80\x00\x00\x01\x00\x00\x00\x4d\x00\x00\x00\x00"
        other = AES.new(KEY, AES.MODE_CCM, nonce=nonce, mac_len=8).update(b"motecrypt1")
        assert Sealer(KEY).answer(kind, 0x80000001, 77) == other.digest()


def test_any_changed_bit_is_not_genuine() -> None:
    sealer = Sealer(KEY)
    sealed = sealer.seal(1, 2, b"reading 7")
    for bit in range(8 * len(sealed)):
        forged = bytearray(sealed)
        forged[bit // 8] ^= 1 << bit % 8
        assert sealer.open(bytes(forged)) is None
    assert sealer.open(sealed) == b"reading 7" and sealer.open(b"short") is None


class Bench:
    """Sender and receiver joined by hand."""

    def __init__(self, packet_bytes: int = 12, receiver_key: bytes = KEY) -> None:
        self.got: list[bytes] = []
        self.timing = Timing.of(RADIO.with_figures(packet_bytes=packet_bytes))
        self.sender = Sender(KEY, Counters(MemoryStore(), KEY), self.timing)
        self.window_store = MemoryStore()
        self.key, self.packet_bytes = receiver_key, packet_bytes
        self.restart_receiver()
        self.now_us = 0.0

    def restart_receiver(self) -> None:
        window = Window(self.window_store)
        self.receiver = Receiver(self.key, window, self.packet_bytes, lambda m, s, c: self.got.append(m))

    def exchange(self) -> bool:
        """One burst there and its answer back; False when nothing was to be sent."""
        self.now_us += 10_000_000
        self.sender.tick(self.now_us)
        output = self.sender.take_output()
        self.receiver.feed(output)
        self.now_us += 1_000_000
        self.sender.feed(self.receiver.take_output(), self.now_us)
        return bool(output)


@pytest.mark.parametrize("packet_bytes", [1, 8, 12, 36, 240])
def test_messages_of_every_length_arrive(packet_bytes: int) -> None:
    bench = Bench(packet_bytes)
    lengths = [0, 1, 7, 8, 100, largest_message_bytes(packet_bytes)]
    for length in lengths:
        bench.sender.submit(bytes(length), bench.now_us)
        bench.exchange()
        assert bench.sender.outcome is SendOutcome.ACCEPTED
    assert [len(message) for message in bench.got] == lengths


def test_too_long_a_message_says_what_fits() -> None:
    with pytest.raises(InputError, match="2023 is the most"):
        Bench().sender.submit(bytes(2024), 0)


def test_a_replay_is_answered_but_never_handed_over_again() -> None:
    bench = Bench()
    bench.sender.submit(b"open the door", 0)
    recorded = bench.sender.take_output()
    for _ in range(5):
        bench.receiver.feed(recorded)
    bench.restart_receiver()
    bench.receiver.feed(recorded)
    assert bench.got == [b"open the door"]


def test_another_key_ends_with_unconfirmed_and_no_hang() -> None:
    bench = Bench(receiver_key=bytes(16))
    bench.sender.submit(b"secret", 0)
    rounds = 0
    while bench.sender.busy:
        bench.exchange()
        rounds += 1
        assert rounds < 50
    assert bench.sender.outcome is SendOutcome.UNCONFIRMED and bench.sender.heard and not bench.got


def test_a_silent_receiver_ends_with_unconfirmed() -> None:
    bench = Bench()
    bench.sender.submit(b"anybody?", 0)
    for _ in range(50):
        bench.now_us += 10_000_000
        bench.sender.tick(bench.now_us)
    assert bench.sender.outcome is SendOutcome.UNCONFIRMED and not bench.sender.heard


def test_a_forged_acceptance_is_not_believed() -> None:
    bench = Bench()
    counter = bench.sender.submit(b"important", 0)
    bench.sender.feed(Frame(ACCEPTED, counter & 0xFF, bytes(8)).encode(12), 1)
    assert bench.sender.busy and bench.sender.tally.forged_answers == 1


def test_forged_statuses_cannot_keep_the_sender_for_ever() -> None:
    bench = Bench()
    counter = bench.sender.submit(b"important", 0)
    now_us = 0.0
    for _ in range(50):
        now_us += 1_000_000
        bench.sender.feed(Frame(STATUS, counter & 0xFF, bytes(9)).encode(12), now_us)
    assert bench.sender.outcome is SendOutcome.UNCONFIRMED


@settings(max_examples=200)
@given(st.lists(st.binary(max_size=200), max_size=20))
def test_the_receiver_survives_any_bytes(pieces: list[bytes]) -> None:
    bench = Bench()
    for piece in pieces:
        bench.receiver.feed(piece)
        # The same bytes once more, dressed as well-formed frames, so that they get past the CRC.
        bench.receiver.feed(Frame((piece or b"\0")[0] % 5, len(piece), piece[:9].ljust(9, b"\0")).encode(12))
    assert bench.got == []


def test_what_is_too_short_for_a_header_and_a_tag_is_not_genuine() -> None:
    sealed = Sealer(KEY).seal(1, 2, b"")
    assert len(sealed) == 16 and Sealer(KEY).open(sealed) == b""
    for length in range(16):
        assert Sealer(KEY).open(sealed[:length]) is None


def test_a_status_of_a_long_message_has_a_bit_for_each_of_64() -> None:
    bench = Bench()
    counter = bench.sender.submit(bytes(800), 0)
    assert bench.sender.frame_bytes == 12
    bench.sender.take_output()
    missing = {5, 6, 13, 14, 21, 22, 30, 61, 69}
    bits = sum(1 << (index - 6) for index in range(6, 70) if index not in missing).to_bytes(8, "little")
    bench.sender.feed(Frame(STATUS, counter & 0xFF, bytes([5]) + bits).encode(12), 10_000_000)
    assert indexes(bench.sender.take_output()) == [*sorted(missing), *range(70, 103)]


def indexes(output: bytes) -> list[int]:
    """Which fragments a burst holds."""
    return [output[at + 2] for at in range(0, len(output), 12)]


def test_silence_is_asked_by_first_and_last_until_the_tries_are_used_up() -> None:
    bench = Bench()
    sender, timing = bench.sender, bench.timing
    sender.submit(bytes(40), 0)
    assert indexes(sender.take_output()) == list(range(8))
    now_us, frames_sent = 0.0, 8
    for failures in range(timing.tries):
        deadline = sender.deadline_us()
        assert deadline == now_us + timing.deadline_us(8 if failures == 0 else 2, failures)
        sender.tick(deadline - 1)
        assert sender.busy and not sender.take_output()
        now_us = deadline
        sender.tick(now_us)
        if failures < timing.tries - 1:
            assert indexes(sender.take_output()) == [0, 7]
            frames_sent += 2
    assert not sender.busy and not sender.take_output() and sender.outcome is SendOutcome.UNCONFIRMED
    tally = sender.tally
    assert (tally.bursts, tally.frames, tally.frames_again) == (timing.tries, frames_sent, frames_sent - 8)
    assert (tally.messages, tally.unconfirmed, tally.accepted, tally.refused) == (1, 1, 0, 0)


def test_deadlines_grow_with_failures_up_to_twenty_times_the_slack() -> None:
    timing = Timing(12, frame_us=100, round_trip_us=1000, slack_us=10)
    assert [timing.deadline_us(3, failures) for failures in (0, 1, 2)] == [1310, 1315, 1322.5]
    assert timing.deadline_us(1, 7) == 1100 + 10 * 1.5**7
    assert timing.deadline_us(1, 8) == timing.deadline_us(1, 50) == 1300


def test_a_status_older_than_the_burst_is_not_answered() -> None:
    bench = Bench()
    sender = bench.sender
    counter = sender.submit(bytes(40), 1000)
    burst_us = 8 * bench.timing.frame_us
    sender.take_output()
    status = Frame(STATUS, counter & 0xFF, bytes([2]) + b"\x15" + bytes(7)).encode(12)
    sender.feed(status, 1000 + burst_us - 1)
    assert not sender.take_output() and sender.tally.bursts == 1 and not sender.heard
    sender.feed(status, 1000 + burst_us)
    # Missing: 2, and of 3 to 7 those without a bit (3, 5 and 7 are there); the last is always asked.
    assert indexes(sender.take_output()) == [2, 4, 6, 7] and sender.heard
    sender.feed(status, 1000 + burst_us + 4 * bench.timing.frame_us - 1)
    assert not sender.take_output()


def test_a_status_without_news_counts_as_a_failure_and_one_with_news_forgives() -> None:
    bench = Bench()
    sender, now_us = bench.sender, 0.0
    counter = sender.submit(bytes(40), 0)

    def say(first_missing: int) -> None:
        nonlocal now_us
        now_us += 1_000_000
        sender.feed(Frame(STATUS, counter & 0xFF, bytes([first_missing]) + bytes(8)).encode(12), now_us)

    for step in range(7):
        for _ in range(bench.timing.tries):
            assert sender.busy
            say(step)
    assert sender.busy
    bursts = sender.tally.bursts
    say(6)
    assert not sender.busy and sender.tally.bursts == bursts and sender.outcome is SendOutcome.UNCONFIRMED


def test_an_answer_is_for_the_message_on_its_way_alone() -> None:
    bench = Bench()
    counter = bench.sender.submit(b"important", 0)
    proof = Sealer(KEY).answer(2, bench.sender._counters.stream, counter)
    bench.sender.feed(Frame(ACCEPTED, counter + 1 & 0xFF, proof).encode(12), 1)
    assert bench.sender.busy
    bench.sender.feed(Frame(ACCEPTED, counter & 0xFF, proof).encode(12), 1)
    assert bench.sender.outcome is SendOutcome.ACCEPTED and bench.sender.tally.accepted == 1
    bench.sender.feed(Frame(ACCEPTED, counter & 0xFF, proof).encode(12), 2)
    bench.sender.abandon()
    assert bench.sender.tally.accepted == 1 and bench.sender.tally.unconfirmed == 0
    bench.sender.submit(b"another", 3)
    with pytest.raises(InputError, match="still on its way"):
        bench.sender.submit(b"too early", 4)
    bench.sender.abandon()
    assert bench.sender.outcome is SendOutcome.UNCONFIRMED and bench.sender.tally.unconfirmed == 1
