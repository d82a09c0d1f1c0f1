"""The simulated MHz of our AVR driver within a cell, against a bare libsimavr loop on the same ELF.

Threshold: at least 0.95, in processor time of the two programs alone. Both run the same firmware and get the
same bytes on its UART: ours with few repetitions and with many, so that neither start nor protocol count; the
bare loop for as many cycles as the many take. In turn; the ratio is that of the medians.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from motecrypt.base import process
from motecrypt.base.model import Device
from motecrypt.build.setup import need
from motecrypt.build.toolchain import BuildRequest, Firmware, build, libraries
from motecrypt.catalog import Catalog
from motecrypt.simulate.runners import Options, runner_of
from motecrypt.simulate.runners.protocol import Client

THRESHOLD = 0.95
PAIRS = 5
REPETITIONS = (100, 2_100)  # of 256 bytes, so that the region, not the marks around it, is timed

BARE = r"""
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define BOOT_CYCLES 100000
static int ready = 1;
static void on(struct avr_irq_t *irq, uint32_t value, void *unused) {
    (void)irq, (void)value, (void)unused;
    ready = 1;
}
static void off(struct avr_irq_t *irq, uint32_t value, void *unused) {
    (void)irq, (void)value, (void)unused;
    ready = 0;
}
static size_t at, answered;
static void out(struct avr_irq_t *irq, uint32_t value, void *unused) {
    (void)irq, (void)value, (void)unused;
    answered += at > 0;
}
int main(int argc, char **argv) {
    elf_firmware_t firmware;
    static uint8_t input[65536];
    size_t count;
    uint32_t flags = 0;
    FILE *file = fopen(argv[3], "rb");
    (void)argc;
    count = fread(input, 1, sizeof input, file);
    memset(&firmware, 0, sizeof firmware);
    elf_read_firmware(argv[1], &firmware);
    avr_t *avr = avr_make_mcu_by_name("atmega328p");
    avr_init(avr);
    avr->log = 0;
    firmware.frequency = 16000000;
    avr_load_firmware(avr, &firmware);
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    avr_irq_t *uart = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUT_XON), on, 0);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUT_XOFF), off, 0);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), out, 0);
    unsigned long long end = strtoull(argv[2], 0, 10);
    struct timespec a, b;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    while (avr->cycle < end) {
        avr_run(avr);
        if (at < count && ready && avr->cycle > BOOT_CYCLES) {
            avr_raise_irq(uart, input[at++]);
        }
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    if (at < count || !answered) {
        fprintf(stderr, "the firmware did not take its input\n");
        return 1;
    }
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
        source, bare, sent = (Path(scratch) / name for name in ("bare.c", "bare", "sent"))
        source.write_text(BARE)
        made = process.run(["gcc", "-O2", source, *libraries.flags("simavr", "gcc"), "-lelf", "-o", bare])
        if not made.ok:
            print(made.first_error)
            return 1
        ours, theirs = [], []
        for pair in range(PAIRS):
            short, long = (_our_run(device, firmware, repetitions) for repetitions in REPETITIONS)
            cycles = long[1] - short[1]
            ours.append(cycles / (long[0] - short[0]))
            sent.write_bytes(long[2])
            said = subprocess.check_output([bare, firmware.elf, str(long[1]), sent], timeout=300)
            theirs.append(float(said.split()[-1]))
            print(f"pair {pair + 1}: {ours[-1] / 1e6:.1f} MHz, bare {theirs[-1] / 1e6:.1f} MHz", flush=True)
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(f"median ratio {ratio:.3f} (threshold {THRESHOLD})")
    return 0 if ratio >= THRESHOLD else 1


def _our_run(device: Device, firmware: Firmware, repetitions: int) -> tuple[float, int, bytes]:
    """Processor seconds of the driver for a whole run, the cycles in its region, and what it was sent."""
    sent = bytearray()
    runner = runner_of(device.runner)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with runner.open_session(device, firmware.elf, firmware.data_end, Options(max_cycles=10**11)) as session:
        write = session.write

        def kept(data: bytes) -> None:
            sent.extend(data)
            write(data)

        session.write = kept  # type: ignore[method-assign]
        client = Client(session, 300)
        client.wait_ready()
        client.set_key(bytes(16))
        client.set_message(bytes(256))
        client.run("encrypt", repetitions, 0)
        cycles = sum(r.cycles for r in session.regions())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, cycles, bytes(sent)


if __name__ == "__main__":
    sys.exit(main())
