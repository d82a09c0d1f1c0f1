"""The pure parts of the audits say of made-up data what tests/golden/readings.json keeps."""

from __future__ import annotations

import golden_readings
import pytest

from goldens.kept import assert_as_kept, parts_kept


@pytest.mark.parametrize("name", golden_readings.READINGS)
def test_made_up_data_are_read_as_they_were(name: str) -> None:
    assert_as_kept(golden_readings.PLACE, name, golden_readings.told(name), golden_readings.COMMAND)


def test_all_that_is_kept_is_compared() -> None:
    assert parts_kept(golden_readings.PLACE) == set(golden_readings.READINGS)
