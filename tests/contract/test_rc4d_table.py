"""The promise of our RC4 and RC4D: on the simulated UNO no row of their source's table is out of reach.

Cycles and sizes are exact and repeat, so these are figures and no benchmark. Only what a row needs is
built: the hand-optimised variants and those that take their swaps back.

The study measures with avr-gcc 5.4 on every system: nearly the compiler of the source.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from motecrypt.measuring import bench
from motecrypt.results import Results
from motecrypt.studies.rc4d.figures import Printed, VariantFigures, cells, figures, printed
from tool_sets import needs_tool_set

ROWS = [row for row in printed() if row.cipher in ("rc4", "rc4d")]

KIP_UNDO_FAST_MS = 0.4 * 1101

pytestmark = needs_tool_set("avr")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> VariantFigures:
    wanted = [
        cell
        for cell in cells()
        if cell.implementation.cipher in ("rc4", "rc4d")
        and ("opt" in cell.implementation.variant or "undo" in cell.implementation.variant)
    ]
    path: Path = tmp_path_factory.mktemp("rc4d") / "results.db"
    with Results(path) as results:
        bench.ensure(wanted, results)
        return figures(results)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.label)
def test_each_row_has_a_counterpart_at_or_below_its_time_and_one_at_or_below_its_flash(
    found: VariantFigures, row: Printed
) -> None:
    assert not found.failed
    fastest = found.fastest(row.cipher, row.letters)
    smallest = found.smallest(row.cipher, row.letters)
    assert fastest is not None and fastest.time_ms <= row.time_ms
    assert smallest is not None and smallest.flash_bytes <= row.flash_bytes


def test_kip_undone_in_place_needs_neither_copy_nor_buffer_nor_60_percent_of_the_time(
    found: VariantFigures,
) -> None:
    undone, copied = found["rc4d", "kip-undo"], found["rc4d", "kip-opt"]
    assert undone.time_ms < 0.6 * 1101
    assert found["rc4d", "kip-undo-fast"].time_ms < KIP_UNDO_FAST_MS
    assert undone.ram_bytes == copied.ram_bytes == 256
    assert copied.stack_bytes > 256 > 32 > undone.stack_bytes
