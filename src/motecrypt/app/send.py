"""Send messages and files over the secure link, from this computer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motecrypt.app.link_ends import GROUP_NOTICE, Notice, SerialRadio
from motecrypt.base.errors import InputError
from motecrypt.base.paths import read_regular
from motecrypt.base.serial_port import SerialPort
from motecrypt.build.setup import need
from motecrypt.link import metrics
from motecrypt.link.file_parts import LENGTH_MAX, file_parts
from motecrypt.link.keys import link_end
from motecrypt.link.native import (
    BROADCAST,
    COMMAND,
    CONFIRMED,
    FILE,
    GATEWAY,
    LISTENS,
    Event,
    message_bytes_max,
)
from motecrypt.link.ports.session import LinkEnd, Talk, greet, hear_until, transmit
from motecrypt.link.ports.signals import Stop

if TYPE_CHECKING:
    from motecrypt.base.progress import Progress
    from motecrypt.link.stream import PortFraming
    from motecrypt.link.told import NodeEvent, NodeMessage

_GOOD = ("accepted", "sent")
ORDER_S = 120.0
"""More than the link needs for any one message, with others waiting before it."""


@dataclass(frozen=True)
class SendHow:
    """How messages are sent.

    Attributes
    ----------
    kind : "message", "unconfirmed" (no answer is requested) or "command" (refused if it comes late).
    wait_s : how long to wait first for a message of the node, so that a command is fresh.
    tries : how often a part of a file is sent.
    """

    kind: str = "message"
    wait_s: float = 10.0
    tries: int = 5


@dataclass(frozen=True)
class SendRequest:
    """What to send, and where.

    Attributes
    ----------
    port : the path of a serial port. line : the radio there.
    key_file : a node's, which sends to its gateway; or a gateway's master key, which sends to the node `to`.
    state : the gateway's record, by default next to its key.
    """

    port: str
    line: SerialRadio
    key_file: Path
    messages: Sequence[bytes] = ()
    files: Sequence[Path] = ()
    to: int | None = None
    state: Path | None = None
    how: SendHow = field(default_factory=SendHow)


@dataclass(frozen=True)
class OnTheLine:
    """What was sent; `seconds` until the last outcome, None where nothing was."""

    sent_bytes: int
    seconds: float | None
    packets: int
    packets_sent_again: int


@dataclass(frozen=True)
class SendResult:
    """The outcome of messages and files.

    Attributes
    ----------
    node : the number of the node at one end of the link. items : how many messages and files there were.
    outcomes : how often parts were "accepted", "sent" (nobody answers), "refused" or "unconfirmed".
    failed : what did not arrive, and why; empty if all did.
    """

    node: int
    items: int
    message_bytes: int
    accepted_bytes: int
    line: OnTheLine
    outcomes: Mapping[str, int]
    failed: str

    def document(self) -> dict[str, Any]:
        """The same as JSON, with its rates."""
        line, total, seconds = self.line, self.message_bytes, self.line.seconds
        rate = metrics.throughput_kb_s(self.accepted_bytes, 1000 * seconds) if seconds else None
        return {
            "mode": "safe",
            "node": self.node,
            "items": self.items,
            "message_bytes": total,
            "accepted_bytes": self.accepted_bytes,
            "sent_bytes": line.sent_bytes,
            "expansion": metrics.expansion(line.sent_bytes, total) if total else None,
            "seconds": None if seconds is None else round(seconds, 6),
            "throughput_kb_s": rate or None,
            "packets": line.packets,
            "packets_sent_again": line.packets_sent_again,
            **{name: self.outcomes.get(name, 0) for name in (*_GOOD, "refused", "unconfirmed")},
            "failed": self.failed,
        }


def send(
    request: SendRequest,
    progress: Progress | None = None,
    stop: Stop | None = None,
    notice: Notice = lambda told: None,
) -> SendResult:
    """Send messages and files, each until its outcome is known. `stop` ends it early, as a signal does;
    `notice` gets what a bridge says that may be wrong.

    InputError for a key, a port or a file of no use, or what the node's link does not have; MotecryptError
    where the port vanishes or the end's state cannot be kept.
    """
    need("link")
    stop = stop or Stop()
    how = request.how
    contents = [(path.name, _read(path)) for path in request.files]
    setup = request.line.setup(stop)
    with ExitStack() as ends:
        way = _way(request, ends)
        with SerialPort(request.port, request.line.baud) as port:
            setup(port)
            options = _options(way, how, bool(contents))
            framing = request.line.framing(request.port, notice, way.packet_bytes)
            delivery = _Delivery(port, way, how.tries, stop, framing)
            greet(port, delivery.talk, stop)
            items = _items(request.messages, contents, way, options)
            if how.kind == "command" and request.to is not None:
                delivery.hear_s = how.wait_s
            return _send(delivery, way, items, stop, progress or (lambda *_: None))


@dataclass(frozen=True)
class OrderResult:
    """What a running gateway said of each message to a node, and how long that took."""

    node: int
    outcomes: Sequence[Mapping[str, object]]
    seconds: float

    @property
    def lost(self) -> list[str]:
        """Each message that did not arrive: its outcome, and why."""
        bad = [told for told in self.outcomes if told["outcome"] not in _GOOD]
        return [
            f"message: {told['outcome']}" + (f" ({told['why']})" if "why" in told else "") for told in bad
        ]

    @property
    def failed(self) -> str:
        """The same in one line; empty if all arrived."""
        return "; ".join(self.lost)

    def document(self) -> dict[str, Any]:
        """The same as JSON."""
        told = {"node": self.node, "items": len(self.outcomes), "outcomes": self.outcomes}
        return {**told, "seconds": self.seconds, "failed": self.failed}


def order(socket: Path, messages: Sequence[bytes], node: int | None, how: SendHow) -> OrderResult:
    """Have the gateway that listens at this socket send messages to a node.

    InputError where no node is named, nobody listens there, or the gateway takes no such order.
    """
    from motecrypt.link.gateway.control import ask

    if node is None:
        raise InputError(f"--to: missing; {socket} is a running gateway; name the node")
    kind = "unconfirmed" if node == BROADCAST and how.kind == "message" else how.kind  # as when sent directly
    wait_s = how.wait_s if kind == "command" else 0.0
    begun = time.monotonic()
    orders = ({"node": node, "hex": each.hex(), "as": kind, "wait_s": wait_s} for each in messages)
    outcomes = [ask(socket, each, wait_s + ORDER_S) for each in orders]
    return OrderResult(node, outcomes, round(time.monotonic() - begun, 3))


def _read(path: Path) -> bytes:
    try:
        content = read_regular(path)
    except InputError as error:
        raise InputError(f"--file {error}") from None
    if len(content) > LENGTH_MAX:
        raise InputError(f"--file {path}: longer than {LENGTH_MAX:,} bytes")
    return content


@dataclass(frozen=True)
class _Way:
    """An end of the link, and how it sends."""

    end: LinkEnd
    send: Callable[[bytes, int], Event]
    node: int
    options: int
    packet_bytes: int
    waits: Callable[[], bool] = lambda: False
    """Whether the node must confirm a new epoch first."""


def _way(request: SendRequest, ends: ExitStack) -> _Way:
    path, number, line = request.key_file, request.to, request.line
    if link_end(path) == "node":
        if number is not None or request.state is not None:
            raise InputError(f"--to, --state: {path} is a node's key, which sends to its gateway; omit them")
        node = line.node(path, ends)
        return _Way(node, node.send, node.number, node.options, node.packet_bytes)
    if number is None:
        raise InputError(f"--to: missing; {path} is a gateway's key: name the node")
    gateway = line.gateway(path, request.state, ends)
    options, packet_bytes = gateway.head(number)
    line.check(number, options, packet_bytes)
    return _Way(
        gateway,
        lambda text, how: gateway.send(number, text, how),
        number,
        options,
        packet_bytes,
        lambda: number in gateway.epoch_unconfirmed,
    )


def _options(way: _Way, how: SendHow, files: bool) -> int:
    """How the core sends messages."""
    if way.node == BROADCAST:
        if not way.options & GATEWAY:
            raise InputError("--key: a member of the group only receives; send with the key of its own node")
        if how.kind == "command" or files:
            raise InputError(f"--to group: {GROUP_NOTICE}")
        return 0
    if way.options & LISTENS:
        return {"unconfirmed": 0, "command": CONFIRMED | COMMAND}.get(how.kind, CONFIRMED)
    if way.options & GATEWAY:
        raise InputError(f"node {way.node}: sends only and never receives")
    if how.kind == "command" or files:
        raise InputError(
            f"node {way.node}: receives no answers; it can send messages, but no files or commands"
        )
    return 0


@dataclass(frozen=True)
class _Item:
    """A message or a file: what its parts are, each time that it is begun, and how they are sent."""

    name: str
    parts: Callable[[], Iterable[bytes]]
    length: int
    how: int
    again: bool
    """Whether a part may arrive twice without harm."""


def _items(texts: Sequence[bytes], files: list[tuple[str, bytes]], way: _Way, how: int) -> list[_Item]:
    largest = message_bytes_max(way.options, way.packet_bytes, how)
    for text in texts:
        if len(text) > largest:
            raise InputError(f"a message of {len(text)} bytes; {largest} is the most, else use --file")
    part = message_bytes_max(way.options, way.packet_bytes, FILE)

    def message(text: bytes) -> _Item:
        return _Item("message", lambda: [text], len(text), how, False)

    def file(name: str, content: bytes) -> _Item:
        return _Item(name, lambda: file_parts(name, content, part), len(content), CONFIRMED | FILE, True)

    return [*map(message, texts), *(file(name, content) for name, content in files)]


class _Delivery:
    """Sends items one after the other, and counts the outcome of their parts."""

    def __init__(self, port: SerialPort, way: _Way, tries: int, stop: Stop, framing: PortFraming) -> None:
        self._port, self._way, self._tries, self._stop = port, way, tries, stop
        self.told: dict[str, int] = {}
        self.forged = 0
        self._heard: set[int] = set()
        self.hear_s: float | None = None
        """How long each item waits for a message of the other end; None: not at all."""
        self.talk = Talk(way.end, framing, self._refuse, self._happened)

    def _happened(self, told: NodeEvent) -> None:
        self.forged += told.event is Event.FORGED

    def _refuse(self, messages: Sequence[NodeMessage]) -> list[bool]:
        """Messages that come meanwhile are not taken: this end only sends now."""
        self._heard.update(message.node for message in messages)
        return [False] * len(messages)

    def _hear_node(self, seconds: float) -> None:
        """Wait for a message of the other end, which serves one command."""
        hear_until(self._port, self.talk, lambda: self._way.node in self._heard, self._stop, seconds)
        self._heard.clear()

    def item(self, item: _Item, report: Callable[[int], None]) -> str:
        """Send a message once, or a file until it has all been taken; its outcome."""
        outcome = "unconfirmed"
        if self.hear_s is not None:
            self._hear_node(self.hear_s)
        for _ in range(self._tries if item.again else 1):
            done = 0
            for part in item.parts():
                outcome = self._part(item, part)
                if outcome not in _GOOD:
                    break
                done = min(done + len(part), item.length)
                report(done)
            if outcome != "refused" or self._stop.asked:
                break  # a refused file is announced again: the other end may have restarted
        return outcome

    def _part(self, item: _Item, part: bytes) -> str:
        outcome = "unconfirmed"
        for _ in range(self._tries if item.again else 1):
            event = transmit(self._port, self.talk, lambda: self._way.send(part, item.how), self._stop)
            outcome = event.name.lower().replace("_", " ")
            self.told[outcome] = self.told.get(outcome, 0) + 1
            if outcome != "unconfirmed" or self._stop.asked:
                break
        return outcome


def _send(
    delivery: _Delivery, way: _Way, items: Sequence[_Item], stop: Stop, progress: Progress
) -> SendResult:
    lost: list[str] = []
    total, sent, accepted = sum(item.length for item in items), 0, 0
    for number, item in enumerate(items):
        if stop.asked:
            lost.append(f"{len(items) - number} of {len(items)} not sent (stopped)")
            break
        before, name = sent, item.name
        outcome = delivery.item(item, lambda done: progress(before + done, total, name))  # noqa: B023
        if outcome not in _GOOD:
            why = _why(outcome, bool(delivery.forged), way.waits(), stop)
            lost.append(f"{item.name}: {outcome} ({why})")
        sent += item.length
        accepted += item.length * (outcome == "accepted")
    talk = delivery.talk
    line = OnTheLine(talk.sent_bytes, talk.seconds, talk.packets, talk.packets_again)
    return SendResult(way.node, len(items), total, accepted, line, delivery.told, "; ".join(lost))


_WHY = {
    "refused": "the other end does not accept it now, or accepted it before; "
    "it never accepts a message twice",
    "used up": "all counters of this key are used; give the node a new one",
    "storage": "the counters cannot be stored, so nothing was sent",
}


def _why(outcome: str, forged: bool, waits: bool, stop: Stop) -> str:
    if stop.asked:
        return "stopped"
    if waits:
        return "the node has not confirmed its new epoch, and receives nothing before; is it in range?"
    if forged and outcome not in _WHY:
        return "the other end has a different key"
    return _WHY.get(outcome, "no answer: is the other end running, with this node's key and packet length?")
