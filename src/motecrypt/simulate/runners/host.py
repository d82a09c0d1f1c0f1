"""The host itself through drivers/host.c: the firmware as a native library, cycles by the best counter.

A host's cycles are sampled, not exact: each region has the median of its repetitions, the 95 % interval
of that median, how many samples there were and how many were far above (``extra``). What they were counted
with, and on which processor, is part of the runner's identity, so that figures of two computers never mix.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from motecrypt.base import process
from motecrypt.base.errors import MotecryptError
from motecrypt.base.model import Device
from motecrypt.build.toolchain.drivers import driver, driver_identity
from motecrypt.simulate.runners.session import DriverSession, Options, Session


@dataclass(frozen=True)
class HostMachine:
    """What this computer can count and do.

    Parameters
    ----------
    processor
        Its name as the system reports it.
    counter
        What cycles are counted with, in words.
    core_cycles
        Whether the counter counts cycles of the core (else ticks of a constant rate, or nanoseconds).
    aes_instructions
        Whether the processor has instructions for AES; None where that is not known.
    governor
        How the system chooses the frequency, or "unknown" (as in most virtual machines).
    frequency_mhz
        The frequencies that the system states now, least and greatest; (0, 0) where it states none.
    rapl
        The energy counters (RAPL) that can be read; empty where there are none.
    """

    processor: str
    counter: str
    core_cycles: bool
    aes_instructions: bool | None
    governor: str
    frequency_mhz: tuple[float, float]
    rapl: tuple[Path, ...]


def machine() -> HostMachine:
    """This computer; its frequency is looked up at each call, the rest once."""
    told = _described(os.environ.get("MOTECRYPT_HOST_COUNTER", ""))
    return HostMachine(
        processor=_processor(),
        counter=told["counter"],
        core_cycles=told["core_cycles"],
        aes_instructions={1: True, 0: False}.get(told["aes_instructions"]),
        governor=_first_line(Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")) or "unknown",
        frequency_mhz=_frequencies(),
        rapl=rapl_counters(),
    )


@lru_cache(maxsize=4)
def _described(wish: str) -> dict[str, Any]:
    outcome = process.run([driver("host"), "--describe"], work_s=process.ASKED_S)
    if not outcome.ok:
        raise MotecryptError(f"host: {outcome.first_error}")
    told: dict[str, Any] = json.loads(outcome.output)
    return told


def rapl_counters() -> tuple[Path, ...]:
    """The energy counters of the packages (Linux powercap, microjoules) that may be read."""
    found = []
    for folder in sorted(Path("/sys/class/powercap").glob("intel-rapl:*")):
        counter = folder / "energy_uj"
        if folder.name.count(":") == 1 and os.access(counter, os.R_OK):
            found.append(counter)
    return tuple(found)


def identity(device: Device) -> str:
    """Runner, a hash of its driver, the counter and the processor: part of what a measurement is keyed by."""
    told = _described(os.environ.get("MOTECRYPT_HOST_COUNTER", ""))
    aes = {1: "with", 0: "without"}.get(told["aes_instructions"], "unknown")
    return f"host {driver_identity('host')[:12]}, {told['counter']}, {_processor()} ({aes} AES instructions)"


def open_session(device: Device, elf: Path, data_end: int, options: Options) -> Session:
    """Start a firmware (here a shared library). Tracing measures the stack and nothing else."""
    command: list[str | Path] = [driver("host"), "--events", "{events}"]
    if options.trace:
        command.append("--trace")
    command.append(elf)
    return DriverSession(command, cycles_exact=False)


def _first_line(path: Path) -> str:
    try:
        return path.read_text().partition("\n")[0].strip()
    except OSError:
        return ""


@lru_cache(maxsize=1)
def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _frequencies() -> tuple[float, float]:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        stated = [float(line.partition(":")[2]) for line in lines if line.startswith("cpu MHz")]
    except (OSError, ValueError):
        stated = []
    return (min(stated), max(stated)) if stated else (0.0, 0.0)
