"""Two nodes, their gateway, an air that loses packets, and somebody who means harm, in virtual time.

Nothing here knows how the link works: it sends messages that are all different, carries packets, takes power
away, and counts what must never happen.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from random import Random

from link_ports import FaultyLink, PowerLostError
from motecrypt.link.native import (
    COMMAND,
    CONFIRMED,
    EPOCH_RANDOM_BITS,
    GATEWAY,
    LISTENS,
    LONG,
    SHORT,
    STREAM,
    Event,
    KeyBlock,
    Suite,
)

TAKEN = (Event.MESSAGE, Event.COMMANDED, Event.FILE_PART)
FILE = 0x30
"""How a part of a file is sent."""
ANSWER_MS = 100
LONG_KINDS = 0x80
"""First bytes of packets below this are those of short ones."""
PACKET_BYTES = 16
SHORT_BYTES = PACKET_BYTES - 6
RECORDED = 4000
NEWEST = 60
DEAD = (Event.NO_KEY, Event.NO_STATE)
MISHAPS = {
    "restart": 0.01,
    "power cut": 0.01,
    "flipped bit": 0.006,
    "worn cells": 0.002,
    "both copies": 0.006,
    "key change": 0.0003,
    "backup": 0.003,
    "restore": 0.001,
    "full disk": 0.002,
    "outage": 0.0005,
    "forger": 0.0002,
    "flood": 0.002,
    "foreign counters": 0.0006,
    "erased counters": 0.0006,
}
"""How often, for each message."""
KEY_BYTES, SLOT_BYTES = 28, 20
"""What the key takes of storage, and each record behind it (docs/link.md, Storage)."""
SEND_AT, SEND_BLOCK = 8, 64
"""Where a record has the number of its send counters, and how many are reserved at once."""
BOUND = 4096
"""Wrong short tags that a key bears."""
ANSWERS = 32
"""Answers in a row to packets that bring nothing new."""
FRESH = 16
"""Messages of its receiver that a command lives for."""
ODD_BLOCKS = ((0, 1), (0, 4), (1, 64), (3, 11))
"""Places of a key block, and what is wrong there: the version, the number, the packets' length."""


@dataclass
class Wrong:
    """What must never happen, and the first cases."""

    forged: int = 0
    doubled: int = 0
    counters_reused: int = 0
    accepted_without_delivery: int = 0
    stale_commands: int = 0
    """Handed over after more than their life, or from before the receiver's start."""
    unasked_commands: int = 0
    """Handed over, though another one was that named the same message of their receiver."""
    out_of_step: int = 0
    """Genuine short packets, told as forged."""
    unbounded: int = 0
    """Wrong short tags, tried beyond the bound."""
    amplified: int = 0
    """Answers to fragments without a key, beyond their limit."""
    silenced: int = 0
    """Ends that restarts or power cuts alone have left without counters."""
    malformed: int = 0
    """Key blocks with wrong figures, taken."""
    epochs_lost: int = 0
    """Epochs that a node accepted and no longer had after a restart."""
    first: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """How often each happened."""
        return {name: count for name, count in vars(self).items() if name != "first"}

    def total(self) -> int:
        """How often anything of it happened."""
        return sum(self.counts().values())


@dataclass(frozen=True)
class _Odd(KeyBlock):
    """A key block with a wrong figure."""

    at: int
    wrong: int

    def encode(self) -> bytes:
        """The 24 bytes."""
        block = bytearray(super().encode())
        block[self.at] = self.wrong
        return bytes(block)


@dataclass
class End:
    """One end: the core, and what its application has done."""

    link: FaultyLink
    gateway: bool
    damaged: int = 0
    full_until: int = 0
    pending: bytes | None = None
    stored: bytes = b""
    written: tuple[int, ...] = ()
    sent: int = 0
    starts: int = 0

    def note_writes(self) -> None:
        """Where storage was written last."""
        storage = self.link.storage
        if storage != self.stored:
            pairs = zip(self.stored or bytes(len(storage)), storage, strict=True)
            self.written = tuple(at for at, (old, new) in enumerate(pairs) if old != new)
            self.stored = storage


