"""A new file that appears whole under its name or not at all.

Where the file system can (O_TMPFILE), the file has no name until it is finished, so that a kill leaves
nothing behind; elsewhere a hidden file next to the target is renamed. Independent of format and cipher.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from motecrypt.base.errors import InputError
from motecrypt.base.paths import sync_folder

_OPEN_FILES = "/proc/self/fd"
_NO_UNNAMED_FILES = (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL)


def check_target(source: Path, target: Path, force: bool) -> None:
    """Refuse early what `NewFile` would refuse late: a target that exists or is the source itself.

    Raises
    ------
    InputError
        One line that says what to do instead.
    """
    try:
        same = target.samefile(source)
    except OSError:
        same = False
    if same:
        raise InputError(f"{target}: is the source itself; give the new file another name")
    if target.is_dir():
        raise InputError(f"{target}: is a directory; give a file's name")
    if target.exists() and not target.is_file():
        raise InputError(f"{target}: is not a regular file; give another name")
    if not target.parent.is_dir():
        raise InputError(f"{target}: its directory does not exist; make it first")
    if (target.exists() or target.is_symlink()) and not force:
        raise InputError(f"{target}: exists already; give another name, or --force to replace it")


class NewFile:
    """A file being written; used as a context manager. Without `keep()` nothing of it remains.

    Parameters
    ----------
    target
        Its name once it is kept. An existing file stays as it is until then.
    force
        Whether an existing file may be replaced; otherwise `keep` refuses, even if it came meanwhile.
    mode
        Permission bits; execution bits and the umask's are taken off. None: those of the file that is
        replaced, or, where there is none, its owner's alone.
    """

    def __init__(self, target: Path, *, force: bool = False, mode: int | None = None) -> None:
        self._target = target
        self._force = force
        self._mode = None if mode is None else mode & 0o666
        self._handle: int
        self._part: Path | None = None

    def __enter__(self) -> NewFile:
        with self._errors():
            self._handle, self._part = _open_unnamed(self._target)
        return self

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Append all of the data.

        Raises
        ------
        InputError
            The disk is full, or whatever else keeps it from being written.
        """
        rest = memoryview(data)
        with self._errors():
            while rest:
                rest = rest[os.write(self._handle, rest) :]

    def keep(self) -> None:
        """Make it durable and give it its name."""
        folder = self._target.parent
        with self._errors():
            os.fchmod(self._handle, self._permissions())
            os.fsync(self._handle)
            if self._part is None and not self._force:
                self._link(self._target)
            else:
                if self._part is None:
                    part = _part_name(self._target)
                    self._link(part)
                    self._part = part
                if self._force:
                    self._part.replace(self._target)
                else:
                    os.link(self._part, self._target)  # a link, unlike a rename, replaces nothing
                    self._part.unlink()
                self._part = None
            sync_folder(folder)

    def _permissions(self) -> int:
        if self._mode is None:
            return self._target.stat().st_mode & 0o777 if self._target.is_file() else 0o600
        umask = os.umask(0o077)
        os.umask(umask)
        return self._mode & ~umask

    def _link(self, name: Path) -> None:
        # With a directory's descriptor (unused: the path is absolute) Python calls linkat and follows.
        os.link(f"{_OPEN_FILES}/{self._handle}", name, src_dir_fd=self._handle, follow_symlinks=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._handle)
        if self._part is not None:
            self._part.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except FileExistsError:
            raise InputError(
                f"{self._target}: exists already; give another name, or --force to replace it"
            ) from None
        except OSError as error:
            raise InputError(
                f"{self._target}: cannot be written: {error.strerror}; free some space or choose "
                f"another place"
            ) from None


def _part_name(target: Path) -> Path:
    return target.with_name(f".{target.name[:200]}.{secrets.token_hex(6)}.part")


def _open_unnamed(target: Path) -> tuple[int, Path | None]:
    try:
        if Path(_OPEN_FILES).is_dir():
            return os.open(target.parent, os.O_RDWR | os.O_TMPFILE, 0o600), None
    except OSError as error:
        if error.errno not in _NO_UNNAMED_FILES or not target.parent.is_dir():
            raise
    part = _part_name(target)
    return os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), part


def open_source(source: Path) -> tuple[int, int, int]:
    """Open a regular file for reading: its descriptor, its size in bytes and its permission bits.

    Raises
    ------
    InputError
        It is missing, unreadable, or not a regular file (its size must be known in advance).
    """
    try:
        handle = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(f"{source}: cannot be read: {error.strerror}; give a file's name") from None
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise InputError(f"{source}: is not a regular file; give a file's name")
    return handle, status.st_size, status.st_mode
