"""The results file, statement by statement: the order, the filters, what is refused and in which words."""

from __future__ import annotations

import json
import sqlite3
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt import __version__
from motecrypt.base.errors import InputError
from motecrypt.base.model import RECORDED, Cell, ExperimentResult, Implementation, Measurement
from motecrypt.cli import main
from motecrypt.results import Results, rows, schema, store
from motecrypt.results import merge as merge_module

BODY = Implementation("rc4", "ours", "default", "opt", (128,), "", (), (), (), Path())
CELL = Cell("uno", BODY, "encrypt", 128, 32)


def made(day: int = 1, cell: Cell = CELL, **changes: Any) -> Measurement:
    values: dict[str, Any] = {
        **dict.fromkeys(("flash_symbol_bytes", "eeprom_bytes", "stack_bytes", "time_us")),
        **dict.fromkeys(("tag_bytes", "inputs", "cycles_min", "cycles_median", "cycles_max"), 1),
        **dict.fromkeys(("flash_bytes", "ram_bytes"), 1),
        **dict.fromkeys(("reason", "compiler", "flags", "runner", "elf_sha256", "motecrypt_version"), ""),
        "timing_varies": None,
        "status": "ok",
        "cycles_exact": True,
        "measured_at": f"2026-01-{day:02}T00:00:00+00:00",
        **cell.identity._asdict(),
    }
    return Measurement(**{**values, **changes})


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "r.db"


def refusal(place: Path) -> str:
    with pytest.raises(InputError) as told:
        Results(place)
    return str(told.value).removeprefix(f"{place}: ")


def changed(place: Path, *statements: str) -> Path:
    Results(place).close()
    with sqlite3.connect(place) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    return place


# --- opening -----------------------------------------------------------------------------------------------


def test_what_is_no_results_file_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    assert refusal(folder) == "not a regular file; choose another with --db"
    theirs = changed(tmp_path / "theirs.db", "PRAGMA application_id = 1")
    assert refusal(theirs) == "not a motecrypt results file; choose another with --db"
    above = changed(tmp_path / "above.db", f"PRAGMA application_id = {schema.APPLICATION_ID + 1}")
    assert refusal(above) == "not a motecrypt results file; choose another with --db"
    newer = changed(tmp_path / "newer.db", f"PRAGMA user_version = {schema.VERSION + 1}")
    assert refusal(newer) == (
        f"written by a newer motecrypt (format {schema.VERSION + 1}, this one knows {schema.VERSION}); "
        "upgrade motecrypt or choose another file with --db"
    )
    empty = tmp_path / "empty.db"
    empty.write_bytes(b"")
    Results(empty).close()
    text = tmp_path / "text.db"
    text.write_bytes(b"no database, and longer than its head" * 100)
    assert refusal(text) == (
        "file is not a database; it is damaged or not a results file; move it away or choose another "
        "with --db"
    )


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("CREATE VIEW v AS SELECT 1", "view"),
        ("CREATE TRIGGER t AFTER DELETE ON claim BEGIN SELECT 1; END", "trigger"),
        ("CREATE VIRTUAL TABLE f USING fts5(x)", "virtual table"),
    ],
)
def test_what_no_results_file_holds_is_refused(statement: str, what: str, place: Path) -> None:
    told = f"contains a {what}, which a results file never has; choose another with --db"
    assert refusal(changed(place, statement)) == told


@pytest.mark.parametrize(
    ("name", "statements"),
    [
        ("claim", ["DROP TABLE claim"]),
        ("claim", ["DROP TABLE claim", "CREATE TABLE claim (a)"]),
        ("claim", ["DROP TABLE claim", "CREATE TABLE claim (zzz)"]),
        ("experiment_by_question", ["DROP INDEX experiment_by_question"]),
    ],
)
def test_a_table_that_is_not_as_we_make_it_is_refused(name: str, statements: list[str], place: Path) -> None:
    told = f"damaged: '{name}' is not as motecrypt makes it; choose another with --db"
    assert refusal(changed(place, *statements)) == told


