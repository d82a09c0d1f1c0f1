"""The Pico study's second half: files encrypted on the Pico's own flash, beside ours. Pure views."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import Any

from motecrypt.catalog import DATA
from motecrypt.files.crypt_and_hash import ROUNDS
from motecrypt.findings.passwords import PasswordQuestion
from motecrypt.findings.pico_file import FileCosts, FileQuestion, storage_times
from motecrypt.model import Comparison, Section, Verdict
from motecrypt.results import Results

SOURCE = (
    '"String and File Encryption with AES - Code Testing on Raspberry Pi Pico", dharmanitech, 26 January 2022'
)
TIMES, MEMORY, CLAIMS = "Files: time", "Files: memory", "Files: claims"
PRINTED_SIZES = (630, 6300)
SWEPT_SIZES = (16, 64, 256, 1024, 4096, 16384, 65536, 262144)
FEW = 16
"""Hashes in the sweep, whose time does not depend on the file; the rest is added from the full runs."""

WITHIN = 0.15
DIRECTIONS = {"encrypt": "encryption", "decrypt": "decryption"}
PART_TITLES = {
    "key": "8192 x SHA-512",
    "setup": "AES, HMAC set-up",
    "cipher": "AES-CBC",
    "mac": "HMAC",
    "files": "file system",
}
CARDS = ("sd", "sd-slow")
PASSWORDS = PasswordQuestion()
MODERN = ("aes256-gcm", "chacha20-poly1305")
CHART_TITLES = {
    "published": "crypt_and_hash, 8192 x SHA-512",
    "chacha20-poly1305": "modern, ChaCha20-Poly1305",
}


def printed_jobs() -> dict[int, FileQuestion]:
    """The source's two files, with nothing left out."""
    return {size: FileQuestion(size) for size in PRINTED_SIZES}


def swept_jobs(form: str = "published", storage: str = "flash") -> dict[int, FileQuestion]:
    """Files of all sizes. The largest run without the flash cache's model, which would take long."""
    sizes = sorted({*SWEPT_SIZES, *PRINTED_SIZES})
    return {
        size: FileQuestion(size, form, storage, FEW, cache="kept" if size < 1 << 18 else "none")  # type: ignore[arg-type]
        for size in sizes
    }


def words_job() -> FileQuestion:
    """The first file with the C library's faster memset and memcpy."""
    return FileQuestion(630, rounds=FEW * 8, c_library="words")


def few_job() -> FileQuestion:
    """As `words_job`, with the published program's."""
    return FileQuestion(630, rounds=FEW * 8)


def card_jobs(storage: str) -> dict[int, FileQuestion]:
    """The source's future work: the same files on an SD card, without cache misses."""
    return {
        size: FileQuestion(size, "published", storage, FEW, cache="none")  # type: ignore[arg-type]
        for size in PRINTED_SIZES
    }


def questions() -> list[FileQuestion]:
    """All files that the views here read, each once."""
    jobs = [*printed_jobs().values(), *swept_jobs().values(), words_job(), few_job()]
    jobs += swept_jobs("chacha20-poly1305").values()
    jobs += [FileQuestion(size, "aes256-gcm", rounds=FEW) for size in PRINTED_SIZES]
    jobs += [job for storage in ("flash", *CARDS) for job in card_jobs(storage).values()]
    return list(dict.fromkeys(jobs))


