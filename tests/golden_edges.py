"""What the studies conclude of made-up figures at their edges, as text kept in tests/golden/edges.json.

golden_views.py goes through the results file; here the figures are handed to the functions that judge them,
drawn from few values each, so that many are equal, just below or just above what they are compared with,
missing, or nothing. After a change that is meant, look at the difference that this makes:

    PYTHONPATH=src:tests .venv/bin/python tests/golden_edges.py && git diff tests/golden/edges.json
"""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest import mock

from golden_views import _cost, _digest, _figure, plain, written
from motecrypt.advise import Point
from motecrypt.catalog import Catalog
from motecrypt.errors import InputError, MotecryptError
from motecrypt.findings.data_types import DataTypeTimes, Interval
from motecrypt.findings.features import Features
from motecrypt.findings.host_speed import SpeedMachine, SpeedRow
from motecrypt.findings.pico_file import FileCosts, FileRun, PartCounts
from motecrypt.findings.radio_transfer import MODES, TransferRow
from motecrypt.findings.wlan_transfer import CLOSED_FORM, NS3, Spread
from motecrypt.link.modes import encoded_bytes
from motecrypt.model import Comparison, Finding, Measurement, Section
from motecrypt.radios import Channel, RadioPair, air, load_radio, radio_names
from motecrypt.radios.module import Module, Settings
from motecrypt.report import charts, content, explorer, headlines, page, sources
from motecrypt.report.costs import join
from motecrypt.studies import highlights
from motecrypt.studies.claim_ids import ClaimId
from motecrypt.studies.pico import ciphertexts, file_tables, files, strings
from motecrypt.studies.pico import figures as pico
from motecrypt.studies.rc4d import claims as rc4d_claims
from motecrypt.studies.rc4d import figures as rc4d_figures
from motecrypt.studies.rc4d import study as rc4d
from motecrypt.studies.rf import claims as rf_claims
from motecrypt.studies.rf import printed as rf_print
from motecrypt.studies.rf import study as rf
from motecrypt.studies.wlan import claims as wlan_claims
from motecrypt.studies.wlan import plan as wlan
from motecrypt.studies.wlan import study as wlan_study
from motecrypt.studies.wlan import tables as wlan_tables
from motecrypt.wlan import samples
from motecrypt.wlan.filecost import FileCost

PLACE = Path(__file__).parent / "golden" / "edges.json"
COMMAND = "PYTHONPATH=src:tests .venv/bin/python tests/golden_edges.py"


