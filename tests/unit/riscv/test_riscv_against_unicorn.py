"""What instructions do, compared with Unicorn: random programs, and which codes of 16 bits are any."""

from __future__ import annotations

import random
import struct
import time
from pathlib import Path
from typing import Any

import pytest
from riscv_snippets import CHIPS, device, elf, words

from motecrypt.simulate.runners import Fault, Options, riscv
from motecrypt.simulate.runners.session import DriverSession
from tool_sets import needs_tool_set

unicorn = pytest.importorskip("unicorn")
from unicorn import riscv_const  # noqa: E402

pytestmark = needs_tool_set("host")
TARGET = device("hifive1")
FLASH, RAM = TARGET.memory["flash"].address, TARGET.memory["ram"].address
BASE, UART = 30, 31  # the registers that random code leaves alone
KEPT = (0, BASE, UART)
CORNERS = (0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x12345678, 0xFFFF8000, 31, 32)


def set_register(number: int, value: int) -> bytes:
    """lui and addi."""
    low = (value & 0xFFF) - (0x1000 if value & 0x800 else 0)
    high = (value - low) & 0xFFFFF000
    return words(high | number << 7 | 0x37, (low & 0xFFF) << 20 | number << 15 | number << 7 | 0x13)


def one(rng: random.Random) -> bytes:
    """A random instruction that neither jumps nor touches the two registers."""
    free = [number for number in range(32) if number not in KEPT]
    rd, rs1, rs2 = rng.choice([0, *free]), rng.choice([0, *free]), rng.choice([0, *free])
    immediate = rng.getrandbits(12)
    kind = rng.randrange(10)
    if kind < 3:
        function, high = rng.choice(
            [(f, 0) for f in range(8)] + [(0, 0x20), (5, 0x20)] + [(f, 1) for f in range(8)] * 2
        )
        return words(high << 25 | rs2 << 20 | rs1 << 15 | function << 12 | rd << 7 | 0x33)
    if kind == 3:
        function = rng.choice((0, 2, 3, 4, 6, 7))
        return words(immediate << 20 | rs1 << 15 | function << 12 | rd << 7 | 0x13)
    if kind == 4:
        function, high = rng.choice(((1, 0), (5, 0), (5, 0x20)))
        return words(high << 25 | rs2 << 20 | rs1 << 15 | function << 12 | rd << 7 | 0x13)
    if kind == 5:
        return words(rng.getrandbits(20) << 12 | rd << 7 | rng.choice((0x37, 0x17)))
    if kind == 6:
        function, unit = rng.choice(((0, 1), (1, 2), (2, 4), (4, 1), (5, 2)))
        return words(rng.randrange(0, 64, unit) << 20 | BASE << 15 | function << 12 | rd << 7 | 0x03)
    if kind == 7:
        function, unit = rng.choice(((0, 1), (1, 2), (2, 4)))
        offset = rng.randrange(0, 64, unit)
        return words(offset >> 5 << 25 | rs2 << 20 | BASE << 15 | function << 12 | (offset & 31) << 7 | 0x23)
    if kind == 8:
        function = rng.choice((0x01, 0x00, 0x04, 0x0C, 0x08, 0x10, 0x14, 0x18, 0x1C))
        return words(function << 27 | rs2 << 20 | BASE << 15 | 2 << 12 | rd << 7 | 0x2F)
    function = rng.choice((0, 1, 4, 5, 6, 7))  # a branch over the next instruction, which has 4 bytes
    over = words(rng.getrandbits(20) << 12 | rd << 7 | 0x37)
    return words(rs2 << 20 | rs1 << 15 | function << 12 | 8 << 7 | 0x63) + over


def short(rng: random.Random) -> int:
    """A code of 16 bits that neither jumps nor reads or writes memory or the two registers."""
    while True:
        code = rng.getrandbits(16)
        quadrant, function, rd = code & 3, code >> 13, code >> 7 & 31
        if quadrant == 3 or (quadrant == 0 and function != 0) or (quadrant == 1 and function in (1, 5, 6, 7)):
            continue
        if quadrant == 2 and (function not in (0, 4) or (function == 4 and code >> 2 & 31 == 0)):
            continue
        if rd not in KEPT[1:] and code >> 2 & 31 not in KEPT[1:] and not of_64_bits(code):
            return code


