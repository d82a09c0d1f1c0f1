"""A gateway killed at each of its steps: nothing doubled at a sink with ids, nothing accepted and lost."""

from __future__ import annotations

import csv
import os
import select
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from gateway_bed import DEADLINE_S, OPTIONS, PACKET, Radio, item
from link_ends import native
from motecrypt.link.file_parts import file_parts
from motecrypt.link.gateway.opening import open_gateway
from motecrypt.link.gateway.sinks.csv_log import CsvLog
from motecrypt.link.gateway.sinks.sqlite_log import SqliteLog
from motecrypt.link.gateway.spool import Spool
from motecrypt.link.keys import create_master_file
from motecrypt.link.native import CONFIRMED, FILE, Event
from motecrypt.link.state import FileStore
from motecrypt.link.stream import StreamReader

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[3]
CHILD = ROOT / "tests" / "gateway_child.py"
MESSAGES = 6
STEPS = [
    *("begin-before-1", "begin-after-1", "put-before-1", "put-after-1", "commit-before-2", "commit-after-2"),
    *("commit-before-5", "commit-after-5", "write-after-1", "receive-after-3", "answer-before-1"),
    *("answer-after-1", "deliver-before-1", "deliver-after-1", "csv-after-1", "turn-after-4"),
    *(
        "tidy-before-1",
        "tidy-after-1",
        "take-before-1",
        "take-after-3",
        "settled-before-5",
        "settled-after-6",
    ),
]


class Node:
    """Node 5 behind a pseudo-terminal: it sends until it is answered."""

    def __init__(self, folder: Path) -> None:
        create_master_file(folder / "key")
        gateway = open_gateway(folder / "key", None, PACKET)
        self.end = native()
        assert self.end.begin(gateway.provision(5, OPTIONS)) is Event.NOTHING
        gateway.close()
        self.radio = Radio()
        self._reader = StreamReader(PACKET)
        self.told: Counter[Event] = Counter()

    def send(self, content: bytes, how: int, alive: Gateway) -> Event:
        """A message, until it is accepted or refused, whatever happens to the gateway."""
        now = time.monotonic
        end, again = now() + DEADLINE_S, 0.0
        assert self.end.send(content, how | CONFIRMED) is Event.WAITING
        packets = [self.end.on_line(packet) for packet in self.end.packets()]
        while now() < end:
            alive.keep()
            if now() > again:
                again = now() + 0.25
                self.radio.put(*packets)  # the same bytes, as the core does
            event = self._hear()
            if event in (Event.ACCEPTED, Event.REFUSED):
                self.told[event] += 1
                return event
        raise AssertionError("no answer")

    def _hear(self) -> Event:
        handle = self.radio._master
        if not select.select([handle], [], [], 0.02)[0]:
            return Event.NOTHING
        told = Event.NOTHING
        for packet in self._reader.packets(os.read(handle, 4096), time.monotonic_ns() // 1_000_000):
            event = self.end.receive(packet)
            if event in (Event.ACCEPTED, Event.REFUSED):
                told = event
        self.end.packets()
        return told


class Gateway:
    """The program: started again after each time that it was killed."""

    def __init__(self, folder: Path, port: str, step: str, times: int, items: int = MESSAGES + 1) -> None:
        self._folder, self._port, self._items = folder, port, items
        self.killed = 0
        self._process = self._start(step, times)

    def _start(self, step: str, times: int) -> subprocess.Popen[bytes]:
        with (self._folder / "said").open("ab") as said:
            return subprocess.Popen(
                [sys.executable, "-P", str(CHILD), step, str(times), str(self._folder), self._port],
                env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )

    def keep(self) -> None:
        """If it was killed, start it again, to live."""
        code = self._process.poll()
        if code is not None:
            assert code == -9, (self._folder / "said").read_text()
            self.killed += 1
            self._process = self._start("none", 0)

    def end(self) -> None:
        """A clean end."""
        end = time.monotonic() + DEADLINE_S
        self.keep()
        while b'"ready"' not in self._last_said() and not self._all_there():
            assert time.monotonic() < end
            time.sleep(0.02)
        while not self._all_there():
            self.keep()
            assert time.monotonic() < end, (self._folder / "said").read_text()
            time.sleep(0.02)
        self._process.terminate()
        if self._process.wait(DEADLINE_S) == -9:
            self.killed += 1

    def _last_said(self) -> bytes:
        return b"".join((self._folder / "said").read_bytes().splitlines()[-1:])

    def _all_there(self) -> bool:
        path = self._folder / "log.db"
        if not path.exists() or not (self._folder / "log.csv").exists():
            return False
        with sqlite3.connect(path) as base:
            try:
                (count,) = base.execute("SELECT count(*) FROM messages").fetchone()
            except sqlite3.Error:
                return False
        return int(count) == self._items <= (self._folder / "log.csv").read_bytes().count(b"\n") - 1


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_any_step_nothing_is_doubled_and_nothing_accepted_is_lost(
    step: str, tmp_path: Path
) -> None:
    node = Node(tmp_path)
    name, _, times = step.rpartition("-")
    gateway = Gateway(tmp_path, node.radio.path, name, int(times))
    contents = [b"%02d sent" % number for number in range(MESSAGES)]
    for content in contents[:3]:
        assert node.send(content, 0, gateway) is Event.ACCEPTED
    for part in file_parts("log.txt", b"line\n" * 30, 100):
        assert node.send(part, FILE, gateway) is Event.ACCEPTED
    for content in contents[3:]:
        assert node.send(content, 0, gateway) is Event.ACCEPTED
    gateway.end()
    assert gateway.killed == 1, "the step was never reached"
    with sqlite3.connect(tmp_path / "log.db") as base:
        rows = base.execute("SELECT id, kind, content FROM messages ORDER BY rowid").fetchall()
    assert [bytes(row[2]) for row in rows if row[1] == "message"] == contents
    assert [bytes(row[2]) for row in rows if row[1] == "file"] == [bytes(tmp_path / "inbox" / "log.txt")]
    with (tmp_path / "log.csv").open(newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == [row[0] for row in rows]
    assert {path.name for path in (tmp_path / "inbox").iterdir()} - {
        ".motecrypt-node5.part",
        ".motecrypt-node5.announced",
    } == {"log.txt"}


BACKLOG = 2 * SqliteLog.batch + 1


@pytest.mark.parametrize("step", [f"csv-before-{BACKLOG // CsvLog.batch + 1}", "deliver-after-2"])
def test_killed_with_a_backlog_of_many_batches_nothing_is_doubled_or_lost(step: str, tmp_path: Path) -> None:
    node = Node(tmp_path)
    with Spool(FileStore(tmp_path / "key.gateway")) as spool:
        spool.put(map(item, range(BACKLOG)))
        spool.write(spool.read() or b"")
    name, _, times = step.rpartition("-")
    gateway = Gateway(tmp_path, node.radio.path, name, int(times), BACKLOG)
    end = time.monotonic() + DEADLINE_S
    while gateway.killed == 0 and time.monotonic() < end:
        gateway.keep()
        time.sleep(0.02)
    gateway.end()
    assert gateway.killed == 1, "the step was never reached"
    ids = [f"5.1.0.{number}" for number in range(BACKLOG)]
    with sqlite3.connect(tmp_path / "log.db") as base:
        assert [row[0] for row in base.execute("SELECT id FROM messages ORDER BY rowid")] == ids
    with (tmp_path / "log.csv").open(newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == ids
