"""What a file over Wi-Fi takes, and what ns-3 is given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.process import Outcome
from motecrypt.build.toolchain import BuildError
from motecrypt.measuring.experiments import transfer_wlan as wifi
from motecrypt.measuring.experiments.transfer_wlan import TransferWlan
from motecrypt.results import Results
from motecrypt.results.experiments import wlan_transfer
from motecrypt.results.experiments.wlan_transfer import CLOSED_FORM, NS3, Spread, WlanTransfer

HOME = TransferWlan(60_000_000, mode="infrastructure")
FAR = TransferWlan(
    1_000_001,
    mode="infrastructure",
    security="ccmp",
    signal="poor",
    phy="g",
    protocol="udp",
    card="esp8266",
    seeds=2,
    walls_db=3.0,
)


def test_what_ns3_is_given() -> None:
    assert TransferWlan(100_000)._arguments(7) == [
        *("--mode=adhoc", "--phy=b", "--protocol=tcp", "--bytes=100000", "--frame-bytes=0", "--seed=7"),
        *("--distance-m=4.0", "--walls-db=0.0", "--fading=0", "--exponent=3.0", "--tx-dbm=15.0"),
        *("--volts=4.74", "--tx-ma=284.0", "--rx-ma=190.0", "--idle-ma=156.0", "--limit-seconds=600"),
    ]
    assert FAR._arguments(2) == [
        *("--mode=infrastructure", "--phy=g", "--protocol=udp", "--bytes=1000001", "--frame-bytes=16"),
        *("--seed=2", "--distance-m=51.0", "--walls-db=1.5", "--fading=1", "--exponent=3.0"),
        *("--tx-dbm=17.0", "--volts=3.3", "--tx-ma=170.0", "--rx-ma=50.0", "--idle-ma=50.0"),
        "--limit-seconds=600",
    ]
    assert HOME._arguments(1)[-1] == "--limit-seconds=6000"
    assert replace(FAR, mode="adhoc")._arguments(1)[7] == "--walls-db=3.0"


def test_a_transfer_by_the_closed_form() -> None:
    assert FAR.closed_form() == {
        "seconds": pytest.approx(0.6320795443549505, rel=1e-12),
        "sender_joule": pytest.approx(0.1853511236813563, rel=1e-12),
        "receiver_joule": pytest.approx(0.1134486448185668, rel=1e-12),
        "data_frames": pytest.approx(1586.7590412416703, rel=1e-12),
        "air_bytes": pytest.approx(2461063.2729658308, rel=1e-12),
        "applies": False,
        "note": "estimate from the link budget; ns-3 models the rate control and TCP's losses",
    }
    form = wifi.closed_outcome(HOME)
    for name, value in {
        "seconds": 176.70996839206987,
        "sender_joule": 179.9465102640794,
        "receiver_joule": 160.00683895609396,
        "data_frames": 124312.0,
        "data_frame_bytes": 130941008.0,
    }.items():
        assert form.pop(name) == pytest.approx(
            {"mean": value, "low": value, "high": value, "half_width": 0.0}
        )
    assert form == {"complete": True, "delivered_bytes": 60_000_000, "runs": [], "note": ""}
    # Walls cost signal, and a poorer signal time.
    assert replace(FAR, walls_db=20.0).closed_form()["seconds"] > 1.1 * FAR.closed_form()["seconds"]
    assert wifi.SIMULATED_BYTES == 20_000_000


def test_the_question_of_each_engine() -> None:
    common = {
        "bytes": 1000001,
        "mode": "infrastructure",
        "frame_bytes": 16,
        "phy": "g",
        "protocol": "udp",
        "distance_m": 51.0,
        "walls_db": 3.0,
        "fading": True,
        "exponent": 3.0,
        "volts": 3.3,
        "milliampere": [170.0, 50.0, 50.0],
        "transmit_dbm": 17.0,
    }
    assert FAR.asked() == {"engine": "ns-3", **common, "seeds": 2}
    form = FAR.asked_of(CLOSED_FORM)
    levels = form.pop("sensitivity_dbm")
    assert form == {"engine": "closed form", **common}
    assert levels[:2] == [[1.0, -98.0], [2.0, -95.0]] and levels == sorted(levels) and len(levels) == 12
    assert (HOME.walls, FAR.walls) == (0.0, 3.0)
    assert FAR.inputs(CLOSED_FORM) == FAR.asked_of(CLOSED_FORM)
    ours = FAR.inputs(NS3)
    assert len(ours.pop("program")) == 16 and ours == FAR.asked()
    for least, refused in (
        (TransferWlan(1, seeds=1), None),
        (TransferWlan(0), "empty"),
        (TransferWlan(1, seeds=0), "0 seeds"),
    ):
        if refused is None:
            least.check()
        else:
            with pytest.raises(InputError, match=refused):
                least.check()


def told(seed: int, seconds: float, **changes: Any) -> dict[str, Any]:
    run = {
        "seed": seed,
        "seconds": seconds,
        "sender_joule": 2 * seconds,
        "receiver_joule": 3 * seconds,
        "data_frames": 10 + seed,
        "data_frame_bytes": 1000 + seed,
        "complete": True,
        "delivered_bytes": 900 + seed,
    }
    return {**run, **changes}


def test_runs_become_means_with_their_interval() -> None:
    assert wifi.summary([1.0, 2.0, 6.0]) == {
        "mean": 3.0,
        "low": 1.0,
        "high": 6.0,
        "half_width": pytest.approx(4.30 * 7**0.5 / 3**0.5),  # the variance is 7
    }
    assert wifi.summary([5.0]) == {"mean": 5.0, "low": 5.0, "high": 5.0, "half_width": 0.0}
    assert wifi.summary([1.0, 3.0])["half_width"] == pytest.approx(12.71)
    # Student's t, two-sided, 95 %.
    points = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26]
    assert [wifi.student(n) for n in range(2, 11)] == points
    assert [wifi.student(n) for n in (11, 30, 31, 1000)] == [2.2, 2.2, 1.96, 1.96]
    outcome = wifi._outcome([told(3, 6.0), told(1, 1.0), told(2, 2.0, complete=False, delivered_bytes=5)])
    assert [run["seed"] for run in outcome["runs"]] == [1, 2, 3]
    assert (outcome["complete"], outcome["delivered_bytes"]) == (False, 5)
    assert outcome["seconds"]["mean"] == 3.0 and outcome["sender_joule"]["high"] == 12.0
    assert outcome["receiver_joule"]["low"] == 3.0 and outcome["data_frames"]["mean"] == 12.0
    assert outcome["data_frame_bytes"]["high"] == 1003.0
    assert wifi._outcome([told(1, 1.0)])["complete"] is True


def test_what_the_program_says_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def run(answer: Outcome) -> dict[str, Any]:
        monkeypatch.setattr(wifi.process, "run", lambda command: asked.append(command) or answer)
        return wifi._run(Path("program"), FAR, 4)

    assert run(Outcome(0, '{"seed": 4}', "")) == {"seed": 4}
    assert asked == [[Path("program"), *FAR._arguments(4)]]
    with pytest.raises(MotecryptError, match=r"^ns-3, seed 4: error: no memory$"):
        run(Outcome(1, "{}", "a\nerror: no memory\nb"))
    with pytest.raises(MotecryptError, match=rf"^ns-3, seed 4: printed no figures: '{'x' * 80}'$"):
        run(Outcome(0, "x" * 90, ""))


def test_transfers_are_simulated_once_for_each_seed(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[int, int]] = []

    def run(compiled: Path, request: TransferWlan, seed: int) -> dict[str, Any]:
        assert compiled == Path("program")
        ran.append((request.size, seed))
        return told(seed, float(request.size))

    monkeypatch.setattr(wifi, "program", lambda: Path("program"))
    monkeypatch.setattr(wifi, "_run", run)
    one, two = TransferWlan(5, seeds=2), TransferWlan(7, mode="infrastructure", security="wep", seeds=1)
    said: list[str] = []
    found = wifi.ensure_all([two, one, two], results, said.append)
    assert sorted(ran) == [(5, 1), (5, 2), (7, 1)]
    assert said == ["Wi-Fi transfer 1 of 2: infrastructure wep", "Wi-Fi transfer 2 of 2: adhoc open"]
    assert [experiment.outcome["seconds"]["mean"] for experiment in found] == [7.0, 5.0, 7.0]
    assert [len(experiment.outcome["runs"]) for experiment in found] == [1, 2, 1]
    assert found[0].inputs == two.inputs(NS3)
    answer = one.answer(results)
    assert answer is not None and (answer.engine, answer.seconds.mean) == (NS3, 5.0)
    monkeypatch.setattr(wifi, "_run", lambda *_: pytest.fail("simulated again"))
    assert one.ensure(results).outcome == found[1].outcome and one.find(results) == one.stored(results)


def test_what_no_engine_could_run_is_refused_before_any_is_run(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wifi, "program", lambda: pytest.fail("asked for"))
    for wrong in (TransferWlan(0), TransferWlan(5, security="none"), TransferWlan(5, phy="z")):
        with pytest.raises(InputError):
            wifi.ensure_all([TransferWlan(5), wrong], results)


@pytest.mark.parametrize("error", [BuildError, InputError])
def test_a_program_that_cannot_be_had_is_told_at_the_end(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str) -> None:
        raise error(f"no {name}")

    told: list[Any] = []
    monkeypatch.setattr(wifi, "driver", refuse)
    monkeypatch.setattr(wifi, "left_out", lambda *a: told.append(a))
    assert wifi.program.__wrapped__() is None and told == [("ns-3", "no wlan")]
    monkeypatch.setattr(wifi, "driver", Path)
    assert wifi.program.__wrapped__() == Path("wlan") and len(told) == 1


def test_a_run_that_fails_ends_the_others(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wifi, "program", lambda: Path("program"))

    def run(*_: object) -> dict[str, Any]:
        raise MotecryptError("no")

    monkeypatch.setattr(wifi, "_run", run)
    with pytest.raises(MotecryptError, match=r"^no$"):
        wifi.ensure_all([TransferWlan(5)], results)
    assert results.experiments("wlan-transfer") == []


def test_the_closed_form_serves_until_ns3_is_there(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wifi, "program", lambda: None)
    said: list[str] = []
    first = TransferWlan(500).ensure(results, said.append)
    assert said == [wlan_transfer.missing_note()]
    again = TransferWlan(500).ensure(results, said.append)
    assert (again.made_at, again.outcome) == (first.made_at, first.outcome) and len(said) == 1
    answer = TransferWlan(500).answer(results)
    assert answer is not None and answer.engine == CLOSED_FORM and answer.note == ""
    assert answer.seconds.mean == pytest.approx(TransferWlan(500).closed_form()["seconds"])
    monkeypatch.setattr(wifi, "program", lambda: Path("program"))
    monkeypatch.setattr(wifi, "_run", lambda compiled, request, seed: told(seed, 1.0))
    TransferWlan(500).ensure(results)
    answer = TransferWlan(500).answer(results)
    assert answer is not None and (answer.engine, answer.seconds.mean) == (NS3, 1.0)
    stored = TransferWlan(500).stored(results)
    assert stored is not None and stored.inputs["engine"] == NS3
    assert wlan_transfer.answer_of(None) is None
    assert wlan_transfer.answer_of(replace(stored, outcome={"seconds": 1})) is None


def test_a_file_many_times_larger() -> None:
    spreads = [Spread(n, n + 1, n + 2, n + 3) for n in (1.0, 2.0, 3.0, 4.0, 5.0)]
    answer = WlanTransfer(*spreads, complete=True, delivered_bytes=7, note="n", engine="e")
    larger = [Spread(2.5 * n, 2.5 * (n + 1), 2.5 * (n + 2), 2.5 * (n + 3)) for n in (1, 2, 3, 4, 5)]
    assert answer.scaled(2.5) == WlanTransfer(
        *larger, complete=True, delivered_bytes=18, note="n", engine="e"
    )
