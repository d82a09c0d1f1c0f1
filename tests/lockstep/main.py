"""`./test campaign --lockstep`: random programs in each engine of ours and in one of others, state by state.

--seed continues a stopped campaign: equal seeds make equal programs.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from lockstep import corpus
from lockstep.avr import MEGA, UNO
from lockstep.engine import Difference, differences
from lockstep.pairs import AVR8JS, PAIRS, Pair
from motecrypt.catalog import Catalog

PROGRAMS = 10_000


def campaign(programs: int, only: Sequence[str] = (), seed: int = 0) -> int:
    """Compare so many programs a core from a seed on, then all firmware of the AVRs; 0: nothing differs."""
    wrong = 0
    chosen = {name: pair for name, pair in PAIRS.items() if not only or name in only}
    with tempfile.TemporaryDirectory(prefix="motecrypt-lockstep.") as scratch:
        for name, pair in chosen.items():
            found = 0
            for first in range(seed, seed + programs, pair.batch):
                count = min(pair.batch, seed + programs - first)
                for difference in compared(pair, range(first, first + count), Path(scratch)):
                    print(f"lockstep: {name}: {difference}", flush=True)
                    found += 1
                print(
                    f"lockstep: {name} {first + count - seed:,} programs, {found} differ",
                    file=sys.stderr,
                    flush=True,
                )
            engines = ", ".join(engine.name for engine in pair.ours)
            print(
                f"{name:9} {programs:>7,} programs  {found} differ  ({engines} with {pair.other.name})",
                flush=True,
            )
            wrong += found
        for name in ("uno", "mega2560"):
            if name in chosen:
                wrong += of_firmware(name, Path(scratch))
    return 1 if wrong else 0


def compared(pair: Pair, seeds: Sequence[int], folder: Path) -> list[Difference]:
    """What differs between each engine of ours and the other."""
    programs = [pair.core.program(seed) for seed in seeds]
    return differences(pair.core, pair.ours, pair.other, programs, folder)


def of_firmware(name: str, folder: Path) -> int:
    """Compare every firmware of the benchmark for an AVR; how many differ."""
    catalog, chip = Catalog.load(), UNO if name == "uno" else MEGA
    device, count, found = catalog.device(name), 0, 0
    for body, placement in corpus.implementations(device):
        firmware = corpus.built(device, body, placement)
        if firmware is None:
            continue
        cipher = catalog.cipher(body.cipher)
        sent = corpus.frames(max(cipher.key_bits) // 8, cipher.nonce_bytes)
        one = corpus.ours(device, firmware, sent)
        if one is None:
            continue
        other = corpus.theirs(device, chip, firmware, sent, AVR8JS, folder)
        count += 1
        if one != other:
            print(f"lockstep: {name}: {body.cipher} {body.name} in {placement}: {one} / {other}", flush=True)
            found += 1
        print(f"lockstep: {name} {count} firmware, {found} differ", file=sys.stderr, flush=True)
    print(f"{name:9} {count:>7,} firmware  {found} differ  (simavr with avr8js)", flush=True)
    return found
