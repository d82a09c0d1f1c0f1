"""The gateway's serial ports: each read and written without waiting, and opened again after it vanished."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from motecrypt.base.errors import InputError
from motecrypt.base.serial_port import PortError, SerialPort
from motecrypt.link.stream import StreamReader

REOPEN_S = 0.5
OUTPUT_MAX = 1 << 16
"""Bytes that wait for a port that takes none; more are dropped, and sent again by the link."""


class Line:
    """One port with a radio behind it.

    Parameters
    ----------
    setup : callable
        Called with the port each time it has been opened.
    notice : callable
        Gets one line for the user.

    Attributes
    ----------
    packets, dropped_bytes, lost : packets that came; bytes that were not written; times that it vanished.
    """

    def __init__(
        self,
        path: str,
        baud: int,
        packet_bytes: int,
        notice: Callable[[str], None],
        setup: Callable[[SerialPort], None] = lambda port: None,
    ) -> None:
        self.path, self._baud, self._notice, self._setup = path, baud, notice, setup
        self._reader = StreamReader(packet_bytes)
        self._output = b""
        self._again_s = 0.0
        self.packets = 0
        self.dropped_bytes = 0
        self.lost = 0
        self.port: SerialPort | None = SerialPort(path, baud)
        self._set_up(self.port)

    def _set_up(self, port: SerialPort) -> None:
        try:
            self._setup(port)
        except PortError:
            port.close()
            raise

    @property
    def writing(self) -> bool:
        """Whether bytes wait to be written."""
        return bool(self._output)

    @property
    def skipped_bytes(self) -> int:
        """Bytes that belonged to no packet."""
        return self._reader.skipped_bytes

    def heard(self, now_ms: int) -> Iterator[bytes]:
        """The packets that have come."""
        for packet in self._reader.packets(self._read(), now_ms):
            self.packets += 1
            yield packet

    def _read(self) -> bytes:
        if self.port is None:
            return b""
        try:
            return self.port.read()
        except PortError as error:
            self._vanished(error)
            return b""

    def slip(self) -> None:
        """The packet that came last was none."""
        self._reader.slip()

    def say(self, packet: bytes) -> None:
        """Write a packet as soon as the port takes it."""
        if self.port is None or len(self._output) + len(packet) > OUTPUT_MAX:
            self.dropped_bytes += len(packet)
        else:
            self._output += packet

    def write(self) -> None:
        """Write what waits, as far as the port takes it now."""
        if self.port is not None and self._output:
            try:
                self._output = self._output[self.port.write(self._output) :]
            except PortError as error:
                self._vanished(error)

    def _vanished(self, error: PortError) -> None:
        self._notice(f"{error}; waiting for it")
        self.lost += 1
        self.close()

    def reopen(self) -> None:
        """If it has vanished: try now and then whether it is back."""
        if self.port is not None or time.monotonic() < self._again_s:
            return
        self._again_s = time.monotonic() + REOPEN_S
        try:
            port = SerialPort(self.path, self._baud)
            self._set_up(port)
        except (InputError, PortError):
            return
        self.port = port
        self._notice(f"port {self.path}: is back")

    def close(self) -> None:
        """Give the port back."""
        self.dropped_bytes += len(self._output)
        self._output = b""
        if self.port is not None:
            self.port.close()
            self.port = None
