"""Measurements as CSV, JSON and Parquet, what their columns mean, and `motecrypt.results.load`."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import stored_rows
from command_line import ran
from motecrypt.base.errors import InputError
from motecrypt.base.model import CellIdentity, Measurement
from motecrypt.catalog import DATA
from motecrypt.results import Results, columns, forms, load, parquet
from motecrypt.results.parquet import ParquetColumn, ParquetFile, Physical
from motecrypt.results.reading import select
from motecrypt.results.rows import COLUMNS
from tool_sets import needs_tool_set

FAILED = {
    "cycles_min": None,
    "cycles_median": None,
    "cycles_max": None,
    "time_us": None,
    "timing_varies": None,
}


def _rows() -> list[Measurement]:
    """Measurements with everything that a form may stumble over."""
    some = list(islice(stored_rows.rows(), 20))
    extra = {
        "failure": "stack",
        "shortfall": {"memory": "ram", "needed": 3, "available": 2},
        "µ": [1.5, None],
    }
    return [
        replace(some[0], reason='=1+1, "quoted"\nand a second line', flags="-Os"),
        replace(some[1], **FAILED, status="does-not-fit", extra=extra),  # type: ignore[arg-type]
        replace(some[2], timing_varies=True, cycles_min=-3, time_us=0.0625, compiler="gcc µ 日本"),
        replace(some[3], cycles_exact=False, system_toolchain=False, cycles_max=(1 << 63) - 1),
        *some[4:],
    ]


def _plain(measurements: list[Measurement]) -> list[dict[str, Any]]:
    return [{name: getattr(m, name) for name in COLUMNS} for m in measurements]


def test_json_is_one_array_of_all_columns_and_further_fields() -> None:
    text = "".join(forms.as_json(_rows(), lambda device: {"further": device}))
    assert json.loads(text) == [{**row, "further": row["device"]} for row in _plain(_rows())]
    assert len(text.splitlines()) == len(_rows()) + 2
    assert json.loads("".join(forms.as_json([], lambda device: {}))) == []


def test_csv_has_json_in_extra_and_no_formula() -> None:
    text = "".join(forms.as_csv(_rows()))
    read = list(csv.DictReader(io.StringIO(text)))
    assert [json.loads(row["extra"]) for row in read] == [m.extra for m in _rows()]
    assert read[0]["reason"] == '\'=1+1, "quoted"\nand a second line' and read[0]["flags"] == "'-Os"
    assert read[1]["cycles_median"] == "" and read[1]["timing_varies"] == ""
    assert (read[2]["cycles_min"], read[2]["timing_varies"]) == ("-3", "True")
    assert "".join(forms.as_csv([])).split(",") == [*COLUMNS[:-1], f"{COLUMNS[-1]}\n"]


@pytest.mark.parametrize("form", [partial(forms.as_json, further=lambda device: {}), forms.as_csv])
def test_a_row_is_written_before_the_next_is_read(form: Any) -> None:
    taken = 0

    def counted() -> Iterator[Measurement]:
        nonlocal taken
        for row in _rows():
            taken += 1
            yield row

    parts = form(counted())
    next(parts)
    assert taken == 1


@needs_tool_set("notebook")
def test_parquet_is_read_by_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By Arrow, with the types that the dictionary has; over several row groups, the last one short."""
    from pyarrow import parquet as arrow

    monkeypatch.setattr(forms, "ROWS_AT_ONCE", 7)
    with (tmp_path / "r.parquet").open("wb") as file:
        forms.write_parquet(_rows(), file)
    read = arrow.ParquetFile(tmp_path / "r.parquet")
    assert read.metadata.num_row_groups == 3 and read.metadata.num_rows == 20
    table = read.read()
    assert [{**row, "extra": json.loads(row["extra"])} for row in table.to_pylist()] == _plain(_rows())
    kinds = {"text": "string", "json": "string", "integer": "int64", "number": "double", "boolean": "bool"}
    for column in columns.columns():
        own = table.schema.field(column.name)
        assert (str(own.type), own.nullable) == (kinds[column.type], column.empty), column.name
    told = json.loads(table.schema.metadata[b"motecrypt.columns"])
    assert [one["name"] for one in told] == list(COLUMNS) and all(one["what"] for one in told)


