"""What a gateway has received of a node, by its counters: when, how many messages, and how many are missing;
and the battery's voltage, if messages carry it.

Every message has the next counter of its node, so a gap is what was lost. A node that starts again skips to
the next block of counters, which is not a loss.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, replace
from typing import Any

from motecrypt.base.errors import InputError
from motecrypt.link.native import Event
from motecrypt.link.told import NodeMessage

SEND_BLOCK = 64
"""Counters that a node claims together (LINK_SEND_BLOCK of link.h): a start continues at the next block."""
_MAX = 2**32 - 1


@dataclass(frozen=True)
class BatteryField:
    """Where messages of nodes have their battery's millivolts.

    Attributes
    ----------
    at, bytes : the first byte, from 0 on, and how many: 1 to 4, little-endian.
    """

    at: int
    bytes: int = 2

    def __post_init__(self) -> None:
        if self.at < 0 or not 1 <= self.bytes <= 4:
            raise InputError(f"--battery {self.at}:{self.bytes}: give AT[:BYTES], from 0 on and 1 to 4 bytes")

    def of(self, message: NodeMessage) -> int | None:
        """The millivolts; None where a message is too short, or no plain message."""
        found = message.content[self.at : self.at + self.bytes]
        whole = message.event is Event.MESSAGE and len(found) == self.bytes
        return int.from_bytes(found, "little") if whole else None


@dataclass(frozen=True)
class Heard:
    """Of one node, under its present keys.

    Attributes
    ----------
    last_s : when a message was taken last, in seconds since 1970.
    generation, epoch, newest : the keys, and the greatest counter under them.
    messages : taken under these keys. missed : counters below the newest whose message never came.
    battery_mv : what the last message with it said, under any keys; None if none did.
    """

    last_s: int
    generation: int
    epoch: int
    newest: int
    messages: int = 1
    missed: int = 0
    battery_mv: int | None = None

    @property
    def loss(self) -> float:
        """The share of messages that did not arrive."""
        return round(self.missed / (self.messages + self.missed), 6)


def after(
    before: Heard | None, message: NodeMessage, now_s: int, battery: BatteryField | None = None
) -> Heard:
    """With one more message. Of the first one of all, nothing is said about those before it."""
    counter = message.counter
    battery_mv = battery.of(message) if battery else None
    now = Heard(now_s, message.generation, message.epoch, counter, battery_mv=battery_mv)
    if before is None:
        return now
    late = (before.generation, before.epoch) == (
        message.generation,
        message.epoch,
    ) and counter < before.newest
    if battery_mv is None or (late and before.battery_mv is not None):
        now = replace(now, battery_mv=before.battery_mv)
    if (before.generation, before.epoch) != (message.generation, message.epoch):
        return replace(now, missed=_missed(0, counter))
    missed = before.missed + _missed(before.newest + 1, counter)
    if counter < before.newest:  # late: it was taken for missing
        missed = max(missed - 1, 0)
    return replace(now, newest=max(before.newest, counter), messages=before.messages + 1, missed=missed)


def _missed(expected: int, counter: int) -> int:
    """How many messages are missing before this one, if that one was expected."""
    if counter <= expected:
        return 0
    if counter % SEND_BLOCK == 0:  # a start; each block that was skipped on the way had a message at least
        return counter // SEND_BLOCK - -(-expected // SEND_BLOCK)
    return counter - expected


def kept(heard: Mapping[int, Heard]) -> dict[str, list[int]]:
    """In the form of the record."""
    return {str(node): [f for f in astuple(each) if f is not None] for node, each in heard.items()}


def read(content: Any) -> dict[int, Heard]:
    """Of a record; ValueError where it is not one of ours."""
    if not isinstance(content, dict):
        raise ValueError
    heard = {}
    for node, figures in content.items():
        if (
            not node.isascii()
            or not node.isdigit()
            or not isinstance(figures, list)
            or len(figures) not in (6, 7)
        ):
            raise ValueError
        if any(not isinstance(each, int) or not 0 <= each <= _MAX for each in figures):
            raise ValueError
        last_s, generation, epoch, newest, messages, missed, *battery = figures
        battery_mv = battery[0] if battery else None
        heard[int(node)] = Heard(last_s, generation, epoch, newest, messages, missed, battery_mv)
    return heard
