"""Ways to bring a node's keys to its chip: images of its storage, and its key block as text and QR code.

Pure except for `write_private`. Every form holds the node's key. Others must not read it. Do not write it
into a node twice.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from io import BytesIO, StringIO
from pathlib import Path

from motecrypt.base.errors import InputError
from motecrypt.base.paths import sync_folder

BLOCK_BYTES = 24
PAGE, SECTOR = 256, 4096
FLASH_OFFSET = 0x1F0000
"""Where a Pico's first sector is: 64 KB below the end of its 2 MB."""

UNO_EEPROM_BYTES = 1024

_FLASH_BASE = 0x10000000
_RP2040 = 0xE48BFF56
_HEX_BYTES = 16
_EEPROM_BYTES_MAX = 1 << 16


def eeprom_hex(image: bytes, at: int = 0) -> bytes:
    """A storage as Intel HEX, as avrdude takes it for an EEPROM (`-U eeprom:w:FILE:i`).

    Raises
    ------
    InputError
        The address is beyond what 16 bits count.
    """
    if not 0 <= at <= _EEPROM_BYTES_MAX - len(image):
        raise InputError(f"address {at} of an EEPROM; give 0 to {_EEPROM_BYTES_MAX - len(image)}")
    lines = [
        _hex_record(at + start, 0, image[start : start + _HEX_BYTES])
        for start in range(0, len(image), _HEX_BYTES)
    ]
    return "".join([*lines, _hex_record(0, 1, b"")]).encode()


def whole_eeprom(image: bytes, at: int = 0) -> bytes:
    """All of an UNO's EEPROM with a storage in it, as `motecrypt run --eeprom` keeps it.

    Raises
    ------
    InputError
        The storage does not fit there.
    """
    if not 0 <= at <= UNO_EEPROM_BYTES - len(image):
        raise InputError(f"address {at} of an UNO's EEPROM; give 0 to {UNO_EEPROM_BYTES - len(image)}")
    return (b"\xff" * at + image).ljust(UNO_EEPROM_BYTES, b"\xff")


def _hex_record(address: int, kind: int, data: bytes) -> str:
    record = bytes([len(data)]) + address.to_bytes(2, "big") + bytes([kind]) + data
    return f":{record.hex().upper()}{-sum(record) & 0xFF:02X}\n"


def flash_image(image: bytes) -> bytes:
    """A storage as its two sectors of flash (firmware/link/node/flash.h): page 0, all else erased."""
    told = image + struct.pack("<I", 0)
    return (told + struct.pack("<I", zlib.crc32(told))).ljust(2 * SECTOR, b"\xff")


def uf2(image: bytes, offset: int = FLASH_OFFSET) -> bytes:
    """The same for a Pico's drive, as UF2: every page of both sectors, so that nothing of before stays.

    Source: github.com/microsoft/uf2, its README; the family is the RP2040's. Whole sectors also because of
    the RP2040's erratum E14 (datasheet, appendix B).

    Raises
    ------
    InputError
        The offset is not where a sector of a flash of 16 MB begins.
    """
    data = flash_image(image)
    if offset % SECTOR or not 0 <= offset <= (1 << 24) - len(data):
        raise InputError(
            f"flash offset {offset:#x}: give a multiple of {SECTOR:#x} below {(1 << 24) - len(data) + 1:#x}"
        )
    pages = [data[at : at + PAGE] for at in range(0, len(data), PAGE)]
    return b"".join(
        struct.pack(
            "<8I476sI",
            *(0x0A324655, 0x9E5D5157, 0x00002000, _FLASH_BASE + offset + number * PAGE),
            *(PAGE, number, len(pages), _RP2040),
            page,
            0x0AB16F30,
        )
        for number, page in enumerate(pages)
    )


def block_text(image: bytes) -> str:
    """A node's key block as one line, which the sketch KeyChange and a QR code take."""
    return f"MC2:{image[:BLOCK_BYTES].hex().upper()}"


def qr_png(text: str) -> bytes:
    """A QR code as a PNG, 8 pixels a module."""
    import segno

    made = BytesIO()
    segno.make(text, micro=False).save(made, kind="png", scale=8)
    return made.getvalue()


def qr_terminal(text: str) -> str:
    """A QR code for a terminal, two modules a character."""
    import segno

    made = StringIO()
    segno.make(text, micro=False).terminal(made, compact=True)
    return made.getvalue()


@contextmanager
def new_folder(folder: Path) -> Iterator[None]:
    """Make a folder that its owner alone can read; after a failure inside, there is none.

    Raises
    ------
    InputError
        It is there already, or cannot be made.
    """
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}; give a new folder's name") from None
    try:
        yield
    except BaseException:
        with suppress(OSError):
            folder.rmdir()
        raise


def write_private(make: Callable[[], Mapping[Path, bytes]], paths: list[Path]) -> None:
    """Make new files that their owner alone can read, then what is in them; after a failure there is none.

    Parameters
    ----------
    make
        Is called once all files are there and gives the content of each.

    Raises
    ------
    InputError
        A file is there already, or cannot be written.
    """
    handles: dict[Path, int] = {}
    with ExitStack() as undo:
        for path in paths:
            try:
                handles[path] = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            except OSError as error:
                raise InputError(f"{path}: {error.strerror}; give a new file's name") from None
            undo.callback(path.unlink, missing_ok=True)
            undo.callback(os.close, handles[path])
        content = make()
        for path, handle in handles.items():
            try:
                with os.fdopen(handle, "wb", closefd=False) as file:
                    file.write(content[path])
                    file.flush()
                    os.fsync(handle)
                sync_folder(path.parent)
            except OSError as error:
                raise InputError(f"{path}: cannot be written: {error.strerror}; free some space") from None
        undo.pop_all()
        for handle in handles.values():
            os.close(handle)