@pytest.mark.parametrize("error", [ValueError, TypeError, KeyError, AttributeError, RecursionError])
def test_a_row_that_cannot_be_brought_to_the_new_format_is_told(
    error: type[Exception], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def step(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE half (x)")
        raise error

    Results(place).close()
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, step))
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    assert refusal(place) == (
        f"damaged: a row cannot be brought to the new format ({error.__name__}); "
        "move the file away or choose another with --db"
    )
    told = sqlite3.connect(place).execute("SELECT count(*) FROM sqlite_master WHERE name = 'half'").fetchone()
    assert told == (0,)


def test_each_error_of_sqlite_says_what_to_do(place: Path) -> None:
    results = Results(place)
    other = "choose another file with --db"
    hints = {
        sqlite3.SQLITE_FULL: "free some space",
        sqlite3.SQLITE_INTERRUPT: "the statement took too long; move it away or choose another with --db",
        **dict.fromkeys((sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM), other),
        sqlite3.SQLITE_IOERR: "free some space, check that it is a regular file, or choose another with --db",
        **dict.fromkeys(
            (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED),
            "another process has held it for 30 s; try again",
        ),
        sqlite3.SQLITE_CORRUPT: "it is damaged or not a results file; move it away or choose another "
        "with --db",
    }
    for code, hint in hints.items():
        for extended in (code, code | 0x300):
            error = sqlite3.OperationalError("why")
            error.sqlite_errorcode = extended
            assert str(results._trouble(error)) == f"{place}: why; {hint}"
    bare = sqlite3.ProgrammingError("why")
    assert str(results._trouble(bare)).endswith("choose another with --db")
    results.close()


def test_a_statement_may_take_so_long_and_no_longer(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000.0]
    with Results(place) as results:
        monkeypatch.setattr(store, "time", SimpleNamespace(thread_time=lambda: clock[0]))
        results._begin_clock()
        late = []
        for clock[0] in (1000.0, 1060.0, 1060.5):
            late.append(results._late())
        assert late == [False, False, True]
        for ask in (
            lambda: results._read(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
            ),
            lambda: list(
                results.in_parts(
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n", ()
                )
            ),
        ):
            times = iter([1000.0, *[1000.0] * 3, *[2000.0] * 1000])
            monkeypatch.setattr(store, "time", SimpleNamespace(thread_time=lambda times=times: next(times)))
            with pytest.raises(InputError, match="interrupted; the statement took too long; move it away"):
                ask()


def test_a_file_that_is_held_is_tried_again_for_a_time(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    clock = [1000.0]

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock[0] += 10

    results = Results(place)
    monkeypatch.setattr(store, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep))
    for code, sleeps in ((sqlite3.SQLITE_BUSY, 4), (sqlite3.SQLITE_LOCKED, 4), (sqlite3.SQLITE_FULL, 0)):
        slept.clear()

        def fail(code: int = code) -> None:
            results._connection.execute("BEGIN")
            error = sqlite3.OperationalError("why")
            error.sqlite_errorcode = code
            raise error

        monkeypatch.setattr(results, "_check", fail)
        with pytest.raises(sqlite3.OperationalError, match="why"):
            results._upgrade()
        assert slept == [0.02] * sleeps and not results._connection.in_transaction
    results.close()


def test_a_file_serves_several_threads_and_is_closed_at_the_end(place: Path) -> None:
    with Results(place) as results:
        thread = threading.Thread(target=lambda: results.store({"a": made()}))
        thread.start()
        thread.join()
        assert results.measurement("a") == made() and results.measurement("b") is None
        mode, synchronous = (
            results._connection.execute(f"PRAGMA {name}").fetchall()
            for name in ("journal_mode", "synchronous")
        )
        assert (mode, synchronous) == ([("wal",)], [(1,)])
        assert results._connection.execute("PRAGMA trusted_schema").fetchall() == [(0,)]
    with pytest.raises(sqlite3.ProgrammingError):
        results._connection.execute("SELECT 1")


