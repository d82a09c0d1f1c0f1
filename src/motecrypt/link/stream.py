"""Packets out of a serial line that has no packet boundaries: firmware/link/stream.h, for this computer."""

from __future__ import annotations

from collections.abc import Iterator

SILENCE_MS = 20
"""A packet begins after this much silence, or after another packet."""


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
