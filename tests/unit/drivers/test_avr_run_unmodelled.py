"""AVR: each way to load and store reaches a register that nothing models, and is counted where it does."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

from avr_snippets import STOP
from driver_runs import outcome

from motecrypt.build.toolchain.drivers import driver
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr")
#: What is done (DS40002198), and to which registers of an ATmega2560, behind its last with a model (UDR3).
STEPS = [
    ("lds r16, 0x137", 0x137),
    ("lds r16, 0x1FF", 0x1FF),
    ("sts 0x150, r16", 0x150),
    ("ldi r26, 0x51\nldi r27, 1\nld r16, X", 0x151),
    ("ld r16, X+", 0x151),
    ("ld r16, X", 0x152),
    ("ld r16, -X", 0x151),
    ("st X+, r16", 0x151),
    ("st X, r16", 0x152),
    ("st -X, r16", 0x151),
    ("ldi r28, 0x53\nldi r29, 1\nld r16, Y", 0x153),
    ("ld r16, Y+", 0x153),
    ("st Y, r16", 0x154),
    ("ld r16, -Y", 0x153),
    ("st Y+, r16", 0x153),
    ("st -Y, r16", 0x153),
    *((f"ldd r16, Y+{q}", 0x153 + q) for q in (1, 2, 4, 8, 16, 32, 63)),
    ("std Y+9, r16", 0x15C),
    ("ldi r30, 0xA0\nldi r31, 1\nld r16, Z", 0x1A0),
    ("ld r16, Z+", 0x1A0),
    ("ld r16, -Z", 0x1A0),
    ("st Z+, r16", 0x1A0),
    ("st -Z, r16", 0x1A0),
    *((f"std Z+{q}, r16", 0x1A0 + q) for q in (1, 2, 4, 8, 16, 32, 63)),
    ("ldd r16, Z+20", 0x1B4),
    ("ldi r27, 0\nldi r26, 0\nldi r29, 2\nldi r28, 0x60\nldd r16, Y+1", None),  # RAM
    ("lds r16, 0x200\nlds r16, 0x3E", None),  # RAM, GPIOR0
    (
        "lpm r16, Z\nlpm r16, Z+\nelpm r16, Z\npush r16\npop r16\nlds r16, 0x136",
        None,
    ),  # flash, the stack, UDR3
]


def test_each_way_to_load_and_store(tmp_path: Path) -> None:
    source, built, flat = (tmp_path / name for name in ("f.s", "f.built", "image"))
    source.write_text("\n".join(step for step, _ in STEPS) + "\n" + STOP)
    command = ["avr-gcc", "-mmcu=atmega2560", "-nostdlib", "-Wl,-Ttext=0", str(source), "-o", str(built)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    subprocess.run(["avr-objcopy", "-O", "binary", str(built), str(flat)], check=True, timeout=60)
    chip = ["--mcu", "atmega2560", "--clock", "16000000", "--max-cycles", "10000", "--store", "0x3E"]
    ran = outcome([driver("avr_run"), *chip, "--image", flat])
    expected: Counter[tuple[int, str]] = Counter()
    for step, address in STEPS:
        if address is not None:
            expected[address, "writes" if step.split("\n")[-1].startswith("st") else "reads"] += 1
    found = {
        (event["address"], way): event[way]
        for event in ran.events
        if event["event"] == "touched"
        for way in ("reads", "writes")
        if event[way]
    }
    assert found == dict(expected)
