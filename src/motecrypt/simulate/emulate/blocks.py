"""The blocks by which RP2350's boot ROM recognises an image in flash and finds its vectors.

A block is a list of items between two markers; blocks are linked in a loop, the first one in the first 4 KB.
Source: RP2350 datasheet (Raspberry Pi Ltd, 2024), 5.1.5 and 5.9.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from motecrypt.base.errors import InputError
from motecrypt.simulate.emulate.images import Image, flat

_BEGINS, _ENDS = 0xFFFFDED3, 0xAB123579
_IMAGE_TYPE, _VECTORS, _LAST = 0x42, 0x03, 0xFF
_SEARCHED, _BLOCKS, _WORDS = 4096, 16, 160
_EXECUTABLE, _NOT_SECURE, _RISCV, _RP2350 = 1, 1, 1, 1


def vectors_of(image: Image, first: int, last: int) -> int:
    """Address of the vector table with which the boot ROM starts the flash's image, from `first` to `last`.

    Raises
    ------
    InputError
        When no block says that it is a program for RP2350's Arm cores in the secure state.
    """
    start, flash = flat(image, first, last)
    if start != first or not flash:
        raise InputError(
            f"{image.path}: has nothing at {first:#x}, where the boot ROM of RP2350 looks for an image"
        )
    problem = "no block of an image in its first 4 KB"
    for items in _loop(flash):
        kind = next((words[0] >> 16 for number, words in items if number == _IMAGE_TYPE), None)
        if kind is None:
            continue
        if kind & 0xF != _EXECUTABLE or kind >> 12 & 7 != _RP2350:
            problem = f"an image of another type ({kind:#x}), not a program for RP2350"
        elif kind >> 8 & 7 == _RISCV:
            problem = "a program for its RISC-V cores, which are not modelled"
        elif kind >> 4 & 3 == _NOT_SECURE:
            problem = "a program for the non-secure state, which is not modelled"
        else:
            return next((words[1] for number, words in items if number == _VECTORS and len(words) > 1), first)
    raise InputError(
        f"{image.path}: the boot ROM of RP2350 starts no such image: {problem}; "
        "link the start-up code of the Pico SDK for the Pico 2, or of another that has one"
    )


def _loop(flash: bytes) -> Iterator[list[tuple[int, tuple[int, ...]]]]:
    """The items of each block, by number, with their words, from the first block to the end of the loop."""
    at = next(
        (
            n
            for n in range(0, min(len(flash), _SEARCHED) - 3, 4)
            if _word(flash, n) == _BEGINS and _block(flash, n)
        ),
        -1,
    )
    begins = at
    for _ in range(_BLOCKS):
        found = _block(flash, at) if at >= 0 else None
        if found is None:
            return
        items, link = found
        yield items
        at = at + link
        if at == begins:
            return


def _word(flash: bytes, at: int) -> int:
    return struct.unpack_from("<I", flash, at)[0] if 0 <= at <= len(flash) - 4 else 0


def _block(flash: bytes, at: int) -> tuple[list[tuple[int, tuple[int, ...]]], int] | None:
    """The items and the signed distance to the next block; None where no whole block is."""
    if _word(flash, at) != _BEGINS:
        return None
    items: list[tuple[int, tuple[int, ...]]] = []
    word = 1
    while word < _WORDS:
        head = _word(flash, at + 4 * word)
        number = head & 0xFF
        size = head >> 8 & 0xFFFF if number & 0x80 else head >> 8 & 0xFF
        if number == _LAST:
            ends = size == word - 1 and _word(flash, at + 4 * word + 8) == _ENDS
            link = struct.unpack_from("<i", flash, at + 4 * word + 4)[0] if ends else 0
            return (items, link) if ends else None
        if not size:
            return None
        items.append((number, tuple(_word(flash, at + 4 * (word + n)) for n in range(size))))
        word += size
    return None


__all__ = ["vectors_of"]
