"""How many simulated traces give the key of AES-128, with and without protection.

The figures are of the model of weights. They compare implementations at one signal-to-noise ratio;
docs/protection.md describes the attackers.
"""

from __future__ import annotations

from collections.abc import Iterator

from motecrypt.adviser.protection import Resistance
from motecrypt.attack.leakage import campaign, cpa
from motecrypt.attack.leakage.unmask import ATTACKERS, Masked, found_key
from motecrypt.base.model import Device, Implementation
from motecrypt.catalog import Catalog

CIPHER = "aes128-ctr"
#: A device, and the implementation without protection that the others are compared with.
REFERENCES = {"uno": "avr", "pico": "armv6m"}
SNRS = (0.5,)
SEED = 1
#: Experiments, and the most traces that are tried: without a random order, and with it.
PLANS = {"correlation": (10, 1_280, 1_280), "table": (10, 640, 5_120), "pairs": (5, 5_120, 10_240)}


def every_resistance(catalog: Catalog) -> Iterator[Resistance]:
    """Attack all implementations; what each attacker needs, as it is found. This takes hours."""
    for device, name in REFERENCES.items():
        for body in catalog.implementations_of(CIPHER, device, ["motecrypt"], protected=True):
            if body.variant == name or body.protection is not None:
                yield from _resistances(catalog, catalog.device(device), body)


def _resistances(catalog: Catalog, device: Device, body: Implementation) -> Iterator[Resistance]:
    """What each attacker needs, at each ratio."""
    for attacker in ATTACKERS if body.protection else ("correlation",):
        for snr in SNRS:
            experiments, *mosts = PLANS[attacker]
            most = mosts["AES_MASKED_IN_ORDER" not in body.defines]
            if body.protection is None:
                found = _by_correlation(catalog, device, body, snr, most)
            else:
                masked = Masked(device, catalog.cipher(CIPHER), body, SEED)
                found = _unmasked(masked, attacker, snr, most, experiments)
            yield Resistance(device.name, body.variant, attacker, snr, experiments, most, found)


def _by_correlation(
    catalog: Catalog, device: Device, body: Implementation, snr: float, most: int
) -> int | None:
    cipher = catalog.cipher(CIPHER)
    (attack,) = campaign.attacks_on(cipher)
    bed = campaign.Bed(device, cipher, body, "flash", attack, 16, SEED)
    window = campaign.find_window(bed)
    (curve,) = campaign.curves(bed, window, [campaign.Level(snr, most)], PLANS["correlation"][0], ("weight",))
    return curve.traces_to_key


def _unmasked(masked: Masked, attacker: str, snr: float, most: int, experiments: int) -> int | None:
    layout = masked.layout()
    counts = cpa.counts_up_to(most, 40)
    found = [found_key(masked, layout, attacker, snr, counts, number) for number in range(experiments)]
    least = None
    for place in reversed(range(len(counts))):
        if sum(each[place] for each in found) < cpa.ENOUGH * experiments:
            break
        least = counts[place]
    return least
