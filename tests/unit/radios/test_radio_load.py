"""Traffic on a channel against the closed forms, within what chance and finite numbers allow."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import replace

import pytest

from motecrypt.air.radios import load_radio
from motecrypt.air.radios.air import air_time_us, lock_us
from motecrypt.air.radios.catalog import ChannelSharing, Radio, SourcedNumber
from motecrypt.air.radios.levels import Levels
from motecrypt.base.errors import InputError
from radio_traffic import (
    SECONDS_MAX,
    Carried,
    OfferedTraffic,
    carry,
    nonpersistent_csma,
    one_persistent_csma,
    pure_aloha,
    slotted_aloha,
)

RUNS, STATIONS, PACKETS = 16, 1000, 2500
T_15 = 5.24
"""Student's t with 15 degrees of freedom: both tails beyond it have 1 in 10,000."""


def bent(radio: Radio, **values: float) -> Radio:
    """The radio with other figures of sharing."""
    given = {name: SourcedNumber(value, "", "here") for name, value in values.items()}
    sharing = ChannelSharing(radio.sharing.access, {**radio.sharing.figures, **given})
    return replace(radio, sharing=sharing)


ALOHA = load_radio("nrf24").with_figures(turn_round_us=0)


def throughputs(radio: Radio, load: float, payload: int, slotted: bool = False) -> list[float]:
    """The throughput of runs that differ in their seeds."""
    time_us = float(air_time_us(radio, payload))
    found = []
    for seed in range(RUNS):
        traffic = OfferedTraffic(
            STATIONS,
            payload,
            interval_s=STATIONS * time_us / 1e6 / load,
            seconds=PACKETS * time_us / 1e6 / load,
            slot_us=time_us if slotted else 0.0,
            seed=seed,
        )
        assert traffic.offered(radio) == pytest.approx(load)
        found.append(carry(radio, traffic).throughput)
    return found


def agrees(found: list[float], expected: float, load: float) -> None:
    """The mean of independent runs agrees with the closed form, up to chance and finite numbers.

    Chance: Student's t. Finite numbers: a station's own packets, a part of 1 / STATIONS of the load, queue
    instead of colliding. That changes each exponent, and the load, by that part at most (the exponents are
    at most 2 (1 + load)). The edges of a run change it by a packet or two at each end.
    """
    chance = T_15 * statistics.stdev(found) / math.sqrt(len(found))
    finite = expected * (4 * (1 + load) / STATIONS + 4 * (1 + load) / PACKETS)
    assert chance < 0.1 * expected, "too few packets to tell"
    assert abs(statistics.mean(found) - expected) <= chance + finite


@pytest.mark.parametrize("load", [0.2, 1.0])
@pytest.mark.parametrize(("slotted", "form"), [(False, pure_aloha), (True, slotted_aloha)])
def test_aloha(load: float, slotted: bool, form: Callable[[float], float]) -> None:
    agrees(throughputs(ALOHA, load, 12, slotted), form(load), load)


@pytest.mark.parametrize("load", [0.5, 2.5])
def test_one_persistent_csma(load: float) -> None:
    radio = bent(load_radio("srf").with_figures(turn_round_us=0), cca_turn_us=0)
    agrees(throughputs(radio, load, 12), one_persistent_csma(load), load)


@pytest.mark.parametrize("load", [0.5, 2.5])
def test_non_persistent_csma(load: float) -> None:
    # Poisson arrivals that are each put off by a random back-off are Poisson arrivals still.
    radio = bent(load_radio("802.15.4"), backoffs_max=0, packet_space_us=0)
    time_us = float(air_time_us(radio, 50))
    expected = nonpersistent_csma(load, 192 / time_us, (192 + 128) / time_us)
    agrees(throughputs(radio, load, 50), expected, load)


def test_the_closed_forms_are_the_papers() -> None:
    assert pure_aloha(0.5) == pytest.approx(1 / (2 * math.e)) and slotted_aloha(1) == pytest.approx(
        1 / math.e
    )
    for load in (0.1, 1.0, 5.0):
        blind = 0.01
        their = load * math.exp(-blind * load) / (load * (1 + 2 * blind) + math.exp(-blind * load))
        assert nonpersistent_csma(load, blind, blind) == pytest.approx(their)
        assert nonpersistent_csma(load, 0, 0) == pytest.approx(load / (1 + load))
    # Kleinrock and Tobagi 1975, table I: the capacity of 1-persistent CSMA with a = 0.01 is 0.529.
    assert max(one_persistent_csma(load / 100) for load in range(1, 300)) == pytest.approx(0.538, abs=0.001)


