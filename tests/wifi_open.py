"""The receiver's side of 802.11 protection: what `protection` seals is opened and checked."""

from __future__ import annotations

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESCCM

from motecrypt.air.wlan.protection import PROTECTED, _ccm_inputs, _checksum, _rc4, header_bytes, michael_of
from motecrypt.air.wlan.tkip import frame_key
from motecrypt.base.errors import MotecryptError


def _opened(header: bytes, body: bytes) -> bytes:
    return header[:1] + bytes([header[1] & ~PROTECTED]) + header[2:] + body


def open_wep(frame: bytes, key: bytes) -> bytes:
    """The frame that was sealed with WEP; MotecryptError if its CRC does not hold."""
    length = header_bytes(frame)
    plain = _rc4(frame[length : length + 3] + key, frame[length + 4 :])
    if len(plain) < 4 or _checksum(plain[:-4]) != plain[-4:]:
        raise MotecryptError("WEP: the integrity check value does not match; another key, or a changed frame")
    return _opened(frame[:length], plain[:-4])


def open_tkip(frame: bytes, temporal_key: bytes, michael_key: bytes) -> bytes:
    """The frame that was sealed with TKIP; MotecryptError if its CRC or Michael does not hold."""
    length = header_bytes(frame)
    iv = frame[length:]
    packet_number = iv[2] | iv[0] << 8 | int.from_bytes(iv[4:8], "little") << 16
    plain = _rc4(frame_key(temporal_key, frame[10:16], packet_number), frame[length + 8 :])
    if len(plain) < 12 or _checksum(plain[:-4]) != plain[-4:]:
        raise MotecryptError(
            "TKIP: the integrity check value does not match; another key, or a changed frame"
        )
    opened = _opened(frame[:length], plain[:-12])
    if michael_of(opened, michael_key) != plain[-12:-4]:
        raise MotecryptError("TKIP: Michael does not match; another key, or a changed frame")
    return opened


def open_ccmp(frame: bytes, temporal_key: bytes) -> bytes:
    """The frame that was sealed with CCMP; MotecryptError if its check does not hold."""
    length = header_bytes(frame)
    header, before = frame[:length], frame[length : length + 8]
    packet_number = int.from_bytes(before[:2] + before[4:], "little")
    nonce, associated = _ccm_inputs(header, packet_number)
    try:
        body = AESCCM(temporal_key, tag_length=8).decrypt(nonce, frame[length + 8 :], associated)
    except InvalidTag:
        raise MotecryptError("CCMP: the check does not match; another key, or a changed frame") from None
    return _opened(header, body)
