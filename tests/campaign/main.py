"""`./test campaign`: a million messages of the link in virtual time, with every kind of fault.

Faults: loss, repeats, reordering, flipped bits, replays, reflections, packets under another number, restarts;
power cut at any write, flipped and worn cells of storage, full disks, outages; guessed tags, floods of
fragments, commands held back, also over a start; new keys, invalid keys, counters of another node or none,
restored backups, also the same one twice. It counts what must never happen: forged or handed over twice; a
counter used twice; reported as accepted and not handed over; an old command carried out, or two that name one
message; a genuine packet reported as forged; a tag tried beyond the bound; more answers to a flood than their
limit; out of counters after restarts alone; a key with wrong figures taken; an epoch that was accepted and is
lost after a restart.
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
MESSAGES = 1_000_000


def main(arguments: Sequence[str]) -> int:
    """Run a campaign; 0 when nothing happened that must not."""
    parser = argparse.ArgumentParser(prog="./test campaign", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--messages", type=int, help=f"how many (default: {MESSAGES:,})")
    parser.add_argument("--seed", type=int, default=0, help="the first world's seed (default: 0)")
    parser.add_argument(
        "--fault", action="append", default=[], help="build this defect in, such as NO_WINDOW"
    )
    parser.add_argument(
        "--ciphers",
        action="store_true",
        help="instead: random inputs for each cipher in assembly on simulated chips, against the oracles "
        "(--messages of each; default: 100,000)",
    )
    parser.add_argument(
        "--attacks",
        action="store_true",
        help="instead: what forgeries and noise cost: deliveries during and after them, and work",
    )
    parser.add_argument(
        "--masked",
        action="store_true",
        help="instead: simulated traces of each protected variant, at each set of flags "
        "(--messages traces; default: 40,000)",
    )
    parser.add_argument(
        "--cluster",
        action="store_true",
        help="instead: a sweep on two hosts in network namespaces (as root), with workers killed and "
        "stopped, and the network cut (--messages cells; default: 10,000)",
    )
    parser.add_argument(
        "--lockstep",
        action="store_true",
        help="instead: random programs of compilers' idioms in each simulated core and in another engine, "
        "and all firmware of the AVRs (--messages programs a core, default: 10,000; --seed: the first)",
    )
    parser.add_argument(
        "--taint",
        action="store_true",
        help="instead: key and message of each exported authenticated cipher followed by valgrind's "
        "memcheck, under each compiler and a few flags",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="WORD",
        help="with --taint: a cipher, variant, compiler or flag; "
        "with --ciphers or --masked: a device, cipher, variant or flag; with --lockstep: a device",
    )
    chosen = parser.parse_args(arguments)
    if chosen.messages is not None and chosen.messages < 1:
        parser.error(f"--messages {chosen.messages}: expected a whole number from 1 on")
    if chosen.cluster:
        from campaign import cluster

        return cluster.campaign(cluster.CELLS if chosen.messages is None else chosen.messages)
    if chosen.lockstep:
        from lockstep.main import PROGRAMS
        from lockstep.main import campaign as lockstep

        return lockstep(PROGRAMS if chosen.messages is None else chosen.messages, chosen.only, chosen.seed)
    if chosen.taint:
        from campaign import taint

        return taint.campaign(chosen.only)
    if chosen.attacks:
        from campaign import attacks

        return attacks.report()
    if chosen.masked:
        from campaign import masked

        return masked.campaign(masked.TRACES if chosen.messages is None else chosen.messages, chosen.only)
    if chosen.ciphers:
        from campaign.ciphers import INPUTS, campaign

        return campaign(INPUTS if chosen.messages is None else chosen.messages, chosen.only)
    counts, wrong, seed, left, started = (
        Counter[str](),
        Wrong(),
        chosen.seed,
        MESSAGES if chosen.messages is None else chosen.messages,
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
