"""Which process is measuring which cells: so that two that want the same ones share the work.

A claim has a deadline and is renewed while its process lives. One whose deadline has passed, or whose process
is known to have ended, no longer counts. Claims do not block reading or storing.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Collection
from pathlib import Path

from motecrypt.results.store import Results

CLAIM_S = 60.0  # how long a claim lasts that is not renewed
RENEW_S = 15.0  # after how long it is

_numbers = itertools.count()


class Claims:
    """The claims of one process, or of one of several parts of it that do not know of each other.

    Parameters
    ----------
    results
        The file that the cells are stored in.
    """

    def __init__(self, results: Results) -> None:
        self._results = results
        self._renewed_at = time.monotonic()
        self.owner = f"{this_process()} {next(_numbers)}"

    def take(self, keys: Collection[str]) -> set[str]:
        """Claim cells by their keys, as far as nobody else has; returns those that are claimed now."""
        with self._results.transaction() as connection:
            now = time.time()
            owners = [owner for (owner,) in connection.execute("SELECT DISTINCT owner FROM claim")]
            ended = [(owner,) for owner in owners if has_ended(owner)]
            connection.executemany("DELETE FROM claim WHERE owner = ?", ended)
            # A deadline further away than any claim's was not written by a clock that agrees with ours.
            latest = now + 2 * CLAIM_S
            connection.execute("DELETE FROM claim WHERE deadline <= ? OR deadline > ?", (now, latest))
            asked = json.dumps(sorted(keys))
            held = connection.execute(
                "SELECT key FROM claim WHERE owner != ? AND key IN (SELECT value FROM json_each(?))",
                (self.owner, asked),
            )
            free = set(keys) - {key for (key,) in held}
            connection.executemany(
                "INSERT OR REPLACE INTO claim (key, owner, deadline) VALUES (?, ?, ?)",
                [(key, self.owner, now + CLAIM_S) for key in sorted(free)],
            )
        return free

    def renew(self) -> None:
        """Put the deadline off, where that is due: to be called at least every few seconds."""
        if time.monotonic() - self._renewed_at < RENEW_S:
            return
        self._renewed_at = time.monotonic()
        with self._results.transaction() as connection:
            until = time.time() + CLAIM_S
            connection.execute("UPDATE claim SET deadline = ? WHERE owner = ?", (until, self.owner))

    def release(self, keys: Collection[str] | None = None) -> None:
        """Give claims back; without keys, all."""
        with self._results.transaction() as connection:
            if keys is None:
                connection.execute("DELETE FROM claim WHERE owner = ?", (self.owner,))
            else:
                connection.executemany(
                    "DELETE FROM claim WHERE key = ? AND owner = ?", [(key, self.owner) for key in keys]
                )


def this_process() -> str:
    """The machine's start, the space of process numbers, this process's number and its own start."""
    pid = os.getpid()
    return f"{_machine()} {pid} {_started(pid)}"


def has_ended(owner: object) -> bool:
    """Whether an owner's process is known to have ended; False of other machines, where nothing is known."""
    parts = owner.split() if isinstance(owner, str) else []
    if len(parts) != 5:
        return True  # no owner that was ever written
    boot, space, pid, started, _ = parts
    if f"{boot} {space}" != _machine() or boot == _UNKNOWN or not (pid.isascii() and pid.isdecimal()):
        return False
    return _started(int(pid)) != started


_UNKNOWN = "unknown"


def _machine() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        space = Path("/proc/self/ns/pid").readlink()
    except OSError:
        return f"{_UNKNOWN} {_UNKNOWN}"
    return f"{boot} {space}"


def _started(pid: int) -> str:
    """When a process was started, in the kernel's ticks; "ended" where there is none that runs (proc(5))."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "ended"
    state, *rest = stat.rpartition(")")[2].split()
    return "ended" if state in "ZXx" else rest[18]
