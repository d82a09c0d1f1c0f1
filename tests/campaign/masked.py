"""`./test campaign --masked`: no sample of a protected variant leaks, at any set of flags.

The benchmark firmware is recorded with fixed against random nonces (the rounds of a block), and with fixed
against random keys (the set-up), in both models. Masks are random in every run.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from motecrypt.attack.leakage.assessment import Assessment, LeakQuestion, Variable, assess
from motecrypt.attack.leakage.bench_firmware import bench_recorder
from motecrypt.attack.leakage.models import MODELS
from motecrypt.attack.leakage.recording import Recorder
from motecrypt.base.model import Implementation
from motecrypt.catalog import Catalog

CIPHER = "aes128-ctr"
DEVICES = ("uno", "pico")
FLAGS = ("-Os", "-O2", "-O3")
#: What is set up or encrypted, and which input is fixed in one class.
OPERATIONS = {"setup": "key", "encrypt": "nonce"}
TRACES, SNR = 40_000, 100.0


@dataclass(frozen=True)
class Run:
    """A protected variant on a device, compiled with a flag."""

    device: str
    implementation: Implementation
    flag: str
    operation: str

    def __str__(self) -> str:
        return f"{self.device} {self.implementation.variant} {self.flag} {self.operation}"

    def recorder(self) -> Recorder:
        """The firmware, ready to be recorded."""
        catalog = Catalog.load()
        return bench_recorder(
            catalog.device(self.device),
            self.implementation,
            catalog.cipher(CIPHER),
            self.operation,
            *(bytes(range(16)), bytes(16), bytes(16)),
            vary=OPERATIONS[self.operation],
            flags=(self.flag,),
        )

    def assessed(self, traces: int, snr: float, model: str = "both", masks: str = "random") -> Assessment:
        """What the test of fixed against random inputs finds."""
        recorder, varied = self.recorder(), OPERATIONS[self.operation]
        variables = [Variable(poke.name, "vary" if poke.name == varied else masks) for poke in recorder.pokes]
        return assess(recorder, variables, LeakQuestion(traces, snr, 1, MODELS[model]))


def runs() -> Iterator[Run]:
    """Each variant on its devices, at each flag, in each operation."""
    catalog = Catalog.load()
    for device in DEVICES:
        for body in catalog.implementations_of(CIPHER, device, ["motecrypt"], protected=True):
            if body.protection is not None:
                for flag in FLAGS:
                    yield from (Run(device, body, flag, operation) for operation in OPERATIONS)


def campaign(traces: int, only: Sequence[str]) -> int:
    """All runs whose names have one of the words (none: all); 0 when none leaks."""
    leaking = count = 0
    for run in runs():
        if only and not any(word in str(run).split() for word in only):
            continue
        started = time.monotonic()
        found = run.assessed(traces, SNR)
        count, leaking = count + 1, leaking + (found.verdict not in ("no leak found", "no claim"))
        largest = max((order.largest for order in found.orders), default=0.0)
        print(
            f"{run}: {found.verdict}, {traces:,} traces, |t| up to {largest:.1f} "
            f"({time.monotonic() - started:.0f} s)",
            flush=True,
        )
    print(f"{count} runs, {leaking} leaking")
    return 1 if leaking or not count else 0