@needs_tool_set("notebook")
@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 200, 5000])
def test_parquet_of_any_length_and_pattern_of_missing_values(tmp_path: Path, count: int) -> None:
    from pyarrow import parquet as arrow

    values: dict[str, list[Any]] = {
        "flag": [None if n % 5 == 0 else n % 3 == 0 for n in range(count)],
        "number": [None if n < 130 else n / 7 for n in range(count)],
        "text": ["µ" * (n % 300) for n in range(count)],
        "whole": [n * -(1 << 50) if n % 2 else None for n in range(count)],
    }
    kinds = {"flag": Physical.BOOLEAN, "number": Physical.DOUBLE, "text": Physical.BYTE_ARRAY}
    schema = [ParquetColumn(n, kinds.get(n, Physical.INT64), n != "text") for n in values]
    with (tmp_path / "r.parquet").open("wb") as file:
        written = ParquetFile(file, schema, {"a": "b" * 300})
        if count:
            written.add(values)
        written.finish()
    table = arrow.read_table(tmp_path / "r.parquet")
    assert table.to_pydict() == values and table.schema.metadata[b"a"] == b"b" * 300


@needs_tool_set("notebook")
@pytest.mark.parametrize("count", [1, 13, 14, 15, 16, 130])
def test_parquet_of_any_number_of_columns_and_row_groups(tmp_path: Path, count: int) -> None:
    """Lists of 15 and more elements have another form, those of 128 a length of two bytes."""
    from pyarrow import parquet as arrow

    names = [f"column {n}" for n in range(count)]
    with (tmp_path / "r.parquet").open("wb") as file:
        written = ParquetFile(file, [ParquetColumn(name, Physical.INT64, False) for name in names], {})
        for group in range(count):
            written.add({name: [group, n] for n, name in enumerate(names)})
        written.finish()
    read = arrow.ParquetFile(tmp_path / "r.parquet")
    assert read.metadata.num_row_groups == count
    expected = [[v for group in range(count) for v in (group, n)] for n in range(count)]
    assert list(read.read().to_pydict().values()) == expected


def test_parquet_refuses_what_it_cannot_hold() -> None:
    def add(value: object, optional: bool = False) -> None:
        column = ParquetColumn("n", parquet.Physical.INT64, optional)
        ParquetFile(io.BytesIO(), [column], {}).add({"n": [value]})

    add(-(1 << 63))
    add(None, optional=True)
    for wrong in (1 << 63, -(1 << 63) - 1, None):
        with pytest.raises(ValueError, match=r"^n: "):
            add(wrong)
    both = [ParquetColumn(name, Physical.INT64, False) for name in "ab"]
    with pytest.raises(ValueError, match="b: 1 values, expected 2"):
        ParquetFile(io.BytesIO(), both, {}).add({"a": [1, 2], "b": [1]})


# --- what columns mean ---------------------------------------------------------------------------------


def test_every_column_is_described() -> None:
    told = {column.name: column for column in columns.columns()}
    assert tuple(told) == COLUMNS
    assert {name for name, c in told.items() if c.about == "identity"} == set(CellIdentity._fields)
    for column in told.values():
        assert column.what.endswith((".", ")")), column.name
        assert bool(column.unit) == (column.type in ("integer", "number")), column.name
    assert (told["time_us"].type, told["time_us"].empty) == ("number", True)
    assert (told["inputs"].type, told["inputs"].empty) == ("integer", False)
    assert (told["timing_varies"].type, told["timing_varies"].empty) == ("boolean", True)
    assert (told["extra"].type, told["extra"].empty) == ("json", False)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("[runner]", "[jogger]"), "column 'runner' is missing"),
        (("[device]", '[cores]\nabout = "figure"\nwhat = "x."\n\n[device]'), "no column 'cores'"),
        (('about = "figure"', 'about = "luck"'), "'about' is 'luck'"),
    ],
)
def test_columns_that_the_record_does_not_have_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, change: tuple[str, str], complaint: str
) -> None:
    text = (DATA / "columns.toml").read_text(encoding="utf-8")
    (tmp_path / "columns.toml").write_text(text.replace(*change))
    monkeypatch.setattr(columns, "DATA", tmp_path)
    with pytest.raises(InputError, match=complaint):
        columns.columns.__wrapped__()


