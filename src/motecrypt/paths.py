"""Where motecrypt keeps what it makes: caches and results, never inside the package."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from motecrypt.errors import InputError


def _home(variable: str, fallback: str) -> Path:
    value = os.environ.get(variable)
    if value:
        return Path(value)
    try:
        return Path.home() / fallback
    except RuntimeError as error:
        raise InputError(f"this user has no home directory; set HOME or {variable}") from error


def cache_dir() -> Path:
    """Built firmware, drivers and fetched sources: safe to delete. MOTECRYPT_CACHE overrides.

    Absolute and without symbolic links: compilers run elsewhere, and say where they are.
    """
    own = os.environ.get("MOTECRYPT_CACHE")
    place = Path(own) if own else _home("XDG_CACHE_HOME", ".cache") / "motecrypt"
    try:
        return place.resolve()
    except (OSError, RuntimeError) as error:
        raise InputError(f"{place}: no place for a cache: {error}") from error


def default_results() -> Path:
    """The results file used when neither --db nor MOTECRYPT_DB names one."""
    own = os.environ.get("MOTECRYPT_DB")
    return Path(own) if own else _home("XDG_DATA_HOME", ".local/share") / "motecrypt" / "results.db"


def make_dir(path: Path) -> Path:
    """Create a directory and its parents; InputError where that is impossible."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be created: {error.strerror}") from error
    return path


def write_atomically(path: Path, data: bytes) -> None:
    """Write a whole file or none: a temporary file beside it, then a rename."""
    make_dir(path.parent)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(0o644)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written: {error.strerror}; free some space or choose another place"
        ) from error
