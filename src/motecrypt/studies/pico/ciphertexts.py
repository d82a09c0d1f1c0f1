"""The ciphertexts that the Pico study prints, made again to learn what was processed."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from motecrypt.catalog import Catalog
from motecrypt.catalog.oracles import oracle
from motecrypt.studies.facts import Comparison
from motecrypt.studies.pico.figures import CASES, IV, Case, key_of_bits, printed_ciphertexts
from motecrypt.studies.words import words

BLOCK = 16
TITLE = "Strings: ciphertexts"


def _as_printed(data: bytes) -> str:
    """Byte for byte with Serial.print(byte, HEX), which drops leading zeros."""
    return "".join(f"{byte:X}" for byte in data)


def _encrypt(key: bytes, iv: bytes, message: bytes) -> bytes:
    cipher = Catalog.load().cipher(f"aes{8 * len(key)}-cbc")
    return oracle(cipher)(key, iv, b"", message)[0]


def ciphertexts(cases: Sequence[Case] = CASES) -> list[Comparison]:
    """Each printed ciphertext next to the oracle's."""
    return [_ciphertext(case, bits) for case in cases for bits in (128, 256)]


def _ciphertext(case: Case, bits: int) -> Comparison:
    published = printed_ciphertexts()[case.number, bits]
    base64_first, encoded = case.number == 2, None
    if base64_first:
        ours, encoded = _behind_base64(case, bits, published)
    else:
        ours = _as_printed(_encrypt(key_of_bits(bits), IV, case.message))
    same = ours == published
    return words("pico").row(
        "ciphertext",
        case=case,
        bits=bits,
        published=published,
        measured=ours,
        encoded=encoded,
        base64=base64_first,
        plain=not base64_first and same,
        stolen=case.number == 1 and same,
        other=not base64_first and not same,
        bytes=len(case.message),
        digits=len(published),
    )


def _behind_base64(case: Case, bits: int, published: str) -> tuple[str, str]:
    """Case 2 encrypts the Base64 text of the string and prints the Base64 text of the outcome."""
    text = base64.b64encode(case.message)
    padded = text + bytes([BLOCK]) * BLOCK
    ours = _encrypt(key_of_bits(bits), IV, padded)
    raw = base64.b64decode(bytes.fromhex(published))
    blocks = len(raw) // BLOCK
    follows = raw[BLOCK:] == _encrypt(key_of_bits(bits), raw[:BLOCK], padded[BLOCK:])
    told = {"bytes": len(raw), "blocks": blocks, "text": len(text), "follows": follows}
    return base64.b64encode(ours).hex().upper(), words("pico").text("behind-base64", **told)
