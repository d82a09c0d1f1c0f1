"""What is around a gateway in virtual time: its clock, its radio's port, nodes, a broker and a command."""

from __future__ import annotations

import ctypes
import io
import json
import select
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from motecrypt.link.file_parts import file_parts
from motecrypt.link.gateway.clock import LoopClock
from motecrypt.link.native import CONFIRMED, FILE, NODE_BITS, Event, NativeLink, link_library, open_library
from motecrypt.link.stream import StreamReader
from motecrypt.link.told import OUTCOMES

PACKET_BYTES = 12
BEGUN_UTC_S = 1_790_000_000.0
TURN_S = 0.001
PART_BYTES = 100
FILE_TRIES = 50


class Time(LoopClock):
    """Passes only while the loop waits for nothing that is there."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def now_s(self) -> float:
        """Virtual."""
        return self.seconds

    def utc_s(self) -> float:
        """Virtual."""
        return BEGUN_UTC_S + self.seconds

    def wait(self, readers: Sequence[Any], writers: Sequence[Any], seconds: float) -> list[Any]:
        """What can be read now; if that is nothing, the time passes."""
        ready = [each for each in readers if isinstance(each, Port) and each.coming]
        real = [each for each in readers if not isinstance(each, Port)]
        if real:
            ready += select.select(real, [], [], 0)[0]
        self.seconds += TURN_S if ready or writers else seconds
        return ready


class Port:
    """A radio's serial port in memory, in place of `SerialPort`.

    Attributes
    ----------
    leaves : gets what the gateway sends, immediately. radio : the port that the gateway has open.
    """

    leaves: Callable[[bytes], None] = staticmethod(lambda data: None)
    radio: Port

    def __init__(self, path: str, baud: int) -> None:
        self.path, self.coming = path, b""
        Port.radio = self

    def read(self) -> bytes:
        """What nodes have sent."""
        data, self.coming = self.coming, b""
        return data

    def write(self, data: bytes) -> int:
        """Send."""
        Port.leaves(data)
        return len(data)

    def close(self) -> None:
        """Nothing to do."""


# --- nodes


@dataclass(frozen=True)
class Sending:
    """A file that a node sends.

    Attributes
    ----------
    parts, at : its messages under the present label, and the one that is on its way.
    tries : how often it was announced.
    """

    name: str
    content: bytes
    parts: tuple[bytes, ...]
    at: int = 0
    tries: int = 1

    @classmethod
    def of(cls, name: str, content: bytes, tries: int = 1) -> Sending:
        """Under a new label."""
        return cls(name, content, tuple(file_parts(name, content, PART_BYTES)), tries=tries)


@dataclass(frozen=True)
class NodeState:
    """All that a node has in its memories.

    Attributes
    ----------
    memory : of the link's core, packed. pending : the message that waits for its outcome.
    """

    memory: bytes
    pending: bytes | None = None
    sending: Sending | None = None


@cache
def _place(number: int, answer_ms: int) -> NativeLink:
    """Where a node's core lives: its memory contains addresses within itself, so it continues only there."""
    return NativeLink(open_library(link_library("aes128-ccm")), answer_ms)


