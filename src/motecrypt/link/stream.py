"""Packets out of a serial line that has no packet boundaries: firmware/link/stream.h, for this computer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

SILENCE_MS = 20
"""A packet begins after this much silence, or after another packet."""


class PortFraming(Protocol):
    """How packets pass a port: as the bytes of a serial radio, or in a bridge's frames (link.bridge).

    `skipped_bytes`: bytes that belonged to no packet. `room`: whether another packet may be written now.
    `busy`: whether packets still wait behind the port. `ready`: whether what is there has answered.
    """

    skipped_bytes: int

    @property
    def room(self) -> bool: ...

    @property
    def busy(self) -> bool: ...

    @property
    def ready(self) -> bool: ...

    def opened(self) -> bytes:
        """What to write when the port has been opened."""

    def watch(self) -> None:
        """Called again and again, whatever comes."""

    def packets(self, data: bytes, now_ms: int) -> Iterator[bytes]:
        """The packets that are whole with bytes that came at that time."""

    def slip(self) -> None:
        """The packet that came last was none."""

    def framed(self, packet: bytes) -> bytes:
        """A packet as it goes to the port."""


class StreamReader:
    """Cuts what comes into packets of one length.

    Parameters
    ----------
    packet_bytes : int
        The radio's packet length.
    """

    def __init__(self, packet_bytes: int) -> None:
        self._packet_bytes = packet_bytes
        self._have = bytearray()
        self._skipping = False
        self._last_ms = 0
        self.skipped_bytes = 0
        self.room, self.busy, self.ready = True, False, True

    def opened(self) -> bytes:
        """Nothing: a serial radio would send it."""
        return b""

    def watch(self) -> None:
        """A serial radio sends nothing of its own."""

    def framed(self, packet: bytes) -> bytes:
        """As it is."""
        return packet

    def packets(self, data: bytes, now_ms: int) -> Iterator[bytes]:
        """The packets that are whole with bytes that came at that time."""
        if not data:
            return
        if now_ms - self._last_ms >= SILENCE_MS:
            self.skipped_bytes += len(self._have)
            self._have.clear()
            self._skipping = False
        self._last_ms = now_ms
        while data and not self._skipping:
            room = self._packet_bytes - len(self._have)
            self._have += data[:room]
            data = data[room:]
            if len(self._have) == self._packet_bytes:
                packet = bytes(self._have)
                self._have.clear()
                yield packet
        self.skipped_bytes += len(data)

    def slip(self) -> None:
        """The packet that came last was none: its bytes may be parts of two. Skip to the next silence."""
        self._skipping = True
