"""Makes data/records/figures.jsonl and docs/records.md: all implementations of the records, measured.

`python -m made.records`. Public code whose sources are next to its adapter (benchmarks/public) is
measured too, and its rows are recorded with today's date; the others stay as they are.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from made import no_words
from motecrypt.adviser.records.needs import cells_of
from motecrypt.adviser.records.page import page
from motecrypt.adviser.records.plan import RecordPlan
from motecrypt.adviser.records.rows import RecordRow, rows_of
from motecrypt.adviser.records.stored import FIGURES, merged, text
from motecrypt.app.records import RecordsRequest, measure_rows
from motecrypt.app.records import plan as everything
from motecrypt.base.paths import write_atomically
from motecrypt.catalog import Catalog
from motecrypt.cli._output import open_results, progress, stages
from motecrypt.measuring import bench

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "records.md"


def main() -> None:
    """Measure, then write both files."""
    FIGURES.touch()  # which may be missing
    made = everything(RecordsRequest())
    plan, catalog = made.plan, made.catalog
    with open_results(None) as results:
        found = measure_rows(made, results, None, stages)
    rows = merged(made.kept, [*found, *_recorded(plan)])
    broken = [row for row in rows if row.status == "build-failed" or (row.recorded and not row.ran)]
    if broken:
        raise SystemExit(f"{broken[0].implementation} on {broken[0].device}: {broken[0].reason}")
    write_atomically(FIGURES, text(rows).encode())
    write_atomically(PAGE, whole_page(rows, plan, catalog).encode())
    print(f"{FIGURES}, {PAGE}: {len(rows)} implementations", file=sys.stderr)


def whole_page(rows: Sequence[RecordRow], plan: RecordPlan, catalog: Catalog) -> str:
    """docs/records.md of these rows."""
    made_with = {
        device.name: plan.toolchain_of(device) or device.compiler.command for device in plan.devices(catalog)
    }
    toolchains = ", ".join(f"{made_with[name]} for {name}" for name in made_with)
    return page(rows, catalog.devices, plan.public, toolchains, plan.published) + "\n"


def _recorded(plan: RecordPlan) -> list[RecordRow]:
    """Rows of the public code whose sources are here."""
    folders = [ROOT / code.folder for code in plan.public]
    here = [folder for folder in folders if (folder / "src").is_dir()]
    if not here:
        return []
    catalog = Catalog.load(libraries=here)
    cells = [
        cell
        for device in plan.devices(catalog)
        for cipher in plan.ciphers
        for body in catalog.implementations_of(cipher, device.name, [folder.name for folder in here])
        for cell in cells_of(catalog, plan, device, body)
    ]
    with open_results(None) as results, progress("measuring public code") as report:
        measured = bench.ensure(cells, results, catalog, None, report)
    return rows_of((measured[cell] for cell in cells), f"{datetime.now(UTC):%Y-%m-%d}")


if __name__ == "__main__":
    no_words(__doc__)
    main()
