"""Timers, pins, UART, ADC and SPI on the AVR, counted by hand from the ATmega328P's datasheet (DS40002061B).

Most firmwares sleep from event to event; the difference between many and one event is what is between them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from avr_counted import (
    ADC,
    FRAME_CYCLES,
    INT0,
    PCINT2,
    SPI_STC,
    TIMER0_COMPA,
    TIMER0_OVF,
    TIMER1_CAPT,
    TIMER1_COMPA,
    TIMER1_COMPB,
    TIMER1_OVF,
    TIMER2_OVF,
    USART_TX,
    USART_UDRE,
    assemble,
    output_of,
    run_counted,
)

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr")
IN_BOTH = pytest.mark.parametrize("driver", ["avr_run", "simavr"])

#: Sleeps until r21 events have come; `again` runs in the handler of each but the last.
EVENTS = """
    put SMCR, 1
    ldi r21, {events}
    {begin}
    sei
1:  sleep
    rjmp 1b
handler:
    dec r21
    breq 2f
    {again}
    reti
2:  finish
"""


def cycles(driver: str, folder: Path, body: str, vector: int) -> int:
    ended = run_counted(driver, folder, assemble(folder, body, {vector: "handler"}))
    assert "sleeps with interrupts off" in ended.reason
    return ended.cycles - FRAME_CYCLES


def between(driver: str, folder: Path, vector: int, begin: str, again: str = "", more: int = 3) -> int:
    """Cycles of `more` further events."""
    one, many = (
        cycles(driver, folder, EVENTS.format(events=n, begin=begin, again=again), vector)
        for n in (1, 1 + more)
    )
    return many - one


# --- timers -------------------------------------------------------------------------------------------------


@IN_BOTH
@pytest.mark.parametrize(("select", "divider"), [(1, 1), (2, 8), (3, 64), (4, 256), (5, 1024)])
def test_a_timer_overflows_after_its_counts(driver: str, select: int, divider: int, tmp_path: Path) -> None:
    begin = f"put TIMSK0, 1\n put TCCR0B, {select}"
    assert between(driver, tmp_path, TIMER0_OVF, begin) == 3 * 256 * divider


@IN_BOTH
def test_a_timer_of_16_bits_overflows_after_65536(driver: str, tmp_path: Path) -> None:
    assert between(driver, tmp_path, TIMER1_OVF, "put TIMSK1, 1\n put TCCR1B, 2") == 3 * 65536 * 8


@IN_BOTH
@pytest.mark.parametrize("count", [1, 100, 254, 255])
def test_a_count_that_is_set_is_gone_on_from(driver: str, count: int, tmp_path: Path) -> None:
    # From the store to the overflow there are 256 - count counts of 64 cycles; after a store of 0, 256.
    body = "    put SMCR, 1\n put TIMSK0, 1\n put TCCR0B, 3\n {set}\n sei\n"
    body += "1: sleep\n rjmp 1b\nhandler:\n finish\n"
    whole = cycles(driver, tmp_path, body.format(set="put TCNT0, 0"), TIMER0_OVF)
    part = cycles(driver, tmp_path, body.format(set=f"put TCNT0, {count}"), TIMER0_OVF)
    assert whole - part == 64 * count


@IN_BOTH
def test_a_match_that_lies_behind_a_count_that_is_set_waits_a_round(driver: str, tmp_path: Path) -> None:
    # OCR0A = 100; from 90 on it is 10 counts away and one to the flag, from 150 on 256 more than -50.
    body = "    put SMCR, 1\n put OCR0A, 100\n put TIMSK0, 2\n put TCCR0B, 3\n put TCNT0, {count}\n sei\n"
    body += "1: sleep\n rjmp 1b\nhandler:\n finish\n"
    ahead, behind = (cycles(driver, tmp_path, body.format(count=n), 14) for n in (90, 150))
    assert behind - ahead == 64 * (256 - 150 + 90)


@IN_BOTH
def test_a_stopped_timer_keeps_its_count(driver: str, tmp_path: Path) -> None:
    body = """
    put TCNT1H, 0x12
    put TCNT1L, 0x34
    lds r20, TCNT1L             ; stopped from the beginning
    lds r21, TCNT1H
    cpi r20, 0x34
    brne bad
    cpi r21, 0x12
    brne bad
    put TCCR1B, 1
    nop
    nop
    put TCCR1B, 0
    lds r20, TCNT1L
    lds r21, TCNT1H
    nop
    lds r22, TCNT1L
    cp r20, r22
    brne bad
    cpi r21, 0x12
    brne bad
    subi r20, 0x34              ; two NOPs, LDI and STS between the stores: 5 counts
    cpi r20, 5
    brne bad
