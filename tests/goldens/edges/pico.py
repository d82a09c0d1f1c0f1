"""The Pico study over made-up timings, sizes and files."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest import mock

from goldens.edges.told import Told
from goldens.text import digest, plain
from motecrypt.base.model import Section
from motecrypt.results.experiments.pico_file import FileCosts, FileRun, PartCounts
from motecrypt.studies.pico import ciphertexts, file_tables, files, string_claims, strings
from motecrypt.studies.pico import figures as pico


class MadeUp(files.StoredFiles):
    """Results of files that were never run."""

    def __init__(self, number: int) -> None:
        super().__init__(None)  # type: ignore[arg-type]
        self._number = number

    def outcome(self, job: Any) -> FileCosts | None:
        """Drawn from the job and the number."""
        random = Random(f"{self._number} {job}")
        if random.random() < 0.07 * (self._number % 3):
            return None

        def counts(most: int) -> PartCounts:
            return PartCounts(*(random.choice((0, most // 2, most)) for _ in range(6)))

        def run(direction: str) -> FileRun:
            printed = files.printed().get((job.size, direction), 900.0)
            cycles = counts(2_000_000)
            key = random.choice((7000, 16_000)) * job.rounds
            cycles = PartCounts(cycles.other, cycles.files, key, cycles.cipher, cycles.mac, cycles.setup)
            time_us = 1000 * printed * random.choice((0.84, 0.85, 0.86, 1.0, 1.14, 1.15, 1.16))
            return FileRun(time_us, cycles, counts(9), 22, 3, 4, 250_000, 900, random.choice((0, 300)))

        sealed = random.choice((719, 720, 721))
        return FileCosts(run("encrypt"), run("decrypt"), sealed, 125_000_000, 45_340, 30_000, "gcc")

    def recorded(self, jobs: Iterable[Any]) -> str:
        """Of every other number."""
        return f"as recorded with {len(list(jobs))} jobs" if self._number % 2 else ""

    def passwords(self) -> str:
        """No passwords were guessed."""
        return ""


def _calls(random: Random) -> dict[tuple[int, int, Any], Any]:
    """Timings about the edges of what is printed."""
    made: dict[tuple[int, int, Any], Any] = {}
    for case, bits, operation in strings._places():
        row = pico.printed().get((case.number, bits))
        published = row.time_us(operation) if row else 300.0
        misses, cost = random.choice((1, 2, 40)), random.choice((0, *pico.miss_cycles()))
        core = round(published * 125) - misses * cost + random.choice((-125, 0, 0, 125))
        costs = random.choice(
            (
                None,
                SimpleNamespace(
                    code_lines_new=3,
                    table_lines_new=random.choice((0, misses - 1, misses, misses + 1)),
                    functions=random.choice(((), (("mix", 0.614), ("x", 0.2)))),
                ),
            )
        )
        timing = pico.CallTiming(125_000_000, core, misses, misses + 2, 9000, 7, costs)  # type: ignore[arg-type]
        made[case.number, bits, operation] = "not measured" if random.random() < 0.1 else timing
    return made


def _cells(random: Random) -> list[Any]:
    found = []
    for case, bits, operation in strings._places():
        for flags in ((), ("-O1",), ("-O2",)):
            for cache in ("warm", "cold"):
                cell = SimpleNamespace(flags=flags)
                row = pico.printed()[case.number, 128]
                flash = random.choice((None, row.flash_bytes, row.flash_bytes + 1, 9000))
                m = SimpleNamespace(
                    library=case.library,
                    configuration=case.configuration or "",
                    key_bits=bits,
                    operation=operation,
                    cache=cache,
                    time_us=random.choice((None, 100.0, 250.5)),
                    flash_bytes=flash,
                    flash_symbol_bytes=random.choice(
                        (None, row.flash_bytes, row.flash_bytes + 1, row.flash_bytes - 1)
                    ),
                    ram_bytes=random.choice((None, 0, 200, 300, 400, 450, 525)),
                    reason=random.choice(("", "too large", "no such file")),
                )
                found.append((cell, m))
    return found


def pico_edges() -> dict[str, Any]:
    """The Pico study's figures of strings and files."""
    told, told_files = Told(), Told()
    stages = []
    for number in range(30):
        random = Random(f"pico {number}")
        timed, found = _calls(random), _cells(random)
        told.add(
            [*strings._times(timed, found), *strings._memory(found, {}), *string_claims.claims(timed, found)]
        )
        sections = [strings._time_section(timed), strings._compiler_section(found)]
        sections += [strings._cause_section(strings._times(timed, found))]
        told.add_sections([*sections, Section("memory", (), [], strings._memory_text(found))])
        made = MadeUp(number)
        told_files.add([*files.times(made), *files.memory(made), *files.claims(made)])
        with mock.patch.object(file_tables, "StoredFiles", lambda results, made=made: made):
            told_files.add_sections(file_tables.sections(None))  # type: ignore[arg-type]
            stages.append(file_tables.charts(None))  # type: ignore[arg-type]
        stages.append([made.hash_ms(), made.hash_words_ms()])

    class Empty(MadeUp):
        def outcome(self, job: Any) -> FileCosts | None:
            return None

    nothing = Empty(0)
    told_nothing = Told()
    told_nothing.add([*files.times(nothing), *files.memory(nothing), *files.claims(nothing)])
    with mock.patch.object(file_tables, "StoredFiles", lambda results: nothing):
        told_nothing.add_sections(file_tables.sections(None))  # type: ignore[arg-type]
    printed = pico.printed_ciphertexts()
    other = {key: value[:-2] + "41" for key, value in printed.items()}
    with mock.patch.object(ciphertexts, "printed_ciphertexts", lambda: other):
        wrong = [[row.row, row.verdict, row.measured, row.note] for row in ciphertexts.ciphertexts()]
    questions = files.questions()
    return {
        "pico strings": told.whole(),
        "pico files": told_files.whole(),
        "pico without files": told_nothing.whole(),
        "pico charts": [digest(plain(stages)), *plain(stages[1::2][:5])],
        "pico other ciphertexts": plain(wrong),
        "pico cases": [[*plain(case).values(), case.text.decode(), len(case.message)] for case in pico.CASES],
        "pico questions": [
            [len(questions), len(files.quick_questions()), len(files.long_questions())],
            *([*plain(q).values(), files._takes_long(q)] for q in questions),
        ],
        "pico words": [
            [
                strings._short(value)
                for value in (None, "a" * 60, "a" * 61, "a " * 40, 99.95, 99.94, 100.0, 4082.0)
            ],
            [file_tables._said(value) for value in (None, "a", 1.0, 12345.678, 0.1234567)],
            [file_tables._ms(value) for value in (None, 0.0, 1234.56)],
            [string_claims._both(pico.Sized(1, 2, 3)), ciphertexts._as_printed(bytes((0, 15, 16, 255)))],
        ],
        "pico keys": [pico.key_of_bits(bits).hex() for bits in (8, 128, 192, 256)],
        "pico sequences": [
            None if (s := pico.sequence(case, 192, "encrypt")) is None else plain(s) for case in pico.CASES
        ],
    }
