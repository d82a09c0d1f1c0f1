"""What a study needs is made: experiments side by side, what times the computer by itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.app import ensure as _ensure
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import Cell, ExperimentResult, Implementation
from motecrypt.measuring.experiments import data_types, file_sizes, host_speed, passwords, serial_write
from motecrypt.results import Results
from motecrypt.studies import Long, Needs

DEADLINE_S = 30.0


@dataclass
class Watch:
    """How many experiments ran at one time."""

    now: int = 0
    most: int = 0
    with_alone: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    together: threading.Barrier = field(default_factory=lambda: threading.Barrier(2))


@dataclass
class Try:
    """An experiment that says how many others run."""

    name: str
    watch: Watch
    error: Exception | None = None
    alone: bool = False
    waits: bool = False
    stored: bool = False

    def find(self, results: Results) -> ExperimentResult | None:
        return ExperimentResult("try", 1, {}, {}) if self.stored else None

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        assert progress is not None
        with self.watch.lock:
            self.watch.now += 1
            self.watch.most = max(self.watch.most, self.watch.now)
            if self.alone:
                self.watch.with_alone = max(self.watch.with_alone, self.watch.now)
        progress(self.name)
        try:
            if self.waits:
                self.watch.together.wait(DEADLINE_S)
            if self.error is not None:
                raise self.error
            return ExperimentResult("try", 1, {}, {})
        finally:
            with self.watch.lock:
                self.watch.now -= 1


def _made(
    results: Results, experiments: list[Try], jobs: int | None = 2, note: str = ""
) -> list[tuple[int, int, str]]:
    told: list[tuple[int, int, str]] = []
    report = lambda done, total, what: told.append((done, total, what))  # noqa: E731
    needs = Needs(experiments=experiments)
    assert _ensure.ensure("own", needs, results, None, jobs, report) == note  # type: ignore[arg-type]
    return told


def test_experiments_run_side_by_side_and_a_timing_by_itself(results: Results) -> None:
    watch = Watch()
    told = _made(
        results,
        [Try("timing", watch, alone=True), Try("a", watch, waits=True), Try("b", watch, waits=True)],
    )
    assert (watch.most, watch.with_alone) == (2, 1)
    ends = [row for before, row in pairwise([(0, 3, ""), *told]) if row[0] > before[0]]
    assert [done for done, _, _ in ends] == [1, 2, 3] and {what for _, _, what in ends} == {
        "a",
        "b",
        "timing",
    }
    assert {"a", "b", "timing"} <= {row[2] for row in told} and told[-2] == (2, 3, "timing")
    assert {row[1] for row in told} == {3}


def test_one_at_a_time_where_that_is_asked_for(results: Results) -> None:
    watch = Watch()
    _made(results, [Try(str(n), watch) for n in range(5)], jobs=1)
    assert watch.most == 1


def test_the_first_error_in_order_is_told_and_the_others_go_on(
    results: Results,
) -> None:
    watch = Watch()
    tries = [
        Try("there", watch, stored=True),
        Try("lacks", watch, InputError("no tool"), stored=True),
        Try("wrong", watch, MotecryptError("a check failed"), stored=True),
        Try("last", watch, stored=True),
    ]
    told = _made(results, tries, note="own: showing stored results: no tool (and 1 more)")
    assert max(done for done, _, _ in told) == 2
    # Of a check that failed nothing is stored: that ends the command, whatever else could be shown.
    tries[2].stored = False
    with pytest.raises(MotecryptError, match="a check failed"):
        _made(results, tries)


@pytest.mark.parametrize(
    "timed",
    [
        data_types.DataTypes,
        file_sizes.EncodingTiming,
        file_sizes.SizeSweep,
        host_speed.HostSpeed,
        passwords.PasswordDerivation,
        serial_write.SerialWrites,
    ],
)
def test_what_times_this_computer_runs_by_itself(timed: Any) -> None:
    assert _ensure.is_alone(timed)


# --- cells, toolchains and tool sets, each of which may be missing


IMPLEMENTATION = Implementation("aes128-ecb", "motecrypt", "", "", (128,), "", (), (), (), Path())


class Stored:
    """Results that have an answer to some of the cells."""

    def __init__(self, *cells: Cell) -> None:
        self._cells = cells

    def newest(self, cells: Any) -> dict[Cell, Any]:
        return {cell: None for cell in self._cells if cell in cells}

    def store_recorded(self, answers: Any) -> None:
        raise AssertionError("nothing long is needed here")


def cell(device: str, message_bytes: int = 16) -> Cell:
    return Cell(device, IMPLEMENTATION, "encrypt", 128, message_bytes)


@dataclass
class Machine:
    """Where some devices cannot be measured: which groups of cells were asked for."""

    lacking: tuple[str, ...] = ()
    asked: list[list[str]] = field(default_factory=list)

    def ensure(self, cells: Any, *_: Any) -> dict[Cell, Any]:
        self.asked.append([each.device for each in cells])
        for each in cells:
            if each.device in self.lacking:
                raise InputError(f"no compiler for {each.device}")
        return {
            each: SimpleNamespace(transient=each.message_bytes > 16, reason=f"{each.device} was busy")
            for each in cells
        }


def lacks(what: str) -> Any:
    """A function that needs something which is not there."""

    def need(*given: Any) -> None:
        raise InputError(f"no {what} {given[-1]}")

    return need


UNO, PICO, DUE = cell("uno"), cell("pico"), cell("due")


@pytest.mark.parametrize(
    ("cells", "stored", "lacking", "asked", "told"),
    [
        ([], [], (), [[]], ""),
        ([UNO, PICO], [], (), [["uno", "pico"]], ""),
        ([UNO, PICO], [UNO, PICO], ("uno",), [["uno", "pico"], ["uno"], ["pico"]], "no compiler for uno"),
        (
            [UNO, PICO, cell("uno", 8), DUE],
            [UNO, DUE],
            ("uno", "due"),
            [["uno", "pico", "uno", "due"], ["uno", "uno"], ["pico"], ["due"]],
            "no compiler for uno (and 1 more); 2 of 4 figures are not stored",
        ),
        (
            [UNO, UNO, cell("uno", 8)],
            [UNO],
            ("uno",),
            [["uno"] * 3],
            "no compiler for uno; 1 of 2 figures are not stored",
        ),
        (
            [cell("uno", 32), cell("uno", 48)],
            [],
            (),
            [["uno"] * 2],
            "uno was busy; 2 of 2 figures are not stored",
        ),
        ([cell("uno", 32), PICO], [cell("uno", 32), PICO], (), [["uno", "pico"]], "uno was busy"),
    ],
)
def test_cells_are_measured_together_and_else_by_device(
    cells: list[Cell],
    stored: list[Cell],
    lacking: tuple[str, ...],
    asked: list[list[str]],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = Machine(lacking)
    monkeypatch.setattr(_ensure.bench, "ensure", machine.ensure)
    results: Any = Stored(*stored)
    line = _ensure.ensure("own", Needs(cells=cells), results, None, None, None)  # type: ignore[arg-type]
    assert machine.asked == asked
    assert line == (f"own: showing stored results: {told}" if told else "")


@pytest.mark.parametrize(
    "needs",
    [
        Needs(cells=[UNO]),
        Needs(cells=[PICO], toolchains={"pico": "gcc-99"}),
        Needs(cells=[PICO], tool_sets=["set"]),
    ],
)
def test_where_nothing_is_stored_the_first_lack_ends_the_command(
    needs: Needs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_ensure.bench, "ensure", Machine(("uno",)).ensure)
    monkeypatch.setattr(_ensure, "need_toolchain", lacks("toolchain"))
    monkeypatch.setattr(_ensure, "need", lacks("tool set"))
    catalog: Any = SimpleNamespace(device=str)
    found = {"uno": "no compiler for uno", "pico": "no to.*"}[needs.cells[0].device]
    with pytest.raises(InputError, match=found):
        _ensure.ensure("own", needs, Stored(), catalog, None, None)  # type: ignore[arg-type]
    if needs.tool_sets or needs.toolchains:
        both = replace(needs, tool_sets=["set"], toolchains={"pico": "gcc-99"})
        line = _ensure.ensure("own", both, Stored(PICO), catalog, None, None)  # type: ignore[arg-type]
        assert line == "own: showing stored results: no toolchain gcc-99 (and 1 more)"


def test_what_takes_minutes_is_needed_where_it_is_asked_for() -> None:
    plain = Needs(tool_sets=["a"], experiments=[Try("short", Watch())])
    long = replace(plain, long=Long([Try("long", Watch())], [], ["b"]))
    assert _ensure.whole(plain, True) is plain and _ensure.whole(long, False) is long
    all_of_it = _ensure.whole(long, True)
    assert all_of_it.tool_sets == ("a", "b") and [e.name for e in all_of_it.experiments] == ["short", "long"]  # type: ignore[attr-defined]


def test_an_experiment_that_says_nothing_of_it_does_not_run_alone() -> None:
    assert not _ensure.is_alone(SimpleNamespace()) and _ensure.is_alone(SimpleNamespace(alone=1))  # type: ignore[arg-type]
