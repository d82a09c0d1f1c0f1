"""The six ciphers on the UNO and the Pico: what fits, what it costs at most, whose time varies.

The limits hold what was reached, a few per cent above it, so that a change that loses it is seen.
"""

from __future__ import annotations

import pytest

from motecrypt.base.model import Measurement
from motecrypt.catalog import Catalog
from motecrypt.measuring.bench import cells_for, ensure
from motecrypt.results import Results
from tool_sets import skip_without

CATALOG = Catalog.load()


def _measure(results: Results, device: str, name: str, variant: str) -> dict[str, Measurement]:
    skip_without(CATALOG.device(device).tool_set)
    body = next(b for b in CATALOG.implementations_of(name, device, ["motecrypt"]) if b.variant == variant)
    block = CATALOG.cipher(name).message.multiple
    cells = cells_for(
        CATALOG,
        CATALOG.device(device),
        body,
        message_bytes=[block],
        key_bits=body.key_bits[:1],
        placements=["flash"],
        caches=["none", "warm"],
    )
    return {m.operation: m for m in ensure(cells, results, CATALOG, jobs=1).values()}


# cycles of one block, in the worst of 32 inputs; flash and RAM beyond the no-op cipher's
UNO_LIMITS = [
    ("des-ecb", "small", 81_000, 1_450, 8),
    ("des-ecb", "fast", 7_000, 4_900, 128),
    ("3des-ecb", "small", 245_000, 1_560, 24),
    ("3des-ecb", "fast", 19_600, 5_000, 384),
    ("rc2-ecb", "plain", 2_900, 1_820, 128),
    ("rc6-ecb", "plain", 18_400, 2_380, 176),
    ("rc6-ecb", "fixed-rotate", 17_700, 2_560, 176),
]


@pytest.mark.parametrize(("name", "variant", "cycles", "flash_bytes", "ram_bytes"), UNO_LIMITS)
def test_budgets_on_the_uno(
    results: Results, name: str, variant: str, cycles: int, flash_bytes: int, ram_bytes: int
) -> None:
    measured = _measure(results, "uno", name, variant)["encrypt"]
    assert measured.status == "ok", measured.reason
    assert measured.cycles_max is not None
    assert measured.cycles_max <= cycles
    assert measured.flash_bytes is not None
    assert measured.flash_bytes <= flash_bytes
    assert measured.ram_bytes == ram_bytes


def test_blowfish_does_not_fit_the_uno_and_says_so(results: Results) -> None:
    for measured in _measure(results, "uno", "blowfish-ecb", "plain").values():
        assert measured.status == "does-not-fit"
        assert "of 2,048 bytes of RAM" in measured.reason
        assert measured.ram_bytes == 4_168


def test_blowfish_fits_the_pico(results: Results) -> None:
    measured = _measure(results, "pico", "blowfish-ecb", "plain")["encrypt"]
    assert measured.status == "ok", measured.reason
    assert measured.ram_bytes == 4_168


def test_rotations_vary_on_avr_unless_they_are_fixed(results: Results) -> None:
    plain = _measure(results, "uno", "rc6-ecb", "plain")["encrypt"]
    assert plain.timing_varies
    assert plain.cycles_min is not None
    assert plain.cycles_max is not None
    assert plain.cycles_min < plain.cycles_max
    for operation, fixed in _measure(results, "uno", "rc6-ecb", "fixed-rotate").items():
        assert fixed.timing_varies is False, operation
        assert fixed.cycles_min == fixed.cycles_max


def test_a_barrel_shifter_rotates_in_constant_time(results: Results) -> None:
    assert _measure(results, "pico", "rc6-ecb", "plain")["encrypt"].timing_varies is False


def test_small_des_branches_on_nothing_secret(results: Results) -> None:
    """Its table look-ups have secret addresses, which cost the same on AVR; its cycles do not vary."""
    for measured in _measure(results, "uno", "des-ecb", "small").values():
        assert measured.cycles_min == measured.cycles_max
