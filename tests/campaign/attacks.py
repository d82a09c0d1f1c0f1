"""What forgeries and noise cost a link with one reading a minute: deliveries during and after them, and work.

The radio loses nothing here: every message that is missing is the attack's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from link_ports import FaultyLink
from motecrypt.catalog import Catalog
from motecrypt.link.native import GATEWAY, LISTENS, LONG, SHORT, Event, KeyBlock

READING = b"21.4 C"
PACKET_BYTES = 12
KEY = bytes(range(16))
WAYS = {"sends only": SHORT, "listens": SHORT | LISTENS}
"""Nodes, by the options of their key block. Neither asks for confirmations of its readings."""
RATES = {"none": 0.0, "one an hour": 1 / 60, "one a minute": 1.0, "ten a second": 600.0}
"""Forged short packets, for each reading."""
DAYS, AFTER = 5, 32
REFUSE_CYCLES, ANSWER_CYCLES = 249_256, 59_656
"""Of an UNO with `aes_tiny`: a forged short packet is refused and noted; an answer is made."""
STORED_BYTES = 40
"""At most, of the EEPROM, for each packet that is noted: two slots."""
MINUTES_A_DAY = 24 * 60


@dataclass
class Outcome:
    """Of an attack.

    Attributes
    ----------
    during : share of the readings delivered in its last quarter, when it has taken full effect.
    at_once : share of the first `AFTER` readings after it.
    after : share of the 1,000 readings behind those.
    before : share of the 1,000 readings before it.
    forged : forged packets.
    verified : those whose tag was computed: each is one opening, and one record in storage.
    answered : packets that the receiver has sent because of them.
    """

    before: float = 0.0
    during: float = 0.0
    at_once: float = 0.0
    after: float = 0.0
    forged: int = 0
    verified: int = 0
    answered: int = 0


class Line:
    """A node and its gateway, and whatever comes between."""

    def __init__(self, options: int, seed: int, *defines: str) -> None:
        self.random = Random(seed)
        self.node, self.gateway = FaultyLink("aes128-ccm", *defines), FaultyLink("aes128-ccm", *defines)
        for end, side in ((self.node, 0), (self.gateway, GATEWAY)):
            end.provision(KeyBlock(5, options | side, PACKET_BYTES, 1, KEY))
            assert end.begin() is Event.NOTHING

    def forge(self) -> Event:
        """A packet of somebody without the key, under a counter that may come."""
        low = self.gateway.next & 0xFF
        return self.gateway.receive(bytes([5, low]) + self.random.randbytes(PACKET_BYTES - 2))

    def reading(self, noise: float = 0.0) -> bool:
        """Send one and carry it, and what is answered; whether it was delivered. `noise`: packets changed."""
        self.node.send(READING)
        delivered = False
        for _ in range(12):
            packets = self.node.packets()
            for packet in packets:
                if self.random.random() < noise:
                    bit = self.random.randrange(8 * len(packet))
                    packet = bytearray(packet)
                    packet[bit // 8] ^= 1 << bit % 8
                if self.gateway.receive(bytes(packet)) is Event.MESSAGE:
                    delivered = True
                    self.gateway.answer(True)
            for packet in self.gateway.packets():
                self.node.receive(packet)
            if not self.node.waiting:
                break
            self.node.now += 250
            self.node.poll(self.node.now)
        return delivered


def outcome(options: int, rate: float, days: float = DAYS, seed: int = 0, *defines: str) -> Outcome:
    """Of an attack that takes so long, with so many forged packets for each reading."""
    line, found = Line(options, seed, *defines), Outcome()
    line.reading()
    found.before = _share(line.reading() for _ in range(1000))
    due, delivered = 0.0, []
    for _ in range(int(days * MINUTES_A_DAY)):
        due += rate
        answers = len(line.gateway.packets())
        while due >= 1:
            due -= 1
            found.forged += 1
            found.verified += line.forge() is Event.FORGED
        found.answered += len(line.gateway.packets()) - answers
        delivered.append(line.reading())
    found.during = _share(iter(delivered[-len(delivered) // 4 :]))
    found.at_once = _share(line.reading() for _ in range(AFTER))
    found.after = _share(line.reading() for _ in range(1000))
    return found


@dataclass
class Harm:
    """Of an attack on a node that listens and sends a reading a minute.

    Attributes
    ----------
    forged, verified, answered : packets, as of `Outcome`.
    joules : of an UNO's chip that is awake for them alone, with its EEPROM and without its radio.
    """

    forged: int = 0
    verified: int = 0
    answered: int = 0

    @property
    def joules(self) -> float:
        """At most."""
        uno = Catalog.load().device("uno")
        current = uno.current("active", "chip")
        assert current is not None
        busy_s = (self.verified * REFUSE_CYCLES + self.answered * ANSWER_CYCLES) / uno.clock_hz
        busy_s += self.verified * STORED_BYTES * uno.extra["store_byte_us"] / 1e6
        return float(uno.volts * current.milliamperes / 1000 * busy_s)


def harm(rate: float, fragments: bool, days: float = DAYS, seed: int = 0) -> Harm:
    """Of so many forged packets for each reading: short ones, or fragments, which want answers."""
    line, found = Line(WAYS["listens"], seed), Harm()
    node, due, now_ms = line.node, 0.0, 0
    line.reading()
    line.gateway.send(READING, LONG)  # from then on the node reads short packets, too
    for packet in line.gateway.packets():
        node.receive(packet)
    for _ in range(int(days * MINUTES_A_DAY)):
        for part in range(max(1, int(rate))):
            due += rate / max(1, int(rate))
            node.at(now_ms + int(60_000 * part / max(1, int(rate))))
            while due >= 1:
                due -= 1
                found.forged += 1
                head = bytes([0x85, part & 0xFF, 0xC1]) if fragments else bytes([5, node.next & 0xFF])
                found.verified += (
                    node.receive((head + line.random.randbytes(12))[:PACKET_BYTES]) is Event.FORGED
                )
        found.answered += len(node.packets())
        now_ms += 60_000
        line.reading()
    return found


def noisy(options: int, noise: float, readings: int, seed: int = 0) -> tuple[float, float]:
    """The shares delivered of the first and last 10,000 readings, where so many packets are changed."""
    line = Line(options, seed)
    delivered = [line.reading(noise) for _ in range(readings)]
    return _share(iter(delivered[:10_000])), _share(iter(delivered[-10_000:]))


def _share(delivered: Iterator[bool]) -> float:
    taken = list(delivered)
    return sum(taken) / len(taken)


def report() -> int:
    """Print a table of all; 0 when the promises of docs/link.md hold."""
    print(f"{'node':12}{'forged':14}{'before':>8}{'during':>8}", end="")
    print(f"{'first 32':>10}{'after':>8}{'verified':>10}{'answers':>9}")
    held = True
    for way, options in WAYS.items():
        for name, rate in RATES.items():
            found = outcome(options, rate)
            shares = f"{found.before:8.1%}{found.during:8.1%}{found.at_once:10.1%}{found.after:8.1%}"
            print(f"{way:12}{name:14}{shares}{found.verified:10,}{found.answered:9,}", flush=True)
            held = held and found.after >= 0.99 * found.before and found.answered == 0
            held = held and (rate > RATES["one an hour"] or found.during >= 0.9)
        first, last = noisy(options, 0.01, 500_000)
        print(
            f"{way:12}{'1 % noise':14}{first:8.1%}{last:8.1%} of the first and last 10,000 of 500,000",
            flush=True,
        )
        held = held and last >= 0.97
    print(f"{'a node gets':26}{'short':>10}{'verified':>10}{'J':>7}{'fragments':>11}{'answers':>9}{'J':>7}")
    for name, rate in RATES.items():
        short, long = harm(rate, False), harm(rate, True)
        words = f"{short.forged:10,}{short.verified:10,}{short.joules:7.2f}"
        words += f"{long.forged:11,}{long.answered:9,}{long.joules:7.2f}"
        print(f"{name:26}{words}", flush=True)
    return 0 if held else 1
