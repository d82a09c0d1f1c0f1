"""The gateway's serial ports: each read and written without waiting, and opened again after it vanished."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence

from motecrypt.base.errors import InputError
from motecrypt.base.serial_port import PortError, SerialPort
from motecrypt.link.native import NODE_BITS
from motecrypt.link.stream import PortFraming

REOPEN_S = 0.5
OUTPUT_MAX = 4096
"""Bytes for one node that wait for a port: room for the longest message and its answer. More are dropped, and
sent again by the link."""
TURN_BYTES = 512
"""Nodes take turns at a port, a packet each; as many bytes may be handed to the system together."""


class Line:
    """One port with a radio behind it.

    Parameters
    ----------
    framing : PortFraming
        How packets pass it.
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
        framing: PortFraming,
        notice: Callable[[str], None],
        setup: Callable[[SerialPort], None] = lambda port: None,
    ) -> None:
        self.path, self._baud, self._notice, self._setup = path, baud, notice, setup
        self._framing = framing
        self._output = b""
        self._waiting: dict[int, deque[bytes]] = {}
        self._again_s = 0.0
        self.packets = 0
        self.dropped_bytes = 0
        self.lost = 0
        self.port: SerialPort | None = SerialPort(path, baud)
        self._set_up(self.port)

    def _set_up(self, port: SerialPort) -> None:
        try:
            self._setup(port)
            self._output = self._framing.opened()
        except PortError:
            port.close()
            raise

    @property
    def writing(self) -> bool:
        """Whether bytes wait to be written."""
        return bool(self._output or (self._waiting and self._framing.room))

    def waiting(self, node: int) -> int:
        """Bytes for one node that wait."""
        return sum(map(len, self._waiting.get(node, ())))

    @property
    def skipped_bytes(self) -> int:
        """Bytes that belonged to no packet."""
        return self._framing.skipped_bytes

    def heard(self, now_ms: int) -> Iterator[bytes]:
        """The packets that have come."""
        for packet in self._framing.packets(self._read(), now_ms):
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
        self._framing.slip()

    def say(self, packet: bytes) -> None:
        """Write a packet as soon as the port takes it and it is its node's turn."""
        node = packet[0] & NODE_BITS
        if self.port is None or self.waiting(node) + len(packet) > OUTPUT_MAX:
            self.dropped_bytes += len(packet)
        else:
            self._waiting.setdefault(node, deque()).append(packet)

    def write(self) -> None:
        """Write what waits, as far as the port takes it now."""
        while self.port is not None and self.writing:
            self._output = self._output or self._turn()
            try:
                self._output = self._output[self.port.write(self._output) :]
            except PortError as error:
                self._vanished(error)
            if self._output:
                return

    def _turn(self) -> bytes:
        """The next packets, of each node one in turn."""
        output = b""
        while self._waiting and len(output) < TURN_BYTES and self._framing.room:
            node = next(iter(self._waiting))
            packets = self._waiting.pop(node)
            output += self._framing.framed(packets.popleft())
            if packets:
                self._waiting[node] = packets
        return output

    def _vanished(self, error: PortError) -> None:
        self._notice(f"{error}; waiting for it")
        self.lost += 1
        self.close()

    def reopen(self) -> None:
        """If it has vanished: try now and then whether it is back."""
        self._framing.watch()
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
        self.dropped_bytes += len(self._output) + sum(map(self.waiting, self._waiting))
        self._output, self._waiting = b"", {}
        if self.port is not None:
            self.port.close()
            self.port = None


class Routes:
    """Where packets for each node go.

    Attributes
    ----------
    where : the port that received a message of a node last.
    came : the port that received a packet of a node just now, of which nothing else may be known.
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self.where: dict[int, Line] = {}
        self.came: dict[int, Line] = {}

    def _towards(self, node: int) -> Sequence[Line]:
        line = self.where.get(node) or self.came.get(node)
        return self._lines if line is None else [line]

    def say(self, packet: bytes) -> None:
        """A packet goes where its node was received last; if it never was, everywhere."""
        for line in self._towards(packet[0] & NODE_BITS):
            line.say(packet)

    def free(self, node: int) -> bool:
        """Whether a port has written all that was for a node."""
        return not all(line.waiting(node) for line in self._towards(node))
