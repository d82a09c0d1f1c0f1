"""Makes firmware that means harm, from a seed: wild jumps, loads, stores, stack pointers and registers.

Pure noise stops at its first instruction; so most programs are made of instructions that exist, aimed at the
edges of what the chip has. Encodings: AVR Instruction Set Manual DS40002198; ARMv6-M DDI 0419.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from random import Random

AVR_FLASH_BYTES = 32768
AVR_EDGES = (
    0,
    31,
    32,
    0x5F,
    0x60,
    0xFF,
    0x100,
    0x136,
    0x137,
    0x138,
    0x8FE,
    0x8FF,
    0x900,
    0x7FFF,
    0xFFFE,
    0xFFFF,
)
AVR_EEPROM = (0x1F, 0x20, 0x21, 0x22)  # EECR, EEDR, EEARL, EEARH, as in OUT
PICO_EDGES = (
    *(0x0, 0x10000000, 0x10000100, 0x101FFFF8, 0x101FFFFC, 0x10200000, 0x11000000, 0x14000000, 0x14003FFC),
    *(
        0x18000000,
        0x18000008,
        0x18000060,
        0x18003FFC,
        0x20000000,
        0x20041FF8,
        0x20041FFC,
        0x20042000,
        0x3FFFFFFC,
    ),
    *(
        0x4001800C,
        0x4003C008,
        0x40034000,
        0x40034018,
        0x4006FFFC,
        0x40070000,
        0x50000000,
        0xD0000000,
        0xD0000014,
    ),
    *(
        0xD0000064,
        0xD0000078,
        0xD0000FFC,
        0xD0001000,
        0xE0000000,
        0xE000E010,
        0xE000EFFC,
        0xE00FFFFC,
        0xFFFFFFFC,
    ),
)
PICO_CLOCKS = (0x40008000, 0x40024000, 0x40028000, 0x4002C000, 0x40054000, 0x40058000, 0x4000C000)


def _ldi(register: int, value: int) -> int:
    return 0xE000 | (value & 0xF0) << 4 | (register - 16) << 4 | value & 0xF


def _out(place: int, register: int) -> int:
    return 0xB800 | (place & 0x30) << 5 | register << 4 | place & 0xF


def _avr_address(random: Random) -> int:
    if random.random() < 0.5:
        return (random.choice(AVR_EDGES) + random.randrange(-2, 3)) & 0xFFFF
    return random.randrange(0x10000) if random.random() < 0.5 else random.randrange(32, 0x200)


def pointer_set(pointer: int, value: int) -> list[int]:
    """LDI twice: X (26), Y (28) or Z (30) holds the value."""
    return [_ldi(pointer, value & 0xFF), _ldi(pointer + 1, value >> 8)]


def _avr_pointer(random: Random) -> list[int]:
    """X, Y or Z set, and something done through it."""
    pointer = random.choice((26, 28, 30))
    address = _avr_address(random)
    register = random.randrange(32) << 4
    through = {
        26: (0x900C, 0x900D, 0x900E),
        28: (0x9009, 0x900A, 0x8008 | random.choice((0, 0x2C07))),
        30: (0x9001, 0x9002, 0x8000 | random.choice((0, 0x2C07)), 0x9004, 0x9005, 0x9006, 0x9007),
    }[pointer]
    code = random.choice(through) | register
    if code & 0xFC0F not in (0x9004, 0x9005, 0x9006, 0x9007):
        code |= random.choice((0, 0x200))  # a store
    return [*pointer_set(pointer, address), *[code] * random.randrange(1, 4)]


def _avr_spm(random: Random) -> list[int]:
    z = random.choice((0, 0x7F80, 0x7FFE, 0x7FFF, 0x8000, 0xFF80, 0xFFFF, random.randrange(0x10000)))
    step = [_ldi(16, random.choice((0x01, 0x03, 0x05, 0x09, 0x11, random.randrange(256)))), _out(0x37, 16)]
    return [*pointer_set(30, z), *step, random.choice((0x95E8, 0x95F8))]


def _avr_eeprom(random: Random) -> list[int]:
    address = random.choice((0, 0x3FF, 0x400, 0x401, 0x7FF, 0xFFFF, random.randrange(0x10000)))
    code = []
    for place, value in zip(
        AVR_EEPROM[1:], (random.randrange(256), address & 0xFF, address >> 8), strict=True
    ):
        code += [_ldi(16, value), _out(place, 16)]
    return [
        *code,
        *random.choice(((0x9AFA, 0x9AF9), (0x9AF8,), (0x9AFA, 0x9AF9, 0x9AF8))),
    ]  # EEMPE, EEPE, EERE


def _avr_jump(random: Random) -> list[int]:
    z = random.choice((0, 0x3FFE, 0x3FFF, 0x4000, 0x7FFF, 0xFFFF, random.randrange(0x4000)))
    far = random.choice((z, 0x3FFFFF, random.randrange(1 << 22)))
    high = (far >> 17 & 0x1F) << 4 | far >> 16 & 1
    return random.choice(
        (
            [*pointer_set(30, z), random.choice((0x9409, 0x9419, 0x9509, 0x9519))],
            [random.choice((0x940C, 0x940E)) | high, far & 0xFFFF],
            [random.choice((0xC000, 0xD000)) | random.randrange(0x1000)],
            [random.choice((0x9508, 0x9518))],
            [0xF000 | random.randrange(0x800)],
        )
    )


def _avr_stack(random: Random) -> list[int]:
    sp = _avr_address(random)
    code = [_ldi(16, sp >> 8), _out(0x3E, 16), _ldi(16, sp & 0xFF), _out(0x3D, 16)]
    return [*code[: random.choice((2, 4))], random.choice((0x920F, 0x900F, 0xD000, 0x9508, 0x0000))]


def _avr_register(random: Random) -> list[int]:
    value, address = random.randrange(256), random.randrange(32, 0x140)
    return random.choice(
        (
            [_ldi(16, value), 0x9300, address],  # sts
            [0x9100, address],  # lds
            [_ldi(16, value), _out(random.randrange(64), 16)],
            [random.choice((0x9800, 0x9900, 0x9A00, 0x9B00)) | random.randrange(0x100)],
            [0xB100 | random.randrange(16) | random.randrange(4) << 9],
        )
    )


def _avr_other(random: Random) -> list[int]:
    return [
        random.choice(
            (
                0x9478,
                0x94F8,
                0x9588,
                0x95A8,
                0x9598,
                0x920F,
                0x900F,
                0x0000,
                0xFFFF,
                0x1000,
                random.randrange(1 << 16),
            )
        )
    ]


def avr_image(random: Random) -> bytes:
    """A flash image for the ATmega328P."""
    if random.random() < 0.1:
        return random.randbytes(random.randrange(2, AVR_FLASH_BYTES + 1))
    makers = (
        *(_avr_pointer, _avr_pointer, _avr_spm, _avr_eeprom, _avr_jump),
        *(_avr_stack, _avr_register, _avr_register, _avr_register, _avr_other),
    )
    chosen = random.sample(makers, random.randrange(2, len(makers) + 1))
    words: list[int] = []
    for _ in range(26):
        words += [0x940C, random.randrange(52, 2000) if random.random() < 0.9 else random.randrange(1 << 16)]
    if random.random() < 0.7:
        words.append(0x9478)  # sei
    end = random.choice((300, 3000, AVR_FLASH_BYTES // 2))
    while len(words) < end:
        words += random.choice(chosen)(random)
    return struct.pack(f"<{len(words)}H", *words)[:AVR_FLASH_BYTES]


# --- ARMv6-M --------------------------------------------------------------------------------------------


def loaded(register: int, value: int) -> list[int]:
    """MOVS, LSLS and ADDS that make a 32-bit value."""
    code = [0x2000 | register << 8 | value >> 24]
    for shift in (16, 8, 0):
        code += [0x0200 | register << 3 | register, 0x3000 | register << 8 | value >> shift & 0xFF]
    return code


def _pico_address(random: Random) -> int:
    kind = random.random()
    if kind < 0.4:
        return (random.choice(PICO_EDGES) + random.choice((0, 0, 0, 1, 2, 4, -4))) & 0xFFFFFFFF
    if kind < 0.6:
        return (
            random.choice(PICO_CLOCKS)
            + random.randrange(0, 0x50, 4)
            + random.choice((0, 0x1000, 0x2000, 0x3000))
        )
    if kind < 0.8:
        return 0x40000000 + random.randrange(0x70000)
    return random.choice((random.randrange(1 << 32), 0x20000000 + random.randrange(0x42000)))


def _pico_access(random: Random) -> list[int]:
    moves = (0x6000, 0x6800, 0x7000, 0x7800, 0x8000, 0x8800, 0x5000, 0x5800, 0x5600, 0x5E00, 0xC000, 0xC800)
    code = random.choice(moves) | random.randrange(8)  # of r0: bits 5 to 3 are 0
    code |= random.randrange(256) if code >> 12 == 0xC else 0
    return [
        *loaded(1, random.choice((0, 1, 0xFFFFFFFF, random.randrange(1 << 32)))),
        *loaded(0, _pico_address(random)),
        code,
    ]


def _pico_jump(random: Random) -> list[int]:
    return random.choice(
        (
            [
                *loaded(0, _pico_address(random) | random.randrange(2)),
                random.choice((0x4700, 0x4780, 0x4687)),
            ],
            [0xE000 | random.randrange(0x800)],
            [0xD000 | random.randrange(0x1000)],
            [0xF000 | random.randrange(0x800), 0xF800 | random.randrange(0x800)],
            [random.choice((0x4770, 0xBD00, 0xBDFF))],
        )
    )


def _pico_stack(random: Random) -> list[int]:
    return [
        *loaded(0, _pico_address(random)),
        0x4685,
        random.choice((0xB5FF, 0xBCFF, 0xBDFF, 0xB0FF, 0xB07F, 0x9000)),
    ]


def _pico_other(random: Random) -> list[int]:
    return [
        random.choice(
            (
                0xDF00,
                0xBE00,
                0xBF20,
                0xBF30,
                0xB662,
                0xB672,
                0xF3EF,
                0xF380,
                0xF3BF,
                random.randrange(1 << 16),
            )
        )
    ]


def pico_image(random: Random) -> tuple[bytes, int]:
    """What is at 0x10000100 (vectors, then code), and where it is entered."""
    makers = (_pico_access, _pico_access, _pico_jump, _pico_stack, _pico_other)
    chosen = random.sample(makers, random.randrange(1, len(makers) + 1))
    words: list[int] = []
    end = random.choice((50, 500, 5000))
    while len(words) < end:
        words += random.choice(chosen)(random) if random.random() < 0.98 else [random.randrange(1 << 16)]
    sp = random.choice((0x20001000, 0x20042000, _pico_address(random)))
    code = struct.pack(f"<{len(words)}H", *words)
    return struct.pack("<2I", sp, 0x10000109) + code, 0x10000109


def damaged(random: Random, data: bytes) -> bytes:
    """A file with a few bytes changed, most of them near its beginning, or cut off."""
    changed = bytearray(data)
    for _ in range(random.randrange(1, 12)):
        end = 52 + 4 * 32 if random.random() < 0.8 else len(changed)
        at = random.randrange(min(end, len(changed)))
        changed[at] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))
    return bytes(changed[: random.randrange(len(changed))] if random.random() < 0.2 else changed)


def damaged_by(whole: bytes) -> Iterator[bytes]:
    """Damage to the headers of a small ELF file, in turn: cut off, and each field at its least and most."""
    yield from (whole[:end] for end in range(0, len(whole), 13))
    for at in range(16, 52 + 32, 2):
        for value in (b"\xff\xff", b"\x00\x00"):
            yield whole[:at] + value + whole[at + 2 :]
    for at in range(24, 52 + 28, 4):
        yield whole[:at] + b"\xff\xff\xff\xff" + whole[at + 4 :]
