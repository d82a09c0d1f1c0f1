"""What ensure begins, stores, shares and reports, with threads and other processes made up here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.base.model import Cell
from motecrypt.catalog import Catalog
from motecrypt.measuring.bench import measure
from motecrypt.measuring.bench.plan import Job
from motecrypt.results import Results
from unit.test_store import made

CATALOG = Catalog.load()
BODY = CATALOG.implementations_of("aes128-cbc", "uno", ["motecrypt"])[0]
SHORT, LONG = Cell("uno", BODY, "encrypt", 128, 16), Cell("uno", BODY, "encrypt", 128, 32)
FAST = replace(SHORT, flags=("-O3",))


def key(cell: Cell) -> str:
    return f"{cell.message_bytes} {cell.operation} {' '.join(cell.flags)}"


class Crew:
    """Threads that come to an end one after the other, each time somebody waits for them."""

    def __init__(self, log: list[Any], threads: int) -> None:
        self.log, self.threads = log, threads
        self.working: list[Job] = []
        self.error: BaseException | None = None

    @property
    def busy(self) -> bool:
        return bool(self.working)

    @property
    def has_room(self) -> bool:
        return len(self.working) < self.threads

    def begin(self, job: Job) -> None:
        assert job.build_key == "built"
        self.log.append(("begin", job.flags, [run[2] for run in job.runs]))
        self.working.append(job)

    def help(self) -> None:
        self.log.append("help")

    def ended(self, timeout_s: float) -> Iterator[Any]:
        self.log.append(("wait", timeout_s))
        if self.error is not None:
            raise self.error
        yield self._done()

    def _done(self) -> Any:
        job = self.working.pop(0)
        return job, {cell: made(2, cell) for run in job.runs for cell in job.cells(run)}

    def stop(self) -> list[Any]:
        self.log.append("stop")
        return [self._done() for _ in self.working[:]]


class Sharing:
    """Other processes: `answers` says what is ours, stored and theirs, each time it is asked."""

    def __init__(self, log: list[Any], answers: list[Any]) -> None:
        self.log, self.answers = log, answers

    def take(self, job: Job) -> Any:
        return self.answers.pop(0)(job) if self.answers else (job, {}, None)

    def release(self, keys: Any = None) -> None:
        self.log.append(("release", None if keys is None else sorted({int(k.split()[0]) for k in keys})))

    def renew(self) -> None:
        self.log.append("renew")


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    asked: list[Any] = []

    class Keys:
        def __init__(self, catalog: Catalog) -> None:
            assert catalog is CATALOG

        def __call__(self, cell: Cell) -> str:
            return key(cell)

        def build_key(self, job: Job) -> str:
            return "built"

    monkeypatch.setattr(measure, "CellKeys", Keys)
    play(monkeypatch, asked)
    event = SimpleNamespace(wait=lambda seconds: asked.append(("pause", seconds)))
    monkeypatch.setattr(measure, "threading", SimpleNamespace(Event=lambda: event))
    return asked


def play(
    monkeypatch: pytest.MonkeyPatch, log: list[Any], *answers: Any, error: BaseException | None = None
) -> None:
    def crew(threads: int, stop: object) -> Crew:
        made = Crew(log, threads)
        made.error = error
        return made

    monkeypatch.setattr("motecrypt.measuring.bench.crew.Crew", crew)
    monkeypatch.setattr(
        "motecrypt.measuring.bench.share.Sharing", lambda results, keys: Sharing(log, list(answers))
    )


def stored(results: Results) -> set[str]:
    return {k for (k,) in results._read("SELECT key FROM measurement")}


def test_what_is_stored_is_not_measured_again_unless_that_is_asked(log: list[Any], results: Results) -> None:
    kept, passing = made(1, LONG), made(1, SHORT, extra={"transient": True})
    results.store({key(LONG): kept, key(SHORT): passing})
    told: list[Any] = []
    found = measure.ensure([LONG, FAST, SHORT, LONG], results, CATALOG, 2, lambda *done: told.append(done))
    assert list(found.items()) == [(LONG, kept), (FAST, made(2, FAST)), (SHORT, made(2, SHORT))]
    assert log == [
        *(("begin", ("-O3",), [16]), ("begin", (), [16]), "help"),
        *(("wait", 5.0), ("release", [16]), "renew"),
        *("help", ("wait", 0.1), ("release", [16]), "renew"),
        *("stop", ("release", None)),
    ]
    title = f"uno aes128-cbc {BODY.name}"
    assert told == [(0, 2, ""), (1, 2, title), (2, 2, title)]
    assert stored(results) >= {key(LONG), key(SHORT), key(FAST), key(replace(SHORT, operation="setup"))}
    log.clear()
    assert measure.ensure([LONG, FAST], results, CATALOG, 2) == {LONG: kept, FAST: made(2, FAST)}
    assert log == []  # nobody is called for what is stored
    again = measure.ensure([LONG], results, CATALOG, 1, again=True)
    assert again == {LONG: made(2, LONG)}
    assert log == [("begin", (), [32]), "help", ("wait", 5.0), "stop"]  # a board is nobody else's


def test_what_others_have_begun_with_is_taken_from_them_or_looked_at_later(
    log: list[Any], results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    def part(job: Job, length: int) -> Job:
        return replace(job, runs=tuple(run for run in job.runs if run[2] == length))

    def measured(job: Job) -> dict[Cell, Any]:
        return {cell: made(3, cell) for run in job.runs for cell in job.cells(run)}

    told: list[Any] = []
    play(
        monkeypatch,
        log,
        lambda job: (part(job, 16), {}, part(job, 32)),
        lambda job: (None, {}, job),
        lambda job: (None, measured(job), None),
    )
    found = measure.ensure([SHORT, LONG], results, CATALOG, 2, lambda *done: told.append(done))
    assert found == {SHORT: made(2, SHORT), LONG: made(3, LONG)}
    assert told == [(0, 1, ""), (1, 1, f"uno aes128-cbc {BODY.name}")]
    assert log == [
        *(("begin", (), [16]), "help", ("wait", 0.1), ("release", [16]), "renew"),
        *("help", ("pause", 0.1), "renew", "help", "renew"),
        *("stop", ("release", None)),
    ]
    assert key(LONG) not in stored(results), "the other process has stored it"


def test_a_busy_crew_is_not_given_what_others_may_still_bring(
    log: list[Any], results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(monkeypatch, log, lambda job: (None, {}, job))
    measure.ensure([SHORT, FAST], results, CATALOG, 1)
    assert log == [
        *(("begin", ("-O3",), [16]), "help", ("wait", 5.0), ("release", [16]), "renew"),
        *(("begin", (), [16]), "help", ("wait", 5.0), ("release", [16]), "renew"),
        *("stop", ("release", None)),
    ]


def test_who_interrupts_keeps_what_is_done_and_an_error_keeps_nothing(
    log: list[Any], results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "_threads", lambda work: len(work))
    for error, kept in ((ZeroDivisionError(), 0), (KeyboardInterrupt(), 3)):
        log.clear()
        play(monkeypatch, log, error=error)
        with pytest.raises(type(error)):
            measure.ensure([LONG], results, CATALOG)
        released = [("release", [32])] * bool(kept)
        assert log == [
            *(("begin", (), [32]), "help", ("wait", 5.0), "stop"),
            *(*released, "stop", ("release", None)),
        ]
        assert len(stored(results)) == kept


def test_what_could_not_be_measured_is_left_out(
    log: list[Any], results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    play(monkeypatch, log, lambda job: (None, {}, None))
    assert measure.ensure([SHORT], results, CATALOG, 1, lambda *done: told.append(done)) == {}
    assert told == [(0, 1, "")]
    told.clear()
    assert measure.ensure([], results, CATALOG, 1, lambda *done: told.append(done)) == {} and told == []
