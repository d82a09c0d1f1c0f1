"""The gateway's side of the link, version 2 (docs/link.md): its nodes, their state on disk, their messages.

The core decides (toolchain/link.py); this keeps files and order. Nothing leaves before the state that it
needs is on the disk: claims are written once for many messages, then these are handed over, then answered.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link.native import (
    BOTH_WAYS,
    BROADCAST,
    EPOCH_RANDOM_BITS,
    GATEWAY,
    KEY_BYTES,
    NODE_BITS,
    RESTORED_BYTES,
    STORAGE_BYTES,
    VERSION_2_0,
    Event,
    KeyBlock,
    NativeLink,
    Restored,
    Suite,
    link_library,
    node_key,
    open_library,
)
from motecrypt.link.record import GENERATION_MAX, NUMBER_MAX, NodesRecord
from motecrypt.link.state import Store, close_store
from motecrypt.link.told import OUTCOMES, TAKEN, HandOver, NodeEntry, NodeEvent, NodeMessage

_KEY_AT = slice(8, 24)
SALTS = 2**16
RESTORED_SKIPS = 64
"""Generations that are not used after a backup: nodes may have got them, and named messages by them."""
EVENTS_MAX = 10_000
"""Kept until they are taken; with more of them the oldest go, so that forgers fill no memory."""


class Gateway:
    """A gateway with up to 63 nodes and a broadcast group.

    Parameters
    ----------
    store : Store
        Where the nodes' keys and counters are kept. A record of another master key is refused.
    master : bytes
        The gateway's master key, 16 bytes, from which each node's key comes.
    packet_bytes : int
        The radio's packet length.
    answer_ms : int
        How long an answer may take.
    together : bool
        Whether what takes messages writes them through the store, so that they and the record that claims
        them are kept by one `Store.write`: then they are handed over before it, else after it.

    Raises
    ------
    InputError
        The record is damaged, or another master's.
    """

    def __init__(
        self,
        store: Store,
        master: bytes,
        suite: Suite = "aes128-ccm",
        packet_bytes: int = 12,
        answer_ms: int = 250,
        together: bool = False,
    ) -> None:
        if len(master) != KEY_BYTES:
            raise InputError(f"a master key of {len(master)} bytes; the link takes 16")
        self._store, self._master, self.suite = store, master, suite
        self._packet_bytes, self._answer_ms, self._together = packet_bytes, answer_ms, together
        self._library = open_library(link_library(suite))
        self._links: dict[int, NativeLink] = {}
        self._generations: dict[int, int] = {}
        self._durable: dict[int, bytes] = {}
        self._renewing: dict[int, int] = {}
        self._took: dict[int, tuple[int, int]] = {}  # epoch and counter of the last message taken
        self._spent = 0  # every node may have had generations up to this one
        self._restored: Restored = 0  # of the last restoration, which is in the keys made since
        self._made: dict[int, Restored] = {}  # that of each node's keys, where it is not 0
        self._changed = False  # a node became void or generations were skipped: not in the record yet
        self.extra: dict[str, Any] = {}  # what a subclass keeps in the record, too
        self._packets: list[bytes] = []
        self._events: deque[NodeEvent] = deque(maxlen=EVENTS_MAX)
        record = store.read()
        if record is not None:
            self._load(record)

    def close(self) -> None:
        """Let another program have the record, if a file holds it."""
        close_store(self._store)

    # --- the record

    def _name(self) -> str:
        return hashlib.sha256(b"motecrypt gateway" + self.suite.encode() + self._master).hexdigest()[:16]

    def _refused(self, why: str) -> InputError:
        path = getattr(self._store, "path", None)
        return InputError((f"state file {path}: " if path else "") + f"the gateway's record {why}")

    def _damaged(self) -> InputError:
        return self._refused("is damaged; refusing to guess; restore a backup and begin new epochs")

    def _load(self, record: bytes) -> None:
        try:
            kept = NodesRecord.decode(record)
        except ValueError:
            raise self._damaged() from None
        if kept.master != self._name():
            raise self._refused("belongs to another master key; give this key its own record")
        self._made = dict(kept.made)
        for node, (generation, image, epoch) in kept.nodes.items():
            self._generations[node], self._durable[node] = generation, image
            if not image:
                continue  # void
            link = NativeLink(self._library, self._answer_ms)
            if len(image) != STORAGE_BYTES or image[_KEY_AT] != self._key(node, generation):
                raise self._damaged()
            if link.begin(image) is not Event.NOTHING:
                raise self._damaged()
            self._links[node] = link
            if epoch:
                self._renewing[node] = epoch
        self._took, self._spent, self._restored = dict(kept.took), kept.spent, kept.restored
        for node in self._links:
            self._remind(node)

    def _remind(self, node: int) -> None:
        """After its link has begun: the message that was taken last, so that its answer stays the same."""
        link, (epoch, counter) = self._links[node], self._took.get(node, (-1, 0))
        if epoch == link.epoch:
            link.took(counter)

    def _commit(
        self,
        hand_over: Callable[[], None] | None = None,
        nodes: Iterable[int] = (),
        sent: int | None = None,
    ) -> None:
        """Write what has changed; when that fails, forget it: nothing is accepted that is not kept.

        `hand_over` writes more through the store, messages of those nodes, which its one write then keeps
        with the record. Messages that wait get an outcome, except one to the node `sent`, of which the
        caller learns.
        """
        changed = [node for node, link in self._links.items() if link.stored]
        if not changed and not self._changed and hand_over is None:
            return
        durable = self._durable | {node: self._links[node].storage for node in changed}
        took = dict(self._took)
        try:
            if hand_over is not None:
                hand_over()
            nodes_kept = {
                node: (self._generations[node], image, self._renewing.get(node, 0))
                for node, image in durable.items()
            }
            record = NodesRecord(
                self._name(), nodes_kept, self._took, self._spent, self._restored, self._made
            )
            self._store.write(record.encode(self.extra))
        except (MotecryptError, OSError):
            self._took = took
            for node in {*changed, *nodes}:
                link = self._links[node]
                link.packets()
                if self._durable.get(node):
                    if link.waiting and node != sent and node not in self._renewing:
                        self._events.append(NodeEvent(node, Event.UNCONFIRMED))
                    link.begin(self._durable[node])
                    link.stored = False
                    self._remind(node)
                else:  # new, or void until now
                    del self._links[node]
            raise
        self._durable, self._changed = durable, False
        for node in changed:
            self._links[node].stored = False

    def _key(self, node: int, generation: int) -> bytes:
        return node_key(self.suite, self._master, node, generation, self._made.get(node, 0))

    # --- nodes

    @property
    def nodes(self) -> tuple[int, ...]:
        """The numbers that were provisioned."""
        return tuple(sorted(self._links))

    @property
    def epoch_unconfirmed(self) -> tuple[int, ...]:
        """The nodes that have not confirmed their new epoch: what they send under an old one is refused."""
        return tuple(sorted(self._renewing))

    def registry(self) -> tuple[NodeEntry, ...]:
        """Every number that was ever given out."""
        entries = []
        for node, generation in sorted(self._generations.items()):
            image = self._durable[node]
            if image:
                old = node in self._renewing
                entries.append(
                    NodeEntry(node, generation, image[2] & ~GATEWAY, image[3], epoch_unconfirmed=old)
                )
            else:
                entries.append(NodeEntry(node, generation, void=True))
        return tuple(entries)

    def provision(self, node: int, options: int = BOTH_WAYS) -> bytes:
        """New keys for a node number, in its next generation; what an earlier node of it has is void.

        Returns
        -------
        bytes
            The node's storage, to be written into it once and never again.
        """
        generation = max(self._generations.get(node, 0), self._spent) + 1
        if generation > GENERATION_MAX:
            other = "make another master key" if self._spent == GENERATION_MAX else "give it another number"
            raise InputError(f"node {node}: all its generations of keys are used; {other}")
        key = node_key(self.suite, self._master, node, generation, self._restored)
        block = KeyBlock(node, options & ~GATEWAY, self._packet_bytes, generation, key)
        end = NativeLink(self._library)
        end.provision(block)
        link = NativeLink(self._library, self._answer_ms)
        link.provision(KeyBlock(node, options | GATEWAY, self._packet_bytes, generation, block.key))
        if link.begin() is not Event.NOTHING:
            raise MotecryptError(f"node {node}: its link does not start")
        link_before, generation_before = self._links.get(node), self._generations.get(node)
        made_before = self._made.get(node, 0)
        self._made[node] = self._restored
        self._links[node], self._generations[node] = link, generation
        offer_before, took_before = self._renewing.pop(node, None), self._took.pop(node, None)
        try:
            self._commit()
        except (MotecryptError, OSError):
            self._made[node] = made_before
            if offer_before is not None:
                self._renewing[node] = offer_before
            if took_before is not None:
                self._took[node] = took_before
            if link_before is not None:
                self._links[node] = link_before
            if generation_before is None:
                del self._generations[node]
            else:
                self._generations[node] = generation_before
            raise
        return end.storage

    def member(self) -> bytes:
        """One more member of the existing broadcast group, under its key.

        Returns
        -------
        bytes
            The member's storage, which takes nothing that the group was sent before.

        Raises
        ------
        InputError
            There is no group yet.
        """
        link = self._links.get(BROADCAST)
        if link is None:
            raise InputError("there is no group yet; provision it first, without --member")
        link.begin(link.storage)  # what was claimed and not used is given up: the next one is known
        _, options, packet_bytes = link.head
        generation = self._generations[BROADCAST]
        end = NativeLink(self._library)
        key = self._key(BROADCAST, generation)
        end.provision(
            KeyBlock(BROADCAST, options & ~GATEWAY, packet_bytes, generation, key), takes_from=link.claimed
        )
        return end.storage

    def restored(self, now_s: int) -> tuple[int, ...]:
        """The record came from a backup: every node begins a new epoch before anything else is sent to it.

        Keys that were provisioned since the backup are not in the record. The next ones contain random bytes
        of this call, so that they are other keys.

        Parameters
        ----------
        now_s : int
            Seconds since 1970. For nodes of version 2.0 of the link, an epoch is above that time.

        Returns
        -------
        tuple of int
            Nodes that cannot be reported, since they do not listen, and the broadcast group: void until they
            are provisioned again.
        """
        void = []
        given = max(self._spent, *self._generations.values(), 0)
        self._restored = secrets.token_bytes(RESTORED_BYTES)
        self._spent, self._changed = min(given + RESTORED_SKIPS, GENERATION_MAX), True
        for node, link in list(self._links.items()):
            if self._offer(node, link, now_s, node in self._renewing):
                self._durable[node] = link.storage  # counters of the backup may have been used
            else:
                void.append(node)
                del self._links[node]
                self._durable[node] = b""
        self._commit()
        self._gather(self._links.values())
        return tuple(void)

    def _offer(self, node: int, link: NativeLink, now_s: int = 0, again: bool = False) -> bool:
        """Begin the next epoch of a node; False where it cannot be notified or has no further epoch.

        If the epoch before was not confirmed (`again`), the next one has the same number: no number is more
        than one above the node's, so that an offer that was held back is refused later.
        """
        number, salt = (link.epoch >> EPOCH_RANDOM_BITS) + 1, link.generation
        if link.version == VERSION_2_0:
            number = max(number, (now_s >> EPOCH_RANDOM_BITS) + 1)
        else:
            salt = (salt + 1 + secrets.randbelow(SALTS - 1)) % SALTS  # any but the generation
            if again:
                number -= 1
                _, options, packet_bytes = link.head
                key = self._key(node, link.generation)
                link.provision(KeyBlock(node, options, packet_bytes, link.generation, key))
                link.begin()  # so that the other random bits need not be greater
        epoch = (number << EPOCH_RANDOM_BITS) + secrets.randbits(EPOCH_RANDOM_BITS)
        event = link.renew(epoch, salt) if epoch <= NUMBER_MAX else Event.TOO_LONG
        if event is Event.WAITING:
            self._renewing[node] = epoch
        elif event is not Event.TOO_LONG:
            raise MotecryptError(f"node {node}: its new epoch cannot be stored")
        return event is Event.WAITING

    def head(self, node: int) -> tuple[int, int]:
        """Options and packet length of a node; InputError where there is none of that number."""
        return self._link(node).head[1:]

    def _link(self, node: int) -> NativeLink:
        link = self._links.get(node)
        if link is None:
            raise InputError(f"{'the group' if node == BROADCAST else f'node {node}'}: not provisioned")
        return link

    # --- messages

    def send(self, node: int, message: bytes, how: int = 0) -> Event:
        """Send a message to a node; `take_packets` has its packets, `take_events` its outcome.

        Raises
        ------
        InputError
            No such node.
        """
        link = self._link(node)
        if node in self._renewing:
            return Event.BUSY
        event = link.send(message, how)
        self._commit(sent=node)
        self._gather([link])
        return event

    def receive(
        self, packets: Iterable[bytes], hand_over: HandOver, astray: Callable[[], None] = lambda: None
    ) -> None:
        """Take packets as they come, in any number: one write for all the messages in them.

        `astray` is called after a packet that is none of ours or forged, before the next one is asked for.
        """
        taken: list[tuple[NativeLink, NodeMessage, bool]] = []
        verdicts: list[bool] = []
        asked: set[int] = set()  # nodes whose link holds a message until it is answered

        def handed_over() -> None:
            verdicts.extend(hand_over([message for _, message, _ in taken]))
            for (_, message, wants_answer), verdict in zip(taken, verdicts, strict=True):
                if wants_answer and verdict and self._together:
                    self._took[message.node] = (message.epoch, message.counter)

        def settle() -> None:
            if self._together and taken:
                self._commit(handed_over, (message.node for _, message, _ in taken))
            else:
                self._commit()
                if taken:
                    handed_over()
            for (link, _, wants_answer), verdict in zip(taken, verdicts, strict=True):
                if wants_answer:
                    link.answer(verdict)
            self._commit()
            self._gather(self._links.values())
            taken.clear()
            asked.clear()
            verdicts.clear()

        for packet in packets:
            node = packet[0] & NODE_BITS if packet else BROADCAST
            link = self._links.get(node)
            if link is None or node == BROADCAST:
                astray()
                continue
            if node in asked:
                settle()
            event = link.receive(packet)
            if event in TAKEN:
                message = NodeMessage(
                    node=node,
                    content=link.message(),
                    event=event,
                    generation=link.generation,
                    epoch=link.epoch,
                    counter=link.counter,
                )
                taken.append((link, message, link.asked))
                if link.asked:
                    asked.add(node)
                if node in self._renewing:
                    link.forget()  # the offer, which was answered
                    self._confirmed(node)
            elif event is Event.STORAGE:
                raise MotecryptError(f"node {node}: its state cannot be stored")
            elif event is not Event.NOTHING:
                self._happened(node, event)
                if event is Event.FORGED:
                    astray()
        settle()

    def at(self, now_ms: int) -> None:
        """Set the clock, before a message is sent or packets are taken."""
        for link in self._links.values():
            link.at(now_ms)

    def poll(self, now_ms: int) -> None:
        """Send again what was not answered in time; call it often."""
        for node, link in self._links.items():
            if node in self._renewing and not link.waiting:
                link.renew(self._renewing[node], link.salt)
            event = link.poll(now_ms)
            if event is not Event.NOTHING:
                self._happened(node, event)
        self._commit()
        self._gather(self._links.values())

    def _happened(self, node: int, event: Event) -> None:
        if node in self._renewing and event in OUTCOMES:
            if event is Event.ACCEPTED:
                self._confirmed(node)
                self._links[node].stored = True
            elif event is Event.REFUSED:  # it has met another restoration, whose epoch is not below ours
                self._offer(node, self._links[node])
            return  # the link's own message, which is sent until it is accepted
        self._events.append(NodeEvent(node, event))

    def _confirmed(self, node: int) -> None:
        del self._renewing[node]
        self._events.append(NodeEvent(node, Event.RENEWED))

    def _gather(self, links: Iterable[NativeLink]) -> None:
        for link in links:
            self._packets += [link.on_line(packet) for packet in link.packets()]

    def take_events(self) -> list[NodeEvent]:
        """What has happened since the last call."""
        events = list(self._events)
        self._events.clear()
        return events

    def take_packets(self) -> list[bytes]:
        """What is to be sent."""
        packets, self._packets = self._packets, []
        return packets
