"""The blocks by which RP2350's boot ROM finds an image: each form of a loop, item by item."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.simulate.emulate.blocks import vectors_of
from motecrypt.simulate.emulate.images import Image, Segment

FLASH = 0x1000_0000
BEGINS, ENDS = 0xFFFFDED3, 0xAB123579
PROGRAM = 0x1021  # executable, secure, for Arm, of RP2350
NO_BLOCK = "no block of an image in its first 4 KB"


def item(number: int, *words: int, size: int | None = None) -> list[int]:
    """An item with its head; of a number from 0x80 on the size has two bytes."""
    count = len(words) + 1 if size is None else size
    return [number | count << 8, *words]


def image_type(kind: int) -> list[int]:
    return [0x42 | 1 << 8 | kind << 16]


def block(*items: list[int], link: int = 0, size: int | None = None, end: int = ENDS) -> bytes:
    words = [word for one in items for word in one]
    last = 0xFF | (len(words) if size is None else size) << 8
    return struct.pack(f"<{len(words) + 4}I", BEGINS, *words, last, link & 0xFFFFFFFF, end)


def found(flash: bytes, start: int = FLASH) -> int:
    image = Image(Path("i"), (Segment(start, flash),), None, len(flash), None, 0, None)
    return vectors_of(image, FLASH, FLASH + 0x100000)


def refused(flash: bytes, said: str) -> None:
    with pytest.raises(InputError, match=rf"starts no such image: {said}; link the start-up code"):
        found(flash)


@pytest.mark.parametrize("at", [0, 4, 256, 4092])
def test_a_block_of_a_program_begins_in_the_first_4_kb(at: int) -> None:
    flash = bytes(at) + block(image_type(PROGRAM))
    assert found(flash) == FLASH
    assert found(bytes(at) + block(image_type(PROGRAM), item(3, 0x10000100, 7))) == 0x10000100


@pytest.mark.parametrize("at", [1, 2, 4093, 4096, 8192])
def test_a_block_elsewhere_is_none(at: int) -> None:
    refused(bytes(at) + block(image_type(PROGRAM)), NO_BLOCK)


def test_what_is_no_whole_block_is_passed_over() -> None:
    good = block(image_type(PROGRAM))
    for bad in (
        struct.pack("<I", BEGINS),
        good[:-4],
        good[:-4] + b"\0\0\0\0",
        block(image_type(PROGRAM), size=2),
        block(image_type(PROGRAM), size=0),
        block(item(0x42, size=0)),
        block(item(5, *[0] * 157), image_type(PROGRAM)),
    ):
        refused(bad, NO_BLOCK)
        assert found(bad + bytes(-len(bad) % 4) + good) == FLASH


def test_sizes_of_items_have_a_byte_or_two() -> None:
    assert found(block(item(0x80, *[0] * 2), image_type(PROGRAM))) == FLASH
    assert found(block(item(0x90, *[9] * 100), image_type(PROGRAM))) == FLASH
    high = item(7, 0, 0)
    high[0] |= 0x10000  # for a number below 0x80 the second byte counts nothing
    assert found(block(high, image_type(PROGRAM))) == FLASH
    assert found(block(item(5, *[0] * 156), image_type(PROGRAM))) == FLASH


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (0x1022, r"an image of another type \(0x1022\), not a program for RP2350"),
        (0x1020, r"an image of another type \(0x1020\), not a program for RP2350"),
        (0x0021, r"an image of another type \(0x21\), not a program for RP2350"),
        (0x2021, r"an image of another type \(0x2021\), not a program for RP2350"),
        (0x1121, "a program for its RISC-V cores, which are not modelled"),
        (0x1011, "a program for the non-secure state, which is not modelled"),
    ],
)
def test_another_image_is_refused_by_its_kind(kind: int, said: str) -> None:
    refused(block(image_type(kind)), said)


@pytest.mark.parametrize("kind", [0x1021, 0x1001, 0x1031, 0x9021, 0x10A1 & 0xFFF1])
def test_programs_of_the_secure_state_are_taken(kind: int) -> None:
    assert found(block(image_type(kind))) == FLASH


def chain(*blocks: bytes) -> bytes:
    """The blocks one after the other, each linked with the next, the last with the first."""
    starts = [sum(map(len, blocks[:number])) for number in range(len(blocks))]
    made = b""
    for number, one in enumerate(blocks):
        link = starts[(number + 1) % len(blocks)] - starts[number]
        made += one[:-8] + struct.pack("<i", link) + one[-4:]
    return made


def test_the_loop_is_followed_to_its_end_and_no_further() -> None:
    other, program = (
        block(image_type(0x1022)),
        block(item(5, 1), image_type(PROGRAM), item(3, 0x1000_0200, 0)),
    )
    assert found(chain(other, program)) == 0x1000_0200
    assert found(chain(block(item(9, 1)), other, program)) == 0x1000_0200
    assert found(chain(*[other] * 15, program)) == 0x1000_0200
    refused(chain(*[other] * 16, program), "an image of another type .*")
    refused(chain(block(item(9, 1))), NO_BLOCK)
    refused(other[:-8] + struct.pack("<i", -4) + other[-4:] + program, "an image of another type .*")
    refused(other[:-8] + struct.pack("<i", 0x1000) + other[-4:] + program, "an image of another type .*")


def test_vectors_need_two_words() -> None:
    assert found(block(image_type(PROGRAM), item(3))) == FLASH
    assert found(block(image_type(PROGRAM), item(3, 0x1000_0300))) == 0x1000_0300


def test_a_flash_that_begins_later_or_is_empty_is_refused() -> None:
    for start, flash in ((FLASH + 4, block(image_type(PROGRAM))), (FLASH, b"")):
        with pytest.raises(InputError, match="i: has nothing at 0x10000000, where the boot ROM of RP2350"):
            found(flash, start)
