"""The simulated MHz of our AVR driver within a cell, against a bare libsimavr loop on the same ELF.

Threshold: at least 0.95. Both run the same firmware through the same number of simulated cycles, in
turn, and the ratio is taken pair by pair.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from motecrypt import process
from motecrypt.catalog import Catalog
from motecrypt.model import Device
from motecrypt.runners import Options, runner_of
from motecrypt.runners.protocol import Client
from motecrypt.setup import need
from motecrypt.toolchain import BuildRequest, Firmware, build

THRESHOLD = 0.95
PAIRS = 7
REPETITIONS = 2_000  # of 256 bytes, so that the region, not the marks around it, is timed

BARE = r"""
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
int main(int argc, char **argv) {
    elf_firmware_t firmware;
    (void)argc;
    memset(&firmware, 0, sizeof firmware);
    elf_read_firmware(argv[1], &firmware);
    avr_t *avr = avr_make_mcu_by_name("atmega328p");
    avr_init(avr);
    avr->log = 0;
    firmware.frequency = 16000000;
    avr_load_firmware(avr, &firmware);
    unsigned long long end = strtoull(argv[2], 0, 10);
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    while (avr->cycle < end) {
        avr_run(avr);
    }
    clock_gettime(CLOCK_MONOTONIC, &b);
    printf("%f\n", (double)end / ((double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9));
    return 0;
}
"""


def main() -> int:
    """Measure both and print the ratio."""
    need("avr")
    catalog = Catalog.load()
    device = catalog.device("uno")
    body = catalog.implementations_of("aes128-ecb", "uno", ["motecrypt"])[0]
    firmware = build(BuildRequest(device, body, "flash"))
    with tempfile.TemporaryDirectory() as scratch:
        source, bare = Path(scratch) / "bare.c", Path(scratch) / "bare"
        source.write_text(BARE)
        made = process.run(["gcc", "-O2", source, "-lsimavr", "-lelf", "-o", bare])
        if not made.ok:
            print(made.first_error)
            return 1
        ratios = []
        for pair in range(PAIRS):
            ours, cycles = _our_speed(device, firmware)
            said = subprocess.check_output([bare, firmware.elf, str(cycles)], timeout=300)
            theirs = float(said.split()[-1])
            ratios.append(ours / theirs)
            print(f"pair {pair + 1}: {ours / 1e6:.1f} MHz, bare {theirs / 1e6:.1f} MHz, {ratios[-1]:.3f}")
    ratio = statistics.median(ratios)
    print(f"median ratio {ratio:.3f} (threshold {THRESHOLD})")
    return 0 if ratio >= THRESHOLD else 1


def _our_speed(device: Device, firmware: Firmware) -> tuple[float, int]:
    runner = runner_of(device.runner)
    with runner.open_session(device, firmware.elf, firmware.data_end, Options(max_cycles=10**11)) as session:
        client = Client(session, 300)
        client.wait_ready()
        client.set_key(bytes(16))
        client.set_message(bytes(256))
        client.run("encrypt", 1, 0)
        session.regions()
        started = time.monotonic()
        client.run("encrypt", REPETITIONS, 0)
        seconds = time.monotonic() - started
        cycles = sum(r.cycles for r in session.regions())
    return cycles / seconds, cycles


if __name__ == "__main__":
    sys.exit(main())
