"""The receiver's half alone: which fragments it keeps, what it answers to each, and what it counts."""

from __future__ import annotations

import pytest

from motecrypt.errors import InputError
from motecrypt.link import MemoryStore, Receiver, Timing, Window, frames
from motecrypt.link.frames import ACCEPTED, DATA, LAST, REFUSED, STATUS, Frame, FrameReader
from motecrypt.link.receiver import REMEMBERED, SLOTS
from motecrypt.link.sealing import ACCEPTANCE, REFUSAL, Sealer
from motecrypt.radios import load_radio

KEY = bytes(range(16))
STREAM = 0x80000007
LENGTH = 12


class End:
    """A receiver, what it handed over, and its answers as frames."""

    def __init__(self) -> None:
        self.got: list[tuple[bytes, int, int]] = []
        self.store = MemoryStore()
        self.restart()

    def restart(self) -> None:
        window = Window(self.store)
        self.receiver = Receiver(KEY, window, LENGTH, lambda m, s, c: self.got.append((m, s, c)))

    def feed(self, *given: Frame) -> list[Frame]:
        self.receiver.feed(b"".join(frame.encode(LENGTH) for frame in given))
        return list(FrameReader(LENGTH).feed(self.receiver.take_output()))


@pytest.fixture
def end() -> End:
    return End()


def message(counter: int, content: bytes = bytes(30), stream: int = STREAM) -> list[Frame]:
    """The frames of a message, the last as LAST."""
    pieces = frames.fragments(Sealer(KEY).seal(stream, counter, content), LENGTH)
    kinds = [DATA] * (len(pieces) - 1) + [LAST]
    return [
        Frame(kind, counter & 0xFF, bytes([index]) + piece)
        for index, (kind, piece) in enumerate(zip(kinds, pieces, strict=True))
    ]


def answer(kind: int, counter: int, stream: int = STREAM) -> Frame:
    proof = Sealer(KEY).answer(ACCEPTANCE if kind == ACCEPTED else REFUSAL, stream, counter)
    return Frame(kind, counter & 0xFF, proof + b"\0")


def status(counter: int, base: int, *here: int) -> Frame:
    bits = sum(1 << (index - base - 1) for index in here)
    return Frame(STATUS, counter & 0xFF, bytes([base]) + bits.to_bytes(8, "little"))


def test_a_whole_message_is_handed_over_once_and_accepted(end: End) -> None:
    whole = message(5)
    assert len(whole) == 6
    assert end.feed(*whole) == [answer(ACCEPTED, 5)]
    assert end.got == [(bytes(30), STREAM, 5)]
    tally = end.receiver.tally
    assert (tally.accepted, tally.frames, tally.answers, tally.repeats, tally.not_genuine) == (1, 6, 1, 0, 0)


def test_any_order_will_do_and_only_the_last_asks(end: End) -> None:
    first, *middle, last = message(5)
    assert end.feed(last) == [status(5, 0, 5)]
    assert end.feed(*reversed(middle)) == []
    assert end.feed(first) == [answer(ACCEPTED, 5)]
    assert end.receiver.tally.answers == 2


@pytest.mark.parametrize("missing", [{0}, {1}, {0, 1, 2, 3, 4}, {2, 4}, {1, 2, 3}])
def test_a_status_names_the_first_that_is_missing_and_what_is_here_behind_it(
    end: End, missing: set[int]
) -> None:
    here = [frame for frame in message(5) if frame.body[0] not in missing]
    base = min(missing)
    assert end.feed(*here) == [status(5, base, *(i for i in range(base + 1, 6) if i not in missing))]


def test_a_long_messages_status_has_a_bit_for_each_of_64(end: End) -> None:
    whole = message(5, bytes(700))
    assert len(whole) > 80
    (told,) = end.feed(*(frame for frame in whole if frame.body[0] not in (3, 9, 67, 68)))
    here = sum(1 << (index - 4) for index in range(4, 68) if index not in (9, 67))
    assert told.body == bytes([3]) + here.to_bytes(8, "little")


def test_a_replay_is_answered_as_the_message_was(end: End) -> None:
    whole = message(5)
    end.feed(*whole)
    assert end.feed(whole[0]) == [answer(ACCEPTED, 5)]
    assert end.feed(whole[-1]) == [answer(ACCEPTED, 5)]
    assert end.receiver.tally.repeats == 1 and end.receiver.tally.accepted == 1
    # After a crash only the first fragment, which names the message in full, tells that it is known; and
    # whether the program had it was not written yet.
    end.restart()
    assert end.feed(whole[0]) == [answer(REFUSED, 5)]
    assert end.feed(whole[-1]) == [answer(REFUSED, 5)]
    assert end.got == [(bytes(30), STREAM, 5)]


