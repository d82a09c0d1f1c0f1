"""Files that take the place of one that has become long: FILE is the newest, then FILE.1, FILE.2 and so on.

A kill between two steps leaves a gap in the numbers at most. Their order is that of the rows all the same,
and the next rotation fills the gap.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from motecrypt.base.errors import InputError
from motecrypt.base.paths import sync_folder


@dataclass(frozen=True)
class Rotation:
    """When a file is replaced, and what is kept.

    Attributes
    ----------
    file_bytes : a file that the next rows would make longer is replaced.
    kept : how many earlier files there are; the oldest is removed.
    """

    file_bytes: int
    kept: int

    def check(self, path: Path, head: bytes) -> None:
        """Refuse files that the next rotation would move and that are not ours.

        Raises
        ------
        InputError
            One of them is of another kind, or files cannot be renamed there.
        """
        folder = path.absolute().parent
        if path.is_symlink() or (folder.is_dir() and not os.access(folder, os.W_OK)):
            raise InputError(f"--csv {path}: cannot be renamed, which --csv-mb needs; name another file")
        for each in self.earlier(path):
            if os.path.lexists(each) and not _begins(each, head):
                raise InputError(f"--csv {path}: {each} is not an earlier file of it; move that away")
        beside = _beside(path)
        if os.path.lexists(beside) and not _is_unfinished(beside, head):
            raise InputError(f"--csv {path}: {beside} is not a new file of it; move that away")

    def ids(self, path: Path, most: int) -> set[str]:
        """What begins each of the last so many rows in the earlier files."""
        found: set[str] = set()
        for each in self.earlier(path):
            if len(found) >= most:
                break
            with suppress(FileNotFoundError), each.open("rb") as file:
                next(file, b"")
                last = deque((row.partition(b",")[0] for row in file), maxlen=most - len(found))
                found |= {row.decode(errors="replace") for row in last}
        return found

    def replace(self, path: Path, head: bytes) -> int:
        """Give the file the number 1, and begin another one with this head; the handle of that, locked."""
        beside = _beside(path)
        beside.unlink(missing_ok=True)
        handle = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(FileNotFoundError):  # it was moved before a fault
                os.fchmod(handle, path.stat().st_mode & 0o777)
            os.write(handle, head)
            os.fsync(handle)
            if path.exists():
                self._shift(path)
            beside.rename(path)
            sync_folder(path.absolute().parent)
            self._remove(path, head)
        except BaseException:
            os.close(handle)
            raise
        return handle

    def _shift(self, path: Path) -> None:
        numbers = range(1, self.kept)
        free = next((each for each in numbers if not _numbered(path, each).exists()), self.kept)
        for number in range(free, 0, -1):
            before = _numbered(path, number - 1) if number > 1 else path
            before.rename(_numbered(path, number))
            sync_folder(path.absolute().parent)  # before another file gets its name

    def _remove(self, path: Path, head: bytes) -> None:
        """Earlier files of ours that more were kept of before."""
        for number in count(self.kept + 1):
            if not _begins(_numbered(path, number), head):
                return
            with suppress(OSError):
                _numbered(path, number).unlink()

    def earlier(self, path: Path) -> Iterator[Path]:
        """Names of earlier files, the newest first."""
        return (_numbered(path, number) for number in range(1, self.kept + 1))


def _begins(path: Path, head: bytes) -> bool:
    """Whether it is a regular file with this head."""
    return _first(path, len(head)) == head


def _is_unfinished(path: Path, head: bytes) -> bool:
    """Whether it has no more than this head, of which a power cut may have left a part, or zeros."""
    begin = _first(path, len(head) + 1)
    return begin is not None and len(begin) <= len(head) and head.startswith(begin.rstrip(b"\0"))


def _first(path: Path, count: int) -> bytes | None:
    """The first `count` bytes of a regular file, or all that it has; None for anything else."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        return file.read(count) if stat.S_ISREG(os.fstat(handle).st_mode) else None


def _beside(path: Path) -> Path:
    """Where the next file is made before it gets its name."""
    return path.with_name(f".{path.name}.new")


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")
