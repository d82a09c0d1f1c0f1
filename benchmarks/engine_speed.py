"""The ARM driver (on Unicorn) next to QEMU with a counting plugin, on the same firmware and work.

The benchmark firmware, linked for QEMU's microbit with its requests compiled in, runs in the driver, in QEMU
alone and in QEMU with each mode of engine_speed.c: in turns, in processor time, medians. It prints each one's
instructions a second, how they compare, what a start costs and whether cycles, instructions and cache misses
are the driver's.

Threshold: every mode that claims to count exactly gives the driver's figures. Which is faster is printed, not
judged: docs/fidelity.md says what follows from it.
"""

from __future__ import annotations

import json
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "unit" / "arm"))

from microbit_board import MARK, QEMU, RUNS_IT, microbit, requests  # noqa: E402

from motecrypt.base.model import Device, Implementation  # noqa: E402
from motecrypt.build.setup import have  # noqa: E402
from motecrypt.build.toolchain import BuildRequest, build  # noqa: E402
from motecrypt.build.toolchain.drivers import DRIVERS, driver  # noqa: E402
from motecrypt.build.toolchain.sizes import symbols  # noqa: E402
from motecrypt.catalog import Catalog  # noqa: E402
from motecrypt.simulate.runners import Options, arm  # noqa: E402

CANNOT_RUN = 77
SOURCE = Path(__file__).with_suffix(".c")
CIPHERS = (("aes128-cbc", "small"), ("ascon-aead128", "words"), ("rc4", "plain"))
MESSAGE_BYTES = 256
ROUNDS = 5
REPETITIONS_COMPARED = 20  # for the figures
EXACT = ("call", "mixed", "cache")  # modes of engine_speed.c that claim to count as the driver does
SECOND_INTERFACE = 9  # QEMU's version from which on plugins have counters of their own and conditions
MAX_CYCLES = 10**12
TIMEOUT_S = 300.0

Figures = list[tuple[int, int, int]]
"""Of each region: core cycles, instructions, cache misses."""


@dataclass(frozen=True)
class Way:
    """One way to run a firmware: `run` takes the ELF and gives the regions' figures, if it counts."""

    name: str
    cache: str
    millions: int  # instructions, about, that take a few tenths of a second
    run: Callable[[Device, Path], Figures]


def main() -> int:
    """Measure all and print the table of each cipher."""
    major = qemu_version()
    for missing, what in ((not have("pico"), "tool set pico"), (major == 0, QEMU)):
        if missing:
            print(f"{what} is missing (motecrypt doctor)")
            return CANNOT_RUN
    driver("arm")  # compiled now, so that no run counts that
    catalog = Catalog.load()
    same = True
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as name:
        ways = all_ways(Path(name), major)
        if not ways:
            print(f"{QEMU} {major} takes no plugins")
            return CANNOT_RUN
        for cipher, variant in CIPHERS:
            body = next(i for i in catalog.implementations_of(cipher, "pico") if i.variant == variant)
            nonce = bytes(catalog.cipher(cipher).nonce_bytes)
            same &= compare(catalog.device("pico"), body, nonce, ways)
    print("the figures are the driver's" if same else "the figures are NOT the driver's")
    return 0 if same else 1


