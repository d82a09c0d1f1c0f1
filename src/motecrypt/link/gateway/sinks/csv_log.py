"""Lines of CSV at the end of a file, made harmless for spreadsheets."""

from __future__ import annotations

import csv
import fcntl
import io
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from motecrypt.base.errors import InputError
from motecrypt.base.paths import sync_folder
from motecrypt.base.text import spreadsheet_row
from motecrypt.link.gateway.items import Item, readable
from motecrypt.link.gateway.sinks import Sink, SinkError
from motecrypt.link.gateway.sinks.rotation import Rotation

COLUMNS = ("id", "received", "node", "kind", "text", "hex", "bytes")
HEAD = (",".join(COLUMNS) + "\r\n").encode()
READ_BYTES = 1 << 20
"""The size of one read of the file at the start."""


class CsvLog(Sink):
    """A file of lines, each item once: what a crash left half written goes, what is there is not repeated.

    Parameters
    ----------
    waiting : int
        How many items wait in the spool: after a crash as many of the last rows can come again, in any number
        of deliveries.
    rotation : Rotation, optional
        When another file takes its place.

    Raises
    ------
    InputError
        It cannot be written, is another's, or no file of ours.
    """

    batch = 200

    def __init__(self, path: Path, waiting: int, rotation: Rotation | None = None) -> None:
        self.name = f"csv:{path.absolute()}"
        self._path, self._rotation = path, rotation
        self._failed_at: int | None = None
        if rotation is not None:
            rotation.check(path, HEAD)
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
            if not stat.S_ISREG(os.fstat(self._handle).st_mode):
                raise InputError(f"--csv {path}: not a regular file")
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._before = self._begin(waiting)
            if rotation is not None:
                self._before |= rotation.ids(path, waiting - len(self._before))
        except BlockingIOError:
            raise InputError(f"--csv {path}: another program is using it; stop that one first") from None
        except OSError as error:
            raise InputError(f"--csv {path}: {error.strerror}; name a file that can be written") from None
        self._last: set[str] = set()

    def _begin(self, waiting: int) -> set[str]:
        """Check or write the head, cut what is half a line, and see what is there already."""
        length = os.fstat(self._handle).st_size
        found = os.pread(self._handle, len(HEAD), 0)
        if found != HEAD and (length > len(HEAD) or not HEAD.startswith(found.rstrip(b"\0"))):
            raise InputError(f"--csv {self._path}: has a different first line; name a new file")
        if found != HEAD:
            self._append(HEAD, 0)
        sync_folder(self._path.absolute().parent)
        return self._rows(len(HEAD), max(length, len(HEAD)), waiting)

    def _rows(self, start: int, end: int, waiting: int) -> set[str]:
        """The ids of the last rows, without what a power cut left of the last delivery: its length may be on
        the disk, and zeros in place of some of its bytes. All of it comes again."""
        rows, there = self._backwards(start, end), set[str]()
        end = at = end - len(next(rows))
        for row in islice(rows, waiting):
            at -= len(row) + 1
            if b"\0" in row:
                end = at
                there.clear()
            else:
                there.add(row.partition(b",")[0].decode(errors="replace"))
        os.ftruncate(self._handle, end)
        return there

    def _backwards(self, start: int, end: int) -> Iterator[bytes]:
        """What follows the last line's end, then the lines before it, the last first."""
        rest = b""
        while end > start:
            begin = max(start, end - READ_BYTES)
            rest, *lines = (os.pread(self._handle, end - begin, begin) + rest).split(b"\n")
            yield from reversed(lines)
            end = begin
        yield rest

    def deliver(self, items: Sequence[Item]) -> None:
        """Write those that are not there yet, and wait until they are on the disk."""
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS)
        fresh = [item for item in items if item.name not in self._before and item.name not in self._last]
        for item in fresh:
            writer.writerow(_row(item))
        data = text.getvalue().encode()
        try:
            self._cut()
            end = self._failed_at = self._end(len(data))
            self._append(data, end)
            self._failed_at = None
        except OSError as error:
            with suppress(OSError):  # else before the next delivery
                self._cut()
            raise SinkError(f"{self._path}: {error.strerror}") from None
        self._last = {item.name for item in items}
        self._before -= self._last

    def _end(self, more: int) -> int:
        """Where the next rows go: behind the last one, or into another file if this would become too long."""
        end = os.fstat(self._handle).st_size
        if more and self._rotation is not None and len(HEAD) < end and end + more > self._rotation.file_bytes:
            handle = self._rotation.replace(self._path, HEAD)
            os.close(self._handle)
            self._handle, end = handle, len(HEAD)
        return end

    def _cut(self) -> None:
        """Remove what a delivery that failed has written."""
        if self._failed_at is not None:
            os.ftruncate(self._handle, self._failed_at)
            self._failed_at = None

    def finish(self) -> None:
        """Let go of the file."""
        os.close(self._handle)

    def _append(self, data: bytes, at: int) -> None:
        while data:
            written = os.pwrite(self._handle, data, at)
            at, data = at + written, data[written:]
        os.fsync(self._handle)


def _row(item: Item) -> dict[str, Any]:
    row = {
        "id": item.name,
        "received": item.received,
        "node": item.node,
        "kind": item.kind,
        "text": readable(item.content),
        "hex": item.content.hex(),
        "bytes": item.length,
    }
    return spreadsheet_row(row)