class StoredFiles:
    """The stored findings of jobs, as milliseconds."""

    def __init__(self, results: Results) -> None:
        self._results = results

    def outcome(self, job: FileQuestion) -> FileCosts | None:
        """What a job took, or None."""
        return job.answer(self._results)

    def total_ms(self, job: FileQuestion, direction: str) -> float | None:
        """The time of a whole job by the board's timer; with few hashes, the time of the others is added."""
        outcome = self.outcome(job)
        if outcome is None:
            return None
        total = outcome.run(direction).time_us / 1000
        if job.form != "published" or job.rounds == ROUNDS:
            return total
        hash_ms = self.hash_ms()
        return None if hash_ms is None else total + hash_ms * (ROUNDS - job.rounds)

    def parts_ms(self, job: FileQuestion, direction: str) -> dict[str, float]:
        """Milliseconds of each part, and of the storage's own work (`storage`)."""
        outcome = self.outcome(job)
        if outcome is None:
            return {}
        run = outcome.run(direction)
        cycles = {**vars(run.cycles), "storage": run.storage_busy}
        return {part: 1000 * count / outcome.clock_hz for part, count in cycles.items()}

    def hash_ms(self) -> float | None:
        """Milliseconds of one hash of the key derivation: two runs that differ in their number only."""
        return self._hash(printed_jobs()[630], swept_jobs()[630])

    def hash_words_ms(self) -> float | None:
        """The same with the faster C library: few hashes against few hashes with the slower one."""
        slow, fast, usual = (
            self.parts_ms(few_job(), "encrypt"),
            self.parts_ms(words_job(), "encrypt"),
            self.hash_ms(),
        )
        # The IV's one hash is among both, too.
        return usual * fast["key"] / slow["key"] if slow and fast and usual else None

    def passwords(self) -> str:
        """What a guess at a password costs on this host."""
        found = PASSWORDS.answer(self._results)
        if found is None:
            return ""
        return (
            f" A guess takes {found.argon2id_ms:.0f} ms of this host's processor with it, "
            f"{found.hashes_ms:.1f} ms with the published format's hashes, and no memory."
        )

    def _hash(self, many: FileQuestion, few: FileQuestion) -> float | None:
        long, short = self.parts_ms(many, "encrypt"), self.parts_ms(few, "encrypt")
        return (long["key"] - short["key"]) / (many.rounds - few.rounds) if long and short else None