def test_a_message_whose_pieces_are_known_but_not_its_first_is_not_handed_over_twice(end: End) -> None:
    whole = message(5)
    end.feed(*whole)
    for counter in range(6, 6 + REMEMBERED + 1):
        end.feed(*message(counter))
    first, *rest = whole
    assert end.feed(*rest) == [status(5, 0, 1, 2, 3, 4, 5)]
    assert end.feed(first) == [answer(ACCEPTED, 5)]
    assert len(end.got) == REMEMBERED + 2 and end.receiver.tally.repeats == 1


def test_the_ends_of_the_last_messages_are_remembered(end: End) -> None:
    ends = []
    for counter in range(REMEMBERED + 1):
        whole = message(counter)
        ends.append(whole[-1])
        end.feed(*whole)
    assert end.feed(ends[0]) == [status(0, 0, 5)]
    for counter in range(1, REMEMBERED + 1):
        assert end.feed(ends[counter]) == [answer(ACCEPTED, counter)]


def test_so_many_messages_are_gathered_at_a_time(end: End) -> None:
    messages = [message(counter) for counter in range(SLOTS + 1)]
    for whole in messages[:SLOTS]:
        end.feed(*whole[:3])
    end.feed(messages[0][3])  # touched last: not the one that goes
    end.feed(*messages[SLOTS][:3])
    assert end.feed(*messages[0][4:]) == [answer(ACCEPTED, 0)]
    assert end.feed(*messages[1][3:]) == [status(1, 0, 3, 4, 5)]
    assert end.feed(*messages[3][3:]) == [answer(ACCEPTED, 3)]


def test_a_forged_piece_makes_the_message_fail_and_be_sent_again(end: End) -> None:
    whole = message(5)
    forged = Frame(DATA, 5, bytes([2]) + b"forgery!")
    assert end.feed(whole[0], whole[1], forged, whole[3], whole[4], whole[5]) == [status(5, 0)]
    assert end.receiver.tally.not_genuine == 1 and not end.got
    assert end.feed(*whole) == [answer(ACCEPTED, 5)]
    assert end.receiver.tally.not_genuine == 1 and len(end.got) == 1


def test_another_piece_in_the_same_place_begins_again(end: End) -> None:
    whole, other = message(5), message(5 + 256, bytes(range(30)))
    end.feed(*whole[:4])
    assert end.feed(other[1]) == []
    assert end.feed(other[-1]) == [status(5, 0, 1, 5)]
    assert end.feed(other[0], *other[2:5]) == [answer(ACCEPTED, 261)]
    assert end.got == [(bytes(range(30)), STREAM, 261)]


def test_a_piece_behind_the_last_begins_again_and_a_last_drops_what_is_behind_it(end: End) -> None:
    long, short = message(5, bytes(60)), message(5 + 256, bytes(14))
    assert (len(long), len(short)) == (10, 4)
    end.feed(short[3], short[2])
    end.feed(long[7])
    assert end.feed(long[9]) == [status(5, 0, 7, 9)]
    # The end of a shorter message at a place that was free: what lies behind it is of another.
    end.restart()
    end.feed(long[7])
    assert end.feed(short[3]) == [status(5, 0, 3)]
    assert end.feed(*short[:3]) == [answer(ACCEPTED, 261)]


def test_closing_takes_nothing_new_but_still_answers_for_what_it_has(end: End) -> None:
    known, new = message(5), message(6)
    end.feed(*known)
    end.feed(*new[:3])
    end.receiver.closing = True
    assert end.feed(*new) == [] and end.feed(*message(7)) == []
    assert end.feed(known[0]) == [answer(ACCEPTED, 5)] and end.feed(known[-1]) == [answer(ACCEPTED, 5)]
    assert len(end.got) == 1
    assert end.feed(message(8, b"")[0]) == []


def test_answers_and_noise_are_no_fragments(end: End) -> None:
    assert end.feed(answer(ACCEPTED, 5), answer(REFUSED, 5), status(5, 0)) == []
    assert end.receiver.tally.frames == 0
    end.receiver.feed(b"noise that is no frame")
    end.feed(*message(6))
    assert end.receiver.skipped_bytes == len(b"noise that is no frame") and len(end.got) == 1


