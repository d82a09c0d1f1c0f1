"""The ciphertexts that the Pico study prints, made again to learn what was processed."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from motecrypt.catalog import Catalog
from motecrypt.catalog.oracles import oracle
from motecrypt.studies.facts import Comparison
from motecrypt.studies.judge import Evidence, compare
from motecrypt.studies.pico.figures import CASES, IV, SOURCE, Case, key_of_bits, printed_ciphertexts

BLOCK = 16
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
    if case.number != 2 and ours != published:
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
        evidence=Evidence(
            "same algorithm, ours",
            cause=f"another {'' if case.number == 2 else 'key or '}IV than the sketch's",
        ),
        note=note,
    )


def _behind_base64(case: Case, bits: int, published: str) -> tuple[str, str]:
    """Case 2 encrypts the Base64 text of the string and prints the Base64 text of the outcome."""
    text = base64.b64encode(case.message)
    padded = text + bytes([BLOCK]) * BLOCK
    ours = _encrypt(key_of_bits(bits), IV, padded)
    raw = base64.b64decode(bytes.fromhex(published))
    blocks = len(raw) // BLOCK
    note = (
        f"{len(raw)} bytes, {blocks} blocks: the {len(text)} characters of the string's Base64 text and a "
        "block of padding, not the 48 bytes of the other cases"
    )
    if raw[BLOCK:] == _encrypt(key_of_bits(bits), raw[:BLOCK], padded[BLOCK:]):
        note += (
            f". Under the sketch's key the printed blocks 2 to {blocks} follow from the printed first block: "
            "only the IV is another than the sketch's"
        )
    return base64.b64encode(ours).hex().upper(), note
