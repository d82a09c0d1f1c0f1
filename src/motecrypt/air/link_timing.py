"""How long an answer may take on a radio: where the link's deadlines come from."""

from __future__ import annotations

import math

from motecrypt.air.radios.air import air_time_us
from motecrypt.air.radios.catalog import Radio
from motecrypt.link.native import PIECES_MAX

SLACK_MS = 200
"""Delay that programs and operating systems may add."""
ANSWER_MS_MAX = 60_000
"""The core's clock wraps around after 65 s."""


def answer_ms(radio: Radio) -> int:
    """From the first byte of the longest message to the end of its answer, in ms, with slack.

    A packet passes the line to the radio, the air and the line from the radio; the packets of one message
    follow each other at the pace of the slower of line and air.
    """
    packet = radio.packet_bytes
    line_us = packet * radio.serial_byte_us
    air_us = air_time_us(radio, packet) + radio.value("gap_us")
    once_us = 2 * line_us + air_us
    pace_us = max(line_us, air_us)
    whole_us = (PIECES_MAX - 1) * pace_us + 2 * once_us + 2 * radio.value("turn_round_us")
    return min(math.ceil(float(whole_us) / 1000) + SLACK_MS, ANSWER_MS_MAX)
