"""Threads that work off jobs: they build one firmware while another runs, and help each other at the end.

Most of a thread's work is done by other programs (compilers, drivers), which it waits for.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Protocol

from motecrypt.base.model import Cell, Measurement
from motecrypt.measuring.bench.plan import Job
from motecrypt.measuring.bench.task import Task

Outcome = Mapping[Cell, Measurement]


class Workforce(Protocol):
    """Who does jobs: threads of this process, or the workers of a cluster."""

    @property
    def busy(self) -> bool:
        """Whether anybody has work."""

    @property
    def has_room(self) -> bool:
        """Whether somebody could take another job."""

    @property
    def titles(self) -> list[str]:
        """The titles of the jobs that are worked on, each once."""

    def begin(self, job: Job) -> None:
        """Give out a job."""

    def help(self) -> None:
        """Divide what is left among those without work."""

    def ended(self, timeout_s: float) -> Iterator[tuple[Job, Outcome]]:
        """Jobs, whole or in part, that have come to their end, waiting for the first one."""

    def stop(self) -> list[tuple[Job, Outcome]]:
        """End all work soon; returns what was done of it."""


class Crew:
    """A number of threads, each with one job at a time.

    Parameters
    ----------
    threads
        How many jobs are worked on side by side.
    stop
        Set when nobody wants the outcomes any more; jobs look at it.
    """

    def __init__(self, threads: int, stop: threading.Event) -> None:
        self._threads = threads
        self._stop = stop
        self._pool = ThreadPoolExecutor(max_workers=threads)
        self._working: dict[Future[Outcome], Task] = {}

    @property
    def busy(self) -> bool:
        """Whether any thread has work."""
        return bool(self._working)

    @property
    def has_room(self) -> bool:
        """Whether a thread has none."""
        return len(self._working) < self._threads

    @property
    def titles(self) -> list[str]:
        """The titles of the jobs that are worked on, each once."""
        return list(dict.fromkeys(task.job.title for task in self._working.values()))

    def begin(self, job: Job) -> None:
        """Give a job to a thread that has none."""
        task = Task(job)
        self._working[self._pool.submit(task.begin)] = task

    def help(self) -> None:
        """Let threads without work take runs of the job that has most of them left."""
        while self.has_room:
            built = [task for task in dict.fromkeys(self._working.values()) if task.helpable]
            if not built:
                return
            task = max(built, key=lambda task: len(task.left))
            self._working[self._pool.submit(task.go_on)] = task

    def ended(self, timeout_s: float) -> Iterator[tuple[Job, Outcome]]:
        """What threads have come to the end of, waiting for the first one; raises what one has raised."""
        for future in wait(self._working, timeout=timeout_s, return_when=FIRST_COMPLETED).done:
            yield self._working.pop(future).job, future.result()

    def stop(self) -> list[tuple[Job, Outcome]]:
        """End all work soon; returns what was done of it."""
        self._stop.set()
        self._pool.shutdown(cancel_futures=True)
        done = [(task.job, future) for future, task in self._working.items() if not future.cancelled()]
        self._working.clear()
        return [(job, future.result()) for job, future in done if future.exception() is None]
