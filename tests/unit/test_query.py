"""SQL on results: the same measurements as everywhere, no other file, and one line for what is wrong."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import run
from motecrypt.results import Results, query
from motecrypt.results.columns import columns
from motecrypt.results.query import copy_of
from tool_sets import needs_tool_set
from unit.test_results import measurement as measured

pytestmark = needs_tool_set("query")
OLD, NEW = "2026-01-01T00:00:00+00:00", "2026-02-02T00:00:00+00:00"


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three cells: one measured twice, one by two compilers, and one that failed only for the moment."""
    monkeypatch.setenv("MOTECRYPT_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "results.db"
    one = measured(cycles_median=1)
    with Results(path) as results:
        results.store(
            {
                "a": replace(one, measured_at=OLD, cycles_median=10),
                "b": replace(one, measured_at=NEW, cycles_median=11),
                "c": replace(one, message_bytes=32, measured_at=OLD, cycles_median=20),
                "d": replace(
                    one, message_bytes=32, measured_at=NEW, cycles_median=21, system_toolchain=False
                ),
                "e": replace(one, message_bytes=48, measured_at=OLD, cycles_median=30),
                "f": replace(
                    one, message_bytes=48, measured_at=NEW, cycles_median=31, extra={"transient": True}
                ),
            }
        )
    return path


def asked(capsys: pytest.CaptureFixture[str], db: Path, sql: str) -> list[dict[str, object]]:
    code, out, error = run(capsys, "results", "query", sql, "--format", "json", "--db", str(db))
    assert code == 0, error
    return [json.loads(line) for line in out.splitlines()]


def test_a_query_sees_the_newest_as_views_do(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, db, "SELECT message_bytes, cycles_median FROM results ORDER BY 1")
    with Results(db) as results:
        newest = sorted((m.message_bytes, m.cycles_median) for m in results.each_newest())
    assert [tuple(row.values()) for row in found] == newest
    assert [cycles for _, cycles in newest] == [11, 20, 30]
    every = asked(capsys, db, "SELECT cycles_median AS c FROM every ORDER BY 1")
    assert [row["c"] for row in every] == [10, 11, 20, 21, 30, 31]


def test_more_rows_than_are_fetched_at_a_time(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    count = 2 * query._AT_A_TIME + 1
    assert asked(capsys, db, f"SELECT range AS n FROM range({count})") == [{"n": n} for n in range(count)]


def test_the_copy_is_of_the_file_as_it_is(
    db: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    count = "SELECT count(*) AS n FROM every"
    assert asked(capsys, db, count) == asked(capsys, db, count) == [{"n": 6}]
    (copy,) = (tmp_path / "cache" / "query").rglob("*.parquet")
    with Results(db) as results:
        results.store({"g": measured(message_bytes=64)})
    assert asked(capsys, db, count) == [{"n": 7}]
    (other,) = (tmp_path / "cache" / "query").rglob("*.parquet")
    assert other != copy
    code, out, _ = run(capsys, "results", "query", count, "--parquet", str(other), "--parquet", str(other))
    assert code == 0 and "14" in out


def test_rows_as_csv_are_no_formulas_and_a_long_table_ends(
    db: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from motecrypt.cli import results as command

    sql = "SELECT '=1' AS a, NULL AS b, cycles_median AS c FROM every ORDER BY 3 LIMIT 1"
    code, out, _ = run(capsys, "results", "query", sql, "--format", "csv", "--db", str(db))
    assert code == 0 and list(csv.reader(io.StringIO(out))) == [["a", "b", "c"], ["'=1", "", "10"]]
    for most, said in ((5, "only the first 5 rows"), (6, "")):
        monkeypatch.setattr(command, "TABLE_ROWS", most)
        code, out, error = run(capsys, "results", "query", "SELECT cycles_median FROM every", "--db", str(db))
        assert code == 0 and (said in error if said else not error)
        assert len([line for line in out.splitlines() if line.strip().isdigit()]) == most


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELEC", "syntax error"),
        ("SELECT none FROM results", "not found"),
        ("SELECT 1; SELECT 2", "is one SELECT"),
        ("", "is one SELECT"),
        ("COPY results TO '{}/out.csv'", "is one SELECT"),
        ("DROP VIEW results", "is one SELECT"),
        ("SELECT * FROM read_text('{}/secret.csv')", "disabled by configuration"),
        ("SELECT * FROM '{}/secret.csv'", "disabled by configuration"),
    ],
)
def test_a_query_reads_nothing_else_and_writes_nothing(
    db: Path, tmp_path: Path, sql: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    before = sorted(path.name for path in tmp_path.iterdir() if path.name != "cache")
    code, out, error = run(capsys, "results", "query", sql.format(tmp_path), "--db", str(db))
    assert code == 2 and said in error and error.count("\n") == 1 and not out
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "cache") == before


def test_a_file_that_is_none_of_ours_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import duckdb

    other, text = tmp_path / "other.parquet", tmp_path / "text.parquet"
    duckdb.execute(f"COPY (SELECT 1 AS a) TO '{other}' (FORMAT parquet)")
    text.write_text("no parquet")
    for path, said in ((other, "is not what"), (text, "the query"), (tmp_path / "none", "cannot be read")):
        code, _, error = run(capsys, "results", "query", "SELECT 1", "--parquet", str(path))
        assert code == 2 and said in error and error.count("\n") == 1


def test_json_has_each_column_and_no_number_that_json_lacks(
    db: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(capsys, db, "SELECT 'nan'::double AS a, 'inf'::double AS b, 1.5::double AS c") == [
        {"a": None, "b": None, "c": 1.5}
    ]
    code, _, error = run(capsys, "results", "query", "SELECT 1 a, 2 a", "--format", "json", "--db", str(db))
    assert code == 2 and "two columns have one name (a, a)" in error


def test_a_copy_of_other_columns_is_made_again(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Results(db) as results:
        first = copy_of(results)
        monkeypatch.setattr(query, "columns", lambda: columns()[:-1])
        assert copy_of(results) != first
