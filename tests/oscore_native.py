"""A node's OSCORE, compiled for this computer (unit/coap/oscore_bed.c)."""

from __future__ import annotations

import ctypes
from enum import IntEnum
from pathlib import Path

from host_programs import compiled
from motecrypt.catalog import FIRMWARE
from motecrypt.link.gateway.protocols.coap.oscore import OscoreKeys

BED = Path(__file__).parent / "unit" / "coap" / "oscore_bed.c"
_FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-DCIPHER_TAG_BYTES=8")
_CIPHER = ('-DCIPHER_HEADER="ccm.h"', '-DBLOCK_HEADER="aes_tables.h"', "-DCIPHER_KEY_BYTES_MAX=16")
_FOLDERS = ("coap", "include", "modes", "ciphers/aes")
_SOURCES = ("coap/coap.c", "coap/oscore.c", "modes/ccm.c", "ciphers/aes/aes_tables.c")


class Status(IntEnum):
    """`enum oscore_status`."""

    OK = 0
    PLAIN = 1
    MALFORMED = 2
    UNKNOWN = 3
    REPLAYED = 4
    FORGED = 5
    STORAGE = 6
    USED_UP = 7
    NO_ROOM = 8


def compiled_oscore(target: Path, *flags: str) -> Path:
    """Compile the bed with what it needs."""
    places = [f"-I{FIRMWARE / name}" for name in _FOLDERS]
    sources = [str(BED), *(str(FIRMWARE / name) for name in _SOURCES)]
    return compiled(target, ["gcc", *_FLAGS, *_CIPHER, *flags, *places, *sources])


class NativeOscore:
    """One end of a context; `kept` are its numbers in storage."""

    def __init__(
        self,
        library: Path,
        keys: OscoreKeys,
        sender_id: bytes,
        recipient_id: bytes,
        kept: tuple[int, int] = (0, 0),
    ) -> None:
        self.library = ctypes.CDLL(str(library))
        self._context = ctypes.create_string_buffer(self.library.bed_bytes() + 16)
        self.request = ctypes.create_string_buffer(64)
        self.library.bed_get.restype = ctypes.c_uint32
        self.library.bed_kept.restype = ctypes.c_uint32
        # What a byte's register has above it may be anything.
        self.library.oscore_protect.restype = self.library.oscore_unprotect.restype = ctypes.c_uint8
        self.library.bed_break(0)
        ids = (sender_id, len(sender_id), recipient_id, len(recipient_id))
        numbers = [ctypes.c_uint32(each) for each in kept]
        self.library.bed_make(
            self._context, keys.sender_key, keys.recipient_key, keys.common_iv, *ids, *numbers
        )

    @property
    def kept(self) -> tuple[int, int]:
        """What storage has."""
        return self.library.bed_get(self._context, 0), self.library.bed_get(self._context, 1)

    def next(self, number: int) -> None:
        """The sequence number to send next."""
        self.library.bed_set(self._context, ctypes.c_uint32(number))

    def protect(self, message: bytes, room: int = 200) -> bytes | Status:
        """The protected message."""
        return self._call(self.library.oscore_protect, message, room)

    def unprotect(self, message: bytes, room: int = 200) -> bytes | Status:
        """The plain message."""
        return self._call(self.library.oscore_unprotect, message, room)

    def _call(self, function: ctypes._NamedFuncPointer, message: bytes, room: int) -> bytes | Status:
        out, count = ctypes.create_string_buffer(room or 1), ctypes.c_uint16()
        given = ctypes.create_string_buffer(message, len(message))
        arguments = (given, len(message), out, room, ctypes.byref(count))
        status = Status(function(self._context, self.request, *arguments))
        return ctypes.string_at(out, count.value) if status is Status.OK else status
