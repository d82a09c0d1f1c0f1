"""NumPy arrays that other programs saved, and traces assembled from them. Nothing read is executed."""

from __future__ import annotations

import pickletools
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from motecrypt.attack.leakage.traces import Traces
from motecrypt.attack.leakage.trs import as_bytes, as_keys, as_samples, check_memory, not_bytes, single
from motecrypt.base.errors import InputError

Array = NDArray[np.generic]
#: Names of one thing in files of others, in lower case.
_ALIASES = {
    "samples": ("samples", "traces", "trace_array", "leakages"),
    "inputs": ("inputs", "input", "textin", "textin_array", "plaintexts", "plaintext", "values"),
    "outputs": ("outputs", "output", "textout", "ciphertexts", "ciphertext"),
    "keys": ("keys", "key", "keylist", "known_keys", "knownkey"),
    "marks": ("marks",),
    "labels": ("labels",),
    "model": ("model",),
    "noise_sd": ("noise_sd",),
    "seed": ("seed",),
}
#: How the header of each version of NumPy's format is read; the third differs in names of columns alone.
_HEADERS = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
    (3, 0): npy.read_array_header_2_0,
}
#: Longer lists of Python objects are not looked at.
_OBJECTS_BYTES_MOST = 1 << 20
#: The codes of a pickled list that has nothing but None.
_OF_NONE = {"NONE", "MARK", "APPEND", "APPENDS", "MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT"}


def things_in(name: str, array: Array) -> dict[str, Array]:
    """The known things in an array of this name; of a table with named columns, each known column."""
    if array.dtype.names is None:
        thing = thing_named(name)
        return {} if thing is None else {thing: array}
    table: NDArray[Any] = array
    columns = {thing_named(column): table[column] for column in array.dtype.names}
    return {thing: column for thing, column in columns.items() if thing is not None}


def thing_named(name: str) -> str | None:
    """The field of `Traces` that an array of this name is, in any spelling; None for any other."""
    return next((thing for thing, names in _ALIASES.items() if name.lower() in names), None)


def read_array(path: Path, file: BinaryIO, name: str) -> Array | None:
    """Read one array; its size is checked before it is read. Texts of bytes come as rows of bytes.

    Returns
    -------
    None when the array has nothing but None: what it is for was not recorded.

    Raises
    ------
    InputError
        When it is not an array, has other Python objects, is too large, or is cut off.
    """
    try:
        version = npy.read_magic(file)
        if version not in _HEADERS:
            raise ValueError(f"version {version[0]}.{version[1]} of the format is not known")
        shape, by_columns, kind = _HEADERS[version](file)
    except (ValueError, EOFError) as error:
        raise InputError(f"{path}: {name} is not an array that NumPy wrote: {error}") from None
    if kind.hasobject:
        if _only_none(file.read(_OBJECTS_BYTES_MOST)):
            return None
        raise InputError(f"{path}: {name} has Python objects, which are not read; save it as numbers")
    size = prod(shape)
    if any(length < 0 for length in shape):
        raise InputError(f"{path}: {name} has a negative size")
    check_memory(path, size, 1, max(4, kind.itemsize))
    data = file.read(size * kind.itemsize)
    if len(data) < size * kind.itemsize:
        raise InputError(f"{path}: {name} is cut off")
    flat: Array = np.frombuffer(data, kind, size)
    table = flat.reshape(shape, order="F" if by_columns else "C")
    if kind.kind == "S" and kind.itemsize:
        return np.ascontiguousarray(table).view(np.uint8).reshape(*shape, kind.itemsize)
    return table


def _only_none(pickled: bytes) -> bool:
    """Whether the elements of a pickled array are all None. Its codes are listed, not executed."""
    names = []
    try:
        names = [code.name for code, _, _ in pickletools.genops(pickled)]
    except ValueError:
        return False
    if "EMPTY_LIST" not in names:
        return False
    rest = names[names.index("EMPTY_LIST") + 1 :]
    elements = rest[: rest.index("TUPLE")] if "TUPLE" in rest else rest
    return set(elements) <= _OF_NONE


def assembled(path: Path, found: dict[str, Array]) -> Traces:
    """Make traces of arrays by their things.

    Raises
    ------
    InputError
        When samples or inputs are missing, or an array has no fitting type, size or values.
    """
    for thing in ("samples", "inputs"):
        if thing not in found:
            raise InputError(f"{path}: no array of {thing}; it is named one of: {', '.join(_ALIASES[thing])}")
    samples = found["samples"]
    for thing, dimensions in (("samples", (2,)), ("inputs", (2,)), ("outputs", (2,)), ("keys", (1, 2))):
        if thing in found and (found[thing].ndim not in dimensions or found[thing].dtype.kind not in "biuf"):
            raise InputError(f"{path}: {thing} must be a table of numbers, not {found[thing].shape}")
    if not samples.size:
        raise InputError(f"{path}: {samples.shape[0]:,} traces of {samples.shape[1]:,} samples: it is empty")
    check_memory(path, *samples.shape)
    for thing in ("inputs", "outputs", "keys"):
        if thing in found and not_bytes(found[thing]):
            raise InputError(f"{path}: {thing} must be bytes, 0 to 255")
        if thing in found and found[thing].ndim == 2 and len(found[thing]) != len(samples):
            raise InputError(
                f"{path}: {len(samples):,} traces need {len(samples):,} rows of {thing}, "
                f"not {len(found[thing]):,}; save them together"
            )
    marks, model = found.get("marks"), found.get("model")
    if marks is None or marks.dtype.kind not in "iu" or marks.shape != samples.shape[1:]:
        marks = np.zeros(samples.shape[1], np.uint32)
    labels, outputs = found.get("labels"), found.get("outputs")
    if labels is not None and labels.dtype.kind not in "biu":
        labels = None
    if labels is not None and (labels.shape != samples.shape[:1] or not_bytes(labels)):
        raise InputError(f"{path}: labels must be a number from 0 to 255 for each of {len(samples):,} traces")
    noise_sd, seed = single(found.get("noise_sd")), single(found.get("seed"))
    return Traces(
        samples=as_samples(path, samples),
        inputs=as_bytes(found["inputs"]),
        keys=as_keys(found.get("keys", np.zeros(0))),
        marks=marks.astype(np.uint32),
        labels=None if labels is None else as_bytes(labels),
        model=str(model) if model is not None and (model.ndim, model.dtype.kind) == (0, "U") else "capture",
        noise_sd=float(noise_sd or 0),
        seed=None if seed is None else int(seed),
        outputs=None if outputs is None or not outputs.shape[1] else as_bytes(outputs),
    )
