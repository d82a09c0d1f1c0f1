"""The records of the link's ends, exactly: what the system is asked for, and in which words it refuses."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link import state
from motecrypt.link.state import FileStore, MemoryStore, pack, unpack
from open_handles import handles


def file_of(handle: int) -> Path:
    """Which file an open handle is of."""
    return Path(f"/proc/self/fd/{handle}").readlink()


def failing(number: int, words: str) -> Callable[..., Any]:
    """In place of a call of the system."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, words)

    return fail


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[object, ...]]:
    """What is asked of the system for files of the test, in order. The lock is never waited for."""
    made: list[tuple[object, ...]] = []
    opened, closed, locked, synced, renamed = os.open, os.close, fcntl.flock, os.fsync, os.replace

    def note(path: Path, call: str, *given: object) -> None:
        if path.is_relative_to(tmp_path):  # what else this process closes is not this test's
            made.append((call, path.name, *given))

    def open_(path: Any, flags: int, mode: int = 0o777, **more: Any) -> int:
        note(Path(path), "open", flags, mode)
        return opened(path, flags, mode, **more)

    def close(handle: int) -> None:
        note(file_of(handle), "close")
        closed(handle)

    def flock(handle: int, how: int) -> None:
        note(file_of(handle), "flock", how)
        locked(handle, how | fcntl.LOCK_NB)

    def fsync(handle: int) -> None:
        note(file_of(handle), "fsync", os.fstat(handle).st_size)
        synced(handle)

    def replace(source: Any, target: Any) -> None:
        note(Path(source), "replace", Path(target).name)
        renamed(source, target)

    for module, name, call in (
        (os, "open", open_),
        (os, "close", close),
        (fcntl, "flock", flock),
        (os, "fsync", fsync),
        (os, "replace", replace),
    ):
        monkeypatch.setattr(module, name, call)
    return made


