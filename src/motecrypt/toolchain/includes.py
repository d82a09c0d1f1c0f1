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
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from motecrypt.toolchain.toolchain import BuildError

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*(?:include|import)[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_ASSEMBLER_INCLUDE = re.compile(rb'^[ \t]*\.(?:include|incbin)[ \t]+"([^"\n]+)"', re.MULTILINE)

FILE_BYTES_MAX = 64 << 20


def file_hash(path: Path) -> str:
    """SHA-256 of a file's content; BuildError where it cannot be read."""
    return _read(path)[0]


def reached(sources: Iterable[Path], directories: Sequence[Path], named: Iterable[str] = ()) -> list[Path]:
    """The sources and all that they include, each once, in a fixed order.

    `named` are headers that the compiler's command line names (-DCONFIG_FILE="x.h").
    """
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
        for name in _read(path)[1]:
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
        path = os.path.join(folder, name)  # noqa: PTH118
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


def _read(path: Path) -> tuple[str, tuple[str, ...]]:
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
def _read_once(path: Path, stamp: tuple[int, int, int]) -> tuple[str, tuple[str, ...]]:
    content = path.read_bytes()
    names = (*_INCLUDE.findall(content), *_ASSEMBLER_INCLUDE.findall(content))
    return hashlib.sha256(content).hexdigest(), tuple(n.decode(errors="replace") for n in names)
