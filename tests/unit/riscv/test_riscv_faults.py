"""What the RISC-V driver says about firmware that goes wrong, and about files that are not for the device."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from riscv_snippets import costs, device, elf, run, words

from motecrypt.base.errors import FailureKind, InputError, StackOverflow
from motecrypt.build.toolchain.drivers import driver
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.runners import Fault, Options, riscv
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("riscv")
FLASH = device("hifive1").memory["flash"].address


def fault(folder: Path, text: str, **settings: object) -> Fault:
    with pytest.raises(Fault) as raised:
        run(folder, text, device("hifive1", **settings))
    return raised.value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (".word 0", "illegal instruction (0000) at 0x200"),
        (".word 0xffffffff", "illegal instruction (ffffffff) at 0x200"),
        (".word 0x00b57553", "a floating-point instruction (00b57553) at 0x200"),
        (".word 0x00b57553", "is not in the core sifive-e31"),
        (".word 0x40b57533", "an instruction of the B extension (40b57533) at"),
        (".word 0x00b57557", "a vector instruction (00b57557) at"),
        ("ecall", "environment call (ecall) at"),
        ("ebreak", "breakpoint (ebreak) at"),
        ("wfi", "the firmware sleeps, and nothing can wake it at"),
        ("mret", "return from a trap (mret)"),
        ("lw a0, 1(a2)", "unaligned access to 0x80000401 at 0x200"),
        ("sh a0, 3(a2)", "unaligned access to 0x80000403 at 0x200"),
        ("amoadd.w a0, a1, (a1)", "unaligned access to 0x2 at"),
        ("lw a0, 2(a1)", "the firmware read from 0x4, where nothing is, at 0x200"),
        ("li a0, 0x90000000; lw a0, 0(a0)", "read from 0x90000000, where nothing is"),
        ("li a0, 0x80004000; sw a0, 0(a0)", "wrote to 0x80004000, where nothing is"),
        ("li a0, 0x80004000; sw a0, 0(a0)", "(beyond the RAM)"),
        ("li a0, 0x80003ffe; lw a0, 0(a0)", "unaligned access to 0x80003ffe"),
        ("li a0, 0x20010000; sw a0, 0(a0)", "wrote to the flash at 0x200"),
        ("li a0, 0x08000000; sw a0, 0(a0)", "(the ITIM is not modelled)"),
        ("li a0, 0x1004; jr a0", "jumped to 0x1004, where no code can be"),
        ("li a0, 0x1004; jr a0", "(the boot ROM is not modelled)"),
    ],
)
def test_a_fault_names_what_and_where(tmp_path: Path, text: str, said: str) -> None:
    assert said in str(fault(tmp_path, text))


@pytest.mark.parametrize(
    ("said", "first", "last"),
    [
        ("beyond the flash", 0x20400000, 0x3FFFFFFF),
        ("beyond the RAM", 0x80004000, 0xFFFFFFFF),
        ("the OTP memory is not modelled", 0x20000, 0x21FFF),
        ("the boot ROM is not modelled", 0x1000, 0x1FFF),
        ("the boot ROM is not modelled", 0x10000, 0x11FFF),
        ("the ITIM is not modelled", 0x8000000, 0x8001FFF),
    ],
)
def test_what_is_absent_is_told_from_its_first_byte_to_its_last(
    tmp_path: Path, said: str, first: int, last: int
) -> None:
    """The map of the chip's device tree in Zephyr (riscv32-fe310.dtsi)."""
    for address in (first, last):
        assert f"({said})" in str(fault(tmp_path, f"li a0, {address:#x}; lbu a0, 0(a0)")), hex(address)
    around = [last + 1] if said.startswith("beyond") else [first - 1, last + 1]
    for address in around:
        found = fault(tmp_path, f"li a0, {address & 0xFFFFFFFF:#x}; lbu a0, 0(a0)")
        assert "where nothing is" in str(found) and f"({said})" not in str(found), hex(address)


def test_an_endless_loop_is_reported(tmp_path: Path) -> None:
    found = fault(tmp_path, "1: j 1b", max_cycles=5000)
    assert "no answer within 5000 cycles: the firmware is at 0x200" in str(found)
    assert found.kind == FailureKind.SILENT


