"""The rows about files of the Pico study, from made-up results; and what they say when nothing is there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.build.toolchain import BuildError
from motecrypt.link.files.crypt_and_hash import ROUNDS
from motecrypt.measuring.experiments import files as experiment
from motecrypt.measuring.experiments.files import FileJobs
from motecrypt.measuring.experiments.passwords import PasswordDerivation
from motecrypt.results import Results
from motecrypt.results.experiments.passwords import KIND as PASSWORDS
from motecrypt.results.experiments.pico_file import KIND, PARTS, VERSION, FileQuestion
from motecrypt.studies import needs
from motecrypt.studies.facts import Comparison
from motecrypt.studies.pico import file_tables
from motecrypt.studies.pico import files as view
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")

HASH_CYCLES = 34_000
FIXED_MS = 60


def made_up(job: FileQuestion) -> dict[str, Any]:
    """An outcome in which a hash takes 34,000 cycles, all else 60 ms and 10 us a byte."""
    hashes = job.rounds if job.form == "published" else 0
    rest = FIXED_MS * 125_000 + job.size * 1250
    cycles = dict.fromkeys(PARTS, 0) | {"key": hashes * HASH_CYCLES, "files": rest}
    run = {
        "time_us": sum(cycles.values()) / 125,
        "cycles": cycles,
        "misses": dict.fromkeys(PARTS, 1),
        "programs": 4,
        "erases": 1,
        "reads": 2,
        "storage_busy": 5_975_000,
        "stack_bytes": 1304,
        "heap_bytes": 776,
    }
    return {
        "encrypt": run,
        "decrypt": run,
        "sealed_bytes": 720,
        "clock_hz": 125_000_000,
        "flash_bytes": 49_352,
        "ram_bytes": 55_392,
    }


@pytest.fixture
def filled(results: Results) -> Results:
    for job in view.questions():
        results.store_experiment(KIND, VERSION, job.asked(), made_up(job))
    return results


def test_nothing_measured_says_so(results: Results) -> None:
    rows = view.comparisons(results)
    assert len([r for r in rows if r.table == view.TIMES]) == 6
    assert {r.verdict for r in rows} <= {
        "not measured",
        "paper is inconsistent",
        "needs hardware",
        "bring the code",
    }
    assert all(r.measured is None for r in rows)
    assert file_tables.sections(results)
    assert file_tables.charts(results)["pico-files"]["data"]["values"], "the printed points at least"


def test_few_hashes_are_made_up_to_all(filled: Results) -> None:
    stored = view.StoredFiles(filled)
    assert stored.hash_ms() == pytest.approx(HASH_CYCLES / 125_000)
    for size, job in view.swept_jobs().items():
        expected = ROUNDS * HASH_CYCLES / 125_000 + FIXED_MS + size / 100
        assert stored.total_ms(job, "encrypt") == pytest.approx(expected)
    modern = view.swept_jobs("chacha20-poly1305")[4096]
    assert stored.total_ms(modern, "encrypt") == pytest.approx(FIXED_MS + 40.96)


def test_every_printed_figure_has_a_row_with_its_ratio(filled: Results) -> None:
    rows = {(r.table, r.row, r.column): r for r in view.comparisons(filled)}
    for size in view.PRINTED_SIZES:
        for direction, title in view.DIRECTIONS.items():
            row = rows[view.TIMES, f"{size} bytes", title]
            assert row.published == view.printed()[size, direction]
            assert row.ratio == pytest.approx(float(row.measured or 0) / row.published)
            assert row.verdict == "matches"
            assert "8192 x SHA-512" in row.note
    assert rows[view.MEMORY, "whole program", "flash"].verdict == "paper is inconsistent"
    assert rows[view.MEMORY, "whole program", "RAM"].verdict == "bring the code"


def test_a_time_far_off_differs(results: Results) -> None:
    job = view.printed_jobs()[630]
    slow = made_up(job)
    slow["encrypt"] = {**slow["encrypt"], "time_us": 3_000_000}
    results.store_experiment(KIND, VERSION, job.asked(), slow)
    row = next(r for r in view.comparisons(results) if r.row == "630 bytes" and r.column == "encryption")
    assert row.verdict == "differs"


def test_claims_about_a_file_can_fail(results: Results) -> None:
    """A file of another length, and one whose time goes to the flash."""
    for job in view.questions():
        outcome = made_up(job)
        cycles = outcome["encrypt"]["cycles"] | {"files": 3 * 125 * job.rounds * 1000}
        run = outcome["encrypt"] | {"cycles": cycles, "time_us": sum(cycles.values()) / 125}
        results.store_experiment(
            KIND, VERSION, job.asked(), outcome | {"sealed_bytes": 704, "encrypt": run, "decrypt": run}
        )
    verdicts = {r.row: r.verdict for r in view.comparisons(results) if r.table == "Files: claims"}
    assert verdicts["format"] == "differs"
    assert verdicts["set-up dominates"] == "differs"


def test_a_source_that_cannot_be_had_leaves_the_rows_unmeasured(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: object) -> None:
        raise BuildError("source of littlefs is not available: no network")

    monkeypatch.setattr(experiment, "build_files", fails)
    said: list[str] = []
    jobs = next(e for e in needs("pico").experiments if isinstance(e, FileJobs))
    found = jobs.ensure(results, said.append)
    assert jobs.find(results) is None
    assert "no network" in found.outcome["reason"]
    assert "no network" in said[-1]
    verdicts = {r.verdict for r in view.comparisons(results)}
    assert verdicts == {"not measured", "paper is inconsistent", "needs hardware", "bring the code"}


def test_what_a_guess_costs_is_told(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("motecrypt.link.files.container.ARGON_KIB", 1024)
    outcome = PasswordDerivation(3).ensure(results).outcome
    assert 0 < outcome["hashes_ms"] < 1000
    assert outcome["argon2id_ms"] > 0
    assert PasswordDerivation(3).ensure(results).outcome == outcome, "stored once"
    results.store_experiment(PASSWORDS, 1, view.PASSWORDS.asked(), {"hashes_ms": 6.2, "argon2id_ms": 120.0})
    assert "A guess takes 120 ms" in view.StoredFiles(results).passwords()


# --- limits ----------------------------------------------------------------------------------------


def test_a_time_within_the_share_matches() -> None:
    said = view.printed()[630, "encrypt"]

    def verdict(ms: float | None) -> str:
        stored = SimpleNamespace(total_ms=lambda job, direction: ms, outcome=lambda job: None)
        stored.parts_ms = lambda job, direction: {}
        return view.times(stored)[0].verdict  # type: ignore[arg-type]

    told = [verdict(None if share is None else share * said) for share in (0.849, 0.85, 1.15, 1.151, None)]
    assert told == ["differs", "matches", "matches", "differs", "not measured"]


def test_what_dominates_is_more_than_one_half() -> None:
    """The key's hashes and the set-up; an eighth of a per cent next to one half decides."""

    def said(key: float, sealed_bytes: int = 720) -> dict[str, Comparison]:
        stored = SimpleNamespace(
            parts_ms=lambda job, direction: {"setup": 0.25, "key": key, "cipher": 1.0, "files": 1.0},
            total_ms=lambda job, direction: 100.0,
            outcome=lambda job: SimpleNamespace(sealed_bytes=sealed_bytes),
        )
        return {row.row: row for row in view.claims(stored)}  # type: ignore[arg-type]

    for key, verdict in ((49.75, "differs"), (49.875, "matches"), (49.625, "differs")):
        row = said(key)["set-up dominates"]
        assert (row.verdict, row.measured) == (verdict, key)
    for sealed, verdict in ((719, "differs"), (720, "matches"), (721, "differs")):
        assert said(50.0, sealed)["format"].verdict == verdict


def test_a_slow_card_is_told_from_half_as_much_again() -> None:
    def said(slow: float) -> str:
        def parts(job: FileQuestion, direction: str) -> dict[str, float]:
            return {"files": slow if job.storage == view.CARDS[1] else 2.0}

        return view._card_claims(SimpleNamespace(parts_ms=parts))[0].verdict  # type: ignore[arg-type]

    assert [said(slow) for slow in (2.9, 3.0, 3.1)] == ["differs", "differs", "matches"]


def test_the_largest_files_run_without_the_caches_model() -> None:
    assert {size for size, job in view.swept_jobs().items() if job.cache == "none"} == {1 << 18}
