"""Interrupts and sleep on the AVR, counted by hand from the ATmega328P's datasheet (DS40002061B).

Each number in a comment is what the instruction next to it takes (its table of instructions, chapter 31);
what is in brackets follows from the section that the test names. FRAME_CYCLES: `rjmp start` and `finish`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from avr_counted import (
    EE_READY,
    FRAME_CYCLES,
    PCINT2,
    TIMER0_OVF,
    TIMER1_COMPA,
    TIMER1_OVF,
    WDT,
    assemble,
    run_counted,
)

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr")
ASLEEP = "sleeps with interrupts off"
IN_BOTH = pytest.mark.parametrize("driver", ["avr_run", "simavr"])


def cycles(driver: str, folder: Path, body: str, handlers: dict[int, str] | None = None) -> int:
    """Cycles of `body` without its frame."""
    ended = run_counted(driver, folder, assemble(folder, body, handlers))
    assert ASLEEP in ended.reason
    return ended.cycles - FRAME_CYCLES


# --- 7.7 and 7.7.1: when an interrupt is taken, and what it takes ------------------------------------------

#: The EEPROM is ready: its interrupt is pending as soon as it is enabled.
PENDING = "sbi REG(EECR), EERIE\n"


@IN_BOTH
def test_one_instruction_runs_after_sei(driver: str, tmp_path: Path) -> None:
    body = f"""
    {PENDING}                   ; 2
    sei                         ; 1
    inc r20                     ; 1: the one instruction
    inc r20                     ; (4: the interrupt begins before this one)
    inc r20
handler:                        ; 2: rjmp in the vector table
    finish
    """
    assert cycles(driver, tmp_path, body, {EE_READY: "handler"}) == 2 + 1 + 1 + 4 + 2


@IN_BOTH
@pytest.mark.parametrize(
    ("instruction", "takes"), [("out REG(SREG), r17", 1), ("sts 0x5F, r17", 2), ("bset 7", 1)]
)
def test_one_instruction_runs_after_other_writes_of_i(
    driver: str, instruction: str, takes: int, tmp_path: Path
) -> None:
    body = f"""
    {PENDING}                   ; 2
    ldi r17, 0x80               ; 1
    {instruction}               ; 1 or 2
    lds r18, 0x100              ; 2: the one instruction
    lds r18, 0x100              ; (4)
handler:                        ; 2
    finish
    """
    assert cycles(driver, tmp_path, body, {EE_READY: "handler"}) == 2 + 1 + takes + 2 + 4 + 2


@IN_BOTH
def test_one_instruction_of_the_program_runs_between_two_interrupts(driver: str, tmp_path: Path) -> None:
    body = f"""
    ldi r21, 3                  ; 1
    {PENDING}                   ; 2
    sei                         ; 1
again:
    inc r20                     ; 1 before each of three interrupts
    inc r20
    inc r20
    inc r20
handler:                        ; 3 x (4 + 2)
    dec r21                     ; 3 x 1
    brne 1f                     ; 2 x 2, at last 1
    finish
1:  reti                        ; 2 x 4
    """
    expected = 1 + 2 + 1 + 3 * (1 + 4 + 2 + 1) + 2 * 2 + 1 + 2 * 4
    assert cycles(driver, tmp_path, body, {EE_READY: "handler"}) == expected


@IN_BOTH
def test_sei_where_interrupts_are_on_delays_nothing(driver: str, tmp_path: Path) -> None:
    body = f"""
    sei                         ; 1
    nop                         ; 1
    {PENDING}                   ; 2, and the interrupt is taken
    nop                         ; (4)
handler:                        ; 2
    finish
    """
    assert cycles(driver, tmp_path, body, {EE_READY: "handler"}) == 1 + 1 + 2 + 4 + 2


@IN_BOTH
def test_cli_after_sei_keeps_the_interrupt_out(driver: str, tmp_path: Path) -> None:
    body = f"""
    {PENDING}                   ; 2
    sei                         ; 1
    cli                         ; 1: the one instruction
    nop                         ; 1
    finish
handler:
    rjmp handler
    """
    assert cycles(driver, tmp_path, body, {EE_READY: "handler"}) == 2 + 1 + 1 + 1


#: Both timers have overflowed, and nobody has looked. In the order of the flags the later vector is first.
BOTH_OVERFLOWN = """
    put TIMSK0, 1               ; 3
    put TIMSK1, 1               ; 3
    put TCNT1H, 0xFF            ; 3
    put TCNT1L, 0xFF            ; 3
    put TCNT0, 0xFF             ; 3
    put {first}, 1              ; 3
    nop
    nop                         ; 2
    put {second}, 1             ; 3
    nop
    nop                         ; 2
