"""Axes and lines of the pages' charts."""

from __future__ import annotations

import re

import pytest

from motecrypt.present.pages.charts import Series, axis, line_chart


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0, 102, ["0", "25", "50", "75", "100", "125"]),
        (0, 5, ["0", "1", "2", "3", "4", "5"]),
        (0, 0, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (1000, 1900, ["1,000", "1,200", "1,400", "1,600", "1,800", "2,000"]),
    ],
)
def test_an_axis_has_round_ticks_over_all_values(low: float, high: float, labels: list[str]) -> None:
    made = axis("t", low, high)
    assert [tick.label for tick in made.ticks] == labels
    assert made.low <= low and made.high >= high
    assert [tick.at for tick in made.ticks] == pytest.approx([n / 5 for n in range(6)])


def test_an_axis_may_end_where_its_values_end() -> None:
    made = axis("t", 0, 69.9, ends=True)
    assert made.high == 69.9 and [tick.label for tick in made.ticks] == ["0", "20", "40", "60"]
    assert made.ticks[3].at == pytest.approx(60 / 69.9)
    assert (made.place(-5), made.place(69.9), made.place(99)) == (0, 1, 1)


def paths(chart: str) -> list[str]:
    return re.findall(r' d="([^"]*)"', chart)


def test_lines_are_drawn_where_their_values_are() -> None:
    x, y = axis("x", 0, 10), axis("y", 0, 10)
    points = [(0, 0), (5, 10), None, (10, 2.5)]
    plain = str(line_chart("a", x, y, [Series("one", points)]))
    assert paths(plain) == ["M0.0,1000.0L500.0,0.0", "M1000.0,750.0"]
    steps = str(line_chart("a", x, y, [Series("one", points, steps=True, filled=True)]))
    assert paths(steps)[:2] == ["M0.0,1000.0H500.0V0.0V1000H0.0Z", "M0.0,1000.0H500.0V0.0"]


def test_several_lines_have_a_legend_with_escaped_names_and_dashes() -> None:
    x, y = axis("<x>", 0, 1), axis("y", 0, 1)
    chart = str(line_chart('"a"', x, y, [Series("<b>", [(0, 1)]), Series("two", [(1, 1)], marks=True)]))
    assert "<b>" not in chart and "<x>" not in chart and "&lt;b&gt;" in chart
    assert chart.count("stroke-dasharray") == 2 and 'class="dots s1"' in chart
    assert 'aria-label="&#34;a&#34;"' in chart