class Node:
    """A node: the core on this computer. It keeps its power when the gateway loses it.

    Parameters
    ----------
    storage : bytes, optional
        None: it is to `resume`.
    """

    def __init__(self, number: int, storage: bytes | None, answer_ms: int) -> None:
        self.number, self.link = number, _place(number, answer_ms)
        if storage is not None and self.link.begin(storage) is not Event.NOTHING:
            raise AssertionError(f"node {number}: its storage does not begin")
        self.pending: bytes | None = None
        self.sending: Sending | None = None
        self._reader = StreamReader(PACKET_BYTES)

    def state(self) -> NodeState:
        """What it has now."""
        return NodeState(zlib.compress(self.link._memory.raw, 1), self.pending, self.sending)

    def resume(self, state: NodeState) -> None:
        """Go on from there."""
        memory = zlib.decompress(state.memory)
        ctypes.memmove(self.link._memory, memory, len(memory))
        self.pending, self.sending = state.pending, state.sending
        self._reader = StreamReader(PACKET_BYTES)

    def send(self, content: bytes, how: int, now_s: float) -> Event:
        """A message."""
        self.link.at(int(now_s * 1000))
        told = self.link.send(content, how)
        self.pending = content if told is Event.WAITING else None
        return told

    def send_part(self, now_s: float) -> Event:
        """The next part of the file."""
        assert self.sending is not None
        return self.send(self.sending.parts[self.sending.at], FILE | CONFIRMED, now_s)

    def part_over(self, outcome: Event) -> bool:
        """The outcome of a part; whether the file has arrived."""
        assert self.sending is not None
        if outcome is Event.ACCEPTED:
            if self.sending.at + 1 == len(self.sending.parts):
                self.sending = None
                return True
            self.sending = replace(self.sending, at=self.sending.at + 1)
        else:
            if self.sending.tries == FILE_TRIES:
                raise AssertionError(f"{self.sending.name}: was refused {FILE_TRIES} times")
            self.sending = Sending.of(self.sending.name, self.sending.content, self.sending.tries + 1)
        return False

    def poll(self, now_s: float) -> Event:
        """Time has passed."""
        return self.link.poll(int(now_s * 1000))

    def hear(self, packets: bytes, now_s: float) -> Iterator[Event]:
        """Take what comes; what happens."""
        for packet in self._reader.packets(packets, int(now_s * 1000)):
            if packet[0] & NODE_BITS == self.number:
                self.link.at(int(now_s * 1000))
                yield self.link.receive(packet)

    def packets(self) -> bytes:
        """What it sends."""
        return b"".join(map(self.link.on_line, self.link.packets()))

    @staticmethod
    def is_outcome(event: Event) -> bool:
        """Whether that is the outcome of its message."""
        return event in OUTCOMES


# --- sinks of others


class Taker:
    """Takes messages from the gateway, and may be away: a broker, or a command.

    Attributes
    ----------
    took : gets the sink and a record as JSON each time.
    """

    def __init__(self) -> None:
        self.away: set[str] = set()
        self.took: Callable[[str, str], None] = lambda sink, text: None
        self.told: Callable[[str], None] = lambda text: None
        self.orders: list[tuple[int, bytes]] = []


class _Code:
    is_failure = False


class Client:
    """A client of a broker without the broker, in place of paho's."""

    taker: Taker

    def __init__(self, *given: object, **named: object) -> None:
        self._published: list[int] = []
        self._mid, self._said = 0, False
        self.on_connect = self.on_publish = self.on_message = self.on_subscribe = lambda *given: None

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *given, **named: None

    def connect(self, *given: object, **named: object) -> None:
        """Unless the broker is away."""
        if "mqtt" in self.taker.away:
            raise OSError("away")

    def is_connected(self) -> bool:
        """Always, or the connection is given up."""
        return True

    def socket(self) -> None:
        """None."""

    def publish(self, topic: str, text: str, **named: object) -> Client:
        """A message, or the outcome of an order."""
        self._mid += 1
        self.mid = self._mid
        if topic.endswith("/outcome"):
            self.taker.told(text)
        elif "/node/" in topic:
            self.taker.took("mqtt", text)
            self._published.append(self._mid)
        return self

    def loop(self, seconds: float) -> int:
        """Acknowledge, and bring orders."""
        if "mqtt" in self.taker.away:
            return 1
        if not self._said:
            self._said = True
            self.on_connect(self, None, None, _Code(), None)
        published, self._published = self._published, []
        for mid in published:
            self.on_publish(self, None, mid, _Code(), None)
        orders, self.taker.orders = self.taker.orders, []
        for node, text in orders:
            self.on_message(self, None, _Order(f"motecrypt/home/node/{node}/command", text))
        return 0


@dataclass(frozen=True)
class _Order:
    topic: str
    payload: bytes
    retain: bool = False


class Process:
    """A command of the user's without a process, in place of `subprocess.Popen`."""

    taker: Taker
    pid = 0

    def __init__(self, words: Sequence[str], stdin: io.BytesIO, **named: object) -> None:
        self._code = 1
        if "run" not in self.taker.away:
            text = stdin.read().decode()
            if json.loads(text)["id"] != named["env"]["MOTECRYPT_ID"]:  # type: ignore[index]
                raise AssertionError("the environment has another id")
            self.taker.took("run", text)
            self._code = 0

    def wait(self, seconds: float | None = None) -> int:
        """Its exit code."""
        return self._code

    def poll(self) -> int:
        """The same."""
        return self._code
