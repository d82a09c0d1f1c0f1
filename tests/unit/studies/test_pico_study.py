"""The Pico study as a view: over an empty file, over made-up figures, and the source's own figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import pytest

from motecrypt.base.model import Measurement
from motecrypt.catalog import Catalog
from motecrypt.measuring.experiments.call_sequence import _regions_of
from motecrypt.results import Results
from motecrypt.results.experiments import call_sequence
from motecrypt.results.experiments.call_sequence import CallQuestion
from motecrypt.studies.facts import Comparison
from motecrypt.studies.pico import ciphertexts, evictions, figures, strings
from motecrypt.studies.pico import study as pico
from motecrypt.studies.pico.figures import CASES, KEY_BITS, OPERATIONS, printed, sequences, timings


def _row(rows: list[Comparison], row: str, column: str) -> Comparison:
    return next(r for r in rows if (r.row, r.column) == (row, column))


def _store(results: Results, request: CallQuestion, **figures: int) -> None:
    outcome: Mapping[str, Any] = {
        "call_core_cycles": 10_000,
        "call_misses_kept": 100,
        "call_misses_cold": 120,
        "setup_core_cycles": 1_000,
        "setup_misses_cold": 10,
        "code_lines_new": 60,
        "table_lines_new": 40,
        "functions": [["encrypt", 0.9]],
    } | figures
    results.store_experiment(call_sequence.KIND, call_sequence.VERSION, request.asked(), outcome)


def test_an_empty_file_gives_every_time_as_not_measured(results: Results) -> None:
    rows = [r for r in pico.comparisons(results) if r.table == strings.TIMES]
    assert len(rows) == len(CASES) * len(KEY_BITS) * len(OPERATIONS)
    assert {row.verdict for row in rows} == {"not measured", "not printed", "bring the code"}
    assert sum(row.published is not None for row in rows) == 2 * len(printed())
    assert all(section.title for section in pico.sections(results))


def test_libraries_of_no_registry_say_where_to_bring_them(results: Results) -> None:
    row = _row(pico.comparisons(results), "AESLib (Sychra) AES-128", "encrypt")
    assert row.published == 456 and row.measured is None
    assert row.verdict == "bring the code" and "(docs/bring-your-library.md)" in row.missing
    assert "91 µs for each of 5 blocks" in row.note


def test_times_follow_from_core_cycles_and_misses(results: Results) -> None:
    request = next(s for s in sequences() if s.library == "mbedtls" and s.cipher == "aes128-cbc")
    _store(results, request, call_misses_kept=120)
    row = _row(pico.comparisons(results), "Mbed TLS AES-128", "encrypt")
    assert row.measured == pytest.approx((10_000 + 120 * 56) / 125, abs=0.05)
    assert "114/134/188 at 35/56/112" in row.note and "code 60, tables 40" in row.note
    assert (row.verdict, row.better) == ("differs", True)  # 170 is printed


@pytest.mark.parametrize(
    ("core", "misses", "verdict", "word"),
    [
        (15_000, 400, "differs", "between warm and cold"),
        (22_000, 10, "differs", "below even the warm figure"),
        (5_000, 10, "differs", "above the cold figure"),
        (17_000, 80, "matches", "between warm and cold"),
        (17_000, 94, "matches", "between warm and cold"),
        (17_000, 95, "differs", "between warm and cold"),
    ],
)
def test_a_verdict_is_that_of_the_stated_miss_and_says_why(
    results: Results, core: int, misses: int, verdict: str, word: str
) -> None:
    request = next(s for s in sequences() if s.library == "mbedtls" and s.cipher == "aes128-cbc")
    _store(results, request, call_core_cycles=core, call_misses_kept=misses)
    row = _row(pico.comparisons(results), "Mbed TLS AES-128", "encrypt")
    assert row.verdict == verdict and word in row.note


def test_a_failed_sequence_shows_its_reason(results: Results) -> None:
    request = next(s for s in sequences() if s.library == "tiny-aes-c")
    results.store_experiment(
        call_sequence.KIND, call_sequence.VERSION, request.asked(), {"failed": "no source to be had"}
    )
    row = _row(pico.comparisons(results), "tiny-AES-c AES-128", "encrypt")
    assert row.verdict == "not measured" and "no source to be had" in row.note


_KNOWN = {f.name: f.type for f in fields(Measurement)}
BROUGHT: dict[str, Any] = {name: "" if kind == "str" else None for name, kind in _KNOWN.items()}
BROUGHT.update(
    ad_bytes=0,
    tag_bytes=0,
    inputs=1,
    device="pico",
    library="thinx-aes-lib",
    configuration="default",
    cipher="aes128-cbc",
    key_bits=128,
    operation="encrypt",
    message_bytes=80,
    placement="flash",
    cache="cold",
    status="ok",
    cycles_exact=True,
    timing_varies=None,
    extra={"core_cycles": 50_000, "cache_misses": 100},
)


def test_a_brought_library_is_taken_up(results: Results) -> None:
    values = dict(BROUGHT)
    results.store({"call": Measurement(**values)})
    row = _row(pico.comparisons(results), "AESLib (Sychra) AES-128", "encrypt")
    assert row.measured is None and "add the library" in row.note  # its call takes the key
    values |= {"operation": "setup", "extra": {"core_cycles": 1_000, "cache_misses": 10}}
    results.store({"setup": Measurement(**values)})
    row = _row(pico.comparisons(results), "AESLib (Sychra) AES-128", "encrypt")
    assert row.measured == pytest.approx((51_000 + 110 * 56) / 125, abs=0.05)
    assert row.verdict == "matches" and "with the key's set-up" in row.note


def test_a_brought_librarys_sizes_are_taken_up(results: Results) -> None:
    rows = {row.id: row for row in pico.comparisons(results)}
    before = rows["pico-memory-thinx-aes-lib-ram"]
    assert before.measured is None and "add the library" in before.missing
    for flash_bytes, verdict in ((5000, "paper is inconsistent"), (2500, "bring the code")):
        values = BROUGHT | {"flash_bytes": flash_bytes, "flash_symbol_bytes": flash_bytes, "ram_bytes": 333}
        results.store({"call": Measurement(**values)})
        rows = {row.id: row for row in pico.comparisons(results)}
        flash, ram = rows["pico-memory-thinx-aes-lib-flash"], rows["pico-memory-thinx-aes-lib-ram"]
        assert (flash.published, flash.measured, flash.verdict) == (4546.0, float(flash_bytes), verdict)
        assert (ram.measured, ram.verdict) == (333.0, "bring the code")
        assert "add the library" not in ram.missing + flash.missing
    assert "Mbed OS" in ram.missing
    assert rows["pico-memory-neilt6-mbed-aes-ram"].measured is None


def _swept(results: Results, *misses: tuple[int, int]) -> None:
    """Every call takes 7,000 core cycles and, by the lines of other code, so many misses."""
    for request in sequences():
        costs = {
            **dict.fromkeys(("setup_core_cycles", "setup_misses_cold", "call_misses_cold"), 1),
            "call_core_cycles": 7000,
            "call_misses_kept": 9,
            "code_lines_new": 1,
            "table_lines_new": 1,
            "functions": [],
            "misses_after": [list(pair) for pair in misses],
        }
        results.store_experiment(
            call_sequence.KIND, call_sequence.VERSION, request.asked(), costs, request.asked()
        )


def test_one_amount_of_other_code_is_tried_for_all_rows(results: Results) -> None:
    assert evictions.section(timings(results)).text == "not measured"
    # 7,000 + 56 x 257 cycles are 171.1 µs: within 5 % of 170, and not of 161; 56 x 359 more are 216.8.
    _swept(results, (0, 0), (128, 257), (1024, 359), (2048, 300))
    timed = timings(results)
    assert evictions.times(timed)[128]["Mbed TLS", 128, "encrypt"] == pytest.approx((7000 + 56 * 257) / 125)
    assert evictions.explained(timed) == {
        0: [],
        128: [("Mbed TLS", 128, "encrypt")],
        1024: [("Mbed TLS", 256, "encrypt"), ("Mbed TLS", 256, "decrypt")],
        2048: [],
    }
    assert evictions.most(evictions.explained(timed)) == (1024, 2)
    shown = evictions.section(timed)
    assert "8 KB explain the most rows: 2 of 8." in shown.text
    assert [row[0] for row in shown.rows] == ["paper", "0 KB", "1 KB", "8 KB", "16 KB"]
    assert shown.rows[3][1:4] == ["217", "217", "217 *"] and shown.rows[3][-1] == "2"
    assert pico.tables(results)["evictions"][2]["other_code_bytes"] == 8192


def test_no_verdict_rests_on_the_sweep(results: Results) -> None:
    _swept(results, (0, 0))
    before = [(row.id, row.verdict, row.measured) for row in pico.comparisons(results)]
    _swept(results, (0, 9), (64, 999))
    assert [(row.id, row.verdict, row.measured) for row in pico.comparisons(results)] == before


def test_the_printed_ciphertexts_tell_what_was_processed(results: Results) -> None:
    rows = [r for r in pico.comparisons(results) if r.table == ciphertexts.TITLE]
    verdicts = {(r.row, r.verdict) for r in rows}
    assert ("Mbed AES (Thiessen) AES-128", "differs") in verdicts
    assert {r.row for r in rows if r.verdict == "differs"} == {
        *("Mbed AES (Thiessen) AES-128", "AESLib (Sychra) AES-128", "AESLib (Sychra) AES-256")
    }
    assert sum(r.verdict == "matches" for r in rows) == len(rows) - 3 == 5
    assert "no ciphertext stealing" in _row(rows, "Mbed AES (Thiessen) AES-256", "ciphertext").note
    for bits in (128, 256):
        note = _row(rows, f"AESLib (Sychra) AES-{bits}", "ciphertext").note
        assert "80 bytes, 5 blocks" in note and "only the IV is another" in note


def test_every_figure_of_the_source_is_a_row(results: Results) -> None:
    rows = strings.comparisons(results)
    assert len({(r.table, r.row, r.column) for r in rows}) == len(rows)
    for row in printed().values():
        for value in (row.encrypt_us, row.decrypt_us, row.ram_bytes, row.flash_bytes):
            assert any(r.published == value for r in rows)
    assert all(r.note for r in rows)


def test_an_instruction_that_reads_three_words_counts_once() -> None:
    first, second = _regions_of("10 ffffffff\n12 20\n12 24\n12 28\n14 ffffffff\nend\n10 ffffffff\nend\n")
    assert first.executed == {0x10: 1, 0x12: 1, 0x14: 1}
    assert first.read == {0x20, 0x24, 0x28} and second.fetched == {0x10}


def test_what_is_asked_for_is_asked_once() -> None:
    asked = figures.cells()
    assert len(set(asked)) == len(asked)
    assert len(sequences()) == 2 * len(KEY_BITS) * len(OPERATIONS)
    assert {c.implementation.library for c in asked} == {"mbedtls", "tiny-aes-c"}
    assert all(Catalog.load().device(c.device).name == "pico" for c in asked)
