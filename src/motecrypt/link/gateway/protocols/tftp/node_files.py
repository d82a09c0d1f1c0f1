"""Files that nodes read from a folder and put into one: what their transfers read and write."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from motecrypt.base.errors import MotecryptError
from motecrypt.base.paths import sync_folder
from motecrypt.link.file_parts import link_new, safe_name
from motecrypt.link.stored_files import NodeFiles, ShareUsed, tftp_name
from motecrypt.link.tftp.packets import TftpCode, TftpError

NAME = re.compile(r"(?!\.)[A-Za-z0-9._-]{1,40}")
"""A file's name at a node and in a folder: no path, nothing hidden."""
FILE_MAX = 1 << 24
"""Bytes of a file that a node puts."""


def checked_name(name: str) -> str:
    """A name that is no path.

    Raises
    ------
    TftpError
        It is none.
    """
    if not NAME.fullmatch(name):
        raise TftpError(TftpCode.NO_ACCESS, "no such name: letters, digits, '.', '_' and '-', 40 at most")
    return name


class FolderOutlet:
    """A regular file of a folder, for a node that reads it. No symbolic link is followed.

    Raises
    ------
    TftpError
        There is none of that name.
    """

    def __init__(self, folder: Path, name: str) -> None:
        path = folder / checked_name(name)
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            raise TftpError(
                TftpCode.NOT_FOUND if missing else TftpCode.NO_ACCESS, error.strerror or "no access"
            ) from None
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            os.close(handle)
            raise TftpError(TftpCode.NO_ACCESS, "not a regular file")
        self._file = os.fdopen(handle, "rb")
        self._size = found.st_size

    def size(self) -> int | None:
        """As it was when it was opened."""
        return self._size

    def ready(self) -> bool:
        """It is there."""
        return True

    def opened(self, size: int | None) -> None:
        """Nobody asks for it elsewhere."""

    def read(self, at: int, count: int) -> bytes | None:
        """The next bytes."""
        try:
            self._file.seek(at)
            return self._file.read(count)
        except OSError as error:
            raise TftpError(TftpCode.UNDEFINED, error.strerror or "cannot be read") from None

    def write(self, at: int, content: bytes, last: bool) -> None:
        """Nobody writes here."""
        raise TftpError(TftpCode.NO_ACCESS, "not to be written")

    def kept(self, at: int) -> bool:
        """Nobody writes here."""
        return True

    def close(self, error: TftpError | None) -> None:
        """Give it back."""
        self._file.close()


class FolderInlet:
    """A file that a node puts into a folder: hidden until it is whole and on the disk. It overwrites nothing.

    Parameters
    ----------
    taken : callable
        Gets the file's path and length once it has its name.
    stored : NodeFiles, optional
        What a node may have there.
    """

    def __init__(
        self,
        folder: Path,
        node: int,
        name: str,
        taken: Callable[[Path, int], None],
        stored: NodeFiles | None = None,
    ) -> None:
        self._folder, self._name, self._taken = folder, safe_name(checked_name(name).encode()), taken
        self._node, self._stored = node, stored
        self._hidden = folder / tftp_name(node)
        self._length = 0
        self._guarded(self._create)

    def _create(self) -> None:
        self._hidden.unlink(missing_ok=True)
        handle = os.open(self._hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._file = os.fdopen(handle, "wb")

    def size(self) -> int | None:
        """Nobody reads here."""
        return None

    def ready(self) -> bool:
        """It is there."""
        return True

    def opened(self, size: int | None) -> None:
        """Nobody asks for it elsewhere."""

    def read(self, at: int, count: int) -> bytes | None:
        """Nobody reads here."""
        raise TftpError(TftpCode.NO_ACCESS, "not to be read")

    def write(self, at: int, content: bytes, last: bool) -> None:
        """Take the next bytes; with the last ones the file gets its name."""
        if at + len(content) > FILE_MAX:
            raise TftpError(TftpCode.DISK_FULL, f"more than {FILE_MAX:,} bytes")
        self._guarded(lambda: self._write(at, content, last))

    def _write(self, at: int, content: bytes, last: bool) -> None:
        if self._stored is not None:
            self._stored.check(self._node, at + len(content), self._hidden.name)
        self._file.write(content)
        self._length += len(content)
        if not last:
            return
        self._file.flush()
        os.fsync(self._file.fileno())
        target = link_new(self._hidden, self._folder, self._name, self._node, self._stored)
        sync_folder(self._folder)
        self._taken(target, self._length)

    def kept(self, at: int) -> bool:
        """What was taken is there; the whole file is on the disk."""
        return True

    def close(self, error: TftpError | None) -> None:
        """Nothing more comes."""
        self._file.close()
        with suppress(OSError):
            self._hidden.unlink(missing_ok=True)

    def _guarded(self, act: Callable[[], None]) -> None:
        try:
            act()
        except ShareUsed as error:
            raise TftpError(TftpCode.DISK_FULL, "more than the share of this node") from error
        except (OSError, MotecryptError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise TftpError(TftpCode.DISK_FULL, why or "cannot be written") from None
