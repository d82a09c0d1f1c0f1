"""Random programs for RV32 cores, of what compilers emit, and the engines that run them.

A program begins with all registers but sp, gp and tp from a table and 64 known bytes of RAM. gp and tp are
the
harness's; ra is not compared.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

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
from motecrypt.base.model import Device
from motecrypt.catalog import Catalog
from motecrypt.simulate.runners import Options, riscv

SCRATCH, STATE, STACK, SCRATCH_BYTES = 0x400, 0x500, 0x780, 64
"""From the beginning of RAM."""
CORNERS = (0, 1, 2, 31, 32, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x12345678, 0xFFFF8000)
MOST_STEPS = 20_000_000


@dataclass(frozen=True)
class Rv32:
    """A core with so many registers; `device` says where memories are. `line`: the UART and its data's
    offset."""

    device: str
    march: str
    mabi: str
    registers: int
    line: tuple[int, int]
    looks: int
    drivers: ClassVar = ("riscv",)

    @property
    def name(self) -> str:
        return self.march

    @property
    def state_bytes(self) -> int:
        return 4 * (self.registers - 5 + 1) + SCRATCH_BYTES

    @property
    def target(self) -> Device:
        return Catalog.load().device(self.device)

    def program(self, seed: int) -> Program:
        rng = seeded(self.name, seed)
        maker = Maker(rng, self)
        return Program(seed, tuple(maker.piece() for _ in range(rng.randrange(15, 50))))

    def build(self, programs: Sequence[Program], engine: Engine, folder: Path) -> Path:
        place = self.target.memory["flash"].address
        compiler = ["riscv64-unknown-elf-gcc", f"-march={self.march}", f"-mabi={self.mabi}", "-misa-spec=2.2"]
        return assembled([*compiler, f"-Wl,-Ttext={place:#x}", "-Wl,-N"], firmware(programs, self), folder)

    def describe(self, one: bytes, other: bytes) -> str:
        words = [f"x{n}" for n in (*range(5, self.registers), 2)]
        names = [f"{name}.{n}" for name in words for n in range(4)]
        return named([*names, *(f"memory+{n}" for n in range(SCRATCH_BYTES))], one, other)


E31 = Rv32("hifive1", "rv32imac", "ilp32", 32, (0x10013000, 0), 4)
ESP32C3 = Rv32("esp32c3", "rv32imc", "ilp32", 32, (0x60000000, 0), 0x1C)
CH32V003 = Rv32("ch32v003", "rv32ec", "ilp32e", 16, (0x40013800, 4), 0)


# --- what programs consist of -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Maker:
    """Pieces for one core."""

    rng: random.Random
    core: Rv32

    def piece(self) -> Piece:
        ways = [self.arithmetic] * 4 + [self.immediate] * 3 + [self.access] * 3 + [self.branch] * 3
        ways += [self.wide, self.call, self.frame, self.loop, self.table, self.compare]
        ways += [self.product] * 2 if "m" in self.core.march else []
        ways += [self.atomic] if "a" in self.core.march else []
        return self.rng.choice(ways)()

    def any(self, *but: str) -> str:
        return self.rng.choice([name for n in range(5, self.core.registers) if (name := f"x{n}") not in but])

    def arithmetic(self) -> Piece:
        name = self.rng.choice(("add", "sub", "and", "or", "xor", "sll", "srl", "sra", "slt", "sltu"))
        return f"{name} {self.rng.choice((self.any(), 'zero', self.any()))}, {self.any()}, {self.any()}"

    def immediate(self) -> Piece:
        if self.rng.random() < 0.3:
            name, by = self.rng.choice(("slli", "srli", "srai")), self.rng.randrange(32)
            return f"{name} {self.any()}, {self.any()}, {by}"
        if self.rng.random() < 0.3:
            return f"li {self.any()}, {self.rng.choice((*CORNERS, self.rng.getrandbits(32))):#x}"
        name = self.rng.choice(("addi", "andi", "ori", "xori", "slti", "sltiu"))
        one = self.any()
        number = self.rng.choice((0, 1, -1, -2048, 2047, self.rng.randrange(-32, 32)))
        return f"{name} {one}, {self.rng.choice((one, self.any()))}, {number}"

    def compare(self) -> Piece:
        return f"{self.rng.choice(('seqz', 'snez', 'neg', 'not', 'mv'))} {self.any()}, {self.any()}"

    def wide(self) -> Piece:
        """Numbers of 64 bits: the carry is computed."""
        a, b, c = self.any(), self.any(), self.any()
        return (
            f"add {a}, {a}, {b}\nsltu {c}, {a}, {b}\nadd {b}, {b}, {c}\n"
            f"{self.rng.choice(('lui', 'auipc'))} {c}, {self.rng.getrandbits(20)}"
        )

    def product(self) -> Piece:
        name = self.rng.choice(("mul", "mulh", "mulhu", "mulhsu", "div", "divu", "rem", "remu"))
        return f"{name} {self.any()}, {self.any()}, {self.any()}"

    def _base(self) -> tuple[str, str]:
        base = self.any()
        ram = self.core.target.memory["ram"].address
        return base, f"li {base}, {ram + SCRATCH + 4 * self.rng.randrange(8):#x}"

    def access(self) -> Piece:
        base, line = self._base()
        lines = [line]
        for _ in range(self.rng.randrange(1, 5)):
            name, unit = self.rng.choice(
                (("lw", 4), ("sw", 4), ("lb", 1), ("lbu", 1), ("sb", 1), ("lh", 2), ("lhu", 2), ("sh", 2))
            )
            lines.append(f"{name} {self.any(base)}, {unit * self.rng.randrange(28 // unit)}({base})")
        return "\n".join(lines)

    def atomic(self) -> Piece:
        base, line = self._base()
        name = self.rng.choice(("amoadd", "amoswap", "amoxor", "amoand", "amoor", "amomin", "amomaxu"))
        return f"{line}\n{name}.w {self.any(base)}, {self.any(base)}, ({base})"

    def branch(self) -> Piece:
        name = self.rng.choice(("beq", "bne", "blt", "bge", "bltu", "bgeu"))
        inner = "\n".join(
            self.rng.choice((self.arithmetic, self.immediate))() for _ in range(self.rng.randrange(1, 4))
        )
        return f"{name} {self.any()}, {self.rng.choice((self.any(), 'zero'))}, 8f\n{inner}\n8:"

    def call(self) -> Piece:
        target = self.any()
        how = self.rng.choice(("jal ra, 5f", f"la {target}, 5f\njalr ra, 0({target})"))
        return f"{how}\nj 6f\n5: {self.arithmetic()}\n{self.immediate()}\nret\n6:"

    def frame(self) -> Piece:
        size, one, two = 16 * self.rng.randrange(1, 4), self.any(), self.any()
        down = f"addi sp, sp, -{size}\nsw {one}, {size - 4}(sp)\nsw {two}, {size - 8}(sp)"
        return (
            f"{down}\n{self.arithmetic()}\n{self.immediate()}\nlw {two}, {size - 8}(sp)\n"
            f"lw {one}, {size - 4}(sp)\naddi sp, sp, {size}"
        )

    def loop(self) -> Piece:
        counter = self.any()
        one = self.any(counter)
        return (
            f"li {counter}, {self.rng.randrange(1, 12)}\n7: add {one}, {one}, {self.any(counter)}\n"
            f"xori {self.any(counter)}, {one}, 5\naddi {counter}, {counter}, -1\nbnez {counter}, 7b"
        )

    def table(self) -> Piece:
        """A jump by a table of addresses, as of a switch."""
        index = self.any()
        base = self.any(index)
        cases = self.rng.randrange(2, 5)
        lines = [
            f"li {index}, {4 * self.rng.randrange(cases)}",
            f"la {base}, 0f",
            f"add {base}, {base}, {index}",
        ]
        lines += [f"lw {base}, 0({base})", f"jr {base}", ".balign 4", "0:"]
        lines += [f".word 1{n}f" for n in range(cases)]
        for n in range(cases):
            lines += [f"1{n}: {self.arithmetic()}", "j 9f"]
        return "\n".join([*lines, "9:"])


# --- the firmware around them -------------------------------------------------------------------------------


def firmware(programs: Sequence[Program], core: Rv32) -> str:
    """The text of a firmware that runs one program after the other and sends the state after each."""
    ram = core.target.memory["ram"].address
    uart, sent = core.line
    listed = range(5, core.registers)
    head = HEAD.format(
        stack=ram + STACK,
        scratch=ram + SCRATCH,
        size=SCRATCH_BYTES,
        saves="\n".join(f"sw x{n}, {4 * (n - 5)}(gp)" for n in listed),
        stack_at=4 * len(listed),
        bytes=4 * (len(listed) + 1),
        uart=uart,
        sent=sent,
    )
    parts = [head]
    for number, program in enumerate(programs):
        rng = seeded("state", program.seed)
        loads = "\n".join(f"li x{n}, {rng.choice((*CORNERS, rng.getrandbits(32))):#x}" for n in listed)
        body = "\n".join(program.pieces)
        mark = core.target.simulator["mark_address"]
        parts.append(
            f"p{number}:\nli a0, {program.seed & 255}\ncall fill\nli gp, {ram + STATE:#x}\n"
            f"li tp, {mark:#x}\n{loads}\n"
            f"li ra, 1\nsw ra, 0(tp)\n{body}\nsw zero, 0(tp)\ncall report"
        )
    parts.append(f"li a0, {uart:#x}\nli a1, {END[0]}\nsw a1, {sent}(a0)\n1: lw a1, {core.looks}(a0)\nj 1b\n")
    return "\n".join(parts)


HEAD = """
    .option norelax
    .globl _start
