"""A simulated node in real time, its UART joined to a serial port: a virtual radio's or a real one."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType

from motecrypt.base.errors import MotecryptError
from motecrypt.catalog import Catalog
from motecrypt.simulate.emulate.images import flat, read_image

END_S = 5.0
SENSOR_MILLIVOLTS = 314
"""At the chip's temperature sensor: 25 degrees (DS40002061B, table 24-2)."""


class RunningNode:
    """The driver `avr_run` with a firmware, in real time. Ends with the context, or with what made it.

    Parameters
    ----------
    driver : Path
        The compiled driver (toolchain/drivers.py).
    eeprom : Path, optional
        Where the chip's EEPROM is kept; without it the counter is lost at the end, as on no real node.
    """

    def __init__(self, driver: Path, elf: Path, port: str, eeprom: Path | None = None) -> None:
        uno = Catalog.load().device("uno")
        self._scratch = tempfile.TemporaryDirectory(prefix="motecrypt-node.")
        _, code = flat(read_image(elf, uno), 0, 0x800000)
        image = Path(self._scratch.name) / "flash"  # it holds the key: the directory is its owner's alone
        image.write_bytes(code)
        command: list[str | Path] = [driver, "--mcu", uno.simulator["mcu"], "--clock", str(uno.clock_hz)]
        command += ["--image", image, "--port", port, "--real", "--adc", str(SENSOR_MILLIVOLTS)]
        command += ["--eeprom", eeprom] if eeprom is not None else []
        self._process = subprocess.Popen(
            [*map(str, command), "--events", "2"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def __enter__(self) -> RunningNode:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def wait(self, seconds: float) -> bool:
        """Whether it is still running after that time.

        Raises
        ------
        MotecryptError
            It ended with an error: the firmware crashed, or the port went away.
        """
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return True
        said = self._process.stderr.read().decode(errors="replace").strip() if self._process.stderr else ""
        last = said.splitlines()[-1] if said else "{}"
        told = json.loads(last) if last.startswith("{") else {"event": "fault", "detail": last}
        if self._process.returncode or told.get("event") != "stopped":
            raise MotecryptError(told.get("detail", "the simulated node ended unexpectedly"))
        return False

    def cut_power(self) -> None:
        """Kill it without warning, as a loss of power does."""
        self._process.kill()
        self._process.communicate(timeout=END_S)
        self._scratch.cleanup()

    def end(self) -> None:
        """End it cleanly."""
        if self._process.poll() is None:
            self._process.terminate()
        try:
            self._process.communicate(timeout=END_S)
        except subprocess.TimeoutExpired:
            self.cut_power()
        self._scratch.cleanup()
