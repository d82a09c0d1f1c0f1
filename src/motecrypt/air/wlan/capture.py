"""A transfer as a capture file: joining, then every frame with its protection and acknowledgement.

Packets and the file format are scapy's; the protection is ours (``protection``), the timing is the
closed form's (``dcf``). tshark and Wireshark open the file and decrypt it with the key. Independent
of ciphers: the payload is any bytes that the application sends.
"""

from __future__ import annotations

import hashlib
import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from motecrypt.air.wlan import dcf, protection
from motecrypt.air.wlan.protection import security
from motecrypt.base.errors import InputError, MotecryptError

SENDER = "02:00:00:00:00:01"
RECEIVER = "02:00:00:00:00:02"
ACCESS_POINT = "02:00:00:00:00:10"
ADHOC_CELL = "02:00:00:00:00:20"
SENDER_IP, RECEIVER_IP = "10.1.1.1", "10.1.1.2"
PORT_FROM, PORT_TO = 49152, 5001
CHALLENGE_BYTES = 128
CHALLENGE_HEAD = bytes([16, CHALLENGE_BYTES])
"""The beginning of the element with the challenge: its number and its length."""


@dataclass(frozen=True)
class Keys:
    """The keys of one capture: one for WEP, one per station for TKIP and CCMP."""

    wep: bytes
    sender: bytes
    receiver: bytes

    @classmethod
    def from_seed(cls, seed: str) -> Keys:
        """Keys from a name: the same name gives the same capture."""
        parts = (hashlib.sha256(f"motecrypt capture {seed} {n}".encode()).digest() for n in range(3))
        wep, sender, receiver = parts
        return cls(wep[:13], sender, receiver)

    def tshark_options(self, security_name: str) -> list[str]:
        """The command-line options with which tshark decrypts a capture under these keys."""
        temporal = [("tk", key[:16].hex()) for key in (self.sender, self.receiver)]
        known = {"wep": [("wep", self.wep.hex())], "tkip": temporal, "ccmp": temporal}
        records = known.get(security_name, [])
        options = ["-o", "wlan.enable_decryption:TRUE"] if records else []
        for kind, key in records:
            options += ["-o", f'uat:80211_keys:"{kind}","{key}"']
        return options


@dataclass(frozen=True)
class Captured:
    """What was written: frames by kind, bytes on the air, and the simulated time of the last frame."""

    path: str
    frames: int
    data_frames: int
    air_bytes: int
    seconds: float
    data_frame_bytes: tuple[int, ...]
    keys: Keys
    tshark: list[str]


@dataclass
class _Station:
    """One transmitter's counters: sequence numbers, and packet numbers that never repeat."""

    address: str
    sequence: int
    packet_number: int

    def next_sequence(self) -> int:
        self.sequence = (self.sequence + 1) % 4096
        return self.sequence << 4


