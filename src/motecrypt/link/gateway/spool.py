"""The spool: the gateway's record, what it has received, and how far each sink has got, in one SQLite file.

It takes the place of the record's file (link/state.py) under the same name and lock. `put` and `write` are
one transaction: after a crash there are a message and the claim on its counter, or neither.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.paths import sync_folder
from motecrypt.link.gateway.items import Item
from motecrypt.link.state import FileStore

MAGIC = b"SQLite format 3\0"
VERSION = 1
APPLICATION = 0x4D43_4757  # "MCGW"
LOCKED_S = 0.2
"""How long another program that holds the file is waited for: the radio waits meanwhile."""
WAITING_MAX = 100_000
"""Items that wait for sinks, by default; of the longest messages that is half a gigabyte."""

_SCHEMA = (
    "CREATE TABLE record (one INTEGER PRIMARY KEY CHECK (one = 0), record BLOB NOT NULL)",
    "CREATE TABLE items (seq INTEGER PRIMARY KEY AUTOINCREMENT, node INTEGER NOT NULL, "
    "generation INTEGER NOT NULL, epoch INTEGER NOT NULL, counter INTEGER NOT NULL, kind TEXT NOT NULL, "
    "received_ms INTEGER NOT NULL, content BLOB NOT NULL, length INTEGER NOT NULL)",
    "CREATE TABLE sinks (name TEXT PRIMARY KEY, done INTEGER NOT NULL)",
)
_COLUMNS = ("node", "generation", "epoch", "counter", "kind", "received_ms", "content", "length", "seq")
_PUT = f"INSERT INTO items ({', '.join(_COLUMNS[:-1])}) VALUES ({', '.join('?' for _ in _COLUMNS[:-1])})"
_COUNT = "SELECT node, count(*) FROM items WHERE {} GROUP BY node"
_AFTER = f"SELECT {', '.join(_COLUMNS)} FROM items WHERE seq > ? ORDER BY seq LIMIT ?"


def is_spool(path: Path) -> bool:
    """Whether the gateway's record is a spool already."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


class Spool:
    """A gateway's record and the items that wait for its sinks; a `Store` for `link.gateway.Gateway`.

    Parameters
    ----------
    file : FileStore
        The record's file, which stays locked. One that is no spool yet becomes one, whole or not at all.
    waiting_max : int
        How many items may wait; `room` shows how many more.

    Attributes
    ----------
    waiting, waiting_of, writes : items that wait, also of each node (with those that were put and
        not written); records that were written since the start.

    Raises
    ------
    InputError
        The file is damaged, or not the spool of this version.
    """

    def __init__(self, file: FileStore, waiting_max: int = WAITING_MAX) -> None:
        self._file, self.waiting_max = file, waiting_max
        if not is_spool(file.path):
            _make(file)
        try:
            self._base = _open(file.path)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=FULL")
            waiting = Counter(dict(self._base.execute(_COUNT.format("1"))))
        except sqlite3.Error as error:
            raise InputError(f"state file {file.path}: cannot be used: {error}; restore a backup") from None
        self.waiting, self.writes = waiting.total(), 0
        self.waiting_of = waiting
        self._pending = Counter[int]()
        self._done: dict[str, int] = {}
        self._marks: dict[str, int] = {}

    @property
    def path(self) -> Path:
        """Where it is."""
        return self._file.path

    @property
    def room(self) -> int:
        """How many more items it takes now."""
        return self.waiting_max - self.waiting - self._pending.total()

    # --- the record, and what comes with it

    def read(self) -> bytes | None:
        """The record, or None when there is none yet."""
        try:
            row = self._base.execute("SELECT record FROM record").fetchone()
        except sqlite3.Error as error:
            raise self._fault(error) from None
        return None if row is None else bytes(row[0])

    def put(self, items: Iterable[Item]) -> None:
        """Have the next `write` keep these, too."""
        rows = [
            (i.node, i.generation, i.epoch, i.counter, i.kind, i.received_ms, i.content, i.length)
            for i in items
        ]
        try:
            self._begin()
            self._base.executemany(_PUT, rows)
        except sqlite3.Error as error:
            self.undo()
            raise self._fault(error) from None
        new = Counter(row[0] for row in rows)
        self._pending += new
        self.waiting_of += new

    def write(self, record: bytes) -> None:
        """Replace the record and keep what was put; on return both are durable, after an error neither."""
        try:
            self._begin()
            self._base.execute("INSERT OR REPLACE INTO record VALUES (0, ?)", (record,))
            gone = self._apply_marks()
            self._base.execute("COMMIT")
        except sqlite3.Error as error:
            self.undo()
            raise self._fault(error) from None
        self._kept(gone)
        self.writes += 1

    def undo(self) -> None:
        """Forget what was put and not written."""
        self.waiting_of -= self._pending
        self._pending.clear()
        if self._base.in_transaction:
            with suppress(sqlite3.Error):
                self._base.execute("ROLLBACK")

    def _begin(self) -> None:
        if not self._base.in_transaction:
            self._base.execute("BEGIN IMMEDIATE")

    def _kept(self, gone: Counter[int]) -> None:
        self.waiting += self._pending.total() - gone.total()
        self.waiting_of -= gone
        self._pending.clear()
        self._done |= self._marks
        self._marks = {}

    # --- the sinks

    def register(self, names: Sequence[str]) -> Mapping[str, int]:
        """Who gets the items from now on; a new one gets all that still wait.

        Returns
        -------
        mapping of str to int
            The place of the last item that each has. Others are forgotten, and nothing waits for them.
        """
        try:
            known = dict(self._base.execute("SELECT name, done FROM sinks"))
            self._done = {name: known.get(name, 0) for name in names}
            self._begin()
            self._base.execute("DELETE FROM sinks")
            self._base.executemany("INSERT INTO sinks VALUES (?, ?)", self._done.items())
            gone = self._forget_delivered()
            self._base.execute("COMMIT")
        except sqlite3.Error as error:
            self.undo()
            raise self._fault(error) from None
        self._kept(gone)
        return dict(self._done)

    def mark(self, name: str, done: int) -> None:
        """A sink has all items up to that place. Durable with the next `write` or `tidy`."""
        if done > self._done[name]:
            self._marks[name] = done

    def tidy(self) -> None:
        """Make marks durable, and forget what every sink has."""
        if not self._marks:
            return
        try:
            self._begin()
            gone = self._apply_marks()
            self._base.execute("COMMIT")
        except sqlite3.Error as error:
            self.undo()
            raise self._fault(error) from None
        self._kept(gone)

    def last(self) -> int:
        """The place of the last item that waits; 0 when none does."""
        try:
            (last,) = self._base.execute("SELECT max(seq) FROM items").fetchone()
        except sqlite3.Error:
            return 0
        return int(last or 0)

    def _apply_marks(self) -> Counter[int]:
        if not self._marks:
            return Counter()
        rows = [(done, name) for name, done in self._marks.items()]
        self._base.executemany("UPDATE sinks SET done = ? WHERE name = ?", rows)
        return self._forget_delivered()

    def _forget_delivered(self) -> Counter[int]:
        everywhere = min((self._done | self._marks).values(), default=0)
        gone = Counter(dict(self._base.execute(_COUNT.format("seq <= ?"), (everywhere,))))
        self._base.execute("DELETE FROM items WHERE seq <= ?", (everywhere,))
        return gone

    # --- the end

    def close(self) -> None:
        """Let another program have the file."""
        with suppress(sqlite3.ProgrammingError):  # it is closed
            self.undo()
        self._base.close()
        self._file.close()

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _fault(self, error: sqlite3.Error) -> MotecryptError:
        return MotecryptError(f"state file {self.path}: cannot be written: {error}")


