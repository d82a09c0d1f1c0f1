"""How long an answer may take on a radio: where the link's deadlines come from."""

from __future__ import annotations

from dataclasses import dataclass

from motecrypt.link.frames import frame_bytes
from motecrypt.radios.air import air_time_us
from motecrypt.radios.catalog import Radio


@dataclass(frozen=True)
class Timing:
    """Deadlines of one link, in us.

    Attributes
    ----------
    packet_bytes : the radio's packet length.
    frame_us : time that each further frame of a burst takes.
    round_trip_us : from the end of a burst to the end of its answer, on a radio that loses nothing.
    slack_us : what programs and operating systems may add.
    tries : bursts without any progress after which a message is given up.
    """

    packet_bytes: int
    frame_us: float
    round_trip_us: float
    slack_us: float = 100_000.0
    tries: int = 10

    @classmethod
    def of(cls, radio: Radio, slack_us: float = 100_000.0, tries: int = 10) -> Timing:
        """The deadlines that this radio's figures give."""
        packet = radio.packet_bytes
        packets = frame_bytes(packet) // packet
        line_us = packet * radio.serial_byte_us
        air_us = air_time_us(radio, packet) + radio.value("gap_us")
        frame_us = packets * max(line_us, air_us)
        once_us = 2 * line_us + air_us + radio.value("turn_round_us") + frame_us
        return cls(packet, frame_us, 2 * once_us, slack_us, tries)

    def deadline_us(self, frames: int, failures: int) -> float:
        """How long to wait for the answer to a burst of `frames`, after so many failures in a row."""
        return self.frame_us * frames + self.round_trip_us + self.slack_us * min(1.5**failures, 20.0)
