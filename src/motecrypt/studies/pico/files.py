"""The Pico study's second half: files encrypted on the Pico's own flash, next to ours. Pure views."""

from __future__ import annotations

import csv
from collections.abc import Iterable

from motecrypt.catalog import DATA
from motecrypt.link.files.crypt_and_hash import ROUNDS
from motecrypt.results import Results
from motecrypt.results.findings import recorded
from motecrypt.results.findings.passwords import PasswordQuestion
from motecrypt.results.findings.pico_file import FileCosts, FileQuestion
from motecrypt.studies.facts import Comparison, Tolerance
from motecrypt.studies.judge import EXACT, Bound, Check, Evidence, Expected, compare
from motecrypt.studies.pico.figures import MBED, SOURCE, TOOLCHAIN

TIMES, MEMORY, CLAIMS = "Files: time", "Files: memory", "Files: claims"
PRINTED_SIZES = (630, 6300)
SWEPT_SIZES = (16, 64, 256, 1024, 4096, 16384, 65536, 262144)
UNCACHED_SIZES = (262144,)
"""These run without the flash cache's model, which would take long."""
LARGE = 4096
"""Bytes from which a file takes the simulator long."""

FEW = 16
"""Hashes in the sweep, whose time does not depend on the file; the rest is added from the full runs."""

WITHIN = Tolerance(0.15, 0.0, "model: what a flash chip takes to erase and program is its typical time")
AGAIN = "motecrypt reproduce pico --full --rows"
#: Mbed TLS has four tables of 256 words to encrypt and four to decrypt.
AES_TABLE_BYTES = 2 * 4 * 256 * 4
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
    return {size: FileQuestion(size, toolchain=TOOLCHAIN) for size in PRINTED_SIZES}


def swept_jobs(form: str = "published", storage: str = "flash") -> dict[int, FileQuestion]:
    """Files of all sizes."""
    sizes = sorted({*SWEPT_SIZES, *PRINTED_SIZES})
    return {
        size: FileQuestion(
            size,
            form,  # type: ignore[arg-type]
            storage,  # type: ignore[arg-type]
            FEW,
            cache="none" if size in UNCACHED_SIZES else "kept",
            toolchain=TOOLCHAIN,
        )
        for size in sizes
    }


def words_job() -> FileQuestion:
    """The first file with the C library's faster memset and memcpy."""
    return FileQuestion(630, rounds=FEW * 8, c_library="words", toolchain=TOOLCHAIN)


def few_job() -> FileQuestion:
    """As `words_job`, with the published program's."""
    return FileQuestion(630, rounds=FEW * 8, toolchain=TOOLCHAIN)


def card_jobs(storage: str) -> dict[int, FileQuestion]:
    """The source's future work: the same files on an SD card, without cache misses."""
    return {
        size: FileQuestion(size, "published", storage, FEW, cache="none", toolchain=TOOLCHAIN)  # type: ignore[arg-type]
        for size in PRINTED_SIZES
    }


def questions() -> list[FileQuestion]:
    """All files that the views here read, each once."""
    jobs = [*printed_jobs().values(), *swept_jobs().values(), words_job(), few_job()]
    jobs += swept_jobs("chacha20-poly1305").values()
    jobs += [FileQuestion(size, "aes256-gcm", rounds=FEW, toolchain=TOOLCHAIN) for size in PRINTED_SIZES]
    jobs += [job for storage in ("flash", *CARDS) for job in card_jobs(storage).values()]
    return list(dict.fromkeys(jobs))


def quick_questions() -> list[FileQuestion]:
    """Those of `questions` that take the simulator about a second each."""
    return [question for question in questions() if not _takes_long(question)]


def long_questions() -> list[FileQuestion]:
    """The others: all hashes, and the largest files."""
    return [question for question in questions() if _takes_long(question)]


def _takes_long(question: FileQuestion) -> bool:
    return question.rounds == ROUNDS or question.size >= LARGE


