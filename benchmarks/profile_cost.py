"""What `run` and `profile` cost next to a bare run of the same firmware for the same simulated time.

Thresholds: `run` at most 1.1 times, `profile` at most 4 times. Bare: the engine's own loop (libsimavr, or
Unicorn with nothing but the cycle counter), no stack watched, the same program. Many short runs in turns, now
forwards, now backwards, processor time of the program alone, the ratio turn by turn, the median of the turns:
a processor that is shared or changes its speed affects all of them equally.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from motecrypt.base.model import Device
from motecrypt.build.setup import need
from motecrypt.build.toolchain.drivers import driver
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.simulate.emulate.images import Image, read_image
from motecrypt.simulate.emulate.run import FreeRun, run_freely
from motecrypt.simulate.emulate.symbols import read_symbols

THRESHOLDS = {"run": 1.1, "profile": 4.0}
TURNS = 21
SECONDS = {"uno": 2.0, "pico": 1.5}

WORK = r"""
#include "hal.h"
#include <stdint.h>
#define APART __attribute__((noinline, noclone))
volatile uint8_t table[64];
APART uint8_t mix(uint8_t a, uint8_t b) { return (uint8_t)((a << 1 | a >> 7) ^ table[b & 63]); }
APART uint8_t round_of(uint8_t n) {
    uint8_t sum = n;
    for (uint8_t i = 0; i < 16; i++) { sum = mix(sum, (uint8_t)(table[i] + i)); }
    return sum;
}
int main(void) {
    hal_init();
    for (uint8_t n = 0;; n++) {
        table[n & 63] = round_of(n);
        if (n == 255) { hal_write('.'); }
    }
}
"""


def main() -> int:
    """Measure both devices and print the ratios."""
    need("avr", "pico")
    catalog = Catalog.load()
    worst = dict.fromkeys(THRESHOLDS, 0.0)
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("uno", "pico"):
            device = catalog.device(name)
            image = read_image(_build(device, Path(scratch)), device)
            driver("avr_run" if name == "uno" else "arm")
            for kind, ratio in _ratios(image, device, Path(scratch)).items():
                print(f"{name}: {kind} takes {ratio:.3f} times a bare run (at most {THRESHOLDS[kind]})")
                worst[kind] = max(worst[kind], ratio)
    return 0 if all(worst[kind] <= limit for kind, limit in THRESHOLDS.items()) else 1


def _build(device: Device, folder: Path) -> Path:
    source, target = folder / "work.c", folder / f"{device.name}.elf"
    source.write_text(WORK)
    command = [device.compiler.command, *device.compiler.machine_flags, *device.compiler.flags, "-g"]
    command += [f"-D{d}" for d in device.compiler.defines]
    command += [f"-I{FIRMWARE / 'include'}", str(source), *(str(device.folder / h) for h in device.hal)]
    if device.name == "pico":
        command += ["-nostartfiles", "--specs=nano.specs", f"-T{device.folder / 'flash.ld'}"]
    subprocess.run([*command, "-o", str(target)], check=True)
    return target


def _ratios(image: Image, device: Device, folder: Path) -> dict[str, float]:
    functions = folder / "functions"
    assert image.elf is not None
    symbols = read_symbols(image.elf, "c++filt").functions
    functions.write_text("".join(f"{f.start:x} {f.end:x}\n" for f in symbols))
    seconds = SECONDS[device.name]
    ways = {
        "bare": FreeRun(max_seconds=seconds, bare=True),
        "run": FreeRun(max_seconds=seconds),
        "profile": FreeRun(max_seconds=seconds, profile=(folder / "profile", functions)),
    }
    taken: dict[str, list[float]] = {way: [] for way in ways}
    for turn in range(TURNS):
        for way in list(ways)[:: -1 if turn % 2 else 1]:
            taken[way].append(_seconds(image, device, ways[way]))
    return {
        way: statistics.median(x / bare for x, bare in zip(taken[way], taken["bare"], strict=True))
        for way in THRESHOLDS
    }


def _seconds(image: Image, device: Device, how: FreeRun) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run_freely(image, device, how, lambda data: None)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
