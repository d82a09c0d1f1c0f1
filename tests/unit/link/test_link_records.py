"""The records in a node's storage: where each goes, and which one a start takes."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import link_model as model
from link_pair import KEY, READING, SLOT_BYTES, SLOTS, SLOTS_AT
from link_ports import FaultyLink, PowerLostError
from motecrypt.link.native import (
    LISTENS,
    LONG,
    SHORT,
    Event,
    KeyBlock,
)


def test_storage_holds_what_the_specification_says_whatever_memory_held() -> None:
    link = model.Model(1, KEY, 5, SHORT | LISTENS, 32, 1)
    block = KeyBlock(5, SHORT | LISTENS, 32, 1, KEY)
    made = FaultyLink()
    ctypes.memset(made.address, 0xA5, 16)  # its record, as memory that nothing was written to
    made.provision(block)
    erased = b"\xff" * SLOT_BYTES
    first = link.slot(0, 0)
    assert made.storage == link.key_block(False) + 2 * first + 6 * erased
    # Each record goes into the two slots after the newest, whichever end of the storage that is at.
    for at in (2, 4, 6, 0):
        before = made.storage
        assert made.begin() == Event.NOTHING and made.send(READING, LONG) == Event.SENT
        changed = {n for n in range(len(before)) if made.storage[n] != before[n]}
        assert {(n - SLOTS_AT) // SLOT_BYTES for n in changed} == {at, at + 1}


def test_the_newest_record_is_told_by_every_field() -> None:
    link = model.Model(1, KEY, 5, SHORT | LISTENS, 32, 1, 1)
    later = replace(link, epoch=0x01000000)
    pairs = [
        (link.slot(64, 16, 64), link.slot(64, 16, 128)),
        (link.slot(64, 16, 192), link.slot(64, 16, 256)),
        (link.slot(64, 16, 128), link.slot(64, 17, 64)),
        (link.slot(64, 0xFF00, 0), link.slot(0x10000, 16, 0)),
        (link.slot(0xFFFF, 0xFFFF, 4096), later.slot(0, 0, 0)),
    ]
    for old, new in pairs:
        for slots in ((old, new), (new, old)):
            made = FaultyLink()
            rest = b"\xff" * 6 * SLOT_BYTES
            assert made.begin(link.key_block(False) + slots[0] + slots[1] + rest) == Event.NOTHING
            told = [made.failures, made.next, made.unused, made.epoch]
            record = [
                int.from_bytes(new[at:end], "little") for at, end in ((0, 2), (4, 8), (8, 12), (12, 16))
            ]
            assert told == record


@pytest.mark.parametrize(("first", "second"), [(7, 0), (6, 0), (7, 1), (0, 1), (5, 7), (6, 7)])
def test_a_start_does_not_write_over_the_second_copy(first: int, second: int) -> None:
    """Copies in the last slot and in the first: power fails immediately, then a bit flips in the other."""
    link = model.Model(1, KEY, 5, SHORT | LISTENS, 32, 1)
    slots = [link.slot(64 * number, number, 0) for number in range(SLOTS)]
    slots[first] = slots[second] = link.slot(6400, 1000, 0)
    for damaged in (first, second):
        made = FaultyLink()
        assert made.begin(link.key_block(False) + b"".join(slots)) == Event.NOTHING
        made.tester.writes_left, made.tester.garbage = 1, 0x5A
        with pytest.raises(PowerLostError):
            made.send(READING, LONG)
        made.poke(SLOTS_AT + SLOT_BYTES * damaged, 0x77)
        assert made.begin() == Event.NOTHING
        assert made.unused >= 6400 and made.next >= 1000
