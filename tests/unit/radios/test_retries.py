"""Stop-and-wait in expected values: without loss as the events, with loss as the mean of many runs."""

from __future__ import annotations

import random

import pytest

from motecrypt.air.radios import Channel, Radio, RadioPair, costs, load_radio
from motecrypt.air.radios.retries import ExchangeStep, exchanged, reply_us
from motecrypt.measuring.experiments.crowd import CrowdPlan, crowd

RADIOS = ("srf", "nrf24", "802.15.4", "lora", "cc1101")


def played(radio: Radio, request: int, reply: int) -> float:
    """When the last byte of the reply is out, by the events of two radios."""
    pair, heard, last_us = RadioPair(radio), 0, 0.0
    pair.write(0, bytes(request), 0.0)
    while (due_us := pair.next_us()) is not None:
        for arrival in pair.advance(due_us):
            if arrival.end == 1:
                heard += len(arrival.data)
                if heard == request:
                    pair.write(1, bytes(reply), arrival.time_us)
            last_us = arrival.time_us
    return last_us


@pytest.mark.parametrize("name", RADIOS)
@pytest.mark.parametrize("request_bytes", [5, 12, 14, 24])
@pytest.mark.parametrize("reply_bytes", [5, 12, 16])
def test_without_loss_times_are_those_of_the_events(name: str, request_bytes: int, reply_bytes: int) -> None:
    radio = load_radio(name)
    outcome = exchanged(radio, (ExchangeStep(request_bytes, reply_bytes, (1e9,)),), 0, 0.0)
    assert outcome.done_us == pytest.approx(played(radio, request_bytes, reply_bytes), abs=0.5)
    assert outcome.delivery_us == pytest.approx(costs(radio, request_bytes).delivery_time_us)
    assert (outcome.delivered, outcome.told) == (1.0, 1.0)
    both = [costs(radio, count) for count in (request_bytes, reply_bytes)]
    assert outcome.packets == sum(cost.packets for cost in both)
    assert outcome.air_bytes == pytest.approx(sum(cost.air_bytes for cost in both))
    assert outcome.reply_air_us == pytest.approx(both[1].air_time_us)


def test_a_message_without_a_reply_is_sent_once() -> None:
    radio = load_radio("srf")
    outcome = exchanged(radio, (ExchangeStep(30),), 0, 0.1)
    assert outcome.delivered == pytest.approx(0.9**3) and outcome.told is None and outcome.packets == 3
    assert outcome.done_us == outcome.delivery_us == costs(radio, 30).delivery_time_us


def simulated(radio: Radio, steps: tuple[ExchangeStep, ...], loss: float, runs: int) -> tuple[float, ...]:
    """Shares delivered (in the last step) and reported, packets and time, as means of many runs."""
    chance = random.Random(5)
    delivered = told = packets = done_us = 0.0
    for _ in range(runs):
        for number, step in enumerate(steps):
            there = answered = False
            request, reply = costs(radio, step.request_bytes), costs(radio, step.reply_bytes)
            for wait_us in step.waits_us:
                packets += int(request.packets)
                comes = all(chance.random() >= loss for _ in range(int(request.packets)))
                there |= comes
                if comes:
                    packets += int(reply.packets)
                    if all(chance.random() >= loss for _ in range(int(reply.packets))):
                        answered = True
                        done_us += request.delivery_time_us + reply_us(
                            radio, step.request_bytes, step.reply_bytes
                        )
                        break
                done_us += wait_us
            if number == len(steps) - 1:
                delivered += there
                told += answered
            if not answered:
                break
    return tuple(total / runs for total in (delivered, told, packets, done_us))


@pytest.mark.parametrize("loss", [0.1, 0.5])
def test_with_loss_it_is_the_mean_of_many_runs(loss: float) -> None:
    radio = load_radio("srf")
    steps = (ExchangeStep(14, 5, (2.5e6, 5e6, 1e7)), ExchangeStep(30, 4, (1e6, 1e6)))
    outcome = exchanged(radio, steps, 1, loss)
    delivered, told, packets, done_us = simulated(radio, steps, loss, 6_000)
    assert outcome.delivered == pytest.approx(delivered, abs=0.02)
    assert outcome.told == pytest.approx(told, abs=0.02)
    assert outcome.packets == pytest.approx(packets, rel=0.03)
    assert outcome.done_us == pytest.approx(done_us, rel=0.05)


def test_the_link_on_a_network_needs_as_many_packets() -> None:
    """The core itself over the events of radios/network.py: a short confirmed message, 10 % lost each way."""
    radio = load_radio("srf")
    told = crowd(CrowdPlan(radio, 1, 3.0, 6000.0, channel=Channel(loss=0.1, seed=3)))
    outcome = exchanged(radio, (ExchangeStep(12, 12, (257e3,) * 10),), 0, 0.1)
    assert (told.packets + told.answers) / told.readings == pytest.approx(outcome.packets, rel=0.03)
    mean_us = sum(told.latencies_us) / len(told.latencies_us)
    # A reading arrives with its n-th try when those before it were lost, not when only answers were.
    adds_us = sum(257e3 * n * 0.9 * 0.1**n for n in range(10))
    assert mean_us == pytest.approx(outcome.delivery_us + 30 + adds_us, rel=0.08)
    assert told.accepted == told.readings


def test_energy_is_sending_and_listening() -> None:
    radio = load_radio("srf")
    outcome = exchanged(radio, (ExchangeStep(12, 12, (250e3,) * 10),), 0, 0.0)
    volts, sends, listens = (radio.value(name) for name in ("supply_v", "tx_ma", "rx_ma"))
    expected = volts * (sends * 800 + listens * (outcome.done_us - 800)) / 1000
    assert outcome.own_air_us == 800 and outcome.sender_uj(radio) == pytest.approx(expected)
