"""The Pico 2's Cortex-M33 in a free run: priorities, masks, nested handlers, coprocessors, resets."""

from __future__ import annotations

from pathlib import Path

import pytest
from pico2_board import built, go, numbers

from motecrypt.simulate.emulate.run import Ended
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")
EXPECTED = {
    # all bits; a byte; that byte; a halfword; the other one; beyond the last interrupt
    "priority": "f0f0f0f0 f0f020f0 00000020 809020f0 000020f0 00000000",
    # SysTick and PendSV by bytes; SVC; both by a halfword; one byte of it
    "handlers": "c0800000 f0000000 30400000 00000030",
    "order": "00001320",
    # 16 levels and NMI; all have ended; the innermost ended first; NMI; thread mode
    "nested": "00000011 00000000 fedcba98 76543210 0000000e 00000000",
    # FAULTMASK; NMI comes; unmasked by CPSIE f; both masked; by CPSIE if; a return clears it
    "masked": "00000000 0000000e 000000e0 000000e0 00000e01 00000010",
    "then": "00000001 00000060 00000004 00000005",
    "else": "00000009 00000002 00000004 00000061",
    "flags": "00000001 00000003",
    "between": "00000009 00000060 00000001",
    # engaged; X, Y and the flags as saved, which disengages; restored: they, X truncated, and their sum
    "saved": (
        "80000000 bff80000 00000000 40100000 00000000 00000003 00000000 80000000 ffffffff 40040000 00000000"
    ),
}


#: BASEPRI, FAULTMASK, PRIMASK and CONTROL by bytes; FPSCR, and bit 31 of an engaged coprocessor.
RESETS = {"before": "4001010c 81c00000", "core1": "00000000 00000000", "after": "00000000 00000000"}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Ended]:
    return go(built(tmp_path_factory.mktemp("pico2"), "pico2_core.c"))


@pytest.mark.parametrize("name", EXPECTED)
def test_the_core_does_what_its_manual_says(ran: tuple[str, Ended], name: str) -> None:
    assert numbers(ran[0], name) == [EXPECTED[name]]
    assert ran[1].reason == "stop"


def test_a_reset_leaves_nothing_of_the_core_behind(tmp_path: Path) -> None:
    said, ended = go(built(tmp_path, "pico2_resets.c"))
    assert {name: numbers(said, name) for name in RESETS} == {name: [text] for name, text in RESETS.items()}
    assert (ended.reason, ended.notes) == ("stop", ("the firmware resets the chip",))