class Told:
    """What was told in many draws: for each row how often each verdict, and a digest of all."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Any]] = {}

    def add(self, rows: Iterable[Comparison]) -> None:
        """The rows of one draw."""
        for row in rows:
            name = f"{row.table}, {row.column}" if row.table != "claims" else f"{row.row}, {row.column}"
            self.rows.setdefault(name, []).append(row)

    def add_sections(self, sections: Iterable[Section]) -> None:
        """The tables of one draw."""
        for section in sections:
            self.rows.setdefault(f"section {section.title}", []).append(section)

    def whole(self) -> dict[str, Any]:
        """By row."""
        return {
            name: [
                dict(sorted(Counter(getattr(row, "verdict", "") for row in rows).items())),
                _digest(plain(rows)),
            ]
            for name, rows in sorted(self.rows.items())
        }


# --- RC4D

TIMES = (1.0, 1.2, 2.0, 2.4, 2.5, 3.0, 5.0, 6.0, 10.0, 12.0)
VARIANTS = tuple(
    f"{letters}{style}" for letters in ("", "k-", "ki-", "kip-", "kipe-") for style in ("plain", "opt")
)
VARIANTS += ("plain-modulo", "ki-undo", "kip-undo", "kipe-undo")


def _variants(random: Random) -> rc4d_figures.VariantFigures:
    of, failed = {}, {}
    names = [*((c, v) for c in ("rc4", "rc4d") for v in VARIANTS), ("rc4d-two-key", "k-opt")]
    for name in [*names, ("aes128-ecb", "small"), ("aes128-ecb", "fast")]:
        if random.random() < 0.02:
            failed[name] = random.choice(("too large", "wrong"))
        elif random.random() > 0.01:
            time = random.choice(TIMES)
            of[name] = rc4d_figures.VariantFigure(
                *name,
                time,
                random.choice((time, time / 2, 2 * time)),
                *(
                    random.choice((3, 4, 10, 12, 13, 40)),
                    random.choice((16, 255, 256, 257)),
                    random.choice((0, 256)),
                ),
                random.choice((20, 300)),
            )
    return rc4d_figures.VariantFigures(of, failed)


def _feature_set(random: Random) -> dict[str, Features]:
    return {
        name: Features(
            random.choice(("any", "multiples of 16", "16", "about", "zero")),
            random.choice(("any", "16", "5 to 255", "32", "1")),
            random.choice(("none", "block", "full")),
            (17, 33),
            random.choice((8, 16)),
            random.choice(((), (1,), (2, 1))),
            random.choice((1, 3)),
            random.choice((True, False)),
        )
        for name in rc4d.PROBES
        if random.random() < 0.9
    }


def rc4d_edges() -> dict[str, Any]:
    """Claims, table and features of the RC4D study."""
    told, told_features = Told(), Told()
    for number in range(60):
        random = Random(f"rc4d {number}")
        found, features = _variants(random), _feature_set(random)
        recovered = random.choice((0, 1, 9))
        data = {"keys": 9, "recovered": recovered, "queries_mean": random.choice((1.5, 2.5, 139.6))}
        attack = random.choice((None, SimpleNamespace(data=data), SimpleNamespace(data={})))
        evidence = rc4d_claims.Evidence("s", "claims", found, features, attack)  # type: ignore[arg-type]
        told.add(rc4d_claims.claims(evidence))
        told.add(rc4d._table(found))
        told_features.add(rc4d._feature_rows(features))
        section = rc4d._section(rc4d.FEATURES, rc4d._feature_rows(features), rc4d._feature_text(features))
        claimed = rc4d._section(rc4d.CLAIMS, rc4d_claims.claims(evidence), "")
        told.add_sections([rc4d._table_section(found), rc4d._variants_section(found), section, claimed])
    whys = []
    for number in range(12):
        found = _variants(Random(f"why {number}"))
        for cipher in ("rc4", "rc4d", "aes128-ecb"):
            best = [found.fastest(cipher, "ki"), found.smallest(cipher), found.fastest(cipher)]
            whys.append(
                [
                    found.why(cipher),
                    found.why(cipher, "ki"),
                    found.why(cipher, ""),
                    *(None if each is None else each.variant for each in best),
                ]
            )
    return {
        "rc4d": told.whole(),
        "rc4d features": told_features.whole(),
        "rc4d best": [_digest(whys), *whys[:9]],
        "rc4d printed": [[row.label, *plain(row).values()] for row in rc4d_figures.printed()],
    }


# --- RF


def _print(random: Random) -> tuple[rf_print.Row, ...]:
    """A print whose figures lie about those that follow from each other."""
    half, sizes = rf_print.HALF_A_DIGIT, sorted(random.sample((11, 12, 16, 24, 32, 36, 47, 48, 60, 95), 10))
    if random.random() < 0.5:
        sizes = [12 * n for n in range(1, 11)]
    steady = random.random() < 0.25
    rows: list[rf_print.Row] = []
    for number, size in enumerate(sizes, 1):
        plain_ms = 0.0
        for payload in "TCP":
            rule = encoded_bytes(payload, size)
            given = rule + random.choice((0, 0, 0, 1, 12))
            share = 1.0 if steady else random.choice((0.9, 0.98, 0.981, 1.0, 1.0, 1.1, 12.0))
            time = round(rf_print.line_bound_ms(given) * share, 3)
            plain_ms = plain_ms or time
            off = [random.choice((0, 0.9, 1.1, 1.9, 2.1, 2.4, 2.6)) * half for _ in range(3)]
            rate = given / time
            slack = rate * half / time + half
            rows.append(
                rf_print.Row(
                    *(number, payload, given if payload != "T" else size, time),
                    None if payload == "T" else time - plain_ms + off[0],
                    rate + random.choice((0, 0.99, -1.01, 2)) * slack,
                    None
                    if payload == "T"
                    else given / rows[-1 if payload == "C" else -2].size_bytes + off[1],
                )
            )
    return tuple(rows)


def _transfers(random: Random, sizes: Iterable[int]) -> tuple[TransferRow, ...]:
    return tuple(
        TransferRow(
            *(mode, size, random.choice((size, 2 * size)), 1, random.choice((10.0, 2500.0)), 5.0),
            random.choice((3.0, 4.5)),
            {"100": random.choice((1000.0, 104_000.0)), "16": random.choice((900.0, 20_000.0))},
        )
        for mode in MODES
        for size in sizes
        if random.random() < 0.95
    )


def rf_edges() -> dict[str, Any]:
    """The RF study over other prints."""
    told, slopes = Told(), []
    for number in range(40):
        random = Random(f"rf {number}")
        rows = _print(random)
        whole = {p: math.fsum(r.size_bytes for r in rows if r.payload == p) / 1000 for p in "TCP"}
        rates = {p: [r.throughput_kb_s for r in rows if r.payload == p] for p in "TCP"}
        half = rf_print.HALF_A_DIGIT
        totals = {p: value + random.choice((0, 0.9, -1.1)) * half for p, value in whole.items()}
        averages = {p: math.fsum(r) / 10 + random.choice((0, 1.9, -2.1)) * half for p, r in rates.items()}
        if number % 3 == 0:
            averages = dict(zip("TCP", random.sample((8.0, 11.52, 13.0), 3), strict=True))
        stored = _transfers(random, [r.size_bytes for r in rows if r.payload == "T"]) if number % 5 else ()
        with (
            mock.patch.object(rf_print, "rows", lambda rows=rows: rows),
            mock.patch.object(rf_print, "PRINTED_TOTAL_KB", totals),
            mock.patch.object(rf_print, "PRINTED_AVERAGE_KB_S", averages),
            mock.patch.object(rf, "_rows", lambda results, stored=stored: stored),
        ):
            told.add(rf.comparisons(None))  # type: ignore[arg-type]
            told.add_sections(rf.sections(None))  # type: ignore[arg-type]
            slopes.append([rf_print.slope_us("T"), rf_print.mean_time_ms("P"), rf.transfer().message_bytes])
    said = Told()
    for changes in (
        {"AES_BLOCK_BITS": 256, "KEY_BITS": 32, "CBC_TAG_BYTES": 1, "IV_BYTES_SENT": 1},
        {"AES_BLOCK_BITS": 257, "KEY_BITS": 33, "CBC_TAG_BYTES": 0, "IV_BYTES_SENT": 0},
        {"AES_BLOCK_BITS": 255, "KEY_BITS": 31, "CBC_TAG_BYTES": 2, "IV_BYTES_SENT": 16},
    ):
        with mock.patch.multiple(rf_claims, **changes):
            said.add(rf_claims.claims("s"))
    for short, whole_ms in (
        (50.0, 50.0),
        (41.0, 50.0),
        (39.0, 50.0),
        (59.0, 50.0),
        (61.0, 50.0),
        (50.5, 50.4),
    ):
        for means in ((10.0, 20.0, 15.5825), (10.0, 18.0, 15.583), (10.0, 17.3, 15.9), (5.0, 5.0, 4.604)):
            t, c, p = means
            times_ms = {"T": t, "C": c, "P": p}
            cost = {32: 1000 * short, 36: 1000 * whole_ms}
            with (
                mock.patch.object(
                    rf_claims, "costs", lambda r, n, c=cost: SimpleNamespace(delivery_time_us=c[n])
                ),
                mock.patch.object(rf_print, "mean_time_ms", times_ms.get),
            ):
                said.add(rf_claims.claims("s"))
    figures = []
    for four, five in (
        ("x" * 36, "x" * 22),
        ("x" * 37, "x" * 21),
        ("x" * 48, "x" * 23),
        ("x" * 49, "x" * 10),
    ):
        with mock.patch.multiple(rf, FIGURE_4=four, FIGURE_5=five):
            figures += plain(rf._figures())
    return {
        "rf": told.whole(),
        "rf slopes": slopes[:6],
        "rf of the cipher": said.whole(),
        "rf drawings": figures,
        "rf words": [rf._short(value) for value in (None, "a", 0.0, 1.5, 1234567.0)],
        "rf zero padding": [
            [entry.name, rf_print.zero_padding_bytes(entry), rf_print.rule_bytes(entry)]
            for entry in rf_print.rows()
        ],
    }


# --- Pico


class MadeUp(files.StoredFiles):
    """Findings of files that were never run."""

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
        """None were guessed."""
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
        told.add([*strings._times(timed, found), *strings._memory(found), *strings._claims(timed, found)])
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
        "pico charts": [_digest(plain(stages)), *plain(stages[1::2][:5])],
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
            [strings._both(pico.Sized(1, 2, 3)), ciphertexts._as_printed(bytes((0, 15, 16, 255)))],
        ],
        "pico keys": [pico.key_of_bits(bits).hex() for bits in (8, 128, 192, 256)],
        "pico sequences": [
            None if (s := pico.sequence(case, 192, "encrypt")) is None else plain(s) for case in pico.CASES
        ],
    }


# --- Wi-Fi


class MadeUpWlan(wlan.Stored):
    """Findings of transfers, timings and motes that were never made."""

    def _of(self, *of: Any) -> Random:
        return Random(f"{self.results} {of}")

    def _missing(self, random: Random) -> bool:
        return random.random() < 0.03 * (int(self.results) % 3)  # type: ignore[call-overload]

    def _spread(self, means: tuple[float, ...], *of: Any) -> Spread | None:
        random = self._of(*of)
        mean = random.choice(means)
        return None if self._missing(random) else Spread(mean, mean - 0.25, mean + 0.5, 0.125)

    def seconds(self, request: Any) -> Spread | None:
        """From a second to three."""
        near = (1.0, 1.04, 1.05) if request.size == wlan.SECURITY_SIZE else (1.0, 1.5, 2.0, 2.5)
        return self._spread((*near, 3.0 if int(self.results) % 4 else near[0]), "seconds", request)  # type: ignore[call-overload]

    def joule(self, request: Any) -> Spread | None:
        """Little or much."""
        return self._spread((0.001, 0.5, 2.0), "joule", request)

    def engines(self, requests: Any) -> set[str]:
        """One, both or none."""
        return {0: set(), 1: {NS3}, 2: {CLOSED_FORM, NS3}}[int(self.results) % 3]  # type: ignore[call-overload]

    def recorded(self, requests: Any) -> list[str]:
        """Of every other draw."""
        return ["2026-01-01", "2026-02-01"][: int(self.results) % 3]  # type: ignore[call-overload]

    def host(self, request: Any) -> DataTypeTimes | None:
        """Few nanoseconds; ratios about 0.95 and 1.05."""
        random = self._of("host", request)
        if self._missing(random):
            return None
        kinds = ("text", "audio", "video", "image")
        ratios = {kind: Interval(random.choice((0.949, 0.95, 1.0, 1.05, 1.051)), 0.9, 1.1) for kind in kinds}
        ns = {kind: random.choice((5.0, 10.0, 20.0, 9000.0)) for kind in kinds}
        return DataTypeTimes(ns, {} if random.random() < 0.05 else ratios, 3, 200)

    @property
    def machine(self) -> SpeedMachine | None:  # type: ignore[override]
        """With or without AES instructions, or not timed."""
        random = self._of("machine")
        made = SpeedMachine("p", "c", random.choice((None, True, False)), random.choice(((), ("core",))))
        return random.choice((None, made, made))

    def speed(
        self, cipher: str, bits: int, operation: str = "encrypt", library: str = "motecrypt", rounds: int = 0
    ) -> SpeedRow | None:
        """Few cycles."""
        random = self._of("speed", cipher, bits, operation, library, rounds)
        if self._missing(random):
            return None
        cycles = 1000 * random.choice((5.0, 10.0, 10.4, 10.5, 10.6))
        size = random.choice((1000, 1000, 1000, 0)) if operation == "decrypt" else 1000
        return SpeedRow(cipher, bits, rounds, operation, library, size, cycles, cycles / 2)

    def mote(self, device: str, cipher: str, bits: int) -> FileCost | None:
        """Few cycles."""
        random = self._of("mote", device, cipher, bits)
        if self._missing(random):
            return None
        cycles = random.choice((1.0, 10.0, 10.5, 4000.0))
        return FileCost(device, "motecrypt/fast", bits, random.choice((0.0, 700.0)), 5.0, cycles, 16e6)

    def mote_spread(self, device: str, cipher: str, bits: int) -> tuple[int, int, int] | None:
        """Some or none."""
        return self._of("spread", cipher).choice((None, (5000, 5000, 3), (5000, 5001, 3)))

    def mote_reason(self, device: str, cipher: str, bits: int) -> str | None:
        """Some or none."""
        return self._of("reason", device, cipher).choice((None, "too large"))


def _durations(random: Random) -> dict[tuple[str, str, str], float]:
    """A print about the edges of what can be."""
    printed: dict[tuple[str, str, str], float] = {}
    for data in wlan.TABLES:
        for column in wlan.COLUMNS:
            for cipher in ("none", *wlan.CIPHERS):
                printed[data, cipher, column] = random.choice((2.0, 2.0, 3.0, 3.5, 4.0, 1.0))
    return printed


def wlan_edges() -> dict[str, Any]:
    """The Wi-Fi study over other prints and findings."""
    told, drawings, helpers = Told(), [], []
    catalog = Catalog.load()
    print_rows = [dict(row) for row in wlan.published("wlan_claims")]
    for number in range(20):
        random = Random(f"wlan {number}")
        stored = MadeUpWlan(number, catalog)  # type: ignore[arg-type]
        printed = _durations(random) if number % 2 else wlan.durations()
        rows = print_rows
        if number % 4 == 1:
            rows = [{**row, "value": random.choice(("1", "2", "0.5"))} for row in print_rows]
        with (
            mock.patch.object(wlan, "durations", lambda printed=printed: printed),
            mock.patch.object(wlan, "published", lambda name, rows=rows: rows),
            mock.patch.object(wlan_study, "Stored", lambda results, of, stored=stored: stored),
        ):
            told.add(wlan_study.comparisons(None))  # type: ignore[arg-type]
            told.add_sections(wlan_study.sections(None))  # type: ignore[arg-type]
            drawings.append(sorted(wlan_study.charts(None).items()))  # type: ignore[arg-type]
    for ratio in (None, 0.0, 0.875, 0.9, 0.91, 1.0, 1.09, 1.125, 1.2):
        helpers.append([ratio, wlan_tables.judge(ratio, 1.0), wlan_tables.judge(ratio, None)])
    pairs = ((1.0, 2.0), (1, 0), (0.0, 1.0), ("a", 1.0), (1.0, "a"), (None, 1.0), (2.0, None))
    return {
        "wlan": told.whole(),
        "wlan charts": [_digest(plain(drawings)), *(len(each) for each in drawings)],
        "wlan judged": helpers,
        "wlan ratios": [
            plain([given, (made := wlan_tables.row("t", "n", "c", "u", *given)).ratio, made.verdict])
            for given in pairs
        ],
        "wlan over": [
            wlan_claims.over(*of) for of in ((3.0, 2.0), (3.0, 0.0), (0.0, 2.0), (None, 1.0), (1.0, None))
        ],
        "wlan holds": [wlan_claims.holds(*of) for of in ((None, True), (0, True), ("", False), (1.0, False))],
        "wlan words": [
            [wlan_study._number(value) for value in (None, 0.0, 1.23456)],
            [
                wlan_study._number(1.23456, 1),
                wlan_study._cell(None),
                wlan_study._cell("a"),
                wlan_study._cell(1.0),
            ],
            [wlan_study._bar(*of) for of in ((None, 1.0), (0.0, 1.0), (1.0, 40.0), (0.5, 1.0), (3.0, 3.0))],
        ],
        "wlan sent": [
            [data, cipher, wlan.sent_bytes(data, cipher), wlan.sent_bytes(data, cipher, "base64")]
            for data in wlan.DATA
            for cipher in ("none", "AES", "3DES")
        ],
        "wlan transfers": plain([list(vars(question).values()) for question in wlan.transfers()]),
        "wlan timings": plain([*wlan.host_ciphers(), wlan.host_speed()]),
    }


# --- the report

VERDICTS = ("reproduced", "contradicted", "not reproducible", "not measured")


def _comparisons(random: Random, count: int) -> list[Comparison]:
    """Rows with and without numbers, of few tables, columns and units."""
    values: tuple[Any, ...] = (None, "a", 0.0, 1.0, 2.0, 3.0, 4)
    rows = []
    for number in range(count):
        published, measured = random.choice(values), random.choice((*values[1:], None))
        named = random.choice(("", "", *ClaimId))
        if named:  # those that the findings tell of have a number in the print
            published = random.choice((2.0, 3.0))
        rows.append(
            Comparison(
                source="Someone",
                table=random.choice(("table 1", "table 1", "claims", "Claims of all", "")),
                row=f"row {random.randrange(count)}" if number % 2 else f"row {number}",
                column=random.choice(("time", "this host, size", "x")),
                unit=random.choice(("", "ms", "ms")),
                published=published,
                measured=measured,
                ratio=random.choice((None, 0.0, -1.0, 0.5, 2.0, 1.0, 2.5)),
                verdict=random.choice(VERDICTS),  # type: ignore[arg-type]
                note=random.choice(("", "for a reason")),
                brief=random.choice(("", "in brief")),
                figures=random.choice(({}, {}, {"warm_us": random.choice((0.6, 1.0, 2.0, 2.4))})),
                id=named,
            )
        )
    return rows


def _measurements(random: Random, count: int) -> list[Measurement]:
    """Of few ciphers, devices and lengths; some failed, some twice."""
    made = []
    nothing: dict[str, Any] = dict.fromkeys(Measurement.__dataclass_fields__)
    for _ in range(count):
        status = random.choice(("ok", "ok", "ok", "does-not-fit", "fault"))
        short = {"memory": random.choice(("ram", "flash", "message")), "needed": 9, "available": 8}
        cycles = random.choice((None, 10, 10, 20))
        given: dict[str, Any] = {
            "device": random.choice(("uno", "uno", "pico", "host", "gone")),
            "library": random.choice(("motecrypt", "other")),
            "configuration": "",
            "cipher": random.choice(("aes128-cbc", "aes128-ccm8", "rc4", "ascon-aead128", "empty")),
            "variant": random.choice(("fast", "small")),
            "key_bits": 128,
            "operation": random.choice(("setup", "encrypt", "encrypt", "encrypt", "decrypt")),
            "message_bytes": random.choice((0, 16, 16, 32, 48, 15)),
            "ad_bytes": random.choice((0, 0, 0, 8)),
            "placement": random.choice(("flash", "ram")),
            "cache": random.choice(("", "none", "warm", "cold")),
            "cycles_min": cycles,
            "cycles_max": random.choice((cycles, cycles, 21)),
            "time_us": random.choice((1.0, 2.0, 2.0, 30.0, 0.125)) if status == "ok" else None,
            "timing_varies": random.choice((None, False, False, True)),
            "flash_bytes": random.choice((None, 900, 1000)),
            "ram_bytes": random.choice((None, 0, 30)),
            "stack_bytes": random.choice((None, 10, 20)),
            "status": status,
            "reason": "" if status == "ok" else random.choice(("", "too large", "broke")),
            "compiler": random.choice(("", "gcc 5", "gcc 14")),
            "flags": random.choice(("-Os", "-O2 -mmcu=x", "-O3 -flto -g")),
            "flags_asked": random.choice(("", "", "-O2")),
            "runner": random.choice(("simavr 1", "board 1", "")),
            "cycles_exact": random.choice((True, True, False)),
            "measured_at": random.choice(("2026-01-02T00", "2026-01-01T00", "2026-03-01T00")),
            "extra": {"shortfall": short} if status == "does-not-fit" else {},
        }
        made.append(Measurement(**{**nothing, **given}))
    return made


def _audits(random: Random) -> list[Any]:
    """Findings of audits, some of no shape."""
    found = []
    for number in range(random.randrange(2, 9)):
        data: dict[str, Any] = {}
        if random.random() < 0.6:
            matrix = {"input": "key", "input_bytes": 1, "output_bytes": 2}
            matrix["percent_changed_by_input_bit_and_output_byte"] = [[n, 100 - n] for n in range(8)]  # type: ignore[assignment]
            data = {random.choice(("encrypt", "tag", "odd")): {"matrix": matrix}}
        part = random.choice(("diffusion", "integrity", "attack:ciphertext", "attack:x"))
        outcome: dict[str, Any] = {
            "title": f"T{number}",
            "verdict": "v",
            "weight": random.choice(("bad", "good", "bad", "odd")),
            "sentences": random.choice(([], ["It falls."], ["It falls, " + "and more, " * 40])),
            "data": data,
        }
        inputs = {"cipher": random.choice(("rc4", "aes128-cbc")), "part": part, "implementation": "i"}
        if random.random() < 0.5:
            inputs["quick"] = True  # type: ignore[assignment]
        found.append(Finding("audit", 1, inputs, outcome, f"2026-02-0{number + 1}T00:00"))
    return found


def report_edges() -> dict[str, Any]:
    """What the report makes of few and odd results."""
    catalog = Catalog.load()
    said, rows, words, figures, seen = [], [], [], [], []
    for number in range(40):
        random = Random(f"report {number}")
        measurements = _measurements(random, random.choice((0, 1, 4, 30, 80)))
        costs = join(measurements, catalog.devices)
        table = explorer.ExplorerTable(catalog)
        table.add(costs)
        audits = _audits(random)
        by_cipher = content._audits(SimpleNamespace(findings=lambda kind, audits=audits: audits))  # type: ignore[arg-type]
        ciphers = [
            content._cipher(cipher, [c for c in costs if c.cipher == name], by_cipher.get(name, []))
            for name, cipher in catalog.ciphers.items()
            if name in ("aes128-cbc", "aes128-ccm8", "rc4", "ascon-aead128")
        ]
        all_seen = content._Seen()
        all_seen.add(measurements[: len(measurements) // 2])
        all_seen.add(measurements[len(measurements) // 2 :])
        seen.append(
            [
                all_seen.first,
                all_seen.last,
                content._devices(all_seen, catalog)
                and [
                    [d.device.name, d.cells, d.failed, d.runners, d.compilers]
                    for d in content._devices(all_seen, catalog)
                ],
                [name for name, *_ in content._libraries(all_seen, catalog)],
            ]
        )
        rows.append(table.whole())
        said.append(
            [
                [
                    c.cipher.name,
                    c.message_bytes,
                    c.lengths,
                    c.measured,
                    sorted(c.best),
                    len(c.costs),
                    plain(c.audit),
                ]
                for c in ciphers
            ]
        )
        said[-1] += [[_cost(cost, catalog) for cost in part.costs] for part in ciphers]
        drawn = [figure for part in ciphers for figure in part.figures]
        drawn += content._front_figures(ciphers, catalog)
        figures.append([_figure(figure) for figure in drawn])
        compared = {
            name: _comparisons(random, random.choice((2, 9, 60))) for name in ("rc4d", "rf", "pico", "wlan")
        }
        module = SimpleNamespace(TITLE="t", SOURCE="s")
        parts = []
        for name, own in compared.items():
            counts = Counter(row.verdict for row in own)
            parts.append(
                sources.SourcePart(
                    name,
                    f"T {name}",
                    "s",
                    "c",
                    sources._words(counts, "do it"),
                    {v: counts.get(v, 0) for v in VERDICTS},
                    sources._told(own),
                    [],
                    own,
                    [],
                )
            )
            figures[-1] += [_figure(figure) for figure in sources._paired(name, module, own, "c")]  # type: ignore[arg-type]
        words.append(
            [
                [[part.words, part.measured, [row.row for row in part.contradicted]] for part in parts],
                headlines.headlines(parts, ciphers),
                [highlights.tally(own) for own in compared.values()],
                plain([[h.study, h.text, len(h.rows)] for h in highlights.findings(compared)]),
                plain([[h.study, h.text] for h in highlights.findings({"rf": compared["rf"]}, 40)]),
            ]
        )
    points = [{**_point(3), "left out": 1}]
    packed = page._packed({"v": 1, "candidates": {"uno": [{"name": "n", "points": points}], "pico": []}})
    for one in packed["candidates"]["uno"]:
        one["points"] = [row == list(_point(3).values()) for row in one["points"]]
    numbers = (None, "a", 0, 12345, 2.0, 999.5, 1000.5, 0.123456, 1e-4, 0.99e-4, -1234.5, -0.5, 12.3456)
    titled = {
        "a": {"title": "one", "x": 1},
        "b": {"title": {"text": "two"}},
        "c d": {"title": {}},
        "e": {"$schema": 1},
    }
    return {
        "report said": [_digest(plain(said)), *said[3][:2]],
        "report rows": [_digest(plain(rows))],
        "report words": [_digest(words), *words[:6]],
        "report figures": [_digest(figures), *(len(each) for each in figures)],
        "report seen": [_digest(seen), *seen[:6]],
        "report numbers": [[page.number(value), page.number(value, 2)] for value in numbers],
        "report embedded": [page.embedded({"a": "</script>&", "b": Path("x")})],
        "report packed": [
            packed["point_columns"] == list(_point(0)),
            packed["candidates"],
            packed["v"],
        ],
        "report redrawn": [
            [f.name, f.title, f.caption, f.command, dict(f.specification)]
            for f in sources._redrawn(SimpleNamespace(SOURCE="s"), titled, "c")  # type: ignore[arg-type]
        ],
        "report slugs": [sources.slug(text) for text in ("A b", "--", "µs, 3 x", "x_y")],
        "report levels": [
            charts._level(percent) for percent in (0, 0.1, 4.9, 5, 14.9, 15, 15.1, 94, 95.1, 100)
        ],
        "report rounded": [explorer._rounded(value) for value in (None, 0.0, 1.23456789, 1234567.8)],
    }


def _point(first: int) -> dict[str, Any]:
    return {field.name: first + number for number, field in enumerate(fields(Point))}


# --- sample files


class Picture:
    """In the place of Pillow's images: says what was done with them."""

    def __init__(self, done: list[Any]) -> None:
        self._done = done

    def resize(self, size: Any, how: Any) -> Picture:
        """As Pillow's."""
        self._done.append(["resize", size, how])
        return self

    def save(self, held: Any, kind: str, quality: int) -> None:
        """A file that grows with the quality."""
        self._done.append(["save", kind, quality])
        held.write(b"\xff\xd8" + bytes(60 * quality + 1200))


