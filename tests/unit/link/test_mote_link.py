"""The mote's half of the link on the host: every byte as its twin in Python has it, every bad answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from mote_on_host import (
    ACCEPTED,
    FRAME_BYTES,
    NO_COUNTER,
    REFUSED,
    TOO_LONG,
    UNCONFIRMED,
    HostMote,
    build,
    load,
    slot,
)

from motecrypt.link import MemoryStore, Receiver, Window, frames
from motecrypt.link.frames import Frame
from motecrypt.link.sealing import ACCEPTANCE, REFUSAL, Sealer

KEY = bytes(range(0x40, 0x60))
STREAM = 0x12345678
TRIES = 10
LONGEST = 48


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("mote"))


@pytest.fixture
def mote(library: Path) -> HostMote:
    made = HostMote(library)
    assert made.init(KEY, STREAM) == ACCEPTED
    return made


def expected_frames(counter: int, message: bytes) -> list[bytes]:
    """By the Python half: what a burst of a whole message is."""
    pieces = frames.fragments(Sealer(KEY).seal(STREAM, counter, message), FRAME_BYTES)
    kinds = [frames.DATA] * (len(pieces) - 1) + [frames.LAST]
    return [
        Frame(kind, counter & 0xFF, bytes([index]) + piece).encode(FRAME_BYTES)
        for index, (kind, piece) in enumerate(zip(kinds, pieces, strict=True))
    ]


def accept(counter: int, kind: int = frames.ACCEPTED, proof: int = ACCEPTANCE) -> bytes:
    tag = Sealer(KEY).answer(proof, STREAM, counter)
    return Frame(kind, counter & 0xFF, tag).encode(FRAME_BYTES)


def status(counter: int, base: int, here: tuple[int, ...] = ()) -> bytes:
    bits = sum(1 << (index - base - 1) for index in here)
    return Frame(frames.STATUS, counter & 0xFF, bytes([base]) + bits.to_bytes(8, "little")).encode(
        FRAME_BYTES
    )


def play(mote: HostMote, *answers: bytes) -> None:
    """The answers to one burst after the other, then silence."""
    rest: Iterator[bytes] = iter(answers)
    mote.answer = lambda frames: next(rest, b"")


def indexes(burst: list[bytes]) -> list[int]:
    return [frame[2] for frame in burst]


def test_every_length_is_what_the_python_half_makes_and_takes(mote: HostMote) -> None:
    got: list[bytes] = []
    receiver = Receiver(KEY, Window(MemoryStore()), FRAME_BYTES, lambda m, s, c: got.append(m))

    def answer(burst: list[bytes]) -> bytes:
        receiver.feed(b"".join(burst))
        return receiver.take_output()

    mote.answer = answer
    messages = [bytes((7 * i + length) % 256 for i in range(length)) for length in range(LONGEST + 1)]
    for counter, message in enumerate(messages):
        assert mote.send(message) == ACCEPTED
        assert mote.bursts[-1] == expected_frames(counter, message)
    assert got == messages and len(mote.bursts) == len(messages)


def test_the_counter_stands_whole_in_nonce_and_header(mote: HostMote) -> None:
    load(mote, slot(0xA1B2C3D0))
    assert mote.init(KEY, 0x89ABCDEF & 0x7FFFFFFF) == ACCEPTED
    play(mote)
    mote.send(b"x")
    sealed = Sealer(KEY).seal(0x09ABCDEF, 0xA1B2C3D0, b"x")
    assert b"".join(frame[3:-1] for frame in mote.bursts[0])[: len(sealed)] == sealed


def test_too_long_a_message_costs_neither_packet_nor_counter(mote: HostMote) -> None:
    memory = bytes(mote.memory)
    for length in (LONGEST + 1, 200, 255):
        assert mote.send(bytes(length)) == TOO_LONG
    assert not mote.bursts and bytes(mote.memory) == memory


@pytest.mark.parametrize("key", [b"", bytes(15), bytes(17), bytes(33)])
def test_a_key_of_a_wrong_length_is_refused(library: Path, key: bytes) -> None:
    assert HostMote(library).init(key, STREAM) == NO_COUNTER


def test_a_damaged_counter_is_refused(library: Path) -> None:
    mote = HostMote(library)
    mote.memory[:] = [0] * 64
    assert mote.init(KEY, STREAM) == NO_COUNTER


def test_without_a_counter_nothing_is_sent(mote: HostMote) -> None:
    load(mote, slot(2**32 - 1))
    assert mote.init(KEY, STREAM) == ACCEPTED
    assert mote.send(b"x") == NO_COUNTER and not mote.bursts


def test_silence_is_asked_ten_times_and_then_unconfirmed(mote: HostMote) -> None:
    assert mote.send(bytes(LONGEST)) == UNCONFIRMED
    whole = expected_frames(0, bytes(LONGEST))
    assert mote.bursts[0] == whole and len(mote.bursts) == TRIES
    assert all(burst == [whole[0], whole[-1]] for burst in mote.bursts[1:])
    assert mote.patience == [250] * TRIES


def test_an_answer_in_the_last_try_counts(mote: HostMote) -> None:
    play(mote, *[b""] * (TRIES - 1), accept(0))
    assert mote.send(b"late") == ACCEPTED and len(mote.bursts) == TRIES
    play(mote, *[b""] * TRIES, accept(1))
    assert mote.send(b"too late") == UNCONFIRMED


def test_within_an_answer_silence_is_short(mote: HostMote) -> None:
    play(mote, accept(0)[:5])
    mote.send(b"x")
    assert mote.patience[:6] == [250, 20, 20, 20, 20, 20] and set(mote.patience[6:]) == {250}


@pytest.mark.parametrize("bit", range(64))
def test_an_acceptance_with_any_flipped_bit_is_not_believed(mote: HostMote, bit: int) -> None:
    tag = bytearray(Sealer(KEY).answer(ACCEPTANCE, STREAM, 0))
    tag[bit // 8] ^= 1 << bit % 8
    play(mote, Frame(frames.ACCEPTED, 0, bytes(tag)).encode(FRAME_BYTES))
    assert mote.send(b"x") == UNCONFIRMED
    tag = bytearray(Sealer(KEY).answer(REFUSAL, STREAM, 1))
    tag[bit // 8] ^= 1 << bit % 8
    play(mote, Frame(frames.REFUSED, 1, bytes(tag)).encode(FRAME_BYTES))
    assert mote.send(b"x") == UNCONFIRMED


def test_each_answer_needs_its_own_proof(mote: HostMote) -> None:
    play(mote, accept(0, frames.REFUSED, REFUSAL))
    assert mote.send(b"x") == REFUSED and len(mote.bursts) == 1
    play(mote, accept(1, frames.ACCEPTED, REFUSAL), accept(1, frames.REFUSED, ACCEPTANCE))
    assert mote.send(b"x") == UNCONFIRMED
    play(mote, accept(2, frames.ACCEPTED, 1))
    assert mote.send(b"x") == UNCONFIRMED
    play(mote, accept(2))
    assert mote.send(b"x") == UNCONFIRMED, "a proof of the message before"


@pytest.mark.parametrize("kind", [frames.ACCEPTED, frames.REFUSED, frames.STATUS, frames.DATA, 9])
def test_answers_that_bring_nothing_end_after_ten(mote: HostMote, kind: int) -> None:
    mote.answer = lambda burst: Frame(kind, 0, bytes([0])).encode(FRAME_BYTES)
    assert mote.send(bytes(20)) == UNCONFIRMED
    # A status says at first that less is missing than was feared, which is progress.
    assert len(mote.bursts) == TRIES + (kind == frames.STATUS)


def test_what_a_status_calls_missing_is_sent_and_the_last(mote: HostMote) -> None:
    whole = expected_frames(0, bytes(LONGEST))
    assert len(whole) == 9
    play(mote, status(0, 2, (3, 5, 7)), status(0, 8), status(0, 1, tuple(range(2, 9))), accept(0))
    assert mote.send(bytes(LONGEST)) == ACCEPTED
    assert [indexes(burst) for burst in mote.bursts] == [list(range(9)), [2, 4, 6, 8], [8], [1, 8]]
    assert all(frame == whole[frame[2]] for burst in mote.bursts for frame in burst)


def test_only_progress_keeps_the_mote_going(mote: HostMote) -> None:
    shrinking = [status(0, 0, tuple(range(1, here))) for here in range(1, 9)]
    play(mote, *shrinking, *[shrinking[-1]] * 30)
    assert mote.send(bytes(LONGEST)) == UNCONFIRMED
    assert len(mote.bursts) == len(shrinking) + TRIES
    mote.bursts.clear()
    # Each step of progress forgives the silences before it.
    steps = [answer for step in range(1, 9) for answer in (*[b""] * 9, status(1, 0, tuple(range(1, step))))]
    play(mote, *steps, *[b""] * 9, accept(1))
    assert mote.send(bytes(LONGEST)) == ACCEPTED


def test_garbage_before_an_answer_is_passed_over(mote: HostMote) -> None:
    broken = bytearray(accept(0))
    broken[-1] ^= 1
    garbage = [
        b"\xa2\x00\xa2\x00\xa2",
        bytes(broken),
        accept(0)[:7],
        Frame(frames.ACCEPTED, 1, bytes(8)).encode(FRAME_BYTES),
        bytes([0xB2]) + accept(0)[1:11] + bytes([frames.crc8(bytes([0xB2]) + accept(0)[1:11])]),
    ]
    for counter, noise in enumerate(garbage):
        mote.bursts.clear()
        if counter:
            noise = noise.replace(b"\xa2\x00", bytes([0xA2, counter]))
        play(mote, noise + accept(counter))
        assert mote.send(b"x") == ACCEPTED and len(mote.bursts) == 1 and mote.left_unread() == 0


def test_a_frame_of_another_mark_is_no_answer(mote: HostMote) -> None:
    real = accept(0)
    other = bytes([real[0] ^ 0x10]) + real[1:-1]
    play(mote, other + bytes([frames.crc8(other)]))
    assert mote.send(b"x") == UNCONFIRMED


def test_an_answer_without_its_first_byte_is_none_even_behind_another(mote: HostMote) -> None:
    forged = Frame(frames.ACCEPTED, 0, bytes(8)).encode(FRAME_BYTES)
    play(mote, forged, accept(0)[1:], forged, accept(0)[2:])
    assert mote.send(b"x") == UNCONFIRMED
    # Whatever lies where the answer is gathered, such as a frame of ours: its first byte is not the answer's.
    for counter, first in enumerate(range(0xA0, 0xB0), start=1):
        beginning = bytes([first, counter]) + bytes(9)
        play(mote, (beginning + bytes([frames.crc8(beginning)]))[1:])
        mote.bursts.clear()
        mote.send(bytes(LONGEST))
        assert [len(burst) for burst in mote.bursts[:2]] == [9, 2], hex(first)


def test_noise_holds_the_mote_for_four_hundred_bytes_at_most(mote: HostMote) -> None:
    noise = bytes(400 - FRAME_BYTES)
    play(mote, noise + accept(0), noise + b"\0" + accept(1))
    assert mote.send(b"x") == ACCEPTED
    play(mote, noise + b"\0" + accept(1))
    assert mote.send(b"x") == UNCONFIRMED and mote.patience.count(20) == 399 + 399
