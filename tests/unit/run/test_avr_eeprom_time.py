"""The AVR's EEPROM, counted by hand from the ATmega328P's datasheet (DS40002061B, 8.4 and 8.6).

A write ends its instruction, stops the core for two cycles, and is done 3.4 ms (54,400 cycles at 16 MHz)
after the instruction that set EEPE; each half alone takes 1.8 ms.
"""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
from avr_counted import CLOCK_HZ, EE_READY, FRAME_CYCLES, UNO, Counted, assemble, run_counted

from motecrypt.build.toolchain.arduino import build_sketch
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.profiling import profile
from motecrypt.simulate.emulate.run import FreeRun, run_freely
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr")
IN_BOTH = pytest.mark.parametrize("driver", ["avr_run", "simavr"])
BOTH, HALF = 54_400, 28_800
READ_HALT, WRITE_HALT = 4, 2

START_WRITE = """
    sbi REG(EECR), EEMPE        ; 2
    sbi REG(EECR), EEPE         ; 2, (2)
"""
START_CYCLES = 2 + 2 + WRITE_HALT


def counted(
    driver: str,
    folder: Path,
    body: str,
    handlers: dict[int, str] | None = None,
    *options: str,
    eeprom: bytes = b"",
) -> Counted:
    """As it ran, without its frame's cycles."""
    ended = run_counted(driver, folder, assemble(folder, body, handlers), *options, eeprom=eeprom)
    assert "sleeps with interrupts off" in ended.reason
    return Counted(ended.cycles - FRAME_CYCLES, ended.reason, ended.eeprom, ended.notes)