def printed() -> dict[tuple[int, str], float]:
    """The source's times in ms, by size and direction."""
    with (DATA / "published" / "pico_files.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return {(int(row["file_bytes"]), d): float(row[f"{d}_ms"]) for row in rows for d in DIRECTIONS}


def _verdict(ratio: float | None) -> Verdict:
    if ratio is None:
        return "not measured"
    return "reproduced" if abs(ratio - 1) <= WITHIN else "contradicted"


def comparisons(results: Results) -> list[Comparison]:
    """Every figure and claim about files beside ours."""
    stored = StoredFiles(results)
    return [*_times(stored), *_memory(stored), *_claims(stored)]


def _times(stored: StoredFiles) -> list[Comparison]:
    rows = []
    for size, job in printed_jobs().items():
        for direction, title in DIRECTIONS.items():
            said, ours = printed()[size, direction], stored.total_ms(job, direction)
            ratio = None if ours is None else ours / said
            row = (SOURCE, TIMES, f"{size} bytes", title, "ms", said, ours, ratio, _verdict(ratio))
            rows.append(Comparison(*row, note=_split(stored, job, direction, said)))
    for direction, title in DIRECTIONS.items():
        small, large = (stored.total_ms(job, direction) for job in printed_jobs().values())
        said = printed()[6300, direction] - printed()[630, direction]
        ours = None if small is None or large is None else large - small
        ratio = None if ours is None else ours / said
        note = (
            "a difference of two printed times; one erased sector (45 ms typical) and 22 pages (0.7 ms "
            "typical) are most of it, and chips differ from the typical by more than the residual"
        )
        row = (SOURCE, TIMES, "6300 less 630 bytes", title, "ms", said, ours, ratio, _verdict(ratio))
        rows.append(Comparison(*row, note=note))
    return rows


def _split(stored: StoredFiles, job: FileQuestion, direction: str, said: float) -> str:
    parts, outcome = stored.parts_ms(job, direction), stored.outcome(job)
    if outcome is None:
        return ""
    run = outcome.run(direction)
    split = ", ".join(f"{title} {parts[part]:.1f}" for part, title in PART_TITLES.items())
    ours = run.time_us / 1000
    return (
        f"{split} ms; in the last the flash was busy {parts['storage']:.1f} ms ({run.erases} sectors "
        f"erased, {run.programs} pages programmed); {sum(vars(run.misses).values())} cache misses; "
        f"residual {ours - said:+.0f} ms: Mbed OS's littlefs is version 1, which erases a sector (45 ms "
        "typical) whenever it commits a name or size; ours is version 2, which appends"
    )


def _memory(stored: StoredFiles) -> list[Comparison]:
    outcome = stored.outcome(printed_jobs()[630])
    flash = None if outcome is None else float(outcome.flash_bytes)
    verdict: Verdict = "not measured" if flash is None else "contradicted"
    return [
        Comparison(
            *(SOURCE, MEMORY, "whole program", "flash", "bytes", 4534.0, flash),
            *(None if flash is None else flash / 4534, verdict),
            note="no whole program: AES's tables alone are 8,192 bytes, SHA-512 4,654, littlefs 15,712 "
            "(GCC 12, -Os); ours holds the modern format, too",
        ),
        Comparison(
            *(SOURCE, MEMORY, "whole program", "RAM", "bytes", 41380.0, None, None, "not reproducible"),
            note="the source says that more than 40 KB of it are Mbed OS's own, which is not built here; "
            "a job of ours takes " + _job_ram(outcome),
        ),
    ]


def _job_ram(outcome: FileCosts | None) -> str:
    if outcome is None:
        return "(not measured)"
    run = outcome.encrypt
    return f"{run.stack_bytes} bytes of stack and {run.heap_bytes} of heap"


def _claims(stored: StoredFiles) -> list[Comparison]:
    small, large = printed_jobs().values()
    parts = stored.parts_ms(small, "encrypt")
    first, second = stored.total_ms(small, "encrypt"), stored.total_ms(large, "encrypt")
    biggest = stored.total_ms(swept_jobs()[1 << 18], "encrypt")
    growth = None if first is None or second is None else second / first
    rows = [
        Comparison(
            *(SOURCE, CLAIMS, "size", "a file ten times as long takes this much longer", "ratio"),
            *(2425 / 2343, growth, None if growth is None else growth / (2425 / 2343)),
            _verdict(None if growth is None else growth / (2425 / 2343)),
            note="for small files, as the source says"
            + ("" if biggest is None else f"; 262144 bytes take {biggest:.0f} ms"),
        )
    ]
    costs = stored.outcome(small)
    if costs is None or first is None:
        said = "setting up the AES context dominates"
        row = (SOURCE, CLAIMS, "set-up dominates", "share of the time", "%", said, None, None, "not measured")
        return [*rows, Comparison(*row)]  # type: ignore[arg-type]
    setup, key = 100 * parts["setup"] / first, 100 * parts["key"] / first
    rows += [
        Comparison(
            *(SOURCE, CLAIMS, "set-up dominates", "share of the time", "%"),
            *("the AES context's set-up", key, None, "reproduced"),
            note=f"what dominates is before the AES context: 8192 SHA-512 hashes, {key:.1f} %; setting up "
            f"AES and HMAC is {setup:.3f} %, the cipher {100 * parts['cipher'] / first:.2f} %",
        ),
        Comparison(
            *(SOURCE, CLAIMS, "format", "bytes of the file for 630", "bytes", "16 + blocks + 64"),
            *(float(costs.sealed_bytes), None, "reproduced"),
            note="and the host's implementation and the real program make the same bytes",
        ),
        *_card_claims(stored),
        Comparison(
            *(
                SOURCE,
                CLAIMS,
                "second core",
                "frees the first",
                "",
                "future work",
                None,
                None,
                "not measured",
            ),
            note="only one core is simulated",
        ),
    ]
    return rows


def _card_claims(stored: StoredFiles) -> list[Comparison]:
    """That a card's serial interface tells, and that flash is faster than a card."""
    flash, fast, slow = (stored.parts_ms(card_jobs(s)[6300], "encrypt") for s in ("flash", *CARDS))
    column = "file system for 6300 bytes"
    speed = (SOURCE, CLAIMS, "SD card: the interface's speed tells", column, "ms", "it does")
    faster = (SOURCE, CLAIMS, "flash is faster than a card", column, "ms", "it is")
    if not flash or not fast or not slow:
        return [Comparison(*row, None, None, "not measured") for row in (speed, faster)]
    verdict: Verdict = "reproduced" if slow["files"] > 1.5 * fast["files"] else "contradicted"
    return [
        Comparison(
            *(*speed, f"{fast['files']:.0f} at 12.5 MHz, {slow['files']:.0f} at 1 MHz", None, verdict),
            note="littlefs on both; what the card itself takes is data/storage.toml's",
        ),
        Comparison(
            *(*faster, f"flash {flash['files']:.0f}, card {fast['files']:.0f} at 12.5 MHz", None),
            verdict="not reproducible",
            note="depends on the card and its clock: to read, flash is faster always; to write, it has to be "
            "erased, which a card that takes 850 us for a block need not",
        ),
    ]


# --- for people -------------------------------------------------------------------------------------


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
    for row in _times(stored):
        ours = row.measured if isinstance(row.measured, float) else None
        said = row.published if isinstance(row.published, float) else 0.0
        ratio = "" if row.ratio is None else f"{row.ratio:.3f}"
        rows.append([row.row, row.column, f"{said:.0f}", _ms(ours), ratio, row.verdict])
    words, slow = stored.hash_words_ms(), stored.hash_ms()
    text = ""
    if words is not None and slow is not None:
        text = (
            f"One hash takes {1000 * slow:.1f} us with memset and memcpy byte by byte, as newlib-nano has "
            "them in the GNU Arm toolchain that the source's tools link, and "
            f"{1000 * words:.1f} us with Debian's, which move words: then the derivation takes "
            f"{words * ROUNDS:,.0f} ms, not {slow * ROUNDS:,.0f}."
        )
    return Section(
        "Files on the Pico's flash, ms", ["file", "", "print", "ours", "ratio", "verdict"], rows, text
    )


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
    columns = ["job", *PART_TITLES.values(), "flash busy", "erased", "programmed", "cache misses"]
    return Section("What the time goes to, ms ('flash busy' is part of 'file system')", columns, rows)


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
    return Section(
        "Files of all sizes, ms: the published format, and the modern one (ChaCha20-Poly1305, a given key)",
        ["bytes", "encrypt", "decrypt", "% derivation", "file system", "modern encrypt", "modern decrypt"],
        rows,
        f"Run with {FEW} hashes, the time of the other {ROUNDS - FEW} added; the largest without misses.",
    )


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
    return Section(
        "What one would use today: chunks of 4 KB, authenticated, a random key instead of 8192 hashes; ms",
        ["bytes", "cipher", "encrypt", "decrypt", "HKDF", "cipher", "file system", "times faster"],
        rows,
        "A password goes through Argon2id on the host, which hands the mote a key: 64 MB are no mote's."
        + stored.passwords(),
    )


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
    columns = ["storage", "bytes", "encrypt", "decrypt", "file system", "busy", "read", "written", "erased"]
    return Section(
        "The source's future work: an SD card over SPI, ms",
        columns,
        rows,
        "littlefs on all three (the usual libraries have FAT on cards), cache misses left out; what a card "
        "takes for a block is data/storage.toml's and varies by card.",
    )


def _claim_section(stored: StoredFiles) -> Section:
    rows = [
        [r.row, r.column, _said(r.published), _said(r.measured), r.verdict, r.note]
        for r in (*_memory(stored), *_claims(stored))
    ]
    return Section("Files: memory and claims", ["row", "column", "print", "ours", "verdict", "note"], rows)


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
                "title": "bytes",
            },
            "y": {"field": "ms", "type": "quantitative", "scale": {"type": "log"}, "title": "milliseconds"},
            "color": {"field": "format", "type": "nominal", "title": "format"},
            "strokeDash": {"field": "direction", "type": "nominal", "title": None},
        },
    }
