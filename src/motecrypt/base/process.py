"""Runs other programs: always with a limit, always keeping what they say on standard error.

What only computes is limited in processor time: on a busy machine it takes longer and is as right. What waits
for a network, a port or a person has a deadline.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ASKED_S, WORK_S, LONG_S = 20.0, 120.0, 300.0
"""Limits: of a program that is only asked, as for its version; that works; that works for long."""

LOOK_S = 1.0
"""Seconds between two looks at a program that works in silence."""
ASLEEP_LOOKS, STOPPED_LOOKS = 60, 3600
"""A program counts as one that hangs after this number of looks in a row without processor time: if it only
sleeps, as one that waits for itself does; and if it is stopped, or waits for a disk."""


def processors() -> int:
    """How many programs may run side by side: one for each processor that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Outcome:
    """What a program printed and how it ended. `code`: None if it was not found, -9 if killed."""

    code: int | None
    output: str
    errors: str

    @property
    def ok(self) -> bool:
        """Whether it ended with 0."""
        return self.code == 0

    @property
    def first_error(self) -> str:
        """That the network cannot be reached; or the first line that says 'error'; or the last line said."""
        lines = [line.strip() for line in self.errors.splitlines() if line.strip()]
        if unreached := unreachable(lines):
            return unreached
        told = [line for line in lines if not line.startswith("collect2:")]
        # A path may hold the word "error": the form with a colon comes first.
        for marks in (("error:", "undefined reference", "overflow"), ("error",)):
            for line in told:
                if any(mark in line.lower() for mark in marks):
                    return line
        return told[-1] if told else lines[-1] if lines else f"ended with code {self.code}"

    @property
    def told_errors(self) -> str:
        """The first line that says 'error', without a place that is not on this machine (a compiler's own
        parts name those of where they were built), and how many more errors there are."""
        first = self.first_error
        place = _PLACE.match(first)
        if place is not None and not Path(place[1]).exists():
            first = first[place.end() :]
        lines = [line for line in self.errors.splitlines() if not line.startswith("collect2:")]
        more = sum("error:" in line or "undefined reference" in line for line in lines) - 1
        return f"{first} (and {more} more)" if more > 0 else first


NETWORK = "the network cannot be reached"
_UNREACHED = re.compile(
    r"Temporary failure (?:in name resolution|resolving '[^']*')|Name or service not known"
    r"|Could not resolve (?:host: )?\S+|(?:Could not connect|Unable to connect) to \S+"
    r"|Network is unreachable|No route to host|Connection timed out|Connection refused|Connection failed"
)
"""How apt-get, pip, cargo and git say, in English, that they do not reach a network."""


def unreachable(lines: Iterable[str]) -> str:
    """That the network cannot be reached, with the words of the first line that shows it; else empty."""
    found = next((match for line in lines if (match := _UNREACHED.search(line))), None)
    return f"{NETWORK} ({found[0].rstrip('.,:;')})" if found is not None else ""


_PLACE = re.compile(r"(/[^\s:]+):(?:\d+:|\([^()\s]+\):)* ?")
"""Where a compiler or linker says something is: a path, and a line and column or a section."""

# Variables that make a compiler read other files than its command line says.
_LEADING_ASTRAY = frozenset(
    ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH")
)


def _environment(given: Mapping[str, str] | None) -> dict[str, str]:
    """The environment as given (else ours), in English, since what programs say is read."""
    chosen = os.environ if given is None else given
    return {k: v for k, v in chosen.items() if k not in _LEADING_ASTRAY} | {"LC_ALL": "C.UTF-8"}


class Hangs(Exception):
    """A program does not end by itself: why, to follow what is done about it."""


class ProcessorTime:
    """Processor time of a program and its children, looked at from outside.

    Parameters
    ----------
    pid
        The program's process, which nobody has waited for yet.
    asleep
        Looks in a row at which it may sleep without using any; ASLEEP_LOOKS by default.
    """

    def __init__(self, pid: int, asleep: int | None = None) -> None:
        self._pid, self._asleep = pid, ASLEEP_LOOKS if asleep is None else asleep
        self._used_s, self._still = -1.0, 0

    def look(self) -> float:
        """Seconds of processor time until now; Hangs when it uses none from look to look."""
        seen = _tree(self._pid)
        used_s = sum(each.used_s for each in seen)
        states = {each.state for each in seen}
        # what is ready to run waits for its turn, however long that takes
        self._still = self._still + 1 if used_s == self._used_s and "R" not in states else 0
        self._used_s = used_s
        if self._still >= (self._asleep if states <= set("SIZX") else STOPPED_LOOKS):
            raise Hangs("because it waits without end and uses no processor time")
        return used_s


@dataclass(frozen=True)
class _Process:
    """A process: its parent, its state (proc(5)) and the processor time of it and of its ended children."""

    pid: int
    parent: int
    state: str
    used_s: float


