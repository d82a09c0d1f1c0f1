"""Simulated instructions a second of the ARM driver, with cycle counting, on one core.

Threshold: at least 200 million a second of the driver's own processor time, the best of several runs (a
machine shared with others only ever slows a run down), for each of three ciphers that differ in how many
branches and stores they have. The slower modes are printed beside them.
"""

from __future__ import annotations

import resource
import sys
import time

from motecrypt.catalog import Catalog
from motecrypt.model import Cipher, Device, Implementation
from motecrypt.runners import Options, runner_of
from motecrypt.runners.protocol import Client
from motecrypt.setup import need
from motecrypt.toolchain import BuildRequest, build
from motecrypt.toolchain.drivers import driver

THRESHOLD = 200e6
RUNS = 5
SECONDS = 1.0  # about what one run should take, so that start and end do not count
CIPHERS = (("aes128-cbc", "small"), ("ascon-aead128", "words"), ("rc4", "plain"))
MESSAGE_BYTES = 256


def main() -> int:
    """Measure all and print a line for each."""
    need("pico")
    driver("arm")  # compiled now, so that no run counts that
    catalog = Catalog.load()
    device = catalog.device("pico")
    slowest = float("inf")
    for name, variant in CIPHERS:
        cipher = catalog.cipher(name)
        body = next(i for i in catalog.implementations_of(name, "pico") if i.variant == variant)
        repetitions = 100
        _, seconds = _speed(device, cipher, body, Options(), repetitions)
        repetitions = max(100, min(60_000, int(repetitions * SECONDS / max(seconds, 0.001))))
        best = max(_speed(device, cipher, body, Options(), repetitions)[0] for _ in range(RUNS))
        cold, _ = _speed(device, cipher, body, Options(cache="cold"), repetitions // 10)
        traced, _ = _speed(device, cipher, body, Options(trace=True), repetitions // 10)
        print(
            f"{name} {variant}: {best / 1e6:.0f} million instructions a second counting cycles; "
            f"with the flash cache {cold / 1e6:.0f}, tracing {traced / 1e6:.0f}",
            flush=True,
        )
        slowest = min(slowest, best)
    print(f"slowest {slowest / 1e6:.0f} million a second, {slowest / THRESHOLD:.2f} of the threshold")
    return 0 if slowest >= THRESHOLD else 1


def _speed(
    device: Device, cipher: Cipher, body: Implementation, options: Options, repetitions: int
) -> tuple[float, float]:
    """Instructions a second of processor time, and the seconds."""
    firmware = build(BuildRequest(device, body, "flash"))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    options = Options(cache=options.cache, trace=options.trace, max_cycles=10**12)
    started = time.monotonic()
    with runner_of(device.runner).open_session(device, firmware.elf, firmware.data_end, options) as session:
        client = Client(session, 300)
        client.wait_ready()
        client.set_key(bytes(body.key_bits[0] // 8))
        if cipher.nonce_bytes:
            client.set_nonce(bytes(cipher.nonce_bytes))
        client.set_message(bytes(MESSAGE_BYTES))
        client.run("setup", 1, cipher.tag_bytes)
        client.run("encrypt", repetitions, cipher.tag_bytes)
        instructions = sum(r.extra["instructions"] for r in session.regions())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if used < 0.01:
        used = time.monotonic() - started
    return instructions / used, used


if __name__ == "__main__":
    sys.exit(main())
