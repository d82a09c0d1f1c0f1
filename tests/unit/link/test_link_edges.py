"""The link core at its edges: packets cut or made by hand, small buffers, broken storage, late answers.

The model makes packets that a correct end would never send. Each test returns the event, and any bytes sent.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import link_model as model
from link_ports import WITH_AD, FaultyLink
from motecrypt.link.native import COMMAND, CONFIRMED, LISTENS, LONG, SHORT, STREAM, Event, Suite

LINK = model.Model(1, bytes(range(16)), 5, SHORT | LISTENS, 32, 1)
UP, DOWN = 0, 1
PIECE = 32 - 3
SHORT_HEAD, LONG_HEAD = 0x00 | 5, 0x80 | 5
LAST = 0x80
ERASED = b"\xff" * 20
READING = b"21.4 C"
NO_SHORT = 0x8000


def end(
    gateway: bool, send: int = 0, receive: int = 0, failures: int = 0, link: model.Model = LINK
) -> FaultyLink:
    """An end that has been at work before."""
    made = FaultyLink()
    slots = 2 * link.slot(send, receive, failures) + 6 * ERASED
    assert made.begin(link.key_block(gateway) + slots) is Event.NOTHING
    return made


def break_storage(made: FaultyLink) -> None:
    """From now on no cell changes."""
    made.tester.stuck[:] = [0xFF] * len(made.tester.stuck)


def take(made: FaultyLink, packed: model.Packed) -> Event:
    """What the last packet of a message brings."""
    *first, last = packed.packets
    assert {made.receive(packet) for packet in first} <= {Event.NOTHING}
    return made.receive(last)


def word(packet: bytes) -> tuple[int, int]:
    """An answer's outcome and the fourteen bits next to it."""
    number = int.from_bytes(packet[2:4], "little")
    return number & 3, number >> 2


# --- answers, at the end that gives them


@pytest.mark.parametrize("taken", [True, False])
def test_a_message_is_answered_once(taken: bool) -> None:
    made = end(True, receive=7)
    packed = LINK.long(UP, 7, READING, CONFIRMED)
    assert take(made, packed) is Event.MESSAGE
    made.answer(taken)
    outcome = (model.ACCEPTED, 0) if taken else (model.REFUSED, 8)
    assert made.packets() == [LINK.answer(UP, 7, packed.full_tag, *outcome)]
    for again in (True, False):
        made.answer(again)
    assert made.packets() == []


def test_what_comes_next_ends_the_time_for_an_answer() -> None:
    """Unless it is too short for a packet, too long for one, or another node's."""
    for packet, answers in (
        (bytes([LONG_HEAD, 8]), 1),
        (bytes([LONG_HEAD, 8, 1]) + bytes(PIECE + 1), 1),
        (bytes([LONG_HEAD + 1, 8, 1]), 1),
        (bytes([LONG_HEAD, 8, 1]), 0),
        (bytes([LONG_HEAD, 8, 1]) + bytes(PIECE), 0),
    ):
        made = end(True)
        assert take(made, LINK.long(UP, 0, READING, CONFIRMED)) is Event.MESSAGE
        assert made.receive(packet) is Event.NOTHING
        made.answer(True)
        assert len(made.packets()) == answers, packet


def test_only_the_message_taken_last_is_accepted_again() -> None:
    made = end(True)
    packed = [LINK.long(UP, counter, READING, CONFIRMED) for counter in range(4)]
    for message, taken in zip(packed, (True, True, False, True), strict=True):
        assert take(made, message) is Event.MESSAGE
        made.answer(taken)
    made.packets()
    # Once it was asked about another one, it no longer knows.
    for counter, accepted in ((3, True), (3, True), (1, False), (2, False), (3, False)):
        assert take(made, packed[counter]) is Event.NOTHING
        outcome = (model.ACCEPTED, 0) if accepted else (model.REFUSED, 4)
        assert made.packets() == [LINK.answer(UP, counter, packed[counter].full_tag, *outcome)]


# --- answers, at the end that gets them


