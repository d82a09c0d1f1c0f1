"""Two radios that hear each other, event by event in virtual time.

Knows no clock and no port: the caller says what time it is, in microseconds, and gets what has arrived
by then. Driven by a loop it is a simulation that runs as fast as the machine; driven by a clock
(ports/virtual.py) it is an emulator that programs talk to.

Assumptions, where the makers are silent: one packet is on the air at a time and a radio waits for a
free channel (so packets do not collide); a radio takes serial bytes in while it sends; buffers are
large enough; a packet's bytes leave the receiver's serial port back to back.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from motecrypt.radios.air import air_time_us
from motecrypt.radios.catalog import Radio
from motecrypt.radios.channel import Channel
from motecrypt.radios.module import COMMAND_TIMEOUT_US, GUARD_US, Module


@dataclass(frozen=True)
class Arrival:
    """Bytes that a program at `end` (0 or 1) can read from `time_us` on."""

    end: int
    data: bytes
    time_us: float


@dataclass
class Tally:
    """What became of the packets that one end sent."""

    sent: int = 0
    delivered: int = 0
    lost: int = 0
    unheard: int = 0
    duplicated: int = 0
    reordered: int = 0
    air_time_us: float = 0.0


@dataclass
class _End:
    module: Module
    radio: Radio
    incoming: deque[bytes] = field(default_factory=deque)
    line_free_us: float = 0.0
    last_byte_us: float = -1e18
    line_busy: bool = False
    pluses: int = 0
    gathered: bytearray = field(default_factory=bytearray)
    generation: int = 0
    queue: deque[tuple[float, bytes]] = field(default_factory=deque)
    out_free_us: float = 0.0
    held: bytes | None = None
    held_generation: int = 0
    last_command_us: float = 0.0
    tally: Tally = field(default_factory=Tally)


class RadioPair:
    """Two modules of one kind, end 0 and end 1, joined by a channel.

    Parameters
    ----------
    radio : Radio
        What both are, as they come from the box; the command mode changes each for itself.
    channel : Channel
        Loss, bit errors, duplicates and reordering, the same in both directions.
    """

    def __init__(self, radio: Radio, channel: Channel | None = None) -> None:
        self.channel = channel or Channel()
        self._random: random.Random = self.channel.generator()
        self._ends = tuple(_End(Module(radio, serial_number=f"{n + 1:08X}"), radio) for n in (0, 1))
        self._events: list[tuple[float, int, bool, Callable[[float], None]]] = []
        self._order = itertools.count()
        self._arrivals: list[Arrival] = []
        self._air_free_us = 0.0
        self._last_air_end_us = -1e18
        self._last_sender = -1
        self.now_us = 0.0

    # What the caller sees

    def write(self, end: int, data: bytes, now_us: float) -> None:
        """A program writes bytes to the port of `end` at that time; they queue on its serial line."""
        self.now_us = max(self.now_us, now_us)
        if not data:
            return
        state = self._ends[end]
        state.incoming.append(bytes(data))
        if not state.line_busy:
            state.line_free_us = max(state.line_free_us, self.now_us)
            self._next_segment(end)

    def next_us(self) -> float | None:
        """When something happens next; None when all is quiet."""
        return self._events[0][0] if self._events else None

    def advance(self, until_us: float) -> list[Arrival]:
        """Let time pass; what has arrived by then, in order of time."""
        while self._events and self._events[0][0] <= until_us:
            time_us, _, _, happen = heapq.heappop(self._events)
            self.now_us = max(self.now_us, time_us)
            happen(time_us)
        self.now_us = max(self.now_us, until_us)
        arrived, self._arrivals = self._arrivals, []
        return arrived

    def next_is_arrival(self) -> bool:
        """Whether a program can see what happens next; the rest happens inside the radios."""
        return bool(self._events) and self._events[0][2]

    def line_booked_us(self, end: int, now_us: float) -> float:
        """For how long from now the serial line into that radio is taken by bytes already written."""
        state = self._ends[end]
        waiting = sum(map(len, state.incoming)) * state.radio.serial_byte_us
        return max(state.line_free_us - now_us, 0.0) + waiting

    def module(self, end: int) -> Module:
        """The module at that end."""
        return self._ends[end].module

    def tally(self, end: int) -> Tally:
        """What became of the packets that this end sent."""
        return self._ends[end].tally

    def radio(self, end: int) -> Radio:
        """The radio at that end under the settings in force."""
        return self._ends[end].radio

    # Serial line into the radio

    def _at(self, time_us: float, happen: Callable[[float], None], arrival: bool = False) -> None:
        heapq.heappush(self._events, (time_us, next(self._order), arrival, happen))

    def _next_segment(self, end: int) -> None:
        """Put on the line as many bytes as the packet being gathered still takes."""
        state = self._ends[end]
        if not state.incoming:
            state.line_busy = False
            return
        state.line_busy = True
        data = state.incoming.popleft()
        room = max(state.radio.packet_bytes - len(state.gathered), 1)
        if len(data) > room:
            state.incoming.appendleft(data[room:])
            data = data[:room]
        begin_us = state.line_free_us
        state.line_free_us = begin_us + len(data) * state.radio.serial_byte_us
        self._at(state.line_free_us, lambda now_us: self._segment(end, data, begin_us, now_us))

    def _segment(self, end: int, data: bytes, begin_us: float, now_us: float) -> None:
        state = self._ends[end]
        quiet = begin_us - state.last_byte_us >= GUARD_US
        state.last_byte_us = now_us
        if state.module.commanding:
            self._command(end, data, now_us)
        elif state.pluses or (quiet and data[0:1] == b"+"):
            self._plus(end, data, now_us)
        else:
            self._gather(end, data, now_us)
        self._next_segment(end)

    def _plus(self, end: int, data: bytes, now_us: float) -> None:
        """After a second of quiet, three pluses and another second of quiet mean command mode."""
        state = self._ends[end]
        if data.strip(b"+") or state.pluses + len(data) > 3:
            held, state.pluses = b"+" * state.pluses, 0
            self._gather(end, held + data, now_us)
            return
        state.pluses += len(data)
        seen = state.pluses
        # One or two pluses wait no longer than any other bytes would; three wait for the guard time.
        wait_us = GUARD_US if seen == 3 else max(state.radio.timeout_us, state.radio.serial_byte_us * 12)
        self._at(now_us + wait_us, lambda later_us: self._guard(end, seen, now_us, later_us))

    def _guard(self, end: int, seen: int, since_us: float, now_us: float) -> None:
        state = self._ends[end]
        if state.pluses != seen or state.last_byte_us != since_us:
            return
        state.pluses = 0
        if seen < 3:
            self._gather(end, b"+" * seen, now_us)
            return
        state.last_command_us = now_us
        self._answer(end, state.module.enter(), now_us)
        self._at(now_us + COMMAND_TIMEOUT_US, lambda later_us: self._command_timeout(end, later_us))

    def _command_timeout(self, end: int, now_us: float) -> None:
        state = self._ends[end]
        if not state.module.commanding:
            return
        due_us = state.last_command_us + COMMAND_TIMEOUT_US
        if now_us < due_us:  # a difference of the two might be rounded to less than the timeout, for ever
            self._at(due_us, lambda later_us: self._command_timeout(end, later_us))
        else:
            state.module.commanding = False

    def _command(self, end: int, data: bytes, now_us: float) -> None:
        state = self._ends[end]
        state.last_command_us = now_us
        answers, rest = state.module.feed(data)
        state.radio = state.module.apply()
        if answers:
            self._answer(end, answers, now_us)
        if rest:
            self._gather(end, rest, now_us)

    # Packets

    def _gather(self, end: int, data: bytes, now_us: float) -> None:
        state = self._ends[end]
        state.gathered += data
        state.generation += 1
        packet = state.radio.packet_bytes
        while len(state.gathered) >= packet:
            self._ready(end, bytes(state.gathered[:packet]), now_us)
            del state.gathered[:packet]
        if state.gathered:
            generation = state.generation
            due_us = now_us + state.radio.timeout_us
            self._at(due_us, lambda later_us: self._flush(end, generation, later_us))

    def _flush(self, end: int, generation: int, now_us: float) -> None:
        state = self._ends[end]
        if generation != state.generation:
            return
        if state.line_busy and state.radio.serial_byte_us:
            # Bytes are on the line right now: the timeout counts from the last of them.
            return
        self._ready(end, bytes(state.gathered), now_us)
        state.gathered.clear()

    def _ready(self, end: int, packet: bytes, now_us: float) -> None:
        self._ends[end].queue.append((now_us, packet))
        self._pump(now_us)

    def _pump(self, now_us: float) -> None:
        """Send the packet whose turn it is, or come back when its turn is."""
        turns: list[tuple[float, bool, int]] = []
        for end, state in enumerate(self._ends):
            if state.queue:
                start_us = max(state.queue[0][0], self._air_free_us)
                if self._last_sender not in (-1, end):
                    start_us = max(start_us, self._last_air_end_us + state.radio.value("turn_round_us"))
                turns.append((start_us, end == self._last_sender, end))
        if not turns:
            return
        start_us, _, end = min(turns)
        if start_us > now_us:
            self._at(start_us, self._pump)
            return
        state = self._ends[end]
        _, packet = state.queue.popleft()
        time_us = air_time_us(state.radio, len(packet))
        self._air_free_us = now_us + time_us + state.radio.value("gap_us")
        self._last_air_end_us, self._last_sender = now_us + time_us, end
        state.tally.sent += 1
        state.tally.air_time_us += time_us
        self._at(now_us + time_us, lambda later_us: self._heard(end, packet, later_us))
        if any(other.queue for other in self._ends):
            self._at(self._air_free_us, self._pump)

    def _heard(self, sender: int, packet: bytes, now_us: float) -> None:
        """A packet is off the air: what the other end makes of it."""
        source, target = self._ends[sender], self._ends[1 - sender]
        if source.module.settings.network() != target.module.settings.network():
            source.tally.unheard += 1
            return
        arrived = self.channel.damage(self._random, packet)
        held, target.held = target.held, None
        if arrived is None:
            source.tally.lost += 1
        elif self.channel.reorder and held is None and self._random.random() < self.channel.reorder:
            source.tally.reordered += 1
            target.held = arrived
            target.held_generation += 1
            generation = target.held_generation
            due_us = now_us + 4 * air_time_us(source.radio, source.radio.packet_bytes) + 10_000
            self._at(due_us, lambda later_us: self._release(sender, generation, later_us))
        else:
            self._deliver(sender, arrived, now_us)
            if self.channel.duplicate and self._random.random() < self.channel.duplicate:
                source.tally.duplicated += 1
                self._deliver(sender, arrived, now_us)
        if held is not None:
            self._deliver(sender, held, now_us)

    def _release(self, sender: int, generation: int, now_us: float) -> None:
        target = self._ends[1 - sender]
        if target.held is not None and target.held_generation == generation:
            held, target.held = target.held, None
            self._deliver(sender, held, now_us)

    def _deliver(self, sender: int, packet: bytes, now_us: float) -> None:
        self._ends[sender].tally.delivered += 1
        self._answer(1 - sender, packet, now_us)

    # Serial line out of the radio

    def _answer(self, end: int, data: bytes, now_us: float) -> None:
        state = self._ends[end]
        begin_us = max(now_us, state.out_free_us)
        state.out_free_us = begin_us + len(data) * state.radio.serial_byte_us
        self._at(state.out_free_us, lambda later_us: self._arrive(end, data, later_us), True)

    def _arrive(self, end: int, data: bytes, now_us: float) -> None:
        self._arrivals.append(Arrival(end, data, now_us))