class StoredFiles:
    """The stored findings of jobs, as milliseconds."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._read: dict[FileQuestion, FileCosts | None] = {}

    def outcome(self, job: FileQuestion) -> FileCosts | None:
        """What a job took, or None; read once."""
        if job not in self._read:
            self._read[job] = job.answer(self._results)
        return self._read[job]

    def recorded(self, jobs: Iterable[FileQuestion]) -> str:
        """When, and with which compiler, those of these jobs were run that came with the program; or ""."""
        found = [finding for job in jobs if (finding := job.find(self._results)) is not None]
        days = recorded.days(found)
        made = [FileCosts.from_json(finding.outcome) for finding in recorded.only(found)]
        compilers = sorted({costs.compiler for costs in made if costs is not None})
        return f"as recorded on {', '.join(days)} with {', '.join(compilers)}" if days else ""

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


def comparisons(results: Results) -> list[Comparison]:
    """Every figure and claim about files next to ours."""
    stored = StoredFiles(results)
    return [*times(stored), *memory(stored), *claims(stored)]


def times(stored: StoredFiles) -> list[Comparison]:
    """Each printed time next to ours, and what the larger file adds."""
    rows = []
    for size, job in printed_jobs().items():
        for direction, title in DIRECTIONS.items():
            said = printed()[size, direction]
            rows.append(
                compare(
                    id=_time_id(size, direction),
                    source=SOURCE,
                    table=TIMES,
                    row=f"{size} bytes",
                    column=title,
                    unit="ms",
                    published=said,
                    measured=stored.total_ms(job, direction),
                    tolerance=WITHIN,
                    evidence=Evidence("same algorithm, ours", less_is_better=True, cause=_LITTLEFS),
                    note=_split(stored, job, direction, said),
                )
            )
    for direction, title in DIRECTIONS.items():
        small, large = (stored.total_ms(job, direction) for job in printed_jobs().values())
        rows.append(
            compare(
                id=f"pico-file-more-{direction}",
                source=SOURCE,
                table=TIMES,
                row="6300 less 630 bytes",
                column=title,
                unit="ms",
                kind="derived",
                published=printed()[6300, direction] - printed()[630, direction],
                measured=None if small is None or large is None else large - small,
                tolerance=WITHIN,
                evidence=Evidence(
                    "same algorithm, ours",
                    derived_from=tuple(_time_id(size, direction) for size in PRINTED_SIZES),
                    cause="flash chips differ from the typical times of one erased sector and 22 pages",
                ),
                note="a difference of two printed times; one erased sector (45 ms typical) and 22 pages "
                "(0.7 ms typical) are most of it, and chips differ from that by more than the residual",
            )
        )
    return rows


def _time_id(size: int, direction: str) -> str:
    return f"pico-file-{size}-{direction}"


_LITTLEFS = (
    "Mbed OS's littlefs is version 1, which erases a sector (45 ms typical) whenever it commits a name or "
    "size; ours is version 2, which appends"
)


def _split(stored: StoredFiles, job: FileQuestion, direction: str, said: float) -> str:
    parts, outcome = stored.parts_ms(job, direction), stored.outcome(job)
    if outcome is None:
        return ""
    run = outcome.run(direction)
    split = ", ".join(f"{title} {parts[part]:.1f}" for part, title in PART_TITLES.items())
    ours, when = run.time_us / 1000, stored.recorded([job])
    return (
        f"{split} ms; in the last the flash was busy {parts['storage']:.1f} ms ({run.erases} sectors "
        f"erased, {run.programs} pages programmed); {sum(vars(run.misses).values())} cache misses; "
        f"residual {ours - said:+.0f} ms: {_LITTLEFS}" + (f"; {when}" if when else "")
    )


def memory(stored: StoredFiles) -> list[Comparison]:
    """The printed sizes next to our firmware's."""
    outcome = stored.outcome(printed_jobs()[630])
    tables = Check(
        said=4534.0,
        expected=Bound("at least", float(AES_TABLE_BYTES)),
        why=f"Mbed TLS's tables for AES alone are {AES_TABLE_BYTES:,} bytes",
        command="motecrypt measure --device pico --library mbedtls --cipher aes256-cbc --bytes 48",
    )
    return [
        compare(
            id="pico-file-memory-flash",
            source=SOURCE,
            table=MEMORY,
            row="whole program",
            column="flash",
            unit="bytes",
            published=4534.0,
            measured=None if outcome is None else float(outcome.flash_bytes),
            evidence=Evidence("same algorithm, ours", checks=(tables,)),
            note="no whole program: AES's tables alone are 8,192 bytes, SHA-512 4,654, littlefs 15,712 "
            "(GCC 12, -Os); ours holds the modern format, too",
        ),
        compare(
            id="pico-file-memory-ram",
            source=SOURCE,
            table=MEMORY,
            row="whole program",
            column="RAM",
            unit="bytes",
            published=41380.0,
            measured=None,
            evidence=Evidence("same algorithm, ours", bring=MBED),
            note="the source says that more than 40 KB of it are Mbed OS's own, which is not built here; "
            "a job of ours takes " + _job_ram(outcome),
        ),
    ]


