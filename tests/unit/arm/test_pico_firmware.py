"""What firmware for the Pico uses beyond its code: boot ROM, interrupts, alarms, DMA, ADC, watchdog, sleep.

Small programs in assembly use the chip as the SDK does; expected figures follow from the datasheet's rules.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tool_sets import needs_tool_set

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "drivers"))
from arm_assembly import STOP, TOLD, run

pytestmark = needs_tool_set("pico")

CHIP = ("--chip", "RP2040", "--bus", "2:3:1", "--free", "--max-seconds", "100")
UART_ON = "    ldr r0, =1\n    str r0, [r4, #0x24]\n    ldr r0, =0x301\n    str r0, [r4, #0x30]\n"
CRYSTAL = """
    ldr r1, =0x40024000
    ldr r0, =0xFAB000
    str r0, [r1]
    ldr r1, =0x40008000
    movs r0, #2
    str r0, [r1, #0x30]
    ldr r1, =0x4005802C
    ldr r0, =0x20C
    str r0, [r1]
"""
"""The core at 12 MHz, and the timer counts microseconds."""


def table(**handlers: int) -> str:
    """A vector table in RAM, and its address in VTOR."""
    lines = ["    ldr r0, =0x20001000", "    ldr r1, =0xE000ED08", "    str r0, [r1]"]
    for name, number in handlers.items():
        lines += [f"    ldr r1, ={name}+1", f"    str r1, [r0, #{4 * number}]"]
    return "\n".join(lines) + "\n"


def enable(irq: int) -> str:
    """One interrupt, in the NVIC."""
    return f"    ldr r1, =0xE000E100\n    ldr r0, ={1 << irq}\n    str r0, [r1]\n"


ALARM = """
    ldr r3, =0x40054000
    movs r0, #1
    str r0, [r3, #0x38]
    ldr r0, [r3, #0x28]
    ldr r1, ={us}
    adds r0, r1
    str r0, [r3, #0x10]
"""
HANDLER = """
    .pool
    .align 2
alarm:
    ldr r3, =0x40057000 @ the alias that clears, as hw_clear_bits writes
    movs r0, #1
    str r0, [r3, #0x34]
    movs r0, #'h'
    str r0, [r4]
    bx lr
"""
LOOK_UP = """
    .pool
    .align 2
look:
    push {r4, lr}
    movs r1, r0
    movs r2, #0x14
    ldrh r0, [r2]
    ldrh r2, [r2, #4]
    blx r2
    pop {r4, pc}
"""


def test_an_alarm_wakes_a_core_that_sleeps(tmp_path: Path) -> None:
    code = UART_ON + CRYSTAL + table(alarm=16) + enable(0) + ALARM.format(us=60_000_000)
    ran = run(code + "    wfi\n    movs r0, #'m'\n" + TOLD + STOP + HANDLER, tmp_path, *CHIP)
    assert ran.output == b"hm"
    assert ran.end["interrupts"] == 1
    assert ran.end["instructions"] < 200, "what the core sleeps is not stepped"
    assert abs(ran.end["cycle"] - 60_000_000 * 12) < 400, "a minute at 12 MHz"


def test_an_interrupt_waits_until_it_is_not_masked(tmp_path: Path) -> None:
    masked = (
        "    cpsid i\n"
        + ALARM.format(us=10)
        + "    ldr r0, =1000\n1:  subs r0, #1\n    bne 1b\n    movs r0, #'a'\n"
    )
    code = UART_ON + CRYSTAL + table(alarm=16) + enable(0) + masked + TOLD
    assert (
        run(
            code + "    cpsie i\n    nop\n    movs r0, #'b'\n" + TOLD + STOP + HANDLER, tmp_path, *CHIP
        ).output
        == b"ahb"
    )
    assert run(code + "    movs r0, #'b'\n" + TOLD + STOP + HANDLER, tmp_path, *CHIP).output == b"ab"


@pytest.mark.parametrize("before", range(0, 24, 5))
def test_an_interrupt_comes_between_the_right_two_instructions(tmp_path: Path, before: int) -> None:
    """SysTick comes in a block of many instructions: the handler begins 15 cycles after it, wherever."""
    code = UART_ON + table(tick=15) + "    ldr r1, =0xE000E010\n    ldr r0, =499\n    str r0, [r1, #4]\n"
    code += (
        "    str r0, [r1, #8]\n    movs r0, #7\n    movs r3, #0\n    str r0, [r1]\n" + "    nop\n" * before
    )
    code += "1:\n" + "    adds r3, #1\n" * 60 + "    b 1b\n"
    tick = (
        "    .pool\n    .align 2\ntick:\n    ldr r0, [r1, #8]\n    str r0, [r4]\n"
        "    str r3, [r4]\n    cpsid i\n    b .\n"
    )
    ran = run(code + tick, tmp_path, *CHIP)
    assert ran.end["event"] == "stop", ran.end
    left, added = ran.output
    # 500 cycles from the beginning of the store that starts it: the store, NOPs, and rounds of 62 cycles.
    rounds, rest = divmod(500 - 2 - before, 62)
    assert added == (60 * rounds + min(rest, 60)) % 256
    # Entry takes 15 cycles, in which SysTick counts from 499 on; the loop's branch may delay it by 1.
    assert (485 - left) % 256 <= 1
    again = run(code + tick, tmp_path, *CHIP)
    assert again.output == ran.output and again.end["cycle"] == ran.end["cycle"]


@pytest.mark.parametrize("unmask", ["cpsie i", "movs r2, #0\n    msr primask, r2"])
def test_what_has_waited_comes_as_soon_as_interrupts_are_on(tmp_path: Path, unmask: str) -> None:
    """SysTick ends while interrupts are off; its next end is far away."""
    code = UART_ON + table(tick=15) + "    ldr r1, =0xE000E010\n    ldr r0, =49999\n    str r0, [r1, #4]\n"
    code += "    str r0, [r1, #8]\n    movs r0, #7\n    movs r3, #0\n    cpsid i\n    str r0, [r1]\n"
    code += f"    ldr r0, =20000\n1:\n    subs r0, #1\n    bne 1b\n    {unmask}\n"
    code += "2:\n    adds r3, #1\n    b 2b\n"
    tick = "    .pool\n    .align 2\ntick:\n    str r3, [r4]\n    cpsid i\n    b .\n"
    assert [*run(code + tick, tmp_path, *CHIP).output] == [0]


def test_a_supervisor_call_and_a_stack_of_its_own(tmp_path: Path) -> None:
    code = (
        UART_ON
        + table(called=11)
        + "    ldr r0, =0x20003000\n    msr psp, r0\n    movs r0, #2\n    msr control, r0\n    isb\n"
    )
    code += (
        "    movs r0, #'x'\n    svc #5\n"
        + TOLD
        + "    mov r1, sp\n    ldr r2, =0x20003000\n    subs r0, r1, r2\n    adds r0, #'='\n"
    )
    called = (
        "    .pool\n    .align 2\ncalled:\n    mrs r1, ipsr\n    adds r1, #'0'\n"
        "    str r1, [r4]\n    mrs r1, psp\n"
        "    ldr r0, [r1]\n    adds r0, #1\n    str r0, [r1]\n    bx lr\n"
    )
    assert run(code + TOLD + STOP + called, tmp_path, *CHIP).output == bytes([ord("0") + 11]) + b"y="


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("P3", [0xF0F0F0F1], 17),
        ("R3", [1], 0x80000000),
        ("L3", [0x00010000], 15),
        ("T3", [0x00010000], 16),
        ("XX", None, 0),
    ],
)
def test_functions_that_firmware_looks_up_in_the_boot_rom(
    tmp_path: Path, name: str, arguments: list[int] | None, result: int
) -> None:
    code = UART_ON + f"    ldr r0, ={ord(name[0]) | ord(name[1]) << 8}\n    bl look\n"
    if arguments is not None:
        code += f"    movs r3, r0\n    ldr r0, ={arguments[0]}\n    blx r3\n"
    code += "".join(f"    str r0, [r4]\n{'    lsrs r0, #8' + chr(10) if i < 3 else ''}" for i in range(4))
    assert run(code + STOP + LOOK_UP, tmp_path, *CHIP).output == result.to_bytes(4, "little")


@pytest.mark.parametrize(
    ("offset", "first", "second", "result"),
    [
        (0x00, 0x3FC00000, 0x40200000, 0x40800000),  # 1.5 + 2.5
        (0x04, 0x3FC00000, 0x40200000, 0xBF800000),
        (0x08, 0x3FC00000, 0x40200000, 0x40700000),
        (0x0C, 0x3F800000, 0x40400000, 0x3EAAAAAB),  # 1 / 3
        (0x18, 0x40000000, 0, 0x3FB504F3),  # sqrt 2
        (0x1C, 0xC0200000, 0, 0xFFFFFFFD),  # -2.5, rounded down
        (0x24, 0xC0200000, 0, 0),
        (0x2C, 0xFFFFFFFE, 0, 0xC0000000),
        (0x00, 0x00000001, 0x00000001, 0),  # numbers that are not normal are 0
    ],
)
def test_floating_point_from_the_rom_s_table(
    tmp_path: Path, offset: int, first: int, second: int, result: int
) -> None:
    code = (
        UART_ON + f"    movs r2, #0x16\n    ldrh r0, [r2]\n    ldr r1, ={ord('S') | ord('F') << 8}\n"
        f"    ldrh r2, [r2, #2]\n    blx r2\n"
    )
    code += f"    ldr r3, [r0, #{offset}]\n    ldr r0, ={first}\n    ldr r1, ={second}\n    blx r3\n"
    code += "".join(f"    str r0, [r4]\n{'    lsrs r0, #8' + chr(10) if i < 3 else ''}" for i in range(4))
    assert run(code + STOP, tmp_path, *CHIP).output == result.to_bytes(4, "little")


def test_dma_copies_and_interrupts(tmp_path: Path) -> None:
    """Four words, a cycle each, with its interrupt; then bytes to the UART at the UART's pace."""
    code = (
        UART_ON
        + table(done=16 + 11)
        + enable(11)
        + "    ldr r3, =0x50000000\n    movs r0, #1\n    ldr r1, =0x50000404\n    str r0, [r1]\n"
    )
    code += (
        "    ldr r0, =words\n    str r0, [r3]\n    str r2, [r3, #4]\n    movs r0, #4\n    str r0, [r3, #8]\n"
    )
    code += "    ldr r0, =0x1F8039\n    str r0, [r3, #0x0C]\n    wfi\n    ldrb r0, [r2, #15]\n" + TOLD
    code += "    ldr r1, =0x50000404\n    str r5, [r1]\n    ldr r0, =words\n"
    code += "    str r0, [r3]\n    str r4, [r3, #4]\n"
    code += "    movs r0, #16\n    str r0, [r3, #8]\n    ldr r0, =0x0A0011\n    str r0, [r3, #0x0C]\n"
    code += "1:  ldr r0, [r3, #0x0C]\n    lsrs r0, #25\n    bcs 1b\n"
    done = (
        "    .pool\n    .align 2\ndone:\n    ldr r1, =0x5000040C\n    ldr r0, [r1]\n"
        "    str r0, [r1]\n    adds r0, #'0'\n    str r0, [r4]\n    bx lr\n"
        '    .align 2\nwords: .ascii "abcdefghijklmnop"\n'
    )
    assert run(code + STOP + done, tmp_path, *CHIP).output == b"1pabcdefghijklmnop"


def test_the_temperature_sensor(tmp_path: Path) -> None:
    code = (
        UART_ON + CRYSTAL + "    ldr r3, =0x4004C000\n    ldr r0, =0x4003\n    str r0, [r3]\n"
        "    ldr r0, =0x4007\n    str r0, [r3]\n"
    )
    code += "1:  ldr r0, [r3]\n    lsrs r0, #9\n    bcc 1b\n    ldr r0, [r3, #4]\n"
    code += "    str r0, [r4]\n    lsrs r0, #8\n"
    assert int.from_bytes(run(code + TOLD + STOP, tmp_path, *CHIP).output, "little") == 876, (
        "27 degrees: 0.706 V of 3.3 V"
    )


def test_the_watchdog_resets_the_chip_and_keeps_its_scratch_registers(tmp_path: Path) -> None:
    code = UART_ON + CRYSTAL + "    ldr r3, =0x40058000\n    ldr r0, [r3, #8]\n    adds r0, #'0'\n" + TOLD
    code += (
        "    ldr r0, [r3, #0x1C]\n    adds r0, #1\n    str r0, [r3, #0x1C]\n    cmp r0, #3\n    beq over\n"
    )
    code += (
        "    ldr r0, =2000\n    str r0, [r3, #4]\n    ldr r0, =0x40000000\n    str r0, [r3]\n    b .\nover:\n"
    )
    ran = run(code + STOP, tmp_path, *CHIP)
    assert ran.output == b"011", "first by power, then twice by the timer"
    assert [e["detail"] for e in ran.events if e["event"] == "note"] == ["the watchdog resets the chip"] * 2
    assert abs(ran.end["cycle"] - 2 * 1000 * 12) < 1000, "2,000 counts, two a microsecond"


@pytest.mark.parametrize(("wrong", "output"), [(0, b"w"), (1, b"")])
def test_a_watchdog_starts_the_program_that_its_scratch_registers_name(
    tmp_path: Path, wrong: int, output: bytes
) -> None:
    """As watchdog_reboot(pc, sp, delay) does: a magic number, the address twice, and the stack."""
    code = UART_ON + CRYSTAL + "    ldr r3, =0x40058000\n    ldr r0, [r3, #8]\n    cmp r0, #0\n    bne over\n"
    code += "    ldr r0, =0xB007C0D3\n    str r0, [r3, #0x1C]\n    rsbs r0, r0, #0\n    ldr r1, =again+1\n"
    code += f"    eors r0, r1\n    adds r0, #{wrong}\n    str r0, [r3, #0x20]\n    str r1, [r3, #0x28]\n"
    code += "    ldr r0, =0x20003000\n    str r0, [r3, #0x24]\n"
    code += "    ldr r0, =0x80000000\n    str r0, [r3]\n    b .\n"
    code += "    .pool\nover:\n" + STOP + "    .align 2\nagain:\n    ldr r4, =0x40034000\n" + UART_ON
    code += "    ldr r1, =0x20003000\n    cmp sp, r1\n    bne over\n    ldr r3, =0x40058000\n"
    code += "    ldr r0, [r3, #0x1C]\n    cmp r0, #0\n    bne over\n    movs r0, #'w'\n" + TOLD + STOP
    ran = run(code, tmp_path, *CHIP)
    assert (ran.output, ran.end["event"]) == (output, "stop"), ran.events


def test_an_alarm_waits_while_the_timer_is_paused(tmp_path: Path) -> None:
    """100 us, of which the timer is paused for 1,000 rounds of a loop: 3 cycles each, at 12 MHz."""
    pause = "    movs r0, #{0}\n    str r0, [r3, #0x30]\n"
    code = UART_ON + CRYSTAL + table(alarm=16) + enable(0) + ALARM.format(us=100) + pause.format(1)
    code += "    ldr r0, =1000\n1:  subs r0, #1\n    bne 1b\n    movs r0, #'p'\n" + TOLD + pause.format(0)
    ran = run(code + "    wfi\n    movs r0, #'m'\n" + TOLD + STOP + HANDLER, tmp_path, *CHIP)
    assert ran.output == b"phm"
    assert 3000 + 100 * 12 <= ran.end["cycle"] <= 3000 + 100 * 12 + 250


def test_sleep_that_nothing_ends(tmp_path: Path) -> None:
    ran = run(UART_ON + "    movs r0, #'a'\n" + TOLD + "    wfi\n" + STOP, tmp_path, *CHIP)
    assert ran.end["event"] == "fault"
    assert ran.end["detail"].startswith("the firmware sleeps, and nothing can wake it")


def test_what_is_not_modelled_is_listed_with_names(tmp_path: Path) -> None:
    code = "    ldr r3, =0x40050000\n    str r5, [r3, #4]\n    ldr r0, [r3, #4]\n"
    code += "    ldr r3, =0x40052014\n    str r5, [r3]\n"
    code += "    ldr r3, =0x50300048\n    str r5, [r3]\n"
    code += "    ldr r3, =0x40008098\n    ldr r0, [r3]\n    ldr r3, =0x4006001C\n    ldr r0, [r3]\n"
    touched = [e for e in run(code + STOP, tmp_path, *CHIP).events if e["event"] == "touched"]
    assert [(e["address"], e["name"], e["reads"], e["writes"]) for e in touched] == [
        (0x40050004, "PWM_CH0_DIV", 1, 1),
        (0x40050014, "PWM_CH1_CSR", 0, 1),
        (0x50300048, "PIO1_INSTR_MEM0", 0, 1),
        (0x40008098, "CLOCKS_FC0_STATUS", 1, 0),
        (0x4006001C, "ROSC_RANDOMBIT", 1, 0),
    ]
