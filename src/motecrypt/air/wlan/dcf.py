"""How long a file takes over 802.11b or g, in closed form. Pure: no simulator, no clock, no files.

The model is the timing of the distributed coordination function (IEEE Std 802.11-2012, 9.3), summed
over the frames that a TCP or UDP transfer needs. It agrees with ns-3 within a few per cent where the
signal is good (a test holds it to 10 %). For a poor signal it gives an estimate from the link budget
and Rayleigh fading, and reports it; ns-3 is the better tool there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from motecrypt.base.errors import InputError

Mode = Literal["adhoc", "infrastructure"]
Protocol = Literal["tcp", "udp"]

MODES: tuple[str, ...] = ("adhoc", "infrastructure")
PROTOCOLS: tuple[str, ...] = ("tcp", "udp")
RELAYED = ("infrastructure",)  # modes in which an access point forwards everything
ANSWERED = ("tcp",)  # protocols whose receiver acknowledges
SIGNALS: tuple[str, ...] = ("good", "poor")

MAC_BYTES = 24 + 4  # header and frame check sequence
LLC_BYTES = 8  # LLC and SNAP
IP_BYTES = 20
TCP_BYTES = 32  # with the timestamp option, as every usual stack sends it
UDP_BYTES = 8
PACKET_BYTES = 1500  # the usual largest IP packet
ACK_BYTES = 14
BEACON_US = 1230.0  # a beacon of about 100 bytes at 1 Mbit/s, with its wait
BEACON_PERIOD_US = 102_400.0
RETRY_LIMIT = 7
DSSS = (1.0, 2.0, 5.5, 11.0)
OFDM = (6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0)


@dataclass(frozen=True)
class Phy:
    """A physical layer's timing, in microseconds, and its rates in Mbit/s.

    ``slot_us`` may depend on the mode: 802.11g keeps 802.11b's long slot in an ad hoc network.
    """

    name: str
    slot_us: float
    sifs_us: float
    cw_min: int
    rates: tuple[float, ...]
    ack_rates: tuple[float, ...]
    ofdm: bool

    @property
    def difs_us(self) -> float:
        """The wait before a contention begins."""
        return self.sifs_us + 2 * self.slot_us

    @property
    def mean_backoff_us(self) -> float:
        """Half the first contention window."""
        return self.cw_min / 2 * self.slot_us

    def air_us(self, frame_bytes: int, rate: float) -> float:
        """Time on the air of a frame of that many bytes (MAC header and check sequence included).

        802.11b: long preamble and header of 192 us, then the bits (clause 17). 802.11g: 20 us, then
        symbols of 4 us with 22 service and tail bits, then 6 us of signal extension (clause 19).
        """
        bits = 8 * frame_bytes
        if not self.ofdm or rate in DSSS:
            return 192 + bits / rate
        return 20 + 4 * math.ceil((22 + bits) / (4 * rate)) + 6

    def ack_rate(self, rate: float) -> float:
        """The highest mandatory rate that is not above the frame's."""
        return max((r for r in self.ack_rates if r <= rate), default=min(self.ack_rates))

    def exchange_us(self, frame_bytes: int, rate: float, backoff_us: float = 0.0) -> float:
        """DIFS, the back-off given, the frame, SIFS and its acknowledgement."""
        ack_us = self.air_us(ACK_BYTES, self.ack_rate(rate))
        return self.difs_us + backoff_us + self.air_us(frame_bytes, rate) + self.sifs_us + ack_us


def phy(name: str, mode: str) -> Phy:
    """The physical layer ``b`` or ``g`` as it runs in that mode."""
    if mode not in MODES:
        raise InputError(f"unknown mode '{mode}': choose one of {', '.join(MODES)}")
    if name == "b":
        return Phy("b", 20, 10, 31, DSSS, DSSS, ofdm=False)
    if name == "g":
        return Phy("g", 9 if mode in RELAYED else 20, 10, 15, OFDM, (6.0, 12.0, 24.0), ofdm=True)
    raise InputError(f"unknown 802.11 physical layer '{name}': choose b or g")


@dataclass(frozen=True)
class Link:
    """How the two ends receive each other: mean received power over the receiver's sensitivity.

    Attributes
    ----------
    margin_db : dict
        For each rate in Mbit/s, mean received power less the sensitivity at that rate, in dB.
    fading : bool
        Rayleigh fading, new for each frame.
    """

    margin_db: dict[float, float]
    fading: bool

    def success(self, rate: float) -> float:
        """Probability that a frame at this rate is received."""
        margin = self.margin_db[rate]
        if not self.fading:
            return 1.0 if margin >= 0 else 0.0
        return math.exp(-(10 ** (-margin / 10)))


@dataclass(frozen=True)
class TransferTime:
    """What a transfer takes: times in microseconds, frames as sent, bytes on the air."""

    payload_bytes: int
    us: float
    data_frames: float
    air_bytes: float
    sender_tx_us: float
    sender_rx_us: float
    receiver_tx_us: float
    receiver_rx_us: float
    rate_mbit: float
    retries_per_frame: float
    applies: bool
    note: str

    @property
    def seconds(self) -> float:
        """Duration in seconds."""
        return self.us / 1e6


def payload_per_packet(protocol: str) -> int:
    """Bytes of the file in one full IP packet."""
    if protocol not in PROTOCOLS:
        raise InputError(f"unknown protocol '{protocol}': choose one of {', '.join(PROTOCOLS)}")
    return PACKET_BYTES - IP_BYTES - (TCP_BYTES if protocol in ANSWERED else UDP_BYTES)


