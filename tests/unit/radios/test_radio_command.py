"""motecrypt radio with many nodes: what it prints, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import run
from motecrypt.air.radios import Channel, RadioNetwork, load_radio
from motecrypt.present.terminal.radio import lines


@pytest.mark.parametrize("nodes", ["0", "1", "-3", "251", "10000", "many", "2.5", ""])
def test_impossible_numbers_of_nodes_are_one_line(capfd: pytest.CaptureFixture[str], nodes: str) -> None:
    code, out, err = run(capfd, "radio", "srf", "--nodes", nodes)
    assert (code, out) == (2, "") and err.count("\n") == 1 and "--nodes" in err


def test_levels_without_nodes_and_bad_levels_are_one_line(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    place = tmp_path / "levels.toml"
    code, out, err = run(capfd, "radio", "srf", "--levels", str(place))
    assert (code, out) == (2, "") and "--levels: needs --nodes" in err
    for text in (None, "pairs = 1"):
        if text is not None:
            place.write_text(text)
        code, out, err = run(capfd, "radio", "srf", "--nodes", "3", "--levels", str(place))
        assert (code, out) == (2, "") and err.count("\n") == 1 and str(place) in err


def test_names_for_all_ports_or_for_none(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    names = [part for n in range(3) for part in ("--link", str(tmp_path / f"m{n}"))]
    code, out, err = run(capfd, "radio", "nrf24", "--nodes", "4", *names)
    assert (code, out) == (2, "") and "--link: give it 4 times, or once (for NAME0 and up)" in err
    for given in (names, ["--link", str(tmp_path / "m")]):
        code, out, _ = run(capfd, "radio", "nrf24", "--nodes", "3", *given, "--seconds", "0", "--json")
        first = json.JSONDecoder().raw_decode(out)[0]
        assert code == 0 and first["ports"] == [str(tmp_path / f"m{n}") for n in range(3)]
        assert list(tmp_path.iterdir()) == []


def test_the_figures_at_the_end(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capfd, "radio", "802.15.4", "--nodes", "3", "--seconds", "0", "--json")
    assert code == 0
    ports, end = json.JSONDecoder().raw_decode(out)
    told = json.loads(out[end:])
    assert len(ports["ports"]) == len(told["ports"]) == 3
    assert set(told) == {"pacing", "network", "ports"} and told["network"]["modelled_fairness"] is None
    code, out, _ = run(capfd, "radio", "802.15.4", "--nodes", "3", "--seconds", "0")
    assert code == 0 and out.count("port 2: 0 packets sent") == 1 and "channel" not in out


def test_the_figures_in_words() -> None:
    network = RadioNetwork(load_radio("nrf24"), 3, Channel())
    network.write(0, b"four", 0.0)
    network.write(1, b"gone", 50.0)
    network.advance(900.0)
    network.write(1, b"sixsix", 1000.0)
    network.advance(1e6)
    ports = [network.port_summary(end) for end in range(3)]
    assert list(lines(ports, network.summary(), {"deliveries": 0, "overrun_bytes": 0})) == [
        "port 0: 1 packets sent, 0 waited, 0 given up, reached 0 of 2; 1 received, 0 captured, 0 collided, "
        "1 while sending, 0 too faint, 0 lost",
        "port 1: 2 packets sent, 0 waited, 0 given up, reached 2 of 4; 0 received, 0 captured, 0 collided, "
        "1 while sending, 0 too faint, 0 lost",
        "port 2: 0 packets sent, 0 waited, 0 given up, reached 0 of 0; 1 received, 0 captured, 2 collided, "
        "0 while sending, 0 too faint, 0 lost",
        "channel (modelled): goodput 48.0 bit/s, fairness 0.500, "
        "latency 0.2 ms (median), 0.2 ms (99th percentile), 0.2 ms (most)",
    ]
