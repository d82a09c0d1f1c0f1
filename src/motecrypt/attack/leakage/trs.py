"""Files of Riscure Inspector (.trs): a header of tagged fields, then traces of equal length.

Tags, types and parameters are those that Riscure documents with its open library: a tag of one byte, a length
(from 128 on: 0x80 plus how many bytes the length has, then these), the value; all little-endian. Version 2
adds named parameters of the set and of each trace. Sizes are checked before anything is read.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from motecrypt.attack.leakage.traces import Bytes, Traces
from motecrypt.base.errors import InputError
from motecrypt.base.paths import open_regular, written_atomically

_TRACES, _SAMPLES, _CODING, _DATA_BYTES, _TITLE_BYTES = 0x41, 0x42, 0x43, 0x44, 0x45
_DESCRIPTION, _LABEL_X, _LABEL_Y, _VERSION, _BLOCK = 0x47, 0x49, 0x4A, 0x4F, 0x5F
_SIDES = {"INPUT": (0x6B, 0x6E), "OUTPUT": (0x6C, 0x6F), "KEY": (0x6D, 0x70)}  # offset, length
_SET_PARAMETERS, _TRACE_PARAMETERS = 0x76, 0x77
#: Sample codings: bit 4 is set for floating point, the lowest bits are the size in bytes.
_CODINGS = {0x01: "i1", 0x02: "<i2", 0x04: "<i4", 0x14: "<f4"}
#: Types of parameters.
_TYPES = {0x01: "u1", 0x02: "<i2", 0x04: "<i4", 0x08: "<i8", 0x14: "<f4", 0x18: "<f8", 0x20: "u1", 0x31: "u1"}
_BYTE, _INT, _LONG, _DOUBLE, _STRING = 0x01, 0x04, 0x08, 0x18, 0x20
_LABEL = "TVLA:SET_INDEX"
_SHORT = 0x02
_MARKS, _MODEL, _NOISE, _SEED = "MARKS", "MODEL", "NOISE_SD", "SEED"
#: How many values one parameter can have; more marks than that are left out.
_PARAMETER_VALUES = 0x7FFF
#: A header is small; a file that never ends one is not read on.
_HEADER_BYTES_MOST = 16 << 20
#: About how many bytes are written at a time.
_BLOCK_BYTES = 64 << 20
#: NumPy's limit for a record.
_TRACE_BYTES_MOST = 1 << 31
#: The most bytes that samples may take in memory.
MEMORY_MOST = 2 << 30


def write_trs(traces: Traces, path: Path) -> None:
    """Write traces as version 2, readable by programs of version 1.

    Parameters
    ----------
    traces
        uint8 samples are written as bytes, or as shorts if one is above 127 (a byte is signed there).
    path
        A whole file is written or none.
    """
    n, length = traces.samples.shape
    keys = traces.keys if traces.keys.ndim == 2 else np.broadcast_to(traces.keys, (n, len(traces.keys)))
    fields = {"INPUT": traces.inputs, "KEY": keys}
    if traces.outputs is not None:
        fields["OUTPUT"] = traces.outputs
    fields = {name: table for name, table in fields.items() if table.shape[1]}
    coding = 0x14
    if traces.samples.dtype == np.uint8:
        coding = 0x01 if traces.samples.max(initial=0) < 128 else 0x02
    layout = [(name, "u1", table.shape[1]) for name, table in fields.items()]
    if traces.labels is not None:
        layout.append((_LABEL, "<i2", 1))
    columns = [*layout, ("samples", _CODINGS[coding], length)]
    record = np.dtype([(name, kind, (size,)) for name, kind, size in columns])
    header = _header(traces, coding, layout)
    with written_atomically(path) as file:
        file.write(header)
        rows = max(1, _BLOCK_BYTES // record.itemsize)
        for start in range(0, n, rows):
            block = np.zeros(min(rows, n - start), record)
            for name, table in fields.items():
                block[name] = table[start : start + rows]
            if traces.labels is not None:
                block[_LABEL] = traces.labels[start : start + rows, None]
            block["samples"] = traces.samples[start : start + rows]
            file.write(block.tobytes())


def _header(traces: Traces, coding: int, layout: list[tuple[str, str, int]]) -> bytes:
    n, length = traces.samples.shape
    found = [_field(_TRACES, struct.pack("<i", n)), _field(_SAMPLES, struct.pack("<i", length))]
    found += [_field(_CODING, bytes([coding])), _field(_TITLE_BYTES, b"\0")]
    described = f"motecrypt: {traces.model}, noise {traces.noise_sd:g}"
    found += [_field(_DESCRIPTION, described.encode()), _field(_LABEL_X, b"instruction")]
    found += [_field(_LABEL_Y, b"bits"), _field(_VERSION, b"\2")]
    offset, definitions = 0, []
    for name, kind, size in layout:
        code = {"u1": _BYTE, "<i2": _SHORT}[kind]
        definitions.append(_text(name) + struct.pack("<BHH", code, size, offset))
        if name in _SIDES:
            at, extent = _SIDES[name]
            found += [_field(at, struct.pack("<i", offset)), _field(extent, struct.pack("<i", size))]
        offset += size * np.dtype(kind).itemsize
    found.append(_field(_DATA_BYTES, struct.pack("<H", offset)))
    found.append(_field(_TRACE_PARAMETERS, struct.pack("<H", len(definitions)) + b"".join(definitions)))
    found.append(_field(_SET_PARAMETERS, _set_parameters(traces)))
    return b"".join(found) + _field(_BLOCK, b"")


def _set_parameters(traces: Traces) -> bytes:
    model = traces.model.encode()[:_PARAMETER_VALUES]
    found = [_parameter(_MODEL, _STRING, np.frombuffer(model or b"?", np.uint8))]
    found.append(_parameter(_NOISE, _DOUBLE, np.array([traces.noise_sd], "<f8")))
    if traces.seed is not None:
        found.append(_parameter(_SEED, _LONG, np.array([traces.seed], "<i8")))
    if traces.marks.any() and len(traces.marks) <= _PARAMETER_VALUES:
        found.append(_parameter(_MARKS, _INT, traces.marks.astype("<u4")))
    return struct.pack("<H", len(found)) + b"".join(found)


def _parameter(name: str, code: int, values: NDArray[np.generic]) -> bytes:
    return _text(name) + struct.pack("<BH", code, len(values)) + values.tobytes()


def _text(name: str) -> bytes:
    data = name.encode()
    return struct.pack("<H", len(data)) + data


def _field(tag: int, value: bytes) -> bytes:
    if len(value) < 0x80:
        return bytes([tag, len(value)]) + value
    size = len(value).to_bytes(4, "little")
    return bytes([tag, 0x84]) + size + value


@dataclass(frozen=True)
class _Layout:
    """Where the header puts things: `data` has each named part's offset in a trace's data, count and type."""

    traces: int
    samples: int
    coding: str
    title_bytes: int
    data_bytes: int
    data: dict[str, tuple[int, int, str]]
    set_parameters: dict[str, NDArray[np.generic]]


def read_trs(path: Path) -> Traces:
    """Read traces of any version.

    Inputs, outputs, keys and classes are taken from the parameters INPUT, OUTPUT, KEY and TVLA:SET_INDEX of
    each trace, or from version 1's offsets. A key may be a parameter of the whole set.

    Raises
    ------
    InputError
        When the file is not of this format, is cut off, is too large for memory, or has no inputs.
    """
    with open_regular(path) as file:
        layout = _layout(path, file)
        here, size = file.tell(), os.fstat(file.fileno()).st_size
        per_trace = layout.title_bytes + layout.data_bytes + layout.samples * np.dtype(layout.coding).itemsize
        check_memory(path, layout.traces, layout.samples)
        if layout.traces * per_trace > size - here:
            raise InputError(
                f"{path}: cut off: {layout.traces:,} traces of {per_trace:,} bytes are announced, "
                f"{size - here:,} bytes are there"
            )
        if per_trace >= _TRACE_BYTES_MOST:
            raise InputError(f"{path}: a trace has {per_trace:,} bytes, which is too many")
        record = np.dtype(
            [
                ("title", "V1", (layout.title_bytes,)),
                ("data", "u1", (layout.data_bytes,)),
                ("samples", layout.coding, (layout.samples,)),
            ]
        )
        rows = np.frombuffer(file.read(layout.traces * record.itemsize), record, layout.traces)
    parts = {name: _part(rows["data"], where) for name, where in layout.data.items()}
    inputs = parts.get("INPUT")
    if inputs is None:
        raise InputError(
            f"{path}: nothing says where the input is in the {layout.data_bytes} bytes of data of a trace "
            f"(parameters: {', '.join(layout.data) or 'none'}); write them with a parameter INPUT"
        )
    more = layout.set_parameters
    keys = parts["KEY"] if "KEY" in parts else more.get("KEY", np.zeros(0))
    labels = parts.get(_LABEL)
    for name, table in (("INPUT", inputs), ("KEY", keys), ("OUTPUT", parts.get("OUTPUT", keys))):
        if not_bytes(table):
            raise InputError(f"{path}: parameter {name} must be bytes, 0 to 255; write it as bytes")
    if labels is not None and (labels.size != layout.traces or not_bytes(labels)):
        raise InputError(f"{path}: parameter {_LABEL} must be one number from 0 to 255 for each trace")
    marks = more.get(_MARKS)
    if marks is None or len(marks) != layout.samples:
        marks = np.zeros(layout.samples, np.uint32)
    return Traces(
        samples=as_samples(path, rows["samples"]),
        inputs=as_bytes(inputs),
        keys=as_keys(keys),
        marks=marks.astype(np.uint32),
        labels=None if labels is None else as_bytes(labels).ravel(),
        model=more[_MODEL].tobytes().decode(errors="replace") if _MODEL in more else "capture",
        noise_sd=float(single(more.get(_NOISE)) or 0),
        seed=None if (seed := single(more.get(_SEED))) is None else int(seed),
        outputs=as_bytes(parts["OUTPUT"]) if "OUTPUT" in parts else None,
    )


def single(found: NDArray[np.generic] | None) -> int | float | None:
    """Return the only number of an array, if it is finite and 0 or more; else None."""
    if found is None or found.size != 1 or found.dtype.kind not in "iuf":
        return None
    value: int | float = found.item()
    return value if 0 <= value < inf else None


def _part(data: Bytes, where: tuple[int, int, str]) -> NDArray[np.generic]:
    offset, count, kind = where
    width = np.dtype(kind).itemsize
    return np.ascontiguousarray(data[:, offset : offset + count * width]).view(kind)


def _layout(path: Path, file: BinaryIO) -> _Layout:
    fields = dict(_fields(path, file))
    needed = {_TRACES: "number of traces", _SAMPLES: "number of samples", _CODING: "sample coding"}
    for tag, name in needed.items():
        if tag not in fields:
            raise InputError(f"{path}: not a .trs file: its header has no {name}")

    def number(tag: int) -> int:
        return int.from_bytes(fields.get(tag, b""), "little")

    traces, samples = number(_TRACES), number(_SAMPLES)
    if not 0 < traces < 1 << 31 or not 0 < samples < 1 << 31:
        counts = f"{traces:,} traces" + (f" of {samples:,} samples" if traces else "")
        raise InputError(f"{path}: {counts}: there is nothing to analyse; record traces first")
    coding = _CODINGS.get(number(_CODING))
    if coding is None:
        raise InputError(f"{path}: sample coding {number(_CODING):#x} is not of the format")
    data_bytes, data = number(_DATA_BYTES), {}
    for name, (at, extent) in _SIDES.items():
        if number(extent):
            data[name] = (number(at), number(extent), "u1")
    if _TRACE_PARAMETERS in fields:
        defined = dict(_definitions(path, fields[_TRACE_PARAMETERS]))
        if defined:
            data |= defined  # a parameter, where both say where something is
            data_bytes = max(at + count * np.dtype(kind).itemsize for at, count, kind in defined.values())
            data_bytes = max(data_bytes, number(_DATA_BYTES))
    for name, (at, count, kind) in data.items():
        if at + count * np.dtype(kind).itemsize > data_bytes:
            raise InputError(f"{path}: parameter {name} is outside the {data_bytes} bytes of data of a trace")
    more = dict(_parameters(path, fields.get(_SET_PARAMETERS, b"\0\0")))
    return _Layout(traces, samples, coding, number(_TITLE_BYTES), data_bytes, data, more)


def _fields(path: Path, file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    total = 0
    while True:
        head = file.read(2)
        if len(head) < 2:
            raise InputError(f"{path}: not a .trs file: its header has no end")
        tag, size = head
        if size & 0x80:
            extent = file.read(size & 0x7F)
            size = int.from_bytes(extent, "little")
        total += size
        if total > _HEADER_BYTES_MOST:
            raise InputError(f"{path}: not a .trs file: its header is over {_HEADER_BYTES_MOST:,} bytes")
        value = file.read(size)
        if len(value) < size:
            raise InputError(f"{path}: not a .trs file: its header is cut off at tag {tag:#04x}")
        if tag == _BLOCK:
            return
        yield tag, value


class _HeaderReader:
    """Numbers and texts one after the other; refuses to read over the end."""

    def __init__(self, path: Path, data: bytes) -> None:
        self._path, self._data, self._at = path, data, 0

    def take(self, count: int) -> bytes:
        """The next bytes."""
        found = self._data[self._at : self._at + count]
        if len(found) < count:
            raise InputError(f"{self._path}: the list of parameters in its header is cut off")
        self._at += count
        return found

    def number(self, count: int = 2) -> int:
        """The next number."""
        return int.from_bytes(self.take(count), "little")

    def text(self) -> str:
        """The next name."""
        return self.take(self.number()).decode(errors="replace")

    def kind(self) -> str:
        """The next type."""
        code = self.number(1)
        if code not in _TYPES:
            raise InputError(f"{self._path}: parameter type {code:#04x} is not of the format")
        return _TYPES[code]


def _definitions(path: Path, data: bytes) -> Iterator[tuple[str, tuple[int, int, str]]]:
    reader = _HeaderReader(path, data)
    for _ in range(reader.number()):
        name, kind, count = reader.text(), reader.kind(), reader.number()
        yield name, (reader.number(), count, kind)


def _parameters(path: Path, data: bytes) -> Iterator[tuple[str, NDArray[np.generic]]]:
    reader = _HeaderReader(path, data)
    for _ in range(reader.number()):
        name, kind, count = reader.text(), reader.kind(), reader.number()
        yield name, np.frombuffer(reader.take(count * np.dtype(kind).itemsize), kind)


def check_memory(path: Path, traces: int, samples: int, sample_bytes: int = 4) -> None:
    """Refuse samples that would take more than `MEMORY_MOST`: as float32, or as long as they are.

    Raises
    ------
    InputError
        With the sizes.
    """
    if traces * samples * sample_bytes > MEMORY_MOST:
        raise InputError(
            f"{path}: {traces:,} traces of {samples:,} samples need over {MEMORY_MOST >> 30} GB of memory; "
            "cut the window or the number of traces before"
        )


def as_samples(path: Path, found: NDArray[Any]) -> NDArray[np.generic]:
    """Return samples in the types of traces: uint8 where they are, or are small whole numbers; else float32.

    Raises
    ------
    InputError
        When one is not a finite number.
    """
    if found.dtype.kind in "biu" and found.min() >= 0 and found.max() <= 255:
        return np.ascontiguousarray(found, np.uint8)
    with np.errstate(over="ignore"):
        samples = np.ascontiguousarray(found, np.float32)
    if not np.isfinite(samples).all():
        trace, sample = np.argwhere(~np.isfinite(samples))[0]
        raise InputError(f"{path}: sample {sample} of trace {trace} is not a finite number")
    return samples


def not_bytes(found: NDArray[np.generic]) -> bool:
    """Whether a value is not a whole number from 0 to 255."""
    if found.dtype == np.uint8:
        return False
    numbers = found.astype(np.float64)
    return not bool(((numbers >= 0) & (numbers <= 255) & (numbers == np.floor(numbers))).all())


def as_bytes(found: NDArray[np.generic]) -> Bytes:
    """Return data as uint8."""
    return np.ascontiguousarray(found).astype(np.uint8)


def as_keys(found: NDArray[np.generic]) -> Bytes:
    """Return keys as uint8; one key where all traces have the same."""
    keys = as_bytes(found)
    first = keys[:1]
    return first.ravel() if keys.ndim == 2 and (keys == first).all() else keys