@dataclass
class _Air:
    """Protects frames and writes them, with their acknowledgements, at the times of the model."""

    writer: Any
    mode: str
    security: str
    timing: dcf.Phy
    rate: float
    keys: Keys
    now_us: float = 0.0
    frames: int = 0
    data_frames: int = 0
    air_bytes: int = 0
    sizes: set[int] = field(default_factory=set)
    stations: dict[str, _Station] = field(default_factory=dict)

    def station(self, address: str) -> _Station:
        # Each transmitter counts its WEP IVs from a place of its own. Nothing in WEP asks for that,
        # and two stations on one IV under one key share a keystream (Borisov et al., 2001).
        start = zlib.crc32(address.encode()) & 0xFFFFFF
        return self.stations.setdefault(address, _Station(address, 0, start if self.security == "wep" else 0))

    def write(self, frame: bytes, rate: float) -> None:
        whole = frame + zlib.crc32(frame).to_bytes(4, "little")
        radiotap = bytes([0, 0, 14, 0, 0x0E, 0, 0, 0, 0x10, round(rate * 2)])  # flags: check sequence at end
        channel = (2437).to_bytes(2, "little") + (0x00C0 if self.timing.ofdm else 0x00A0).to_bytes(
            2, "little"
        )
        microseconds = round(self.now_us)
        self.writer.write_packet(
            radiotap + channel + whole, sec=microseconds // 1_000_000, usec=microseconds % 1_000_000
        )
        self.now_us += self.timing.air_us(len(whole), rate)
        self.frames += 1
        self.air_bytes += len(whole)

    def send(self, frame: bytes, transmitter: str, rate: float, *, data: bool) -> None:
        """A frame after its mean wait, then SIFS and the acknowledgement to its transmitter."""
        self.now_us += self.timing.difs_us + self.timing.mean_backoff_us
        self.write(frame, rate)
        if data:
            self.data_frames += 1
            self.sizes.add(len(frame) + 4)
        self.now_us += self.timing.sifs_us
        receiver = bytes.fromhex(transmitter.replace(":", ""))
        self.write(bytes([0xD4, 0, 0, 0]) + receiver, self.timing.ack_rate(rate))

    def header(self, first: int, to_system: int, addresses: tuple[str, str, str]) -> bytes:
        ack_us = self.timing.air_us(dcf.ACK_BYTES, self.timing.ack_rate(self.rate))
        duration = math.ceil(self.timing.sifs_us + ack_us)
        transmitter = self.station(addresses[1])
        places = b"".join(bytes.fromhex(a.replace(":", "")) for a in addresses)
        return (
            bytes([first, to_system])
            + duration.to_bytes(2, "little")
            + places
            + transmitter.next_sequence().to_bytes(2, "little")
        )

    def protect(self, frame: bytes, transmitter: str, *, from_access_point: bool, key: bytes) -> bytes:
        """Seal a frame under this capture's security."""
        counter = self.station(transmitter)
        counter.packet_number += 1
        number = counter.packet_number
        if self.security == "wep":
            return protection.seal_wep(frame, self.keys.wep, (number & 0xFFFFFF).to_bytes(3, "little"))
        if self.security == "tkip":
            # IEEE Std 802.11-2012, 11.6.1.2: bytes 16..23 are the authenticator's Michael key, 24..31 the
            # station's; in an ad hoc pair the receiver plays the authenticator.
            michael_key = key[16:24] if from_access_point else key[24:32]
            return protection.seal_tkip(frame, key[:16], michael_key, number)
        if self.security == "ccmp":
            return protection.seal_ccmp(frame, key[:16], number)
        return frame

    def packet(self, body: bytes, source: str, target: str) -> None:
        """One IP packet from source to target: a hop, or two through the access point."""
        sender_key = self.keys.sender if source == SENDER else self.keys.receiver
        target_key = self.keys.sender if target == SENDER else self.keys.receiver
        if self.mode not in dcf.RELAYED:
            frame = self.header(0x08, 0, (target, source, ADHOC_CELL)) + body
            back = source == RECEIVER
            sealed = self.protect(frame, source, from_access_point=back, key=self.keys.sender)
            self.send(sealed, source, self.rate, data=True)
            return
        frame = self.header(0x08, 1, (ACCESS_POINT, source, target)) + body
        sealed = self.protect(frame, source, from_access_point=False, key=sender_key)
        self.send(sealed, source, self.rate, data=True)
        frame = self.header(0x08, 2, (target, ACCESS_POINT, source)) + body
        sealed = self.protect(frame, ACCESS_POINT, from_access_point=True, key=target_key)
        self.send(sealed, ACCESS_POINT, self.rate, data=True)

    def authenticate(self, station: str, verifier: str, cell: str) -> None:
        """Open system (two frames) or, under WEP, shared key (four frames: figure 1 of the source)."""
        shared = self.security == "wep"
        algorithm = (1 if shared else 0).to_bytes(2, "little")
        challenge = hashlib.shake_256(f"challenge {station}".encode()).digest(CHALLENGE_BYTES)
        element = CHALLENGE_HEAD + challenge
        steps = [(station, verifier, b""), (verifier, station, element if shared else b"")]
        if shared:
            steps += [(station, verifier, element), (verifier, station, b"")]
        for number, (source, target, extra) in enumerate(steps, start=1):
            body = algorithm + number.to_bytes(2, "little") + bytes(2) + extra
            frame = self.header(0xB0, 0, (target, source, cell)) + body
            if shared and number == 3:
                frame = self.protect(frame, source, from_access_point=False, key=b"")
            self.send(frame, source, 1.0, data=False)
        self.now_us += 1000


@dataclass(frozen=True)
class Step:
    """One frame of an authentication: who sends it to whom, when, and its bytes without radiotap."""

    source: str
    target: str
    us: float
    frame: bytes
    summary: str


class _Kept:
    """In a capture file's place: keeps the frames."""

    def __init__(self) -> None:
        self.frames: list[tuple[float, bytes]] = []

    def write_packet(self, record: bytes, sec: int, usec: int) -> None:
        self.frames.append((1e6 * sec + usec, record[14:]))


def handshake(security_name: str, mode: str = "infrastructure", phy_name: str = "b") -> list[Step]:
    """The frames of one station's authentication, acknowledgements left out, without a file."""
    kept = _Kept()
    timing = dcf.phy(phy_name, mode)
    air = _Air(kept, mode, security_name, timing, max(timing.rates), Keys.from_seed(security_name))
    verifier, cell = (ACCESS_POINT, ACCESS_POINT) if mode in dcf.RELAYED else (RECEIVER, ADHOC_CELL)
    air.authenticate(SENDER, verifier, cell)
    steps = []
    for number, (us, frame) in enumerate(((u, f) for u, f in kept.frames if f[0] == 0xB0), start=1):
        target, source = frame[4:10].hex(":"), frame[10:16].hex(":")
        ends = "station to access point" if source == SENDER else "access point to station"
        if mode not in dcf.RELAYED:
            ends = "sender to receiver" if source == SENDER else "receiver to sender"
        what = (
            f"challenge of {CHALLENGE_BYTES} bytes in the clear"
            if CHALLENGE_HEAD in frame
            else "in the clear"
        )
        if frame[1] & protection.PROTECTED:
            what = "encrypted challenge"
        steps.append(Step(source, target, us, frame, f"{number}. {ends}: {what}, {len(frame)} bytes"))
    return steps


