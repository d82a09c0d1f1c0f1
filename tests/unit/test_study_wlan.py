"""The Wi-Fi study: every table, figure and claim is a row, and the verdicts follow from what is stored."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pytest

from motecrypt.measuring.experiments import data_types, transfer_wlan
from motecrypt.measuring.experiments.data_types import DataTypes
from motecrypt.measuring.experiments.transfer_wlan import TransferWlan
from motecrypt.results import Results
from motecrypt.results.experiments import data_types as data_types_question
from motecrypt.results.experiments import host_speed as speeds
from motecrypt.studies import needs as study_needs
from motecrypt.studies import study
from motecrypt.studies.facts import Comparison, Verdict
from motecrypt.studies.wlan import plan
from motecrypt.studies.wlan.tables import impossible

wlan = study("wlan")

NS_PER_BYTE = {"AES": 5.0, "DES": 10.0, "RC2": 11.0, "3DES": 25.0, "Blowfish": 5.6, "RC6": 3.0}


ROWS = [(o, n) for o in ("encrypt", "decrypt") for n in ("motecrypt/plain", "openssl", speeds.NO_AES)]


def _row(point: speeds.SpeedPoint, operation: str, library: str) -> dict[str, object]:
    """A made row: AES by its key's length, RC6 by its rounds, OpenSSL's AES seven times faster."""
    name = next(n for n, (cipher, _) in plan.CIPHERS.items() if cipher[:3] == point.cipher[:3])
    cycles = NS_PER_BYTE[name] * (point.rounds or 20) / 20
    if name == "AES":
        cycles *= point.key_bits / 128 / (7 if library == "openssl" else 1)
    return {
        "cipher": point.cipher,
        "key_bits": point.key_bits,
        "rounds": point.rounds,
        "operation": operation,
        "library": library,
        "bytes": 1000,
        "cycles": 1000 * cycles,
        "wall_ns": 1000 * cycles,
    }


@pytest.fixture
def empty(tmp_path: Path) -> Results:
    return Results(tmp_path / "empty.db")


@pytest.fixture
def filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Results:
    """Transfers by the closed form, and timings as if measured; no cells."""
    monkeypatch.setattr(transfer_wlan, "program", lambda: None)
    results = Results(tmp_path / "filled.db")
    transfer_wlan.ensure_all([TransferWlan.of(question) for question in plan.transfers()], results)
    names = {cipher: name for name, (cipher, _) in plan.CIPHERS.items()}
    for request in plan.host_ciphers():
        speed = NS_PER_BYTE[names[request.cipher]]
        outcome = {
            "ns_per_byte": dict.fromkeys(request.kinds, speed),
            "ratio_to_text": {kind: {"median": 1.0, "low": 0.99, "high": 1.01} for kind in request.kinds},
            "outliers": 0,
            "timings": 164,
        }
        results.store_experiment(
            data_types_question.KIND, data_types_question.VERSION, request.asked(), outcome
        )
    timed = plan.host_speed()
    machine = {"processor": "test", "counter": "cycles", "aes_instructions": True, "rapl": []}
    outcome = {
        "machine": machine,
        "missing": [],
        "rows": [_row(p, o, n) for p in timed.points for o, n in ROWS],
    }
    results.store_experiment(speeds.KIND, speeds.VERSION, timed.asked(), outcome)
    return results


def _one(rows: list[Comparison], table: str, row: str, column: str = "") -> Comparison:
    found = [c for c in rows if (c.table, c.row) == (table, row) and column in c.column]
    assert len(found) == 1, (table, row, column, len(found))
    return found[0]


def test_every_table_figure_and_claim_is_a_row(empty: Results) -> None:
    rows = wlan.comparisons(empty)
    tables = [c for c in rows if c.table in ("table 1", "table 2", "table 3")]
    assert len(tables) == 3 * 7 * 5
    assert {c.table for c in rows} >= {*(f"figure {n}" for n in range(1, 12)), "claims"}
    printed = {entry["claim"] for entry in plan.published("wlan_claims")}
    assert len(printed) >= 10
    assert {c.verdict for c in rows} <= set(get_args(Verdict))
    json.dumps([asdict(c) for c in rows])


def test_nothing_measured_says_so(empty: Results) -> None:
    rows = wlan.comparisons(empty)
    numbers = [c for c in rows if c.table.startswith(("table", "figure 2"))]
    ours = [c for c in numbers if c.row.partition(": ")[2] in plan.CIPHERS]
    assert ours and all(c.measured is None for c in ours)
    assert {c.verdict for c in ours} == {"not measured", "not printed", "paper is inconsistent"}
    assert all(section.rows is not None for section in wlan.sections(empty))


def test_no_cipher_doubles_a_transfer(filled: Results) -> None:
    rows = wlan.comparisons(filled)
    for table, data in (("table 1", "text"), ("table 2", "audio"), ("table 3", "video")):
        for column in plan.COLUMN_TITLES.values():
            for cipher in plan.CIPHERS:
                found = [
                    c for c in rows if (c.table, c.row, c.column) == (table, f"{data}: {cipher}", column)
                ]
                assert len(found) == 1 and isinstance(found[0].measured, float)
                assert 1.0 <= found[0].measured < 1.05
    assert _one(rows, "table 2", "audio: AES", "ad hoc, open").verdict == "differs"
    assert _one(rows, "claims", "an encoding makes the printed difference", "hex").verdict == "matches"
    assert _one(rows, "claims", "an encoding makes the printed difference", "base64").verdict == "differs"


def test_verdicts_follow_the_figures(filled: Results) -> None:
    rows = wlan.comparisons(filled)
    assert _one(rows, "claims", "energy of 20,000 cycles at 700 MHz and 1.35 V").measured == pytest.approx(
        7.7, abs=0.05
    )
    assert _one(rows, "claims", "RC2 is the slowest of the six").verdict == "differs"
    assert _one(rows, "claims", "AES is ahead of DES, 3DES and RC2").verdict == "matches"
    aes = _one(rows, "claims", "a longer key costs noticeably more battery and time", "AES")
    assert aes.verdict == "matches" and aes.measured == pytest.approx(2.0)
    assert (
        _one(rows, "claims", "a longer key costs noticeably more battery and time", "Blowfish").verdict
        == "differs"
    )
    openssl = _one(rows, "claims", "Blowfish has better performance than AES", "with the processor")
    assert openssl.measured == pytest.approx(5.6 / 5 * 7)
    without = _one(rows, "claims", "Blowfish has better performance than AES", "without AES")
    assert without.measured == pytest.approx(5.6 / 5)
    assert _one(rows, "claims", "more rounds cost more battery and time").measured == pytest.approx(2.0)
    assert _one(rows, "claims", "what TKIP costs in time").verdict == "differs"
    assert _one(rows, "claims", "the type of data changes a cipher's time", "AES").verdict == "differs"


def test_the_print_is_checked_for_what_cannot_be() -> None:
    found = impossible(plan.durations())
    one = ("table 1", "Blowfish, access point, open", "13.93 s, without encryption 16.1 s")
    assert one in [f[:3] for f in found] and len(found) == 6
    printed = plan.durations()
    for column, noise in (("bss_open", 0.06), ("adhoc_poor", 0.55)):
        plain = printed["text", "none", column]
        for share, count in ((1 - noise + 0.001, 0), (1 - noise - 0.001, 1)):
            changed = dict.fromkeys(printed, 100.0) | {("text", "RC6", column): share * 100.0}
            assert len(impossible(changed)) == count, (column, share, plain)
    slower = dict.fromkeys(printed, 100.0) | {
        ("text", "none", "adhoc_wep"): 90.0,
        ("text", "3DES", "adhoc_open"): 90,
    }
    assert sorted(why for *_, why in impossible(slower)) == [
        "WEP adds 8 bytes to each frame",
        "more bytes and more work",
        "the same bytes, three times the work",
    ]


def test_the_handshake_of_figure_1(empty: Results) -> None:
    figure = _one(wlan.comparisons(empty), "figure 1", "shared key authentication")
    assert figure.measured == 4.0 and "encrypted challenge" in figure.note


def test_figures_are_drawn_where_there_is_data(empty: Results, filled: Results) -> None:
    assert wlan.charts(empty) == {}
    charts = wlan.charts(filled)
    for panel in (panel for chart in charts.values() for panel in chart.get("hconcat", ())):
        series = panel["encoding"].get("color", {})
        named = (series.get("scale") or {}).get("domain", [])
        assert not named or set(named) == {row[series["field"]] for row in panel["data"]["values"]}
    drawn = {
        number
        for name in charts
        if "figure" in name
        for number in name.removeprefix("wlan-figure-").split("-")
    }
    assert drawn == {str(number) for number in range(2, 12)}
    text = json.dumps(charts)
    assert "http" not in text.replace("https://vega.github.io/schema", "")
    convert = pytest.importorskip(
        "vl_convert", reason="vl-convert is not installed: pip install 'motecrypt[plots]'"
    )
    assert convert.vegalite_to_svg(charts["wlan-figure-2"]).startswith("<svg")


def test_needs_are_pure_and_complete(empty: Results) -> None:
    needs = study_needs("wlan")
    assert {cell.device for cell in needs.cells} <= {"uno", "pico"}
    assert sum(isinstance(e, DataTypes) for e in needs.experiments) >= 6
    assert all(hasattr(e, "ensure") for e in needs.experiments)


def test_timings_are_intervals_around_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ordered = data_types.interval([1.0] * 20 + [5.0])
    assert (ordered["low"], ordered["median"], ordered["high"]) == (1.0, 1.0, 1.0)
    assert data_types.outliers([1.0, 1.01, 0.99, 1.0, 1.02, 9.0]) == 1
    pytest.importorskip("PIL", reason="Pillow is missing: pip install 'motecrypt[images]'")
    experiment = DataTypes("aes128-cbc", 128, rounds=9).ensure(Results(tmp_path / "t.db"))
    for span in experiment.outcome["ratio_to_text"].values():
        assert span["low"] <= span["median"] <= span["high"]


def test_what_the_wlan_source_calls_duration() -> None:
    from motecrypt.studies.wlan import tables

    per_byte: dict[str, float | None] = {"RC6": 10.0, "a": 10.0, "z": 10.0, "gone": None}

    def total(name: str, moved: float | None = 2.0) -> float | None:
        stored = SimpleNamespace(
            seconds=lambda transfer: None if moved is None else SimpleNamespace(mean=moved),
            ns_per_byte=lambda given, data: per_byte[given],
        )
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(tables.plan, "transfer", lambda *given: given)
            return tables.total_seconds(stored, "text", name, "adhoc_open")  # type: ignore[arg-type]

    assert total("none") == 2.0 and total("gone") is None and total("none", None) is None
    for name in ("RC6", "a", "z"):
        assert total(name) == pytest.approx(2.0 + 10.0 * tables.DATA["text"] / 1e9)
