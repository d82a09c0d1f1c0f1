"""`reproduce --bundle` and `--verify`: what they print, and how a bundle's cells are measured again."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from motecrypt.app.ensure import ensure
from motecrypt.base.errors import MotecryptError
from motecrypt.build.setup import need
from motecrypt.catalog import Catalog
from motecrypt.cli._output import (
    print_answer,
    print_json,
    print_next,
    print_note,
    print_table,
    progress,
    typed_with,
)
from motecrypt.exports.targets import sleepers
from motecrypt.present.bundle import (
    Bundle,
    BundleCheck,
    compare_measured,
    pack,
    packed_results,
    read_manifest,
    verify,
)
from motecrypt.present.report import gather, render
from motecrypt.results import Results
from motecrypt.studies import needs

SHOWN = 3
WORDS = {True: "ok", False: "FAILED", None: ""}


def write(path: Path, results: Results, studies: Sequence[str]) -> None:
    """Pack the results, their report and the rows of these studies."""
    need("plots")
    catalog = Catalog.load()
    pack(path, results, studies, render(gather(results, catalog, sleepers(catalog))))
    with Bundle(path) as bundle:
        print(f"motecrypt: {path}: {len(bundle.names)} files, SHA-256 {bundle.sha256}", file=sys.stderr)


def print_verified(path: Path, remeasure: bool, jobs: int | None, as_json: bool) -> None:
    """Print each check of a bundle.

    Raises
    ------
    InputError
        When it is not a bundle.
    MotecryptError
        When a check failed.
    """
    with Bundle(path) as bundle:
        manifest = read_manifest(bundle)
        checks = []
        with progress("verifying") as report:
            for check in verify(bundle):
                checks.append(check)
                report(len(checks), 8, check.what)
        if remeasure:
            checks.append(_measured_again(bundle, manifest.studies, jobs))
        sha256 = bundle.sha256
    failed = [check for check in checks if check.holds is False]
    told = {
        "bundle": str(path),
        "sha256": sha256,
        "made_at": manifest.made_at,
        "studies": manifest.studies,
        "verified": not failed,
    }
    if as_json:
        print_json({**told, "checks": [asdict(check) for check in checks]})
    else:
        rows = [[check.what, WORDS[check.holds], check.told] for check in checks]
        print_table(f"Bundle of {manifest.made_at}", ("check", "outcome", "details"), rows)
        print_answer("", [("SHA-256", sha256), ("Studies", ", ".join(manifest.studies))])
    if failed:
        names = ", ".join(check.what for check in failed)
        raise MotecryptError(f"{path}: {len(failed)} of {len(checks)} checks failed: {names}")
    if not as_json and not remeasure:
        print_next(typed_with("--remeasure"))


def _measured_again(bundle: Bundle, studies: Sequence[str], jobs: int | None) -> BundleCheck:
    """The cells of the studies, measured here into a results file that is deleted afterwards."""
    with (
        packed_results(bundle) as packed,
        tempfile.TemporaryDirectory(prefix="motecrypt-") as place,
        Results(Path(place) / "again.db") as again,
    ):
        cells = []
        for name in studies:
            own = replace(needs(name), experiments=(), long=None)
            cells += list(own.cells)
            with progress(name) as report:
                print_note(ensure(name, own, again, own.catalog or Catalog.load(), jobs, report))
        count, apart = compare_measured(packed, again, cells)
    if not cells:
        return BundleCheck("measured again", None, "these studies have no cells, only experiments")
    wanted = len(set(cells))
    if not count:
        return BundleCheck(
            "measured again", None, f"the bundle has none of the {wanted} cells of these studies"
        )
    told = f"{count} cells: the same figures and firmware"
    if count < wanted:
        told += f"; {wanted - count} without figures in the bundle or here"
    if apart:
        more = f"; and {len(apart) - SHOWN} more" if len(apart) > SHOWN else ""
        told = f"{len(apart)} of {count} cells differ: {'; '.join(apart[:SHOWN])}{more}"
    return BundleCheck("measured again", not apart, told)
