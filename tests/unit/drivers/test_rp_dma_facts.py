"""The DMA of RP2040 and RP2350 by their data sheets, without a core (RP2040: 2.5; RP2350: 12.6)."""

from __future__ import annotations

import binascii
import zlib
from pathlib import Path

import pytest
from facts import Script, wrong
from natively import compiled
from test_rp_facts import CHIPS, CORE, PARTS, RP2040, RP2350

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")
CHANNELS = {RP2040: 12, RP2350: 16}
#: Where each register of a channel is; the last of each four starts a transfer when it is written.
ALIASES = {"READ": (0, 0x14, 0x28, 0x3C), "WRITE": (4, 0x18, 0x2C, 0x34), "COUNT": (8, 0x1C, 0x24, 0x38)}
CONTROL = (0xC, 0x10, 0x20, 0x30)
TRIGGERS = (0xC, 0x1C, 0x2C, 0x3C)
BASE = {
    "FROM": 0x20000000,
    "TO": 0x20000040,
    "C0": 0x50000000,
    "C1": 0x50000040,
    "C2": 0x50000080,
    "C3": 0x500000C0,
}
BASE |= {"INTR": 0x50000400, "INTE": 0x50000404, "INTF": 0x50000408, "INTS": 0x5000040C, "BYTE": 0, "HALF": 4}
BASE |= {"WORD": 8, "EN": 1}


def fields(chip: int) -> dict[str, int]:
    """Bits of CTRL, and registers, of a chip."""
    more = chip == RP2350
    ring, chain, request = (8, 13, 17) if more else (6, 11, 15)
    names = {f"RING{n}": n << ring for n in range(16)} | {f"CHAIN{n}": n << chain for n in range(16)}
    names |= {f"REQ{n}": n << request for n in range(64)}
    names |= {"ALL": 0x03FFFFFF, "INW": 1 << 6} if more else {"ALL": 0x00FFFFFF, "INW": 1 << 5}
    low = request + 6
    names |= {"INR": 16, "RINGW": 1 << ring + 4, "QUIET": 1 << low, "SWAP": 2 << low, "SNIFF": 4 << low}
    names |= {"BUSY": 8 << low, "NOW": 63 << request, "TX": (28 if more else 20) << request}
    names |= {"RX": (29 if more else 21) << request, "CONVERTED": (48 if more else 36) << request}
    first = 0x50000440 if more else 0x50000420
    names |= {
        "PACE": first,
        "MULTI": first + 16,
        "SNIFFER": first + 20,
        "SUM": first + 24,
        "ABORT": first + 0x24,
    }
    return CORE | PARTS[chip] | BASE | names | {"CHANNELS": first + 0x28}


DATA = b"\x01\x32\x54\x76\x98\xba\xdc\xfe"
SENT = "; ".join(f"fill FROM+{i} {int.from_bytes(DATA[i : i + 4], 'little'):#x}" for i in (0, 4))
MOVED = "get INTR = 1; put INTR 1; get INTR = 0"


def mirrored(value: int, bits: int) -> int:
    return int(f"{value:0{bits}b}"[::-1], 2)


def most_first(data: bytes) -> int:
    """CRC-32 of bytes whose bits are taken from the top, from all ones, not inverted."""
    return mirrored(zlib.crc32(bytes(mirrored(byte, 8) for byte in data)) ^ 0xFFFFFFFF, 32)