def _job_ram(outcome: FileCosts | None) -> str:
    if outcome is None:
        return "(not measured)"
    run = outcome.encrypt
    return f"{run.stack_bytes} bytes of stack and {run.heap_bytes} of heap"


def claims(stored: StoredFiles) -> list[Comparison]:
    """What the text says of files, each next to what was found."""
    small, large = printed_jobs().values()
    first, second = stored.total_ms(small, "encrypt"), stored.total_ms(large, "encrypt")
    biggest = stored.total_ms(swept_jobs()[max(SWEPT_SIZES)], "encrypt")
    rows = [
        _claim(
            "size",
            "size",
            "a file ten times as long takes this much longer",
            "ratio",
            printed()[6300, "encrypt"] / printed()[630, "encrypt"],
            None if first is None or second is None else second / first,
            tolerance=WITHIN,
            note="for small files, as the source says"
            + ("" if biggest is None else f"; {max(SWEPT_SIZES)} bytes take {biggest:.0f} ms"),
        )
    ]
    costs, note = stored.outcome(small), ""
    key = setup = sealed = None
    if costs is not None and first is not None:
        parts = stored.parts_ms(small, "encrypt")
        setup, key = (100 * parts[part] / first for part in ("setup", "key"))
        sealed = float(costs.sealed_bytes)
        note = (
            f"what dominates is before the AES context: 8192 SHA-512 hashes, {key:.1f} %; setting up "
            f"AES and HMAC is {setup:.3f} %, the cipher {100 * parts['cipher'] / first:.2f} %"
        )
    return [
        *rows,
        _claim(
            "set-up",
            "set-up dominates",
            "share of the time",
            "%",
            "the AES context's set-up",
            key,
            value=None if key is None or setup is None else key + setup,
            expected=Bound("above", 50.0),
            cause="the file system takes most of the time",
            note=note,
        ),
        _claim(
            "format",
            "format",
            "bytes of the file for 630",
            "bytes",
            "16 + blocks + 64",
            sealed,
            expected=float(16 + 640 + 64),
            note="and the host's implementation and the real program make the same bytes" if sealed else "",
        ),
        *_card_claims(stored),
    ]


def _claim(
    id: str,
    row: str,
    column: str,
    unit: str,
    published: float | str,
    measured: float | str | None,
    *,
    value: float | None = None,
    expected: Expected | None = None,
    tolerance: Tolerance = EXACT,
    needs_hardware: str = "",
    cause: str = "",
    note: str = "",
) -> Comparison:
    return compare(
        id=f"pico-file-claim-{id}",
        source=SOURCE,
        table=CLAIMS,
        row=row,
        column=column,
        unit=unit,
        kind="claim",
        published=published,
        measured=measured,
        expected=expected,
        found=value,
        tolerance=tolerance,
        evidence=Evidence(
            "same algorithm, ours",
            needs_hardware=needs_hardware,
            cause=cause,
            known="shown by experiment",
            command=AGAIN,
        ),
        note=note,
    )


def _card_claims(stored: StoredFiles) -> list[Comparison]:
    """That a card's serial interface affects the times, and that flash is faster than a card."""
    flash, fast, slow = (stored.parts_ms(card_jobs(s)[6300], "encrypt") for s in ("flash", *CARDS))
    column, known = "file system for 6300 bytes", bool(flash and fast and slow)
    return [
        _claim(
            "card-speed",
            "SD card: the interface's speed decides",
            column,
            "ms",
            "it does",
            f"{fast['files']:.0f} at 12.5 MHz, {slow['files']:.0f} at 1 MHz" if known else None,
            value=slow.get("files"),
            expected=Bound("above", 1.5 * fast.get("files", 0.0)),
            cause="the card itself takes most of the time",
            note="littlefs on both; what the card itself takes is data/storage.toml's" if known else "",
        ),
        _claim(
            "flash-faster",
            "flash is faster than a card",
            column,
            "ms",
            "it is",
            f"flash {flash['files']:.0f}, card {fast['files']:.0f} at 12.5 MHz" if known else None,
            value=fast.get("files"),
            expected=Bound("above", flash.get("files", 0.0)),
            needs_hardware="the card that is meant: cards differ by more than this",
            note="depends on the card and its clock: to read, flash is faster always; to write, it has to be "
            "erased, which a card that takes 850 us for a block need not"
            if known
            else "",
        ),
    ]
