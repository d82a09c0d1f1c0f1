"""Threads that share jobs, and processes that share cells: who does what, and what is given back."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import wait
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell
from motecrypt.catalog import Catalog
from motecrypt.measuring.bench import crew as crew_module
from motecrypt.measuring.bench.crew import Crew
from motecrypt.measuring.bench.plan import Devices, Job
from motecrypt.measuring.bench.share import Sharing
from motecrypt.results import Claims, Results
from unit.test_store import made

CATALOG = Catalog.load()
UNO, CIPHER = CATALOG.device("uno"), CATALOG.cipher("aes128-cbc")
BODY = CATALOG.implementations_of("aes128-cbc", "uno", ["motecrypt"])[0]
RUNS = tuple(("none", 128, length, 0) for length in (16, 32, 48, 64, 80))
WAIT_S = 30.0


def job(*runs: Any) -> Job:
    return Job(UNO, CIPHER, BODY, "flash", (), runs, threading.Event())


class Work:
    """A task in a thread of its own, which ends on request."""

    def __init__(self, left: Any) -> None:
        self.job = self
        self.left = deque(left)
        self.helpable = bool(left)
        self.go = threading.Event()
        self.helpers = 0
        self.error: Exception | None = None

    def begin(self) -> Any:
        assert self.go.wait(WAIT_S)
        if self.error is not None:
            raise self.error
        return {"begun": self}

    def go_on(self) -> Any:
        self.helpers += 1
        self.helpable = self.helpers < 2
        assert self.go.wait(WAIT_S)
        return {"helped": self}


@pytest.fixture
def crew(monkeypatch: pytest.MonkeyPatch) -> Iterator[Crew]:
    """At the end no thread waits for its request, also when a test has failed."""
    tasks: list[Work] = []
    monkeypatch.setattr(crew_module, "Task", lambda work: tasks.append(work) or work)
    yield Crew(4, threading.Event())
    for work in tasks:
        work.go.set()


def test_threads_without_work_help_where_most_is_left(crew: Crew) -> None:
    assert (crew.busy, crew.has_room) == (False, True)
    crew.help()
    assert not crew.busy
    few, many = Work("a"), Work("abc")
    for work in (few, many):
        crew.begin(work)  # type: ignore[arg-type]
    assert (crew.busy, crew.has_room) == (True, True)
    crew.help()
    assert not crew.has_room
    assert list(crew.ended(0.01)) == []
    many.go.set()
    ended: list[Any] = []
    while len(ended) < 3:
        ended += crew.ended(WAIT_S)
    assert [outcome for _, outcome in ended].count({"helped": many}) == 2 == many.helpers
    assert (many, {"begun": many}) in ended and few.helpers == 0
    assert crew.busy and crew.has_room
    few.go.set()
    assert list(crew.ended(WAIT_S)) == [(few, {"begun": few})] and not crew.busy
    assert crew.stop() == []


def test_who_stops_gets_what_was_done(crew: Crew) -> None:
    done, failed = Work(""), Work("")
    failed.error = ZeroDivisionError()
    for work in (failed, done):
        work.go.set()
        crew.begin(work)  # type: ignore[arg-type]
    wait(crew._working, WAIT_S)
    assert crew.stop() == [(done, {"begun": done})] and crew._stop.is_set() and not crew.busy
    with pytest.raises(RuntimeError):
        crew.begin(done)  # type: ignore[arg-type]


def test_what_no_thread_has_begun_with_is_called_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew_module, "Task", lambda work: work)
    crew = Crew(1, threading.Event())
    first, second = Work(""), Work("")
    for work in (first, second):
        crew.begin(work)  # type: ignore[arg-type]
    threading.Timer(0.05, first.go.set).start()
    second.go.set()
    assert crew.stop() == [(first, {"begun": first})]


def test_what_one_has_raised_is_raised(crew: Crew) -> None:
    failed = Work("")
    failed.error = ZeroDivisionError()
    failed.go.set()
    crew.begin(failed)  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError):
        list(crew.ended(WAIT_S))
    crew.stop()


def test_cells_are_measured_here_taken_as_stored_or_left_to_others(tmp_path: Path) -> None:
    def key(cell: Cell) -> str:
        return f"{cell.operation} {cell.message_bytes}"

    stored_whole, stored_in_part, claimed, free, failed = RUNS
    with Results(tmp_path / "r.db") as results:
        whole = job(*RUNS)
        cells = {run: whole.cells(run) for run in RUNS}
        results.store({key(cell): made(1, cell) for cell in cells[stored_whole]})
        results.store({key(cells[stored_in_part][0]): made(1, cells[stored_in_part][0])})
        results.store({key(cell): made(1, cell) for cell in cells[failed][1:]})
        passing = made(1, cells[failed][0], extra={"transient": True})
        results.store({key(cells[failed][0]): passing})
        Claims(results).take([key(cells[claimed][1])])
        sharing = Sharing(results, key)  # type: ignore[arg-type]
        mine, found, theirs = sharing.take(whole)
        assert mine is not None and mine.runs == (stored_in_part, free, failed)
        assert theirs is not None and theirs.runs == (claimed,)
        assert found == {cell: made(1, cell) for cell in cells[stored_whole]}

        def ours() -> set[str]:
            return {
                k for (k,) in results._read("SELECT key FROM claim WHERE owner = ?", (sharing._claims.owner,))
            }

        assert ours() == {key(cell) for run in mine.runs for cell in cells[run]}
        sharing.release([key(cell) for cell in cells[free]])
        assert ours() == {key(cell) for run in (stored_in_part, failed) for cell in cells[run]}
        sharing.renew()
        sharing.release()
        assert ours() == set()
        alone = sharing.take(job(stored_whole))
        assert (alone[0], alone[2]) == (None, None) and len(alone[1]) == len(cells[stored_whole])


def test_a_devices_compiler_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from motecrypt.measuring.bench import plan

    asked: list[Any] = []

    def with_toolchain(device: Any, name: str, known: Any) -> Any:
        asked.append((device.name, name, known is CATALOG.toolchains))
        return SimpleNamespace(name=device.name, toolchain=name)

    monkeypatch.setattr(plan, "with_toolchain", with_toolchain)
    devices, name = Devices(CATALOG), next(iter(CATALOG.toolchains))
    found = [devices.get(*key, BODY) for key in (("uno", ""), ("uno", name), ("uno", ""), ("uno", name))]
    assert asked == [("uno", "", True), ("uno", name, True)]
    assert found[0] is found[2] and found[1] is found[3] and found[0] is not found[1]
    for key in (("none", ""), ("uno", "none")):
        with pytest.raises(InputError, match="unknown"):
            devices.get(*key, BODY)
    one = job(RUNS[0])
    assert one.group == ("uno", BODY, "flash", (), "") and replace(one, toolchain="t").group[-1] == "t"
    assert replace(one, toolchain="t", flags=("-O3",)).cell("setup", ("cold", 64, 5, 7)) == Cell(
        "uno", BODY, "setup", 64, 5, 7, "flash", "cold", ("-O3",), "t"
    )
