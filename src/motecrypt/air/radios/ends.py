"""The radios' serial sides, independent of the channel: lines in and out, packets gathered, the command mode.

It uses no clock and no port: the caller passes the time in microseconds and gets what has arrived
by then. A ready packet is handled by the modules that build on this: two radios that never
collide (pair.py), or many on one channel (network.py).

Assumptions, where the makers are silent: a radio takes serial bytes in while it sends; buffers are large
enough; a packet's bytes leave the receiver's serial port back to back.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from motecrypt.air.radios.catalog import Radio
from motecrypt.air.radios.channel import Channel
from motecrypt.air.radios.module import COMMAND_TIMEOUT_US, GUARD_US, Module
from motecrypt.air.radios.schedule import Schedule


@dataclass(frozen=True)
class Arrival:
    """Bytes that a program at `end` (0 and up) can read from `time_us` on."""

    end: int
    data: bytes
    time_us: float


@dataclass
class Tally:
    """The outcome of packets on one way."""

    sent: int = 0
    delivered: int = 0
    lost: int = 0
    unheard: int = 0
    duplicated: int = 0
    reordered: int = 0
    air_time_us: float = 0.0


@dataclass
class End:
    """One radio between its serial line and the air."""

    module: Module
    radio: Radio
    random: random.Random
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


@dataclass(frozen=True)
class Passage:
    """What a packet passes on its way to one end, where it is counted, and how long a full one takes."""

    channel: Channel
    tally: Tally
    full_packet_us: float


class Ends(Schedule, ABC):
    """Modules of one kind, from end 0 on, each behind its serial line.

    Parameters
    ----------
    radio : Radio
        What all are, as they come from the box; the command mode changes each for itself.
    randoms : iterable of Random
        One for each end: of what befalls packets on their way to it.
    """

    def __init__(self, radio: Radio, randoms: Iterable[random.Random]) -> None:
        super().__init__()
        self._ends = tuple(
            End(Module(radio, serial_number=f"{number + 1:08X}"), radio, generator)
            for number, generator in enumerate(randoms)
        )
        self._arrivals: list[Arrival] = []
        self.left: Callable[[int, float], None] = lambda end, now_us: None
        """Called when a packet of an end has ended on the air, or was given up, with the time."""

    @abstractmethod
    def _ready(self, end: int, packet: bytes, now_us: float) -> None:
        """The next packet of that end may go on the air."""

    def _set_anew(self, end: int) -> None:
        """The settings of that end may have changed."""

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

    def send(self, end: int, packet: bytes, now_us: float) -> None:
        """A program of a radio with packets hands one over at that time."""
        self.now_us = max(self.now_us, now_us)
        self._ready(end, packet, self.now_us)

    def advance(self, until_us: float) -> list[Arrival]:
        """Let time pass; what has arrived by then, in order of time."""
        self.pass_until(until_us)
        arrived, self._arrivals = self._arrivals, []
        return arrived

    def line_booked_us(self, end: int, now_us: float) -> float:
        """For how long from now the serial line into that radio is taken by bytes already written."""
        state = self._ends[end]
        waiting = sum(map(len, state.incoming)) * state.radio.serial_byte_us
        return max(state.line_free_us - now_us, 0.0) + waiting

    def module(self, end: int) -> Module:
        """The module at that end."""
        return self._ends[end].module

    def radio(self, end: int) -> Radio:
        """The radio at that end under the settings in force."""
        return self._ends[end].radio

    # Serial line into the radio

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
        self.at(state.line_free_us, lambda now_us: self._segment(end, data, begin_us, now_us))

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
        self.at(now_us + wait_us, lambda later_us: self._guard(end, seen, now_us, later_us))

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
        self.at(now_us + COMMAND_TIMEOUT_US, lambda later_us: self._command_timeout(end, later_us))

    def _command_timeout(self, end: int, now_us: float) -> None:
        state = self._ends[end]
        if not state.module.commanding:
            return
        due_us = state.last_command_us + COMMAND_TIMEOUT_US
        if now_us < due_us:  # a difference of the two might always be rounded to less than the timeout
            self.at(due_us, lambda later_us: self._command_timeout(end, later_us))
        else:
            state.module.commanding = False

    def _command(self, end: int, data: bytes, now_us: float) -> None:
        state = self._ends[end]
        state.last_command_us = now_us
        answers, rest = state.module.feed(data)
        state.radio = state.module.apply()
        self._set_anew(end)
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
            self.at(due_us, lambda later_us: self._flush(end, generation, later_us))

    def _flush(self, end: int, generation: int, now_us: float) -> None:
        state = self._ends[end]
        if generation != state.generation:
            return
        if state.line_busy and state.radio.serial_byte_us:
            # Bytes are on the line right now: the timeout counts from the last of them.
            return
        self._ready(end, bytes(state.gathered), now_us)
        state.gathered.clear()

    def _pass_on(self, end: int, packet: bytes, air: Passage, now_us: float) -> None:
        """A packet that nothing on the air destroyed comes to that end: lost, damaged, doubled, overtaken."""
        target, channel, tally = self._ends[end], air.channel, air.tally
        arrived = channel.damage(target.random, packet)
        held, target.held = target.held, None
        if arrived is None:
            tally.lost += 1
        elif channel.reorder and held is None and target.random.random() < channel.reorder:
            tally.reordered += 1
            target.held = arrived
            target.held_generation += 1
            generation = target.held_generation
            due_us = now_us + 4 * air.full_packet_us + 10_000
            self.at(due_us, lambda later_us: self._release(end, tally, generation, later_us))
        else:
            self._deliver(end, arrived, tally, now_us)
            if channel.duplicate and target.random.random() < channel.duplicate:
                tally.duplicated += 1
                self._deliver(end, arrived, tally, now_us)
        if held is not None:
            self._deliver(end, held, tally, now_us)

    def _release(self, end: int, tally: Tally, generation: int, now_us: float) -> None:
        target = self._ends[end]
        if target.held is not None and target.held_generation == generation:
            held, target.held = target.held, None
            self._deliver(end, held, tally, now_us)

    def _deliver(self, end: int, packet: bytes, tally: Tally, now_us: float) -> None:
        tally.delivered += 1
        self._answer(end, packet, now_us)

    # Serial line out of the radio

    def _answer(self, end: int, data: bytes, now_us: float) -> None:
        state = self._ends[end]
        begin_us = max(now_us, state.out_free_us)
        state.out_free_us = begin_us + len(data) * state.radio.serial_byte_us
        self.at(state.out_free_us, lambda later_us: self._arrive(end, data, later_us), True)

    def _arrive(self, end: int, data: bytes, now_us: float) -> None:
        self._arrivals.append(Arrival(end, data, now_us))
