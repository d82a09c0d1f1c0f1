"""Random programs for Cortex-M cores, of what compilers emit, and the engines that run them.

A program begins with r0 to r12 and the flags from a table and 64 known bytes of RAM. Addresses of code stay
out of what is compared, because engines keep code at different ones. An interrupt may come at any of its
instructions: its handler leaves no trace but its count, and where it came.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from lockstep.engine import (
    END,
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
from lockstep.thumb_pieces import CORNERS, DSP, NARROW, PENDING, SCRATCH, SCRATCH_BYTES, WIDE
from motecrypt.catalog import Catalog
from motecrypt.simulate.runners import Options, arm

STATE, STACK_TOP = 0x20001080, 0x20002000
REGISTERS = [*(f"r{n}" for n in (*range(8, 13),)), "sp", *(f"r{n}" for n in range(8)), "flags"]
INTERRUPTS = 4 * len(REGISTERS)
"""From STATE on: how many came, how far in the body the last one came, and the body's address."""
LEAD = 34
"""Cycles from the start of SysTick to the body, about."""
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
    """A core; `wide`: Thumb-2; `dsp`: its instructions for signals.

    `timed`: SysTick interrupts half of the programs, at any cycle; `pends`: instructions that make exceptions
    pending.
    """

    name: str
    cpu: str
    wide: bool = True
    dsp: bool = False
    timed: bool = False
    pends: bool = False
    drivers: ClassVar = ("arm",)

    @property
    def words(self) -> list[str]:
        """What the state consists of, without the memory."""
        return [*REGISTERS, *["interrupts"] * (self.timed or self.pends), *["interrupted"] * self.timed]

    @property
    def state_bytes(self) -> int:
        return 4 * len(self.words) + SCRATCH_BYTES

    def program(self, seed: int) -> Program:
        rng = seeded(self.name, seed)
        makers = NARROW + WIDE * self.wide + DSP * self.dsp + PENDING * self.pends
        pieces = tuple(rng.choice(makers)(rng) for _ in range(rng.randrange(15, 50)))
        return Program(seed, pieces, rng.randrange(2, 150) if self.timed and rng.random() < 0.5 else None)

    def build(self, programs: Sequence[Program], engine: Engine, folder: Path) -> Path:
        place = engine.place  # type: ignore[attr-defined]
        compiler = ["arm-none-eabi-gcc", f"-mcpu={self.cpu}", "-mthumb"]
        compiler += [f"-Wl,-Ttext={place.flash:#x}", "-Wl,-N", "-Wl,-e,reset", "-Wl,--no-warn-rwx-segments"]
        return assembled(compiler, firmware(programs, self, place), folder)

    def describe(self, one: bytes, other: bytes) -> str:
        names = [f"{name}.{n}" for name in self.words for n in range(4)]
        return named([*names, *(f"memory+{n}" for n in range(SCRATCH_BYTES))], one, other)


M0 = Thumb("m0", "cortex-m0plus", wide=False)
M3 = Thumb("m3", "cortex-m3")
M4 = Thumb("m4", "cortex-m4", dsp=True)
M33 = Thumb("m33", "cortex-m33", dsp=True)
M0_TIMED = dataclasses.replace(M0, timed=True)
M33_PENDING = dataclasses.replace(M33, name="m33 pending", pends=True)


# --- the firmware around them -------------------------------------------------------------------------------


