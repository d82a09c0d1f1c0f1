"""The results file: versions, damage, two writers, and a kill at any moment."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from motecrypt.errors import InputError
from motecrypt.model import Measurement
from motecrypt.results import Results, schema


def measurement(cipher: str = "rc4d", **changes: object) -> Measurement:
    values: dict[str, object] = {
        **dict.fromkeys(Measurement.__dataclass_fields__, ""),
        **dict.fromkeys(("key_bits", "message_bytes", "ad_bytes", "tag_bytes", "inputs"), 1),
        **dict.fromkeys(("cycles_min", "cycles_median", "cycles_max", "flash_bytes", "ram_bytes"), 5),
        **dict.fromkeys(("flash_symbol_bytes", "eeprom_bytes", "stack_bytes"), None),
        "timing_varies": False,
        "time_us": 1.5,
        "cycles_exact": True,
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


def test_findings_are_found_by_their_inputs(tmp_path: Path) -> None:
    with Results(tmp_path / "r.db") as results:
        results.store_finding("audit", 1, {"seed": 1, "cipher": "rc4d"}, {"queries": 176})
        found = results.finding("audit", 1, {"cipher": "rc4d", "seed": 1})
        assert found is not None and found.outcome == {"queries": 176}
        assert results.finding("audit", 2, {"cipher": "rc4d", "seed": 1}) is None
        assert len(results.findings("audit")) == 1


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
        opened.store_finding("kept", 1, {}, {"a": 1})
        opened._connection.execute("PRAGMA max_page_count = 30")
        with pytest.raises(InputError, match="full; free some space"):
            for number in range(100):
                opened.store_finding("large", 1, {"number": number}, {"text": "x" * 5000})
        assert opened.finding("kept", 1, {}) is not None
