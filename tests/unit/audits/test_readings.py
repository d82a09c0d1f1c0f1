"""The pure parts of the audits say of made-up data what tests/golden/readings.json keeps."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import golden_readings
import pytest

from goldens.text import written


@lru_cache(maxsize=1)
def kept() -> dict[str, Any]:
    return dict(json.loads(golden_readings.PLACE.read_text()))


@pytest.mark.parametrize("name", golden_readings.READINGS)
def test_made_up_data_are_read_as_they_were(name: str) -> None:
    said = json.loads(written(golden_readings.told(name)))
    wanted = {key: value for key, value in kept().items() if key.partition(": ")[0] == name}
    assert said.keys() == wanted.keys()
    for key, value in wanted.items():
        assert said[key] == value, f"{key}: if this is meant, run: {golden_readings.COMMAND}"


def test_all_that_is_kept_is_compared() -> None:
    assert {key.partition(": ")[0] for key in kept()} == set(golden_readings.READINGS)
