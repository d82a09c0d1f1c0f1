"""The Pico study's second half for people: tables of the files' times and what they go to, and a chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from motecrypt.base.model import Section
from motecrypt.link.files.crypt_and_hash import ROUNDS
from motecrypt.results import Results
from motecrypt.results.experiments.pico_file import FileQuestion, storage_times
from motecrypt.studies.pico.files import (
    CARDS,
    CHART_TITLES,
    DIRECTIONS,
    FEW,
    LARGE,
    MODERN,
    PART_TITLES,
    PRINTED_SIZES,
    StoredFiles,
    card_jobs,
    claims,
    long_questions,
    memory,
    printed,
    printed_jobs,
    swept_jobs,
    times,
)
from motecrypt.studies.words import words


def _ms(value: float | None) -> str:
    return "not measured" if value is None else f"{value:,.1f}"


def sections(results: Results) -> list[Section]:
    """Tables of the times, their parts, all sizes, and what one would use today."""
    stored = StoredFiles(results)
    return [
        _time_section(stored),
        _part_section(stored),
        _size_section(stored),
        _modern_section(stored),
        _card_section(stored),
        _claim_section(stored),
    ]


def _time_section(stored: StoredFiles) -> Section:
    rows = []
    for row in times(stored):
        ours = row.measured if isinstance(row.measured, float) else None
        said = row.published if isinstance(row.published, float) else 0.0
        ratio = "" if row.ratio is None else f"{row.ratio:.3f}"
        rows.append([row.row, row.column, f"{said:.0f}", _ms(ours), ratio, row.verdict])
    fast, slow = stored.hash_words_ms(), stored.hash_ms()
    recorded = _recorded("These times are", stored, printed_jobs().values())
    known = fast is not None and slow is not None
    return words("pico").section(
        "files",
        rows,
        slow=1000 * slow if slow is not None and known else None,
        fast=1000 * fast if fast is not None else None,
        moved=fast * ROUNDS if fast is not None else None,
        usual=slow * ROUNDS if slow is not None else None,
        both=known and recorded,
        recorded=recorded,
    )


def _recorded(what: str, stored: StoredFiles, jobs: Iterable[FileQuestion]) -> str:
    """A sentence that reports it if these jobs, or some of them, came with the program."""
    when = stored.recorded(jobs)
    return f"{what} {when}; --full runs them again." if when else ""


def _part_section(stored: StoredFiles) -> Section:
    rows = []
    for size, job in printed_jobs().items():
        for direction in DIRECTIONS:
            parts, outcome = stored.parts_ms(job, direction), stored.outcome(job)
            if outcome is None:
                continue
            run = outcome.run(direction)
            rows.append(
                [
                    f"{size} {direction}",
                    *(f"{parts[part]:.2f}" for part in PART_TITLES),
                    f"{parts['storage']:.1f}",
                    str(run.erases),
                    str(run.programs),
                    f"{sum(vars(run.misses).values()):,}",
                ]
            )
    recorded = _recorded("These counts are", stored, printed_jobs().values())
    made = words("pico").section("parts", rows, recorded=recorded)
    counts = ("flash busy", "erased", "programmed", "cache misses")
    return replace(made, columns=[*made.columns, *PART_TITLES.values(), *counts])


def _size_section(stored: StoredFiles) -> Section:
    rows = []
    for size, job in swept_jobs().items():
        modern = swept_jobs("chacha20-poly1305")[size]
        whole, parts = stored.total_ms(job, "encrypt"), stored.parts_ms(job, "encrypt")
        if whole is None:
            continue
        share = 100 * (1 - (whole - (stored.hash_ms() or 0) * ROUNDS) / whole)
        rows.append(
            [
                f"{size:,}",
                *(_ms(stored.total_ms(job, d)) for d in DIRECTIONS),
                f"{share:.1f}",
                f"{parts['files']:.1f}",
                *(_ms(stored.total_ms(modern, d)) for d in DIRECTIONS),
            ]
        )
    large = [job for job in long_questions() if job.size >= LARGE]
    recorded = _recorded(f"Files from {LARGE:,} bytes are", stored, large)
    return words("pico").section("all-sizes", rows, few=FEW, others=ROUNDS - FEW, recorded=recorded)


def _modern_section(stored: StoredFiles) -> Section:
    rows = []
    for size in PRINTED_SIZES:
        old = stored.total_ms(printed_jobs()[size], "encrypt")
        for form in MODERN:
            job = FileQuestion(size, form, rounds=FEW)  # type: ignore[arg-type]
            new, parts = stored.total_ms(job, "encrypt"), stored.parts_ms(job, "encrypt")
            if new is None or old is None:
                continue
            rows.append(
                [
                    f"{size:,}",
                    form,
                    *(_ms(stored.total_ms(job, d)) for d in DIRECTIONS),
                    f"{parts['key']:.2f}",
                    f"{parts['cipher']:.2f}",
                    f"{parts['files']:.1f}",
                    f"{old / new:.0f}",
                ]
            )
    return words("pico").section("modern", rows, passwords=stored.passwords())


def _card_section(stored: StoredFiles) -> Section:
    rows = []
    for storage in ("flash", *CARDS):
        jobs = card_jobs(storage)
        for size, job in jobs.items():
            outcome, parts = stored.outcome(job), stored.parts_ms(job, "encrypt")
            if outcome is None:
                continue
            run = outcome.encrypt
            rows.append(
                [
                    storage_times()[storage]["title"],
                    f"{size:,}",
                    *(_ms(stored.total_ms(job, d)) for d in DIRECTIONS),
                    f"{parts['files']:.1f}",
                    f"{parts['storage']:.1f}",
                    str(run.reads) if storage != "flash" else "",
                    str(run.programs),
                    str(run.erases) if storage == "flash" else "",
                ]
            )
    return words("pico").section("cards", rows)


def _claim_section(stored: StoredFiles) -> Section:
    rows = [
        [r.row, r.column, _said(r.published), _said(r.measured), r.verdict, r.note]
        for r in (*memory(stored), *claims(stored))
    ]
    return words("pico").section("plain", rows, title="Files: memory and claims", text="")


def _said(value: float | str | None) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:,.4g}"


def charts(results: Results) -> dict[str, dict[str, Any]]:
    """Time over size, published and modern format, as a Vega-Lite specification."""
    stored = StoredFiles(results)
    points: list[dict[str, Any]] = []
    for form, title in CHART_TITLES.items():
        for size, job in swept_jobs(form).items():
            for direction in DIRECTIONS:
                total = stored.total_ms(job, direction)
                if total is not None:
                    points.append({"bytes": size, "ms": total, "format": title, "direction": direction})
    for (size, direction), said in printed().items():
        points.append({"bytes": size, "ms": said, "format": "printed", "direction": direction})
    return {"pico-files": _chart(points)}


def _chart(points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": "Encrypting a file on the Pico's own flash",
        "width": 480,
        "height": 300,
        "data": {"values": list(points)},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {
                "field": "bytes",
                "type": "quantitative",
                "scale": {"type": "log", "base": 4},
                "title": "file, bytes",
            },
            "y": {"field": "ms", "type": "quantitative", "scale": {"type": "log"}, "title": "time, ms"},
            "color": {"field": "format", "type": "nominal", "title": "format"},
            "strokeDash": {
                "field": "direction",
                "type": "nominal",
                "title": None,
                "legend": {"symbolType": "stroke"},
            },
        },
    }