def _pictures(done: list[Any]) -> Any:
    def of(name: str) -> Callable[..., Picture]:
        def made(*given: Any) -> Picture:
            kept = [len(one) if isinstance(one, bytes) else one for one in given]
            done.append([name, *("picture" if isinstance(one, Picture) else one for one in kept)])
            return Picture(done)

        return made

    image = SimpleNamespace(new=of("new"), frombytes=of("frombytes"), blend=of("blend"))
    image.Resampling = SimpleNamespace(BICUBIC="bicubic")
    return SimpleNamespace(Image=image)


def sample_edges() -> dict[str, Any]:
    """How images and videos are made, without Pillow; what is kept of the others."""
    found: dict[str, Any] = {}
    for name, sizes in (("image", (3999, 4000, 4096, 28_000, 131_000)), ("video", (4000, 79_999, 80_001))):
        for size in sizes:
            done: list[Any] = []
            with mock.patch.dict("sys.modules", {"PIL": _pictures(done)}):
                try:
                    made = samples._MAKERS[name](size)
                    told = [len(made), _digest(made.hex())]
                except MotecryptError as error:
                    told = [str(error)]
            found[f"samples: {name} {size}"] = [*told, *done[:9], _digest(plain(done)), len(done)]
    with mock.patch.dict("sys.modules", {"PIL": None}):
        try:
            samples._image(5000)
        except MotecryptError as error:
            found["samples: no Pillow"] = [str(error)]
    steps = []
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(samples, "cache_dir", lambda: Path(folder)),
    ):
        made_of: list[int] = []
        makers = {"text": lambda size: made_of.append(size) or bytes(size - (size == 7))}
        with mock.patch.object(samples, "_MAKERS", makers):
            for size in (5, 5, 6, 7):
                try:
                    path = samples.sample("text", size)
                    steps.append([path.name, path.stat().st_size, list(made_of)])
                    path.write_bytes(b"short" if size == 6 else path.read_bytes())
                except MotecryptError as error:
                    steps.append([str(error)])
            steps.append([samples.sample("text", 6).stat().st_size, made_of])
    found["samples kept"] = steps
    return {key.replace(":", ""): value for key, value in found.items()}


