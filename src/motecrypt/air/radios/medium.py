"""One channel that many radios share, event by event in virtual time: who sends when, and who receives what.

It has no serial lines, settings or programs: the modules that build on it (network.py for ports, tests for
traffic alone) offer packets and ask, when a packet has ended, what each receiver got of it.

**Access.** What a radio does before it sends is its descriptor's `access` (catalog.py):

- `aloha`: it sends without listening first.
- `listen`: it waits until the channel is free, and then sends immediately.
- `csma-ca`: IEEE 802.15.4-2006, 7.5.1.4, unslotted: a random back-off, an assessment, again if it was busy.
- `dcf`: IEEE 802.11-2016, 10.3: immediately after DIFS of quiet, otherwise a back-off that stops while
  the channel is busy.

A packet that has begun at this very moment is not sensed yet, and a radio that turns from receiving to
sending senses nothing: these are the moments in which radios that listen collide.

**Reception.** Packets on one frequency that overlap in time collide. A receiver gets a packet under four
conditions. It did not send meanwhile. The packet's level is at or above its sensitivity. It was not bound to
an earlier packet when this one began. And the packet was at every moment stronger than the sum of the others
by the radio's capture ratio. A receiver is bound to a packet once it has found its preamble and sync word, of
any network; a stronger packet that begins before that replaces it, and one that begins later destroys both
(Whitehouse, Woo, Jiang, Polastre, Culler, Exploiting the capture effect for collision detection and recovery,
EmNetS-II 2005: receivers that do not resynchronise).
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from motecrypt.air.radios.air import air_time_us, lock_us
from motecrypt.air.radios.catalog import Radio
from motecrypt.air.radios.levels import Levels
from motecrypt.air.radios.schedule import Schedule

NEVER_US = -1e18
SLOTS_ROUNDING = 1e-6


class Verdict(Enum):
    """What a receiver has of a packet."""

    HEARD = "heard"
    CAPTURED = "captured"
    """Received although another packet was on the air."""
    COLLIDED = "collided"
    DEAF = "deaf"
    """It was sending itself."""
    FAINT = "faint"


@dataclass(eq=False, slots=True)
class Frame:
    """A packet on its way.

    Attributes
    ----------
    data : bytes
    network : object
        Whatever a receiver must share with the sender to take the packet.
    ready_us : when it was offered; start_us, end_us : when it is on the air.
    lock_us : when receivers are bound to it.
    band, rate : the frequency, and the air rate where it can be set.
    others : the packets that were on the air with it.
    unfinished : how many of those still are.
    bound : receivers by number: whether they were bound to it.
    """

    sender: int
    data: bytes
    network: object
    ready_us: float
    start_us: float = NEVER_US
    end_us: float = NEVER_US
    lock_us: float = NEVER_US
    band: int = 0
    rate: float = 0.0
    over: bool = False
    others: list[Frame] = field(default_factory=list)
    unfinished: int = 0
    bound: dict[int, bool] = field(default_factory=dict)
    waited: bool = False


@dataclass(eq=False, slots=True)
class Station:
    """One radio on the channel, and what it is about to send."""

    number: int
    radio: Radio
    random: random.Random
    band: int = 0
    rate: float = 0.0
    queue: deque[Frame] = field(default_factory=deque)
    engaged: bool = False
    free_us: float = NEVER_US
    tries: int = 0
    exponent: int = 0
    slots: int | None = None
    due_us: float = 0.0
    count_us: float = 0.0
    generation: int = 0


class Medium:
    """A channel and its stations.

    Parameters
    ----------
    schedule : Schedule
        The time that it runs in.
    radio : Radio
        What all stations are.
    stations : int
    ended : callable
        Called with each packet that is off the air, while `verdict` can be asked about it.
    levels : Levels, optional
        Without them all receive all equally loud.
    gave_up : callable, optional
        Called with a packet that its radio never sent, since the channel was never free.
    seed : of the back-offs.
    slot_us : float
        Packets of `aloha` radios begin at multiples of it (slotted ALOHA); 0: at any time.
    """

    def __init__(
        self,
        schedule: Schedule,
        radio: Radio,
        stations: int,
        ended: Callable[[Frame], None],
        levels: Levels | None = None,
        gave_up: Callable[[Frame], None] = lambda frame: None,
        seed: int = 1,
        slot_us: float = 0.0,
    ) -> None:
        self._schedule, self._at = schedule, schedule.at
        self._ended, self._gave_up, self._levels, self._slot_us = ended, gave_up, levels, slot_us
        self.stations = tuple(
            Station(number, radio, random.Random(f"{seed} back-off {number}")) for number in range(stations)
        )
        sharing = radio.sharing
        self._access: Callable[[Station, float], None] = {
            "aloha": self._aloha,
            "listen": self._listen,
            "csma-ca": self._csma,
            "dcf": self._dcf,
        }[sharing.access]
        figure = defaultdict(float, {name: found.value for name, found in sharing.figures.items()})
        self._cca_us, self._turn_us = figure["cca_us"], figure["cca_turn_us"]
        self._slot_backoff_us = figure["backoff_slot_us"]
        self._exponents = (
            int(figure["backoff_exponent_min"]),
            int(figure["backoff_exponent_max"]),
        )
        self._tries_max = int(figure["backoffs_max"])
        self._difs_us, self._window = figure["difs_us"], int(figure["backoff_slots"])
        self._counts = sharing.access == "dcf"
        space = figure["packet_space_us"]
        self._space_us = {"csma-ca": space, "dcf": 0.0}.get(sharing.access, radio.value("gap_us"))
        capture_db = sharing.known("capture_db")
        self._capture = None if capture_db is None else 10 ** (capture_db / 10)
        self._sensitivity_dbm, self._cca_dbm = sharing.known("sensitivity_dbm"), sharing.known("cca_dbm")
        self._on_air: list[Frame] = []
        self._recent: deque[Frame] = deque()
        self._horizon_us = 0.0
        self._waiting: list[Station] = []
        self._counting: list[Station] = []
        for station in self.stations:
            self.set_radio(station.number, radio, 0)

    # What others ask

    def set_radio(self, station: int, radio: Radio, band: int) -> None:
        """From now on that station sends with these figures, on that frequency."""
        state = self.stations[station]
        rate = radio.figures.get("air_rate_baud")
        state.radio, state.band, state.rate = radio, band, 0.0 if rate is None else rate.value
        needed = max(radio.value("turn_round_us"), self._cca_us, self._difs_us)
        self._horizon_us = max(
            self._horizon_us, needed + (self._window + 1) * self._slot_backoff_us * self._counts
        )

    def offer(self, station: int, data: bytes, network: object, now_us: float) -> None:
        """A packet is ready; it goes when its turn comes and the radio's way of access allows."""
        state = self.stations[station]
        state.queue.append(Frame(station, data, network, now_us))
        if not state.engaged:
            state.engaged = True
            self._turn(state, now_us)

    def verdict(self, frame: Frame, receiver: int) -> Verdict:
        """What that receiver has of a packet that is off the air; ask after the report that it ended."""
        others = frame.others
        bound = not others or self._bound(frame, receiver)
        if others and any(other.sender == receiver for other in others):
            return Verdict.DEAF
        if self._faint(frame, receiver):
            return Verdict.FAINT
        if not others:
            return Verdict.HEARD
        if bound and self._stronger(frame, receiver, frame.end_us):
            return Verdict.CAPTURED
        return Verdict.COLLIDED

    # Reception

    def _faint(self, frame: Frame, receiver: int) -> bool:
        if self._levels is None or self._sensitivity_dbm is None:
            return False
        return self._levels.level(frame.sender, receiver) < self._sensitivity_dbm

    def _power(self, sender: int, receiver: int) -> float:
        """The power with which the receiver has the sender, in mW, or of all the same."""
        return 1.0 if self._levels is None else 10 ** (self._levels.level(sender, receiver) / 10)

    def _stronger(self, frame: Frame, receiver: int, until_us: float) -> bool:
        """Whether the packet was always stronger than the sum of the others by the capture ratio."""
        if self._capture is None:
            return not frame.others
        bound_mw = self._power(frame.sender, receiver) / self._capture
        others = frame.others
        # The sum only grows when one begins.
        begins = {max(other.start_us, frame.start_us) for other in others if other.start_us < until_us}
        return all(
            sum(
                self._power(other.sender, receiver)
                for other in others
                if other.start_us <= begin_us < other.end_us
            )
            <= bound_mw
            for begin_us in begins
        )

    def _bound(self, frame: Frame, receiver: int) -> bool:
        """Whether the receiver found this packet's preamble and sync word, and was free to look for them."""
        known = frame.bound.get(receiver)
        if known is None:
            known = frame.bound[receiver] = self._binds(frame, receiver)
        return known

    def _binds(self, frame: Frame, receiver: int) -> bool:
        station = self.stations[receiver]
        if frame.band != station.band or frame.rate != station.rate:
            return False
        for other in frame.others:
            if other.sender == receiver:
                if other.start_us < frame.lock_us:
                    return False
            elif other.lock_us <= frame.start_us and self._held(other, receiver, frame.start_us):
                return False
        return not self._faint(frame, receiver) and self._stronger(frame, receiver, frame.lock_us)

    def _held(self, frame: Frame, receiver: int, at_us: float) -> bool:
        """Whether the receiver is bound to that packet and has not begun to send since."""
        sent = any(other.sender == receiver and other.start_us < at_us for other in frame.others)
        return not sent and self._bound(frame, receiver)

    # Sensing

    def _senses(self, station: Station, frame: Frame) -> bool:
        if frame.band != station.band or frame.sender == station.number:
            return False
        if self._levels is None or self._cca_dbm is None:
            return True
        return self._levels.level(frame.sender, station.number) >= self._cca_dbm

    def _busy(self, station: Station, now_us: float, window_us: float = 0.0) -> bool:
        """Whether the station senses the channel as taken, now or at some moment since `window_us` ago."""
        for frame in self._on_air:
            if frame.start_us < now_us and self._senses(station, frame):
                return True
        if window_us:
            for frame in self._recent:
                if frame.end_us > now_us - window_us and self._senses(station, frame):
                    return True
        return False

    def _quiet_since_us(self, station: Station) -> float:
        """When the last packet ended that the station sensed."""
        for frame in reversed(self._recent):
            if self._senses(station, frame):
                return frame.end_us
        return NEVER_US

    # Access

    def _turn(self, station: Station, now_us: float) -> None:
        """The next packet of a station: no sooner than its last one allows."""
        if station.free_us > now_us:
            self._at(station.free_us, lambda later_us: self._turn(station, later_us))
            return
        station.tries, station.exponent = 0, self._exponents[0]
        self._access(station, now_us)

    def _after_receiving(
        self, station: Station, now_us: float, again: Callable[[Station, float], None]
    ) -> bool:
        """Whether a turn-round has passed since the station received; otherwise it comes back then."""
        free_us = self._quiet_since_us(station) + station.radio.value("turn_round_us")
        if free_us <= now_us:
            return True
        self._at(free_us, lambda later_us: again(station, later_us))
        return False

    def _aloha(self, station: Station, now_us: float) -> None:
        if not self._after_receiving(station, now_us, self._aloha):
            return
        if self._slot_us:
            begin_us = -(-now_us // self._slot_us) * self._slot_us
            if begin_us > now_us:
                self._at(begin_us, lambda later_us: self._start(station, later_us))
                return
        self._start(station, now_us)

    def _wait(self, station: Station) -> None:
        station.queue[0].waited = True
        self._waiting.append(station)

    def _listen(self, station: Station, now_us: float) -> None:
        if self._busy(station, now_us):
            self._wait(station)
        elif self._after_receiving(station, now_us, self._listen):
            self._start_turned(station, now_us)

    def _start_turned(self, station: Station, now_us: float) -> None:
        """Turn from receiving to sending, deaf meanwhile."""
        if self._turn_us:
            self._at(now_us + self._turn_us, lambda later_us: self._start(station, later_us))
        else:
            self._start(station, now_us)

    def _csma(self, station: Station, now_us: float) -> None:
        slots = station.random.randrange(1 << station.exponent)
        due_us = now_us + slots * self._slot_backoff_us + self._cca_us
        self._at(due_us, lambda later_us: self._assess(station, later_us))

    def _assess(self, station: Station, now_us: float) -> None:
        if not self._busy(station, now_us, self._cca_us):
            self._start_turned(station, now_us)
            return
        station.queue[0].waited = True
        station.tries += 1
        station.exponent = min(station.exponent + 1, self._exponents[1])
        if station.tries <= self._tries_max:
            self._csma(station, now_us)
            return
        self._gave_up(station.queue.popleft())
        self._go_on(station, now_us)

    def _dcf(self, station: Station, now_us: float) -> None:
        if self._busy(station, now_us):
            if station.slots is None:
                station.slots = station.random.randrange(self._window + 1)
            self._wait(station)
            return
        count_us = max(self._quiet_since_us(station), station.free_us) + self._difs_us
        if station.slots is None and now_us < count_us:
            station.slots = station.random.randrange(self._window + 1)
        due_us = count_us + (station.slots or 0) * self._slot_backoff_us
        if due_us <= now_us:
            self._start(station, now_us)
            return
        station.count_us, station.due_us = count_us, due_us
        station.generation += 1
        generation = station.generation
        self._counting.append(station)
        self._at(due_us, lambda later_us: self._expire(station, generation, later_us))

    def _expire(self, station: Station, generation: int, now_us: float) -> None:
        if generation == station.generation and station in self._counting:
            self._counting.remove(station)
            self._start(station, now_us)

    def _stand_still(self, frame: Frame, now_us: float) -> None:
        """A packet begins: stations that count their back-offs stop, except those too late to sense it."""
        for station in self._counting[:]:
            if station.due_us <= now_us + self._cca_us or not self._senses(station, frame):
                continue
            self._counting.remove(station)
            slots = station.slots or 0
            gone = int((now_us - station.count_us) / self._slot_backoff_us + SLOTS_ROUNDING)
            station.slots = slots - min(max(gone, 0), slots)
            station.generation += 1
            self._wait(station)

    # The air

    def _start(self, station: Station, now_us: float) -> None:
        frame = station.queue.popleft()
        radio = station.radio
        frame.start_us, frame.band, frame.rate = now_us, station.band, station.rate
        frame.end_us = end_us = now_us + air_time_us(radio, len(frame.data))
        frame.lock_us = now_us + lock_us(radio)
        for other in self._on_air:
            if other.band == frame.band and other.end_us > now_us:
                other.others.append(frame)
                other.unfinished += 1
                frame.others.append(other)
                frame.unfinished += 1
        self._on_air.append(frame)
        if self._counting:
            self._stand_still(frame, now_us)
        self._at(end_us, lambda later_us: self._end(station, frame, later_us))

    def _end(self, station: Station, frame: Frame, now_us: float) -> None:
        self._on_air.remove(frame)
        recent = self._recent
        recent.append(frame)
        while recent[0].end_us < now_us - self._horizon_us:
            recent.popleft()
        station.free_us = now_us + self._space_us
        if self._counts:
            station.slots = station.random.randrange(self._window + 1)
        self._ended(frame)
        frame.over = True
        if frame.others:
            self._forget(frame)
        if self._waiting:
            woken, self._waiting = self._waiting, []
            for each in woken:
                self._access(each, now_us)
        self._go_on(station, now_us)

    def _forget(self, frame: Frame) -> None:
        """Drop what no verdict needs any more, so that a busy channel does not keep all packets forever."""
        for other in (*frame.others, frame):
            if other is not frame:
                other.unfinished -= 1
            if other.over and not other.unfinished:
                other.others = []

    def _go_on(self, station: Station, now_us: float) -> None:
        if station.queue:
            self._turn(station, now_us)
        else:
            station.engaged = False


def jain(shares: Sequence[float]) -> float:
    """Jain's index of fairness: 1 when all have the same, 1/n when one has all (DEC-TR-301, 1984)."""
    total = sum(shares)
    return total * total / (len(shares) * sum(share * share for share in shares)) if total else 1.0