handler:
    finish
bad:
    rjmp bad
    """
    assert cycles(driver, tmp_path, body, TIMER1_OVF) < 100


@IN_BOTH
@pytest.mark.parametrize("number", [0, 2])
def test_a_stopped_timer_of_8_bits_keeps_its_count(driver: str, number: int, tmp_path: Path) -> None:
    """And nothing else: it has no high byte, whose place would be r0."""
    body = f"""
    ldi r16, 0x77
    mov r0, r16
    put TCNT{number}, 0x34
    lds r20, TCNT{number}
    cpi r20, 0x34
    brne bad
    put TCCR{number}B, 1
    nop
    nop
    put TCCR{number}B, 0
    lds r20, TCNT{number}
    nop
    lds r22, TCNT{number}
    cp r20, r22
    brne bad
    subi r20, 0x34              ; two NOPs, LDI and STS between the stores
    cpi r20, 5
    brne bad
    mov r16, r0
    cpi r16, 0x77
    brne bad
handler:
    finish
bad:
    rjmp bad
    """
    assert cycles(driver, tmp_path, body, TIMER1_OVF) < 100


@IN_BOTH
def test_a_running_timer_is_read_as_it_runs(driver: str, tmp_path: Path) -> None:
    """The high byte is the one of the moment at which the low one was read."""
    body = """
    put TCNT1H, 0
    put TCNT1L, 0xF0
    put TCCR1B, 1
    .rept 10
    nop
    .endr
    lds r20, TCNT1L             ; 10 or 11 after 240
    lds r21, TCNT1H
    .rept 6
    nop
    .endr
    lds r22, TCNT1L             ; 10 more
    lds r23, TCNT1H
    sub r22, r20
    cpi r22, 10
    brne bad
    cpi r21, 0
    brne bad
    cpi r23, 1
    brne bad
handler:
    finish
