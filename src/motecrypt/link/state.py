"""What must outlive a crash: the records of the link's ends, each in a file of its own.

A file is replaced as a whole (written next to, synced, renamed), so a crash at any point leaves the old
state or the new one. A record carries a digest: a damaged one stops the program, because guessing a
counter would reuse a nonce, and guessing what was received would accept a replay.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.paths import read_regular, sync_folder

VERSION = 2
"""Of the records, which is the link's."""

RECORD_BYTES_MAX = 1 << 20
"""A gateway's record of 64 nodes takes a twentieth of it."""


class Store(Protocol):
    """One small record that is replaced as a whole or not at all."""

    def read(self) -> bytes | None:
        """The record, or None when there is none yet."""

    def write(self, record: bytes) -> None:
        """Replace the record; on return it is durable."""


@dataclass
class MemoryStore:
    """A record in memory: for simulations, whose crashes keep it."""

    record: bytes | None = None
    writes: int = 0

    def read(self) -> bytes | None:
        """The record, or None."""
        return self.record

    def write(self, record: bytes) -> None:
        """Replace the record."""
        self.record = record
        self.writes += 1


class RecordInUse(InputError):
    """Another program holds a record.

    Attributes
    ----------
    socket : where that program takes requests; None if it takes none.
    """

    def __init__(self, message: str, socket: Path | None) -> None:
        super().__init__(message)
        self.socket = socket


class FileStore:
    """A record in a file, locked against a second program for as long as this object lives.

    The file of the lock also names the socket of a gateway that serves the record. It counts only while the
    lock is held, so the name that a killed gateway left behind misleads nobody.

    Raises
    ------
    InputError
        The file or its folder cannot be used.
    RecordInUse
        Another program holds it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._lock: int | None = os.open(
                path.with_name(path.name + ".lock"),
                os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW,
                0o600,
            )
        except OSError as error:
            raise InputError(f"state file {path}: {error.strerror}; choose one with --state") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(self._lock, 0)
        except OSError:
            socket = _served_at(self._lock)
            os.close(self._lock)
            raise RecordInUse(
                f"state file {path}: another program is using it; stop that one first", socket
            ) from None

    def serve_at(self, socket: Path) -> None:
        """Note where the holder of the lock takes requests, for programs that find the record locked."""
        assert self._lock is not None
        try:
            os.pwrite(self._lock, os.fsencode(socket.absolute()) + b"\0", 0)
        except OSError as error:
            raise InputError(f"state file {self.path}: {error.strerror}; free some space") from None

    def read(self) -> bytes | None:
        """The record, or None when the file does not exist."""
        if not self.path.is_symlink() and not self.path.exists():
            return None
        try:
            return read_regular(self.path, RECORD_BYTES_MAX)
        except InputError as error:
            raise InputError(f"state file {error}") from None

    def write(self, record: bytes) -> None:
        """Replace the file and wait until it is on the disk."""
        beside = self.path.with_name(self.path.name + ".new")
        try:
            beside.unlink(missing_ok=True)  # left by a crash, or planted: never written through
            handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(record)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self.path)
            sync_folder(self.path.parent)
        except OSError as error:
            raise MotecryptError(f"state file {self.path}: cannot be written: {error.strerror}") from None

    def close(self) -> None:
        """Let another program have the file."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _served_at(lock: int) -> Path | None:
    """The socket that a lock's file names, if all of its name is there."""
    name, end, _ = os.pread(lock, 4097, 0).partition(b"\0")
    return Path(os.fsdecode(name)) if end and name else None


def close_store(store: Store) -> None:
    """Close what a store has open; one in memory has nothing."""
    if close := getattr(store, "close", None):
        close()


def pack(kind: str, content: dict[str, Any]) -> bytes:
    """A record of that kind: one line of JSON, and its digest."""
    text = json.dumps({"motecrypt": kind, "version": VERSION, **content})
    return (text + "\n" + hashlib.sha256(text.encode()).hexdigest() + "\n").encode()


def unpack(kind: str, record: bytes) -> dict[str, Any]:
    """What a record holds.

    Raises
    ------
    ValueError
        It is damaged, or of another kind or version.
    """
    try:
        text, digest, end = record.decode("ascii").split("\n")
        if end or hashlib.sha256(text.encode()).hexdigest() != digest:
            raise ValueError
        content: dict[str, Any] = json.loads(text)
        if content["motecrypt"] != kind or content["version"] != VERSION:
            raise ValueError
    except (KeyError, TypeError, RecursionError):
        raise ValueError from None
    return content
