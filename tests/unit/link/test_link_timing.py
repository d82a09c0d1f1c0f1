"""How long an answer may take, by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from motecrypt.air import link_timing as timing


@dataclass(frozen=True)
class PlainRadio:
    """A radio of round figures."""

    packet_bytes: int
    serial_byte_us: float
    air_byte_us: float
    gap_us: float
    turn_round_us: float

    def value(self, figure: str) -> float:
        """One of its figures."""
        return float(getattr(self, figure))


@pytest.mark.parametrize(
    ("pieces", "radio", "expected_ms"),
    [
        # line 1000, air 500 + 200, once 2 * 1000 + 700: 14 * 1000 + 2 * 2700 + 2 * 300 us
        (15, PlainRadio(10, 100, 50, 200, 300), 220),
        (15, PlainRadio(10, 100, 50, 201, 300), 221),
        (15, PlainRadio(10, 100, 50, 199, 300), 220),
        (4, PlainRadio(10, 100, 50, 200, 300), 209),
        # air 50,000 + 1,000, once 53,000: 14 * 51,000 + 2 * 53,000 + 2 * 1,500 us
        (15, PlainRadio(10, 100, 5_000, 1_000, 1_500), 1_023),
        # no line: 16 * 500,000 us
        (15, PlainRadio(10, 0, 50_000, 0, 0), 8_200),
        (15, PlainRadio(10, 0, 50_000, 0, 25_000_000), 58_200),
        (15, PlainRadio(10, 0, 50_000, 0, 25_899_500), 59_999),
        (15, PlainRadio(10, 0, 50_000, 0, 25_899_501), 60_000),
        (15, PlainRadio(10, 0, 50_000, 0, 25_900_001), 60_000),
        (15, PlainRadio(10, 0, 50_000, 0, 99_000_000), 60_000),
    ],
)
def test_an_answer_may_take_so_long(
    pieces: int, radio: Any, expected_ms: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "air_time_us", lambda radio, payload: radio.air_byte_us * payload)
    assert timing.PIECES_MAX == 15
    monkeypatch.setattr(timing, "PIECES_MAX", pieces)
    assert timing.answer_ms(radio) == expected_ms
    assert (timing.SLACK_MS, timing.ANSWER_MS_MAX) == (200, 60_000)
