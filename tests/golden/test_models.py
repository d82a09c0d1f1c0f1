"""Every model says what tests/golden/models.json keeps, to nine digits."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import pytest

import golden_models


@lru_cache(maxsize=1)
def kept() -> dict[str, Any]:
    return dict(json.loads(golden_models.PLACE.read_text()))


@pytest.mark.parametrize("name", golden_models.GOLDEN)
def test_the_model_says_what_it_said(name: str) -> None:
    if name in ("Wi-Fi captures", "Wi-Fi frames"):
        pytest.importorskip("scapy", reason="scapy is not installed: pip install 'motecrypt[wlan]'")
    made = {f"{name}: {key}": value for key, value in golden_models.GOLDEN[name]().items()}
    said = json.loads(golden_models.written(made))
    wanted = {key: value for key, value in kept().items() if key.partition(": ")[0] == name}
    assert said.keys() == wanted.keys()
    for key, value in wanted.items():
        assert said[key] == value, f"{key}: if this is meant, run: {golden_models.COMMAND}"


def test_all_that_is_kept_is_compared() -> None:
    assert {key.partition(": ")[0] for key in kept()} == set(golden_models.GOLDEN)
