"""Figure 6 of the RF study is drawn with the printed points, the line's bound and the model's delivery."""

from __future__ import annotations

from typing import Any

import pytest

from motecrypt.studies.rf import figure6, printed


def panels(delivered: dict[tuple[str, int, float], float]) -> dict[str, list[dict[str, Any]]]:
    (chart,) = figure6.chart(delivered).values()
    return {panel["title"]: panel["data"]["values"] for panel in chart["concat"]}


def test_without_deliveries_the_paper_and_the_line_are_drawn() -> None:
    drawn = panels({})
    assert list(drawn) == [figure6.PAPER, figure6.LINE]
    points = {(point["payload"][0], point["message"]): point for point in drawn[figure6.PAPER]}
    assert len(points) == 30
    assert (points["C", 9]["ms"], points["C", 9]["bytes"]) == (19.463, 226)
    assert {point["payload"] for point in drawn[figure6.PAPER]} == {
        "T plaintext",
        "C ciphertext",
        "P ciphertext with padding",
    }
    bound = {(point["payload"][0], point["message"]): point["ms"] for point in drawn[figure6.LINE]}
    assert bound["T", 1] == pytest.approx(14 * 10 / 115.2, abs=0.001)


def test_a_delivery_is_drawn_at_its_message_in_the_panel_of_its_timeout() -> None:
    plain = printed.row("T4").size_bytes
    drawn = panels({("P", plain, 100.0): 13.2346, ("T", plain, 16.0): 20.0, ("C", 1, 16.0): 5.0})
    assert list(drawn)[2:] == [
        "model: until delivered, timeout 100 ms",
        "model: until delivered, timeout 16 ms",
    ]
    (padded,), (text,) = list(drawn.values())[2:]
    assert (padded["message"], padded["payload"][0], padded["ms"]) == (4, "P", 13.235)
    assert (text["message"], text["payload"][0], text["ms"]) == (4, "T", 20.0)
