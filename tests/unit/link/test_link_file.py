"""A node's storage in a file: kept, locked, private, and refused where it is none."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import link_ends
from link_beds import Bed
from link_nodes import READING, block, gateway, up
from motecrypt.link.native import (
    CONFIRMED,
    STORAGE_BYTES,
    Event,
)
from open_handles import handles


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "node.store"
    path.write_bytes(link_ends.provisioned(block()).storage)
    path.chmod(0o600)
    yield path


def test_a_file_keeps_a_nodes_storage(store: Path) -> None:
    bed, end = Bed("file"), gateway()
    first = store.read_bytes()
    assert bed.open(store) == 0
    assert bed.begin() is Event.NOTHING
    assert bed.storage == first
    assert bed.send(READING, CONFIRMED) is Event.WAITING
    assert up(bed, end) == [READING]
    assert store.read_bytes() == bed.storage != first
    assert len(first) == STORAGE_BYTES and stat.S_IMODE(store.stat().st_mode) == 0o600
    bed.close()
    again = Bed("file")
    assert again.open(store) == 0 and again.begin() is Event.NOTHING
    assert again.send(READING, CONFIRMED) is Event.WAITING
    assert up(again, end) == [READING]
    again.close()


def test_a_file_is_one_programs_alone(store: Path) -> None:
    one, two = Bed("file"), Bed("file")
    assert one.open(store) == 0
    assert two.open(store) == errno.EWOULDBLOCK
    one.close()
    assert two.open(store) == 0
    two.close()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o601])
def test_a_file_that_others_may_use_is_refused(store: Path, mode: int) -> None:
    store.chmod(mode)
    assert Bed("file").open(store) == errno.EPERM


def test_what_is_no_storage_is_refused(store: Path, tmp_path: Path) -> None:
    for size in (0, STORAGE_BYTES - 1, STORAGE_BYTES + 1):
        other = tmp_path / f"file{size}"
        other.write_bytes(bytes(size))
        other.chmod(0o600)
        assert Bed("file").open(other) == errno.EINVAL
    link = tmp_path / "link"
    link.symlink_to(store)
    assert Bed("file").open(link) == errno.ELOOP
    assert Bed("file").open(tmp_path / "nothing") == errno.ENOENT
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo, 0o600)
    assert Bed("file").open(fifo) == errno.EINVAL
    before = handles()
    assert Bed("file").open(fifo) == errno.EINVAL
    assert handles() <= before


def test_a_file_that_keeps_nothing_reads_as_nothing_written(store: Path) -> None:
    bed = Bed("file")
    assert bed.open(store) == 0 and bed.begin() is Event.NOTHING
    before = store.read_bytes()
    bed.close()
    again = os.open(store, os.O_RDONLY)  # takes the place of the handle that is closed: writes fail
    assert bed.send(READING) is Event.STORAGE
    assert bed.packets() == [] and store.read_bytes() == before
    assert bed.storage == bytes(STORAGE_BYTES)
    os.close(again)
    assert bed.storage == bytes(STORAGE_BYTES)


def test_a_file_that_was_cut_short_reads_as_nothing(store: Path) -> None:
    bed = Bed("file")
    assert bed.open(store) == 0
    assert bed.begin() is Event.NOTHING
    os.truncate(store, 100)
    assert bed.storage == bytes(STORAGE_BYTES)
    bed.close()


def test_the_files_clock_counts_milliseconds() -> None:
    bed = Bed("file")
    for _ in range(3):
        before = time.monotonic_ns() // 1_000_000
        now = bed.clock()
        after = time.monotonic_ns() // 1_000_000
        assert any(now == passed % 65536 for passed in range(before, after + 1))
        time.sleep(0.003)