def test_a_transaction_is_whole_or_nothing(place: Path) -> None:
    with Results(place) as results:
        with pytest.raises(ZeroDivisionError), results.transaction() as connection:
            connection.execute("INSERT INTO claim VALUES ('a', 'b', 1)")
            raise ZeroDivisionError
        with results.transaction() as connection:
            assert connection.execute("SELECT count(*) FROM claim").fetchall() == [(0,)]
            connection.execute("INSERT INTO claim VALUES ('a', 'b', 1)")
        with (
            pytest.raises(InputError, match="no such table: none; it is damaged"),
            results.transaction() as connection,
        ):
            connection.execute("SELECT * FROM none")
        assert results._read("SELECT key FROM claim") == [("a",)]
        with pytest.raises(InputError, match="no such table: none; it is damaged"):
            results._read("SELECT * FROM none")
        with pytest.raises(InputError, match="no such table: none; it is damaged"):
            list(results.in_parts("SELECT * FROM none", ()))


# --- measurements ------------------------------------------------------------------------------------------


def test_measurements_are_ordered_and_filtered(place: Path) -> None:
    columns = {
        "z": made(1, device="b"),
        "y": made(1, device="a", cipher="b"),
        "x": made(1, device="a", library="b"),
        "w": made(1, device="a", library="a", variant="b"),
        "v": made(1, device="a", library="a", variant="a", operation="b"),
        "u": made(1, device="a", library="a", variant="a", operation="a", message_bytes=2),
        "t": made(1, device="a", library="a", variant="a", operation="a", message_bytes=1),
        "s": made(1, device="a", library="a", variant="a", operation="a", message_bytes=1, key_bits=5),
        "r": made(2, device="z", cipher="z"),
    }
    columns = {key: replace(m, cipher=m.cipher if m.cipher in "bz" else "a") for key, m in columns.items()}
    with Results(place) as results:
        for key, m in columns.items():
            results.store({key: m})
        assert results.measurements() == [columns[key] for key in "rstuvwxzy"]
        assert results.newest_measurements() == [columns[key] for key in "rstuvwxzy"]
        assert results.measurements(device=["z", "b"]) == [columns[key] for key in "rz"]
        assert results.measurements(message_bytes=2) == [columns["u"]]
        assert results.measurements(device=None, cipher=[], library=("b",)) == [columns["x"]]
        assert results.measurements(device="a", key_bits=5) == [columns["s"]]
        assert results.distinct("library") == {"a", "b", "ours"}
        for ask in (lambda: results.measurements(nose=1), lambda: results.distinct("nose")):
            with pytest.raises(InputError, match=r"^measurements have no column 'nose'$"):
                ask()


