"""`./test power-cuts`: the power goes at every step of the gateway's storage.

A gateway of the product, its nodes, senders and sinks run in virtual time above a recorder of what they do to
the disk. At each boundary between two steps, and at random ones, the folder gets the content that a disk may
have after a power cut (disk.py). Another gateway starts there, the rest is sent, and all is compared: what is
reported as accepted is there, once, and no counter of the link is used again. Results are kept, so that a run
that was stopped continues.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from motecrypt.base.paths import cache_dir, make_dir
from power_cuts.defects import DEFECTS
from power_cuts.facts import Verdict
from power_cuts.recorder import preloaded

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("src/motecrypt/link", "src/motecrypt/firmware/link", "src/motecrypt/app", "tests/power_cuts")
SHARES = 10
RECORD_STEPS = 500
RECORD_BOUNDARIES, RECORD_SLICE = 2500, 500
SLICE_S = 3600.0
_USUAL = {"seed": 1, "share": 0, "shares": 1}
SMALL = {
    "plain": {**_USUAL, "kind": "random", "messages": 60, "cuts": 40},
    "faults": {**_USUAL, "kind": "random", "messages": 150, "cuts": 12, "faults": True, "seed": 2},
    "records": {**_USUAL, "kind": "records", "messages": 60, "faults": True, "cuts": 150},
}
"""A sample for `./test`."""
QUICK = {
    "plain": {**SMALL["plain"], "cuts": 250},
    "faults": SMALL["faults"],
    "records": {**SMALL["records"], "cuts": 500},
}
"""What finds all defects but the rare ones, with any version of SQLite: it ends at the first sign of each."""
LARGE = {
    "plain": {**_USUAL, "kind": "boundaries", "messages": 400},
    "faults": {**_USUAL, "kind": "random", "messages": 400, "cuts": 3000, "faults": True},
    "records": QUICK["records"],
}
"""What finds rare defects, too."""


def main(arguments: Sequence[str]) -> int:
    """Run it, or go on with it; 0 when nothing happened that must not."""
    parser = argparse.ArgumentParser(prog="./test power-cuts", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--seed", type=int, default=1, help="equal seeds cut alike (default: 1)")
    parser.add_argument("--messages", type=int, default=500, help="of each life (default: 500)")
    parser.add_argument("--cuts", type=int, default=10_000, help="random ones (default: 10000)")
    parser.add_argument(
        "--backlog", type=int, default=100_000, help="messages that wait in a spool (default: 100000)"
    )
    parser.add_argument("--backlog-cuts", type=int, default=40, help="with these (default: 40)")
    parser.add_argument(
        "--defects",
        action="store_true",
        help="see that they find each defect of defects.py, and nothing else",
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (default: 2)")
    parser.add_argument("--results", type=Path, help="where results are kept (default: in the cache)")
    chosen = parser.parse_args(arguments)
    if min(chosen.messages, chosen.jobs) < 1 or min(chosen.cuts, chosen.backlog, chosen.backlog_cuts) < 0:
        parser.exit(2, "test power-cuts: --messages and --jobs take 1 or more, the others 0 or more\n")
    if chosen.defects:
        return found_all(list(DEFECTS), LARGE)
    tasks = planned(chosen)
    kept = chosen.results or make_dir(cache_dir() / "power-cuts") / f"seed-{chosen.seed}.json"
    sources = _digest()
    results = _kept(kept, sources)
    open_tasks = [task for task in tasks if _name(task) not in results]
    print(
        f"power cuts: {len(open_tasks)} of {len(tasks)} slices; Ctrl-C stops, results stay", file=sys.stderr
    )
    pool = ThreadPoolExecutor(chosen.jobs)
    try:
        running = {pool.submit(ran, task): task for task in open_tasks}
        for done in as_completed(running):
            results[_name(running[done])] = done.result()
            kept.write_text(json.dumps({"sources": sources, "results": results}))
            wrong = sum(done.result()["wrong"].values())
            print(f"power cuts: {_name(running[done])}: {wrong} wrong", file=sys.stderr, flush=True)
    finally:
        pool.shutdown(cancel_futures=True)
    return tell([results[_name(task)] for task in tasks])


def planned(chosen: argparse.Namespace) -> list[dict[str, Any]]:
    """The slices of a run."""
    usual = {"seed": chosen.seed, "messages": chosen.messages, "shares": SHARES}
    tasks = [usual | {"kind": "boundaries", "share": share} for share in range(SHARES)]
    for share in range(SHARES):  # every other one over a disk that fails, too
        cuts = (share + 1) * chosen.cuts // SHARES - share * chosen.cuts // SHARES
        drawn = {"seed": chosen.seed + share, "share": share, "faults": share % 2 == 1, "cuts": cuts}
        tasks.append(usual | {"kind": "random"} | drawn)
    for share in range(4):
        cuts = (share + 1) * chosen.backlog_cuts // 4 - share * chosen.backlog_cuts // 4
        few = {"messages": 50, "cuts": cuts, "share": share}
        tasks.append(usual | {"kind": "random", "backlog": chosen.backlog} | few)
    for first in range(0, RECORD_BOUNDARIES, RECORD_SLICE):
        part = {"from": first, "cuts": first + RECORD_SLICE, "messages": RECORD_STEPS, "share": 0}
        tasks += [usual | {"kind": "records", "faults": faults} | part for faults in (False, True)]
    return [task for task in tasks if task.get("cuts") != 0]


def found_all(names: Sequence[str], tasks: Mapping[str, Any]) -> int:
    """Print what finds each defect; 0 when every one is found."""
    found = ran({"kind": "defects", "names": list(names), "tasks": tasks})["found"]
    for name in names:
        print(f"{name}: {found.get(name, 'not found')}")
    return 0 if set(found) == set(names) else 1


def ran(task: dict[str, Any]) -> dict[str, Any]:
    """A slice, in a process of its own.

    Raises
    ------
    RuntimeError
        It ended otherwise than with a result.
    """
    command, environment = preloaded(["power_cuts.worker"])
    done = subprocess.run(
        command,
        input=json.dumps(task),
        env=environment,
        capture_output=True,
        text=True,
        timeout=SLICE_S,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{_name(task)}: {done.stderr[-2000:]}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def tell(results: Sequence[dict[str, Any]]) -> int:
    """Print what all slices came to; 0 when nothing happened that must not."""
    verdict, counts = Verdict(), Counter[str]()
    for result in results:
        verdict.wrong += Counter(result["wrong"])
        verdict.cases += result["cases"]
        counts += Counter(result["counts"])
    for name, count in sorted(counts.items()):
        print(f"{name:40} {count:>10,}")
    print(f"{'CPU time':40} {sum(result['cpu_s'] for result in results):>8,.0f} s")
    for case in verdict.cases[:20]:
        print(f"power cuts: {case}")
    print(verdict.told())
    return 1 if verdict.wrong else 0


def _name(task: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in task.items() if name not in ("shares",))


def _kept(path: Path, sources: str) -> dict[str, Any]:
    """Results of a run of the same sources that was stopped."""
    try:
        kept = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    results: dict[str, Any] = kept["results"] if kept.get("sources") == sources else {}
    return results


def _digest() -> str:
    digest = hashlib.sha256()
    for name in SOURCES:
        for path in sorted((ROOT / name).rglob("*")):
            if path.suffix in (".py", ".c", ".h"):
                digest.update(os.fsencode(path.relative_to(ROOT)) + path.read_bytes())
    return digest.hexdigest()


__all__ = ["main", "planned", "ran", "tell"]
