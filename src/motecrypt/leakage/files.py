"""Trace files: written for other programs, and read from them, by the form that the name shows.

- `NAME.trs`: Riscure Inspector (`trs`), which scared and others read;
- `NAME.npz`: NumPy arrays, which lascar takes: samples, inputs, outputs, keys, marks, labels;
- a folder: ChipWhisperer's arrays PREFIXtraces.npy, PREFIXtextin.npy, PREFIXtextout.npy, PREFIXkeylist.npy.

Nothing that is read is executed: arrays of Python objects are refused.
"""

from __future__ import annotations

import zipfile
import zlib
from math import prod
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from motecrypt.errors import InputError
from motecrypt.leakage.traces import Bytes, Traces
from motecrypt.leakage.trs import as_bytes, as_keys, as_samples, check_memory, read_trs, write_trs
from motecrypt.paths import make_dir, open_regular, written_atomically

FORMS = "NAME.trs, NAME.npz, or a folder (ChipWhisperer's arrays)"
#: Names of one thing in .npz files of others, in lower case.
_ALIASES = {
    "samples": ("samples", "traces", "trace_array", "leakages"),
    "inputs": ("inputs", "input", "textin", "textin_array", "plaintexts", "plaintext"),
    "outputs": ("outputs", "output", "textout", "ciphertexts", "ciphertext"),
    "keys": ("keys", "key", "keylist", "known_keys", "knownkey"),
    "marks": ("marks",),
    "labels": ("labels",),
    "model": ("model",),
    "noise_sd": ("noise_sd",),
    "seed": ("seed",),
}
_PREFIX = "motecrypt_"
#: What reading a damaged archive raises.
_BROKEN = (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError, RuntimeError, zlib.error)


def write_traces(traces: Traces, path: Path) -> None:
    """Write traces in the form that the name shows.

    Raises
    ------
    InputError
        For a name of no known form, or when it cannot be written.
    """
    if path.suffix == ".trs":
        write_trs(traces, path)
    elif path.suffix == ".npz":
        _write_npz(traces, path)
    elif not path.suffix:
        _write_chipwhisperer(traces, path)
    else:
        raise InputError(f"{path}: no form of trace files has this ending; give {FORMS}")


def read_traces(path: Path) -> Traces:
    """Read traces; `model` is "capture" and marks are 0 where a file does not say more.

    Raises
    ------
    InputError
        When the file is missing, cut off, too large, or has no samples or inputs: one line that says where.
    """
    if path.is_dir() or path.name.endswith("traces.npy"):
        return _read_chipwhisperer(path)
    if path.suffix == ".trs":
        return read_trs(path)
    if path.suffix == ".npz":
        return _read_npz(path)
    raise InputError(f"{path}: no form of trace files has this ending; give {FORMS}")


# --- .npz


def _write_npz(traces: Traces, path: Path) -> None:
    arrays = {"samples": traces.samples, "inputs": traces.inputs, "keys": traces.keys, "marks": traces.marks}
    arrays["model"] = np.array(traces.model)
    arrays["noise_sd"] = np.array(traces.noise_sd)
    if traces.seed is not None:
        arrays["seed"] = np.array(traces.seed)
    for name, table in (("labels", traces.labels), ("outputs", traces.outputs)):
        if table is not None:
            arrays[name] = table
    with written_atomically(path) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def _read_npz(path: Path) -> Traces:
    found: dict[str, NDArray[np.generic]] = {}
    with open_regular(path) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                for entry in archive.namelist():
                    name = _thing(entry.removesuffix(".npy"))
                    if name:
                        with archive.open(entry) as member:
                            found[name] = _array(path, cast(BinaryIO, member), entry)
        except _BROKEN as error:
            raise InputError(f"{path}: not an .npz file that NumPy wrote: {error}") from None
    return _assembled(path, found)


def _thing(name: str) -> str | None:
    return next((thing for thing, names in _ALIASES.items() if name.lower() in names), None)


