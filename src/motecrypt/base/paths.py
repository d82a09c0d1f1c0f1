"""Where motecrypt keeps what it makes: caches and results, never inside the package."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from motecrypt.base.errors import InputError

_SQLITE = b"SQLite format 3\0"


def _home(variable: str, fallback: str) -> Path:
    value = os.environ.get(variable)
    if value:
        return Path(value)
    try:
        return Path.home() / fallback
    except RuntimeError as error:
        raise InputError(f"this user has no home directory; set HOME or {variable}") from error


def cache_dir() -> Path:
    """Built firmware, drivers and fetched sources: safe to delete. MOTECRYPT_CACHE overrides.

    Absolute and without symbolic links: compilers run elsewhere, and say where they are.
    """
    own = os.environ.get("MOTECRYPT_CACHE")
    place = Path(own) if own else _home("XDG_CACHE_HOME", ".cache") / "motecrypt"
    try:
        return place.resolve()
    except (OSError, RuntimeError) as error:
        raise InputError(f"{place}: no place for a cache: {error}") from error


def default_results() -> Path:
    """The results file used when neither --db nor MOTECRYPT_DB names one."""
    own = os.environ.get("MOTECRYPT_DB")
    return Path(own) if own else _home("XDG_DATA_HOME", ".local/share") / "motecrypt" / "results.db"


def make_dir(path: Path) -> Path:
    """Create a directory and its parents; InputError where that is impossible."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be created: {error.strerror}") from error
    return path


def open_regular(path: Path) -> BinaryIO:
    """A regular file, open for reading. A pipe that nobody writes to is not waited for.

    Raises
    ------
    InputError
        It is missing, unreadable, or a folder, a pipe or a device.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:  # a zero byte in its name
        raise InputError(f"{str(path)!r}: cannot be read: {error}") from None
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        what = "Is a directory" if stat.S_ISDIR(mode) else "not a regular file"
        raise InputError(f"{path}: cannot be read: {what}")
    return os.fdopen(handle, "rb")


def read_regular(path: Path, bytes_max: int = 64 << 20) -> bytes:
    """All bytes of a regular file.

    Raises
    ------
    InputError
        As with `open_regular`; or the file has more bytes than that.
    """
    with open_regular(path) as file:
        try:
            data = file.read(bytes_max + 1)
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if len(data) > bytes_max:
        raise InputError(f"{path}: longer than {bytes_max:,} bytes")
    return data


def write_atomically(path: Path, data: bytes) -> None:
    """Write a whole file or none, as `written_atomically` does."""
    with written_atomically(path) as file:
        file.write(data)


def check_replaceable(path: Path) -> None:
    """Refuse to write over a pipe or a device, and over a database: it may be the results file itself.

    Raises
    ------
    InputError
        One line that says what to do instead. What cannot be looked at is left for the writing itself.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISREG(mode):
            with path.open("rb") as file:
                database = file.read(len(_SQLITE)) == _SQLITE
            if database:
                raise InputError(f"{path}: is a database, such as a results file; give another name")
        elif not stat.S_ISDIR(mode):
            raise InputError(f"{path}: is not a regular file; give another name")
    except (OSError, ValueError):
        pass


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk: a new file is lost with its name.

    Where the file system cannot do that, or the folder may not be read, nothing happens, as with SQLite.
    """
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EINVAL):
            raise


@contextmanager
def written_atomically(path: Path) -> Iterator[BinaryIO]:
    """A file to write to that takes its place when the block ends without an exception: a temporary file next
    to it, then a rename.

    A new file has the permissions that the umask leaves; one that is replaced keeps its own. Only a regular
    file that is no database is replaced.
    """
    check_replaceable(path)
    make_dir(path.parent)
    temporary = path.with_name(f".{path.name[:200]}.{os.urandom(6).hex()}")
    try:
        handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            with os.fdopen(handle, "w+b") as file:
                if path.is_file():
                    os.fchmod(handle, path.stat().st_mode & 0o777)
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written: {error.strerror}; free some space or choose another place"
        ) from error
