"""Timers, pins, UART, ADC and SPI on the AVR, counted by hand from the ATmega328P's datasheet (DS40002061B).

Most firmwares sleep from event to event; the difference between many and one event is what lies between them.
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
    TIMER0_OVF,
    TIMER1_OVF,
    USART_TX,
    assemble,
    run_counted,
)

from kits import needs_kit

pytestmark = needs_kit("avr")
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
