"""A folder that appears whole or not at all, and replaces only what it wrote before.

The manifest in it names every file with its SHA-256: a folder without a manifest, or with any later change,
is somebody's work and is never overwritten. This module does not depend on what the files contain.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from motecrypt.base.errors import InputError
from motecrypt.base.paths import make_dir, read_regular

MANIFEST = "motecrypt-export.json"
FORMAT = 1


def write_folder(
    folder: Path,
    files: Mapping[str, bytes],
    about: Mapping[str, Any],
    check: Callable[[Path], None] = lambda folder: None,
) -> None:
    """Write files by their relative paths, and the manifest.

    Parameters
    ----------
    about
        What the manifest says next to the list of files.
    check
        Is given the finished folder before it gets its name, and raises where it must not.

    Raises
    ------
    InputError
        When the folder holds anything but an earlier export without changes, or cannot be written.
    """
    target = _resolved(folder)
    refuse_foreign(folder)
    make_dir(target.parent)
    fresh = target.parent / f".{target.name[:200]}.{secrets.token_hex(6)}"
    try:
        _fill(fresh, files, about)
        check(fresh)
        _swap(fresh, target)
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be written: {error.strerror}; free some space or choose another place"
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def refuse_foreign(folder: Path) -> None:
    """InputError unless the folder is new, empty, or an earlier export in which nothing was changed."""
    target = _resolved(folder)
    if target == Path.cwd():
        raise InputError(f"{folder}: is the current folder, which cannot be replaced; name one below it")
    if not target.exists():
        return
    if not target.is_dir():
        raise InputError(f"{folder}: is not a folder; give another name")
    try:
        there = {str(path.relative_to(target)): path for path in target.rglob("*") if not _is_folder(path)}
        if not there and not any(target.iterdir()):
            return
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror}") from error
    if MANIFEST not in there:
        raise InputError(f"{folder}: is not empty and not an earlier export; give another name or empty it")
    known = _listed(target / MANIFEST, folder)
    changed = sorted(
        name
        for name, path in there.items()
        if name != MANIFEST and (path.is_symlink() or known.get(name) != _digest(read_regular(path)))
    )
    if changed:
        raise InputError(
            f"{folder}: '{changed[0]}' is not as it was exported; move it away or give another name"
        )


def _resolved(folder: Path) -> Path:
    try:
        return folder.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"{str(folder)!r}: no place for a folder: {error}") from None


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _listed(manifest: Path, folder: Path) -> dict[str, str]:
    try:
        document = json.loads(read_regular(manifest))
        files = document["files"] if document["format"] == FORMAT else None
    except (ValueError, TypeError, KeyError, RecursionError):
        files = None
    if not isinstance(files, dict):
        raise InputError(f"{folder}: its {MANIFEST} is not one of this motecrypt; give another name")
    return {str(name): str(digest) for name, digest in files.items()}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _fill(folder: Path, files: Mapping[str, bytes], about: Mapping[str, Any]) -> None:
    folder.mkdir()
    listed = {name: _digest(data) for name, data in sorted(files.items())}
    manifest = json.dumps({"format": FORMAT, **about, "files": listed}, indent=1) + "\n"
    for name, data in {**files, MANIFEST: manifest.encode()}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


def _swap(fresh: Path, target: Path) -> None:
    """Give the finished folder its name; an earlier export steps aside first and is then removed."""
    if not target.is_dir():
        fresh.rename(target)
        return
    old = fresh.with_name(f"{fresh.name}.old")
    target.rename(old)
    try:
        fresh.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
