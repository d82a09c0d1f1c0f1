"""What AES-128 may cost on the UNO, for each compiler that it was measured with.

avr-gcc 5.4 (Debian 12) must meet the promises of the variants. 14.2 (Debian 13) generates other code from the
same source, mostly slower and larger: its limits are the figures measured with it plus a twentieth.

The RC4D source's table has AES at 11,040 ms and 1,936 bytes of flash at best (two rows of it), for 1,024
times two blocks encrypted and two decrypted, each with its key schedule.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from motecrypt.catalog import Catalog
from motecrypt.measuring.bench import cells_for, ensure
from motecrypt.results import Results
from tool_sets import skip_without
from toolchains import OWN, for_compiler, kept_toolchains, root_of

CLOCK_HZ = 16_000_000
PUBLISHED_MS, PUBLISHED_FLASH_BYTES = 11_040, 1_936

# compiler, variant: cycles of set-up, of a block encrypted and decrypted; bytes of flash with ECB, of RAM
BUDGETS = {
    "5.4": {
        "avr": (820, 2_230, 2_490, 2_250, 176),
        "fast": (2_000, 3_050, 3_500, 3_500, 176),
        "unrolled": (2_000, 2_800, 3_900, 6_600, 176),
        "small": (5_000, 16_500, 24_500, 1_300, 176),
        "low-ram": (200, 25_500, 52_000, 1_500, 16),
    },
    "14.2": {
        "avr": (820, 2_250, 2_510, 2_250, 176),
        "fast": (2_180, 3_550, 4_320, 3_910, 176),
        "unrolled": (2_110, 3_990, 5_150, 8_180, 176),
        "small": (5_590, 14_110, 24_690, 1_190, 176),
        "low-ram": (145, 27_160, 54_310, 1_455, 16),
    },
}


@pytest.mark.parametrize("toolchain", kept_toolchains("avr-gcc"))
@pytest.mark.parametrize("variant", BUDGETS["5.4"])
def test_uno(results: Results, variant: str, toolchain: str) -> None:
    skip_without("avr")
    if toolchain != OWN:
        root_of(toolchain, "avr-gcc")
    catalog = Catalog.load()
    bodies = catalog.implementations_of("aes128-ecb", "uno", ["motecrypt"])
    body = next(i for i in bodies if i.variant == variant)
    cells = cells_for(
        catalog,
        catalog.device("uno"),
        body,
        message_bytes=[16, 32],
        placements=["flash"],
        toolchain=toolchain,
    )
    found = ensure(cells, results, catalog, jobs=1)
    assert {measured.status for measured in found.values()} == {"ok"}
    compiler = next(iter(found.values())).compiler
    setup, encrypt, decrypt, flash, ram = for_compiler(compiler, BUDGETS)[variant]
    cycles: dict[tuple[str, int], int] = {}
    for cell, measured in found.items():
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
