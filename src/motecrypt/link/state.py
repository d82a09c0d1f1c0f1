"""What must outlive a crash: the sender's counter and the receiver's replay window.

A file is replaced as a whole (written beside, synced, renamed), so a crash at any point leaves the old
state or the new one. Both files carry a digest: a damaged one stops the program, because guessing a
counter would reuse a nonce, and guessing a window would accept a replay.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from motecrypt.errors import InputError, MotecryptError
from motecrypt.paths import read_regular

COUNTER_MAX = 2**32 - 1
RESERVE = 64
"""Counters claimed on disk at once: a crash skips at most this many, and never repeats one."""

WINDOW = 64
"""How far behind the highest counter a late message may be."""

STREAMS_MAX = 1024

RECORD_BYTES_MAX = 1 << 20
"""A window of so many streams takes a tenth of it."""


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


class FileStore:
    """A record in a file, locked against a second program for as long as this object lives.

    Raises
    ------
    InputError
        The file or its folder cannot be used, or another program holds it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._lock: int | None = os.open(
                path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
            )
        except OSError as error:
            raise InputError(f"state file {path}: {error.strerror}; choose one with --state") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise InputError(f"state file {path}: another program is using it; stop that one first") from None

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
            handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(record)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self.path)
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise MotecryptError(f"state file {self.path}: cannot be written: {error.strerror}") from None

    def close(self) -> None:
        """Let another program have the file."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _pack(kind: str, content: dict[str, Any]) -> bytes:
    text = json.dumps({"motecrypt": kind, "version": 1, **content}, sort_keys=True)
    return (text + "\n" + hashlib.sha256(text.encode()).hexdigest() + "\n").encode()


def _unpack(kind: str, record: bytes) -> dict[str, Any]:
    try:
        text, digest, end = record.decode("ascii").split("\n")
        if end or hashlib.sha256(text.encode()).hexdigest() != digest:
            raise ValueError
        content = json.loads(text)
        if content["motecrypt"] != kind or content["version"] != 1:
            raise ValueError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _damaged(kind) from None
    return dict(content)


def _damaged(kind: str) -> InputError:
    return InputError(
        f"the {kind} file is damaged, and to guess would be unsafe; "
        "put a new key on both ends and remove the old state files"
    )


def _whole(value: Any, highest: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= highest


class Counters:
    """The sender's frame counters under one key: each is given out once, whatever crashes.

    A stream number, random when the file is first made, stands in every nonce beside the counter; so a
    lost file begins a new stream instead of repeating an old one.

    Parameters
    ----------
    store : Store
    key : bytes
        A file made under another key is refused.
    """

    def __init__(self, store: Store, key: bytes) -> None:
        self._store = store
        self._name = hashlib.sha256(b"motecrypt counter" + key).hexdigest()[:16]
        record = store.read()
        if record is None:
            # The top bit tells streams of hosts from the fixed numbers of motes.
            self.stream = secrets.randbits(31) | 1 << 31
            self._next = 0
        else:
            content = _unpack("counter", record)
            if content.get("key") != self._name:
                raise InputError(
                    "the counter file belongs to another key; give this key its own with --state"
                )
            stream, following = content.get("stream"), content.get("next")
            if not _whole(stream, 2**32 - 1) or not _whole(following, COUNTER_MAX + 1):
                raise _damaged("counter")
            self.stream, self._next = int(stream or 0), int(following or 0)
        self._reserved = self._next

    def take(self) -> int:
        """A counter that was never given out before.

        Raises
        ------
        MotecryptError
            All 2^32 are used up: a new key is needed.
        """
        if self._next > COUNTER_MAX:
            raise MotecryptError("all counters of this key are used; put a new key on both ends")
        if self._next == self._reserved:
            reserved = min(self._next + RESERVE, COUNTER_MAX + 1)
            self._store.write(_pack("counter", {"key": self._name, "stream": self.stream, "next": reserved}))
            self._reserved = reserved
        counter = self._next
        self._next += 1
        return counter


@dataclass
class _Stream:
    """Counters seen: the highest, and a bit for each of the WINDOW below it (bit 0 is the highest)."""

    highest: int
    seen: int
    handed_over: int = field(default=0)


def _streams(content: Any) -> dict[int, _Stream]:
    """The streams of a stored window: a digest keeps chance out, not a program that writes its own."""
    if not isinstance(content, dict) or len(content) > STREAMS_MAX:
        raise _damaged("window")
    streams = {}
    for name, figures in content.items():
        sound = name.isascii() and name.isdigit() and len(name) <= 10 and isinstance(figures, list)
        if not sound or len(figures) != 3:
            raise _damaged("window")
        highest, seen, handed_over = figures
        masks = _whole(seen, 2**WINDOW - 1) and _whole(handed_over, 2**WINDOW - 1)
        if not _whole(int(name), 2**32 - 1) or not _whole(highest, COUNTER_MAX) or not masks:
            raise _damaged("window")
        streams[int(name)] = _Stream(highest, seen, handed_over)
    return streams


class Window:
    """The receiver's replay window: which counters of each stream have been accepted.

    A counter passes through two steps: `claim` writes to disk that it is seen, before the message goes
    to the program; `confirm` notes that the program has it. After a crash between the two the message
    may or may not have reached the program, so it is neither handed over again nor acknowledged.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._streams: dict[int, _Stream] = {}
        record = store.read()
        if record is not None:
            self._streams = _streams(_unpack("window", record).get("streams"))

    def seen(self, stream: int, counter: int) -> bool:
        """Whether that counter was accepted before, or is too old to tell."""
        state = self._streams.get(stream)
        if state is None or counter > state.highest:
            return False
        age = state.highest - counter
        return age >= WINDOW or bool(state.seen >> age & 1)

    def handed_over(self, stream: int, counter: int) -> bool:
        """Whether the program has that message for certain."""
        state = self._streams.get(stream)
        if state is None or not 0 <= state.highest - counter < WINDOW:
            return False
        return bool(state.handed_over >> (state.highest - counter) & 1)

    def claim(self, stream: int, counter: int) -> None:
        """Note on disk that this counter is accepted; from here on it is a replay."""
        state = self._streams.get(stream)
        if state is None:
            if len(self._streams) >= STREAMS_MAX:
                raise MotecryptError(f"more than {STREAMS_MAX} streams under one key; renew the key")
            self._streams[stream] = _Stream(counter, 1)
            self.save()
            return
        ahead = counter - state.highest
        if ahead > 0:
            mask = (1 << WINDOW) - 1
            shift = min(ahead, WINDOW)
            state.seen = state.seen << shift & mask
            state.handed_over = state.handed_over << shift & mask
            state.highest = counter
        state.seen |= 1 << (state.highest - counter)
        self.save()

    def save(self) -> None:
        """Write the window; `claim` does, and a program that ends cleanly should."""
        self._store.write(
            _pack(
                "window",
                {"streams": {str(n): [s.highest, s.seen, s.handed_over] for n, s in self._streams.items()}},
            )
        )

    def confirm(self, stream: int, counter: int) -> None:
        """Note that the program has the message; written with the next claim or save."""
        state = self._streams[stream]
        if 0 <= state.highest - counter < WINDOW:
            state.handed_over |= 1 << (state.highest - counter)
