"""The ciphertexts that the Pico study prints, made again to learn what was processed."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import partial

from motecrypt.catalog import Catalog
from motecrypt.catalog.oracles import oracle
from motecrypt.model import Comparison, Verdict
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
    rows = []
    for case in cases:
        for bits in (128, 256):
            published = printed_ciphertexts()[case.number, bits]
            place = partial(
                Comparison,
                source=SOURCE,
                table=TITLE,
                row=f"{case.title} AES-{bits}",
                column="ciphertext",
                unit="hex",
                published=published,
            )
            if case.number == 2:
                ours, agrees, note = _behind_base64(case, bits, published)
                verdict: Verdict = "reproduced" if agrees else "not reproducible"
                rows.append(place(measured=ours, ratio=None, verdict=verdict, note=note))
                continue
            ours = _as_printed(_encrypt(key_of_bits(bits), IV, case.message))
            if ours == published:
                note = f"CBC of {len(case.message)} bytes, the string and its closing zero"
                if case.number == 1:
                    note += (
                        "; no ciphertext stealing took place: the 94 digits are 48 bytes, two of them "
                        "printed with one digit"
                    )
                rows.append(place(measured=ours, ratio=None, verdict="reproduced", note=note))
                continue
            note = (
                f"{len(published)} digits that neither the sketch's key and IV nor ciphertext stealing give; "
                "the 256-bit ciphertext of the same library is plain CBC of 48 bytes"
            )
            rows.append(place(measured=ours, ratio=None, verdict="not reproducible", note=note))
    return rows


def _behind_base64(case: Case, bits: int, published: str) -> tuple[str, bool, str]:
    """Case 2 encrypts the Base64 text of the string and prints the Base64 text of the outcome."""
    raw = base64.b64decode(bytes.fromhex(published))
    text = base64.b64encode(case.message)
    padded = text + bytes([16]) * 16
    ours = raw[:16] + _encrypt(key_of_bits(bits), raw[:16], padded[16:])
    agrees = ours == raw
    note = (
        f"{len(raw)} bytes, five blocks: the {len(text)} characters of the string's Base64 text and a block "
        "of padding, not the 48 bytes of the other cases. Blocks 2 to 5 agree; the first block's IV is "
        "another than the sketch's"
    )
    return base64.b64encode(ours).hex().upper(), agrees, note if agrees else "the blocks do not agree"
