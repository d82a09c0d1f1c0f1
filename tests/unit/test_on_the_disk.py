"""What is promised to be on the disk is: a file is synced whole before it has its name, its folder after."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway_bed import item
from motecrypt.base.paths import sync_folder, written_atomically
from motecrypt.link.files.writing import NewFile
from motecrypt.link.gateway.protocols.tftp.node_files import FolderInlet
from motecrypt.link.gateway.sinks.csv_log import CsvLog
from motecrypt.link.gateway.spool import Spool
from motecrypt.link.keys import create_private
from motecrypt.link.provisioning import write_private
from motecrypt.link.state import FileStore
from open_handles import handles


class Synced:
    """What is synced in a folder, in order, and whether the file has its name by then."""

    def __init__(self, folder: Path, named: Path, content: Callable[[], bytes]) -> None:
        self.folder, self.named, self.content = folder, named, content
        self.calls: list[str] = []
        self._sync = os.fsync

    def __call__(self, handle: int) -> None:
        """In place of os.fsync."""
        self._sync(handle)
        opened = Path(f"/proc/self/fd/{handle}")
        what = "folder" if opened.resolve() == self.folder else "file"
        if what == "file" and opened.read_bytes() != self.content():
            what = "part of a file"
        self.calls.append(f"{what}, named" if self.named.exists() else f"{what}, unnamed")


def _tftp_put(path: Path) -> None:
    taken: list[int] = []
    inlet = FolderInlet(path.parent, 7, path.name, lambda kept, length: taken.append(length))
    inlet.write(0, b"12", last=False)
    inlet.write(2, b"345", last=True)
    assert taken == [5]
    inlet.close(None)


def _decrypted(path: Path) -> None:
    with NewFile(path) as new:
        new.write(b"12345")
        new.keep()


def _atomic(path: Path) -> None:
    with written_atomically(path) as file:
        file.write(b"12345")


@pytest.mark.parametrize(
    ("make", "synced"),
    [
        (_tftp_put, ["file, unnamed", "folder, named"]),
        (_decrypted, ["file, unnamed", "folder, named"]),
        (lambda path: FileStore(path).write(b"12345"), ["file, unnamed", "folder, named"]),
        (lambda path: Spool(FileStore(path)).close(), ["folder, named"]),  # SQLite syncs the file
        (lambda path: create_private(path, lambda: b"12345"), ["file, named", "folder, named"]),
        (lambda path: write_private(lambda: {path: b"12345"}, [path]), ["file, named", "folder, named"]),
        (_atomic, ["file, unnamed"]),
    ],
    ids=["TFTP", "decrypt", "record", "spool", "key", "keys", "replaced"],
)
def test_a_file_is_synced_before_it_has_its_name_and_its_folder_after(
    make: Callable[[Path], None], synced: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "made"
    noted = Synced(tmp_path, path, lambda: b"12345")
    monkeypatch.setattr(os, "fsync", noted)
    make(path)
    assert noted.calls == synced and path.exists()


def test_rows_of_csv_are_synced_before_they_count_as_delivered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.csv"
    noted = Synced(tmp_path, path, path.read_bytes)
    monkeypatch.setattr(os, "fsync", noted)
    log = CsvLog(path, 0)
    assert noted.calls == ["file, named", "folder, named"], "a new file's name, too"
    log.deliver([item(1), item(2)])
    assert noted.calls[2:] == ["file, named"] and path.read_bytes().count(b"\n") == 3
    log.finish()
    noted.calls.clear()
    CsvLog(path, 0).finish()
    assert noted.calls == ["folder, named"], "of one that was made just before a crash"


@pytest.mark.parametrize("error", [errno.EACCES, errno.EINVAL])
def test_a_folder_that_cannot_be_synced_is_left(
    error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(handle: int) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "fsync", refuse)
    sync_folder(tmp_path)


def test_a_folder_whose_sync_fails_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(handle: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    before = handles()
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="Input/output error"):
        sync_folder(tmp_path)
    assert handles() <= before
