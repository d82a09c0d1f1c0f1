"""Who owns what: owners.toml says which tests must notice a change in which sources."""

from __future__ import annotations

import fnmatch
import re
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SOURCES = "src/motecrypt"
MUTATED = (".py", ".c", ".h", ".cc", ".js")
OWNED = (*MUTATED, ".S")
"""Sources that tests own. There are no mutants of the last: owners.toml names their tests instead."""


@dataclass(frozen=True)
class Owner:
    """Some sources and what runs when one of them is mutated.

    Attributes
    ----------
    domain : which share of the sample they belong to.
    sources : patterns of paths from the project's root; the longest that fits has a file.
    tests : what pytest is given, quickest first.
    select : pytest's -k, or nothing.
    compile : for C: a command that compiles `{source}` to `{object}`, with the project's warnings.
    """

    domain: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    select: str = ""
    compile: str = ""


@dataclass(frozen=True)
class Domain:
    """A share of the sample, of 240; where strict, all of it must be killed."""

    name: str
    share: int
    strict: bool


@dataclass(frozen=True)
class Owners:
    """All of owners.toml."""

    domains: dict[str, Domain]
    owners: tuple[Owner, ...]
    left_out: dict[str, str]
    rules: dict[str, str]
    """Patterns, and the test of a house rule that owns every Python line in which one is found."""
    left_out_tests: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By pattern of sources that are left out: the tests that notice a change in them."""
    other_tests: dict[str, str] = field(default_factory=dict)
    """Patterns of tests that own no source, and why."""
    data_tests: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By pattern of files that are no source, such as pages: the tests that notice a change."""

    def of(self, path: str) -> Owner | None:
        """Who owns a source: the longest pattern that fits, the first of equals; None where nobody does."""
        fitting = [(o, s) for o in self.owners for s in o.sources if fnmatch.fnmatch(path, s)]
        return max(fitting, key=lambda each: len(each[1]))[0] if fitting else None

    def excused(self, path: str) -> bool:
        """Whether a source is left out of the sample, for a reason that owners.toml gives."""
        return any(fnmatch.fnmatch(path, pattern) for pattern in self.left_out)

    def owns(self, test: str) -> bool:
        """Whether a test file is named for some source: itself, or its folder."""
        named = [*self.rules.values(), *(t for o in self.owners for t in o.tests)]
        named += [t for tests in self.left_out_tests.values() for t in tests]
        return any(test == name or test.startswith(f"{name}/") for name in named)

    def unowned_tests(self) -> list[str]:
        """Test files that no source names and that no reason excuses."""
        excused = self.other_tests
        return [
            t for t in every_test() if not self.owns(t) and not any(fnmatch.fnmatch(t, e) for e in excused)
        ]

    def judge_of(self, path: str, before: str) -> Owner:
        """Who runs for a mutant: the source's owner, and first the house rules that its line falls under."""
        owner, tests = self._owner(path), self._rules_of(path, before)
        if not tests:
            return owner
        named = " or ".join(Path(test).stem for test in tests)
        select = f"({owner.select}) or {named}" if owner.select else ""
        return replace(owner, tests=(*tests, *owner.tests), select=select)

    def judges_of(self, path: str, before: str) -> list[Owner]:
        """The same one by one: each of them must pass over the tree as it is."""
        rules = [Owner("rules", (), (test,)) for test in self._rules_of(path, before)]
        return [self._owner(path), *rules]

    def _owner(self, path: str) -> Owner:
        owner = self.of(path)
        assert owner is not None
        return owner

    def _rules_of(self, path: str, before: str) -> list[str]:
        return [t for pattern, t in self.rules.items() if path.endswith(".py") and re.search(pattern, before)]

    def sources(self) -> dict[str, Owner]:
        """Every source that is mutated, and its owner; ValueError where one has none."""
        found = {}
        for path in every_source():
            if self.excused(path):
                continue
            owner = self.of(path)
            if owner is None or not path.endswith(MUTATED):
                raise ValueError(
                    f"owners.toml: no tests own {path}; name them, or leave it out with a reason"
                )
            found[path] = owner
        return found


def every_source() -> list[str]:
    """All sources of the package that tests own, from the project's root."""
    found = (ROOT / SOURCES).rglob("*")
    return sorted(p.relative_to(ROOT).as_posix() for p in found if p.suffix in OWNED and p.is_file())


def every_test() -> list[str]:
    """All files of tests, from the project's root."""
    return sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "tests").rglob("test_*.py"))


def load(path: Path = HERE / "owners.toml") -> Owners:
    """Read owners.toml."""
    table: dict[str, Any] = tomllib.loads(path.read_text())
    domains = {
        name: Domain(name, entry["share"], entry.get("strict", False))
        for name, entry in table["domain"].items()
    }
    owners = []
    for entry in table["owner"]:
        if entry["domain"] not in domains:
            raise ValueError(f"{path.name}: unknown domain '{entry['domain']}'")
        owners.append(
            Owner(
                domain=entry["domain"],
                sources=tuple(f"{SOURCES}/{source}" for source in entry["sources"]),
                tests=tuple(f"tests/{test}" for test in entry["tests"]),
                select=entry.get("select", ""),
                compile=entry.get("compile", ""),
            )
        )
    left_out = {f"{SOURCES}/{e['source']}": e["reason"] for e in table["left_out"]}
    left_out_tests = {
        f"{SOURCES}/{e['source']}": tuple(f"tests/{test}" for test in e.get("tests", ()))
        for e in table["left_out"]
    }
    other_tests = {f"tests/{test}": e["reason"] for e in table["other_tests"] for test in e["tests"]}
    data_tests = {
        pattern: tuple(f"tests/{test}" for test in entry["tests"])
        for entry in table["data"]
        for pattern in entry["files"]
    }
    rules = {_pattern(entry): f"tests/{entry['test']}" for entry in table["rule"]}
    return Owners(domains, tuple(owners), left_out, rules, left_out_tests, other_tests, data_tests)


def _pattern(rule: dict[str, str]) -> str:
    return rule["pattern"] if "pattern" in rule else re.escape(rule["word"])


@dataclass(frozen=True)
class Equivalent:
    """A mutant that no test can kill, and why: equivalent.toml."""

    path: str
    before: str
    after: str
    argument: str
    checked_by: str
    under: str = ""

    def fits(self, path: str, before: str, after: str, line_above: str) -> bool:
        """Whether a mutant is this one."""
        above = self.under in ("", line_above)
        return above and (self.path, self.before, self.after) == (path, before, after)


def equivalents(path: Path = HERE / "equivalent.toml") -> tuple[Equivalent, ...]:
    """Read equivalent.toml."""
    table = tomllib.loads(path.read_text())
    return tuple(
        Equivalent(
            f"{SOURCES}/{e['source']}",
            e["before"],
            e["after"],
            e["argument"],
            e.get("checked_by", ""),
            e.get("under", ""),
        )
        for e in table.get("equivalent", [])
    )
