"""A bundle as a zip file. What is read may come from anyone.

Reading trusts no name, size or count: an archive has few plain files with plain names, nothing is
unpacked to a path that it names, and what it expands to has a limit.
"""

from __future__ import annotations

import hashlib
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from motecrypt.base.errors import InputError
from motecrypt.base.paths import open_regular, written_atomically

FILES_MAX = 200
_PART = r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*"
NAME = re.compile(rf"{_PART}(/{_PART}){{0,2}}")
NAME_CHARACTERS_MAX = 100
BYTES_MAX = 1 << 30
"""Of all files together, unpacked."""
EXPANSION_MAX = 200
"""How many times its packed size a file may have, if it is more than a megabyte."""
_SMALL = 1 << 20
_PIECE = 1 << 20
_DATE = (1980, 1, 1, 0, 0, 0)  # zip's first day: equal contents give equal bytes

# The end of a zip file (APPNOTE 4.3.16): signature, two disk numbers, two counts of entries, size and offset
# of the directory, length of a comment. 4.3.15: the locator of a 64-bit directory would be before it.
_END = struct.Struct("<4s4H2LH")
_END_SIGNATURE = b"PK\5\6"
_LOCATOR_BYTES = 20
_LOCATOR_SIGNATURE = b"PK\6\7"
_DIRECTORY_BYTES_MAX = FILES_MAX * 300

_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError),
    *(ValueError, OverflowError, struct.error, OSError),
)


def digest(file: BinaryIO) -> str:
    """SHA-256 of what is left of a file."""
    made = hashlib.sha256()
    while piece := file.read(_PIECE):
        made.update(piece)
    return made.hexdigest()


@contextmanager
def space_told(folder: Path) -> Iterator[None]:
    """Files written to a temporary folder: InputError where the disk is full."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{folder.parent}: cannot be written: {error.strerror}; free some space, or set TMPDIR "
            "to another folder"
        ) from None


def write(path: Path, files: Mapping[str, Path]) -> None:
    """Write a bundle of these files by their names in it, in this order; the whole file or none.

    Raises
    ------
    InputError
        If the files are too many or too large for a bundle, or cannot be written.
    """
    with written_atomically(path) as whole:
        with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED, allowZip64=False, compresslevel=6) as archive:
            for name, source in files.items():
                info = zipfile.ZipInfo(name, _DATE)
                info.external_attr = (stat.S_IFREG | 0o644) << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                info.file_size = source.stat().st_size
                if info.file_size > BYTES_MAX:
                    raise InputError(f"{path}: {name} has more than {BYTES_MAX:,} bytes")
                with archive.open(info, "w") as to, source.open("rb") as own:
                    while piece := own.read(_PIECE):
                        to.write(piece)
        whole.flush()
        whole.seek(0)
        with _Reader(path, whole):  # what we would refuse to read is not written
            pass


class Bundle:
    """A bundle that is read: `names`, and the files by their names.

    Parameters
    ----------
    path
        The zip file.

    Raises
    ------
    InputError
        In one line, for what is not a bundle, or has more or other entries than a bundle has.
    """

    def __init__(self, path: Path) -> None:
        self._file = open_regular(path)
        try:
            self._reader = _Reader(path, self._file)
        except BaseException:
            self._file.close()
            raise

    @property
    def names(self) -> tuple[str, ...]:
        """All files, in the order of the archive."""
        return tuple(self._reader.entries)

    @property
    def sha256(self) -> str:
        """The hash of the archive itself."""
        self._file.seek(0)
        return digest(self._file)

    def size(self, name: str) -> int:
        """How many bytes a file has."""
        return self._reader.entries[name].file_size

    def pieces(self, name: str) -> Iterator[bytes]:
        """A file's bytes, in pieces; InputError where they are damaged or more than announced."""
        return self._reader.pieces(name)

    def read(self, name: str, bytes_max: int) -> bytes:
        """A whole file; InputError where it is longer than that."""
        data = b""
        for piece in self.pieces(name):
            data += piece
            if len(data) > bytes_max:
                raise self._reader.refused(f"{name} has more than {bytes_max:,} bytes")
        return data

    def hash(self, name: str) -> str:
        """SHA-256 of a file."""
        made = hashlib.sha256()
        for piece in self.pieces(name):
            made.update(piece)
        return made.hexdigest()

    def copy(self, name: str, to: Path) -> None:
        """Copy a file to a path of ours; InputError where the disk is full."""
        with space_told(to.parent), to.open("wb") as file:
            for piece in self.pieces(name):
                file.write(piece)

    def __enter__(self) -> Bundle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._reader.close()
        self._file.close()


