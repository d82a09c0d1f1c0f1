"""Starts schedulers and workers as processes, and starts workers again that have died."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from motecrypt.base import process
from motecrypt.base.errors import InputError
from motecrypt.measuring.cluster.host import NO_SCHEDULER, settle
from motecrypt.measuring.cluster.keys import make_keys
from motecrypt.measuring.cluster.places import ClusterAddress, place_of

START_S = 60.0
"""Of processor time until a process has printed its address; of time while a worker looks for a scheduler."""
STOP_S = 10.0
ERROR_BYTES = 4096
AGAIN_S = 1.0  # between the death of a worker and its next start
SOON_S, SOON_MAX = 20.0, 5
"""A worker that ends within so many seconds of its start, so many times in a row, is not started again."""
LOCAL_DAYS = 2
CONNECT_S = 15.0


class Child:
    """A process of `host`; it ends with `stop`, or when this process does.

    Raises
    ------
    InputError
        It does not start.
    """

    def __init__(self, *words: str) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "motecrypt.measuring.cluster.host", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )

    def address(self) -> str:
        """The address, when it is there; "" if the process ended, or printed none in time."""
        assert self.process.stdout is not None
        try:
            ready, _ = process.readable([self.process.stdout.fileno()], self.process.pid, START_S)
        except process.Hangs:
            return ""
        return self.process.stdout.readline().decode().strip() if ready else ""

    def last_error(self) -> str:
        """The last line that the process wrote to its standard error; "" where there is none."""
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - ERROR_BYTES))
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:200] if lines else ""

    def stop(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self._errors.close()


class Workers:
    """Worker processes of one scheduler on this computer; one that dies is started again.

    Parameters
    ----------
    patience_s
        How long each of them looks for the scheduler.
    say
        Called with a line about a worker that is not started again.
    """

    def __init__(
        self, place: ClusterAddress, count: int, patience_s: float, say: Callable[[str], None]
    ) -> None:
        self._place, self._patience_s, self._say = place, patience_s, say
        self._begun: dict[int, tuple[Child, float]] = {n: self._start(n) for n in range(count)}
        self._soon: Counter[int] = Counter()  # starts in a row that ended soon

    def _start(self, number: int) -> tuple[Child, float]:
        tls = str(self._place.tls)
        name = f"{socket.gethostname()}-{os.getpid()}-{number}"
        words = ("worker", self._place.address, tls, name, f"{self._patience_s:g}")
        return Child(*words), time.monotonic()

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes."""
        return [child.process.pid for child, _ in self._begun.values()]

    def keep(self) -> None:
        """Start again those that have died: to be called every second or so.

        Raises
        ------
        InputError
            One has found no scheduler, or each ended again and again as soon as it was started.
        """
        for number, (child, begun) in list(self._begun.items()):
            code = child.process.poll()
            if code == NO_SCHEDULER:
                raise InputError(
                    f"no scheduler at {self._place.address} for {self._patience_s:g} s, or it refused the "
                    "certificate; 'motecrypt cluster scheduler' starts one"
                )
            lived_s = time.monotonic() - begun
            if code is None or lived_s <= AGAIN_S:
                continue
            self._soon[number] = self._soon[number] + 1 if lived_s < SOON_S else 0
            reason = child.last_error()
            child.stop()
            if self._soon[number] < SOON_MAX:
                self._begun[number] = self._start(number)
                continue
            del self._begun[number]
            why = f"ended {SOON_MAX} times within {SOON_S:g} s of its start, with exit code {code}"
            why += f": {reason or 'it printed no error'}"
            if not self._begun:
                raise InputError(f"the last worker {why}; fix this, then start the workers again")
            self._say(f"a worker {why}; it is not started again, {len(self._begun)} go on")

    def stop(self) -> None:
        """End all of them."""
        for child, _ in self._begun.values():
            assert child.process.stdin is not None
            child.process.stdin.close()  # all end at the same time
        for child, _ in self._begun.values():
            child.stop()


@contextmanager
def scheduler(place: ClusterAddress) -> Iterator[tuple[ClusterAddress, Child]]:
    """A scheduler at a place (port 0: any free one) while the block lasts.

    Raises
    ------
    InputError
        It does not start there.
    """
    child = Child("scheduler", place.address.partition("://")[2], str(place.tls))
    try:
        address = child.address()
        if not address:
            raise InputError(
                f"{place.address}: a scheduler cannot start there: give an address of this computer "
                "and a port that is free"
            )
        yield place_of(address, place.tls, "scheduler"), child
    finally:
        child.stop()


@contextmanager
def local(count: int, say: Callable[[str], None]) -> Iterator[tuple[ClusterAddress, Workers, Child]]:
    """A cluster of this computer alone while the block lasts. It has certificates, too: else every user of
    the computer could run programs as this one."""
    with tempfile.TemporaryDirectory(prefix="motecrypt-cluster.") as scratch:
        (tls,) = make_keys(Path(scratch) / "keys", ["here"], LOCAL_DAYS)
        with scheduler(place_of("127.0.0.1:0", tls, "--cluster")) as (place, child):
            workers = Workers(place, count, START_S, say)
            try:
                yield place, workers, child
            finally:
                workers.stop()


@contextmanager
def connected(place: ClusterAddress) -> Iterator[Any]:
    """Dask's client of a scheduler while the block lasts.

    Raises
    ------
    InputError
        No scheduler answers there.
    """
    settle()
    from distributed import Client

    try:
        client = Client(
            place.address,
            security=place.security(),
            timeout=CONNECT_S,
            set_as_default=False,
            direct_to_workers=False,
        )
    except (OSError, TimeoutError) as error:
        raise InputError(
            f"{place.address}: no scheduler answers, or it refuses the certificate; "
            "'motecrypt cluster scheduler' starts one"
        ) from error
    try:
        yield client
    finally:
        client.close(timeout=STOP_S)
