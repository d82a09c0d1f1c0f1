"""CSV files of the gateway: harmless rows, each once, whatever a crash, a full disk or a power cut left."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from gateway_bed import WHEN, csv_rows, item
from motecrypt.base.errors import InputError
from motecrypt.link.gateway.sinks import SinkError, csv_log
from motecrypt.link.gateway.sinks.csv_log import CsvLog


def test_csv_is_harmless_whatever_a_node_sends(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    log = CsvLog(path, 0)
    odd = [
        b"=1+2",
        b"+21.4",
        b"@x",
        b"-x",
        b'a,"b"',
        b"two\nlines",
        b"\r\n",
        b"\xe2\x80\xae",
        b"",
        "ä".encode(),
    ]
    log.deliver([item(number, content) for number, content in enumerate(odd)])
    log.finish()
    found = csv_rows(path)
    texts = ["'=1+2", "+21.4", "'@x", "'-x", 'a,"b"', b"two\nlines".hex(), "0d0a", "e280ae", "", "ä"]
    assert [row["text"] for row in found] == texts
    assert [bytes.fromhex(row["hex"]) for row in found] == odd
    assert found[0] | {"text": ""} == {
        "id": "5.1.0.0",
        "received": WHEN,
        "node": "5",
        "kind": "message",
        "text": "",
        "hex": "3d312b32",
        "bytes": "4",
    }
    assert path.read_bytes().count(b"\n") == 1 + len(odd) and path.stat().st_mode & 0o777 == 0o600


def test_csv_repeats_nothing_that_a_crash_left_unconfirmed(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    log = CsvLog(path, 0)
    log.deliver([item(1), item(2)])
    log.deliver([item(2), item(3)])
    log.finish()
    whole = path.read_bytes()
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        again = CsvLog(path, 3)
        again.deliver([item(1), item(2), item(3)])
        again.finish()
        assert path.read_bytes() == whole, cut


@pytest.mark.parametrize("read_bytes", [1, 2, 60, 61, 119, 120, 121, csv_log.READ_BYTES])
def test_csv_knows_as_many_of_the_last_rows_as_items_wait(
    read_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_log, "READ_BYTES", read_bytes)
    path = tmp_path / "log.csv"
    log = CsvLog(path, 0)
    log.deliver([item(number) for number in range(50)])
    log.finish()
    for waiting, known in ((0, range(0)), (1, range(49, 50)), (49, range(1, 50)), (51, range(50))):
        with path.open("ab") as file:
            file.write(b"5.1.0.50,half")
        again = CsvLog(path, waiting)
        assert again._before == {f"5.1.0.{number}" for number in known}
        again.finish()
    again = CsvLog(path, 2)
    again.deliver([item(49), item(50)])
    again.finish()
    assert [row["id"] for row in csv_rows(path)] == [f"5.1.0.{n}" for n in range(51)]


def test_csv_rows_longer_than_one_read_come_once(tmp_path: Path) -> None:
    items = [item(number, b"x" * 5000) for number in range(csv_log.READ_BYTES // 15_000 + 2)]
    for _ in range(2):
        log = CsvLog(tmp_path / "log.csv", len(items))
        log.deliver(items)
        log.finish()
    assert (tmp_path / "log.csv").stat().st_size > csv_log.READ_BYTES
    assert [row["id"] for row in csv_rows(tmp_path / "log.csv")] == [each.name for each in items]


def test_csv_on_a_full_disk_keeps_no_part_of_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.csv"
    log = CsvLog(path, 0)
    log.deliver([item(1)])
    before = path.read_bytes()
    write = os.pwrite

    def half(handle: int, data: bytes, at: int) -> int:
        if len(data) < 10:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, data[: len(data) // 2], at)

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", half)
        with pytest.raises(SinkError, match=r"log\.csv: No space left on device"):
            log.deliver([item(2)])
    assert path.read_bytes() == before
    log.deliver([item(2)])
    log.finish()
    assert [row["id"] for row in csv_rows(path)] == ["5.1.0.1", "5.1.0.2"]


@pytest.mark.parametrize("gone", [(0, 1), (0, 60), (30, 61), (59, 61), (60, 121), (150, 180), (0, 180)])
def test_csv_that_a_power_cut_left_with_zeros_has_each_row_again(
    gone: tuple[int, int], tmp_path: Path
) -> None:
    path = tmp_path / "log.csv"
    items = [item(number) for number in range(5)]
    log = CsvLog(path, 0)
    log.deliver(items[:2])
    synced = path.stat().st_size
    log.deliver(items[2:])
    log.finish()
    whole = path.read_bytes()
    rows = bytearray(whole)
    for at in range(*gone):
        if synced + at < len(rows):
            rows[synced + at] = 0
    path.write_bytes(rows)
    log = CsvLog(path, 3)
    log.deliver(items[2:])
    log.finish()
    assert path.read_bytes() == whole


@pytest.mark.parametrize("left", [0, 1, 10, 20])
def test_csv_whose_first_line_a_power_cut_left_in_part_begins_again(left: int, tmp_path: Path) -> None:
    CsvLog(tmp_path / "whole.csv", 0).finish()
    head, path = (tmp_path / "whole.csv").read_bytes(), tmp_path / "log.csv"
    path.write_bytes(head[:left].ljust(len(head), b"\0"))
    CsvLog(path, 0).finish()
    assert path.read_bytes() == head
    path.write_bytes(head[:left].ljust(len(head) + 1, b"\0"))
    with pytest.raises(InputError, match="has a different first line"):
        CsvLog(path, 0)


def test_csv_on_a_disk_that_refuses_all_for_a_time_has_each_row_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.csv"
    log = CsvLog(path, 0)

    def refuse(*given: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    with monkeypatch.context() as read_only:
        read_only.setattr(os, "fsync", refuse)
        read_only.setattr(os, "ftruncate", refuse)
        for _ in range(2):
            with pytest.raises(SinkError, match=r"log\.csv: Read-only file system"):
                log.deliver([item(1), item(2)])
    log.deliver([item(1), item(2), item(3)])
    log.finish()
    assert [row["id"] for row in csv_rows(path)] == ["5.1.0.1", "5.1.0.2", "5.1.0.3"]


def test_csv_files_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a,b\r\n1,2\r\n")
    os.mkfifo(tmp_path / "pipe")
    held = CsvLog(tmp_path / "held.csv", 0)
    for name, said in (
        ("other.csv", "has a different first line; name a new file"),
        ("pipe", "not a regular file"),
        ("no/x.csv", "No such file or directory; name a file that can be written"),
        ("held.csv", "another program is using it; stop that one first"),
    ):
        with pytest.raises(InputError, match=rf"^--csv .*{name}: {said}$"):
            CsvLog(tmp_path / name, 0)
    held.finish()
