"""Opening, reading and writing the results file."""

from __future__ import annotations

import copy
import json
import operator
import os
import sqlite3
import threading
import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from motecrypt import __version__
from motecrypt.base.errors import InputError
from motecrypt.base.model import RECORDED, Cell, CellIdentity, ExperimentResult, Measurement
from motecrypt.base.paths import make_dir
from motecrypt.results import rows, schema

#: What a column must be: one value, one of several, or anything.
Filter = str | int | Iterable[str | int] | None

_BUSY_S = 30.0
_STATEMENT_S = 60.0  # of processor time
EXPERIMENT = "kind, version, inputs, outcome, made_at, motecrypt_version"
STORE_EXPERIMENT = (
    "INSERT OR REPLACE INTO experiment (kind, version, inputs, outcome, made_at, motecrypt_version, asked) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_ROWS_AT_ONCE = 500
#: Columns by which most of what is not asked for is left unread.
_TELLING = ("device", "cipher", "library", "operation", "message_bytes", "flags_asked")
_STEPS = 100_000  # of SQLite's machine between two looks at the clock


# By SQLite's primary result code, the low byte of what an error carries.
_HELD = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_HINTS = {
    sqlite3.SQLITE_FULL: "free some space",
    sqlite3.SQLITE_INTERRUPT: "the statement took too long; move it away or choose another with --db",
    sqlite3.SQLITE_READONLY: "choose another file with --db",
    sqlite3.SQLITE_CANTOPEN: "choose another file with --db",
    sqlite3.SQLITE_PERM: "choose another file with --db",
    sqlite3.SQLITE_IOERR: "free some space, check that it is a regular file, or choose another with --db",
    **dict.fromkeys(_HELD, f"another process has held it for {_BUSY_S:g} s; try again"),
}


def _code(error: sqlite3.Error) -> int:
    """SQLite's primary result code; SQLITE_ERROR where Python's own part of the module complains."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF


def _missing(path: Path) -> bool:
    """Whether there is no such file; what cannot be looked at is left for SQLite to complain of."""
    try:
        path.lstat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


class Results:
    """A results file.

    Parameters
    ----------
    make : bool
        Whether a file that is not there is made; else it reads as one without any result.

    Raises
    ------
    InputError
        When the file is not a results file, is damaged, from a newer motecrypt, or cannot be written.
    """

    def __init__(self, path: Path, *, make: bool = True) -> None:
        self.path = path
        self._compilers: Mapping[str, Sequence[str]] = {}  # by device: read what these measured, and no other
        if make:
            make_dir(path.parent)
        self._lock = threading.Lock()
        self._deadline = 0.0
        if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 - no error where it is closed
            # a pipe would be waited for
            raise InputError(f"{path}: not a regular file; choose another with --db")
        try:
            place = ":memory:" if not make and _missing(path) else path
            if not make and os.path.isfile(place):  # noqa: PTH113 - as above
                schema.check_is_database(path)
            self._connection = sqlite3.connect(place, timeout=_BUSY_S, check_same_thread=False)
            self._connection.isolation_level = None
            self._connection.set_progress_handler(self._late, _STEPS)
            self._begin_clock()
            self._connection.execute("PRAGMA trusted_schema = OFF")
            self._upgrade()
            self._check_tables()
        except sqlite3.DatabaseError as error:
            raise self._trouble(error) from error

    def _trouble(self, error: sqlite3.Error) -> InputError:
        hint = _HINTS.get(
            _code(error), "it is damaged or not a results file; move it away or choose another with --db"
        )
        return InputError(f"{self.path}: {error}; {hint}")

    def _begin_clock(self) -> None:
        """A statement that continues and on, as what a stranger put into the file may, is ended."""
        self._deadline = time.thread_time() + _STATEMENT_S

    def _late(self) -> bool:
        return time.thread_time() > self._deadline

    def _upgrade(self) -> None:
        """Check and migrate. Switching to the write-ahead log answers "locked" immediately while another
        process does the same, without the busy time-out: it is tried again until that has passed."""
        deadline = time.monotonic() + _BUSY_S
        while True:
            try:
                self._check()
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = NORMAL")
                self._migrate()
                return
            except sqlite3.OperationalError as error:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                if _code(error) not in _HELD or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def _number(self, statement: str) -> int:
        """The one number that a statement asks for."""
        ((number,),) = self._connection.execute(statement)
        return int(number)

    def _check(self) -> None:
        """Refuse a file that is not a results file or is from a newer version; one transaction, for a
        consistent view."""
        connection = self._connection
        connection.execute("BEGIN")
        tables = self._number("SELECT count(*) FROM sqlite_master")  # takes the snapshot
        application = self._number("PRAGMA application_id")
        version = self._number("PRAGMA user_version")
        strange = connection.execute(
            "SELECT type FROM sqlite_master WHERE type NOT IN ('table', 'index') "
            "OR sql LIKE '%VIRTUAL%TABLE%' LIMIT 1"
        ).fetchone()
        connection.execute("COMMIT")
        if tables and application != schema.APPLICATION_ID:
            raise InputError(f"{self.path}: not a motecrypt results file; choose another with --db")
        if version > schema.VERSION:
            raise InputError(
                f"{self.path}: written by a newer motecrypt (format {version}, this one knows "
                f"{schema.VERSION}); upgrade motecrypt or choose another file with --db"
            )

        if strange is not None:  # a view can go on without end, a trigger change what is written
            what = strange[0] if strange[0] in ("view", "trigger") else "virtual table"
            raise InputError(
                f"{self.path}: contains a {what}, which a results file never has; choose another with --db"
            )

    def _check_tables(self) -> None:
        """Refuse tables of ours that are not as this version makes them."""
        told = dict(self._connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
        for name, statement in schema.statements().items():
            if told.get(name) != statement:
                raise InputError(
                    f"{self.path}: damaged: '{name}' is not as motecrypt makes it; choose another with --db"
                )

    def _migrate(self) -> None:
        connection = self._connection
        if self._number("PRAGMA user_version") == schema.VERSION:
            return
        connection.execute("BEGIN IMMEDIATE")
        version = self._number("PRAGMA user_version")
        for step in schema.MIGRATIONS[version:]:
            if not isinstance(step, str):
                try:
                    step(connection)
                except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                    connection.execute("ROLLBACK")
                    raise InputError(
                        f"{self.path}: damaged: a row cannot be brought to the new format "
                        f"({type(error).__name__}); move the file away or choose another with --db"
                    ) from error
                continue
            for statement in step.split(";"):
                if statement.strip():
                    connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {schema.VERSION}")
        connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Results:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """For this package: several statements that read and write, atomically."""
        try:
            with self._lock:
                self._begin_clock()
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    yield self._connection
                    self._connection.execute("COMMIT")
                except BaseException:
                    if self._connection.in_transaction:  # a full disk has rolled back already
                        self._connection.execute("ROLLBACK")
                    raise
        except sqlite3.DatabaseError as error:
            raise self._trouble(error) from error

    def _write(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        with self.transaction() as connection:
            connection.executemany(statement, rows)

    def _read(self, statement: str, arguments: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                self._begin_clock()
                return self._connection.execute(statement, arguments).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._trouble(error) from error

    def in_parts(self, statement: str, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        """For this package: rows of a statement, not all of them in memory; others may write meanwhile."""
        try:
            with self._lock:
                self._begin_clock()
                cursor = self._connection.execute(statement, arguments)
            while True:
                with self._lock:
                    self._begin_clock()
                    part = cursor.fetchmany(_ROWS_AT_ONCE)
                if not part:
                    return
                yield from part
        except sqlite3.DatabaseError as error:
            raise self._trouble(error) from error

    def copy_to(self, path: Path) -> None:
        """Write a copy of the whole file, as it is now and without claims, to a path where nothing is."""
        self._read("VACUUM INTO ?", (str(path),))
        with Results(path) as copied, copied.transaction() as connection:
            connection.execute("DELETE FROM claim")

    # --- measurements ------------------------------------------------------------------------------

    def store(self, measurements: Mapping[str, Measurement]) -> None:
        """Store measurements by cell key, in one transaction. What failed only for the moment never replaces
        the stored figures of the same cell."""
        names = ", ".join(("key", *rows.COLUMNS))
        marks = ", ".join("?" * (len(rows.COLUMNS) + 1))
        known = "SELECT 1 FROM measurement WHERE key = ? AND json_extract(extra, '$.transient') IS NOT 1"
        self._write(
            f"INSERT OR REPLACE INTO measurement ({names}) SELECT {marks} WHERE NOT (? AND EXISTS ({known}))",
            [(key, *_flatten(m), m.transient, key) for key, m in measurements.items()],
        )

    def measurement(self, key: str) -> Measurement | None:
        """The measurement of a cell key, or None: for anyone who measures. A view asks for the `newest`."""
        return self.by_key([key]).get(key)

    def by_key(self, keys: Iterable[str]) -> dict[str, Measurement]:
        """The measurements of these cell keys, as far as there are any."""
        reader, asked = rows.Reader(str(self.path)), list(keys)
        columns, among = ", ".join(rows.COLUMNS), "SELECT value FROM json_each(?)"
        query = f"SELECT key, {columns} FROM measurement WHERE key IN ({among})"
        parts = (json.dumps(asked[at : at + _ROWS_AT_ONCE]) for at in range(0, len(asked), _ROWS_AT_ONCE))
        return {key: reader.measurement(row) for part in parts for key, *row in self._read(query, (part,))}

    def newest(self, cells: Iterable[Cell]) -> dict[Cell, Measurement]:
        """What is stored of these cells, found by what was asked; cells without any are left out.

        Of several measurements (other compilers, other sources) the newest counts, or the newest by the
        chosen compilers (`by_compilers`); where the cell names no toolchain, what the system's own compiler
        made before what another did. A cell that names one has that one's figures or none. What failed only
        for the moment counts where there is nothing else.
        """
        wanted = {cell: cell.identity for cell in cells}
        found: dict[Cell, Measurement] = {}
        for toolchain in dict.fromkeys(map(self._toolchain_of, wanted)):
            asked = {cell: who for cell, who in wanted.items() if self._toolchain_of(cell) == toolchain}
            columns = zip(*set(asked.values()), strict=True)
            filters: dict[str, Filter] = {
                name: set(values)
                for name, values in zip(CellIdentity._fields, columns, strict=True)
                if name in _TELLING
            }
            filters["toolchain"] = toolchain or None
            newest = {m.identity: m for m in self._each_newest(filters, among=set(asked.values()))}
            found |= {cell: newest[identity] for cell, identity in asked.items() if identity in newest}
        return found

    def _toolchain_of(self, cell: Cell) -> str:
        """The toolchain whose figures of a cell count; empty for any, as where compilers were chosen."""
        return "" if cell.device in self._compilers else cell.toolchain

    def newest_measurements(self, **filters: Filter) -> list[Measurement]:
        """One measurement of each cell, chosen as `newest` does, newest first; filters as `measurements`."""
        return sorted(self._each_newest(filters), key=lambda m: m.measured_at, reverse=True)

    def each_newest(self, **filters: Filter) -> Iterator[Measurement]:
        """As `newest_measurements`, one after the other, none of them kept; those that failed only for the
        moment come last."""
        return self._each_newest(filters)

    def _each_newest(
        self, filters: Mapping[str, Filter], among: Container[tuple[Any, ...]] | None = None
    ) -> Iterator[Measurement]:
        """`among`: the identities that are wanted; None: all."""
        reader = rows.Reader(str(self.path))
        seen: set[tuple[Any, ...]] = set()
        passing: dict[tuple[Any, ...], Measurement] = {}
        for row in self._rows(filters, own_first=True):
            identity = reader.identity(row)
            if identity in seen or (among is not None and identity not in among):
                continue
            m = reader.measurement(row)
            if m.transient:
                passing.setdefault(identity, m)
            else:
                seen.add(identity)
                yield m
        yield from (m for identity, m in passing.items() if identity not in seen)

    def measurements(self, **filters: Filter) -> list[Measurement]:
        """Measurements whose columns equal the filters (a list: any of), newest first."""
        return list(self.each_measurement(**filters))

    def each_measurement(self, **filters: Filter) -> Iterator[Measurement]:
        """As `measurements`, one after the other, none of them kept."""
        reader = rows.Reader(str(self.path))
        return (reader.measurement(row) for row in self._rows(filters))

    def _rows(self, filters: Mapping[str, Filter], *, own_first: bool = False) -> Iterator[tuple[Any, ...]]:
        """Rows of measurements that pass the filters, newest first, with the values of COLUMNS; `own_first`:
        before all others those by the system's own compiler."""
        clauses, arguments = [], []
        for column, wanted in filters.items():
            if wanted is None:
                continue
            if column not in rows.COLUMNS:
                raise InputError(f"measurements have no column '{column}'")
            values = [wanted] if isinstance(wanted, str | int) else list(wanted)
            if not values:
                continue
            clauses.append(f"{column} IN (SELECT value FROM json_each(?))")
            arguments.append(json.dumps(values))  # one argument, however many values there are
        for device, compilers in self._compilers.items():
            clauses.append(f"(device != ? OR compiler IN ({', '.join('?' * len(compilers))}))")
            arguments += [device, *compilers]
        where = f" WHERE {' AND '.join(clauses)}" if clauses else ""
        order = "measured_at DESC, cipher, device, library, variant, operation, message_bytes, rowid DESC"
        order = f"system_toolchain DESC, {order}" if own_first else order
        statement = f"SELECT {', '.join(rows.COLUMNS)} FROM measurement{where} ORDER BY {order}"
        return self.in_parts(statement, tuple(arguments))

    def by_compilers(self, texts: Sequence[str]) -> Results:
        """The same file, read as if only some compilers had been used: those whose version line contains one
        of these texts. A device on which none of them was used is read as before.

        Raises
        ------
        InputError
            When a text is in the version line of no stored compiler; the message names those there are.
        """
        used = self._read(
            "SELECT DISTINCT CAST(device AS TEXT), CAST(compiler AS TEXT) FROM measurement "
            "WHERE compiler != ''"
        )
        chosen: dict[str, list[str]] = {}
        for text in texts:
            found = [(device, compiler) for device, compiler in used if text in compiler]
            if not found:
                known = "; ".join(sorted({compiler for _, compiler in used})) or "none"
                raise InputError(f"--compiler '{text}': nothing was measured with it; stored are: {known}")
            for device, compiler in found:
                chosen.setdefault(device, []).append(compiler)
        same = copy.copy(self)
        same._compilers = chosen
        return same

    def distinct(self, column: str) -> set[str]:
        """The values that a column of text has in the stored measurements."""
        if column not in rows.COLUMNS:
            raise InputError(f"measurements have no column '{column}'")
        return {str(value) for (value,) in self._read(f"SELECT DISTINCT {column} FROM measurement")}

    # --- results ----------------------------------------------------------------------------------

    def experiment(self, kind: str, version: int, inputs: Mapping[str, Any]) -> ExperimentResult | None:
        """The stored outcome of an experiment with exactly these inputs, or None."""
        found = self._read(
            f"SELECT {EXPERIMENT} FROM experiment WHERE kind = ? AND version = ? AND inputs = ?",
            (kind, version, _canonical(inputs)),
        )
        return next((rows.experiment(row, str(self.path)) for row in found), None)

    def newest_experiment(self, kind: str, version: int, asked: Mapping[str, Any]) -> ExperimentResult | None:
        """The newest stored outcome for what was asked, whatever builds and tools it was made with."""
        found = self._read(
            f"SELECT {EXPERIMENT} FROM experiment WHERE kind = ? AND version = ? AND asked = ? "
            "ORDER BY made_at DESC, rowid DESC LIMIT 1",
            (kind, version, schema.question(asked)),
        )
        return next((rows.experiment(row, str(self.path)) for row in found), None)

    def store_experiment(
        self,
        kind: str,
        version: int,
        inputs: Mapping[str, Any],
        outcome: Mapping[str, Any],
        asked: Mapping[str, Any] | None = None,
    ) -> ExperimentResult:
        """Store the outcome of an experiment; replaces an earlier one with the same inputs.

        Parameters
        ----------
        inputs
            All that the outcome depends on: equal inputs are not run again.
        asked
            What views find it by: the question, without builds, tools and machines. Default: the inputs.
        """
        made_at = datetime.now(UTC).isoformat(timespec="seconds")
        question = schema.question(inputs if asked is None else asked)
        row = (kind, version, _canonical(inputs), _canonical(outcome), made_at, __version__, question)
        self._write(STORE_EXPERIMENT, [row])
        return ExperimentResult(kind, version, dict(inputs), dict(outcome), made_at, __version__)

    def store_recorded(self, answers: Iterable[tuple[ExperimentResult, Mapping[str, Any]]]) -> None:
        """Store results that came with the program, each with its question; they keep their dates.

        An answer made on this machine stays the newest of its question. One that came with an earlier program
        yields to a newer one.
        """
        missing = []
        for experiment, asked in answers:
            there = self.newest_experiment(experiment.kind, experiment.version, asked)
            if there is None or (RECORDED in there.inputs and there.made_at < experiment.made_at):
                missing.append((experiment, asked))
        self._write(
            STORE_EXPERIMENT,
            [
                (
                    *(f.kind, f.version, _canonical(f.inputs), _canonical(f.outcome)),
                    *(f.made_at, f.motecrypt_version, schema.question(asked)),
                )
                for f, asked in missing
            ],
        )

    def experiment_counts(self) -> dict[str, int]:
        """How many results there are of each kind, by its name."""
        return dict(self._read("SELECT kind, count(*) FROM experiment GROUP BY kind ORDER BY kind"))

    def experiments(self, kind: str, version: int | None = None) -> list[ExperimentResult]:
        """All results of a kind, newest first."""
        found = self._read(
            f"SELECT {EXPERIMENT} FROM experiment WHERE kind = ? ORDER BY made_at DESC, rowid DESC", (kind,)
        )
        made = (rows.experiment(row, str(self.path)) for row in found)
        return [one for one in made if version in (None, one.version)]


def _canonical(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _flatten(measurement: Measurement) -> tuple[Any, ...]:
    values = list(_VALUES(measurement))  # SQLite takes True and False for 1 and 0
    values[_EXTRA] = _canonical(measurement.extra)
    return tuple(values)


_VALUES, _EXTRA = operator.attrgetter(*rows.COLUMNS), rows.COLUMNS.index("extra")
