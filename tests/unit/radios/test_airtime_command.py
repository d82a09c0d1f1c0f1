"""`motecrypt airtime`: table, plot, JSON, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from motecrypt.air.radios import load_radio, radio_names
from motecrypt.air.radios.plots import text_plot
from motecrypt.air.radios.stretches import even_stretches
from motecrypt.base.errors import InputError
from motecrypt.cli.airtime import command


def run(*arguments: str) -> str:
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_json_has_every_length_and_the_best() -> None:
    document = json.loads(run("--radio", "srf", "--bytes", "1-256", "--json"))
    assert [row["message_bytes"] for row in document["messages"]] == list(range(1, 257))
    assert document["best_message_bytes"] == 252 and len(document["packets"]) == 240
    row = document["messages"][13]
    assert row["packets"] == 2 and row["padded_bytes"] == 24 and row["delivery_time_us"] == 101868.889
    assert document["figures"]["timeout_ms"]["source"]


@pytest.mark.parametrize("name", radio_names())
def test_every_radio_has_its_table(name: str) -> None:
    output = run("--radio", name, "--bytes", "1-40")
    assert load_radio(name).title in output and "Best message length" in output and "ms to deliver" in output


def test_settings_change_the_figures(tmp_path: Path) -> None:
    slow = json.loads(run("--bytes", "12", "--set", "air_rate_baud=1200", "--json"))
    assert slow["messages"][0]["air_time_us"] == pytest.approx(25 * 8 / 1200 * 1e6, rel=1e-6)
    new = json.loads(run("--bytes", "14", "--timeout-ms", "16", "--json"))
    assert new["messages"][0]["delivery_time_us"] == 17868.889
    svg = tmp_path / "plot.svg"
    run("--svg", str(svg))
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bytes", "0"], "1 to"),
        (["--bytes", "9-3"], "not a range"),
        (["--bytes", "many"], "not a length"),
        (["--bytes", "1-1000000"], "choose fewer"),
        (["--radio", "smoke"], "unknown radio"),
        (["--set", "colour=3"], "no figure 'colour'"),
        (["--set", "air_rate_baud=fast"], "FIGURE=NUMBER"),
        (["--packet-bytes", "300"], "1 to 240"),
        (["--svg", "/nonesuch/x.svg"], "choose another"),
    ],
)
def test_bad_input_is_refused(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(command, arguments)
    assert isinstance(result.exception, InputError) and message in str(result.exception)


def test_the_plot_draws_what_it_is_given() -> None:
    plot = text_plot(list(range(1, 101)), [("o", "rising", [float(n) for n in range(1, 101)])], "ms")
    marks = [line.index("o") for line in plot.splitlines()[1:] if "o" in line and "|" in line]
    assert marks == sorted(marks, reverse=True) and len(marks) == 16


@pytest.mark.parametrize("name", radio_names())
def test_the_table_hides_no_length_and_no_step(name: str) -> None:
    """Each length is in one stretch, and each of its figures on the line between the ends."""
    rows = json.loads(run("--radio", name, "--bytes", "1-256", "--json"))["messages"]
    stretches = even_stretches(rows)
    lengths: list[int] = []
    for first, last in stretches:
        start, end = first["message_bytes"], last["message_bytes"]
        lengths += range(int(start), int(end) + 1)
        for row in rows[int(start) - 1 : int(end)]:
            part = (row["message_bytes"] - start) / max(1, end - start)
            assert row["packets"] == first["packets"]
            for figure, value in row.items():
                assert value == pytest.approx(first[figure] + part * (last[figure] - first[figure]), abs=0.3)
    assert lengths == list(range(1, 257)) and len(stretches) < 100


def _table(*arguments: str) -> list[str]:
    """The first cell of each row of the table: a length, or two with "to"."""
    lines = [line.split() for line in run(*arguments).splitlines()]
    rows = [words for words in lines if len(words) > 8 and words[0].isdigit()]
    return [" ".join(words[:3]) if words[1] == "to" else words[0] for words in rows]


def test_a_full_packet_has_a_row_of_its_own() -> None:
    """It goes immediately; a fuller and an emptier one wait for the timeout."""
    full = {n: str(n) for n in (12, 24, 36, 48, 60)}
    shown = _table("--bytes", "1-64")
    assert shown == [text for n in full for text in (f"{n - 11} to {n - 1}", full[n])] + ["61 to 64"]
    assert _table("--bytes", "1-64", "--all") == [str(n) for n in range(1, 65)]


def test_lengths_that_do_not_follow_each_other_are_not_one_row() -> None:
    shown = ["2", "4", "6", "8 to 10", "12", "14", "16"]
    assert _table("--radio", "nrf24", "--bytes", "2,4,6,8,9,10,12,14,16") == shown