FACTS = {
    "a transfer of words": f"""
        {SENT}; fill TO 0; fill TO+4 0; at 100; put C0 FROM; put C0+4 TO; put C0+8 2; get C0+8 = 0
        alone = 0
        put C0+0xC EN+WORD+INR+INW+NOW; get C0+8 = 2; get C0+0xC = EN+WORD+INR+INW+NOW+BUSY; due = 106
        alone = 1
        at 105; word TO = 0; get INTR = 0; get C0 = FROM
        at 106; word TO = 0x76543201; word TO+4 = 0xFEDCBA98; get C0 = FROM+8; get C0+4 = TO+8; get C0+8 = 0
        get C0+0xC = EN+WORD+INR+INW+NOW; said 1 = TO+4+b34; due = NEVER; alone = 0
        get C0+0x10 = EN+WORD+INR+INW+NOW
        get INTE = 0; get INTS = 0; put INTE 1; get INTS = 1; lines 1 = IRQ0; put INTE 2; get INTS = 0
        get INTE = 2
        put INTF 8; get INTF = 8; get INTS = 8; get INTR = 1; put INTF 0; put INTS 2; get INTR = 1
        put INTS 1; get INTR = 0
    """,
    "bytes, halfwords and addresses that stay": f"""
        {SENT}; fill TO 0; fill TO+4 0; put C0 FROM; put C0+4 TO+1; put C0+8 3; put C0+0xC EN+INR+NOW; at 7
        word TO = 0x5400; get C0 = FROM+3; get C0+4 = TO+1; {MOVED}
        put C0 FROM+1; put C0+4 TO; put C0+8 2; put C0+0xC EN+INW+NOW; at 20; word TO = 0x3232
        get C0 = FROM+1
        put C0 FROM+2; put C0+4 TO+2; put C0+8 3; put C0+0xC EN+HALF+INR+INW+NOW; at 40
        word TO = 0x76543232
        word TO+4 = 0xFEDCBA98; get C0 = FROM+8; get C0+4 = TO+8
        put C0 FROM; put C0+4 TO; put C0+8 1; put C0+0xC EN+HALF+SWAP+NOW; at 60; word TO = 0x76540132
        put C0+0xC EN+WORD+SWAP+NOW; at 80; word TO = 0x01325476; put C0+0xC EN+SWAP+NOW; at 100
        word TO = 0x01325401
        put C0+0xC EN+HALF+WORD+NOW; at 120; word TO = 0x76543201 # the fourth size is a word
    """,
    "rings": f"""
        {SENT}; put C0 FROM+1; put C0+4 TO; put C0+8 6; put C0+0xC EN+INR+INW+RING2+NOW; at 20
        get C0 = FROM+3
        get C0+4 = TO+6; word TO = 0x01765432; put C0 FROM; put C0+4 TO+6; put C0+8 3
        put C0+0xC EN+INR+INW+RING3+RINGW+NOW; at 40; get C0 = FROM+3; get C0+4 = TO+1; word TO = 0x01765454
        put C0 FROM+7; put C0+8 1; put C0+0xC EN+INR+INW+NOW; at 60; get C0 = FROM+8; put C0 FROM+7
        put C0+4 FROM+0x100
        put C0+0xC EN+WORD+INW+RING1+RINGW+NOW; at 80; get C0+4 = FROM+0x100
    """,
    "chains": """
        put C0+8 5; put C1+8 7; put C1+0x10 EN+NOW+CHAIN1; put C0+0xC EN+NOW+CHAIN1; put C2+8 3; at 8
        get INTR = 0
        get C1+0xC = EN+NOW+CHAIN1; at 9; get INTR = 1; get C1+0xC = EN+NOW+CHAIN1+BUSY; due = 20; at 20
        get INTR = 3
        alone = 0; put INTR 3; put C0+0x10 EN+NOW+CHAIN2; put C2+0x10 EN+NOW+CHAIN2+QUIET; put C0+0x1C 5
        at 29
        get INTR = 1; get C2+8 = 3; at 36; get INTR = 1; alone = 0
    """,
    "what starts nothing": """
        put C0+8 4; put C0+0xC NOW; get C0+0xC = NOW; due = NEVER; put C0+0x10 EN+NOW; alone = 0
        put C0+0x1C 0; alone = 0
        put C0+0x3C 0; put C0+0x2C 0; alone = 0; get INTR = 0; put C1+0x10 EN+NOW+CHAIN1+QUIET
        put C1+0x3C 0
        get INTR = 2; put INTR 2; put C1+0xC 0; get INTR = 0; put C1+8 4; put C1+0xC EN+NOW+CHAIN1; due = 8
        at 2; put C1+0x3C FROM; due = 8; put MULTI 2; due = 8; put C1+8 9; get C1+8 = 4; at 8
        get INTR = 2; get C1+8 = 0
    """,
    "several at a time, and aborts": """
        put C0+8 4; put C1+8 6; put C3+8 9; put C0+0x10 EN+NOW; put C1+0x10 EN+NOW+CHAIN1
        put C3+0x10 EN+NOW+CHAIN3
        put MULTI 11; due = 8; get C0+8 = 4; at 8; get INTR = 1; due = 10; put ABORT 2; due = 13
        get C1+0xC = EN+NOW+CHAIN1
        at 12; get INTR = 1; put ABORT 4; due = 13; at 13; get INTR = 9; get C1+8 = 6; put MULTI 2; due = 23
    """,
    "a transfer without EN pauses": """
        put C0 FROM; put C0+4 TO; put C0+8 6; put C0+0xC EN+NOW; at 3; put C0+0x10 NOW; due = NEVER
        get C0+0x10 = NOW+BUSY
        at 100; get INTR = 0; put C0+0x10 NOW; at 200; put C0+0x10 EN+NOW; due = 207; put C0+0x10 EN+NOW
        due = 207
        at 207; get INTR = 1
    """,
    "pacing timers": f"""
        {SENT}; put PACE 0x1000A; get PACE = 0x1000A; put PACE+12 0x20005; get PACE+12 = 0x20005
        get PACE+4 = 0
        put C0 FROM; put C0+4 TO; put C0+8 3; put C0+0xC EN+INR+REQ59; due = 4; at 4; get C0+8 = 2
        due = 14; at 13
        get C0+8 = 2; at 14; get C0+8 = 1; get INTR = 0; at 24; get C0+8 = 0; get INTR = 1; alone = 0
        word TO = 0x54
        put C0+8 6; put C0+0xC EN+REQ62; due = 28; at 28; due = 30; at 30; due = 33; at 33; due = 35
        at 35; due = 38
        at 38; due = 40; get C0+8 = 1; at 40; get C0+8 = 0; put PACE+4 0x50005; put C0+8 3
        put C0+0xC EN+REQ60
        at 44; due = 45; at 45; due = 46; at 46; alone = 0; put C0+8 2; put C0+0xC EN+REQ61; at 60
        get C0+8 = 1
        at 1000000; get C0+8 = 1; put ABORT 1; put PACE+8 0x10004000; put C0+8 3; put C0+0xC EN+REQ61
        at 1000004
        at 1000010; get C0+8 = 1; alone = 1
    """,
    "requests of the UART and the converter": f"""
        {SENT}; fill TO 0; uart 0 0x20 500; put C0 FROM; put C0+4 UART; put C0+8 2; put C0+0xC EN+INR+TX
        due = 4; at 4; due = 500
        get C0+8 = 2; uart 0 0x00 700; due = 5; at 5; get C0+8 = 0; said 0 = 0x0132
        uart 0 0x80 800; put C1 UART; put C1+4 TO; put C1+8 2; put C1+0xC EN+INW+RX+CHAIN1; at 10
        due = 800; uart 1 0x80 900
        at 11; get C1+8 = 1; due = 900; uart 1 0x80; at 12; word TO = 0x4141; get INTR = 3
        put C2 ADC+12; put C2+4 TO; put C2+8 1; put C2+0xC EN+CONVERTED+CHAIN2; at 20; due = NEVER
        put ADC+8 1
        put ADC 0x4007; due = 116; at 116; get C2+8 = 0; word TO = 0x416C; get INTR = 7
        put C3+8 1; put C3+0xC EN+CHAIN3+REQ1; at 500; due = NEVER; get C3+8 = 1
    """,
    "what the bus does not reach": f"""
        {SENT}; fill FLASH 0x11223344; put SIO+0x54 5; put C0 SIO+0x5C; put C0+4 TO; put C0+8 1
        fill TO ONES
        put C0+0xC EN+WORD+NOW; at 10; word TO = 0; put C0 CPUID; put C0+0xC EN+WORD+NOW; at 20; word TO = 0
        put C0 FLASH; put C0+0xC EN+WORD+NOW; at 30; word TO = 0x11223344; put C0 FROM; put C0+4 FLASH
        put C0+0xC EN+WORD+NOW
        at 40; word FLASH = 0x11223344; said 1 = TO+b34; put C0+4 VTOR; put C0+0xC EN+WORD+NOW; at 50
        get VTOR = 0
        put C0+4 SIO+0x10; put C0+0xC EN+WORD+NOW; at 60; get SIO+0x10 = 0; put C0 0x60000000; put C0+4 TO
        put C0+0xC EN+WORD+NOW; at 70; word TO = 0; put C0+4 0x60000000; put C0+0xC EN+WORD+NOW; at 80
        said 1 = TO+b34
    """,
    "registers of a peripheral, by bytes and halfwords": f"""
        {SENT}; put PIO+0x20 0x44332211; put C0 PIO+0x21; put C0+4 TO; put C0+8 1; fill TO 0
        put C0+0xC EN+NOW; at 10
        word TO = 0x22; put C0 PIO+0x22; put C0+0xC EN+HALF+NOW; at 20; word TO = 0x4433; put C0 FROM+3
        put C0+4 PIO+0x30
        put C0+0xC EN+NOW; at 30; get PIO+0x30 = 0x76767676; put C0 FROM; put C0+0xC EN+HALF+NOW; at 40
        get PIO+0x30 = 0x32013201; put C0+0xC EN+WORD+NOW; at 50; get PIO+0x30 = 0x76543201
    """,
    "aliases of the controller's registers": """
        put INTE+0x2000 5; put INTE+0x2000 2; get INTE = 7; put INTE+0x3000 1; get INTE = 6
        put INTE+0x1000 3; get INTE = 5
        put C0+0x14 0xF0; put C0+0x2014 0x0F; get C0+0x14 = 0xFF; put C0+0x3014 0x81; get C0+0x14 = 0x7E
        put C0+8 1; put C0+0xC EN+NOW; put C1+8 1; put C1+0xC EN+NOW+CHAIN1; at 10; get INTR = 3
        put INTR+0x2000 1
        put INTR+0x1000 1; get INTR = 3; put INTR+0x3000 1; get INTR = 2; put INTS+0x2000 2; get INTR = 2
        put INTS+0x3000 2; get INTR = 0; get INTR+0x3000 = 0; get INTE+0x1000 = 5
    """,
    "the sniffer": "\n".join(
        f"""{SENT}; put C0 FROM; put C0+4 TO; put C0+8 {8 // size}; put SNIFFER {control:#x}
        put SUM {seed:#x}
        get SNIFFER = {control:#x}
        put C0+0xC EN+INR+SNIFF+NOW+{ {1: "BYTE", 2: "HALF", 4: "WORD"}[size] }; at {at}
        get SUM = {total:#x}"""
        for at, (control, size, seed, total) in enumerate(
            [
                (0x001, 1, 0xFFFFFFFF, most_first(DATA)),
                (0x021, 1, 0xFFFFFFFF, mirrored(zlib.crc32(DATA) ^ 0xFFFFFFFF, 32)),
                (0xC21, 1, 0xFFFFFFFF, zlib.crc32(DATA)),
                (0xC21, 4, 0xFFFFFFFF, zlib.crc32(DATA)),
                (0xC21, 2, 0xFFFFFFFF, zlib.crc32(DATA)),
                (0xE21, 4, 0xFFFFFFFF, zlib.crc32(DATA[3::-1] + DATA[:3:-1])),
                (0xE21, 2, 0xFFFFFFFF, zlib.crc32(bytes(DATA[i ^ 1] for i in range(8)))),
                (0xE21, 1, 0xFFFFFFFF, zlib.crc32(DATA)),
                (0x041, 1, 0xFFFF, binascii.crc_hqx(DATA, 0xFFFF)),
                (0x041, 4, 0, binascii.crc_hqx(DATA, 0)),
                (0x061, 1, 0x1D0F, binascii.crc_hqx(bytes(mirrored(byte, 8) for byte in DATA), 0x1D0F)),
                (0x1C1, 1, 0, sum(byte.bit_count() for byte in DATA) & 1),
                (0x1C1, 1, 1, sum(byte.bit_count() for byte in DATA) + 1 & 1),
                (0x1E1, 1, 1000, 1000 + sum(DATA)),
                (0x1E1, 4, 0, (0x76543201 + 0xFEDCBA98) & 0xFFFFFFFF),
                (0x9E1, 1, 0, ~sum(DATA) & 0xFFFFFFFF),
                (0x5E1, 1, 0, mirrored(sum(DATA), 32)),
                (0x1E0, 1, 9, 9),  # it is off
                (0x1E3, 1, 9, 9),  # of another channel
            ],
            1,
        )
        for at in (50 * at,)
    ),
}


