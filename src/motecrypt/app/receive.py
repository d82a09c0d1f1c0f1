"""Receive messages and files over the secure link, on this computer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motecrypt.app.link_ends import Notice, SerialRadio, called, make_folder
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.build.setup import need
from motecrypt.link.file_parts import ANNOUNCEMENT, FileCollector, FileReceived
from motecrypt.link.gateway.items import message_record, utc
from motecrypt.link.gateway_end import Gateway
from motecrypt.link.keys import link_end
from motecrypt.link.native import Event
from motecrypt.link.node import MemberNode
from motecrypt.link.ports.session import LinkEnd, Talk, answering, listen
from motecrypt.link.ports.signals import Stop

if TYPE_CHECKING:
    from motecrypt.base.serial_port import SerialPort
    from motecrypt.link.stream import PortFraming
    from motecrypt.link.told import NodeEvent, NodeMessage

LINGER_S = 2.0
"""Longer than the sender's longest deadline for a short message, so that its last retransmission is
answered."""

LINGER_MAX_S = 5.0

QUIET_S = 0.1
"""How often an end without input checks its clock."""


@dataclass(frozen=True)
class Until:
    """When a receiver ends: after `count` messages and files, or `seconds`. None: only when it is stopped."""

    count: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class ReceiveRequest:
    """What to receive, and where.

    Attributes
    ----------
    port : the path of a serial port. line : the radio there.
    key_file : a gateway's master key, which receives from its nodes; or a node's.
    output : a folder for files that arrive.
    state : the gateway's record, by default next to its key.
    group : with a node's key: also the key file of its broadcast group.
    restored : the gateway's record comes from a backup: every node begins a new epoch first.
    """

    port: str
    line: SerialRadio
    key_file: Path
    output: Path = Path()
    state: Path | None = None
    group: Path | None = None
    restored: bool = False
    until: Until = field(default_factory=Until)


@dataclass(frozen=True)
class Received:
    """A message or a file.

    Attributes
    ----------
    received_s : when its last byte came, in seconds since 1970.
    node : who sent it, or got it; None in the paper's modes.
    details : "receiving_ms", "received_bytes", or whether it is a "command".
    """

    content: bytes | FileReceived
    received_s: float
    node: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The same as JSON."""
        if isinstance(self.content, FileReceived):
            shown: dict[str, Any] = {"file": str(self.content.path), "bytes": self.content.length}
        else:
            shown = message_record(self.content)
        named = {} if self.node is None else {"node": self.node}
        return {**shown, **named, **self.details, "received": utc(self.received_s)}


@dataclass(frozen=True)
class ReceiveResult:
    """What has arrived.

    Attributes
    ----------
    items : messages and files. faults : what was damaged, or could not be kept.
    messages, forged, skipped_bytes : messages and parts of files; forged packets; bytes of no packet. None in
        the paper's modes.
    seconds : from the first item to the last.
    epoch_unconfirmed : nodes that have not confirmed their new epoch; None at a node.
    """

    mode: str
    items: int
    faults: int
    messages: int | None = None
    forged: int | None = None
    skipped_bytes: int | None = None
    seconds: float | None = None
    epoch_unconfirmed: tuple[int, ...] | None = None

    def document(self) -> dict[str, Any]:
        """The same as JSON, with what there is."""
        return {name: value for name, value in asdict(self).items() if value is not None or name == "seconds"}


def receive(
    request: ReceiveRequest,
    arrived: Callable[[Received], None],
    notice: Notice = lambda told: None,
    stop: Stop | None = None,
) -> ReceiveResult:
    """Receive until `request.until`, or until `stop` is asked; `arrived` gets each message and file once.

    A port that vanishes is waited for. InputError for a key, a port or a folder of no use; MotecryptError
    where the end's state cannot be kept.
    """
    need("link")
    stop = stop or Stop()
    line = request.line
    setup = line.setup(stop)
    make_folder(request.output)
    inbox = Inbox(arrived, notice)
    ending = Ending(inbox, request.until, LINGER_S)
    with ExitStack() as ends:
        end = _end(request, notice, ends)
        heard = _Heard(FileCollector(request.output), inbox, ending)
        talk = heard.talk(end, line.framing(request.port, notice))

        def opened(port: SerialPort) -> None:
            setup(port)
            talk.opened()

        feed = ending.noting(answering(talk))
        listen(request.port, line.baud, feed, stop, ending.over, notice, QUIET_S, setup=opened)
        return ReceiveResult(
            mode="safe",
            items=inbox.items,
            faults=inbox.faults,
            messages=heard.messages,
            forged=heard.forged,
            skipped_bytes=talk.skipped_bytes,
            seconds=inbox.seconds,
            epoch_unconfirmed=heard.epoch_unconfirmed,
        )


