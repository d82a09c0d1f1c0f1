"""Random programs for AVRs, of what compilers emit, and the engines that run them.

A program begins with all registers and flags from a table and 64 known bytes of RAM. It may use every
register and
the stack; pointers are loaded right before they are used. One interrupt may come at any of its instructions:
its
handler leaves no trace but its count.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from lockstep.engine import Engine, EngineFault, Piece, Program, assembled, flat, named, ran, regions, seeded
from motecrypt.build.toolchain.drivers import driver

HERE = Path(__file__).parent
CLOCK_HZ, MAX_CYCLES = 16_000_000, 20_000_000
MARK = 0x3E  # GPIOR0
SCRATCH, SCRATCH_BYTES, STATE = 0x0300, 64, 0x0380
STATE_BYTES = 32 + 1 + 2 + 1 + SCRATCH_BYTES
"""Registers, SREG, the stack pointer, the count of interrupts, memory."""
STACK_TOP = 0x08FF
NAMES = [*(f"r{n}" for n in range(32)), "SREG", "SPL", "SPH", "interrupts"]
BRANCHES = (
    "breq",
    "brne",
    "brcs",
    "brcc",
    "brmi",
    "brpl",
    "brvs",
    "brvc",
    "brlt",
    "brge",
    "brhs",
    "brhc",
    "brts",
    "brtc",
)
TWO = ("add", "adc", "sub", "sbc", "and", "or", "eor", "mov", "cp", "cpc")
ONE = ("com", "neg", "inc", "dec", "asr", "lsr", "ror", "swap")
IMMEDIATE = ("subi", "sbci", "andi", "ori", "cpi", "ldi")
FLAGS = ("sec", "clc", "sez", "clz", "sen", "cln", "sev", "clv", "ses", "cls", "seh", "clh", "set", "clt")
POINTERS = {"X": 26, "Y": 28, "Z": 30}


@dataclass(frozen=True)
class Avr:
    """A chip: its name for the compiler, the vector of timer 1's compare match, and whether it has 22 bits of
    PC."""

    mcu: str
    vector: int
    far: bool = False
    name: str = "avr"
    state_bytes: int = STATE_BYTES
    drivers: ClassVar = ("simavr", "avr_run")

    def program(self, seed: int) -> Program:
        rng = seeded(self.name, seed)
        pieces = tuple(piece(rng, self.far) for _ in range(rng.randrange(20, 60)))
        return Program(seed, pieces, rng.randrange(4, 40) if rng.random() < 0.5 else None)

    def build(self, programs: Sequence[Program], engine: Engine, folder: Path) -> Path:
        compiler = ["avr-gcc", f"-mmcu={self.mcu}", "-Wl,--no-relax"]
        return assembled(compiler, firmware(programs, self), folder)

    def describe(self, one: bytes, other: bytes) -> str:
        return named([*NAMES, *(f"memory+{n}" for n in range(SCRATCH_BYTES))], one, other)


UNO = Avr("atmega328p", 11)
MEGA = Avr("atmega2560", 17, far=True, name="avr6")


# --- what programs consist of -----------------------------------------------------------------------------


def piece(rng: random.Random, far: bool) -> Piece:
    """One of the idioms."""
    weights = {
        arithmetic: 8, immediate: 6, skip: 10, chain: 6, word: 6, branch: 6, access: 8, stack: 3, call: 4,
        indirect: 2, frame: 2, flash: 3, product: 3, bits: 3, loop: 2, ports: 2, flags: 2,
    }  # fmt: skip
    chosen = rng.choices(list(weights), list(weights.values()))[0]
    return chosen(rng, far)


def arithmetic(rng: random.Random, _: bool) -> Piece:
    if rng.random() < 0.4:
        return f"{rng.choice(ONE)} r{rng.randrange(32)}"
    return f"{rng.choice(TWO)} r{rng.randrange(32)}, r{rng.randrange(32)}"


def immediate(rng: random.Random, _: bool) -> Piece:
    value = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
    return f"{rng.choice(IMMEDIATE)} r{rng.randrange(16, 32)}, {value}"


def word(rng: random.Random, _: bool) -> Piece:
    if rng.random() < 0.2:
        return f"movw r{2 * rng.randrange(16)}, r{2 * rng.randrange(16)}"
    return f"{rng.choice(('adiw', 'sbiw'))} r{rng.choice((24, 26, 28, 30))}, {rng.randrange(64)}"


def _skip(rng: random.Random) -> str:
    kind = rng.choice(("sbrc", "sbrs", "cpse", "sbic", "sbis"))
    if kind == "cpse":
        register = rng.randrange(32)
        return f"cpse r{register}, r{rng.choice((register, rng.randrange(32)))}"
    place = f"r{rng.randrange(32)}" if kind.startswith("sbr") else hex(rng.randrange(0x1A, 0x1E))
    return f"{kind} {place}, {rng.randrange(8)}"


def skip(rng: random.Random, far: bool) -> Piece:
    """A skip over an instruction of one word or of two, and one after it that shows whether it was skipped,
    too."""
    address = SCRATCH + rng.randrange(SCRATCH_BYTES)
    over = rng.choice(
        (
            word(rng, far),
            word(rng, far),
            arithmetic(rng, far),
            immediate(rng, far),
            f"lds r{rng.randrange(32)}, {address}",
            f"sts {address}, r{rng.randrange(32)}",
            "rjmp 9f\ninc r20\n9:",
            "jmp 9f\ninc r21\n9:",
            _skip(rng) + "\ninc r22",
        )
    )
    return f"{_skip(rng)}\n{over}\n{arithmetic(rng, far)}"


def chain(rng: random.Random, far: bool) -> Piece:
    """Numbers of several bytes: added, subtracted, compared; only the last flags are used."""
    kind = rng.choice((("add", "adc"), ("sub", "sbc"), ("cp", "cpc"), ("lsl", "rol")))
    size, first, second = rng.choice((2, 4, 8)), rng.randrange(24), rng.randrange(24)
    lines = []
    for n in range(size):
        name = kind[n > 0]
        lines.append(f"{name} r{first + n}" if kind[0] == "lsl" else f"{name} r{first + n}, r{second + n}")
    return "\n".join([*lines, branch(rng, far)])


def branch(rng: random.Random, far: bool) -> Piece:
    """Over a few instructions."""
    inner = "\n".join(rng.choice((arithmetic, immediate, word))(rng, far) for _ in range(rng.randrange(1, 4)))
    return f"{rng.choice(BRANCHES)} 8f\n{inner}\n8:"


def _pointer(name: str, address: str) -> str:
    low = POINTERS[name]
    return f"ldi r{low}, lo8({address})\nldi r{low + 1}, hi8({address})"


def access(rng: random.Random, _: bool) -> Piece:
    """Loads and stores through a pointer in all ways, or direct."""
    at, data = SCRATCH + rng.randrange(8, SCRATCH_BYTES - 8), rng.randrange(26)
    if rng.random() < 0.3:
        return rng.choice((f"lds r{rng.randrange(32)}, {at}", f"sts {at}, r{rng.randrange(32)}"))
    name = rng.choice("XYZ")
    lines = [_pointer(name, str(at))]
    for _ in range(rng.randrange(1, 5)):
        loads = rng.random() < 0.5
        way = rng.randrange(4)
        if way == 3 and name != "X":
            offset = rng.randrange(8)
            lines.append(f"ldd r{data}, {name}+{offset}" if loads else f"std {name}+{offset}, r{data}")
        else:
            place = (name, f"{name}+", f"-{name}", name)[way]
            lines.append(f"ld r{data}, {place}" if loads else f"st {place}, r{data}")
        data = rng.randrange(26)
    return "\n".join(lines)


def stack(rng: random.Random, far: bool) -> Piece:
    inside = arithmetic(rng, far)
    return (
        f"push r{rng.randrange(32)}\npush r{rng.randrange(32)}\n{inside}\n"
        f"pop r{rng.randrange(32)}\npop r{rng.randrange(32)}"
    )


def call(rng: random.Random, far: bool) -> Piece:
    """A function right here, called by RCALL, CALL or through Z."""
    inside = "\n".join((arithmetic(rng, far), word(rng, far)))
    z = "ldi r30, pm_lo8(5f)\nldi r31, pm_hi8(5f)\n"
    ways = ["rcall 5f", "call 5f", f"{z}icall"]
    if far:
        ways.append(f"{z}ldi r16, 0\nout 0x3c, r16\neicall")
    return f"{rng.choice(ways)}\nrjmp 6f\n5: {inside}\nret\n6:"


def indirect(rng: random.Random, far: bool) -> Piece:
    """A jump through Z, as of a switch, to one of two places."""
    target = rng.choice(("4f", "5f"))
    z = f"ldi r30, pm_lo8({target})\nldi r31, pm_hi8({target})\n"
    jump = "ldi r16, 0\nout 0x3c, r16\neijmp" if far and rng.random() < 0.5 else "ijmp"
    return f"{z}{jump}\ninc r17\n4: {arithmetic(rng, far)}\n5:"


def frame(rng: random.Random, far: bool) -> Piece:
    """A frame on the stack as avr-gcc makes it: the stack pointer in two halves, interrupts off."""
    size = rng.randrange(1, 33)
    write = "in r0, 0x3f\ncli\nout 0x3e, r29\nout 0x3f, r0\nout 0x3d, r28"
    inside = f"std Y+1, r{rng.randrange(28)}\nldd r{rng.randrange(28)}, Y+1\n{arithmetic(rng, far)}"
    down = f"push r28\npush r29\nin r28, 0x3d\nin r29, 0x3e\nsbiw r28, {size}\n{write}"
    again = "in r28, 0x3d\nin r29, 0x3e\n"  # the code inside may use Y
    return f"{down}\n{inside}\n{again}adiw r28, {size}\n{write}\npop r29\npop r28"


def flash(rng: random.Random, far: bool) -> Piece:
    z = _pointer("Z", f"table+{rng.randrange(32)}")
    register = rng.randrange(30)
    ways = [f"lpm r{register}, Z", f"lpm r{register}, Z+\nlpm r{rng.randrange(30)}, Z", "lpm"]
    if far:
        bank = "ldi r16, hh8(far_table)\nout 0x3b, r16\nldi r30, lo8(far_table)\nldi r31, hi8(far_table)\n"
        z = rng.choice((z, bank))
        ways += [f"elpm r{register}, Z", f"elpm r{register}, Z+\nelpm r{rng.randrange(30)}, Z+", "elpm"]
        if z == bank:
            ways = ways[3:]
        else:
            z += "\nldi r16, 0\nout 0x3b, r16"
    return f"{z}\n{rng.choice(ways)}"


def product(rng: random.Random, far: bool) -> Piece:
    if rng.random() < 0.4:
        line = f"mul r{rng.randrange(32)}, r{rng.randrange(32)}"
    elif rng.random() < 0.4:
        line = f"muls r{rng.randrange(16, 32)}, r{rng.randrange(16, 32)}"
    else:
        name = rng.choice(("mulsu", "fmul", "fmuls", "fmulsu"))
        line = f"{name} r{rng.randrange(16, 24)}, r{rng.randrange(16, 24)}"
    after = rng.choice(("movw r24, r0\nclr r1", "add r18, r0\nadc r19, r1\nclr r1", branch(rng, far)))
    return f"{line}\n{after}"


def bits(rng: random.Random, _: bool) -> Piece:
    return f"bst r{rng.randrange(32)}, {rng.randrange(8)}\nbld r{rng.randrange(32)}, {rng.randrange(8)}"


def loop(rng: random.Random, far: bool) -> Piece:
    counter = rng.randrange(16, 26)
    inside = f"add r{rng.randrange(10)}, r{rng.randrange(10)}\nror r{rng.randrange(10, 16)}"
    return f"ldi r{counter}, {rng.randrange(1, 12)}\n7: {inside}\ndec r{counter}\nbrne 7b"


def ports(rng: random.Random, _: bool) -> Piece:
    """GPIOR1, GPIOR2 and the registers of the EEPROM's address and data hold what is written."""
    place = rng.choice((0x2A, 0x2B, 0x20))
    return f"out {place}, r{rng.randrange(32)}\nin r{rng.randrange(32)}, {place}"