def _tries(success: float) -> float:
    """Mean number of sendings of a frame that is dropped after the retry limit."""
    if success >= 1:
        return 1.0
    return (1 - (1 - success) ** (RETRY_LIMIT + 1)) / success if success > 0 else math.inf


def _retry_backoff_us(timing: Phy, success: float) -> float:
    """Mean extra back-off that a frame's repetitions cost: the window doubles up to 1023."""
    total, missed, window = 0.0, 1 - success, timing.cw_min
    for _ in range(RETRY_LIMIT):
        window = min(2 * window + 1, 1023)
        total += missed * window / 2 * timing.slot_us
        missed *= 1 - success
    return total


def _best_rate(timing: Phy, link: Link | None, frame_bytes: int) -> tuple[float, float]:
    """The rate with the largest goodput over this link, and its probability of success."""
    if link is None:
        return max(timing.rates), 1.0

    def cost(rate: float) -> float:
        success = link.success(rate)
        if success < 1e-6:
            return math.inf
        return timing.exchange_us(frame_bytes, rate, timing.mean_backoff_us) * _tries(
            success
        ) + _retry_backoff_us(timing, success)

    rate = min(timing.rates, key=cost)
    return rate, link.success(rate)


def transfer(
    payload_bytes: int,
    *,
    mode: str = "adhoc",
    phy_name: str = "b",
    protocol: str = "tcp",
    security_bytes: int = 0,
    link: Link | None = None,
) -> TransferTime:
    """Time, frames and radio states of moving a file between two stations.

    Parameters
    ----------
    payload_bytes : int
        Bytes of the file, at least 1.
    security_bytes : int
        Bytes that the WLAN security adds to each data frame (WEP 8, TKIP 20, CCMP 16).
    link : Link, optional
        Mean power and fading of each hop; without it every frame arrives at the highest rate.

    Notes
    -----
    One station's back-off runs while another's does, so only the busiest station's back-offs add up:
    the sender's in an ad hoc network, the access point's in infrastructure. Each frame that another
    station sends meets the busiest one's in the same slot once in ``cw_min + 1`` times; such a
    collision costs one more exchange and back-off.
    """
    if payload_bytes < 1:
        raise InputError(f"{payload_bytes} bytes cannot be sent: give a file of at least one byte")
    timing = phy(phy_name, mode)
    full = payload_per_packet(protocol)
    packets = math.ceil(payload_bytes / full)
    overhead = MAC_BYTES + LLC_BYTES + IP_BYTES + (TCP_BYTES if protocol in ANSWERED else UDP_BYTES)
    data_bytes = payload_bytes / packets + overhead + security_bytes
    frame_bytes = round(data_bytes)
    rate, success = _best_rate(timing, link, frame_bytes)
    if success < 1e-6:
        raise InputError("no rate works over this link: shorten it or remove walls")
    hops = 2 if mode in RELAYED else 1

    answers = math.ceil(packets / 2) if protocol in ANSWERED else 0
    answer_bytes = overhead + security_bytes
    data_us = timing.exchange_us(frame_bytes, rate)
    answer_us = timing.exchange_us(answer_bytes, rate)
    if mode in RELAYED:
        busiest = packets + answers
        others = packets + answers
    else:
        busiest = packets
        others = answers
    tries = _tries(success)
    collision_us = others / (timing.cw_min + 1) * (data_us + timing.mean_backoff_us)
    us = (
        hops * tries * (packets * data_us + answers * answer_us)
        + busiest * timing.mean_backoff_us
        + collision_us
        + hops * (packets + answers) * _retry_backoff_us(timing, success)
    )
    if mode in RELAYED:
        us *= 1 + BEACON_US / BEACON_PERIOD_US

    data_air = timing.air_us(frame_bytes, rate) * tries * packets
    answer_air = timing.air_us(answer_bytes, rate) * tries * answers
    mac_ack = timing.air_us(ACK_BYTES, timing.ack_rate(rate))
    sender_tx = data_air + mac_ack * answers
    sender_rx = answer_air + mac_ack * packets
    if mode in RELAYED:  # each station also receives the access point's other hop
        heard = data_air + answer_air + mac_ack * (packets + answers)
        overheard_by_sender, overheard_by_receiver = heard, heard
    else:
        overheard_by_sender = overheard_by_receiver = 0.0
    poor = link is not None and (link.fading or success < 1)
    return TransferTime(
        payload_bytes=payload_bytes,
        us=us,
        data_frames=hops * tries * (packets + answers),
        air_bytes=hops * tries * (packets * frame_bytes + answers * answer_bytes),
        sender_tx_us=sender_tx,
        sender_rx_us=sender_rx + overheard_by_sender,
        receiver_tx_us=answer_air + mac_ack * packets,
        receiver_rx_us=data_air + mac_ack * answers + overheard_by_receiver,
        rate_mbit=rate,
        retries_per_frame=tries - 1,
        applies=not poor,
        note="estimate from the link budget; ns-3 models the rate control and TCP's losses" if poor else "",
    )


def received_dbm(
    distance_m: float, *, transmit_dbm: float, walls_db: float, exponent: float, frequency_mhz: float = 2437
) -> float:
    """Mean received power over a log-distance path: free space to 1 m, then 10 x exponent per decade."""
    if distance_m <= 0:
        raise InputError(f"distance of {distance_m} m: give a distance above zero")
    reference = 20 * math.log10(4 * math.pi * frequency_mhz * 1e6 / 299_792_458)
    return transmit_dbm - reference - walls_db - 10 * exponent * math.log10(max(distance_m, 1.0))
