"""`./test campaign`: a million messages of the link in virtual time, with every kind of fault.

Faults: loss, repeats, reordering, flipped bits, replays, reflections, packets under another number, restarts;
power cut at any write, flipped and worn cells of storage, full disks, outages; guessed tags, delayed
commands, new keys, invalid keys, counters of another node or none, restored backups. It counts what must
never happen: forged or handed over twice; a counter used twice; reported as accepted and not handed over; an
old command carried out; a genuine packet reported as forged; a tag tried beyond the bound; out of counters
after restarts alone; a key with wrong figures taken; an epoch that was accepted and is lost after a restart.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence

from campaign.world import World, Wrong

SUITES = ("aes128-ccm", "ascon-aead128")
EACH = 50_000


def main(arguments: Sequence[str]) -> int:
    """Run a campaign; 0 when nothing happened that must not."""
    parser = argparse.ArgumentParser(prog="./test campaign", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--messages", type=int, default=1_000_000, help="how many (default: 1,000,000)")
    parser.add_argument("--seed", type=int, default=0, help="the first world's seed (default: 0)")
    parser.add_argument(
        "--fault", action="append", default=[], help="build this defect in, such as NO_WINDOW"
    )
    chosen = parser.parse_args(arguments)
    counts, wrong, seed, left, started = (
        Counter[str](),
        Wrong(),
        chosen.seed,
        chosen.messages,
        time.process_time(),
    )
    while left > 0:
        told, counted = run(seed, min(left, EACH), tuple(f"MC_FAULT_{fault}" for fault in chosen.fault))
        counts += counted
        for name, count in told.counts().items():
            setattr(wrong, name, getattr(wrong, name) + count)
        for case in told.first:
            print(f"campaign: --seed {seed}: {case}", flush=True)
        left, seed = left - EACH, seed + 1
        print(f"campaign: {counts['sent']:,} messages, {wrong.total()} wrong", file=sys.stderr, flush=True)
    for name, count in sorted(counts.items()):
        print(f"{name:20} {count:>12,}")
    print(f"{'CPU time':20} {time.process_time() - started:>10.0f} s")
    print(", ".join(f"{count} {name.replace('_', ' ')}" for name, count in wrong.counts().items()))
    return 1 if wrong.total() else 0


def run(seed: int, messages: int, faults: tuple[str, ...] = ()) -> tuple[Wrong, Counter[str]]:
    """One world until so many messages were sent."""
    world = World(seed, SUITES[seed % 5 == 4], faults)  # type: ignore[arg-type]
    while world.counts["sent"] < messages:
        world.step()
    return world.wrong, world.counts
