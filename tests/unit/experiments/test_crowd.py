"""Many nodes and their gateway on one channel: figures, promises, and where a network breaks down."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from motecrypt.air.link_timing import answer_ms
from motecrypt.air.radios import Channel, costs, load_radio
from motecrypt.air.radios.air import air_time_us
from motecrypt.air.radios.levels import Levels
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link.native import Event
from motecrypt.link.told import NodeMessage
from motecrypt.measuring.experiments import crowd as experiment
from motecrypt.measuring.experiments.crowd import CrowdPlan, CrowdRun, crowd
from motecrypt.results import Results
from motecrypt.results.experiments.crowd import CrowdQuestion

SRF = load_radio("srf")


def test_one_node_on_a_good_channel_is_what_a_message_costs() -> None:
    told = crowd(CrowdPlan(SRF, 1, 1.0, 20.0))
    assert told.row() == {
        "radio": "srf",
        "nodes": 1,
        "interval_s": 1.0,
        "confirmed": True,
        "spread_ms": 7,
        **dict.fromkeys(("readings", "delivered", "accepted", "packets", "answers"), 20),
        **dict.fromkeys(("skipped", "unconfirmed", "packets_again", "collided", "deaf", "given_up"), 0),
        "share": 1.0,
        "air_share": round(20 * 2 * 800 / 20e6, 6),
        "node_duty": round(20 * 800 / 20e6, 6),
        "gateway_duty": round(20 * 800 / 20e6, 6),
        "goodput_bps": 48.0,
        "fairness": 1.0,
        # Six bytes are one packet of 12, which turns to sending for 30 us besides.
        **{
            f"latency_{name}_ms": round((costs(SRF, 12).delivery_time_us + 30) / 1000, 3)
            for name in ("p50", "p90", "p99", "max")
        },
    }
    assert told.by_node == [20] and len(told.latencies_us) == 20


def test_unconfirmed_readings_have_answers_only_to_long_frames() -> None:
    told = crowd(CrowdPlan(SRF, 2, 1.0, 20.0, confirmed=False))
    assert (told.accepted, told.unconfirmed, told.packets_again, told.answers) == (0, 0, 0, 0)
    assert told.delivered == told.readings == told.packets == 40


@pytest.mark.parametrize("name", ["srf", "nrf24", "802.15.4", "esp-now", "lora", "ble-1m", "cc1101"])
def test_what_is_lost_is_sent_again_and_arrives_once(name: str) -> None:
    radio = load_radio(name)
    interval_s = 0.05 * answer_ms(radio)
    told = crowd(CrowdPlan(radio, 3, interval_s, 20 * interval_s, channel=Channel(loss=0.3, seed=5)))
    assert told.delivered == told.accepted == told.readings == 60
    assert told.unconfirmed == told.skipped == 0
    # A packet, and its answer, get through with 0.7 each: 1 / 0.49 packets a reading.
    assert 60 * 0.5 < told.packets_again < 60 * 2
    assert told.answers == pytest.approx(0.7 * told.packets, rel=0.2)
    time_ms = (float(air_time_us(radio, 12)) + 24 * radio.serial_byte_us) / 1000
    assert told.row()["latency_p50_ms"] >= 0.9 * time_ms
    assert told.row()["latency_max_ms"] > answer_ms(radio)


def test_readings_are_skipped_while_one_waits_for_its_answer() -> None:
    deaf = Levels(loss={(0, 1): 1.0})
    told = crowd(CrowdPlan(SRF, 1, 1.0, 20.0, levels=deaf))
    # Ten tries, each as long as an answer may take: two readings in each three seconds have no turn.
    assert told.accepted == 0 and told.unconfirmed > 4
    assert told.delivered == told.unconfirmed and told.skipped == told.readings - told.delivered
    assert told.packets == 10 * told.unconfirmed == told.answers


def test_who_waits_differently_does_not_collide_for_ever() -> None:
    found = [crowd(CrowdPlan(SRF, 10, 1.0, 60.0, spread_ms=ms)) for ms in (0.0, 7.0)]
    (same, spread) = (told.row() for told in found)
    assert (same["readings"], same["skipped"], same["delivered"]) == (601, 13, 587)
    assert (same["packets_again"], same["deaf"]) == (110, 59) and same["share"] < 0.98
    assert (spread["delivered"], spread["packets_again"], spread["deaf"]) == (601, 34, 17)
    assert same["share"] < 0.99 <= spread["share"]


def test_equal_seeds_give_equal_networks() -> None:
    def found(seed: int) -> Any:
        told = crowd(CrowdPlan(load_radio("802.15.4"), 4, 0.2, 4.0, seed=seed))
        return told.row(), told.latencies_us

    assert found(1) == found(1) and found(1)[1] != found(2)[1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"nodes": 0}, "0 nodes of a gateway; give 1 to 62"),
        ({"nodes": 63}, "63 nodes"),
        ({"interval_s": 0.0}, "interval_s is 0.0"),
        ({"interval_s": math.nan}, "interval_s is nan"),
        ({"seconds": math.inf}, "seconds is inf"),
        ({"clock_ppm": -1.0}, "clock_ppm is -1.0"),
        ({"clock_ppm": 1e6}, "clock_ppm is 1000000.0"),
        ({"spread_ms": -0.1}, "spread_ms is -0.1"),
        ({"spread_ms": 401.0, "nodes": 10}, "with 4000 ms in all"),
    ],
)
def test_impossible_plans_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(CrowdPlan(SRF, 2, 1.0, 1.0), **given)
    assert CrowdPlan(SRF, 62, 1.0, 1.0, spread_ms=64.0).nodes == 62


def test_a_stored_network_is_not_run_again_unless_the_code_changed(
    monkeypatch: pytest.MonkeyPatch, results: Results
) -> None:
    said: list[str] = []
    run = CrowdRun("srf", True, 7.0, ((2, 0.5), (1, 1.0)), 4.0)
    found = run.ensure(results, said.append)
    assert said == ["srf, 2 nodes, a reading every 0.5 s", "srf, 1 nodes, a reading every 1 s"]
    assert found.outcome["rows"][0] == crowd(CrowdPlan(SRF, 2, 0.5, 4.0, spread_ms=7.0)).row()
    assert run.ensure(results, said.append).made_at == found.made_at and len(said) == 2
    answer = CrowdQuestion.of(run).answer(results)
    assert answer is not None and [(row.nodes, row.share) for row in answer.rows] == [(2, 1.0), (1, 1.0)]
    monkeypatch.setattr(experiment, "_code_hash", lambda: "another")
    run.ensure(results, said.append)
    assert len(said) == 4


def test_other_figures_of_the_radio_are_another_question(monkeypatch: pytest.MonkeyPatch) -> None:
    run = CrowdQuestion("srf", False, 0.0, ((1, 1.0),), 4.0)
    before = run.asked()
    assert before["sharing"]["access"] == "listen" and before["figures"]["turn_round_us"] == 3000
    slower = SRF.with_figures(turn_round_us=1)
    monkeypatch.setattr("motecrypt.results.experiments.crowd.load_radio", lambda name: slower)
    assert run.asked() != before


# --- broken promises are errors ----------------------------------------------------------------------------


def twice(hand_over: Callable[..., list[bool]]) -> Callable[..., list[bool]]:
    def handed(self: Any, messages: list[NodeMessage]) -> list[bool]:
        return hand_over(self, [*messages, *messages])[: len(messages)]

    return handed


def test_a_doubled_reading_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment._Crowd, "hand_over", twice(experiment._Crowd.hand_over))
    with pytest.raises(MotecryptError, match="node 1: a duplicate reading, or one that was not sent"):
        crowd(CrowdPlan(SRF, 1, 1.0, 2.0))


def test_a_reading_accepted_that_nobody_has_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment._Crowd, "hand_over", lambda self, messages: [True] * len(messages))
    with pytest.raises(MotecryptError, match="a reading was reported as accepted but never arrived"):
        crowd(CrowdPlan(SRF, 1, 1.0, 2.0))


def test_a_reading_that_is_not_sent_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = experiment._Crowd(CrowdPlan(SRF, 1, 1.0, 2.0))
    begun.in_step()
    monkeypatch.setattr(begun.nodes[0].link, "send", lambda reading, how: Event.NO_KEY)
    with pytest.raises(MotecryptError, match="node 1: a reading was not sent: NO_KEY"):
        begun.nodes[0].take_reading(0.0)
