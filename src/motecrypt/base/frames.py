"""Frames on a line that carries bytes: what the benchmark firmware and a bridge speak.

A frame is 0x7e, then version, sequence, type, payload and a CRC-16/CCITT (most significant byte
first), with 0x7e and 0x7d inside escaped as 0x7d and the byte XOR 0x20, then 0x7e. docs/formats.md
lists the types of each speaker.
"""

from __future__ import annotations

import binascii
import re

from motecrypt.base.errors import FailureKind, MotecryptError

VERSION = 1
END, ESCAPE, FLIP = 0x7E, 0x7D, 0x20
MAX_FRAME_BYTES = 1 << 21  # above the driver's own limit, so that the driver reports a flood


class ProtocolError(MotecryptError):
    """The other side answered garbage, too little, or not at all."""

    usual_kind = FailureKind.GARBLED


def crc16(data: bytes) -> int:
    """CRC-16/CCITT-FALSE: polynomial 0x1021, initial value 0xffff."""
    return binascii.crc_hqx(data, 0xFFFF)


_ESCAPED = {b"\x7d": b"\x7d\x5d", b"\x7e": b"\x7d\x5e"}  # the escape itself first


def encode(sequence: int, kind: str, payload: bytes = b"", version: int = VERSION) -> bytes:
    """One whole frame, delimiters included."""
    body = bytes([version, sequence, ord(kind)]) + payload
    body += crc16(body).to_bytes(2, "big")
    for byte, escaped in _ESCAPED.items():
        body = body.replace(byte, escaped)
    return b"%c%b%c" % (END, body, END)


def decode(body: bytes) -> tuple[int, str, bytes]:
    """Sequence, type and payload of the bytes between two delimiters.

    Raises
    ------
    ProtocolError
        When the frame is cut, damaged or of another version.
    """
    plain = _unescaped(body)
    if len(plain) < 5:
        raise ProtocolError("half a frame", kind=FailureKind.HALF_FRAME)
    if crc16(plain) != 0:
        raise ProtocolError("a frame with a wrong checksum", kind=FailureKind.CHECKSUM)
    if plain[0] != VERSION:
        raise ProtocolError(
            f"protocol version {plain[0]}, not {VERSION}: flash this motecrypt's firmware",
            kind=FailureKind.PROTOCOL_VERSION,
        )
    return plain[1], chr(plain[2]), plain[3:-2]


def _unescaped(body: bytes) -> bytes:
    """The bytes of a frame as they were; none where it ends inside an escape."""
    open_at_end = len(body[len(body.rstrip(b"%c" % ESCAPE)) :]) % 2
    return b"" if open_at_end else _ESCAPE_PAIR.sub(_flipped, body)


_ESCAPE_PAIR = re.compile(b"%c(.)" % ESCAPE, re.DOTALL)


def _flipped(pair: re.Match[bytes]) -> bytes:
    return b"%c" % (pair[1][0] ^ FLIP)


class Frames:
    """Splits a stream into frames; resynchronises at the next delimiter after damage."""

    def __init__(self, longest: int = MAX_FRAME_BYTES) -> None:
        self._longest = longest
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The bodies of all frames that `data` completes; empty ones are dropped."""
        self._buffer += data
        *whole, rest = bytes(self._buffer).split(bytes([END]))
        if len(rest) > self._longest:
            raise ProtocolError("an endless frame: the other side does not speak the protocol")
        self._buffer = bytearray(rest)
        return [body for body in whole if body]
