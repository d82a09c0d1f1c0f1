"""One run of a simulator's driver by itself: its input, its exit code and what it says."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEADLINE_S = 40.0


@dataclass(frozen=True)
class Outcome:
    """What a driver said."""

    code: int
    output: bytes
    events: list[dict[str, Any]]
    said: list[str]
    """Lines on standard error that are no events."""

    @property
    def end(self) -> dict[str, Any]:
        return self.events[-1]

    @property
    def regions(self) -> list[dict[str, Any]]:
        return [event for event in self.events if event["event"] == "region"]


def waiting(given: bytes) -> int:
    """A pipe's end with all of the input in it: how fast this computer is does not say when it comes."""
    there, into = os.pipe()
    assert len(given) <= 65536, "what a pipe holds"
    os.write(into, given)
    os.close(into)
    return there


def _limited() -> None:
    """In the new process: limits the seconds of processor time, so that endless runs are detected."""
    resource.setrlimit(resource.RLIMIT_CPU, (15, 15))


def outcome(command: list[str | Path], given: bytes | int = b"") -> Outcome:
    """Run a driver whose events go to standard error; `given` is its input, or a descriptor of it."""
    there = waiting(given) if isinstance(given, bytes) else os.dup(given)
    try:
        done = subprocess.run(
            command,
            stdin=there,
            capture_output=True,
            timeout=DEADLINE_S,
            check=False,
            preexec_fn=_limited,
        )
    finally:
        os.close(there)
    lines = done.stderr.decode().splitlines()
    events = [json.loads(line) for line in lines if line.startswith("{")]
    return Outcome(done.returncode, done.stdout, events, [line for line in lines if not line.startswith("{")])


def ended(ran: Outcome, code: int, event: str, detail: str, kind: str = "") -> None:
    """How it ended, wholly."""
    found = (ran.code, ran.end["event"], ran.end["detail"], ran.end.get("kind", ""))
    assert found == (code, event, detail, kind)
