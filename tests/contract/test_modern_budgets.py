"""What the modern ciphers may cost on the UNO for a message of 16 bytes, set-up included.

Ascon and CCM: the promises of the issue that asked for them. The others: the measured figures, with a tenth
to spare, so that the test detects a change that raises their cost. With avr-gcc 14.2, HCTR2 costs more; its
limit is the figure measured with it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from motecrypt.base.model import Measurement
from motecrypt.catalog import Catalog
from motecrypt.measuring.bench import cells_for, ensure
from motecrypt.results import Results
from tool_sets import skip_without
from toolchains import OWN, for_compiler, kept_toolchains, root_of

MESSAGE_BYTES = 16

# cipher and variant: cycles of set-up and encryption, cycles of set-up and decryption, flash bytes
BOTH = {
    ("ascon-aead128", "bytes"): (53_000, 53_000, 4_500),
    ("aes128-ccm8", "fast"): (25_000, 25_000, 3_400),
    ("chacha20-poly1305", "bytes"): (49_000, 49_000, 4_700),
    ("chacha20-poly1305", "avr"): (25_600, 25_900, 4_252),
    ("chacha20-poly1305", "avr-small"): (31_500, 31_800, 2_590),
    ("aes128-siv", "fast"): (32_000, 32_000, 3_900),
}
BUDGETS = {
    "5.4": {**BOTH, ("aes128-hctr2", "fast-bytes"): (35_000, 36_000, 6_200)},
    "14.2": {**BOTH, ("aes128-hctr2", "fast-bytes"): (39_700, 40_500, 6_530)},
}


@pytest.mark.parametrize("toolchain", kept_toolchains("avr-gcc"))
@pytest.mark.parametrize(("cipher", "variant"), BUDGETS["5.4"])
def test_uno(results: Results, cipher: str, variant: str, toolchain: str) -> None:
    skip_without("avr")
    if toolchain != OWN:
        root_of(toolchain, "avr-gcc")
    catalog = Catalog.load()
    body = next(i for i in catalog.implementations_of(cipher, "uno", ["motecrypt"]) if i.variant == variant)
    cells = cells_for(
        catalog,
        catalog.device("uno"),
        body,
        message_bytes=[MESSAGE_BYTES],
        placements=["flash"],
        toolchain=toolchain,
    )
    found: dict[str, Measurement] = {
        cell.operation: measured for cell, measured in ensure(cells, results, catalog, jobs=1).items()
    }
    cycles = {operation: m.cycles_max for operation, m in found.items()}
    assert all(m.status == "ok" for m in found.values()), found
    encrypt, decrypt, flash = for_compiler(found["encrypt"].compiler, BUDGETS)[cipher, variant]
    assert cycles["setup"] is not None and cycles["encrypt"] is not None and cycles["decrypt"] is not None
    assert cycles["setup"] + cycles["encrypt"] <= encrypt
    assert cycles["setup"] + cycles["decrypt"] <= decrypt
    assert (found["encrypt"].flash_bytes or 0) in range(1, flash + 1)
