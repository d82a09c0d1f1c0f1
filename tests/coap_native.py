"""A node's CoAP codec and server, compiled for this computer (unit/coap/coap_bed.c)."""

from __future__ import annotations

import ctypes
from pathlib import Path

from host_programs import compiled
from motecrypt.catalog import FIRMWARE
from motecrypt.link.gateway.protocols.coap.message import CoapMessage, decode

BED = Path(__file__).parent / "unit" / "coap" / "coap_bed.c"
FOLDER = FIRMWARE / "coap"
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror")
ROOM = 88
"""The least room that an answer needs."""


def compiled_coap(target: Path, *flags: str) -> Path:
    """Compile the bed with the codec and the server."""
    sources = [BED, FOLDER / "coap.c", FOLDER / "server.c"]
    return compiled(target, ["gcc", *STRICT, *flags, f"-I{FOLDER}", *map(str, sources)])


class NativeCoap:
    """The codec and a server with the bed's resources."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self._out = ctypes.create_string_buffer(70_000)
        self._library.bed_number.argtypes = [
            ctypes.c_uint16,
            ctypes.c_uint32,
            ctypes.c_char_p,
            ctypes.c_uint16,
        ]
        # What a register has above a result of 16 bits may be anything.
        for name in ("again", "number", "serve", "notify", "stored"):
            getattr(self._library, f"bed_{name}").restype = ctypes.c_uint16
        self._library.bed_begin()

    def _told(self, count: int) -> bytes:
        return ctypes.string_at(self._out, count)

    def again(self, data: bytes, room: int = 65535) -> bytes:
        """Read a message and write it again; empty if it is not a message or does not fit."""
        return self._told(self._library.bed_again(data, len(data), self._out, room))

    def number(self, option: int, value: int, room: int = 65535) -> bytes:
        """A message with a number as an option."""
        return self._told(self._library.bed_number(option, value, self._out, room))

    def serve(self, data: bytes, room: int = ROOM) -> bytes:
        """The answer's bytes."""
        return self._told(self._library.bed_serve(data, len(data), self._out, room))

    def ask(self, message: CoapMessage) -> CoapMessage:
        """The answer."""
        return decode(self.serve(message.encode()))

    def notifications(self, resource: int) -> list[CoapMessage]:
        """Those of a resource that has changed."""
        turn, found = ctypes.c_uint8(0), []
        while bytes_ := self._library.bed_notify(resource, ctypes.byref(turn), self._out, ROOM):
            found.append(decode(self._told(bytes_)))
        return found

    def stored(self) -> bytes:
        """What PUT and POST have stored."""
        return self._told(self._library.bed_stored(self._out))
