"""Look for a better order, better registers and a better layout for a kernel of our assembly.

    main.py --list                             the kernels (kernels.toml)
    main.py KERNEL [--seed N]... [--steps N]   change order, registers and copies at random
    main.py KERNEL --layout                    try every place of code and tables in a cache line
    main.py KERNEL --measure                   then measure the cipher with the best code

The judge is the exact simulator of the kernel's device (or of --device, with the same core): each candidate
encrypts and opens the same messages, which are compared with the oracle's; its cycles must not vary more than
before, and its stack must not grow. Equal seeds and steps give equal results. docs/bounds.md has the results.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.catalog import Catalog
from motecrypt.results import Results
from tune.climb import Meaning, walk
from tune.judge import Judge, Verdict, measured
from tune.kernels import Kernel, kernels
from tune.layout import Site, distances, placed, sites
from tune.moves import Code

STEPS = 60_000
STEPS_MAX = 100_000_000
ROUNDS = 3


def _within(low: int, high: int) -> Callable[[str], int]:
    """What reads an option's whole number; argparse complains of any other."""

    def number(text: str) -> int:
        if not re.fullmatch("[0-9]{1,20}", text) or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{text}: give a whole number, {low} to {high}")
        return int(text)

    return number


def main(words: Sequence[str]) -> int:
    """Run the search that the words ask for."""
    parser = argparse.ArgumentParser(
        prog="research/tune/main.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    known = kernels()
    parser.add_argument("kernel", nargs="?", choices=list(known))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--seed", type=_within(0, 2**64 - 1), action="append")
    parser.add_argument("--steps", type=_within(ROUNDS, STEPS_MAX), default=STEPS)
    parser.add_argument("--layout", action="store_true", help="try places of code and tables instead")
    parser.add_argument(
        "--device", help="another device with the kernel's core, whose simulator is the judge"
    )
    parser.add_argument("--measure", action="store_true", help="measure the cipher with the best code found")
    chosen = parser.parse_args(words)
    if chosen.list or chosen.kernel is None:
        for name, kernel in known.items():
            print(f"{name:20} on {kernel.device.name:8} {kernel.about}")
        return 0
    try:
        kernel = _on(known[chosen.kernel], chosen.device)
        with tempfile.TemporaryDirectory() as folder:
            judge = Judge(kernel, Path(folder))
            if chosen.layout:
                return _layout(judge)
            return _search(judge, chosen.seed or [1], chosen.steps, chosen.measure)
    except MotecryptError as error:
        print(f"tune: {error}", file=sys.stderr)
        return error.exit_code


def _on(kernel: Kernel, name: str | None) -> Kernel:
    if name is None:
        return kernel
    device = Catalog.load().device(name)
    if not kernel.body.runs_on(device.core):
        raise InputError(f"--device {name}: kernel '{kernel.name}' does not run on its {device.core}")
    return replace(kernel, device=device)


def _search(judge: Judge, seeds: Sequence[int], steps: int, measures: bool) -> int:
    kernel = judge.kernel
    begin = tuple(kernel.code())
    (first,) = judge.verdicts([judge.source(begin)])
    if not first.right:
        raise MotecryptError(f"{kernel.name}: the code to begin with is wrong")
    best, least = begin, first
    for seed in seeds:
        code, verdict = climbed(judge, begin, first, seed, steps)
        if verdict.better(least):
            best, least = code, verdict
    if best != begin:
        print(*(f"    {line}" for line in kernel.core.printed(best)), sep="\n")
    if measures:
        _measure(kernel, best, judge.folder)
    return 0


def climbed(judge: Judge, begin: Code, first: Verdict, seed: int, steps: int) -> tuple[Code, Verdict]:
    """The best code that one seed finds, and what the simulator says of it."""
    kernel, random, started = judge.kernel, Random(seed), time.process_time()
    meaning = Meaning(kernel, begin)
    best, least, right, tried, agree = begin, first, 0, 0, 0
    for _ in range(ROUNDS):
        found = walk(best, kernel, meaning, random, steps // ROUNDS)
        verdicts = judge.verdicts([judge.source(code) for code in found.found])
        right, tried = right + found.right, tried + len(verdicts)
        agree += sum(verdict.right for verdict in verdicts)
        for code, verdict in zip(found.found, verdicts, strict=True):
            if verdict.better(least):
                best, least = code, verdict
    lines = [len(kernel.core.printed(code)) for code in (begin, best)]
    print(
        f"{kernel.name} on {kernel.device.name}: seed {seed}: {steps:,} steps, {right:,} right; {tried} "
        f"candidates in the simulator, {agree} right; from {first.cycles:,} to {least.cycles:,} cycles, from "
        f"{lines[0]} to {lines[1]} instructions; {time.process_time() - started:.0f} s",
        flush=True,
    )
    return best, least


def _measure(kernel: Kernel, code: Code, folder: Path) -> None:
    with Results(folder / "results.db") as results:
        text = "\n".join(f"    {line}" for line in kernel.core.printed(code))
        for m in measured(kernel, text, results, folder):
            vary = "vary" if m.timing_varies else "do not vary"
            print(
                f"    {m.operation} {m.message_bytes} bytes: {m.status}, {m.cycles_median} cycles, "
                f"{m.stack_bytes} bytes of stack, branches and addresses {vary} {m.reason}".rstrip()
            )


def _layout(judge: Judge) -> int:
    """Each place of each site, then the best of one site together with those of the next."""
    kernel = judge.kernel
    source = judge.source(kernel.code())
    there = sites(source)
    (first,) = judge.verdicts([source])
    best: dict[Site, int] = {}
    least, tried = first, 0
    for site in there:
        ways = [{**best, site: distance} for distance in distances(site)]
        verdicts = judge.verdicts([placed(source, way) for way in ways])
        tried += len(ways)
        for way, verdict in zip(ways, verdicts, strict=True):
            if verdict.better(least):
                best, least = way, verdict
    rows = source.splitlines()
    print(
        f"{kernel.name} on {kernel.device.name}: {tried} layouts of {len(there)} places in the simulator; "
        f"from {first.cycles:,} to {least.cycles:,} cycles"
    )
    for site, distance in best.items():
        print(f"    {distance} bytes behind a multiple of 32: before {_first_behind(rows, site)}")
    return 0


def _first_behind(rows: Sequence[str], site: Site) -> str:
    behind = (row.strip() for row in rows[site.row + 1 :])
    name = next((row for row in behind if row.endswith(":")), "the end").rstrip(":")
    return "each function" if name.startswith("\\") else f"'{name}'"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