def test_every_bit_of_an_answer_counts() -> None:
    made = end(False)
    assert made.send(READING, CONFIRMED | LONG) is Event.WAITING
    packed = LINK.long(UP, 0, READING, CONFIRMED)
    assert made.packets() == list(packed.packets)
    right = LINK.answer(UP, 0, packed.full_tag, model.ACCEPTED, 0)
    for bit in range(8, 8 * len(right)):
        changed = bytearray(right)
        changed[bit // 8] ^= 1 << bit % 8
        # With another counter it is the answer to something else, and that is no forgery.
        assert made.receive(bytes(changed)) is (Event.NOTHING if bit < 16 else Event.FORGED), bit
    assert made.receive(right[:-1]) is Event.NOTHING
    assert made.receive_told(right, len(right) - 1) is Event.NOTHING
    assert made.waiting and made.packets() == []
    assert made.receive(right + b"\0") is Event.ACCEPTED, "on a stream zeros follow"
    assert made.receive(right) is Event.NOTHING, "nothing waits for it any more"


def test_an_answer_that_asks_for_fragments_starts_the_wait_anew() -> None:
    made = end(False)
    assert made.send(bytes(60), CONFIRMED) is Event.WAITING
    sent = made.packets()
    assert len(sent) == 3
    wait_ms = 100 + 7 * LINK.node
    made.at(60)
    missing = LINK.answer(UP, 0, b"", model.MISSING, 0b101)
    assert made.receive(missing) is Event.NOTHING and made.packets() == sent[1:]
    assert made.poll(59 + wait_ms) is Event.NOTHING and made.packets() == []
    assert made.poll(60 + wait_ms) is Event.NOTHING and made.packets() == [sent[0], sent[2]]
    assert made.poll(59 + 2 * wait_ms) is Event.NOTHING and made.packets() == []


def test_whether_short_packets_are_over_is_kept_once_each_time() -> None:
    made = end(False, failures=64)
    for counter, (detail, failures) in enumerate(
        ((0, 64), (1, NO_SHORT | 64), (1, NO_SHORT | 64), (0, 64), (0, 64), (1, NO_SHORT | 64))
    ):
        assert made.send(READING, CONFIRMED | LONG) is Event.WAITING
        made.packets()
        writes = made.tester.writes
        tag = LINK.long(UP, counter, READING, CONFIRMED).full_tag
        assert made.receive(LINK.answer(UP, counter, tag, model.ACCEPTED, detail)) is Event.ACCEPTED
        assert made.failures == failures and (made.tester.writes > writes) == (counter in (1, 3, 5))
    assert made.begin() is Event.NOTHING and made.failures == NO_SHORT | 64


@pytest.mark.parametrize("before", [0, 1, 30, 62, 63, 64, 65, 127])
def test_a_mark_that_storage_does_not_keep_uses_no_counter(before: int) -> None:
    made = end(False)
    for _ in range(before):
        assert made.send(READING, LONG) is Event.SENT
    assert made.send(READING, CONFIRMED | LONG) is Event.WAITING
    made.packets()
    break_storage(made)
    tag = LINK.long(UP, before, READING, CONFIRMED).full_tag
    assert made.receive(LINK.answer(UP, before, tag, model.ACCEPTED, 1)) is Event.ACCEPTED
    last = before
    while made.send(READING, LONG) is Event.SENT:
        last = made.counter
    made.tester.stuck[:] = [0] * len(made.storage)
    assert made.begin() is Event.NOTHING and made.unused > last, "none comes again"


@pytest.mark.parametrize("failed", range(1, 9))
def test_saves_that_fail_leave_both_good_copies(failed: int) -> None:
    for slots in range(8):
        made = end(False)
        for _ in range(64 * slots + 1):
            assert made.send(READING, LONG) is Event.SENT
        used, storage = made.unused, made.storage
        made.tester.stuck[28:] = [0xFE] * (len(storage) - 28)  # a bit changes: what is written is torn
        for _ in range(failed):
            while made.send(READING, LONG) is Event.SENT:
                used = made.unused
        made.tester.stuck[:] = [0] * len(storage)
        assert made.begin() is Event.NOTHING and made.unused >= used, slots


# --- sending


def test_a_node_in_step_sends_127_messages_and_then_asks() -> None:
    made = end(False)
    assert made.since == 255
    assert made.send(READING) is Event.WAITING, "at first a long one, which is to be answered"
    made.packets()
    packed = LINK.long(UP, 0, READING, CONFIRMED)
    assert made.receive(LINK.answer(UP, 0, packed.full_tag, model.ACCEPTED, 0)) is Event.ACCEPTED
    assert made.since == 0
    for counter in range(1, 128):
        assert made.send(READING) is Event.SENT
        short, long = LINK.short(UP, counter, READING, False), LINK.long(UP, counter, READING, 0)
        assert made.packets() == list((short if counter % 32 else long).packets)
    for counter in (128, 129):
        assert made.send(READING) is Event.WAITING
        packed = LINK.long(UP, counter, READING, CONFIRMED)
        assert made.packets() == list(packed.packets) and made.since == 128
        now = 0
        while counter == 128 and made.poll(now) is not Event.UNCONFIRMED:
            now += 100
            made.packets()
    refused = LINK.answer(UP, 129, packed.full_tag, model.REFUSED, 130)
    assert made.receive(refused) is Event.REFUSED and made.since == 0
    assert made.send(READING) is Event.SENT
    assert made.begin() is Event.NOTHING and made.since == 255


def test_on_a_stream_zeros_fill_the_last_packet_whatever_lay_there() -> None:
    link = replace(LINK, options=SHORT | LISTENS | STREAM)
    made = end(False, link=link)
    for counter, length in enumerate((80, 1, 0, 16, 17, 18, 46)):
        message = bytes([0xEE]) * length
        assert made.send(message, LONG) is Event.SENT
        assert made.packets() == list(link.long(UP, counter, message, 0).packets), length


@pytest.mark.parametrize(
    ("options", "written"), [(SHORT | LISTENS, 32), (SHORT | LISTENS | STREAM, 2 * PIECE)]
)
def test_sending_writes_no_further_than_its_packets_reach(options: int, written: int) -> None:
    link = replace(LINK, options=options)
    made = end(False, link=link)
    message = bytes(range(20))
    left = made.send_in(200, message, LONG)
    sent = link.long(UP, 0, message, 0)
    content = b"".join(packet[3:] for packet in sent.packets)
    assert len(content) == written and made.packets() == list(sent.packets)
    assert left[19 : 19 + written] == content and left[19 + written :] == bytes([0xA5]) * (181 - written)
    assert left[:16] == sent.full_tag and left[18] == 0, "the counter's lowest byte"


@pytest.mark.parametrize("suite", ["aes128-ccm", "ascon-aead128"])
def test_a_cipher_that_could_have_associated_data_gets_none(suite: Suite) -> None:
    link = replace(LINK, suite=model.SUITES[suite])
    made = FaultyLink(suite, WITH_AD)
    assert made.begin(link.key_block(False) + 2 * link.slot(0, 0) + 6 * ERASED) is Event.NOTHING
    assert made.send(READING, LONG) is Event.SENT
    assert made.packets() == list(link.long(UP, 0, READING, 0).packets)
    assert take(made, link.long(DOWN, 0, READING, 0)) is Event.MESSAGE


def test_a_gateway_that_cannot_send_down_sends_nothing_but_plain_messages() -> None:
    link = replace(LINK, options=SHORT)
    made = end(True, link=link)
    for how in (CONFIRMED, COMMAND, CONFIRMED | LONG, 0x02, 0x80):
        assert made.send(READING, how) is Event.TOO_LONG
    assert made.renew(1) is Event.TOO_LONG and made.packets() == []
    assert made.send(READING, LONG) is Event.SENT
    assert made.packets() == list(link.long(DOWN, 0, READING, 0).packets)


# --- epochs


def test_an_epoch_is_told_again_and_none_goes_back() -> None:
    link = replace(LINK, epoch=7, salt=0x0102)
    made = end(True, 64, 3, link=link)
    assert made.send(READING, LONG) is Event.SENT
    made.packets()
    storage = made.storage
    assert made.renew(6) is Event.TOO_LONG and end(False).renew(9) is Event.TOO_LONG
    assert made.renew(7, 0x0102) is Event.WAITING
    packed = link.long(DOWN, 7, b"\2\1", 0x60)
    assert made.packets() == list(packed.packets)
    assert (made.storage, made.unused, made.next) == (storage, 65, 3), "nothing begins anew"
    for packet in packed.packets:
        assert made.receive(packet) is Event.NOTHING
    assert made.packets() == [] and made.waiting, "its own offer, sent back"
    later = link.long(DOWN, 8, b"", 0x60)
    assert take(made, later) is Event.NOTHING and made.epoch == 7 and made.packets() == []


@pytest.mark.parametrize(
    ("offered", "taken"),
    [((6 << 18) + 9, False), (7 << 18, False), (0x1FFFFF, False), (8 << 18, True), (0xFFFFFFFF, True)],
)
def test_a_node_takes_an_epoch_of_a_greater_number_only(offered: int, taken: bool) -> None:
    """With greater random bits, too, another one of its number is refused: somebody may have held it back."""
    own = replace(LINK, epoch=(7 << 18) + 8, salt=3)
    node = end(False, 64, 3, link=own)
    offer = replace(LINK, epoch=offered, salt=4).long(DOWN, offered, b"\4\0", 0x60)
    assert take(node, offer) is (Event.RENEWED if taken else Event.NOTHING)
    (answer,) = node.packets()
    words = (model.ACCEPTED, 0) if taken else (model.REFUSED, 7)
    assert answer == replace(LINK, epoch=offered, salt=4).answer(DOWN, offered, offer.full_tag, *words)
    assert (node.epoch, node.salt) == ((offered, 4) if taken else ((7 << 18) + 8, 3))


def test_in_a_new_epoch_nothing_of_the_old_one_is_left() -> None:
    gateway, node = end(True, 64, 3), end(False, 64, 3)
    for made, direction in ((gateway, UP), (node, DOWN)):
        assert made.send(READING) is Event.WAITING
        made.packets()
        tag = LINK.long(1 - direction, 64, READING, CONFIRMED).full_tag
        answer = LINK.answer(1 - direction, 64, tag, model.ACCEPTED, 0)
        assert made.receive(answer) is Event.ACCEPTED and made.since == 0, "in step"
        assert made.receive(bytes([SHORT_HEAD, 3]) + bytes(8)) is Event.FORGED
        assert made.failures == 1
        assert take(made, LINK.long(direction, 3, READING, 0)) is Event.MESSAGE
    assert node.send(READING, CONFIRMED) is Event.WAITING
    node.packets()
    epoch = (1 << 18) + 9
    assert gateway.renew(epoch) is Event.WAITING
    link = replace(LINK, epoch=epoch, salt=0x5A17)
    offer = link.long(DOWN, epoch, b"\x17\x5a", 0x60)
    assert gateway.packets() == list(offer.packets)
    assert take(node, offer) is Event.RENEWED and not node.waiting
    (answer,) = node.packets()
    assert answer == link.answer(DOWN, epoch, offer.full_tag, model.ACCEPTED, 0)
    assert gateway.receive(answer) is Event.ACCEPTED
    assert take(node, offer) is Event.NOTHING and node.packets() == [answer], "answered again"
    assert take(node, link.long(DOWN, epoch, b"?", 0x60)) is Event.NOTHING and len(node.packets()) == 1
    for made, gateways, direction in ((gateway, True, UP), (node, False, DOWN)):
        assert (made.unused, made.next, made.failures, made.epoch, made.since) == (0, 0, 0, epoch, 255)
        first = link.slot(0, 0)
        assert made.storage.startswith(link.key_block(gateways)) and made.storage.count(first) == 2
        assert take(made, link.long(direction, 0, READING, 0)) is Event.MESSAGE
        assert made.receive(bytes([SHORT_HEAD, 3]) + bytes(8)) is Event.FORGED
        assert made.failures == 1, "failures are counted anew"
        assert made.send(READING) is Event.WAITING, "and the first message is long and asks"
        assert made.packets() == list(link.long(1 - direction, 0, READING, CONFIRMED).packets)


def test_storage_that_breaks_ends_what_it_must() -> None:
    made = end(True)
    break_storage(made)
    assert made.renew(9) is Event.STORAGE and made.packets() == []
    made = end(False)
    break_storage(made)
    assert take(made, replace(LINK, epoch=1 << 18).long(DOWN, 1 << 18, b"", 0x60)) is Event.STORAGE
    assert made.packets() == []
    made = end(True)
    break_storage(made)
    assert take(made, LINK.long(UP, 0, READING, CONFIRMED)) is Event.STORAGE
    made.answer(True)
    assert made.packets() == [], "what was not handed over is not answered"
    made = end(True, receive=3)
    break_storage(made)
    forged = bytes([SHORT_HEAD, 3]) + bytes(8)
    assert made.receive(forged) is Event.FORGED and made.failures == 4096
    assert made.receive(forged) is Event.BOUND, "what cannot be counted ends at once"


@pytest.mark.parametrize(
    ("gateway", "counter", "kept"),
    [
        (False, 0, 16),
        (False, 2**32 - 18, 2**32 - 2),
        (False, 2**32 - 17, 2**32 - 1),
        (False, 2**32 - 16, 2**32 - 15),
        (False, 2**32 - 2, 2**32 - 1),
        (True, 0, 1),
        (True, 2**32 - 17, 2**32 - 16),
    ],
)
def test_a_node_notes_counters_ahead_and_a_gateway_each(gateway: bool, counter: int, kept: int) -> None:
    made = end(gateway, receive=counter)
    direction = UP if gateway else DOWN
    assert take(made, LINK.long(direction, counter, READING, 0)) is Event.MESSAGE
    assert made.next == counter + 1
    writes = made.tester.writes
    for later in range(counter + 1, kept if gateway else kept - 1):
        assert take(made, LINK.long(direction, later, READING, 0)) is Event.MESSAGE
    assert made.tester.writes == writes, "until those are used"
    assert made.begin() is Event.NOTHING and made.next == kept


# --- what comes in


@pytest.mark.parametrize(("length", "event"), [(0, 0), (3, 0), (4, 1), (5, 1)])
def test_a_command_has_four_bytes_of_the_links_own(length: int, event: int) -> None:
    """One shorter is refused, though what is behind it would make it fresh."""
    packed = LINK.long(DOWN, 0, bytes(length), CONFIRMED | COMMAND)
    told = int.from_bytes((bytes(length) + packed.full_tag)[:4], "little")
    made = end(False, send=told)
    assert made.send(b"", LONG) is Event.SENT and made.packets()
    assert take(made, packed) is (Event.COMMANDED if event else Event.NOTHING)
    made.answer(True)
    (answer,) = made.packets()
    assert word(answer) == ((model.ACCEPTED, 0) if event else (model.REFUSED, 1))
    assert not event or made.message() == bytes(length - 4)


def test_packets_that_are_too_short_are_not_read() -> None:
    """What is behind them in memory would make a fragment, a message, an answer of them."""
    made = end(True, receive=7)
    fragment = bytes([LONG_HEAD, 7, LAST | CONFIRMED | 1])
    assert made.receive_told(fragment, 2) is Event.NOTHING and made.packets() == []
    assert made.receive(fragment) is Event.NOTHING
    assert made.packets() == [LINK.answer(UP, 7, b"", model.MISSING, 0b10)]
    (short,) = LINK.short(UP, 7, b"", False).packets
    assert len(short) == 6 and made.receive_told(short, 5) is Event.NOTHING
    assert made.receive(short) is Event.MESSAGE and made.message() == b""
    assert made.failures == 0


def test_packets_that_are_too_long_are_not_read() -> None:
    made = end(True, receive=7)
    for length, event in ((27, Event.NOTHING), (26, Event.MESSAGE)):
        (packet,) = LINK.short(UP, 7, bytes(length), False).packets
        assert len(packet) == 6 + length and made.receive(packet) is event


def test_a_short_packet_is_read_where_it_may_come() -> None:
    (plain,) = LINK.short(UP, 7, READING, False).packets
    (asks,) = LINK.short(UP, 7, READING, True).packets
    assert end(True, receive=7).receive(asks) is Event.MESSAGE
    (first,) = LINK.short(UP, 0, READING, False).packets
    (second,) = LINK.short(UP, 1, READING, False).packets
    assert end(True).receive(first) is Event.NOTHING, "an epoch begins with a long message"
    assert end(True, receive=1).receive(second) is Event.MESSAGE
    long_only, deaf = replace(LINK, options=LISTENS), replace(LINK, options=SHORT)
    assert end(True, receive=7, link=long_only).receive(plain) is Event.NOTHING
    assert end(True, receive=7, link=deaf).receive(plain) is Event.MESSAGE
    assert end(True, receive=7, link=deaf).receive(asks) is Event.NOTHING


def test_a_forgery_of_what_came_before_counts_only_where_it_may_be_asked_for_again() -> None:
    made = end(True, receive=7)
    assert made.receive(bytes([SHORT_HEAD, 6]) + bytes(8)) is Event.NOTHING and made.failures == 0
    assert made.receive(bytes([SHORT_HEAD | CONFIRMED, 6]) + bytes(8)) is Event.FORGED
    assert made.failures == 1


def test_the_key_derived_last_is_not_derived_again() -> None:
    made = end(False)
    assert made.send(READING, LONG) is Event.SENT and made.send(READING, LONG) is Event.SENT
    made.packets()
    made.poke(8, 0xEE)
    assert made.send(READING, LONG) is Event.SENT
    assert made.packets() == list(LINK.long(UP, 2, READING, 0).packets)


def test_a_link_without_answers_takes_no_message_that_asks() -> None:
    link = replace(LINK, options=SHORT)
    for flags in (CONFIRMED, COMMAND, 0x20):
        made = end(True, link=link)
        assert take(made, link.long(UP, 0, READING, flags)) is Event.NOTHING
        made.answer(True)
        assert made.packets() == [] and made.next == 0
    assert take(end(True, link=link), link.long(UP, 0, READING, 0)) is Event.MESSAGE


def fragment(index: int, content: bytes, flags: int = 0, counter: int = 7) -> bytes:
    return bytes([LONG_HEAD, counter, flags | index]) + content


@pytest.mark.parametrize(
    ("packet", "event", "have"),
    [
        (fragment(15, b"12345", LAST | CONFIRMED), Event.NOTHING, None),
        (fragment(14, b"12345", LAST | CONFIRMED), Event.NOTHING, 0),
        (fragment(13, b"12345", LAST | CONFIRMED), Event.NOTHING, 1 << 13),
        (fragment(1, b"1", LAST | CONFIRMED), Event.NOTHING, 0b10),
        (fragment(1, b"1", LAST), Event.NOTHING, None),
        (fragment(1, bytes(PIECE), CONFIRMED), Event.NOTHING, None),
        (fragment(0, b"12", LAST | CONFIRMED), Event.NOTHING, None),
        (fragment(0, b"123", LAST | CONFIRMED), Event.FORGED, None),
        (fragment(0, bytes(PIECE), LAST | CONFIRMED), Event.FORGED, None),
        (fragment(0, bytes(10) + b"\x80", LAST | CONFIRMED), Event.FORGED, None),
        (fragment(0, bytes(11) + b"\x80", LAST | CONFIRMED), Event.FORGED, None),
        (fragment(0, bytes(11), LAST | CONFIRMED), Event.FORGED, None),
    ],
)
def test_a_fragment_by_itself(packet: bytes, event: Event, have: int | None) -> None:
    made = end(True, receive=7)
    assert made.receive(packet) is event
    answer = [] if have is None else [LINK.answer(UP, 7, b"", model.MISSING, have)]
    assert made.packets() == answer and made.next == 7


def test_a_message_may_end_with_its_fragment_or_with_an_empty_one() -> None:
    packed = LINK.long(UP, 7, bytes(PIECE - 12), CONFIRMED)
    (whole,) = packed.packets
    made = end(True, receive=7)
    assert made.receive(fragment(0, whole[3:], CONFIRMED)) is Event.NOTHING
    assert made.receive(fragment(1, b"", LAST | CONFIRMED)) is Event.MESSAGE
    assert made.message() == bytes(PIECE - 12)
    packed = LINK.long(UP, 8, bytes(PIECE - 12 + 2), CONFIRMED)
    assert len(packed.packets[1]) == 3 + 2 and take(made, packed) is Event.MESSAGE


def test_fragments_of_different_messages_are_not_put_together() -> None:
    packed = LINK.long(UP, 7, bytes(40), CONFIRMED)
    first, last = packed.packets
    for before in (
        bytes([first[0], 8]) + first[2:],  # another counter
        first[:2] + bytes([first[2] ^ COMMAND]) + first[3:],  # other flags
        first[:-1],  # not whole
    ):
        made = end(True, receive=7)
        assert made.receive(before) is Event.NOTHING
        assert made.receive(last) is Event.NOTHING
        assert made.packets() == [LINK.answer(UP, 7, b"", model.MISSING, 0b10)]
        assert made.receive(first) is Event.MESSAGE and made.message() == bytes(40)


def test_the_end_mark_is_one_byte_of_one_value() -> None:
    (packet,) = LINK.long(UP, 7, bytes(8), 0).packets
    assert packet[-1] == 0x80
    for mark in (0x81, 0x7F, 0x40):
        assert end(True, receive=7).receive(packet[:-1] + bytes([mark])) is Event.FORGED
    assert end(True, receive=7).receive(packet + bytes(32 - len(packet))) is Event.MESSAGE


@pytest.mark.parametrize(("room", "short", "long"), [(40, 26, 31), (20, 16, 11), (9, 5, 0)])
def test_what_a_buffer_has_no_room_for_is_not_taken(room: int, short: int, long: int) -> None:
    for packed, event in (
        (LINK.short(UP, 7, bytes(range(short)), False), Event.MESSAGE),
        (LINK.short(UP, 7, bytes(short + 1), False), Event.NOTHING),
        (LINK.long(UP, 7, bytes(range(long)), 0), Event.MESSAGE),
        (LINK.long(UP, 7, bytes(long + 1), 0), Event.NOTHING),
    ):
        made = end(True, receive=7)
        buffer = made.begin_in(22 + room)
        assert take(made, packed) is event
        assert buffer.raw[22 + room :] == b"\xa5" * 32


@pytest.mark.parametrize("ahead", [0, 1, 14, 15, 16, 17])
def test_a_jump_leaves_the_window_behind_the_newest(ahead: int) -> None:
    made = end(True, receive=100)
    assert take(made, LINK.long(UP, 100 + ahead, READING, 0)) is Event.MESSAGE
    for counter in range(84, 101 + ahead):
        fresh = 100 <= counter < 100 + ahead and 100 + ahead - counter < 16
        told = take(made, LINK.long(UP, counter, READING, 0))
        assert told is (Event.MESSAGE if fresh else Event.NOTHING), counter


def test_counters_are_claimed_before_what_they_are_for() -> None:
    made = end(False)
    for counter in range(130):
        writes = made.tester.writes
        assert made.send(READING, LONG) is Event.SENT
        assert (made.tester.writes > writes) == (counter % 64 == 0), counter
        assert made.unused == counter + 1
    assert made.begin() is Event.NOTHING and made.unused == 192
