"""Parts of the RP2350 in a free run that differ from the RP2040's: ticks, boot ROM, DMA."""

from __future__ import annotations

import pytest
from pico2_board import built, go, numbers

from kits import needs_kit
from motecrypt.emulate.run import Ended

pytestmark = needs_kit("pico")
EXPECTED = {
    # 4000 us are 1000 ticks; none while its generator is off; some while the timer's is
    "watchdog": "00000001 00000000 00000001",
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Ended]:
    return go(built(tmp_path_factory.mktemp("pico2"), "pico2_parts.c"))


@pytest.mark.parametrize("name", EXPECTED)
def test_a_part_does_what_the_datasheet_says(ran: tuple[str, Ended], name: str) -> None:
    assert numbers(ran[0], name) == [EXPECTED[name]]
    assert ran[1].reason == "stop"
