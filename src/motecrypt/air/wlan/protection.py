"""WEP, TKIP and CCMP protected 802.11 frames: seal one MPDU. Pure; keys are arguments.

A frame here is the MAC header and the body, without the frame check sequence. Sources: IEEE Std
802.11-2012, 11.2.2 (WEP), 11.4.2 (TKIP), 11.4.3 (CCMP). WEP and TKIP are broken and deprecated; they
are built because the Wi-Fi study measured them, never as a choice for anything new.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESCCM

from motecrypt.air.wlan.tkip import frame_key, michael
from motecrypt.base.errors import InputError

PROTECTED = 0x40  # frame control, second byte
EXTENDED_IV = 0x20


@dataclass(frozen=True)
class Security:
    """A WLAN security protocol: its name, what it adds to each frame, and its security status."""

    name: str
    title: str
    header_bytes: int
    trailer_bytes: int
    key_bytes: tuple[int, ...]
    note: str

    @property
    def frame_bytes(self) -> int:
        """Bytes added to each data frame on the air."""
        return self.header_bytes + self.trailer_bytes


SECURITIES: dict[str, Security] = {
    s.name: s
    for s in (
        Security("open", "open system, no protection", 0, 0, (0,), "protects nothing"),
        Security(
            "wep", "WEP (shared key)", 4, 4, (5, 13), "broken; deprecated (IEEE Std 802.11-2012, 11.2.2.1)"
        ),
        Security(
            "tkip",
            "WPA, TKIP with Michael",
            8,
            12,
            (32,),
            "broken; deprecated (IEEE Std 802.11-2012, 11.4.2.1)",
        ),
        Security(
            "ccmp",
            "WPA2, AES-CCMP",
            8,
            8,
            (16,),
            "sound; replay is the receiver's to check (RFC 3610 for CCM)",
        ),
    )
}


def security(name: str) -> Security:
    """The security protocol of that name; InputError names the known ones."""
    known = SECURITIES.get(name)
    if known is None:
        raise InputError(f"unknown WLAN security '{name}': choose one of {', '.join(SECURITIES)}")
    return known


def header_bytes(frame: bytes) -> int:
    """Length of a data frame's MAC header: 24, plus 6 for a fourth address, plus 2 for QoS."""
    four_addresses = frame[1] & 0x03 == 0x03
    quality = frame[0] & 0x8C == 0x88
    return 24 + 6 * four_addresses + 2 * quality


def _rc4(key: bytes, data: bytes) -> bytes:
    return Cipher(ARC4(key), mode=None).encryptor().update(data)


def _checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4, "little")


def _split(frame: bytes) -> tuple[bytes, bytes]:
    length = header_bytes(frame)
    header = frame[:1] + bytes([frame[1] | PROTECTED]) + frame[2:length]
    return header, frame[length:]


def seal_wep(frame: bytes, key: bytes, iv: bytes, key_id: int = 0) -> bytes:
    """Protect a frame with WEP: 3 bytes of IV and the key number before, a 4-byte CRC behind.

    Parameters
    ----------
    key : bytes
        5 or 13 bytes (40 or 104 bits).
    iv : bytes
        3 bytes; the RC4 key is the IV followed by the key, which is what broke WEP
        (Fluhrer, Mantin, Shamir, SAC 2001).
    """
    header, body = _split(frame)
    return header + iv + bytes([key_id << 6]) + _rc4(iv + key, body + _checksum(body))


def _addresses(frame: bytes) -> tuple[bytes, bytes]:
    """Destination and source of a data frame (IEEE Std 802.11-2012, table 8-19)."""
    to_system, from_system = frame[1] & 1, frame[1] & 2
    destination = frame[16:22] if to_system else frame[4:10]
    if not from_system:
        return destination, frame[10:16]
    return destination, frame[24:30] if to_system else frame[16:22]


def michael_of(frame: bytes, michael_key: bytes) -> bytes:
    """The Michael check of a frame's MSDU: over destination, source, priority and data."""
    length = header_bytes(frame)
    destination, source = _addresses(frame)
    priority = frame[length - 2] & 0x0F if frame[0] & 0x8C == 0x88 else 0
    return michael(michael_key, destination + source + bytes([priority, 0, 0, 0]) + frame[length:])


def seal_tkip(
    frame: bytes, temporal_key: bytes, michael_key: bytes, packet_number: int, key_id: int = 0
) -> bytes:
    """Protect an unfragmented frame with TKIP: 8 bytes before, Michael (8) and CRC (4) behind.

    Parameters
    ----------
    temporal_key, michael_key : bytes
        16 and 8 bytes.
    packet_number : int
        The TKIP sequence counter, below 2**48, never used twice with a key.
    """
    mic = michael_of(frame, michael_key)
    header, body = _split(frame)
    key = frame_key(temporal_key, header[10:16], packet_number)
    iv = key[:3] + bytes([EXTENDED_IV | key_id << 6]) + (packet_number >> 16).to_bytes(4, "little")
    body += mic
    return header + iv + _rc4(key, body + _checksum(body))


def _ccm_inputs(header: bytes, packet_number: int) -> tuple[bytes, bytes]:
    """Nonce and associated data of a CCMP frame (IEEE Std 802.11-2012, 11.4.3.3.3 and .4)."""
    quality = header[0] & 0x8C == 0x88
    control = bytes([header[0] & 0x8F, header[1] & (0x47 if quality else 0xC7) | PROTECTED])
    associated = control + header[4:22] + bytes([header[22] & 0x0F, 0])
    rest = header[24:]
    if header[1] & 0x03 == 0x03:
        associated, rest = associated + rest[:6], rest[6:]
    priority = 0
    if quality:
        priority = rest[0] & 0x0F
        associated += bytes([priority, 0])
    return bytes([priority]) + header[10:16] + packet_number.to_bytes(6, "big"), associated


def seal_ccmp(frame: bytes, temporal_key: bytes, packet_number: int, key_id: int = 0) -> bytes:
    """Protect a frame with CCMP: 8 bytes of packet number before, an 8-byte check behind.

    Parameters
    ----------
    temporal_key : bytes
        16 bytes.
    packet_number : int
        Below 2**48, never used twice with a key.
    """
    header, body = _split(frame)
    number = packet_number.to_bytes(6, "little")
    nonce, associated = _ccm_inputs(header, packet_number)
    before = number[:2] + bytes([0, EXTENDED_IV | key_id << 6]) + number[2:]
    return header + before + AESCCM(temporal_key, tag_length=8).encrypt(nonce, body, associated)
