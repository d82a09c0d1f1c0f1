"""Two processes that want the same cells share the work, and one that is killed leaves it to the other."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from motecrypt.base.model import Cell
from motecrypt.catalog import Catalog
from motecrypt.measuring import bench
from motecrypt.measuring.bench import crew, task
from motecrypt.results import Results
from tool_sets import needs_tool_set

DATA = Path(__file__).resolve().parents[1] / "data"
PROCESSES = multiprocessing.get_context("spawn")
CIPHERS = ("faulty-not", "faulty-branches", "faulty-source", "faulty-flips", "tags-sound")
LENGTHS = (16, 20)
pytestmark = needs_tool_set("avr")


def wanted(catalog: Catalog, lengths: tuple[int, ...] = LENGTHS) -> list[Cell]:
    uno = catalog.device("uno")
    bodies = [catalog.implementations_of(name, "uno")[0] for name in CIPHERS]
    return [cell for body in bodies for cell in bench.cells_for(catalog, uno, body, message_bytes=lengths)]


def loaded() -> Catalog:
    return Catalog.load(ciphers=[DATA / "faulty", DATA / "tags"])


def _measures(path: Path, told: Connection, stays_at: str) -> None:
    """Reports each run that it makes here, and then how many cells it has got; at a cipher named in
    `stays_at` it stays until it is killed."""
    made = task._run

    def tell(job: task.Job, *rest: object) -> object:
        told.send((job.cipher.name, rest[1]))
        if job.cipher.name == stays_at:
            threading.Event().wait(120)
        return made(job, *rest)  # type: ignore[arg-type]

    task._run = tell  # type: ignore[assignment]
    catalog = loaded()
    with Results(path) as results:
        told.send(len(bench.ensure(wanted(catalog), results, catalog, jobs=1)))


def start(path: Path, stays_at: str = "") -> tuple[multiprocessing.process.BaseProcess, Connection]:
    ours, theirs = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=_measures, args=(path, theirs, stays_at))
    process.start()
    theirs.close()
    return process, ours


def heard(told: Connection) -> list[object]:
    """All reports of a process until it ends."""
    said = []
    while told.poll(120):
        try:
            said.append(told.recv())
        except EOFError:
            return said
    raise TimeoutError


def test_two_processes_measure_each_cell_once(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    both = [start(path), start(path)]
    said = [heard(told) for _, told in both]
    for process, _ in both:
        process.join(60)
        assert process.exitcode == 0
    runs = [one for each in said for one in each[:-1]]
    assert len(runs) == len(set(runs)) == len(CIPHERS) * len(LENGTHS)
    cells = wanted(loaded())
    assert [each[-1] for each in said] == [len(cells)] * 2
    with Results(path) as results:
        assert len(results.measurements()) == len(cells)
        with results.transaction() as connection:
            assert connection.execute("SELECT count(*) FROM claim").fetchone() == (0,)


def test_what_a_killed_process_had_begun_is_done_by_the_other(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    killed, told = start(path, stays_at=CIPHERS[1])
    first = [told.recv() for _ in range(len(LENGTHS) + 1) if told.poll(120)]
    assert [name for name, _ in first] == [CIPHERS[0]] * len(LENGTHS) + [CIPHERS[1]]
    other, told = start(path)
    assert told.poll(120)
    others = [told.recv()]  # so it has passed by what the first has stored and what it has claimed
    assert killed.pid is not None
    os.kill(killed.pid, signal.SIGKILL)
    killed.join(60)
    others += heard(told)
    other.join(60)
    assert other.exitcode == 0 and others.pop() == len(wanted(loaded()))
    made = {(name, run) for name, run in others}  # type: ignore[misc]
    assert others[0][0] == CIPHERS[2]  # type: ignore[index]
    assert len(made) == len(others) == len(LENGTHS) * (len(CIPHERS) - 1)
    assert CIPHERS[0] not in {name for name, _ in made}


def test_the_order_told_is_the_order_asked_whatever_ends_first(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first job waits until all others have ended."""
    made, others = task.Task.begin, threading.Semaphore(0)

    def begin(one: task.Task) -> object:
        if one.job.cipher.name == CIPHERS[0]:
            for _ in CIPHERS[1:]:
                assert others.acquire(timeout=60)
            return made(one)
        try:
            return made(one)
        finally:
            others.release()

    monkeypatch.setattr(task.Task, "begin", begin)
    catalog = loaded()
    cells = wanted(catalog)
    told: list[tuple[int, int]] = []
    measured = bench.ensure(
        cells, results, catalog, jobs=2, progress=lambda done, total, _: told.append((done, total))
    )
    assert list(measured) == cells
    assert told == [(n, len(CIPHERS)) for n in range(len(CIPHERS) + 1)]


def test_a_thread_without_work_takes_runs_of_another(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two runs of one firmware wait for each other: one thread would never come to the end."""
    made, meeting = task._run, threading.Barrier(2, timeout=60)

    def meet(*given: object) -> object:
        meeting.wait()
        return made(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(task, "_run", meet)
    catalog = loaded()
    body = catalog.implementations_of("faulty-not", "uno")[0]
    cells = bench.cells_for(catalog, catalog.device("uno"), body, message_bytes=[16, 20])
    measured = bench.ensure(cells, results, catalog, jobs=2)
    assert {m.status for m in measured.values()} == {"ok"} and list(measured) == cells


def test_one_thread_does_all_by_itself(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = loaded()
    monkeypatch.setattr(crew.Task, "go_on", _alone(crew.Task.go_on))
    assert len(bench.ensure(wanted(catalog), results, catalog, jobs=1)) == len(wanted(catalog))


def _alone(made: object) -> object:
    busy = threading.Lock()

    def alone(one: object) -> object:
        assert busy.acquire(blocking=False)
        try:
            return made(one)  # type: ignore[operator]
        finally:
            busy.release()

    return alone
