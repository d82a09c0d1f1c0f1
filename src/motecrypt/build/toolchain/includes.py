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
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from motecrypt.build.toolchain.toolchain import BuildError

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*(?:include|import)[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_COMPUTED = re.compile(rb"^[ \t]*#[ \t]*(include|include_next|import)\b(?![ \t]*[\"<])([^\n]*)", re.MULTILINE)
_NAME = re.compile(rb"[A-Za-z_]\w*")
_ASSEMBLER_INCLUDE = re.compile(rb'^[ \t]*\.(?:include|incbin)[ \t]+"([^"\n]+)"', re.MULTILINE)

FILE_BYTES_MAX = 64 << 20


def file_hash(path: Path) -> str:
    """SHA-256 of a file's content; BuildError where it cannot be read."""
    return _read(path)[0]


def computed(path: Path) -> tuple[str, ...]:
    """The macros that a file's #include lines name instead of a header; "" for one that names no macro."""
    return _read(path)[2]


def reached(
    sources: Iterable[Path],
    directories: Sequence[Path],
    named: Iterable[str] = (),
    macros: Mapping[str, str] | None = None,
) -> list[Path]:
    """The sources and all that they include, each once, in a fixed order.

    Parameters
    ----------
    named
        Headers that the compiler's command line names (-DCONFIG_FILE="x.h").
    macros
        Which header a macro is that an #include line names.
    """
    known = macros or {}
    found: dict[Path, None] = {}
    folders = [str(directory) for directory in directories]
    seen: dict[tuple[str, str], Path | None] = {}  # what was asked for, from where
    waiting = [*sources, *(p for name in named if (p := find(name, folders)))]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found[path] = None
        beside = str(path.parent)
        _, names, macros_named = _read(path)
        for name in (*names, *(known[macro] for macro in macros_named if macro in known)):
            if (beside, name) not in seen:
                seen[(beside, name)] = find(name, [beside, *folders])
            header = seen[(beside, name)]
            if header is not None and header not in found:
                waiting.append(header)
    return sorted(found, key=lambda p: (p.name, str(p)))


def find(name: str, folders: Sequence[str]) -> Path | None:
    """The file of that name in the first folder that has it, or None; BuildError where it is precompiled.

    Plain strings: this is asked very often.
    """
    for folder in folders:
        path = name if name.startswith("/") else f"{folder}/{name}"
        if os.path.exists(f"{path}.gch"):  # noqa: PTH110
            raise BuildError(_precompiled(f"{path}.gch"))
        if os.path.isfile(path):  # noqa: PTH113
            return _resolved(path)
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
    return Path(path).resolve()


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
    names = (*_INCLUDE.findall(content), *_ASSEMBLER_INCLUDE.findall(content))
    macros = (
        rest.strip() if how == b"include" and _NAME.fullmatch(rest.strip()) else b""
        for how, rest in _COMPUTED.findall(content)
    )
    return hashlib.sha256(content).hexdigest(), _decoded(names), _decoded(macros)


def _decoded(names: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(name.decode(errors="replace") for name in names)