"""
OVERFLOW_CYCLES = 5 * 3 + 2 * (3 + 2)


@IN_BOTH
@pytest.mark.parametrize("order", [("TCCR1B", "TCCR0B"), ("TCCR0B", "TCCR1B")])
def test_the_lower_vector_comes_first_and_none_is_lost(
    driver: str, order: tuple[str, str], tmp_path: Path
) -> None:
    body = f"""
    {BOTH_OVERFLOWN.format(first=order[0], second=order[1])}
    ldi r21, 2                  ; 1
    sei                         ; 1
    nop                         ; 1
    nop                         ; (timer 1: 4)
    nop
overflow1:                      ; 2
    dec r21                     ; 1
    reti                        ; 4, one nop of the program, and (timer 0: 4)
overflow0:                      ; 2
    cpi r21, 1                  ; 1
    brne overflow0              ; 1
    finish
    """
    expected = OVERFLOW_CYCLES + 1 + 1 + 1 + 4 + 2 + 1 + 4 + 1 + 4 + 2 + 1 + 1
    assert cycles(driver, tmp_path, body, {TIMER1_OVF: "overflow1", TIMER0_OVF: "overflow0"}) == expected


@IN_BOTH
@pytest.mark.parametrize("switched_off", [True, False])
def test_an_interrupt_that_is_switched_off_delays_no_other(
    driver: str, switched_off: bool, tmp_path: Path
) -> None:
    body = f"""
    {BOTH_OVERFLOWN.format(first="TCCR1B", second="TCCR0B")}
    put TIMSK1, {0 if switched_off else 1}                ; 3
    sei                         ; 1
    nop                         ; 1
    nop                         ; (4)
    nop
overflow1:
overflow0:                      ; 2
    finish
    """
    expected = OVERFLOW_CYCLES + 3 + 1 + 1 + 4 + 2
    assert cycles(driver, tmp_path, body, {TIMER1_OVF: "overflow1", TIMER0_OVF: "overflow0"}) == expected


@IN_BOTH
def test_an_interrupt_enabled_after_its_event_is_taken(driver: str, tmp_path: Path) -> None:
    body = """
    put TCNT0, 0xFF             ; 3
    put TCCR0B, 1               ; 3
    nop                         ; 1
    sei                         ; 1
    put TIMSK0, 1               ; 3: TOV0 is set since long
    nop                         ; (4)
    nop
    finish
handler:                        ; 2
    in r20, REG(TIFR0)          ; 1: the flag has been cleared
    sbrc r20, 0                 ; 2: skips
    rjmp handler
    finish
    """
    expected = 3 + 3 + 1 + 1 + 3 + 4 + 2 + 1 + 2
    assert cycles(driver, tmp_path, body, {TIMER0_OVF: "handler"}) == expected


@IN_BOTH
@pytest.mark.parametrize("clear", ["put TIFR0, 2", "sbi REG(TIFR0), 1", "put TIFR0, 0"])
def test_a_flag_is_cleared_by_its_own_one_alone(driver: str, clear: str, tmp_path: Path) -> None:
    # OCF0A and TOV0 are set; only what clears OCF0A is written, or nothing.
    body = f"""
    put OCR0A, 0xFE
    put TCNT0, 0xFD
    put TCCR0B, 1
    .rept 8
    nop
    .endr
    put TCCR0B, 0
    in r20, REG(TIFR0)
    andi r20, 3
    cpi r20, 3
    brne bad
    {clear}
    in r20, REG(TIFR0)
    andi r20, 3
    cpi r20, {3 if clear.endswith("0") else 1}
    brne bad
    put TIMSK0, 1
    sei
    nop
    nop
bad:
    rjmp bad
handler:
    finish
    """
    assert cycles(driver, tmp_path, body, {TIMER0_OVF: "handler"}) < 60


@IN_BOTH
def test_a_pending_interrupt_whose_flag_is_cleared_does_not_come(driver: str, tmp_path: Path) -> None:
    body = f"""
    {BOTH_OVERFLOWN.format(first="TCCR0B", second="TCCR1B")}
    sbi REG(TIFR1), TOV1        ; 2
    sei                         ; 1
    nop                         ; 1
    nop                         ; (timer 0: 4)
overflow1:
    nop
