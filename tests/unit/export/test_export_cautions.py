"""What an export's README says of what makes its assembly fault."""

from __future__ import annotations

import pytest

from motecrypt.catalog import Catalog
from motecrypt.exports.cautions import cautions
from motecrypt.exports.library import choose
from motecrypt.exports.targets import for_device, target

CATALOG = Catalog.load()


@pytest.mark.parametrize(
    ("device", "cipher", "variant", "told"),
    [
        ("stm32f4", "aes128-ctr", "armv7m", True),
        ("nrf52840", "aes128-ctr", "armv7m-fixsliced", True),
        ("nrf52840", "ascon-aead128", "armv7m", True),
        ("stm32f4", "aes128-ctr", "sliced", False),
        ("stm32f4", "chacha20-poly1305", "words13", False),  # C is compiled for the program's setting
    ],
)
def test_assembly_with_unaligned_words_says_so(device: str, cipher: str, variant: str, told: bool) -> None:
    meant = for_device(target("c", CATALOG), CATALOG.device(device))
    wanted = CATALOG.cipher(cipher)
    said = cautions(CATALOG, meant, wanted, choose(CATALOG, wanted, meant, variant), "flash", cipher)
    assert ("`CCR.UNALIGN_TRP`" in said[-1]) == told and len(said) == 1 + told
