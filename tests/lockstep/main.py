"""`./test campaign --lockstep`: random programs in each engine of ours and in one of others, state by state.

Equal seeds make equal programs. The same command continues a stopped campaign (kept.py).
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lockstep import corpus
from lockstep.avr import Avr8js
from lockstep.engine import Difference, differences
from lockstep.kept import kept
from lockstep.pairs import PAIRS, Pair, device_of
from motecrypt.catalog import Catalog

PROGRAMS = 10_000


def campaign(programs: int, only: Sequence[str] = (), seed: int = 0) -> int:
    """Compare so many programs a core from a seed on, then all firmware of the AVRs; 0: nothing differs."""
    wrong = 0
    chosen = {name: pair for name, pair in PAIRS.items() if not only or device_of(name) in only}
    with tempfile.TemporaryDirectory(prefix="motecrypt-lockstep.") as scratch:
        for name, pair in chosen.items():
            wrong += of_programs(name, pair, programs, seed, Path(scratch))
        for name, pair in chosen.items():
            if isinstance(pair.other, Avr8js):
                wrong += of_firmware(name, pair, Path(scratch))
    return 1 if wrong else 0


def of_programs(name: str, pair: Pair, programs: int, seed: int, folder: Path) -> int:
    """Compare so many programs from a seed on, except those that were; how many differ."""
    done = kept(name, str(seed), pair)
    for difference in done.differ:
        print(f"lockstep: {name}: {difference}", flush=True)
    while done.programs < programs:
        first = seed + done.programs
        count = min(pair.batch, seed + programs - first)
        found = [str(one) for one in compared(pair, range(first, first + count), folder)]
        for difference in found:
            print(f"lockstep: {name}: {difference}", flush=True)
        done.programs += count
        done.differ += found
        done.save()
        print(
            f"lockstep: {name} {done.programs:,} programs, {len(done.differ)} differ",
            file=sys.stderr,
            flush=True,
        )
    engines = ", ".join(engine.name for engine in pair.ours)
    counts = f"{done.programs:>7,} programs  {len(done.differ)} differ"
    print(f"{name:9} {counts}  ({engines} with {pair.other.name})", flush=True)
    return len(done.differ)


def compared(pair: Pair, seeds: Sequence[int], folder: Path) -> list[Difference]:
    """What differs between each engine of ours and the other."""
    programs = [pair.core.program(seed) for seed in seeds]
    return differences(pair.core, pair.ours, pair.other, programs, folder)


def of_firmware(name: str, pair: Pair, folder: Path) -> int:
    """Compare every firmware of the benchmark for an AVR, except those that were; how many differ."""
    device, done, engine = Catalog.load().device(name), kept(name, "firmware", pair), pair.other
    assert isinstance(engine, Avr8js)
    ended, missing = Counter[str](), 0
    for body, placement in corpus.implementations(device):
        firmware = corpus.built(device, body, placement)
        if firmware is None:
            missing += 1
            continue
        named = f"{body.cipher} {body.name} in {placement}"
        if done.firmware.get(named, [""])[0] != firmware.sha256:
            done.firmware[named] = [firmware.sha256, corpus.ending(device, engine, firmware, body, folder)]
            done.save()
        how = done.firmware[named][1]
        ended[how if how in (corpus.SAME, corpus.FAULT) else "differ"] += 1
        if how not in (corpus.SAME, corpus.FAULT):
            print(f"lockstep: {name}: {named}: {how}", flush=True)
        print(
            f"lockstep: {name} {ended.total()} firmware, {ended['differ']} differ",
            file=sys.stderr,
            flush=True,
        )
    compared = ended[corpus.SAME] + ended["differ"]
    print(
        f"{name:9} {compared:>7,} firmware  {ended['differ']} differ  (simavr with {pair.other.name}); "
        f"{ended[corpus.FAULT]} end in a fault, {missing} cannot be built",
        flush=True,
    )
    return ended["differ"]
