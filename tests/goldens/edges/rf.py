"""The RF study over other prints."""

from __future__ import annotations

import math
from collections.abc import Iterable
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest import mock

from goldens.edges.told import Told
from goldens.text import plain
from motecrypt.link.modes import encoded_bytes
from motecrypt.results.experiments.radio_transfer import MODES, TransferRow
from motecrypt.studies.rf import claims as rf_claims
from motecrypt.studies.rf import explanations as rf_explanations
from motecrypt.studies.rf import printed as rf_print
from motecrypt.studies.rf import rows as rf_rows
from motecrypt.studies.rf import study as rf


def _print(random: Random) -> tuple[rf_print.Row, ...]:
    """A print whose figures are about those that follow from each other."""
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
        wrote = (None, 0.04, 30.0)[number % 3]
        with (
            mock.patch.object(rf_print, "rows", lambda rows=rows: rows),
            mock.patch.object(rf_print, "PRINTED_TOTAL_KB", totals),
            mock.patch.object(rf_print, "PRINTED_AVERAGE_KB_S", averages),
            mock.patch.object(rf, "stored_rows", lambda results, stored=stored: stored),
            mock.patch.object(rf_rows, "stored_rows", lambda results, stored=stored: stored),
            mock.patch.object(rf_explanations, "write_ms", lambda results, ms=wrote: ms),
            mock.patch.object(rf, "write_ms", lambda results, ms=wrote: ms),
            mock.patch.object(rf.crowd, "sections", lambda results: []),
            mock.patch.object(rf.protocols, "sections", list),
            mock.patch.object(rf.alternatives, "sections", list),
        ):
            told.add(rf.comparisons(None))  # type: ignore[arg-type]
            told.add_sections(rf.sections(None))  # type: ignore[arg-type]
            slopes.append(
                [rf_print.slope_us("T"), rf_print.mean_time_ms("P"), rf_rows.transfer().message_bytes]
            )
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
        with mock.patch.multiple(rf_rows, FIGURE_4=four, FIGURE_5=five):
            figures += plain(rf_rows._figures())
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
