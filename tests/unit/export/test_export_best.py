"""Which variant an export takes where none is named: the one with the fewest cycles of those on record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog
from motecrypt.exports.library import choose
from motecrypt.exports.targets import target

CYCLES = Path(__file__).resolve().parents[2] / "golden" / "cycles"
CATALOG = Catalog.load()
TARGETS = {"uno": "arduino", "pico": "pico-sdk"}
KEPT = sorted(path for name in TARGETS for path in CYCLES.glob(f"{name}-*.json"))
NEAR = 1.04
"""Compilers differ by as much: a variant that needs up to 4 % more cycles with one of them is as good."""


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.stem)
def test_the_variant_that_needs_the_fewest_cycles_is_the_default(kept: Path) -> None:
    """Encryption and decryption together, of all variants that need no compiler flags of their own."""
    device = kept.name.partition("-")[0]
    meant = target(TARGETS[device], CATALOG)
    compared = 0
    for name, figures in json.loads(kept.read_text()).items():
        cycles: dict[str, int] = {}
        for body in CATALOG.implementations_of(name, device, ["motecrypt"]):
            both = [figures.get(key) for key in figures if key.startswith(_calls(body.name))]
            if not body.c_flags and both and all(isinstance(count, int) for count in both):
                cycles[body.variant] = sum(both)
        if len(cycles) > 1:
            compared += 1
            chosen = choose(CATALOG, CATALOG.cipher(name), meant, None)
            fewest = min(cycles, key=lambda variant: cycles[variant])
            assert cycles[chosen.variant] <= NEAR * cycles[fewest], (name, chosen.variant, fewest)
    assert compared > 15


def _calls(implementation: str) -> tuple[str, str]:
    return (f"{implementation} encrypt ", f"{implementation} decrypt ")


def test_the_best_that_takes_the_placement_is_taken() -> None:
    arduino = target("arduino", CATALOG)
    for name in ("aes128-ccm8", "aes128-ctr"):
        cipher = CATALOG.cipher(name)
        assert choose(CATALOG, cipher, arduino, None).variant == "avr"
        assert choose(CATALOG, cipher, arduino, None, "flash").variant == "avr"
        assert choose(CATALOG, cipher, arduino, None, "ram").variant == "fast"
        assert choose(CATALOG, cipher, arduino, "avr", "ram").variant == "avr"
    ascon = CATALOG.cipher("ascon-aead128")
    assert choose(CATALOG, ascon, arduino, None, "ram").variant == "avr", "none takes it: told elsewhere"
    with pytest.raises(InputError, match="--variant 'quick': aes128-ctr has none of that name"):
        choose(CATALOG, CATALOG.cipher("aes128-ctr"), arduino, "quick")
