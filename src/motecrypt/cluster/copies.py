"""Which copy of motecrypt runs here: a hash of its code and descriptors."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

import motecrypt

KINDS = (".py", ".toml")


@lru_cache(maxsize=1)
def running_copy() -> str:
    """SHA-256 of the names and contents of all modules and descriptors, in hexadecimal.

    They are read once: a process continues with what it has loaded, so its hash must not follow changes.
    """
    return copy_in(Path(motecrypt.__file__).parent)


def copy_in(folder: Path) -> str:
    """The same of a folder, now."""
    content = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in KINDS):
        content.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode())
        content.update(path.read_bytes())
    return content.hexdigest()
