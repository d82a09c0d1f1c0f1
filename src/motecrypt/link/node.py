"""A node's end of the link on a computer: the core, with its key and counters in one file (docs/link.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link.native import (
    BROADCAST,
    GATEWAY,
    NODE_BITS,
    STORAGE_BYTES,
    SUITES,
    Event,
    NativeLink,
    Suite,
    link_library,
    open_library,
)
from motecrypt.link.state import Store, close_store, pack, unpack
from motecrypt.link.told import TAKEN, HandOver, NodeEvent, NodeMessage


def node_record(suite: Suite, storage: bytes) -> bytes:
    """What a node's key file holds at first: its suite, and the storage that `Gateway.provision` made."""
    return pack("node", {"suite": suite, "storage": storage.hex()})


class HostNode:
    """A node whose storage is a record in a file. Nothing leaves before the state that it needs is kept.

    Or a member of a broadcast group: it only receives.

    Parameters
    ----------
    store : Store
        Holds what `node_record` made.
    answer_ms : int
        How long an answer may take.

    Raises
    ------
    InputError
        There is no record, it is damaged, or it is a gateway's end.
    """

    def __init__(self, store: Store, answer_ms: int = 250) -> None:
        record = store.read()
        if record is None:
            raise InputError("no such key file of a node; 'motecrypt key FILE --node N' makes one")
        try:
            content = unpack("node", record)
            suite, storage = content["suite"], bytes.fromhex(content["storage"])
            if suite not in SUITES or len(storage) != STORAGE_BYTES:
                raise ValueError
        except (ValueError, KeyError, TypeError):
            raise _damaged() from None
        self._store, self._suite, self._durable = store, suite, storage
        self._link = NativeLink(open_library(link_library(suite)), answer_ms)
        if self._link.begin(storage) is not Event.NOTHING:
            raise _damaged()
        self.number, self.options, self.packet_bytes = self._link.head
        if self.options & GATEWAY:
            raise _damaged()
        self._packets: list[bytes] = []
        self._events: list[NodeEvent] = []

    def close(self) -> None:
        """Let another program have the key file."""
        close_store(self._store)

    def _commit(self) -> None:
        """Write what has changed; when that fails, forget it."""
        if self._link.stored:
            try:
                self._store.write(node_record(self._suite, self._link.storage))
            except (MotecryptError, OSError):
                self._link.packets()
                self._link.begin(self._durable)
                self._link.stored = False
                raise
            self._durable, self._link.stored = self._link.storage, False
        self._packets += [self._link.on_line(packet) for packet in self._link.packets()]

    def send(self, message: bytes, how: int = 0) -> Event:
        """Send a message to the gateway; `take_packets` has its packets, `take_events` its outcome."""
        event = self._link.send(message, how)
        self._commit()
        return event

    def receive(
        self, packets: Iterable[bytes], hand_over: HandOver, astray: Callable[[], None] = lambda: None
    ) -> None:
        """Take packets as they come; as `Gateway.receive`."""
        for packet in packets:
            if not packet or packet[0] & NODE_BITS != self.number:
                astray()
                continue
            event = self._link.receive(packet)
            if event is Event.STORAGE:
                raise MotecryptError(f"node {self.number}: its state cannot be stored")
            self._commit()
            if event in TAKEN:
                (verdict,) = hand_over([NodeMessage(self.number, self._link.message(), event)])
                self._link.answer(verdict)
                self._commit()
            elif event is not Event.NOTHING:
                self._events.append(NodeEvent(self.number, event))
                if event is Event.FORGED:
                    astray()

    def at(self, now_ms: int) -> None:
        """Set the clock, before a message is sent or packets are taken."""
        self._link.at(now_ms)

    def poll(self, now_ms: int) -> None:
        """Send again what was not answered in time; call it often."""
        event = self._link.poll(now_ms)
        if event is not Event.NOTHING:
            self._events.append(NodeEvent(self.number, event))
        self._commit()

    def take_events(self) -> list[NodeEvent]:
        """What has happened since the last call."""
        events, self._events = self._events, []
        return events

    def take_packets(self) -> list[bytes]:
        """What is to be sent."""
        packets, self._packets = self._packets, []
        return packets


class MemberNode:
    """A node that is in the broadcast group, too: two ends behind one radio.

    Raises
    ------
    InputError
        The first is a group's end, or the second is none.
    """

    def __init__(self, node: HostNode, group: HostNode) -> None:
        if node.number == BROADCAST or group.number != BROADCAST:
            raise InputError("one key file of a node and one of the group are needed")
        self._node, self._group = node, group

    def receive(
        self, packets: Iterable[bytes], hand_over: HandOver, astray: Callable[[], None] = lambda: None
    ) -> None:
        """Take packets as they come; as `Gateway.receive`."""
        for packet in packets:
            end = self._group if packet and packet[0] & NODE_BITS == BROADCAST else self._node
            end.receive([packet], hand_over, astray)

    def at(self, now_ms: int) -> None:
        """Set the clock, before a message is sent or packets are taken."""
        self._node.at(now_ms)

    def poll(self, now_ms: int) -> None:
        """Send again what was not answered in time; call it often."""
        self._node.poll(now_ms)

    def take_events(self) -> list[NodeEvent]:
        """What has happened since the last call."""
        return [*self._node.take_events(), *self._group.take_events()]

    def take_packets(self) -> list[bytes]:
        """What is to be sent."""
        return self._node.take_packets()


def _damaged() -> InputError:
    return InputError(
        "the node's key file is damaged; refusing to guess; "
        "give it a new one with 'motecrypt key FILE --node N --replace'"
    )
