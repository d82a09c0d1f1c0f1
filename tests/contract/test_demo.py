"""The demo: from advice to readings at the gateway, in a folder that holds all of it."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tool_sets import needs_tool_set

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.long
@needs_tool_set("avr", "arduino")
def test_the_demo_ends_with_two_readings_that_the_gateway_received(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "motecrypt", "demo"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "MOTECRYPT_DB": str(tmp_path / "r.db")},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    steps = re.findall(r"^\$ motecrypt (\w+)", done.stdout, re.MULTILINE)
    assert steps == ["advise", "export", "key", "provision", "radio", "run", "gateway"]
    assert re.findall(r"^(\d)\. ", done.stdout, re.MULTILINE) == ["1", "2", "3", "4", "5"]
    readings = re.findall(r"^node 5: reading (\d+), (\d+\.\d) degrees Celsius", done.stdout, re.MULTILINE)
    numbers = [int(number) for number, _ in readings]
    assert len(readings) == 2 and numbers[0] < numbers[1]  # a slow machine may miss the first
    assert all(15 < float(degrees) < 30 for _, degrees in readings)
    assert re.search(r"^Next: motecrypt advise ", done.stdout, re.MULTILINE)
    folder = tmp_path / "motecrypt-demo"
    with sqlite3.connect(folder / "readings.db") as stored:
        assert stored.execute("select count(*) from messages").fetchone()[0] >= 2
    assert not (folder / "node.port").exists(), "the virtual radios have ended"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["motecrypt-demo", "r.db"]
    assert (folder / "libraries" / "link" / "README.md").is_file()
