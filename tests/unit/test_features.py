"""What a cipher takes, found by trying it: against ciphers whose answers are known."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from motecrypt.base.errors import InputError
from motecrypt.measuring.experiments.features import FeatureProbe, spell
from motecrypt.results import Results
from tool_sets import needs_tool_set


@pytest.mark.parametrize(
    ("taken", "tried", "said"),
    [
        (range(5), range(5), "any"),
        ([16], range(40), "16"),
        (range(5, 256), range(256), "5 to 255"),
        ([0, 16, 32], range(40), "multiples of 16"),
        ([3, 9], range(10), "3, 9"),
        ([], range(10), "none"),
    ],
)
def test_lengths_are_said_in_a_word_or_two(taken: Sequence[int], tried: Sequence[int], said: str) -> None:
    assert spell(taken, tried) == said


@needs_tool_set("host")
@pytest.mark.parametrize(
    ("cipher", "variant", "payload", "keys", "diffusion", "identity", "reach", "passes"),
    [
        ("rc4", "k-opt", "any", "16", "none", [], 1, False),
        ("rc4d", "undo", "any", "5 to 256", "full", [1], 3, True),
        ("rc4d-two-key", "kip-undo", "any", "32", "full", [], 3, True),
        ("aes128-ecb", "small", "multiples of 16", "16", "block", [], 16, False),
    ],
)
def test_what_is_known_of_these_ciphers_is_found(
    results: Results,
    cipher: str,
    variant: str,
    payload: str,
    keys: str,
    diffusion: str,
    identity: list[int],
    reach: int,
    passes: bool,
) -> None:
    probe = FeatureProbe(cipher, variant)
    assert probe.find(results) is None
    found = probe.ensure(results)
    outcome = found.outcome
    assert (outcome["messages"], outcome["keys"], outcome["diffusion"]) == (payload, keys, diffusion)
    assert (outcome["identity_bytes"], outcome["decrypt_reach_bytes"]) == (identity, reach)
    assert outcome["last_byte_passes_through"] is passes
    stored = probe.find(results)
    assert stored is not None and stored.outcome == outcome


@needs_tool_set("host")
def test_a_variant_that_does_not_run_on_the_host_is_refused_with_those_that_do(results: Results) -> None:
    with pytest.raises(InputError, match=r"kipe-opt.*kip-opt"):
        FeatureProbe("rc4d", "kipe-opt").ensure(results)
