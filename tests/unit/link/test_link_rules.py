"""All short series of the steps that tests/proof models: the core that ships does what the rules say."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from link_pair import Pair
from motecrypt.link import gateway_end
from motecrypt.link.gateway_end import Gateway
from motecrypt.link.native import COMMAND, LONG, Event, NativeLink, link_library, open_library
from motecrypt.link.state import MemoryStore
from motecrypt.link.told import NodeMessage

MASTER = bytes(range(16))
AHEAD = 16
"""Counters of a gateway that a node does not take after a start, at most."""


class Rules:
    """The rules of commands in docs/link.md, in plain Python: what the receiver carries out."""

    FRESH, BLOCK = 16, 64

    def __init__(self) -> None:
        self.sent = self.claimed = self.usable = 0
        self.heard = -1
        self.expected = self.stored = 0

    def message(self, heard: bool) -> None:
        """The receiver sends one; the sender of commands receives it or not."""
        if self.sent == self.claimed:
            self.claimed += self.BLOCK
        self.usable = min(self.usable + 1, self.FRESH)
        if heard and self.sent >= self.expected:
            self.heard, self.expected = self.sent, self.sent + 1
            if self.expected >= self.stored:
                self.stored = self.expected + AHEAD - 1
        self.sent += 1

    def start(self) -> None:
        """The receiver starts again."""
        self.sent, self.usable = self.claimed, 0

    def start_of_sender(self, node: bool) -> None:
        """The sender of commands starts again: a node has the counters that it stored ahead."""
        if node:
            self.heard, self.expected = self.stored - AHEAD, self.stored

    def carries_out(self, names: int) -> bool:
        """A command that names a message arrives."""
        age = self.sent - 1 - names
        if age < self.usable:
            self.usable = age
            return True
        return False


class OldRules(Rules):
    """Those of version 2.0."""

    def carries_out(self, names: int) -> bool:
        """A command that names a message arrives."""
        return self.sent - 1 - names < self.FRESH


def differ(steps: Sequence[str], upwards: bool, rules: Rules, *defines: str) -> str:
    """Play steps in the core and by the rules; the first difference, or nothing.

    m and l: the receiver sends a message, which is received or lost. s: it starts again. t: the sender does.
    c: a command is made and held back. a and b: the first and the second of these arrives.
    """
    pair, held, newest = Pair(*defines), dict[str, tuple[list[bytes], int, int]](), 0
    receiver, sender = (pair.gateway, pair.node) if upwards else (pair.node, pair.gateway)
    for number, step in enumerate(steps):
        if step in "ml":
            receiver.send(b"", LONG)
            packets = receiver.packets()
            for packet in packets if step == "m" else ():
                sender.receive(packet)
            rules.message(step == "m")
        elif step == "s":
            receiver.begin()
            for _ in range(0 if upwards else AHEAD):
                sender.send(b"", LONG)
            sender.packets()
            rules.start()
        elif step == "t":
            sender.begin()
            rules.start_of_sender(upwards)
        elif step == "c":
            free = next((name for name in "ab" if name not in held), "")
            if free:
                sender.send(b"open", COMMAND | LONG)
                held[free] = sender.packets(), rules.heard, sender.counter
        elif step in held:
            packets, names, counter = held.pop(step)
            done = Event.COMMANDED in [receiver.receive(packet) for packet in packets]
            expected = counter > newest - 16 and rules.carries_out(names)  # else the window refuses it
            newest = max(newest, counter)
            if done != expected:
                return f"{''.join(steps)}: at {number} {'carried out' if done else 'refused'}"
    return ""


def series(length: int, steps_of_all: str = "mlscab") -> Iterator[str]:
    """All series of steps that make a command before one arrives, and let one arrive last."""
    for steps in itertools.product(steps_of_all, repeat=length - 1):
        text = "".join(steps)
        if "c" in text and not text.partition("c")[0].strip("mlst"):
            yield text + "a"


@pytest.mark.parametrize("upwards", [False, True], ids=["down", "up"])
def test_all_short_series_of_commands(upwards: bool) -> None:
    assert [told for steps in series(6) if (told := differ(steps, upwards, Rules()))] == []
    assert [told for steps in series(5, "mlstcab") if (told := differ(steps, upwards, Rules()))] == []
    random = Random(7)
    for _ in range(300):
        steps = random.choices("mlstcab", (9, 3, 1, 1, 4, 3, 3), k=60)
        assert differ(steps, upwards, Rules()) == ""


def test_a_command_was_made_after_the_message_that_it_names() -> None:
    """By the rules, however often either end starts: what is named was sent when the command was made."""
    random = Random(5)
    for upwards in (False, True):
        for _ in range(2000):
            rules = Rules()
            for step in random.choices("mlst", (9, 3, 1, 1), k=40):
                rules.start() if step == "s" else None
                rules.start_of_sender(upwards) if step == "t" else None
                rules.message(step == "m") if step in "ml" else None
                assert rules.heard < rules.sent


@pytest.mark.parametrize("fault", ["OLD_COMMAND", "TWO_COMMANDS", "STALE_COMMAND"])
def test_a_rule_that_the_core_breaks_is_found(fault: str) -> None:
    assert any(differ(steps, True, Rules(), f"MC_FAULT_{fault}") for steps in series(5))


def test_a_rule_that_the_model_breaks_is_found() -> None:
    assert any(differ(steps, True, OldRules()) for steps in series(4))


class Restorations:
    """A gateway whose record is restored, and its node."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.gateway = self._gateway()
        self.node = NativeLink(open_library(link_library("aes128-ccm")))
        self.node.begin(self.gateway.provision(5))
        self.backup = self.store.record
        self.used: set[tuple[int, int, int]] = set()
        self.now = 0

    def _gateway(self) -> Gateway:
        return Gateway(self.store, MASTER, packet_bytes=32)

    def exchange(self, answered: bool = True) -> None:
        """What the gateway has sent arrives, and the answers arrive if they are not lost."""
        self.now += 20_000
        self.gateway.poll(self.now)
        self.node.at(self.now)
        for packet in self.gateway.take_packets():
            if self.node.receive(packet) is Event.MESSAGE:
                self.node.answer(True)
        packets = self.node.packets()
        if answered:
            self.gateway.receive(packets, self._taken)

    @staticmethod
    def _taken(messages: Sequence[NodeMessage]) -> list[bool]:
        return [True] * len(messages)

    def step(self, step: str) -> None:
        """b: a backup, r: it is restored, x: an exchange, l: one whose answers are lost, g: a message down,
        f: a flood of fragments, n: the node starts again, w: the gateway does."""
        if step == "b":
            self.backup = self.store.record
        elif step == "r":
            self.store.record = self.backup
            self.gateway = self._gateway()
            assert self.gateway.restored(0) == ()
        elif step in "xl":
            self.exchange(step == "x")
        elif step == "n":
            self.node.begin(self.node.storage)
        elif step == "f":
            for _ in range(40):
                self.node.receive(b"\x85\x4d\xc1" + bytes(8))
            assert len(self.node.packets()) <= 33
        elif step == "w":
            self.gateway = self._gateway()
        elif self.gateway.send(5, b"", LONG) is Event.SENT:
            link = self.gateway._links[5]
            (packet,) = self.gateway.take_packets()
            counter = int.from_bytes(packet[1:2] + packet[3:6], "little")
            key = link.epoch, link.salt, counter
            assert key not in self.used, "used twice under one key"
            self.used.add(key)


def test_all_short_series_of_restorations(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(3)
    monkeypatch.setattr(gateway_end.secrets, "randbits", random.getrandbits)
    monkeypatch.setattr(gateway_end.secrets, "randbelow", random.randrange)
    longer = (random.choices("brxlgfnw", k=40) for _ in range(60))
    for steps in itertools.chain(itertools.product("brxlgfnw", repeat=4), longer):
        line, epoch = Restorations(), 0
        for step in ("r", *steps):
            line.step(step)
            assert line.node.epoch >= epoch, steps
            epoch = line.node.epoch
        for _ in range(8):
            line.exchange()
        link = line.gateway._links[5]
        assert line.gateway.epoch_unconfirmed == (), steps
        assert (link.epoch, link.salt) == (line.node.epoch, line.node.salt), steps
