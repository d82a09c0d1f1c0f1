"""Ticks, SysTick, and what wakes a core (ARM DDI 0419, B1.5 and B3.3; RP2040 datasheet, 4.6 and 4.7).

The counters are compared with models that count one by one (counters.c). Small programs in assembly use them
on the Pico.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from pico_assembly import STOP, launch, run, said, store
from test_exception_rules import NEXT, handler, table
from test_pico_firmware import CHIP, CRYSTAL, UART_ON, enable

from motecrypt.build.toolchain.drivers import DRIVERS
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")
HERE = Path(__file__).resolve().parent
SHORT = (*CHIP[:-1], "0.05")
CONTROL, RELOAD, COUNT = 0xE000E010, 0xE000E014, 0xE000E018
FORCE, SCR, SHPR2 = 0x4005403C, 0xE000ED10, 0xE000ED1C
TIMER = 0x40054000
BOTH = "    str r7, [r4]\n    lsrs r7, #8\n    str r7, [r4]\n"
"""The low 16 bits of r7."""


@pytest.fixture(scope="module")
def counters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of counters.c, with the compiler's checks."""
    program = tmp_path_factory.mktemp("counters") / "counters"
    flags = ["-std=gnu11", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", f"-I{DRIVERS}"]
    subprocess.run(["gcc", *flags, HERE / "counters.c", "-o", program], check=True, timeout=60)
    return program


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", ["ticks", "far", "fraction", "systick", "ppb"])
def test_a_counter_counts_as_one_that_is_stepped(counters: Path, name: str, seed: int) -> None:
    ran = subprocess.run([counters, name, str(seed)], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout + ran.stderr) == (0, "")


def counted(between: str, tmp_path: Path) -> int:
    """What SysTick counts between two reads, with `between` done there. It reloads 0xFFFF; r1: CONTROL."""
    code = UART_ON + store(RELOAD, 0xFFFF) + store(COUNT, 0) + store(CONTROL, 5)
    code += (
        "    ldr r1, =0xE000E010\n    movs r2, #5\n    ldr r5, =0x8000\n    nop\n    ldr r7, [r1, #8]\n"
        + between
    )
    code += "    ldr r0, [r1, #8]\n    subs r7, r0\n" + BOTH + STOP
    return int.from_bytes(run(code, tmp_path, *SHORT).output, "little")


@pytest.mark.parametrize("write", ["str r2, [r1]", "str r5, [r1, #4]"], ids=["control", "reload"])
def test_a_write_to_control_or_reload_leaves_the_count(tmp_path: Path, write: str) -> None:
    """3 NOPs, a store and a load take 7 cycles, also with a write to SYST_CALIB, which changes nothing."""
    assert counted(f"    nop\n    {write}\n    nop\n    nop\n", tmp_path) == 7
    assert counted("    nop\n    str r2, [r1, #12]\n    nop\n    nop\n", tmp_path) == 7


def test_a_count_that_is_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    """The core stops it for some 300 cycles."""
    stopped = "    movs r0, #0\n    str r0, [r1]\n    movs r0, #100\n1:  subs r0, #1\n    bne 1b\n"
    stopped += "    str r2, [r1]\n"
    assert counted(stopped, tmp_path) < 20


def flags_after(between: str, tmp_path: Path) -> bytes:
    """COUNTFLAG, read twice, after the count has come to 0 once, and then `between`."""
    code = UART_ON + store(RELOAD, 20) + store(COUNT, 0) + store(CONTROL, 5) + store(RELOAD, 0xFFFFFF)
    code += (
        "    movs r0, #30\n1:  subs r0, #1\n    bne 1b\n    ldr r1, =0xE000E010\n    movs r2, #5\n" + between
    )
    for _ in range(2):
        code += "    ldr r0, [r1]\n    lsrs r0, #16\n    str r0, [r4]\n"
    return run(code + STOP, tmp_path, *SHORT).output


def test_countflag_stays_until_it_is_read_or_the_count_is_cleared(tmp_path: Path) -> None:
    assert flags_after("", tmp_path) == b"\1\0"
    assert flags_after("    str r2, [r1]\n", tmp_path) == b"\1\0"
    assert flags_after("    str r2, [r1, #8]\n", tmp_path) == b"\0\0"


def test_a_reload_value_of_0_stops_the_count_at_0(tmp_path: Path) -> None:
    code = UART_ON + store(RELOAD, 20) + store(COUNT, 0) + store(CONTROL, 5) + store(RELOAD, 0)
    code += "    movs r0, #30\n1:  subs r0, #1\n    bne 1b\n    ldr r1, =0xE000E010\n"
    code += (
        "    ldr r0, [r1, #8]\n    str r0, [r4]\n"
        + "    ldr r0, [r1]\n    lsrs r0, #16\n    str r0, [r4]\n" * 2
    )
    assert run(code + STOP, tmp_path, *SHORT).output == b"\0\1\0"


def test_the_reference_clock_counts_microseconds(tmp_path: Path) -> None:
    """At 12 MHz: 4,000 rounds of 3 cycles are 1,000 microseconds."""
    code = UART_ON + CRYSTAL + store(RELOAD, 0xFFFFFF) + store(COUNT, 0) + store(CONTROL, 1)
    code += "    ldr r1, =0xE000E010\n    movs r0, #20\n1:  subs r0, #1\n    bne 1b\n    ldr r7, [r1, #8]\n"
    code += "    ldr r0, =4000\n1:  subs r0, #1\n    bne 1b\n    ldr r0, [r1, #8]\n    subs r7, r0\n"
    ran = run(code + BOTH + STOP, tmp_path, *SHORT).output
    assert abs(int.from_bytes(ran, "little") - 1000) <= 1


def test_the_reference_clock_s_interrupt_wakes_the_core(tmp_path: Path) -> None:
    """Ten times 1,000 microseconds at 12 MHz, and not a step in between."""
    code = UART_ON + CRYSTAL + table(tick=15) + store(RELOAD, 999) + store(COUNT, 0) + store(CONTROL, 3)
    code += "    movs r6, #10\n1:  wfi\n    subs r6, #1\n    bne 1b\n" + STOP + handler("tick", "")
    ran = run(code, tmp_path, *SHORT)
    assert ran.end["interrupts"] == 10 and ran.end["instructions"] < 200
    assert 0 <= ran.end["cycle"] - 120_000 < 400


def alarm(us: int) -> str:
    """Alarm 0 goes off when the timer shows `us` more than now; r6 is that time."""
    return (
        f"    ldr r3, ={TIMER:#x}\n    movs r0, #1\n    str r0, [r3, #0x38]\n    ldr r0, [r3, #0x28]\n"
        f"    ldr r1, ={us}\n    adds r0, r1\n    mov r6, r0\n    str r0, [r3, #0x10]\n"
    )


@pytest.mark.parametrize("hz", ["12 MHz", "125 MHz", "133 MHz"])
def test_an_alarm_goes_off_at_the_cycle_at_which_the_timer_shows_its_time(tmp_path: Path, hz: str) -> None:
    """SysTick counts from alarm to alarm, each 100 us after the last one: always 100 us, at any frequency."""
    cycles = int(hz.split()[0]) * 100
    divider = {"12 MHz": None, "125 MHz": (125, 6, 2), "133 MHz": (133, 6, 2)}[hz]
    code = UART_ON + CRYSTAL
    if divider is not None:
        factor, first, second = divider
        code += store(0x4000F000, 1 << 12) + store(0x40028008, factor) + store(0x4002B004, 0x21)
        code += store(0x4002800C, first << 16 | second << 12) + store(0x4002B004, 8) + store(0x4000803C, 1)
    code += table(alarm=16) + enable(0) + store(RELOAD, 0xFFFFFF) + store(COUNT, 0) + store(CONTROL, 5)
    code += f"    movs r5, #0\n    mov r9, r5\n{alarm(100)}"
    code += (
        "    movs r7, #200\n2:  wfi\n    subs r7, #1\n    bne 2b\n    mov r0, r9\n    str r0, [r4]\n" + STOP
    )
    # r5: the count at the last alarm; r9: how many were not exactly as long after the one before.
    tick = "    ldr r1, =0xE000E010\n    ldr r2, [r1, #8]\n    subs r0, r5, r2\n"
    tick += "    lsls r0, #8\n    lsrs r0, #8\n"
    tick += f"    cmp r5, #0\n    beq 1f\n    ldr r1, ={cycles}\n    cmp r0, r1\n    beq 1f\n"
    tick += "    mov r0, r9\n    adds r0, #1\n    mov r9, r0\n1:  mov r5, r2\n"
    tick += f"    ldr r3, ={TIMER:#x}\n    movs r0, #1\n    str r0, [r3, #0x34]\n"
    tick += "    ldr r0, =100\n    add r6, r0\n"
    tick += "    mov r0, r6\n    str r0, [r3, #0x10]\n"
    ran = run(code + handler("alarm", tick), tmp_path, *SHORT)
    assert (ran.end["interrupts"], ran.output) == (200, b"\0")


# --- SVC, WFE and WFI ---


def test_svc_while_interrupts_are_masked_is_a_hard_fault(tmp_path: Path) -> None:
    code = UART_ON + table(service=11, fault=3) + "    svc #0\n" + said("a") + "    cpsid i\n    svc #0\n"
    code += (
        said("b")
        + "    cpsie i\n"
        + said("c")
        + STOP
        + handler("service", said("s"))
        + handler("fault", said("f"))
    )
    assert run(code, tmp_path, *SHORT).output == b"safbc"


def test_svc_in_a_handler_that_is_as_urgent_is_a_hard_fault(tmp_path: Path) -> None:
    code = UART_ON + table(service=11, fault=3) + "    svc #0\n" + said("m") + STOP
    code += handler("service", said("s") + "    svc #1\n") + handler("fault", said("f"))
    assert run(code, tmp_path, *SHORT).output == b"sfm"


def test_svc_in_a_hard_fault_is_a_lockup(tmp_path: Path) -> None:
    code = UART_ON + table(fault=3) + "    cpsid i\n    svc #0\n" + STOP + handler("fault", "    svc #1\n")
    ended = run(code, tmp_path, *SHORT).end
    assert ended["event"] == "fault" and ended["detail"].startswith("lockup: SVC before 0x")


@pytest.mark.parametrize(("instruction", "wakes"), [("wfi", True), ("wfe", False)])
def test_what_primask_holds_back_wakes_wfi_but_not_wfe(tmp_path: Path, instruction: str, wakes: bool) -> None:
    code = UART_ON + table(line=16) + enable(0) + "    cpsid i\n" + said("a") + store(FORCE, 1) + NEXT
    code += f"    {instruction}\n" + said("b") + STOP + handler("line", said("h"))
    ran = run(code, tmp_path, *SHORT)
    assert ran.output == (b"ab" if wakes else b"a")


def test_with_sevonpend_it_wakes_wfe_too(tmp_path: Path) -> None:
    for pends in (store(FORCE, 1), store(0xE000ED04, 1 << 28)):
        code = UART_ON + table(line=16) + enable(0) + "    cpsid i\n" + store(SCR, 1 << 4) + pends + NEXT
        code += "    wfe\n" + said("b") + STOP + handler("line", said("h"))
        assert run(code, tmp_path, *SHORT).output == b"b"


def test_two_cores_that_sleep_masked_wait_for_the_end(tmp_path: Path) -> None:
    """Neither wakes the other, although each has something pending."""
    core1 = "core1:\n" + enable(1) + "    cpsid i\n" + store(0xE000E200, 2) + "1:  wfe\n    wfe\n    b 1b\n"
    code = UART_ON + launch(core1) + "    ldr r0, =core1+1\n    bl launch\n" + enable(2) + "    cpsid i\n"
    code += store(0xE000E200, 4) + said("a") + "1:  wfe\n    wfe\n    b 1b\n"
    ran = run(code, tmp_path, *SHORT)
    assert ran.output == b"a" and ran.end["instructions"] < 2000


def test_a_read_of_the_timer_s_low_word_holds_the_high_word(tmp_path: Path) -> None:
    """The count passes 2^32 after the low word is read; TIMERAWH shows it, TIMEHR after the next read."""
    code = UART_ON + CRYSTAL + store(TIMER + 4, 0xFFFFFFF0) + store(TIMER, 7)
    code += (
        f"    ldr r3, ={TIMER:#x}\n    ldr r0, [r3, #0x0C]\n    ldr r0, =200\n1:  subs r0, #1\n    bne 1b\n"
    )
    for offset in (0x08, 0x24, 0x0C, 0x08):
        code += f"    ldr r0, [r3, #{offset}]\n" + ("    str r0, [r4]\n" if offset != 0x0C else "")
    assert run(code + STOP, tmp_path, *SHORT).output == bytes([7, 8, 8])
