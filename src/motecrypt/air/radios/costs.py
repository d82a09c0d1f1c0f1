"""What a message of n bytes costs on a radio, when nothing is lost: closed form, vectorised.

Three stages in line, each busy with one packet at a time: the serial line into the sender's radio,
the air, and the serial line out of the receiver's radio. A packet that is not full goes only when the
timeout has passed after its last byte. `pair.py` is the same model event by event; a test compares
the two.
"""

from __future__ import annotations

from dataclasses import dataclass

from motecrypt.air.radios.air import Amount, air_time_us, overhead_bytes
from motecrypt.air.radios.catalog import Radio


@dataclass(frozen=True)
class AirCosts:
    """What one message (or an array of messages) costs.

    Attributes
    ----------
    message_bytes : bytes handed to the radio, 1 or more.
    packets : packets on the air.
    air_bytes : bytes on the air, with each packet's overhead.
    air_time_us : time the transmitter is on, in us.
    write_time_us : time to hand the message to the radio over the serial line, in us: the line-rate
        bound, which no program on that line can beat. 0 where the radio has no serial line.
    delivery_time_us : from the first bit on the sender's serial line to the last byte out of the
        receiver's, in us.
    sender_uj, receiver_uj : energy of the two radios while the message is on the air, in microjoules;
        supply voltage times data-sheet current times air time. Idle listening is not in it.
    """

    message_bytes: Amount
    packets: Amount
    air_bytes: Amount
    air_time_us: Amount
    write_time_us: Amount
    delivery_time_us: Amount
    sender_uj: Amount
    receiver_uj: Amount


def _larger(first: Amount, second: Amount) -> Amount:
    """The larger of two, for numbers and arrays."""
    return first * (first >= second) + second * (second > first)


def padded_bytes(radio: Radio, message_bytes: Amount) -> Amount:
    """The length of a message once it is padded to whole packets."""
    return -(-message_bytes // radio.packet_bytes) * radio.packet_bytes


def costs(radio: Radio, message_bytes: Amount) -> AirCosts:
    """What messages of these lengths cost on this radio, without loss.

    Parameters
    ----------
    radio : Radio
    message_bytes : int or numpy integer array
        1 or more. On a radio with a serial line each message is written in one go and back to back.

    Returns
    -------
    AirCosts
        Numbers for a number, arrays for an array.
    """
    packet = radio.packet_bytes
    byte_us = radio.serial_byte_us
    gap_us = radio.value("gap_us")
    full = message_bytes // packet
    rest = message_bytes - full * packet
    some_full = full > 0
    short = rest > 0

    in_us = packet * byte_us
    full_air_us = air_time_us(radio, packet)
    rest_air_us = air_time_us(radio, _larger(rest, 1)) * short
    slot_us = full_air_us + gap_us
    steady_us = max(in_us, slot_us)
    # When the air and the receiver's line are free after the full packets:
    air_free_us = (in_us + (full - 1) * steady_us + slot_us) * some_full
    last_full_us = (in_us + full_air_us + (full - 1) * max(in_us, slot_us)) * some_full + in_us * some_full

    ready_us = message_bytes * byte_us + radio.timeout_us
    rest_end_us = _larger(ready_us, air_free_us) + rest_air_us
    rest_out_us = _larger(rest_end_us, last_full_us) + rest * byte_us
    delivery_us = last_full_us * (1 - short) + rest_out_us * short

    air_us = full * full_air_us + rest_air_us
    packets = full + short
    power = radio.value("supply_v") * air_us / 1000
    return AirCosts(
        message_bytes=message_bytes,
        packets=packets,
        air_bytes=message_bytes + packets * overhead_bytes(radio),
        air_time_us=air_us,
        write_time_us=message_bytes * byte_us,
        delivery_time_us=delivery_us,
        sender_uj=power * radio.value("tx_ma"),
        receiver_uj=power * radio.value("rx_ma"),
    )
