"""The mote's counter in EEPROM, with power lost in the middle of any write."""

from __future__ import annotations

import subprocess
from pathlib import Path

from motecrypt.catalog import FIRMWARE


def test_power_lost_at_any_write_never_repeats_a_number(tmp_path: Path) -> None:
    link = FIRMWARE / "motes" / "link"
    harness = Path(__file__).with_name("counter_harness.c")
    program = tmp_path / "harness"
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-I", str(link)]
    command = ["gcc", *flags, str(harness), str(link / "counter.c"), "-o", str(program)]
    subprocess.run(command, check=True, timeout=120)
    done = subprocess.run([program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
