"""Messages between a node and its gateway: retries, fragments, refusals, windows, the ends of counters."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import link_model as model
from link_pair import KEY, READING, SLOT_BYTES, TAKEN, Pair
from link_ports import FaultyLink, stream_packets
from motecrypt.link.native import (
    BROADCAST,
    COMMAND,
    CONFIRMED,
    FILE,
    GATEWAY,
    LISTENS,
    LONG,
    SHORT,
    STREAM,
    TAG_16,
    Event,
)

WAIT_MS = 100 + 7 * 5
"""Of node 5, where an answer may take 100 ms."""


def test_a_retry_is_the_same_bytes() -> None:
    pair = Pair()
    pair.in_step()
    for message, how in ((READING, CONFIRMED), (bytes(100), CONFIRMED)):
        pair.node.send(message, how)
        first = pair.node.packets()
        for turn in range(9):  # of a long one at first what names it and what asks for the rest, then all
            pair.now += WAIT_MS
            assert pair.node.poll(pair.now - 1) == Event.NOTHING and not pair.node.packets()
            assert pair.node.poll(pair.now) == Event.NOTHING
            assert pair.node.packets() == ([first[0], first[-1]] if len(first) > 1 and turn < 5 else first)
        assert pair.node.poll(pair.now + WAIT_MS) == Event.UNCONFIRMED
        pair.now += WAIT_MS


def test_missing_fragments_are_sent_again_and_only_progress_goes_on() -> None:
    pair = Pair()
    message = bytes(range(250))
    pair.node.send(message, CONFIRMED)
    packets = pair.node.packets()
    assert len(packets) == 10
    for index in (1, 2, 5, 9):
        pair.gateway.receive(packets[index])
    (missing,) = pair.gateway.packets()
    assert pair.node.receive(missing) == Event.NOTHING
    again = pair.node.packets()
    assert [packet[2] & 15 for packet in again] == [0, 3, 4, 6, 7, 8, 9]
    told = [pair.gateway.receive(packet) for packet in again[:-1]]
    assert told == 5 * [Event.NOTHING] + [Event.MESSAGE] and pair.gateway.message() == message
    for _ in range(30):
        if pair.node.receive(missing) == Event.UNCONFIRMED:
            break
    assert not pair.node.waiting, "an old answer brings no progress for ever"


def test_refused_moves_the_sender_on() -> None:
    pair = Pair()
    pair.in_step()
    pair.gateway.send(READING, CONFIRMED)
    assert pair.deliver(pair.gateway, pair.node) == [Event.MESSAGE, Event.ACCEPTED]
    assert pair.node.begin() == Event.NOTHING  # it noted 15 counters ahead
    pair.gateway.send(READING, CONFIRMED)
    assert pair.deliver(pair.gateway, pair.node) == [Event.REFUSED]
    pair.gateway.send(READING, CONFIRMED)
    assert pair.deliver(pair.gateway, pair.node) == [Event.MESSAGE, Event.ACCEPTED]


def test_a_counter_that_storage_did_not_keep_is_not_named_in_an_answer() -> None:
    """A restart would take it back, while the sender believes that both are synchronised."""
    pair = Pair()
    pair.in_step()
    for _ in range(200):
        pair.gateway.send(READING)
    pair.gateway.packets()
    pair.give_up(pair.gateway)
    pair.gateway.packets()
    pair.node.tester.stuck[:] = [0xFF] * len(pair.node.storage)
    pair.gateway.send(READING, CONFIRMED | LONG)
    packets = pair.gateway.packets()
    assert [pair.node.receive(packet) for packet in packets][-1] == Event.STORAGE
    assert [pair.node.receive(packet) for packet in packets][-1] == Event.NOTHING
    assert not pair.node.packets(), "neither accepted nor refused"
    pair.node.tester.stuck[:] = [0] * len(pair.node.storage)
    assert pair.node.begin() == Event.NOTHING
    assert pair.deliver(pair.gateway, pair.node) == []
    pair.now += 1000
    pair.gateway.poll(pair.now)
    assert Event.MESSAGE in pair.deliver(pair.gateway, pair.node)


@pytest.mark.parametrize(
    ("ahead", "moves"),
    [(0, 0), (1, 1), (63, 63), (64, 64), (1000, 1000), (0x1FFF, 0x1FFF), (0x2000, 0), (0x3FFF, 0)],
)
def test_refused_never_moves_the_sender_back(ahead: int, moves: int) -> None:
    """The receiver names 14 bits of the counter that it waits for: half of their range is behind."""
    node = Pair().node
    link = model.Model(1, KEY, 5, SHORT | LISTENS, 32, 1)
    counter = node.unused
    assert node.send(READING, CONFIRMED | LONG) == Event.WAITING
    packed, detail = link.long(0, counter, READING, CONFIRMED), node.unused + ahead & 0x3FFF
    assert list(packed.packets) == node.packets()
    before = node.unused
    refused = link.answer(0, counter, packed.full_tag, model.REFUSED, detail)
    assert node.receive(refused) == Event.REFUSED
    assert node.unused == before + moves


def test_a_node_that_hears_nothing_sends_every_32nd_message_long() -> None:
    pair = Pair(options=SHORT)
    kinds = []
    for _ in range(100):
        assert pair.node.send(READING) == Event.SENT
        (packet,) = pair.node.packets()
        kinds.append(packet[0] >> 6)
        assert pair.gateway.receive(packet) == Event.MESSAGE
    assert [at for at, kind in enumerate(kinds) if kind == 2] == [0, 32, 64, 96]
    for _ in range(2):
        assert pair.node.begin() == Event.NOTHING
        for kind in (2, 0):
            assert pair.node.send(READING) == Event.SENT
            assert [packet[0] >> 6 for packet in pair.node.packets()] == [kind], "the first after a start"
    for how in (CONFIRMED, COMMAND):
        assert pair.node.send(READING, how) == Event.TOO_LONG


def test_commands_parts_of_files_and_epochs_are_long_where_a_message_would_be_short() -> None:
    pair = Pair()
    pair.in_step()
    for end, other in ((pair.gateway, pair.node), (pair.node, pair.gateway)):
        for how, kind in ((0, 0), (CONFIRMED, 1), (COMMAND, 2), (FILE, 2), (COMMAND | CONFIRMED, 2)):
            assert end.send(b"x", how) == (Event.WAITING if how & CONFIRMED else Event.SENT)
            packets = end.packets()
            assert [packet[0] >> 6 for packet in packets] == [kind]
            told = [other.receive(packet) for packet in packets]
            assert kind == 2 or told == [Event.MESSAGE], "a short one is a message, whatever it says"
            if end.waiting:
                pair.give_up(end)
                end.packets()
                pair.in_step()
    assert pair.gateway.renew(1 << 18) == Event.WAITING
    assert {packet[0] >> 6 for packet in pair.gateway.packets()} == {2}


@pytest.mark.parametrize("phase", range(16))
@pytest.mark.parametrize("refused", [False, True])
def test_the_one_candidate_of_a_short_packet_is_right(phase: int, refused: bool) -> None:
    """Also after starts of a node, which has stored up to 15 counters ahead, and after a refusal."""
    for arrive in ((1, 17, 127), (2, 18, 126), (64, 80), (126,), (127,)):
        pair = Pair()
        pair.in_step()
        for _ in range(phase):
            pair.gateway.send(READING, LONG)
            pair.deliver(pair.gateway, pair.node)
        if refused:
            assert pair.node.begin() == Event.NOTHING
        assert pair.gateway.send(READING, CONFIRMED | LONG) == Event.WAITING
        answered = pair.gateway.counter
        late = pair.node.next > answered
        told = pair.deliver(pair.gateway, pair.node)
        assert told == ([Event.REFUSED] if late else [Event.MESSAGE, Event.ACCEPTED])
        base = pair.node.next - 1 if late else answered
        for number in range(1, 128):
            assert pair.gateway.send(READING) == Event.SENT
            (packet,) = pair.gateway.packets()
            if packet[0] >> 6 == 2:
                continue
            assert answered < base + number == pair.gateway.counter <= base + 127
            if number in arrive:
                event = pair.node.receive(packet)
                assert event == Event.MESSAGE and pair.node.failures == 0, (number, event)
                assert pair.node.begin() == Event.NOTHING
                assert answered < pair.node.next <= pair.gateway.counter + 16
        assert pair.gateway.send(READING) == Event.WAITING, "the next one is long and asks"


def test_a_broadcast_reaches_every_member_and_asks_nothing() -> None:
    pair = Pair()
    sender = pair.end(SHORT | LISTENS | GATEWAY, node=BROADCAST)
    members = [pair.end(SHORT | LISTENS, node=BROADCAST) for _ in range(3)]
    for number in range(40):
        assert sender.send(READING) == Event.SENT
        (packet,) = sender.packets()
        for member in members:
            assert member.receive(packet) == Event.MESSAGE
            member.answer(True)
            assert not member.packets(), number
    assert sender.send(READING, CONFIRMED) == sender.send(READING, COMMAND) == Event.TOO_LONG
    assert members[0].send(READING) == Event.TOO_LONG and sender.renew(9) == Event.TOO_LONG


def test_a_new_epoch_answers_nothing_of_the_old_one() -> None:
    pair = Pair()
    pair.in_step()
    pair.node.send(READING, CONFIRMED | LONG)
    assert [pair.gateway.receive(packet) for packet in pair.node.packets()][-1] == Event.MESSAGE
    assert pair.gateway.renew(1 << 18) == Event.WAITING
    assert all(packet[2] >> 4 & 3 == 2 for packet in pair.gateway.packets()), "the offer of the epoch"
    pair.gateway.answer(True)
    assert pair.gateway.packets() == []


def test_after_a_restored_backup_a_new_epoch_takes_nothing_old() -> None:
    pair = Pair()
    pair.in_step()
    backup, recorded = pair.gateway.storage, []
    for _ in range(30):
        pair.node.send(READING, CONFIRMED)
        packets = pair.node.packets()
        recorded += packets
        for packet in packets:
            assert pair.gateway.receive(packet) in TAKEN
        pair.gateway.answer(True)
        for packet in pair.gateway.packets():
            pair.node.receive(packet)
    assert pair.gateway.begin(backup) == Event.NOTHING
    assert pair.gateway.renew(1 << 18) == Event.WAITING
    offer = pair.gateway.packets()
    for packet in recorded:
        assert pair.gateway.receive(packet) not in TAKEN
    assert pair.gateway.failures == 0, "packets of the old epoch are no forgeries"
    told = [pair.node.receive(packet) for packet in offer]
    assert told[-1] == Event.RENEWED
    assert [pair.gateway.receive(packet) for packet in pair.node.packets()] == [Event.ACCEPTED]
    pair.in_step()


def test_blocks_that_storage_did_not_keep_are_too_far_for_a_short_packet() -> None:
    pair = Pair()
    pair.in_step()
    pair.node.tester.stuck[:] = [0xFF] * len(pair.node.storage)
    told = Event.SENT
    while told == Event.SENT:
        told = pair.node.send(READING)
    for _ in range(5):
        assert pair.node.send(READING) == Event.STORAGE
    pair.node.packets()
    pair.node.tester.stuck[:] = [0] * len(pair.node.storage)
    assert pair.node.send(READING) == Event.WAITING, "a long one, to be answered"
    assert pair.deliver(pair.node, pair.gateway) == [Event.MESSAGE, Event.ACCEPTED]


def test_counters_end_instead_of_going_round() -> None:
    link = model.Model(1, KEY, 5, SHORT | LISTENS, 32, 1)
    for send, more in ((2**32 - 1 - 64, 64), (2**32 - 64, 0), (2**32 - 1, 0)):
        made = FaultyLink()
        slots = 2 * link.slot(send, 2**32 - 1) + b"\xff" * 6 * SLOT_BYTES
        assert made.begin(link.key_block(False) + slots) == Event.NOTHING
        told = [made.send(READING, LONG) for _ in range(more + 2)]
        assert told == [Event.SENT] * more + [Event.USED_UP] * 2
        for packet in link.long(1, 2**32 - 1, READING, 0).packets:
            assert made.receive(packet) == Event.NOTHING


def test_a_stream_has_whole_packets() -> None:
    pair = Pair(options=SHORT | LISTENS | STREAM)
    assert pair.node.send(bytes(26), CONFIRMED) == Event.WAITING
    assert all(len(packet) == 32 for packet in pair.node.packets())


def test_a_stream_finds_packets_again_after_silence() -> None:
    def at(start: int, data: bytes) -> list[tuple[int, int]]:
        return [(start + index, byte) for index, byte in enumerate(data)]

    one, two, none = b"one packet12", b"two packets.", b"\xee" + bytes(11)
    assert stream_packets(12, at(100, one + two)) == [one, two], "one right behind the other"
    assert stream_packets(12, at(100, one[:7]) + at(126, two)) == [two], "20 ms of silence begin a packet"
    assert stream_packets(12, at(100, one[:7]) + at(125, one[7:] + two)) == [one, two], "19 ms do not"
    lost = at(100, one[1:] + two)
    assert stream_packets(12, lost) == [one[1:] + two[:1]], "out of step"
    assert stream_packets(12, at(100, none + one) + at(200, two)) == [none, two], (
        "and skipping to the silence"
    )
    assert stream_packets(12, at(65530, one[:6]) + at(65536 + 25, two)) == [two], "the clock goes round"


def test_late_messages_come_within_the_window_once() -> None:
    pair = Pair()
    pair.in_step()
    packets = []
    for _ in range(40):
        pair.node.send(READING)
        packets += pair.node.packets()
    newest = 30
    assert pair.gateway.receive(packets[newest]) == Event.MESSAGE
    for late, taken in ((15, True), (16, False), (1, True), (8, True), (30, False)):
        events = [pair.gateway.receive(packets[newest - late]) for _ in range(2)]
        assert events == [Event.MESSAGE if taken else Event.NOTHING, Event.NOTHING], late
    assert pair.gateway.receive(packets[newest + 3]) == Event.MESSAGE
    for late, taken in ((4, False), (11, False), (12, True), (16, False), (1, True), (2, True)):
        event = pair.gateway.receive(packets[newest + 3 - late])
        assert event == (Event.MESSAGE if taken else Event.NOTHING), late
    assert pair.gateway.failures == 0


@pytest.mark.parametrize("options", [SHORT | LISTENS, SHORT | LISTENS | STREAM, LISTENS | TAG_16])
def test_the_longest_message_goes_and_no_longer_one(options: int) -> None:
    pair = Pair(options=options)
    longest = 15 * (32 - 3) - 4 - (16 if options & TAG_16 else 8)
    assert pair.node.send(bytes(longest + 1)) == Event.TOO_LONG and not pair.node.packets()
    assert pair.node.send(bytes(longest)) == Event.SENT and len(pair.node.packets()) == 15
    pair.in_step()
    (kinds,) = {packet[0] >> 6 for packet in _sent(pair, bytes(26))}
    assert kinds == (0 if options & SHORT else 2)
    assert {packet[0] >> 6 for packet in _sent(pair, bytes(27))} == {2}
    short = {packet[0] >> 6 for packet in _sent(pair, bytes(25))}
    assert short == ({0} if options == SHORT | LISTENS else {2})


def _sent(pair: Pair, message: bytes) -> list[bytes]:
    pair.node.send(message)
    packets = pair.node.packets()
    if pair.node.waiting:
        pair.give_up(pair.node)
        pair.node.packets()
        pair.in_step()
    return packets


@pytest.mark.parametrize("before", [0, 1])
def test_the_first_fragment_alone_is_progress(before: int) -> None:
    pair = Pair()
    now = 0
    for _ in range(before + 1):  # again for each message
        pair.node.send(bytes(15 * 29 - 12), CONFIRMED)
        packets = pair.node.packets()
        assert len(packets) == 15
        for packet in (packets[0], packets[14]):
            pair.gateway.receive(packet)
        (missing,) = pair.gateway.packets()
        assert missing[2:4] == bytes([1 << 2 | 2, 0]), "the word has no place for the fifteenth"
        for turn in range(10):
            now += WAIT_MS
            assert pair.node.poll(now) == Event.NOTHING
            if turn == 4:
                assert pair.node.receive(missing) == Event.NOTHING, "and gives a try back"
        now += WAIT_MS
        assert pair.node.poll(now) == Event.UNCONFIRMED, "but one"
        pair.node.packets()


def test_old_answers_in_turn_are_no_progress() -> None:
    pair = Pair()
    pair.node.send(bytes(250), CONFIRMED)
    packets, told = pair.node.packets(), []
    for first in (0, 1):
        assert pair.gateway.begin() == Event.NOTHING
        for packet in (packets[first], packets[9]):
            pair.gateway.receive(packet)
        told += pair.gateway.packets()
    for turn in range(2, 14):
        event = pair.node.receive(told[turn % 2])
        pair.node.packets()
    assert event == Event.UNCONFIRMED, "two that brought progress, then ten"


@pytest.mark.parametrize("options", [0, TAG_16])
def test_an_offer_that_lost_a_fragment_is_no_forgery_and_goes_again_whole(options: int) -> None:
    """A node that lacks a part of it can answer only under the key of its old epoch."""
    for lost in range(3 if options else 2):
        pair = Pair(options=SHORT | LISTENS | options, packet_bytes=12)
        pair.in_step()
        assert pair.gateway.renew(1 << 18) == Event.WAITING
        offer = pair.gateway.packets()
        assert len(offer) == (3 if options else 2)
        for packet in offer[:lost] + offer[lost + 1 :]:
            assert pair.node.receive(packet) == Event.NOTHING
        for packet in pair.node.packets():
            assert pair.gateway.receive(packet) == Event.NOTHING
            changed = packet[:4] + bytes([packet[4] ^ 1]) + packet[5:]
            assert pair.gateway.receive(changed) == Event.NOTHING
        assert pair.gateway.packets() == []
        assert pair.gateway.poll(1000) == Event.NOTHING
        again = pair.gateway.packets()
        assert again == offer
        assert Event.RENEWED in [pair.node.receive(packet) for packet in again]
        accepted = pair.node.packets()[0]
        wrong = accepted[:4] + bytes([accepted[4] ^ 1]) + accepted[5:]
        assert [pair.gateway.receive(each) for each in (wrong, accepted)] == [Event.FORGED, Event.ACCEPTED]
