"""The virtual radio's pace and the radio model's speed.

Thresholds: a program at the emulator's port never gets a message before the model's time, and gets a tenth of
them no more than 1 ms after it. (Other programs on the machine can only delay: the median is printed next to
it.) The model takes at most four times the processor time of sorting as many numbers.
"""

from __future__ import annotations

import json
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from motecrypt.air.radios import costs, load_radio
from motecrypt.build.setup import need

LATE_US = 1000.0
SLOWER_THAN_SORTING = 4.0
LENGTHS = (12, 24, 31, 60, 126, 252)
ROUNDS = 12
DEADLINE_S = 30.0


def main() -> int:
    """Measure both and print a line for each."""
    need("link")
    late = sorted(_late_us())
    quick, median, worst = late[len(late) // 10], late[len(late) // 2], late[-1]
    print(
        f"virtual radio: {len(late)} messages of {LENGTHS[0]} to {LENGTHS[-1]} bytes; a tenth of them came "
        f"within {quick:.0f} us of the model's time (threshold {LATE_US:.0f}), half within {median:.0f}, all "
        f"within {worst:.0f}",
        flush=True,
    )
    ratio, speed = _speed()
    print(
        f"radio model: {speed / 1e6:.1f} million messages a second, {ratio:.1f} times the time of sorting as "
        f"many (at most {SLOWER_THAN_SORTING:g})"
    )
    return 0 if late[0] >= 0 and quick <= LATE_US and ratio <= SLOWER_THAN_SORTING else 1


def _late_us() -> list[float]:
    """Messages written at one port and read at the other: how much later than the model says."""
    from motecrypt.base.serial_port import SerialPort

    radio = load_radio("srf")
    with tempfile.TemporaryDirectory(prefix="motecrypt-bench.") as scratch:
        ends = [Path(scratch) / "a", Path(scratch) / "b"]
        links = [part for end in ends for part in ("--link", str(end))]
        emulator = subprocess.Popen(
            [sys.executable, "-P", "-m", "motecrypt", "radio", "srf", "--json", *links],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        try:
            end = time.monotonic() + DEADLINE_S
            while not ends[1].exists():
                if emulator.poll() is not None or time.monotonic() > end:
                    raise SystemExit(f"the emulator does not start: {emulator.communicate()[1].decode()}")
                time.sleep(0.01)
            late = []
            with SerialPort(str(ends[0])) as first, SerialPort(str(ends[1])) as second:
                for _ in range(ROUNDS):
                    for length in LENGTHS:
                        took_us = _transfer_us(first, second, length)
                        late.append(took_us - costs(radio, length).delivery_time_us)
        finally:
            emulator.send_signal(signal.SIGINT)
            output, _ = emulator.communicate(timeout=DEADLINE_S)
    said = json.loads(output.decode().split("}\n", 1)[1])["pacing"]
    print(f"virtual radio, by its own account: median {said['median_us']} us, most {said['max_us']} us late")
    return late


def _transfer_us(first: object, second: object, length: int) -> float:
    from motecrypt.base.serial_port import SerialPort

    assert isinstance(first, SerialPort) and isinstance(second, SerialPort)
    begun, got = time.monotonic_ns(), 0
    first.write(bytes(length))
    end = time.monotonic() + DEADLINE_S
    while got < length and time.monotonic() < end:
        select.select([second], [], [], 1.0)
        got += len(second.read())
    took_us = (time.monotonic_ns() - begun) / 1000
    if got < length:
        raise SystemExit(f"only {got} of {length} bytes arrived")
    time.sleep(0.005)
    return took_us


def _speed() -> tuple[float, float]:
    """How many times the processor time of sorting a million random lengths takes, at the median of several
    turns; and messages a second."""
    import numpy as np

    radio = load_radio("srf")
    lengths = np.random.default_rng(1).integers(1, 1024, 1_000_000)
    ratios, speeds = [], []
    for _ in range(7):
        model, sorting = (
            _seconds(lambda: costs(radio, lengths)),
            _seconds(lambda: np.sort(lengths, kind="stable")),
        )
        ratios.append(model / sorting)
        speeds.append(len(lengths) / model)
    return statistics.median(ratios), statistics.median(speeds)


def _seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


if __name__ == "__main__":
    sys.exit(main())