def test_a_file_store_asks_the_system_for_exactly_this(
    tmp_path: Path, calls: list[tuple[object, ...]]
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    calls.clear()
    store = FileStore(folder / "counter")
    assert calls == [
        ("open", "counter.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600),
        ("flock", "counter.lock", fcntl.LOCK_EX | fcntl.LOCK_NB),
    ]
    calls.clear()
    store.write(b"record")
    directory = folder.stat().st_size
    assert calls == [
        ("open", "counter.new", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600),
        ("fsync", "counter.new", 6),  # all of it has left the program
        ("replace", "counter.new", "counter"),
        ("open", "folder", os.O_RDONLY | os.O_CLOEXEC, 0o777),
        ("fsync", "folder", directory),
        ("close", "folder"),
    ]
    assert store.path == folder / "counter" and store.read() == b"record"
    calls.clear()
    store.close()
    store.close()
    assert calls == [("close", "counter.lock")]


def test_what_is_left_of_a_crash_is_written_over(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "counter")
    (tmp_path / "counter.new").write_bytes(b"a longer record that was never whole")
    store.write(b"record")
    assert store.read() == b"record" and not (tmp_path / "counter.new").exists()
    store.close()


def test_planted_links_beside_a_record_are_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"of its owner")
    (tmp_path / "counter.new").symlink_to(other)
    store = FileStore(tmp_path / "counter")
    store.write(b"record")
    assert store.read() == b"record" and other.read_bytes() == b"of its owner"
    store.close()
    (tmp_path / "second.lock").symlink_to(tmp_path / "made")
    with pytest.raises(InputError, match="symbolic links"):
        FileStore(tmp_path / "second")
    assert not (tmp_path / "made").exists()


def test_a_lock_that_another_has_is_let_go(tmp_path: Path, calls: list[tuple[object, ...]]) -> None:
    path = tmp_path / "counter"
    store = FileStore(path)
    before = handles()
    calls.clear()
    with pytest.raises(InputError) as caught:
        FileStore(path)
    assert str(caught.value) == f"state file {path}: another program is using it; stop that one first"
    assert calls[-1] == ("close", "counter.lock") and handles() <= before
    with pytest.raises(InputError) as caught:
        FileStore(tmp_path / "none" / "counter")
    where = tmp_path / "none" / "counter"
    assert str(caught.value) == f"state file {where}: No such file or directory; choose one with --state"
    store.close()


def test_a_record_has_a_mebibyte_at_most(tmp_path: Path) -> None:
    path = tmp_path / "counter"
    store = FileStore(path)
    assert store.read() is None
    path.write_bytes(bytes(1_048_576))
    assert store.read() == bytes(1_048_576)
    path.write_bytes(bytes(1_048_577))
    with pytest.raises(InputError) as caught:
        store.read()
    assert str(caught.value) == f"state file {path}: longer than 1,048,576 bytes"
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")  # that is no missing file: a record may have been there
    with pytest.raises(InputError) as caught:
        store.read()
    assert str(caught.value) == f"state file {path}: cannot be read: No such file or directory"
    (tmp_path / "nowhere").write_bytes(b"record")
    assert store.read() == b"record"
    store.close()


@pytest.mark.parametrize("step", ["open", "fsync", "replace"])
def test_a_record_that_cannot_be_kept_is_told(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FileStore(tmp_path / "counter")
    store.write(b"old")
    before = handles()
    with monkeypatch.context() as broken:
        broken.setattr(os, step, failing(28, "No space left on device"))
        with pytest.raises(MotecryptError) as caught:
            store.write(b"new")
    assert type(caught.value) is MotecryptError
    assert str(caught.value) == f"state file {store.path}: cannot be written: No space left on device"
    assert store.read() == b"old" and handles() <= before
    store.close()


def test_a_folder_that_cannot_be_synced_is_told_and_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, synced = FileStore(tmp_path / "counter"), os.fsync
    before = handles()

    def fsync(handle: int) -> None:
        if file_of(handle) == tmp_path:
            raise OSError(5, "Input/output error")
        synced(handle)

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fsync)
        with pytest.raises(MotecryptError, match=r"counter: cannot be written: Input/output error$"):
            store.write(b"new")
    assert handles() <= before
    store.close()


def test_a_record_in_memory_counts_its_writes() -> None:
    store = MemoryStore()
    assert (store.read(), store.writes) == (None, 0)
    store.write(b"one")
    assert (store.read(), store.record, store.writes) == (b"one", b"one", 1)
    store.write(b"two")
    assert store == MemoryStore(b"two", 2) != MemoryStore(b"two", 1)


def signed(text: str, digest: str | None = None) -> bytes:
    """A record of any text, with its digest or another."""
    return f"{text}\n{digest or hashlib.sha256(text.encode()).hexdigest()}\n".encode()


@pytest.mark.parametrize(
    "record",
    [
        signed('{"motecrypt": "a", "version": 2}'),
        signed('{"motecrypt": "z", "version": 2}'),
        signed('{"motecrypt": "node", "version": 1}'),
        signed('{"motecrypt": "node", "version": 3}'),
        signed('{"version": 2}'),
        signed('{"motecrypt": "node"}'),
        signed("[]"),
        signed("7"),
        signed("{"),
        signed("[" * 50_000),
        signed('{"motecrypt": "node", "version": 2}', "0" * 64),
        signed('{"motecrypt": "node", "version": 2}', "f" * 64),
        signed('{"motecrypt": "node", "version": 2}')[:-1],
        signed('{"motecrypt": "node", "version": 2}') + b"x",
        signed('{"motecrypt": "node", "version": 2}') + b"\n",
        signed('{"motecrypt": "node", "version": 2, "name": "\u00fc"}'),
        b"",
    ],
)
def test_what_is_no_record_of_a_node_is_refused(record: bytes) -> None:
    with pytest.raises(ValueError) as caught:
        unpack("node", record)
    assert caught.value.__suppress_context__ or not isinstance(
        caught.value.__context__, (KeyError, TypeError, RecursionError)
    )


def test_a_record_is_one_line_and_its_digest() -> None:
    assert state.VERSION == 2
    made = pack("node", {"a": 1})
    assert made == signed('{"motecrypt": "node", "version": 2, "a": 1}')
    assert unpack("node", made) == {"motecrypt": "node", "version": 2, "a": 1}
