"""The loop of the gateway: packets in, one transaction for what they bring, answers out. One thread.

Nothing in it waits for a sink: those have threads of their own, which read the spool and report their
progress.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link.file_parts import FileCollector
from motecrypt.link.gateway.admission import Admission
from motecrypt.link.gateway.bare import MESSAGE_MAX, BareNode
from motecrypt.link.gateway.changes import Changes
from motecrypt.link.gateway.clock import LoopClock
from motecrypt.link.gateway.control import ControlSocket
from motecrypt.link.gateway.drain import Drain
from motecrypt.link.gateway.guard import SpoolGuard
from motecrypt.link.gateway.items import Item, Kind
from motecrypt.link.gateway.lines import Line, Routes
from motecrypt.link.gateway.notices import NodeNotices
from motecrypt.link.gateway.operated import OperatedGateway
from motecrypt.link.gateway.orders import GROUP, Order, Outbox, Told, order_of, read_order
from motecrypt.link.gateway.protocols import NodeProtocol, ProtocolThread
from motecrypt.link.gateway.queues import SharedQueue
from motecrypt.link.gateway.spool import Spool
from motecrypt.link.gateway.statistics import statistics
from motecrypt.link.gateway.tally import GatewayTally, NodeTally
from motecrypt.link.native import COMMAND, CONFIRMED, LISTENS, NODE_BITS, Event, message_bytes_max
from motecrypt.link.ports.signals import Stop, close_all
from motecrypt.link.told import OUTCOMES, NodeMessage

ANSWER_KIND = 0xC0
"""The upper two bits of an answer's first byte: it needs no space in the spool, so it always passes."""
POLL_S, QUIET_S = 0.02, 0.1
TIDY_S = 0.25
END_S = 5.0
"""How long sinks may continue when the gateway ends; what they have not taken waits for the next start."""
INBOX_MAX = 20
"""Orders of one source for one node that wait for the next turn of the loop."""
BROKER = "broker"
"""The source of orders that come through a sink."""
_HOW = {"command": CONFIRMED | COMMAND, "message": CONFIRMED, "unconfirmed": 0}