def flags(rng: random.Random, _: bool) -> Piece:
    if rng.random() < 0.3:
        return f"in r{rng.randrange(16, 32)}, 0x3f"
    return rng.choice(FLAGS)


# --- the firmware around them -------------------------------------------------------------------------------


def firmware(programs: Sequence[Program], chip: Avr) -> str:
    """The text of a firmware that runs one program after the other and sends the state after each."""
    parts = [HEAD.format(vector=4 * chip.vector, top=STACK_TOP)]
    for number, program in enumerate(programs):
        rng = seeded("state", program.seed)
        registers = [rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256))) for _ in range(32)]
        sreg = rng.randrange(128) | 0x80 * (program.interrupt_after is not None)
        load = "\n".join(f"ldi r16, {value}\nmov r{n}, r16" for n, value in enumerate(registers[:16]))
        load += "\n" + "\n".join(f"ldi r{n}, {value}" for n, value in enumerate(registers[16:], 16))
        timer = TIMER.format(after=program.interrupt_after) if program.interrupt_after is not None else ""
        body = "\n".join(program.pieces)
        parts.append(
            f"p{number}:\nldi r16, {program.seed & 255}\ncall fill\n{timer}\n"
            f"ldi r16, {sreg & 127}\nout 0x3f, r16\n"
            f"{load}\n{'sei' if sreg & 128 else 'nop'}\nsbi {MARK - 0x20:#x}, 0\n{body}\n"
            f"cbi {MARK - 0x20:#x}, 0\ncall report"
        )
    return "\n".join([*parts, END.format(bytes=STATE_BYTES, far=FAR if chip.far else "")])


