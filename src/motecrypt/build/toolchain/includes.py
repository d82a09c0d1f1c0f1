"""Which files a source reads: its #include lines followed through a list of directories.

Not a preprocessor: conditions are not considered, so that the answer is the same for every compiler and holds
what any branch might read. A header that no directory has (the compiler's own) is left out; the C library
that it belongs to is known otherwise (toolchain.runtime).
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from motecrypt.build.toolchain.toolchain import BuildError

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*(?:include|import)[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_COMPUTED = re.compile(rb"^[ \t]*#[ \t]*(include|include_next|import)\b(?![ \t]*[\"<])([^\n]*)", re.MULTILINE)
_NAME = re.compile(rb"[A-Za-z_]\w*")
_ASSEMBLER_INCLUDE = re.compile(rb'^[ \t]*\.(?:include|incbin)[ \t]+"([^"\n]+)"', re.MULTILINE)

_WORDS = (b"include", b"import", b"incbin")
"""Each line that one of the patterns above matches has one of these: looking for them first takes a
fraction of the time."""

FILE_BYTES_MAX = 64 << 20
SETTLED_NS = 2_000_000_000
"""A folder that was last changed longer ago shows the next change by another time. Clocks of file systems
have steps."""


class Looked:
    """What was looked up in the file system, each thing once: for files that do not change meanwhile."""

    def __init__(self) -> None:
        self.listings = _Listings()
        self._headers: dict[str, Path | None] = {}
        self._read: dict[Path, tuple[str, tuple[str, ...], tuple[str, ...]]] = {}

    def header(self, path: str) -> Path | None:
        """The file at a path, or None; BuildError where it is precompiled."""
        if path not in self._headers:
            if os.path.exists(f"{path}.gch"):  # noqa: PTH110
                raise BuildError(_precompiled(f"{path}.gch"))
            self._headers[path] = _resolved(path) if os.path.isfile(path) else None  # noqa: PTH113
        return self._headers[path]

    def read(self, path: Path) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """SHA-256 of the content, the headers and files that it includes, and the macros that it includes."""
        if path not in self._read:
            self._read[path] = _read(path)
        return self._read[path]


def file_hash(path: Path, looked: Looked | None = None) -> str:
    """SHA-256 of a file's content; BuildError where it cannot be read."""
    return (looked.read(path) if looked else _read(path))[0]


def computed(path: Path) -> tuple[str, ...]:
    """The macros that a file's #include lines name instead of a header; "" for one that names no macro."""
    return _read(path)[2]


def reached(
    sources: Iterable[Path],
    directories: Sequence[Path],
    named: Iterable[str] = (),
    macros: Mapping[str, str] | None = None,
    looked: Looked | None = None,
) -> list[Path]:
    """The sources and all that they include, each once, in a fixed order.

    Parameters
    ----------
    named
        Headers that the compiler's command line names (-DCONFIG_FILE="x.h").
    macros
        Which header a macro is that an #include line names.
    looked
        What was looked up before.
    """
    known, looked = macros or {}, looked or Looked()
    found: dict[Path, None] = {}
    folders = [str(directory) for directory in directories]
    seen: dict[tuple[str, str], Path | None] = {}  # what was asked for, from where
    waiting = [*sources, *(p for name in named if (p := find(name, folders, looked)))]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found[path] = None
        beside = str(path.parent)
        _, names, macros_named = looked.read(path)
        for name in (*names, *(known[macro] for macro in macros_named if macro in known)):
            if (beside, name) not in seen:
                seen[(beside, name)] = find(name, [beside, *folders], looked)
            header = seen[(beside, name)]
            if header is not None and header not in found:
                waiting.append(header)
    return sorted(found, key=lambda p: (p.name, str(p)))