# --- radios

LINES = (
    *(
        f"AT{name}"
        for name in ("", "AC", "DN", "RE", "WR", "EK", "EA", "VR", "SN", "PK", "RO", "RT", "DR", "BD")
    ),
    *(f"AT{name}" for name in ("CN", "ID", "EE", "XX")),
    *(
        "PK",
        "ATPK0",
        "ATPK1",
        "ATPKF0",
        "ATPKF1",
        "ATPK FF",
        "ATPK-1",
        "ATPKG",
        "ATPK000000010",
        "ATPK00000010",
    ),
    *(
        "ATRO0",
        "ATRO1",
        "ATROFFFF",
        "ATRO10000",
        "ATRT0",
        "ATRTFF",
        "ATRT100",
        "ATDR0",
        "ATDR1",
        "ATDR5",
        "ATDR6",
    ),
    *("ATBD4AF", "ATBD4B0", "ATBD3D090", "ATBD3D091", "ATCN0", "ATCNFF", "ATCN100", "ATID0", "ATIDFFFF"),
    *("ATID10000", "ATEE0", "ATEE1", "ATEE2", "ATEK" + "A" * 31, "ATEK" + "A" * 32, "ATEK" + "G" * 32),
    *("ATEAsixteen letters!", "ATEAfifteen letters", "ATAC1", "ATVR1", "ATSN1", "atpk18", " AT "),
    *("A" * 79, "A" * 80, "A" * 81, "A" * 200),
)


