"""The UNO's hal.c on the simulated chip: line, timer, marks, painted stack; as on a board and simulated."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest
from avr_snippets import CHIP, Outcome, outcome

from motecrypt.build.toolchain.drivers import driver
from motecrypt.catalog import FIRMWARE
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr")
NUMBERS = 4 + 4 + 1 + 8


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("uno") / "hal.elf"
    sources = [Path(__file__).with_name("hal_firmware.c"), FIRMWARE / "devices" / "uno" / "hal.c"]
    flags = ["-mmcu=atmega328p", "-Os", "-DF_CPU=16000000UL", f"-I{FIRMWARE / 'include'}"]
    subprocess.run(["avr-gcc", *flags, *sources, "-o", target], check=True, timeout=60)
    flat = target.with_suffix(".bin")
    subprocess.run(["avr-objcopy", "-O", "binary", target, flat], check=True, timeout=60)
    return target


def told(ran: Outcome) -> list[list[int]]:
    """The numbers of both rounds."""
    assert len(ran.output) >= 8 * NUMBERS
    numbers = struct.unpack(f"<{2 * NUMBERS}I", ran.output[: 8 * NUMBERS])
    return [list(numbers[:NUMBERS]), list(numbers[NUMBERS:])]


def test_on_a_board(firmware: Path) -> None:
    image = (
        "--image",
        firmware.with_suffix(".bin"),
        "--input",
        "--stamps",
        "--max-cycles",
        "60000000",
        "--until",
        "!~",
    )
    command = [driver("avr_run"), *CHIP, *(part for part in image if part != "--stamps")]
    for number, numbers in enumerate(told(outcome(command, b"ab"))):
        clock, before, after, again, long, short, longest, last, read, *registers = numbers
        assert clock == 16_000_000
        assert before < 20 and 120 <= after <= 150 and again < 20
        # An overflow's interrupt adds about 25 cycles each 65,536.
        assert 90_000 < long < 90_000 + 200 and 900 < short < 980 and 900 < last < 980
        assert 19_200_000 < longest < 19_200_000 + 293 * 50
        assert read == b"ab"[number]
        assert registers == [16, 2, 0x18, 6, 1, 0, 0, 1 + number]


def test_when_told_that_it_is_simulated(firmware: Path) -> None:
    options = ("--simulated", "0x4a", "--mark", "0x3e", "--max-cycles", "21000000")
    # Lock-step: nothing is read before a frame, and what it sends first is none.
    ran = outcome([driver("simavr"), *CHIP, *options, firmware])
    assert ran.end["kind"] == "silent" and len(ran.output) == 4 * 8
    clock, before, after, again, *_ = struct.unpack(
        "<8I", ran.output
    )  # the rest: its timer, which nobody asks
    assert clock == 16_000_000 and before < 20 and 120 <= after <= 150 and again < 20