def test_a_stack_below_its_limit_is_reported(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="the stack ran into the data: stack pointer 0x7ffffff0") as raised:
        run(tmp_path, "addi sp, sp, -2048; addi sp, sp, -16", device("hifive1"), Options(trace=True))
    assert raised.value.kind == FailureKind.STACK
    assert raised.value.overflow == StackOverflow(0x7FFFFFF0, 0x80000000)
    assert raised.value.overflow.bytes == 16
    found = fault(tmp_path, "addi sp, sp, -2048; addi sp, sp, -16; sw a0, 0(sp)")
    assert "the stack ran out of its memory" in str(found) and found.kind == FailureKind.STACK


def test_a_flood_is_reported(tmp_path: Path) -> None:
    found = fault(tmp_path, "li a0, 0x10013000; 1: sw a1, 0(a0); j 1b")
    assert "floods its UART" in str(found) and found.kind == FailureKind.FLOOD


def test_a_store_to_code_is_executed(tmp_path: Path) -> None:
    """Code in RAM that is written again runs as it was written last: it adds 1, then 4."""
    text = (
        "li a4, 0x00150513; li a5, 0x00008067; sw a4, 0(a2); sw a5, 4(a2); mv a4, a2; jalr a4;"
        "li a4, 0x00450513; sw a4, 0(a2); jalr a2; li a4, 5; beq a0, a4, 1f; ebreak; 1: nop"
    )
    assert run(tmp_path, text, device("hifive1")).cycles > 0


def test_a_store_to_the_second_half_of_an_instruction_changes_it(tmp_path: Path) -> None:
    """addi a0, a0, 1 becomes addi a0, a0, 2."""
    text = (
        "li a4, 0x00150513; li a5, 0x00008067; sw a4, 0(a2); sw a5, 4(a2); jalr a2;"
        "li a4, 0x0025; sh a4, 2(a2); jalr a2; li a4, 3; beq a0, a4, 1f; ebreak; 1: nop"
    )
    assert run(tmp_path, text, device("hifive1")).cycles > 0


def test_a_conditional_store_needs_its_reservation(tmp_path: Path) -> None:
    text = (
        "sc.w a4, a1, (a2); beqz a4, 2f; lr.w a4, (a2); sc.w a4, a3, (a2); bnez a4, 2f;"
        "lw a5, 0(a2); bne a5, a3, 2f;"
        "sc.w a4, a1, (a2); beqz a4, 2f; lw a5, 0(a2); beq a5, a3, 1f; 2: ebreak; 1: nop"
    )
    assert run(tmp_path, text, device("hifive1")).cycles > 0


def test_the_stack_of_a_region_is_its_deepest(tmp_path: Path) -> None:
    text = "addi sp, sp, -48; addi sp, sp, -16; addi sp, sp, 64; addi sp, sp, -32; addi sp, sp, 32"
    assert run(tmp_path, text, device("hifive1"), Options(trace=True)).stack_bytes == 64


def test_a_trace_is_of_instructions_and_addresses(tmp_path: Path) -> None:
    def trace(text: str) -> str | None:
        return run(tmp_path, text, device("hifive1"), Options(trace=True)).trace

    assert trace("lw a0, 0(a2)") == trace("lw a0, 0(a2)") != trace("lw a0, 4(a2)")
    assert trace("beqz a0, 1f; nop; 1: nop") != trace("bnez a0, 1f; nop; 1: nop")


