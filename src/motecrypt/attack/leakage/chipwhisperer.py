"""Projects of ChipWhisperer: `NAME.cwp` lists captures, whose arrays are in `NAME_data/traces`.

A capture is `config_PREFIX.cfg` with arrays PREFIXtraces.npy, PREFIXtextin.npy, PREFIXtextout.npy,
PREFIXkeylist.npy and PREFIXknownkey.npy. ChipWhisperer starts a further capture after 10,000 traces, and each
save writes all captures again under new names, so that only the .cwp says which ones count. PREFIXtraces.npy
has rows to spare; `numTraces` in the .cfg counts those that were recorded. What was not recorded is None.
"""

from __future__ import annotations

import configparser
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from motecrypt.attack.leakage.arrays import Array, assembled, read_array
from motecrypt.attack.leakage.traces import Traces
from motecrypt.attack.leakage.trs import check_memory
from motecrypt.base.errors import InputError
from motecrypt.base.paths import make_dir, open_regular, read_regular, written_atomically

PROJECT = ".cwp"
_PREFIX = "motecrypt_"
_TRACES = "traces.npy"
_CONFIG_BYTES_MOST = 1 << 20
_ARRAYS = (
    ("traces", "samples"),
    ("textin", "inputs"),
    ("textout", "outputs"),
    ("knownkey", "keys"),
    ("keylist", "keys"),  # the later one counts: a key for each trace
)


