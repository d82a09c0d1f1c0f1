"""A node's key and counters in its storage (docs/link.md, Storage): what is read and written, by bytes."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import link_model as model
from link_ports import FaultyLink
from motecrypt.link.native import GATEWAY, LISTENS, LONG, SHORT, TAG_16, Event, message_bytes_max

KEY = bytes(range(0x30, 0x40))
LINK = model.Model(1, KEY, 5, SHORT | LISTENS, 32, 0xA1B2)
ERASED = b"\xff" * 20
BLOCK = 64
"""Counters that are claimed at once."""
LAST = 2**32 - 1


def begun(*slots: bytes, head: bytes = b"") -> FaultyLink:
    """An end that begins from these slots, the others erased."""
    made = FaultyLink()
    storage = (head or LINK.key_block(False)) + b"".join(slots) + (8 - len(slots)) * ERASED
    assert made.begin(storage) == Event.NOTHING
    return made


def told(made: FaultyLink) -> tuple[int, int, int, int]:
    """The counters: to send, to receive, failures, and the epoch."""
    return made.unused, made.next, made.failures, made.epoch


def written_next(made: FaultyLink) -> set[int]:
    """Which slots the next claim goes into."""
    before = made.storage
    assert made.send(b"", LONG) == Event.SENT
    return {(n - 28) // 20 for n in range(188) if made.storage[n] != before[n]}


@pytest.mark.parametrize(
    ("head", "event"),
    [
        (bytes([2, 5, 3, 32]), Event.NOTHING),
        (bytes([3, 5, 3, 32]), Event.NOTHING),
        (bytes([1, 5, 3, 32]), Event.NO_KEY),
        (bytes([4, 5, 3, 32]), Event.NO_KEY),
        (bytes([0, 5, 3, 32]), Event.NO_KEY),
        (bytes([2, 0, 3, 32]), Event.NOTHING),
        (bytes([2, 63, 3, 32]), Event.NOTHING),
        (bytes([2, 64, 3, 32]), Event.NO_KEY),
        (bytes([2, 255, 3, 32]), Event.NO_KEY),
        (bytes([2, 5, 0, 12]), Event.NOTHING),
        (bytes([2, 5, 0, 11]), Event.NO_KEY),
        (bytes([2, 5, 0, 0]), Event.NO_KEY),
        (bytes([2, 5, 128, 255]), Event.NOTHING),
    ],
)
def test_a_key_block_says_what_a_node_is(head: bytes, event: Event) -> None:
    link = replace(LINK, node=head[1], options=head[2], packet_bytes=head[3])
    block = head + link.key_block(False)[4:24]
    made = FaultyLink()
    assert made.begin(block + link.check(block[:16]) + 2 * link.slot(0, 0) + 6 * ERASED) == event


@pytest.mark.parametrize(("node", "options", "packet_bytes"), [(7, LISTENS, 40), (4, LISTENS | TAG_16, 13)])
def test_a_node_sends_as_its_key_block_says(node: int, options: int, packet_bytes: int) -> None:
    link = replace(LINK, node=node, options=options, packet_bytes=packet_bytes)
    made = begun(link.slot(64, 0), head=link.key_block(False))
    longest = message_bytes_max(options, packet_bytes, 0)
    assert made.send(bytes(longest + 1)) == Event.TOO_LONG
    assert made.send(bytes(longest)) == Event.SENT
    assert made.packets() == list(link.long(0, 64, bytes(longest), 0).packets)


@pytest.mark.parametrize("at", range(28))
def test_a_key_block_is_checked_but_for_the_keys_second_half_which_its_check_is_made_with(at: int) -> None:
    block = bytearray(LINK.key_block(False))
    for bit in range(8):
        block[at] ^= 1 << bit
        assert FaultyLink().begin(bytes(block) + 2 * LINK.slot(0, 0) + 6 * ERASED) == Event.NO_KEY
        block[at] ^= 1 << bit


def test_what_is_kept_for_later_versions_changes_nothing() -> None:
    block = LINK.key_block(False)[:6] + b"\xee\xdd" + KEY
    expected = block + LINK.check(block[:16]) + 2 * LINK.slot(0, 0) + 6 * ERASED
    made = FaultyLink()
    made.begin(b"\xa5" * 188)  # any content before
    ctypes.memset(made.address, 0xA5, 16)  # and in memory
    assert made._tested.cut_call(made.address, 0, block, 0, 0) == 1
    assert made.storage == expected
    assert made.begin() == Event.NOTHING and told(made) == (0, 0, 0, 0)
    assert written_next(made) == {2, 3}


@pytest.mark.parametrize("slot", range(8))
def test_the_newest_record_is_found_in_any_slot(slot: int) -> None:
    old, new = LINK.slot(64, 32, 0xFF), LINK.slot(64, 33, 0x100)
    slots = [old] * 8
    slots[slot] = new
    made = begun(*slots)
    assert told(made) == (64, 33, 0x100, 0)
    assert written_next(made) == {(slot + 1) % 8, (slot + 2) % 8}
    made = begun(*[ERASED] * slot, new)
    assert told(made) == (64, 33, 0x100, 0)
    assert written_next(made) == {(slot + 1) % 8, (slot + 2) % 8}
    made = begun(*[ERASED] * slot, LINK.slot(0, 0))
    assert told(made) == (0, 0, 0, 0)
    assert written_next(made) == {(slot + 1) % 8, (slot + 2) % 8}


@pytest.mark.parametrize(
    ("first", "later"), [(3, 4), (2, 4), (0, 3), (1, 5), (2, 7), (7, 0), (6, 0), (7, 1)], ids=str
)
def test_the_later_of_two_copies_is_told_by_its_place(first: int, later: int) -> None:
    """The slots between them were worn: up to four, one at most where the later copy is round the end."""
    slots = [ERASED] * 8
    slots[first] = slots[later] = LINK.slot(64, 33, 0x100)
    made = begun(*slots)
    assert told(made) == (64, 33, 0x100, 0)
    assert written_next(made) == {(later + 1) % 8, (later + 2) % 8}


FIELDS = [
    (0x01, 0, 0, 0),
    (0x0100, 0, 0, 0),
    *((0, 1 << 8 * byte, 0, 0) for byte in range(4)),
    *((0, 0, 1 << 8 * byte, 0) for byte in range(4)),
    *((0, 0, 0, 1 << 8 * byte) for byte in range(4)),
]
"""Failures, receive, send, epoch: the record's bytes from the least weighty, but for the generation."""


