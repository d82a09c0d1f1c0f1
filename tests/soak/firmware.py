"""A real firmware on a simulated UNO whose time somebody else grants (`avr_run --lockstep`)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from motecrypt.build.toolchain.drivers import driver
from motecrypt.catalog import Catalog
from motecrypt.exports.link import plan_sketch
from motecrypt.simulate.emulate.images import flat, read_image
from motecrypt.simulate.paper_node import build_example
from motecrypt.simulate.ports.node import SENSOR_MILLIVOLTS

END_S = 30.0


class GrantedNode:
    """A node that runs up to the time that it is granted, or until it sends.

    Parameters
    ----------
    elf : Path
        Its firmware.
    eeprom : Path
        The image of its EEPROM, which outlives it.
    """

    def __init__(self, elf: Path, eeprom: Path) -> None:
        uno = Catalog.load().device("uno")
        image = eeprom.with_suffix(".flash")
        if not image.exists():
            image.write_bytes(flat(read_image(elf, uno), 0, 0x800000)[1])
        command: list[object] = [driver("avr_run"), "--mcu", uno.simulator["mcu"], "--clock", uno.clock_hz]
        command += ["--image", image, "--adc", SENSOR_MILLIVOLTS, "--eeprom", eeprom, "--lockstep"]
        self._hz = uno.clock_hz
        self._process = subprocess.Popen(
            [*map(str, command), "--events", "2"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.time_us = 0.0
        self._hear()

    def run(self, until_us: float, given: bytes = b"") -> bytes:
        """Receive these bytes now and run until then at most; what it sends, at `time_us`."""
        assert self._process.stdin is not None
        cycle = round(until_us * self._hz / 1e6)
        self._process.stdin.write(cycle.to_bytes(8, "little") + len(given).to_bytes(2, "little") + given)
        self._process.stdin.flush()
        return self._hear()

    def _hear(self) -> bytes:
        assert self._process.stderr is not None
        line = self._process.stderr.readline()
        told = json.loads(line) if line.startswith(b"{") else {"event": "fault", "detail": repr(line)}
        if told["event"] != "reached":
            raise AssertionError(f"the simulated node ended: {told}")
        self.time_us = told["cycle"] * 1e6 / self._hz
        return bytes.fromhex(told["output"])

    def cut_power(self) -> None:
        """Kill it without warning."""
        self._process.kill()
        self._process.communicate(timeout=END_S)


def thermometer(folder: Path, interval_ms: int) -> Path:
    """The firmware that `motecrypt node` makes."""
    elf = folder / "thermometer.elf"
    sketch = plan_sketch(Catalog.load(), "aes128-ccm", "thermometer")
    build_example(sketch.library.files, sketch.path, elf, interval_ms)
    return elf
