"""Where the key of a file comes from: a file, the environment, or anyone who sits at the terminal."""

from __future__ import annotations

import os
from pathlib import Path

from motecrypt.base.errors import InputError
from motecrypt.base.paths import open_regular
from motecrypt.link.files.container import KEY_BYTES, Secret
from motecrypt.link.files.crypt_and_hash import SECRET_BYTES_MAX

HEX_PREFIX = "hex:"


def compatible_key_file(path: Path) -> bytes:
    """A key file as crypt_and_hash reads it: its bytes as they are, a newline included, 512 at most.

    Raises
    ------
    InputError
        It cannot be read, is empty, or is longer (the program would use the front of it, silently).
    """
    data, more = _read(path, SECRET_BYTES_MAX)
    if more or not data:
        size = f"more than {SECRET_BYTES_MAX}" if more else "0"
        raise InputError(f"key file {path}: {size} bytes; the format takes 1 to {SECRET_BYTES_MAX}")
    return data


def compatible_text(text: str, where: str) -> bytes:
    """A typed key as crypt_and_hash takes it: "hex:" and hex digits, else the text itself as UTF-8."""
    if text.startswith(HEX_PREFIX):
        return _hex(text, where)
    return os.fsencode(text)


def modern_text(text: str, where: str) -> Secret:
    """ "hex:" and 32, 48 or 64 hex digits are a key; any other text is a password."""
    if text.startswith(HEX_PREFIX):
        key = _hex(text, where)
        if len(key) not in KEY_BYTES:
            raise InputError(f"{where}: {len(key)} bytes of key; give 16, 24 or 32 (32, 48 or 64 hex digits)")
        return Secret(key=key)
    return Secret(password=os.fsencode(text))


def from_environment(name: str) -> str:
    """The value of an environment variable; InputError when it is not set or empty."""
    value = os.environ.get(name)
    if not value:
        raise InputError(f"--key-env {name}: the variable is not set; set it, or use --key-file")
    return value


def exposed(path: Path) -> bool:
    """Whether others on this machine can read the file."""
    try:
        return bool(path.stat().st_mode & 0o077)
    except OSError:
        return False


def _hex(text: str, where: str) -> bytes:
    try:
        key = bytes.fromhex(text[len(HEX_PREFIX) :])
    except ValueError:
        raise InputError(f"{where}: write hex digits after 'hex:', two a byte") from None
    if not key:
        raise InputError(f"{where}: an empty key; give at least one byte")
    return key


def _read(path: Path, count: int) -> tuple[bytes, bytes]:
    """The first bytes of a file, and as many after them."""
    try:
        with open_regular(path) as file:
            return file.read(count), file.read(count)
    except InputError as error:
        raise InputError(f"key file {error}; give a readable file") from None
