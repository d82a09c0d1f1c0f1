"""Power cuts of records in files of their own (link/state.py): a node on a computer and a gateway without
a spool, the ends of `motecrypt send` and `motecrypt receive`, on one disk."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from motecrypt.base.errors import MotecryptError
from motecrypt.link.gateway_end import Gateway
from motecrypt.link.native import COMMAND, CONFIRMED, LISTENS, NODE_BITS, SHORT, STREAM
from motecrypt.link.node import HostNode, node_record
from motecrypt.link.state import FileStore
from motecrypt.link.told import NodeMessage
from power_cuts.cuts import Cut
from power_cuts.disk import Disk, Image, Step, read_steps
from power_cuts.facts import Verdict
from power_cuts.recorder import Calls, Recorder
from power_cuts.world import FAULTS

MASTER = bytes(range(16))
PACKET_BYTES = 12
OPTIONS = SHORT | LISTENS | STREAM
AFTER = 12
"""Messages after a cut."""
FAULT_EVERY = 0.02
CONTENT_BYTES = 8
"""More than a short packet has: each packet shows its counter."""


@dataclass
class RecordFacts:
    """What is known.

    Attributes
    ----------
    used : packets by direction, counter and fragment.
    handed : contents that the applications of both ends got.
    generations : of keys that were given out. sent : packets of the node.
    """

    used: dict[tuple[str, int, int], bytes] = field(default_factory=dict)
    handed: set[bytes] = field(default_factory=set)
    generations: dict[int, int] = field(default_factory=dict)
    sent: list[bytes] = field(default_factory=list)

    def learn(self, what: str, given: Any) -> None:
        """Add what became known."""
        match what:
            case "used":
                self.used[given[0]] = given[1]
            case "handed":
                self.handed.add(given)
            case "generation":
                self.generations[given[0]] = given[1]
            case "sent":
                self.sent.append(given)

    def copy(self) -> RecordFacts:
        """The same, to go on from."""
        return RecordFacts(dict(self.used), set(self.handed), dict(self.generations), list(self.sent))


class RecordWorld:
    """One life of both ends."""

    def __init__(
        self,
        folder: Path,
        facts: RecordFacts,
        chance: random.Random,
        verdict: Verdict,
        recorder: Recorder | None,
    ) -> None:
        self.folder, self.facts, self.chance, self.verdict = folder, facts, chance, verdict
        self.recorder = recorder
        self.history: list[tuple[int, str, Any]] = []
        self.now_ms, self.count = 1000, len(facts.sent)
        self._heads: dict[tuple[str, int], int] = {}
        self.gateway: Gateway | None = None
        self.node: HostNode | None = None

    def open(self) -> None:
        """Both ends begin."""
        self.gateway = Gateway(FileStore(self.folder / "gateway"), MASTER, packet_bytes=PACKET_BYTES)
        self.node = HostNode(FileStore(self.folder / "node"))

    def close(self) -> None:
        """Both ends end."""
        for end in (self.gateway, self.node):
            if end is not None:
                end.close()
        self.gateway = self.node = None

    def replay(self) -> None:
        """Everything that the node ever sent comes again."""
        self._to_gateway(list(self.facts.sent))

    def step(self) -> None:
        """A message up or down, keys, or a start."""
        assert self.gateway is not None and self.node is not None
        self.now_ms += 400
        self.gateway.at(self.now_ms)
        self.node.at(self.now_ms)
        drawn = self.chance.random()
        try:
            if drawn < 0.05:
                number = self.chance.randint(2, 5)
                self.gateway.provision(number, OPTIONS)
                generation = {each.node: each.generation for each in self.gateway.registry()}[number]
                if generation <= self.facts.generations.get(number, 0):
                    self.verdict.note("counter used again", f"node {number}: generation {generation}")
                self._know("generation", (number, generation))
            elif drawn < 0.1:
                self.close()
                self.open()
            elif drawn < 0.3:
                self.count += 1
                self.gateway.send(1, b"C%07d" % self.count, CONFIRMED | COMMAND)
            else:
                self.count += 1
                self.node.send(b"M%07d" % self.count, CONFIRMED)
            self.gateway.poll(self.now_ms)
            self.node.poll(self.now_ms)
        except MotecryptError:
            if self.gateway is None or self.node is None:
                raise
        for _ in range(4):
            self._exchange()

    def _know(self, what: str, given: Any) -> None:
        self.facts.learn(what, given)
        if self.recorder is not None:
            self.history.append((self.recorder.steps, what, given))

    def _exchange(self) -> None:
        assert self.gateway is not None and self.node is not None
        up = self.node.take_packets()
        for packet in up:
            self._note("up", packet)
            self._know("sent", packet)
        self._to_gateway(up)
        down = self.gateway.take_packets()
        for packet in down:
            self._note("down", packet)
        try:
            self.node.receive(down, lambda messages: [self._take(each) for each in messages])
        except MotecryptError:
            return

    def _to_gateway(self, packets: Sequence[bytes]) -> None:
        assert self.gateway is not None
        try:
            self.gateway.receive(packets, lambda messages: [self._take(each) for each in messages])
        except MotecryptError:
            return

    def _take(self, message: NodeMessage) -> bool:
        content = message.content
        if content in self.facts.handed:
            self.verdict.note("doubled", f"{content!r} was handed over before")
        self._know("handed", content)
        return True

    def _note(self, way: str, packet: bytes) -> None:
        if packet[0] >> 6 != 2 or packet[0] & NODE_BITS != 1:
            return
        fragment = packet[2] & 0x0F
        if fragment == 0:
            self._heads[way, packet[1]] = packet[1] + (int.from_bytes(packet[3:6], "little") << 8)
        use = (way, self._heads.get((way, packet[1]), -1), fragment)
        if self.facts.used.get(use, packet) != packet:
            self.verdict.note("counter used again", f"{way}: {use[1]}")
        self._know("used", (use, packet))


def record_files(
    folder: Path, seed: int, steps: int, faults: bool
) -> tuple[Image, list[Step], list[tuple[int, str, Any]], Verdict]:
    """A life of both ends, in an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    gateway = Gateway(FileStore(folder / "gateway"), MASTER, packet_bytes=PACKET_BYTES)
    with closing(FileStore(folder / "node")) as file:
        file.write(node_record("aes128-ccm", gateway.provision(1, OPTIONS)))
    gateway.close()
    image, recorder, verdict = Image.of(folder), Recorder(), Verdict()
    chance = random.Random(f"records {seed}")
    recorder.begin(folder)
    world = RecordWorld(folder, RecordFacts(), chance, verdict, recorder)
    try:
        world.open()
        while steps > 0:
            fault = faults and chance.random() < FAULT_EVERY
            if fault:
                recorder.fail(*FAULTS[chance.choice(sorted(FAULTS))], chance.randrange(6))
            for _ in range(min(steps, chance.randint(1, 5)) if fault else 1):
                steps -= 1
                try:
                    world.step()
                except MotecryptError:  # it cannot start while the disk fails
                    world.close()
                    recorder.fail(Calls(0), 0)
                    world.open()
            recorder.fail(Calls(0), 0)
        return image, list(read_steps(recorder.end())), world.history, verdict
    finally:
        recorder.end()
        world.close()


def cut_files(folder: Path, seed: int, steps: int, faults: bool, cuts: Sequence[Cut]) -> Iterator[Verdict]:
    """The verdict on that life, then on one after each cut, which are in order."""
    image, done, history, verdict = record_files(folder, seed, steps, faults)
    yield verdict
    disk, facts, at, now = Disk(image, random.Random(seed)), RecordFacts(), 0, 0
    for each in cuts:
        while now < min(each.after, len(done)):
            disk.follow(done[now])
            now += 1
        while at < len(history) and history[at][0] <= now:
            facts.learn(*history[at][1:])
            at += 1
        chance, verdict = random.Random(f"power cut {each.after} {each.seed}"), Verdict()
        disk.cut(chance).put(folder)
        world = RecordWorld(folder, facts.copy(), chance, verdict, None)
        try:
            world.open()
            world.replay()
            for _ in range(AFTER):
                world.step()
        except MotecryptError as error:
            verdict.note("not started", str(error))
        finally:
            world.close()
        yield verdict
