"""Many radios on one channel behind their serial lines, event by event in virtual time.

The serial sides are those of a pair (ends.py); the channel is `Medium`. Every port of a network receives
every packet of the others that reaches it, as radios in their transparent mode do; ports with another network
number (or packet length, rate, key) do not take it, but are in its way on the same frequency. There are no
acknowledgements on the air: a packet for all has none in any radio of the catalogue.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from motecrypt.air.radios.air import air_time_us
from motecrypt.air.radios.catalog import Radio
from motecrypt.air.radios.channel import Channel
from motecrypt.air.radios.ends import Ends, Passage, Tally
from motecrypt.air.radios.levels import LEVEL_DBM, Levels
from motecrypt.air.radios.medium import Frame, Medium, Verdict, jain
from motecrypt.base.errors import InputError

NODES_MAX = 250
LATENCIES_KEPT = 100_000
PERCENTILES = (50, 90, 99)


@dataclass
class PortTally:
    """The outcome of the packets of one port, and of those of others at it.

    Attributes
    ----------
    sent, air_time_us : packets on the air, and for how long.
    waited : packets that found the channel taken; given_up : packets that never found it free.
    wanted, reached : possible and actual receptions of its packets by others of its network.
    hearing : the packets for this port: `delivered` (with duplicates), lost, damaged, doubled, overtaken.
    received : packets of others that this port had off the air, before loss.
    captured : of those, with another on the air.
    collided, deaf, faint : packets that it had not: destroyed, while it was sending, too weak.
    received_bytes : payload of what it received, after loss.
    """

    sent: int = 0
    air_time_us: float = 0.0
    waited: int = 0
    given_up: int = 0
    wanted: int = 0
    reached: int = 0
    received: int = 0
    captured: int = 0
    collided: int = 0
    deaf: int = 0
    faint: int = 0
    received_bytes: int = 0
    hearing: Tally = field(default_factory=Tally)


class RadioNetwork(Ends):
    """Modules of one kind on one channel, ends 0 to `nodes` - 1.

    Parameters
    ----------
    radio : Radio
        What all are, as they come from the box; the command mode changes each for itself.
    nodes : int
        2 to `NODES_MAX`.
    channel : Channel
        Loss, bit errors, duplicates and reordering on every way; `levels` may have another loss for some.
    levels : Levels
        Who receives whom how loudly; without them all receive all equally.

    Raises
    ------
    InputError
        Another number of nodes.
    """

    def __init__(
        self, radio: Radio, nodes: int, channel: Channel | None = None, levels: Levels | None = None
    ) -> None:
        if not 2 <= nodes <= NODES_MAX:
            raise InputError(f"{nodes} nodes on a channel; give 2 to {NODES_MAX}")
        self.channel = channel or Channel()
        seed = self.channel.seed
        super().__init__(radio, (random.Random(f"{seed} port {number}") for number in range(nodes)))
        # Where nobody said how loud, all are equal, and nothing is too faint.
        equal = levels is None or (not levels.dbm and levels.other_dbm == LEVEL_DBM)
        self._loss = {} if levels is None else levels.loss
        self._channels: dict[float, Channel] = {}
        self._medium = Medium(
            self,
            radio,
            nodes,
            self._ended,
            levels=None if equal else levels,
            gave_up=self._gave_up,
            seed=seed,
        )
        self._tallies = tuple(PortTally() for _ in range(nodes))
        self._latencies_us: deque[float] = deque(maxlen=LATENCIES_KEPT)
        self._reached_bytes = 0

    @property
    def nodes(self) -> int:
        """How many ports there are."""
        return len(self._ends)

    def tally(self, end: int) -> PortTally:
        """The outcome of the packets of that port, and of others' packets at it."""
        return self._tallies[end]

    def _ready(self, end: int, packet: bytes, now_us: float) -> None:
        self._medium.offer(end, packet, self._ends[end].module.settings.network(), now_us)

    def _set_anew(self, end: int) -> None:
        state = self._ends[end]
        self._medium.set_radio(end, state.radio, state.module.settings.channel)

    def _gave_up(self, frame: Frame) -> None:
        tally = self._tallies[frame.sender]
        tally.waited += 1
        tally.given_up += 1
        self.left(frame.sender, self.now_us)

    def _channel(self, sender: int, receiver: int) -> Channel:
        loss = self._loss.get((sender, receiver))
        if loss is None or loss == self.channel.loss:
            return self.channel
        return self._channels.setdefault(loss, replace(self.channel, loss=loss))

    def _ended(self, frame: Frame) -> None:
        """A packet has ended: decide what each other port receives."""
        source = self._tallies[frame.sender]
        source.sent += 1
        source.waited += frame.waited
        source.air_time_us += frame.end_us - frame.start_us
        self.left(frame.sender, frame.end_us)
        sender = self._ends[frame.sender].radio
        full_us = air_time_us(sender, sender.packet_bytes)
        reached = 0
        for end, state in enumerate(self._ends):
            if end == frame.sender:
                continue
            verdict = self._medium.verdict(frame, end)  # of each: later ones build on it
            if state.module.settings.network() != frame.network:
                continue
            source.wanted += 1
            reached += self._take(frame, end, verdict, full_us)
        source.reached += reached
        if reached:
            self._reached_bytes += len(frame.data)
            self._latencies_us.append(frame.end_us - frame.ready_us)

    def _take(self, frame: Frame, end: int, verdict: Verdict, full_us: float) -> bool:
        """Whether a port of the packet's network got it."""
        tally = self._tallies[end]
        if verdict in (Verdict.HEARD, Verdict.CAPTURED):
            tally.received += 1
            tally.captured += verdict is Verdict.CAPTURED
            lost = tally.hearing.lost
            channel = self._channel(frame.sender, end)
            self._pass_on(end, frame.data, Passage(channel, tally.hearing, full_us), frame.end_us)
            if tally.hearing.lost > lost:
                return False
            tally.received_bytes += len(frame.data)
            return True
        tally.collided += verdict is Verdict.COLLIDED
        tally.deaf += verdict is Verdict.DEAF
        tally.faint += verdict is Verdict.FAINT
        return False

    def summary(self) -> dict[str, Any]:
        """Goodput, fairness and latency so far, as plain numbers.

        Returns
        -------
        dict
            `goodput_bps`: payload bits a second that reached at least one port of their network;
            `fairness`: Jain's index over the ports that sent, of the share of receptions that came about
            (None before anything was sent); `latency_us`: percentiles, of the packets that reached a port
            (of the last 100,000), from the moment that the packet was complete in its radio to its end on
            the air.
        """
        seconds = self.now_us / 1e6
        shares = [tally.reached / tally.wanted for tally in self._tallies if tally.wanted]
        return {
            "seconds": round(seconds, 6),
            "goodput_bps": round(8 * self._reached_bytes / seconds, 3) if seconds else 0.0,
            "fairness": round(jain(shares), 6) if shares else None,
            "latency_us": percentiles(list(self._latencies_us)),
        }

    def port_summary(self, end: int) -> dict[str, Any]:
        """The counts of one port, as plain numbers."""
        tally = self._tallies[end]
        hearing = tally.hearing
        return {
            "sent": tally.sent,
            "waited": tally.waited,
            "given_up": tally.given_up,
            "air_time_us": round(tally.air_time_us, 3),
            "wanted": tally.wanted,
            "reached": tally.reached,
            "received": tally.received - hearing.lost,
            "received_bytes": tally.received_bytes,
            "captured": tally.captured,
            "collided": tally.collided,
            "deaf": tally.deaf,
            "faint": tally.faint,
            "lost": hearing.lost,
            "duplicated": hearing.duplicated,
            "reordered": hearing.reordered,
        }


def percentiles(values_us: Sequence[float]) -> dict[str, float] | None:
    """Median, 90th and 99th percentile (nearest rank) and maximum; None of nothing."""
    if not values_us:
        return None
    ordered = sorted(values_us)
    ranks = {f"p{part}": ordered[-(-len(ordered) * part // 100) - 1] for part in PERCENTILES}
    return {name: round(value, 3) for name, value in (ranks | {"max": ordered[-1]}).items()}
