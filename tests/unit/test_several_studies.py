"""Several studies together: tool sets and toolchains are fetched together, and all work runs in parallel."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from motecrypt.app import several
from motecrypt.app import toolchains as _toolchains
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import Cell, ExperimentResult
from motecrypt.base.paths import make_dir
from motecrypt.build.setup.tool_sets import tool_sets
from motecrypt.build.toolchain import pinned
from motecrypt.build.toolchain.ahead import main as ahead_of_time
from motecrypt.catalog import DATA, Catalog
from motecrypt.results import Results
from motecrypt.studies import Needs, names, needs

DEADLINE_S = 30.0


def test_the_tool_sets_of_several_studies_come_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[tuple[str, bool]]] = []
    staged: list[str] = []
    placed: list[tuple[str, int]] = []  # the number of calls for tool sets before
    monkeypatch.setattr(several, "need_each", asked.append)
    monkeypatch.setattr(several, "stage", lambda chain, target: staged.append(chain.name))
    monkeypatch.setattr(several, "place", lambda chain, target: placed.append((chain.name, len(asked))))
    fetched: queue.SimpleQueue[str] = queue.SimpleQueue()
    monkeypatch.setattr(several, "source_root", lambda folder: fetched.put(folder.name))
    monkeypatch.setattr(_toolchains, "is_system", lambda target: False)
    monkeypatch.setattr(_toolchains, "_release", lambda: "trixie")
    bundled = threading.Event()
    monkeypatch.setattr(several, "_bundle", bundled.set)
    several.install(map(needs, ("wlan", "rc4d", "pico")), ("plots",))
    assert bundled.wait(DEADLINE_S)
    wanted = {(name, True) for name in ("plots", "host", "openssl", "images")}
    assert len(asked) == 1 and wanted | {("avr", False), ("pico", False)} == set(asked[0])
    assert set(staged) == {"gcc-5.4", "gcc-12"} and set(placed) == {("gcc-5.4", 1), ("gcc-12", 1)}
    assert {fetched.get(timeout=DEADLINE_S) for _ in range(2)} == {"mbedtls", "tiny-aes-c"}
    # Where the release has the toolchain itself, the tool set brings it, and nothing is unpacked next to it.
    asked.clear()
    placed.clear()
    monkeypatch.setattr(_toolchains, "_release", lambda: "bookworm")
    several.install(map(needs, ("wlan", "rc4d", "pico")))
    assert {("avr", True), ("pico", True)} < set(asked[0]) and placed == []

    def fails(tool_sets: object) -> None:
        raise InputError("offline")

    monkeypatch.setattr(several, "need_each", fails)
    several.install([needs("rc4d")])  # reported when the study asks for it


@pytest.mark.parametrize("release", ["bookworm", "trixie"])
def test_set_up_installs_ahead_what_is_needed(monkeypatch: pytest.MonkeyPatch, release: str) -> None:
    asked: list[list[tuple[str, bool]]] = []
    placed: set[tuple[str, str]] = set()
    monkeypatch.setattr(several, "need_each", asked.append)
    monkeypatch.setattr(several, "stage", lambda chain, target: None)
    monkeypatch.setattr(several, "place", lambda chain, target: placed.add((chain.name, target.command)))
    monkeypatch.setattr(several, "source_root", lambda folder: None)
    monkeypatch.setattr(_toolchains, "is_system", lambda target: False)
    monkeypatch.setattr(_toolchains, "_release", lambda: release)
    monkeypatch.setattr(several, "_bundle", lambda: None)
    several.install(map(needs, names()), ("plots",))
    ahead: list[tuple[str, str]] = []
    monkeypatch.setattr(
        "motecrypt.build.toolchain.ahead.stage",
        lambda chain, target: ahead.append((chain.name, target.command)),
    )
    monkeypatch.setattr("platform.freedesktop_os_release", lambda: {"VERSION_CODENAME": release})
    linked: list[list[str]] = []
    for command in ("reproduce", "measure"):
        linked.append([])
        monkeypatch.setattr("motecrypt.build.toolchain.libraries.fetch", linked[-1].append)
        ahead_of_time(command)
        assert sorted(ahead) == sorted(placed) and len(placed) == (2 if release == "trixie" else 0)
    assert {tool_sets()[name].library for name, _ in asked[0]} - {""} == set(linked[0])
    wanted = {
        package
        for name, compiler in asked[0]
        for package in (tool_sets()[name] if compiler else tool_sets()[name].without_compiler).debian
    }
    assert linked == [["simavr"], []]
    rows = [line.split() for line in (DATA / "ahead.txt").read_text().splitlines() if line[0] != "#"]
    assert all(row[0] == "reproduce" for row in rows)
    assert sorted(wanted) == sorted(p for row in rows if row[1] in ("any", release) for p in row[2:])


def test_toolchains_are_unpacked_at_the_same_time_and_give_way(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    both = threading.Barrier(2)
    usual = os.getpriority(os.PRIO_PROCESS, 0)

    def unpacked(chain: object, target: object, scratch: Path, mirror: str) -> Path:
        told = subprocess.run([sys.executable, "-c", "import os; print(os.nice(0))"], stdout=subprocess.PIPE)
        assert int(told.stdout) == max(usual, several.GIVES_WAY)
        both.wait(DEADLINE_S)
        return make_dir(scratch / "unpacked")

    monkeypatch.setattr(several, "need_each", lambda tool_sets: None)
    monkeypatch.setattr(several, "source_root", lambda folder: None)
    monkeypatch.setattr(pinned, "_failed", {})
    monkeypatch.setattr(pinned, "_unpacked", unpacked)
    monkeypatch.setattr(pinned, "_fetch", lambda *given: None)
    monkeypatch.setattr(pinned, "cache_dir", lambda: tmp_path)
    for module in (pinned, _toolchains):
        monkeypatch.setattr(module, "is_system", lambda target: False)
    monkeypatch.setattr(pinned, "_root", lambda chain, target: tmp_path / f"nowhere-{chain.name}")
    monkeypatch.setattr(_toolchains, "_release", lambda: "trixie")
    several.install(map(needs, ("wlan", "rc4d", "pico")))
    assert not both.broken and both.n_waiting == 0 and not pinned._failed
    assert {path.name for path in tmp_path.glob(".nowhere*")} == {
        f".nowhere-{name}.unpacked" for name in ("gcc-5.4", "gcc-12")
    }
    assert os.getpriority(os.PRIO_PROCESS, 0) == usual


@dataclass
class Try:
    """An experiment that waits for a condition and then records that it ran."""

    name: str
    ran: list[str]
    error: Exception | None = None
    alone: bool = False
    waits: list[threading.Event] = field(default_factory=list)

    def find(self, results: Results) -> ExperimentResult | None:
        raise AssertionError("nothing is looked up here")

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        assert all(event.wait(DEADLINE_S) for event in self.waits)
        self.ran.append(self.name)
        if progress is not None:
            progress(f"trying {self.name}")
        if self.error is not None:
            raise self.error
        return ExperimentResult("try", 1, {}, {})


class Ready(Try):
    """An experiment that can be made ready."""

    def prepare(self, results: Results) -> None:
        self.ran.append(f"for {self.name}")


def _cell(number: int) -> Cell:
    body = Catalog.load().implementations_of("aes128-ecb", "uno")[0]
    return Cell("uno", body, 128, "encrypt", number, "flash")


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the bench was asked for; it says that it has done one firmware of two."""
    asked: list[Any] = []

    def ensure(
        cells: Iterable[Cell], results: Results, catalog: Catalog, jobs: int | None, progress: Any
    ) -> None:
        asked.append((list(cells), jobs))
        progress(1, 2, "firmware")

    monkeypatch.setattr(several.bench, "ensure", ensure)
    return asked


