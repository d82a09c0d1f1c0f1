"""Where motecrypt keeps what it makes: caches and results, never inside the package."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from motecrypt.errors import InputError


def _home(variable: str, fallback: str) -> Path:
    value = os.environ.get(variable)
    return Path(value) if value else Path.home() / fallback


def cache_dir() -> Path:
    """Built firmware, drivers and fetched sources: safe to delete. MOTECRYPT_CACHE overrides."""
    own = os.environ.get("MOTECRYPT_CACHE")
    return Path(own) if own else _home("XDG_CACHE_HOME", ".cache") / "motecrypt"


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