def _tree(pid: int) -> list[_Process]:
    """A process and its descendants, itself first."""
    ticks = os.sysconf("SC_CLK_TCK")
    every: dict[int, list[_Process]] = {}
    itself: list[_Process] = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - three times as fast, at each look
        if name.isdecimal():
            with suppress(OSError):  # it has ended meanwhile
                text = Path("/proc", name, "stat").read_bytes()
                fields = text.rpartition(b")")[2].split()
                used_s = sum(map(int, fields[11:15])) / ticks
                seen = _Process(int(name), int(fields[1]), fields[0].decode(), used_s)
                every.setdefault(seen.parent, []).append(seen)
                itself += [seen] if seen.pid == pid else []
    for each in itself:  # which grows
        itself += every.get(each.pid, [])
    return itself


def readable(descriptors: Sequence[int], pid: int, limit_s: float) -> tuple[list[int], float]:
    """Wait until one of the descriptors can be read.

    Parameters
    ----------
    pid
        The program that writes to them.
    limit_s
        Processor time that it may use meanwhile, from the first look at it on.

    Returns
    -------
    tuple
        Those that can be read (none: it has used more), and the seconds that it was seen to use.

    Raises
    ------
    Hangs
        It waits itself.
    """
    watch, begun_s, used_s = ProcessorTime(pid), -1.0, 0.0
    while True:
        ready, _, _ = select.select(descriptors, [], [], LOOK_S if limit_s > 0 else 0)
        if ready or used_s >= limit_s:
            return ready, used_s
        now_s = watch.look()
        begun_s = now_s if begun_s < 0 else begun_s
        used_s = now_s - begun_s


def ends(started: subprocess.Popen[bytes], work_s: float) -> bool:
    """Whether a program that should end does, within so much processor time; else it is killed."""
    watch = ProcessorTime(started.pid)
    while True:
        try:
            started.wait(LOOK_S)
            return True
        except subprocess.TimeoutExpired:
            with suppress(Hangs):
                if watch.look() <= work_s:
                    continue
            kill(started)
            return False


def kill(started: subprocess.Popen[bytes]) -> None:
    """End a program and its children immediately."""
    pids = [] if started.poll() is not None else [each.pid for each in _tree(started.pid)]
    end(pids)
    started.wait()


def run(
    command: Sequence[str | Path],
    *,
    work_s: float = WORK_S,
    timeout_s: float | None = None,
    asleep: int | None = None,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Outcome:
    """Run a program to its end.

    Parameters
    ----------
    work_s
        Seconds of processor time that it and its children may use.
    timeout_s
        Seconds that it may take instead: of a program that uses a network or a port.
    asleep
        As in `ProcessorTime`.
    """
    arguments = [str(part) for part in command]
    try:
        started = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=_environment(environment),
        )
    except FileNotFoundError as error:
        missing = cwd if cwd is not None and not cwd.is_dir() else error.filename or arguments[0]
        return Outcome(None, "", f"{missing}: not found")
    except OSError as error:
        return Outcome(None, "", f"{arguments[0]}: cannot be run: {error.strerror}")
    with started:
        try:
            output, errors = _finish(started, ProcessorTime(started.pid, asleep), work_s, timeout_s)
        except Hangs as why:
            kill(started)
            return Outcome(-9, "", f"{arguments[0]}: killed {why}")
        except BaseException:
            kill(started)
            raise
    return Outcome(started.returncode, output.decode(errors="replace"), errors.decode(errors="replace"))


def _finish(
    started: subprocess.Popen[bytes], watch: ProcessorTime, work_s: float, timeout_s: float | None
) -> tuple[bytes, bytes]:
    """What it says until it ends; Hangs, with the reason, when that is not within its limit."""
    while True:
        try:
            return started.communicate(timeout=LOOK_S if timeout_s is None else timeout_s)
        except subprocess.TimeoutExpired:
            if timeout_s is not None:
                raise Hangs(f"after {timeout_s:g} s") from None
            if watch.look() > work_s:
                raise Hangs(f"after {work_s:g} s of processor time") from None


def descendants(process: int) -> list[int]:
    """The processes that it has started, and those that these have; none on a system without /proc."""
    try:
        return [each.pid for each in _tree(process)][1:]
    except FileNotFoundError:
        return []


def end(processes: Iterable[int]) -> None:
    """Kill processes; those of root, which sudo has started, through sudo if it asks for no password."""
    refused = []
    for each in processes:
        try:
            os.kill(each, signal.SIGKILL)
        except ProcessLookupError:
            continue
        except PermissionError:
            refused.append(str(each))
    if refused:
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(
                ["sudo", "-n", "kill", "-KILL", *refused], capture_output=True, timeout=1.0, check=False
            )
