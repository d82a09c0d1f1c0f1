"""Code that the Pico's DMA or boot ROM changes, and what a profile keeps when the flash changes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from test_pico_firmware import CHIP, LOOK_UP, UART_ON
from test_pico_waits import store
from test_two_cores import run as run_both

from tool_sets import needs_tool_set

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "drivers"))
from arm_assembly import STOP, TOLD, run

pytestmark = needs_tool_set("pico")
CALL = "    ldr r3, =0x20004101\n    blx r3\n" + TOLD
LOOK = "    b 9f\n" + LOOK_UP + "9:\n"


def code(letter: str) -> int:
    """A function that returns the letter."""
    return 0x47702000 | ord(letter)


def rom(name: str, *arguments: int) -> str:
    """A call of the boot ROM's function."""
    text = f"    ldr r0, ={ord(name[0]) | ord(name[1]) << 8}\n    bl look\n    movs r3, r0\n"
    return text + "".join(f"    ldr r{n}, ={value}\n" for n, value in enumerate(arguments)) + "    blx r3\n"


DMA = store(0x50000000, 0x20004000) + store(0x50000004, 0x20004100) + store(0x50000008, 1)
CHANGES = {
    "DMA": DMA + store(0x5000000C, 1 | 2 << 2 | 63 << 15) + "    nop\n" * 20 + "    b 1f\n1:\n",
    "memcpy": rom("MC", 0x20004100, 0x20004000, 4),
}


@pytest.mark.parametrize("who", CHANGES)
def test_code_that_another_than_the_core_changes_runs_as_changed(tmp_path: Path, who: str) -> None:
    text = UART_ON + LOOK + store(0x20004100, code("a")) + CALL + store(0x20004000, code("b"))
    assert run(text + CHANGES[who] + CALL + STOP, tmp_path, *CHIP, "--ram-code").output == b"ab"


def test_code_that_the_dma_changes_runs_as_changed_on_both_cores(tmp_path: Path) -> None:
    assert run_both(tmp_path, 10)[1] == {"before 1": 1, "before 0": 1, "after 1": 2, "after 0": 2}


def test_a_profile_keeps_its_counts_when_the_flash_is_programmed(tmp_path: Path) -> None:
    functions, out = tmp_path / "functions", tmp_path / "profile"
    functions.write_text("")
    loop = "    ldr r0, =1000\n1:  subs r0, #1\n    bne 1b\n"
    text = UART_ON + LOOK + loop + rom("RP", 0x8000, 0x20004000, 16) + STOP
    more = ("--profile", str(out), "--functions", str(functions), "--nor", "1000:1000:1000:1000")
    ran = run(text, tmp_path, *CHIP, *more)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert sum(row["n"] for row in rows if "pc" in row) == pytest.approx(ran.end["instructions"], abs=2)