def test_more_rows_than_are_fetched_at_a_time(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_ROWS_AT_ONCE", 2)
    with Results(place) as results:
        for count in range(6):
            assert len(results.measurements()) == count
            results.store({str(count): made(count + 1)})


def test_more_rows_than_are_asked_for_or_joined_at_a_time(tmp_path: Path) -> None:
    """One more than a part, and one more than two; the constants of store.py and merge.py are the same."""
    for count in (store._ROWS_AT_ONCE + 1, 2 * merge_module._TOGETHER + 1):
        with Results(tmp_path / f"{count}.db") as results, Results(tmp_path / f"{count}-into.db") as into:
            cells = [replace(CELL, message_bytes=16 * number) for number in range(count)]
            every = {f"{number:05}": made(1, cell) for number, cell in enumerate(cells)}
            results.store(every)
            assert results.by_key(every).keys() == every.keys()
            assert len(results.measurements()) == count and len(results.newest(cells)) == count
            assert merge_module.merge(into, results.path).new == count
            assert into.by_key(every).keys() == every.keys()


def test_of_each_cell_the_newest_that_lasts(place: Path) -> None:
    passing = {"transient": True}
    pico = replace(CELL, device="pico")
    with Results(place) as results:
        results.store({"a": made(1), "b": made(3, extra=passing), "c": made(2)})
        results.store({"d": made(4, pico, extra=passing), "e": made(5, pico, extra=passing)})
        assert results.newest([CELL, pico]) == {CELL: made(2), pico: made(5, pico, extra=passing)}
        assert results.newest_measurements() == [made(5, pico, extra=passing), made(2)]
        assert list(results.each_newest()) == [made(2), made(5, pico, extra=passing)]
        assert list(results.each_newest(device="uno")) == [made(2)]
        results.store({"c": made(9, extra=passing), "d": made(6, pico)})  # what passes replaces nothing
        assert results.measurement("c") == made(2) and results.newest([pico]) == {pico: made(6, pico)}


def test_behind_an_older_figure_of_a_cell_the_others_are_read(place: Path) -> None:
    pico, host = replace(CELL, device="pico"), replace(CELL, device="host")
    with Results(place) as results:
        results.store({"a": made(5), "b": made(4), "c": made(3, host), "d": made(2, pico)})
        assert results.newest_measurements() == [made(5), made(3, host), made(2, pico)]
        asked = {cell.identity for cell in (CELL, pico)}
        assert list(results._each_newest({}, among=asked)) == [made(5), made(2, pico)]


def test_a_cell_that_names_a_toolchain_has_its_figures(place: Path) -> None:
    with Results(place) as results:
        figures = {
            name: made(day, toolchain=name, system_toolchain=own, compiler=f"compiler {name}")
            for day, name, own in ((1, "b", True), (2, "c", False), (3, "a", False))
        }
        results.store(figures)
        cells = {name: replace(CELL, toolchain=name) for name in ("a", "", "c", "b", "d")}
        found = results.newest(cells.values())
        assert found == {cells[n]: figures[n or "b"] for n in ("a", "", "c", "b")}
        assert results.newest_measurements() == [figures["b"]]
        chosen = results.by_compilers(["compiler c"])
        assert chosen.newest(cells.values()) == dict.fromkeys(cells.values(), figures["c"])
        both = results.by_compilers(["iler c", "iler b"])
        assert both.newest([CELL]) == {CELL: figures["b"]} and len(both.measurements()) == 2
        results.store({"n": made(4, compiler="")})
        with pytest.raises(InputError) as told:
            results.by_compilers(["x"])
        assert str(told.value) == (
            "--compiler 'x': nothing was measured with it; stored are: compiler a; compiler b; compiler c"
        )
        assert len(results.measurements()) == 4
    nothing = pytest.raises(InputError, match=r"nothing was measured with it; stored are: none$")
    with Results(place.with_name("none.db")) as results, nothing:
        results.by_compilers(["x"])


# --- results ----------------------------------------------------------------------------------------------


def test_experiments_are_found_by_inputs_and_by_question(place: Path) -> None:
    with Results(place) as results:
        first = results.store_experiment("k", 1, {"b": 1, "a": [2.0]}, {"o": 1})
        assert (first.kind, first.version, first.inputs, first.outcome) == (
            "k",
            1,
            {"b": 1, "a": [2.0]},
            {"o": 1},
        )
        assert first.motecrypt_version == __version__ and len(first.made_at) == 25
        assert results.experiment("k", 1, {"a": [2.0], "b": 1}) == first
        assert results.newest_experiment("k", 1, {"a": [2], "b": 1}) == first
        for kind, version, asked in (
            ("l", 1, {"b": 1, "a": [2.0]}),
            ("k", 2, {"b": 1, "a": [2.0]}),
            ("k", 1, {}),
        ):
            assert (
                results.experiment(kind, version, asked)
                is None
                is results.newest_experiment(kind, version, asked)
            )
        results.store_experiment("k", 1, {"x": 1}, {"o": 2}, {"q": 1.0})
        second = results.store_experiment("k", 1, {"x": 2}, {"o": 3}, {"q": 1})
        assert results.newest_experiment("k", 1, {"q": 1.0}) == second
        assert results.newest_experiment("k", 1, {"x": 1}) is None
        again = results.store_experiment("k", 1, {"x": 1}, {"o": 4}, {"q": 1})
        assert results.newest_experiment("k", 1, {"q": 1}) == again
        third = results.store_experiment("k", 2, {"x": 1}, {"o": 5})
        results.store_experiment("j", 1, {}, {})
        assert results.experiments("k") == [third, again, second, first]
        assert results.experiments("k", 1) == [again, second, first] and results.experiments("k", 2) == [
            third
        ]
        assert results.experiments("k", 3) == [] and list(results.experiment_counts().items()) == [
            ("j", 1),
            ("k", 4),
        ]


def test_what_came_with_the_program_yields_to_what_is_newer_or_made_here(place: Path) -> None:
    def recorded(day: int, mark: str) -> ExperimentResult:
        return ExperimentResult(
            "k", 1, {"n": mark, RECORDED: str(day)}, {"o": mark}, f"2026-01-0{day}", "0.1"
        )

    with Results(place) as results:
        results.store_recorded([(recorded(2, "a"), {"q": 1.0}), (recorded(1, "b"), {"q": 2})])
        assert results.newest_experiment("k", 1, {"q": 1}) == recorded(2, "a")
        assert results.newest_experiment("k", 1, {"q": 2}) == recorded(1, "b")
        results.store_recorded([(recorded(1, "c"), {"q": 1}), (recorded(2, "d"), {"q": 1})])
        assert results.experiments("k") == [recorded(2, "a"), recorded(1, "b")]
        results.store_recorded([(recorded(3, "e"), {"q": 1})])
        assert results.newest_experiment("k", 1, {"q": 1}) == recorded(3, "e")
        own = results.store_experiment("k", 1, {"n": "own"}, {"o": "own"}, {"q": 1})
        results.store_recorded([(replace(recorded(3, "f"), made_at="9999"), {"q": 1})])
        assert results.newest_experiment("k", 1, {"q": 1}) == own


# --- rows --------------------------------------------------------------------------------------------------


def damaged(place: Path, column: str, value: str) -> str:
    with Results(place) as results:
        results.store({"a": made(time_us=1.5)})
        results._connection.execute(f"UPDATE measurement SET {column} = {value}")
        with pytest.raises(InputError) as told:
            results.measurements()
    return str(told.value).removeprefix(f"{place}: damaged: {column} of a measurement is ")


AWAY = "; move the file away or choose another with --db"


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("device", "x'ff'", "b'\\xff', expected text"),
        ("device", f"x'{'ff' * 41}'", repr(bytes([255] * 40)) + ", expected text"),
        ("key_bits", "'many'", "'many', expected a whole number"),
        ("key_bits", "1.5", "1.5, expected a whole number"),
        ("cycles_min", "'few'", "'few', expected a whole number or nothing"),
        ("time_us", "'x'", "'x', expected a number or nothing"),
        ("time_us", "9e999", "inf, expected a number or nothing"),
        ("cycles_exact", "2", "2, expected 0 or 1"),
        ("cycles_exact", "-1", "-1, expected 0 or 1"),
        ("timing_varies", "2", "2, expected 0, 1 or nothing"),
        ("extra", "'[]'", "'[]', expected a JSON object"),
        ("extra", "'{'", "'{', expected a JSON object"),
        ("extra", "x'7b7d'", "b'{}', expected a JSON object"),
        ("extra", """'{"a": NaN}'""", """'{"a": NaN}', expected a JSON object"""),
        ("extra", """'{"a": 1e999}'""", """'{"a": 1e999}', expected a JSON object"""),
        ("extra", """'{"a": 1""" + "0" * 400 + "}'", """'{"a": 1""" + "0" * 33 + "', expected a JSON object"),
        ("extra", """'{"a": "\\ud800"}'""", """'{"a": "\\\\ud800"}', expected a JSON object"""),
        ("extra", "printf('%.*c', 100000, '[')", f"'{'[' * 40}', expected a JSON object"),
    ],
)
def test_a_value_that_is_not_of_its_column_is_refused(
    column: str, value: str, said: str, place: Path
) -> None:
    assert damaged(place, column, value) == said + AWAY