HEAD = f"""
    .equ SCRATCH, {SCRATCH}
    .equ STATE, {STATE}
    jmp start
    .org {{vector}}
    jmp handler
    .org 0x100
handler:
    push r16
    in r16, 0x3f
    push r16
    ldi r16, 0
    sts 0x6f, r16           ; once
    lds r16, STATE + 35
    inc r16
    sts STATE + 35, r16
    pop r16
    out 0x3f, r16
    pop r16
    reti
fill:
    ldi r26, lo8(SCRATCH)
    ldi r27, hi8(SCRATCH)
    ldi r17, {SCRATCH_BYTES}
1:  st X+, r16
    subi r16, 0x59
    swap r16
    dec r17
    brne 1b
    sts STATE + 35, r17
    ret
report:
    cli
    sts STATE, r0
    in r0, 0x3f
    sts STATE + 32, r0
    .irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    sts STATE + \\n, r\\n
    .endr
    in r0, 0x3d
    sts STATE + 33, r0
    in r0, 0x3e
    sts STATE + 34, r0
    ldi r16, 0
    sts 0x6f, r16
    sts 0x81, r16
    ldi r28, lo8(STATE)
    ldi r29, hi8(STATE)
    ldi r17, 36
    rcall send
    ldi r28, lo8(SCRATCH)
    ldi r29, hi8(SCRATCH)
    ldi r17, {SCRATCH_BYTES}
send:
    ld r16, Y
    swap r16
    rcall half
    ld r16, Y+
    rcall half
    dec r17
    brne send
    ret
half:
    andi r16, 15
    ori r16, 0x40
1:  lds r18, 0xc0
    sbrs r18, 5
    rjmp 1b
    sts 0xc6, r16
    ret
table:
    .byte 0x5a, 0x00, 0xff, 0x81, 0x7f, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0, 0x0f, 0xa5, 0xc3
    .byte 0x01, 0x80, 0xfe, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd
    .byte 0xee, 0x10
start:
    ldi r16, lo8({{top}})
    out 0x3d, r16
    ldi r16, hi8({{top}})
    out 0x3e, r16
    ldi r16, 2
    sts 0xc0, r16           ; the line as fast as the chip allows
    ldi r16, 8
    sts 0xc1, r16
"""
#: CTC from 0, no prescaler; the flag of an earlier match is cleared.
TIMER = """
    ldi r16, 0
    sts 0x80, r16
    sts 0x85, r16
    sts 0x84, r16
    ldi r16, 0
    sts 0x89, r16
    ldi r16, {after}+51
    sts 0x88, r16
    ldi r16, 2
    out 0x16, r16
    sts 0x6f, r16
    ldi r16, 9
    sts 0x81, r16
"""
END = """
    .rept 2                 ; when the second has begun, the first has gone
    ldi r16, 0x7e
    sts 0xc6, r16
1:  lds r18, 0xc0
    sbrs r18, 5
    rjmp 1b
    .endr
    cli
    rjmp .-2
    {far}
"""
FAR = "    .org 0x10100\nfar_table:\n    .byte 0x13, 0x57, 0x9b, 0xdf\n"


