"""Frames of Wi-Fi sealed and opened, and the parts of captures, where transfers seldom or never come to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random
from types import SimpleNamespace
from typing import Any

import wifi_open
from goldens.text import digest
from motecrypt.air.wlan import capture, dcf, protection, tkip
from motecrypt.base.errors import InputError, MotecryptError

FIRSTS = (0x08, 0x88, 0x0F, 0x8C, 0xF8, 0xFF, 0x84, 0x80, 0x89, 0x8A)
SECONDS = (0x00, 0x01, 0x02, 0x03, 0x40, 0xBF, 0xFC, 0xFF)


def _opened(name: str, sealed: bytes, key: bytes) -> str:
    try:
        if name == "wep":
            return wifi_open.open_wep(sealed, key[:13]).hex()
        if name == "tkip":
            return wifi_open.open_tkip(sealed, key[:16], key[16:24]).hex()
        return wifi_open.open_ccmp(sealed, key[:16]).hex()
    except MotecryptError as error:
        return str(error)


def sealed_frames() -> dict[str, Any]:
    """Frames of every kind under each protection, whole, cut short and under another key."""
    random = Random(80211)
    found: dict[str, Any] = {"headers": [], "Michael": [], "inputs": [], "sealed": [], "opened": []}
    for first in FIRSTS:
        for second in SECONDS:
            frame = bytes((first, second)) + random.randbytes(34 + random.randrange(40))
            length = protection.header_bytes(frame)
            key, number, iv = random.randbytes(32), random.randrange(2**48), random.randbytes(3)
            key_id = random.randrange(4)
            sealed = {
                "wep": protection.seal_wep(frame, key[:13], iv, key_id),
                "tkip": protection.seal_tkip(frame, key[:16], key[16:24], number, key_id),
                "ccmp": protection.seal_ccmp(frame, key[:16], number, key_id),
            }
            found["headers"].append(f"{first:02x} {second:02x} {length}")
            found["Michael"].append(protection.michael_of(frame, key[:8]).hex())
            found["inputs"].append([each.hex() for each in protection._ccm_inputs(frame[:length], number)])
            found["sealed"].append([each.hex() for each in sealed.values()])
            found["opened"].append([_opened(name, each, key) for name, each in sealed.items()])
    plain = bytes((0x08, 1)) + bytes(range(22))
    key = bytes(range(1, 33))
    found["usual numbers of keys"] = [
        protection.seal_wep(plain, key[:5], b"abc").hex(),
        protection.seal_tkip(plain, key[:16], key[16:24], 0x123456789ABC).hex(),
        protection.seal_ccmp(plain, key[:16], 0x123456789ABC).hex(),
    ]
    # The shortest that hold: nothing but a check; then one byte less, each under its right checksum.
    stream = protection._rc4(b"abc" + key[:13], bytes(16))
    frame_key = tkip.frame_key(key[:16], plain[10:16], 0)
    long_iv = frame_key[:3] + b"\x20" + bytes(4)
    for size in (0, 1, 3, 4, 5, 11, 12, 13):
        body = bytes(max(size - 4, 0))
        whole = (body + protection._checksum(body))[-size:] if size else b""
        wep = plain + b"abc\0" + bytes(a ^ b for a, b in zip(whole, stream, strict=False))
        short = plain + long_iv + protection._rc4(frame_key, whole)
        found[f"{size} bytes behind the header"] = [_opened("wep", wep, key), _opened("tkip", short, key)]
    sealed_plain = protection.seal_tkip(plain, key[:16], key[16:24], 0)
    found["another key"] = [
        _opened("tkip", sealed_plain, key[:16] + bytes(16)),
        _opened("tkip", sealed_plain, bytes(32)),
        _opened("ccmp", protection.seal_ccmp(plain, key[:16], 1), bytes(32)),
    ]
    found["S-box"] = [bytes(tkip._aes_sbox()).hex(), digest(tkip._mixing_table())]
    mixed = []
    for _ in range(40):
        key, address = random.randbytes(16), random.randbytes(6)
        number = random.choice((random.randrange(2**48), 0, 0xFFFF, 0x10000, 2**48 - 1))
        mixed.append(
            [tkip.mix_phase1(key, address, number >> 16), tkip.frame_key(key, address, number).hex()]
        )
    found["mixed"] = [digest(each) for each in mixed]
    found["checks"] = [tkip.michael(bytes(range(8)), bytes(range(n))).hex() for n in range(10)]
    return {
        name: [digest(each) for each in rows] if len(str(rows)) > 4000 else rows
        for name, rows in found.items()
    }


class _Long(bytes):
    """A piece that says it is longer than it is."""

    def __len__(self) -> int:
        return 0x7FFF_FFF0


class _Written:
    """In a capture file's place."""

    def __init__(self) -> None:
        self.records: list[list[Any]] = []

    def write_packet(self, record: bytes, sec: int, usec: int) -> None:
        """Kept."""
        self.records.append([record.hex(), sec, usec])


def _air(security: str, written: _Written, mode: str = "adhoc", phy: str = "b", rate: float = 11.0) -> Any:
    keys = capture.Keys(b"thirteen byte", bytes(range(32)), bytes(range(32, 64)))
    return capture._Air(written, mode, security, dcf.phy(phy, mode), rate, keys)


