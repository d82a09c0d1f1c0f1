"""What differs between AVR chips, counted by hand from the AVR Instruction Set Manual (DS40002198). It has
columns for an AVRe with a program counter of 16 bits and of 22. The ATmega2560's datasheet (DS40002211A)
has the cycles of an interrupt in 7.8.1.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from avr_counted import FRAME_CYCLES, assemble, run_counted

from motecrypt.build.toolchain.drivers import driver
from motecrypt.catalog import Catalog
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr")
AVRS = {name: d for name, d in Catalog.load().devices.items() if d.runner == "simavr"}
WIDE = {"mega2560"}
"""Devices whose program counter has 22 bits: more than 128 KB of flash."""
IN_BOTH = pytest.mark.parametrize("runner", ["avr_run", "simavr"])


def cycles(runner: str, folder: Path, name: str, body: str, handlers: dict[int, str] | None = None) -> int:
    device = AVRS[name]
    elf = assemble(folder, body, handlers, device=device)
    ended = run_counted(runner, folder, elf, device=device)
    assert "sleeps with interrupts off" in ended.reason
    return ended.cycles - FRAME_CYCLES


def test_the_wide_devices_are_those_with_more_than_128_kb() -> None:
    assert {name for name, d in AVRS.items() if d.memory["flash"].bytes > 1 << 17} == WIDE


@IN_BOTH
@pytest.mark.parametrize("name", AVRS)
def test_calls_and_returns(runner: str, name: str, tmp_path: Path) -> None:
    """One cycle more for each that pushes or pops three bytes instead of two."""
    body = """
    ldi r30, pm_lo8(away)       ; 1
    ldi r31, pm_hi8(away)       ; 1
    rcall away                  ; 3, with 22 bits 4; and RET 4 or 5
    icall                       ; the same
    rcall away
    rjmp over                   ; 2
away:
    ret
over:
    finish
    """
    one = 4 + 5 if name in WIDE else 3 + 4
    assert cycles(runner, tmp_path, name, body) == 1 + 1 + 3 * one + 2


@IN_BOTH
@pytest.mark.parametrize("name", [name for name in AVRS if AVRS[name].core not in ("avr4", "avr25")])
def test_long_calls(runner: str, name: str, tmp_path: Path) -> None:
    body = """
    call away                   ; 4, with 22 bits 5; and RET 4 or 5
    jmp over                    ; 3
away:
    ret
over:
    finish
    """
    assert cycles(runner, tmp_path, name, body) == (5 + 5 if name in WIDE else 4 + 4) + 3


@IN_BOTH
def test_an_extended_call(runner: str, tmp_path: Path) -> None:
    body = """
    clr r16                     ; 1
    out REG(EIND), r16          ; 1
    ldi r30, pm_lo8(away)       ; 1
    ldi r31, pm_hi8(away)       ; 1
    eicall                      ; 4, and RET 5
    rjmp over                   ; 2
away:
    ret
over:
    finish
    """
    assert cycles(runner, tmp_path, "mega2560", body) == 4 + 4 + 5 + 2


@IN_BOTH
def test_an_interrupt_takes_five_cycles_with_22_bits(runner: str, tmp_path: Path) -> None:
    body = """
    sbi REG(EECR), EERIE        ; 2: the EEPROM is ready, so it is pending
    sei                         ; 1
    inc r20                     ; 1: the one instruction, then 5 for the interrupt and 2 for its RJMP
    rjmp over                   ; 2, after RETI and again one instruction before the interrupt
handler:
    cbi REG(EECR), EERIE        ; 2
    reti                        ; 5
over:
    finish
    """
    assert cycles(runner, tmp_path, "mega2560", body, {30: "handler"}) == 2 + 1 + 1 + 5 + 2 + 2 + 5 + 2


@pytest.mark.parametrize("name", AVRS)
def test_the_line_has_the_bytes_of_the_firmware_and_no_others(name: str, tmp_path: Path) -> None:
    """libsimavr itself prints that an ATmega8 has a port less: not into the line."""
    device = AVRS[name]
    elf = assemble(tmp_path, "    finish", device=device)
    image = tmp_path / "image"
    subprocess.run(["avr-objcopy", "-O", "binary", elf, image], check=True, timeout=60)
    chip = ["--mcu", device.simulator["mcu"], "--clock", str(device.clock_hz)]
    for command in ([driver("avr_run"), *chip, "--image", image], [driver("simavr"), *chip, elf]):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        assert done.stdout == b""
