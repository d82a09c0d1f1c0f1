"""Sinks and the thread that feeds one: each item at least once, and once where ids identify duplicates."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway_bed import DEADLINE_S, WHEN, Collected, commits_are_noted, csv_rows, item
from motecrypt.base.errors import InputError
from motecrypt.link.gateway import drain as drain_module
from motecrypt.link.gateway.drain import Drain
from motecrypt.link.gateway.guard import TOLD_MAX
from motecrypt.link.gateway.items import Item, readable
from motecrypt.link.gateway.sinks import Sink, SinkClosed, SinkError
from motecrypt.link.gateway.sinks.command import Command
from motecrypt.link.gateway.sinks.csv_log import CsvLog
from motecrypt.link.gateway.sinks.sqlite_log import SqliteLog
from motecrypt.link.gateway.sinks.stdout import StandardOutput
from motecrypt.link.gateway.spool import Spool
from motecrypt.link.state import FileStore

DOCS = Path(__file__).resolve().parents[3] / "docs"


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


# --- items


def test_what_is_told_of_an_item() -> None:
    assert item(7).record() == {
        "message": "21.4 C",
        "hex": "32312e342043",
        "bytes": 6,
        "id": "5.1.0.7",
        "node": 5,
        "kind": "message",
        "received": WHEN,
    }
    assert item(7).line() == "node 5: 21.4 C"
    file = Item(5, 1, 0, 8, "file", 1_700_000_000_123, b"/inbox/a\xff", 300)
    assert file.record() == {
        "file": "/inbox/a\N{REPLACEMENT CHARACTER}",
        "bytes": 300,
        "id": "5.1.0.8",
        "node": 5,
        "kind": "file",
        "received": WHEN,
    }
    assert file.line() == "node 5: /inbox/a\N{REPLACEMENT CHARACTER}: 300 bytes"


@pytest.mark.parametrize(
    ("content", "text"),
    [(b"plain", "plain"), (b"a\nb", "610a62"), (b"\xff", "ff"), (b"\x1b[2J", "1b5b324a"), (b"", "")],
)
def test_a_message_is_shown_as_text_only_where_it_is_harmless(content: bytes, text: str) -> None:
    assert readable(content) == text


# --- standard output


def test_standard_output_has_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    StandardOutput(False).deliver([item(1), item(2, b"\x00")])
    StandardOutput(True).deliver([item(1), item(2)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["node 5: 21.4 C", "node 5: 00"]
    assert [json.loads(line)["id"] for line in lines[2:]] == ["5.1.0.1", "5.1.0.2"]


class _Output(io.StringIO):
    """Standard output that fails."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def flush(self) -> None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "raised", "said"),
    [
        (BrokenPipeError(), SinkClosed, "its reader has closed it"),
        (OSError(errno.ENOSPC, "No space left on device"), SinkError, "No space left"),
    ],
)
def test_standard_output_that_fails_says_so(
    error: OSError, raised: type[Exception], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", _Output(error))
    with pytest.raises(raised, match=said):
        StandardOutput(False).deliver([item(1)])


# --- SQLite


def rows(path: Path) -> list[tuple[Any, ...]]:
    with sqlite3.connect(path) as base:
        return base.execute("SELECT * FROM messages ORDER BY rowid").fetchall()


def test_sqlite_has_each_item_once(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    log = SqliteLog(path)
    log.deliver([item(1), item(2, b"\x00\x01")])
    log.deliver([item(2, b"\x00\x01"), item(3)])
    log.finish()
    again = SqliteLog(path)
    again.deliver([item(3), item(3, generation=2)])
    again.finish()
    assert [row[0] for row in rows(path)] == ["5.1.0.1", "5.1.0.2", "5.1.0.3", "5.2.0.3"]
    assert rows(path)[1] == ("5.1.0.2", 5, "message", WHEN, "0001", b"\x00\x01", 2)


def test_a_new_sqlite_file_is_its_owners_alone_and_an_old_one_keeps_its_permissions(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        SqliteLog(tmp_path / "new.db").finish()
        (tmp_path / "old.db").touch(mode=0o640)
        SqliteLog(tmp_path / "old.db").finish()
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("new.db", "old.db")] == [0o600, 0o640]


def test_what_sqlite_has_taken_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    levels = commits_are_noted(monkeypatch)
    SqliteLog(tmp_path / "log.db").finish()
    assert levels == [("delete", 3)], "the end of a journal is synced, too"


def test_sqlite_syncs_rows_that_are_there_and_perhaps_not_on_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "log.db"

    def commits() -> int:
        return int.from_bytes(path.read_bytes()[24:28], "big")

    SqliteLog(path).finish()
    with sqlite3.connect(path) as base:
        base.execute("PRAGMA user_version = 7")
    base.close()
    log = SqliteLog(path)
    log.deliver([item(1)])
    before = commits()
    log.deliver([item(1)])
    assert commits() == before
    log.finish()
    log = SqliteLog(path)  # after a crash
    log.deliver([item(1)])
    assert commits() == before + 1
    log._base.execute("PRAGMA busy_timeout=10")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(SinkError):
        log.deliver([item(1)])
    other.execute("ROLLBACK")
    for _ in range(2):
        log.deliver([item(1)])
        assert commits() == before + 2, "once after a fault"
    log.finish()
    assert rows(path) and other.execute("PRAGMA user_version").fetchone() == (7,)
    other.close()


def test_sqlite_that_is_locked_takes_nothing_and_later_all(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    log = SqliteLog(path)
    log._base.execute("PRAGMA busy_timeout=10")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(SinkError, match=r"log\.db: database is locked"):
        log.deliver([item(1)])
    other.execute("ROLLBACK")
    other.close()
    log.deliver([item(1)])
    log.finish()
    assert len(rows(path)) == 1


def test_old_rows_are_deleted_as_the_page_says_while_the_sink_works(tmp_path: Path) -> None:
    (statement,) = re.findall(r'"(DELETE FROM messages .*?)"', (DOCS / "gateway.md").read_text())
    path = tmp_path / "readings.db"
    log = SqliteLog(path)
    log.deliver([item(1), replace(item(2), received_ms=int(1000 * (time.time() - 89 * 86_400)))])
    other = sqlite3.connect(path, isolation_level=None)
    other.execute(statement)
    other.close()
    log.deliver([item(3)])
    log.finish()
    assert [row[0] for row in rows(path)] == ["5.1.0.2", "5.1.0.3"]


def test_sqlite_files_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database, whatever its name is, but longer than a header" * 20)
    base = sqlite3.connect(tmp_path / "other.db")
    base.execute("CREATE TABLE messages (x)")
    base.commit()
    base.close()
    for path, said in (
        ("text", "file is not a database"),
        ("other.db", "no such column"),
        ("no/x.db", "unable to open"),
    ):
        with pytest.raises(
            InputError, match=rf"^--sqlite .*{path}: {said}.*; name a file that can be written$"
        ):
            SqliteLog(tmp_path / path)


# --- a command


def script(folder: Path, text: str) -> str:
    path = folder / "script"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return str(path)


def test_a_command_gets_each_item(tmp_path: Path) -> None:
    made = script(
        tmp_path, f'echo "$MOTECRYPT_ID $MOTECRYPT_NODE $1" >> {tmp_path}/out; cat >> {tmp_path}/out'
    )
    Command(f"{made} 'two words'").deliver([item(1), item(2)])
    said = (tmp_path / "out").read_text().splitlines()
    assert said[0::2] == ["5.1.0.1 5 two words", "5.1.0.2 5 two words"]
    assert [json.loads(line) for line in said[1::2]] == [item(1).record(), item(2).record()]


def test_a_command_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(SinkError, match=r"script: ended with 3: the last line$"):
        Command(script(tmp_path, "echo first >&2; echo the last line >&2; exit 3")).deliver([item(1)])
    with pytest.raises(SinkError, match=r"script: ended with 1$"):
        Command(script(tmp_path, "exit 1")).deliver([item(1)])
    with pytest.raises(SinkError, match=r"Exec format error|Permission denied"):
        (tmp_path / "script").write_bytes(b"\x7fELF no program")
        Command(str(tmp_path / "script")).deliver([item(1)])


def test_a_command_that_hangs_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    made = script(tmp_path, f"sleep 1000 & echo $! > {tmp_path}/pid; wait")
    with pytest.raises(SinkError, match=r"script: killed after 1 s$"):
        Command(made, 1.0).deliver([item(1)])
    child = int((tmp_path / "pid").read_text())
    wait_for(
        lambda: not Path(f"/proc/{child}").exists() or "(sleep) Z" in Path(f"/proc/{child}/stat").read_text()
    )
    after = Command(script(tmp_path, "exit 0"), 1.0)
    after.deliver([item(2)])


def test_a_command_that_hangs_ends_when_the_gateway_does(tmp_path: Path) -> None:
    sink = Command(script(tmp_path, f"touch {tmp_path}/begun; sleep 1000"))
    ended: list[str] = []

    def deliver() -> None:
        with pytest.raises(SinkError, match="ended with -9"):
            sink.deliver([item(1)])
        ended.append("yes")

    thread = threading.Thread(target=deliver)
    thread.start()
    wait_for((tmp_path / "begun").exists)
    sink.hurry()
    thread.join(DEADLINE_S)
    assert ended == ["yes"]
    with pytest.raises(SinkError, match="ended with -9"):
        sink.deliver([item(2)])


@pytest.mark.parametrize("line", ["", "no-such-command-at-all x", "'open"])
def test_a_command_that_is_none_is_refused(line: str) -> None:
    with pytest.raises(InputError, match=r"^--run "):
        Command(line)


# --- the thread


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    with Spool(FileStore(tmp_path / "spool")) as opened:
        yield opened


class Feeding:
    """A thread that feeds a sink, and what it says."""

    def __init__(self, spool: Spool, sink: Sink) -> None:
        self.spool, self.told, self.closed = spool, list[str](), threading.Event()
        done = spool.register([sink.name])[sink.name]
        self.drain = Drain(sink, spool.path, done, self.told.append, self.closed.set, first_s=0.01)

    def put(self, *numbers: int) -> None:
        """New items."""
        self.spool.put(map(item, numbers))
        self.spool.write(b"r")
        self.drain.wake()

    def end(self) -> None:
        """Stop it."""
        self.drain.stop()
        self.drain.join(DEADLINE_S)
        assert not self.drain.is_alive()


def test_a_sink_gets_everything_in_order_and_in_batches(spool: Spool) -> None:
    batches: list[int] = []

    class Batched(Collected):
        def deliver(self, items: Sequence[Item]) -> None:
            batches.append(len(items))
            super().deliver(items)

    sink = Batched(batch=3)
    feeding = Feeding(spool, sink)
    feeding.put(*range(7))
    feeding.drain.start()
    wait_for(lambda: feeding.drain.delivered == 7)
    feeding.put(7)
    wait_for(lambda: len(sink.items) == 8)
    feeding.end()
    assert [each.counter for each in sink.items] == list(range(8)) and batches == [3, 3, 1, 1]
    assert feeding.drain.done == 8 and feeding.told == [] and sink.hurried and sink.finished


def ids_of(path: Path) -> list[str]:
    return [row["id"] for row in csv_rows(path)] if path.suffix == ".csv" else [row[0] for row in rows(path)]


@pytest.mark.parametrize(
    ("kind", "batches", "marked"), [(CsvLog, 1, 0), (CsvLog, 2, 0), (CsvLog, 2, 100), (SqliteLog, 2, 0)]
)
def test_a_backlog_comes_once_wherever_a_kill_falls(
    kind: type[CsvLog | SqliteLog], batches: int, marked: int, spool: Spool
) -> None:
    """Killed after each batch, then after the first again: what was not marked in the spool comes again."""
    backlog = batches * kind.batch + 1
    spool.put(map(item, range(backlog)))
    spool.write(b"r")

    def run(path: Path, done: int, turns: int) -> None:
        sink = CsvLog(path, backlog - done) if kind is CsvLog else SqliteLog(path)
        drain = Drain(sink, spool.path, done, print)
        while turns > 0 and drain.done < backlog:
            drain._turn()
            turns -= 1
        sink.finish()
        if drain._reader is not None:
            drain._reader.close()

    for kill in range(1, batches + 2):
        path = spool.path.with_name(f"{kill}{'.csv' if kind is CsvLog else '.db'}")
        for done, turns in ((0, kill), (marked, 1), (marked, backlog)):
            run(path, done, turns)
        assert ids_of(path) == [f"5.1.0.{number}" for number in range(backlog)], kill


def test_a_sink_that_fails_gets_the_same_again_and_is_told_of_once(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drain_module, "LONGEST_S", 0.04)
    sink = Collected()
    sink.down = "no route"
    feeding = Feeding(spool, sink)
    feeding.put(1, 2)
    feeding.drain.start()
    wait_for(lambda: feeding.drain.faults >= 4)
    assert feeding.drain.trouble == "no route" and feeding.drain.done == 0
    sink.down = ""
    wait_for(lambda: feeding.drain.delivered == 2)
    wait_for(lambda: len(feeding.told) == 2)
    feeding.end()
    assert feeding.told == [
        "sink collected: no route; its messages wait and are tried again",
        "sink collected: works again",
    ]
    assert feeding.drain.trouble == "" and [each.counter for each in sink.items] == [1, 2]


def test_a_fault_with_several_causes_in_turn_is_reported_in_one_line_each(spool: Spool) -> None:
    sink = Collected()
    feeding = Feeding(spool, sink)
    feeding.put(1)
    for number in range(2 * TOLD_MAX):
        sink.down = f"cause {number}"
        assert not feeding.drain.attempt() and not feeding.drain.attempt()
        sink.down = "cause 0"
        assert not feeding.drain.attempt()
    assert len(feeding.told) == TOLD_MAX == len(set(feeding.told))
    for _ in range(2):
        feeding.told.clear()
        sink.down = ""
        assert feeding.drain.attempt()
        feeding.put(2)
        sink.down = "cause 0"
        assert not feeding.drain.attempt()
        assert len(feeding.told) == 2, "a new fault is reported again"
    feeding.drain.finish()


def test_pauses_after_faults_double_up_to_a_minute_and_begin_anew_after_a_success(spool: Spool) -> None:
    sink = Collected()
    drain = Drain(sink, spool.path, spool.register([sink.name])[sink.name], lambda line: None)
    pauses: list[float] = []

    def pause(seconds: float | None = None) -> bool:
        pauses.append(seconds or 0.0)
        sink.down = "" if len(pauses) == 10 else "no route"
        if len(pauses) == 12:
            drain.stop()
        return True

    def slept(seconds: float | None = None) -> bool:  # all is delivered: the next message comes
        sink.down = "no route"
        spool.put([item(2)])
        spool.write(b"r")
        return True

    drain._stop_asked.wait = pause  # type: ignore[method-assign]
    drain._wake.wait = slept  # type: ignore[method-assign]
    sink.down = "no route"
    spool.put([item(1)])
    spool.write(b"r")
    drain.run()
    assert pauses == [0.5, 1, 2, 4, 8, 16, 32, 60, 60, 60, 0.5, 1]
    assert [each.counter for each in sink.items] == [1]


def test_a_sink_whose_reader_has_gone_ends_the_gateway(spool: Spool) -> None:
    class Gone(Collected):
        def deliver(self, items: Sequence[Item]) -> None:
            raise SinkClosed("its reader has closed it")

    feeding = Feeding(spool, Gone())
    feeding.put(1)
    feeding.drain.start()
    assert feeding.closed.wait(DEADLINE_S)
    feeding.drain.join(DEADLINE_S)
    assert feeding.told == ["its reader has closed it"] and feeding.drain.done == 0


def test_a_sink_that_waits_after_a_fault_ends_at_once(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = Collected()
    sink.down = "no route"
    feeding = Feeding(spool, sink)
    feeding.drain._first_s = 1000.0
    feeding.put(1)
    feeding.drain.start()
    wait_for(lambda: bool(feeding.told))
    feeding.end()


def test_a_sink_with_a_fault_nobody_thought_of_goes_on_too(spool: Spool) -> None:
    class Odd(Collected):
        odd = True

        def deliver(self, items: Sequence[Item]) -> None:
            if self.odd:
                raise KeyError("x")
            super().deliver(items)

        def finish(self) -> None:
            raise OSError("nothing there")

    sink = Odd()
    feeding = Feeding(spool, sink)
    feeding.put(1)
    feeding.drain.start()
    wait_for(lambda: feeding.drain.faults > 0)
    sink.odd = False
    wait_for(lambda: feeding.drain.delivered == 1)
    feeding.end()
    assert feeding.told[0].startswith("sink collected: KeyError: 'x'; its messages wait")


def test_a_spool_that_cannot_be_read_is_read_later(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    feeding = Feeding(spool, Collected())
    feeding.put(1)
    with monkeypatch.context() as patch:

        def locked(path: Path) -> None:
            raise sqlite3.OperationalError("database is locked")

        patch.setattr(drain_module, "SpoolReader", locked)
        feeding.drain.start()
        wait_for(lambda: feeding.drain.trouble == "database is locked")
    wait_for(lambda: feeding.drain.delivered == 1)
    feeding.end()


def test_a_sink_with_a_time_of_its_own_gets_it(spool: Spool) -> None:
    class Idle(Collected):
        idled = 0

        def idle(self, seconds: float) -> bool:
            self.idled += 1
            time.sleep(min(seconds, 0.002))
            if self.idled == 3:
                raise SinkError("lost")
            return True

    sink = Idle()
    feeding = Feeding(spool, sink)
    feeding.drain.start()
    wait_for(lambda: sink.idled > 5)
    feeding.end()
    assert [told.split(": ")[1] for told in feeding.told] == [
        "lost; its messages wait and are tried again",
        "works again",
    ]
