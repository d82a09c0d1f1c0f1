"""A program that is killed at one of its steps: STEP TIMES FOLDER PORT for a gateway, or WORDS of a command.

A step is a call, before or after it; the process kills itself there the so-manieth time.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from motecrypt.cli import main
from motecrypt.link import file_parts as files
from motecrypt.link import gateway_end as gateway
from motecrypt.link import stored_files
from motecrypt.link.gateway import control, drain, lines, operated, registry, spool
from motecrypt.link.gateway.sinks import csv_log, sqlite_log

STEPS: dict[str, tuple[type, str]] = {
    "put": (spool.Spool, "put"),
    "write": (spool.Spool, "write"),
    "commit": (sqlite3.Connection, "execute"),
    "receive": (gateway.Gateway, "receive"),
    "answer": (lines.Line, "write"),
    "deliver": (sqlite_log.SqliteLog, "deliver"),
    "csv": (csv_log.CsvLog, "deliver"),
    "turn": (drain.Drain, "_turn"),
    "tidy": (spool.Spool, "tidy"),
    "take": (files.FileCollector, "take"),
    "settled": (files.FileCollector, "settled"),
    "note": (stored_files.NodeFiles, "note"),
    "begin": (spool.Spool, "register"),
    "provision": (operated.OperatedGateway, "provision"),
    "renew": (operated.OperatedGateway, "renew"),
    "tell": (control._Client, "tell"),
    "request": (registry.ServedRegistry, "ask"),
}


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _rig(step: str, times: int) -> None:
    """Have the call kill this process the so-manieth time."""
    name, _, when = step.partition("-")
    left = times

    def due() -> bool:
        nonlocal left
        left -= 1
        return left == 0

    if name == "commit":  # within the transaction: no method of a connection can be replaced
        _rig_commit(due, when)
        return
    if name == "change":  # the transaction of a change of keys
        inside = _noted_changes()
        loop = threading.current_thread()  # a sink's thread may commit meanwhile
        _rig_commit(lambda: bool(inside) and threading.current_thread() is loop and due(), when)
        return
    owner, method = STEPS[name]
    whole: Callable[..., Any] = getattr(owner, method)

    def rigged(self: Any, *given: Any) -> Any:
        idle = name == "answer" and not self.writing
        now = not idle and due()
        if now and when == "before":
            _die()
        result = whole(self, *given)
        if now:
            _die()
        return result

    setattr(owner, method, rigged)


def _noted_changes() -> list[str]:
    """From now on, the changes of keys that are in progress."""
    inside: list[str] = []

    def noted(method: str) -> None:
        whole: Callable[..., Any] = getattr(operated.OperatedGateway, method)

        def rigged(self: Any, *given: Any) -> Any:
            inside.append(method)
            try:
                return whole(self, *given)
            finally:
                inside.pop()

        setattr(operated.OperatedGateway, method, rigged)

    noted("provision")
    noted("renew")
    return inside


def _rig_commit(due: Callable[[], bool], when: str) -> None:
    class Connection(sqlite3.Connection):
        def execute(self, statement: str, *given: Any) -> sqlite3.Cursor:
            now = statement == "COMMIT" and due()
            if now and when == "before":
                _die()
            result = super().execute(statement, *given)
            if now:
                _die()
            return result

    connect = sqlite3.connect
    sqlite3.connect = lambda *given, **named: connect(*given, factory=Connection, **named)  # type: ignore


if __name__ == "__main__":
    step, times, folder, port, *words = sys.argv[1:]
    os.chdir(folder)
    if step != "none":
        _rig(step, int(times))
    if words:
        main([port, *words])
    sinks = ["--sqlite", "log.db", "--csv", "log.csv", "--output", "inbox"]
    main(["gateway", port, "--key", "key", *sinks, "--json", "--stdout"])