def firmware(programs: Sequence[Program], core: Thumb, place: Place) -> str:
    """The text of a firmware that runs one program after the other and sends the state after each."""
    known = {"top": STACK_TOP, "state": STATE, "scratch": SCRATCH, "size": SCRATCH_BYTES}
    known |= {"uart": place.uart, "bytes": 4 * len(core.words), "count": STATE + INTERRUPTS}
    interrupted = core.timed or core.pends
    ways = {"begin": place.begin + VECTORS * interrupted, "quiet": QUIET * core.timed}
    ways["handler"] = HANDLER.format(**known, where=WHERE * core.timed) if interrupted else ""
    parts = [HEAD.format(**known, **ways)]
    for number, program in enumerate(programs):
        rng = seeded("state", program.seed)
        values = [rng.choice((*CORNERS, rng.getrandbits(32))) for _ in range(13)]
        high = "\n".join(f"ldr r0, ={value:#x}\nmov r{n}, r0" for n, value in enumerate(values[8:], 8))
        low = "\n".join(f"ldr r{n}, ={value:#x}" for n, value in enumerate(values[:8]))
        flags = f"ldr r0, ={rng.randrange(16) << 28:#x}\nmsr apsr_nzcvq, r0"
        mark = "ldr r0, ={mark:#x}\nldr r1, ={value}\nstr r1, [r0]"
        body = "\n".join(_with_literals(program.pieces))
        before = BEFORE.format(**known, number=number) if core.timed else ""
        timer = (
            TIMER.format(reload=LEAD + program.interrupt_after) if program.interrupt_after is not None else ""
        )
        begin, end = (mark.format(mark=place.mark, value=value) for value in (1, 0))
        parts.append(
            f"p{number}:\nmovs r0, #{program.seed & 255}\nbl fill\n{flags}\n{high}\n"
            f"b 1f\n.ltorg\n1:\n{before}{begin}\n{timer}{low}\nb{number}:\n{body}\n{LAST * core.timed}"
            f"push {{r0, r1}}\n{end}\npop {{r0, r1}}\nbl report\nb 1f\n.ltorg\n1:"
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
    ldr r1, ={count:#x}
    movs r2, #0
    str r2, [r1]
    str r2, [r1, #4]
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
    {quiet}
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
    {handler}
    .balign 4
    .thumb_func
reset:
    {begin}
    b p0
    .ltorg
"""


VECTORS = """
    ldr r0, =0xe000ed08
    ldr r1, =vectors
    str r1, [r0]
"""
HANDLER = """
    .balign 256
vectors:
    .rept 16
    .word handler + 1
    .endr
handler:
    ldr r0, =0xe000e010
    movs r1, #0
    str r1, [r0]            @ once
    ldr r0, ={count}
    ldr r1, [r0]
    adds r1, #1
    str r1, [r0]
    {where}
    bx lr
    .ltorg
"""
WHERE = """
    ldr r1, [sp, #24]
    ldr r2, [r0, #8]
    subs r1, r1, r2
    str r1, [r0, #4]
"""
BEFORE = """
    cpsie i
    ldr r0, ={count}
    ldr r1, =b{number}
    str r1, [r0, #8]
"""
#: From 0, by the core's clock. The branch ends the block of code that sets it up (docs/fidelity.md).
TIMER = """
    ldr r0, =0xe000e010
    ldr r1, ={reload}
    str r1, [r0, #4]
    str r1, [r0, #8]
    ldr r1, =7
    str r1, [r0]
    b 2f
2:
    .rept 16                @ its handler stops it before it comes again
    nop
    .endr
"""
#: From here on none comes.
LAST = """
    b 3f
3:  cpsid i
"""
QUIET = """
    ldr r0, =0xe000e010
    movs r1, #0
    str r1, [r0]
    ldr r0, =0xe000ed04
    ldr r1, =0x02000000
    str r1, [r0]
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
#: As fast as can be, on.
PL011 = """
    ldr r4, ={uart:#x}
    movs r0, #1
    str r0, [r4, #0x24]
    ldr r0, =0x301
    str r0, [r4, #0x30]
"""
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
class Free:
    """Our driver, as `run` runs it: interrupts come."""

    device: str

    @property
    def name(self) -> str:
        return f"arm --free ({self.device})"

    @property
    def place(self) -> Place:
        pico = PLACES[self.device]
        return dataclasses.replace(pico, begin=PL011.format(uart=pico.uart))

    def run(self, firmware: Path, folder: Path) -> tuple[bytes, list[int] | None]:
        *command, elf = arm.command(Catalog.load().device(self.device), firmware, Options(cache="warm"))
        done = ran([*command, "--free", "--until", END.decode(), "--max-seconds", "60", elf], (0, 3))
        cycles, last = regions(done.stderr)
        if last["event"] != "until":
            raise EngineFault(f"{self.name}: {last}")
        return done.stdout, cycles or None


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
    place: Place = PLACES["pico"]
    name: str = "rp2040js"

    def run(self, firmware: Path, folder: Path) -> tuple[bytes, list[int] | None]:
        image, job = flat(firmware, "arm-none-eabi-objcopy"), folder / "lockstep.json"
        code = image.read_bytes()
        entry = int.from_bytes(code[4:8], "little")
        asked = {"segments": [[self.place.flash, code.hex()]], "sp": STACK_TOP, "pc": entry, "ends": 1}
        asked |= {"mark": self.place.mark, "frames": [], "limit": 20_000_000, "table": True}
        job.write_text(json.dumps({**asked, "interrupts": self.place != PLACES["pico"]}))
        told = json.loads(ran(["node", RP2040JS, self.module, job]).stdout)
        return bytes.fromhex(told["output"]), told["regions"]
