"""What `./test --changed` runs: for each changed file the tests that own it, by the map of the mutants
(mutants/owners.toml), the cheapest first, up to a budget; what is left out is shown."""

from __future__ import annotations

import fnmatch
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import costs
from mutants import owners

ROOT = Path(__file__).resolve().parent.parent
BUDGET_S = 75.0
"""Processor seconds that all chosen files may take as recorded: a minute on two cores, with format, lint and
types."""
TIMEOUT_S = 60
TEST = "tests/*test_*.py"


class Unknown(Exception):
    """A commit that git does not know."""


@dataclass
class Plan:
    """Which files of tests run, with which words."""

    since: str
    files: list[str]
    chosen: dict[str, set[str]] = field(default_factory=dict)
    """By pytest's -k, or nothing: files of tests."""
    left_out: dict[str, float] = field(default_factory=dict)
    """Files of tests beyond the budget, with their recorded seconds."""
    unowned: list[str] = field(default_factory=list)
    """Changed files that no test is named for."""

    def told(self) -> Iterator[str]:
        """What the plan is, for a person."""
        yield f"{len(self.files)} files changed since {self.since}"
        if self.left_out:
            seconds = sum(self.left_out.values())
            yield f"left out, {seconds:.0f} s as recorded: ./test {' '.join(self.left_out)}"
        if self.unowned:
            yield f"no tests of their own, so ./test decides: {' '.join(self.unowned)}"

    def runs(self, marks: str) -> Iterator[list[str]]:
        """Arguments of pytest."""
        for word, tests in sorted(self.chosen.items()):
            yield [*sorted(tests), "-m", marks, *(["-k", word] if word else [])]


def plan(base: str) -> Plan:
    """For what changed since a commit, or by default since the last one."""
    since, files = _changed_files(base)
    made, owned = Plan(since, files), owners.load()
    wanted: dict[str, set[str]] = {}
    for path in files:
        tests = list(_tests_of(path, owned))
        made.unowned += [] if tests or fnmatch.fnmatch(path, TEST) else [path]
        for test, word in tests:
            wanted.setdefault(test, set()).add(word)
    prices = costs.load()
    left_s = BUDGET_S
    for test in sorted(wanted, key=lambda name: (name not in files, prices.of_file(name))):
        price_s = prices.of_file(test)
        if price_s > left_s and test not in files:
            made.left_out[test] = price_s
            continue
        left_s -= price_s
        words = wanted[test]
        word = "" if "" in words else " or ".join(f"({each})" for each in sorted(words))
        made.chosen.setdefault(word, set()).add(test)
    return made


def _changed_files(base: str) -> tuple[str, list[str]]:
    """The commit and all files that differ from it, also what no longer exists, from the project's root."""
    files = _git("diff", "--name-only", base or "HEAD") + _git("ls-files", "--others", "--exclude-standard")
    if not files and not base:
        base = "HEAD~1"
        files = _git("diff", "--name-only", base)
    return base or "HEAD", sorted(set(files))


def _git(*arguments: str) -> list[str]:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except FileNotFoundError:
        raise Unknown("git is not installed; it knows what changed") from None
    if done.returncode != 0:
        raise Unknown(next(iter(done.stderr.strip().splitlines()), "git failed").removeprefix("fatal: "))
    return done.stdout.split("\n")[:-1]


def _tests_of(path: str, owned: owners.Owners) -> Iterator[tuple[str, str]]:
    """Files of tests that own a file, each with words for pytest's -k; a test owns itself."""
    if fnmatch.fnmatch(path, TEST):
        yield from [(path, "")] if (ROOT / path).is_file() else []
        return
    owner = owned.of(path)
    if owner is not None:
        for test in owner.tests:
            yield from ((each, owner.select) for each in _files(test))
    for pattern, tests in (*owned.left_out_tests.items(), *owned.data_tests.items()):
        if fnmatch.fnmatch(path, pattern):
            yield from ((each, "") for test in tests for each in _files(test))


def _files(test: str) -> list[str]:
    """A file, or those of a folder."""
    place = ROOT / test
    if place.is_dir():
        return sorted(each.relative_to(ROOT).as_posix() for each in place.rglob("test_*.py"))
    return [test]