def write_chipwhisperer(traces: Traces, folder: Path) -> None:
    """Write arrays as ChipWhisperer's native form names them, with the configuration that it opens."""
    make_dir(folder)
    n = len(traces)
    keys = traces.keys if traces.keys.ndim == 2 else np.broadcast_to(traces.keys, (n, len(traces.keys)))
    arrays: dict[str, Array] = {
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


def read_chipwhisperer(path: Path) -> Traces:
    """Read a project, the captures that it has enabled; or one capture.

    Parameters
    ----------
    path
        `NAME.cwp`, a folder with it, its `NAME_data`, a folder of arrays, or one PREFIXtraces.npy.

    Raises
    ------
    InputError
        When files are missing or damaged, or do not belong together; or when several captures or projects are
        there and none is named.
    """
    if path.name.endswith(_TRACES) and not path.is_dir():
        return assembled(path, _capture(path, path.with_name(f"config_{_prefix(path)}.cfg")))
    project = path if path.suffix == PROJECT and not path.is_dir() else _project_of(path)
    if project is not None:
        return _read_project(project)
    places = ("", "traces/", "*_data/traces/")
    candidates = next((found for place in places if (found := sorted(path.glob(f"{place}*{_TRACES}")))), [])
    if not candidates:
        raise InputError(f"{path}: no file *{_TRACES} or *{PROJECT} in this folder, as ChipWhisperer saves")
    capture, *others = candidates
    if others:
        raise InputError(f"{path}: several captures; give the path of one: {_names(candidates)}")
    return read_chipwhisperer(capture)


def _project_of(folder: Path) -> Path | None:
    """The project in a folder, or the one whose data the folder has."""
    projects = sorted(folder.glob(f"*{PROJECT}"))
    if len(projects) > 1:
        raise InputError(f"{folder}: several projects; give the path of one: {_names(projects)}")
    for data in (folder, folder.parent):
        if data.name.endswith("_data"):
            projects.append(data.with_name(data.name.removesuffix("_data") + PROJECT))
    return next((project for project in projects if project.is_file()), None)


def _read_project(project: Path) -> Traces:
    listed = _settings(project, "Trace Management")
    parts: list[dict[str, Array]] = []
    widths: set[int] = set()
    for name, value in listed.items():
        number = name.removeprefix("tracefile")
        if not name.startswith("tracefile") or listed.get(f"enabled{number}") == "False":
            continue
        config = project.parent / value.replace("\\", "/")
        if not _is_file(config):
            raise InputError(
                f"{project}: its capture {value} is not there; keep {project.stem}_data next to it"
            )
        settings = _settings(config, "Trace Config")
        if settings.get("numtraces") == "0":
            continue
        parts.append(_capture(config.with_name(f"{settings.get('prefix', '')}{_TRACES}"), config))
        widths.add(parts[-1]["samples"].shape[1])
        check_memory(project, sum(len(part["samples"]) for part in parts), max(widths))
    if not parts:
        raise InputError(f"{project}: no capture with traces is enabled in it; record some, and save it")
    if len(widths) > 1:
        raise InputError(f"{project}: its captures differ in samples per trace; give one *{_TRACES}")
    return assembled(project, _joined(project, parts))


def _joined(project: Path, parts: list[dict[str, Array]]) -> dict[str, Array]:
    if len(parts) == 1:
        return dict(*parts)
    found = {}
    for thing in sorted({thing for part in parts for thing in part}):
        without = [part for part in parts if thing not in part]
        if without:
            raise InputError(
                f"{project}: {len(without)} of its {len(parts)} captures have no {thing}; "
                f"disable them, or give one *{_TRACES}"
            )
        rows = [np.atleast_2d(part[thing]) for part in parts]
        if thing == "keys":  # one of a capture is that of all its traces
            counts = [len(part["samples"]) for part in parts]
            rows = [
                np.broadcast_to(row, (n, row.shape[1])) if len(row) == 1 else row
                for row, n in zip(rows, counts, strict=True)
            ]
        if len({row.shape[1] for row in rows}) > 1:
            raise InputError(f"{project}: {thing} of its captures differ in length; give one *{_TRACES}")
        found[thing] = np.concatenate(rows)
    return found


def _capture(traces: Path, config: Path) -> dict[str, Array]:
    """The arrays of one capture, without the rows to spare."""
    prefix = _prefix(traces)
    found: dict[str, Array] = {}
    for name, thing in _ARRAYS:
        file = traces.with_name(f"{prefix}{name}.npy")
        if file.exists():
            with open_regular(file) as opened:
                array = read_array(file, opened, file.name)
            if array is not None and array.ndim > 2:
                raise InputError(f"{file}: must be a table, not {array.shape}; save the project again")
            if array is not None:
                found[thing] = array
    samples = found.get("samples")
    if samples is None or samples.ndim < 2:
        raise InputError(f"{traces}: has no traces; record some, and save the project")
    if _is_file(config):
        count = _count(config)
        if count > len(samples):
            raise InputError(
                f"{traces}: {len(samples):,} traces, and {config.name} announces {count:,}; "
                "save the project again, or copy both"
            )
        found["samples"] = samples[:count]
    elif found.get("inputs", samples).ndim == 2:  # as many as there are inputs, when the others are empty
        count = len(found.get("inputs", samples))
        found["samples"] = samples if samples[count:].any() else samples[:count]
    return found


def _count(config: Path) -> int:
    told = _settings(config, "Trace Config").get("numtraces", "")
    if not told.isascii() or not told.isdecimal():
        raise InputError(f"{config}: has no number of traces (numTraces = ...); save the project again")
    return int(told)


def _settings(path: Path, section: str) -> dict[str, str]:
    """A section of a configuration, with names in lower case."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(read_regular(path, _CONFIG_BYTES_MOST).decode(errors="replace"))
        return {name: value.strip("\"'") for name, value in parser.items(section)}
    except configparser.Error:
        raise InputError(f"{path}: not of ChipWhisperer: it has no section [{section}]") from None


def _is_file(path: Path) -> bool:
    """Whether a path that a file names is a regular file; one that the system refuses is not."""
    try:
        return path.is_file()
    except OSError:
        return False


def _prefix(traces: Path) -> str:
    return traces.name.removesuffix(_TRACES)


def _names(files: list[Path]) -> str:
    return ", ".join(file.name for file in files)