class Side:
    """One node's link: both ends and all that they have sent to each other."""

    def __init__(
        self, number: int, suite: Suite, options: int, random: Random, faults: tuple[str, ...]
    ) -> None:
        self.number, self.options, self.random, self.faults = number, options, random, faults
        self.ends = [
            End(FaultyLink(suite, *faults, answer_ms=ANSWER_MS), gateway) for gateway in (False, True)
        ]
        self.generation = 0
        self.offered = 0, 0
        self.key = bytes(16)  # the same on all sides, as if somebody had given one key to two nodes
        self.renewing = False
        self.sure = True
        self.agreed = 0
        self.backup = b""
        self.outage = 0
        self.quiet = False
        self.new_key_at = self.again_at = 0
        self.held: list[bytes] = []
        self.held_until = -1
        self.newest: deque[tuple[bool, bytes]] = deque(maxlen=NEWEST)
        self.provision()

    def in_step(self) -> bool:
        """Whether both ends have one epoch, and no backup has come since."""
        node, gateway = (end.link for end in self.ends)
        return self.sure and (node.epoch, node.salt) == (gateway.epoch, gateway.salt)

    def next_epoch(self) -> None:
        """Another one than all before, as Gateway.restored makes it."""
        number = (self.ends[1].link.epoch >> EPOCH_RANDOM_BITS) + 1
        epoch = (number << EPOCH_RANDOM_BITS) + self.random.getrandbits(EPOCH_RANDOM_BITS)
        self.offered = epoch, self.random.getrandbits(16)

    def provision(self) -> None:
        """New keys at both ends, in the next generation."""
        self.generation += 1
        self.offered, self.renewing, self.sure = (0, self.generation), False, True
        self.agreed = self.outage = self.new_key_at = self.again_at = 0
        self.held, self.held_until = [], -1
        self.newest.clear()
        for end in self.ends:
            end.link.tester.stuck[:] = [0] * len(end.link.storage)
            end.link.tester.writes_left = -1
            options = self.options | (GATEWAY if end.gateway else 0)
            end.link.provision(KeyBlock(self.number, options, PACKET_BYTES, self.generation, self.key))
            assert end.link.begin() == Event.NOTHING
            end.damaged, end.full_until, end.pending = 0, 0, None
            end.stored, end.written, end.sent = end.link.storage, (), 0
            end.starts += 1
            if self.random.random() < 0.5:  # in the first claim, too
                end.link.tester.writes_left = self.random.randrange(50)
                end.link.tester.garbage = self.random.randrange(256)
        self.backup = self.ends[1].link.storage