overflow0:                      ; 2
    finish
    """
    expected = OVERFLOW_CYCLES + 2 + 1 + 1 + 4 + 2
    assert cycles(driver, tmp_path, body, {TIMER1_OVF: "overflow1", TIMER0_OVF: "overflow0"}) == expected


@IN_BOTH
def test_an_interrupt_that_was_dropped_comes_back_when_enabled_again(driver: str, tmp_path: Path) -> None:
    body = f"""
    {BOTH_OVERFLOWN.format(first="TCCR1B", second="TCCR0B")}
    put TIMSK0, 0               ; 3
    put TIMSK1, 0               ; 3
    sei                         ; 1
    nop                         ; 1
    nop                         ; 1
    put TIMSK1, 1               ; 3
    nop                         ; (4)
overflow1:                      ; 2
    finish
    """
    expected = OVERFLOW_CYCLES + 3 + 3 + 1 + 1 + 1 + 3 + 4 + 2
    assert cycles(driver, tmp_path, body, {TIMER1_OVF: "overflow1"}) == expected


# --- 10 and 7.7.1: sleep ------------------------------------------------------------------------------------

IDLE = "    put SMCR, 1                 ; 3: idle, SE\n"
WAKE = 4  # "halted for four cycles", and the interrupt's response is longer by them


@IN_BOTH
def test_sei_and_sleep_wakes_at_once_and_costs_four_cycles_more(driver: str, tmp_path: Path) -> None:
    body = f"""
    {IDLE}                      ; 3
    {PENDING}                   ; 2
    sei                         ; 1
    sleep                       ; 1, (4 to wake, 4 to begin)
    nop
handler:                        ; 2
    finish
    """
    assert cycles(driver, tmp_path, body, {EE_READY: "handler"}) == 3 + 2 + 1 + 1 + WAKE + 4 + 2


#: Timer 1 matches 0x334 some time after.
ALARM = """
    put OCR1AH, 0x03
    put OCR1AL, 0x34
    put TIMSK1, 2
    put TCCR1B, 1
"""


@IN_BOTH
def test_waking_costs_four_cycles_more_than_an_interrupt_of_the_running_core(
    driver: str, tmp_path: Path
) -> None:
    # NOPs take one cycle each, so the interrupt begins with the cycle of the match: nothing is left to end.
    running = f"    {IDLE}{ALARM} sei\n .rept 0x400\n nop\n .endr\nhandler:\n finish\n"
    asleep = f"    {IDLE}{ALARM} sei\n sleep\n nop\nhandler:\n finish\n"
    handlers = {TIMER1_COMPA: "handler"}
    ran = cycles(driver, tmp_path, running, handlers)
    assert 0x334 < ran < 0x334 + 60
    assert cycles(driver, tmp_path, asleep, handlers) - ran == WAKE


@IN_BOTH
def test_each_sleep_costs_its_waking(driver: str, tmp_path: Path) -> None:
    # Timer 1 in CTC mode, prescaler 8: an alarm every 8 x 250 cycles, independent of the core.
    body = f"""
    {IDLE}
    put OCR1AH, 0
    put OCR1AL, 249
    put TIMSK1, 2
    ldi r21, {{n}}
    put TCCR1B, 0x0A
    sei
1:  sleep
    rjmp 1b
handler:
    dec r21
    brne 2f
    finish
2:  reti
    """
    handlers = {TIMER1_COMPA: "handler"}
    first = cycles(driver, tmp_path, body.format(n=1), handlers)
    assert cycles(driver, tmp_path, body.format(n=6), handlers) - first == 5 * 8 * 250


@IN_BOTH
def test_sleep_without_se_is_a_nop(driver: str, tmp_path: Path) -> None:
    body = f"""
    sleep                       ; 1: SE is 0 after reset
    put SMCR, 0x0E              ; 3: a mode, without SE
    sleep                       ; 1
    {PENDING}                   ; 2
    sei                         ; 1
    sleep                       ; 1: the one instruction, and nothing to wake from
    nop                         ; (4)
