"""Attacks on the masked AES find the key where they must, and the shipped figures are theirs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motecrypt.adviser.protection import read_resistances
from motecrypt.attack.leakage.targets import aes_sbox
from motecrypt.attack.leakage.unmask import Masked, found_key, known_mask_scores, masks_of, pair_products
from motecrypt.base.errors import MotecryptError
from motecrypt.catalog import Catalog
from tool_sets import needs_tool_set

CATALOG = Catalog.load()
CIPHER = CATALOG.cipher("aes128-ctr")
WEIGHTS = np.array([value.bit_count() for value in range(256)], float)
UNO = pytest.param("uno", "avr", marks=needs_tool_set("avr"))
PICO = pytest.param("pico", "armv6m", marks=needs_tool_set("pico"))


def masked(device: str, variant: str) -> Masked:
    bodies = CATALOG.implementations_of(CIPHER.name, device, ["motecrypt"], protected=True)
    body = next(body for body in bodies if body.variant == variant)
    return Masked(CATALOG.device(device), CIPHER, body, 1)


def test_a_table_shows_its_mask_in_one_trace() -> None:
    masks = np.array([0, 1, 0x63, 255], np.uint8)
    entries = WEIGHTS[aes_sbox()[None, :] ^ masks[:, None]]
    noise = np.random.default_rng(1).normal(0, 2, entries.shape)
    assert masks_of(entries).tolist() == masks_of(entries + noise).tolist() == masks.tolist()


def test_products_of_two_shares_follow_the_value_and_one_share_does_not() -> None:
    rng = np.random.default_rng(2)
    values, masks = rng.integers(0, 256, (2, 20_000))
    products = pair_products(WEIGHTS[masks], WEIGHTS[values ^ masks][:, None])[:, 0]
    shown = np.corrcoef(products, WEIGHTS[values])[0, 1]
    assert abs(shown) == pytest.approx(0.35, abs=0.03)
    assert abs(np.corrcoef(WEIGHTS[values ^ masks], WEIGHTS[values])[0, 1]) < 0.04


def test_outputs_with_known_masks_give_the_key() -> None:
    rng = np.random.default_rng(3)
    known = rng.integers(0, 256, (120, 16), np.uint8)
    key, masks = rng.integers(0, 256, 16, np.uint8), rng.integers(0, 256, 120, np.uint8)
    outputs = WEIGHTS[aes_sbox()[known ^ key] ^ masks[:, None]]
    assert known_mask_scores(outputs, known, masks).argmax(axis=1).tolist() == key.tolist()
    wrong = known_mask_scores(outputs, known, masks ^ 0xFF & rng.integers(0, 256, 120, np.uint8))
    assert (wrong.argmax(axis=1) == key).sum() < 4


@pytest.mark.parametrize(("device", "core"), [UNO, PICO])
def test_the_table_gives_the_key_of_masks_alone(device: str, core: str) -> None:
    """Without noise: the order hides it from as many traces, and from pairs of samples."""
    in_order, shuffled = masked(device, f"{core}-masked-in-order"), masked(device, f"{core}-masked")
    layout = in_order.layout()
    assert len(set(layout.table)) == 256 and len(set(layout.slots)) == 16
    assert found_key(in_order, layout, "table", float("inf"), [5, 40], 0) == [False, True]
    assert found_key(in_order, layout, "pairs", float("inf"), [1000], 0) == [True]
    layout = shuffled.layout()
    assert found_key(shuffled, layout, "table", float("inf"), [40, 1200], 0) == [False, True]
    assert found_key(shuffled, layout, "pairs", float("inf"), [1000], 0) == [False]


@needs_tool_set("avr")
def test_other_code_has_no_layout() -> None:
    whole = masked("uno", "avr-masked")
    assert whole.implementation.protection is not None
    elsewhere = replace(whole.implementation.protection, encrypt="random_block")
    with pytest.raises(MotecryptError, match="no table and no S-boxes"):
        replace(whole, implementation=replace(whole.implementation, protection=elsewhere)).layout()


@needs_tool_set("avr")
def test_a_shipped_figure_is_made_again() -> None:
    """Of masks alone on the UNO: one experiment finds the key with as many traces as are stated."""
    (row,) = (
        row
        for row in read_resistances()
        if (row.variant, row.attacker, row.snr) == ("avr-masked-in-order", "table", 0.5)
    )
    assert row.traces is not None
    one = masked(row.device, row.variant)
    assert found_key(one, one.layout(), row.attacker, row.snr, [40, 2 * row.traces], 1) == [False, True]