# --- the engines --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Simavr:
    """Our driver of benchmarks."""

    chip: Avr
    trace: bool = False
    name: str = "simavr"

    def run(self, firmware: Path, folder: Path) -> tuple[bytes, list[int] | None]:
        command = [driver("simavr"), "--mcu", self.chip.mcu, "--clock", str(CLOCK_HZ), "--mark", str(MARK)]
        done = ran([*command, *["--trace"] * self.trace, firmware], (0, 3))
        cycles, last = regions(done.stderr)
        if last["event"] != "end":
            raise EngineFault(f"simavr: {last}")
        return done.stdout, cycles


@dataclass(frozen=True)
class AvrRun:
    """Our driver of free runs, which counts a run as a whole. `options`, such as --bare: how it steps."""

    chip: Avr
    options: tuple[str, ...] = ()
    name: str = "avr_run"

    def run(self, firmware: Path, folder: Path) -> tuple[bytes, list[int] | None]:
        image = flat(firmware, "avr-objcopy")
        command = [driver("avr_run"), "--mcu", self.chip.mcu, "--clock", str(CLOCK_HZ), "--image", image]
        done = ran([*command, *self.options, "--max-cycles", str(MAX_CYCLES)], (0, 3))
        _, last = regions(done.stderr)
        if last["event"] not in ("limit", "stop"):
            raise EngineFault(f"avr_run: {last}")
        return done.stdout, None


@dataclass(frozen=True)
class Avr8js:
    """avr8js, a model of others, in node, with the corrections that avr8js.mjs lists."""

    chip: Avr
    module: Path
    name: str = "avr8js"

    def run(self, firmware: Path, folder: Path, **more: object) -> tuple[bytes, list[int] | None]:
        image, job = flat(firmware, "avr-objcopy"), folder / "lockstep.json"
        asked = {"image": str(image), "far": self.chip.far, "vector": self.chip.vector, "mark": MARK, **more}
        job.write_text(json.dumps(asked))
        told = json.loads(ran(["node", HERE / "avr8js.mjs", self.module, job]).stdout)
        return bytes.fromhex(told["output"]), told["regions"]