bad:
    rjmp bad
    """
    assert cycles(driver, tmp_path, body, TIMER1_OVF) < 100


#: A timer's registers: TCCRnA, TCCRnB, TIMSKn, its overflow's vector.
TIMERS = {0: ("TCCR0A", "TCCR0B", "TIMSK0", TIMER0_OVF), 2: ("TCCR2A", "TCCR2B", "TIMSK2", TIMER2_OVF)}


def mode_of_timer_1(mode: int, select: int = 1) -> str:
    """Stores that choose a mode of table 15-5 and the clock."""
    return f"put TCCR1A, {mode & 3}\n put TCCR1B, {(mode >> 2) * 8 + select}\n"


def word(register: str, value: int) -> str:
    return f"put {register}H, {value >> 8}\n put {register}L, {value & 255}\n"


@IN_BOTH
@pytest.mark.parametrize("number", [0, 2])
@pytest.mark.parametrize(("mode", "select", "divider"), [(1, 1, 1), (1, 2, 8), (5, 2, 8)])
def test_phase_correct_pwm_goes_up_and_down(
    driver: str, number: int, mode: int, select: int, divider: int, tmp_path: Path
) -> None:
    control_a, control_b, mask, vector = TIMERS[number]
    # To 255 and back are 510 counts (14.7.4); with OCRnA = 100 as the top 200.
    begin = f"put OCR{number}A, 100\n put {control_a}, {mode & 3}\n put {mask}, 1\n"
    begin += f" put {control_b}, {(mode & 4) * 2 + select}"
    taken = between(driver, tmp_path, vector, begin)
    assert taken == 3 * (510 if mode == 1 else 200) * divider


@IN_BOTH
@pytest.mark.parametrize(
    ("mode", "period"),
    [
        *((1, 510), (2, 1022), (3, 2046), (8, 2000), (9, 1400), (10, 2000), (11, 1400)),  # both ways
        *((5, 256), (6, 512), (7, 1024), (14, 1001), (15, 701)),  # fast PWM
    ],
)
def test_timer_1_overflows_by_its_mode(driver: str, mode: int, period: int, tmp_path: Path) -> None:
    begin = word("ICR1", 1000) + word("OCR1A", 700) + "put TIMSK1, 1\n" + mode_of_timer_1(mode)
    assert between(driver, tmp_path, TIMER1_OVF, begin) == 3 * period


@IN_BOTH
@pytest.mark.parametrize(("mode", "period"), [(12, 1001), (14, 1001), (8, 2000), (10, 2000)])
def test_icr1_as_the_top_sets_its_flag(driver: str, mode: int, period: int, tmp_path: Path) -> None:
    begin = word("ICR1", 1000) + word("OCR1A", 700) + "put TIMSK1, 0x20\n" + mode_of_timer_1(mode)
    assert between(driver, tmp_path, TIMER1_CAPT, begin) == 3 * period


@IN_BOTH
def test_ctc_with_icr1_lets_ocr1a_match_on_the_way(driver: str, tmp_path: Path) -> None:
    begin = word("ICR1", 1000) + word("OCR1A", 700) + "put TIMSK1, 2\n" + mode_of_timer_1(12)
    assert between(driver, tmp_path, TIMER1_COMPA, begin) == 3 * 1001


@IN_BOTH
@pytest.mark.parametrize(("count", "left"), [(0, 511), (100, 411), (254, 257), (255, 256)])
def test_phase_correct_pwm_overflows_at_the_bottom(
    driver: str, count: int, left: int, tmp_path: Path
) -> None:
    """TOV comes a count after the bottom: figure 15-12, its names changed as its text says."""
    body = "    put SMCR, 1\n put TIMSK0, 1\n put TCCR0A, 1\n put TCCR0B, 3\n {set}\n sei\n"
    body += "1: sleep\n rjmp 1b\nhandler:\n finish\n"
    first, whole = (
        cycles(driver, tmp_path, body.format(set=f"put TCNT0, {n}"), TIMER0_OVF) for n in (255, count)
    )
    assert whole - first == 64 * (left - 256)


@IN_BOTH
def test_phase_correct_pwm_matches_on_both_ways(driver: str, tmp_path: Path) -> None:
    """At 100, and at 100 again 310 counts later; 510 from one match on the way up to the next."""
    begin = "put OCR0A, 100\n put TIMSK0, 2\n put TCCR0A, 1\n put TCCR0B, 3"
    assert between(driver, tmp_path, TIMER0_COMPA, begin, more=1) == 64 * 310
    assert between(driver, tmp_path, TIMER0_COMPA, begin, more=2) == 64 * 510
    at_top = begin.replace("100", "255")
    assert between(driver, tmp_path, TIMER0_COMPA, at_top, more=1) == 64 * 510


@IN_BOTH
@pytest.mark.parametrize(
    ("mode", "to", "gaps"),
    [
        (0, 150, (50, 256)),  # no PWM: immediately
        (3, 150, (306, 256)),  # fast PWM: from the next period on
        (1, 50, (461 - 101, 510 + 51 - 461)),  # phase correct: from the top on, at 50 down, then up
        (1, 150, (361 - 101, 510 + 151 - 361)),
    ],
)
def test_with_pwm_a_compare_is_taken_over_later(
    driver: str, mode: int, to: int, gaps: tuple[int, int], tmp_path: Path
) -> None:
    begin = f"put OCR0A, 100\n ldi r17, {to}\n put TIMSK0, 2\n put TCCR0A, {mode}\n put TCCR0B, 3"
    again = "out REG(OCR0A), r17"
    first = between(driver, tmp_path, TIMER0_COMPA, begin, again, more=1)
    both = between(driver, tmp_path, TIMER0_COMPA, begin, again, more=2)
    assert (first, both) == (64 * gaps[0], 64 * sum(gaps))


@IN_BOTH
def test_phase_and_frequency_correct_pwm_takes_over_at_the_bottom(driver: str, tmp_path: Path) -> None:
    """The match on the way down is still the old one, 1,800 counts later; the next at 50 on the way up."""
    begin = word("ICR1", 1000) + word("OCR1B", 100) + "put TIMSK1, 4\n" + mode_of_timer_1(8, 2)
    again = "ldi r16, 0\n sts OCR1BH, r16\n ldi r16, 50\n sts OCR1BL, r16"
    assert between(driver, tmp_path, TIMER1_COMPB, begin, again, more=1) == 8 * 1800
    assert between(driver, tmp_path, TIMER1_COMPB, begin, again, more=2) == 8 * (1800 + 150)


@IN_BOTH
def test_ctc_overflows_at_the_highest_count_alone(driver: str, tmp_path: Path) -> None:
    """With OCR0A = 10 it never comes there; with a count beyond OCR0A it does."""
    body = """
    put OCR0A, 10
    put TCCR0A, 2
    put TCCR0B, 1
    .rept 30
    nop
    .endr
    in r20, REG(TIFR0)
    cpi r20, 6                  ; both compares have matched, OCR0B being 0
    brne bad
    put TCNT0, 240
    .rept 30
    nop
    .endr
    in r20, REG(TIFR0)
    cpi r20, 7
    brne bad
