"""`./test mutants`: break the code in many small ways, one at a time, and see which the tests notice."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import queue
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mutants import owners as ownership
from mutants import sample
from mutants.execute import NOTHING_RAN, Tree, deadline_s
from mutants.model import EQUIVALENT, KILLED, SURVIVED, TIMED_OUT, UNCOUNTED, Mutant, Result, Tally
from mutants.owners import ROOT, Equivalent, Owner

COUNT = 240
SCORE_MIN = 0.95
EQUIVALENT_MAX = 0.10
WAITING_MAX = 4
"""Mutants drawn ahead of what the workers try, so that few are tried that no quota needs."""


def main(arguments: list[str]) -> int:
    """Draw the sample, try it, report; 0 when it meets the thresholds, 1 when not, 2 for bad input."""
    options = _options(arguments)
    try:
        owned = ownership.load()
        owned.sources()
    except ValueError as error:
        print(f"mutants: {error}", file=sys.stderr)
        return 2
    only = tuple(_from_root(path) for path in options.only)
    if only and not any(path.startswith(only) for path in owned.sources()):
        print(f"mutants: no source that is mutated lies in {' '.join(options.only)}", file=sys.stderr)
        return 2
    if options.output and len(options.seed) > 1:
        print("mutants: --output: give one --seed with it; each seed has a file of its own", file=sys.stderr)
        return 2
    places = {seed: options.output or _default_output(seed, only) for seed in options.seed}
    missing = [place for place in places.values() if not place.exists()]
    if options.again and missing:
        print(f"mutants: --again: {missing[0]} does not exist; run without it first", file=sys.stderr)
        return 2
    baselines = Baselines()
    codes = []
    for seed, place in places.items():
        run = Run(owned, seed, options.count, only, place, baselines)
        # An error may leave a worker writing there; the error is what must be reported.
        with tempfile.TemporaryDirectory(prefix="motecrypt-mutants.", ignore_cleanup_errors=True) as scratch:
            try:
                run.go(Path(scratch), options.jobs, options.again)
            except TestsFail as failure:
                print(failure, file=sys.stderr)
                return 1
        codes.append(run.tell())
    return max(codes)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./test mutants", description=__doc__)
    parser.add_argument(
        "--seed",
        type=int,
        nargs="+",
        default=[1],
        help="draws the sample; several draw one each (default: 1)",
    )
    parser.add_argument(
        "--count", type=_positive, default=COUNT, help="mutants in the sample (default: %(default)s)"
    )
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="PATH", help="only sources under these paths"
    )
    parser.add_argument(
        "--jobs", type=_positive, default=min(2, os.cpu_count() or 1), help="mutants tried at a time"
    )
    parser.add_argument("--again", action="store_true", help="try only what was not killed last time")
    parser.add_argument("--output", type=Path, help="write the results to this JSON file")
    return parser.parse_args(arguments)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("give 1 or more")
    return number


def _from_root(path: str) -> str:
    absolute = Path(path).resolve()
    return absolute.relative_to(ROOT).as_posix() if absolute.is_relative_to(ROOT) else path


def _default_output(seed: int, only: tuple[str, ...]) -> Path:
    from motecrypt.base.paths import cache_dir

    name = f"seed-{seed}"
    if only:
        name += "-" + hashlib.sha256("\0".join(only).encode()).hexdigest()[:8]
    return cache_dir() / "mutants" / f"{name}.json"


def _tree_digest() -> str:
    """Of all that is copied and may change an outcome: the package, the tests, their settings."""
    digest = hashlib.sha256()
    files = [p for folder in ("src", "tests") for p in (ROOT / folder).rglob("*")]
    for path in sorted([*files, ROOT / "pyproject.toml"]):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


class TestsFail(Exception):
    """The owning tests fail over the tree as it is, or none of them can run: no mutant can be judged."""


class Baselines:
    """How long each owner's tests take over the tree as it is: run once, whatever asks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seconds: dict[Owner, float] = {}
        self._alone: dict[Owner, threading.Lock] = {}

    def seconds(self, tree: Tree, owner: Owner) -> float:
        """Of one owner; they must pass, else nothing can be reported."""
        with self._lock:
            alone = self._alone.setdefault(owner, threading.Lock())
        with alone:
            if owner not in self._seconds:
                result = tree.baseline(owner)
                if result.outcome != SURVIVED:
                    raise TestsFail(f"{result.output}\nmutants: these fail without any mutant: {owner.tests}")
                if result.note == NOTHING_RAN:
                    raise TestsFail(
                        f"mutants: all of these are skipped here: {' '.join(owner.tests)}; "
                        "`./motecrypt doctor` shows what is missing"
                    )
                self._seconds[owner] = result.seconds
                named = " ".join((*owner.tests, owner.select))
                print(f"  {result.seconds:6.1f} s {owner.domain}: {named}", flush=True)
        return self._seconds[owner]


