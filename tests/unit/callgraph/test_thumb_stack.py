"""What each Thumb-2 instruction of 32 bits does to the stack, compared with the text of GNU objdump."""

from __future__ import annotations

import re
import subprocess

import pytest

from motecrypt.simulate.callgraph.code import MachineCode, State
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
        found = thumb_step(code, 0x100, State(4096, before))
        deeper, loaded = told(name, operands)
        compared += 1
        kept = {r: v for r, v in before.items() if r not in loaded}
        known = dict(found.state.known)
        right = known == kept if deeper else known.items() <= kept.items()
        expected = (4, 4096 + deeper, 15 not in loaded, True)
        if (found.size, found.state.depth, found.follows, right) != expected:
            wrong.append(f"{first:04x} {second:04x} {name} {operands}: {found}")
    assert not wrong, "\n".join(wrong[:20])
    assert compared > 0.8 * len(WORDS)
