"""Attacks on our own firmware: the key falls, on AVR and ARM, and the same seed gives the same curves."""

from dataclasses import replace

import numpy as np
import pytest

from motecrypt.attack.leakage import campaign, cpa
from motecrypt.attack.leakage.campaign import Bed, Level
from motecrypt.attack.leakage.targets import target_named
from motecrypt.catalog import Catalog
from tool_sets import needs_tool_set

CATALOG = Catalog.load()


def bed_of(cipher, device, variant, attack=0):
    body = next(
        body for body in CATALOG.implementations_of(cipher, device, ("motecrypt",)) if body.variant == variant
    )
    found = CATALOG.cipher(cipher)
    return Bed(CATALOG.device(device), found, body, "flash", campaign.attacks_on(found)[attack], 16, 1)


@needs_tool_set("avr", "pico")
@pytest.mark.parametrize(
    ("device", "variant", "most"),
    [("uno", "fast", 20), ("uno", "avr", 20), ("pico", "tables", 57), ("pico", "armv6m", 57)],
)
def test_the_key_of_aes_falls_without_noise(device, variant, most):
    bed = bed_of("aes128-ecb", device, variant)
    window = campaign.find_window(bed)
    assert window.skip > 20 and window.instructions < 400 < window.executed
    assert len(window.marks) == window.instructions and window.marks.all()
    (curve,) = campaign.curves(bed, window, [Level(float("inf"), most)], 3, ("weight",))
    assert curve.traces_to_key is not None and curve.traces_to_key <= most
    assert curve.points[-1].successes == 3 and curve.points[-1].guessing_entropy_bits == 0


@needs_tool_set("avr")
def test_noise_costs_traces_and_templates_save_some():
    bed = bed_of("aes128-ecb", "uno", "avr")
    window = campaign.find_window(bed)
    levels = [Level(float("inf"), 40), Level(0.5, 113)]
    found = campaign.curves(bed, window, levels, 2, ("weight",), template_at=0.5)
    assert [(curve.attacker, curve.snr) for curve in found] == [
        *(("correlation", float("inf")), ("correlation", 0.5), ("template", 0.5)),
    ]
    clean, noisy, template = (curve.points for curve in found)
    assert clean[-1].successes == 2
    by_count = {point.traces: point.guessing_entropy_bits for point in clean}
    assert by_count[40] == 0 < noisy[0].guessing_entropy_bits
    assert sum(p.guessing_entropy_bits for p in template) < sum(p.guessing_entropy_bits for p in noisy)
    assert campaign.curves(bed, window, levels, 2, ("weight",))[1] == found[1]
    told = found[0].as_json()
    assert (told["snr"], told["noise_sd"], told["traces_to_key"]) == (None, 0.0, found[0].traces_to_key)
    shown = campaign.correlation_curve(bed, window, levels[1])
    assert shown.right.max() > 0.5 and shown.right.shape == shown.wrong.shape == (window.instructions,)
    assert shown.right.max() > shown.wrong.max()


@needs_tool_set("avr")
def test_predicted_distances_find_what_weights_do_not_show():
    bed = bed_of("aes128-ecb", "uno", "avr")
    window = campaign.find_window(bed)
    none = float("inf")
    weights, distances = campaign.curves(bed, window, [Level(none, 57)], 2, ("distance",), None, [none])
    assert (weights.attacker, distances.attacker) == ("correlation", "distance")
    assert weights.traces_to_key is None and weights.points[-1].parts_right < 0.9
    assert distances.traces_to_key is not None and distances.points[-1].successes == 2


@needs_tool_set("avr", "pico")
@pytest.mark.parametrize(
    ("cipher", "device", "variant", "attack", "most"),
    [
        ("aes128-ecb", "uno", "fast", 1, 40),  # decryption
        ("aes128-ecb", "pico", "tables", 2, 80),  # the last round
        ("aes128-cbc", "pico", "tables", 0, 57),
        ("aes128-ctr", "uno", "fast", 0, 40),
        ("aes128-ccm8", "pico", "armv6m", 0, 80),
        ("ascon-aead128", "uno", "avr", 0, 320),
    ],
)
def test_other_modes_fall_as_well(cipher, device, variant, attack, most):
    bed = bed_of(cipher, device, variant, attack)
    window = campaign.find_window(bed)
    recorded = campaign.record(bed, 0, window, most, ("weight",))
    target = bed.attack.target
    scores = cpa.scores_of(recorded.models["weight"].samples, recorded.known, target, [most])
    assert target.rebuild(scores[0]) == target.recovered(bed.key(0))
    wrong = campaign.record(replace(bed, seed=2), 0, window, most, ("weight",))
    assert not np.array_equal(wrong.known, recorded.known)


def test_what_is_not_predicted_has_no_attack():
    assert campaign.attacks_on(CATALOG.cipher("rc4")) == []
    names = [attack.target.name for attack in campaign.attacks_on(CATALOG.cipher("aes256-cbc"))]
    assert names == ["aes-encrypt-first", "aes-decrypt-first"]
    chained = campaign.attacks_on(CATALOG.cipher("aes128-cbc"))[0]
    inputs = np.arange(32, dtype=np.uint8).reshape(2, 16)
    assert (chained.known(inputs, bytes(range(16)), b"")[0] == 0).all()


def test_levels():
    bits, whole = target_named("ascon-initialisation"), target_named("aes-encrypt-first")
    few = campaign.levels_of(whole, thorough=False, alone=False)
    assert campaign.levels_of(whole, thorough=False, alone=True) == few[-1:]
    assert len(campaign.levels_of(whole, thorough=True, alone=False)) > len(few)
    assert campaign.levels_of(bits, thorough=False, alone=True)[0].traces_most > few[0].traces_most


def test_figures_of_a_curve_are_rounded_for_json() -> None:
    point = cpa.CurvePoint(90, 10, 4, 0.123456, 0.654321, 0.555555, 7.123456)
    found = campaign.Curve("weight", "template", np.inf, (point,)).as_json()
    assert found == {
        "model": "weight",
        "attacker": "template",
        "snr": None,
        "noise_sd": 0.0,
        "traces_to_key": None,
        "points": [
            {
                "traces": 90,
                "experiments": 10,
                "successes": 4,
                "success_low": 0.1235,
                "success_high": 0.6543,
                "parts_right": 0.5556,
                "guessing_entropy_bits": 7.12,
            }
        ],
    }
