"""Instructions of RV32IMAC as an assembler encodes them: operation, registers and number, by their text."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from motecrypt.build.toolchain.drivers import DRIVERS
from tool_sets import needs_tool_set
from unit.drivers.natively import HERE, ask, compiled

pytestmark = needs_tool_set("riscv")
OPERATIONS = re.findall(r"X\((\w+), \"", (DRIVERS / "riscv_decode.h").read_text())
SINK = 32
"""Where what is written to x0 goes."""
BASE, M, A, C, E = (1 << bit for bit in range(5))
REGISTERS = [(1, 2, 3), (31, 17, 9), (8, 16, 24)]


@dataclass(frozen=True)
class Line:
    """An instruction; `number`: None where it has none."""

    text: str
    operation: str
    rd: int = SINK
    rs1: int = 0
    rs2: int = 0
    number: int | None = None
    part: int = BASE
    """Of the instruction set."""


def words() -> list[Line]:
    lines = []
    for d, a, b in REGISTERS:
        for op in ["add", "sub", "sll", "slt", "sltu", "xor", "srl", "sra", "or", "and"]:
            lines.append(Line(f"{op} x{d}, x{a}, x{b}", op.upper(), d, a, b))
        for op in ["mul", "mulh", "mulhsu", "mulhu", "div", "divu", "rem", "remu"]:
            lines.append(Line(f"{op} x{d}, x{a}, x{b}", op.upper(), d, a, b, part=M))
        for number in (-2048, 2047, 1365):
            for op in ["addi", "slti", "sltiu", "xori", "ori", "andi"]:
                lines.append(Line(f"{op} x{d}, x{a}, {number}", op.upper(), d, a, 0, number))
            for op in ["lb", "lh", "lw", "lbu", "lhu", "jalr"]:
                lines.append(Line(f"{op} x{d}, {number}(x{a})", op.upper(), d, a, 0, number))
            for op in ["sb", "sh", "sw"]:
                lines.append(Line(f"{op} x{b}, {number}(x{a})", op.upper(), SINK, a, b, number))
        for op, number in [(op, number) for op in ("slli", "srli", "srai") for number in (1, 31, 21)]:
            lines.append(Line(f"{op} x{d}, x{a}, {number}", op.upper(), d, a, 0, number))
        for op, offset in [
            (op, n) for op in ("beq", "bne", "blt", "bge", "bltu", "bgeu") for n in (-4096, 4094, 2730)
        ]:
            lines.append(Line(f"{op} x{a}, x{b}, . + {offset}", op.upper(), SINK, a, b, offset))
        for offset in (-1048576, 1048574, 699050):
            lines.append(Line(f"jal x{d}, . + {offset}", "JAL", d, 0, 0, offset))
        for op, number in [(op, number) for op in ("lui", "auipc") for number in (0xFFFFF, 0x12345)]:
            lines.append(Line(f"{op} x{d}, {number}", op.upper(), d, 0, 0, number << 12))
        for op in ["csrrw", "csrrs", "csrrc"]:
            lines.append(Line(f"{op} x{d}, 0x5A5, x{a}", op.upper(), d, a, 0, 0x5A5))
            lines.append(Line(f"{op}i x{d}, 0xFFF, 21", f"{op.upper()}I", d, 0, 0, 0xFFF | 21 << 12))
        lines.append(Line(f"lr.w x{d}, (x{a})", "LR_W", d, a, part=A))
        lines.append(Line(f"sc.w x{d}, x{b}, (x{a})", "SC_W", d, a, b, part=A))
        for op in ["swap", "add", "xor", "and", "or", "min", "max", "minu", "maxu"]:
            lines.append(Line(f"amo{op}.w.aqrl x{d}, x{b}, (x{a})", f"AMO{op.upper()}", d, a, b, part=A))
    for op in ["ecall", "ebreak", "mret", "wfi", "fence", "fence.i"]:
        lines.append(Line(op, op.upper().replace(".", "_")))
    return [
        *lines,
        Line("addi x0, x1, 5", "ADDI", SINK, 1, 0, 5),
        Line("jal x0, . + 4", "JAL", SINK, 0, 0, 4),
    ]


def halves() -> list[Line]:
    lines = []
    for d, a in ((8, 15), (15, 8), (10, 13)):
        for number in (4, 1020, 680):
            lines.append(Line(f"c.addi4spn x{d}, sp, {number}", "ADDI", d, 2, 0, number))
        for number in (0, 124, 84):
            lines.append(Line(f"c.lw x{d}, {number}(x{a})", "LW", d, a, 0, number))
            lines.append(Line(f"c.sw x{d}, {number}(x{a})", "SW", SINK, a, d, number))
        for op in ["sub", "xor", "or", "and"]:
            lines.append(Line(f"c.{op} x{d}, x{a}", op.upper(), d, d, a))
        for op, number in [(op, number) for op in ("srli", "srai") for number in (1, 31, 21)]:
            lines.append(Line(f"c.{op} x{d}, {number}", op.upper(), d, d, 0, number))
        lines += [Line(f"c.andi x{d}, {number}", "ANDI", d, d, 0, number) for number in (-32, 31, 21)]
        for number in (-256, 254, 170):
            lines.append(Line(f"c.beqz x{d}, . + {number}", "BEQ", SINK, d, 0, number))
            lines.append(Line(f"c.bnez x{d}, . + {number}", "BNE", SINK, d, 0, number))
    for d, a in ((1, 31), (31, 1), (20, 11)):
        for number in (-32, 31, 21):
            lines.append(Line(f"c.addi x{d}, {number}", "ADDI", d, d, 0, number))
            lines.append(Line(f"c.li x{d}, {number}", "ADDI", d, 0, 0, number))
        for number, value in ((1, 1), (31, 31), (0xFFFE0, -32), (21, 21)):
            lines.append(Line(f"c.lui x{d}, {number}", "LUI", d, 0, 0, value << 12))
        lines += [Line(f"c.slli x{d}, {number}", "SLLI", d, d, 0, number) for number in (1, 31, 21)]
        for number in (0, 252, 168):
            lines.append(Line(f"c.lwsp x{d}, {number}(sp)", "LW", d, 2, 0, number))
            lines.append(Line(f"c.swsp x{d}, {number}(sp)", "SW", SINK, 2, d, number))
        lines.append(Line(f"c.jr x{d}", "JALR", SINK, d, 0, 0))
        lines.append(Line(f"c.jalr x{d}", "JALR", 1, d, 0, 0))
        lines.append(Line(f"c.mv x{d}, x{a}", "ADD", d, 0, a))
        lines.append(Line(f"c.add x{d}, x{a}", "ADD", d, d, a))
    for number in (-2048, 2046, 1364, 682):
        lines.append(Line(f"c.j . + {number}", "JAL", SINK, 0, 0, number))
        lines.append(Line(f"c.jal . + {number}", "JAL", 1, 0, 0, number))
    lines += [Line(f"c.addi16sp sp, {number}", "ADDI", 2, 2, 0, number) for number in (-512, 496, 336, 160)]
    return [*lines, Line("c.nop", "ADDI", SINK, 0, 0, 0), Line("c.ebreak", "EBREAK")]


def encoded(lines: list[Line], folder: Path) -> list[tuple[int, int]]:
    source, built, flat = folder / "f.s", folder / "f.o", folder / "f.flat"
    options = ".option norelax\n.option norvc\n"
    text = "".join(
        (".option rvc\n" if line.text.startswith("c.") else "")
        + f"{line.text}\n.option norvc\n.balign 8, 0\n"
        for line in lines
    )
    source.write_text(f"{options}.balign 8\n{text}")
    flags = ["-march=rv32imac", "-mabi=ilp32", "-misa-spec=2.2"]
    subprocess.run(["riscv64-unknown-elf-as", *flags, source, "-o", built], check=True, timeout=60)
    subprocess.run(
        ["riscv64-unknown-elf-ld", "-melf32lriscv", "-Ttext=0x100000", "-e0", built, "-o", folder / "f.elf"],
        check=True,
        timeout=60,
    )
    copy = ["riscv64-unknown-elf-objcopy", "-O", "binary", "-j", ".text", folder / "f.elf", flat]
    subprocess.run(copy, check=True, timeout=60)
    data = flat.read_bytes()
    assert len(data) == 8 * len(lines), len(data) / len(lines)
    return [
        (int.from_bytes(data[i : i + 2], "little"), int.from_bytes(data[i + 2 : i + 4], "little"))
        for i in range(0, len(data), 8)
    ]


def test_what_each_instruction_is(tmp_path: Path) -> None:
    program = compiled("../riscv/timing_harness.c", tmp_path, f"-I{HERE}")
    lines = [*words(), *halves()]
    codes = encoded(lines, tmp_path)
    asked: list[tuple[object, ...]] = []
    for code in codes:
        asked += [("decoded", *code, BASE | M | A | C), ("immediate", *code, BASE | M | A | C)]
        asked += [("has", *code, BASE | M | A | C), ("has", *code, BASE | C), ("has", *code, BASE | C | E)]
    answers = ask(program, lines=asked)
    wrong = []
    for at, line in enumerate(lines):
        found, number, *has = answers[5 * at : 5 * at + 5]
        size = 2 if line.text.startswith("c.") else 4
        expected = (
            OPERATIONS.index(line.operation) + 1 | line.rd << 8 | line.rs1 << 16 | line.rs2 << 24 | size << 32
        )
        high = any(16 <= register < SINK for register in (line.rd, line.rs1, line.rs2))
        simple = line.part == BASE
        wanted = [1, int(simple), int(simple and not high)]
        if found != expected or has != wanted or (line.number is not None and number != line.number % 2**32):
            wrong.append((line.text, hex(found), hex(expected), number, line.number, has, wanted))
    assert not wrong, (len(wrong), wrong[:8])
