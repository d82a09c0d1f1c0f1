"""`./test soak`: a simulated week of 50 nodes and their gateway, in which everything fails now and then.

Nodes send a reading a minute over the secure link, on one channel of radios that lose, damage, double
and delay packets. Some nodes are simulated UNOs with the firmware of `motecrypt node` for a day; the others
run the link's core on this computer. Nodes lose power, also within a write; radios are unavailable; the
gateway's process dies between any two of its steps; its disk is full; its sinks are unavailable. Counted is
what must never happen: a message that is doubled or made up at a sink, one that was reported as accepted
and is not there, a node that a loss of power leaves without counters.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from soak import crowd
from soak.world import Soak, SoakPlan


def main(arguments: Sequence[str]) -> int:
    """Run one; 0 when nothing happened that must not."""
    if arguments[:1] == ["--crowd"]:
        return crowd.main(arguments[1:])
    parser = argparse.ArgumentParser(prog="./test soak", description=__doc__.partition("\n\n")[0])
    usual = SoakPlan()
    parser.add_argument("--nodes", type=int, default=usual.nodes, help="how many (default: %(default)s)")
    parser.add_argument("--hours", type=float, default=usual.hours, help="simulated (default: %(default)s)")
    parser.add_argument(
        "--firmware",
        type=int,
        default=usual.firmware,
        help="simulated UNOs among the nodes (default: %(default)s)",
    )
    parser.add_argument(
        "--firmware-hours", type=float, default=usual.firmware_hours, help="of these (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=usual.seed, help="equal seeds fail alike (default: 0)")
    parser.add_argument("--crowd", action="store_true", help="first: other worlds, see --crowd --help")
    chosen = parser.parse_args(arguments)
    if not (1 <= chosen.nodes <= 62 and 0 <= chosen.firmware <= chosen.nodes):
        parser.exit(2, "test soak: --nodes takes 1 to 62, --firmware no more than these\n")
    if not (0 < chosen.hours <= 8784 and 0 < chosen.firmware_hours <= chosen.hours):
        parser.exit(2, "test soak: --hours takes up to 8784, --firmware-hours no more than these\n")
    print("soak: Ctrl-C ends the readings, and tells what came of them", file=sys.stderr)
    plan = SoakPlan(chosen.nodes, chosen.firmware, chosen.hours, chosen.firmware_hours, seed=chosen.seed)

    def progress(text: str) -> None:
        print(f"soak: {text}", file=sys.stderr, flush=True)

    started = time.process_time()
    with tempfile.TemporaryDirectory(prefix="motecrypt-soak.", dir=_memory()) as folder:
        soak = Soak(plan, Path(folder), progress)
        before = signal.signal(signal.SIGINT, lambda *_: soak.stop())
        try:
            soak.run()
        finally:
            signal.signal(signal.SIGINT, before)
    for name, count in sorted(soak.counts.items()):
        print(f"{name:40} {count:>12,}")
    print(f"{'CPU time, without the simulated UNOs':40} {time.process_time() - started:>10,.0f} s")
    for case in soak.cases:
        print(f"soak: --seed {plan.seed}: {case}")
    print(told(soak))
    return 1 if soak.wrong else 0


def _memory() -> Path | None:
    """A file system in memory, if there is one: processes die here, not the computer."""
    memory = Path("/dev/shm")
    return memory if os.access(memory, os.W_OK) else None


def told(soak: Soak) -> str:
    """What must never happen, and how often it did."""
    never = ("doubled", "made up", "accepted and lost", "silenced", "not sent")
    return ", ".join(f"{soak.wrong[what]} {what}" for what in never)
