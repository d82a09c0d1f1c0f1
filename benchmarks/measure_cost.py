"""What `motecrypt measure` takes next to the simulated cipher itself, and what two of them on one file take.

Thresholds, in processor time and as ratios within one run, with all builds done before. The reference is the
number of cycles a second that the driver simulates within one long region. A whole `measure` of cells reaches
at least 0.22 of it; the rest is start, keys, oracles, protocol, traces, and the firmware's work between its
regions. Two processes in parallel that want the same cells take at most 1.4 times as much as one, as each
cell is measured once. How many processors one of them keeps busy is reported and has no threshold: other
programs may use them.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from simulator_speed import REPETITIONS, _our_run  # noqa: E402

from motecrypt.build.setup import need  # noqa: E402
from motecrypt.build.toolchain import BuildRequest, build  # noqa: E402
from motecrypt.catalog import Catalog  # noqa: E402

ROUNDS = 3
SHARE_MIN = 0.22
TWO_MAX = 1.4
TIMEOUT_S = 600.0
CHOICE = [
    *("--device", "uno", "--library", "motecrypt", "--bytes", "16,32,48,64"),
    *(part for name in ("aes128-cbc", "ascon-aead128", "rc6-cbc") for part in ("--cipher", name)),
]


def main() -> int:
    """Measure in turn, print the ratios, and say whether the thresholds hold."""
    need("avr")
    catalog = Catalog.load()
    uno = catalog.device("uno")
    body = catalog.implementations_of("aes128-ecb", "uno", ["motecrypt"])[0]
    firmware = build(BuildRequest(uno, body, "flash"))
    engine, whole, one, two, busy = [], [], [], [], []
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as name:
        folder = Path(name)
        cells = _measure(folder / "builds.db")[2]
        counted = sum(cell["cycles_median"] * cell["inputs"] for cell in cells if cell["status"] == "ok")
        for number in range(ROUNDS):
            short, long = (_our_run(uno, firmware, repetitions) for repetitions in REPETITIONS)
            engine.append((long[1] - short[1]) / (long[0] - short[0]))
            cpu_s, wall_s, _ = _measure(folder / f"one{number}.db")
            one.append(cpu_s)
            whole.append(counted / cpu_s)
            busy.append(cpu_s / wall_s)
            two.append(_measure(folder / f"two{number}.db", 2)[0])
            print(
                f"round {number + 1}: {len(cells)} cells: one {one[-1]:.2f} s, two {two[-1]:.2f} s",
                flush=True,
            )
    share = statistics.median(whole) / statistics.median(engine)
    both = statistics.median(two) / statistics.median(one)
    print(f"of the driver's speed in a long region: {share:.2f} (at least {SHARE_MIN:g} wanted)")
    print(f"two processes against one: {both:.2f} times the processor time (at most {TWO_MAX:g} wanted)")
    print(f"processors kept busy: {statistics.median(busy):.2f}")
    return 0 if share >= SHARE_MIN and both <= TWO_MAX else 1


def _measure(results: Path, processes: int = 1) -> tuple[float, float, list[dict[str, object]]]:
    """Processor and wall-clock seconds of so many parallel processes, and the cells that the last one
    prints."""
    before, started = os.times(), time.monotonic()
    command = [sys.executable, "-P", "-m", "motecrypt", "measure", *CHOICE, "--json", "--db", str(results)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(processes)
    ]
    for process in running:
        told, said = process.communicate(timeout=TIMEOUT_S)
        if process.returncode != 0:
            raise SystemExit(f"measure failed: {said.decode(errors='replace').strip()}")
    after = os.times()
    cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
    return cpu_s, time.monotonic() - started, json.loads(told)


if __name__ == "__main__":
    sys.exit(main())
