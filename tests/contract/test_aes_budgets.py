"""What AES-128 may cost on the UNO: the promises of its variants, a little to spare for other compilers.

The RC4D source's table has AES at 11,040 ms and 1,936 bytes of flash at best (two rows of it), for 1,024
times two blocks encrypted and two decrypted, each with its key schedule.
"""

from __future__ import annotations

import pytest

from motecrypt.bench import cells_for, ensure
from motecrypt.catalog import Catalog
from motecrypt.results import Results
from motecrypt.setup import have

CLOCK_HZ = 16_000_000
PUBLISHED_MS, PUBLISHED_FLASH_BYTES = 11_040, 1_936

# variant, cycles of set-up, of a block encrypted, of a block decrypted; bytes of flash with ECB, of RAM
BUDGETS = (
    ("fast", 2_000, 3_050, 4_000, 3_700, 176),
    ("unrolled", 2_000, 2_800, 3_900, 6_600, 176),
    ("small", 5_000, 16_500, 24_500, 1_300, 176),
    ("low-ram", 200, 25_500, 52_000, 1_500, 16),
)


@pytest.mark.parametrize(("variant", "setup", "encrypt", "decrypt", "flash", "ram"), BUDGETS)
def test_uno(
    results: Results, variant: str, setup: int, encrypt: int, decrypt: int, flash: int, ram: int
) -> None:
    if not have("avr"):
        pytest.skip("the tool kit 'avr' is not installed: motecrypt doctor says how to get it")
    catalog = Catalog.load()
    bodies = catalog.implementations_of("aes128-ecb", "uno", ["motecrypt"])
    body = next(i for i in bodies if i.variant == variant)
    cells = cells_for(catalog, catalog.device("uno"), body, message_bytes=[16, 32], placements=["flash"])
    cycles: dict[tuple[str, int], int] = {}
    for cell, measured in ensure(cells, results, catalog, jobs=1).items():
        assert measured.status == "ok", measured.reason
        assert measured.cycles_max is not None
        cycles[cell.operation, cell.message_bytes] = measured.cycles_max
        assert measured.flash_bytes in range(1, flash + 1)
        assert measured.ram_bytes == ram
    assert cycles["setup", 16] <= setup
    assert cycles["encrypt", 32] - cycles["encrypt", 16] <= encrypt
    assert cycles["decrypt", 32] - cycles["decrypt", 16] <= decrypt
    if variant == "small":
        iteration = 4 * cycles["setup", 16] + cycles["encrypt", 32] + cycles["decrypt", 32]
        assert 1024 * iteration / CLOCK_HZ * 1000 < PUBLISHED_MS
        assert flash < PUBLISHED_FLASH_BYTES
