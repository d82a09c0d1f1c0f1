"""TKIP's two own parts: the per-packet key mixing and the Michael message check. Pure.

Source: IEEE Std 802.11-2012, 11.4.2.5 (key mixing) and 11.4.2.3 (Michael). Both are deprecated; they
are here so that the cost of what the Wi-Fi study measured can be shown on real frames.
"""

from __future__ import annotations

from functools import cache, lru_cache


def _aes_sbox() -> list[int]:
    """The AES S-box, computed (FIPS 197, 5.1.1): inverse in GF(2^8), then the affine map."""
    box = [0x63] * 256
    p = q = 1
    while True:
        p = p ^ p << 1 ^ (0x11B if p & 0x80 else 0)  # p runs through all powers of 3
        for shift in (1, 2, 4):  # q runs through the inverses: division by 3
            q ^= q << shift
        q &= 0xFF
        if q & 0x80:
            q ^= 0x09
        rotated = [(q << n | q >> (8 - n)) & 0xFF for n in (1, 2, 3, 4)]
        box[p] = q ^ rotated[0] ^ rotated[1] ^ rotated[2] ^ rotated[3] ^ 0x63
        if p == 1:
            return box


@cache
def _mixing_table() -> tuple[int, ...]:
    """TKIP's 16-bit S-box: entry x is (2 S(x), 3 S(x)) over the AES S-box S, products in GF(2^8)."""
    table = []
    for s in _aes_sbox():
        double = s << 1 ^ (0x11B if s & 0x80 else 0)
        table.append(double << 8 | double ^ s)
    return tuple(table)


def _substitute(word: int) -> int:
    table = _mixing_table()
    low, high = table[word & 0xFF], table[word >> 8]
    return low ^ (high >> 8 | (high & 0xFF) << 8)


def _rotate_right_one(word: int) -> int:
    return word >> 1 | (word & 1) << 15


def _words(data: bytes) -> list[int]:
    return [data[i] | data[i + 1] << 8 for i in range(0, len(data), 2)]


@lru_cache(maxsize=64)
def mix_phase1(temporal_key: bytes, transmitter: bytes, high32: int) -> tuple[int, ...]:
    """Phase 1: five 16-bit words that stay the same for 65,536 frames.

    Parameters
    ----------
    temporal_key : bytes
        16 bytes.
    transmitter : bytes
        The transmitter's address, 6 bytes.
    high32 : int
        The upper 32 bits of the 48-bit packet number.
    """
    key = _words(temporal_key)
    state = [high32 & 0xFFFF, high32 >> 16, *_words(transmitter)]
    for i in range(8):
        half = i & 1
        for position in range(5):
            chosen = key[half + 2 * (position % 4)]
            extra = i if position == 4 else 0
            state[position] = (state[position] + _substitute(state[position - 1] ^ chosen) + extra) & 0xFFFF
    return tuple(state)


def mix_phase2(phase1: tuple[int, ...], temporal_key: bytes, low16: int) -> bytes:
    """Phase 2: the 16-byte RC4 key of one frame, from phase 1 and the lower 16 bits of its number."""
    key = _words(temporal_key)
    state = [*phase1, (phase1[4] + low16) & 0xFFFF]
    for i in range(6):
        state[i] = (state[i] + _substitute(state[i - 1] ^ key[i])) & 0xFFFF
    for i in range(6):
        turned = state[i - 1] ^ key[6 + i] if i < 2 else state[i - 1]
        state[i] = (state[i] + _rotate_right_one(turned)) & 0xFFFF
    high = low16 >> 8
    head = bytes([high, (high | 0x20) & 0x7F, low16 & 0xFF, (state[5] ^ key[0]) >> 1 & 0xFF])
    return head + b"".join(word.to_bytes(2, "little") for word in state)


def frame_key(temporal_key: bytes, transmitter: bytes, packet_number: int) -> bytes:
    """The RC4 key of one frame (16 bytes)."""
    phase1 = mix_phase1(temporal_key, transmitter, packet_number >> 16)
    return mix_phase2(phase1, temporal_key, packet_number & 0xFFFF)


def michael(key: bytes, message: bytes) -> bytes:
    """The 8-byte Michael check of a message under an 8-byte key."""
    mask = 0xFFFFFFFF
    left, right = int.from_bytes(key[:4], "little"), int.from_bytes(key[4:8], "little")
    padded = message + b"\x5a" + bytes(4 + (-len(message) - 1) % 4)
    for position in range(0, len(padded), 4):
        left ^= int.from_bytes(padded[position : position + 4], "little")
        right ^= (left << 17 | left >> 15) & mask
        left = (left + right) & mask
        right ^= left >> 8 & 0x00FF00FF | (left & 0x00FF00FF) << 8
        left = (left + right) & mask
        right ^= (left << 3 | left >> 29) & mask
        left = (left + right) & mask
        right ^= (left >> 2 | left << 30) & mask
        left = (left + right) & mask
    return left.to_bytes(4, "little") + right.to_bytes(4, "little")
