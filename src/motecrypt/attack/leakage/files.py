"""Trace files: written for other programs, and read from them, by the form that the name shows.

- `NAME.trs`: Riscure Inspector (`trs`), which scared and others read;
- `NAME.npz`: NumPy arrays: samples, inputs, outputs, keys, marks, labels; lascar's leakages and values;
- `NAME.cwp` or a folder: ChipWhisperer (`chipwhisperer`).

Nothing that is read is executed: arrays of Python objects are refused.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from motecrypt.attack.leakage.arrays import Array, assembled, read_array, thing_named, things_in
from motecrypt.attack.leakage.chipwhisperer import PROJECT, read_chipwhisperer, write_chipwhisperer
from motecrypt.attack.leakage.traces import Traces
from motecrypt.attack.leakage.trs import read_trs, write_trs
from motecrypt.base.errors import InputError
from motecrypt.base.paths import open_regular, written_atomically

SEED_MOST = (1 << 63) - 1
FORMS = "NAME.trs, NAME.npz, NAME.cwp, or a folder (ChipWhisperer's arrays)"
#: What reading a damaged archive raises.
_BROKEN = (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError, RuntimeError, zlib.error)


def write_traces(traces: Traces, path: Path) -> None:
    """Write traces in the form that the name shows.

    Raises
    ------
    InputError
        For a name of no known form, a seed of over 63 bits, or when it cannot be written.
    """
    if traces.seed is not None and traces.seed > SEED_MOST:
        raise InputError(
            f"{path}: no form of trace files keeps a seed over {SEED_MOST:,}; give a smaller one"
        )
    if path.suffix == ".trs":
        write_trs(traces, path)
    elif path.suffix == ".npz":
        _write_npz(traces, path)
    elif not path.suffix:
        write_chipwhisperer(traces, path)
    else:
        raise InputError(f"{path}: no form of trace files has this ending; give {FORMS}")


def read_traces(path: Path) -> Traces:
    """Read traces; `model` is "capture" and marks are 0 where a file does not say more.

    Raises
    ------
    InputError
        When the file is missing, cut off, too large, or has no samples or inputs: one line that says where.
    """
    if path.is_dir() or path.suffix == PROJECT or path.name.endswith("traces.npy"):
        return read_chipwhisperer(path)
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
    found: dict[str, Array] = {}
    with open_regular(path) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                for entry in archive.namelist():
                    name = entry.removesuffix(".npy")
                    if thing_named(name):
                        with archive.open(entry) as member:
                            array = read_array(path, cast(BinaryIO, member), entry)
                        found |= {} if array is None else things_in(name, array)
        except _BROKEN as error:
            raise InputError(f"{path}: not an .npz file that NumPy wrote: {error}") from None
    return assembled(path, found)