handler:
    finish
bad:
    rjmp bad
    """
    assert cycles(driver, tmp_path, body, TIMER0_OVF) < 200


@IN_BOTH
def test_a_count_that_is_set_matches_nothing_by_itself(driver: str, tmp_path: Path) -> None:
    """14.5.2: the match with the count that was written is missed, and comes a round later."""
    body = "    put SMCR, 1\n put OCR0A, 100\n put TIMSK0, 2\n put TCCR0B, 3\n put TCNT0, {count}\n sei\n"
    body += "1: sleep\n rjmp 1b\nhandler:\n finish\n"
    before, at = (cycles(driver, tmp_path, body.format(count=n), TIMER0_COMPA) for n in (99, 100))
    assert at - before == 64 * 255


#: What a real ATmega328P read, in public reports to avr8js (issues 36, 40, 41 and 72). An instruction writes
#: a register at its end and reads one in its last cycle.
READ_ON_CHIPS = {
    "started, then read": ("put TCCR2B, 1\n nop\n lds r20, TCNT2", 2),
    "started, stopped, then read": (
        "ldi r17, 0\n put TCCR2B, 1\n sts TCCR2B, r17\n nop\n nop\n lds r20, TCNT2",
        2,
    ),
    "written, then read": ("put TCCR0B, 1\n ldi r17, 0\n out REG(TCNT0), r17\n in r20, REG(TCNT0)", 0),
    "written, then read in two cycles": (
        "put TCCR2B, 1\n ldi r17, 0\n sts TCNT2, r17\n nop\n lds r20, TCNT2",
        2,
    ),
}


@IN_BOTH
@pytest.mark.parametrize(("code", "count"), READ_ON_CHIPS.values(), ids=READ_ON_CHIPS)
def test_a_count_is_what_a_real_chip_reads(driver: str, tmp_path: Path, code: str, count: int) -> None:
    body = f"    {code}\n    cpi r20, {count}\n    brne bad\nhandler:\n    finish\nbad:\n    rjmp bad\n"
    assert cycles(driver, tmp_path, body, TIMER2_OVF) < 100


@IN_BOTH
def test_counts_are_read_on_both_ways_and_kept_by_a_new_mode(driver: str, tmp_path: Path) -> None:
    body = """
    put TCCR2A, 1
    put TCCR2B, 1
    put TCNT2, 250
    .rept 8
    nop
    .endr
    lds r20, TCNT2              ; read 8 NOPs and a cycle after the write: 255 is 5 counts on, 251 9 counts
    cpi r20, 251
    brne bad
    lds r20, TCNT2              ; 2 + 1 + 1 later
    cpi r20, 247
    brne bad
    put TCCR2B, 0               ; written 1 + 1 + 1 + 1 + 2 later: 241
    put TCCR2A, 0               ; normal mode: up from there
    put TCCR2B, 1
    nop
    lds r20, TCNT2
    cpi r20, 243                ; read a NOP and a cycle after the write
    brne bad
handler:
    finish
bad:
    rjmp bad
    """
    assert cycles(driver, tmp_path, body, TIMER2_OVF) < 100


@IN_BOTH
def test_a_pin_toggles_with_each_match(driver: str, tmp_path: Path) -> None:
    """CTC, COM = 1, every 100 counts: high after the first match, low after the second."""
    body = """
    sbi REG(DDRD), 6
    put OCR0A, 99
    put TCCR0A, 0x42
    put TCCR0B, 1
    .rept 90
    nop
    .endr
    sbic REG(PIND), 6
    rjmp bad
    .rept 40
    nop
    .endr
    sbis REG(PIND), 6
    rjmp bad
    .rept 100
    nop
    .endr
    sbic REG(PIND), 6
    rjmp bad
