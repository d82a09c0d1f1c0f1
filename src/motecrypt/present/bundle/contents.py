"""What a bundle has: the results, all that is derived from them, the inputs, and a manifest of hashes."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import platform
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from motecrypt import __version__
from motecrypt.base.errors import InputError
from motecrypt.base.text import spreadsheet_row
from motecrypt.catalog import DATA, PACKAGE, Catalog
from motecrypt.exports.targets import sleepers
from motecrypt.present.bundle import archive
from motecrypt.present.report import gather, render
from motecrypt.results import Results
from motecrypt.results.forms import as_csv
from motecrypt.results.reading import select
from motecrypt.studies import folders, study
from motecrypt.studies.counts import as_csv as rows_as_csv
from motecrypt.studies.facts import Comparison

FORMAT = 1
MANIFEST = "manifest.json"
RESULTS = "results.db"
MEASUREMENTS, ELF, ROWS, ROWS_CSV = "measurements.csv", "elf.csv", "rows.json", "rows.csv"
TABLES = "report-tables.html"
DERIVED = (MEASUREMENTS, ELF, ROWS, ROWS_CSV, TABLES)
"""Files that the packed results give again; `rows.json` and `rows.csv` for the bundle's studies."""
INPUTS = "inputs"
REPORT = "report.html"
GUIDE = "README.txt"
ELF_COLUMNS = (
    *("device", "cipher", "library", "configuration", "variant", "placement", "flags"),
    *("toolchain", "compiler", "elf_sha256"),
)

_GUIDE = """\
Results of motecrypt {version}, studies: {studies}.

To verify this bundle, on any machine with motecrypt {version}:

    motecrypt reproduce --verify FILE
    motecrypt reproduce --verify FILE --remeasure

The first checks the hashes and makes every table and report-tables.html again from results.db.
The second also builds the firmware, runs it and compares figures and hashes.

manifest.json has versions and the SHA-256 of each file.
results.db has measurements and outcomes of experiments (SQLite).
measurements.csv has the newest measurement of each cell.
elf.csv has the SHA-256 of each firmware.
rows.json and rows.csv have every published fact next to ours, with its verdict.
report.html is the report, for a browser; only its hash is checked. report-tables.html has no figures.
inputs/ has printed figures, recorded outcomes, toolchains, and locks of Python packages.
"""


def checked(studies: Sequence[str]) -> tuple[str, ...]:
    """The names of studies that can be in a bundle; InputError for another, as a user's own folder."""
    for name in studies:
        if name not in folders():
            raise InputError(f"--bundle packs {', '.join(folders())}; '{name}' is not among them")
    return tuple(studies)


def rows(results: Results, studies: Iterable[str]) -> list[Comparison]:
    """The published facts of these studies next to ours."""
    return [row for name in studies for row in study(name).comparisons(results)]


def derive(results: Results, studies: Sequence[str], folder: Path) -> None:
    """Write the DERIVED files of a results file; they depend on it and on the program alone."""
    with archive.space_told(folder):
        _derive(results, studies, folder)


def _derive(results: Results, studies: Sequence[str], folder: Path) -> None:
    with (folder / MEASUREMENTS).open("w", encoding="utf-8", newline="") as file:
        file.writelines(as_csv(select(results)))
    (folder / ELF).write_text(_elf(results), encoding="utf-8", newline="")
    facts = rows(results, studies)
    lines = ",\n".join(json.dumps(asdict(row), allow_nan=False) for row in facts)
    (folder / ROWS).write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    (folder / ROWS_CSV).write_text(rows_as_csv(facts), encoding="utf-8", newline="")
    catalog = Catalog.load()
    content = gather(results, catalog, sleepers(catalog))
    (folder / TABLES).write_text(render(content, ""), encoding="utf-8")


def _elf(results: Results) -> str:
    found = {tuple(getattr(m, name) for name in ELF_COLUMNS) for m in results.each_newest() if m.elf_sha256}
    text = io.StringIO()
    lines = (spreadsheet_row(dict(zip(ELF_COLUMNS, row, strict=True))).values() for row in sorted(found))
    csv.writer(text, lineterminator="\n").writerows([ELF_COLUMNS, *lines])
    return text.getvalue()


def inputs() -> dict[str, Path]:
    """What the studies compare with and are made with, by its name in a bundle."""
    patterns = ("published/*", "recorded/*", "toolchains/*.toml", "locks/*.txt", "*.toml")
    found = [path for pattern in patterns for path in sorted(DATA.glob(pattern))]
    return {f"{INPUTS}/{path.relative_to(DATA).as_posix()}": path for path in found}


def program_sha256() -> str:
    """One hash of every file of this program."""
    made = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            own = hashlib.sha256(path.read_bytes()).hexdigest()
            made.update(f"{own} {path.relative_to(PACKAGE).as_posix()}\n".encode())
    return made.hexdigest()


def versions(results: Results) -> dict[str, Any]:
    """Programs and packages that took part."""
    pinned = {
        name
        for lock in (DATA / "locks").glob("*.txt")
        for name in re.findall(r"(?m)^([A-Za-z0-9._-]+)==", lock.read_text(encoding="utf-8"))
    }
    installed = {_normal(one.name): one.version for one in distributions() if one.name}
    system = platform.freedesktop_os_release() if Path("/etc/os-release").exists() else {}
    return {
        "motecrypt": __version__,
        "program_sha256": program_sha256(),
        "python": sys.version.split()[0],
        "system": system.get("PRETTY_NAME", platform.system()),
        "machine": platform.machine(),
        "packages": {name: installed[name] for name in sorted(map(_normal, pinned)) if name in installed},
        "compilers": sorted(results.distinct("compiler") - {""}),
        "runners": sorted(results.distinct("runner") - {""}),
    }


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pack(path: Path, results: Results, studies: Sequence[str], report: str) -> Mapping[str, Any]:
    """Write a bundle of a results file, completely or not at all; returns its manifest.

    Parameters
    ----------
    studies
        Names of the studies whose rows it has.
    report
        The report of these results, as HTML.
    """
    names = checked(studies)
    if not results.distinct("status") and not results.experiment_counts():
        raise InputError(f"{results.path}: nothing is stored, so there is nothing to pack")
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as place:
        folder = Path(place)
        results.copy_to(folder / RESULTS)
        with Results(folder / RESULTS, make=False) as copied:
            derive(copied, names, folder)
            manifest = {
                "format": FORMAT,
                "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
                "studies": list(names),
                "versions": versions(copied),
            }
        (folder / REPORT).write_text(report, encoding="utf-8")
        guide = _GUIDE.format(version=__version__, studies=", ".join(names))
        (folder / GUIDE).write_text(guide, encoding="utf-8")
        files = {name: folder / name for name in (GUIDE, RESULTS, *DERIVED, REPORT)} | inputs()
        manifest["files"] = {name: _described(source) for name, source in files.items()}
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        archive.write(path, {MANIFEST: folder / MANIFEST, **files})
    return manifest


def _described(path: Path) -> dict[str, str | int]:
    with path.open("rb") as file:
        return {"sha256": archive.digest(file), "bytes": path.stat().st_size}
