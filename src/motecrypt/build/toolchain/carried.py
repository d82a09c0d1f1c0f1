"""A built firmware as bytes, from one computer's cache to another's: by its key, the hash of all that it was
built from."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from motecrypt.base.errors import InputError
from motecrypt.base.paths import cache_dir, make_dir

_KEY = re.compile(r"[0-9a-f]{64}")
BYTES_MAX = 64 << 20


@dataclass(frozen=True)
class CarriedFirmware:
    """A firmware with its sizes; the ELF is compressed."""

    key: str
    elf: bytes
    sizes: str


def carry(key: str) -> CarriedFirmware:
    """A firmware of the cache."""
    folder = _folder(key)
    return CarriedFirmware(
        key, zlib.compress((folder / "firmware.elf").read_bytes(), 1), (folder / "sizes.json").read_text()
    )


def put(carried: CarriedFirmware) -> None:
    """Put a firmware into the cache, unless it is there.

    Raises
    ------
    InputError
        It is damaged, or the cache cannot be written.
    """
    folder = _folder(carried.key)
    if (folder / "sizes.json").exists():
        return
    try:
        unpacker = zlib.decompressobj()
        elf = unpacker.decompress(carried.elf, BYTES_MAX)
        sound = unpacker.eof and json.loads(carried.sizes)["sha256"] == hashlib.sha256(elf).hexdigest()
    except (zlib.error, ValueError, KeyError, TypeError):
        sound = False
    if not sound:
        raise InputError(f"a firmware from another worker is damaged: {carried.key}")
    make_dir(folder.parent)
    work = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".carried."))
    try:
        (work / "firmware.elf").write_bytes(elf)
        (work / "sizes.json").write_text(carried.sizes)
        work.chmod(0o755)
        try:
            work.rename(folder)
        except OSError:
            if not (folder / "sizes.json").exists():  # another was faster, or a real fault
                raise
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _folder(key: str) -> Path:
    if not _KEY.fullmatch(key):
        raise InputError(f"'{key[:80]}' is not the key of a firmware")
    return cache_dir() / "firmware" / key[:2] / key