class _Reader:
    """The checked entries of an archive."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        with self._told():
            self._check_end(file)
            self._archive = zipfile.ZipFile(file)
        self.entries: dict[str, zipfile.ZipInfo] = {}
        for info in self._archive.infolist():
            self._check(info)
            self.entries[info.filename] = info
        size = sum(info.file_size for info in self.entries.values())
        if size > BYTES_MAX:
            raise self.refused(f"expands to {size:,} bytes; {BYTES_MAX:,} are the most")

    def refused(self, why: str) -> InputError:
        """The complaint about this archive."""
        return InputError(f"{self._path}: not a bundle of motecrypt: {why}")

    @contextmanager
    def _told(self, name: str = "") -> Iterator[None]:
        where = f"{name} is damaged: " if name else ""
        try:
            yield
        except _BROKEN as error:
            raise self.refused(f"{where}{' '.join(str(error).split()) or type(error).__name__}") from None

    def _check_end(self, file: BinaryIO) -> None:
        """Before the directory is read: a directory may be of any length."""
        size = file.seek(0, 2)
        tail = min(size, _END.size + _LOCATOR_BYTES)
        file.seek(size - tail)
        end = file.read(tail)
        if len(end) < _END.size or end[-_END.size :][:4] != _END_SIGNATURE:
            raise self.refused("it does not end as a zip file without a comment does")
        if end[: -_END.size].startswith(_LOCATOR_SIGNATURE):
            raise self.refused("it has a 64-bit directory")
        _, _, _, _, count, length, _, _ = _END.unpack(end[-_END.size :])
        if count > FILES_MAX or length > _DIRECTORY_BYTES_MAX:
            raise self.refused(f"it has more than {FILES_MAX} files")
        file.seek(0)

    def _check(self, info: zipfile.ZipInfo) -> None:
        shown = repr(info.orig_filename[:NAME_CHARACTERS_MAX])
        if len(info.filename) > NAME_CHARACTERS_MAX or info.filename != info.orig_filename:
            raise self.refused(f"a file has the name {shown}")
        if not NAME.fullmatch(info.filename):
            raise self.refused(f"a file has the name {shown}")
        if info.filename in self.entries:
            raise self.refused(f"{shown} is there twice")
        if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
            raise self.refused(f"{shown} is not a regular file")
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise self.refused(f"{shown} is encrypted, or packed with another method than deflate")
        if info.file_size > max(_SMALL, EXPANSION_MAX * info.compress_size):
            raise self.refused(f"{shown} expands to more than {EXPANSION_MAX} times its packed size")

    def pieces(self, name: str) -> Iterator[bytes]:
        info = self.entries.get(name)
        if info is None:
            raise self.refused(f"{name} is missing")
        left = info.file_size
        with self._told(name), self._archive.open(info) as file:
            while piece := file.read(min(_PIECE, left + 1)):
                left -= len(piece)
                if left < 0:
                    raise self.refused(f"{name} has more bytes than announced")
                yield piece
        if left:
            raise self.refused(f"{name} has fewer bytes than announced")

    def close(self) -> None:
        self._archive.close()

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