def test_capture_of_two_classes() -> None:
    """The loud survive all but each other; the quiet survive only when alone.

    Nearly all of this packet is preamble, so that the loud come too late only behind the 4 of 248 bytes in
    which a receiver is bound to a quiet one.
    """
    figures = {"preamble_bytes": 240, "sync_bytes": 4, "length_bytes": 1, "address_bytes": 0, "crc_bytes": 2}
    radio = load_radio("cc1101").with_figures(**figures, turn_round_us=0)
    radio = replace(radio, sharing=ChannelSharing("aloha", radio.sharing.figures))
    time_us, late = float(air_time_us(radio, 1)), 1 - lock_us(radio) / float(air_time_us(radio, 1))
    assert late == pytest.approx(4 / 248)
    levels = Levels({(node, 0): -40.0 if node % 2 else -90.0 for node in range(1, STATIONS + 1)})
    half = 0.3
    loud, quiet = [], []
    for seed in range(RUNS):
        seconds = PACKETS * time_us / 1e6 / (2 * half)
        traffic = OfferedTraffic(STATIONS, 1, STATIONS * time_us / 1e6 / (2 * half), seconds, seed=seed)
        by_node = carry(radio, traffic, levels).by_node
        loud.append(sum(by_node[0::2]) * time_us / 1e6 / seconds)
        quiet.append(sum(by_node[1::2]) * time_us / 1e6 / seconds)
    agrees(quiet, half * math.exp(-4 * half), 2 * half)
    expected = pure_aloha(half)
    chance = T_15 * statistics.stdev(loud) / math.sqrt(RUNS)
    finite = expected * (4 * (1 + 2 * half) / STATIONS + 4 * (1 + 2 * half) / PACKETS + half * late)
    assert abs(statistics.mean(loud) - expected) <= chance + finite


def test_traffic_is_counted() -> None:
    radio = load_radio("nrf24")
    carried = carry(radio, OfferedTraffic(20, 12, 0.02, 20.0, seed=3))
    assert carried.offered == carried.sent == carried.received + carried.collided
    assert carried.offered == pytest.approx(20 * 20 / 0.02, rel=0.05) and carried.collided > 100
    assert sum(carried.by_node) == carried.received and len(carried.by_node) == 20
    assert carried.share == carried.received / carried.offered
    assert carried.goodput_bps == pytest.approx(8 * 12 * carried.received / 20)
    assert carried.throughput == pytest.approx(carried.received * air_time_us(radio, 12) / 20e6)
    assert 0.99 < carried.fairness < 1
    assert carried.latency_us is not None and carried.latency_us["p50"] == air_time_us(radio, 12)
    assert carried.captured == carried.faint == carried.waited == carried.given_up == 0


def test_periodic_nodes_send_at_their_own_phase() -> None:
    radio = load_radio("nrf24")
    carried = carry(radio, OfferedTraffic(3, 12, 10.0, 100.0, periodic=True))
    assert carried.offered == 30 and carried.by_node == [10, 10, 10]
    assert carried.share == carried.fairness == 1.0


def test_equal_seeds_give_equal_traffic_and_others_other() -> None:
    def found(seed: int, nodes: int = 5) -> Carried:
        return carry(load_radio("802.15.4"), OfferedTraffic(nodes, 30, 0.05, 5.0, seed=seed))

    assert found(1) == found(1)
    assert found(1).latencies_us != found(2).latencies_us


def test_who_waits_and_who_gives_up_is_told() -> None:
    busy = OfferedTraffic(40, 116, 0.1, 5.0)
    carried = carry(load_radio("802.15.4"), busy)
    assert carried.given_up > 0 and carried.waited > carried.given_up
    assert carried.offered == carried.sent + carried.given_up
    far = Levels({(1, 0): -96.0})
    assert carry(load_radio("802.15.4"), OfferedTraffic(1, 12, 1.0, 50.0), far).faint > 30


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((0, 12, 1.0, 1.0), "0 nodes; give 1 or more"),
        ((1, 12, 0.0, 1.0), "a packet every 0.0 s"),
        ((1, 12, math.inf, 1.0), "a packet every inf s"),
        ((1, 12, math.nan, 1.0), "a packet every nan s"),
        ((1, 12, 1.0, 0.0), "0.0 s of traffic"),
        ((1, 12, 1.0, SECONDS_MAX + 1), "at most a year"),
        ((1, 0, 1.0, 1.0), "packets of 0 bytes; it takes 1 to 32"),
        ((1, 33, 1.0, 1.0), "packets of 33 bytes; it takes 1 to 32"),
    ],
)
def test_impossible_traffic_is_refused(given: tuple[int, int, float, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        carry(load_radio("nrf24"), OfferedTraffic(*given))


def test_nothing_offered_is_nothing_lost() -> None:
    carried = carry(load_radio("nrf24"), OfferedTraffic(1, 12, 1e9, 0.001))
    assert (carried.offered, carried.share, carried.fairness, carried.latency_us) == (0, 1.0, 1.0, None)