class World:
    """A campaign.

    Parameters
    ----------
    seed : int
        Equal seeds make equal campaigns.
    faults : tuple of str
        Defects built into the core, which the campaign must find.
    """

    def __init__(self, seed: int, suite: Suite = "aes128-ccm", faults: tuple[str, ...] = ()) -> None:
        self.random = Random(f"campaign {seed}")
        options = SHORT | LISTENS | (STREAM if seed % 2 else 0)
        self.sides = [Side(number, suite, options, self.random, faults) for number in (5, 9)]
        self.wrong, self.counts = Wrong(), Counter[str]()
        self._now = 0
        self._number = 0
        self._sent: dict[bytes, tuple[int, bool]] = {}
        self._handed_over: set[bytes] = set()
        self._counters: dict[tuple[int, int, int, int, bool, int], bytes] = {}
        self._commands: dict[bytes, tuple[int, int, int, int, int]] = {}
        self._named: set[tuple[int, int, int, bool, int]] = set()
        self._recorded: list[bytes] = []

    # --- what is counted

    def _note(self, what: str, case: str) -> None:
        setattr(self.wrong, what, getattr(self.wrong, what) + 1)
        if len(self.wrong.first) < 5:
            self.wrong.first.append(f"{what}: {case} after {self._number:,} messages")

    def _hand_over(self, side: Side, end: End, event: Event) -> bool:
        """The application gets a message; whether it takes it."""
        message = end.link.message()
        self.counts["from the gateway" if not end.gateway else "from a node"] += 1
        if self._sent.get(message) != (side.number, not end.gateway):
            self._note("forged", message.hex())
        if message in self._handed_over:
            self._note("doubled", message.hex())
        if event is Event.COMMANDED:
            generation, epoch, sent, starts, names = self._commands.get(message, (0, 0, 0, 0, 0))
            age = end.sent - sent
            if (generation, epoch) == (side.generation, end.link.epoch) and (
                age > FRESH or end.starts > starts
            ):
                self._note("stale_commands", f"{message.hex()}: {age} messages, {end.starts - starts} starts")
            named = side.number, generation, epoch, end.gateway, names
            if named in self._named:
                self._note("unasked_commands", message.hex())
            self._named.add(named)
            self.counts["commands"] += 1
        taken = self.random.random() < 0.98
        if taken:
            self._handed_over.add(message)
            self.counts["handed over"] += 1
        else:
            self._handed_over.discard(message)
            self._sent.pop(message, None)  # refused by the application: to come again would be wrong too
        return taken

    def _outcome(self, end: End, event: Event) -> None:
        if event in (Event.ACCEPTED, Event.REFUSED, Event.UNCONFIRMED):
            self.counts[event.name.lower()] += 1
            if event is Event.ACCEPTED and end.pending is not None and end.pending not in self._handed_over:
                self._note("accepted_without_delivery", end.pending.hex())
            end.pending = None

    # --- what happens

    def step(self) -> None:
        """One message until its outcome, and the faults meanwhile."""
        side = self.random.choice(self.sides)
        for end in side.ends:
            end.note_writes()
        self._mishap(side)
        held = side.held_until
        sender = side.ends[self.random.random() < 0.3]
        if side.renewing and not side.ends[1].link.waiting:
            sender = side.ends[1]
            self._guarded(side, sender, lambda: self._renew(side))
        else:
            self._guarded(side, sender, lambda: self._send(side, sender))
        loss = self.random.choice((0.0, 0.0, 0.0, 0.1, 0.5, 1.0))
        if side.outage or side.held_until != held:
            loss, side.outage = 1.0, max(side.outage - 1, 0)
        elif 0 <= held <= side.ends[0].sent:
            self._release(side)
        for _ in range(14):
            if not self._carry(side, loss) and not any(end.link.waiting for end in side.ends):
                break
            self._now += ANSWER_MS
            for end in side.ends:
                self._guarded(side, end, lambda end=end: self._outcome(end, end.link.poll(self._now)))  # type: ignore[misc]

    def _send(self, side: Side, sender: End) -> None:
        self._number += 1
        how = self.random.choice((0, 0, 0, 0, CONFIRMED, CONFIRMED, LONG, LONG | CONFIRMED))
        length = self.random.choice((SHORT_BYTES, SHORT_BYTES, SHORT_BYTES, 8, 30, 100))
        receiver = side.ends[not sender.gateway]
        if self.random.random() < (0.2 if sender.gateway else 0.05):
            how = COMMAND | CONFIRMED
        elif self.random.random() < 0.1:
            how = FILE | CONFIRMED
            self.counts["file parts"] += 1
        message = self._number.to_bytes(8, "big") + self.random.randbytes(length - 8)
        if sender.link.waiting:
            return
        self._sent[message] = side.number, sender.gateway
        sender.pending = None
        event = sender.link.send(message, how)
        hold = False
        if event in (Event.SENT, Event.WAITING):
            self.counts["sent"] += 1
            sender.sent += 1
            if how & FILE == COMMAND:
                told = side.generation, sender.link.epoch, receiver.sent, receiver.starts
                self._commands[message] = *told, sender.link.next - 1
                chance = 1.0 if side.outage else self.random.random()
                hold = chance < 0.1
                if sender.gateway and 0.1 <= chance < 0.2 and side.held_until < 0:
                    side.held_until = side.ends[0].sent + self.random.randrange(FRESH + 1, FRESH + 6)
            sender.pending = message if event is Event.WAITING else None
            epoch = sender.link.epoch, sender.link.salt
            key = side.number, side.generation, *epoch, sender.gateway, sender.link.counter
            if key in self._counters:
                self._note("counters_reused", str(key))
            self._counters[key] = message
            if hold:
                self._hold_over_a_start(side, sender, receiver)

    def _hold_over_a_start(self, side: Side, sender: End, receiver: End) -> None:
        """A command that somebody held back comes when its receiver has started again."""
        held = sender.link.packets()
        self.counts["commands held over a start"] += 1
        self._restart(side, receiver)
        for packet in held:
            self._arrive(side, receiver, packet)

    def _renew(self, side: Side) -> None:
        side.ends[1].pending = None
        side.ends[1].link.renew(*side.offered)

    def _carry(self, side: Side, loss: float) -> bool:
        """Bring what was sent to the other end, more or less; whether anything was sent."""
        random, anything = self.random, False
        anything_held = loss < 1 or bool(side.held)
        for turn in range(40):
            sender, receiver = side.ends[turn & 1], side.ends[1 - (turn & 1)]
            packets = sender.link.packets()
            if not packets and turn & 1 and not anything:
                break
            if not packets and turn > 1 and not side.ends[1 - (turn & 1)].link.waiting:
                if turn & 1:
                    break
                continue
            anything = anything or bool(packets)
            for packet in packets:
                if side.held_until >= 0 and sender.gateway and len(side.held) < 40 and not anything_held:
                    side.held.append(packet)
                side.newest.append((receiver.gateway, packet))
                if len(self._recorded) < RECORDED:
                    self._recorded.append(packet)
                elif random.random() < 0.2:
                    self._recorded[random.randrange(RECORDED)] = packet
            if random.random() < 0.05:
                random.shuffle(packets)
            if random.random() < 0.05:
                packets += packets[-2:]
            for packet in packets:
                if loss and random.random() < loss:
                    continue
                if random.random() < 0.01:
                    self._arrive(side, receiver, self._damaged(packet))
                else:
                    self._arrive(side, receiver, packet, packet[0] < LONG_KINDS and side.in_step())
            if random.random() < 0.05:
                self._attack()
        return anything

    def _arrive(self, side: Side, end: End, packet: bytes, genuine: bool = False) -> None:
        if end.gateway and side.renewing and (end.link.epoch, end.link.salt) != side.offered:
            return  # it takes nothing before its new epoch, as Gateway.restored sees to

        def arrives() -> None:
            event = end.link.receive(packet)
            if genuine and event is Event.FORGED:
                self._note("out_of_step", packet.hex())
            if event in TAKEN:
                taken = self._hand_over(side, end, event)
                if self.random.random() < 0.003:
                    self._restart(side, end)  # before it could answer
                    return
                end.link.answer(taken)
            elif event is Event.RENEWED:
                end.pending = None
                self.counts["epochs"] += 1
            elif event in (Event.FORGED, Event.BOUND, Event.STORAGE):
                self.counts[event.name.lower()] += 1
            elif event is Event.ACCEPTED and side.renewing and end.gateway and end.pending is None:
                side.renewing, side.sure = False, True
                side.agreed = end.link.epoch
            elif event is Event.REFUSED and side.renewing and end.gateway and end.pending is None:
                side.next_epoch()
                self.counts["epochs met"] += 1
            self._outcome(end, event)

        self._guarded(side, end, arrives)

    def _damaged(self, packet: bytes) -> bytes:
        changed = bytearray(packet)
        changed[self.random.randrange(len(changed))] ^= 1 << self.random.randrange(8)
        return bytes(changed)

    def _attack(self) -> None:
        """An old packet, from either direction, to anyone, as it was or changed."""
        side, random = self.random.choice(self.sides), self.random
        if not self._recorded:
            return
        packet = random.choice(self._recorded)
        kind = random.randrange(5)
        if kind == 0:
            packet = self._damaged(packet)
        elif kind == 1:  # as the other node's
            packet = bytes([packet[0] & 0xC0 | side.number]) + packet[1:]
        elif kind == 2:  # as the newest: another low byte of the counter
            packet = bytes([packet[0], random.randrange(256)]) + packet[2:]
        self.counts["attacks"] += 1
        self._arrive(side, random.choice(side.ends), packet)

    def _release(self, side: Side) -> None:
        """A command that was held back comes after all."""
        held, side.held, side.held_until = side.held, [], -1
        self.counts["commands held back"] += 1
        for packet in held:
            self._arrive(side, side.ends[0], packet)

    def _replay(self, side: Side, end: End) -> None:
        """What came last, once more."""
        self.counts["replays"] += 1
        for gateway, packet in list(side.newest):
            if gateway is end.gateway:
                self._arrive(side, end, packet)

    def _forge(self, side: Side, end: End) -> None:
        """Guesses of short tags, until the bound and beyond."""
        wrong, bound = 0, 0
        for _ in range(BOUND + 300):
            event = end.link.receive(
                bytes([side.number | CONFIRMED]) + self.random.randbytes(PACKET_BYTES - 1)
            )
            wrong, bound = wrong + (event is Event.FORGED), bound + (event is Event.BOUND)
            if wrong > BOUND:
                self._note("unbounded", f"{wrong:,} wrong short tags")
                break
        self.counts["forged"] += wrong
        self.counts["bound"] += bound
        if self.random.random() < 0.5:
            side.new_key_at = self._number + 50

    def _flood(self, side: Side, end: End) -> None:
        """Fragments without a key, each of which asks for an answer."""
        end.link.packets()
        for _ in range(3 * ANSWERS):
            head = bytes(
                [0x80 | side.number, self.random.randrange(256), 0xC0 | self.random.randrange(1, 15)]
            )
            end.link.receive(head + self.random.randbytes(PACKET_BYTES - 3))
        answers = len(end.link.packets())
        self.counts["fragments forged"] += 3 * ANSWERS
        self.counts["answers to them"] += answers
        if answers > ANSWERS:
            self._note("amplified", f"{answers} answers")

    # --- what fails

    def _guarded(self, side: Side, end: End, call: object) -> None:
        try:
            call()  # type: ignore[operator]
        except PowerLostError:
            self.counts["power cuts"] += 1
            self._restart(side, end)

    def _restart(self, side: Side, end: End) -> None:
        self.counts["restarts"] += 1
        end.pending = None
        end.starts += 1
        try:
            event = end.link.begin()
        except PowerLostError:  # pragma: no cover - beginning writes nothing
            raise AssertionError("link_begin wrote") from None
        if event in DEAD:
            self.counts["silent"] += 1
            if not end.damaged:
                self._note("silenced", f"node {side.number}, {event.name}")
            side.provision()
            return
        if not end.gateway and end.link.epoch < side.agreed:
            self._note("epochs_lost", f"node {side.number} is back in epoch {end.link.epoch}")
            side.agreed = 0
        if self.random.random() < 0.3:
            self._replay(side, end)

    def _mishap(self, side: Side) -> None:
        random, end = self.random, self.random.choice(side.ends)
        for other in side.ends:
            if other.full_until and self._number >= other.full_until:
                other.full_until = 0
                other.link.tester.stuck[:] = [0] * len(other.link.storage)
                if random.random() < 0.5:
                    self._restart(side, other)
        if 0 < side.new_key_at <= self._number:
            self._change_key(side)
        if 0 < side.again_at <= self._number:
            side.again_at = 0
            self._restore(side)
        if (side.outage and side.quiet) or random.random() >= sum(MISHAPS.values()):
            return
        kind = random.choices(list(MISHAPS), list(MISHAPS.values()))[0]
        if kind == "restart":
            self._restart(side, end)
        elif kind == "power cut":
            end.link.tester.writes_left = random.randrange(90)
            end.link.tester.garbage = random.randrange(256)
        elif kind == "both copies":
            self._damage_newest(side, end)
        elif kind in ("flipped bit", "worn cells"):
            self._damage(side, end, kind)
        elif kind == "full disk":
            self._fill(end)
        elif kind == "key change":
            self._change_key(side)
        elif kind == "outage":
            side.outage = random.randrange(200, 500)
            side.quiet = random.random() < 0.5  # nothing but the radio fails
            self.counts["outages"] += 1
        elif kind == "forger":
            self._guarded(side, end, lambda: self._forge(side, end))
        elif kind == "flood":
            self._flood(side, end)
        elif kind in ("foreign counters", "erased counters"):
            self._put_counters(side, end, kind)
        elif kind == "backup":
            side.backup = side.ends[1].link.storage
        else:
            self._restore(side)
            if random.random() < 0.5:
                side.again_at = self._number + random.randrange(1, 60)

    def _restore(self, side: Side) -> None:
        """The gateway has its backup again."""
        self.counts["restored backups"] += 1
        gateway = side.ends[1]
        gateway.link.tester.writes_left = -1
        if gateway.link.begin(side.backup) == Event.NOTHING:
            side.next_epoch()
            gateway.starts += 1
            side.renewing, gateway.pending, side.sure = True, None, False
            if self.random.random() < 0.2:
                self._fill(side.ends[0])  # when it is offered the new epoch

    def _fill(self, end: End) -> None:
        """The disk is full for a while."""
        if not any(end.link.tester.stuck):
            end.full_until = self._number + self.random.randrange(1, 60)
            end.link.tester.stuck[:] = [0xFF] * len(end.link.storage)
            self.counts["full disks"] += 1

    def _damage_newest(self, side: Side, end: End) -> None:
        """A bit of each copy of the newest record, where the one before it lacks just its send counters."""
        storage = end.link.storage
        if end.damaged and self._number - end.damaged < 600:
            return
        slots = [storage[at : at + SLOT_BYTES] for at in range(KEY_BYTES, len(storage), SLOT_BYTES)]
        written = [slot for slot in slots if slot[:16] != bytes(16 * [0xFF])]
        newest = max(written, key=lambda slot: slot[15::-1], default=bytes(SLOT_BYTES))
        send = int.from_bytes(newest[SEND_AT : SEND_AT + 4], "little")
        before = newest[:SEND_AT] + (send - SEND_BLOCK & 0xFFFFFFFF).to_bytes(4, "little") + newest[12:16]
        copies = [at for at, slot in enumerate(slots) if slot == newest]
        if send < SEND_BLOCK or len(copies) != 2 or [slot[:16] for slot in slots].count(before) != 2:
            return
        end.damaged = self._number
        bit = self.random.randrange(8 * SLOT_BYTES)
        for at in copies:
            place = KEY_BYTES + SLOT_BYTES * at + bit // 8
            end.link.poke(place, storage[place] ^ 1 << bit % 8)
        self.counts["both copies"] += 1
        self._restart(side, end)

    def _damage(self, side: Side, end: End, kind: str) -> None:
        """A bit that flips, or a row of cells that no longer change; half of them where was written last."""
        random, size = self.random, len(end.link.storage)
        if end.damaged and self._number - end.damaged < 600:
            return  # not another one before every slot was written again
        at = random.choice(end.written) if end.written and random.random() < 0.5 else random.randrange(size)
        if kind == "flipped bit":
            end.damaged = self._number
            end.link.poke(at, end.link.storage[at] ^ 1 << random.randrange(8))
            self._restart(side, end)
        elif not any(end.link.tester.stuck):
            end.damaged = self._number
            for cell in range(at, min(at + random.randrange(1, 25), size)):
                end.link.tester.stuck[cell] = 0xFF
        self.counts[kind if kind.endswith("s") else kind + "s"] += 1

    def _put_counters(self, side: Side, end: End, kind: str) -> None:
        """Counters of the other node under this key, or none at all: the end stays silent."""
        other = self.sides[side is self.sides[0]].ends[end.gateway].link.storage
        storage = end.link.storage
        counters = bytes([self.random.choice((0x00, 0xFF))]) * (len(storage) - KEY_BYTES)
        if kind == "foreign counters":
            counters = other[KEY_BYTES:]
        end.link.tester.writes_left = -1
        end.link.tester.stuck[:] = [0] * len(storage)
        for at, byte in enumerate(counters, KEY_BYTES):
            end.link.poke(at, byte)
        end.damaged = self._number
        self.counts[kind] += 1
        self._restart(side, end)

    def _change_key(self, side: Side) -> None:
        """New keys, after some with a wrong figure."""
        self.counts["key changes"] += 1
        node = side.ends[0].link
        node.tester.stuck[:] = [0] * len(node.storage)
        for at, wrong in ODD_BLOCKS:
            node.tester.writes_left = -1
            node.provision(
                _Odd(side.number, side.options, PACKET_BYTES, side.generation + 1, bytes(16), at, wrong)
            )
            if node.begin() != Event.NO_KEY:
                self._note("malformed", f"byte {at} is {wrong}")
        side.provision()