def capture_parts() -> dict[str, Any]:
    """Times past a second, counters that wrap, keys of each direction, and sequence numbers past 32 bits."""
    found: dict[str, Any] = {}
    written = _Written()
    for phy, rate in (("b", 5.5), ("g", 54.0)):
        air = _air("open", written, phy=phy, rate=rate)
        for now in (0.0, 999_999.4, 999_999.6, 1_000_001.0, 3_999_999.0, 12_000_000.5):
            air.now_us = now
            air.write(b"frame", rate)
            written.records[-1].append(air.now_us)
        air.send(b"sent", capture.SENDER, rate, data=True)
        air.send(b"sent too", capture.SENDER, rate, data=False)
        found[f"written on {phy}"] = [
            *written.records,
            [air.now_us, air.frames, air.data_frames, air.air_bytes, sorted(air.sizes)],
        ]
        written.records.clear()
    kept = capture._Kept()
    kept.write_packet(bytes(range(20)), 3, 5)
    found["kept"] = [[us, frame.hex()] for us, frame in kept.frames]
    station = capture._Station("s", 4093, 0)
    found["sequence"] = [station.next_sequence() for _ in range(5)]
    for security in ("wep", "tkip", "ccmp", "open", "aaa", "zzz"):
        air = _air(security, written)
        sealed = []
        for number in (0, 0xFFFFFD, 0xFFFFFE, 0xFFFFFF, 0x1000000):
            for back in (False, True):
                air.station(capture.SENDER).packet_number = number
                frame = bytes((8, 1)) + bytes(range(40))
                sealed.append(
                    air.protect(
                        frame, "02:00:00:00:00:01", from_access_point=back, key=bytes(range(64, 96))
                    ).hex()
                )
        starts = [air.station(name).packet_number for name in ("02:00:00:00:00:10", "x", "a station")]
        found[f"protected by {security}"] = [*sealed, starts]
    air = _air("open", written, "infrastructure", "g", 24.0)
    found["header"] = [air.header(1, 2, ("01:02", "03", "04")).hex()]
    found["options"] = [
        capture.Keys(b"wep", bytes(range(20)), bytes(20)).tshark_options(name)
        for name in protection.SECURITIES
    ]
    keys = capture.Keys.from_seed("a seed")
    found["from a seed"] = [keys.wep.hex(), keys.sender.hex(), keys.receiver.hex()]
    counts = (0, 1, 0xFFFE, 0xFFFF, 0x10000, 0xFFFFFFFE, 0xFFFFFFFF, 2**32, 2**32 + 5)
    found["words"] = [[capture._word(n), capture._long(n)] for n in counts]
    found["segments"] = list(_segments(4))
    found["no segments"] = list(_segments(0))
    found["datagrams"] = [
        [forward, packet.id, packet.sport, packet.dport, packet.src, packet.dst]
        for forward, packet in capture._packets(iter([b"a", b"b"]), "udp")
    ]
    found["handshakes"] = [
        [step.source, step.target, step.us, step.summary, len(step.frame)]
        for security, mode in (
            ("wep", "infrastructure"),
            ("wep", "adhoc"),
            ("ccmp", "adhoc"),
            ("zzz", "adhoc"),
        )
        for step in capture.handshake(security, mode)
    ]
    found["usual handshake"] = [step.summary for step in capture.handshake("wep")]
    return found


def _segments(pieces: int) -> Iterator[list[Any]]:
    """What each TCP segment of long pieces says."""
    for forward, packet in islice(capture._packets(iter([_Long(b"x")] * pieces), "tcp"), 40):
        head, tail = packet, packet.payload
        yield [
            forward,
            head.src,
            head.dst,
            head.id,
            tail.sport,
            tail.dport,
            str(tail.flags),
            tail.seq,
            tail.ack,
        ]
        yield [tail.window, str(tail.options), type(tail.payload).__name__]


def links() -> dict[str, Any]:
    """Transfers over links of which each rate gets through so often."""
    found: dict[str, Any] = {"transfers": []}
    random = Random(7)
    shares = (0.0, 9.9e-7, 1e-6, 1.1e-6, 0.1, 0.5, 0.999, 1.0)
    for number in range(60):
        phy, mode = random.choice("bg"), random.choice(dcf.MODES)
        success = {
            rate: random.choice(shares[: 4 if number % 3 == 0 else 8]) for rate in (*dcf.DSSS, *dcf.OFDM)
        }
        link: Any = SimpleNamespace(success=success.__getitem__, fading=random.random() < 0.5)
        protocol, size = random.choice(dcf.PROTOCOLS), random.randrange(1, 9000)
        try:
            made = dcf.transfer(size, mode=mode, phy_name=phy, protocol=protocol, link=link)
            found["transfers"].append(list(vars(made).values()))
        except InputError as error:
            found["transfers"].append(str(error))
    both = dcf.phy("g", "infrastructure")
    found["on the air"] = [[both.air_us(100, rate), both.ack_rate(rate)] for rate in (*dcf.DSSS, *dcf.OFDM)]
    found["success"] = [
        dcf.Link({1.0: margin}, fading).success(1.0)
        for margin in (-10.0, -0.1, 0.0, 0.1, 20.0)
        for fading in (False, True)
    ]
    found["tries"] = [str(dcf._tries(share)) for share in (-0.1, 0.0, 1e-9, 0.5, 0.999, 1.0, 1.5)]
    found["usual frequency"] = [dcf.received_dbm(7.0, transmit_dbm=10.0, walls_db=1.0, exponent=2.0)]
    found["at no distance"] = []
    for metres in (0.0, -1.0, 1e-9, 0.999, 1.001):
        try:
            level = dcf.received_dbm(
                metres, transmit_dbm=10.0, walls_db=1.0, exponent=2.0, frequency_mhz=5000
            )
            found["at no distance"].append(level)
        except InputError as error:
            found["at no distance"].append(str(error))
    return found
