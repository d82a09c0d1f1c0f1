"""Random programs for Cortex-M cores, of what compilers emit, and the engines that run them.

A program begins with r0 to r12 and the flags from a table and 64 known bytes of RAM. Addresses of code stay
out of
what is compared, because engines keep code at different ones.
"""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lockstep.engine import (
    Engine,
    EngineFault,
    Piece,
    Program,
    assembled,
    flat,
    named,
    ran,
    regions,
    seeded,
)
from motecrypt.catalog import Catalog
from motecrypt.simulate.runners import Options, arm

SCRATCH, SCRATCH_BYTES, STATE, STACK_TOP = 0x20001000, 64, 0x20001080, 0x20002000
REGISTERS = [*(f"r{n}" for n in (*range(8, 13),)), "sp", *(f"r{n}" for n in range(8)), "flags"]
CORNERS = (0, 1, 2, 31, 32, 0x7F, 0x80, 0xFF, 0x8000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
SHIFTS = ("lsl", "lsr", "asr", "ror")
CONDITIONS = ("eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le")
RP2040JS = Path(__file__).with_name("rp2040js.mjs")


@dataclass(frozen=True)
class Place:
    """Where an engine keeps a firmware, and how that sends a byte: a word stored at `uart`.

    `end`: what the firmware does after its last state.
    """

    flash: int
    uart: int
    mark: int
    end: str
    begin: str = ""


@dataclass(frozen=True)
class Thumb:
    """A core; `wide`: Thumb-2; `dsp`: its instructions for signals."""

    name: str
    cpu: str
    wide: bool = True
    dsp: bool = False
    state_bytes: int = 4 * len(REGISTERS) + SCRATCH_BYTES

    def program(self, seed: int) -> Program:
        rng = seeded(self.name, seed)
        makers = NARROW + (WIDE if self.wide else []) + (DSP if self.dsp else [])
        return Program(seed, tuple(rng.choice(makers)(rng) for _ in range(rng.randrange(15, 50))))

    def build(self, programs: Sequence[Program], engine: Engine, folder: Path) -> Path:
        place = engine.place  # type: ignore[attr-defined]
        compiler = ["arm-none-eabi-gcc", f"-mcpu={self.cpu}", "-mthumb"]
        compiler += [f"-Wl,-Ttext={place.flash:#x}", "-Wl,-N", "-Wl,-e,reset", "-Wl,--no-warn-rwx-segments"]
        return assembled(compiler, firmware(programs, place), folder)

    def describe(self, one: bytes, other: bytes) -> str:
        names = [f"{name}.{n}" for name in REGISTERS for n in range(4)]
        return named([*names, *(f"memory+{n}" for n in range(SCRATCH_BYTES))], one, other)


M0 = Thumb("m0", "cortex-m0plus", wide=False)
M3 = Thumb("m3", "cortex-m3")
M4 = Thumb("m4", "cortex-m4", dsp=True)
M33 = Thumb("m33", "cortex-m33", dsp=True)


# --- what programs consist of: registers r0 to r7, and r8 to r12 where an instruction has room
# ----------------


def _low(rng: random.Random) -> str:
    return f"r{rng.randrange(8)}"


def _any(rng: random.Random) -> str:
    return f"r{rng.randrange(13)}"


def arithmetic(rng: random.Random) -> Piece:
    two = (
        "adcs",
        "sbcs",
        "ands",
        "eors",
        "orrs",
        "bics",
        "mvns",
        "muls",
        "rsbs",
        "lsls",
        "lsrs",
        "asrs",
        "rors",
    )
    kind = rng.randrange(6)
    if kind == 0:
        return f"{rng.choice(('adds', 'subs'))} {_low(rng)}, {_low(rng)}, {_low(rng)}"
    if kind == 1:
        return f"{rng.choice(('adds', 'subs'))} {_low(rng)}, #{rng.choice((0, 1, 255, rng.randrange(256)))}"
    if kind == 2:
        name = rng.choice(("lsls", "lsrs", "asrs"))
        return f"{name} {_low(rng)}, {_low(rng)}, #{rng.choice((1, 31, rng.randrange(1, 32)))}"
    if kind == 3:
        name = rng.choice(("sxtb", "sxth", "uxtb", "uxth", "rev", "rev16", "revsh"))
        return f"{name} {_low(rng)}, {_low(rng)}"
    if kind == 4:
        return f"{rng.choice(('mov', 'add'))} {_any(rng)}, {_any(rng)}"
    name, low = rng.choice(two), _low(rng)
    if name == "rsbs":
        return f"rsbs {low}, {_low(rng)}, #0"
    return f"muls {low}, {_low(rng)}, {low}" if name == "muls" else f"{name} {low}, {_low(rng)}"


def chain(rng: random.Random) -> Piece:
    """Numbers of 64 bits."""
    name, carry = rng.choice((("adds", "adcs"), ("subs", "sbcs")))
    a, b = _low(rng), _low(rng)
    return f"{name} {a}, {a}, {_low(rng)}\n{carry} {b}, {_low(rng)}\n{carry} {a}, {_low(rng)}"


def branch(rng: random.Random) -> Piece:
    inner = "\n".join(arithmetic(rng) for _ in range(rng.randrange(1, 4)))
    compare = rng.choice(
        (f"cmp {_any(rng)}, {_any(rng)}", f"cmn {_low(rng)}, {_low(rng)}", f"tst {_low(rng)}, {_low(rng)}")
    )
    if compare.startswith("cmp") and len(set(compare[4:].split(", "))) == 1:
        compare = f"cmp {_low(rng)}, #{rng.randrange(256)}"
    return f"{compare}\nb{rng.choice(CONDITIONS)} 8f\n{inner}\n8:"


def _base(rng: random.Random, room: int = 32) -> tuple[str, str]:
    """A low register that points into the scratch memory, and the line that makes it."""
    base = _low(rng)
    return base, f"ldr {base}, ={SCRATCH + 4 * rng.randrange((SCRATCH_BYTES - room) // 4):#x}"


def access(rng: random.Random) -> Piece:
    base, lines = _base(rng)
    for _ in range(rng.randrange(1, 4)):
        other = rng.choice([f"r{n}" for n in range(8) if f"r{n}" != base])
        name, unit = rng.choice((("ldr", 4), ("str", 4), ("ldrb", 1), ("strb", 1), ("ldrh", 2), ("strh", 2)))
        lines += f"\n{name} {other}, [{base}, #{unit * rng.randrange(28 // unit)}]"
    if rng.random() < 0.3:
        index = rng.choice([f"r{n}" for n in range(8) if f"r{n}" != base])
        target = rng.choice([f"r{n}" for n in range(8) if f"r{n}" != base])
        name = rng.choice(("ldrsb", "ldrsh", "ldr", "str", "strb", "ldrh"))
        lines += f"\nmovs {index}, #{4 * rng.randrange(7)}\n{name} {target}, [{base}, {index}]"
    return lines


def multiple(rng: random.Random) -> Piece:
    base, lines = _base(rng)
    rest = [f"r{n}" for n in range(8) if f"r{n}" != base]
    names = sorted(rng.sample(rest, rng.randrange(1, 6)), key=lambda name: int(name[1:]))
    return (
        f"{lines}\n{rng.choice(('ldmia', 'stmia'))} {base}!, {{{', '.join(names)}}}\n"
        f"movs {base}, #{rng.randrange(256)}"
    )


def stack(rng: random.Random) -> Piece:
    names = sorted(rng.sample(range(8), rng.randrange(1, 6)))
    listed = "{" + ", ".join(f"r{n}" for n in names) + "}"
    size = 4 * rng.randrange(1, 9)
    inside = (
        f"sub sp, #{size}\nstr {_low(rng)}, [sp, #{size - 4}]\n{arithmetic(rng)}\n"
        f"ldr {_low(rng)}, [sp, #{size - 4}]\nadd sp, #{size}"
    )
    return f"push {listed}\n{inside}\npop {listed}"


def call(rng: random.Random) -> Piece:
    """A function right here that saves its registers, or a leaf; called directly or by a register."""
    saved = "push {r4, lr}\n", "\npop {r4, pc}"
    before, after = rng.choice((saved, ("", "\nbx lr")))
    low = rng.choice([f"r{n}" for n in range(4)])
    how = rng.choice(
        ("bl 5f", f"ldr {low}, =5f\nadds {low}, #1\nblx {low}\nmovs {low}, #{rng.randrange(256)}")
    )
    return (
        f"{how}\nb 6f\n.balign 2\n5: {before}movs r3, #{rng.randrange(256)}\n{arithmetic_low(rng)}{after}\n6:"
    )


def arithmetic_low(rng: random.Random) -> Piece:
    """Nothing that changes lr or reads a register with an address."""
    return f"{rng.choice(('adds', 'eors', 'adcs', 'muls'))} r3, r3, r3".replace(
        "eors r3, r3, r3", "eors r3, r3"
    ).replace("adcs r3, r3, r3", "adcs r3, r3")


def loop(rng: random.Random) -> Piece:
    counter, others = rng.choice([(f"r{n}", [m for m in range(8) if m != n]) for n in range(8)])
    a, b = (f"r{rng.choice(others)}" for _ in range(2))
    return (
        f"movs {counter}, #{rng.randrange(1, 12)}\n7: adds {a}, {a}, {b}\nrors {b}, {a}\n"
        f"subs {counter}, #1\nbne 7b"
    )


def literal(rng: random.Random) -> Piece:
    return f"ldr {_low(rng)}, ={rng.choice((*CORNERS, rng.getrandbits(32))):#x}"


def wide_arithmetic(rng: random.Random) -> Piece:
    name = rng.choice(("add", "sub", "adc", "sbc", "and", "eor", "orr", "bic", "orn", "rsb")) + rng.choice(
        ("", "s")
    )
    shift = rng.choice(SHIFTS)
    last = rng.choice(
        (
            f"{_any(rng)}, {shift} #{rng.randrange(1, 32)}",
            f"#{rng.choice((0, 255, 0xFF00, 0xAB00AB, 0x80000000, 0xFF000000, 0x1FE))}",
            _any(rng),
        )
    )
    return f"{name}.w {_any(rng)}, {_any(rng)}, {last}"


def fields(rng: random.Random) -> Piece:
    low = rng.randrange(32)
    size, by = rng.randrange(1, 33 - low), rng.randrange(1, 32)
    one, two = _any(rng), _any(rng)
    return rng.choice(
        (
            f"{rng.choice(('ubfx', 'sbfx', 'bfi'))} {_any(rng)}, {_any(rng)}, #{low}, #{size}",
            f"bfc {_any(rng)}, #{low}, #{size}",
            f"movw {_any(rng)}, #{rng.randrange(65536)}",
            f"movt {_any(rng)}, #{rng.randrange(65536)}",
            f"{rng.choice(('clz', 'rbit', 'rev.w', 'rev16.w'))} {one}, {two}",
            f"{rng.choice(('usat', 'ssat'))} {one}, #{by}, {two}, {rng.choice(('lsl', 'asr'))} #{by}",
            f"{rng.choice(('sxtb', 'sxth', 'uxtb', 'uxth'))}.w {one}, {two}, ror #{rng.choice((8, 16, 24))}",
            f"{rng.choice(SHIFTS)}{rng.choice(('', 's'))}.w {one}, {two}, {_any(rng)}",
        )
    )


def products(rng: random.Random) -> Piece:
    low, high = rng.sample(range(13), 2)
    return rng.choice(
        (
            f"{rng.choice(('mla', 'mls'))} {_any(rng)}, {_any(rng)}, {_any(rng)}, {_any(rng)}",
            f"{rng.choice(('umull', 'smull', 'umlal', 'smlal'))} r{low}, r{high}, {_any(rng)}, {_any(rng)}",
            f"{rng.choice(('udiv', 'sdiv'))} {_any(rng)}, {_any(rng)}, {_any(rng)}",
            f"mul.w {_any(rng)}, {_any(rng)}, {_any(rng)}",
        )
    )


def conditional(rng: random.Random) -> Piece:
    """An IT block of up to four instructions."""
    first = rng.choice(CONDITIONS)
    opposite = CONDITIONS[CONDITIONS.index(first) ^ 1]
    rest = [rng.random() < 0.5 for _ in range(rng.randrange(4))]
    lines = [f"cmp {_low(rng)}, {_low(rng)}", "it" + "".join("te"[not same] for same in rest) + f" {first}"]
    for same in (True, *rest):
        condition = first if same else opposite
        name = rng.choice(("add", "sub", "eor", "orr", "mov", "lsl"))
        operands = f"{_low(rng)}, {_low(rng)}" + (
            "" if name == "mov" else f", {rng.choice((_low(rng), '#3'))}"
        )
        lines.append(f"{name}{condition}.w {operands}")
    return "\n".join(lines)


def table(rng: random.Random) -> Piece:
    low = _low(rng)
    cases = rng.randrange(2, 5)
    lines = [f"movs {low}, #{rng.randrange(cases)}", f"tbb [pc, {low}]", "0:"]
    lines += [f".byte (1{n}f - 0b) / 2" for n in range(cases)]
    lines.append(".balign 2")
    for n in range(cases):
        lines += [f"1{n}: {wide_arithmetic(rng)}", "b 9f"]
    return "\n".join([*lines, "9:"])


def nonzero(rng: random.Random) -> Piece:
    return f"{rng.choice(('cbz', 'cbnz'))} {_low(rng)}, 8f\n{wide_arithmetic(rng)}\n{arithmetic(rng)}\n8:"


def wide_access(rng: random.Random) -> Piece:
    base, line = _base(rng)
    one, two = rng.sample([n for n in range(13) if f"r{n}" != base], 2)
    return (
        f"{line}\n"
        + rng.choice(
            (
                f"{rng.choice(('ldrd', 'strd'))} r{one}, r{two}, [{base}, #{4 * rng.randrange(6)}]",
                f"{rng.choice(('ldr', 'str'))}.w r{one}, [{base}], #4\nldrb.w r{two}, [{base}, #-1]!",
                f"str.w r{one}, [{base}, #8]!\nldrsh.w r{two}, [{base}, #2]",
                f"ldrsb.w r{one}, [{base}, #{rng.randrange(28)}]",
                f"ldr.w r{one}, [{base}, #{rng.randrange(24)}]",
                f"movs r{one % 8}, #3\nldr.w r{two}, [{base}, r{one % 8}, lsl #2]"
                if f"r{one % 8}" != base
                else "nop.w",
            )
        )
        + f"\nmovs {base}, #{rng.randrange(256)}"
    )


def signal(rng: random.Random) -> Piece:
    a, b, c, d = (_any(rng) for _ in range(4))
    low, high = rng.sample(range(13), 2)
    return rng.choice(
        (
            f"{rng.choice(('smlabb', 'smlatb', 'smlad', 'smlsd', 'smlawb', 'smmla'))} {a}, {b}, {c}, {d}",
            f"{rng.choice(('smulbb', 'smultt', 'smuad', 'smusdx', 'smulwt', 'smmul'))} {a}, {b}, {c}",
            f"{rng.choice(('smlald', 'smlalbt', 'umaal', 'smlsld'))} r{low}, r{high}, {c}, {d}",
            f"{rng.choice(('uadd8', 'usub8', 'sadd16', 'ssub8', 'uasx'))} {a}, {b}, {c}\nsel {d}, {a}, {b}",
            f"{rng.choice(('uqadd8', 'qadd16', 'shadd8', 'uhsub16', 'qsub8'))} {a}, {b}, {c}",
            f"{rng.choice(('qadd', 'qsub', 'qdadd', 'qdsub'))} {a}, {b}, {c}",
            f"{rng.choice(('pkhbt', 'uxtab', 'sxtah', 'usad8'))} {a}, {b}, {c}",
            f"{rng.choice(('uxtb16', 'sxtb16'))} {a}, {b}",
            f"{rng.choice(('usat16', 'ssat16'))} {a}, #{rng.randrange(1, 15)}, {b}",
        )
    )


Maker = Callable[[random.Random], Piece]
NARROW: list[Maker] = [
    arithmetic,
    arithmetic,
    arithmetic,
    chain,
    branch,
    branch,
    access,
    access,
    multiple,
    stack,
    call,
    loop,
    literal,
]
WIDE: list[Maker] = [
    wide_arithmetic,
    wide_arithmetic,
    fields,
    fields,
    products,
    conditional,
    conditional,
    table,
    nonzero,
    wide_access,
    wide_access,
]
DSP: list[Maker] = [signal, signal, signal]


# --- the firmware around them -------------------------------------------------------------------------------


def firmware(programs: Sequence[Program], place: Place) -> str:
    """The text of a firmware that runs one program after the other and sends the state after each."""
    known = {"top": STACK_TOP, "state": STATE, "scratch": SCRATCH, "size": SCRATCH_BYTES}
    parts = [HEAD.format(**known, uart=place.uart, begin=place.begin, bytes=4 * len(REGISTERS))]
    for number, program in enumerate(programs):
        rng = seeded("state", program.seed)
        values = [rng.choice((*CORNERS, rng.getrandbits(32))) for _ in range(13)]
        high = "\n".join(f"ldr r0, ={value:#x}\nmov r{n}, r0" for n, value in enumerate(values[8:], 8))
        low = "\n".join(f"ldr r{n}, ={value:#x}" for n, value in enumerate(values[:8]))
        flags = f"ldr r0, ={rng.randrange(16) << 28:#x}\nmsr apsr_nzcvq, r0"
        mark = "ldr r0, ={mark:#x}\nldr r1, ={value}\nstr r1, [r0]"
        body = "\n".join(_with_literals(program.pieces))
        parts.append(
            f"p{number}:\nmovs r0, #{program.seed & 255}\nbl fill\n{flags}\n{high}\n"
            f"b 1f\n.ltorg\n1:\n{mark.format(mark=place.mark, value=1)}\n{low}\n{body}\n"
            f"push {{r0, r1}}\n{mark.format(mark=place.mark, value=0)}\npop {{r0, r1}}\nbl report\n"
            "b 1f\n.ltorg\n1:"
        )
    return "\n".join(
        [*parts, f"ldr r4, ={place.uart:#x}\nmovs r6, #0x7e\nstr r6, [r4]\n{place.end}\n.ltorg\n"]
    )


def _with_literals(pieces: Sequence[Piece]) -> list[str]:
    """Literals are within reach of what loads them."""
    lines = []
    for number, text in enumerate(pieces, 1):
        lines.append(text)
        if number % 12 == 0:
            lines.append("b 1f\n.ltorg\n1:")
    return lines


HEAD = """
    .syntax unified
    .thumb
    .global reset
    .word {top:#x}
    .word reset + 1
    .balign 4
fill:
    ldr r1, ={scratch:#x}
    movs r2, #{size}
1:  strb r0, [r1]
    adds r1, #1
    lsls r3, r0, #3
    adds r0, r0, r3
    adds r0, #59
    subs r2, #1
    bne 1b
    bx lr
    .ltorg
report:
    push {{lr}}
    push {{r0-r7}}
    mrs r7, apsr
    push {{r7}}
    mov r0, r8
    mov r1, r9
    mov r2, r10
    mov r3, r11
    mov r4, r12
    add r5, sp, #40
    ldr r6, ={state:#x}
    stmia r6!, {{r0-r5}}
    pop {{r7}}
    pop {{r0-r3}}
    stmia r6!, {{r0-r3}}
    pop {{r0-r3}}
    stmia r6!, {{r0-r3}}
    lsrs r7, r7, #27
    stmia r6!, {{r7}}
    ldr r3, ={state:#x}
    ldr r2, ={bytes}
    bl send
    ldr r3, ={scratch:#x}
    movs r2, #{size}
    bl send
    pop {{pc}}
send:
    ldr r1, ={uart:#x}
    movs r5, #15
1:  ldrb r0, [r3]
    lsrs r0, r0, #4
    adds r0, #0x40
    str r0, [r1]
    ldrb r0, [r3]
    ands r0, r5
    adds r0, #0x40
    str r0, [r1]
    adds r3, #1
    subs r2, #1
    bne 1b
    bx lr
    .ltorg
    .balign 4
    .thumb_func
reset:
    {begin}
    b p0
    .ltorg
"""


# --- the engines --------------------------------------------------------------------------------------------


def _waits(offset: int) -> str:
    return f"1: ldr r0, [r4, #{offset}]\nb 1b"


PLACES = {
    "pico": Place(0x10000100, 0x40034000, 0x4005800C, _waits(0x18)),
    "stm32l1": Place(0x08000000, 0x40004404, 0x40023004, "subs r4, #4\n" + _waits(0)),
    "stm32f4": Place(0x08000000, 0x40004404, 0x40023004, "subs r4, #4\n" + _waits(0)),
    "pico2": Place(0x10000000, 0x40070000, 0x400D800C, _waits(0x18)),
}
EXIT = "ldr r0, =0x18\nldr r1, =0x20026\nbkpt 0xab\nb ."


def _cmsdk(uart: int) -> str:
    """The UART of QEMU's MPS2 boards: as fast as can be, the transmitter on."""
    return f"ldr r4, ={uart:#x}\nmovs r0, #16\nstr r0, [r4, #16]\nmovs r0, #1\nstr r0, [r4, #8]"


@dataclass(frozen=True)
class Ours:
    """Our driver, as `measure` runs it, with all of its firmware in a warm cache."""

    device: str
    options: Options = dataclasses.field(default_factory=lambda: Options(cache="warm"))

    @property
    def name(self) -> str:
        return f"arm ({self.device})"

    @property
    def place(self) -> Place:
        return PLACES[self.device]

    def run(self, firmware: Path, folder: Path) -> tuple[bytes, list[int] | None]:
        done = ran(arm.command(Catalog.load().device(self.device), firmware, self.options), (0, 3))
        cycles, last = regions(done.stderr)
        if last["event"] != "end":
            raise EngineFault(f"{self.name}: {last}")
        return done.stdout, cycles


@dataclass(frozen=True)
class Qemu:
    """QEMU's boards with these cores. It counts no cycles."""

    machine: str
    place: Place

    @property
    def name(self) -> str:
        return f"QEMU {self.machine}"

    def run(self, firmware: Path, folder: Path) -> tuple[bytes, list[int] | None]:
        sent = folder / "qemu.out"
        options = ["-display", "none", "-monitor", "none", "-semihosting", "-serial", f"file:{sent}"]
        ran(["qemu-system-arm", "-M", self.machine, *options, "-kernel", firmware], (0, 1))
        return sent.read_bytes(), None


AN385 = Qemu("mps2-an385", Place(0, 0x40004000, 0x20001800, EXIT, _cmsdk(0x40004000)))
AN386 = dataclasses.replace(AN385, machine="mps2-an386")
AN505 = Qemu("mps2-an505", Place(0x10000000, 0x50200000, 0x30001800, EXIT, _cmsdk(0x50200000)))


@dataclass(frozen=True)
class Rp2040js:
    """rp2040js, a model of others, with PUSH with LR and POP with PC as long as in ARM's table."""

    module: Path
    name: str = "rp2040js"
    place: Place = PLACES["pico"]

    def run(self, firmware: Path, folder: Path) -> tuple[bytes, list[int] | None]:
        image, job = flat(firmware, "arm-none-eabi-objcopy"), folder / "lockstep.json"
        code = image.read_bytes()
        entry = int.from_bytes(code[4:8], "little")
        asked = {"segments": [[self.place.flash, code.hex()]], "sp": STACK_TOP, "pc": entry}
        job.write_text(
            json.dumps({**asked, "mark": self.place.mark, "frames": [], "limit": 20_000_000, "table": True})
        )
        told = json.loads(ran(["node", RP2040JS, self.module, job]).stdout)
        return bytes.fromhex(told["output"]), told["regions"]