class Run:
    """One sample and its results, kept in a file as they come, so that a stopped run continues."""

    def __init__(
        self,
        owned: ownership.Owners,
        seed: int,
        count: int,
        only: tuple[str, ...],
        place: Path,
        baselines: Baselines,
    ) -> None:
        self.owned, self.seed, self.count, self.only, self.place = owned, seed, count, only, place
        # One that nobody has checked is tried, and survives, like any other.
        self.equivalents = [entry for entry in ownership.equivalents() if entry.checked_by]
        self.results: dict[str, Result] = {}
        self._digest = _tree_digest()
        self._lock = threading.Lock()
        self._baselines = baselines

    def go(self, scratch: Path, jobs: int, again: bool) -> None:
        """Try every mutant of the sample that has no result yet."""
        earlier = self._stored()
        if again:
            self.results = {name: r for name, r in earlier.items() if r.outcome in (KILLED, UNCOUNTED)}
            wanted: Iterator[Mutant] = (
                r.mutant for r in earlier.values() if r.outcome not in (KILLED, UNCOUNTED)
            )
            wanted = iter([m for m in wanted if self._still_there(m)])
        else:
            self.results = earlier if self._same_tree else {}
            wanted = self._wanted()
        tasks: queue.Queue[Mutant | None] = queue.Queue(WAITING_MAX)
        cache = _cache_copy(scratch)
        failures: list[BaseException] = []
        workers = [
            threading.Thread(target=self._work, args=(tasks, scratch / str(n), cache, failures), daemon=True)
            for n in range(jobs)
        ]
        for worker in workers:
            worker.start()
        try:
            for mutant in wanted:
                if failures:
                    break
                tasks.put(mutant)
        except Exception as error:
            failures.append(error)
        for _ in workers:
            tasks.put(None)
        for worker in workers:
            worker.join()
        if failures:
            raise failures[0]

    def _wanted(self) -> Iterator[Mutant]:
        """The sample: draws from each domain until enough mutants count."""
        drawn: list[Mutant] = []
        for _, quota, mutants in sample.draw(self.owned, self.seed, self.count, self.only):
            mine: list[Mutant] = []
            while True:
                with self._lock:
                    counted = sum(self._may_count(m) for m in mine)
                waiting = any(m.name not in self.results and not self._equivalent(m) for m in mine)
                if counted < quota:
                    mutant = next(mutants, None)
                    if mutant is None:
                        break
                    mine.append(mutant)
                    if equivalent := self._equivalent(mutant):
                        self._keep(Result(mutant, EQUIVALENT, note=equivalent.argument))
                    elif mutant.name not in self.results:
                        yield mutant
                elif waiting and any(self._needs_look(m) for m in mine):
                    time.sleep(0.2)
                else:
                    break
            drawn += mine
        keep = {m.name for m in drawn}
        self.results = {name: r for name, r in self.results.items() if name in keep}

    def _needs_look(self, mutant: Mutant) -> bool:
        """Whether a mutant on its way may turn out not to count: C or a script that was not tried yet."""
        return mutant.name not in self.results and not mutant.path.endswith(".py")

    def _may_count(self, mutant: Mutant) -> bool:
        result = self.results.get(mutant.name)
        return result is None or result.outcome != UNCOUNTED

    def _still_there(self, mutant: Mutant) -> bool:
        text = (ROOT / mutant.path).read_text() if (ROOT / mutant.path).exists() else ""
        return mutant.before in text and mutant.after in mutant.applied(text)

    def _equivalent(self, mutant: Mutant) -> Equivalent | None:
        lines = (ROOT / mutant.path).read_text().splitlines()
        above = lines[mutant.line - 2].strip() if mutant.line > 1 else ""
        fitting = (e for e in self.equivalents if e.fits(mutant.path, mutant.before, mutant.after, above))
        return next(fitting, None)

    def _work(
        self, tasks: queue.Queue[Mutant | None], place: Path, cache: Path, failures: list[BaseException]
    ) -> None:
        tree: Tree | None = None
        while (mutant := tasks.get()) is not None:
            if failures:
                continue
            try:
                tree = tree or Tree(place, cache)
                owner = self.owned.judge_of(mutant.path, mutant.before)
                judges = self.owned.judges_of(mutant.path, mutant.before)
                seconds = sum(self._baselines.seconds(tree, judge) for judge in judges)
                result = tree.try_out(mutant, owner, deadline_s(seconds))
                self._keep(result)
            except BaseException as error:
                failures.append(error)
        if tree is not None:
            tree.close()

    def _keep(self, result: Result) -> None:
        with self._lock:
            self.results[result.mutant.name] = result
            record = {
                "seed": self.seed,
                "count": self.count,
                "tree": self._digest,
                "tally": {name: tally.counts for name, tally in self._tallies().items()},
                "mutants": [r.to_json() for r in self.results.values()],
            }
            self.place.parent.mkdir(parents=True, exist_ok=True)
            beside = self.place.with_suffix(".new")
            beside.write_text(json.dumps(record, indent=1))
            beside.replace(self.place)
        if result.outcome != UNCOUNTED:
            mutant = result.mutant
            print(f"{result.outcome:10} {result.seconds:6.1f} s {mutant.path}:{mutant.line}", flush=True)

    def _stored(self) -> dict[str, Result]:
        self._same_tree = False
        if not self.place.exists():
            return {}
        stored: dict[str, Any] = json.loads(self.place.read_text())
        self._same_tree = (stored["seed"], stored["tree"]) == (self.seed, self._digest)
        results = [Result.from_json(record) for record in stored["mutants"]]
        return {result.mutant.name: result for result in results}

    def _tallies(self) -> dict[str, Tally]:
        tallies = {name: Tally() for name in self.owned.domains}
        for result in self.results.values():
            tallies[result.mutant.domain].add(result.outcome)
        return tallies

    def tell(self) -> int:
        """Print what was not killed and a count of each domain; 0 when the thresholds are met."""
        kinds = (SURVIVED, TIMED_OUT, EQUIVALENT)
        for kind in kinds:
            for result in self.results.values():
                if result.outcome == kind:
                    mutant = result.mutant
                    print(f"\n{kind}: {mutant.path}:{mutant.line} ({mutant.operator}) {result.note}")
                    print(result.diff())
        tallies = self._tallies()
        total = Tally()
        print(
            f"\n{'':10}{'sample':>8}{'killed':>8}{'survived':>10}{'time-out':>10}{'equivalent':>12}{'score':>8}"
        )
        complaints = []
        for name, tally in tallies.items():
            if not tally.sample:
                continue
            for kind, number in tally.counts.items():
                total.counts[kind] = total.of(kind) + number
            strict = self.owned.domains[name].strict
            print(_row(name, tally) + (" all must be" if strict else ""))
            if strict and tally.of(KILLED) < tally.judged:
                complaints.append(f"{name}: {tally.judged - tally.of(KILLED)} not killed, and all must be")
        print(_row("all", total))
        if total.score < SCORE_MIN:
            complaints.append(f"{100 * total.score:.1f} % killed; {100 * SCORE_MIN:.0f} % must be")
        if total.of(EQUIVALENT) > EQUIVALENT_MAX * total.sample:
            complaints.append(f"more than {100 * EQUIVALENT_MAX:.0f} % of the sample are called equivalent")
        for complaint in complaints:
            print(f"mutants: {complaint}")
        print(f"results: {self.place}")
        return 1 if complaints else 0


def _row(name: str, tally: Tally) -> str:
    numbers = f"{tally.sample:8}{tally.of(KILLED):8}{tally.of(SURVIVED):10}{tally.of(TIMED_OUT):10}"
    return f"{name:10}{numbers}{tally.of(EQUIVALENT):12}{100 * tally.score:7.1f}%"


def _cache_copy(scratch: Path) -> Path:
    """A cache of our own, since a mutant's build must not stay: what is large is linked, the rest copied."""
    from motecrypt.base.paths import cache_dir

    own = scratch / "cache"
    own.mkdir()
    for part in cache_dir().iterdir() if cache_dir().is_dir() else ():
        if part.name in ("firmware", "drivers"):
            shutil.copytree(part, own / part.name, symlinks=True)
        elif part.name != "mutants" and part.is_dir():
            (own / part.name).symlink_to(part)
    return own
