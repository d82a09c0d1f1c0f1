"""The results file: versions, damage, two writers, and a kill at any moment."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sqlite3
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell, Implementation, Measurement, Shortfall
from motecrypt.catalog import Catalog
from motecrypt.results import Results, schema
from older_results import take_back


def measurement(cipher: str = "rc4d", **changes: object) -> Measurement:
    values: dict[str, object] = {
        **dict.fromkeys(Measurement.__dataclass_fields__, ""),
        **dict.fromkeys(("key_bits", "message_bytes", "ad_bytes", "tag_bytes", "inputs"), 1),
        **dict.fromkeys(("cycles_min", "cycles_median", "cycles_max", "flash_bytes", "ram_bytes"), 5),
        **dict.fromkeys(("flash_symbol_bytes", "eeprom_bytes", "stack_bytes"), None),
        "timing_varies": False,
        "time_us": 1.5,
        "cycles_exact": True,
        "system_toolchain": True,
        "cipher": cipher,
        "extra": {"misses": 3},
    }
    return Measurement(**{**values, **changes})  # type: ignore[arg-type]


def test_what_is_stored_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    with Results(path) as results:
        results.store({"a": measurement(), "b": measurement("aes128-cbc", status="does-not-fit")})
    with Results(path) as results:
        assert results.measurement("a") == measurement()
        assert results.measurement("c") is None
        assert [m.cipher for m in results.measurements(cipher=["aes128-cbc", "x"])] == ["aes128-cbc"]
        assert results.measurements(status="does-not-fit", cipher="rc4d") == []


def test_experiments_are_found_by_their_inputs(tmp_path: Path) -> None:
    with Results(tmp_path / "r.db") as results:
        results.store_experiment("audit", 1, {"seed": 1, "cipher": "rc4d"}, {"queries": 176})
        found = results.experiment("audit", 1, {"cipher": "rc4d", "seed": 1})
        assert found is not None and found.outcome == {"queries": 176}
        assert results.experiment("audit", 2, {"cipher": "rc4d", "seed": 1}) is None
        assert len(results.experiments("audit")) == 1


def test_what_did_not_fit_is_data_in_an_older_file_too(tmp_path: Path) -> None:
    """Format 2 had a sentence alone."""
    path = tmp_path / "r.db"
    sentence = "does not fit: needs 10,011 of 2,048 bytes of RAM"
    with Results(path) as results:
        results.store(
            {
                "a": measurement(status="does-not-fit", reason=sentence),
                "b": measurement(status="does-not-fit", reason="a message of 257 bytes: too long"),
                "c": measurement(status="fault", reason=sentence),
                "d": measurement(status="does-not-fit", reason=sentence),
            }
        )
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE measurement SET extra = '[1]' WHERE key = 'd'")
        take_back(connection, 2)
    with Results(path) as results:
        found = results.measurement("a")
        assert found is not None and found.extra["misses"] == 3
        assert found.shortfall == Shortfall(memory="ram", needed=10011, available=2048)
        assert found.shortfall.missing == 7963
        others = [results.measurement(key) for key in "bc"]
        assert [m.shortfall for m in others if m is not None] == [None, None]


@pytest.mark.parametrize(
    "stored",
    [
        None,
        3,
        {},
        {"memory": "ram"},
        {"memory": "ram", "needed": "3", "available": 2},
        {"memory": "ram", "needed": True, "available": 2},
        {"memory": 1, "needed": 3, "available": 2},
        {"memory": "ram", "needed": -3, "available": 2},
        {"memory": "ram", "needed": 3, "available": 1.5},
    ],
)
def test_a_malformed_shortfall_is_none(stored: object) -> None:
    assert measurement(extra={"shortfall": stored}).shortfall is None


def test_a_file_from_the_future_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    Results(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    with pytest.raises(InputError, match="newer motecrypt"):
        Results(path)


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\0" + bytes(84)])
def test_a_file_that_is_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "r.db"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"r\.db"):
        Results(path).measurements()


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    with Results(path) as results:
        results.store({str(i): measurement(reason="x" * 400) for i in range(200)})
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])
    with pytest.raises(InputError, match="damaged"), Results(path) as results:
        results.measurements()


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    with pytest.raises(InputError, match="not a motecrypt results file"):
        Results(path)


def test_an_unwritable_place_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be created"):
        Results(tmp_path / "file" / "r.db")


def _write_many(path: Path, name: str, count: int) -> None:
    with Results(path) as results:
        for number in range(count):
            results.store({f"{name}{number}": measurement()})


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_many, args=(path, name, 40)) for name in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    with Results(path) as results:
        assert len(results.measurements()) == 80


def test_a_kill_loses_nothing_that_was_stored(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    context = multiprocessing.get_context("spawn")
    writer = context.Process(target=_write_many, args=(path, "k", 100_000))
    writer.start()
    deadline = time.monotonic() + 30
    seen = 0
    while seen < 5 and time.monotonic() < deadline:
        time.sleep(0.05)
        if path.exists():
            try:
                with Results(path) as results:
                    seen = len(results.measurements())
            except InputError:
                continue
    assert writer.pid is not None
    os.kill(writer.pid, signal.SIGKILL)
    writer.join(10)
    with Results(path) as results:
        after = len(results.measurements())
        assert after >= seen >= 5
        results.store({"after": measurement()})
        assert len(results.measurements()) == after + 1


def test_a_disk_that_fills_up_says_so(tmp_path: Path) -> None:
    """SQLite has rolled back by itself then; what was stored before stays."""
    with Results(tmp_path / "r.db") as opened:
        opened.store_experiment("kept", 1, {}, {"a": 1})
        opened._connection.execute("PRAGMA max_page_count = 30")
        with pytest.raises(InputError, match="full; free some space"):
            for number in range(100):
                opened.store_experiment("large", 1, {"number": number}, {"text": "x" * 5000})
        assert opened.experiment("kept", 1, {}) is not None


# --- what views find ----------------------------------------------------------------------------------


def _body(**changes: object) -> Implementation:
    values: dict[str, object] = {
        **dict.fromkeys(("header", "variant"), ""),
        **dict.fromkeys(("sources", "include", "defines"), ()),
        "cipher": "rc4d",
        "library": "motecrypt",
        "configuration": "default",
        "key_bits": (128,),
        "folder": Path(),
    }
    return Implementation(**{**values, **changes})  # type: ignore[arg-type]


CELL = Cell("uno", _body(variant="opt"), "encrypt", 128, 32)


def _of(cell: Cell, at: str, cycles: int | None, **changes: object) -> Measurement:
    fields = cell.identity._asdict()
    status = "ok" if cycles is not None else "build-failed"
    when = f"2026-01-{at}T00:00:00+00:00"
    figures = {"cycles_median": cycles, "status": status, "measured_at": when, "extra": {}}
    return measurement(**{**fields, **figures, **changes})  # type: ignore[arg-type]


def test_a_cell_and_its_measurement_have_one_identity() -> None:
    cell = replace(CELL, flags=("-O3", "-flto"))
    assert _of(cell, "01", 1).identity == cell.identity
    assert cell.identity.flags_asked == "-O3 -flto" and CELL.identity.flags_asked == ""
    for other in (
        replace(CELL, device="pico"),
        replace(CELL, implementation=_body(variant="plain")),
        replace(CELL, implementation=_body(variant="opt", library="other")),
        replace(CELL, implementation=_body(variant="opt", configuration="small")),
        replace(CELL, implementation=_body(variant="opt", cipher="rc4")),
        replace(CELL, operation="decrypt"),
        replace(CELL, key_bits=40),
        replace(CELL, message_bytes=16),
        replace(CELL, ad_bytes=8),
        replace(CELL, placement="ram"),
        replace(CELL, cache="cold"),
        cell,
    ):
        assert other.identity != CELL.identity


def test_the_newest_counts_whatever_its_key(results: Results) -> None:
    others = [replace(CELL, flags=("-O3",)), replace(CELL, cache="cold"), replace(CELL, message_bytes=16)]
    results.store({str(n): _of(cell, "09", 900 + n) for n, cell in enumerate(others)})
    results.store({"new": _of(CELL, "02", 20), "old": _of(CELL, "01", 10)})
    found = results.newest([CELL, replace(CELL, operation="setup")])
    assert {cell: m.cycles_median for cell, m in found.items()} == {CELL: 20}
    assert len(results.newest_measurements()) == 4 and len(results.measurements()) == 5


def test_what_is_not_asked_for_is_left_unread_however_much_is_asked_for(results: Results) -> None:
    damaged = replace(CELL, message_bytes=17)
    results.store({"a": _of(CELL, "01", 10), "b": _of(damaged, "02", 20)})
    with results.transaction() as connection:
        connection.execute("UPDATE measurement SET reason = CAST(x'ff' AS TEXT) WHERE key = 'b'")
        connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 50)
    many = [replace(CELL, message_bytes=n) for n in range(3000) if n != 17]
    assert {cell: m.cycles_median for cell, m in results.newest(many).items()} == {CELL: 10}
    with pytest.raises(InputError, match="decode"):
        results.newest([*many, damaged])


def test_a_failure_for_the_moment_hides_no_figure_and_a_lasting_one_does(results: Results) -> None:
    passing = {"transient": True}
    results.store({"a": _of(CELL, "01", 10), "b": _of(CELL, "03", None, reason="killed", extra=passing)})
    assert results.newest([CELL])[CELL].cycles_median == 10
    # under its own key neither: what is known stays
    results.store({"a": _of(CELL, "04", None, reason="killed", extra=passing)})
    assert results.newest([CELL])[CELL].cycles_median == 10
    results.store({"c": _of(CELL, "05", None, reason="does not fit")})
    assert results.newest([CELL])[CELL].reason == "does not fit"
    results.store({"a": _of(CELL, "06", 11)})
    assert results.newest([CELL])[CELL].cycles_median == 11


def test_a_failure_for_the_moment_is_told_where_there_is_nothing_else(results: Results) -> None:
    killed = _of(CELL, "01", None, reason="killed", extra={"transient": True})
    results.store({"a": killed})
    assert results.newest([CELL]) == {CELL: killed}
    results.store({"a": _of(CELL, "02", 10)})
    assert results.newest([CELL])[CELL].cycles_median == 10


def test_a_chosen_compiler_counts_on_the_devices_it_is_for(results: Results) -> None:
    pico = replace(CELL, device="pico")
    results.store(
        {
            "a": _of(CELL, "01", 10, compiler="avr-gcc (GCC) 5.4.0"),
            "b": _of(CELL, "02", 20, compiler="avr-gcc (GCC) 7.3.0"),
            "c": _of(pico, "03", 30, compiler="arm-none-eabi-gcc 12.2.1"),
        }
    )
    chosen = results.by_compilers(["5.4.0"])
    assert {c.device: m.cycles_median for c, m in chosen.newest([CELL, pico]).items()} == {
        "uno": 10,
        "pico": 30,
    }
    both = results.by_compilers(["5.4.0", "avr-gcc (GCC) 7.3.0"])
    assert both.newest([CELL])[CELL].cycles_median == 20
    assert results.newest([CELL])[CELL].cycles_median == 20  # the file itself reads as before
    with pytest.raises(InputError, match=r"9\.9.*5\.4\.0; avr-gcc \(GCC\) 7\.3\.0"):
        results.by_compilers(["9.9"])


def test_a_named_toolchain_gives_its_figures_and_none_the_systems_own(results: Results) -> None:
    """In any order: a comparison made in between changes nothing for a reader who names no toolchain."""
    body = Implementation("rc4d", "", "", "", (128,), "", (), (), (), Path())
    cell = Cell("uno", body, "encrypt", 1, 1, 1)
    same = {"device": "uno", "operation": "encrypt", "placement": "flash", "cache": "none"}
    for day, name, own in ((1, "gcc-5.4", True), (2, "gcc-14", False), (3, "gcc-12", False)):
        made = measurement(**same, toolchain=name, system_toolchain=own, measured_at=f"2026-01-0{day}")
        results.store({name: made})
    asked = {name: replace(cell, toolchain=name) for name in ("", "gcc-5.4", "gcc-14", "gcc-9")}
    found = results.newest(asked.values())
    assert {name: found[c].toolchain for name, c in asked.items() if c in found} == {
        "": "gcc-5.4",
        "gcc-5.4": "gcc-5.4",
        "gcc-14": "gcc-14",
    }
    assert [m.toolchain for m in results.newest_measurements()] == ["gcc-5.4"]
    results.store({"n": measurement(**same, compiler="old 1.2", toolchain="", measured_at="2025-01-01")})
    chosen = results.by_compilers(["1.2"]).newest([asked["gcc-5.4"]])
    assert chosen[asked["gcc-5.4"]].compiler == "old 1.2"  # who chooses compilers gets these, of any name


def test_an_older_file_tells_its_toolchains_by_their_compilers(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    words = {
        "avr-gcc (GCC) 5.4.0": "gcc-5.4",
        "avr-gcc (GCC) 14.2.0": "gcc-14",
        "arm-none-eabi-gcc (15:12.2.rel1-1) 12.2.1 20221205": "gcc-12",
        "arm-none-eabi-gcc (15:14.2.rel1-1) 14.2.1 20241119": "gcc-14",
        "avr-gcc (GCC) 7.3.0": "",
    }
    with Results(path) as results:
        results.store({word: measurement(compiler=word, toolchain="x") for word in words})
    with sqlite3.connect(path) as connection:
        take_back(connection, 4)
    with Results(path) as results:
        found = {m.compiler: (m.toolchain, m.system_toolchain) for m in results.measurements()}
    assert found == {word: (name, True) for word, name in words.items()}
    known = Catalog.load().toolchains
    told = {t.version: name for name, chain in known.items() for t in chain.targets}
    assert {word: name for word, name in words.items() if name}.items() <= told.items()


def test_experiments_are_found_by_what_was_asked(results: Results) -> None:
    asked = {"cipher": "rc4d", "seed": 1}
    results.store_experiment("audit", 1, {**asked, "build": "a"}, {"n": 1}, asked)
    results.store_experiment("audit", 1, {**asked, "build": "b"}, {"n": 2}, asked)
    results.store_experiment("audit", 1, {**asked, "seed": 2, "build": "b"}, {"n": 3}, {**asked, "seed": 2})
    found = results.newest_experiment("audit", 1, asked)
    assert found is not None and found.outcome == {"n": 2} and found.inputs["build"] == "b"
    assert results.newest_experiment("audit", 2, asked) is None
    assert results.newest_experiment("audit", 1, {"cipher": "rc4d", "seed": 1.0}) == found  # the same number
    assert results.experiment("audit", 1, {**asked, "build": "a"}).outcome == {"n": 1}  # type: ignore[union-attr]


def test_a_file_of_the_first_format_says_what_was_asked(tmp_path: Path) -> None:
    """Written as the first format was; opening it upgrades it and loses nothing."""
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(schema.MIGRATIONS[0])
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
        later = ("flags_asked", "toolchain", "system_toolchain")
        columns = [f for f in Measurement.__dataclass_fields__ if f not in later]
        given = {
            "-mmcu=atmega328p -Os": "",
            "-mmcu=atmega328p -Os -mstrict-X": "",
            "-mmcu=atmega328p -O3 -flto": "-O3 -flto",
            "-mcpu=cortex-m0plus -mthumb -Os": "",
            "-mcpu=cortex-m0plus -mthumb -O2": "-O2",
            "-O2": "",
            "-O3": "-O3",
        }
        marks = ", ".join("?" * (len(columns) + 1))
        for flags in given:
            row = asdict(measurement(flags=flags, compiler="gcc")) | {"extra": "{}"}
            connection.execute(
                f"INSERT INTO measurement (key, {', '.join(columns)}) VALUES ({marks})",
                (flags, *(row[name] for name in columns)),
            )
        for kind, inputs in (
            ("features", {"build": "b", "cipher": "rc4", "code": "c", "seed": 1, "variant": "opt"}),
            ("host-speed", {"driver": "d", "libraries": {"openssl": "3", "a": None}, "points": [1.0]}),
            ("unknown", {"build": "b"}),
        ):
            text = json.dumps(inputs, sort_keys=True, separators=(",", ":"))
            connection.execute("INSERT INTO finding VALUES (?, 1, ?, '{}', '2026', '0')", (kind, text))
    with Results(path) as results:
        assert {m.flags: m.flags_asked for m in results.measurements()} == given
        assert results.newest_experiment("features", 1, {"cipher": "rc4", "seed": 1, "variant": "opt"})
        assert results.newest_experiment("host-speed", 1, {"libraries": ["a", "openssl"], "points": [1.0]})
        assert results.newest_experiment("unknown", 1, {"build": "b"})
    assert sqlite3.connect(path).execute("PRAGMA user_version").fetchone()[0] == schema.VERSION


@pytest.mark.parametrize(
    ("value", "fits"),
    [(0, True), (1, True), (True, True), (2, False), (-1, False), (1.0, False), ("1", False)],
)
def test_a_flag_is_no_or_yes_as_sqlite_has_them(value: object, fits: bool) -> None:
    from motecrypt.results.rows import _flag

    assert _flag(value) is fits
