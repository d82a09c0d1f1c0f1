"""Which copy of motecrypt runs here: a hash of its code and descriptors."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import motecrypt
from motecrypt import __version__

KINDS = (".py", ".toml")
_MARK = "motecrypt"


def mark() -> str:
    """What a worker shows the scheduler, so that a sweep sends nothing to another motecrypt."""
    return f"{_MARK} {__version__} {running_copy()}"


def difference(marks: Iterable[str]) -> str:
    """Why a worker with these marks cannot measure for this process; "" where it can."""
    theirs = [one.split() for one in marks if one.startswith(f"{_MARK} ")]
    if not theirs:
        return f"has an older motecrypt than {__version__}: start it again with that of the sweep's computer"
    _, version, copy, *_ = [*theirs[0], "", ""]
    if version != __version__:
        return f"has motecrypt {version}, expected {__version__}"
    if copy != running_copy():
        return "runs other files of motecrypt: start it again with those of the sweep's computer"
    return ""


@lru_cache(maxsize=1)
def running_copy() -> str:
    """SHA-256 of the names and contents of all modules and descriptors, in hexadecimal.

    They are read once: a process continues with what it has loaded, so its hash must not follow changes.
    """
    return copy_in(Path(motecrypt.__file__).parent)


def copy_in(folder: Path) -> str:
    """The same of a folder, now."""
    content = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in KINDS and path.is_file()):
        content.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode())
        content.update(path.read_bytes())
    return content.hexdigest()
