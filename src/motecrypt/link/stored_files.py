"""How many bytes the files of each node have in a folder, and how many they may have.

A list in the folder notes whose each file is. A file is noted before it gets its name, so that a crash leaves
none uncounted. Files that were removed, moved away or changed count no longer.
"""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.paths import written_atomically

LIST = ".motecrypt-files"
BLOCK = 4096
"""A file counts as whole blocks of this many bytes, and an empty one as one: so names have a bound, too."""
LOOK_S = 10.0
"""Seconds until it is looked again whether files of a node that has used its share were removed."""
SPARE_LINES = 1000
"""Lines in the list of files that were removed, besides as many as there are files; then it is rewritten."""


class ShareUsed(MotecryptError):
    """A node has as many bytes in the folder as it may."""


def part_name(node: int) -> str:
    """Where what has come of a node's file is kept."""
    return f".motecrypt-node{node}.part"


def tftp_name(node: int) -> str:
    """The same, of a file that a node puts by TFTP."""
    return f".motecrypt-tftp-node{node}"


class NodeFiles:
    """The files of nodes in one folder; used from several threads.

    Parameters
    ----------
    share : callable
        Bytes that the files of one node may have.
    clock : callable
        Seconds, of a monotonic clock.

    Raises
    ------
    InputError
        The list cannot be read or written.
    """

    def __init__(
        self, folder: Path, share: Callable[[], int], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._folder, self._share, self._clock = folder, share, clock
        self._lock = threading.Lock()
        self._files: dict[int, dict[str, int]] = {}
        self._looked_s: dict[int, float] = {}
        self._list = -1
        try:
            for node, name, length in self._noted():
                self._forget(name)
                self._files.setdefault(node, {})[name] = length
            for node in self._files:
                self._look(node)
            self._write()
        except OSError as error:
            raise InputError(
                f"{folder / LIST}: {error.strerror}; it lists whose the files of nodes are"
            ) from None

    def used(self, node: int) -> int:
        """Bytes of a node's complete files."""
        with self._lock:
            return self._used(node)

    def check(self, node: int, length: int, own: str) -> None:
        """A file of that length may come, or come so far; `own` is where it is kept meanwhile.

        Raises
        ------
        ShareUsed
            With it the node would have more than its share.
        """
        with self._lock:
            share, needed = self._share(), _blocks(length)
            needed += sum(self._length(name) or 0 for name in {part_name(node), tftp_name(node)} - {own})
            if self._used(node) + needed <= share:
                return
            now_s = self._clock()
            if now_s - self._looked_s.get(node, -LOOK_S) >= LOOK_S:
                self._looked_s[node] = now_s
                self._look(node)
            if (used := self._used(node)) + needed > share:
                raise ShareUsed(
                    f"node {node}: has files of {used:,} bytes in {self._folder}; {needed:,} more would "
                    f"exceed its share of --output-mb, {share:,} bytes; move files away or raise it"
                )

    def note(self, node: int, name: str, length: int) -> None:
        """A file is about to get this name."""
        with self._lock:
            self._forget(name)
            self._files.setdefault(node, {})[name] = length
            data = b"\n" + _line(node, name, length)  # what a full disk left of a line before stays apart
            while data:
                data = data[os.write(self._list, data) :]
            os.fdatasync(self._list)
            self._lines += 1
            if self._lines > SPARE_LINES + 2 * sum(map(len, self._files.values())):
                self._write()

    def close(self) -> None:
        """Let go of the list."""
        os.close(self._list)

    # --- the list

    def _noted(self) -> Iterator[tuple[int, str, int]]:
        try:
            handle = os.open(self._folder / LIST, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        with os.fdopen(handle, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    node, name, length = json.loads(line)
                except (ValueError, TypeError, RecursionError):
                    continue  # the power went while it was written, before its file had a name
                if isinstance(node, int) and isinstance(name, str) and isinstance(length, int):
                    yield node, name, length

    def _write(self) -> None:
        """The list, without files that were removed."""
        with written_atomically(self._folder / LIST) as file:
            os.fchmod(file.fileno(), 0o600)
            for node, files in self._files.items():
                for name, length in files.items():
                    file.write(_line(node, name, length))
        if self._list >= 0:
            os.close(self._list)
        self._list = os.open(self._folder / LIST, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._lines = sum(map(len, self._files.values()))

    # --- the folder

    def _used(self, node: int) -> int:
        return sum(map(_blocks, self._files.get(node, {}).values()))

    def _look(self, node: int) -> None:
        files = self._files.get(node, {})
        for name in [name for name, length in files.items() if self._length(name) != length]:
            del files[name]

    def _length(self, name: str) -> int | None:
        """Of a regular file; None where there is none."""
        try:
            found = (self._folder / name).lstat()
        except OSError:
            return None
        return found.st_size if stat.S_ISREG(found.st_mode) else None

    def _forget(self, name: str) -> None:
        for files in self._files.values():
            files.pop(name, None)


def _blocks(length: int) -> int:
    return max(1, -(-length // BLOCK)) * BLOCK


def _line(node: int, name: str, length: int) -> bytes:
    return json.dumps([node, name, length]).encode() + b"\n"