# --- load ----------------------------------------------------------------------------------------------


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A results file: each row, and a newer figure of the first."""
    path = tmp_path / "r.db"
    first, *others = _rows()
    with Results(path) as results:
        results.store({str(n): row for n, row in enumerate((first, *others))})
        results.store({"new": replace(first, cycles_median=1, measured_at="2027-01-01T00:00:00+00:00")})
    return path


def test_load_gives_the_newest_of_each_cell_or_all(stored: Path) -> None:
    assert len(list(load(stored))) == 20 and len(list(load(stored, every=True))) == 21
    (newest,) = load(stored, cycles_median=1)
    assert newest["measured_at"].startswith("2027")
    with Results(stored) as results:
        assert [*map(forms.plain, select(results))] == list(load(str(stored)))


def test_a_status_is_that_of_the_newest(stored: Path) -> None:
    newer = replace(_rows()[4], **FAILED, status="fault", measured_at="2027-01-01T00:00:00+00:00")  # type: ignore[arg-type]
    with Results(stored) as results:
        results.store({"newer": newer})
    assert len(list(load(stored, status="ok"))) == 18
    assert {row["status"] for row in load(stored, status="fault")} == {"fault"}
    assert len(list(load(stored, status="ok", every=True))) == 20


def test_load_filters_by_columns_and_compilers(stored: Path) -> None:
    lengths = {row["message_bytes"] for row in load(stored)}
    assert lengths == set(load(stored, device="uno").columns()["message_bytes"])
    operations = [row["operation"] for row in load(stored, operation=["setup", "decrypt"])]
    assert set(operations) == {"setup", "decrypt"}
    (other,) = load(stored, compilers=["日本"])
    assert other["compiler"] == "gcc µ 日本"


def test_columns_are_of_one_length_and_iteration_may_be_repeated(stored: Path) -> None:
    loaded = load(stored)
    once = loaded.columns()
    assert tuple(once) == COLUMNS and {len(values) for values in once.values()} == {20}
    assert [dict(zip(once, row, strict=True)) for row in zip(*once.values(), strict=True)] == list(loaded)
    assert loaded.dictionary() == columns.columns()


def test_load_refuses_what_is_not_there(stored: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.db: no such results file; 'motecrypt measure'"):
        load(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(InputError, match="no column 'colour' to filter by; available: device,"):
        load(stored, colour="red")
    with pytest.raises(InputError, match="no column 'extra'"):
        load(stored, extra="{}")


@needs_tool_set("notebook")
def test_a_frame_keeps_whole_numbers_whole(stored: Path) -> None:
    import pandas

    frame = load(stored).frame()
    assert str(frame["cycles_median"].dtype) == "Int64" and frame["cycles_median"].isna().sum() == 1
    assert str(frame["timing_varies"].dtype) == "boolean" and str(frame["time_us"].dtype) == "Float64"
    assert list(pandas.DataFrame(load(stored))["cipher"]) == list(frame["cipher"])


def test_without_pandas_only_the_frame_is_refused(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    loaded = load(stored)
    assert len(list(loaded)) == 20
    with pytest.raises(InputError, match="needs the Python package pandas"):
        loaded.frame()


# --- the command ---------------------------------------------------------------------------------------


def _run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return ran("results", *arguments)


@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_file_has_what_would_be_printed(stored: Path, tmp_path: Path, form: str) -> None:
    shown = _run("--db", stored, "--format", form)
    written = _run("--db", stored, "--format", form, "-o", tmp_path / "data")
    assert (shown.returncode, written.returncode, written.stdout) == (0, 0, "")
    assert (tmp_path / "data").read_text(encoding="utf-8") == shown.stdout


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_a_damaged_row_leaves_no_file(stored: Path, tmp_path: Path, form: str) -> None:
    with Results(stored) as results, results.transaction() as connection:
        connection.execute("UPDATE measurement SET inputs = 'many' WHERE key = '19'")
    done = _run("--db", stored, "--format", form, "-o", tmp_path / "data")
    assert done.returncode == 2 and "damaged: inputs of a measurement" in done.stderr
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith("r.db")] == []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--format", "parquet"], "name it with -o, such as -o results.parquet"),
        (["-o", "x"], "add --format, such as --format csv"),
        (["--columns", "-o", "x"], "--columns prints a table, CSV or JSON"),
        (["--columns", "--format", "parquet"], "--columns prints a table, CSV or JSON"),
    ],
)
def test_forms_that_have_no_place_are_one_line(arguments: list[str], complaint: str) -> None:
    done = _run(*arguments)
    assert done.returncode == 2 and complaint in done.stderr and len(done.stderr.splitlines()) == 1


def test_the_meanings_come_in_each_form() -> None:
    told = json.loads(_run("--columns", "--json").stdout)
    assert [one["name"] for one in told] == list(COLUMNS)
    assert told[COLUMNS.index("time_us")]["unit"] == "us"
    rows = list(csv.DictReader(io.StringIO(_run("--columns", "--format", "csv").stdout)))
    assert [row["what"] for row in rows] == [one["what"] for one in told]
    assert [row["empty"] for row in rows] == ["yes" if one["empty"] else "" for one in told]
    assert "cycles_median" in _run("--columns").stdout
