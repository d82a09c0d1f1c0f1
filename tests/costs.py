"""What each test file costs in processor time, so that the costliest start first and no worker
is left alone at the end. `./test --record` measures costs.toml again.

A test that costs much by itself is handed out alone; the others of a file stay together, for their fixtures.
"""

from __future__ import annotations

import os
import re
import tomllib
import zlib
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

PLACE = Path(__file__).with_name("costs.toml")
WIDE = Path(__file__).with_name("wide.toml")
ALL = bool(os.environ.get("MOTECRYPT_TEST_ALL"))
"""Whether `./test --all` or `./test mutants` runs: random tests have more runs then, and each key of each
descriptor is tried."""
ALONE_S = 10.0
"""From here on a test is listed and handed out by itself."""
PROPERTY = "processor_s"


@dataclass(frozen=True)
class Costs:
    """Processor seconds by file, without the tests that have a line of their own, and by such a test."""

    files: Mapping[str, float] = field(default_factory=dict)
    tests: Mapping[str, float] = field(default_factory=dict)

    def unit_of(self, test: str) -> str:
        """What is handed out together: the test alone, or its file."""
        return test if test in self.tests else file_of(test)

    def of_unit(self, unit: str) -> float:
        """Seconds; 0 for what was never measured."""
        return self.tests.get(unit, self.files.get(unit, 0.0))

    def of_file(self, path: str) -> float:
        """Seconds of all tests of a file, also those listed alone."""
        alone = (seconds for test, seconds in self.tests.items() if file_of(test) == path)
        return self.files.get(path, 0.0) + sum(alone)


def load(path: Path = PLACE) -> Costs:
    """As recorded; nothing where there is no record."""
    if not path.exists():
        return Costs()
    table = tomllib.loads(path.read_text())
    return Costs(table["files"], table["tests"])


def recorded(seconds: Mapping[str, float]) -> Costs:
    """From the seconds of each test."""
    alone = {test: taken for test, taken in seconds.items() if taken >= ALONE_S}
    files: dict[str, float] = {}
    for test, taken in seconds.items():
        files[file_of(test)] = files.get(file_of(test), 0.0) + (0.0 if test in alone else taken)
    return Costs(files, alone)


def store(costs: Costs, path: Path = PLACE) -> None:
    """Write the record; a file of less than a tenth of a second is not listed."""
    lines = ["# Processor seconds of tests, by `./test --record`: the order in which they start.", ""]
    for name, table in (("tests", costs.tests), ("files", costs.files)):
        lines.append(f"[{name}]")
        costly = sorted((key, round(taken, 1)) for key, taken in table.items())
        lines += [f"{_quoted(key)} = {taken}" for key, taken in costly if taken >= 0.1]
        lines.append("")
    path.write_text("\n".join(lines[:-1]) + "\n")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def file_of(test: str) -> str:
    """The file of a test's name."""
    return test.partition("::")[0]


_BEGAN = pytest.StashKey[float]()


class CostliestFirst(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out units in the order in which they were collected, which is the costliest first."""

    def __init__(self, config: pytest.Config, log: object = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False
        self._costs = load()

    def _split_scope(self, nodeid: str) -> str:
        return self._costs.unit_of(nodeid)


def wide_patterns(path: Path = WIDE) -> dict[str, str]:
    """Patterns of names of tests that only `--all` runs, and why."""
    return {entry["pattern"]: entry["reason"] for entry in tomllib.loads(path.read_text())["wide"]}


@pytest.hookimpl(optionalhook=True)  # the tests of mutants run without xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> CostliestFirst:
    """Instead of xdist's own."""
    return CostliestFirst(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    """An option, not a variable: a test that runs pytest itself has all of its own tests."""
    parser.addoption("--share", default="", metavar="K/N", help="only the Kth of N parts of the test files")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    """Mark what is wide before pytest selects, then order what is left: for workers that share it (xdist).
    The tests of mutants, which run without, stop at the first failure, and keep the order of owners.toml."""
    wide = re.compile("|".join(wide_patterns()))
    for item in items:
        if wide.search(item.nodeid):
            item.add_marker("wide")
    yield
    if share := config.getoption("--share"):
        items[:] = [item for item in items if in_share(item.nodeid, share)]
    if not config.pluginmanager.is_blocked("xdist"):
        order(items)


def in_share(test: str, share: str) -> bool:
    """Whether a test belongs to this part. By its file's name alone, so that all parts are all tests, also on
    machines that collect others."""
    number, _, parts = share.partition("/")
    return zlib.crc32(file_of(test).encode()) % int(parts) == int(number) - 1


def order(items: list[pytest.Item]) -> None:
    """The costliest unit first; tests of a unit keep their order."""
    costs = load()
    first: dict[str, int] = {}
    for at, item in enumerate(items):
        first.setdefault(costs.unit_of(item.nodeid), at)
    units = sorted(first, key=lambda unit: (-costs.of_unit(unit), first[unit]))
    place = {unit: at for at, unit in enumerate(units)}
    items.sort(key=lambda item: place[costs.unit_of(item.nodeid)])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, bool, bool]:
    """Remember when a test began, in processor time of this process and of those that it waited for."""
    item.stash[_BEGAN] = sum(os.times()[:4])
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """What a test took becomes a property of it at its end."""
    if call.when == "teardown":
        item.user_properties.append((PROPERTY, f"{sum(os.times()[:4]) - item.stash[_BEGAN]:.2f}"))