def _played(number: int) -> list[Any]:
    """Two radios that are written to at random: all that arrives, and what is told meanwhile."""
    random = Random(f"radios {number}")
    radio = load_radio(random.choice(("srf", "srf", *radio_names())))
    chances = (0.0, 0.0, 0.3)
    channel = Channel(
        *(random.choice(chances), random.choice((0.0, 0.0, 2e-3)), random.choice((True, False))),
        *(random.choice(chances), random.choice(chances), number),
    )
    pair = RadioPair(radio, channel)
    told: list[Any] = [radio.name]
    now = 0.0
    for _ in range(50):
        for end in (0, 1):
            if random.random() < 0.6:
                data = random.choice(
                    (
                        random.randbytes(random.randrange(40)),
                        b"+" * random.randrange(1, 5),
                        b"+++",
                        b"+" * random.randrange(1, 3) + random.randbytes(random.randrange(30)),
                        random.choice(LINES).encode() + b"\r" + b"later" * random.randrange(2),
                        b"",
                    )
                )
                pair.write(end, data, now - random.choice((0.0, 0.0, 5.0)))
        told.append([pair.next_us(), pair.next_is_arrival(), pair.line_booked_us(0, now), pair.now_us])
        now += random.choice((0.0, 90.0, 3000.0, 20_000.0, 110_000.0, 1_000_000.0, 1_100_000.0, 5_000_000.0))
        told.append([[a.end, a.data.hex(), a.time_us] for a in pair.advance(now)])
        told.append([[pair.radio(end).packet_bytes, pair.module(end).commanding] for end in (0, 1)])
    return [*told, *([*vars(pair.tally(end)).values()] for end in (0, 1))]


