"""Runs other programs: always with a deadline, always keeping what they say on standard error."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ASKED_S, WORK_S, LONG_S = 20.0, 120.0, 300.0
"""Deadlines: of a program that is only asked, as for its version; that works; that works for long."""


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
        """The first line that says 'error', else the last line said."""
        lines = [line.strip() for line in self.errors.splitlines() if line.strip()]
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


def run(
    command: Sequence[str | Path],
    *,
    timeout_s: float = WORK_S,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Outcome:
    """Run a program to its end."""
    arguments = [str(part) for part in command]
    try:
        done = subprocess.run(
            arguments,
            capture_output=True,
            cwd=cwd,
            env=_environment(environment),
            timeout=timeout_s,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError as error:
        missing = cwd if cwd is not None and not cwd.is_dir() else error.filename or arguments[0]
        return Outcome(None, "", f"{missing}: not found")
    except OSError as error:
        return Outcome(None, "", f"{arguments[0]}: cannot be run: {error.strerror}")
    except subprocess.TimeoutExpired:
        return Outcome(-9, "", f"{arguments[0]}: killed after {timeout_s:g} s")
    return Outcome(
        done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    )
