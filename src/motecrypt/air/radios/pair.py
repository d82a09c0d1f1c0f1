"""Two radios that receive each other, event by event in virtual time.

Driven by a loop it is a simulation that runs as fast as the machine; driven by a clock (ports/virtual.py)
it is an emulator that programs connect to.

Assumptions, where the makers are silent, next to those of ends.py: one packet is on the air at a time and a
radio waits for a free channel (so packets do not collide; in network.py they do).
"""

from __future__ import annotations

from motecrypt.air.radios.air import air_time_us
from motecrypt.air.radios.catalog import Radio
from motecrypt.air.radios.channel import Channel
from motecrypt.air.radios.ends import Ends, Passage, Tally


class RadioPair(Ends):
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
        super().__init__(radio, [self.channel.generator()] * 2)
        self._air_free_us = 0.0
        self._last_air_end_us = -1e18
        self._last_sender = -1

    def tally(self, end: int) -> Tally:
        """The outcome of the packets that this end sent."""
        return self._ends[end].tally

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
            self.at(start_us, self._pump)
            return
        state = self._ends[end]
        _, packet = state.queue.popleft()
        time_us = air_time_us(state.radio, len(packet))
        self._air_free_us = now_us + time_us + state.radio.value("gap_us")
        self._last_air_end_us, self._last_sender = now_us + time_us, end
        state.tally.sent += 1
        state.tally.air_time_us += time_us
        self.at(now_us + time_us, lambda later_us: self._heard(end, packet, later_us))
        if any(other.queue for other in self._ends):
            self.at(self._air_free_us, self._pump)

    def _heard(self, sender: int, packet: bytes, now_us: float) -> None:
        """A packet has ended: decide what the other end receives."""
        source, target = self._ends[sender], self._ends[1 - sender]
        self.left(sender, now_us)
        if source.module.settings.network() != target.module.settings.network():
            source.tally.unheard += 1
            return
        full_us = air_time_us(source.radio, source.radio.packet_bytes)
        self._pass_on(1 - sender, packet, Passage(self.channel, source.tally, full_us), now_us)
