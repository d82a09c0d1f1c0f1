"""Which stored figures an export's README lists, row by row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from motecrypt.base.model import Cell, Implementation, Measurement, MessageLengths
from motecrypt.catalog import Catalog
from motecrypt.catalog.cells import cells_for
from motecrypt.exports import figures
from motecrypt.exports.figures import ExportFigures, Missing, exported_figures, figure_cells
from motecrypt.results import Results

CATALOG = Catalog.load()
UNO, PICO = CATALOG.device("uno"), CATALOG.device("pico")
BODY = next(i for i in CATALOG.implementations if (i.cipher, i.variant) == ("aes128-ccm8", "fast"))
COMMAND = "motecrypt measure --device {} --cipher aes --variant fast --placement flash --bytes 16,64"


def _cells(device: str) -> list[Cell]:
    return cells_for(CATALOG, CATALOG.device(device), BODY, message_bytes=[16, 64], placements=["flash"])


def _measured(cell: Cell, **changes: Any) -> Measurement:
    figures: dict[str, Any] = {
        **cell.identity._asdict(),
        "tag_bytes": 8,
        "cycles_min": 1,
        "cycles_median": 1234,
        "cycles_max": 2000,
        "inputs": 32,
        "timing_varies": False,
        "time_us": 77.125,
        "flash_bytes": 2798,
        "flash_symbol_bytes": 1,
        "ram_bytes": 176,
        "eeprom_bytes": 0,
        "stack_bytes": 1090,
        "status": "ok",
        "reason": "",
        "compiler": "gcc 1",
        "flags": "-Os",
        "runner": "r",
        "cycles_exact": True,
        "elf_sha256": "0" * 64,
        "measured_at": "2026-01-01T00:00:00+00:00",
        "motecrypt_version": "0",
    }
    return Measurement(**{**figures, **changes})


def _told(
    results: Results,
    first: str = "uno",
    body: Implementation = BODY,
    place: str = "flash",
    measured: dict[Cell, Measurement] | None = None,
) -> Any:
    wanted = figure_cells(CATALOG, body, place, CATALOG.device(first))
    return exported_figures(wanted, body, results, "aes", measured)


def test_what_is_not_stored_is_missing_and_the_exports_own_device_comes_first(results: Results) -> None:
    missing = [Missing(d.title, command=COMMAND.format(d.name)) for d in (UNO, PICO)]
    assert _told(results) == ExportFigures(missing=tuple(missing))
    assert _told(results, "pico") == ExportFigures(missing=tuple(reversed(missing)))
    assert _told(results, "host") == ExportFigures(missing=tuple(reversed(missing)))  # by their names
    assert [m.device for m in _told(results, body=replace(BODY, cores=("avr*",))).missing] == [UNO.title]
    assert _told(results, place="nowhere") == ExportFigures()


def test_every_row_is_a_stored_figure(results: Results) -> None:
    stored = [_measured(cell, cycles_median=1000 + n) for n, cell in enumerate(_cells("pico"))]
    stored[0] = replace(stored[0], flash_bytes=1111, ram_bytes=None, stack_bytes=None, time_us=None)
    stored[3] = replace(stored[3], stack_bytes=2345)
    results.store({str(n): m for n, m in enumerate(stored)})
    told = _told(results)
    assert told.sizes == ((PICO.title, "gcc 1", "2026-01-01", "`-Os`", "1,111", "", "2,345"),)
    expected = []
    for m in stored:
        place = "flash" if m.cache == "none" else f"flash, {m.cache} cache"
        time = "" if m is stored[0] else "77.1"
        what = (PICO.title, place, "128", str(m.message_bytes), m.operation)
        expected.append((*what, f"{m.cycles_median:,}", time))
    assert set(told.times) == set(expected) and {m.cache for m in stored} == {"warm", "cold"}
    assert [m.device for m in told.missing] == [UNO.title] and told.failed == ()


def test_a_stack_that_nobody_measured_is_no_figure(results: Results) -> None:
    results.store({str(n): _measured(c, stack_bytes=None, cache="none") for n, c in enumerate(_cells("uno"))})
    told = _told(results)
    assert told.sizes == ((UNO.title, "gcc 1", "2026-01-01", "`-Os`", "2,798", "176", ""),)
    assert {row[1] for row in told.times} == {"flash"}


def test_what_was_found_by_its_content_counts_before_what_is_stored(results: Results) -> None:
    cells = _cells("uno")
    results.store({str(n): _measured(cell, flash_bytes=1) for n, cell in enumerate(cells)})
    assert _told(results).sizes[0][-3] == "1"
    found = {cell: _measured(cell, flash_bytes=2, compiler="gcc 2") for cell in cells}
    told = _told(results, measured=found)
    assert told.sizes == ((UNO.title, "gcc 2", "2026-01-01", "`-Os`", "2", "176", "1,090"),)
    assert [m.device for m in told.missing] == [PICO.title]


@pytest.mark.parametrize("status", ["does-not-fit", "timed-out"])
def test_what_failed_has_the_first_reason_and_no_row(status: str, results: Results) -> None:
    cells = _cells("uno")
    stored = {str(n): _measured(cell) for n, cell in enumerate(cells)}
    stored["1"] = replace(stored["1"], status=status, reason="one")
    stored["2"] = replace(stored["2"], status=status, reason="two")
    results.store(stored)
    told = _told(results)
    assert told.failed == (Missing(UNO.title, reason="one"),)
    assert len(told.sizes) == 1 and len(told.times) == len(cells) - 2
    assert [m.device for m in told.missing] == [PICO.title]
    results.store({n: replace(m, status=status, reason="all") for n, m in stored.items()})
    told = _told(results)
    assert (told.sizes, told.times, told.failed) == ((), (), (Missing(UNO.title, reason="all"),))


def test_a_failure_among_cells_of_which_some_are_not_stored(results: Results) -> None:
    results.store({"0": _measured(_cells("uno")[0], status="failed", reason="no")})
    told = _told(results)
    assert told.failed == (Missing(UNO.title, reason="no"),)
    assert told.missing[0] == Missing(UNO.title, command=COMMAND.format("uno"))


@pytest.mark.parametrize(
    ("rule", "lengths"),
    [
        (MessageLengths(), [16, 64]),
        (MessageLengths(max=63), [16]),
        (MessageLengths(min=17), [64]),
        (MessageLengths(min=71, max=71), [71]),
        (MessageLengths(min=72, max=72), [72]),
        (MessageLengths(min=65, multiple=7), [70]),
    ],
)
def test_lengths_are_those_told_or_the_least(rule: MessageLengths, lengths: list[int]) -> None:
    cipher = replace(CATALOG.cipher("aes128-ccm8"), message=rule)
    catalog = replace(CATALOG, ciphers={**CATALOG.ciphers, "aes128-ccm8": cipher})
    assert figures._lengths(catalog, BODY) == lengths
