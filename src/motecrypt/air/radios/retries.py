"""Stop-and-wait protocols on a lossy radio, in expected values. Pure.

A message is repeated until its reply comes, a fixed number of times at most; then the next one follows.
Packets are lost independently of each other, with the same chance both ways. Times without loss are those of
costs.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from motecrypt.air.radios.air import air_time_us
from motecrypt.air.radios.catalog import Radio
from motecrypt.air.radios.costs import costs
from motecrypt.base.energy import energy_uj


@dataclass(frozen=True)
class ExchangeStep:
    """A message and what repeats it.

    Attributes
    ----------
    request_bytes, reply_bytes : of the message and its reply, as they are handed to the radio; 0: no reply.
    waits_us : of each try, the time until the next one, or until the sender gives up.
    """

    request_bytes: int
    reply_bytes: int = 0
    waits_us: tuple[float, ...] = (0.0,)


@dataclass(frozen=True)
class ExchangeOutcome:
    """What an exchange comes to on average.

    Attributes
    ----------
    delivered : the chance that the message with the payload arrives.
    told : the chance that the sender is informed; None without a reply.
    packets, air_bytes : of both ends, with what the radio adds to each packet.
    own_air_us, reply_air_us : air time of the sender, and of the other end.
    done_us : until the sender is informed or gives up; without a reply, until the message is delivered.
    delivery_us : until the payload is delivered where nothing is lost.
    """

    delivered: float
    told: float | None
    packets: float
    air_bytes: float
    own_air_us: float
    reply_air_us: float
    done_us: float
    delivery_us: float

    def sender_uj(self, radio: Radio) -> float:
        """Energy of the sender's radio: it sends, and listens for the rest of the time."""
        volts = radio.value("supply_v")
        listens_us = max(0.0, self.done_us - self.own_air_us)
        sends = energy_uj(volts, radio.value("tx_ma"), self.own_air_us)
        return sends + energy_uj(volts, radio.value("rx_ma"), listens_us)


def reply_us(radio: Radio, request_bytes: int, reply_bytes: int) -> float:
    """From the last byte of a message out of a radio to the last byte of its reply out of the other one."""
    packet = radio.packet_bytes
    out_us = (request_bytes % packet or packet) * radio.serial_byte_us
    in_us = packet * radio.serial_byte_us
    if reply_bytes < packet:
        in_us = reply_bytes * radio.serial_byte_us + radio.timeout_us
    turns_us = max(0.0, max(radio.value("turn_round_us"), radio.value("gap_us")) - out_us - in_us)
    whole_us = float(costs(radio, reply_bytes).delivery_time_us)
    rest = reply_bytes % packet
    if reply_bytes < packet or not rest or not radio.timeout_us:
        return turns_us + whole_us
    # Its last packet waits for the timeout, and the radio turns round meanwhile.
    full_us = float(costs(radio, reply_bytes - rest).delivery_time_us)
    last_us = float(air_time_us(radio, rest)) + rest * radio.serial_byte_us
    return max(whole_us, turns_us + full_us + last_us)


def exchanged(radio: Radio, steps: Sequence[ExchangeStep], payload: int, loss: float) -> ExchangeOutcome:
    """One exchange of several steps.

    Parameters
    ----------
    steps : in their order; one that is not answered ends all.
    payload : which of them brings the payload, from 0.
    loss : of each packet, 0 to less than 1.
    """
    reached = 1.0
    packets = air_bytes = own_air_us = reply_air_us = done_us = delivered = delivery_us = passed_us = 0.0
    for number, step in enumerate(steps):
        request = costs(radio, step.request_bytes)
        gets = (1 - loss) ** int(request.packets)
        tries = len(step.waits_us)
        if number == payload:
            delivered = reached * (1 - (1 - gets) ** tries)
            delivery_us = passed_us + float(request.delivery_time_us)
        if not step.reply_bytes:
            packets += reached * float(request.packets)
            air_bytes += reached * float(request.air_bytes)
            own_air_us += reached * float(request.air_time_us)
            done_us += reached * float(request.delivery_time_us)
            continue
        reply = costs(radio, step.reply_bytes)
        once = gets * (1 - loss) ** int(reply.packets)
        round_us = float(request.delivery_time_us) + reply_us(radio, step.request_bytes, step.reply_bytes)
        made = waited_us = 0.0
        going, before_us = 1.0, 0.0
        for wait_us in step.waits_us:
            made += going
            waited_us += going * once * (before_us + round_us)
            going *= 1 - once
            before_us += wait_us
        waited_us += going * before_us
        packets += reached * made * (float(request.packets) + gets * float(reply.packets))
        air_bytes += reached * made * (float(request.air_bytes) + gets * float(reply.air_bytes))
        own_air_us += reached * made * float(request.air_time_us)
        reply_air_us += reached * made * gets * float(reply.air_time_us)
        done_us += reached * waited_us
        passed_us += round_us
        reached *= 1 - going
    told = reached if steps[-1].reply_bytes else None
    return ExchangeOutcome(
        delivered, told, packets, air_bytes, own_air_us, reply_air_us, done_us, delivery_us
    )
