"""The timeline of a message: the same times as the closed form, and every byte in every stage."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from command_line import run
from motecrypt.air.radios import load_radio
from motecrypt.air.radios.costs import costs
from motecrypt.air.radios.timeline import Span, timeline
from motecrypt.present.pages.radio_page import radio_page, variants_of
from page_data import Read

RADIOS = ("srf", "lora", "nrf24", "802.15.4", "ble-1m", "cc1101", "esp-now")
SRF = load_radio("srf")


@pytest.mark.parametrize("name", RADIOS)
def test_delivery_and_air_are_those_of_the_figures(name: str) -> None:
    radio = load_radio(name)
    for n in (1, 2, 11, 12, 13, 24, 25, 60, 61, 100, 255):
        made, known = timeline(radio, n), costs(radio, n)
        assert made.delivered_us == pytest.approx(float(known.delivery_time_us))
        air = [span for span in made.spans if span.kind == "air"]
        assert len(air) == known.packets
        assert sum(span.end_us - span.begin_us for span in air) == pytest.approx(float(known.air_time_us))


@pytest.mark.parametrize("n", [1, 12, 13, 30])
def test_every_byte_passes_every_stage_and_stages_do_one_thing_at_a_time(n: int) -> None:
    made = timeline(SRF, n, 5)
    for sender, size in ((0, n), (1, 5)):
        for kind in ("serial in", "air", "serial out"):
            spans = [span for span in made.spans if (span.kind, span.sender) == (kind, sender)]
            assert sum(span.payload_bytes for span in spans) == size
            assert all(a.end_us <= b.begin_us + 1e-6 for a, b in pairwise(spans))
            assert all(span.end_us > span.begin_us for span in spans)


def test_a_packet_that_is_not_full_waits_for_the_timeout() -> None:
    waits = [span for span in timeline(SRF, 13).spans if span.kind == "wait"]
    byte_us = SRF.serial_byte_us
    assert waits == [Span("wait", 0, pytest.approx(13 * byte_us), pytest.approx(13 * byte_us + 100_000), 1)]
    assert not any(span.kind == "wait" for span in timeline(SRF, 24).spans)


def test_a_packet_waits_for_the_receivers_line() -> None:
    out = [s for s in timeline(SRF.with_figures(timeout_ms=0.1), 13).spans if s.kind == "serial out"]
    assert len(out) == 2 and out[1].begin_us == out[0].end_us


def test_an_answer_begins_when_the_message_is_there() -> None:
    made = timeline(SRF, 12, 12)
    answer = [span for span in made.spans if span.sender == 1]
    assert answer[0].begin_us == made.delivered_us
    sent = next(span for span in made.spans if (span.kind, span.sender) == ("air", 0))
    turned = sent.end_us + SRF.value("turn_round_us")  # later than the answer's last byte on the line
    back = sent.end_us - sent.begin_us + 12 * SRF.serial_byte_us
    assert made.answered_us == pytest.approx(turned + back)
    assert timeline(SRF, 12).answered_us is None


def test_the_chart_has_a_step_for_every_length() -> None:
    """Each level piece is a byte wide, around its length: nothing is drawn between two lengths."""
    page = radio_page(variants_of(SRF), 0, "motecrypt radio srf")
    for path in re.findall(r'class="line s\d" d="(M[^"]*)"', page)[:2]:
        assert path.count("H") == 64 and "L" not in path
        assert path.startswith("M7.8,")  # half a byte of 64, of a thousand


def test_the_page_has_the_times_of_every_length_of_both_timeouts() -> None:
    page = radio_page(variants_of(SRF), 4, "motecrypt radio srf")
    data = json.loads(Read(page).scripts[0])
    assert [one["name"] for one in data["variants"]] == ["timeout 100 ms", "timeout 16 ms (newer firmware)"]
    for variant, timeout_ms in zip(data["variants"], (100, 16), strict=True):
        radio = SRF.with_figures(timeout_ms=timeout_ms)
        assert len(variant["lengths"]) == 64
        for n, one in enumerate(variant["lengths"], start=1):
            assert one["delivered"] == pytest.approx(float(costs(radio, n).delivery_time_us), abs=0.06)
            assert one["answered"] == pytest.approx(timeline(radio, n, 4).answered_us, abs=0.06)
    assert ["13", "101.663", "17.663"] in Read(page).rows
    nrf24 = load_radio("nrf24")
    assert variants_of(nrf24) == [(nrf24.title, nrf24)]


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "radio.html"
    assert run(capsys, "radio", "srf", "--html", page, "--timeout-ms", 20, "--packet-bytes", 10)[0] == 0
    data = json.loads(Read(page.read_text()).scripts[0])
    assert len(data["variants"]) == 1
    wait = next(span for span in data["variants"][0]["lengths"][10]["spans"] if span[0] == 1)
    assert wait[3] - wait[2] == pytest.approx(20_000) and wait[4] == 1
    for words in (("radio", "nosuch", "--html", page), ("radio", "srf", "--html", tmp_path)):
        code, _, error = run(capsys, *words)
        assert code == 2 and len(error.strip().splitlines()) == 1


def test_a_message_may_take_hours() -> None:
    slow = SRF.with_figures(timeout_ms=3 * 3.6e6)
    made = timeline(slow, 13, 1)
    assert (
        made.delivered_us == pytest.approx(float(costs(slow, 13).delivery_time_us))
        and made.delivered_us > 3 * 3.6e9
    )
    assert made.answered_us is not None and made.answered_us > 2 * made.delivered_us - 1e6
