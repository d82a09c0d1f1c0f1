"""What speaks against a key: weak keys, parity, degenerate triples, keys that nobody drew at random.

Warnings only: a cipher computes with any key of an allowed length. Each warning names its source. No key,
and no part of one, appears in a warning.
"""

from __future__ import annotations

# PC-1 of FIPS 46-3: the key bits (from 1) of C and D. The last of every eight is parity, in neither.
_DES_C = (
    57,
    49,
    41,
    33,
    25,
    17,
    9,
    1,
    58,
    50,
    42,
    34,
    26,
    18,
    10,
    2,
    59,
    51,
    43,
    35,
    27,
    19,
    11,
    3,
    60,
    52,
    44,
    36,
)
_DES_D = (
    63,
    55,
    47,
    39,
    31,
    23,
    15,
    7,
    62,
    54,
    46,
    38,
    30,
    22,
    14,
    6,
    61,
    53,
    45,
    37,
    29,
    21,
    13,
    5,
    28,
    20,
    12,
    4,
)
_DES_ROTATIONS = (1, 2, 4, 6, 8, 10, 12, 14, 15, 17, 19, 21, 23, 25, 27, 28)

# SP 800-131A r2, table 1: below 112 bits of strength nothing may be protected any more.
_STRENGTH_BITS = 112


def key_warnings(cipher: str, key: bytes) -> list[str]:
    """What speaks against this key for this cipher; empty if nothing does.

    Parameters
    ----------
    cipher
        A cipher's name, as ``3des-cbc``; unknown families get the general checks only.
    key
        The key's bytes, of any length (a wrong length is an error elsewhere, not a warning).

    Returns
    -------
    list of str
        One line each, with its source.
    """
    family = cipher.partition("-")[0]
    warnings = _general(key)
    if family == "des":
        warnings += _des(key, "")
    elif family == "3des":
        warnings += _triple_des(key)
    elif family in {"rc2", "rc4", "rc4k", "blowfish", "rc6"} and 8 * len(key) < _STRENGTH_BITS:
        warnings.append(
            f"{8 * len(key)} key bits can be searched through: at least {_STRENGTH_BITS} are asked for "
            "(NIST SP 800-131A r2)"
        )
    if family == "rc4" and len(key) > 1 and (key[0] + key[1]) % 256 == 0:
        warnings.append(
            "the first two bytes add up to 0: the first keystream bytes reveal such RC4 keys "
            "(Roos, A class of weak keys in the RC4 stream cipher, 1995)"
        )
    return warnings


def des_round_keys(key: bytes) -> int:
    """How many of the 16 round keys of an 8-byte DES key differ: 1 for weak keys, 16 for almost all."""
    bits = int.from_bytes(key, "big")
    c = [bits >> (64 - place) & 1 for place in _DES_C]
    d = [bits >> (64 - place) & 1 for place in _DES_D]
    return len({tuple(c[r % 28 :] + c[: r % 28] + d[r % 28 :] + d[: r % 28]) for r in _DES_ROTATIONS})


def with_odd_parity(key: bytes) -> bytes:
    """The key with the last bit of each byte set so that the byte has an odd number of ones (FIPS 46-3)."""
    return bytes(byte & 0xFE | (bin(byte >> 1).count("1") + 1) % 2 for byte in key)


def _general(key: bytes) -> list[str]:
    if len(key) > 1 and len(set(key)) == 1:
        return ["every byte of the key is the same: keys must be random (NIST SP 800-133 r2)"]
    if len(key) >= 8 and all(0x20 <= byte < 0x7F for byte in key):
        return [
            "the key is readable text, which has less strength than its length: use a random key or "
            "derive it (NIST SP 800-132)"
        ]
    return []


def _des(key: bytes, which: str) -> list[str]:
    if len(key) != 8:
        return []
    warnings = []
    if with_odd_parity(key) != key:
        warnings.append(
            f"{which}bytes without odd parity: the last bit of each DES key byte is parity and is ignored "
            "(FIPS 46-3)"
        )
    different = des_round_keys(key)
    if different == 1:
        warnings.append(
            f"{which}weak DES key: all round keys are equal, encrypting twice gives the plaintext back "
            "(NIST SP 800-67 r2, weak keys; FIPS 74)"
        )
    elif different == 2:
        warnings.append(
            f"{which}semi-weak DES key: only 2 round keys differ, another key reverses it "
            "(NIST SP 800-67 r2, weak keys; FIPS 74)"
        )
    elif different < 16:
        warnings.append(f"{which}possibly weak DES key: only {different} of 16 round keys differ (FIPS 74)")
    return warnings


def _triple_des(key: bytes) -> list[str]:
    if len(key) != 24:
        return []
    # parity is not part of a key: compare what the cipher uses
    first, second, third = (with_odd_parity(key[i : i + 8]) for i in (0, 8, 16))
    warnings = []
    if second in (first, third):
        warnings.append(
            "two adjacent keys are equal: this is single DES (NIST SP 800-67 r2, key requirements)"
        )
    elif first == third:
        warnings.append(
            "the first and the third key are equal: two-key triple DES has 80 bits of strength and has been "
            "disallowed for encryption since 2016 (NIST SP 800-131A r2)"
        )
    parts = [key[i : i + 8] for i in (0, 8, 16)]
    for i, part in enumerate(parts):
        warnings += [warning for warning in _des(part, f"key {i + 1} of 3: ") if part not in parts[:i]]
    return warnings