MORE = {
    "addresses that count down, or by two": f"""
        {SENT}; put C0 FROM+3; put C0+4 TO+4; put C0+8 3; put C0+0xC EN+INR+b5+b7+NOW; at 10
        get C0 = FROM; get C0+4 = TO+10
        word TO+4 = 0x00540076; put C0+4 TO+4; put C0+0xC EN+INW+b7+b5+NOW; at 20; get C0+4 = TO+1
        get C0 = FROM+6
    """,
    "a count that starts itself again": f"""
        {SENT}; put C0 FROM; put C0+4 TO; put C0+8 b28+2; get C0+8 = b28; put C0+0xC EN+INR+NOW
        get C0+8 = b28+2; due = 6
        at 6; get INTR = 1; put INTR 1; get C0+0xC = EN+INR+NOW+BUSY; due = 12; at 12; get INTR = 1
        get C0 = FROM+4
        put C0+0x10 INR+NOW; due = NEVER
    """,
    "a count without end": f"""
        {SENT}; put C0 FROM; put C0+4 TO; put C0+8 b31+b30+b29+b28+7; put PACE 0x1000A
        put C0+0xC EN+INR+REQ59; due = 4
        at 24; get C0 = FROM+3; get C0+8 = b31+b30+b29+b28+7; due = 34; get INTR = 0; put ABORT 1
        due = NEVER
        put C0+0xC EN+INR+NOW; at 100; get C0 = FROM+75; get INTR = 0; put ABORT 1; put C0+8 0
        put C0+0xC EN+NOW; due = 104
        put C1+0x10 EN+NOW+CHAIN1; put C1+0x1C b28; get C1+0x10 = EN+NOW+CHAIN1+BUSY
    """,
    "four lines": """
        put INTR+0x3C 0; put INTR+0x34 6; get INTR+0x34 = 6; put INTR+0x38 9; get INTR+0x38 = 9
        get INTR+0x3C = 9
        put INTR+0x24 ONES; get INTR+0x24 = 0xFFFF; put INTR+0x14 3; get INTR+0x14 = 3; get INTE = 0
        get INTF = 0
        put C1+8 1; put C1+0xC EN+NOW+CHAIN1; at 9; get INTR+0x30 = 2; get INTR+0x20 = 2
        get INTR+0x3C = 11; get INTR+0x1C = 2
        put INTR+0x30 2; get INTR = 0
    """,
    "requests that only the older chip has": """
        put C0+8 1; put C0+0xC EN+REQ20; at 100; get C0+8 = 1; put ABORT 1; put C0+0xC EN+REQ36; at 200
        get C0+8 = 1
    """,
}


