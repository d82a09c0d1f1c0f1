"""Key files: hex digits, or the link's own, in a file that only its owner can read."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from motecrypt.base.errors import InputError
from motecrypt.base.paths import open_regular, sync_folder

if TYPE_CHECKING:
    from motecrypt.link.native import Suite

KEY_BYTES = (16, 24, 32)
MASTER_BYTES = 16
_MASTER = "motecrypt-link"
_NODE = '{"motecrypt": "node"'
_SUITES: tuple[Suite, ...] = ("aes128-ccm", "ascon-aead128")


def read_key_file(path: Path) -> bytes:
    """The key in a file of hex digits: 32, 48 or 64 of them (AES-128, -192, -256).

    Raises
    ------
    InputError
        No such file, readable by group or others, not hex, of the wrong size, or one of the link's.
    """
    key = read_hex_key(path)
    if len(key) not in KEY_BYTES:
        raise InputError(
            f"key file {path}: {len(key)} bytes of key; 16, 24 or 32 are needed (32, 48 or 64 hex digits)"
        )
    return key


def read_hex_key(path: Path) -> bytes:
    """The key in a file of hex digits, of any length up to 512 bytes.

    Raises
    ------
    InputError
        No such file, readable by group or others, not hex, or one of the link's.
    """
    text = _private(path)
    if _end(text) is not None:
        raise InputError(
            f"key file {path}: it is a key of the secure link and cannot be used here; "
            "make another with 'motecrypt key FILE'"
        )
    try:
        return bytes.fromhex(text.strip())
    except ValueError:
        raise InputError(f"key file {path}: not hex digits; make one with 'motecrypt key FILE'") from None


def link_end(path: Path) -> Literal["gateway", "node"]:
    """Whose key the link's file holds: the gateway's master key, or a node's.

    Raises
    ------
    InputError
        No such file, readable by group or others, or no key of the link.
    """
    end = _end(_private(path))
    if end is None:
        raise InputError(
            f"key file {path}: not a key of the secure link; make one with 'motecrypt key FILE --link'"
        )
    return end


def read_master_file(path: Path) -> tuple[Suite, bytes]:
    """A gateway's master key, and the suite that its nodes use.

    Raises
    ------
    InputError
        No such file, readable by group or others, or no master key.
    """
    parts = _private(path).strip().split(":")
    try:
        mark, name, digits = parts
        suite = next(suite for suite in _SUITES if suite == name)
        key = bytes.fromhex(digits)
        if mark != _MASTER or len(key) != MASTER_BYTES:
            raise ValueError
    except (ValueError, StopIteration):
        raise InputError(
            f"key file {path}: not the master key of a gateway; make one with 'motecrypt key FILE --link'"
        ) from None
    return suite, key


def create_key_file(path: Path, key_bytes: int = 32) -> None:
    """Write a fresh random key that only the owner can read; an existing file is left alone.

    Raises
    ------
    InputError
        The file exists or cannot be written, or AES does not have this key size.
    """
    if key_bytes not in KEY_BYTES:
        raise InputError(f"a key of {key_bytes} bytes; AES takes 16, 24 or 32")
    create_private(path, lambda: f"{secrets.token_hex(key_bytes)}\n".encode())


def create_master_file(path: Path, suite: Suite = "aes128-ccm") -> None:
    """Write a fresh master key for a gateway; an existing file is left alone.

    Raises
    ------
    InputError
        The file exists or cannot be written.
    """
    create_private(path, lambda: f"{_MASTER}:{suite}:{secrets.token_hex(MASTER_BYTES)}\n".encode())


def create_private(path: Path, content: Callable[[], bytes]) -> None:
    """Write a new file that only its owner can read; `content` is asked once the file is there.

    Raises
    ------
    InputError
        The file exists or cannot be written; then there is no new file.
    """
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise InputError(f"key file {path}: {error.strerror}; give a new file's name") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content())
            file.flush()
            os.fsync(file.fileno())
        sync_folder(path.parent)
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(f"key file {path}: {error.strerror}; free some space") from None
        raise


def _private(path: Path) -> str:
    """A file's text, if nobody but its owner can read or write it."""
    try:
        with open_regular(path) as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(1025)
    except InputError as error:
        raise InputError(f"key file {error}; make one with 'motecrypt key FILE'") from None
    if mode & 0o077:
        raise InputError(f"key file {path}: others can read or write it; run 'chmod 600 {path}'")
    try:
        if len(text) > 1024:
            raise ValueError
        return text.decode("ascii")
    except ValueError:
        raise InputError(f"key file {path}: not hex digits; make one with 'motecrypt key FILE'") from None


def _end(text: str) -> Literal["gateway", "node"] | None:
    """Which of the link's ends a key file is for."""
    if text.startswith(f"{_MASTER}:"):
        return "gateway"
    return "node" if text.startswith(_NODE) else None
