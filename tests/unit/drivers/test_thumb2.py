"""Instructions of ARMv7-M as an assembler encodes them: class, registers, and what they touch."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
from natively import ask, compiled

from motecrypt.build.toolchain.drivers import DRIVERS
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")
CLASSES = re.findall(r"^    X\((\w+)\)", (DRIVERS / "arm_thumb.h").read_text(), re.MULTILINE)
CLASSES += re.findall(r"^    THUMB2_(\w+)", (DRIVERS / "arm_thumb2.h").read_text(), re.MULTILINE)
SP, PC = 13, 15
READS, WRITES = 1, 2
REGISTERS = [(0, 1, 2), (7, 4, 3), (12, 11, 10), (14, 8, 9)]
"""A destination and two operands."""
DSP = """smulbb smultt smulwb smuad smuadx smusd smmul smmulr smlabb smlatt smlawb smlad smlsd smmla smmls
smmlar usad8 usada8 smlalbb smlaltt smlald smlsld umaal sxtab uxtab sxtah uxtah sxtab16 uxtab16 sxtb16 uxtb16
ssat16 usat16"""


@dataclass(frozen=True)
class Line:
    """An instruction, and what must be said of it."""

    text: str
    kind: str
    written: tuple[int, ...] = ()
    address: tuple[int, ...] = ()
    access: tuple[int, int, int, int, int, int, int] | None = None
    """Direction, base, index, bytes, how many, offset, shift."""
    count: int = 0
    """Registers that several are moved of."""


def each(words: str) -> list[str]:
    return words.split()


def data_processing() -> list[Line]:
    lines = []
    for d, n, m in REGISTERS:
        for op in each("and bic orr orn eor add adc sbc sub rsb"):
            for s in ("", "s"):
                lines.append(Line(f"{op}{s}.w r{d}, r{n}, r{m}, lsl #31", "alu", (d,)))
                lines.append(Line(f"{op}{s}.w r{d}, r{n}, r{m}, asr #1", "alu", (d,)))
                lines += [
                    Line(f"{op}{s}.w r{d}, r{n}, #{i}", "alu", (d,)) for i in (0xFF, 0xFF00FF00, 0x80000000)
                ]
        for op in each("tst teq cmn cmp"):
            lines.append(Line(f"{op}.w r{n}, r{m}, ror #17", "alu"))
            lines += [Line(f"{op}.w r{n}, #{i}", "alu") for i in (0xAB00AB00, 0x7F800000)]
        for op in ("mov", "mvn"):
            for s in ("", "s"):
                lines.append(Line(f"{op}{s}.w r{d}, r{m}", "alu", (d,)))
                lines += [Line(f"{op}{s}.w r{d}, #{i}", "alu", (d,)) for i in (0xFF00FF, 0x3FC00)]
        lines.append(Line(f"pkhbt r{d}, r{n}, r{m}, lsl #3", "alu", (d,)))
        lines.append(Line(f"pkhtb r{d}, r{n}, r{m}, asr #30", "alu", (d,)))
        for op, number in product(("addw", "subw"), (0, 0xFFF, 0xAAA)):
            lines.append(Line(f"{op} r{d}, r{n}, #{number}", "alu", (d,)))
        lines += [
            Line(f"{op} r{d}, #{i}", "alu", (d,)) for op, i in product(("movw", "movt"), (0, 0xFFFF, 0x5A5A))
        ]
        for shift in ("lsl #31", "asr #1"):
            lines.append(Line(f"ssat r{d}, #32, r{n}, {shift}", "alu", (d,)))
            lines.append(Line(f"usat r{d}, #31, r{n}, {shift}", "alu", (d,)))
        for op in ("ssat16", "usat16"):
            lines.append(Line(f"{op} r{d}, #15, r{n}", "alu", (d,)))
        for op in ("sbfx", "ubfx", "bfi"):
            lines.append(Line(f"{op} r{d}, r{n}, #31, #1", "alu", (d,)))
            lines.append(Line(f"{op} r{d}, r{n}, #0, #32", "alu", (d,)))
        lines.append(Line(f"bfc r{d}, #7, #20", "alu", (d,)))
        for op in each("lsl lsr asr ror lsls lsrs asrs rors"):
            lines.append(Line(f"{op}.w r{d}, r{n}, r{m}", "alu", (d,)))
        for op in each("sxtb uxtb sxth uxth"):
            lines.append(Line(f"{op}.w r{d}, r{m}, ror #24", "alu", (d,)))
        for op in each("sxtb16 uxtb16"):
            lines.append(Line(f"{op} r{d}, r{m}, ror #8", "alu", (d,)))
        for op in each("sxtab uxtab sxtah uxtah sxtab16 uxtab16"):
            lines.append(Line(f"{op} r{d}, r{n}, r{m}", "alu", (d,)))
        for op in each(
            "qadd qsub qdadd qdsub sel sadd8 ssub16 usax uasx qadd16 uqsub8 shadd8 uhsub16 uhasx qsax"
        ):
            lines.append(Line(f"{op} r{d}, r{n}, r{m}", "alu", (d,)))
        for op in each("rev.w rev16.w revsh.w rbit clz"):
            lines.append(Line(f"{op} r{d}, r{m}", "alu", (d,)))
    return lines


def multiplications() -> list[Line]:
    lines = []
    for (d, n, m), a in zip(REGISTERS, (3, 14, 6, 0), strict=True):
        for op in each("mul.w smulbb smultt smulwb smuad smuadx smusd smmul smmulr usad8"):
            lines.append(Line(f"{op} r{d}, r{n}, r{m}", "multiply", (d,)))
        for op in each("mla mls smlabb smlatt smlawb smlad smlsd smmla smmls smmlar usada8"):
            lines.append(Line(f"{op} r{d}, r{n}, r{m}, r{a}", "multiply_accumulate", (d,)))
        for op in ("smull", "umull"):
            lines.append(Line(f"{op} r{a}, r{d}, r{n}, r{m}", "multiply_long", (a, d)))
        for op in each("smlal umlal umaal smlalbb smlaltt smlald smlsld"):
            lines.append(Line(f"{op} r{a}, r{d}, r{n}, r{m}", "multiply_long_accumulate", (a, d)))
        lines += [Line(f"{op} r{d}, r{n}, r{m}", "divide", (d,)) for op in ("sdiv", "udiv")]
    return lines


SIZES = {"": 4, "b": 1, "h": 2}


def one_register() -> list[Line]:
    lines = []
    loads = [
        ("ldr", "", READS),
        ("ldr", "b", READS),
        ("ldr", "h", READS),
        ("ldr", "sb", READS),
        ("ldr", "sh", READS),
    ]
    for (op, size, way), (t, n, m) in product(
        [*loads, *(("str", size, WRITES) for size in SIZES)], REGISTERS
    ):
        bytes_, name = SIZES[size[-1:]], f"{op}{size}"
        kind, target = ("load", (t,)) if way == READS else ("store", ())

        def touched(
            index: int, offset: int, shift: int = 0, way: int = way, n: int = n, bytes_: int = bytes_
        ) -> tuple[int, ...]:
            return (way, n, index, bytes_, 1, offset, shift)

        for offset in (0, 4095, 0xAAA):
            lines.append(Line(f"{name}.w r{t}, [r{n}, #{offset}]", kind, target, (n,), touched(-1, offset)))
        lines.append(Line(f"{name}.w r{t}, [r{n}, #-255]", kind, target, (n,), touched(-1, -255)))
        for offset in (255, -255, 4):
            lines.append(
                Line(f"{name}.w r{t}, [r{n}, #{offset}]!", kind, (*target, n), (n,), touched(-1, offset))
            )
            lines.append(Line(f"{name}.w r{t}, [r{n}], #{offset}", kind, (*target, n), (n,), touched(-1, 0)))
        for shift in range(4):
            indexed = "store_indexed" if way == WRITES else kind
            text = f"{name}.w r{t}, [r{n}, r{m}, lsl #{shift}]"
            lines.append(Line(text, indexed, target, (n, m), touched(m, 0, shift)))
        if way == READS:
            for offset in (-4095, 4092):
                lines.append(
                    Line(
                        f"{name}.w r{t}, [pc, #{offset}]",
                        kind,
                        target,
                        (),
                        (way, PC, -1, bytes_, 1, offset, 0),
                    )
                )
    lines.append(Line("ldr.w pc, [r3, #8]", "load_pc", (PC,), (3,), (READS, 3, -1, 4, 1, 8, 0)))
    lines.append(Line("ldr.w pc, [r12], #4", "load_pc", (PC, 12), (12,), (READS, 12, -1, 4, 1, 0, 0)))
    lines.append(Line("ldr.w sp, [r3, r4]", "load", (SP,), (3, 4), (READS, 3, 4, 4, 1, 0, 0)))
    for text in ("pld [r3, #4095]", "pld [r12, r1, lsl #3]", "pli [r1, #-255]", "pld [pc, #16]"):
        lines.append(Line(text, "alu"))
    return lines


def several_registers() -> list[Line]:
    lines = []
    for (t, n, u), (op, way) in product(REGISTERS, (("ldrd", READS), ("strd", WRITES))):
        kind = "load_multiple" if way == READS else "store_multiple"
        moved = (t, u) if way == READS else ()
        for offset in (1020, -1020, 0):
            access = (way, n, -1, 4, 2, offset, 0)
            lines.append(Line(f"{op} r{t}, r{u}, [r{n}, #{offset}]", kind, moved, (n,), access, 2))
            if offset:
                lines.append(Line(f"{op} r{t}, r{u}, [r{n}, #{offset}]!", kind, (*moved, n), (n,), access, 2))
                after = (way, n, -1, 4, 2, 0, 0)
                lines.append(Line(f"{op} r{t}, r{u}, [r{n}], #{offset}", kind, (*moved, n), (n,), after, 2))
    lines.append(Line("ldrd r0, r1, [pc, #-8]", "load_multiple", (0, 1), (), (READS, PC, -1, 4, 2, -8, 0), 2))
    for n, moved in ((0, (1, 12)), (12, (0, 5, 14)), (9, (2, 3, 4, 5, 6, 7, 8, 10, 11))):
        some = ", ".join(f"r{one}" for one in moved)
        size = len(moved)
        for up, first in (("ia", 0), ("db", -4 * size)):
            for back, changed in (("", ()), ("!", (n,))):
                lines.append(
                    Line(
                        f"ldm{up}.w r{n}{back}, {{{some}}}",
                        "load_multiple",
                        (*moved, *changed),
                        (n,),
                        (READS, n, -1, 4, size, first, 0),
                        size,
                    )
                )
                access = (WRITES, n, -1, 4, size, first, 0)
                lines.append(
                    Line(f"stm{up}.w r{n}{back}, {{{some}}}", "store_multiple", changed, (n,), access, size)
                )
    access = (READS, SP, -1, 4, 3, 0, 0)
    lines.append(Line("ldmia.w sp!, {r4, r8, pc}", "load_pc", (4, 8, PC, SP), (SP,), access, 3))
    access = (READS, 1, -1, 4, 2, -8, 0)
    lines.append(Line("ldmdb.w r1, {r4, pc}", "load_pc", (4, PC), (1,), access, 2))
    for t, n, d in REGISTERS:
        for offset in (0, 1020):
            lines.append(
                Line(f"ldrex r{t}, [r{n}, #{offset}]", "load", (t,), (n,), (READS, n, -1, 4, 1, offset, 0))
            )
            access = (WRITES, n, -1, 4, 1, offset, 0)
            lines.append(Line(f"strex r{d}, r{t}, [r{n}, #{offset}]", "store", (d,), (n,), access))
        for size, bytes_ in (("b", 1), ("h", 2)):
            lines.append(
                Line(f"ldrex{size} r{t}, [r{n}]", "load", (t,), (n,), (READS, n, -1, bytes_, 1, 0, 0))
            )
            lines.append(
                Line(f"strex{size} r{d}, r{t}, [r{n}]", "store", (d,), (n,), (WRITES, n, -1, bytes_, 1, 0, 0))
            )
        lines.append(Line(f"tbb [r{n}, r{d}]", "table_branch", (), (n, d), (READS, n, d, 1, 1, 0, 0)))
        lines.append(Line(f"tbh [r{n}, r{d}, lsl #1]", "table_branch", (), (n, d), (READS, n, d, 2, 1, 0, 1)))
    lines.append(Line("tbb [pc, r12]", "table_branch", (), (12,), (READS, PC, 12, 1, 1, 0, 0)))
    return lines


def others() -> list[Line]:
    lines = [
        Line(f"mrs r{d}, {name}", "special", (d,)) for d in (0, 12) for name in ("apsr", "primask", "basepri")
    ]
    lines += [
        Line(f"msr {name}, r{d}", "special") for d in (0, 12) for name in ("apsr_nzcvq", "msp", "control")
    ]
    lines += [Line("nop.w", "nop"), Line("wfe.w", "wait"), Line("wfi.w", "wait"), Line("sev.w", "alu")]
    lines += [Line("yield.w", "alu"), Line("isb", "barrier"), Line("dmb", "alu"), Line("dsb", "alu")]
    lines += [Line("clrex", "alu"), Line("udf.w #0", "alu"), Line("udf.w #0xFFFF", "alu")]
    lines += [
        Line(f"b{c}.w . + {by}", "branch_if") for c in ("eq", "le", "hi") for by in (4, -1048000, 1048000)
    ]
    lines += [Line(f"b.w . + {by}", "branch") for by in (4, -16000000, 16000000)]
    lines += [Line(f"bl . + {by}", "branch_link") for by in (4, -16000000, 16000000)]
    lines += [
        Line(f"cb{z}z r{n}, . + {by}", "compare_branch") for z in ("", "n") for n in (0, 7) for by in (4, 126)
    ]
    lines += [Line("it eq\nmoveq r0, r0", "if_then"), Line("itete hi\nnop\nnop\nnop\nnop", "if_then")]
    lines += [Line(text, "float") for text in ("vadd.f32 s0, s1, s2", "vldr s31, [r3, #1020]", "vmov r0, s1")]
    lines += [Line("mcr p1, 2, r3, c4, c5", "float"), Line("mrrc2 p1, 2, r3, r4, c5", "float")]
    return lines


def narrow() -> list[Line]:
    """Instructions of 16 bits: what they write."""
    lines = [
        Line(text, "alu", (7,))
        for text in ("lsls r7, r1, #31", "adds r7, r2, r3", "subs r7, r2, #7", "movs r7, #9")
    ]
    lines += [
        Line(text, "alu", (5,)) for text in ("adds r5, #255", "subs r5, #1", "ands r5, r2", "mvns r5, r7")
    ]
    lines += [
        Line(text, "alu") for text in ("cmp r5, #3", "tst r5, r2", "cmp r5, r2", "cmn r5, r2", "cmp r9, r2")
    ]
    lines += [
        Line("add r9, r2", "alu", (9,)),
        Line("mov r2, r9", "alu", (2,)),
        Line("add sp, #8", "alu", (SP,)),
    ]
    lines += [
        Line("adr r3, . + 8", "alu", (3,)),
        Line("add r6, sp, #8", "alu", (6,)),
        Line("sub sp, #8", "alu", (SP,)),
    ]
    lines += [
        Line("uxtb r6, r1", "alu", (6,)),
        Line("rev r6, r1", "alu", (6,)),
        Line("muls r6, r1", "multiply", (6,)),
    ]
    lines += [Line("nop", "nop"), Line("sev", "alu"), Line("wfi", "wait"), Line("mov sp, r3", "alu", (SP,))]
    lines.append(Line("ldr r6, [r1, #4]", "load", (6,), (1,), (READS, 1, -1, 4, 1, 4, 0)))
    lines.append(Line("ldrb r6, [r1, r2]", "load", (6,), (1, 2), (READS, 1, 2, 1, 1, 0, 0)))
    lines.append(Line("ldr r6, [pc, #8]", "load", (6,), (), (READS, PC, -1, 4, 1, 8, 0)))
    lines.append(Line("ldr r6, [sp, #8]", "load", (6,), (SP,), (READS, SP, -1, 4, 1, 8, 0)))
    lines.append(Line("strh r6, [r1, #4]", "store", (), (1,), (WRITES, 1, -1, 2, 1, 4, 0)))
    lines.append(Line("str r6, [r1, r2]", "store_indexed", (), (1, 2), (WRITES, 1, 2, 4, 1, 0, 0)))
    lines.append(Line("ldm r6!, {r1, r2}", "load_multiple", (1, 2, 6), (6,), (READS, 6, -1, 4, 2, 0, 0), 2))
    lines.append(Line("stm r6!, {r1, r2}", "store_multiple", (6,), (6,), (WRITES, 6, -1, 4, 2, 0, 0), 2))
    lines.append(Line("push {r1, lr}", "push", (SP,), (SP,), (WRITES, SP, -1, 4, 2, -8, 0), 2))
    lines.append(Line("pop {r1, r2}", "pop", (1, 2, SP), (SP,), (READS, SP, -1, 4, 2, 0, 0), 2))
    lines.append(Line("pop {r1, pc}", "pop_pc", (1, SP), (SP,), (READS, SP, -1, 4, 2, 0, 0), 2))
    return lines


def encoded(lines: list[Line], folder: Path) -> list[tuple[int, int]]:
    """Both halfwords of each; the second may be of the next instruction."""
    source, built, flat = folder / "f.s", folder / "f.o", folder / "f.flat"
    text = "".join(f".balign 16, 0\n{line.text}\n" for line in lines)
    source.write_text(f".syntax unified\n.thumb\n{text}.balign 16, 0\n")
    command = ["arm-none-eabi-as", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", str(source), "-o", str(built)]
    subprocess.run(command, check=True, timeout=60)
    subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", str(built), str(flat)], check=True, timeout=60)
    data = flat.read_bytes()
    assert len(data) == 16 * len(lines)
    halves = [data[i : i + 4] for i in range(0, len(data), 16)]
    return [(int.from_bytes(one[:2], "little"), int.from_bytes(one[2:], "little")) for one in halves]


def mask(registers: tuple[int, ...]) -> int:
    return sum(1 << register for register in set(registers))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("arm_parts_harness.c", tmp_path_factory.mktemp("thumb2"))


def test_what_each_instruction_is(program: Path, tmp_path: Path) -> None:
    lines = [
        *data_processing(),
        *multiplications(),
        *one_register(),
        *several_registers(),
        *others(),
        *narrow(),
    ]
    codes = encoded(lines, tmp_path)
    what = ("wide", "touches", "dsp")
    answers = ask(program, lines=[(one, *code) for code in codes for one in what])
    wrong = []
    for line, code, *found in zip(lines, codes, answers[::3], answers[1::3], answers[2::3], strict=True):
        sp = SP in line.written or line.text.startswith("msr")
        size = 4 if code[0] > 0xE7FF else 2
        expected = CLASSES.index(line.kind) | line.count << 8 | size << 16 | sp << 24
        expected |= mask(line.written) << 32 | mask(line.address) << 48
        places = (0, 8, 16, 24, 32, 40, 56)
        access = 0
        for value, place in zip(line.access or (0,) * 7, places, strict=True):
            access |= (value & (0xFFFF if place == 40 else 0xFF)) << place
        needs = line.text.split()[0] in DSP.split()
        if found != [expected, access, needs]:
            wrong.append((line.text, [hex(one) for one in found], hex(expected), hex(access), needs))
    assert not wrong, (len(wrong), wrong[:6])
