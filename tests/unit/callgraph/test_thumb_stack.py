"""What each Thumb-2 instruction of 32 bits does to the stack, compared with the text of GNU objdump."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from motecrypt.simulate.callgraph.code import Call, MachineCode, State
from motecrypt.simulate.callgraph.thumb import thumb_step
from tool_sets import needs_tool_set

#: The first halves of what moves the stack pointer, or reads next to it: stores and loads of one, of two and
#: of several registers, of floating-point registers, and sums of the pointer; each with second halves.
STORES = (0xF84D, 0xF85D)
PAIRS = (0xE96D, 0xE97D, 0xE9ED, 0xE9FD, 0xE86D, 0xE87D, 0xE8ED, 0xE8FD, 0xE94D, 0xE95D)
LISTS = (0xE92D, 0xE8BD, 0xE90D, 0xE89D)
VECTORS = (0xED2D, 0xED6D, 0xECBD, 0xECFD)
SUMS = (0xF1AD, 0xF10D, 0xF5AD, 0xF50D, 0xF2AD, 0xF20D, 0xF6AD, 0xF60D)
SECONDS = {
    STORES: [
        r << 12 | form << 8 | n
        for r in (0, 4, 11, 14, 15)
        for form in (9, 11, 12, 13, 15)
        for n in (0, 4, 255)
    ],
    PAIRS: [r << 12 | (r + 1) << 8 | n for r in (0, 4, 10) for n in (1, 2, 255)],
    LISTS: [0x0011, 0x00F0, 0x4010, 0x8010, 0x5FFF, 0x9FFC],
    VECTORS: [0x8B02, 0x8B10, 0x0B04, 0x8A01, 0x0A03],
    SUMS: [n << 12 | 0xD00 | low for n in range(8) for low in (0, 8, 0x7F, 0xFF)],
}
WORDS = [(first, second) for firsts, seconds in SECONDS.items() for first in firsts for second in seconds]
LINE = re.compile(r"^ *[0-9a-f]+:\t([0-9a-f]{4}) ([0-9a-f]{4}) +\t([\w.]+)\t([^;@\n]*)", re.MULTILINE)
REGISTERS = {"sl": 10, "fp": 11, "ip": 12, "sp": 13, "lr": 14, "pc": 15} | {f"r{n}": n for n in range(16)}


def listed(operands: str) -> list[int]:
    """The registers between braces, and how many of them: of floating-point ones, of 4 bytes each."""
    found = []
    for part in re.findall(r"[^,{} ]+", operands[operands.index("{") :]):
        first, _, last = part.partition("-")
        if first[0] in "sd" and first[1:].isdigit():
            words = 2 if first[0] == "d" else 1
            found += [-1] * words * (int((last or first)[1:]) - int(first[1:]) + 1)
        else:
            found += range(REGISTERS[first], REGISTERS[last or first] + 1)
    return found


def told(name: str, operands: str) -> tuple[int, set[int]]:
    """By how many bytes the stack gets deeper, and which registers are loaded."""
    kind = name.partition(".")[0]
    if "{" in operands:
        registers = listed(operands)
        moves = "!" in operands or kind in ("push", "pop", "vpush", "vpop")
        loads = kind.startswith(("pop", "ldm", "vpop", "vldm"))
        bytes_ = 4 * len(registers) * moves
        return (-bytes_ if loads else bytes_), {r for r in registers if loads and r >= 0}
    if kind in ("sub", "subw", "add", "addw"):
        number = int(operands.rpartition("#")[2])
        return (number if kind.startswith("sub") else -number), set()
    moved = re.search(r"\[sp, #(-?\d+)\]!|\[sp\], #(-?\d+)", operands)
    number = 0 if moved is None else int(moved[1] or moved[2])
    loaded = {REGISTERS[r.strip()] for r in operands[: operands.index("[")].split(",") if r.strip()}
    return -number, loaded if kind.startswith("ldr") else set()


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, int], tuple[str, str]]:
    """Name and operands of each word, as objdump writes them."""
    folder = tmp_path_factory.mktemp("thumb")
    halves = (half.to_bytes(2, "little") for word in WORDS for half in word)
    (folder / "words").write_bytes(b"".join(halves))
    command = ["arm-none-eabi-objdump", "-D", "-z", "-b", "binary", "-m", "arm", "-M", "force-thumb", "words"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=120)
    return {(int(a, 16), int(b, 16)): (name, operands) for a, b, name, operands in LINE.findall(done.stdout)}


@needs_tool_set("pico")
def test_each_does_to_the_stack_what_its_text_says(
    texts: dict[tuple[int, int], tuple[str, str]],
) -> None:
    wrong, compared = [], 0
    for (first, second), (name, operands) in texts.items():
        if "undefined" in name or "unpredictable" in operands.lower() or name.startswith(("strt", "ldrt")):
            continue
        code = MachineCode(((0x100, first.to_bytes(2, "little") + second.to_bytes(2, "little")),), (), {}, ())
        before = {register: ("number", register) for register in range(13)}
        found = thumb_step(code, 0x100, State(12345, before))
        deeper, loaded = told(name, operands)
        compared += 1
        kept = {r: v for r, v in before.items() if r not in loaded}
        known = dict(found.state.known)
        right = known == kept if deeper else known.items() <= kept.items()
        expected = (4, 12345 + deeper, 15 not in loaded, True)
        if (found.size, found.state.depth, found.follows, right) != expected:
            wrong.append(f"{first:04x} {second:04x} {name} {operands}: {found}")
    assert not wrong, "\n".join(wrong[:20])
    assert compared > 0.8 * len(WORDS)


# --- where each goes, and the numbers that it puts into registers

AT = 0x8000000  # objdump is given this address
FLOW = (
    *(0x4700 | n << 3 for n in (0, 3, 12, 14)),  # bx
    *(0x4780 | n << 3 for n in (0, 3, 12)),  # blx
    *(0x4687 | n << 3 for n in (0, 2, 14)),  # mov pc
    *(0xE000 | n for n in (0, 1, 0x3FF, 0x400, 0x7FF)),  # b
    *(0xD000 | c << 8 | n for c in (0, 1, 13) for n in (0, 0x7F, 0x80, 0xFF)),  # b<c>
    *(0xB100 | z << 11 | i << 9 | n << 3 for z in (0, 1) for i in (0, 1) for n in (0, 1, 31)),  # cbz, cbnz
    *(0xB000 | n for n in (1, 0x7F, 0x81, 0xFF)),  # add, sub sp
    *(0xB400 | n for n in (1, 0x100, 0x1F0)),  # push
    *(0xBC00 | n for n in (1, 0xF0, 0x100, 0x1F0)),  # pop
    *(0xDE00, 0xDEFF, 0xBF00, 0x2105, 0x4611),
)
WIDE_FLOW = (
    *(
        (0xF000 | h, 0x9000 | j | n)
        for h in (0, 1, 0x3FF, 0x400, 0x7FF)
        for j in (0, 0x2000, 0x800, 0x2800)
        for n in (0, 1, 0x7FF)
    ),  # b.w
    *(
        (0xF000 | h, 0xD000 | j | n)
        for h in (0, 1, 0x3FF, 0x400, 0x7FF)
        for j in (0, 0x2000, 0x800, 0x2800)
        for n in (0, 1, 0x7FF)
    ),  # bl
    *(
        (0xF000 | c << 6 | h | s, 0x8000 | j | n)
        for c in (0, 13)
        for h in (0, 63)
        for s in (0, 0x400)
        for j in (0, 0x2000, 0x800, 0x2800)
        for n in (0, 0x7FF)
    ),  # b<c>.w
    *((0xE8D0 | n, m) for n in (0, 15) for m in (0xF000, 0xF011)),  # tbb, tbh
    *((0xF8D0 | n, 0xF000 | k) for n in (2, 15) for k in (0, 4)),  # ldr pc
    *((0xE8D1, 0x0F4F), (0xE8D1, 0xEF5F), (0xE8C1, 0x2F40)),  # ldrexb, ldrexh, strexb: no tables
)
NUMBERS = (
    *(
        (0xF240 | n | i, m << 12 | 0x300 | k)
        for n in (0, 1, 15)
        for i in (0, 0x400)
        for m in (0, 1, 7)
        for k in (0, 255)
    ),  # movw
    *(
        (0xF04F | i, m << 12 | 0x300 | k)
        for i in (0, 0x400)
        for m in range(8)
        for k in (0, 1, 0x7F, 0x80, 0xFF)
    ),  # mov
)
ROW = re.compile(
    r"^ *([0-9a-f]+):\t([0-9a-f]{4}(?: [0-9a-f]{4})?) +\t([\w.]+)(?:\t([^;@\n]*))?", re.MULTILINE
)


def disassembled(folder: Path, words: Sequence[tuple[int, ...]]) -> list[tuple[int, bytes, str, str]]:
    """Address, bytes, name and operands of each word, with a `nop` of 16 bits after each."""
    data = b"".join(half.to_bytes(2, "little") for word in words for half in (*word, 0xBF00))
    (folder / "words").write_bytes(data)
    command = ["arm-none-eabi-objdump", "-D", "-z", "-b", "binary", "-m", "arm", "-M", "force-thumb"]
    command += [f"--adjust-vma={AT:#x}", "words"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=120)
    found = {
        int(at, 16): (halves, name, operands or "") for at, halves, name, operands in ROW.findall(done.stdout)
    }
    rows, at = [], AT
    for word in words:
        halves, name, operands = found.get(at, ("", "", ""))
        if halves == " ".join(f"{half:04x}" for half in word):
            rows.append((at, b"".join(half.to_bytes(2, "little") for half in word), name, operands.strip()))
        at += 2 * len(word) + 2
    return rows


@needs_tool_set("pico")
def test_each_goes_where_its_text_says(tmp_path: Path) -> None:
    words = [*((word,) for word in FLOW), *WIDE_FLOW]
    rows = disassembled(tmp_path, words)
    assert len(rows) > 0.9 * len(words)
    for at, content, name, operands in rows:
        found = thumb_step(MachineCode(((at, content),), (), {}, ()), at, State(61, {4: ("number", 1)}))
        size, kind = len(content), name.partition(".")[0]
        target = re.search(r"0x([0-9a-f]+)$", operands)
        goes = (
            (int(target[1], 16),) if target and kind not in ("push", "pop", "add", "sub", "bl", "ldr") else ()
        )
        moved = told(name, operands)[0] if kind in ("push", "pop", "add", "sub") else 0
        assert found.state.depth == 61 + moved, (name, operands)
        said = (size, kind, goes)
        ends = kind in ("bx", "udf", "tbb", "tbh", "b") or operands.startswith("pc") or "pc}" in operands
        calls = ()
        if kind == "blx" or (kind == "bx" and operands != "lr"):
            calls = (Call(at, None, 61, "pointer"),)
        elif kind == "bl":
            assert target is not None
            calls = (Call(at, int(target[1], 16), 61, "call"),)
        table = kind in ("tbb", "tbh") or (operands.startswith("pc") and not operands.endswith("lr"))
        assert (found.size, kind, found.targets) == said, (name, operands)
        assert (found.follows, found.calls, found.table) == (not ends, calls, table), (name, operands)


@needs_tool_set("pico")
def test_a_number_is_what_its_text_says(tmp_path: Path) -> None:
    rows = disassembled(tmp_path, NUMBERS)
    assert len(rows) > 0.9 * len(NUMBERS)
    for at, content, name, operands in rows:
        found = thumb_step(MachineCode(((at, content),), (), {}, ()), at, State(64))
        number = int(operands.rpartition("#")[2])
        signed = number - (1 << 32) if number >> 31 else number  # as of a word that is loaded
        assert found.state.known == {3: ("number", signed)}, (name, operands)


@pytest.mark.parametrize("at", [0x100, 0x102])
def test_a_literal_is_read_from_the_word_that_follows_the_aligned_address(at: int) -> None:
    pool = bytes(range(0x40, 0x80))
    known = []
    for halves in ((0x4B02,), (0xF8DF, 0x3008), (0xF85F, 0x3008)):
        content = b"".join(half.to_bytes(2, "little") for half in halves)
        start = at & ~3
        code = MachineCode(((start - 0x20, bytes(0x20)), (at, content), (start + 8, pool)), (), {}, ())
        if halves[0] == 0xF85F:
            code = MachineCode(((start - 8, pool[:8]), (at, content)), (), {}, ())
        known.append(thumb_step(code, at, State(64)).state.known)
    word = int.from_bytes(pool[4:8], "little")
    assert known == [{3: ("number", word)}] * 2 + [{3: ("number", word)}]


@pytest.mark.parametrize("shift", [0, 1, 3, 4, 31])
@pytest.mark.parametrize("adds", [False, True])
def test_the_pointer_moves_by_a_shifted_register(shift: int, adds: bool) -> None:
    first = (0xEB00 if adds else 0xEBA0) | 13
    second = (shift >> 2) << 12 | 13 << 8 | (shift & 3) << 6 | 5
    content = first.to_bytes(2, "little") + second.to_bytes(2, "little")
    code = MachineCode(((0, content),), (), {}, ())
    moved = thumb_step(code, 0, State(64, {5: ("number", 3)}))
    assert moved.state.depth == 64 + (-3 if adds else 3) * 2**shift and not moved.dynamic
    assert thumb_step(code, 0, State(64)).dynamic
    assert thumb_step(code, 0, State(64, {5: ("stack", 3)})).dynamic
    turned = MachineCode(((0, content[:2] + (second | 0x10).to_bytes(2, "little")),), (), {}, ())
    assert thumb_step(turned, 0, State(64, {5: ("number", 3)})).dynamic
