"""Parts of small programs for the Pico in assembly: a store, a letter to the UART, the start of core 1."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "drivers"))
from arm_assembly import STOP, TOLD, run
from driver_runs import Outcome

__all__ = ["STOP", "TOLD", "Outcome", "launch", "run", "said", "store"]

#: `launch`: starts core 1 as the boot ROM asks, at the address in r0.
_LAUNCH = """
send:
    push {lr}
2:  ldr r1, [r3, #0x50]
    lsrs r1, #1
    bcc 3f
    ldr r1, [r3, #0x58]
    b 2b
3:  sev
    str r0, [r3, #0x54]
    sev
4:  ldr r1, [r3, #0x50]
    lsrs r1, #1
    bcc 4b
    ldr r1, [r3, #0x58]
    pop {pc}
launch:
    push {r6, lr}
    ldr r3, =0xD0000000
    mov r6, r0
    movs r0, #0
    bl send
    movs r0, #0
    bl send
    movs r0, #1
    bl send
    ldr r0, =0x20001000
    bl send
    ldr r0, =0x20006000
    bl send
    mov r0, r6
    bl send
    pop {r6, pc}
    .pool
    .align 2
"""


def launch(core1: str) -> str:
    """Subroutines `send` and `launch`, and what core 1 runs; the program continues behind them."""
    return f"    b 8f\n    .pool\n    .align 2\n{_LAUNCH}{core1}    .pool\n    .align 2\n8:\n"


def store(address: int, value: int) -> str:
    """A word, to a register or to memory."""
    return f"    ldr r0, ={value:#x}\n    ldr r1, ={address:#x}\n    str r0, [r1]\n"


def said(letter: str) -> str:
    """A letter to the UART."""
    return f"    movs r0, #'{letter}'\n{TOLD}"