def _word(number: int) -> int:
    """What IP's 16-bit identification holds of a count."""
    return number & 0xFFFF


def _long(number: int) -> int:
    """What TCP's 32-bit sequence number holds of a count."""
    return number & 0xFFFFFFFF


def _packets(payload: Iterator[bytes], protocol: str) -> Iterator[tuple[bool, Any]]:
    """The IP packets of the transfer: whether from the sender, and the packet (scapy)."""
    from scapy.layers.inet import IP, TCP, UDP

    if protocol not in dcf.ANSWERED:
        for number, piece in enumerate(payload):
            yield (
                True,
                IP(src=SENDER_IP, dst=RECEIVER_IP, id=_word(number))
                / UDP(sport=PORT_FROM, dport=PORT_TO)
                / piece,
            )
        return

    sent, answered = 1, 1
    ids = [0, 0]

    def segment(
        forward: bool, flags: str, sequence: int, acknowledged: int, data: bytes = b""
    ) -> tuple[bool, Any]:
        ends = (SENDER_IP, RECEIVER_IP) if forward else (RECEIVER_IP, SENDER_IP)
        ports = (PORT_FROM, PORT_TO) if forward else (PORT_TO, PORT_FROM)
        side = 0 if forward else 1
        ids[side] += 1
        options: list[Any] = [("NOP", None), ("NOP", None), ("Timestamp", (sequence, acknowledged))]
        if "S" in flags:
            options = [("MSS", 1460), ("NOP", None), ("NOP", None), ("Timestamp", (1, 0)), ("NOP", None)]
            options.append(("WScale", 7))
        head = IP(src=ends[0], dst=ends[1], id=_word(ids[side]))
        tail = TCP(
            sport=ports[0],
            dport=ports[1],
            flags=flags,
            seq=sequence,
            ack=acknowledged,
            window=65535,
            options=options,
        )
        return forward, head / tail / data if data else head / tail

    yield segment(True, "S", 0, 0)
    yield segment(False, "SA", 0, 1)
    yield segment(True, "A", 1, 1)
    for number, piece in enumerate(payload):
        yield segment(True, "PA", _long(sent), 1, piece)
        sent += len(piece)
        if number % 2:  # delayed: one acknowledgement for two segments
            yield segment(False, "A", 1, _long(sent))
            answered = sent
    if answered != sent:
        yield segment(False, "A", 1, _long(sent))
    yield segment(True, "FA", _long(sent), 1)
    yield segment(False, "FA", 1, _long(sent + 1))
    yield segment(True, "A", _long(sent + 1), 2)


def write_capture(
    path: Path,
    payload: Iterator[bytes],
    *,
    mode: str = "adhoc",
    security_name: str = "open",
    phy_name: str = "b",
    protocol: str = "tcp",
    keys: Keys | None = None,
) -> Captured:
    """Write the transfer of a payload as a capture (pcap, radiotap, with frame check sequences).

    Parameters
    ----------
    payload : iterator of bytes
        Pieces of at most ``dcf.payload_per_packet(protocol)`` bytes; nothing is held in memory.
    keys : Keys, optional
        Default: derived from the security's name, so that the file is reproducible.

    Raises
    ------
    InputError
        An unknown mode, security, physical layer or protocol; a path that cannot be written.
    """
    try:
        from scapy.layers.l2 import LLC, SNAP
        from scapy.utils import RawPcapWriter
    except ImportError:
        raise MotecryptError(
            "captures need the Python package scapy: pip install 'motecrypt[wlan]'"
        ) from None
    security(security_name)
    timing = dcf.phy(phy_name, mode)
    dcf.payload_per_packet(protocol)
    keys = keys or Keys.from_seed(security_name)
    llc = bytes(LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP(OUI=0, code=0x0800))
    try:
        writer = RawPcapWriter(str(path), linktype=127, sync=False)
        writer.write_header(None)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); choose another place") from None
    with writer:
        air = _Air(writer, mode, security_name, timing, max(timing.rates), keys)
        if mode not in dcf.RELAYED:
            air.authenticate(SENDER, RECEIVER, ADHOC_CELL)
        else:
            air.authenticate(SENDER, ACCESS_POINT, ACCESS_POINT)
            air.authenticate(RECEIVER, ACCESS_POINT, ACCESS_POINT)
        for forward, packet in _packets(payload, protocol):
            ends = (SENDER, RECEIVER) if forward else (RECEIVER, SENDER)
            air.packet(llc + bytes(packet), *ends)
    return Captured(
        path=str(path),
        frames=air.frames,
        data_frames=air.data_frames,
        air_bytes=air.air_bytes,
        seconds=air.now_us / 1e6,
        data_frame_bytes=tuple(sorted(air.sizes)),
        keys=keys,
        tshark=keys.tshark_options(security_name),
    )


def pieces(payload: bytes, protocol: str) -> Iterator[bytes]:
    """A payload held in memory, cut for ``write_capture``."""
    size = dcf.payload_per_packet(protocol)
    for start in range(0, len(payload), size):
        yield payload[start : start + size]
