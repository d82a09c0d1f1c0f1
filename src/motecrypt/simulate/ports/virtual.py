"""Virtual radios in real time: pseudo-terminals joined by a pair of radios, or by many on one channel.

A pseudo-terminal ignores the baud rate and passes bytes on immediately, so this module keeps the timing: what
a program writes is put on the model's serial line at the moment it is read, and data that the model reports
as arrived is written at the moment it is due. Waiting for single bytes would drift; waiting for deadlines
does not. The system's timers are late by tens of microseconds and more, so the last stretch is spun.
"""

from __future__ import annotations

import os
import select
import time
import tty
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from motecrypt.air.radios import RadioNetwork, RadioPair
from motecrypt.base.errors import MotecryptError
from motecrypt.simulate.ports.bridge import VirtualBridge

SPIN_US = 600.0
"""Time before a deadline at which sleeping changes to spinning."""

READ_AHEAD_US = 80_000.0
"""A program's bytes are read while the model's line is booked for less than this ahead; beyond it the
program's write blocks, as it does once a real port's buffer is full."""

LOOK_US = 20_000.0
"""How often a line that is booked for longer is checked again."""

READ_BYTES = 512


@dataclass
class Pacing:
    """How late bytes were, against the model, in us: one figure for each packet or answer delivered."""

    late_us: list[float] = field(default_factory=list)
    overrun_bytes: int = 0

    def summary(self) -> dict[str, float]:
        """Count, median, 99th percentile and maximum in us, and bytes that no program read in time."""
        late = sorted(self.late_us)
        if not late:
            return {"deliveries": 0, "overrun_bytes": self.overrun_bytes}
        return {
            "deliveries": len(late),
            "median_us": round(late[len(late) // 2], 1),
            "p99_us": round(late[min(len(late) - 1, len(late) * 99 // 100)], 1),
            "max_us": round(late[-1], 1),
            "overrun_bytes": self.overrun_bytes,
        }


class VirtualRadios:
    """Pseudo-terminals and the radios between them. `ports` are the names that programs open; `bridges` are
    before radios with packets, one each.

    Raises
    ------
    MotecryptError
        The system gives no more pseudo-terminals.
    """

    def __init__(
        self, pair: RadioPair | RadioNetwork, nodes: int = 2, bridges: Sequence[VirtualBridge] = ()
    ) -> None:
        self.pair = pair
        self._bridges = bridges
        if bridges:
            pair.left = self._left
        self.pacing = Pacing()
        self._masters: list[int] = []
        self._slaves: list[int] = []
        for _ in range(nodes):
            try:
                master, slave = os.openpty()
            except OSError as error:
                got = len(self._masters)
                self.close()
                raise MotecryptError(
                    f"the system gives {got} pseudo-terminals of {nodes}: {error.strerror}; "
                    "end other programs, or take fewer nodes"
                ) from None
            tty.setraw(slave)
            os.set_blocking(master, False)
            self._masters.append(master)
            # Held open, so that a program that closes its port and opens it again finds all as it was.
            self._slaves.append(slave)
        self.ports = [os.ttyname(slave) for slave in self._slaves]
        self._start_ns = time.monotonic_ns()

    def close(self) -> None:
        """Take the ports away."""
        for handle in (*self._masters, *self._slaves):
            os.close(handle)

    def now_us(self) -> float:
        """The model's time: microseconds since the ports were made."""
        return (time.monotonic_ns() - self._start_ns) / 1000

    def run(self, stop: Callable[[], bool], wake: int | None = None, seconds: float | None = None) -> None:
        """Keep the pace until `stop` reports it, `wake` becomes readable or `seconds` are over."""
        end_us = None if seconds is None else self.now_us() + seconds * 1e6
        while not stop() and (end_us is None or self.now_us() < end_us):
            self._turn(end_us, wake)

    def _turn(self, end_us: float | None, wake: int | None) -> None:
        due = self.pair.next_us()
        now_us = self.now_us()
        wait_us = min(1e6 if due is None else due - now_us, 1e6 if end_us is None else end_us - now_us)
        arrival_next = self.pair.next_is_arrival()
        if arrival_next:
            while wait_us <= SPIN_US and due is not None and self.now_us() < due:
                pass
            wait_us -= SPIN_US
        booked = [self.pair.line_booked_us(end, now_us) >= READ_AHEAD_US for end in range(len(self._masters))]
        open_masters = [master for master, full in zip(self._masters, booked, strict=True) if not full]
        if any(booked):
            wait_us = min(wait_us, LOOK_US)
        waiting = [*open_masters, *([] if wake is None else [wake])]
        readable, _, _ = select.select(waiting, [], [], max(wait_us, 0.0) / 1e6)
        for end, master in enumerate(self._masters):
            if master in readable:
                self._read(end, master)
        for arrival in self.pair.advance(self.now_us()):
            self._deliver(arrival.end, arrival.data, arrival.time_us)

    def _read(self, end: int, master: int) -> None:
        try:
            data = os.read(master, READ_BYTES)
        except OSError:
            return
        if not self._bridges:
            self.pair.write(end, data, self.now_us())
            return
        for packet in self._bridges[end].heard(data, self.now_us()):
            self.pair.send(end, packet, self.now_us())
        self._hand_over(end, self._bridges[end].take_output())

    def _left(self, end: int, now_us: float) -> None:
        self._bridges[end].left(now_us)
        self._hand_over(end, self._bridges[end].take_output())

    def _deliver(self, end: int, data: bytes, due_us: float) -> None:
        if self._bridges:
            self._bridges[end].came(data, due_us)
            data = self._bridges[end].take_output()
        self._hand_over(end, data)
        self.pacing.late_us.append(self.now_us() - due_us)

    def _hand_over(self, end: int, data: bytes) -> None:
        try:
            written = os.write(self._masters[end], data)
        except BlockingIOError:
            written = 0
        self.pacing.overrun_bytes += len(data) - written
