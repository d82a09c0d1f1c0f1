"""Simulated instructions a second of processor time, counting cycles, on devices with and without waiting.

Thresholds: 150 million with zero wait states, 50 million with a cache or wait states, at the median of runs
that encrypt with Ascon in C. The 50 million also hold for AES and DES in C, which look words up in tables:
where data of the flash wait, the driver is asked about each of them. `--device NAME` measures one.
"""

from __future__ import annotations

import argparse
import statistics
import sys

from arm_speed import speed

from motecrypt.build.setup import need
from motecrypt.catalog import Catalog
from motecrypt.simulate.runners import Options

RUNS = 3
SECONDS = 1.0  # about what one run should take, so that start and end do not count
PLAIN = ("ascon-aead128", "motecrypt", "words")
# The first one everywhere; the others, which read more often, on Cortex-M with wait states alone.
LOOKUPS = (
    ("aes128-ecb", "motecrypt", "tables"),
    ("aes128-ecb", "motecrypt", "fast"),
    ("des-ecb", "libtomcrypt", ""),
)
ZERO_WAIT_STATES, CACHED = 150, 50
DEVICES = {
    "pico": ("none", ZERO_WAIT_STATES),
    "stm32f4": ("none", ZERO_WAIT_STATES),
    "stm32l1": ("none", ZERO_WAIT_STATES),
    "microbit": ("none", ZERO_WAIT_STATES),
    "pico2": ("warm", ZERO_WAIT_STATES),
    "ch32v003-24mhz": ("none", ZERO_WAIT_STATES),
    "bluepill": ("none", CACHED),
    "due": ("none", CACHED),
    "stm32f0": ("none", CACHED),
    "stm32f4-168": ("warm", CACHED),
    "nrf52840": ("warm", CACHED),
    "mkrzero": ("warm", CACHED),
    "hifive1": ("none", CACHED),
    "esp32c3": ("warm", CACHED),
    "ch32v003": ("none", CACHED),
}
"""The state of the cache, and the millions of instructions a second that there must be at least."""


def main() -> int:
    """Measure each device and print a line for it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=DEVICES, action="append")
    holds = True
    for name in parser.parse_args().device or DEVICES:
        cache, least = DEVICES[name]
        plain = _rate(name, cache, *PLAIN)
        has_denser = least == CACHED and Catalog.load().device(name).runner == "arm"
        rates = [_rate(name, cache, *cipher) for cipher in LOOKUPS[: None if has_denser else 1]]
        lookups = min(rates)
        tables = ", ".join(f"{rate:.0f}" for rate in rates)
        said = f"{plain:.0f} million instructions a second (at least {least}); with tables {tables}"
        print(f"{name}: {said}", flush=True)
        holds &= plain >= least and (least != CACHED or lookups >= least)
    return 0 if holds else 1


def _rate(name: str, cache: str, cipher_name: str, library: str, variant: str) -> float:
    """Millions of instructions a second of processor time, at the median."""
    catalog = Catalog.load()
    device, cipher = catalog.device(name), catalog.cipher(cipher_name)
    need(device.tool_set)
    bodies = catalog.implementations_of(cipher_name, name)
    body = next(i for i in bodies if (i.library, i.variant) == (library, variant))
    options = Options(cache=cache)
    speed(device, cipher, body, options, 10)  # the driver is compiled now
    repetitions, seconds = 100, 0.0
    while seconds < SECONDS / 4:
        repetitions *= 4
        _, seconds = speed(device, cipher, body, options, repetitions)
    repetitions = int(repetitions * SECONDS / seconds)
    return statistics.median(speed(device, cipher, body, options, repetitions)[0] for _ in range(RUNS)) / 1e6


if __name__ == "__main__":
    sys.exit(main())
