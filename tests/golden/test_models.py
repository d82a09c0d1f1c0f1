"""Every model says what tests/golden/models.json keeps, to nine digits."""

from __future__ import annotations

import pytest

import golden_models
from goldens.kept import assert_as_kept, parts_kept


@pytest.mark.parametrize("name", golden_models.GOLDEN)
def test_the_model_says_what_it_said(name: str) -> None:
    if name in ("Wi-Fi captures", "Wi-Fi frames"):
        pytest.importorskip("scapy", reason="scapy is not installed: pip install 'motecrypt[wlan]'")
    made = {f"{name}: {key}": value for key, value in golden_models.GOLDEN[name]().items()}
    assert_as_kept(golden_models.PLACE, name, made, golden_models.COMMAND)


def test_all_that_is_kept_is_compared() -> None:
    assert parts_kept(golden_models.PLACE) == set(golden_models.GOLDEN)
