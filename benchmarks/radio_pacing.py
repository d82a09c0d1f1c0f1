"""The virtual radio's pace and the radio model's speed.

Thresholds: at the median, a message comes out of the emulator, as a program at its port sees it, no more
than 1 ms after the model's time (and never before it); the model evaluates at least a million messages a
second of one core's processor time.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from motecrypt.radios import costs, load_radio
from motecrypt.setup import need

LATE_US = 1000.0
SPEED = 1e6
LENGTHS = (12, 24, 31, 60, 126, 252)
ROUNDS = 12
DEADLINE_S = 30.0


def main() -> int:
    """Measure both and print a line for each."""
    need("link")
    late = sorted(_late_us())
    median, worst = late[len(late) // 2], late[-1]
    print(
        f"virtual radio: {len(late)} messages of {LENGTHS[0]} to {LENGTHS[-1]} bytes delivered "
        f"{median:.0f} us after the model's time at the median ({LATE_US / max(median, 1e-9):.1f} times "
        f"better than the threshold of {LATE_US:.0f}), {worst:.0f} at most",
        flush=True,
    )
    speed = _speed()
    print(f"radio model: {speed / 1e6:.1f} million messages a second, {speed / SPEED:.1f} of the threshold")
    return 0 if late[0] >= 0 and median <= LATE_US and speed >= SPEED else 1


def _late_us() -> list[float]:
    """Messages written at one port and read at the other: how much later than the model says."""
    from motecrypt.ports.serial_port import SerialPort

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
    from motecrypt.ports.serial_port import SerialPort

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


def _speed() -> float:
    """Messages a second of processor time, best of several runs over a million random lengths."""
    import numpy as np

    radio = load_radio("srf")
    lengths = np.random.default_rng(1).integers(1, 1024, 1_000_000)
    best = 0.0
    for _ in range(5):
        begun = time.process_time()
        costs(radio, lengths)
        best = max(best, len(lengths) / (time.process_time() - begun))
    return best


if __name__ == "__main__":
    sys.exit(main())
