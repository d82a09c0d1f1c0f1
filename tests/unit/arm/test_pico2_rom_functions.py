"""The functions of the Pico 2's boot ROM (RP2350 data sheet, 5.4): results, cycles, and what is not there."""

from __future__ import annotations

from pathlib import Path

from pico2_board import built, go, numbers

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")
WORDS = "(uint32_t)(uintptr_t)words"
NO, SMALL, ADDRESS = 0xFFFFFFEF, 0xFFFFFFF3, 0xFFFFFFF6  # -17, -13, -10
KEPT = 0x1234
#: Function and arguments; what it returns, and its cycles.
CALLS: list[tuple[str, str, int, int]] = [
    *((code, f"{KEPT}, 0, 0", 0, 60) for code in ("SR", "SS", "LP", "EB")),
    *((code, f"{KEPT}, 0, 0", KEPT, 100) for code in ("RA", "XM")),
    *((code, f"{KEPT}, 0, 0", NO, 100) for code in ("GB", "AB", "GU")),
    ("FA", "0x10000100, 0, 0", 0x10000100, 30),
    ("FA", "0x103FFFFF, 0, 0", 0x103FFFFF, 30),
    ("FA", "0x10400000, 0, 0", ADDRESS, 30),
    ("FA", "0x0FFFFFFF, 0, 0", ADDRESS, 30),
    *(("GS", f"{WORDS}, 17, {1 << bit}", 1 + more, 200) for bit, more in enumerate((3, 1, 1, 1, 4, 2, 4))),
    *(("GS", f"{WORDS}, {more}, {1 << bit}", SMALL, 200) for bit, more in enumerate((3, 1, 1, 1, 4, 2, 4))),
    ("GS", f"{WORDS}, 17, 0xFFFFFF80", 1, 200),
    ("GS", f"{WORDS}, 17, 0x7F", 17, 200),
    ("GS", "0, 17, 0x7F", 0xFFFFFFFB, 200),
    ("GP", f"{WORDS} + 80, 3, 1", SMALL, 200),
    ("GP", f"{WORDS} + 80, 4, 1", 4, 200),
    ("GP", "0, 4, 1", 0xFFFFFFFB, 200),
    *(
        (code, f"{KEPT}, 0, 0", KEPT, cycles)
        for code, cycles in (("IF", 200), ("EX", 300), ("CX", 300), ("FC", 40))
    ),
]
BOARD = [0x6D6F7465, 0x63727970, 0x74207231, 0x32333530]  # its number, and the chip's
INFORMATION = [0x7F, 1, 0x6D6F7465, 0x70693032, 0, 0, 12 << 8, *BOARD, 1, 2, 0xFF00, 0, 0, 0]
PARTITIONS = [1, 0, 0xFC000000, 0xFC000000]


def test_results_and_cycles_of_each_function(tmp_path: Path) -> None:
    lines = [f"{{{{'{code[0]}', '{code[1]}'}}, {{{given}}}}},\n" for code, given, *_ in CALLS]
    (tmp_path / "rom_calls.h").write_text("".join(lines))
    said, _ = go(built(tmp_path, "pico2_rom.c", f"-I{tmp_path}"))
    found = [[int(number, 16) for number in line.split()] for line in numbers(said, "call")]
    assert [result for result, _ in found] == [result for _, _, result, _ in CALLS]
    around = found[0][1] - 60  # the call, and the reads of the count
    assert [cycles - around for _, cycles in found] == [cycles for *_, cycles in CALLS] and 0 < around < 40
    words = [int(number, 16) for number in numbers(said, "words")[0].split()]
    assert words == [*INFORMATION, 0, 0, 0, *PARTITIONS]
    assert {int(number, 16) for number in numbers(said, "absent")[0].split()} == {0}