_start:
    li sp, {stack:#x}
    j p0
fill:
    li a1, {scratch:#x}
    li a2, {size}
1:  sb a0, 0(a1)
    slli a3, a0, 3
    add a0, a0, a3
    addi a0, a0, 59
    addi a1, a1, 1
    addi a2, a2, -1
    bnez a2, 1b
    ret
report:
    {saves}
    sw sp, {stack_at}(gp)
    mv t2, ra
    mv a1, gp
    li a2, {bytes}
    call send
    li a1, {scratch:#x}
    li a2, {size}
    call send
    jr t2
send:
    li a3, {uart:#x}
1:  lbu a0, 0(a1)
    srli a4, a0, 4
    addi a4, a4, 0x40
    sw a4, {sent}(a3)
    andi a4, a0, 15
    addi a4, a4, 0x40
    sw a4, {sent}(a3)
    addi a1, a1, 1
    addi a2, a2, -1
    bnez a2, 1b
    ret
"""


# --- the engines --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ours:
    """Our driver, as `measure` runs it."""

    core: Rv32
    options: Options = field(default_factory=lambda: Options(cache="warm"))
    name: str = "riscv"

    def run(self, firmware: Path, folder: Path) -> tuple[bytes, list[int] | None]:
        done = ran(riscv.command(self.core.target, firmware, self.options), (0, 3))
        cycles, last = regions(done.stderr)
        if last["event"] != "end":
            raise EngineFault(f"riscv: {last}")
        return done.stdout, cycles


@dataclass(frozen=True)
class Unicorn:
    """Unicorn's RV32, whose instructions are QEMU's. It counts no cycles."""

    core: Rv32
    name: str = "unicorn"

    def run(self, firmware: Path, folder: Path) -> tuple[bytes, list[int] | None]:
        import unicorn
        from unicorn import riscv_const

        target = self.core.target
        flash, ram = target.memory["flash"], target.memory["ram"]
        uart, offset = self.core.line
        code = flat(firmware, "riscv64-unknown-elf-objcopy").read_bytes()
        chip: Any = unicorn.Uc(unicorn.UC_ARCH_RISCV, unicorn.UC_MODE_RISCV32)
        chip.ctl_set_cpu_model(riscv_const.UC_CPU_RISCV32_SIFIVE_E31)
        chip.mem_map(flash.address & ~0xFFF, (len(code) + 0x2000) & ~0xFFF)
        chip.mem_map(ram.address, 0x4000)
        for page in {uart & ~0xFFF, target.simulator["mark_address"] & ~0xFFF}:
            chip.mem_map(page, 0x1000)
        chip.mem_write(flash.address, code)
        sent = bytearray()

        def stored(core: Any, _: int, address: int, __: int, value: int, ___: object) -> None:
            if address == uart + offset:
                sent.append(value & 0xFF)
                if value == END[0]:
                    core.emu_stop()

        chip.hook_add(unicorn.UC_HOOK_MEM_WRITE, stored, begin=uart & ~0xFFF, end=uart | 0xFFF)
        try:
            chip.emu_start(flash.address, flash.address + len(code), count=MOST_STEPS)
        except unicorn.UcError as error:
            at = chip.reg_read(riscv_const.UC_RISCV_REG_PC)
            raise EngineFault(f"unicorn: {error} at {at:#x}") from error
        return bytes(sent), None
