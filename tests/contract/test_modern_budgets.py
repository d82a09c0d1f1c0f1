"""What the modern ciphers may cost on the UNO for a message of 16 bytes, set-up included.

Ascon and CCM: the promises of the issue that asked for them. The others: what was reached, with a tenth
to spare, so that a change that makes them dearer is noticed.
"""

from __future__ import annotations

import pytest

from motecrypt.bench import cells_for, ensure
from motecrypt.catalog import Catalog
from motecrypt.model import Measurement
from motecrypt.results import Results
from motecrypt.setup import have

MESSAGE_BYTES = 16

# cipher, variant, cycles of set-up and encryption, cycles of set-up and decryption, flash bytes
BUDGETS = (
    ("ascon-aead128", "bytes", 53_000, 53_000, 4_500),
    ("aes128-ccm8", "fast", 25_000, 25_000, 3_400),
    ("chacha20-poly1305", "bytes", 49_000, 49_000, 4_700),
    ("aes128-siv", "fast", 32_000, 32_000, 3_900),
    ("aes128-hctr2", "fast-bytes", 35_000, 36_000, 6_200),
)


@pytest.mark.parametrize(("cipher", "variant", "encrypt", "decrypt", "flash"), BUDGETS)
def test_uno(results: Results, cipher: str, variant: str, encrypt: int, decrypt: int, flash: int) -> None:
    if not have("avr"):
        pytest.skip("the tool kit 'avr' is not installed: motecrypt doctor says how to get it")
    catalog = Catalog.load()
    body = next(i for i in catalog.implementations_of(cipher, "uno", ["motecrypt"]) if i.variant == variant)
    cells = cells_for(
        catalog, catalog.device("uno"), body, message_bytes=[MESSAGE_BYTES], placements=["flash"]
    )
    found: dict[str, Measurement] = {
        cell.operation: measured for cell, measured in ensure(cells, results, catalog, jobs=1).items()
    }
    cycles = {operation: m.cycles_max for operation, m in found.items()}
    assert all(m.status == "ok" for m in found.values()), found
    assert cycles["setup"] is not None and cycles["encrypt"] is not None and cycles["decrypt"] is not None
    assert cycles["setup"] + cycles["encrypt"] <= encrypt
    assert cycles["setup"] + cycles["decrypt"] <= decrypt
    assert (found["encrypt"].flash_bytes or 0) in range(1, flash + 1)
