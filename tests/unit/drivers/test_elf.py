"""The reader of ELF files: each field of its headers (ELF 1.2), and each way a file can be wrong."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest
from natively import DEADLINE_S, compiled, limited

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")

ARM, AVR = 40, 83
LOAD, NOTE = 1, 4


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("elf_harness.c", tmp_path_factory.mktemp("elf"), "-fsanitize=address,undefined")


Header = tuple[int, int, int, int, int, int, int]
"""Type, offset, virtual and physical address, bytes in the file and in memory, flags."""


def elf(
    headers: list[Header],
    content: bytes = b"",
    *,
    ident: bytes = b"\x7fELF\x01\x01",
    kind: int = 2,
    machine: int = ARM,
    entry: int = 0x12345679,
    table: int = 52,
    entry_bytes: int = 32,
    count: int | None = None,
) -> bytes:
    number = len(headers) if count is None else count
    head = ident.ljust(16, b"\0")
    head += struct.pack(
        "<HHIIIIIHHHHHH", kind, machine, 1, entry, table, 0, 0, 52, entry_bytes, number, 40, 0, 0
    )
    rows = b"".join(struct.pack("<8I", *h, 4).ljust(entry_bytes, b"\xee") for h in headers)
    return head + bytes(table - 52 if table < 2**16 else 0) + rows + content


def load(program: Path, folder: Path, data: bytes, *more: str) -> list[str]:
    (folder / "f").write_bytes(data)
    done = subprocess.run(
        [program, folder / "f", *(more or (str(ARM),))],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
        preexec_fn=limited,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def told(header: Header, content: bytes) -> str:
    _, _, virtual, physical, size, memory, flags = header
    total = 0
    for byte in content:
        total = (total * 31 + byte) % 2**32
    return f"{physical} {virtual} {size} {memory} {flags & 1} {total}"


def test_segments_come_with_all_that_is_said_of_them(program: Path, tmp_path: Path) -> None:
    content = bytes(range(1, 50))
    for table, entry_bytes in ((52, 32), (60, 40)):
        at = table + 4 * entry_bytes
        headers: list[Header] = [
            (LOAD, at, 0xA1B2C3D4, 0x01020304, 10, 0x11223344, 5),
            (NOTE, at, 1, 2, 3, 4, 5),
            (LOAD, at, 7, 8, 0, 9, 7),  # without bytes
            (LOAD, at + 10, 0x20000000, 0x20000000, 39, 39, 6),
        ]
        lines = load(program, tmp_path, elf(headers, content, table=table, entry_bytes=entry_bytes))
        assert lines == [
            str(0x12345679),
            told(headers[0], content[:10]),
            told(headers[3], content[10:]),
            "loaded",
        ]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is too short for an ELF file"),
        (elf([])[:51], "is too short for an ELF file"),
        (elf([]), "has nothing to load"),
        (elf([(LOAD, 84, 0, 0, 1, 1, 5)], b"x"), "loaded"),
        (elf([(LOAD, 84, 0, 0, 2, 2, 5)], b"x"), "ends inside a segment"),
        (elf([(LOAD, 85, 0, 0, 1, 1, 5)], b"x"), "ends inside a segment"),
        (elf([(LOAD, 0xFFFFFFFF, 0, 0, 2, 1, 5)], b"x"), "ends inside a segment"),
        (elf([(LOAD, 2, 0, 0, 0xFFFFFFFF, 1, 5)], b"x"), "ends inside a segment"),
        (elf([(LOAD, 84, 0, 0, 0, 1, 5)]), "has nothing to load"),
        (elf([(NOTE, 84, 0, 0, 0, 1, 5)]), "has nothing to load"),
        (elf([(NOTE, 84, 0, 0, 0, 1, 5)])[:-1], "ends inside its program headers"),
        (elf([], count=1), "ends inside its program headers"),
        (elf([], table=0xFFFFFFF0, count=1), "ends inside its program headers"),
        (elf([], entry_bytes=31), "has no program headers"),
        (
            elf([(LOAD, 84, 0, 0, 1, 1, 5)], b"x", ident=b"\x7fELF\x02\x01"),
            "is not a 32-bit little-endian ELF file",
        ),
        (
            elf([(LOAD, 84, 0, 0, 1, 1, 5)], b"x", ident=b"\x7fELF\x01\x02"),
            "is not a 32-bit little-endian ELF file",
        ),
        (
            elf([(LOAD, 84, 0, 0, 1, 1, 5)], b"x", ident=b"\x7eELF\x01\x01"),
            "is not a 32-bit little-endian ELF file",
        ),
        (elf([(LOAD, 84, 0, 0, 1, 1, 5)], b"x", kind=3), "is not an executable for this processor"),
        (elf([(LOAD, 84, 0, 0, 1, 1, 5)], b"x", kind=0x102), "is not an executable for this processor"),
        (elf([(LOAD, 84, 0, 0, 1, 1, 5)], b"x", machine=AVR), "is not an executable for this processor"),
        (
            elf([(LOAD, 84, 0, 0, 1, 1, 5)], b"x", machine=ARM + 256),
            "is not an executable for this processor",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_said_of_a_file(program: Path, tmp_path: Path, data: bytes, said: str) -> None:
    assert load(program, tmp_path, data)[-1] == said


def test_the_processor_is_the_callers(program: Path, tmp_path: Path) -> None:
    data = elf([(LOAD, 84, 0, 0, 1, 1, 5)], b"x", machine=AVR)
    assert load(program, tmp_path, data, str(AVR))[-1] == "loaded"


def test_what_the_caller_refuses_is_refused(program: Path, tmp_path: Path) -> None:
    headers: list[Header] = [(LOAD, 116, 0, n, 1, 1, 5) for n in (8, 9)]
    lines = load(program, tmp_path, elf(headers, b"x"), str(ARM), "8")
    assert len(lines) == 3 and lines[-1] == "is refused"


def test_files_that_are_none(program: Path, tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    done = subprocess.run(
        [program, tmp_path / "none", "40"], capture_output=True, text=True, timeout=20, check=True
    )
    assert done.stdout == "cannot be opened\n"
    done = subprocess.run(
        [program, tmp_path / "f", "40"], capture_output=True, text=True, timeout=20, check=True
    )
    assert done.stdout.strip() in (
        "cannot be read",
        "is too short for an ELF file",
        "is too long for a firmware's ELF file",
    )


@pytest.mark.parametrize(
    ("size", "said"),
    [
        ((256 << 20) + 1, "is too long for a firmware's ELF file"),
        (256 << 20, "is not a 32-bit little-endian ELF file"),
    ],
)
def test_no_file_is_longer_than_a_firmware_with_all_it_may_carry(
    program: Path, tmp_path: Path, size: int, said: str
) -> None:
    """A file of a quarter of a gigabyte, most of it a hole, is read; one byte more is refused."""
    with (tmp_path / "f").open("wb") as file:
        file.write(b"no ELF file")
        file.truncate(size)
    done = subprocess.run(
        [program, tmp_path / "f", "40"], capture_output=True, text=True, timeout=20, check=True
    )
    assert done.stdout == said + "\n"
