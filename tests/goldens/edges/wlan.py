"""The Wi-Fi study over other prints and results."""

from __future__ import annotations

from random import Random
from typing import Any
from unittest import mock

from goldens.edges.told import Told
from goldens.text import digest, plain
from motecrypt.air.wlan.filecost import FileCost
from motecrypt.catalog import Catalog
from motecrypt.results.experiments.data_types import DataTypeTimes, Interval
from motecrypt.results.experiments.file_sizes import EncodingTimes, SizeRow, SizeTimes
from motecrypt.results.experiments.host_speed import SpeedMachine, SpeedRow
from motecrypt.results.experiments.wlan_transfer import CLOSED_FORM, NS3, Spread
from motecrypt.studies.facts import Comparison
from motecrypt.studies.wlan import claims as wlan_claims
from motecrypt.studies.wlan import plan as wlan
from motecrypt.studies.wlan import study as wlan_study
from motecrypt.studies.wlan import tables as wlan_tables


class MadeUpWlan(wlan.Stored):
    """Results of transfers, timings and nodes that were never made."""

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

    def sizes(self, name: str) -> SizeTimes | None:
        """Few nanoseconds; with Blowfish and RC6 ahead of the others or not."""
        random = self._of("sizes", name)
        if self._missing(random):
            return None
        usual = {"Blowfish": 2.0, "RC6": 3.0}.get(name, 4.0)
        rows = tuple(
            SizeRow(operation, size, size * random.choice((usual, usual, usual, 3.5)))
            for size in wlan.SIZES
            for operation in ("encrypt", "decrypt")
            if random.random() > 0.01
        )
        return SizeTimes("x", "p", random.choice((0.0, 0.0, 25_000.0)), rows)

    @property
    def encodings(self) -> EncodingTimes | None:  # type: ignore[override]
        """Slow, fast or not timed."""
        random = self._of("encodings")
        times = {name: random.choice((0.25, 1.0, 8.0)) for name in ("base64", "hex")}
        return None if self._missing(random) else EncodingTimes(times, times)

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

    def node(self, device: str, cipher: str, bits: int) -> FileCost | None:
        """Few cycles."""
        random = self._of("node", device, cipher, bits)
        if self._missing(random):
            return None
        cycles = random.choice((1.0, 10.0, 10.5, 4000.0))
        return FileCost(device, "motecrypt/fast", bits, random.choice((0.0, 700.0)), 5.0, cycles, 16e6)

    def node_spread(self, device: str, cipher: str, bits: int) -> tuple[int, int, int] | None:
        """Some or none."""
        return self._of("spread", cipher).choice((None, (5000, 5000, 3), (5000, 5001, 3)))

    def node_reason(self, device: str, cipher: str, bits: int) -> str | None:
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


def _row(published: float | str | None, measured: float | str | None) -> Comparison:
    """A row that is judged by the study's tolerance."""
    return wlan_tables.row("handshake", published=published, measured=measured, note="")


def wlan_edges() -> dict[str, Any]:
    """The Wi-Fi study over other prints and results."""
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
        judged = [_row(1.0, own).verdict for own in (ratio, None)]
        helpers.append([ratio, *judged])
    pairs = ((1.0, 2.0), (1, 0), (0.0, 1.0), ("a", "a"), ("a", "b"), (None, 1.0), (2.0, None))
    return {
        "wlan": told.whole(),
        "wlan charts": [digest(plain(drawings)), *(len(each) for each in drawings)],
        "wlan judged": helpers,
        "wlan ratios": [
            plain(
                [
                    given,
                    (made := _row(*given)).ratio,
                    made.verdict,
                ]
            )
            for given in pairs
        ],
        "wlan over": [
            wlan_claims.over(*of) for of in ((3.0, 2.0), (3.0, 0.0), (0.0, 2.0), (None, 1.0), (1.0, None))
        ],
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
