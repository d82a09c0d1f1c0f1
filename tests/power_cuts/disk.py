"""A folder as a disk may hold it after a power cut, from the record of what was done to its files.

What was synced is there. Of a file's writes since its last sync any may be missing, also some of their
sectors. Of the names that were made, changed or removed in a folder since that was synced any may be missing:
nothing is taken for granted of a file system, such as an order of its own journal. A sync that fails may have
lost what it was to keep: later ones bring it back only where it was written again.
"""

from __future__ import annotations

import os
import random
import shutil
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

SECTOR_BYTES = 512
HOW = ("nothing", "everything", "in order", "in order", "any", "any", "any", "any")
"""Which of the unsynced writes a disk has: how often each is drawn."""
LENGTH_ALONE = 0.25
"""How often a write that is missing leaves the length that the file had with it: zeros."""


class Kind(IntEnum):
    """Of a step, as in recorder.c."""

    CREATE = 1
    WRITE = 2
    SIZE = 3
    MOVE = 4
    REMOVE = 5
    LINK = 6
    SYNC = 7
    SYNC_FOLDER = 8
    LOST = 9
    FOLDER = 10


@dataclass(frozen=True)
class Step:
    """One call that changed or synced something."""

    kind: Kind
    name: str
    other: str
    file: int
    at: int
    data: bytes


def read_steps(record: bytes) -> Iterator[Step]:
    """The steps of a record."""
    at = 0
    while at < len(record):
        kind = Kind(record[at])
        texts = []
        at += 1
        for _ in range(2):
            (length,) = struct.unpack_from("<H", record, at)
            texts.append(record[at + 2 : at + 2 + length].decode())
            at += 2 + length
        file, place, length = struct.unpack_from("<QQI", record, at)
        at += 20
        yield Step(kind, texts[0], texts[1], file, place, record[at : at + length])
        at += length


