"""Traces recorded for each second of processor time, and what it takes to record and test many of them.

Thresholds, in processor time of all processes: recording a tenth of an encryption of one block, about its
first round, on UNO, Pico and HiFive1, at least 10,000 traces a second, which is 20,000 on two processors.
Recording and testing 100,000 traces of 2,000 samples on the UNO: at most 240 s, two minutes on two
processors. No process takes more than 256 MB.
"""

from __future__ import annotations

import resource
import sys
from dataclasses import replace

import numpy as np

from motecrypt.attack.leakage.assessment import LeakQuestion, Variable, assess
from motecrypt.attack.leakage.bench_firmware import bench_recorder
from motecrypt.attack.leakage.models import MODELS
from motecrypt.attack.leakage.recording import Recorder
from motecrypt.build.setup import need
from motecrypt.catalog import Catalog

ROUNDS = 10  # of AES-128
RECORDED, TRACES, SAMPLES = 40_000, 100_000, 2_000
TRACES_A_SECOND_MIN, SECONDS_MAX, MB_MAX = 10_000, 240.0, 256.0


def main() -> int:
    """Record and test, print the figures, and say whether the thresholds hold."""
    need("avr")
    need("pico")
    need("riscv")
    good = True
    for device in ("uno", "pico", "hifive1"):
        speed = _recorded(_recorder(device))
        good &= speed >= TRACES_A_SECOND_MIN
        print(f"{device}: {speed:,.0f} traces a second of processor time (at least {TRACES_A_SECOND_MIN:,})")
    took = _tested(_recorder("uno"))
    most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    limit = f"at most {SECONDS_MAX:.0f} s"
    print(f"{TRACES:,} traces of {SAMPLES:,} samples: {took:.0f} s of processor time ({limit})")
    print(f"the largest process: {most / 1024:.0f} MB (at most {MB_MAX:.0f} MB)")
    return 0 if good and took <= SECONDS_MAX and most / 1024 <= MB_MAX else 1


def _recorder(name: str) -> Recorder:
    catalog = Catalog.load()
    device, cipher = catalog.device(name), catalog.cipher("aes128-ecb")
    body = catalog.implementations_of(cipher.name, name, ("motecrypt",))[0]
    return bench_recorder(device, body, cipher, "encrypt", bytes(range(16)), b"", bytes(16))


def _cpu_s() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def _recorded(recorder: Recorder) -> float:
    inputs = np.random.default_rng(1).integers(0, 256, (RECORDED, 16), dtype=np.uint8)
    count = recorder.details(inputs[:1])[0][0].instructions // ROUNDS
    begun = _cpu_s()
    done = sum(len(batch.samples) for batch in recorder.record(inputs, count))
    return done / (_cpu_s() - begun)


def _tested(recorder: Recorder) -> float:
    some = replace(recorder, window=replace(recorder.window, instructions=SAMPLES))
    question = LeakQuestion(TRACES, model=MODELS["weight"])
    begun = _cpu_s()
    assess(some, [Variable("message", "vary")], question)
    return _cpu_s() - begun


if __name__ == "__main__":
    sys.exit(main())