class SpoolReader:
    """Reads a spool's items next to the gateway that writes it, in a thread of its own."""

    def __init__(self, path: Path) -> None:
        self._base = _open(path, check_same_thread=False)
        self._base.execute("PRAGMA query_only=ON")

    def after(self, seq: int, most: int) -> list[Item]:
        """The next items behind that place; sqlite3.Error where they cannot be read now."""
        return [
            Item(**dict(zip(_COLUMNS, row, strict=True))) for row in self._base.execute(_AFTER, (seq, most))
        ]

    def close(self) -> None:
        """Let go of the file."""
        self._base.close()


def _open(path: Path, check_same_thread: bool = True) -> sqlite3.Connection:
    base = sqlite3.connect(path, timeout=LOCKED_S, isolation_level=None, check_same_thread=check_same_thread)
    try:
        base.execute("PRAGMA trusted_schema=OFF")
        (application,) = base.execute("PRAGMA application_id").fetchone()
        (version,) = base.execute("PRAGMA user_version").fetchone()
        made = base.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL").fetchall()
        ours = {sql for (sql,) in made if not sql.startswith("CREATE TABLE sqlite_sequence")}
        if (application, version) != (APPLICATION, VERSION) or ours != set(_SCHEMA):
            raise sqlite3.DatabaseError("it is not this version's spool of a gateway")
    except sqlite3.Error:
        base.close()
        raise
    return base


def _make(file: FileStore) -> None:
    """Make a spool of the record in a file: next to it, then in its place."""
    record, beside = file.read(), file.path.with_name(file.path.name + ".new")
    try:
        beside.unlink(missing_ok=True)
        os.close(os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        base = sqlite3.connect(beside, isolation_level=None)
        try:
            base.execute("PRAGMA synchronous=FULL")
            base.execute("BEGIN")
            for statement in _SCHEMA:
                base.execute(statement)
            if record is not None:
                base.execute("INSERT INTO record VALUES (0, ?)", (record,))
            base.execute(f"PRAGMA application_id={APPLICATION}")
            base.execute(f"PRAGMA user_version={VERSION}")
            base.execute("COMMIT")
        finally:
            base.close()
        beside.replace(file.path)
        sync_folder(file.path.parent)
    except (sqlite3.Error, OSError) as error:
        raise InputError(f"state file {file.path}: cannot be converted to a spool: {error}") from None
