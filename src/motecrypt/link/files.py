"""What safe messages carry: a plain message, or a piece of a file. The first byte tells which.

A file is announced with its name, length and digest, then sent in pieces that each name their place, so
a piece that comes twice or late does no harm. It appears under its name once it is whole and its digest
is right; until then it is a hidden ``.part`` file beside it.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from motecrypt.errors import MotecryptError

PLAIN, ANNOUNCEMENT, PIECE = range(3)
_ANNOUNCEMENT = struct.Struct(">4sI32s")
_PIECE = struct.Struct(">4sI")
NAME_MAX = 100
OPEN_FILES_MAX = 8


def plain(message: bytes) -> bytes:
    """A plain message as it is sealed."""
    return bytes([PLAIN]) + message


def file_messages(name: str, content: bytes, longest: int) -> Iterator[bytes]:
    """The messages that carry a file, none longer than `longest` bytes."""
    digest = hashlib.sha256(content).digest()
    label = digest[:4]
    short_name = Path(name).name.encode()[: min(NAME_MAX, longest - 1 - _ANNOUNCEMENT.size)]
    yield bytes([ANNOUNCEMENT]) + _ANNOUNCEMENT.pack(label, len(content), digest) + short_name
    room = longest - 1 - _PIECE.size
    for start in range(0, len(content), room):
        yield bytes([PIECE]) + _PIECE.pack(label, start) + content[start : start + room]


@dataclass
class _Arriving:
    name: str
    length: int
    digest: bytes
    part: Path
    here: set[tuple[int, int]] = field(default_factory=set)

    def bytes_here(self) -> int:
        return sum(end - start for start, end in self.here)


@dataclass(frozen=True)
class FileReceived:
    """A file that is whole and whose digest is right."""

    path: Path
    length: int


class FileCollector:
    """Puts files together in a folder.

    Parameters
    ----------
    folder : Path
        Must exist. Names from the air are cut to their last part; nothing there is overwritten.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._arriving: dict[bytes, _Arriving] = {}

    def take(self, message: bytes) -> bytes | FileReceived | None:
        """One accepted message.

        Returns
        -------
        bytes, FileReceived or None
            A plain message; a file now whole; None for a piece of one that is not.

        Raises
        ------
        MotecryptError
            Not a message of this format, a piece of an unknown file, or a file that arrived wrong.
        """
        kind, body = message[:1], message[1:]
        if kind == bytes([PLAIN]):
            return body
        if kind == bytes([ANNOUNCEMENT]) and len(body) >= _ANNOUNCEMENT.size:
            return self._announce(body)
        if kind == bytes([PIECE]) and len(body) >= _PIECE.size:
            return self._piece(body)
        raise MotecryptError(f"a genuine message of an unknown kind ({message[:1].hex() or 'empty'})")

    def _announce(self, body: bytes) -> FileReceived | None:
        label, length, digest = _ANNOUNCEMENT.unpack_from(body)
        name = Path(body[_ANNOUNCEMENT.size :].decode("utf-8", "replace").replace("\0", "")).name
        if name in ("", ".", ".."):
            name = "unnamed"
        if len(self._arriving) >= OPEN_FILES_MAX:
            oldest = next(iter(self._arriving))
            self._arriving.pop(oldest).part.unlink(missing_ok=True)
        part = self._folder / f".{label.hex()}.part"
        part.write_bytes(b"")
        self._arriving[label] = _Arriving(name, length, digest, part)
        return self._finish(label) if length == 0 else None

    def _piece(self, body: bytes) -> FileReceived | None:
        label, start = _PIECE.unpack_from(body)
        arriving = self._arriving.get(label)
        content = body[_PIECE.size :]
        if arriving is None:
            raise MotecryptError("a piece of a file whose announcement is missing; send the file again")
        if start + len(content) > arriving.length:
            raise MotecryptError(f"file {arriving.name}: a piece beyond its end; send the file again")
        with arriving.part.open("r+b") as file:
            file.seek(start)
            file.write(content)
        arriving.here.add((start, start + len(content)))
        return self._finish(label) if arriving.bytes_here() >= arriving.length else None

    def _finish(self, label: bytes) -> FileReceived:
        arriving = self._arriving.pop(label)
        content = arriving.part.read_bytes()
        if hashlib.sha256(content).digest() != arriving.digest:
            arriving.part.unlink()
            raise MotecryptError(f"file {arriving.name}: arrived with a wrong digest; send it again")
        target, number = self._folder / arriving.name, 1
        while target.exists():
            number += 1
            stem = Path(arriving.name)
            target = self._folder / f"{stem.stem}-{number}{stem.suffix}"
        arriving.part.replace(target)
        return FileReceived(target, arriving.length)
