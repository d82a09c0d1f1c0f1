"""Bundles of made-up results, whole and changed."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from unittest.mock import patch

from motecrypt.present.bundle import (
    Bundle,
    BundleCheck,
    contents,
    pack,
    verify,
)
from motecrypt.results import Results
from report_data import fill

STUDIES = ("rc4d", "rf")


def made_bundle(folder: Path) -> Path:
    """A bundle of made-up results."""
    with Results(folder / "r.db") as results:
        fill(results, family="rc4d")
        pack(folder / "b.zip", results, STUDIES, "<html>report</html>")
    return folder / "b.zip"


_DERIVED: dict[tuple[str, tuple[str, ...]], dict[str, bytes]] = {}


def _derive_once(results: Results, studies: Sequence[str], folder: Path) -> None:
    """`contents.derive`, whose files depend on the results and the program alone, once for the same ones."""
    with results.transaction() as connection:
        said = hashlib.sha256("\n".join(connection.iterdump()).encode()).hexdigest()
    if (said, tuple(studies)) not in _DERIVED:
        _derive(results, studies, folder)
        _DERIVED[said, tuple(studies)] = {name: (folder / name).read_bytes() for name in contents.DERIVED}
    for name, data in _DERIVED[said, tuple(studies)].items():
        (folder / name).write_bytes(data)


_derive = contents.derive


def checked(path: Path) -> dict[str, BundleCheck]:
    with Bundle(path) as bundle, patch.object(contents, "derive", _derive_once):
        return {check.what: check for check in verify(bundle)}


def files_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def zipped(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return path


def with_files(path: Path, packed: Path, changes: Mapping[str, bytes | None], listed: bool = True) -> Path:
    """The bundle with other files (None: without), in the manifest too where `listed`."""
    changed = {**files_of(packed), **changes}
    files = {name: data for name, data in changed.items() if data is not None}
    if listed:
        manifest = json.loads(files["manifest.json"])
        manifest["files"] = {
            name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
            for name, data in files.items()
            if name != "manifest.json"
        }
        files["manifest.json"] = json.dumps(manifest).encode()
    return zipped(path, files)
