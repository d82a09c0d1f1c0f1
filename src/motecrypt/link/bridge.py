"""A bridge at a serial port: a board that is this computer's radio and hands over whole packets, in frames.

docs/formats.md has the frames. Packets that a bridge has not yet sent are counted here, so that no more go
to it than it can hold.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from motecrypt.base.errors import FailureKind
from motecrypt.base.frames import Frames, ProtocolError, decode, encode

FRAME_MAX = 2 * (5 + 255 + 16)
"""No frame of a bridge is longer, however many of its bytes are escaped."""
UNKNOWN = 127
"""A level or a ratio that the radio does not measure."""
GREETING_S = 3.0
"""How long a board may take until it greets: a boot loader waits for two seconds."""
NOBODY = "no bridge answers; is its program on that board ('motecrypt export bridge', docs/formats.md)?"
GONE_S = 10.0
"""How long after its time a packet may still leave, before its place counts as free."""

TAKEN, FULL, LENGTH, FAULT = range(4)
"""What a bridge says of a packet."""
BAD_CHECKSUM, BAD_VERSION, BAD_REQUEST, TOO_LONG, NO_RADIO = range(1, 6)
"""What a bridge says is wrong."""
_RECEIVED = struct.Struct("<IbbB")
_GONE = struct.Struct("<IH")
_TOOK = struct.Struct("<BI")
_HELLO = struct.Struct("<BBBHBBI")


@dataclass(frozen=True)
class BridgeHello:
    """What a bridge says of itself.

    Attributes
    ----------
    packet_min, packet_max : lengths of packets in bytes. queue : packets that it holds until they are sent.
    duty_permille : share of the time that it may send; 1,000 is all. channel : of its radio.
    reset : why it started: 0 not known, 1 power, 2 reset pin, 3 watchdog, 4 brown-out.
    running_ms : since then. radio : its name.
    """

    packet_min: int
    packet_max: int
    queue: int
    duty_permille: int
    channel: int
    reset: int
    running_ms: int
    radio: str

    @property
    def kind(self) -> tuple[str, int, int]:
        """What does not change while a program runs."""
        return self.radio, self.packet_min, self.packet_max

    def encode(self) -> bytes:
        """The payload of a greeting."""
        numbers = (self.packet_min, self.packet_max, self.queue, self.duty_permille, self.channel, self.reset)
        return _HELLO.pack(*numbers, self.running_ms & 0xFFFFFFFF) + self.radio.encode()

    @classmethod
    def decode(cls, payload: bytes) -> BridgeHello:
        """ProtocolError for one that is too short, or says what cannot be."""
        if len(payload) < _HELLO.size:
            raise ProtocolError("a greeting of the wrong length")
        low, high, queue, duty, channel, reset, running_ms = _HELLO.unpack_from(payload)
        name = payload[_HELLO.size :].decode("ascii", "replace")
        found = cls(low, high, queue, duty, channel, reset, running_ms, name)
        if not (found.queue and 1 <= found.packet_min <= found.packet_max and found.duty_permille <= 1000):
            raise ProtocolError("a greeting with numbers that cannot be")
        return found


@dataclass(frozen=True)
class PacketSignal:
    """How a packet was received: `at_ms` by the bridge's clock; dBm and dB, None where it does not say."""

    at_ms: int
    rssi_dbm: int | None
    snr_db: float | None