def test_values_of_other_types_that_mean_the_same(place: Path) -> None:
    with Results(place) as results:
        results.store({"a": made(timing_varies=True, cycles_exact=False, time_us=2.5, extra={"u": "\u00e9"})})
        found = results.measurement("a")
        assert found is not None and (found.timing_varies, found.cycles_exact) == (True, False)
        assert type(found.timing_varies) is bool is type(found.cycles_exact) and found.time_us == 2.5
        results._connection.execute(
            """UPDATE measurement SET extra = '{"b": 1e300, "a": -7, "c": "\\u00e9"}'"""
        )
        found = results.measurement("a")
        assert found is not None and found.extra == {"b": 1e300, "a": -7, "c": "\u00e9"}


@pytest.mark.parametrize(
    ("number", "column", "value", "expected"),
    [
        (0, "kind", 5, "text"),
        (1, "version", "1", "a whole number"),
        (2, "inputs", "[]", "a JSON object"),
        (3, "outcome", "5", "a JSON object"),
        (4, "made_at", None, "text"),
        (5, "motecrypt_version", 1.5, "text"),
    ],
)
def test_an_experiment_that_is_none_is_refused(number: int, column: str, value: Any, expected: str) -> None:
    row: list[Any] = ["k", 1, '{"a": 1}', "{}", "2026", "0.1"]
    assert rows.experiment(row, "f") == ExperimentResult("k", 1, {"a": 1}, {}, "2026", "0.1")
    row[number] = value
    with pytest.raises(InputError) as told:
        rows.experiment(row, "f")
    assert str(told.value) == f"f: damaged: {column} of an experiment is {value!r}, expected {expected}{AWAY}"


