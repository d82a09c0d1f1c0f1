"""SQL on many results: DuckDB reads a Parquet copy of the results file, column by column.

The copy is made again when the file has changed. Queries only read, and reach no other file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from motecrypt import __version__
from motecrypt.base.errors import InputError
from motecrypt.base.model import CellIdentity
from motecrypt.base.paths import cache_dir, make_dir, open_regular, written_atomically
from motecrypt.results.columns import columns
from motecrypt.results.forms import write_parquet
from motecrypt.results.store import Results

MEMORY = "1GB"
"""What DuckDB may take; the rest is put into files."""
_AT_A_TIME = 1000
_NO_FILES = ("SET enable_external_access = false", "SET lock_configuration = true")


@dataclass(frozen=True)
class QueryAnswer:
    """What a query gave: the columns' names, and the rows one after the other."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]


def copy_of(results: Results) -> Path:
    """A Parquet copy of all measurements in the cache, made unless there is one of this state of the file."""
    path = results.path.resolve()
    folder = make_dir(cache_dir() / "query" / hashlib.sha256(str(path).encode()).hexdigest()[:16])
    state: list[object] = [__version__, [column.name for column in columns()]]
    for file in (path, path.with_name(path.name + "-wal")):
        try:
            told = file.stat()
            state += [told.st_size, told.st_mtime_ns]
        except OSError:
            state += [0, 0]
    made = folder / f"{hashlib.sha256(json.dumps(state).encode()).hexdigest()[:16]}.parquet"
    if not made.exists():
        for older in folder.glob("*.parquet"):
            older.unlink(missing_ok=True)
        with written_atomically(made) as copied:
            write_parquet(results.each_measurement(), copied)
    return made


def ask(sql: str, files: Sequence[Path]) -> QueryAnswer:
    """Ask the measurements of Parquet files; they are the tables `every` and, with the newest measurement of
    each cell alone, `results`.

    Raises
    ------
    InputError
        It is not one query, DuckDB refuses it, or a file is not such a Parquet file.
    """
    import duckdb

    for path in files:
        open_regular(path).close()
    known = [column.name for column in columns()]
    try:
        connection = duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"})
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"SET memory_limit = '{MEMORY}'")
        names = [str(path.resolve()) for path in files]
        connection.read_parquet(names, file_row_number=True).create_view("read")
        found = [name for name, *_ in connection.execute("DESCRIBE read").fetchall()]
        if set(found) != {*known, "file_row_number"}:
            raise InputError(f"{files[0]}: is not what 'motecrypt results --format parquet' writes")
        connection.execute(f"CREATE VIEW every AS SELECT {', '.join(known)} FROM read")
        connection.execute(
            f"CREATE VIEW results AS SELECT {', '.join(known)} FROM read QUALIFY row_number() OVER ("
            f"PARTITION BY {', '.join(CellIdentity._fields)} ORDER BY "
            "coalesce(json_extract_string(extra, '$.transient') = 'true', false), system_toolchain DESC, "
            "measured_at DESC, file_row_number) = 1"
        )
        connection.execute(f"SET allowed_paths = [{', '.join(map(_quoted, names))}]")
        for statement in _NO_FILES:
            connection.execute(statement)
        kinds = [statement.type for statement in connection.extract_statements(sql)]
        if kinds != [duckdb.StatementType.SELECT]:
            raise InputError("a query is one SELECT, such as: SELECT count(*) FROM results")
        answer = connection.execute(sql)
        titles = tuple(str(column[0]) for column in answer.description or ())
        return QueryAnswer(titles, _rows(answer))
    except duckdb.Error as error:
        raise _refused(error) from error


def _rows(answer: Any) -> Iterator[tuple[Any, ...]]:
    import duckdb

    try:
        while part := answer.fetchmany(_AT_A_TIME):
            yield from part
    except duckdb.Error as error:
        raise _refused(error) from error


def _refused(error: Exception) -> InputError:
    return InputError(f"the query: {' '.join(str(error).split())[:400]}")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
