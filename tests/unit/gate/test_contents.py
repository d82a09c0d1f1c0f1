"""What functions and variables take of flash and RAM, compared with GNU nm's sizes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from motecrypt.base.model import Memory
from motecrypt.simulate.emulate.contents import ContentItem, contents_of
from motecrypt.simulate.emulate.symbols import read_symbols
from tool_sets import needs_tool_set

SOURCE = """
const unsigned char table[40] = {1};
unsigned char filled[24] = {2}, empty[100];
static int *counted(void) { static int count = 7; return &count; }
__attribute__((noinline)) int flash_code(int x) { return x * 3 + table[x & 31] + *counted(); }
__attribute__((noinline, section(".ram_code")))
int ram_code(int x) { return x * x - filled[x & 15] + empty[x]; }
void _start(void) { for (;;) filled[0] = (unsigned char)(flash_code(1) + ram_code(2)); }
"""
RAM = Memory(0x10000, 0x20000000, 0x10000)


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("contents")
    (folder / "a.c").write_text(SOURCE)
    places = ("-Wl,-Ttext=0x10000", "-Wl,-Tdata=0x20000000", "-Wl,--section-start=.ram_code=0x20008000")
    command = [
        "gcc",
        "-O1",
        "-nostdlib",
        "-static",
        "-no-pie",
        "-fno-pic",
        "-w",
        *places,
        "a.c",
        "-o",
        "a.elf",
    ]
    subprocess.run(command, cwd=folder, check=True, timeout=120)
    return folder / "a.elf"


@pytest.fixture(scope="module")
def sizes(elf: Path) -> dict[str, int]:
    """By nm, names without the number of a static variable."""
    told = subprocess.run(["nm", "-S", elf], capture_output=True, text=True, check=True, timeout=60).stdout
    rows = [line.split() for line in told.splitlines() if len(line.split()) == 4]
    return {name.partition(".")[0]: int(size, 16) for _, size, _, name in rows}


@needs_tool_set("host")
@pytest.mark.parametrize(
    ("name", "flash", "ram", "is_code"),
    [
        ("flash_code", True, False, True),
        ("ram_code", True, True, True),
        ("table", True, False, False),
        ("filled", True, True, False),
        ("empty", False, True, False),
        ("count", True, True, False),
    ],
)
def test_each_takes_its_bytes_of_each_memory(
    elf: Path, sizes: dict[str, int], name: str, flash: bool, ram: bool, is_code: bool
) -> None:
    (found,) = [
        each for each in contents_of(elf, read_symbols(elf, "c++filt"), {"ram": RAM}) if each.name == name
    ]
    size = sizes[name]
    assert size > 3
    assert found == ContentItem(name, found.address, size * flash, size * ram, is_code)


@needs_tool_set("host")
def test_without_ram_all_is_flash(elf: Path, sizes: dict[str, int]) -> None:
    found = {each.name: each for each in contents_of(elf, read_symbols(elf, "c++filt"), {})}
    assert {name: (found[name].flash, found[name].ram) for name in sizes if name in found} == {
        name: (size, 0) for name, size in sizes.items() if name in found
    }
    assert {"flash_code", "ram_code", "table", "filled"} <= set(found)
