"""The Pico study's second half: files encrypted on the Pico's own flash, next to ours. Pure views."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import Any

from motecrypt.catalog import DATA
from motecrypt.link.files.crypt_and_hash import ROUNDS
from motecrypt.results import Results
from motecrypt.results.experiments import recorded
from motecrypt.results.experiments.passwords import PasswordQuestion
from motecrypt.results.experiments.pico_file import FileCosts, FileQuestion
from motecrypt.studies.facts import Comparison, Tolerance
from motecrypt.studies.judge import Bound
from motecrypt.studies.pico.figures import MBED, TOOLCHAIN
from motecrypt.studies.words import words

TIMES, MEMORY = "Files: time", "Files: memory"
PRINTED_SIZES = (630, 6300)
SWEPT_SIZES = (16, 64, 256, 1024, 4096, 16384, 65536, 262144)
UNCACHED_SIZES = (262144,)
"""These run without the flash cache's model, which would take long."""
LARGE = 4096
"""Bytes from which a file takes the simulator long."""

FEW = 16
"""Hashes in the sweep, whose time does not depend on the file; the rest is added from the full runs."""

WITHIN = Tolerance(0.15, 0.0, "model: what a flash chip takes to erase and program is its typical time")
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
    """The stored results of jobs, as milliseconds."""

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
        found = [experiment for job in jobs if (experiment := job.find(self._results)) is not None]
        days = recorded.days(found)
        made = [FileCosts.from_json(experiment.outcome) for experiment in recorded.only(found)]
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
                words("pico").row(
                    "file",
                    name=f"pico-file-{size}-{direction}",
                    size=size,
                    direction=title,
                    published=said,
                    measured=stored.total_ms(job, direction),
                    tolerance=WITHIN,
                    **_split(stored, job, direction, said),
                )
            )
    for direction, title in DIRECTIONS.items():
        small, large = (stored.total_ms(job, direction) for job in printed_jobs().values())
        rows.append(
            words("pico").row(
                "more",
                name=direction,
                direction=title,
                published=printed()[6300, direction] - printed()[630, direction],
                measured=None if small is None or large is None else large - small,
                tolerance=WITHIN,
            )
        )
    return rows


def _split(stored: StoredFiles, job: FileQuestion, direction: str, said: float) -> dict[str, Any]:
    """What the time of a job goes to."""
    parts, outcome = stored.parts_ms(job, direction), stored.outcome(job)
    if outcome is None:
        return dict.fromkeys(("split", "busy", "run", "misses", "residual", "when"))
    run = outcome.run(direction)
    return {
        "split": ", ".join(f"{title} {parts[part]:.1f}" for part, title in PART_TITLES.items()),
        "busy": parts["storage"],
        "run": run,
        "misses": sum(vars(run.misses).values()),
        "residual": run.time_us / 1000 - said,
        "when": stored.recorded([job]) or None,
    }


def memory(stored: StoredFiles) -> list[Comparison]:
    """The printed sizes next to our firmware's."""
    outcome = stored.outcome(printed_jobs()[630])
    flash, run = (None, None) if outcome is None else (float(outcome.flash_bytes), outcome.encrypt)
    tables = (4534.0, Bound("at least", float(AES_TABLE_BYTES)))
    return [
        words("pico").row("file-flash", measured=flash, check=tables, tables=AES_TABLE_BYTES),
        words("pico").row("file-ram", bring=MBED, run=run),
    ]


def claims(stored: StoredFiles) -> list[Comparison]:
    """What the text says of files, each next to what was found."""
    small, large = printed_jobs().values()
    first, second = stored.total_ms(small, "encrypt"), stored.total_ms(large, "encrypt")
    biggest = stored.total_ms(swept_jobs()[max(SWEPT_SIZES)], "encrypt")
    costs, said = stored.outcome(small), words("pico")
    key = setup = sealed = cipher = None
    if costs is not None and first is not None:
        parts = stored.parts_ms(small, "encrypt")
        key, setup, cipher = (100 * parts[part] / first for part in ("key", "setup", "cipher"))
        sealed = float(costs.sealed_bytes)
    before = None if key is None or setup is None else key + setup
    return [
        said.row(
            "file-size",
            published=printed()[6300, "encrypt"] / printed()[630, "encrypt"],
            measured=None if first is None or second is None else second / first,
            tolerance=WITHIN,
            most=max(SWEPT_SIZES),
            biggest=biggest,
        ),
        said.row("file-set-up", measured=key, found=before, setup=setup, cipher=cipher),
        said.row("file-format", measured=sealed),
        *_card_claims(stored),
    ]


def _card_claims(stored: StoredFiles) -> list[Comparison]:
    """That a card's serial interface affects the times, and that flash is faster than a card."""
    parts = {s: stored.parts_ms(card_jobs(s)[6300], "encrypt") for s in ("flash", *CARDS)}
    flash, fast, slow = (part.get("files") for part in parts.values())
    told = {"whole": all(parts.values()), "flash": flash, "fast": fast, "slow": slow}
    slower, faster = Bound("above", 1.5 * (fast or 0.0)), Bound("above", flash or 0.0)
    return [
        words("pico").row("card-speed", **told, found=slow, expected=slower),
        words("pico").row("flash-faster", **told, found=fast, expected=faster),
    ]