def test_every_byte_of_a_record_outweighs_those_before_it() -> None:
    most = [0, 0, 0, 0]
    for failures, receive, send, epoch in FIELDS:
        lesser = replace(LINK, epoch=most[3]).slot(most[2], most[1], most[0])
        greater = replace(LINK, epoch=epoch).slot(send, receive, failures)
        for slots in ((lesser, greater), (greater, lesser)):
            assert told(begun(*slots)) == (send, receive, failures, epoch)
        most = [
            before | 0xFF * value
            for before, value in zip(most, (failures, receive, send, epoch), strict=True)
        ]


@pytest.mark.parametrize("at", range(20))
def test_a_copy_that_is_damaged_counts_for_nothing_but_a_claim(at: int) -> None:
    good = LINK.slot(128, 32, 5)
    for bit in range(8):
        bad = bytearray(LINK.slot(192, 48, 6))
        bad[at] ^= 1 << bit
        doubt = BLOCK * (bad[15] != 0xFF)
        for slots in ((bytes(bad), good), (good, bytes(bad)), (good, good, bytes(bad))):
            assert told(begun(*slots)) == (128 + doubt, 32, 5, 0)


def test_a_slot_that_was_never_whole_is_no_doubt() -> None:
    """Its last counter byte is as it was erased: the power went before it."""
    good = LINK.slot(128, 32, 5)
    assert told(begun(good, LINK.slot(192, 32, 5)[:15] + ERASED[:5])) == (128, 32, 5, 0)
    assert told(begun(good, LINK.slot(192, 32, 5)[:16] + ERASED[:4])) == (128 + BLOCK, 32, 5, 0)
    assert told(begun(LINK.slot(192, 32, 5)[:16] + ERASED[:4], good)) == (128 + BLOCK, 32, 5, 0)


