"""Stored rows without end, and the memory that a command takes: for the test of memory and its benchmark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from motecrypt.base.model import OPERATIONS, Measurement
from motecrypt.catalog import Catalog

ROOT = Path(__file__).resolve().parents[1]

PROBE = """
import json, re, sys
from pathlib import Path
from motecrypt.cli import main
code = 0
try:
    main(sys.argv[1:])
except SystemExit as stop:
    code = stop.code
status = Path("/proc/self/status").read_text()  # getrusage's figure begins with that of whoever started this
print(json.dumps([code, int(re.search(r"VmHWM:\\s+([0-9]+) kB", status)[1]) * 1024]), file=sys.stderr)
"""


def rows() -> Iterator[Measurement]:
    """Measurements without end, all of different cells, each with figures and times of its own."""
    catalog = Catalog.load()
    numbers = count()
    for length in count(1):
        for body in catalog.implementations:
            cipher = catalog.ciphers[body.cipher]
            if not body.runs_on("avr5") or not cipher.message.allows(length):
                continue
            for operation in OPERATIONS:
                number = next(numbers)
                yield Measurement(
                    device="uno",
                    library=body.library,
                    configuration=body.configuration,
                    cipher=body.cipher,
                    variant=body.variant,
                    key_bits=body.key_bits[0],
                    operation=operation,
                    message_bytes=length,
                    ad_bytes=0,
                    tag_bytes=cipher.tag_bytes,
                    placement="flash",
                    cache="none",
                    cycles_min=10_000 + number,
                    cycles_median=20_000 + number,
                    cycles_max=30_000 + number,
                    inputs=8,
                    timing_varies=False,
                    time_us=number / 16,
                    flash_bytes=1000 + number % 977,
                    flash_symbol_bytes=900,
                    ram_bytes=300,
                    eeprom_bytes=0,
                    stack_bytes=50 + number % 300,
                    status="ok",
                    reason="",
                    compiler="avr-gcc made up",
                    flags="-mmcu=atmega328p -Os",
                    runner="made-up",
                    cycles_exact=True,
                    elf_sha256=f"{number // 50:064x}",
                    measured_at=f"2026-01-{1 + number // 86_400:02}T{number // 3600 % 24:02}:"
                    f"{number // 60 % 60:02}:{number % 60:02}+00:00",
                    motecrypt_version="0",
                    extra={"painted_stack_bytes": 50 + number % 300, "instructions": 5_000 + number},
                )


def peak_bytes(*arguments: str) -> int:
    """The most memory that a command has resident."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROBE, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        check=True,
    )
    code, peak = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    return int(peak)