def test_a_text_is_kept_once_for_all_rows() -> None:
    reader = rows.Reader("f")
    row = [getattr(made(), name) for name in rows.COLUMNS]
    row[rows.COLUMNS.index("extra")] = '{"name": 1}'
    texts = [["".join(list(v)) if isinstance(v, str) and len(v) > 1 else v for v in row] for _ in range(2)]
    first, second = (reader.measurement(r) for r in texts)
    assert first == second and first.device is second.device and first.extra == {"name": 1}
    assert reader.identity(texts[1]) == CELL.identity and reader.identity(texts[1])[0] is first.device


# --- questions and old files -------------------------------------------------------------------------------


def test_the_file_says_whose_it_is() -> None:
    assert (int.from_bytes(b"mote", "big"), 7) == (schema.APPLICATION_ID, schema.VERSION)


def test_a_question_is_text_with_whole_numbers() -> None:
    asked = {"b": (1.0, 2.5, [3.0, {"x": 4.0}]), "a": True, "c": "1.0", "d": None}
    assert schema.question(asked) == '{"a":true,"b":[1,2.5,[3,{"x":4}]],"c":"1.0","d":null}'


def older(place: Path, version: int, *statements: tuple[str, tuple[Any, ...]]) -> None:
    connection = sqlite3.connect(place)
    for step in schema.MIGRATIONS[:version]:
        if isinstance(step, str):
            connection.executescript(step)
    for statement, values in statements:
        connection.execute(statement, values)
    connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.commit()
    connection.close()


