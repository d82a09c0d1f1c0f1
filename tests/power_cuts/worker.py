"""One slice of the power cuts, in its own process above the recorder: a task in JSON, a result in JSON."""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from motecrypt.link import file_parts, gateway_end, keys
from power_cuts.cuts import AGAIN, Cut, Plan, cut, record
from power_cuts.defects import DEFECTS, defect
from power_cuts.facts import Verdict
from power_cuts.records import cut_files

MEMORY = Path("/dev/shm")
"""A file system in memory, where there is one: what a disk keeps is decided here."""
NEEDED = {"LD_PRELOAD", "PATH", "HOME", "XDG_CACHE_HOME", "MOTECRYPT_CACHE", "MOTECRYPT_VENV", "LANG"}


def main() -> None:
    """Do the task of standard input."""
    task = json.load(sys.stdin)
    chance = random.Random(f"secrets {task.get('seed')}")
    for module in (file_parts, gateway_end, keys):  # equal seeds do the same
        module.secrets = SimpleNamespace(  # type: ignore[assignment]
            token_bytes=chance.randbytes,
            token_hex=lambda count: chance.randbytes(count).hex(),
            randbits=chance.getrandbits,
            randbelow=chance.randrange,
        )
    for name in set(os.environ) - NEEDED:  # the gateway copies them for each command
        del os.environ[name]
    begun = time.process_time()
    with tempfile.TemporaryDirectory(
        prefix="motecrypt-power.", dir=MEMORY if MEMORY.is_dir() else None
    ) as place:
        folder = Path(place) / "disk"
        result = _defects(folder, task) if task["kind"] == "defects" else _told(_verdicts(folder, task))
    print(json.dumps(result | {"cpu_s": time.process_time() - begun}))


def _told(verdicts: Iterator[tuple[str, Verdict, Counter[str]]]) -> dict[str, Any]:
    all_of, counts = Verdict(), Counter[str]()
    for where, verdict, more in verdicts:
        all_of.wrong += verdict.wrong
        counts += more
        if verdict.cases and len(all_of.cases) < 10:
            all_of.cases.append(f"{where}: {verdict.cases[0]}")
    return {"wrong": all_of.wrong, "cases": all_of.cases, "counts": counts}


def _verdicts(folder: Path, task: dict[str, Any]) -> Iterator[tuple[str, Verdict, Counter[str]]]:
    """Of the life that is recorded, then of each cut."""
    seed, share, shares = task["seed"], task["share"], task["shares"]
    if task["kind"] == "records":
        yield from _records(folder, task)
        return
    plan = Plan(seed, task["messages"], task.get("backlog", 0), task.get("faults", False))
    recording = record(folder, plan)
    steps = len(recording.steps)
    yield "no cut", recording.verdict, recording.counts if share == 0 else Counter()
    if task["kind"] == "boundaries":
        places = range(share * (steps + 1) // shares, (share + 1) * (steps + 1) // shares)
        cuts = [Cut(place, 0) for place in places]
    else:
        chance = random.Random(f"cuts {seed} {share}")
        cuts = sorted(
            (
                Cut(chance.randint(0, steps), chance.randrange(1 << 30), chance.random() < AGAIN)
                for _ in range(task["cuts"])
            ),
            key=lambda each: each.after,
        )
    name = "boundaries" if task["kind"] == "boundaries" else "random cuts"
    for each, verdict in cut(folder, recording, cuts):
        yield f"seed {seed}, step {each.after}, {each.seed}", verdict, Counter({name: 1})


def _records(folder: Path, task: dict[str, Any]) -> Iterator[tuple[str, Verdict, Counter[str]]]:
    seed, faults, last = task["seed"], task["faults"], task["cuts"]
    cuts = [Cut(place, 0) for place in range(task.get("from", 0), last)]
    verdicts = cut_files(folder, seed, task["messages"], faults, cuts)
    yield "no cut", next(verdicts), Counter()
    for each, verdict in zip(cuts, verdicts, strict=True):
        yield f"records, seed {seed}, step {each.after}", verdict, Counter({"boundaries of records": 1})


def _defects(folder: Path, task: dict[str, Any]) -> dict[str, Any]:
    """What each defect was found by, and after how many cuts; the tasks are by what a defect shows in."""
    found: dict[str, str] = {}
    for name in task["names"]:
        with defect(name):
            for cuts, (_, verdict, _) in enumerate(_verdicts(folder, task["tasks"][DEFECTS[name].shows])):
                if verdict.wrong:
                    found[name] = f"{next(iter(verdict.wrong))}, cut {cuts}"
                    break
    return {"found": found}


if __name__ == "__main__":
    main()
