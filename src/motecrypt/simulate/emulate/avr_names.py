"""Names of an AVR's registers, from its compiler's headers: libsimavr has none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from motecrypt.base import process

_REGISTER = re.compile(r"#define (\w+) _SFR_(IO|MEM)(?:8|16) ?\((0x[0-9A-Fa-f]+)\)")
_IO_BEGIN = 0x20
"""The data address of I/O register 0."""


@lru_cache(maxsize=8)
def register_names(mcu: str) -> Mapping[int, str]:
    """By data address; empty without the compiler. Of several names for a register, the shortest."""
    asked = ["avr-gcc", f"-mmcu={mcu}", "-E", "-dM", "-include", "avr/io.h", "-x", "c", "/dev/null"]
    outcome = process.run(asked, timeout_s=process.ASKED_S)
    names: dict[int, str] = {}
    for name, space, number in _REGISTER.findall(outcome.output if outcome.ok else ""):
        address = int(number, 16) + (_IO_BEGIN if space == "IO" else 0)
        names[address] = min((names.get(address, name), name), key=lambda n: (len(n), n))
    return names
