"""Timers, the watchdog, the converter and resets of RP2040 and RP2350 by their data sheets, without a core.

Sources: RP2040 data sheet, 2.14, 4.6, 4.7, 4.9; RP2350 data sheet, 2.2, 3.1, 4.3, 7.5, 8.1, 8.5, 12.8, 12.9.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from facts import Script, wrong
from natively import compiled
from test_rp_dma_facts import fields
from test_rp_facts import CHIPS, PARTS, RP2040, RP2350

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")
HARNESS = "rp_harness.c"
#: A tick of the timer, the watchdog and SysTick's reference clock in 10 cycles.
TICK = {
    RP2040: "put WATCHDOG+0x2C b9+10; get WATCHDOG+0x2C = b10+b9+10",
    RP2350: "put TICKS+0x18 1; put TICKS+0x1C 10; put TICKS+0x30 1; put TICKS+0x34 10; get TICKS+0x18 = 3;"
    "put TICKS+4 10; put TICKS 1",
}

FACTS = {
    "alarms": """
        TICK; put TIMER+0x10 5; put TIMER+0x1C 7; get TIMER+0x20 = 9; get TIMER+0x10 = 5
        get TIMER+0x1C = 7; due = 50
        at 49; get ALARMS = 0; at 50; get ALARMS = 1; get TIMER+0x20 = 8; due = 70; at 80
        get ALARMS = 9; get TIMER+0x20 = 0
        due = NEVER; get ALARMS+12 = 0; put ALARMS+4 ONES; get ALARMS+4 = 15; get ALARMS+12 = 9
        put ALARMS+4 8; get ALARMS+12 = 8
        put ALARMS+8 6; get ALARMS+8 = 6; get ALARMS+12 = 14; put ALARMS+12 ONES; get ALARMS = 9
        put ALARMS 8; get ALARMS = 1
        put ALARMS+0x3000 1; get ALARMS = 0; put ALARMS+8 ONES; get ALARMS+8 = 15; put ALARMS+8 0
        put TIMER+0x14 20; put TIMER+0x18 30; due = 200; put TIMER+0x20 2; get TIMER+0x20 = 4; due = 300
        put TIMER+0x14 4
        due = 300; get TIMER+0x20 = 6; at 310; get ALARMS = 4; get TIMER+0x20 = 2; put TIMER+0x14 31
        due = 311; at 311; get ALARMS = 6
    """,
    "the count": """
        TICK; at 1239; get TIMER+0xC = 123; get TIMER+0x28 = 123; get TIMER+0x24 = 0; get TIMER+8 = 0
        put TIMER+4 ONES
        get TIMER+0x28 = 123; put TIMER 5; get TIMER+0x28 = ONES; get TIMER+0x24 = 5; get TIMER+8 = 0
        get TIMER+0xC = ONES
        get TIMER+8 = 5; at 1240; get TIMER+0x24 = 6; get TIMER+8 = 5; get TIMER+0x28 = 0
        get TIMER+0xC = 0; get TIMER+8 = 6
        put TIMER+0x30 1; at 5000; get TIMER+0x28 = 0; put TIMER+0x10 3; due = NEVER
        put TIMER+0x30 ONES-1; due = 5030
        at 5020; get TIMER+0x28 = 2; put TIMER+0x30 1; at 6000; put TIMER+4 100; put TIMER 0
        get TIMER+0x28 = 100
        at 7000; put TIMER+0x30 0; at 7010; get TIMER+0x28 = 101; get TIMER+0x20 = 1; put TIMER+4 1
        put TIMER 0; due = 7030
    """,
    "conversions": """
        get ADC = 0; put ADC 5; get ADC = 1; due = 96; get ADC+4 = 0; at 95; get ADC = 1; at 96
        get ADC = b8+1; due = NEVER
        put ADC 0x4005; at 192; get ADC+4 = 0; put ADC 0x4007; at 287; get ADC+4 = 0; at 288
        get ADC+4 = 876; get ADC = b8+0x4003
        put ADC 0x3007; at 384; get ADC+4 = 0; put ADC 0x4006; at 1000; get ADC+4 = 0; get ADC = 0x4002
        put ADC ONES-b2
        get ADC = 0x1F700B; put ADC 0
    """,
    "conversions without end, and rounds of inputs": """
        put ADC 0x400B; get ADC = 0x400B; due = 96; at 96; due = 192; get ADC = 0x400B; put ADC 0x4003
        due = 192; at 192
        get ADC = 0x4103; due = NEVER; put ADC+0x10 ONES; get ADC+0x10 = 0xFFFFFF; put ADC+0x10 0xBF80
        put ADC 0x400B
        at 288; due = 480; put ADC 0; at 480; put ADC+0x10 0x5F00; put ADC 0xB; at 576; due = 672
        put ADC 0; at 672; get ADC = 0
        put ADC+0x10 0; put ADC b1+b3+0x1A3001; due = 768; at 768; get ADC = 0x1A400B; get ADC+4 = 0
        at 864; get ADC = 0x1A100B
        get ADC+4 = 876; at 960; get ADC = 0x1A300B; put ADC 0x10001; get ADC = 0x10001
    """,
    "the queue of conversions": """
        get ADC+8 = b8; put ADC+8 ONES; get ADC+8 = b8+0xF00000F; put ADC+8 1; put ADC 0x400B; at 96
        get ADC+8 = b16+1
        get ADC+0x14 = 1; get ADC+0x20 = 0; put ADC+0x18 1; get ADC+0x20 = 1; get ADC+0x18 = 1
        put ADC+8 b25+1; get ADC+0x14 = 0
        get ADC+0x20 = 0; put ADC+0x1C 1; get ADC+0x1C = 1; get ADC+0x20 = 1; put ADC+0x1C 0; at 192
        get ADC+0x14 = 1
        at 384; get ADC+8 = b25+b18+b9+1; at 480; get ADC+8 = b25+b18+b11+b9+1; put ADC 0; put ADC+8 b11+1
        get ADC+8 = b18+b9+1; get ADC+0xC = 876; get ADC+8 = b16+b17+1; get ADC+0xC = 876
        get ADC+0xC = 876; get ADC+0xC = 876
        get ADC+8 = b8+1; get ADC+0x14 = 0; get ADC+0xC; get ADC+8 = b10+b8+1; put ADC+8 1
        get ADC+8 = b10+b8+1; put ADC+8 b10+3
        get ADC+8 = b8+3; at 576; get ADC+0xC = 0; put ADC 0x4007; at 672; get ADC+0xC = 54; put ADC+8 0
        put ADC 0x4007; at 768; get ADC+8 = b8
        put ADC+0x2008 8; get ADC+8 = b8+8; put ADC+0x3008 8; get ADC+8 = b8; put ADC+0x2010 5
        get ADC+0x10 = 5; get ADC+0x24 = 0
    """,
    "the clock of the converter": """
        put PLL_USB 1; put PLL_USB+8 100; put PLL_USB+12 0x55000; put PLL_USB+4 0; put PLL_SYS 1
        put PLL_SYS+8 125
        put PLL_SYS+12 0x62000; put PLL_SYS+4 0; put CLOCKS+0x30 2; put CLOCKS+0x3C 1; hz = 125000000
        put CONVERTER ONE
        put ADC 5; due = 250; put CONVERTER ONE+ONE; at 250; put ADC 5; due = 750
    """,
    "blocks that are reset": """
        TICK; get SIO+0x58; put RESETS 0; put ADC 0x4003; put C0 0x1234; put TIMER+0x10 77
        put ALARMS+4 5; put UART+0x30 0x301
        put UART+0x38 0x70; put UART+0x24 9; at 1000; get RESETS+8 = EVERY
        put RESETS R_DMA; get C0 = 0; get ADC = 0x4103; get RESETS+8 = EVERY-R_DMA; put RESETS 0
        put RESETS R_ADC; get ADC = 0
        get ALARMS+4 = 5; get TIMER+0x28 = 100; put RESETS R_TIMER; get ALARMS+4 = 0; get TIMER+0x28 = 0
        get TIMER+0x20 = 0
        put RESETS 0; at 1100; get TIMER+0x28 = 10; get UART+0x30 = 0x301; put RESETS R_UART
        get UART+0x30 = 0
        get UART+0x38 = 0; get UART+0x24 = 9; put USB+0x90 5; put RESETS R_USB; get USB+0x90 = 0
        put C0 5; put RESETS R_USB
        get C0 = 5; put RESETS R_DMA; put C0 6; put RESETS 0; get C0 = 0
    """,
    "what a reset of the whole chip keeps": """
        TICK; put WATCHDOG+0xC 11; put WATCHDOG+0x28 18; put ISER 1; put C0 5; put TIMER+0x10 1
        put VTOR 0x100; put SYST 1
        put WATCHDOG 0x47000000; at 12000; put WATCHDOG b31+b24; resets 0 = 2; get WATCHDOG+8 = 2
        alone = 1; restart; resets 0 = 0
        get WATCHDOG+8 = 2; get WATCHDOG+0xC = 11; get WATCHDOG+0x28 = 18; get WATCHDOG = 0
        get ISER = 0; get C0 = 0
        get TIMER+0x20 = 0; get VTOR = 0; ns = SPENT; at 24000; ns = TWICE; get TIMER+0x28 = 0; TICK
        at 24100; get TIMER+0x28 = 10
        due = NEVER; alone = 0; put SYST+4 9; put SYST 3; due = 24200; get SYST+8 = 0; at 24110
        get SYST+8 = 9
    """,
    "SysTick by its reference clock": """
        TICK; get SIO+0x58; put SYST+4 9; put SYST+8 0; put SYST 3; due = 100; at 10; get SYST+8 = 9
        at 59; get SYST+8 = 5
        at 100; get SYST+8 = 0; get ICSR = b26+0xF000; get SYST = b16+3; put SYST 7; due = 110
        put SYST 3; at 105; due = 200
    """,
    "what happens next": """
        get SIO+0x58; due = NEVER; uart 0 0x80 77; due = NEVER; put UART+0x38 0x10; due = 77; at 80
        due = 81; uart 0 0x80 NEVER
        due = NEVER; put ALARMS+8 1; due = NEVER; alone = 0
    """,
    "the UART's flags and interrupts": """
        get UART+0x18 = 0x90; get UART+0x3C = 0x20; get UART+0x40 = 0; uart 1 0x20; get UART+0x18 = 0x20
        get UART+0x3C = 0x50
        put UART+0x38 0x40; get UART+0x40 = 0x40; uart 1 0x88; get UART+0x3C = 0x70; get UART = 0x41
        get UART+0x18 = 0x98
        put UART 0x155; said 0 = 0x55; put UART+4 0x66; said 0 = 0x55
    """,
}

ALONE = {
    RP2040: {
        "the watchdog": """
            TICK; put WATCHDOG+4 101; get WATCHDOG = 100; at 300; get WATCHDOG = 100; due = NEVER
            alone = 0; put WATCHDOG b30
            get WATCHDOG = b30+100; due = 800; alone = 1; at 410; get WATCHDOG = b30+78; put WATCHDOG 0
            at 600; get WATCHDOG = 78
            put WATCHDOG+0x2000 b30; get WATCHDOG = b30+78; due = 990; at 980; put WATCHDOG+4 100
            due = 1480; resets 0 = 0
            at 1479; resets 0 = 0; get WATCHDOG+8 = 0; at 1480; resets 0 = 2; get WATCHDOG+8 = 1
            get WATCHDOG = b30
            restart; get WATCHDOG+8 = 1; put WATCHDOG ONES-b31; get WATCHDOG = 0x47000000; put WATCHDOG 0
            put WATCHDOG+4 ONES; get WATCHDOG = 0xFFFFFE
        """,
        "the divider takes 8 cycles": """
            put SIO+0x60 100; put SIO+0x64 7; get SIO+0x78 = 2; at 7; get SIO+0x78 = 2; at 8
            get SIO+0x78 = 3; get SIO+0x74 = 2
            get SIO+0x78 = 3; get SIO+0x70 = 14; get SIO+0x78 = 1; put SIO+0x68 0xFFFFFF9C
            get SIO+0x70 = 0xFFFFFFF2
            get SIO+0x74 = 0xFFFFFFFE; put SIO+0x6C 0; get SIO+0x70 = 1; get SIO+0x74 = 0xFFFFFF9C
            put SIO+0x64 0
            get SIO+0x70 = ONES; get SIO+0x60 = 0xFFFFFF9C; get SIO+0x68 = 0xFFFFFF9C; get SIO+0x6C = 0
        """,
    },
    RP2350: {
        "the watchdog": """
            TICK; put WATCHDOG+4 100; get WATCHDOG = 100; put WATCHDOG b30; due = 1000; at 410
            get WATCHDOG = b30+59
            put WATCHDOG+4 0xFF000003; get WATCHDOG = b30+3; due = 440; at 440; resets 0 = 2
            get WATCHDOG+8 = 1
            put WATCHDOG b30+b26+b25+b24; get WATCHDOG = b30+b26+b25+b24; put WATCHDOG 0
            put WATCHDOG+4 0xFFFFFF
            get WATCHDOG = 0xFFFFFF
        """,
        "each tick has its generator": """
            get TICKS+0x18 = 0; put TICKS+0x18 1; get TICKS+0x18 = 3; put TICKS+0x1C 5; at 100
            get TIMER+0x28 = 20
            put TICKS+0x1C 10; at 200; get TIMER+0x28 = 30; put TICKS+0x18 0; get TICKS+0x18 = 0; at 300
            get TIMER+0x28 = 30
            put TICKS+0x2018 1; get TICKS+0x1C = 10; at 400; get TIMER+0x28 = 40; put WATCHDOG+4 50
            put WATCHDOG b30
            due = NEVER; put TICKS+0x30 1; put TICKS+0x34 2; due = 500; put WATCHDOG 0; put SYST+4 4
            put SYST 3; due = NEVER
            put TICKS 1; put TICKS+4 3; due = 415; core 1; put SYST+4 4; put SYST 3; put TICKS+0xC 1
            put TICKS+0x10 2
            due = 410; put TICKS+0x48 1; get TICKS+0x48 = 1; put TICKS+0x3C 1; get TICKS+0x3C = 3
            put TICKS+0x40 1; get TICKS+0x40 = 1
        """,
        "doorbells": """
            put SIO+0x180 0x105; get SIO+0x180 = 5; get SIO+0x184 = 5; get SIO+0x188 = 0; core 1
            get SIO+0x188 = 5
            get SIO+0x18C = 5; get SIO+0x180 = 0; put SIO+0x18C 4; get SIO+0x188 = 1; put SIO+0x188 0x80
            get SIO+0x188 = 0x81
            core 0; get SIO+0x180 = 0x81; put SIO+0x184 1; get SIO+0x184 = 0x80; core 1
            get SIO+0x188 = 0x80
        """,
        "four words fit into each direction": """
            get SIO+0x50 = 3; get SIO+0x58 = 0; get SIO+0x50 = 2; put SIO+0x54 1; put SIO+0x54 2
            put SIO+0x54 3; get SIO+0x50 = 2
            put SIO+0x54 4; get SIO+0x50 = 0; put SIO+0x54 5; get SIO+0x50 = 4; put SIO+0x50 0
            get SIO+0x50 = 0; core 1
            get SIO+0x50 = 3; get SIO+0x58 = 1; get SIO+0x58 = 2; get SIO+0x58 = 3; get SIO+0x58 = 4
            get SIO+0x50 = 2
        """,
        "pins of both banks, and no divider": """
            put SIO+0x10 1; put SIO+0x14 2; put SIO+0x18 4; put SIO+0x1C 8; put SIO+0x20 1
            put SIO+0x24 8; put SIO+0x28 6
            put SIO+0x2C 3; put SIO+0x30 16; put SIO+0x38 7; put SIO+0x34 9; get SIO+0x10 = 2
            get SIO+0x14 = 1
            get SIO+0x30 = 23; get SIO+0x34 = 9; put SIO+0x60 8; put SIO+0x64 2; get SIO+0x70 = 0
            get SIO+0x78 = 0; get SIO+0x60 = 0
            put SIO+0x80 5; get SIO+0x80 = 5; get SIO+0x1C0 = 0; put SIO+0x1C0 5; get SIO+0x1C0 = 0
            get SIO+0x104 = 2; get SIO+0x104 = 0
        """,
        "locks and code in the boot RAM": """
            get BOOTRAM = 0xBF004770; get BOOTRAM+0xFC = 0xBF004770; get BOOTRAM+0x100 = 0
            get BOOTRAM+0x808 = 0
            get BOOTRAM+0x80C = 1; get BOOTRAM+0x80C = 0; get BOOTRAM+0x828 = 128; get BOOTRAM+0x828 = 0
            get BOOTRAM+0x82C = 0
            put BOOTRAM+0x80C 0; get BOOTRAM+0x80C = 1; put BOOTRAM+0x828 9; get BOOTRAM+0x828 = 128
            put BOOTRAM+0x82C 9
            get BOOTRAM+0x82C = 9; get BOOTRAM+0x82C = 9; put BOOTRAM+0x2100 3; put BOOTRAM+0x2100 4
            get BOOTRAM+0x100 = 4
        """,
        "what firmware waits for": """
            get 0x40000000 = 0x20004927; get 0x400C8008 = 2; get 0x400D0000 = 0x10800; put 0x400D0000 3
            get 0x400D0000 = 0x10803
            get RESETS = 0x1FFFFFFF; get RESETS+8 = 0; put RESETS+0x3000 5; get RESETS+8 = 5
            get PSM+12 = 0x1FFFFFF
            put PSM+4 b24; get PSM+12 = 0xFFFFFF; get CLOCKS+0x5C = 1; put CLOCKS+0x54 9
            get CLOCKS+0x54 = 9; get CLOCKS+0x60 = 0
            put CLOCKS+0x60 7; get CLOCKS+0x60 = 7; get CLOCKS+0x54 = 9; get CLOCKS+0x34 = b16
            get CLOCKS+0x40 = b16; hz = 11000000
            put CLOCKS+0x48 3; get CLOCKS+0x48 = 3; get 0x18000000 = 0; put 0x18000000 5; get 0x18000000 = 0
            put TIMER+0x34 5; get TIMER+0x34 = 5; get ALARMS = 0; put TIMER+0x38 1; get TIMER+0x38 = 1
            get ALARMS+4 = 0
            put XOSC 0xFABAA0; get XOSC+4 = 0x80001000; put 0x40030000 7; put 0x40031000 5
            get 0x40030000 = 2; put 0x40032000 1
            get 0x40030000 = 3; get 0x40038000 = 0; put 0x401607FC 8; get 0x401607FC = 8
            put WATCHDOG+0x2C 9; get WATCHDOG+0x2C = 9
        """,
        "the cycle counter": """
            get DWT = 0; put DWT 1; at 100; get DWT+4 = 100; put DWT+4 7; at 110; get DWT+4 = 17
            put DWT 0; at 200; get DWT+4 = 17
            put DWT 1; at 205; get DWT+4 = 22; core 1; get DWT+4 = 0; put DWT+0x20 9; get DWT+0x20 = 9
        """,
    },
}


def scripts() -> dict[str, Script]:
    """All facts by name."""
    found: dict[str, Script] = {}
    for chip, alone in ALONE.items():
        more = chip == RP2350
        names = fields(chip) | {"ONE": 1 << (16 if more else 8), "EVERY": 0x1FFFFFFF if more else 0x1FFFFFF}
        names |= {
            "R_ADC": 1,
            "R_DMA": 4,
            "R_USB": 1 << (28 if more else 24),
            "R_TIMER": 1 << (23 if more else 21),
        }
        names |= {
            "R_UART": 1 << (26 if more else 22),
            "CONVERTER": names["CLOCKS"] + (0x70 if more else 0x64),
        }
        spent = [round(cycles * 1000 / (11 if more else 6.5)) for cycles in (12000, 24000)]
        names |= {"SPENT": spent[0], "TWICE": spent[1], "EVERY-R_DMA": names["EVERY"] - 4}
        names |= {"ONES-b2": 2**32 - 5, "ONES-1": 2**32 - 2, "ONES-b31": 2**31 - 1}
        names["ALARMS"] = PARTS[chip]["INTR"]
        for about, text in {**FACTS, **alone}.items():
            told = re.sub(r"\bTICK\b", TICK[chip], text)
            found[f"{about}, {CHIPS[chip]}"] = (f"reset {chip}\n{told}", names)
    return found


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(HARNESS, tmp_path_factory.mktemp("rp"))


@pytest.mark.parametrize("name", scripts())
def test_facts(program: Path, name: str) -> None:
    found = wrong(program, *scripts()[name])
    assert not found, "\n".join(found[:5])