def until_ready(busy: int, loop: int, leaves: int) -> int:
    """Cycles of a loop that waits for EEPE, from the end of START_WRITE on: it looks at its beginning and
    then every `loop` cycles, the first time that `busy` is over it leaves in `leaves`."""
    left = busy - WRITE_HALT
    return -(-left // loop) * loop + leaves


# --- reading ------------------------------------------------------------------------------------------------


@IN_BOTH
def test_a_read_stops_the_core_for_four_cycles(driver: str, tmp_path: Path) -> None:
    body = """
    sbi REG(EECR), EERE         ; 2, (4)
    in r20, REG(EEDR)           ; 1
    ldi r17, 1                  ; 1
    out REG(EECR), r17          ; 1, (4)
    sts EECR, r17               ; 2, (4)
    in r21, REG(EECR)           ; 1
    sbrc r21, EERE              ; 2: reads as 0
    rjmp start
    finish
    """
    expected = 2 + READ_HALT + 1 + 1 + 1 + READ_HALT + 2 + READ_HALT + 1 + 2
    assert counted(driver, tmp_path, body).cycles == expected


COPY = """
    put EEARL, {source}
    sbi REG(EECR), EERE
    in r20, REG(EEDR)
    out REG(EEDR), r20
    put EEARL, {target}
"""


def test_what_is_read_is_what_lies_there(tmp_path: Path) -> None:
    body = COPY.format(source=3, target=9) + "    put EEARH, 1\n" + START_WRITE + "    finish\n"
    ended = counted("avr_run", tmp_path, body, eeprom=bytes([1, 2, 3, 0x5A]))
    assert ended.eeprom[:4] == bytes([1, 2, 3, 0x5A]) and ended.eeprom[0x109] == 0x5A
    assert ended.eeprom.count(0xFF) == 1024 - 5


def test_an_address_beyond_is_wrapped(tmp_path: Path) -> None:
    body = "    put EEARH, 0x07\n    put EEARL, 0x05\n    put EEDR, 0x11\n" + START_WRITE + "    finish\n"
    assert counted("avr_run", tmp_path, body).eeprom[0x305] == 0x11


# --- writing ------------------------------------------------------------------------------------------------

WAIT = "1:  sbic REG(EECR), EEPE\n    rjmp 1b\n"  # 1 and 2, at last 2
WAIT_OTHERWISE = "1:  in r20, REG(EECR)\n    sbrc r20, EEPE\n    rjmp 1b\n"  # 1 + 1 + 2, at last 1 + 2


@IN_BOTH
@pytest.mark.parametrize(("mode", "busy"), [("0x00", BOTH), ("0x10", HALF), ("0x20", HALF)])
def test_a_byte_takes_its_time(driver: str, mode: str, busy: int, tmp_path: Path) -> None:
    body = f"    put EECR, {mode}            ; 3\n{START_WRITE}{WAIT}    finish\n"
    ended = counted(driver, tmp_path, body)
    assert ended.cycles == 3 + START_CYCLES + until_ready(busy, 3, 2)


@IN_BOTH
def test_another_waiting_loop_takes_as_long(driver: str, tmp_path: Path) -> None:
    ended = counted(driver, tmp_path, f"{START_WRITE}{WAIT_OTHERWISE}    finish\n")
    assert ended.cycles == START_CYCLES + until_ready(BOTH, 4, 3)


@IN_BOTH
@pytest.mark.parametrize("shift", range(3))
def test_a_wait_that_is_taken_at_once_ends_where_a_stepped_one_does(
    driver: str, shift: int, tmp_path: Path
) -> None:
    # Timer 1 runs meanwhile, its overflows end a stretch; the cycle is the same for every phase.
    begin = "    put TCCR1B, 1\n" + shift * "    nop\n" + START_WRITE
    body = begin + "{wait}    lds r20, TCNT1L\n    finish\n"
    slow = WAIT.replace("rjmp 1b", "rjmp 2f\n    rjmp 3f\n2:  rjmp 1b\n3:")  # 1 + 2 + 2, at last 2 + 2
    quick = counted(driver, tmp_path, body.format(wait=WAIT)).cycles
    assert quick == 3 + shift + START_CYCLES + until_ready(BOTH, 3, 2) + 2
    stepped = counted(driver, tmp_path, body.format(wait=slow)).cycles
    assert stepped == 3 + shift + START_CYCLES + until_ready(BOTH, 5, 4) + 2


def test_a_wait_that_is_taken_at_once_takes_no_time_of_the_computer(tmp_path: Path) -> None:
    """The same 27 million cycles, in processor time of the driver; stepped they take many times as long."""

    def spent(wait: str) -> float:
        body = f"    ldi r21, 250\n    ldi r22, 2\n5:\n{START_WRITE}{wait}"
        body += "    dec r21\n    brne 5b\n    dec r22\n"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        elf = assemble(tmp_path, f"{body}    brne 5b\n    finish\n")
        built = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert run_counted("avr_run", tmp_path, elf).cycles > 490 * BOTH
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert built.ru_utime >= before.ru_utime
        return after.ru_utime - built.ru_utime

    assert 4 * spent(WAIT) < spent(WAIT_OTHERWISE)


@pytest.mark.parametrize(
    ("mode", "before", "after"),
    [("0x00", 0xF0, 0xAA), ("0x10", 0xF0, 0xFF), ("0x20", 0xF0, 0xA0), ("0x20", 0x0F, 0x0A)],
)
def test_a_half_erases_or_writes_zeros_only(mode: str, before: int, after: int, tmp_path: Path) -> None:
    body = f"    put EEARL, 2\n    put EEDR, 0xAA\n    put EECR, {mode}\n{START_WRITE}    finish\n"
    ended = counted("avr_run", tmp_path, body, eeprom=bytes([7, 7, before, 7]))
    assert ended.eeprom[:4] == bytes([7, 7, after, 7])


@IN_BOTH
@pytest.mark.parametrize(("nops", "written"), [(0, True), (2, True), (3, False), (9, False)])
def test_eepe_counts_within_four_cycles_of_eempe(
    driver: str, nops: int, written: bool, tmp_path: Path
) -> None:
    # SBI writes at its end: two NOPs and a second SBI are four cycles.
    body = f"""
    sbi REG(EECR), EEMPE        ; 2
    .rept {nops}
    nop                         ; 1
    .endr
    sbi REG(EECR), EEPE         ; 2, (2 if it counts)
    finish
    """
    assert counted(driver, tmp_path, body).cycles == 2 + nops + 2 + (WRITE_HALT if written else 0)


@IN_BOTH
@pytest.mark.parametrize(("nops", "written"), [(0, True), (3, True), (4, False)])
def test_the_window_of_out_is_four_cycles_as_well(
    driver: str, nops: int, written: bool, tmp_path: Path
) -> None:
    body = f"""
    ldi r17, 4                  ; 1
    ldi r18, 2                  ; 1
    out REG(EECR), r17          ; 1: EEMPE
    .rept {nops}
    nop                         ; 1
    .endr
    out REG(EECR), r18          ; 1: EEPE, (2 if it counts)
    finish
    """
    assert counted(driver, tmp_path, body).cycles == 1 + 1 + 1 + nops + 1 + (WRITE_HALT if written else 0)


@IN_BOTH
def test_eempe_falls_by_itself_and_eepe_alone_does_nothing(driver: str, tmp_path: Path) -> None:
    body = """
    sbi REG(EECR), EEPE         ; 2: without EEMPE
    put EECR, 6                 ; 3: both at once
    in r20, REG(EECR)           ; 1
    cpse r20, r1                ; 2: skips, nothing is set
    rjmp start
    sbi REG(EECR), EEMPE        ; 2
    nop                         ; 1
    nop                         ; 1
    sbis REG(EECR), EEMPE       ; 2: skips, the third cycle
    rjmp start
    sbic REG(EECR), EEMPE       ; 2: skips, beyond the fourth
    rjmp start
    finish
    """
    assert counted(driver, tmp_path, body).cycles == 2 + 3 + 1 + 2 + 2 + 1 + 1 + 2 + 2


@IN_BOTH
def test_while_a_byte_is_in_work_nothing_else_begins(driver: str, tmp_path: Path) -> None:
    body = f"""
    {START_WRITE}               ; 2 + 2, (2)
    sbi REG(EECR), EERE         ; 2: no read, no stop
    put EECR, 0x10              ; 3: the mode stays
    put EEARL, 5                ; 3: the address stays
    ldi r17, 4                  ; 1
    ldi r18, 6                  ; 1
    out REG(EECR), r17          ; 1
    out REG(EECR), r18          ; 1: no write, no stop
    in r20, REG(EEARL)          ; 1
    cpse r20, r1                ; 2: skips, it is still 0
    rjmp start
    in r20, REG(EECR)           ; 1
    andi r20, 0x32              ; 1
    cpi r20, 2                  ; 1: EEPE, and both mode bits as they were
    breq 1f                     ; 2
    rjmp start
{WAIT}    put EEARL, 5                ; 3: now it takes
    in r20, REG(EEARL)          ; 1
    cpi r20, 5                  ; 1
    breq 2f                     ; 2
    rjmp start
2:  finish
    """
    during = 2 + 3 + 3 + 1 + 1 + 1 + 1 + 1 + 2 + 1 + 1 + 1 + 2
    waited = -(-(BOTH - WRITE_HALT - during) // 3) * 3 + 2
    assert counted(driver, tmp_path, body).cycles == START_CYCLES + during + waited + 3 + 1 + 1 + 2


# --- the ready interrupt ------------------------------------------------------------------------------------


@IN_BOTH
def test_the_ready_interrupt_comes_when_the_byte_is_done(driver: str, tmp_path: Path) -> None:
    body = """
    put SMCR, 1                 ; 3
    sbi REG(EECR), EEMPE        ; 2
    ldi r17, 0x0A               ; 1: EERIE, EEPE
    out REG(EECR), r17          ; 1, (2), and 54,400 from its end on
    sei
    sleep                       ; (4 to wake, 4 to begin)
    nop
handler:                        ; 2
    finish
    """
    expected = 3 + 2 + 1 + 1 + BOTH + 4 + 4 + 2
    assert counted(driver, tmp_path, body, {EE_READY: "handler"}).cycles == expected


@IN_BOTH
@pytest.mark.parametrize("bytes_written", [1, 2, 70])
def test_a_handler_that_writes_is_called_for_each_byte(
    driver: str, bytes_written: int, tmp_path: Path
) -> None:
    # 70: more than libsimavr's queue of interrupts has places.
    body = f"""
    put SMCR, 1                 ; 3
    ldi r21, {bytes_written}    ; 1
    sbi REG(EECR), EERIE        ; 2
    sei                         ; 1
1:  sleep                       ; 1, (4 to wake)
    rjmp 1b                     ; 2
handler:                        ; (4) and 2
    dec r21                     ; 1
    brmi done                   ; 1, at last 2
    sbi REG(EECR), EEMPE        ; 2
    sbi REG(EECR), EEPE         ; 2, (2)
    reti                        ; 4
done:
    finish
    """
    begin = 3 + 1 + 2 + 1 + 1  # and it wakes from sleep immediately
    handler_to_write = (
        4 + 4 + 2 + 1 + 1 + 2 + 2
    )  # to wake, to begin ... to the end of the write's instruction
    expected = begin + bytes_written * (handler_to_write + BOTH) + 4 + 4 + 2 + 1 + 2
    assert counted(driver, tmp_path, body, {EE_READY: "handler"}).cycles == expected


@IN_BOTH
def test_a_ready_interrupt_that_is_switched_off_does_not_come(driver: str, tmp_path: Path) -> None:
    body = """
    sbi REG(EECR), EERIE        ; 2
    cbi REG(EECR), EERIE        ; 2
    sei                         ; 1
    nop                         ; 1
    nop                         ; 1
    sbi REG(EECR), EERIE        ; 2
    nop                         ; (4)
    nop
handler:                        ; 2
    finish
    """
    expected = 2 + 2 + 1 + 1 + 1 + 2 + 4 + 2
    assert counted(driver, tmp_path, body, {EE_READY: "handler"}).cycles == expected


@IN_BOTH
def test_bytes_written_without_interrupts_leave_none_behind(driver: str, tmp_path: Path) -> None:
    # EERIE is set all the while: 70 times ready, 70 times busy, never taken.
    body = f"""
    ldi r21, 70                 ; 1
    sbi REG(EECR), EERIE        ; 2
again:
    {START_WRITE}
{WAIT}    dec r21                     ; 1
    brne again                  ; 2, at last 1
    sei                         ; 1
    nop                         ; 1
    nop                         ; (4)
handler:                        ; 2
    finish
    """
    each = START_CYCLES + until_ready(BOTH, 3, 2) + 1 + 2
    expected = 1 + 2 + 70 * each - 1 + 1 + 1 + 4 + 2
    assert counted(driver, tmp_path, body, {EE_READY: "handler"}).cycles == expected


# --- reset --------------------------------------------------------------------------------------------------


@IN_BOTH
@pytest.mark.parametrize("later", [0, 60_000])
def test_a_byte_in_work_is_finished_over_a_reset(driver: str, later: int, tmp_path: Path) -> None:
    # The watchdog resets the chip 256,000 cycles after its start; the write began shortly before, or long.
    delay = (256_000 - 600 - later) // 4  # `sbiw; brne` take 4
    body = f"""
    in r20, REG(MCUSR)          ; after the reset 1
    sbrc r20, WDRF              ; 1
    rjmp bitten                 ; 2
    ldi r17, 0x18
    ldi r18, 0x08
    sts WDTCSR, r17
    sts WDTCSR, r18             ; from here on 256,000
    ldi r24, lo8({delay})
    ldi r25, hi8({delay})
1:  sbiw r24, 1
    brne 1b
    {START_WRITE}
2:  rjmp 2b
bitten:
    put MCUSR, 0                ; 3
    ldi r17, 0x18               ; 1
    sts WDTCSR, r17             ; 2
    sts WDTCSR, r1              ; 2: the watchdog is off
3:  sbic REG(EECR), EEPE        ; 1
    rjmp 3b                     ; 2
    finish
    """
    ended = counted(driver, tmp_path, body)
    begun = 1 + 2 + 1 + 1 + 2 + 2 + 1 + 1 + 4 * delay - 1 + 4  # the end of the instruction that set EEPE
    rest = 256_000 + 9  # the reset
    if later:
        assert rest < ended.cycles < rest + 40, "long done"
    else:
        assert begun + BOTH <= ended.cycles + FRAME_CYCLES < begun + BOTH + 12


# --- as users meet it ---------------------------------------------------------------------------------------


def test_a_hundred_bytes_take_340_ms(tmp_path: Path) -> None:
    sketch = tmp_path / "Hundred" / "Hundred.ino"
    sketch.parent.mkdir()
    sketch.write_text(
        "#include <EEPROM.h>\nvoid setup() { for (int i = 0; i < 100; i++) EEPROM.write(i, i);\n"
        "  eeprom_busy_wait(); Serial.begin(115200); Serial.write('e'); }\nvoid loop() {}\n"
    )
    image = read_image(build_sketch(sketch), UNO)
    ended = run_freely(image, UNO, FreeRun(until="e"), lambda data: None)
    assert ended.seconds == pytest.approx(0.340, rel=0.002)
    stepped = profile(image, UNO, FreeRun(until="e"), lambda data: None)
    assert stepped.ended.cycles == ended.cycles


def test_the_clock_of_the_chip_decides_how_many_cycles_a_byte_is_busy(tmp_path: Path) -> None:
    elf = assemble(tmp_path, f"{START_WRITE}{WAIT}    finish\n")
    ended = run_counted("avr_run", tmp_path, elf, "--clock", "8000000")
    assert CLOCK_HZ == 16_000_000
    assert ended.cycles - FRAME_CYCLES == START_CYCLES + until_ready(BOTH // 2, 3, 2)
