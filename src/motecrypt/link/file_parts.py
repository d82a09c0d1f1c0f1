"""Files over the link (docs/link.md, Files): an announcement, pieces in order, and an end.

Each part is a message of the type FILE. A part is accepted only when it is kept, and the end only when the
file is whole, its digest is right and it has its name: so a sender that was reported "accepted" of the end
knows that the file is there. What has come is kept in two hidden files, so that the receiver may start again.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import secrets
import stat
import struct
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from motecrypt.base.errors import MotecryptError
from motecrypt.base.paths import sync_folder
from motecrypt.link.stored_files import NodeFiles, part_name

ANNOUNCEMENT, PIECE, END = 1, 2, 3
_ANNOUNCEMENT = struct.Struct("<B4sI32s")
_PIECE = struct.Struct("<B4sI")
_END = struct.Struct("<B4s")
NAME_MAX = 100
"""Bytes of a name."""
NAMES_MAX = 1000
"""Files of one name in a folder, name, name-2 ...; then as many of each node, name-node5, name-node5-2 ..."""
REMEMBERED = 16
"""Files of each node that are over: as many messages as may come late."""
LENGTH_MAX = 2**32 - 1


def file_parts(name: str, content: bytes, longest: int) -> Iterator[bytes]:
    """The messages that carry a file, none longer than `longest` bytes, which is 42 at least."""
    label = secrets.token_bytes(4)
    short_name = Path(name).name.encode(errors="replace")[: min(NAME_MAX, longest - _ANNOUNCEMENT.size)]
    digest = hashlib.sha256(content).digest()
    yield _ANNOUNCEMENT.pack(ANNOUNCEMENT, label, len(content), digest) + short_name
    room = longest - _PIECE.size
    for start in range(0, len(content), room):
        yield _PIECE.pack(PIECE, label, start) + content[start : start + room]
    yield _END.pack(END, label)


@dataclass(frozen=True)
class FileReceived:
    """A file that is whole and whose digest is right."""

    path: Path
    length: int


@dataclass(frozen=True)
class _Arriving:
    """What a node has announced."""

    label: bytes
    length: int
    digest: bytes
    name: str


class FileCollector:
    """Puts files together in a folder, one of each node at a time.

    Parameters
    ----------
    folder : Path
        Must exist. Nothing there is overwritten, and no symbolic link there is followed.
    keeping : bool
        Whether a file that is whole keeps its hidden files until `settled`: for who notes it elsewhere
        first. Its end may come again until then, and gives the same file.
    stored : NodeFiles, optional
        What a node may have there.
    """

    def __init__(self, folder: Path, keeping: bool = False, stored: NodeFiles | None = None) -> None:
        self._folder, self._keeping, self._stored = folder, keeping, stored
        self._ended: dict[int, bytes] = {}
        self._whole: dict[int, deque[bytes]] = {}
        self._given_up: dict[int, deque[bytes]] = {}

    def take(self, node: int, part: bytes) -> FileReceived | None:
        """One part of a file of that node.

        Returns
        -------
        FileReceived or None
            The file, when this was its end.

        Raises
        ------
        MotecryptError
            The part is not taken, and why.
        """
        kind = part[:1]
        try:
            if kind == bytes([ANNOUNCEMENT]) and len(part) >= _ANNOUNCEMENT.size:
                self._announce(node, part)
                return None
            if kind == bytes([PIECE]) and len(part) >= _PIECE.size:
                self._piece(node, part)
                return None
            if kind == bytes([END]) and len(part) == _END.size:
                return self._end(node, part)
        except OSError as error:
            raise MotecryptError(f"{self._folder}: {error.strerror}; the file was not accepted") from None
        raise MotecryptError(f"node {node}: a part of a file of an unknown kind ({kind.hex() or 'empty'})")

    def _places(self, node: int) -> tuple[Path, Path]:
        """Where the announcement is kept, and what has come."""
        return self._folder / f".motecrypt-node{node}.announced", self._folder / part_name(node)

    def _check(self, node: int, length: int) -> None:
        if self._stored is not None:
            self._stored.check(node, length, part_name(node))

    def _arriving(self, node: int) -> _Arriving | None:
        announced, _ = self._places(node)
        try:
            handle = _open_own(announced, os.O_RDONLY)
        except FileNotFoundError:
            return None
        with os.fdopen(handle, "rb") as file:
            text = file.read()
        if len(text) < _ANNOUNCEMENT.size:
            return None  # the power went while it was written
        _, label, length, digest = _ANNOUNCEMENT.unpack_from(text)
        return _Arriving(label, length, digest, safe_name(text[_ANNOUNCEMENT.size :]))

    def _over(self, node: int, label: bytes) -> bool:
        """Whether a file is whole already, so that what comes late of it changes nothing."""
        if label in self._given_up.get(node, ()):
            raise MotecryptError(f"node {node}: a late part of a discarded file")
        return label in self._whole.get(node, ())

    def _announce(self, node: int, part: bytes) -> None:
        label = part[1:5]
        known = self._arriving(node)
        if self._over(node, label) or (known is not None and known.label == label):
            return
        self._check(node, _ANNOUNCEMENT.unpack_from(part)[2])
        if known is not None:
            _remember(self._given_up, node, known.label)
        self._ended.pop(node, None)
        announced, arrived = self._places(node)
        for place, content in ((arrived, b""), (announced, part[: _ANNOUNCEMENT.size + NAME_MAX])):
            place.unlink(missing_ok=True)
            handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(content)

    def _piece(self, node: int, part: bytes) -> None:
        _, label, start = _PIECE.unpack_from(part)
        if self._over(node, label):
            return
        arriving = self._known(node, label)
        content = part[_PIECE.size :]
        if start + len(content) > arriving.length:
            raise MotecryptError(f"file {arriving.name}: a piece beyond its end")
        self._check(node, start + len(content))
        handle = _open_own(self._places(node)[1], os.O_WRONLY)
        try:
            found = os.fstat(handle)
            if found.st_nlink > 1:  # a power cut brought back the hidden name of a file that is delivered
                raise MotecryptError(f"file {arriving.name}: its received parts were lost")
            if start > found.st_size:
                raise MotecryptError(f"file {arriving.name}: an earlier piece is missing")
            while content:
                written = os.pwrite(handle, content, start)
                start, content = start + written, content[written:]
        finally:
            os.close(handle)

    def _known(self, node: int, label: bytes) -> _Arriving:
        arriving = self._arriving(node)
        if arriving is None or arriving.label != label:
            raise MotecryptError(f"node {node}: a part of a file that was not announced")
        return arriving

    def _end(self, node: int, part: bytes) -> FileReceived | None:
        _, label = _END.unpack(part)
        if self._over(node, label):
            return None
        arriving = self._known(node, label)
        _, arrived = self._places(node)
        if not os.path.lexists(arrived):
            return self._named_before(node, arriving)
        handle = _open_own(arrived, os.O_RDONLY)
        with os.fdopen(handle, "rb") as file:
            length = os.fstat(handle).st_size
            if length != arriving.length:
                raise MotecryptError(f"file {arriving.name}: {length} of its {arriving.length} bytes arrived")
            if hashlib.file_digest(file, "sha256").digest() != arriving.digest:
                self._drop(node, label)
                raise MotecryptError(f"file {arriving.name}: arrived with a wrong digest")
            self._sync_parts(node, handle, label)
            target = link_new(arrived, self._folder, arriving.name, node, self._stored)
        try:
            sync_folder(self._folder)
        except OSError:
            with suppress(OSError):
                target.unlink()  # it is refused, and comes again
            raise
        self._ended[node] = label
        if not self._keeping:
            self.settled()
        return FileReceived(target, length)

    def _sync_parts(self, node: int, arrived: int, label: bytes) -> None:
        """The announcement, too: when the end comes again after a power cut, it is to find what it names."""
        try:
            os.fsync(arrived)
            announced = _open_own(self._places(node)[0], os.O_RDONLY)
            try:
                os.fsync(announced)
            finally:
                os.close(announced)
            sync_folder(self._folder)
        except OSError:
            self._drop(node, label)  # a sync that failed may have lost any of it
            raise

    def _named_before(self, node: int, arriving: _Arriving) -> FileReceived:
        """A file that has its name, but of which the sender may not have received so."""
        for target in _names(self._folder, arriving.name, node):
            if target.is_symlink() or not target.is_file():
                continue
            with os.fdopen(_open_own(target, os.O_RDONLY), "rb") as file:
                if hashlib.file_digest(file, "sha256").digest() == arriving.digest:
                    sync_folder(self._folder)
                    self._ended[node] = arriving.label
                    if not self._keeping:
                        self.settled()
                    return FileReceived(target, arriving.length)
        raise MotecryptError(f"file {arriving.name}: its received parts were lost")

    def settled(self) -> None:
        """The complete files so far have been recorded: ignore further fragments of them."""
        for node, label in self._ended.items():
            _remember(self._whole, node, label)
            announced, arrived = self._places(node)
            arrived.unlink(missing_ok=True)
            announced.unlink(missing_ok=True)
        self._ended.clear()

    def forget(self) -> None:
        """The complete files that were not recorded stay open: their end may come again."""
        self._ended.clear()

    def _drop(self, node: int, label: bytes) -> None:
        _remember(self._given_up, node, label)
        for place in self._places(node):
            place.unlink(missing_ok=True)


def safe_name(name: bytes) -> str:
    """A file's name from the air: its last part, without what plays tricks with terminals or shells."""
    text = name.decode("utf-8", "replace").replace("\\", "/").rpartition("/")[2]
    shown = "".join(letter if letter.isprintable() else "_" for letter in text).strip()
    if shown.startswith((".", "-", "~")):
        shown = "_" + shown[1:]
    return shown or "unnamed"