handler:                        ; 2
    finish
    """
    assert cycles(driver, tmp_path, body, {EE_READY: "handler"}) == 1 + 3 + 1 + 2 + 1 + 1 + 4 + 2


@IN_BOTH
def test_an_interrupt_that_was_switched_off_keeps_nobody_awake(driver: str, tmp_path: Path) -> None:
    # Timer 0 has overflowed, its interrupt is off again: SLEEP must sleep until timer 1's alarm.
    stale = """
    put TCNT0, 0xFF
    put TIMSK0, 1
    put TCCR0B, 1
    nop
    put TCCR0B, 0
    put TIMSK0, {kept}
    """
    body = f"    {IDLE}{stale}{ALARM} ldi r20, 0\n sei\n sleep\n nop\n nop\n rjmp 9f\nhandler:\n ldi r20, 9\n"
    body += "9:  finish\n"
    handlers = {TIMER1_COMPA: "handler", TIMER0_OVF: "handler"}
    assert cycles(driver, tmp_path, body.format(kept=0), handlers) > 0x334
    assert cycles(driver, tmp_path, body.format(kept=1), handlers) < 100


@IN_BOTH
def test_a_sleep_without_any_event_is_waited_out(driver: str, tmp_path: Path) -> None:
    elf = assemble(tmp_path, f"{IDLE} sei\n1: sleep\n rjmp 1b\n")
    limit = ["--max-cycles", "123457"]
    ended = run_counted(driver, tmp_path, elf, *limit)
    if driver == "avr_run":
        assert (ended.reason, ended.cycles) == ("time limit reached", 123457)
    else:
        assert ended.reason.startswith("no answer within 123457 cycles")


def test_a_sleep_ends_with_the_simulated_time(tmp_path: Path) -> None:
    # Timer 1, prescaler 1024: its next event is four seconds away.
    elf = assemble(tmp_path, f"{IDLE} put TCCR1B, 5\n put TIMSK1, 1\n sei\n1: sleep\n rjmp 1b\n")
    ended = run_counted("avr_run", tmp_path, elf, "--max-cycles", "1000001")
    assert (ended.reason, ended.cycles) == ("time limit reached", 1000001)


# --- 11.8: the watchdog -----------------------------------------------------------------------------------

#: 2,048 periods of 128 kHz.
WATCHDOG_CYCLES = 2048 * 16_000_000 // 128_000
START_WATCHDOG = """
    ldi r17, 0x18               ; WDCE, WDE
    ldi r18, {control}
    sts WDTCSR, r17
    sts WDTCSR, r18             ; within four cycles
"""


@IN_BOTH
def test_the_watchdogs_interrupt_wakes_after_its_time(driver: str, tmp_path: Path) -> None:
    body = f"    {IDLE}{START_WATCHDOG.format(control='0x40')} sei\n sleep\n nop\nhandler:\n finish\n"
    taken = cycles(driver, tmp_path, body, {WDT: "handler"})
    # 3 + 1 + 1 + 2 until the watchdog's second store, which begins its time; then 4 to wake, 4 to begin, 2.
    assert taken == 3 + 1 + 1 + 2 + WATCHDOG_CYCLES + WAKE + 4 + 2


@IN_BOTH
def test_the_watchdogs_interrupt_comes_again_after_the_same_time(driver: str, tmp_path: Path) -> None:
    """11.9.2: without WDE the watchdog stays in its interrupt mode."""
    body = f"""
    {START_WATCHDOG.format(control="0x40")} ; 1 + 1 + 2, and its time begins with the second store
    sei
    ldi r20, 3
1:  rjmp 1b
handler:
    dec r20
    breq 2f
    reti
2:  finish
    """
    taken = cycles(driver, tmp_path, body, {WDT: "handler"})
    # Into the third: at most one cycle of the loop's RJMP, 4 to begin, 2 for the table's, DEC, BREQ.
    begun = 1 + 1 + 2 + 3 * WATCHDOG_CYCLES
    assert begun + 4 + 2 + 1 + 2 <= taken <= begun + 4 + 2 + 1 + 2 + 2


@IN_BOTH
def test_the_watchdogs_interrupt_before_a_reset_comes_once(driver: str, tmp_path: Path) -> None:
    body = f"""
    in r20, REG(MCUSR)          ; 1
    sbrc r20, WDRF              ; 2: skips, before the reset
    rjmp bitten
    {START_WATCHDOG.format(control="0x48")} ; 1 + 1 + 2
    sei
1:  rjmp 1b
handler:
    reti
bitten:                         ; 2 for the frame's rjmp again, 1 + 1 + 2
    ldi r17, 0                  ; 1
    out REG(MCUSR), r17         ; 1
    {START_WATCHDOG.format(control="0x00")} ; 1 + 1 + 2 + 2: off
    finish
    """
    taken = cycles(driver, tmp_path, body, {WDT: "handler"})
    after = 2 + 1 + 1 + 2 + 1 + 1 + 6
    begun = 1 + 2 + 1 + 1 + 2 + 2 * WATCHDOG_CYCLES
    assert begun + after <= taken <= begun + after + 8


@IN_BOTH
def test_the_watchdog_resets_a_core_that_sleeps_with_interrupts_off(driver: str, tmp_path: Path) -> None:
    body = f"""
    in r20, REG(MCUSR)          ; 1
    sbrc r20, WDRF              ; 2: skips, before the reset
    rjmp bitten
    {IDLE}                      ; 3
    {START_WATCHDOG.format(control="0x08")} ; 1 + 1 + 2, and its time, in which the core sleeps
    sleep
