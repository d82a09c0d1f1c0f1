"""The Wi-Fi study's sizes, encodings and batteries: what follows from timings, and what is said without."""

from __future__ import annotations

from typing import Any

import pytest

from motecrypt.base.model import Section
from motecrypt.catalog import Catalog
from motecrypt.results import Results
from motecrypt.results.experiments.data_types import DataTypesQuestion
from motecrypt.results.experiments.file_sizes import EncodingQuestion
from motecrypt.studies.facts import Comparison
from motecrypt.studies.wlan import plan, sweeps

CATALOG = Catalog.load()
#: Nanoseconds for each byte, and for the key's set-up.
SPEEDS = {"AES": 4.0, "DES": 20.0, "RC2": 21.0, "3DES": 60.0, "Blowfish": 2.0, "RC6": 3.0}


def put_sizes(results: Results, setup_ns: dict[str, float], leave_out: int = 0) -> None:
    for name, speed in SPEEDS.items():
        question = plan.sizes(name)
        rows = [
            {"operation": operation, "bytes": size, "ns": size * speed * (1 if operation == "encrypt" else 2)}
            for size in question.sizes
            for operation in ("encrypt", "decrypt")
            if size != leave_out
        ]
        outcome = {
            "implementation": "x",
            "processor": "p",
            "setup_ns": setup_ns.get(name, 0.0),
            "rows": rows,
        }
        results.store_experiment(question.KIND, question.VERSION, question.asked(), outcome)


def put_timings(results: Results) -> None:
    for name, (cipher, bits) in plan.CIPHERS.items():
        question = DataTypesQuestion(cipher, bits)
        outcome = {
            "ns_per_byte": dict.fromkeys(question.kinds, SPEEDS[name]),
            "ratio_to_text": {},
            "outliers": 0,
            "timings": 1,
        }
        results.store_experiment(question.KIND, question.VERSION, question.asked(), outcome)
    coding = EncodingQuestion()
    outcome = {
        "encode_ns_per_byte": {"base64": 1.0, "hex": 0.5},
        "decode_ns_per_byte": {"base64": 2, "hex": 3},
    }
    results.store_experiment(coding.KIND, coding.VERSION, coding.asked(), outcome)


def stored(results: Results) -> plan.Stored:
    return plan.Stored(results, CATALOG)


def rows(results: Results) -> dict[str, Comparison]:
    return {row.id.removeprefix("wlan-"): row for row in sweeps.rows(stored(results))}


def line(section: Section, *begins: str) -> list[str]:
    (found,) = (row for row in section.rows if tuple(row[: len(begins)]) == begins)
    return found


def test_nothing_timed_says_so(results: Results) -> None:
    assert {row.verdict for row in rows(results).values()} == {
        "not measured",
        "not printed",
        "bring the code",
    }
    assert all(row.measured is None for row in rows(results).values())
    assert sweeps.charts(stored(results)) == {}
    sizes, encodings, battery = sweeps.sections(stored(results))
    assert line(sizes, "AES", "encrypt", "64")[3:] == ["not measured", "", "", "", ""]
    assert line(encodings, "AES")[1:] == ["not measured"] * 3
    assert line(battery, "AES")[1:] == ["not measured"] * 4


@pytest.mark.parametrize(
    ("setup", "verdict", "said"),
    [
        ({}, "matches", "at 5 of 5 sizes"),
        ({"Blowfish": 100.0}, "differs", "at 4 of 5 sizes"),  # 228 ns for 64 bytes, RC6 192
        ({"RC6": 100.0}, "differs", "at 4 of 5 sizes"),  # RC6 third behind AES
    ],
)
def test_blowfish_has_to_be_first_and_rc6_second_at_each_size(
    results: Results, setup: dict[str, float], verdict: str, said: str
) -> None:
    put_sizes(results, setup)
    row = rows(results)["claim-packet-sizes"]
    assert (row.verdict, row.measured, row.kind) == (verdict, said, "claim")
    assert "7,139,008 bytes: Blowfish, RC6" in row.note


def test_an_order_that_misses_a_size_is_not_judged(results: Results) -> None:
    put_sizes(results, {}, leave_out=64)
    row = rows(results)["claim-packet-sizes"]
    assert (row.verdict, row.measured, row.note) == ("not measured", None, "")
    assert "wlan-packet-sizes" not in sweeps.charts(stored(results))


def test_a_rate_holds_the_keys_set_up(results: Results) -> None:
    put_sizes(results, {"AES": 1504.0})
    found = rows(results)
    assert found["size-aes-1504"].measured == pytest.approx(1e3 / 5)  # 4 ns a byte, 1 for the set-up
    assert found["size-des-1504"].measured == pytest.approx(1e3 / 20)
    shown = line(sweeps.sections(stored(results))[0], "AES", "decrypt", "1,504")
    assert shown[3] == f"{1504 * 9 / 1e6:.4f}" and shown[5] == f"{1e3 / 9:.1f}"
    assert shown[6] == f"{1.35 * 0.2 * 9 / 1e3:.5f}"  # 1.35 V, 200 mA
    assert 0 < float(shown[4]) < 2  # the radio takes a millisecond for it


def test_an_encoding_is_paid_for_the_ciphertext(results: Results) -> None:
    put_timings(results)
    found = rows(results)
    sent = plan.sent_bytes("text", "AES")
    assert found["encoding-aes-hex"].measured == pytest.approx(1 + 0.5 * sent / (4.0 * 2_000_000))
    assert found["encoding-3des-base64"].measured == pytest.approx(1 + 1 / 60, rel=1e-4)
    assert line(sweeps.sections(stored(results))[1], "AES")[1:] == ["8.00", "10.00", "9.00"]
    values = sweeps.charts(stored(results))["wlan-encodings"]["concat"][0]["data"]["values"]
    assert len(values) == 18 and {value["encoding"] for value in values} == {"none", "base64", "hex"}


def test_a_battery_is_emptied_by_so_many_runs(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    put_timings(results)
    one_joule = 1.35 * 0.19985 * 4.0 * 2_000_000 / 1e9
    battery = 4.4 * 3600 * 14.8
    assert rows(results)["battery-aes-alone"].measured == pytest.approx(battery / one_joule)
    assert rows(results)["battery-aes-sent"].measured is None  # no transfer is stored
    monkeypatch.setattr(plan.Stored, "joule", lambda self, question: _Mean(2.0))
    assert rows(results)["battery-aes-sent"].measured == pytest.approx(battery / (one_joule + 2.0))
    shown = line(sweeps.sections(stored(results))[2], "AES")
    assert shown[1] == f"{battery / one_joule:,.0f}"
    assert float(shown[2].replace(",", "")) == pytest.approx(
        battery / (24.5 * 4.0 * 2_000_000 / 1e9), rel=1e-3
    )
    drawn = sweeps.charts(stored(results))["wlan-battery"]["concat"]
    assert [len(panel["data"]["values"]) for panel in drawn] == [6, 12]


class _Mean:
    def __init__(self, mean: float) -> None:
        self.mean = mean


def test_what_another_study_is_cited_for_needs_its_device(results: Results) -> None:
    put_timings(results)
    row = rows(results)["claim-battery-cited"]
    assert (row.verdict, row.published) == ("bring the code", 45.0)
    used: Any = 600 * 24.5 * 60 * 5_000_000 / 1e9
    assert row.measured == pytest.approx(100 - 100 * used / (4.4 * 3600 * 14.8), abs=0.02)
