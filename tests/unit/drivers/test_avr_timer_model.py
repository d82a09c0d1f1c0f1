"""The AVR's driver with each index and shift checked: modes of a timer, waiting loops, interrupts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from avr_snippets import CHIP, assemble
from driver_runs import outcome
from test_avr_waits import ROUNDS, STEPPED, TIMED, WAITS, lines

from motecrypt.build.toolchain.drivers import DRIVERS, RECIPES
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr")
CHECKS = ("-fsanitize=undefined,bounds-strict", "-fno-sanitize-recover=all")
OPERATIONS = (
    "a count that stands still",
    "and stores a count",
    "with calls in calls",
    "what is left of a time",
)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    recipe = RECIPES["avr_run"]
    target = tmp_path_factory.mktemp("driver") / "avr_run"
    command = [
        recipe.compiler,
        "-O1",
        *CHECKS,
        str(DRIVERS / recipe.source),
        *recipe.flags(),
        "-o",
        str(target),
    ]
    subprocess.run(command, check=True, timeout=120)
    return target


@pytest.mark.parametrize(
    "mode", [(0, 0x0B), (1, 0x09), (3, 0x19), (2, 0x12)], ids=["ctc", "fast", "ocr", "phase"]
)
@pytest.mark.parametrize("loop", ["words", *OPERATIONS])
def test_nothing_is_outside_its_array(loop: str, mode: tuple[int, int], driver: Path, tmp_path: Path) -> None:
    first, second = mode
    code = TIMED.replace("ldi r24, 0x0B\n", f"ldi r24, {first}\n    sts 0x80, r24\n    ldi r24, {second}\n")
    code += lines(f"again: mov r21, r20; {({**WAITS, **ROUNDS})[loop]}; rjmp again") + STEPPED
    image = tmp_path / "image"
    image.write_bytes(assemble(code, tmp_path))
    ran = outcome([driver, *CHIP, "--image", image, "--max-cycles", "2000000"])
    assert ran.end["event"] == "limit" and not [line for line in ran.said if "runtime error" in line]