def test_all_studies_work_side_by_side(measured: list[Any], results: Results) -> None:
    ran: list[str] = []
    told: list[tuple[int, int, str]] = []
    every = [
        Needs(cells=[_cell(1), _cell(2)], experiments=[Try("a", ran), Try("timing", ran, alone=True)]),
        Needs(experiments=[Ready("ready", ran, alone=True), Ready("run", ran)]),
        Needs(cells=[_cell(2), _cell(3)], experiments=[Try("b", ran), Try("c", ran)]),
        Needs(cells=[_cell(9)], experiments=[Try("own", ran)], catalog=Catalog.load()),
    ]
    several.work(every, results, 1, lambda *row: told.append(row))
    assert measured == [([_cell(1), _cell(2), _cell(3)], 1)]
    assert ran == ["b", "c", "for ready", "run", "a"]  # the last study's first
    said = ["", "", *(f"trying {name}" for name in "abc"), "firmware", "trying run"]
    assert sorted(row[2] for row in told) == sorted(said)
    assert max(told)[:2] == (7, 8)
    assert [row[0] for row in told] == list(range(1, 8))


def test_cells_are_measured_while_experiments_run(monkeypatch: pytest.MonkeyPatch, results: Results) -> None:
    ran: list[str] = []
    go = threading.Event()
    monkeypatch.setattr(several.bench, "ensure", lambda *given: go.set())
    both = threading.Event()

    class Other(Try):
        def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
            both.set()
            return super().ensure(results, progress)

    every = [Needs(experiments=[Other("a", ran, waits=[go]), Try("b", ran, waits=[go, both])])]
    several.work(every, results, 2, lambda *row: None)
    assert sorted(ran) == ["a", "b"]


def test_what_cannot_be_had_is_left_to_its_study(monkeypatch: pytest.MonkeyPatch, results: Results) -> None:
    ran: list[str] = []
    every = [Needs(experiments=[Try("a", ran, MotecryptError("a check failed")), Try("b", ran)])]

    def lacks(*given: object) -> None:
        raise InputError("no compiler")

    monkeypatch.setattr(several.bench, "ensure", lacks)
    several.work(every, results, None, lambda *row: None)
    assert sorted(ran) == ["a", "b"]


def test_a_mistake_or_a_stop_ends_it(monkeypatch: pytest.MonkeyPatch, results: Results) -> None:
    ran: list[str] = []
    monkeypatch.setattr(several.bench, "ensure", lambda *given: None)
    with pytest.raises(ZeroDivisionError):
        several.work([Needs(experiments=[Try("a", ran, ZeroDivisionError())])], results, 1, lambda *row: None)
    go = threading.Event()

    def stopped(*given: object) -> None:
        go.set()
        raise KeyboardInterrupt

    monkeypatch.setattr(several.bench, "ensure", stopped)
    tries = [Try("a", ran, waits=[go]), *(Try(str(number), ran) for number in range(50))]
    with pytest.raises(KeyboardInterrupt):
        several.work([Needs(experiments=tries)], results, 1, lambda *row: None)
    assert len(ran) < 50