def _air(kind: str, given: Mapping[str, float], payload: int) -> list[float]:
    radio = SimpleNamespace(air=kind, value=lambda name: given[name])
    return [air.air_time_us(radio, payload), air.overhead_bytes(radio)]


def radio_edges() -> dict[str, Any]:
    """Modules, pairs, channels, the air and the catalog at their edges."""
    played = [_played(number) for number in range(60)]
    answers = []
    for name in ("srf", "lora"):
        module = Module(load_radio(name))
        module.enter()
        for line in LINES:
            module.commanding = True
            answer, rest = module.feed(line.encode("latin-1") + b"\r\nAT")
            changed = plain(module.apply().figures)["packet_bytes"]["value"]
            answers.append([line[:24], answer.decode(), rest.hex(), module.commanding, changed])
            module.feed(b"\r")
        module.restart()
        answers.append(plain(module.settings))
    damaged = []
    for bits, crc, loss in (
        (0.0, True, 0.0),
        (0.01, False, 0.2),
        (0.01, True, 0.2),
        (1.0, False, 0.0),
        (0.2, False, 1.0),
    ):
        channel = Channel(loss=loss, bit_error_rate=bits, crc=crc, seed=4)
        generator = channel.generator()
        damaged.append(
            [_hex(channel.damage(generator, bytes(size))) for size in (1, 2, 12) for _ in range(12)]
        )
    lora = {"bandwidth_hz": 125_000.0, "coding_rate": 1, "preamble_symbols": 8}
    timed = [
        _air("lora", {**lora, "spreading_factor": factor, "explicit_header": header, "crc_on": crc}, payload)
        for factor in (7, 10, 11, 12)
        for header in (0, 1)
        for crc in (0, 1)
        for payload in (1, 5, 6, 51)
    ]
    timed += [
        _air(
            "lora",
            {**lora, "bandwidth_hz": hz, "spreading_factor": 11, "explicit_header": 1, "crc_on": 1},
            20,
        )
        for hz in (128_000.0, 127_999.0)
    ]
    ones = {
        figure: float(number)
        for number, figure in enumerate(sorted({f for a in air.AIRS.values() for f in a.figures}), 3)
    }
    others = [[kind, _air(kind, ones, 7)] for kind in air.AIRS]
    changes: list[dict[str, float]] = [
        *({"packet_bytes": n} for n in (0, 1, 240, 241, 12.5)),
        *({"timeout_ms": n} for n in (-1, 0, float("inf"), float("nan"))),
        *({"odd": 1}, {"serial_baud": 9600}, {}),
    ]
    sets = []
    for change in changes:
        try:
            made = load_radio("srf").with_figures(**change)
            sets.append(
                [made.packet_bytes, made.timeout_us, made.serial_byte_us, made.figures["timeout_ms"].source]
            )
        except InputError as error:
            sets.append([str(error)])
    refused = []
    for field in ("loss", "bit_error_rate", "duplicate", "reorder"):
        for value in (-0.1, 0, 1, 1.1):
            try:
                refused.append(getattr(Channel(**{field: value}), field))
            except InputError as error:
                refused.append(str(error))
    return {
        "radios played": [[each[0], _digest(plain(each)), *plain(each[-2:])] for each in played],
        "radios answered": answers,
        "radios channels": [_digest(damaged), *(each[-3:] for each in damaged), *refused],
        "radios air": plain([timed, others]),
        "radios set": plain(sets),
        "radios from the box": [
            [name, *plain(Settings.of(load_radio(name))).values()] for name in radio_names()
        ],
    }


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


EDGES: Mapping[str, Callable[[], dict[str, Any]]] = {
    "rc4d": rc4d_edges,
    "rf": rf_edges,
    "pico": pico_edges,
    "wlan": wlan_edges,
    "report": report_edges,
    "radios": radio_edges,
    "samples": sample_edges,
}


def main() -> None:
    """Write the file anew."""
    PLACE.write_text(written({key: value for made in EDGES.values() for key, value in made().items()}))


if __name__ == "__main__":
    main()
