"""Firmware files record by record: what each kind of Intel hex line, UF2 block and ELF field does."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from motecrypt.base.errors import InputError
from motecrypt.base.model import Device
from motecrypt.catalog import Catalog
from motecrypt.simulate.emulate.conformance import Condition, Feature, read_features
from motecrypt.simulate.emulate.images import ARM, Image, Segment, elf_of, flat, intel_hex, read_image, uf2
from unit.run.elf_files import avr_elf, with_sections

UNO, PICO, STM32F4 = map(Catalog.load().device, ("uno", "pico", "stm32f4"))
FLASH = 0x10000000


def record(kind: int, offset: int, data: bytes) -> str:
    body = bytes([len(data), *offset.to_bytes(2, "big"), kind]) + data
    return f":{body.hex().upper()}{-sum(body) & 0xFF:02X}\n"


END = record(1, 0, b"")


def read(tmp_path: Path, content: str | bytes, device: Device = UNO) -> Image:
    path = tmp_path / "file"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_image(path, device)


def refused(tmp_path: Path, content: str | bytes, message: str, device: Device = UNO) -> None:
    with pytest.raises(InputError, match=message) as told:
        read(tmp_path, content, device)
    assert "\n" not in str(told.value)


def test_an_image_of_hex_lines(tmp_path: Path) -> None:
    text = record(0, 4, b"cd") + record(0, 0, b"abxx") + "\n  \n" + record(0, 0x100, b"z") + END
    image = read(tmp_path, text)
    assert image == Image(
        tmp_path / "file", (Segment(0, b"abxxcd"), Segment(0x100, b"z")), None, 7, None, 0, None
    )


@pytest.mark.parametrize(
    ("kind", "data", "address"),
    [(2, b"\x00\x10", 0x100), (4, b"\x10\x00", FLASH), (3, b"\x00\x10\x00\x00", 0), (5, bytes(4), 0)],
)
def test_lines_that_say_where_the_next_ones_lie(kind: int, data: bytes, address: int, tmp_path: Path) -> None:
    text = record(0, 0, b"ab") if address != FLASH else ""
    text += record(kind, 0, data) + record(0, 2, b"cd") + END
    found = read(tmp_path, text, PICO if address == FLASH else UNO).segments
    assert found[-1].address + len(found[-1].data) == address + 4 and found[-1].data.endswith(b"cd")


def test_behind_the_end_of_a_hex_file_nothing_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, record(0, 0, b"a") + END + "no record\n" + record(0, 9, b"b")).segments == (
        Segment(0, b"a"),
    )
    refused(tmp_path, record(0, 0, b"a") + record(0, 9, b"b"), "truncated: it has no end record")
    refused(tmp_path, END, "truncated: it has no end record")
    for damaged in (":0", ":zz00000000", "000100006100", ":00000001FE", ":0100000061", ":00000000", ":"):
        refused(tmp_path, record(0, 0, b"a") + damaged + "\n" + END, "line 2 is damaged")
    assert intel_hex([Segment(0, bytes(range(17)))]) == (
        ":10000000000102030405060708090A0B0C0D0E0F78\n:0100100010DF\n:00000001FF\n"
    )


def block(**changes: int | bytes) -> bytes:
    fields: dict[str, int | bytes] = {
        "first": 0x0A324655,
        "second": 0x9E5D5157,
        "flags": 0x2000,
        "address": FLASH,
        "size": 4,
        "number": 0,
        "total": 1,
        "family": 0xE48BFF56,
        "data": b"abcd" + bytes(472),
        "last": 0x0AB16F30,
    }
    return struct.pack("<8I476sI", *{**fields, **changes}.values())


def test_an_image_of_uf2_blocks(tmp_path: Path) -> None:
    good = (Segment(FLASH, b"abcd"),)
    assert read(tmp_path, block(), PICO) == Image(tmp_path / "file", good, None, 4, None, 0, None)
    assert read(tmp_path, block(flags=0, family=7), PICO).segments == good  # names no family
    both = block(total=2) + block(total=2, flags=0x2001, address=FLASH + 0x1000)
    assert read(tmp_path, both, PICO).segments == good  # what is not for the flash is left
    long = read(tmp_path, block(size=476), PICO)
    assert long.flash_bytes == 476
    for change in ({"second": 1}, {"last": 1}, {"size": 477}):
        refused(tmp_path, block(**change), "block 1 is damaged", PICO)
    refused(tmp_path, block(family=7), r"another chip \(UF2 family 0x7\); RP2040's is 0xe48bff56", PICO)
    refused(tmp_path, block(total=2), r"truncated: 1 of 2 blocks", PICO)
    refused(tmp_path, block() + block(total=1), r"truncated: 2 of 1 blocks", PICO)
    other = block(family=7, number=0, total=1, data=b"wxyz" + bytes(472))
    assert read(tmp_path, other + block(), PICO).segments == good  # for two chips, each counted alone
    assert read(tmp_path, block(total=2) + other, PICO).segments == good  # or together
    refused(tmp_path, other + block(total=3), r"truncated: 1 of 3 blocks", PICO)
    pico2, filled = Catalog.load().device("pico2"), {"family": 0xE48BFF57, "size": 4, "total": 2}
    for kept in ({"number": 1, "data": b"\xef" * 476}, {"number": 0}):  # absolute, and no placeholder
        whole = block(**filled, **kept) + block(**filled, number=1, address=FLASH + 4)
        assert read(tmp_path, whole, pico2).flash_bytes == 8
    assert (
        read(tmp_path, block(**filled, data=b"\xef" * 476) + block(family=0xE48BFF59), pico2).segments == good
    )
    refused(tmp_path, block()[:-1], r"truncated: a UF2 file has blocks of 512 bytes", PICO)


def test_a_page_of_a_uf2_file_is_filled_with_zeros() -> None:
    made = uf2([Segment(FLASH + 0xFE, b"abc")])
    rest = {"size": 256, "total": 2}
    assert made == block(**rest, data=bytes(254) + b"ab" + bytes(220)) + block(
        **rest, number=1, address=FLASH + 256, data=b"c" + bytes(475)
    )


def test_the_fields_of_an_elf_that_we_make() -> None:
    made = elf_of([Segment(FLASH, b"abcd"), Segment(FLASH + 64, b"xyz")], ARM, FLASH + 1)
    elf = ELFFile(io.BytesIO(made))
    header = elf.header
    told = [header[name] for name in ("e_type", "e_machine", "e_version", "e_entry", "e_flags", "e_ehsize")]
    assert told == ["ET_EXEC", "EM_ARM", "EV_CURRENT", FLASH + 1, 0, 52]
    sizes = ("e_phoff", "e_phentsize", "e_phnum", "e_shoff", "e_shentsize", "e_shnum", "e_shstrndx")
    assert [header[name] for name in sizes] == [52, 32, 2, 0, 40, 0, 0]
    assert made[:16] == b"\x7fELF\x01\x01\x01" + bytes(9) and len(made) == 52 + 2 * 32 + 7
    parts = list(elf.iter_segments())
    assert [(p["p_vaddr"], p["p_paddr"], p.data()) for p in parts] == [
        (FLASH, FLASH, b"abcd"),
        (FLASH + 64, FLASH + 64, b"xyz"),
    ]
    for part, size in zip(parts, (4, 3), strict=True):
        # readable and executable, aligned to words
        assert [part[f"p_{n}"] for n in ("type", "filesz", "memsz", "flags", "align")] == [
            "PT_LOAD",
            size,
            size,
            5,
            4,
        ]


def test_what_of_an_elf_takes_flash_and_ram(tmp_path: Path) -> None:
    code, data, eeprom = Segment(0, bytes(10)), Segment(0x800100, bytes(6)), Segment(0x810000, bytes(3))
    image = read(tmp_path, avr_elf(code, eeprom))
    assert (image.flash_bytes, image.ram_bytes, image.data_end) == (10, 0, 0)
    assert (image.segments, image.entry) == ((code, eeprom), 0)
    refused(tmp_path, avr_elf(code, data), "has 6 bytes at 0x800100, where uno has no memory")
    ram = Segment(0x20000100, bytes(6))
    image = read(tmp_path, elf_of([ram, Segment(FLASH, bytes(10))], ARM, 1), PICO)
    assert (image.flash_bytes, image.ram_bytes, image.data_end) == (16, 6, 0x20000106)
    assert [s.address for s in image.segments] == [FLASH, 0x20000100]
    refused(tmp_path, elf_of([], ARM, 1), "an ELF without segments to load", PICO)


def test_areas_of_an_avr_above_its_eeprom_have_any_size(tmp_path: Path) -> None:
    fuses = Segment(0x820000, bytes(1025))
    image = read(tmp_path, avr_elf(Segment(0, b"ab"), fuses))
    assert (image.segments[1], image.flash_bytes) == (fuses, 2)
    refused(tmp_path, avr_elf(Segment(0x81FFFF, b"x")), "has 1 bytes at 0x81ffff, where uno has no memory")
    refused(tmp_path, avr_elf(Segment(0x80FFFF, b"x")), "has 1 bytes at 0x80ffff, where uno has no memory")
    refused(tmp_path, avr_elf(Segment(0x8000, b"x")), "needs 32,769 of 32,768 bytes of flash")
    span = UNO.memory["flash"].span
    refused(tmp_path, avr_elf(Segment(span - 1, b"x")), f"needs {span:,} of 32,768 bytes of flash")
    refused(tmp_path, avr_elf(Segment(span, b"x")), f"has 1 bytes at {span:#x}, where uno has no memory")


def test_memories_of_a_pico_have_edges(tmp_path: Path) -> None:
    flash, ram = PICO.memory["flash"], PICO.memory["ram"]
    for memory in (flash, ram):
        last = elf_of([Segment(memory.address + memory.bytes - 1, b"x")], ARM, 1)
        assert read(tmp_path, last, PICO).segments[0].data == b"x"
    for address in (flash.address - 1, ram.address - 1):
        told = f"has 1 bytes at {address:#x}, where pico has no memory"
        refused(tmp_path, elf_of([Segment(address, b"x")], ARM, 1), told, PICO)


MACHINES = {
    2: "SPARC",
    3: "x86",
    8: "MIPS",
    20: "PowerPC",
    40: "ARM",
    62: "x86-64",
    94: "Xtensa",
    105: "MSP430",
    183: "AArch64",
    243: "RISC-V",
    258: "machine 258",
}


@pytest.mark.parametrize("number", MACHINES)
def test_a_firmware_for_another_machine_is_told(number: int, tmp_path: Path) -> None:
    told = rf"file: built for {MACHINES[number]}, and uno is ATmega328P; choose another --device$"
    refused(tmp_path, elf_of([Segment(0, b"ab")], number, 0), told)
    fields = (2, number, 1, 0, 52, 0, 0, 52, 32, 0, 40, 0, 0)
    big = b"\x7fELF\x01\x02\x01" + bytes(9) + struct.pack(">HHIIIIIHHHHHH", *fields)
    refused(tmp_path, big, told)


def test_an_avr_firmware_on_an_arm_is_told(tmp_path: Path) -> None:
    told = r"file: built for AVR, and pico is RP2040; choose another --device$"
    refused(tmp_path, avr_elf(Segment(0, b"ab")), told, PICO)


def test_an_avr_firmware_for_another_core_is_told(tmp_path: Path) -> None:
    made = bytearray(avr_elf(Segment(0, b"ab")))
    made[36] = 0x85  # another flag is above the core's bits
    assert read(tmp_path, bytes(made)).segments == (Segment(0, b"ab"),)
    for core in (4, 6):
        made[36] = core
        told = rf"file: built for avr{core}, and uno is ATmega328P; compile with -mmcu=atmega328p$"
        refused(tmp_path, bytes(made), told)


def test_the_chip_is_in_the_note_of_the_start_up_files(tmp_path: Path) -> None:
    def noted(data: bytes) -> bytes:
        section = {"name": ".note.gnu.avr.deviceinfo", "kind": 7, "data": data}
        return with_sections(avr_elf(Segment(0, b"ab")), section)

    for fits in (b"AVR\0atmega328p\0", b"AVR\0other\0", b""):
        assert read(tmp_path, noted(fits)).segments == (Segment(0, b"ab"),)
    for chip in ("atmega2560", "attiny85", "at90usb162", "atxmega16a4"):
        told = rf"built for {chip}, and uno is ATmega328P; compile with -mmcu=atmega328p$"
        refused(tmp_path, noted(b"x\0" + chip.encode() + b"\0atmega328p\0"), told)


def architecture(number: int | None, address: int = FLASH) -> bytes:
    """An ARM firmware that says for which architecture it is (ARM IHI 0045, Tag_CPU_arch)."""
    tags = b"\x05core\0" + (b"" if number is None else bytes([6, number]))
    file = b"\x01" + struct.pack("<I", 5 + len(tags)) + tags
    vendor = struct.pack("<I", 4 + 6 + len(file)) + b"aeabi\0" + file
    section = {"name": ".ARM.attributes", "kind": 0x70000003, "data": b"A" + vendor}
    return with_sections(elf_of([Segment(address, b"ab")], ARM, 1), section)


def test_the_architecture_of_an_arm_firmware(tmp_path: Path) -> None:
    for number in (None, 1, 2, 3, 4, 11, 12):
        assert read(tmp_path, architecture(number), PICO).segments == (Segment(FLASH, b"ab"),)
    others = {
        0: "architecture 0",
        5: "architecture 5",
        10: "v7",
        13: "v7E-M, as Cortex-M4",
        14: "v8-A",
        15: "architecture 15",
        16: "v8-M baseline",
        17: "v8-M mainline",
    }
    for number, name in others.items():
        told = (
            rf"file: built for another ARM core \({name}\), and pico is a cortex-m0plus; "
            r"compile with -mcpu=cortex-m0plus -mthumb$"
        )
        refused(tmp_path, architecture(number), told, PICO)


def test_a_cortex_m4_runs_what_is_built_for_it_and_for_smaller_cores(tmp_path: Path) -> None:
    for number in (None, 1, 2, 3, 4, 10, 11, 12, 13):
        content = architecture(number, 0x08000000)
        assert read(tmp_path, content, STM32F4).segments == (Segment(0x08000000, b"ab"),)
    for number, name in {5: "architecture 5", 14: "v8-A", 16: "v8-M baseline", 17: "v8-M mainline"}.items():
        told = (
            rf"another ARM core \({name}\), and stm32f4 is a cortex-m4; compile with -mcpu=cortex-m4 -mthumb$"
        )
        refused(tmp_path, architecture(number, 0x08000000), told, STM32F4)


#: github.com/microsoft/uf2, utils/uf2families.json: where a device's flash begins, and its chip's families.
FAMILIES = {
    "pico": (0x10000000, [0xE48BFF56]),
    "pico2": (0x10000000, [0xE48BFF59, 0xE48BFF5B, 0xE48BFF57]),
    "stm32f4": (0x08000000, [0x57755A57, 0x6D0922FA, 0x8FB060FE]),
    "stm32l1": (0x08000000, [0x9AF03E33]),
    "bluepill": (0x08000000, [0x5EE21072]),
    "nrf52840": (0x00000000, [0xADA52840]),
    "mkrzero": (0x00000000, [0x68ED2B88]),
    "stm32f0": (0x08000000, [0x647824B6]),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_uf2_file_of_a_chips_family_is_read(name: str, tmp_path: Path) -> None:
    begins, families = FAMILIES[name]
    segments = (Segment(begins + 0x1000, bytes(range(256))),)
    for family in families:
        assert read(tmp_path, uf2(segments, family), Catalog.load().device(name)).segments == segments


def test_a_uf2_file_is_for_the_device_whose_family_it_names(tmp_path: Path) -> None:
    segments = (Segment(0x08000000, bytes(256)),)
    for family in (0x57755A57, 0x6D0922FA, 0x8FB060FE):
        assert read(tmp_path, uf2(segments, family), STM32F4).segments == segments
    refused(tmp_path, uf2(segments), r"\(UF2 family 0xe48bff56\); STM32F407VG's is 0x57755a57$", STM32F4)
    refused(tmp_path, uf2(segments), r"\(UF2 family 0xe48bff56\); ATmega328P has none$", UNO)


def test_what_is_not_linked_or_cut_is_refused(tmp_path: Path) -> None:
    whole = avr_elf(Segment(0, b"abcd"))
    for kind, name in ((1, "ET_REL"), (3, "ET_DYN")):
        made = bytearray(whole)
        made[16] = kind
        refused(
            tmp_path, bytes(made), rf"file: an ELF that is not linked \({name}\); give the linked firmware$"
        )
    refused(tmp_path, whole[:-1], "file: truncated: it ends inside a segment; copy or build it again$")
    refused(tmp_path, whole[:40], r"file: damaged ELF file \(.+\); copy or build it again$")
    empty = elf_of([Segment(FLASH, b""), Segment(FLASH + 4, b"ab")], ARM, 1)
    assert read(tmp_path, empty, PICO).segments == (Segment(FLASH + 4, b"ab"),)


def test_ram_is_that_of_the_sections_in_it(tmp_path: Path) -> None:
    sections = [
        {"name": ".data", "flags": 3, "address": 0x800100, "data": b"abc"},
        {"name": ".bss", "kind": 8, "flags": 3, "address": 0x800110, "size": 9},
        {"name": ".noinit", "kind": 8, "flags": 3, "address": 0x800200, "size": 0},
        {"name": ".debug", "flags": 0, "address": 0x800300, "data": b"abcdef"},
        {"name": ".text", "flags": 6, "address": 0, "data": b"ab"},
    ]
    image = read(tmp_path, with_sections(avr_elf(Segment(0, b"ab")), *sections))
    assert (image.ram_bytes, image.data_end) == (12, 0x800119)
    assert image.path == image.elf == tmp_path / "file"
    image = read(tmp_path, with_sections(avr_elf(Segment(0, b"ab")), sections[4]))
    assert (image.ram_bytes, image.data_end) == (0, 0)


@pytest.mark.parametrize(
    ("device", "address", "room", "message"),
    [
        (UNO, 0, 32768, r"needs 32,769 of 32,768 bytes of flash"),
        (UNO, 0x810000, 1024, r"has 1,025 bytes at 0x810000, where uno has no memory"),
        (PICO, FLASH, 2 << 20, r"needs 2,097,153 of 2,097,152 bytes of flash"),
        (PICO, 0x20000000, 264 << 10, r"variables take 270,337 of 270,336 bytes of RAM"),
    ],
)
def test_a_memory_is_filled_to_the_last_byte(
    device: Device, address: int, room: int, message: str, tmp_path: Path
) -> None:
    def made(size: int) -> bytes:
        segment = Segment(address, bytes(size))
        return avr_elf(segment) if device is UNO else elf_of([segment], ARM, 1)

    assert len(read(tmp_path, made(room), device).segments[0].data) == room
    refused(tmp_path, made(room + 1), message, device)


def test_segments_made_flat() -> None:
    image = Image(Path(), (Segment(2, b"ab"), Segment(6, b"c"), Segment(9, b"d")), None, 0, None, 0, None)
    assert flat(image, 0, 9) == (2, b"ab\xff\xffc")
    assert flat(image, 3, 10) == (6, b"c\xff\xffd")
    assert flat(image, 10, 99) == (10, b"")


# --- data/conformance.toml ----------------------------------------------------------------------------------

FEATURE = {"chip": "c", "part": "p", "what": "w", "state": "partly", "by": "b", "bound": "o"}


def test_the_list_of_what_is_modelled_is_checked(tmp_path: Path) -> None:
    def features(**changes: object) -> list[tuple[str, Feature]]:
        values = {**FEATURE, **changes}
        text = "".join(f"{key} = {value!r}\n" for key, value in values.items())
        (tmp_path / "c.toml").write_text("[[feature]]\n" + text)
        return read_features(tmp_path / "c.toml")

    assert features() == [("c", Feature("p", "w", "partly", "b", "o"))]
    full = features(tests=["t"], note="n", when=["0x55:0x12:any", "1:2:0x3"], unless="u")
    conditions = (Condition(0x55, 0x12, None), Condition(1, 2, 3))
    assert full == [("c", Feature("p", "w", "partly", "b", "o", ("t",), "n", conditions, "u"))]
    for name in ("chip", "part", "what"):
        with pytest.raises(InputError, match=name):
            features(**{name: ""})
    with pytest.raises(InputError, match="state"):
        features(state="well")
    for wrong in ("1:2", "1:2:3:4", "1:x:3", "a:2:3", "1:2:some"):
        with pytest.raises(InputError, match=r"expected address:mask:value, as 0x55:0x12:any"):
            features(when=[wrong])
    with pytest.raises(InputError, match="more"):
        features(more="x")
