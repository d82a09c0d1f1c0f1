"""A radio surveyed over a range of message lengths: costs, what padding gains, the best lengths. Pure.

Vectorised with numpy, which the rest of this room does without: the tool set "link" brings it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from motecrypt.air.radios.catalog import Radio
from motecrypt.air.radios.costs import AirCosts, costs, padded_bytes

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PacketChoice:
    """One packet length: mean time to deliver over the range, as it is and padded to whole packets, in us."""

    packet_bytes: int
    mean_delivery_us: float
    mean_padded_us: float


@dataclass(frozen=True)
class Survey:
    """All figures for messages of these lengths on one radio.

    Attributes
    ----------
    radio : Radio
    plain, padded : AirCosts
        Arrays, one entry for each length: the message as it is, and padded to whole packets.
    gain_us : array
        What padding gains in time to deliver; negative where it loses.
    packets : list of PacketChoice
        Every packet length that the radio takes.
    """

    radio: Radio
    plain: AirCosts
    padded: AirCosts
    gain_us: Floats
    packets: list[PacketChoice]

    @property
    def best_message(self) -> int:
        """Index of the length that is delivered at the highest rate."""
        return int(np.argmax(self.plain.message_bytes / self.plain.delivery_time_us))

    @property
    def best_packet(self) -> PacketChoice:
        """The packet length whose mean time to deliver is lowest when messages are left as they are."""
        return min(self.packets, key=lambda choice: choice.mean_delivery_us)

    @property
    def best_packet_padded(self) -> PacketChoice:
        """The same when every message is padded to whole packets."""
        return min(self.packets, key=lambda choice: choice.mean_padded_us)

    def rows(self) -> list[dict[str, Any]]:
        """One plain record for each length."""
        fields = ("packets", "air_bytes", "air_time_us", "write_time_us", "delivery_time_us")
        energy = ("sender_uj", "receiver_uj")
        records = []
        for index, length in enumerate(self.plain.message_bytes):
            record: dict[str, Any] = {"message_bytes": int(length)}
            for name in (*fields, *energy):
                record[name] = round(float(getattr(self.plain, name)[index]), 3)
            record["packets"] = int(record["packets"])
            record["padded_bytes"] = int(self.padded.message_bytes[index])
            record["padded_delivery_time_us"] = round(float(self.padded.delivery_time_us[index]), 3)
            record["padding_gain_us"] = round(float(self.gain_us[index]), 3)
            records.append(record)
        return records

    def document(self) -> dict[str, Any]:
        """All of it as JSON."""
        rows = self.rows()
        return {
            "radio": self.radio.name,
            "figures": self.radio.figures,
            "messages": rows,
            "best_message_bytes": rows[self.best_message]["message_bytes"],
            "best_packet_bytes": self.best_packet.packet_bytes,
            "best_packet_bytes_padded": self.best_packet_padded.packet_bytes,
            "packets": self.packets,
        }


def survey(radio: Radio, lengths: NDArray[np.int64]) -> Survey:
    """Survey messages of these lengths (1 or more bytes)."""
    plain, padded = _both(radio, lengths)
    gain: Floats = plain.delivery_time_us - padded.delivery_time_us
    low, high = (int(radio.value(f"packet_bytes_{end}")) for end in ("min", "max"))
    packets = []
    for packet_bytes in range(low, high + 1):
        one, other = _both(radio.with_figures(packet_bytes=packet_bytes), lengths)
        packets.append(
            PacketChoice(
                packet_bytes, float(one.delivery_time_us.mean()), float(other.delivery_time_us.mean())
            )
        )
    return Survey(radio, plain, padded, gain, packets)


def _both(radio: Radio, lengths: NDArray[np.int64]) -> tuple[AirCosts, AirCosts]:
    return costs(radio, lengths), costs(radio, padded_bytes(radio, lengths))
