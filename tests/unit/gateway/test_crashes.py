"""A gateway killed at each of its steps: nothing doubled at a sink with ids, nothing accepted and lost."""

from __future__ import annotations

import csv
import json
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
from motecrypt.link.stored_files import LIST, part_name
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
        "note-before-1",
        "note-after-1",
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
        end, again, packets = now() + DEADLINE_S, 0.0, list[bytes]()
        while now() < end:
            alive.keep()
            if not packets:
                assert self.end.send(content, how | CONFIRMED) is Event.WAITING
                packets = [self.end.on_line(packet) for packet in self.end.packets()]
            if now() > again:
                again = now() + 0.25
                self.radio.put(*packets)  # the same bytes, as the core does
            event = self.hear()
            if event in (Event.ACCEPTED, Event.REFUSED):
                return event
            if event is Event.RENEWED:
                packets = []  # of an epoch that has ended
        raise AssertionError("no answer")

    def hear(self) -> Event:
        """Take what has come, and answer it."""
        handle = self.radio._master
        if not select.select([handle], [], [], 0.02)[0]:
            return Event.NOTHING
        told = Event.NOTHING
        for packet in self._reader.packets(os.read(handle, 4096), time.monotonic_ns() // 1_000_000):
            event = self.end.receive(packet)
            if event in (Event.ACCEPTED, Event.REFUSED, Event.RENEWED):
                self.told[event] += 1
                told = event
        self.radio.put(*(self.end.on_line(packet) for packet in self.end.packets()))
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

    def kill(self) -> None:
        """Whatever happened."""
        self._process.kill()
        self._process.wait(DEADLINE_S)

    def end(self, items: int | None = None) -> None:
        """A clean end, once all items are at the sinks."""
        self._items = self._items if items is None else items
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
    inbox = tmp_path / "inbox"
    hidden = {part_name(5), ".motecrypt-node5.announced", LIST}
    assert {path.name for path in inbox.iterdir()} - hidden == {"log.txt"}
    assert json.loads((inbox / LIST).read_bytes().splitlines()[-1]) == [5, "log.txt", 150]


# --- while keys are given out

GIVING = [
    *("provision-before-1", "change-before-1", "change-after-1", "provision-after-1"),
    *("tell-before-1", "tell-after-1"),
]


def child(folder: Path, step: str, times: int, *words: str) -> subprocess.Popen[str]:
    """Another command, which may be killed at a step of its own."""
    return subprocess.Popen(
        [sys.executable, "-P", str(CHILD), step, str(times), str(folder), *words],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def generations(folder: Path) -> dict[int, tuple[int, int]]:
    """Of each node of the record: its generation, and its epoch."""
    gateway = open_gateway(folder / "key", None, PACKET)
    try:
        return {node: (link.generation, link.epoch) for node, link in gateway._links.items()}
    finally:
        gateway.close()


class Session:
    """Node 5 sends while another command changes keys; each may be killed. It ends with the messages, and
    with the node's new epoch where there is one."""

    def __init__(self, folder: Path, step: str, killed: str, *words: str, renewed: bool = False) -> None:
        self.folder, self.node = folder, Node(folder)
        name, _, times = step.rpartition("-")
        at = {"gateway": ("none", 0), "client": ("none", 0), killed: (name, int(times))}
        self.gateway = Gateway(folder, self.node.radio.path, *at["gateway"])
        self.contents: list[bytes] = []
        self._say()
        self.client = child(folder, *at["client"], *words)
        try:
            self._go_on(renewed)
        finally:
            self.client.kill()
            self.gateway.kill()
        with sqlite3.connect(folder / "log.db") as base:
            rows = base.execute("SELECT content FROM messages WHERE node = 5 ORDER BY rowid").fetchall()
        assert [bytes(row[0]) for row in rows] == self.contents, "nothing is lost, nothing doubled"

    def _say(self) -> None:
        self.contents.append(b"%02d sent" % len(self.contents))
        assert self.node.send(self.contents[-1], 0, self.gateway) is Event.ACCEPTED

    def _go_on(self, renewed: bool) -> None:
        end = time.monotonic() + DEADLINE_S
        while self.client.poll() is None or len(self.contents) < MESSAGES:
            assert time.monotonic() < end
            self._say()
            self.gateway.keep()
        while renewed > (self.node.end.epoch > 0):
            assert time.monotonic() < end
            self.node.hear()
            self.gateway.keep()
        self.said = self.client.communicate(timeout=DEADLINE_S)[1]
        self.gateway.end(len(self.contents))


@pytest.mark.parametrize("step", GIVING)
def test_killed_while_it_gives_a_node_keys_its_record_is_the_old_or_the_new_one(
    step: str, tmp_path: Path
) -> None:
    words = ("provision", "6", "--key", "key", "--image", "node6")
    told = Session(tmp_path, step, "gateway", *words)
    assert told.gateway.killed == 1, "the step was never reached"
    assert told.client.returncode == 1 and "the outcome is unknown" in told.said, told.said
    new = step not in GIVING[:2]
    assert generations(tmp_path) == {5: (1, 0)} | ({6: (1, 0)} if new else {})
    assert not (tmp_path / "node6").exists(), "no file for keys that may not be known"
    again = child(tmp_path, "none", 0, *words)
    assert again.wait(DEADLINE_S) == 0
    image = (tmp_path / "node6").read_bytes()
    assert generations(tmp_path)[6] == (int.from_bytes(image[4:6], "little"), 0) == (1 + new, 0)


@pytest.mark.parametrize("step", ["request-before-1", "request-after-1"])
def test_a_killed_command_leaves_the_gateway_and_its_record_whole(step: str, tmp_path: Path) -> None:
    told = Session(tmp_path, step, "client", "provision", "6", "--key", "key", "--image", "node6")
    assert told.client.returncode == -9 and told.gateway.killed == 0
    assert generations(tmp_path) == {5: (1, 0)} | ({6: (1, 0)} if step.startswith("request-after") else {})
    assert (tmp_path / "node6").read_bytes() == b"", "keys that were not written are in no file"


@pytest.mark.parametrize("step", ["renew-before-1", "change-before-1", "change-after-1", "renew-after-1"])
def test_killed_while_it_begins_an_epoch_its_record_has_the_old_or_the_new_one(
    step: str, tmp_path: Path
) -> None:
    renewed = step in ("change-after-1", "renew-after-1")
    words = ("gateway", "renew", "5", "--key", "key", "--wait-s", "60")
    told = Session(tmp_path, step, "gateway", *words, renewed=renewed)
    assert told.gateway.killed == 1, "the step was never reached"
    assert told.client.returncode == 1 and "the outcome is unknown" in told.said, told.said
    (generation, epoch) = generations(tmp_path)[5]
    assert generation == 1 and (epoch > 0) == renewed
    assert told.node.end.epoch == epoch, "the node has what the record has"
    assert told.node.told[Event.RENEWED] == renewed


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
