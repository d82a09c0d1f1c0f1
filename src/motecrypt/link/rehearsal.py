"""A link rehearsed in virtual time: sender, radios, receiver, an attacker, and crashes where they hurt.

What the soak test runs. It keeps a ledger of its own and checks the link's promises against it: every
accepted message intact and once, none forged, no counter used twice, every loss reported, no hang.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from motecrypt.errors import MotecryptError
from motecrypt.link.frames import DATA, Frame, frame_bytes
from motecrypt.link.receiver import Receiver
from motecrypt.link.sender import Sender, SendOutcome
from motecrypt.link.state import Counters, MemoryStore, Window
from motecrypt.link.timing import Timing
from motecrypt.radios.catalog import Radio
from motecrypt.radios.channel import Channel
from motecrypt.radios.pair import RadioPair


class _Crash(Exception):
    """The simulated loss of power."""


@dataclass(frozen=True)
class Hardship:
    """How often things go wrong, as probabilities.

    Attributes
    ----------
    crash : for each step (a write of state, a hand-over, an event) that power is lost there.
    attack : for each packet that the attacker puts in one of its own: a replay, a forgery, or noise.
    """

    crash: float = 0.0
    attack: float = 0.0


@dataclass
class Ledger:
    """What happened, and every promise that was broken."""

    messages: int = 0
    accepted: int = 0
    received: int = 0
    unconfirmed: int = 0
    refused: int = 0
    lost_to_crash: int = 0
    sender_crashes: int = 0
    receiver_crashes: int = 0
    attacks: int = 0
    not_delivered: int = 0
    bursts: int = 0
    frames: int = 0
    virtual_us: float = 0.0
    broken: list[str] = field(default_factory=list)


class _FragileStore(MemoryStore):
    """A store whose write may be the moment the power goes, before or after it took effect."""

    def __init__(self, maybe_crash: Callable[[], None]) -> None:
        super().__init__()
        self._maybe_crash = maybe_crash

    def write(self, record: bytes) -> None:
        self._maybe_crash()
        super().write(record)
        self._maybe_crash()


class Rehearsal:
    """One run. End 0 of the radios is the sender's, end 1 the receiver's.

    Parameters
    ----------
    radio, channel : the way between them.
    hardship : crashes and attacks.
    seed : of everything that is random here but the channel.
    key : of both ends.
    """

    def __init__(
        self,
        radio: Radio,
        channel: Channel,
        hardship: Hardship | None = None,
        seed: int = 1,
        key: bytes = bytes(range(32)),
    ) -> None:
        self.pair = RadioPair(radio, channel)
        self.ledger = Ledger()
        self._random = random.Random(seed)
        self._hardship = hardship or Hardship()
        self._key = key
        self._timing = Timing.of(radio)
        self._length = frame_bytes(radio.packet_bytes)
        self._packet_bytes = radio.packet_bytes
        self._counter_store = _FragileStore(self._maybe_crash)
        self._window_store = _FragileStore(self._maybe_crash)
        self._overheard: list[bytes] = []
        self._used: set[tuple[int, int]] = set()
        self._open: dict[bytes, str] = {}
        self._now_us = 0.0
        self._gone_bursts = self._gone_frames = 0  # of senders that lost power
        self._counters, self._sender = self._boot_sender()
        self._receiver = self._boot_receiver()

    def run(self, messages: Iterator[bytes]) -> Ledger:
        """Send every message, one after the other; each must differ from all others.

        Returns
        -------
        Ledger
            `broken` is empty when every promise was kept.
        """
        for message in messages:
            self.ledger.messages += 1
            self._open[message] = "on its way"
            outcome = self._send(message)
            self._settle(message, outcome)
        # What is still on the air may arrive yet.
        while (due := self.pair.next_us()) is not None:
            self._step(due)
        ledger = self.ledger
        ledger.not_delivered = sum(state == "reported" for state in self._open.values())
        ledger.virtual_us = self.pair.now_us
        ledger.bursts = self._gone_bursts + self._sender.tally.bursts
        ledger.frames = self._gone_frames + self._sender.tally.frames
        return ledger

    def _settle(self, message: bytes, outcome: SendOutcome | None) -> None:
        """Note what the sender was told. A message that arrived is forgotten once that is settled."""
        ledger, state = self.ledger, self._open[message]
        if outcome is SendOutcome.ACCEPTED:
            ledger.accepted += 1
            if state != "received":
                ledger.broken.append(f"message {ledger.messages} accepted but never received")
        elif outcome is SendOutcome.REFUSED:
            ledger.refused += 1
        elif outcome is SendOutcome.UNCONFIRMED:
            ledger.unconfirmed += 1
        else:
            ledger.lost_to_crash += 1
        self._open[message] = "done" if state == "received" else "reported"

    def _send(self, message: bytes) -> SendOutcome | None:
        """Send one message; None when the sender crashed with it in its hands."""
        try:
            counter = self._sender.submit(message, self._now_us)
        except _Crash:
            self._crash_sender()
            return None
        use = (self._counters.stream, counter)
        if use in self._used:
            self.ledger.broken.append(f"counter {use} used twice")
        self._used.add(use)
        self._flush()
        patience = 100_000
        while self._sender.busy:
            patience -= 1
            if not patience:
                self.ledger.broken.append(f"message {self.ledger.messages} hangs")
                self._sender.abandon()
            deadline = self._sender.deadline_us() or self._now_us
            due = self.pair.next_us()
            if not self._step(deadline if due is None else min(due, deadline)):
                return None
        return self._sender.outcome

    def _step(self, until_us: float) -> bool:
        """Let time pass to the next event; False when the sender crashed there."""
        self._now_us = max(self._now_us, until_us)
        for arrival in self.pair.advance(until_us):
            data = arrival.data
            if self._hardship.attack and self._random.random() < self._hardship.attack:
                data = self._attack(data)
            if arrival.end == 0:
                self._sender.feed(data, self._now_us)
                continue
            try:
                self._receiver.feed(data)
                self._maybe_crash()
            except _Crash:
                self.ledger.receiver_crashes += 1
                self._receiver = self._boot_receiver()
        try:
            self._sender.tick(self._now_us)
            self._maybe_crash()
        except _Crash:
            self._crash_sender()
            return False
        self._flush()
        return True

    def _flush(self) -> None:
        for end, half in ((0, self._sender), (1, self._receiver)):
            output = half.take_output()
            if output:
                if self._hardship.attack and len(self._overheard) < 1000:
                    self._overheard.append(output[: self._length])
                self.pair.write(end, output, self._now_us)

    def _attack(self, data: bytes) -> bytes:
        """What the attacker makes of a packet: old ones replayed before it, forgeries, noise."""
        self.ledger.attacks += 1
        choice = self._random.randrange(4)
        if choice == 0 and self._overheard:
            return b"".join(self._random.choices(self._overheard, k=8)) + data
        if choice == 1:
            body = bytes([self._random.randrange(8)]) + self._random.randbytes(self._length - 4)
            forged = Frame(self._random.randrange(5), data[1] if len(data) > 1 else 0, body)
            return forged.encode(self._length) + data
        if choice == 2:
            return data + self._random.randbytes(self._random.randrange(40))
        body = bytes([0]) + self._random.randbytes(self._length - 4)
        return data + Frame(DATA, self._random.randrange(256), body).encode(self._length)

    def _maybe_crash(self) -> None:
        if self._hardship.crash and self._random.random() < self._hardship.crash:
            raise _Crash

    def _crash_sender(self) -> None:
        self.ledger.sender_crashes += 1
        self._counters, self._sender = self._boot_sender()

    def _boot_sender(self) -> tuple[Counters, Sender]:
        if hasattr(self, "_sender"):
            self._gone_bursts += self._sender.tally.bursts
            self._gone_frames += self._sender.tally.frames
        counters = Counters(self._counter_store, self._key)
        return counters, Sender(self._key, counters, self._timing)

    def _boot_receiver(self) -> Receiver:
        return Receiver(self._key, Window(self._window_store), self._packet_bytes, self._hand_over)

    def _hand_over(self, message: bytes, stream: int, counter: int) -> None:
        self._maybe_crash()
        ledger, state = self.ledger, self._open.get(message)
        if state is None:
            ledger.broken.append(f"a message that was never sent was accepted: {message.hex()}")
        elif state in ("received", "done"):
            ledger.broken.append(f"a message was accepted twice: {message.hex()}")
        else:
            # One reported as unconfirmed may still arrive: the sender said that it did not know.
            self._open[message] = "received" if state == "on its way" else "done"
            ledger.received += 1
        self._maybe_crash()


def unique_messages(count: int, longest: int, seed: int) -> Iterator[bytes]:
    """Random messages of 4 to `longest` bytes, each beginning with its number, so that no two agree."""
    generator = random.Random(seed)
    for number in range(count):
        yield number.to_bytes(4, "big") + generator.randbytes(generator.randrange(longest - 3))


def soak(
    radio: Radio,
    count: int,
    seed: int = 1,
    longest: int = 40,
    progress: Callable[[int], None] | None = None,
) -> Ledger:
    """The campaign of docs/radio.md: loss, duplicates, reordering, bit errors, crashes, attacks.

    Raises
    ------
    MotecryptError
        A promise was broken; the first ten are named.
    """
    channel = Channel(loss=0.1, duplicate=0.03, reorder=0.03, bit_error_rate=2e-4, crc=False, seed=seed)
    rehearsal = Rehearsal(radio, channel, Hardship(crash=0.0005, attack=0.02), seed)

    def counted() -> Iterator[bytes]:
        for number, message in enumerate(unique_messages(count, longest, seed)):
            if progress is not None and number % 1000 == 0:
                progress(number)
            yield message

    ledger = rehearsal.run(counted())
    if ledger.broken:
        raise MotecryptError(f"the link broke its promises (seed {seed}): {'; '.join(ledger.broken[:10])}")
    return ledger
