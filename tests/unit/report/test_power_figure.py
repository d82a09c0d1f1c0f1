"""The figure of the power part: its panels hold the stored figures, and damaged data give none."""

import pytest

from motecrypt.present.report.power import power_figure
from tool_sets import needs_tool_set

POINTS = [
    {"traces": 10, "guessing_entropy_bits": 90.5, "experiments": 20, "successes": 5}
    | {"success_low": 0.11, "success_high": 0.47},
    {"traces": 20, "guessing_entropy_bits": 0, "experiments": 20, "successes": 20}
    | {"success_low": 0.84, "success_high": 1},
]
CURVES = [
    {"model": "weight", "attacker": "correlation", "snr": None, "points": POINTS},
    {"model": "distance", "attacker": "distance", "snr": 0.5, "points": POINTS[1:]},
    {"model": "weight", "attacker": "template", "snr": 0.125, "points": POINTS[:1]},
]
CORRELATION = {"first_instruction": 70, "traces": 3620, "right": [0.6, 0.9], "wrong": [0.2, 0.3]}
CORRELATION |= {"places": ["ciphers/a.c:7", "ciphers/a.c:9"]}
TEST = {"first_instruction": 70, "threshold": 5.7, "curve": [1.5, 20.0, 3.0]}
TEST |= {"places": ["a.c:7", "a.c:8", "a.c:8"]}


def data(**changes):
    attack = {"title": "S-box output", "curves": CURVES, "correlation": CORRELATION}
    return {"rows": [{"variant": "fast", "attacks": [attack], "t_test": TEST} | changes]}


def test_panels_hold_the_stored_figures():
    figure = power_figure("aes128-ecb", "power:uno", data())
    assert figure is not None and figure.name == "aes128-ecb-power-uno" and figure.panels == 4
    assert "(fast) on uno" in figure.caption and "--part power:uno" in figure.command
    rows = figure.data()
    found = [(row["series"], row.get("traces", row.get("instruction")), row["value"]) for row in rows]
    assert found == [
        *(("weight, no noise", 10, 90.5), ("weight, no noise", 20, 0)),
        *(("predicted distances, SNR 0.5", 20, 0), ("templates, SNR 0.125", 10, 90.5)),
        *(("no noise", 10, 0.25), ("no noise", 20, 1.0)),
        *(("right guesses", 70, 0.6), ("right guesses", 71, 0.9)),
        *(("wrong guesses", 70, 0.2), ("wrong guesses", 71, 0.3)),
        *(("largest |t|", 70, 1.5), ("largest |t|", 71, 20.0), ("largest |t|", 72, 3.0)),
        *(("threshold", 70, 5.7), ("threshold", 72, 5.7)),
    ]
    assert [(row["low"], row["high"]) for row in rows if "low" in row] == [(0.11, 0.47), (0.84, 1)]


def test_each_instruction_has_its_source_line_and_the_highest_are_named():
    figure = power_figure("aes128-ecb", "power:uno", data())
    assert figure is not None
    lines = [(row["series"], row["line"], row.get("peak", False)) for row in figure.data() if "line" in row]
    assert lines == [
        *(("right guesses", "a.c:7", True), ("right guesses", "a.c:9", True)),
        *(("wrong guesses", "a.c:7", False), ("wrong guesses", "a.c:9", False)),
        *(("largest |t|", "a.c:7", False), ("largest |t|", "a.c:8", True), ("largest |t|", "a.c:8", False)),
    ]
    assert {"line", "instruction"} <= set(figure.as_csv().splitlines()[0].split(","))
    old = {name: value for name, value in TEST.items() if name != "places"}
    figure = power_figure("aes128-ecb", "power:uno", data(t_test=old))
    assert figure is not None
    assert all("line" not in row for row in figure.data() if row["series"] == "largest |t|")


@needs_tool_set("plots")
def test_the_panels_are_drawn():
    from motecrypt.present.report.vega import svg

    figure = power_figure("aes128-ecb", "power:uno", data())
    assert figure is not None
    drawn = svg(figure)
    for text in ("attacks that found the key", "fixed against random inputs", "a.c:8", "a.c:9"):
        assert text in drawn


def test_what_was_not_tested_has_no_panel():
    figure = power_figure("aes128-ecb", "power:uno", data(t_test={"verdict": "path varies"}))
    assert figure is not None and figure.panels == 3
    bare = [curve | {"points": [{"traces": 10, "guessing_entropy_bits": 9}]} for curve in CURVES]
    attack = {"title": "S-box output", "curves": bare}
    figure = power_figure("aes128-ecb", "power:uno", data(attacks=[attack]))
    assert figure is not None and figure.panels == 2


@pytest.mark.parametrize("damaged", [data(attacks=[]), {"rows": "?"}, {"rows": []}])
def test_without_an_attack_or_of_another_shape_there_is_no_figure(damaged):
    assert power_figure("rc4", "power:uno", damaged) is None