handler:
    finish
bad:
    rjmp bad
    """
    assert cycles(driver, tmp_path, body, TIMER0_OVF) < 300


@IN_BOTH
def test_a_flag_that_is_cleared_comes_again(driver: str, tmp_path: Path) -> None:
    """Polled, not interrupting: from one clearing to the next flag is a period, less what the loop takes."""
    body = """
    put TCCR2A, 1
    put TCCR2B, 1
    ldi r21, {times}
1:  sbis REG(TIFR2), 0
    rjmp 1b
    sbi REG(TIFR2), 0
    dec r21
    brne 1b
handler:
    finish
    """
    few, many = (cycles(driver, tmp_path, body.format(times=n), TIMER2_OVF) for n in (1, 52))
    assert abs(many - few - 51 * 510) < 8
    late = body.format(times=2).replace("    ldi r21", ("    nop\n" * 2000) + "    ldi r21")
    assert cycles(driver, tmp_path, late, TIMER2_OVF) < 2000 + 600


# --- pins ---------------------------------------------------------------------------------------------------


@IN_BOTH
@pytest.mark.parametrize(("mode", "rises"), [(3, True), (2, False), (1, True), (1, False), (None, False)])
def test_an_edge_of_a_pin_that_the_program_drives_interrupts(
    driver: str, mode: int | None, rises: bool, tmp_path: Path
) -> None:
    kind = "put PCMSK2, 4" if mode is None else f"put EICRA, {mode}"
    enable = "put PCICR, 4" if mode is None else "put EIMSK, 1"
    drive, before = ("sbi", "cbi") if rises else ("cbi", "sbi")
    body = f"""
    {kind}                      ; 3
    sbi REG(DDRD), 2            ; 2
    {before} REG(PORTD), 2      ; 2
    put EIFR, 1                 ; 3: what that caused is cleared
    put PCIFR, 4                ; 3
    {enable}                    ; 3
    sei                         ; 1
    nop                         ; 1
    {drive} REG(PORTD), 2       ; 2
    inc r20                     ; (4)