class _Listings(dict[str, frozenset[str] | None]):
    """The names in each folder that was asked for, in lower case, as a file system may ignore case; None for
    a folder that cannot be listed. Most headers are in none of the folders that come first."""

    def __missing__(self, folder: str) -> frozenset[str] | None:
        names: frozenset[str] | None
        try:
            changed_ns = os.stat(folder).st_mtime_ns  # noqa: PTH116
            settled = time.time_ns() - changed_ns > SETTLED_NS
            names = _names_in(folder, changed_ns) if settled else _names_in.__wrapped__(folder, changed_ns)
        except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a zero byte in its name
            names = frozenset()
        except OSError:
            names = None
        self[folder] = names
        return names


@lru_cache(maxsize=4096)
def _names_in(folder: str, changed_ns: int) -> frozenset[str]:
    """The names in a folder that was last changed then, in lower case."""
    return frozenset(name.lower() for name in os.listdir(folder))  # noqa: PTH208


def find(name: str, folders: Sequence[str], looked: Looked | None = None) -> Path | None:
    """The file of that name in the first folder that has it, or None; BuildError where it is precompiled.

    Plain strings: this is asked very often.
    """
    looked = looked or Looked()
    inner, _, last = name.rpartition("/")
    if name.startswith("/"):
        folders, inner = (inner or "/",), ""
    plain = last.isascii()  # other names have several spellings
    own, precompiled = last.lower(), f"{last.lower()}.gch"
    for folder in folders:
        place = f"{folder}/{inner}" if inner else folder
        names = looked.listings[place]
        if plain and names is not None and own not in names and precompiled not in names:
            continue
        if header := looked.header(f"{place}/{last}"):
            return header
    return None


def refuse_precompiled(folders: Iterable[Path]) -> None:
    """BuildError where a folder or one below it holds a precompiled header.

    GCC takes NAME.gch instead of NAME: an image of its own memory, which it believes without a check.
    """
    for folder in folders:
        for place, inner, files in os.walk(folder):
            for name in (*inner, *files):
                if name.endswith(".gch"):
                    raise BuildError(_precompiled(os.path.join(place, name)))  # noqa: PTH118


def _precompiled(path: str) -> str:
    return f"{path}: a precompiled header, which GCC would load without a check; remove it"


@lru_cache(maxsize=8192)
def _resolved(path: str) -> Path:
    folder, _, name = path.rpartition("/")
    if name in (".", "..") or os.path.islink(path):  # noqa: PTH114
        return Path(path).resolve()
    return _resolved_folder(folder or "/") / name


@lru_cache(maxsize=4096)
def _resolved_folder(folder: str) -> Path:
    return Path(folder).resolve()


def _read(path: Path) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # a pipe would be waited for
            raise BuildError(f"{path}: not a regular file")
        if status.st_size > FILE_BYTES_MAX:
            raise BuildError(f"{path}: longer than {FILE_BYTES_MAX:,} bytes: not a source")
        return _read_once(path, (status.st_mtime_ns, status.st_size, status.st_ino))
    except OSError as error:
        raise BuildError(f"{path}: {error.strerror}") from error


@lru_cache(maxsize=8192)
def _read_once(path: Path, stamp: tuple[int, int, int]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """SHA-256 of the content, the headers and files that it includes, and the macros that it includes."""
    content = path.read_bytes()
    return (hashlib.sha256(content).hexdigest(), *_included(content))


def _included(content: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the lines of a text include: names, and macros, "" for what is none."""
    names, macros = list[bytes](), list[bytes]()
    for start in sorted({start for word in _WORDS for start in _lines_with(word, content)}):
        if match := _INCLUDE.match(content, start) or _ASSEMBLER_INCLUDE.match(content, start):
            names.append(match[1])
        elif match := _COMPUTED.match(content, start):
            macro = match[2].strip()
            macros.append(macro if match[1] == b"include" and _NAME.fullmatch(macro) else b"")
    return _decoded(names), _decoded(macros)


def _lines_with(word: bytes, content: bytes) -> Iterator[int]:
    """Where the lines begin that hold a word."""
    at = content.find(word)
    while at >= 0:
        yield content.rfind(b"\n", 0, at) + 1
        end = content.find(b"\n", at)
        at = content.find(word, end) if end >= 0 else -1


def _decoded(names: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(name.decode(errors="replace") for name in names)
