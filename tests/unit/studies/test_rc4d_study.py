"""The RC4D study as a view: over an empty file, over made-up measurements, and what it asks for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from made_rows import made_measurement
from motecrypt.base.model import Cell, Measurement
from motecrypt.catalog import Catalog
from motecrypt.results import Results
from motecrypt.studies import needs
from motecrypt.studies.facts import Comparison
from motecrypt.studies.rc4d import study as rc4d
from motecrypt.studies.rc4d.figures import DEVICE, TOOLCHAIN, cells, figures, printed

ROW = made_measurement(
    device=DEVICE,
    library="motecrypt",
    cipher="",
    variant="",
    message_bytes=32,
    cycles_min=1,
    cycles_median=1,
    cycles_max=1,
    timing_varies=None,
    time_us=None,
    flash_bytes=100,
    flash_symbol_bytes=100,
    ram_bytes=16,
    stack_bytes=10,
    toolchain=TOOLCHAIN,
)
CYCLES = {"setup": 1000, "encrypt": 3000, "decrypt": 5000}


def _made_up(cell: Cell) -> Measurement:
    body = cell.implementation
    cycles = CYCLES[cell.operation] * (2 if body.variant.endswith("plain") else 1)
    return replace(
        ROW,
        **cell.identity._asdict(),
        cycles_median=cycles,
        flash_bytes=400 if body.variant.endswith("opt") else 500,
        stack_bytes=300 if cell.operation == "encrypt" else 20,
    )


def _store(results: Results, wanted: list[Cell]) -> None:
    results.store({repr(cell.identity): _made_up(cell) for cell in wanted})


def _one(rows: list[Comparison], row: str, column: str) -> Comparison:
    return next(r for r in rows if (r.row, r.column) == (row, column))


def test_an_empty_file_gives_every_row_as_not_measured(results: Results) -> None:
    rows = rc4d.comparisons(results)
    recorded = [row for row in rows if row.like_for_like == "author's code, recorded"]
    assert len(recorded) == 35 + 12
    assert {row.verdict for row in rows if row not in recorded} == {"not measured"}
    assert len({(row.table, row.row) for row in rows if row.table == rc4d.TABLE}) == len(printed())
    assert all(section.title for section in rc4d.sections(results))


def test_times_have_the_semantics_of_the_source(results: Results) -> None:
    _store(results, cells())
    found = figures(results)
    assert not found.failed
    # 1024 times 3000 + 5000 cycles at 16 MHz; the key of a stream variant is set up once, outside.
    assert found["rc4d", "opt"].time_ms == pytest.approx(512.0)
    # AES: two blocks each way, and its key expanded for each.
    aes = found["aes128-ecb", "small"]
    assert aes.time_ms == pytest.approx(1024 * 2 * (3000 + 5000 + 2 * 1000) / 16000)
    assert aes.time_keyed_ms == pytest.approx(1024.0)
    assert found["rc4d", "opt"].stack_bytes == 300


def test_each_row_is_held_against_the_fastest_and_the_smallest_of_the_same_letters(results: Results) -> None:
    _store(results, cells())
    rows = rc4d.comparisons(results)
    time = _one(rows, "RC4D kip (opt)", "time, ours")
    assert (time.published, time.measured, time.verdict) == (1135.0, 512.0, "differs")
    assert time.better is True and time.like_for_like == "same algorithm, ours"
    assert time.ratio == pytest.approx(512 / 1135, abs=1e-3)
    flash = _one(rows, "RC4 k (opt)", "flash, ours")
    assert (flash.measured, flash.verdict) == (400.0, "differs")
    assert flash.better is False and flash.note.startswith("k-opt")


def test_a_figure_matches_within_five_per_cent_up_and_down(results: Results) -> None:
    wanted = cells()
    _store(results, wanted)
    flash_bytes = next(row.flash_bytes for row in printed() if row.label == "RC4 k (opt)")
    assert flash_bytes == 234
    for ours, verdict in (
        (234, "matches"),
        (245, "matches"),
        (223, "matches"),
        (246, "differs"),
        (222, "differs"),
    ):
        results.store(
            {
                repr(cell.identity): replace(_made_up(cell), flash_bytes=ours)
                for cell in wanted
                if cell.implementation.cipher == "rc4"
            }
        )
        row = _one(rc4d.comparisons(results), "RC4 k (opt)", "flash, ours")
        assert (row.measured, row.verdict) == (float(ours), verdict)


def test_a_cell_that_did_not_run_is_told_with_its_reason(results: Results) -> None:
    wanted = cells()
    _store(results, wanted)
    broken = [
        c for c in wanted if c.implementation.variant == "kip-opt" and c.implementation.cipher == "rc4d"
    ]
    reason = "does not fit: needs 2,338 of 2,048 bytes of RAM"
    results.store(
        {
            repr(cell.identity): replace(
                _made_up(cell), status="does-not-fit", reason=reason, cycles_median=None
            )
            for cell in broken
        }
    )
    assert figures(results).failed == {("rc4d", "kip-opt"): reason}
    assert any(f"rc4d kip-opt: {reason}" in section.text for section in rc4d.sections(results))
    claims = [row for row in rc4d.comparisons(results) if row.table == rc4d.CLAIMS]
    assert any(row.verdict == "not measured" and "kip-opt" in row.note for row in claims)


def test_it_asks_for_every_variant_of_ours_and_for_no_other_library() -> None:
    asked = {(c.implementation.cipher, c.implementation.variant) for c in needs("rc4d").cells}
    for cipher in ("rc4", "rc4d", "rc4d-two-key", "aes128-ecb"):
        for body in Catalog.load().implementations_of(cipher, DEVICE, ("motecrypt",)):
            assert (cipher, body.variant) in asked
    assert {c.implementation.library for c in needs("rc4d").cells} == {"motecrypt"}
