"""The mote's counter in EEPROM: power lost in the middle of any write, its layout, its damage, its end."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from mote_on_host import HostMote, build, load, slot

from motecrypt.catalog import FIRMWARE

SLOTS, BLOCK = 8, 64
OK, DAMAGED = 0, 1


def test_power_lost_at_any_write_never_repeats_a_number(tmp_path: Path) -> None:
    link = FIRMWARE / "motes" / "link"
    harness = Path(__file__).with_name("counter_harness.c")
    program = tmp_path / "harness"
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-I", str(link)]
    command = ["gcc", *flags, str(harness), str(link / "counter.c"), "-o", str(program)]
    subprocess.run(command, check=True, timeout=120)
    done = subprocess.run([program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("mote"))


@pytest.fixture
def mote(library: Path) -> HostMote:
    return HostMote(library)


def stored(mote: HostMote) -> bytes:
    return bytes(mote.memory)


def test_blocks_are_claimed_slot_after_slot_before_they_are_used(mote: HostMote) -> None:
    assert mote.counter_init() == OK and stored(mote) == b"\xff" * 64
    slots = [b"\xff" * 5] * SLOTS
    for block in range(2 * SLOTS + 3):
        slots[block % SLOTS] = slot((block + 1) * BLOCK)
        for number in range(block * BLOCK, (block + 1) * BLOCK):
            assert mote.counter_take() == number
            assert stored(mote) == b"".join(slots) + b"\xff" * 24


@pytest.mark.parametrize("newest", range(SLOTS))
def test_after_power_comes_back_the_highest_goes_on_and_its_slot_is_kept(mote: HostMote, newest: int) -> None:
    slots = [
        slot(0x01020300 + 64 * (index - newest) - (512 if index > newest else 0)) for index in range(SLOTS)
    ]
    load(mote, *slots)
    assert mote.counter_init() == OK
    assert mote.counter_take() == 0x01020300
    slots[(newest + 1) % SLOTS] = slot(0x01020340)
    assert stored(mote) == b"".join(slots) + b"\xff" * 24


def test_of_two_equal_slots_neither_is_lost(mote: HostMote) -> None:
    load(mote, slot(640), slot(640), slot(64))
    assert mote.counter_init() == OK and mote.counter_take() == 640
    assert stored(mote)[:5] == slot(640) and stored(mote)[5:10] == slot(704)


@pytest.mark.parametrize("bit", range(40))
def test_any_flipped_bit_of_the_newest_slot_is_noticed(mote: HostMote, bit: int) -> None:
    damaged = bytearray(slot(0x01020340))
    damaged[bit // 8] ^= 1 << bit % 8
    load(mote, slot(0x01020300), bytes(damaged))
    assert mote.counter_init() == OK and mote.counter_take() == 0x01020300
    load(mote, bytes(damaged))
    assert mote.counter_init() == DAMAGED


@pytest.mark.parametrize("byte", [0, 1, 4, 5, 20, 39])
@pytest.mark.parametrize("value", [0x00, 0xFE, 0x7F])
def test_memory_that_is_neither_fresh_nor_a_counter_is_refused(mote: HostMote, byte: int, value: int) -> None:
    mote.memory[byte] = value
    assert mote.counter_init() == DAMAGED


@pytest.mark.parametrize("value", [0x00, 0x55, 0xAA])
def test_memory_full_of_one_byte_is_no_counter(mote: HostMote, value: int) -> None:
    mote.memory[:] = [value] * 64
    assert mote.counter_init() == DAMAGED


def test_what_lies_behind_the_slots_is_not_ours(mote: HostMote) -> None:
    mote.memory[40] = 0
    assert mote.counter_init() == OK and mote.counter_take() == 0


def test_the_counter_ends_instead_of_wrapping(mote: HostMote) -> None:
    load(mote, slot(2**32 - 2 * BLOCK))
    assert mote.counter_init() == OK
    last = [mote.counter_take() for _ in range(BLOCK)]
    assert last == list(range(2**32 - 2 * BLOCK, 2**32 - BLOCK))
    before = stored(mote)
    for _ in range(3):
        assert mote.counter_take() is None and stored(mote) == before
    assert mote.counter_init() == OK and mote.counter_take() is None and stored(mote) == before


@pytest.mark.parametrize(
    ("claimed", "more"), [(2**32 - 1 - BLOCK, BLOCK), (2**32 - BLOCK, 0), (2**32 - 1, 0), (2**32 - 10, 0)]
)
def test_the_last_block_is_one_that_fits(mote: HostMote, claimed: int, more: int) -> None:
    load(mote, slot(claimed))
    assert mote.counter_init() == OK
    taken = [mote.counter_take() for _ in range(more + 2)]
    assert taken == [*range(claimed, claimed + more), None, None]
