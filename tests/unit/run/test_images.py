"""Firmware files that are bad, each refused with one line that says what to do."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog
from motecrypt.simulate.emulate.images import ARM, Segment, elf_of, flat, intel_hex, read_image, uf2
from tool_sets import needs_tool_set

UNO, PICO = Catalog.load().device("uno"), Catalog.load().device("pico")


def refused(path: Path, device: object = UNO) -> str:
    with pytest.raises(InputError) as raised:
        read_image(path, device)  # type: ignore[arg-type]
    text = str(raised.value)
    assert "\n" not in text and str(path) in text
    return text


def avr_elf(folder: Path, source: str, *flags: str) -> Path:
    (folder / "f.c").write_text(source)
    target = folder / "f.elf"
    chip = [] if any(f.startswith("-mmcu") for f in flags) else ["-mmcu=atmega328p"]
    subprocess.run(["avr-gcc", "-Os", *chip, *flags, folder / "f.c", "-o", target], check=True)
    return target


PLAIN = "#include <stdint.h>\nvolatile uint8_t x[10] = {1}; int main(void) { for (;;) { x[1]++; } }\n"


@needs_tool_set("avr")
def test_a_good_elf(tmp_path: Path) -> None:
    image = read_image(avr_elf(tmp_path, PLAIN), UNO)
    assert image.ram_bytes == 10 and image.data_end == 0x80010A
    assert image.flash_bytes == sum(len(s.data) for s in image.segments)


@needs_tool_set("avr")
@pytest.mark.parametrize(
    ("flag", "said"),
    [("-mmcu=atmega2560", "built for atmega2560"), ("-mmcu=attiny85", "built for attiny85")],
)
def test_another_avr(tmp_path: Path, flag: str, said: str) -> None:
    assert said in refused(avr_elf(tmp_path, PLAIN, flag))


def test_another_machine(tmp_path: Path) -> None:
    arm = tmp_path / "arm.elf"
    arm.write_bytes(elf_of([Segment(0x10000000, bytes(64))], ARM, 0x10000001))
    assert "built for ARM, and uno is ATmega328P; choose another --device" in refused(arm)
    other = tmp_path / "other.elf"
    other.write_bytes(elf_of([Segment(0, bytes(64))], 62, 0))
    assert "built for x86-64" in refused(other)
    assert "built for x86-64" in refused(other, PICO)


@needs_tool_set("pico")
def test_another_arm_core(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text("int _start(void) { return 0; }\n")
    target = tmp_path / "f.elf"
    flags = ["-mcpu=cortex-m4", "-mthumb", "-nostdlib", "-Wl,-Ttext=0x10000100"]
    subprocess.run(["arm-none-eabi-gcc", *flags, tmp_path / "f.c", "-o", target], check=True)
    assert "another ARM core (v7E-M, as Cortex-M4)" in refused(target, PICO)


@needs_tool_set("avr")
def test_too_large(tmp_path: Path) -> None:
    large = "#include <stdint.h>\nvolatile uint8_t x[3000]; int main(void) { for (;;) { x[1]++; } }\n"
    assert "too large: its variables take 3,000 of 2,048 bytes of RAM" in refused(
        avr_elf(tmp_path, large, "-Wl,--defsym=__DATA_REGION_LENGTH__=0xf000")
    )
    file = tmp_path / "large.hex"
    file.write_text(intel_hex([Segment(0x7F00, bytes(512))]))
    assert "needs 33,024 of 32,768 bytes of flash" in refused(file)


@needs_tool_set("avr")
def test_truncated_anywhere_is_one_line(tmp_path: Path) -> None:
    whole = avr_elf(tmp_path, PLAIN).read_bytes()
    cut = tmp_path / "cut.elf"
    for length in range(4, len(whole), max(1, len(whole) // 60)):
        cut.write_bytes(whole[:length])
        try:
            read_image(cut, UNO)
        except InputError as error:
            assert "\n" not in str(error)
    cut.write_bytes(whole[: len(whole) // 2])
    assert "truncated" in refused(cut) or "damaged" in refused(cut)


@needs_tool_set("avr")
def test_any_damaged_byte_is_one_line_or_still_a_firmware(tmp_path: Path) -> None:
    whole = bytearray(avr_elf(tmp_path, PLAIN).read_bytes())
    damaged = tmp_path / "damaged.elf"
    for at in range(0, len(whole), max(1, len(whole) // 250)):
        broken = bytearray(whole)
        broken[at] ^= 0xFF
        damaged.write_bytes(broken)
        try:
            read_image(damaged, UNO)
        except InputError as error:
            assert "\n" not in str(error)


def test_files_that_are_no_firmware(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"")
    assert "empty" in refused(path)
    path.write_bytes(b"\x89PNG\r\n")
    assert "neither ELF nor Intel hex nor UF2" in refused(path)
    assert "No such file" in refused(tmp_path / "none.elf")
    assert "directory" in refused(tmp_path)


def test_damaged_hex_and_uf2(tmp_path: Path) -> None:
    path = tmp_path / "file"
    good = intel_hex([Segment(0, bytes(range(64)))])
    path.write_text(good.replace("00010203", "00010303", 1))
    assert "line 1 is damaged" in refused(path)
    path.write_text("\n".join(good.splitlines()[:-1]))
    assert "no end record" in refused(path)
    blocks = uf2([Segment(0x10000000, bytes(1000))])
    path.write_bytes(blocks[:-512])
    assert "3 of 4 blocks" in refused(path, PICO)
    path.write_bytes(blocks[:-100])
    assert "truncated" in refused(path, PICO)
    path.write_bytes(blocks[:512] + b"x" + blocks[513:])
    assert "block 2 is damaged" in refused(path, PICO)
    path.write_bytes(uf2([Segment(0x10000000, bytes(16))], 0xADA52840))
    assert "built for another chip" in refused(path, PICO)


@settings(max_examples=50)
@given(st.binary(min_size=1, max_size=700), st.integers(0, 200))
def test_hex_and_uf2_carry_what_they_are_given(data: bytes, start: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_text(intel_hex([Segment(start, data)]))
        assert flat(read_image(path, UNO), 0, 0x8000) == (start, data)
        path.write_bytes(uf2([Segment(0x10000000 + start, data)]))
        first, found = flat(read_image(path, PICO), 0x10000000, 0x11000000)
        assert found[0x10000000 + start - first :][: len(data)] == data


def test_a_flat_file_begins_where_the_flash_does(tmp_path: Path) -> None:
    path = tmp_path / "f.bin"
    path.write_bytes(bytes(range(200)) * 2)
    image = read_image(path, PICO)
    assert [(s.address, s.data) for s in image.segments] == [(0x10000000, bytes(range(200)) * 2)]
    assert [(s.address, s.data) for s in read_image(path, UNO).segments] == [(0, bytes(range(200)) * 2)]
    path.write_bytes(b"\xe9" + bytes(99))  # an image of esptool
    assert "not firmware" in refused(path, Catalog.load().device("esp32c3"))
    path.write_bytes(bytes(2_097_153))
    assert "2,097,152" in refused(path, PICO)
