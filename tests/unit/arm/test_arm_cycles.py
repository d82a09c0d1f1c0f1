"""The cycle model, instruction class by class, on hand-assembled snippets: ARM DDI 0484C, table 3-1."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_snippets import changed, halfwords, pico, run

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")

MARK_STORE = 2 + 3  # the store that opens the region: its own cycles and the peripheral bus's


@pytest.mark.parametrize(
    ("code", "cycles"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("3001", 1, id="adds r0, #1"),
        pytest.param("4680", 1, id="mov r8, r0"),
        pytest.param("00c0 41c8 4208", 3, id="lsls rors tst"),
        pytest.param("b240 ba00 a801", 3, id="sxtb; rev; add r0, sp, #4"),
        pytest.param("b082 b002", 2, id="sub sp; add sp"),
        pytest.param("46c0 bf40 b662", 3, id="nop; sev; cpsie i"),
        pytest.param("4348", 1, id="muls: single-cycle multiplier"),
        pytest.param("6810", 2, id="ldr r0, [r2]"),
        pytest.param("7850 5ad0 56d0", 6, id="ldrb ldrh ldrsb"),
        pytest.param("b082 9801 b002", 4, id="ldr r0, [sp, #4]"),
        pytest.param("4800", 2, id="ldr r0, [pc]"),
        pytest.param("6010 7050 52d0", 6, id="str strb strh"),
        pytest.param("b082 9001 b002", 4, id="str r0, [sp, #4]"),
        pytest.param("ca01", 1 + 1, id="ldm of 1"),
        pytest.param("ca0b", 1 + 3, id="ldm of 3"),
        pytest.param("c21b", 1 + 4, id="stm of 4"),
        pytest.param("b403 bc03", (1 + 2) + (1 + 2), id="push and pop of 2"),
        pytest.param("e000 46c0", 2, id="b over a nop"),
        pytest.param("d000 46c0", 2, id="beq taken over a nop"),
        pytest.param("d101 46c0 46c0", 1 + 2, id="bne not taken"),
        pytest.param("200a 3801 d1fd", 1 + 10 * 1 + 9 * 2 + 1, id="loop of 10"),
        pytest.param("f000 f801 e000 4770", 3 + 2 + 2, id="bl; bx lr; b"),
        pytest.param("f000 f801 e001 b501 bd01", 3 + (1 + 2) + (3 + 2) + 2, id="push {r0, lr}; pop {r0, pc}"),
        pytest.param("4678 3005 4780 e000 4770", 1 + 1 + 2 + 2 + 2, id="blx r0; bx lr; b"),
        pytest.param("4678 3004 4687 46c0", 1 + 1 + 2, id="mov pc, r0"),
        pytest.param("4487 46c0", 2, id="add pc, r0 over a nop"),
        pytest.param("f3ef 8010 f380 8810", 3 + 3, id="mrs; msr"),
        pytest.param("f3bf 8f5f f3bf 8f4f f3bf 8f6f", 9, id="dmb; dsb; isb"),
    ],
)
def test_a_class_costs_what_the_table_says(tmp_path: Path, code: str, cycles: int) -> None:
    assert run(tmp_path, halfwords(code)).cycles == MARK_STORE + cycles


def test_the_table_is_data(tmp_path: Path) -> None:
    device = pico()
    slow = changed(device, cycles={**device.simulator["cycles"], "multiply": 32})
    assert run(tmp_path, halfwords("4348"), device=slow).cycles == MARK_STORE + 32


def test_peripherals_and_the_io_port_have_their_own_costs(tmp_path: Path) -> None:
    load_watchdog = halfwords("6838")  # ldr r0, [r7]: behind the peripheral bus
    load_port = halfwords("20d0 0600 6800")  # movs r0, #0xd0; lsls r0, #24; ldr r0, [r0]: SIO's CPUID
    assert run(tmp_path, load_watchdog).cycles == MARK_STORE + 4
    assert run(tmp_path, load_port).cycles == MARK_STORE + 2 + 1
