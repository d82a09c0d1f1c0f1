"""RP2040 and RP2350 by their data sheets, without a core: interrupts and the core's own registers.

Sources: RP2040 data sheet, 2.3.2; RP2350 data sheet, 3.2; ARM DDI 0419, B1.5 and B3; ARM DDI 0553, B3, D1.2.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from facts import Script, wrong
from natively import compiled

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")
RP2040, RP2350 = 0, 1
CHIPS = ("RP2040", "RP2350")
CORE = {
    "ISER": 0xE000E100,
    "ICER": 0xE000E180,
    "ISPR": 0xE000E200,
    "ICPR": 0xE000E280,
    "IPR": 0xE000E400,
    "CPUID": 0xE000ED00,
    "ICSR": 0xE000ED04,
    "VTOR": 0xE000ED08,
    "AIRCR": 0xE000ED0C,
    "SCR": 0xE000ED10,
    "CCR": 0xE000ED14,
    "SHPR1": 0xE000ED18,
    "SHPR2": 0xE000ED1C,
    "SHPR3": 0xE000ED20,
    "SYST": 0xE000E010,
    "DWT": 0xE0001000,
    "RAM": 0x20000000,
    "FLASH": 0x10000000,
    "DMA": 0x50000000,
    "USB": 0x50110000,
    "SIO": 0xD0000000,
    "NMI": 2,
    "FAULT": 3,
    "SVC": 11,
    "PENDSV": 14,
    "SYSTICK": 15,
    "IRQ": 16,
}
PARTS = {
    RP2040: {
        "RESETS": 0x4000C000,
        "CLOCKS": 0x40008000,
        "XOSC": 0x40024000,
        "PLL_SYS": 0x40028000,
        "PLL_USB": 0x4002C000,
        "UART": 0x40034000,
        "ADC": 0x4004C000,
        "TIMER": 0x40054000,
        "WATCHDOG": 0x40058000,
        "INTR": 0x40054034,
        "PIO": 0x50200000,
    },
    RP2350: {
        "RESETS": 0x40020000,
        "CLOCKS": 0x40010000,
        "PSM": 0x40018000,
        "XOSC": 0x40048000,
        "PLL_SYS": 0x40050000,
        "PLL_USB": 0x40058000,
        "UART": 0x40070000,
        "ADC": 0x400A0000,
        "TIMER": 0x400B0000,
        "WATCHDOG": 0x400D8000,
        "BOOTRAM": 0x400E0000,
        "TICKS": 0x40108000,
        "INTR": 0x400B003C,
        "PIO": 0x50200000,
    },
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("rp_harness.c", tmp_path_factory.mktemp("rp"))


#: About both chips.
FACTS = {
    "what is pending, by ICSR": """
            get ICSR = 0; ready 0 = 0
            put ICSR b31; get ICSR = b31+0x2000; next 0 1 = NMI; ready 0 = 1; enter 0 NMI; get ICSR = 2
            ready 0 = 0
            leave 0 = 0; leave 0 = 0
            put ICSR b28; get ICSR = b28+0xE000; put ICSR b26; get ICSR = b26+b28+0xE000
            put SHPR3 0x00C00000; get ICSR = b26+b28+0xF000; next 0 0 = SYSTICK
            put ICSR b27; get ICSR = b26+0xF000; put ICSR b28+b25; get ICSR = b28+0xE000; put ICSR b27
            get ICSR = 0
            put ISPR 0x10; get ICSR = b22; ready 0 = 0; put ISER 0x18; get ICSR = b22+0x14000; ready 0 = 1
            put ISPR 8; get ICSR = b22+0x13000; enter 0 IRQ+3; get ICSR = b22+0x14000+19; enter 0 IRQ+4
            get ICSR = 20
            leave 0 = 1; get ICSR = 19; core 1; get ICSR = 0
        """,
    "the lowest priority number runs, of equal ones the lowest exception": """
            put ISER ONES; put ISPR b0+b1+b5+b31; put IPR 0x0000C0C0; put IPR+4 0x00004000
            put IPR+0x1C 0x40000000
            next 0 0 = IRQ+5; next 0 0x41 = 0; next 0 0x42 = IRQ+5; next 0 1 = 0; put ICPR b5
            next 0 0 = IRQ+31
            put ICPR b31; next 0 0 = IRQ; next 0 0xC1 = 0; put ICPR 1; next 0 0 = IRQ+1; put IPR 0
            next 0 0 = IRQ+1
            put ISPR 1; next 0 0 = IRQ; put SHPR3 0; put ICSR b28; next 0 0 = PENDSV; put SHPR3 0x400000
            next 0 0 = IRQ; put IPR 0x0000; enter 0 IRQ+1; next 0 0 = 0; put ICSR b31; next 0 0 = NMI
            enter 0 NMI; next 0 0 = 0; leave 0 = 1; leave 0 = 0; next 0 0 = IRQ; put IPR 0x80
            next 0 0 = PENDSV
            enter 0 PENDSV; next 0 0 = 0; put IPR 0; next 0 0 = IRQ; enter 0 IRQ; leave 0 = 1
            put ISPR b1+b2; put IPR 0x00804000; next 0 0 = 0; put IPR 0x00400000; next 0 0 = IRQ+1
            enter 0 FAULT; next 0 0 = 0; put ICSR b31; next 0 0 = NMI; next 1 0 = 0
        """,
    "an exception that runs keeps out what is no more urgent": """
            put SHPR2 0x80000000; put ISER 7; put IPR 0x00C08040; enter 0 SVC; put ISPR 6; next 0 0 = 0
            put ISPR 1; next 0 0 = IRQ; enter 0 IRQ; next 0 0 = 0; put SHPR2 0; next 0 0 = 0
            leave 0 = 1; next 0 0 = 0
            leave 0 = 0; next 0 0 = IRQ+1; enter 0 IRQ+1; next 0 0 = 0; leave 0 = 0; next 0 0 = IRQ+2
        """,
    "SEVONPEND makes an event of what becomes pending": """
            put ISPR 1; put ICSR b28; at 10; event 0 = 0; put SCR 0x10; event 0 = 0
            put ISPR 2; event 0 = 1; put ISPR 3; event 0 = 0; put ICSR b28; event 0 = 0; put ICSR b26
            event 0 = 1
            put ISPR 0; event 0 = 0; put TIMER+0x38 0; put SCR 0xF; put ISPR 8; event 0 = 0; put SCR 0x10
            at 20; event 0 = 0; put INTR+8 8; at 30; event 0 = 0; put INTR+8 4; at 40; event 0 = 1
            at 50; event 0 = 0
            event 1 = 0
        """,
    "a line that is up": """
            get SIO+0x58; put ISER 15; put INTR+8 1; at 1; get ISPR = 1; next 0 0 = IRQ; put ICPR 1
            get ISPR = 1
            put INTR+8 0; at 2; get ISPR = 1; put ICPR 1; get ISPR = 0                  # it was held
            put INTR+8 1; at 3; enter 0 IRQ; at 4; get ISPR = 0; put ICPR 1; get ISPR = 0 # its handler runs
            put INTR+8 0; at 5; put INTR+8 1; at 6; get ISPR = 1                        # it rises again
            put ICPR 1; get ISPR = 0; leave 0; at 7; get ISPR = 1
            put INTR+8 2; at 8; enter 0 IRQ; at 9; get ISPR = 2
        """,
    "AIRCR resets with its key alone": """
            get AIRCR = 0xFA050000; put AIRCR 0x05FA0000; resets 0 = 0; put AIRCR 0x05FB0004; resets 0 = 0
            put AIRCR 0x05FAFFFB; resets 0 = 0; put AIRCR 0x05FA0004; resets 0 = 1; resets 1 = 0
            get AIRCR = 0xFA050000
        """,
    "SysTick": """
            get SIO+0x58; put SYST+4 ONES; get SYST+4 = 0xFFFFFF; put SYST+4 9; put SYST ONES
            get SYST = 7; put SYST 0
            put SYST+8 5; get SYST+8 = 0; put SYST 5; at 1; get SYST+8 = 9; at 5; get SYST+8 = 5
            put SYST+12 0
            get SYST+12 = 0; get SYST+8 = 5; at 10; get SYST+8 = 0; get SYST = b16+5; get SYST = 5
            at 11; get SYST+8 = 9
            at 20; put SYST+8 1; get SYST = 5; get SYST+8 = 0; get ICSR = 0; due = NEVER
            put SYST 7; due = 30; at 29; get ICSR = 0; at 30; get ICSR = b26+0xF000; put ICSR b25
            get ICSR = 0; due = 40
            core 1; get SYST = 0; put SYST+4 4; put SYST 7; due = 35; core 0; due = 35; put SYST 0
            put SYST+8 0
            put 0xE000E00C 77; get 0xE000E00C = 77; get SYST+8 = 0; get SYST+4 = 9; get SYST = 0
            put SYST+8 0; put SYST 7; at 50; put SYST 5
            get ICSR = b26+0xF000 # made pending before the write
        """,
    "handlers within handlers": """
            get SIO+0x58; put ISER 7; put IPR 0x00004080; enter 0 PENDSV; put INTR+8 1; at 1; get ISPR = 1
            enter 0 IRQ; put INTR+8 3; at 2; get ISPR = 2; enter 0 IRQ+1; at 3; get ISPR = 0
            put INTR+8 7; at 4
            get ISPR = 4; put ICPR 7; get ISPR = 4; leave 0; at 5; get ISPR = 6; leave 0; at 6; get ISPR = 7
        """,
    "an event and a reset that were asked for stay": """
            put SCR 0x10; put ICSR b26; put ICSR b26; put ISPR b4; put ISPR b4; event 0 = 1
            put ISPR b5; put ICSR b26; put ICSR b25; put ICSR b26; put ISPR b5; event 0 = 1
            put SCR 0xEF; put ISPR b6; put ICSR b25; put ICSR b26; event 0 = 0
            put AIRCR 0x05FA0004; put AIRCR 0x05FA0000; resets 0 = 1
        """,
}

ALONE = {
    RP2040: {
        "registers of the system control block": """
            get CPUID = 0x410CC601; put CPUID 5; get CPUID = 0x410CC601
            get VTOR = 0; put VTOR ONES; get VTOR = 0xFFFFFF00
            put CCR 0; get CCR = 0x208; put CCR ONES; get CCR = 0x208
            put SHPR1 ONES; get SHPR1 = 0
            put SHPR2 ONES; get SHPR2 = 0xC0000000
            put SHPR3 ONES; get SHPR3 = 0xC0C00000
            put IPR ONES; get IPR = 0xC0C0C0C0; put IPR+0x1C ONES; get IPR+0x1C = 0xC0C0C0C0
            put IPR+0x20 ONES; get IPR+0x20 = 0; get IPR+4 = 0
            put DWT ONES; get DWT = 0; put 0xE000FD10 ONES; get SCR = 0; get 0xE000FD10 = 0
            put SCR 0x16; get SCR = 0x16; core 1; get SCR = 0; get VTOR = 0
        """,
        "interrupts are enabled and made pending by ones, in both directions": """
            put ISER 0x80000005; get ISER = 0x80000005; get ICER = 0x80000005; put ISER 0x10
            get ISER = 0x80000015
            put ICER 0x80000001; get ISER = 0x14; get ICER = 0x14; get ISPR = 0; get ICPR = 0
            put ISPR 0x83; get ISPR = 0x83; get ICPR = 0x83; put ISPR 8; put ICPR 1; get ISPR = 0x8A
            get ISER = 0x14
            put ISER+4 ONES; get ISER+4 = 0; put ISPR+4 ONES; get ISPR+4 = 0; get ICPR+4 = 0
            get ICER+0x7C = 0
            get ISPR = 0x8A; get ISER = 0x14; put ICPR+0x7C ONES; get ISPR = 0x8A
            put ICPR+0x80 ONES; put 0xE000E0FC ONES; get ISPR = 0x8A; get ISER = 0x14; core 1
            get ISER = 0; get ISPR = 0
        """,
        "which interrupt each part raises": """
            lines 0 = b15; lines 1 = 0; get SIO+0x58
            lines 0 = 0                       # the FIFO's first word
            core 1; put SIO+0x54 7; lines 0 = b15; lines 1 = 0; core 0; put SIO+0x54 7; lines 1 = b16
            put INTR+8 10; lines 0 = b15+10; lines 1 = b16+10; put INTR+8 5; lines 1 = b16+5; put INTR+8 0
            put DMA+0x408 1; lines 1 = b16+b11; put DMA+0x408 0; put DMA+0x418 b11; lines 1 = b16+b12
            put DMA+0x418 0
            put USB+0x94 1; lines 1 = b16+b5; put USB+0x94 0; put ADC+0x1C 1; lines 1 = b16+b22
            put ADC+0x1C 0
            put UART+0x38 0x10; lines 1 = b16; uart 1 0x80; lines 1 = b16+b20; put UART+0x38 0x40
            lines 1 = b16+b20
            put UART+0x38 0x20; lines 1 = b16+b20; uart 1 0x20; lines 1 = b16; put UART+0x38 0; uart 1 0
            lines 1 = b16
        """,
    },
    RP2350: {
        "registers of the system control block": """
            get CPUID = 0x411FD210
            put VTOR ONES; get VTOR = 0xFFFFFF80
            get CCR = 0x201; put CCR 0x18; get CCR = 0x219
            put SHPR1 ONES; get SHPR1 = 0xF0F0F0F0
            put SHPR2 ONES; get SHPR2 = 0xF0000000
            put SHPR3 ONES; get SHPR3 = 0xF0F000F0
            put IPR ONES; get IPR = 0xF0F0F0F0; put IPR+0x30 ONES; get IPR+0x30 = 0xF0F0F0F0
            put IPR+0x34 ONES; get IPR+0x34 = 0
            put 0xE000FD10 ONES; get SCR = 0; core 1; get CPUID = 0x411FD210
        """,
        "bytes and halfwords of priorities": """
            put IPR+4 0xFF 1; get IPR+4 = 0x000000F0; put IPR+5 0xAF 1; get IPR+4 = 0x0000A0F0
            put IPR+7 0x5F 1; get IPR+4 = 0x5000A0F0; put IPR+6 0x9999 2; get IPR+4 = 0x9090A0F0
            put IPR+4 0 2; get IPR+4 = 0x90900000; put IPR+4 0x10203040; get IPR+4 = 0x10203040
            put IPR+0x30 ONES; put IPR+0x33 0 1; get IPR+0x30 = 0x00F0F0F0
            put SHPR1+1 0x70 1; get SHPR1 = 0x7000; put SHPR3+3 0x80 1; put SHPR3+2 0x40 1
            get SHPR3 = 0x80400000
            put SCR 2; put SCR 0x10 1; get SCR = 0x10101010
        """,
        "interrupts are enabled and made pending by ones, in both directions": """
            put ISER+4 ONES; get ISER+4 = 0xFFFFF; get ISER = 0; put ICER+4 0xFFF0F; get ISER+4 = 0xF0
            put ISPR+4 ONES; get ISPR+4 = 0xFFFFF; get ISPR = 0; put ICPR+4 0xF; get ICPR+4 = 0xFFFF0
            put ISER+8 ONES; get ISER+8 = 0; put ISPR ONES; get ISPR = ONES; get ISPR+4 = 0xFFFF0
        """,
        "priorities of faults": """
            put SHPR1 0x00302010; put IPR 0x20; put ISER 1; put ISPR 1
            enter 0 4; next 0 0 = 0; leave 0; enter 0 5; next 0 0 = 0; leave 0; enter 0 6; next 0 0 = IRQ
            put ISER+4 b19; put ISPR+4 b19; put IPR+0x30 0x10000000; next 0 0 = IRQ+51
        """,
        "which interrupt each part raises": """
            lines 0 = b25; lines 1 = 0; get SIO+0x58; lines 0 = 0; put SIO+0x54 7; lines 1 = b25
            lines 0 = 0
            put INTR+8 10; lines 0 = 10; put INTR+8 5; lines 0 = 5; put INTR+8 0
            put DMA+0x408 1; lines 0 = b10; put DMA+0x418 1; put DMA+0x408 0; lines 0 = b11; put DMA+0x418 0
            put DMA+0x428 b15; lines 0 = b12; put DMA+0x428 0; put DMA+0x438 2; lines 0 = b13
            put DMA+0x438 0
            put USB+0x94 1; lines 0 = b14; put USB+0x94 0; put ADC+0x1C 1; lines 0 = b35; put ADC+0x1C 0
            put UART+0x38 0x10; lines 0 = 0; uart 1 0x80; lines 0 = b33; put UART+0x38 0
            put SIO+0x180 1; lines 0 = 0; lines 1 = b25+b26; core 1; put SIO+0x18C 1; lines 1 = b25
        """,
    },
}

HARNESS = "rp_harness.c"


def scripts() -> dict[str, Script]:
    """All facts by name."""
    return {
        f"{about}, {CHIPS[chip]}": (f"reset {chip}\n{text}", CORE | PARTS[chip])
        for chip, alone in ALONE.items()
        for about, text in {**FACTS, **alone}.items()
    }


@pytest.mark.parametrize("name", scripts())
def test_facts(program: Path, name: str) -> None:
    found = wrong(program, *scripts()[name])
    assert not found, "\n".join(found[:5])