def _array(path: Path, file: BinaryIO, name: str) -> NDArray[np.generic]:
    """One array; its size is checked before it is read."""
    try:
        version = npy.read_magic(file)
        header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, by_columns, kind = header(file)
    except (ValueError, EOFError) as error:
        raise InputError(f"{path}: {name} is not an array that NumPy wrote: {error}") from None
    if kind.hasobject:
        raise InputError(f"{path}: {name} has Python objects, which are not read; save it as numbers")
    size = prod(shape)
    if size < 0:
        raise InputError(f"{path}: {name} has a negative size")
    check_memory(path, size, max(1, kind.itemsize // 4))
    data = file.read(size * kind.itemsize)
    if len(data) < size * kind.itemsize:
        raise InputError(f"{path}: {name} is cut off")
    flat = np.frombuffer(data, kind, size)
    return flat.reshape(shape, order="F" if by_columns else "C")


def _assembled(path: Path, found: dict[str, NDArray[np.generic]]) -> Traces:
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
        if thing in found and found[thing].size and not _are_bytes(found[thing]):
            raise InputError(f"{path}: {thing} must be bytes, 0 to 255")
    marks = found.get("marks")
    if marks is None or marks.dtype.kind not in "iu":
        marks = np.zeros(samples.shape[1], np.uint32)
    labels, outputs = found.get("labels"), found.get("outputs")
    if labels is not None and labels.dtype.kind not in "biu":
        labels = None
    noise_sd, seed = _number(found.get("noise_sd")), _number(found.get("seed"))
    return Traces(
        samples=as_samples(path, samples),
        inputs=as_bytes(found["inputs"]),
        keys=as_keys(found.get("keys", np.zeros(0))),
        marks=marks.astype(np.uint32),
        labels=None if labels is None else as_bytes(labels),
        model=str(found["model"]) if "model" in found else "capture",
        noise_sd=noise_sd or 0.0,
        seed=None if seed is None else int(seed),
        outputs=None if outputs is None or not outputs.shape[1] else as_bytes(outputs),
    )


def _number(found: NDArray[np.generic] | None) -> float | None:
    """A single finite number; anything else is as if it were not there."""
    if found is None or found.size != 1 or found.dtype.kind not in "iuf":
        return None
    value = float(found.item())
    return value if np.isfinite(value) and value >= 0 else None


def _are_bytes(found: NDArray[np.generic]) -> bool:
    numbers = found.astype(np.float64)
    return bool((numbers >= 0).all() and (numbers <= 255).all() and (numbers == np.floor(numbers)).all())


# --- ChipWhisperer


def _write_chipwhisperer(traces: Traces, folder: Path) -> None:
    """Arrays as ChipWhisperer's native form names them, with the configuration that it opens."""
    make_dir(folder)
    n = len(traces)
    keys = traces.keys if traces.keys.ndim == 2 else np.broadcast_to(traces.keys, (n, len(traces.keys)))
    arrays: dict[str, Bytes | NDArray[np.generic]] = {
        "traces": traces.samples,
        "textin": traces.inputs,
        "keylist": keys,
    }
    # ChipWhisperer opens all five; a table without columns is one that was not recorded.
    arrays["textout"] = np.zeros((n, 0), np.uint8) if traces.outputs is None else traces.outputs
    arrays["knownkey"] = traces.keys if traces.keys.ndim == 1 else traces.keys[0]
    for name, table in arrays.items():
        with written_atomically(folder / f"{_PREFIX}{name}.npy") as file:
            npy.write_array(file, np.ascontiguousarray(table), allow_pickle=False)
    points = traces.samples.shape[1]
    lines = ["[Trace Config]", "format = native", f"numTraces = {n}", f"numPoints = {points}"]
    lines += [f"prefix = {_PREFIX}", f"notes = motecrypt: {traces.model} noise {traces.noise_sd:g}"]
    with written_atomically(folder / f"config_{_PREFIX}.cfg") as file:
        file.write(("\n".join(lines) + "\n").encode())


def _read_chipwhisperer(path: Path) -> Traces:
    if path.is_dir():
        candidates = sorted(path.glob("*traces.npy")) or sorted(path.glob("*_data/traces/*traces.npy"))
        if not candidates:
            raise InputError(f"{path}: no file *traces.npy in this folder, as ChipWhisperer saves")
        if len(candidates) > 1:
            names = ", ".join(file.name for file in candidates)
            raise InputError(f"{path}: several captures; give the path of one: {names}")
        path = candidates[0]
    prefix = path.name.removesuffix("traces.npy")
    found: dict[str, NDArray[np.generic]] = {}
    for name, thing in (
        ("traces", "samples"),
        ("textin", "inputs"),
        ("textout", "outputs"),
        ("knownkey", "keys"),
        ("keylist", "keys"),  # the later one counts: a key for each trace
    ):
        file = path.with_name(f"{prefix}{name}.npy")
        if file.exists():
            with open_regular(file) as opened:
                found[thing] = _array(file, opened, file.name)
    return _assembled(path, found)
