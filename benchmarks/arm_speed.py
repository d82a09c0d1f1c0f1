"""The ARM driver, counting cycles, next to the same cipher compiled for this computer.

Both encrypt with the same source, in turns, in processor time. Threshold: the ratio of the simulated Pico's
time for a byte to this computer's, at the median, for each of three ciphers that differ in how many branches
and stores they have. Simulated instructions a second are printed next to it, and the slower modes.
"""

from __future__ import annotations

import resource
import statistics
import sys
import time
from collections.abc import Callable

from motecrypt.base.model import Cipher, Device, Implementation
from motecrypt.build.setup import need
from motecrypt.build.toolchain import BuildRequest, build, native
from motecrypt.build.toolchain.drivers import driver
from motecrypt.catalog import Catalog
from motecrypt.simulate.runners import Options, runner_of
from motecrypt.simulate.runners.protocol import Client

RUNS = 5
SECONDS = 1.0  # about what one run should take, so that start and end do not count
NATIVE_SECONDS = 0.2
CIPHERS = {("aes128-cbc", "small"): 180, ("ascon-aead128", "words"): 340, ("rc4", "plain"): 170}
"""Variants, and how many times as long the simulator may take."""
MESSAGE_BYTES = 256
NATIVE_BYTES = 1 << 16


def main() -> int:
    """Measure all and print a line for each."""
    need("pico")
    driver("arm")  # compiled now, so that no run counts that
    catalog = Catalog.load()
    device = catalog.device("pico")
    holds = True
    for (name, variant), most in CIPHERS.items():
        cipher = catalog.cipher(name)
        body = next(i for i in catalog.implementations_of(name, "pico") if i.variant == variant)
        here = native.open_implementation(cipher, body)
        here.setup(bytes(body.key_bits[0] // 8))
        nonce = bytes(cipher.nonce_bytes)
        repetitions = 100
        _, seconds = speed(device, cipher, body, Options(), repetitions)
        repetitions = max(100, min(60_000, int(repetitions * SECONDS / max(seconds, 0.001))))
        rates, ratios = [], []
        for _ in range(RUNS):
            own = _native_seconds(lambda here=here, nonce=nonce: here.encrypt(bytes(NATIVE_BYTES), nonce))  # type: ignore[misc]
            rate, seconds = speed(device, cipher, body, Options(), repetitions)
            rates.append(rate)
            ratios.append(seconds / (repetitions * MESSAGE_BYTES) / (own / NATIVE_BYTES))
        cold, _ = speed(device, cipher, body, Options(cache="cold"), repetitions // 10)
        traced, _ = speed(device, cipher, body, Options(trace=True), repetitions // 10)
        ratio = statistics.median(ratios)
        print(
            f"{name} {variant}: {ratio:.1f} times as long as on this computer (at most {most}); "
            f"{statistics.median(rates) / 1e6:.0f} million instructions a second counting cycles; "
            f"with the flash cache {cold / 1e6:.0f}, tracing {traced / 1e6:.0f}",
            flush=True,
        )
        holds &= ratio <= most
    return 0 if holds else 1


def _native_seconds(encrypt: Callable[[], object]) -> float:
    """Processor time of one call, over many."""
    calls, begun = 0, time.process_time()
    while (used := time.process_time() - begun) < NATIVE_SECONDS:
        encrypt()
        calls += 1
    return used / calls


def speed(
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
