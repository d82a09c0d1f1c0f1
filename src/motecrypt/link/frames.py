"""Frames: what one packet of the link carries, and how a stream of bytes is cut into them again.

A frame fills whole radio packets, so that none ever waits for the radio's timeout. It is
``frame_bytes(packet_bytes)`` long: the smallest multiple of the packet length that is 12 or more.

====== ==================================================================
byte   content
====== ==================================================================
0      0xA0 + kind
1      the low byte of the message's counter
2      DATA, LAST: index of the fragment. STATUS: index of the first fragment that is missing
3..    DATA, LAST: the fragment. STATUS: one bit for each fragment behind the first missing, 1: is here
2..9   ACCEPTED, REFUSED: the authentication tag
last   CRC-8 (polynomial 0x07) of all before it
====== ==================================================================

The CRC finds frames in the stream and drops damaged ones early. It protects against nobody: what a
forged fragment can do is make the message fail its authentication and be sent again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from motecrypt.errors import InputError

MARK = 0xA0
DATA, LAST, ACCEPTED, REFUSED, STATUS = range(5)
FRAME_MIN = 12
OVERHEAD = 4
FRAGMENTS_MAX = 255
SEALED_OVERHEAD = 16 + 1
"""Stream and counter 4 + 4, tag 8, and at least one byte of end mark."""


def _crc_table() -> bytes:
    table = bytearray()
    for byte in range(256):
        for _ in range(8):
            byte = (byte << 1) ^ (0x107 if byte & 0x80 else 0)
        table.append(byte)
    return bytes(table)


_CRC = _crc_table()


def crc8(data: bytes) -> int:
    """CRC-8 with polynomial 0x07 and start 0 (the CRC of ITU-T I.432.1 without its final XOR)."""
    crc = 0
    for byte in data:
        crc = _CRC[crc ^ byte]
    return crc


def frame_bytes(packet_bytes: int) -> int:
    """The length of a frame on a radio with such packets.

    Raises
    ------
    InputError
        The packet length is not 1 to 255.
    """
    if not 1 <= packet_bytes <= 255:
        raise InputError(f"packets of {packet_bytes} bytes; the link takes 1 to 255")
    return -(-FRAME_MIN // packet_bytes) * packet_bytes


def largest_message_bytes(packet_bytes: int) -> int:
    """The longest message that fits into the fragments of one counter, in bytes."""
    return FRAGMENTS_MAX * (frame_bytes(packet_bytes) - OVERHEAD) - SEALED_OVERHEAD


@dataclass(frozen=True)
class Frame:
    """One frame: its kind, its message's low counter byte, and the bytes between that and the CRC."""

    kind: int
    message: int
    body: bytes

    def encode(self, length: int) -> bytes:
        """The frame as `length` bytes."""
        head = bytes([MARK | self.kind, self.message]) + self.body
        head += bytes(length - 1 - len(head))
        return head + bytes([crc8(head)])


class FrameReader:
    """Finds frames in a stream that may lose, damage and insert bytes."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._buffer = bytearray()
        self.skipped_bytes = 0

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that are complete with these bytes. What is no frame is skipped byte by byte."""
        buffer, length = self._buffer, self._length
        buffer += data
        position = 0
        while len(buffer) - position >= length:
            first = buffer[position]
            if first & 0xF0 == MARK and first & 0x0F <= STATUS:
                candidate = bytes(buffer[position : position + length])
                if crc8(candidate) == 0:
                    position += length
                    yield Frame(first & 0x0F, candidate[1], candidate[2:-1])
                    continue
            position += 1
            self.skipped_bytes += 1
        del buffer[:position]


def fragments(sealed: bytes, length: int) -> list[bytes]:
    """A sealed message with its end mark, cut into the pieces of frames of that length."""
    room = length - OVERHEAD
    marked = sealed + b"\x80"
    marked += bytes(-len(marked) % room)
    return [marked[start : start + room] for start in range(0, len(marked), room)]


def joined(pieces: list[bytes]) -> bytes | None:
    """The sealed message that those pieces make; None when the end mark is missing."""
    stripped = b"".join(pieces).rstrip(b"\x00")
    return stripped[:-1] if stripped[-1:] == b"\x80" else None