def registers(chip: int) -> str:
    """Each register of a channel is the same at its four places; those that start nothing read back."""
    told = [f"get CHANNELS = {CHANNELS[chip]}"]
    for number in (0, 1, CHANNELS[chip] - 1):
        base = f"DMA+{0x40 * number:#x}"
        for first, (name, places) in enumerate(ALIASES.items(), 0x1234):
            for place in places:
                told.append(f"put {base}+{place:#x} {first + place:#x}")
                told += [
                    f"get {base}+{each:#x} = {0 if name == 'COUNT' else first + place:#x}" for each in places
                ]
        for place in CONTROL:
            told.append(f"put {base}+{place:#x} 0xFFFFFFFE")
            told += [f"get {base}+{each:#x} = EVEN" for each in CONTROL]
        told.append(f"put {base}+0x10 0; put INTR ONES")
    for place in range(0, 0x40, 4):
        started = "BUSY" if place in TRIGGERS else "0"
        value = "EN+NOW" if place in CONTROL else "0x20000100"
        told.append(
            f"put C2+0x24 9; put C2+0x10 EN+NOW; put C2+{place:#x} {value}; get C2+0x10 = EN+NOW+{started}"
        )
        told.append("put ABORT 4; get C2+0x10 = EN+NOW")
    return "\n".join(told)


HARNESS = "rp_harness.c"


def scripts() -> dict[str, Script]:
    """All facts by name."""
    found: dict[str, Script] = {}
    for chip in (RP2040, RP2350):
        names = fields(chip)
        names |= {"EVEN": names["ALL"] - 1, "IRQ0": 1 << (10 if chip == RP2350 else 11)}
        texts = {"registers of a channel": registers(chip), **FACTS, **(MORE if chip == RP2350 else {})}
        found |= {
            f"{about}, {CHIPS[chip]}": (f"reset {chip}\n{text}", names) for about, text in texts.items()
        }
    return found


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(HARNESS, tmp_path_factory.mktemp("rp"))


@pytest.mark.parametrize("name", scripts())
def test_facts(program: Path, name: str) -> None:
    found = wrong(program, *scripts()[name])
    assert not found, "\n".join(found[:5])
