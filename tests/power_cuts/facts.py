"""What the world around a gateway knows for certain at a moment: the oracle of a power cut at that moment."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from power_cuts.ends import NodeState

Packet = tuple[int, int, int, int]
"""A packet to a node: node, epoch, counter, fragment."""


@dataclass
class Facts:
    """What has happened.

    Attributes
    ----------
    nodes : the memories of each.
    sent, accepted : contents of messages with their nodes; those that were reported as accepted.
    files, arrived : files by name; those whose end was reported as accepted.
    asked, told : orders by token (node, content); their outcomes.
    ran : how often each node has carried out each content.
    used : packets to nodes, each under a counter of its own.
    took : how often each sink that is no file got each id, and its content in hexadecimal.
    """

    nodes: dict[int, NodeState] = field(default_factory=dict)
    sent: dict[bytes, int] = field(default_factory=dict)
    accepted: set[bytes] = field(default_factory=set)
    files: dict[str, bytes] = field(default_factory=dict)
    arrived: set[str] = field(default_factory=set)
    asked: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    ran: Counter[tuple[int, bytes]] = field(default_factory=Counter)
    used: dict[Packet, bytes] = field(default_factory=dict)
    took: dict[str, dict[str, str]] = field(default_factory=dict)

    def copy(self) -> Facts:
        """The same, to go on from."""
        return Facts(
            dict(self.nodes),
            dict(self.sent),
            set(self.accepted),
            dict(self.files),
            set(self.arrived),
            dict(self.asked),
            dict(self.told),
            Counter(self.ran),
            dict(self.used),
            {sink: dict(ids) for sink, ids in self.took.items()},
        )

    def learn(self, what: str, given: tuple[Any, ...]) -> None:
        """Add what became known."""
        match what:
            case "node":
                self.nodes[given[0]] = given[1]
            case "sent":
                self.sent[given[0]] = given[1]
            case "accepted":
                self.accepted.add(given[0])
            case "file":
                self.files[given[0]] = given[1]
            case "arrived":
                self.arrived.add(given[0])
            case "asked":
                self.asked[given[0]] = given[1:]
            case "told":
                self.told[given[0]] = given[1]
            case "ran":
                self.ran[given] += 1
            case "used":
                self.used[given[0]] = given[1]
            case "took":
                self.took.setdefault(given[0], {})[given[1]] = given[2]


@dataclass
class Verdict:
    """What must never happen, and how often it did.

    Attributes
    ----------
    wrong : counts by kind. cases : the first ones, in words.
    """

    wrong: Counter[str] = field(default_factory=Counter)
    cases: list[str] = field(default_factory=list)

    def note(self, what: str, case: str) -> None:
        """One more."""
        self.wrong[what] += 1
        if len(self.cases) < 10:
            self.cases.append(f"{what}: {case}")

    def told(self) -> str:
        """In one line."""
        return ", ".join(f"{self.wrong[what]} {what}" for what in NEVER)


NEVER = (
    "lost",
    "doubled",
    "made up",
    "refused",
    "run twice",
    "counter used again",
    "not started",
    "stuck",
    "told often",
)
"""lost: a message, file, command or key that was reported as accepted. refused: a message sent again.
told often: a line on one fault of the disk, twice."""