def _end(request: ReceiveRequest, notice: Notice, ends: ExitStack) -> LinkEnd:
    """The end of the link that the key file is for."""
    path, line, group = request.key_file, request.line, request.group
    if link_end(path) == "node":
        if request.restored or request.state is not None:
            raise InputError(f"--restored, --state: {path} is a node's key; use them with a gateway's key")
        node = line.node(path, ends)
        if group is None:
            return node
        if link_end(group) == "node":
            return MemberNode(node, line.node(group, ends))
    elif group is None:
        gateway = line.gateway(path, request.state, ends)
        line.check_all(gateway, request.restored, notice)
        return gateway
    raise InputError("--group: --key must be a node's key, and --group that of a member of the group")


class Inbox:
    """Hands on what arrives, and counts it."""

    def __init__(
        self, arrived: Callable[[Received], None], notice: Notice, clock: Callable[[], float] = time.time
    ) -> None:
        self._arrived, self.notice, self.clock = arrived, notice, clock
        self.items = 0
        self.faults = 0
        self._first: float | None = None
        self._last = 0.0

    def item(
        self, content: bytes | FileReceived, at: float | None = None, node: int | None = None, **details: Any
    ) -> None:
        """Something is there; `at` is when its last byte arrived, now if not given."""
        self.items += 1
        self._last = self.clock() if at is None else at
        self._first = self._last if self._first is None else self._first
        self._arrived(Received(content, self._last, node, details))

    def fault(self, what: str) -> None:
        """Something was damaged or could not be kept."""
        self.faults += 1
        self.notice(what)

    @property
    def seconds(self) -> float | None:
        """From the first item to the last."""
        return None if self._first is None else round(self._last - self._first, 3)


class Ending:
    """When to end by oneself. With a count and `linger_s`, only once the sender is quiet: it may not have
    received that its last message was accepted, and ask again."""

    def __init__(self, inbox: Inbox, until: Until, linger_s: float = 0.0) -> None:
        self._inbox, self._count, self._linger_s = inbox, until.count, linger_s
        self._end = None if until.seconds is None else time.monotonic() + until.seconds
        self._heard = time.monotonic()
        self._reached: float | None = None

    @property
    def closing(self) -> bool:
        """Whether the count is reached: no new message is taken any more."""
        return self._count is not None and self._inbox.items >= self._count

    def noting(self, feed: Callable[[bytes, float], bytes]) -> Callable[[bytes, float], bytes]:
        """The same feed, which also notes when something came."""

        def noted(data: bytes, at_us: float) -> bytes:
            if data:
                self._heard = time.monotonic()
            return feed(data, at_us)

        return noted

    def over(self) -> bool:
        """Whether the end has come."""
        now = time.monotonic()
        if self.closing:
            if self._reached is None:
                self._reached = now
            return now - self._heard >= self._linger_s or now - self._reached >= LINGER_MAX_S
        return self._end is not None and now >= self._end


class _Heard:
    """What the link delivers: messages are handed on, files are collected, the rest is counted."""

    def __init__(self, collector: FileCollector, inbox: Inbox, ending: Ending) -> None:
        self._collector, self._inbox, self._ending = collector, inbox, ending
        self._bound: set[int] = set()
        self._gateway: Gateway | None = None
        self._begun: dict[int, float] = {}
        self.messages = 0
        self.forged = 0

    @property
    def epoch_unconfirmed(self) -> tuple[int, ...] | None:
        """The nodes that have not confirmed their new epoch; None at a node."""
        return None if self._gateway is None else self._gateway.epoch_unconfirmed

    def talk(self, end: LinkEnd, framing: PortFraming) -> Talk:
        """That end with these ears."""
        self._gateway = end if isinstance(end, Gateway) else None
        return Talk(end, framing, lambda messages: [*map(self._take, messages)], self._happened)

    def _take(self, message: NodeMessage) -> bool:
        if self._ending.closing:
            return False
        if message.event is Event.FILE_PART:
            try:
                file = self._collector.take(message.node, message.content)
            except MotecryptError as error:
                self._inbox.fault(str(error))
                return False
            now = self._inbox.clock()
            if message.content[:1] == bytes([ANNOUNCEMENT]):
                self._begun[message.node] = now
            begun = self._begun.setdefault(message.node, now)
            if file is not None:
                del self._begun[message.node]
                self._inbox.item(file, now, message.node, receiving_ms=round(1000 * (now - begun), 3))
        else:
            details = {"command": True} if message.event is Event.COMMANDED else {}
            self._inbox.item(message.content, node=message.node, **details)
        self.messages += 1
        return True

    def _happened(self, told: NodeEvent) -> None:
        if told.event is Event.FORGED:
            self.forged += 1
        elif told.event is Event.BOUND and told.node not in self._bound:
            self._bound.add(told.node)
            self._inbox.notice(
                f"{called(told.node)}: too many of its short packets were forged; only long ones are accepted"
            )
        elif told.event is Event.RENEWED:
            what = "its gateway began a new epoch" if self._gateway is None else "confirmed its new epoch"
            self._inbox.notice(f"node {told.node}: {what}")
