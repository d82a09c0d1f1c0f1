"""The question what nodes that share a channel deliver to their gateway over the secure link."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from motecrypt.air.radios import load_radio
from motecrypt.results import Results
from motecrypt.results.experiments import Answer, ExperimentQuestion

KIND = "radio crowd"
VERSION = 1
SHARE = 0.99
"""Below this share of readings delivered, a network has broken down."""


@dataclass(frozen=True)
class CrowdRow:
    """One network: what was sent, and what the gateway has of it.

    Attributes
    ----------
    nodes, interval_s
        How many nodes there are, and how often each has a reading to send.
    readings, skipped
        Readings due; of those, readings not sent because the one before still waited for its answer.
    share
        The share of the readings due that the gateway has.
    packets, packets_again, answers
        Packets of the nodes; of those, repetitions; packets of the gateway.
    collided, deaf
        Packets of nodes that the gateway lost to collisions, or because it was sending.
    air_share
        Air time of all packets, a second.
    goodput_bps, fairness
        Bits of readings a second at the gateway; Jain's index of the readings delivered, by node.
    latency_p50_ms, latency_p90_ms, latency_p99_ms, latency_max_ms
        From the reading to the gateway's program; None where nothing arrived.
    """

    nodes: int
    interval_s: float
    readings: int
    skipped: int
    share: float
    packets: int
    packets_again: int
    answers: int
    collided: int
    deaf: int
    air_share: float
    goodput_bps: float
    fairness: float
    latency_p50_ms: float | None = None
    latency_p90_ms: float | None = None
    latency_p99_ms: float | None = None
    latency_max_ms: float | None = None


@dataclass(frozen=True)
class CrowdAnswer(Answer):
    """A row for each network."""

    rows: tuple[CrowdRow, ...]


@dataclass(frozen=True)
class CrowdQuestion(ExperimentQuestion):
    """Networks on one radio.

    Attributes
    ----------
    radio : name of the radio.
    confirmed : whether each reading is answered, and sent again without an answer.
    spread_ms : node n waits n times this longer for an answer than the link's deadline says.
    networks : nodes and interval in seconds of each.
    seconds : how long readings are sent.
    """

    KIND: ClassVar[str] = KIND
    VERSION: ClassVar[int] = VERSION
    ANSWER: ClassVar[type[Answer]] = CrowdAnswer

    radio: str
    confirmed: bool
    spread_ms: float
    networks: tuple[tuple[int, float], ...]
    seconds: float

    def answer(self, results: Results) -> CrowdAnswer | None:
        """The newest stored answer, or None where there is none of its shape."""
        found = self.find(results)
        return None if found is None else CrowdAnswer.from_json(found.outcome)

    def asked(self) -> dict[str, Any]:
        """The request, with all figures of the radio: a changed one is another question."""
        radio = load_radio(self.radio)

        def values(figures: Mapping[str, Any]) -> dict[str, float]:
            return {name: figure.value for name, figure in figures.items()}

        return {
            "radio": self.radio,
            "figures": values(radio.figures),
            "sharing": {"access": radio.sharing.access, **values(radio.sharing.figures)},
            "confirmed": self.confirmed,
            "spread_ms": self.spread_ms,
            "networks": [list(network) for network in self.networks],
            "seconds": self.seconds,
        }


def breaks_down(delivered: Iterable[tuple[float, float]], share: float = SHARE) -> float | None:
    """The smallest load with which less than that share was delivered; None where there is none.

    Parameters
    ----------
    delivered : pairs of a load (such as a number of nodes) and the share delivered with it.
    """
    return min((load for load, got in delivered if got < share), default=None)
