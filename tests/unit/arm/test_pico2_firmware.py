"""What firmware for the Pico 2 uses as its SDK does: boot ROM, interrupts, coprocessors, DMA, core 1."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from pico2_board import PICO2, built, go

from motecrypt.base.errors import InputError
from motecrypt.simulate.emulate.images import RP2350_FAMILY, Segment, read_image, uf2
from motecrypt.simulate.emulate.run import Ended
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")
EXPECTED = {
    # magic; words of the chip's information; too small a buffer; the flash's size; unknown; for RISC-V
    "rom": "0002754d 00000004 fffffff3 00000c00 00000000 00000000",
    # programmed; erased; programmed; uncached; read; what; erased; uncached; beyond the flash
    "flash": "01010101 ffffffff 02020202 02020202 00000000 03030303 00000000 ffffffff fffffff6",
    "lock": "00000001 00000000 00000001",
    # the alarm and interrupt 46; on time; S0 and S15 kept; masked by BASEPRI; unmasked
    "irq": "00000101 00000000 00000001 00000101 00000201",
    "pins": "02000000 00000006 02000000",
    # 2.25 and 0.75: sum, difference, product, quotient, root; engaged, greater; no longer; -7.75 truncated
    "double": "40080000 3ff80000 3ffb0000 40080000 3ff80000 80000000 20000000 00000000 fffffff9",
    "dma": "00000004 007e4059 00000004",
    "by dma": "",
    "core1": "0000002a 00000001",
    "still": "",  # the watchdog's time is not over
    "again": "00000001",  # by its timer
}


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("pico2"), "pico2_firmware.c")


@pytest.fixture(scope="module")
def ran(elf: Path) -> tuple[str, Ended]:
    return go(elf)


@pytest.mark.parametrize("name", EXPECTED)
def test_each_part_does_what_the_datasheet_says(ran: tuple[str, Ended], name: str) -> None:
    lines = [line for line in ran[0].splitlines() if line.startswith(name)]
    assert [line.removeprefix(name).strip() for line in lines] == [EXPECTED[name]]


def test_the_end_says_what_is_not_modelled(ran: tuple[str, Ended]) -> None:
    ended = ran[1]
    assert (ended.reason, ended.interrupts) == ("stop", 4)
    assert [(use.address, use.name) for use in ended.touched] == [(0x400F0104, "TRNG")]
    assert any(note.startswith("random numbers: not modelled") for note in ended.notes)


def test_uf2_and_bin_run_as_the_elf_does(elf: Path, ran: tuple[str, Ended], tmp_path: Path) -> None:
    image = read_image(elf, PICO2)
    (tmp_path / "f.uf2").write_bytes(uf2(image.segments, RP2350_FAMILY))
    (tmp_path / "f.bin").write_bytes(b"".join(segment.data for segment in image.segments))
    assert go(tmp_path / "f.uf2") == go(tmp_path / "f.bin")
    assert go(tmp_path / "f.uf2")[0] == ran[0]


def block(kind: int, vectors: int | None = None, link: int = 0) -> bytes:
    """A block of an image (datasheet, 5.9)."""
    items = [kind << 16 | 0x0142] + ([0x0203, vectors] if vectors is not None else [])
    return struct.pack(f"<{len(items) + 4}I", 0xFFFFDED3, *items, len(items) << 8 | 0xFF, link, 0xAB123579)


def binary(folder: Path, elf: Path, tail: bytes, at: int = 0) -> Path:
    """The firmware with its own block overwritten; `tail` behind it, or at an offset."""
    data = b"".join(segment.data for segment in read_image(elf, PICO2).segments)
    own = data.index(struct.pack("<I", 0xFFFFDED3))
    data = data[:own] + bytes(28) + data[own + 28 :]
    data = data.ljust(at or len(data), b"\xff") + tail
    (folder / "f.bin").write_bytes(data)
    return folder / "f.bin"


def test_vectors_are_where_a_block_in_the_loop_says(elf: Path, tmp_path: Path) -> None:
    first = struct.pack("<5I", 0xFFFFDED3, 0x000001FE, 0x000001FF, 20, 0xAB123579)
    moved = read_image(elf, PICO2).segments[0].data[:272]
    path = binary(tmp_path, elf, first + block(0x1021, 0x10002000), at=0xE00)
    path.write_bytes(path.read_bytes().ljust(0x2000, b"\xff") + moved)
    data = bytearray(path.read_bytes())
    data[4:8] = bytes(4)  # those at the beginning lead nowhere
    path.write_bytes(data)
    assert "rom 0002754d" in go(path)[0]


@pytest.mark.parametrize(
    ("tail", "said"),
    [
        (b"", "no block of an image in its first 4 KB"),
        (block(0x1121), "RISC-V cores"),
        (block(0x1011), "non-secure state"),
        (block(0x1022), "an image of another type"),
        (block(0x1021)[:-4] + bytes(4), "no block"),
    ],
)
def test_an_image_that_the_boot_rom_would_not_start_is_refused(
    elf: Path, tmp_path: Path, tail: bytes, said: str
) -> None:
    with pytest.raises(InputError, match=f"f.bin: the boot ROM of RP2350 starts no such image: .*{said}"):
        go(binary(tmp_path, elf, tail))


def test_an_image_behind_the_beginning_of_the_flash_is_refused(elf: Path, tmp_path: Path) -> None:
    (tmp_path / "f.uf2").write_bytes(uf2([Segment(0x10001000, bytes(256))], RP2350_FAMILY))
    with pytest.raises(InputError, match=r"has nothing at 0x10000000"):
        go(tmp_path / "f.uf2")