@pytest.mark.parametrize(
    ("send", "then"),
    [(0, BLOCK), (LAST - BLOCK - 1, LAST - 1), (LAST - BLOCK, LAST), (LAST - BLOCK + 1, LAST - BLOCK + 1)],
)
def test_a_doubt_claims_no_counter_beyond_the_last(send: int, then: int) -> None:
    assert told(begun(LINK.slot(send, 7), ERASED)) == (send, 7, 0, 0)
    assert told(begun(LINK.slot(send, 7), bytes(20))) == (then, 7, 0, 0)


def test_a_record_of_another_provisioning_is_none() -> None:
    """The key of its check value contains the generation."""
    for generation in (0xA1B3, 0xA2B2, 0xA1B1, 0xA0B2):
        strange = replace(LINK, generation=generation).slot(192, 48)
        assert told(begun(LINK.slot(128, 32), strange)) == (128 + BLOCK, 32, 0, 0)
        assert FaultyLink().begin(LINK.key_block(False) + strange + 7 * ERASED) == Event.NO_STATE
    assert FaultyLink().begin(LINK.key_block(False) + 8 * ERASED) == Event.NO_STATE


@pytest.mark.parametrize("at", [0, 8, 19])
@pytest.mark.parametrize("worn", range(7))
def test_a_claim_is_written_until_two_copies_are_kept(worn: int, at: int) -> None:
    """Cells of `worn` slots after the newest keep what they hold: four of six may."""
    made = begun(*[ERASED] * 5, LINK.slot(64, 9), LINK.slot(64, 9))
    new = LINK.slot(128, 9)
    places = [(7 + number) % 8 for number in range(6)]
    for slot in places[:worn]:
        made.tester.stuck[28 + 20 * slot + at] = 0xFF
        made.poke(28 + 20 * slot + at, ~new[at] & 0xFF)
    before = made.storage
    assert made.send(b"", LONG) == (Event.SENT if worn <= 4 else Event.STORAGE)
    expected = bytearray(before)
    for slot in places[: min(6, worn + 2)]:
        expected[28 + 20 * slot : 48 + 20 * slot] = new
    for slot in places[:worn]:
        expected[28 + 20 * slot + at] = ~new[at] & 0xFF
    assert made.storage == bytes(expected)


@pytest.mark.parametrize("worn", [5, 6])
def test_a_claim_after_one_that_was_not_kept_goes_into_the_same_slots(worn: int) -> None:
    made = begun(*[ERASED] * 5, LINK.slot(64, 9), LINK.slot(64, 9))
    for number in range(worn):
        made.tester.stuck[28 + 20 * ((7 + number) % 8)] = 0xFF
    assert made.send(b"", LONG) == Event.STORAGE
    ctypes.memset(made.tester.stuck, 0, 28 + 20 * 8)
    assert written_next(made) == {7, 0}, "not into those of the last good copies"


def test_a_key_is_provisioned_only_where_it_is_kept() -> None:
    for worn, kept in ((4, 1), (5, 0), (8, 0)):
        made = FaultyLink()
        for slot in range(worn):
            made.tester.stuck[28 + 20 * slot + 3] = 0xFF
        block = replace(LINK, options=LINK.options | GATEWAY).key_block(False)[:24]
        assert made._tested.cut_call(made.address, 0, block, 0, 0) == kept
