"""A virtual bridge: the board between a program's serial port and a virtual radio with packets."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from motecrypt.base.errors import FailureKind
from motecrypt.base.frames import Frames, ProtocolError, decode, encode
from motecrypt.link.bridge import (
    BAD_CHECKSUM,
    BAD_REQUEST,
    BAD_VERSION,
    FRAME_MAX,
    FULL,
    LENGTH,
    TAKEN,
    TOO_LONG,
    BridgeHello,
    gone,
    received,
    took,
)

QUEUE = 4
"""Packets that it holds, as the exported program does."""


class VirtualBridge:
    """What the exported program of a bridge does, over a radio of `air.radios`.

    Parameters
    ----------
    radio : str
        Its name.
    packet_min, packet_max : int
        Lengths of packets in bytes.
    """

    def __init__(self, radio: str, packet_min: int, packet_max: int) -> None:
        self._radio, self._packet_min, self._packet_max = radio, packet_min, packet_max
        self._frames = Frames(FRAME_MAX)
        self._sequences: deque[int] = deque()
        self._output = b""

    def heard(self, data: bytes, now_us: float) -> Iterator[bytes]:
        """The packets to send that are whole with bytes of the program."""
        try:
            bodies = self._frames.feed(data)
        except ProtocolError:
            self._frames = Frames(FRAME_MAX)
            self._say(0, "e", bytes([TOO_LONG]))
            return
        for body in bodies:
            try:
                sequence, kind, payload = decode(body)
            except ProtocolError as error:
                self._say(
                    0,
                    "e",
                    bytes([BAD_VERSION if error.kind is FailureKind.PROTOCOL_VERSION else BAD_CHECKSUM]),
                )
                continue
            if kind == "H":
                self._say(sequence, "h", self._greeting(now_us))
            elif kind == "S":
                yield from self._send(sequence, payload)
            else:
                self._say(sequence, "e", bytes([BAD_REQUEST]))

    def _greeting(self, now_us: float) -> bytes:
        hello = BridgeHello(
            packet_min=self._packet_min,
            packet_max=self._packet_max,
            queue=QUEUE,
            duty_permille=1000,
            channel=0,
            reset=1,
            running_ms=int(now_us / 1000),
            radio=self._radio,
        )
        return hello.encode()

    def _send(self, sequence: int, packet: bytes) -> Iterator[bytes]:
        if not self._packet_min <= len(packet) <= self._packet_max:
            self._say(sequence, "s", took(LENGTH))
        elif len(self._sequences) >= QUEUE:
            self._say(sequence, "s", took(FULL))
        else:
            self._sequences.append(sequence)
            self._say(sequence, "s", took(TAKEN))
            yield packet

    def left(self, now_us: float) -> None:
        """The oldest packet has ended on the air."""
        if self._sequences:
            self._say(self._sequences.popleft(), "d", gone(int(now_us / 1000)))

    def came(self, packet: bytes, now_us: float) -> None:
        """A packet has come from the air."""
        self._say(0, "p", received(int(now_us / 1000), packet))

    def take_output(self) -> bytes:
        """Bytes for the program, each once."""
        output, self._output = self._output, b""
        return output

    def _say(self, sequence: int, kind: str, payload: bytes) -> None:
        self._output += encode(sequence, kind, payload)
