"""Many ports on one channel: serial sides, networks, counts; and in agreement with the pair of two."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motecrypt.air.radios import Channel, RadioNetwork, RadioPair, load_radio, radio_names
from motecrypt.air.radios.catalog import ChannelSharing, SourcedNumber
from motecrypt.air.radios.levels import Levels
from motecrypt.air.radios.network import NODES_MAX, PortTally, percentiles
from motecrypt.base.errors import InputError

Heard = dict[int, list[tuple[float, bytes]]]


def run(network: RadioNetwork | RadioPair, until_us: float = 1e9) -> Heard:
    """What results of each port, and when."""
    heard: Heard = {}
    while (due_us := network.next_us()) is not None and due_us <= until_us:
        for arrival in network.advance(due_us):
            heard.setdefault(arrival.end, []).append((arrival.time_us, arrival.data))
    return heard


def command(network: RadioNetwork, end: int, *lines: str) -> None:
    """Enter the command mode of a port, give commands, leave it."""
    now_us = network.now_us + 2e6
    network.advance(now_us)
    network.write(end, b"+++", now_us)
    network.advance(now_us := now_us + 1.5e6)
    for line in (*lines, "ATAC", "ATDN"):
        network.write(end, line.encode() + b"\r", now_us)
        network.advance(now_us := now_us + 1e5)


def test_every_port_hears_what_one_sends() -> None:
    network = RadioNetwork(load_radio("srf"), 4)
    network.write(1, b"twelve bytes", 0.0)
    heard = run(network)
    # 12 bytes on the line, turn to sending, 25 bytes on the air, 12 bytes on the line.
    due_us = pytest.approx(12 * 1e7 / 115_200 + 30 + 25 * 32 + 12 * 1e7 / 115_200)
    assert heard == {end: [(due_us, b"twelve bytes")] for end in (0, 2, 3)}
    assert network.nodes == 4


@pytest.mark.parametrize("name", radio_names())
@pytest.mark.parametrize("size", [1, 12, 100])
def test_two_ports_are_a_pair_that_never_collides(name: str, size: int) -> None:
    radio = load_radio(name).with_figures(gap_us=0)
    turn_us = radio.sharing.known("cca_turn_us") or 0.0
    space_us = 0.0
    if radio.sharing.access in ("csma-ca", "dcf"):  # without back-offs and the intervals around them
        figures = dict(radio.sharing.figures)
        for figure in (
            *("backoff_exponent_min", "backoff_exponent_max", "backoff_slots"),
            *("cca_us", "difs_us", "packet_space_us"),
        ):
            if figure in figures:
                figures[figure] = SourcedNumber(0, "", "here")
        radio = replace(radio, sharing=ChannelSharing(radio.sharing.access, figures))
    pair, network = RadioPair(radio), RadioNetwork(radio, 2)
    for both in (pair, network):
        both.write(0, bytes(size), 0.0)
    packets = -(-size // radio.packet_bytes)
    expected = [(time_us, data) for time_us, data in run(pair)[1]]
    found = run(network)[1]
    assert [data for _, data in found] == [data for _, data in expected]
    for (found_us, _), (expected_us, _) in zip(found, expected, strict=True):
        assert expected_us - 1e-6 <= found_us <= expected_us + packets * (turn_us + space_us) + 1e-6
    assert found[0][0] == pytest.approx(expected[0][0] + turn_us)


def test_another_network_neither_hears_nor_is_heard_and_still_collides() -> None:
    network = RadioNetwork(load_radio("nrf24"), 4)
    command(network, 2, "ATID1234")
    command(network, 3, "ATID1234")
    begun_us = network.now_us + 1e6
    network.advance(begun_us)
    network.write(0, b"to 1", begun_us)
    network.write(2, b"to 3", begun_us + 1000)
    heard = run(network)
    assert {end: [data for _, data in came] for end, came in heard.items()} == {1: [b"to 1"], 3: [b"to 3"]}
    again_us = network.now_us + 1e6
    network.write(0, b"to 1", again_us)
    network.write(2, b"to 3", again_us + 50)
    assert run(network) == {}
    assert [network.tally(end).collided for end in range(4)] == [0, 1, 0, 1]
    assert [network.tally(end).wanted for end in range(4)] == [2, 0, 2, 0]


def test_another_channel_does_not_collide() -> None:
    network = RadioNetwork(load_radio("nrf24"), 4)
    for end in (2, 3):
        command(network, end, "ATCN5")
    begun_us = network.now_us + 1e6
    network.write(0, b"to 1", begun_us)
    network.write(2, b"to 3", begun_us + 50)
    assert sorted(run(network)) == [1, 3]


def test_a_radio_that_was_set_otherwise_sends_so() -> None:
    network = RadioNetwork(load_radio("srf"), 3)
    for end in (0, 1):
        command(network, end, "ATPK18", "ATDR2")
    begun_us = network.now_us + 1e6
    network.write(0, bytes(24), begun_us)
    heard = run(network)
    line_us = 24 * 1e7 / 115_200
    air_us = (13 + 24) * 8e6 / 38_400
    assert heard == {1: [(pytest.approx(begun_us + line_us + 30 + air_us + line_us), bytes(24))]}


def test_loss_of_one_way_is_that_way_alone() -> None:
    levels = Levels(loss={(0, 1): 1.0, (1, 0): 0.0})
    network = RadioNetwork(load_radio("nrf24"), 3, Channel(), levels)
    network.write(0, b"x", 0.0)
    network.write(1, b"y", 1e4)
    heard = run(network)
    assert {end: [data for _, data in came] for end, came in heard.items()} == {0: [b"y"], 2: [b"x", b"y"]}
    assert [network.port_summary(end)["lost"] for end in range(3)] == [0, 1, 0]
    assert network.tally(0).reached == 1 and network.tally(0).wanted == 2


def test_the_channel_damages_doubles_and_reorders_at_each_port() -> None:
    network = RadioNetwork(load_radio("nrf24"), 3, Channel(duplicate=1.0))
    network.write(0, b"x", 0.0)
    assert {end: len(came) for end, came in run(network).items()} == {1: 2, 2: 2}
    assert [network.port_summary(end)["duplicated"] for end in range(3)] == [0, 1, 1]
    network = RadioNetwork(load_radio("nrf24"), 3, Channel(reorder=1.0))
    network.write(0, b"x", 0.0)
    network.write(0, b"y", 300.0)
    assert [data for _, data in run(network)[1]] == [b"y", b"x"]
    assert [network.port_summary(end)["reordered"] for end in range(3)] == [0, 1, 1]


def test_what_a_port_tells() -> None:
    network = RadioNetwork(load_radio("nrf24"), 3, Channel(), Levels({(0, 2): -40.0, (1, 2): -60.0}))
    assert network.summary() == {"seconds": 0.0, "goodput_bps": 0.0, "fairness": None, "latency_us": None}
    network.write(0, b"four", 0.0)
    network.write(1, b"gone", 50.0)
    run(network)
    network.write(1, b"sixsix", 1000.0)
    run(network)
    network.advance(1e6)
    air_us = {size: 130 + (8 + 40 + 9 + 16 + 8 * size) / 2 for size in (4, 6)}
    nothing = dict.fromkeys(network.port_summary(0), 0)
    assert network.port_summary(0) == nothing | {
        "sent": 1,
        "air_time_us": air_us[4],
        "wanted": 2,
        "reached": 1,
        "received": 1,
        "received_bytes": 6,
        "deaf": 1,
    }
    assert network.port_summary(1) == nothing | {
        "sent": 2,
        "air_time_us": air_us[4] + air_us[6],
        "wanted": 4,
        "reached": 2,
        "deaf": 1,
    }
    assert network.port_summary(2) == nothing | {
        "received": 2,
        "received_bytes": 10,
        "captured": 1,
        "collided": 1,
    }
    assert network.summary() == {
        "seconds": 1.0,
        "goodput_bps": 80.0,
        "fairness": 1.0,
        "latency_us": {"p50": air_us[4], "p90": air_us[6], "p99": air_us[6], "max": air_us[6]},
    }


def test_waiting_and_giving_up_are_told() -> None:
    radio = load_radio("802.15.4")
    none = ("backoffs_max", "backoff_exponent_min", "backoff_exponent_max")
    figures = {**radio.sharing.figures, **dict.fromkeys(none, SourcedNumber(0, "", "here"))}
    radio = replace(radio, sharing=ChannelSharing("csma-ca", figures))
    network = RadioNetwork(radio, 2)
    network.write(0, bytes(116), 0.0)
    network.write(1, b"x", 2000.0)  # 0 sends from 320 to 4576
    run(network)
    assert network.port_summary(1)["waited"] == network.port_summary(1)["given_up"] == 1
    assert network.port_summary(1)["sent"] == 0
    network = RadioNetwork(load_radio("srf"), 2)
    network.write(0, bytes(12), 0.0)
    network.write(1, bytes(12), 300.0)
    run(network)
    assert network.port_summary(1)["waited"] == 1 and network.port_summary(1)["given_up"] == 0
    assert network.port_summary(0)["waited"] == 0


def test_percentiles_are_of_the_nearest_rank() -> None:
    assert percentiles([]) is None
    assert percentiles([7.0]) == {"p50": 7.0, "p90": 7.0, "p99": 7.0, "max": 7.0}
    values = [float(n) for n in range(200, 0, -1)]
    assert percentiles(values) == {"p50": 100.0, "p90": 180.0, "p99": 198.0, "max": 200.0}


@pytest.mark.parametrize("nodes", [-1, 0, 1, NODES_MAX + 1])
def test_other_numbers_of_nodes_are_refused(nodes: int) -> None:
    with pytest.raises(InputError, match=f"{nodes} nodes on a channel; give 2 to 250"):
        RadioNetwork(load_radio("srf"), nodes)


Writes = list[tuple[int, int, int]]


def played(radio: str, writes: Writes, seed: int, levels: Levels | None) -> tuple[RadioNetwork, Heard]:
    channel = Channel(loss=0.2, duplicate=0.1, reorder=0.1, seed=seed)
    network = RadioNetwork(load_radio(radio), 5, channel, levels)
    heard: Heard = {}
    for end, at_us, size in sorted(writes, key=lambda write: write[1]):
        for arrival in network.advance(float(at_us)):
            heard.setdefault(arrival.end, []).append((arrival.time_us, arrival.data))
        network.write(end, bytes([end]) * size, float(at_us))
    for end, came in run(network).items():
        heard.setdefault(end, []).extend(came)
    return network, heard


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(radio_names()),
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 30_000), st.integers(1, 40)), min_size=1, max_size=12
    ),
    st.booleans(),
    st.integers(1, 99),
)
def test_nothing_is_counted_twice_or_forgotten(radio: str, writes: Writes, apart: bool, seed: int) -> None:
    levels = None
    if apart:
        levels = Levels({(a, b): -40.0 - 35 * abs(a - b) for a in range(5) for b in range(5)})
    network, heard = played(radio, writes, seed, levels)
    tallies = [network.tally(end) for end in range(5)]
    for tally in tallies:
        assert tally.wanted == 4 * tally.sent
        others = sum(other.sent for other in tallies if other is not tally)
        assert tally.received + tally.collided + tally.deaf + tally.faint == others
        assert tally.captured <= tally.received
        assert tally.hearing.delivered == tally.received - tally.hearing.lost + tally.hearing.duplicated
    assert sum(t.reached for t in tallies) == sum(t.received - t.hearing.lost for t in tallies)
    for end, tally in enumerate(tallies):
        came = b"".join(data for _, data in heard.get(end, []))
        assert end not in came and len(came) >= tally.received_bytes
    again, heard_again = played(radio, writes, seed, levels)
    assert heard_again == heard
    assert [asdict(again.tally(end)) for end in range(5)] == [asdict(tally) for tally in tallies]


def test_the_seed_decides_what_is_lost() -> None:
    def lost(seed: int) -> Any:
        network = RadioNetwork(load_radio("nrf24"), 3, Channel(loss=0.5, seed=seed))
        for number in range(64):
            network.write(0, bytes([number]), number * 1000.0)
            network.advance((number + 1) * 1000.0 - 1)
        return [network.port_summary(end) for end in range(3)], run(network)

    assert lost(1) == lost(1) and lost(1) != lost(2)
    ports, _ = lost(1)
    assert ports[1] != ports[2]  # each its own dice
    assert isinstance(PortTally(), PortTally)