def test_questions_of_an_older_file_have_whole_numbers(place: Path) -> None:
    insert = "INSERT INTO finding (kind, version, inputs, outcome, made_at, motecrypt_version, asked) VALUES "
    asked = ('{"b": 2.0, "a": 1}', "{", 5, "[" * 100_000)
    older(
        place,
        3,
        *((f"{insert} ('k', 1, ?, '{{}}', '2026', '0', ?)", (str(n), a)) for n, a in enumerate(asked)),
    )
    with Results(place) as results:
        told = results._read("SELECT asked FROM experiment ORDER BY inputs")
    assert told == [('{"a":1,"b":2}',), ("{",), ("5",), ("[" * 100_000,)]


def test_sentences_of_an_older_file_become_data(place: Path) -> None:
    names = [n for n in rows.COLUMNS if n not in ("toolchain", "system_toolchain")]
    insert = f"INSERT INTO measurement (key, {', '.join(names)}) VALUES ({', '.join('?' * (len(names) + 1))})"
    flash, ram = (f"does not fit: needs 10,011 of 2,048 bytes of {where}" for where in ("flash", "RAM"))
    cases: list[tuple[str, str, Any, Any]] = [
        ("does-not-fit", flash, '{"b": 1}', {"b": 1, "shortfall": "flash"}),
        ("does-not-fit", ram, "{}", {"shortfall": "ram"}),
        ("does-not-fit", ram + "!", "{}", {}),
        ("does-not-fit", "x" + ram, "{}", {}),
        ("fault", ram, "{}", {}),
        ("does-not-fit", ram, "{", None),
        ("does-not-fit", ram, "[1]", None),
        ("does-not-fit", flash, "{}", {"shortfall": "flash"}),  # what comes behind the damaged is seen to
    ]
    statements = []
    for number, (status, reason, extra, _) in enumerate(cases):
        values = [getattr(made(status=status, reason=reason), name) for name in names]
        values[names.index("extra")] = extra
        statements.append((insert, (str(number), *values)))
    older(place, 2, *statements)
    with Results(place) as results:
        told = results._read("SELECT extra FROM measurement ORDER BY key")
    for (text,), (_, _, extra, expected) in zip(told, cases, strict=True):
        if expected is None or "shortfall" not in expected:
            assert text == extra
            continue
        memory = expected.pop("shortfall")
        shortfall = {"memory": memory, "needed": 10011, "available": 2048}
        whole = {**expected, "failure": "does-not-fit", "shortfall": shortfall}
        assert text == json.dumps(whole, sort_keys=True, separators=(",", ":"))


def test_a_file_that_is_only_read_is_not_made(tmp_path: Path) -> None:
    missing = tmp_path / "folder" / "results.db"
    with Results(missing, make=False) as results:
        assert results.distinct("device") == set()
    assert not missing.parent.exists()
    with Results(missing):
        pass
    with Results(missing, make=False) as results:
        results.store({"key": made()})
    with Results(missing) as results:
        assert results.distinct("device") == {"uno"}
    with pytest.raises(InputError, match="unable to open database file; choose another file with --db"):
        Results(missing / "below.db", make=False)


@pytest.mark.parametrize("command", ["results", "report", "reproduce"])
def test_a_command_that_reads_makes_no_results_file(command: str, tmp_path: Path) -> None:
    missing = tmp_path / "none.db"
    arguments = {"report": ["--output", str(tmp_path / "page.html")], "reproduce": ["--stored", "wlan"]}
    with pytest.raises(SystemExit) as stop:
        main([command, *arguments.get(command, []), "--db", str(missing)])
    assert not stop.value.code and not missing.exists()


@pytest.mark.parametrize("content", [b"", b"x", b"SQLite format 2"])
def test_a_file_that_is_only_read_and_is_no_database_stays_as_it_is(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a results file; choose another with --db"):
        Results(path, make=False)
    assert path.read_bytes() == content and list(tmp_path.iterdir()) == [path]
