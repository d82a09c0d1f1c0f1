"""Two nodes, their gateway, an air that loses packets, and somebody who means harm, in virtual time.

Nothing here knows how the link works: it sends messages that are all different, carries packets, takes power
away, and counts what must never happen.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random

from link_ports import FaultyLink, PowerLostError
from motecrypt.toolchain.link import (
    COMMAND,
    CONFIRMED,
    GATEWAY,
    LISTENS,
    LONG,
    SHORT,
    STREAM,
    Event,
    KeyBlock,
    Suite,
)

TAKEN = (Event.MESSAGE, Event.COMMANDED)
ANSWER_MS = 100
PACKET_BYTES = 16
SHORT_BYTES = PACKET_BYTES - 6
RECORDED = 4000
DEAD = (Event.NO_KEY, Event.NO_STATE)
MISHAPS = {
    "restart": 0.01,
    "power cut": 0.01,
    "flipped bit": 0.004,
    "worn cell": 0.0005,
    "key change": 0.0003,
    "backup": 0.003,
    "restore": 0.001,
}
"""How often, for each message."""


@dataclass
class Wrong:
    """What must never happen, and the first case of each."""

    forged: int = 0
    doubled: int = 0
    counters_reused: int = 0
    accepted_without_delivery: int = 0
    first: list[str] = field(default_factory=list)

    def total(self) -> int:
        """How often anything of it happened."""
        return self.forged + self.doubled + self.counters_reused + self.accepted_without_delivery


@dataclass
class End:
    """One end: the core, and what its application has done."""

    link: FaultyLink
    gateway: bool
    damaged: int = 0
    pending: bytes | None = None


class Side:
    """One node's link: both ends and all that they have sent to each other."""

    def __init__(
        self, number: int, suite: Suite, options: int, random: Random, faults: tuple[str, ...]
    ) -> None:
        self.number, self.options, self.random = number, options, random
        self.ends = [
            End(FaultyLink(suite, *faults, answer_ms=ANSWER_MS), gateway) for gateway in (False, True)
        ]
        self.generation = self.epoch = 0
        self.key = random.randbytes(16)
        self.renewing = False
        self.backup = b""
        self.provision()

    def provision(self) -> None:
        """New keys at both ends, in the next generation."""
        self.generation += 1
        self.epoch, self.renewing = 0, False
        for end in self.ends:
            end.link.tester.stuck[:] = [0] * len(end.link.storage)
            end.link.tester.writes_left = -1
            options = self.options | (GATEWAY if end.gateway else 0)
            end.link.provision(KeyBlock(self.number, options, PACKET_BYTES, self.generation, self.key))
            assert end.link.begin() == Event.NOTHING
            end.damaged, end.pending = 0, None
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
        self._counters: dict[tuple[int, int, int, bool, int], bytes] = {}
        self._recorded: list[bytes] = []

    # --- what is counted

    def _note(self, what: str, case: str) -> None:
        setattr(self.wrong, what, getattr(self.wrong, what) + 1)
        if len(self.wrong.first) < 5:
            self.wrong.first.append(f"{what}: {case} after {self._number:,} messages")

    def _hand_over(self, side: Side, end: End) -> bool:
        """The application gets a message; whether it takes it."""
        message = end.link.message()
        if self._sent.get(message) != (side.number, not end.gateway):
            self._note("forged", message.hex())
        if message in self._handed_over:
            self._note("doubled", message.hex())
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
        """One message, what becomes of it, and what else happens meanwhile."""
        side = self.random.choice(self.sides)
        self._mishap(side)
        sender = side.ends[self.random.random() < 0.3]
        if side.renewing and not sender.link.waiting:
            sender = side.ends[1]
            self._guarded(side, sender, lambda: self._renew(side))
        else:
            self._guarded(side, sender, lambda: self._send(side, sender))
        loss = self.random.choice((0.0, 0.0, 0.0, 0.1, 0.5, 1.0))
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
        if sender.gateway and self.random.random() < 0.2:
            how = COMMAND | CONFIRMED
        message = self._number.to_bytes(8, "big") + self.random.randbytes(length - 8)
        if sender.link.waiting:
            return
        self._sent[message] = side.number, sender.gateway
        sender.pending = None
        event = sender.link.send(message, how)
        if event in (Event.SENT, Event.WAITING):
            self.counts["sent"] += 1
            sender.pending = message if event is Event.WAITING else None
            key = side.number, side.generation, sender.link.epoch, sender.gateway, sender.link.counter
            if key in self._counters:
                self._note("counters_reused", str(key))
            self._counters[key] = message

    def _renew(self, side: Side) -> None:
        side.ends[1].pending = None
        side.ends[1].link.renew(side.epoch)

    def _carry(self, side: Side, loss: float) -> bool:
        """Bring what was sent to the other end, more or less; whether anything was sent."""
        random, anything = self.random, False
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
                    packet = self._damaged(packet)
                self._arrive(side, receiver, packet)
            if random.random() < 0.05:
                self._attack()
        return anything

    def _arrive(self, side: Side, end: End, packet: bytes) -> None:
        def arrives() -> None:
            event = end.link.receive(packet)
            if event in TAKEN:
                taken = self._hand_over(side, end)
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
                side.renewing = False
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
        try:
            event = end.link.begin()
        except PowerLostError:  # pragma: no cover - beginning writes nothing
            raise AssertionError("link_begin wrote") from None
        if event in DEAD:
            self.counts["silent"] += 1
            side.provision()

    def _mishap(self, side: Side) -> None:
        random, end = self.random, self.random.choice(side.ends)
        if random.random() >= sum(MISHAPS.values()):
            return
        kind = random.choices(list(MISHAPS), list(MISHAPS.values()))[0]
        if kind == "restart":
            self._restart(side, end)
        elif kind == "power cut":
            end.link.tester.writes_left = random.randrange(90)
            end.link.tester.garbage = random.randrange(256)
        elif kind in ("flipped bit", "worn cell"):
            if self._number - end.damaged < 600:
                return  # not another one before every slot was written anew
            end.damaged = self._number
            at = random.randrange(len(end.link.storage))
            if kind == "flipped bit":
                end.link.poke(at, end.link.storage[at] ^ 1 << random.randrange(8))
                self._restart(side, end)
            elif not any(end.link.tester.stuck):
                end.link.tester.stuck[at] = 0xFF
            self.counts[kind + "s"] += 1
        elif kind == "key change":
            self.counts["key changes"] += 1
            side.provision()
        elif kind == "backup":
            side.backup = side.ends[1].link.storage
        else:
            self.counts["restored backups"] += 1
            gateway = side.ends[1]
            gateway.link.tester.writes_left = -1
            if gateway.link.begin(side.backup) == Event.NOTHING:
                side.epoch += 1 + random.randrange(1000)
                side.renewing, gateway.pending = True, None
