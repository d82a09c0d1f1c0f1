"""What docs/fidelity.md and docs/files.md state of the simulated Pico is what it gives.

The figures are of GCC 12, the study's toolchain. If a library's source is not available, its figures are
skipped.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from documented import missing, with_recorded
from motecrypt.air.wlan import filecost
from motecrypt.catalog import Catalog
from motecrypt.measuring import bench
from motecrypt.measuring.experiments.call_sequence import CallSequence
from motecrypt.measuring.experiments.files import FileJob, FileJobs
from motecrypt.results import Results
from motecrypt.results.experiments.pico_file import FileQuestion
from motecrypt.studies.facts import Comparison
from motecrypt.studies.pico import figures, files, strings
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The calls of the times that are printed, and the same bytes with other flags."""
    results = Results(tmp_path_factory.mktemp("calls") / "results.db")
    for question in figures.sequences():
        if "192" not in question.cipher:
            found = CallSequence.of(question).ensure(results)
            if "failed" in found.outcome:
                pytest.skip(found.outcome["failed"])
    others = [cell for cell in figures.cells() if cell.flags and "192" not in cell.implementation.cipher]
    bench.ensure(others, results)
    return results


def _printed(results: Results) -> list[Comparison]:
    rows = [row for row in strings.comparisons(results) if row.table == strings.TIMES]
    return [row for row in rows if row.published is not None and row.measured is not None]


def test_the_page_of_fidelity_states_where_the_printed_times_are(calls: Results) -> None:
    timed, rows = figures.timings(calls), _printed(calls)
    left = []
    for operation in figures.OPERATIONS:
        one = timed[3, 128, operation]
        assert isinstance(one, figures.CallTiming)
        left.append(f"{one.misses_cold - one.misses} of {one.misses_cold} before {operation}ion")
    within = sum(row.verdict == "matches" for row in rows)
    below = [
        100 * (1 - float(row.published) / row.figures["warm_us"])
        for row in rows
        if isinstance(row.published, float) and row.published < row.figures["warm_us"]
    ]
    between = sum(row.figures["warm_us"] <= _number(row.published) <= _number(row.measured) for row in rows)
    note = "That some were there is certain"
    tables = sum(note in row.note for row in rows)
    assert (
        missing(
            "fidelity.md",
            f"Mbed TLS {left[0]}, {left[1]}",
            f"Of {len(rows)} printed times {within} is within 5 % of the cold figure at 56 cycles. {between} "
            f"are between the warm and the cold figure, the one included, and {len(below)} are "
            f"{min(below):.0f} to {max(below):.0f} % below the warm figure.",
            f"would take longer than the published time in {tables} of them",
        )
        == []
    )


def _number(value: float | str | None) -> float:
    assert isinstance(value, float)
    return value


def test_the_page_of_files_states_hashes_and_formats(tmp_path: Path) -> None:
    results = with_recorded(Results(tmp_path / "results.db"), "pico")
    modern = [
        FileQuestion(size, "chacha20-poly1305", rounds=files.FEW, toolchain=figures.TOOLCHAIN)
        for size in (630, 6300)
    ]
    cards = [files.card_jobs(storage)[6300] for storage in ("flash", *files.CARDS)]
    wanted = [files.swept_jobs()[630], files.few_job(), files.words_job(), *modern, *cards]
    found = FileJobs(tuple(map(FileJob.of, wanted))).ensure(results)
    if "reason" in found.outcome:
        pytest.skip(found.outcome["reason"])
    stored = files.StoredFiles(results)
    slow, fast = stored.hash_ms(), stored.hash_words_ms()
    small, large = (stored.total_ms(job, "encrypt") for job in modern)
    flash, quick, late = (stored.parts_ms(job, "encrypt")["files"] for job in cards)
    assert slow is not None and fast is not None and small is not None and large is not None
    assert (
        missing(
            "files.md",
            f"a hash takes {1000 * slow:.1f} us; with Debian's, which moves words, {1000 * fast:.1f}",
            f"takes {small:.0f} ms for 630 bytes and {large:.0f} ms for 6,300",
            f"({quick:.0f} against {flash:.0f} ms of file system for 6,300 bytes); at 1 MHz it is slower "
            f"({late:.0f} ms)",
        )
        == []
    )


def test_blowfish_on_the_pico_is_what_the_page_says(tmp_path: Path) -> None:
    """Measured here, in the simulator: the same from the two lengths of the study and from others."""
    found, catalog = {}, Catalog.load()
    with Results(tmp_path / "results.db") as results:
        for lengths in ((32, 64), (64, 128)):
            for cipher in ("blowfish-cbc", "aes128-cbc"):
                cells = filecost.cells(catalog, "pico", cipher, 128, message_bytes=lengths)
                fast = [c for c in cells if c.implementation.variant in ("plain", "armv6m")]
                measured = bench.ensure(fast, results, catalog)
                cost = filecost.best(catalog.device("pico"), measured.values())
                assert cost is not None
                found[cipher, lengths] = cost.cycles_per_byte
    ratios = {round(found["blowfish-cbc", n] / found["aes128-cbc", n], 2) for n in ((32, 64), (64, 128))}
    assert len(ratios) == 1
    assert not missing("wlan.md", f"On a Pico it needs {ratios.pop()} times AES's cycles a byte")
