"""The Wi-Fi experiment: ns-3 next to the closed form, what is stored, and what happens without ns-3."""

from __future__ import annotations

from pathlib import Path

import pytest

from motecrypt.air.wlan import dcf, parameters
from motecrypt.base.errors import InputError
from motecrypt.build import setup
from motecrypt.build.toolchain import BuildError
from motecrypt.measuring.experiments import transfer_wlan
from motecrypt.measuring.experiments.transfer_wlan import TransferWlan, ensure_all
from motecrypt.results import Results
from motecrypt.results.experiments.wlan_transfer import CLOSED_FORM, NS3


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return Results(tmp_path / "results.db")


@pytest.fixture
def ns3() -> Path:
    compiled = transfer_wlan.program()
    if compiled is None:
        pytest.skip(f"{transfer_wlan.missing_note()}")
    return compiled


@pytest.fixture
def no_ns3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer_wlan, "program", lambda: None)


@pytest.mark.parametrize("protocol", dcf.PROTOCOLS)
@pytest.mark.parametrize("name", ["b", "g"])
@pytest.mark.parametrize("mode", dcf.MODES)
def test_the_closed_form_agrees_with_ns3_within_ten_per_cent(
    ns3: Path, results: Results, mode: str, name: str, protocol: str
) -> None:
    request = TransferWlan(1_000_000, mode=mode, phy=name, protocol=protocol, security="ccmp", seeds=2)
    simulated = request.ensure(results)
    assert simulated.inputs["engine"] == NS3
    assert simulated.outcome["complete"]
    form = request.closed_form()
    assert form["applies"]
    for figure in ("seconds", "sender_joule", "receiver_joule"):
        assert form[figure] == pytest.approx(simulated.outcome[figure]["mean"], rel=0.10)


def test_the_same_seed_gives_the_same_figures_and_security_bytes_cost_time(ns3: Path) -> None:
    request = TransferWlan(300_000, seeds=1)
    first = transfer_wlan._run(ns3, request, 1)
    assert transfer_wlan._run(ns3, request, 1) == first
    secured = transfer_wlan._run(ns3, TransferWlan(300_000, security="tkip"), 1)
    assert secured["data_frame_bytes"] > first["data_frame_bytes"]
    frames = 300_000 / dcf.payload_per_packet("tcp") * 1.5  # with one acknowledgement for two segments
    added = secured["data_frame_bytes"] - first["data_frame_bytes"]
    assert added == pytest.approx(20 * frames, rel=0.15)  # collisions send some frames again


def test_a_poor_signal_takes_longer_with_a_spread(ns3: Path, results: Results) -> None:
    good, poor = ensure_all([TransferWlan(500_000), TransferWlan(500_000, signal="poor")], results)
    assert poor.outcome["seconds"]["low"] > 1.2 * good.outcome["seconds"]["high"]
    assert poor.outcome["seconds"]["half_width"] > 0


def test_what_is_stored_is_not_simulated_again(
    ns3: Path, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = TransferWlan(100_000, seeds=2)
    first = request.ensure(results)
    monkeypatch.setattr(transfer_wlan, "_run", lambda *_: pytest.fail("simulated again"))
    assert request.ensure(results).outcome == first.outcome
    assert request.stored(results) == first


@pytest.mark.usefixtures("no_ns3")
def test_without_ns3_the_closed_form_serves_and_says_so(results: Results) -> None:
    said: list[str] = []
    found = TransferWlan(1_000_000).ensure(results, said.append)
    assert found.inputs["engine"] == CLOSED_FORM
    assert found.outcome["seconds"]["mean"] == pytest.approx(dcf.transfer(1_000_000).seconds)
    assert said and "closed form" in said[0] and "apt-get install libns3-dev" in said[0]


def test_an_ns3_that_does_not_compile_is_told_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(name: str) -> Path:
        raise BuildError(f"driver {name}: ns3/wifi.h:1: error: no such type")

    setup.summary()  # forget what earlier tests left out
    monkeypatch.setattr(transfer_wlan, "driver", refused)
    assert transfer_wlan.program.__wrapped__() is None
    assert setup.summary() == (
        "could not be installed and was omitted: ns-3 (driver wlan: ns3/wifi.h:1: error: no such type)"
    )


def test_ns3_replaces_a_stored_closed_form(
    ns3: Path, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = TransferWlan(50_000, seeds=1)
    with monkeypatch.context() as patched:
        patched.setattr(transfer_wlan, "program", lambda: None)
        assert request.ensure(results).inputs["engine"] == CLOSED_FORM
    assert request.ensure(results).inputs["engine"] == NS3
    stored = request.stored(results)
    assert stored is not None and stored.inputs["engine"] == NS3


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (TransferWlan(0), "empty file"),
        (TransferWlan(1, seeds=0), "at least one run"),
        (TransferWlan(1, mode="mesh"), "adhoc, infrastructure"),
        (TransferWlan(1, security="wpa3"), "open, wep, tkip, ccmp"),
        (TransferWlan(1, signal="fair"), "good, poor"),
        (TransferWlan(1, card="ax200"), "wavelan, esp8266"),
        (TransferWlan(1, protocol="sctp"), "tcp, udp"),
        (TransferWlan(1, phy="n"), "b or g"),
    ],
)
def test_bad_requests_are_refused_before_anything_runs(
    results: Results, request_: TransferWlan, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        request_.ensure(results)


def test_the_data_file_names_a_source_for_every_entry() -> None:
    for kind, read in (
        ("card", parameters.card),
        ("signal", parameters.signal),
    ):
        for name in parameters.names(kind):
            assert len(read(name).source) > 10  # type: ignore[operator]