class GatewayService:
    """A gateway behind its ports, with a spool and sinks.

    Parameters
    ----------
    gateway : OperatedGateway
        Over the spool, `together`.
    lines : sequence of Line
        The open ports.
    collector : FileCollector, optional
        `keeping`; without it files are refused.
    node_rate : float
        Messages a second that one node may send, on average over `tally.BURST_S`.
    outcome_s : float
        How long the link may take for one message down, at most.
    notice : callable
        Gets one line for the user.
    clock : LoopClock, optional
        Another time than this computer's.
    """

    def __init__(
        self,
        gateway: OperatedGateway,
        spool: Spool,
        lines: Sequence[Line],
        collector: FileCollector | None,
        node_rate: float,
        outcome_s: float,
        notice: Callable[[str], None],
        clock: LoopClock | None = None,
    ) -> None:
        self._gateway, self._spool, self._lines, self._collector = gateway, spool, lines, collector
        self._rate, self._notice, self._clock = node_rate, notice, clock or LoopClock()
        self._of_node = NodeNotices(notice, self._clock.now_s)
        self._drains: list[Drain] = []
        self._control: ControlSocket | None = None
        self._outbox = Outbox(outcome_s)
        self._changes = Changes(
            gateway, self._outbox.flies, self._replaced, lambda: self._speakers, self.statistics
        )
        self._protocols: list[ProtocolThread] = []
        self._speakers: frozenset[int] = frozenset()
        self._bare: dict[int, BareNode] = {}
        self._inbox: SharedQueue[tuple[str, int], tuple[int, bytes, Told] | Order] = SharedQueue(INBOX_MAX)
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        weakref.finalize(self, close_all, self._wake_read, self._wake_write)
        self._tally = GatewayTally()
        self._admission = Admission(spool, self._tally)
        self._routes = Routes(lines)
        self._line: Line | None = None
        self._heard, self._bound = set[int](), set[int]()
        self._guarded = SpoolGuard(spool, self._tally, notice, self._clock)
        self._tidy_at = 0.0
        self._fresh: list[Item] = []
        self._over = False

    # --- what belongs to it

    def listen(self, control: ControlSocket) -> None:
        """Take orders and questions there, too."""
        self._control = control

    def start(self, drains: Sequence[Drain]) -> None:
        """Start the threads of the sinks."""
        self._drains = list(drains)
        for drain in drains:
            drain.start()

    def speak(
        self,
        protocols: Sequence[NodeProtocol],
        nodes: Collection[int],
        bare: Mapping[int, BareNode] | None = None,
    ) -> None:
        """Hand messages of these nodes to the protocol that they belong to, not to the sinks.

        Parameters
        ----------
        bare
            Those that are on the bare transport: their packets do not belong to the link.
        """
        self._bare = dict(bare or {})
        longest = {node: self._longest(node) for node in nodes} | dict.fromkeys(self._bare, MESSAGE_MAX)
        self._speakers = frozenset(nodes)
        self._protocols = [
            ProtocolThread(protocol, self.ordered, longest, self._notice) for protocol in protocols
        ]
        for thread in self._protocols:
            thread.start()

    def _longest(self, node: int) -> int:
        options, packet_bytes = self._gateway.head(node)
        return message_bytes_max(options, packet_bytes, CONFIRMED)

    def end(self) -> None:
        """End soon; from any thread."""
        self._over = True
        self._wake()

    def commanded(self, node: int, text: bytes, tell: Told) -> None:
        """An order in JSON from a sink's thread."""
        self._put((node, text, tell), (BROKER, node), tell)

    def ordered(self, order: Order) -> None:
        """An order from a protocol's thread."""
        self._put(order, (order.source, order.node), order.tell)

    def _put(self, order: tuple[int, bytes, Told] | Order, peer: tuple[str, int], tell: Told) -> None:
        if not self._inbox.put(peer, order):
            tell(
                {
                    "node": peer[1],
                    "outcome": "dropped",
                    "why": f"{INBOX_MAX} others wait already for this node",
                }
            )
        self._wake()

    def _wake(self) -> None:
        with suppress(BlockingIOError, OSError):
            os.write(self._wake_write, b"!")

    # --- the loop

    def run(self, stop: Stop, over: Callable[[], bool] = lambda: False) -> None:
        """Serve until a signal comes or `over` reports it; then end cleanly."""
        try:
            while not stop.asked and not self._over and not over():
                self.turn(stop)
        finally:
            self._finish()

    def turn(self, stop: Stop) -> None:
        """Wait for what comes next, and do it."""
        readable = self._wait(stop)
        now_s = self._clock.now_s()
        now_ms = int(now_s * 1000)
        self._heard.clear()
        for line in self._lines:
            line.reopen()
        heard = [line for line in self._lines if line.port is not None and line.port in readable]
        if not self._guarded.rests(now_s):
            self._guarded(lambda: self._hear(heard, now_ms, now_s))
            self._write()
            self._routes.came.clear()
            if not any(line.writing for line in self._lines):
                # While bytes are still queued here, no answer to them can be late.
                self._guarded(lambda: self._gateway.poll(now_ms))
        else:
            for line in heard:
                self._tally.resting += sum(1 for _ in line.heard(now_ms))
        self._take_events()
        self._take_orders(readable)
        self._send_orders(now_ms, now_s)
        self._write()
        self._renew(now_ms, now_s)
        if now_s >= self._tidy_at:
            self._tidy(now_s)

    def _wait(self, stop: Stop) -> list[Any]:
        writers: list[Any] = [line.port for line in self._lines if line.port is not None and line.writing]
        readers: list[Any] = [stop, self._wake_read, *(line.port for line in self._lines if line.port)]
        if self._control is not None:
            readers += self._control.readers()
            writers += self._control.writers()
        busy = self._outbox or self._changes or writers
        readable = self._clock.wait(readers, writers, POLL_S if busy else QUIET_S)
        if self._wake_read in readable:
            with suppress(BlockingIOError):
                os.read(self._wake_read, 4096)
        return readable

    # --- up

    def _hear(self, lines: Sequence[Line], now_ms: int, now_s: float) -> None:
        if not lines:
            return
        self._fresh.clear()
        if self._collector is not None:
            self._collector.forget()
        for thread in self._protocols:
            thread.forget()
        self._admission.begin(self._gateway.nodes)
        self._gateway.at(now_ms)
        self._gateway.receive(self._packets(lines, now_ms, now_s), self._keep, self._astray)
        self._count()
        for drain in self._drains:
            drain.wake()

    def _count(self) -> None:
        """What was put before is kept by now."""
        if self._collector is not None:
            self._collector.settled()
        for thread in self._protocols:
            thread.keep()
        for item in self._fresh:
            node, is_file = self._node(item.node), item.kind == "file"
            node.files, node.messages = node.files + is_file, node.messages + (not is_file)
            self._tally.files += is_file
            self._tally.messages += not is_file
        self._fresh.clear()

    def _packets(self, lines: Sequence[Line], now_ms: int, now_s: float) -> Iterator[bytes]:
        for line in lines:
            self._line = line
            for packet in line.heard(now_ms):
                node = packet[0] & NODE_BITS
                if node in self._bare:
                    self._hear_bare(node, packet, line, now_s)
                elif packet[0] & ANSWER_KIND == ANSWER_KIND or self._admission.lets_in(node, now_s):
                    self._routes.came[node] = line
                    yield packet

    def _hear_bare(self, node: int, packet: bytes, line: Line, now_s: float) -> None:
        """A packet on the bare transport. Nothing of it is kept on disk: CoAP repeats what is lost."""
        tally = self._node(node)
        if packet[0] != node or not tally.may(now_s):
            return
        heard = self._bare[node].take(packet)
        if heard.broken:
            self._tally.broken += 1
            line.slip()
        if not heard.message:
            return
        tally.allowed -= 1
        tally.last_ms = int(self._clock.utc_s() * 1000)
        self._routes.where[node] = line
        thread = next((each for each in self._protocols if each.speaks(heard.message)), None)
        if thread is not None:
            thread.offer(node, heard.message)

    def _astray(self) -> None:
        self._tally.astray += 1
        if self._line is not None:
            self._line.slip()

    def _keep(self, messages: Sequence[NodeMessage]) -> list[bool]:
        """Put what was received into the spool's transaction; of each, whether it is taken."""
        self._count()
        when_ms = int(self._clock.utc_s() * 1000)
        verdicts, items = [], []
        for message in messages:
            taken, item = self._take(message, when_ms)
            verdicts.append(taken)
            if item is not None:
                items.append(item)
        self._spool.put(items)
        self._fresh = items
        return verdicts

    def _take(self, message: NodeMessage, when_ms: int) -> tuple[bool, Item | None]:
        tally = self._node(message.node)
        tally.allowed, tally.last_ms = tally.allowed - 1, when_ms
        self._heard.add(message.node)
        self._outbox.heard(message.node)
        if message.node in self._routes.came:
            self._routes.where[message.node] = self._routes.came[message.node]
        content, length = message.content, len(message.content)
        kind: Kind = "message"
        if message.event is Event.FILE_PART:
            try:
                if self._collector is None:
                    raise MotecryptError(f"node {message.node}: sends a file; use --output to accept files")
                file = self._collector.take(message.node, message.content)
            except MotecryptError as error:
                self._tally.refused_parts += 1
                self._of_node(message.node, str(error))
                return False, None
            if file is None:
                return True, None
            content, length, kind = os.fsencode(file.path.absolute()), file.length, "file"
        elif (thread := self._protocol_of(message)) is not None:
            return thread.offer(message.node, content), None
        elif message.event is Event.COMMANDED:
            kind = "command"
        item = Item(
            node=message.node,
            generation=message.generation,
            epoch=message.epoch,
            counter=message.counter,
            kind=kind,
            received_ms=when_ms,
            content=content,
            length=length,
        )
        return True, item

    def _protocol_of(self, message: NodeMessage) -> ProtocolThread | None:
        if message.node not in self._speakers:
            return None
        return next((thread for thread in self._protocols if thread.speaks(message.content)), None)

    def _node(self, node: int) -> NodeTally:
        if node not in self._tally.nodes:
            self._tally.nodes[node] = NodeTally(self._rate, self._clock.now_s())
        return self._tally.nodes[node]

    def _take_events(self) -> None:
        for told in self._gateway.take_events():
            if told.event in OUTCOMES:
                self._outbox.outcome(told.node, told.event.name.lower())
            elif told.event is Event.FORGED:
                self._node(told.node).forged += 1
            elif told.event is Event.BOUND and told.node not in self._bound:
                self._bound.add(told.node)
                self._notice(
                    f"node {told.node}: too many of its short packets were forged; only long ones are "
                    f"accepted"
                )
            elif told.event is Event.RENEWED:
                self._notice(f"node {told.node}: confirmed its new epoch")
                self._changes.confirmed(told.node)

    # --- down

    def _take_orders(self, readable: list[Any]) -> None:
        if self._control is not None:
            self._control.turn(readable, self._asked)
        while (got := self._inbox.get()) is not None:
            given = got[1]
            if isinstance(given, Order):
                self._outbox.add(given, self._clock.now_s())
                continue
            node, text, tell = given
            try:
                self._outbox.add(read_order(node, text, tell, BROKER), self._clock.now_s())
            except InputError as error:
                self._tally.bad_orders += 1
                tell({"node": node, "outcome": "dropped", "why": str(error)})

    def _asked(self, request: dict[str, Any], tell: Told) -> None:
        if request == {"statistics": True}:
            tell(self.statistics())
            return
        if self._changes.concern(request):
            self._guarded(lambda: self._changes.take(request, tell, self._clock.now_s()))
            return
        node = request.pop("node", None)
        self._outbox.add(order_of(node, request, tell, "socket"), self._clock.now_s())

    def _renew(self, now_ms: int, now_s: float) -> None:
        """After answers were written: the node is to have the one to its last message before a new epoch."""
        if self._changes and not self._guarded.rests(now_s) and not any(line.writing for line in self._lines):
            self._gateway.at(now_ms)
            self._guarded(lambda: self._changes.turn(self._heard, now_s))
            self._write()

    def _replaced(self, node: int) -> None:
        """A node has new keys: nothing more comes from the earlier one, and the new one may be elsewhere."""
        self._outbox.outcome(node, "unconfirmed")
        self._routes.where.pop(node, None)
        self._bound.discard(node)

    def _send_orders(self, now_ms: int, now_s: float) -> None:
        self._outbox.expire(now_s)
        if self._guarded.rests(now_s):
            return
        heard = {*self._routes.where, *self._bare}
        for order in self._outbox.next(heard.__contains__, now_s, self._routes.free):
            self._guarded(lambda: self._send(order, now_ms, now_s))  # noqa: B023 - called at once

    def _send(self, order: Order, now_ms: int, now_s: float) -> None:
        if order.node in self._bare:
            self._send_bare(order)
            return
        try:
            options, _ = self._gateway.head(order.node)
        except InputError as error:
            self._outbox.over(order, "dropped", str(error))
            return
        if (order.node == GROUP or not options & LISTENS) and order.way != "unconfirmed":
            self._outbox.over(order, "dropped", f"node {order.node}: does not receive")
            return
        self._gateway.at(now_ms)
        told = self._gateway.send(order.node, order.content, _HOW[order.way])
        if told is Event.WAITING:
            self._outbox.flying(order, now_s)
        else:
            self._outbox.over(order, told.name.lower().replace("_", " "))

    def _send_bare(self, order: Order) -> None:
        if order.way != "unconfirmed":
            self._outbox.over(order, "dropped", f"node {order.node}: speaks CoAP on the bare transport only")
            return
        try:
            packets = self._bare[order.node].packets(order.content)
        except InputError as error:
            self._outbox.over(order, "dropped", str(error))
            return
        for packet in packets:
            self._routes.say(packet)
        self._outbox.over(order, "sent")

    def _route(self) -> None:
        for packet in self._gateway.take_packets():
            self._routes.say(packet)

    def _write(self) -> None:
        self._route()
        for line in self._lines:
            line.write()

    # --- the spool and the sinks

    def _tidy(self, now_s: float) -> None:
        self._tidy_at = now_s + TIDY_S
        for drain in self._drains:
            self._spool.mark(drain.sink.name, drain.done)
        if not self._guarded.rests(now_s):
            self._guarded(self._spool.tidy)

    def _finish(self) -> None:
        """Let the last answers leave, sinks come to an end, and keep how far they are."""
        self._outbox.close()
        self._changes.close()
        end = self._clock.now_s() + 1.0
        while any(line.writing for line in self._lines) and self._clock.now_s() < end:
            self._clock.wait([], [line.port for line in self._lines if line.port and line.writing], 0.05)
            for line in self._lines:
                line.write()
        for line in self._lines:
            line.close()
        end = self._clock.now_s() + END_S
        last = self._spool.last()
        while self._clock.now_s() < end and any(
            drain.is_alive() and not drain.trouble and drain.done < last for drain in self._drains
        ):
            self._clock.wait([], [], 0.02)
        threads: list[Drain | ProtocolThread] = [*self._drains, *self._protocols]
        for thread in threads:
            thread.stop()
        for thread in threads:
            thread.join(max(0.1, end - self._clock.now_s()))
        if self._control is not None:
            self._control.close()
        self._guarded.until_s = 0.0
        self._tidy(self._clock.now_s())

    def statistics(self) -> dict[str, Any]:
        """What happened since the start: docs/gateway.md has the fields."""
        refused = 0 if self._control is None else self._control.refused
        orders = {**self._outbox.told, "malformed": self._tally.bad_orders + refused}
        told = statistics(self._tally, self._spool, self._drains, self._protocols, orders, self._lines)
        return {**told, "epoch_unconfirmed": list(self._gateway.epoch_unconfirmed)}
