"""ELF files made by hand: an AVR's, and sections for any."""

from __future__ import annotations

import struct
from typing import Any

from motecrypt.simulate.emulate.images import AVR, Segment, elf_of


def avr_elf(*segments: Segment) -> bytes:
    made = bytearray(elf_of(segments, AVR, 0))
    made[36] = 5  # e_flags: the core, avr5
    return bytes(made)


def with_sections(elf: bytes, *sections: dict[str, Any]) -> bytes:
    """The same ELF, with sections of names, flags, addresses and data."""
    made = bytearray(elf)
    names = b"\0"
    headers = [bytes(40)]
    for section in (*sections, {"name": ".shstrtab", "kind": 3}):
        name = len(names)
        names += section["name"].encode() + b"\0"
        data = names if section["name"] == ".shstrtab" else section.get("data", b"")
        fields = (section.get("kind", 1), section.get("flags", 0), section.get("address", 0), len(made))
        rest = (section.get("link", 0), 0, 1, section.get("entry", 0))
        headers.append(struct.pack("<10I", name, *fields, section.get("size", len(data)), *rest))
        made += data
    made[32:36] = struct.pack("<I", len(made))
    made[46:52] = struct.pack("<HHH", 40, len(headers), len(headers) - 1)
    return bytes(made) + b"".join(headers)
