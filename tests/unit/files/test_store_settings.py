"""The file firmware's settings of littlefs: its sizes, its buffers, and where a block is on the storage."""

from __future__ import annotations

import subprocess
from pathlib import Path

from motecrypt.build.toolchain.files import FOLDER
from motecrypt.build.toolchain.sources import source_root
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")

#: Mounted with and without a format: once all goes well, once the format fails, then the storage's start.
MOUNTS = "mount 77 format mount 77 mount 77 format 2 1 1 1 1"
SETTINGS = """
64 512 4096 80 500 512 64
512 512 64
1024 512
1 1 1
0 0 0 (nil)
read 12305 9
5
program 16640 8
5
erase 20480 0
5
0
"""


def test_littlefs_gets_the_settings_of_mbed_os(tmp_path: Path) -> None:
    program = tmp_path / "settings"
    include = ["-I", FOLDER, "-I", source_root(FOLDER / "littlefs")]
    source = Path(__file__).with_name("store_settings.c")
    subprocess.run(["gcc", "-O1", "-w", *include, source, "-o", program], check=True, timeout=60)
    told = subprocess.run([program], capture_output=True, text=True, timeout=40, check=True).stdout
    assert told.splitlines() == [*MOUNTS.split(), *SETTINGS.strip().splitlines()]
