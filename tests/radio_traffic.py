"""Traffic alone on one channel: many nodes that send to one gateway, weeks of it within seconds. Pure.

No serial lines, no link, no answers: the capacity of the channel itself. It also has the closed forms that
the model must agree with where they hold (Abramson 1970; Roberts 1975; Kleinrock and Tobagi 1975).
"""

from __future__ import annotations

import math
import random
from array import array
from dataclasses import dataclass, field

from motecrypt.air.radios.air import air_time_us
from motecrypt.air.radios.catalog import Radio
from motecrypt.air.radios.levels import Levels
from motecrypt.air.radios.medium import Frame, Medium, Verdict, jain
from motecrypt.air.radios.network import percentiles
from motecrypt.air.radios.schedule import Schedule
from motecrypt.base.errors import InputError

SECONDS_MAX = 366 * 86_400.0


@dataclass(frozen=True)
class OfferedTraffic:
    """What nodes send to their gateway.

    Attributes
    ----------
    nodes : 1 or more; the gateway is one more, number 0, and only listens.
    payload_bytes : of each packet.
    interval_s : mean time between two packets of a node.
    seconds : of traffic.
    periodic : each node at its own phase, then every `interval_s` exactly; otherwise at random (Poisson).
    slot_us : packets begin at multiples of it (slotted ALOHA); 0: whenever they may.
    seed : of all that is random.
    """

    nodes: int
    payload_bytes: int
    interval_s: float
    seconds: float
    periodic: bool = False
    slot_us: float = 0.0
    seed: int = 1

    def __post_init__(self) -> None:
        if self.nodes < 1:
            raise InputError(f"{self.nodes} nodes; give 1 or more")
        if not 0 < self.interval_s < math.inf:
            raise InputError(f"a packet every {self.interval_s} s; give a time above 0")
        if not 0 < self.seconds <= SECONDS_MAX:
            raise InputError(f"{self.seconds} s of traffic; give more than 0, at most a year")

    def offered(self, radio: Radio) -> float:
        """The load offered: air time a second, of all nodes together."""
        return float(self.nodes * air_time_us(radio, self.payload_bytes) / (self.interval_s * 1e6))


@dataclass
class Carried:
    """The outcome of the traffic, as received by the gateway.

    Attributes
    ----------
    radio, traffic
    offered : packets that nodes wanted to send; sent : that continued the air.
    received : that the gateway has; captured : of those, with another on the air.
    collided, faint : that it has not. waited, given_up : as in `PortTally`.
    by_node : received, by node; the first is node 1.
    """

    radio: Radio
    traffic: OfferedTraffic
    offered: int = 0
    sent: int = 0
    received: int = 0
    captured: int = 0
    collided: int = 0
    faint: int = 0
    waited: int = 0
    given_up: int = 0
    by_node: list[int] = field(default_factory=list)
    latencies_us: array[float] = field(default_factory=lambda: array("d"))

    @property
    def throughput(self) -> float:
        """Air time of packets received, a second: Abramson's S."""
        time_us = float(air_time_us(self.radio, self.traffic.payload_bytes))
        return self.received * time_us / (self.traffic.seconds * 1e6)

    @property
    def goodput_bps(self) -> float:
        """Payload bits received a second."""
        return 8 * self.received * self.traffic.payload_bytes / self.traffic.seconds

    @property
    def share(self) -> float:
        """The share of what was offered that arrived."""
        return self.received / self.offered if self.offered else 1.0

    @property
    def fairness(self) -> float:
        """Jain's index of what arrived from each node."""
        return jain(self.by_node)

    @property
    def latency_us(self) -> dict[str, float] | None:
        """Percentiles, from the wish to send to the end on the air, of what arrived."""
        return percentiles(self.latencies_us)


def carry(radio: Radio, traffic: OfferedTraffic, levels: Levels | None = None) -> Carried:
    """Let the traffic pass over one channel, in virtual time.

    Raises
    ------
    InputError
        The radio does not take packets of that length.
    """
    if not 1 <= traffic.payload_bytes <= radio.value("packet_bytes_max"):
        raise InputError(
            f"radio {radio.name}: packets of {traffic.payload_bytes} bytes; "
            f"it takes 1 to {radio.value('packet_bytes_max'):g}"
        )
    schedule, told = Schedule(), Carried(radio, traffic, by_node=[0] * traffic.nodes)

    def ended(frame: Frame) -> None:
        told.sent += 1
        told.waited += frame.waited
        verdict = medium.verdict(frame, 0)
        if verdict is Verdict.HEARD or verdict is Verdict.CAPTURED:
            told.received += 1
            told.captured += verdict is Verdict.CAPTURED
            told.by_node[frame.sender - 1] += 1
            told.latencies_us.append(frame.end_us - frame.ready_us)
        elif verdict is Verdict.COLLIDED:
            told.collided += 1
        else:
            told.faint += 1

    def gave_up(frame: Frame) -> None:
        told.waited += 1
        told.given_up += 1

    medium = Medium(
        schedule,
        radio,
        traffic.nodes + 1,
        ended,
        levels=levels,
        gave_up=gave_up,
        seed=traffic.seed,
        slot_us=traffic.slot_us,
    )
    end_us, mean_us, data = 1e6 * traffic.seconds, 1e6 * traffic.interval_s, bytes(traffic.payload_bytes)

    def begin(node: int) -> None:
        chance = random.Random(f"{traffic.seed} traffic {node}")

        def wish(now_us: float) -> None:
            told.offered += 1
            next_us = now_us + (mean_us if traffic.periodic else chance.expovariate(1.0) * mean_us)
            if next_us < end_us:
                schedule.at(next_us, wish)
            medium.offer(node, data, None, now_us)

        first_us = mean_us * (chance.random() if traffic.periodic else chance.expovariate(1.0))
        if first_us < end_us:
            schedule.at(first_us, wish)

    for node in range(1, traffic.nodes + 1):
        begin(node)
    while (due_us := schedule.next_us()) is not None:
        schedule.pass_until(due_us)
    return told


# --- closed forms: throughput of equal packets under Poisson load G of very many nodes, without capture ----


def pure_aloha(load: float) -> float:
    """S = G exp(-2G): a packet survives if no other begins within one packet time before or after it."""
    return load * math.exp(-2 * load)


def slotted_aloha(load: float) -> float:
    """S = G exp(-G): a packet survives if it is alone in its slot."""
    return load * math.exp(-load)


def nonpersistent_csma(load: float, blind: float, tail: float) -> float:
    """Radios that sense once, and give the packet up if the channel is taken.

    Kleinrock and Tobagi 1975, unslotted non-persistent CSMA, with the two delays apart: a packet is not
    sensed for `blind` after its sender has decided, and the channel counts as taken until `tail` after the
    last bit; both in packet times, `tail` measured from one packet time after the decision. With
    `blind` = `tail` = a it is their S = G exp(-aG) / (G (1 + 2a) + exp(-aG)).

    Cycle: a first decision; it survives if none follows within `blind`. The channel is taken until the last
    of those has sent, Y after the first, E[Y] = blind - (1 - exp(-blind G)) / G; then it is free for 1/G.
    """
    alone = math.exp(-blind * load)
    return load * alone / (load * (1 + blind + tail) + alone)


def one_persistent_csma(load: float) -> float:
    """Radios that wait for the end of the packet on the air and then all send, without any delay.

    Kleinrock and Tobagi 1975: S = G (1 + G) exp(-G) / (G + exp(-G)).
    """
    return load * (1 + load) * math.exp(-load) / (load + math.exp(-load))
