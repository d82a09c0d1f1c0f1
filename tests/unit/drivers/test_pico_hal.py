"""The Pico's hal.c on the simulated chip: clocks, line, timer, marks and painted stack."""

from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path

import pytest
from arm_assembly import Outcome

from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.simulate.runners import Options, arm
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")
DEVICE = FIRMWARE / "devices" / "pico"
NUMBERS = 4 + 4 + 1 + 20


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("pico") / "hal.elf"
    own = [DEVICE / name for name in ("hal.c", "startup.S", "boot2.S")]
    link = ["-nostartfiles", "--specs=nano.specs", f"-T{DEVICE / 'flash.ld'}", f"-I{FIRMWARE / 'include'}"]
    source = Path(__file__).with_name("hal_firmware.c")
    command = [
        "arm-none-eabi-gcc",
        "-mcpu=cortex-m0plus",
        "-mthumb",
        "-Os",
        *link,
        *own,
        source,
        "-o",
        target,
    ]
    subprocess.run(command, check=True, timeout=60)
    return target


def run(firmware: Path, *more: str, simulated: bool, given: bytes) -> Outcome:
    command = [str(part) for part in arm.command(Catalog.load().device("pico"), firmware, Options())]
    unwanted = ["--events", "--max-cycles", *([] if simulated else ["--simulated"])]
    for key in unwanted:
        del command[command.index(key) : command.index(key) + 2]
    done = subprocess.run([*command, *more], input=given, capture_output=True, timeout=60, check=False)
    return Outcome(done.returncode, done.stdout, [json.loads(line) for line in done.stderr.splitlines()], [])


@pytest.mark.parametrize("simulated", [False, True])
def test_all_that_it_can_do(firmware: Path, simulated: bool) -> None:
    ran = run(
        firmware, "--free", "--input", "--until", "!~", "--max-seconds", "2", simulated=simulated, given=b"ab"
    )
    assert ran.end["event"] == "until" and ran.end["clock_hz"] == 125_000_000
    numbers = struct.unpack(f"<{2 * NUMBERS}I", ran.output[: 8 * NUMBERS])
    for number in range(2):
        clock, before, after, again, long, short, longest, last, read, *registers = numbers[
            number * NUMBERS : (number + 1) * NUMBERS
        ]
        assert clock == 125_000_000
        assert before < 40 and 120 <= after <= 200 and again < 40
        assert 90_000 < long < 90_200 and 900 < short < 1100 and 900 < last < 1100
        assert 19_200_000 < longest < 19_200_300, "more than SysTick's 24 bits"
        assert read == b"ab"[number]
        assert registers == [
            *(67, 52, 3 << 5 | 1 << 4, 0x301),  # divisor, line, control
            *(2, 2),  # the pins are the UART's
            *(6 << 16 | 2 << 12, 125, 1 | 1 << 31, 0),  # the PLL: dividers, multiplier, locked, power
            *(0xFAB000 | 0xAA0, 47),  # the crystal
            0x01FFFFFF & ~(1 << 5 | 1 << 8 | 1 << 12 | 1 << 21 | 1 << 22),  # still in reset
            *(1 << 11, 2, 1, 12 | 3 << 9, 0xFFFFFF),
            *(1 << 16 | 5, 1 + number),  # SysTick has counted to zero since it was read last
        ]


def test_the_paint_goes_to_the_stacks_end_on_a_board_alone(firmware: Path) -> None:
    counts = []
    for simulated in (False, True):
        free = ("--free", "--input", "--until", "!~", "--max-seconds", "2")
        counts.append(run(firmware, *free, simulated=simulated, given=b"ab").end["cycle"])
    # Four times 8192 words of stack in place of 1024, each painted and looked at.
    assert counts[0] - counts[1] > 4 * 7000 * 5