@dataclass
class Image:
    """A folder's content: which file a name has, and what is in it."""

    folders: set[str] = field(default_factory=set)
    names: dict[str, int] = field(default_factory=dict)
    contents: dict[int, bytes | bytearray] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path) -> Image:
        """What is there now."""
        image = cls()
        for path in sorted(folder.rglob("*")):
            name = str(path.relative_to(folder))
            if path.is_dir():
                image.folders.add(name)
            elif path.is_file() and not name.endswith("-shm"):
                number = path.stat().st_ino
                image.names[name] = number
                image.contents[number] = path.read_bytes()
        return image

    def put(self, folder: Path) -> None:
        """Make a folder have this and nothing else."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name in sorted(self.folders):
            (folder / name).mkdir()
        places: dict[int, str] = {}
        for name, number in self.names.items():
            place = f"{folder}/{name}"
            if number in places:
                os.link(places[number], place)
                continue
            places[number] = place
            handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            data = memoryview(self.contents[number])
            while data:
                data = data[os.write(handle, data) :]
            os.close(handle)


class _File:
    """What the disk has of a file for certain, and what has been done to it since."""

    def __init__(self, number: int, content: bytes = b"") -> None:
        self.number, self.durable = number, bytearray(content)
        self.waiting: list[tuple[int, Step]] = []

    def sync(self) -> None:
        for _, step in self.waiting:
            _apply(self.durable, step)
        self.waiting.clear()


@dataclass(frozen=True)
class _Named:
    """A name that was made (with a file), removed (without), or moved (with the one that it had)."""

    name: str
    file: _File | None
    before: str = ""


class Disk:
    """Follows a record step by step.

    Parameters
    ----------
    image : Image
        All that was there and synced before the first step.
    chance : Random
        Decides what syncs that failed have lost.
    """

    def __init__(self, image: Image, chance: random.Random) -> None:
        self._chance, self._number = chance, 0
        self._files = {number: _File(number, bytes(data)) for number, data in image.contents.items()}
        self._names = {name: self._files[number] for name, number in image.names.items()}
        self._folders = set(image.folders)
        self._renamed: dict[str, list[tuple[int, _Named]]] = {}

    def follow(self, step: Step) -> None:
        """The next step was done."""
        self._number += 1
        match step.kind:
            case Kind.CREATE:
                self._files[step.file] = _File(self._number)
                self._name(_Named(step.name, self._files[step.file]))
            case Kind.WRITE | Kind.SIZE:
                self._files[step.file].waiting.append((self._number, step))
            case Kind.MOVE:
                self._name(_Named(step.other, self._files[step.file], step.name))
            case Kind.REMOVE:
                self._name(_Named(step.name, None))
            case Kind.LINK:
                self._name(_Named(step.name, self._files[step.file]))
            case Kind.SYNC:
                self._files[step.file].sync()
            case Kind.SYNC_FOLDER:
                for _, named in self._renamed.pop(step.name, ()):
                    _rename(self._names, named)
            case Kind.LOST:
                file = self._files[step.file]
                file.waiting = [each for each in file.waiting if self._chance.random() < 0.5]
            case Kind.FOLDER:
                self._folders.add(step.name)

    def _name(self, named: _Named) -> None:
        folder = named.name.rpartition("/")[0]
        self._renamed.setdefault(folder, []).append((self._number, named))

    @property
    def unsynced(self) -> int:
        """Writes and changes of names that a power cut may lose now."""
        waiting = [len(file.waiting) for file in {id(f): f for f in self._files.values()}.values()]
        return sum(waiting) + sum(map(len, self._renamed.values()))

    def put_cached(self, folder: Path) -> None:
        """Make a folder have what programs see now: the system lives on, a program was killed.

        What is done there from now on is to be followed.
        """
        names = dict(self._names)
        for _, named in sorted(
            (each for waiting in self._renamed.values() for each in waiting), key=lambda each: each[0]
        ):
            _rename(names, named)
        image, files = Image(set(self._folders)), {}
        for name, file in names.items():
            files[name], image.names[name] = file, id(file)
            content = bytearray(file.durable)
            for _, step in file.waiting:
                _apply(content, step)
            image.contents[id(file)] = content
        image.put(folder)
        self._files = {(folder / name).stat().st_ino: file for name, file in files.items()}

    def cut(self, chance: random.Random) -> Image:
        """What the disk has if the power goes now."""
        keeps = _Keeping(chance, self._number)
        names = dict(self._names)
        for number, named in sorted(
            (each for waiting in self._renamed.values() for each in waiting), key=lambda each: each[0]
        ):
            if keeps.whole(number):
                _rename(names, named)
        image = Image(set(self._folders))
        for name, file in names.items():
            image.names[name] = id(file)
            if id(file) not in image.contents:
                image.contents[id(file)] = self._content(file, keeps)
        return image

    @staticmethod
    def _content(file: _File, keeps: _Keeping) -> bytearray:
        if not file.waiting:
            return file.durable
        content = bytearray(file.durable)
        for number, step in file.waiting:
            keeps.apply(content, number, step)
        return content


class _Keeping:
    """Decides which unsynced steps a disk has."""

    def __init__(self, chance: random.Random, last: int) -> None:
        self._chance, self.how = chance, chance.choice(HOW)
        self._until = last - min(int(chance.expovariate(1 / 6)), last)
        self._share = chance.choice((0.1, 0.5, 0.9))

    def whole(self, number: int) -> bool:
        """Whether it has a step."""
        if self.how == "in order":
            return number < self._until
        if self.how == "any":
            return self._chance.random() < self._share
        return self.how == "everything"

    def apply(self, content: bytearray, number: int, step: Step) -> None:
        """Do to a file what the disk has of a step."""
        torn = self.how == "in order" and number == self._until
        kept = torn or self.whole(number)
        if step.kind is Kind.SIZE:
            if kept:
                _apply(content, step)
            return
        if kept and self.how == "any":
            torn = self._chance.random() < 0.5
        if not kept and self.how == "any" and self._chance.random() < LENGTH_ALONE:
            content.extend(bytes(max(0, step.at + len(step.data) - len(content))))
        if kept and not torn:
            _apply(content, step)
        elif kept:
            at, end = step.at, step.at + len(step.data)
            while at < end:
                stop = min(end, (at // SECTOR_BYTES + 1) * SECTOR_BYTES)
                if self._chance.random() < 0.5:
                    _write(content, at, step.data[at - step.at : stop - step.at])
                at = stop


def _rename(names: dict[str, _File], named: _Named) -> None:
    if named.before:
        names.pop(named.before, None)
    if named.file is None:
        names.pop(named.name, None)
    else:
        names[named.name] = named.file


def _apply(content: bytearray, step: Step) -> None:
    if step.kind is Kind.SIZE:
        del content[step.at :]
        content.extend(bytes(step.at - len(content)))
    else:
        _write(content, step.at, step.data)


def _write(content: bytearray, at: int, data: bytes) -> None:
    if at > len(content):
        content.extend(bytes(at - len(content)))
    content[at : at + len(data)] = data