def test_a_dump_has_each_instruction_and_address(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    run(tmp_path, "lw a0, 4(a2); nop", device("hifive1"), Options(trace=True, dump=dump))
    first, second, mark, end = dump.read_text().splitlines()
    assert first.split()[1] == "80000404" and second.split()[1] == "ffffffff"
    assert int(mark.split()[1], 16) == device("hifive1").simulator["mark_address"] and end == "end"


# ---- files ----


def linked(folder: Path, flags: list[str], name: str = "a.elf") -> Path:
    source = folder / "a.s"
    source.write_text(".globl _start\n_start: nop\n")
    command: list[str | Path] = [
        "riscv64-unknown-elf-gcc",
        *flags,
        "-nostdlib",
        "-Wl,-n",
        f"-Wl,-Ttext={FLASH:#x}",
        source,
        "-o",
        folder / name,
    ]
    subprocess.run(command, check=True, timeout=60)
    return folder / name


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["-march=rv64imac", "-mabi=lp64"], "built for RISC-V of 64 bits, and hifive1 has 32"),
        (
            ["-march=rv32imafc", "-mabi=ilp32f"],
            "built for other registers than FE310-G002's; take -mabi=ilp32",
        ),
        (
            ["-march=rv32ec", "-mabi=ilp32e"],
            "built for other registers than FE310-G002's; take -mabi=ilp32",
        ),
    ],
)
def test_a_file_for_another_core_is_one_line(tmp_path: Path, flags: list[str], said: str) -> None:
    with pytest.raises(InputError) as raised:
        read_image(linked(tmp_path, flags), device("hifive1"))
    assert said in str(raised.value) and "\n" not in str(raised.value)


def test_a_file_for_this_core_is_read(tmp_path: Path) -> None:
    assert read_image(linked(tmp_path, ["-march=rv32imac", "-mabi=ilp32"]), device("hifive1")).entry == FLASH


def test_a_firmware_of_an_arm_is_refused(tmp_path: Path) -> None:
    path = elf(tmp_path, words(0x00100073), FLASH)
    content = bytearray(path.read_bytes())
    content[18] = 40
    path.write_bytes(content)
    with pytest.raises(InputError, match="built for ARM, and hifive1 is FE310-G002"):
        read_image(path, device("hifive1"))


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    target = device("hifive1")
    path = elf(tmp_path, bytes(target.memory["flash"].bytes + 4), FLASH)
    with pytest.raises(InputError, match="too large: needs 4,128,772 of 4,128,768 bytes of flash"):
        read_image(path, target)


# ---- the command line ----


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"--core": "sifive-e99"}, "sifive-e99 is not a core that this driver supports"),
        ({"--chip": "FE999"}, "FE999 is not a chip that this driver models"),
        ({"--cycles": "alu=1"}, "load has no cycles"),
        ({"--cycles": "speed=1"}, "speed=1 is not a cost of instructions"),
        ({"--ram": "0x80000000:3"}, "--ram must be BASE:BYTES, a multiple of four bytes"),
        ({"--ram": "0x80000000"}, "--ram has a wrong number"),
        ({"--predictor": "0:1:1"}, "--predictor must be entries of BTB:BHT:RAS"),
        ({"--cache": "3:1:1"}, "--cache must be BYTES:WAYS:LINE, powers of two"),
        ({"--speed": "1"}, "--speed is not an option"),
    ],
)
def test_a_wrong_command_line_is_one_line(tmp_path: Path, changed: dict[str, str], said: str) -> None:
    command = [
        str(part) for part in riscv.command(device("hifive1"), elf(tmp_path, words(0x73), FLASH), Options())
    ]
    for option, value in changed.items():
        if option in command:
            command[command.index(option) + 1] = value
        else:
            command[-1:-1] = [option, value]
    command[command.index("--events") + 1] = "2"
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=20, check=False, stdin=subprocess.DEVNULL
    )
    assert (done.returncode, done.stderr) == (2, f"riscv: {done.stderr[7:]}") and said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_chip_has_four_memories_at_most(tmp_path: Path) -> None:
    command = riscv.command(device("hifive1"), elf(tmp_path, words(0x73), FLASH), Options())
    for more in (2, 3):  # with flash and RAM, 4 and 5
        added = [
            word for number in range(more) for word in ("--ram", f"{0x90000000 + 4096 * number:#x}:4096")
        ]
        done = subprocess.run(
            [*command[:-1], *added, command[-1]], capture_output=True, timeout=20, check=False, input=b""
        )
        assert (b"--ram must be BASE:BYTES" in done.stderr) == (more == 3)


def test_a_core_must_take_a_cycle(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="alu needs at least one cycle"):
        run(tmp_path, "", device("hifive1", cycles=costs(device("hifive1"), alu=0)))


def test_a_driver_without_a_file_says_what_it_needs() -> None:
    done = subprocess.run([driver("riscv")], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 2 and "needs --core, --chip, --cycles" in done.stderr