def qemu_version() -> int:
    """QEMU's major version, or 0."""
    if shutil.which(QEMU) is None:
        return 0
    told = subprocess.run([QEMU, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    found = re.search(r"version (\d+)\.", told)
    return int(found[1]) if found else 0


def all_ways(folder: Path, major: int) -> list[Way]:
    """Every way to run this QEMU; the first of each state of the cache is the driver.

    [] if it has no support for plugins.
    """
    plugin = folder / "engine_speed.so"
    version = 2 if major >= SECOND_INTERFACE else 1
    subprocess.run(
        [
            *("gcc", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", f"-DPLUGIN_VERSION={version}"),
            *(f"-I{DRIVERS}", str(SOURCE), "-o", str(plugin)),
        ],
        check=True,
        timeout=TIMEOUT_S,
    )
    probe = subprocess.run(
        [QEMU, "-plugin", "help"], capture_output=True, text=True, timeout=60, check=False
    ).stderr
    if "invalid option" in probe:
        return []
    modes = ["idle", "add", "call", *(["mixed"] if version > 1 else [])]
    return [
        Way("driver", "none", 50, lambda device, elf: ours(device, elf, "none")),
        Way("QEMU alone", "none", 400, lambda _, elf: theirs([], elf)),
        Way("QEMU alone, -icount", "none", 400, lambda _, elf: theirs(["-icount", "shift=0"], elf)),
        *(Way(f"QEMU, {mode}", "none", 400, counting(plugin, mode)) for mode in modes),
        Way("driver, cold cache", "cold", 10, lambda device, elf: ours(device, elf, "cold")),
        Way("QEMU, cache", "cold", 50, counting(plugin, "cache")),
    ]


def ours(device: Device, elf: Path, cache: str) -> Figures:
    """The regions by our driver; the firmware's end is a breakpoint, so its exit code is meaningless."""
    options = Options(cache=cache, max_cycles=MAX_CYCLES)
    command = ["2" if part == "{events}" else str(part) for part in arm.command(device, elf, options)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    events = [json.loads(line) for line in done.stderr.splitlines()]
    if "breakpoint" not in events[-1]["detail"]:
        raise SystemExit(f"the driver ended early: {events[-1]}")
    return [
        (e.get("core_cycles", e["cycles"]), e["instructions"], e.get("cache_misses", 0))
        for e in events
        if e["event"] == "region"
    ]


def theirs(extra: Sequence[str], elf: Path) -> Figures:
    """A run by QEMU, which ends it by itself; it reports no figures."""
    command = [QEMU, *RUNS_IT, *extra, "-kernel", str(elf)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"{QEMU} failed: {done.stderr.strip()}")
    return []


def counting(plugin: Path, mode: str) -> Callable[[Device, Path], Figures]:
    """A run by QEMU with our plugin in one of its modes."""

    def run(device: Device, elf: Path) -> Figures:
        report = elf.with_suffix(".report")
        options = [f"elf={elf}", f"report={report}", f"mode={mode}"]
        options.append(f"marks={MARK:#x}:{symbols(elf)['hal_mark'] & ~1:#x}")
        options += [f"{name}={cycles}" for name, cycles in device.simulator["cycles"].items()]
        cache = device.simulator["flash_cache"]
        options.append(f"bus_write_extra={device.simulator['bus_write_extra']}")
        options.append(f"cache={cache['bytes']}:{cache['ways']}:{cache['line_bytes']}")
        theirs(["-plugin", ",".join([f"file={plugin}", *options])], elf)
        rows = [line.split() for line in report.read_text(encoding="ascii").splitlines()]
        return [(int(cycles), int(instructions), int(misses)) for cycles, instructions, misses in rows]

    return run


def compare(pico: Device, body: Implementation, nonce: bytes, ways: Sequence[Way]) -> bool:
    """Run one implementation every way, print the table; whether all that claim to be exact are."""
    device = microbit(pico, b"")
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as name:
        folder = Path(name)
        once = firmware(pico, body, nonce, 1, folder)
        instructions = ours(device, once, "none")[-1][1]  # of one encryption
        repetitions = {way.name: min(60_000, way.millions * 10**6 // instructions) for way in ways}
        longs = {n: firmware(pico, body, nonce, n, folder) for n in set(repetitions.values())}
        compared = firmware(pico, body, nonce, REPETITIONS_COMPARED, folder)
        figures = {way.name: way.run(device, compared) for way in ways}
        starts: dict[str, list[float]] = {way.name: [] for way in ways}
        wholes: dict[str, list[float]] = {way.name: [] for way in ways}
        for _ in range(ROUNDS):
            for way in ways:
                starts[way.name].append(seconds(way, device, once))
                wholes[way.name].append(seconds(way, device, longs[repetitions[way.name]]))
    print(f"{body.cipher} {body.variant}, {MESSAGE_BYTES} bytes")
    print(f"  {'':22}{'million/s':>10}{'by driver':>10}{'start, ms':>10}  figures")
    same, base_rate = True, 1.0
    for way in ways:
        base = next(w for w in ways if w.cache == way.cache)
        start = statistics.median(starts[way.name])
        net = max(1e-9, statistics.median(wholes[way.name]) - start)
        rate = instructions * repetitions[way.name] / net
        base_rate = rate if way is base else base_rate
        told = verdict(figures[way.name], figures[base.name])
        same &= way.name.removeprefix("QEMU, ") not in EXACT or told == "the same"
        print(
            f"  {way.name:22}{rate / 1e6:10.0f}{rate / base_rate:10.2f}{start * 1000:10.0f}  {told}",
            flush=True,
        )
    return same


def firmware(pico: Device, body: Implementation, nonce: bytes, repetitions: int, folder: Path) -> Path:
    """The firmware that sets up once, encrypts so often, and ends."""
    target = folder / f"{repetitions}.elf"
    wanted = [("K", bytes(body.key_bits[0] // 8)), ("N", nonce), ("M", bytes(MESSAGE_BYTES))]
    wanted += [("R", bytes([0, 1, 0])), ("R", bytes([1, repetitions & 0xFF, repetitions >> 8]))]
    built = build(BuildRequest(microbit(pico, requests(wanted)), body, "flash"))
    shutil.copyfile(built.elf, target)
    return target


def seconds(way: Way, device: Device, elf: Path) -> float:
    """Processor time of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    way.run(device, elf)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def verdict(figures: Figures, expected: Figures) -> str:
    """How a way's figures compare with the driver's."""
    if not figures or not any(row[1] for row in figures):
        return "none"
    if figures == expected:
        return "the same"
    ours_, theirs_ = sum(row[0] for row in expected), sum(row[0] for row in figures)
    counts = "the same" if [r[1:] for r in figures] == [r[1:] for r in expected] else "other"
    return f"{100 * (theirs_ / ours_ - 1):+.1f} % cycles, {counts} instructions and misses"


if __name__ == "__main__":
    sys.exit(main())