handler:                        ; 2
    finish
    """
    vector = PCINT2 if mode is None else INT0
    assert cycles(driver, tmp_path, body, vector) == 3 + 2 + 2 + 3 + 3 + 3 + 1 + 1 + 2 + 4 + 2


# --- UART ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("control", "bits"), [(0x06, 10), (0x26, 11), (0x0E, 11), (0x2E, 12), (0x00, 7), (0x04, 9)]
)
@pytest.mark.parametrize(("divisor", "twice"), [(103, 0), (16, 2)])
def test_a_byte_takes_its_bits_on_the_line(
    control: int, bits: int, divisor: int, twice: int, tmp_path: Path
) -> None:
    begin = f"put UCSR0C, {control}\n put UCSR0A, {twice}\n put UBRR0H, 0\n put UBRR0L, {divisor}\n"
    begin += "put UCSR0B, 0x48\n put UDR0, 0x55\n"
    per_bit = (divisor + 1) * (8 if twice else 16)
    taken = between("avr_run", tmp_path, USART_TX, begin, "sts UDR0, r16")
    # The next byte begins with the store in the handler: 4 to wake, 4 to begin, 2, 1, 1 later.
    assert taken == 3 * (bits * per_bit + 4 + 4 + 2 + 1 + 1)


#: 8N1 with a divisor of 1 and double speed: a byte is 10 bits of 16 cycles.
LINE = "put UCSR0A, 2\n put UBRR0H, 0\n put UBRR0L, 1\n put UCSR0C, 6\n"
BYTE = 160


def test_udre_comes_a_byte_before_the_line_is_free(tmp_path: Path) -> None:
    """Two bytes are taken immediately, each further one when the shift register takes the one before."""
    body = f"    {LINE} put UCSR0B, 8\n"
    body += "    {stores}    finish\nhandler:\n    finish\n"
    store = "1:  lds r17, UCSR0A\n    sbrs r17, 5\n    rjmp 1b\n    sts UDR0, r16\n"

    def taken(count: int) -> int:
        stores = "".join(store.replace("1b", f"{n}b").replace("1:", f"{n}:") for n in range(1, count + 1))
        return cycles("avr_run", tmp_path, body.format(stores=stores), USART_TX)

    none, one, two, three, four = (taken(n) for n in range(5))
    assert (one - none, two - one) == (2 + 2 + 2, 2 + 2 + 2)  # LDS, SBRS that skips, STS
    # The third waits for the end of the first byte, in rounds of 2 + 1 + 2; the fourth a byte more.
    assert BYTE - 12 <= three - two - 6 <= BYTE and abs(four - three - BYTE) < 5


def test_txc_comes_when_both_registers_are_empty(tmp_path: Path) -> None:
    begin = LINE + "put UCSR0B, 0x48\n sts UDR0, r16\n"
    # The line begins with the first store: after three bytes the flag is two bytes later than after one.
    one = cycles("avr_run", tmp_path, EVENTS.format(events=1, begin=begin, again=""), USART_TX)
    two = cycles(
        "avr_run", tmp_path, EVENTS.format(events=1, begin=begin + "sts UDR0, r16", again=""), USART_TX
    )
    assert two - one == BYTE


def test_what_is_written_to_a_full_register_is_lost(tmp_path: Path) -> None:
    body = f"    {LINE} put UCSR0B, 8\n" + "".join(
        f"    ldi r16, {ord(byte)}\n    sts UDR0, r16\n" for byte in "abc"
    )
    elf = assemble(tmp_path, body + "    .rept 400\n    nop\n    .endr\n    finish\n")
    assert output_of(elf, tmp_path) == b"ab"


def test_the_data_registers_interrupt_fills_the_line(tmp_path: Path) -> None:
    """Each byte follows the one before without a gap; the first two are taken one after the other."""
    begin = LINE + "put UCSR0B, 0x28"
    first = cycles("avr_run", tmp_path, EVENTS.format(events=1, begin=begin, again=""), USART_UDRE)
    second = cycles(
        "avr_run", tmp_path, EVENTS.format(events=2, begin=begin, again="sts UDR0, r16"), USART_UDRE
    )
    assert 0 < second - first < 30
    assert abs(between("avr_run", tmp_path, USART_UDRE, begin, "sts UDR0, r16", more=9) - 8 * BYTE) < 60
    many, more = (
        cycles("avr_run", tmp_path, EVENTS.format(events=n, begin=begin, again="sts UDR0, r16"), USART_UDRE)
        for n in (10, 14)
    )
    assert more - many == 4 * BYTE


# --- ADC ----------------------------------------------------------------------------------------------------


@IN_BOTH
@pytest.mark.parametrize(("select", "divider"), [(1, 2), (3, 8), (5, 32), (6, 64), (7, 128)])
def test_a_conversion_takes_its_clocks(driver: str, select: int, divider: int, tmp_path: Path) -> None:
    begin = f"put ADCSRA, {0xC8 + select}\n ldi r17, {0xC8 + select}"
    # 13 clocks each after the first; the next begins with the store in the handler, 12 later.
    assert between(driver, tmp_path, ADC, begin, "sts ADCSRA, r17") == 3 * (13 * divider + 12)
    first = cycles(driver, tmp_path, EVENTS.format(events=1, begin=begin, again=""), ADC)
    # 3 + 1 + 1 until the store; after the conversion's 25 clocks 4 + 4 + 2, then 1 + 2.
    assert first == 3 + 1 + 1 + 25 * divider + 4 + 4 + 2 + 1 + 2


# --- SPI ----------------------------------------------------------------------------------------------------


@IN_BOTH
@pytest.mark.parametrize("rate", range(4))
@pytest.mark.parametrize("twice", [0, 1])
def test_a_byte_on_spi_takes_eight_bits(driver: str, rate: int, twice: int, tmp_path: Path) -> None:
    divider = (4, 16, 64, 128)[rate] // (1 + twice)
    begin = f"put SPSR, {twice}\n put SPCR, {0xD0 + rate}\n out REG(SPDR), r16"
    taken = between(driver, tmp_path, SPI_STC, begin, "out REG(SPDR), r16")
    # As above; a transfer that is shorter than SEI and SLEEP is over when the core falls asleep.
    assert taken == 3 * (8 * divider + 4 + 4 + 2 + 1 + 1) or 8 * divider < 20
