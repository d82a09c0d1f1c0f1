"""Parquet, as much as a table of plain columns needs, written row group by row group.

Each column of a row group is one data page (version 1) in the encoding PLAIN, compressed with gzip. The
format is specified at parquet.apache.org (parquet.thrift); its headers are Thrift's compact protocol. A
library would take more memory for its code alone than we do for 100,000 rows.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from typing import Any, BinaryIO

MAGIC = b"PAR1"
_CREATED_BY = "motecrypt"
_PLAIN, _RLE = 0, 3
_GZIP = 2
_REQUIRED, _OPTIONAL = 0, 1
_UTF8 = 0
_DATA_PAGE = 0
_GZIP_WINDOW = 31  # zlib: a window of 32 KB in gzip's frame, without a time


class Physical(IntEnum):
    """Parquet's own types."""

    BOOLEAN = 0
    INT64 = 2
    DOUBLE = 5
    BYTE_ARRAY = 6


_INT64_MAX = (1 << 63) - 1


@dataclass(frozen=True)
class ParquetColumn:
    """A column: its name, its type (byte arrays are text), and whether it may have no value (None)."""

    name: str
    type: Physical
    optional: bool


class ParquetFile:
    """A file that is being written: `add` row groups, then `finish`.

    Parameters
    ----------
    file
        An empty file, open for writing.
    columns
        In the order of the schema.
    metadata
        Texts that readers show with the schema.
    """

    def __init__(self, file: BinaryIO, columns: Sequence[ParquetColumn], metadata: Mapping[str, str]) -> None:
        self._file = file
        self._columns = tuple(columns)
        self._metadata = dict(metadata)
        self._groups: list[bytes] = []
        self._rows = 0
        self._at = 0
        self._write(MAGIC)

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._at += len(data)

    def add(self, values: Mapping[str, Sequence[Any]]) -> None:
        """Write one row group: the values of each column, all of one length.

        Raises
        ------
        ValueError
            Lengths differ, a required column has None, or a whole number has more than 64 bits.
        """
        count = len(values[self._columns[0].name])
        chunks, size = [], 0
        for column in self._columns:
            own = values[column.name]
            if len(own) != count:
                raise ValueError(f"{column.name}: {len(own)} values, expected {count}")
            start = self._at
            page = _page(column, own)
            packer = zlib.compressobj(6, zlib.DEFLATED, _GZIP_WINDOW)
            packed = packer.compress(page) + packer.flush()
            header = _page_header(count, len(page), len(packed))
            self._write(header + packed)
            size += len(header) + len(page)
            chunks.append(_chunk(column, count, start, len(header) + len(page), len(header) + len(packed)))
        self._groups.append(_record((1, _structs(chunks)), (2, _i64(size)), (3, _i64(count))))
        self._rows += count

    def finish(self) -> None:
        """Write the footer; the file is complete."""
        schema = [_record((4, _text("schema")), (5, _i32(len(self._columns)))), *map(_element, self._columns)]
        told = [_record((1, _text(name)), (2, _text(text))) for name, text in self._metadata.items()]
        footer = _record(
            (1, _i32(1)),
            (2, _structs(schema)),
            (3, _i64(self._rows)),
            (4, _structs(self._groups)),
            (5, _structs(told)),
            (6, _text(_CREATED_BY)),
        )
        self._write(footer + struct.pack("<I", len(footer)) + MAGIC)


def _element(column: ParquetColumn) -> bytes:
    fields = [
        (1, _i32(column.type)),
        (3, _i32(_OPTIONAL if column.optional else _REQUIRED)),
        (4, _text(column.name)),
    ]
    if column.type == Physical.BYTE_ARRAY:
        fields.append((6, _i32(_UTF8)))
    return _record(*fields)


def _chunk(column: ParquetColumn, count: int, start: int, size: int, packed_size: int) -> bytes:
    meta = _record(
        (1, _i32(column.type)),
        (2, _list(_I32, [_zigzag(_PLAIN), _zigzag(_RLE)])),
        (3, _list(_BINARY, [_bytes(column.name)])),
        (4, _i32(_GZIP)),
        (5, _i64(count)),
        (6, _i64(size)),
        (7, _i64(packed_size)),
        (9, _i64(start)),
    )
    return _record((2, _i64(start)), (3, (_STRUCT, meta)))


def _page_header(count: int, size: int, packed_size: int) -> bytes:
    data = _record((1, _i32(count)), (2, _i32(_PLAIN)), (3, _i32(_RLE)), (4, _i32(_RLE)))
    return _record((1, _i32(_DATA_PAGE)), (2, _i32(size)), (3, _i32(packed_size)), (5, (_STRUCT, data)))


def _page(column: ParquetColumn, values: Sequence[Any]) -> bytes:
    """What a page has before compression: which values there are, where some may be missing, and those."""
    there = [value for value in values if value is not None]
    if not column.optional:
        if len(there) != len(values):
            raise ValueError(f"{column.name}: a value is missing")
        return _plain(column, there)
    runs = b"".join(
        _varint(sum(1 for _ in run) << 1) + bytes([present])
        for present, run in groupby(value is not None for value in values)
    )
    return struct.pack("<I", len(runs)) + runs + _plain(column, there)


def _plain(column: ParquetColumn, values: Sequence[Any]) -> bytes:
    if column.type == Physical.INT64:
        if any(not -_INT64_MAX - 1 <= value <= _INT64_MAX for value in values):
            raise ValueError(f"{column.name}: a whole number has more than 64 bits")
        return struct.pack(f"<{len(values)}q", *values)
    if column.type == Physical.DOUBLE:
        return struct.pack(f"<{len(values)}d", *values)
    if column.type == Physical.BOOLEAN:
        return _bits(values)
    texts = [value.encode() for value in values]
    return b"".join(part for text in texts for part in (struct.pack("<I", len(text)), text))


def _bits(values: Iterable[bool]) -> bytes:
    """Eight to a byte, the first in the least significant bit."""
    whole = 0
    count = 0
    for count, value in enumerate(values, start=1):
        whole |= bool(value) << (count - 1)
    return whole.to_bytes((count + 7) // 8, "little")


# --- Thrift's compact protocol: a field is its number and a value with its type -----------------------------

_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12
_SHORT_LIST = 15  # elements that the size no longer fits next to the type
_STOP = b"\0"

_Value = tuple[int, bytes]


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def _zigzag(number: int) -> bytes:
    return _varint(number << 1 if number >= 0 else (-number << 1) - 1)


def _bytes(text: str) -> bytes:
    data = text.encode()
    return _varint(len(data)) + data


def _i32(number: int) -> _Value:
    return _I32, _zigzag(number)


def _i64(number: int) -> _Value:
    return _I64, _zigzag(number)


def _text(text: str) -> _Value:
    return _BINARY, _bytes(text)


def _list(kind: int, items: Sequence[bytes]) -> _Value:
    if len(items) < _SHORT_LIST:
        head = bytes([len(items) << 4 | kind])
    else:
        head = bytes([0xF0 | kind]) + _varint(len(items))
    return _LIST, head + b"".join(items)


def _structs(items: Sequence[bytes]) -> _Value:
    return _list(_STRUCT, items)


def _record(*fields: tuple[int, _Value]) -> bytes:
    """A struct: fields in order of their numbers, which are at most 15 apart."""
    parts, last = [], 0
    for number, (kind, data) in fields:
        parts += [bytes([(number - last) << 4 | kind]), data]
        last = number
    return b"".join(parts) + _STOP