bitten:                         ; 2 for the frame's rjmp again, 1 + 1 + 2
    ldi r17, 0                  ; 1
    out REG(MCUSR), r17         ; 1
    {START_WATCHDOG.format(control="0x00")} ; 1 + 1 + 2 + 2: off
    finish
    """
    taken = cycles(driver, tmp_path, body)
    assert taken == 1 + 2 + 3 + 1 + 1 + 2 + WATCHDOG_CYCLES + 2 + 1 + 1 + 2 + 1 + 1 + 6


def test_sleeping_is_not_ended_by_a_pin_nobody_enabled(tmp_path: Path) -> None:
    elf = assemble(tmp_path, f"{IDLE} sei\n sleep\nhandler:\n finish\n", {PCINT2: "handler"})
    assert run_counted("avr_run", tmp_path, elf, "--max-cycles", "5000").reason == "time limit reached"


# --- 31: the instructions -----------------------------------------------------------------------------------

#: What each takes; X, Y and Z point to RAM, r16 is 0 and so are the flags, unless it says otherwise.
INSTRUCTIONS = (
    *(("add r0, r1", 1), ("adiw r24, 1", 2), ("sbiw r24, 1", 2), ("subi r17, 1", 1), ("com r0", 1)),
    *(("mul r0, r2", 2), ("muls r17, r18", 2), ("mulsu r17, r18", 2), ("fmul r17, r18", 2)),
    *(("movw r4, r2", 1), ("ldi r17, 3", 1), ("swap r3", 1), ("bst r0, 1", 1), ("bld r3, 1", 1)),
    *(("ld r3, X", 2), ("ld r3, X+", 2), ("ld r3, -X", 2), ("ldd r3, Y+5", 2), ("lds r3, 0x200", 2)),
    *(("st X, r3", 2), ("st X+, r3", 2), ("st -X, r3", 2), ("std Z+5, r3", 2), ("sts 0x200, r3", 2)),
    *(("lpm", 3), ("lpm r3, Z", 3), ("lpm r3, Z+", 3), ("push r3", 2), ("pop r3", 2)),
    *(("in r3, REG(GPIOR1)", 1), ("out REG(GPIOR1), r3", 1)),
    *(("sbi REG(GPIOR0), 0", 2), ("cbi REG(GPIOR0), 0", 2)),
    *(("rjmp 1f\n1:", 2), ("jmp 1f\n1:", 3), ("rcall 1f\n1:\n pop r3\n pop r3", 3 + 4)),
    *(("call 1f\n1:\n pop r3\n pop r3", 4 + 4), ("rcall 1f\n rjmp 2f\n1: ret\n2:", 3 + 4 + 2)),
    *(("cpi r16, 0\n breq 1f\n1:", 1 + 2), ("cpi r16, 0\n brne 1f\n1:", 1 + 1)),
    *(("cpse r16, r16\n nop", 2), ("cpse r16, r16\n jmp start", 3), ("cpi r16, 1\n nop", 2)),
    *(("sbrs r16, 0\n nop", 1 + 1), ("sbrc r16, 0\n nop", 2), ("sbrc r16, 0\n sts 0x200, r3", 3)),
    *(("sbis REG(GPIOR0), 1\n nop", 2), ("sbic REG(GPIOR0), 1\n lds r3, 0x200", 3)),
)


@IN_BOTH
def test_instructions_take_the_cycles_of_the_manual(driver: str, tmp_path: Path) -> None:
    pointers = "".join(f"    ldi r{low}, 0\n    ldi r{low + 1}, 2\n" for low in (24, 26, 28, 30))
    body = (
        f"    ldi r16, 0\n{pointers}" + "".join(f"    {text}\n" for text, _ in INSTRUCTIONS) + "    finish\n"
    )
    text = body.replace("REG(GPIOR0), 1", "REG(GPIOR2), 1").replace("REG(GPIOR2)", "0x01")
    takes = [cycles_of for _, cycles_of in INSTRUCTIONS]
    assert cycles(driver, tmp_path, text) == 1 + 8 + sum(takes)
