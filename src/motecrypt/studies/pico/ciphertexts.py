"""The ciphertexts that the Pico study prints, made again to learn what was processed."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from motecrypt.catalog import Catalog
from motecrypt.catalog.oracles import oracle
from motecrypt.studies.facts import Comparison
from motecrypt.studies.judge import Evidence, compare
from motecrypt.studies.pico.figures import CASES, IV, SOURCE, Case, key_of_bits, printed_ciphertexts

TITLE = "Strings: ciphertexts"

TEXT = (
    "Encrypted by our oracle under the sketch's key and IV and printed as the source prints, without leading "
    "zeros: where the digits agree, it is known what was processed."
)


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
    if case.number == 2:
        ours, note = _behind_base64(case, bits, published)
    else:
        ours = _as_printed(_encrypt(key_of_bits(bits), IV, case.message))
        note = f"CBC of {len(case.message)} bytes, the string and its closing zero"
        if case.number == 1:
            note += (
                "; no ciphertext stealing took place: the 94 digits are 48 bytes, two of them printed with "
                "one digit"
            )
    if ours != published:
        note = (
            f"{len(published)} digits that neither the sketch's key and IV nor ciphertext stealing give; "
            "the 256-bit ciphertext of the same library is plain CBC of 48 bytes"
        )
    return compare(
        id=f"pico-ciphertext-{case.library}-{bits}",
        source=SOURCE,
        table=TITLE,
        row=f"{case.title} AES-{bits}",
        column="ciphertext",
        unit="hex",
        published=published,
        measured=ours,
        evidence=Evidence("same algorithm, ours", cause="another key or IV than the sketch's"),
        note=note,
    )


def _behind_base64(case: Case, bits: int, published: str) -> tuple[str, str]:
    """Case 2 encrypts the Base64 text of the string and prints the Base64 text of the outcome."""
    raw = base64.b64decode(bytes.fromhex(published))
    text = base64.b64encode(case.message)
    padded = text + bytes([16]) * 16
    ours = raw[:16] + _encrypt(key_of_bits(bits), raw[:16], padded[16:])
    note = (
        f"{len(raw)} bytes, five blocks: the {len(text)} characters of the string's Base64 text and a block "
        "of padding, not the 48 bytes of the other cases. Blocks 2 to 5 agree; the first block's IV is "
        "another than the sketch's"
    )
    return base64.b64encode(ours).hex().upper(), note
