"""A study's results as a bundle for a review: packed, verified, and its cells measured again."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from motecrypt.app.ensure import ensure
from motecrypt.app.report import content_of
from motecrypt.base.progress import Watching, stage
from motecrypt.build.setup import need
from motecrypt.catalog import Catalog
from motecrypt.present.bundle import (
    Bundle,
    BundleCheck,
    compare_measured,
    pack,
    packed_results,
    read_manifest,
    verify,
)
from motecrypt.present.report import render
from motecrypt.results import Results
from motecrypt.studies import needs

SHOWN = 3
CHECKS = 8


@dataclass(frozen=True)
class VerifiedBundle:
    """What the checks of a bundle found.

    Attributes
    ----------
    sha256 : of the whole file, in hexadecimal digits.
    made_at : when, as the bundle says.
    notes : why something could not be measured again.
    """

    path: Path
    sha256: str
    made_at: str
    studies: Sequence[str]
    checks: Sequence[BundleCheck]
    notes: Sequence[str] = ()

    def document(self) -> dict[str, Any]:
        """The same as JSON."""
        return {
            "bundle": str(self.path),
            "sha256": self.sha256,
            "made_at": self.made_at,
            "studies": self.studies,
            "verified": not self.failed,
            "checks": self.checks,
        }

    @property
    def failed(self) -> list[BundleCheck]:
        """The checks that do not hold."""
        return [check for check in self.checks if check.holds is False]


def write_bundle(path: Path, results: Results, studies: Sequence[str]) -> tuple[int, str]:
    """Pack the results, their report and the rows of these studies; returns how many files there are, and the
    bundle's SHA-256."""
    need("plots")
    pack(path, results, studies, render(content_of(results)))
    with Bundle(path) as bundle:
        return len(bundle.names), bundle.sha256


def verify_bundle(
    path: Path | str, remeasure: bool = False, jobs: int | None = None, progress: Watching = None
) -> VerifiedBundle:
    """Check a bundle: its hashes, its inputs, and every table made again from its results.

    Parameters
    ----------
    remeasure
        Also measure its cells again and compare.

    Raises
    ------
    InputError
        When it is not a bundle.
    """
    notes: list[str] = []
    with Bundle(Path(path)) as bundle:
        manifest = read_manifest(bundle)
        checks = []
        with stage(progress, "verifying") as report:
            for check in verify(bundle):
                checks.append(check)
                report(len(checks), CHECKS, check.what)
        if remeasure:
            checks.append(_measured_again(bundle, manifest.studies, jobs, progress, notes))
        return VerifiedBundle(Path(path), bundle.sha256, manifest.made_at, manifest.studies, checks, notes)


def _measured_again(
    bundle: Bundle, studies: Sequence[str], jobs: int | None, progress: Watching, notes: list[str]
) -> BundleCheck:
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
            with stage(progress, name) as report:
                notes.append(ensure(name, own, again, own.catalog or Catalog.load(), jobs, report))
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