def _open_own(path: Path, flags: int) -> int:
    """A regular file, and no link to one elsewhere."""
    handle = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise MotecryptError(f"{path}: not a regular file; remove it")
    return handle


def link_new(source: Path, folder: Path, name: str, node: int, stored: NodeFiles | None = None) -> Path:
    """Give a node's file a name that nothing has: a link replaces nothing and follows nothing."""
    found = source.lstat()
    for target in _names(folder, name, node):
        try:
            if stored is not None:
                if os.path.lexists(target):
                    raise FileExistsError
                stored.note(node, target.name, found.st_size)
            _give_name(source, target)
        except FileExistsError:
            if not target.is_symlink() and target.exists() and os.path.samestat(target.stat(), found):
                return target  # it has that name since before a restart
            continue
        return target
    raise MotecryptError(f"{folder}: {NAMES_MAX} files of node {node} have the name {name}")


def _names(folder: Path, name: str, node: int) -> Iterator[Path]:
    """The places that a node's file may get, the best first: those of all nodes, then its own."""
    stem, suffix = Path(name).stem, Path(name).suffix
    for begin in (stem, f"{stem}-node{node}"):
        yield folder / f"{begin}{suffix}"
        for number in range(2, NAMES_MAX + 1):
            yield folder / f"{begin}-{number}{suffix}"


_NO_HARD_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)
_AT_FDCWD, _RENAME_NOREPLACE = -100, 1


def _give_name(source: Path, target: Path) -> None:
    """A hard link; on a file system without them, such as FAT, a rename that replaces nothing.

    Raises
    ------
    FileExistsError
        Something has that name.
    MotecryptError
        The file system can neither.
    """
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
    else:
        return
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    failed = rename is None or rename(
        _AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target), _RENAME_NOREPLACE
    )
    if failed:
        if rename is not None and ctypes.get_errno() == errno.EEXIST:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        raise MotecryptError(
            f"{target.parent}: its file system supports neither hard links nor renaming without replacing; "
            "choose another folder"
        )


def _remember(labels: dict[int, deque[bytes]], node: int, label: bytes) -> None:
    labels.setdefault(node, deque(maxlen=REMEMBERED)).append(label)