def of_64_bits(code: int) -> bool:
    """Shifts by 32 and more, and operations on words, which Unicorn executes though RV32 has none of them."""
    shifts = code & 0xF003 == 0x1002 or (code & 0xF003 == 0x9001 and code >> 10 & 3 < 2)
    return shifts or code & 0xFC03 == 0x9C01


def unicorn_core(code: bytes, at: int = FLASH) -> Any:
    """The same core, with the code and a page for the UART."""
    core = unicorn.Uc(unicorn.UC_ARCH_RISCV, unicorn.UC_MODE_RISCV32)
    core.ctl_set_cpu_model(riscv_const.UC_CPU_RISCV32_SIFIVE_E31)
    core.mem_map(FLASH, 0x10000)
    core.mem_map(RAM, 0x4000)
    core.mem_write(at, code)
    return core


def registers_of(core: Any) -> list[int]:
    return [core.reg_read(riscv_const.UC_RISCV_REG_X0 + number) for number in range(1, 30)]


def dump() -> bytes:
    """Sends registers 1 to 29, the lowest byte first, and a 0x7e; then waits for input."""
    sent = b""
    for number in range(1, 30):
        for _ in range(4):
            sent += words(
                number << 20 | UART << 15 | 2 << 12 | 0x23,
                8 << 20 | number << 15 | 5 << 12 | number << 7 | 0x13,
            )
    end = words(0x7E << 20 | 1 << 7 | 0x13, 1 << 20 | UART << 15 | 2 << 12 | 0x23)
    return sent + end + words(4 << 20 | UART << 15 | 2 << 12 | 1 << 7 | 0x03, 0xFFDFF06F)


def ours(folder: Path, code: bytes, trace: bool) -> list[int]:
    """Registers 1 to 29 after the code has run in the driver."""
    with DriverSession(
        riscv.command(TARGET, elf(folder, code + dump(), FLASH), Options(trace=trace))
    ) as session:
        deadline, said = time.monotonic() + 20, b""
        while len(said) < 4 * 29 and time.monotonic() < deadline:
            said += session.read(deadline)
    return list(struct.unpack("<29I", said[: 4 * 29]))


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_leave_the_same_registers(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    code = b""
    for number in range(1, 30):
        code += set_register(number, rng.choice(CORNERS) if rng.random() < 0.4 else rng.getrandbits(32))
    code += set_register(BASE, RAM + 0x1000) + set_register(UART, CHIPS["hifive1"].uart)
    core = unicorn_core(b"")
    for _ in range(300):
        code += one(rng)
        code += struct.pack("<H", legal_short(rng)) * (rng.random() < 0.5)
    core.mem_write(FLASH, code)
    core.emu_start(FLASH, FLASH + len(code))
    assert ours(tmp_path, code, trace=seed % 2 == 1) == registers_of(core)


def legal_short(rng: random.Random) -> int:
    """One that Unicorn executes."""
    while not executes(code := short(rng)):
        pass
    return code


def executes(code: int) -> bool:
    """Whether a code of 16 bits is an instruction for Unicorn."""
    core = unicorn_core(struct.pack("<HH", code, 1))  # and a c.nop
    try:
        core.emu_start(FLASH, FLASH + 2, count=1)
    except unicorn.UcError:
        return False
    return bool(core.reg_read(riscv_const.UC_RISCV_REG_PC) == FLASH + 2)


def reason(folder: Path, code: bytes) -> str:
    """Why the driver ended, in its words."""
    command = riscv.command(TARGET, elf(folder, code, FLASH), Options())
    with DriverSession(command) as session, pytest.raises(Fault) as fault:
        session.read(time.monotonic() + 20)
    return str(fault.value)


def test_the_same_codes_of_16_bits_are_instructions(tmp_path: Path) -> None:
    """Those that Unicorn refuses are a fault with their address; else the ebreak after them is."""
    rng = random.Random(5)
    for code in [*(short(rng) for _ in range(40)), 0x0000, 0x6101, 0x6001]:
        said = reason(tmp_path, struct.pack("<HH", code, 1) + words(0x00100073))
        assert f"at {FLASH + (4 if executes(code) else 0):#x}" in said, (hex(code), said)


@pytest.mark.parametrize("code", [0x9C41, 0x1002, 0x9005, 0x8000])
def test_what_the_manual_reserves_or_gives_to_64_bits_is_a_fault(tmp_path: Path, code: int) -> None:
    assert reason(tmp_path, struct.pack("<HH", code, 1)).startswith(
        f"illegal instruction ({code:04x}) at {FLASH:#x}"
    )
