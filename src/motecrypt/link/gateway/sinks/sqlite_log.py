"""A table in an SQLite file: each item once, by its id."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from motecrypt.base.errors import InputError
from motecrypt.link.gateway.items import Item, readable
from motecrypt.link.gateway.sinks import Sink, SinkError

LOCKED_S = 5.0
_TABLE = (
    "CREATE TABLE IF NOT EXISTS messages (id TEXT PRIMARY KEY, node INTEGER NOT NULL, kind TEXT NOT NULL, "
    "received TEXT NOT NULL, text TEXT NOT NULL, content BLOB NOT NULL, bytes INTEGER NOT NULL)"
)


class SqliteLog(Sink):
    """The table `messages` of a file, which may hold other tables and be read by others meanwhile.

    Raises
    ------
    InputError
        It is not an SQLite file, or cannot be written.
    """

    batch = 500

    def __init__(self, path: Path) -> None:
        self.name = f"sqlite:{path.absolute()}"
        self._path = path
        # After a crash or a commit that failed, rows may be in the file and not on the disk. They are not
        # inserted again, and without a change a commit syncs nothing: so one that changes nothing is made.
        self._unsure = True
        with suppress(OSError):  # a new file is its owner's alone: it has what the nodes have encrypted
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        try:
            self._base = sqlite3.connect(
                path, timeout=LOCKED_S, isolation_level=None, check_same_thread=False
            )
            self._base.execute("PRAGMA trusted_schema=OFF")
            self._base.execute("PRAGMA synchronous=EXTRA")
            self._base.execute(_TABLE)
            self._base.execute("SELECT id, node, kind, received, text, content, bytes FROM messages LIMIT 0")
        except sqlite3.Error as error:
            raise InputError(f"--sqlite {path}: {error}; name a file that can be written") from None

    def deliver(self, items: Sequence[Item]) -> None:
        """Insert those that are not there yet."""
        rows = [(i.name, i.node, i.kind, i.received, readable(i.content), i.content, i.length) for i in items]
        try:
            self._base.execute("BEGIN IMMEDIATE")
            self._base.executemany("INSERT OR IGNORE INTO messages VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            if self._unsure:
                (version,) = self._base.execute("PRAGMA user_version").fetchone()
                self._base.execute(f"PRAGMA user_version = {version}")
            self._base.execute("COMMIT")
            self._unsure = False
        except sqlite3.Error as error:
            self._unsure = True
            with suppress(sqlite3.Error):
                self._base.execute("ROLLBACK")
            raise SinkError(f"{self._path}: {error}") from None

    def hurry(self) -> None:
        """Stop what waits for a lock; the thread that uses it ends with its next call."""
        self._base.interrupt()

    def finish(self) -> None:
        """Let go of the file."""
        self._base.close()