class BridgeLine:
    """The frames of a bridge, in place of the bytes of a serial radio (link.stream.StreamReader).

    Parameters
    ----------
    packet_bytes : int
        Packets of the ends behind it; a bridge that takes shorter ones only is reported.
    radio : str
        The radio that it should have; another one is reported.
    notice : callable
        Gets one line for the user.

    Attributes
    ----------
    hello : what it said when it started last. signal : of the packet that came last.
    lost, refused : packets that it had no room for; and those that it did not take from here.
    """

    def __init__(
        self,
        packet_bytes: int,
        radio: str,
        notice: Callable[[str], None],
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._packet_bytes, self._radio, self._notice, self._seconds = packet_bytes, radio, notice, seconds
        self._frames = Frames(FRAME_MAX)
        self._sent: dict[int, float] = {}
        self._sequence = 0
        self._silent_s: float | None = None
        self._faulty = False
        self.hello: BridgeHello | None = None
        self.signal: PacketSignal | None = None
        self.skipped_bytes = self.lost = self.refused = 0

    def opened(self) -> bytes:
        """What to write when the port has been opened: an end of frame, and the question who is there."""
        self._frames = Frames(FRAME_MAX)
        self._sent.clear()
        self._silent_s = self._seconds() + GREETING_S
        return b"\x7e" + encode(self._next(), "H")

    def watch(self) -> None:
        """Report a port where nobody greets."""
        if self._silent_s is not None and self._seconds() > self._silent_s:
            self._silent_s = None
            self._notice(NOBODY)

    @property
    def room(self) -> bool:
        """Whether it takes another packet now."""
        return self._held() < (self.hello.queue if self.hello else 1)

    @property
    def busy(self) -> bool:
        """Whether packets still wait at the bridge."""
        return self._held() > 0

    def _held(self) -> int:
        """How many packets are there, without those that nothing was received about in time."""
        now_s = self._seconds()
        self._sent = {number: end_s for number, end_s in self._sent.items() if now_s < end_s}
        return len(self._sent)

    @property
    def ready(self) -> bool:
        """Whether it has greeted."""
        return self.hello is not None

    def framed(self, packet: bytes) -> bytes:
        """A packet as it goes to the port."""
        sequence = self._next()
        self._sent[sequence] = self._seconds() + GONE_S
        return encode(sequence, "S", packet)

    def packets(self, data: bytes, now_ms: int) -> Iterator[bytes]:
        """The packets that are whole with bytes that came at that time."""
        try:
            bodies = self._frames.feed(data)
        except ProtocolError:
            self.skipped_bytes += len(data)
            self._frames = Frames(FRAME_MAX)
            return
        for body in bodies:
            try:
                sequence, kind, payload = decode(body)
                packet = self._take(sequence, kind, payload)
            except (ProtocolError, struct.error) as error:
                self.skipped_bytes += len(body)
                if isinstance(error, ProtocolError) and error.kind is FailureKind.PROTOCOL_VERSION:
                    self._notice(f"bridge: {error}")
                continue
            if packet is not None:
                yield packet

    def slip(self) -> None:
        """The packet that came last was none: that concerns no other one."""

    def _next(self) -> int:
        self._sequence = self._sequence % 255 + 1
        return self._sequence

    def _take(self, sequence: int, kind: str, payload: bytes) -> bytes | None:
        if kind == "h":
            self._greeted(BridgeHello.decode(payload))
        elif kind == "s":
            status, due_ms = _TOOK.unpack(payload)
            if status == TAKEN and sequence in self._sent:
                self._sent[sequence] = self._seconds() + due_ms / 1000 + GONE_S
            elif self._sent.pop(sequence, None) is not None:
                self.refused += 1
        elif kind == "d":
            self._sent.pop(sequence, None)
            self._faulty = False
        elif kind == "e" and payload == bytes([NO_RADIO]):
            if not self._faulty:
                self._notice("the bridge's radio does not answer; check its supply and its wiring")
            self._faulty = True
        elif kind == "p":
            at_ms, rssi, snr, lost = _RECEIVED.unpack_from(payload)
            self.lost += lost
            level, ratio = (None if value == UNKNOWN else value for value in (rssi, snr))
            self.signal = PacketSignal(at_ms, level, None if ratio is None else ratio / 4)
            return payload[_RECEIVED.size :]
        return None

    def _greeted(self, hello: BridgeHello) -> None:
        self._sent.clear()  # it has just started, or nothing was sent to it before
        self._silent_s = None
        if self.hello is None or hello.kind != self.hello.kind:
            self._compare(hello)
        self.hello = hello

    def _compare(self, hello: BridgeHello) -> None:
        if hello.radio != self._radio:
            self._notice(f"the bridge has the radio {hello.radio}, not {self._radio}")
        if not hello.packet_min <= self._packet_bytes <= hello.packet_max:
            self._notice(
                f"the bridge takes packets of {hello.packet_min} to {hello.packet_max} bytes; those of the "
                f"nodes have up to {self._packet_bytes}"
            )


def received(at_ms: int, packet: bytes, rssi: int = UNKNOWN, snr: int = UNKNOWN, lost: int = 0) -> bytes:
    """The payload of a packet that came; `snr` in quarters of a dB."""
    return _RECEIVED.pack(at_ms & 0xFFFFFFFF, rssi, snr, lost) + packet


def gone(at_ms: int, waited_ms: int = 0) -> bytes:
    """The payload that says when a packet has left, and how long it had waited."""
    return _GONE.pack(at_ms & 0xFFFFFFFF, min(waited_ms, 0xFFFF))


def took(status: int, due_ms: int = 0) -> bytes:
    """The payload with the status of a packet, and in how many ms it leaves."""
    return _TOOK.pack(status, due_ms)