def test_a_program_that_crashes_with_a_message_gets_it_refused_later() -> None:
    end = End()

    def crash(content: bytes, stream: int, counter: int) -> None:
        raise KeyboardInterrupt

    end.receiver = Receiver(KEY, Window(end.store), LENGTH, crash)
    with pytest.raises(KeyboardInterrupt):
        end.feed(*message(5))
    end.restart()
    assert end.feed(*message(5)) == [answer(REFUSED, 5), status(5, 0, 1, 2, 3, 4, 5)]
    assert not end.got


# --- frames and deadlines


@pytest.mark.parametrize("packet_bytes", [-1, 0, 256, 1000])
def test_packets_that_the_link_does_not_take(packet_bytes: int) -> None:
    with pytest.raises(InputError, match="1 to 255"):
        frames.frame_bytes(packet_bytes)


def test_the_ends_of_what_the_link_takes() -> None:
    assert (frames.frame_bytes(1), frames.frame_bytes(255), frames.frame_bytes(11)) == (12, 255, 22)
    assert frames.largest_message_bytes(12) == 255 * 8 - 17
    assert frames.largest_message_bytes(255) == 255 * 251 - 17
    longest = message(5, bytes(frames.largest_message_bytes(12)))
    assert [frame.body[0] for frame in longest] == list(range(255))
    assert End().feed(*longest) == [answer(ACCEPTED, 5)]


def test_a_frame_byte_by_byte() -> None:
    encoded = Frame(LAST, 0x5A, bytes([3]) + b"content").encode(LENGTH)
    assert encoded == b"\xa1\x5a\x03content\x00" + bytes([frames.crc8(b"\xa1\x5a\x03content\x00")])
    assert frames.crc8(encoded) == 0


@pytest.mark.parametrize("first", [0x90, 0xB0, 0xA5, 0xAF, 0x20, 0x00])
def test_only_known_kinds_behind_the_mark_are_frames(first: int) -> None:
    body = bytes([first]) + bytes(10)
    reader = FrameReader(LENGTH)
    assert not list(reader.feed(body + bytes([frames.crc8(body)])))
    assert reader.skipped_bytes == 1
    for kind in range(5):
        assert [f.kind for f in FrameReader(LENGTH).feed(Frame(kind, 1, b"\1").encode(LENGTH))] == [kind]


def test_a_reader_keeps_half_frames_and_counts_what_it_skips() -> None:
    reader, whole = FrameReader(LENGTH), Frame(DATA, 9, b"\1").encode(LENGTH)
    found = [frame for byte in b"xyz" + whole + whole for frame in reader.feed(bytes([byte]))]
    assert [frame.message for frame in found] == [9, 9] and reader.skipped_bytes == 3


def test_fragments_carry_an_end_mark_and_are_as_few_as_can_be() -> None:
    assert frames.fragments(b"", LENGTH) == [b"\x80" + bytes(7)]
    assert frames.fragments(bytes(7), LENGTH) == [bytes(7) + b"\x80"]
    assert frames.fragments(bytes(8), LENGTH) == [bytes(8), b"\x80" + bytes(7)]
    assert frames.joined([bytes(8)]) is None and frames.joined([b"\x81" + bytes(7)]) is None
    assert frames.joined([b"ab\x80\0"]) == b"ab" and frames.joined([]) is None


def test_deadlines_of_a_radio_by_hand() -> None:
    # 12-byte packets, 86.8 us a byte on the serial line, and the radio's own figures.
    radio = load_radio("srf")
    timing = Timing.of(radio)
    from motecrypt.radios.air import air_time_us

    air_us = air_time_us(radio, 12) + radio.value("gap_us")
    line_us = 12 * radio.serial_byte_us
    assert timing.frame_us == max(line_us, air_us)
    once_us = 2 * line_us + air_us + radio.value("turn_round_us") + timing.frame_us
    assert timing.round_trip_us == 2 * once_us
    assert (timing.packet_bytes, timing.slack_us, timing.tries) == (12, 100_000.0, 10)
    assert (Timing(12, 1, 1).slack_us, Timing(12, 1, 1).tries) == (100_000.0, 10)
    four = Timing.of(radio.with_figures(packet_bytes=4), slack_us=5, tries=3)
    small_us = max(4 * radio.serial_byte_us, air_time_us(radio, 4) + radio.value("gap_us"))
    assert four.frame_us == pytest.approx(3 * small_us) and (four.slack_us, four.tries) == (5, 3)


def test_how_much_a_receiver_keeps() -> None:
    assert (SLOTS, REMEMBERED) == (4, 8)
