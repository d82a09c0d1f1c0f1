"""Power cuts in a recorded life of a gateway: the power goes between two steps, and another life
begins on what the disk may have."""

from __future__ import annotations

import random
import shutil
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from motecrypt.base.errors import MotecryptError
from power_cuts.disk import Disk, Image, Step, read_steps
from power_cuts.facts import Facts, Verdict
from power_cuts.recorder import Recorder
from power_cuts.world import World, prepared

NODES = 4
FEW = 12
"""Messages that are fed after a cut where not all the rest is."""
ALL_REST_EVERY = 16
"""At one in so many boundaries all the rest is fed."""
AGAIN = 0.25
"""How often the power goes a second time, soon after the start."""
STEPS_AGAIN = 12


@dataclass(frozen=True)
class Plan:
    """What is recorded.

    Attributes
    ----------
    messages : that nodes send. backlog : that wait in the spool before.
    faults : whether the disk fails now and then, too.
    """

    seed: int
    messages: int = 500
    backlog: int = 0
    faults: bool = False


@dataclass
class Recording:
    """A life of a gateway.

    Attributes
    ----------
    image, known : the disk, and what was known, before the first step.
    history : what became known, and after which step.
    verdict : of this life, which ended well.
    """

    plan: Plan
    image: Image
    known: Facts
    steps: list[Step]
    history: list[tuple[int, str, tuple[Any, ...]]]
    verdict: Verdict
    counts: Counter[str]


@dataclass(frozen=True)
class Cut:
    """A power cut.

    Attributes
    ----------
    after : steps before it. seed : of what the disk has. again : whether a second one follows soon.
    """

    after: int
    seed: int
    again: bool = False


def record(folder: Path, plan: Plan) -> Recording:
    """Run a gateway in an empty folder until all messages are sent, and record what it does to the disk."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    known = prepared(folder, NODES, plan.backlog)
    image, recorder, verdict = Image.of(folder), Recorder(), Verdict()
    chance = random.Random(f"power cuts {plan.seed}")
    recorder.begin(folder)
    world = World(
        folder, known.copy(), chance, plan.messages, verdict, recorder, not plan.backlog, plan.faults
    )
    try:
        world.open()
        world.run()
        world.mend()
        steps = list(read_steps(recorder.end()))
        history = list(world.history)
        world.recorder, world.faults = None, False
        world.settle()
    finally:
        recorder.end()
        world.power_off()
    return Recording(plan, image, known, steps, history, verdict, world.counts)


def cut(folder: Path, recording: Recording, cuts: Sequence[Cut]) -> Iterator[tuple[Cut, Verdict]]:
    """Cut the power at each of these places, which are in order, and check the life after it."""
    disk = Disk(recording.image, random.Random(recording.plan.seed))
    facts, done, at = recording.known.copy(), 0, 0
    for each in cuts:
        while done < each.after:
            disk.follow(recording.steps[done])
            done += 1
        while at < len(recording.history) and recording.history[at][0] <= done:
            _, what, given = recording.history[at]
            facts.learn(what, given)
            at += 1
        chance = random.Random(f"power cut {each.after} {each.seed}")
        yield each, _life_after(folder, recording.plan, each, disk, facts.copy(), chance)


def _life_after(
    folder: Path, plan: Plan, cut: Cut, disk: Disk, facts: Facts, chance: random.Random
) -> Verdict:
    verdict = Verdict()
    if cut.again:
        if chance.random() < 0.5:
            disk.cut(chance).put(folder)
            disk = Disk(Image.of(folder), chance)
        else:  # this time the gateway was killed, and the system lives on
            disk = deepcopy(disk)
            disk.put_cached(folder)
        facts = _cut_again(folder, plan, disk, facts, chance, verdict)
        image = disk.cut(chance)
    else:
        image = disk.cut(chance)
    image.put(folder)
    rest = plan.messages - (len(facts.sent) - plan.backlog)
    feed = rest if cut.after % ALL_REST_EVERY == 0 else min(rest, FEW)
    world = World(folder, facts, chance, feed, verdict, others=not plan.backlog)
    try:
        if _started(world):
            world.settle()
    finally:
        world.power_off()
    return verdict


def _cut_again(
    folder: Path, plan: Plan, disk: Disk, facts: Facts, chance: random.Random, verdict: Verdict
) -> Facts:
    """A few steps of another life, and a cut within: what is known then."""
    recorder, known = Recorder(), facts.copy()
    recorder.begin(folder)
    world = World(folder, facts, chance, FEW, verdict, recorder, others=not plan.backlog)
    try:
        if _started(world):
            for _ in range(chance.randrange(STEPS_AGAIN)):
                world.step()
        steps = list(read_steps(recorder.end()))
    finally:
        recorder.end()
        world.recorder = None
        world.power_off()
    after = chance.randint(0, len(steps))
    for step in steps[:after]:
        disk.follow(step)
    for at, what, given in world.history:
        if at <= after:
            known.learn(what, given)
    return known


def _started(world: World) -> bool:
    """Open the gateway; what hinders it is a fault."""
    try:
        world.open()
    except MotecryptError as error:
        world.verdict.note("not started", str(error))
    except Exception:
        world.verdict.note("not started", traceback.format_exc())
    else:
        return True
    return False
