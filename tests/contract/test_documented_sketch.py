"""What docs/profile.md and docs/hardware.md state of a sketch's own clock is what a sketch reads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from documented import missing
from motecrypt.catalog import Catalog
from tool_sets import needs_tool_set

SKETCH = """
volatile uint32_t sink;
__attribute__((noinline, noclone)) void work(uint32_t n) { for (uint32_t i = 0; i < n; i++) sink += i; }
void setup() {
  Serial.begin(115200);
  uint32_t begun = micros();
  work(20000);
  uint32_t ended = micros();
  Serial.println(ended - begun);
  Serial.println("done");
}
void loop() {}
"""
TIMER_CYCLES = 64 * 256


def _json(command: str, sketch: Path) -> dict[str, Any]:
    line = [sys.executable, "-P", "-m", "motecrypt", command, str(sketch), "--until", "done", "--json"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@needs_tool_set("arduino")
def test_a_sketchs_clock_agrees_with_the_cycles_and_those_of_its_interrupts(tmp_path: Path) -> None:
    sketch = tmp_path / "clock" / "clock.ino"
    sketch.parent.mkdir()
    sketch.write_text(SKETCH)
    read_us = int(str(_json("run", sketch)["uart"]).split()[0])
    functions = {each["name"]: each for each in _json("profile", sketch)["functions"]}
    share = functions["__vector_16"]["cycles_range"][1] / TIMER_CYCLES
    cycles = functions["work(unsigned long)"]["cycles"] / (1 - share)
    assert read_us == pytest.approx(cycles / Catalog.load().device("uno").clock_hz * 1e6, rel=0.0005)
    told = f"clock's interrupts, which take {100 * share:.1f} % of the time"
    assert missing("profile.md", "`micros()` differences agree within 0.05 % with the cycles", told) == []
    assert missing("hardware.md", f"It takes about {100 * share:.1f} % of the time") == []
