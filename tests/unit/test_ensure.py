"""What a study needs is made: experiments side by side, what times the computer by itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest

from motecrypt.app import ensure as _ensure
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import ExperimentResult
from motecrypt.measuring.experiments import data_types, file_sizes, host_speed, passwords, serial_write
from motecrypt.results import Results
from motecrypt.studies import Needs

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
