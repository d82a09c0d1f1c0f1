"""What an end of the link says to its user: messages, events, and the entries of a gateway's registry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from motecrypt.link.native import BROADCAST, Event

TAKEN = (Event.MESSAGE, Event.COMMANDED, Event.FILE_PART)
OUTCOMES = (Event.ACCEPTED, Event.REFUSED, Event.UNCONFIRMED)


def called(node: int) -> str:
    """A node in a message."""
    return "the group" if node == BROADCAST else f"node {node}"


@dataclass(frozen=True)
class NodeMessage:
    """A genuine message of a node, or for it, handed over once; a command or a part of a file reports it.

    Node, generation, epoch and counter name it: no other message of a gateway has the same four.
    """

    node: int
    content: bytes
    event: Event = Event.MESSAGE
    generation: int = field(default=0, compare=False)
    epoch: int = field(default=0, compare=False)
    counter: int = field(default=0, compare=False)


@dataclass(frozen=True)
class NodeEvent:
    """What else happened with a node: the outcome of a message, a forged packet, the end of short mode, a new
    epoch that it confirmed."""

    node: int
    event: Event


@dataclass(frozen=True)
class NodeEntry:
    """A node number in the gateway's registry.

    Attributes
    ----------
    generation : how often it was provisioned.
    options, packet_bytes : as its key block says; 0 where it is void.
    void : whether it must be provisioned again before the gateway receives it again.
    epoch_unconfirmed : whether it has a new epoch that it has not confirmed.
    """

    node: int
    generation: int
    options: int = 0
    packet_bytes: int = 0
    void: bool = False
    epoch_unconfirmed: bool = False


HandOver = Callable[[Sequence[NodeMessage]], Sequence[bool]]
"""Gets messages that are claimed on disk; says of each whether it has been taken."""
