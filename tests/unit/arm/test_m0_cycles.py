"""What a Cortex-M0 takes otherwise than an M0+: branches, and loads of the program counter. ARM DDI 0432.

Snippets are as in test_m3_cycles.py; the flash has no wait states here.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from arm_snippets import assembled, changed, run

from motecrypt.base.model import Device
from motecrypt.catalog import Catalog
from motecrypt.simulate.runners import Fault
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")


def cortex_m0() -> Device:
    """The STM32F0 with a flash that has no wait states."""
    device = Catalog.load().device("stm32f0")
    settings = {name: value for name, value in device.simulator.items() if name != "memory"}
    return dataclasses.replace(device, simulator=settings)


@pytest.mark.parametrize(
    ("text", "cycles"),
    [
        ("adds r0, #1; muls r0, r1, r0; ldr r0, [r2]; str r0, [r2]", 1 + 1 + 2 + 2),
        ("b 1f; nop; 1: nop", 3 + 1),
        ("beq 1f; nop; 1: nop", 3 + 1),
        ("bne 1f; nop; 1: nop", 1 + 1 + 1),
        ("bl 1f; b 2f; 1: bx lr; nop; 2: nop", 4 + 3 + 3 + 1),
        ("bl 1f; b 2f; 1: push {r4, lr}; pop {r4, pc}; 2: nop", 4 + (1 + 2) + (4 + 2) + 3 + 1),
        ("push {r0, r1}; pop {r0, r1}", (1 + 2) + (1 + 2)),
        ("mrs r0, msp; dmb", 4 + 4),
        ("movs r0, #10; 1: subs r0, #1; bne 1b", 1 + 10 + 9 * 3 + 1),
    ],
)
def test_a_snippet_takes_what_the_manual_says(tmp_path: Path, text: str, cycles: int) -> None:
    device = cortex_m0()
    nothing = run(tmp_path, assembled(tmp_path, "", "cortex-m0"), device=device).cycles
    assert run(tmp_path, assembled(tmp_path, text, "cortex-m0"), device=device).cycles - nothing == cycles


def test_the_slow_multiplier_is_data(tmp_path: Path) -> None:
    device = cortex_m0()
    slow = changed(device, cycles={**device.simulator["cycles"], "multiply": 32})
    code = assembled(tmp_path, "muls r0, r1, r0", "cortex-m0")
    assert run(tmp_path, code, device=slow).cycles == run(tmp_path, code, device=device).cycles + 31


def test_an_instruction_of_a_larger_core_is_a_fault_with_its_address(tmp_path: Path) -> None:
    device = cortex_m0()
    with pytest.raises(Fault, match=r"undefined instruction \(UDIV\) at 0x800001"):
        run(tmp_path, assembled(tmp_path, "nop; udiv r0, r1, r3", "cortex-m3"), device=device)
