"""Key files: hex digits in a file that only its owner can read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from motecrypt.errors import InputError
from motecrypt.paths import open_regular

KEY_BYTES = (16, 24, 32)


def read_key_file(path: Path) -> bytes:
    """The key in a file of hex digits: 32, 48 or 64 of them (AES-128, -192, -256).

    Raises
    ------
    InputError
        No such file, readable by group or others, not hex, or of the wrong size.
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
        No such file, readable by group or others, or not hex.
    """
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
        return bytes.fromhex(text.decode("ascii").strip())
    except ValueError:
        raise InputError(f"key file {path}: not hex digits; make one with 'motecrypt key FILE'") from None


def create_key_file(path: Path, key_bytes: int = 32) -> None:
    """Write a fresh random key that only the owner can read; an existing file is left alone.

    Raises
    ------
    InputError
        The file exists or cannot be written, or the size is none that AES takes.
    """
    if key_bytes not in KEY_BYTES:
        raise InputError(f"a key of {key_bytes} bytes; AES takes 16, 24 or 32")
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InputError(f"key file {path}: {error.strerror}; give a new file's name") from None
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(secrets.token_hex(key_bytes) + "\n")
        file.flush()
        os.fsync(file.fileno())
