"""A simulated mote in real time, its UART joined to a serial port: a virtual radio's or a real one."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import TracebackType

from motecrypt.errors import MotecryptError

END_S = 5.0


class RunningMote:
    """The driver `mote` with a firmware. Ends with the context, or with the process that made it.

    Parameters
    ----------
    driver : Path
        The compiled driver (build/drivers.py).
    eeprom : Path, optional
        Where the chip's EEPROM is kept; without it the mote forgets its counter, as no real one does.
    """

    def __init__(self, driver: Path, elf: Path, port: str, eeprom: Path | None = None) -> None:
        keep = [] if eeprom is None else ["--eeprom", str(eeprom)]
        self._process = subprocess.Popen(
            [str(driver), "--mcu", "atmega328p", "--clock", "16000000", "--port", port, *keep, str(elf)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def __enter__(self) -> RunningMote:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def wait(self, seconds: float) -> bool:
        """Whether it is still running after so long.

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
        if self._process.returncode:
            raise MotecryptError(said.splitlines()[-1] if said else "the simulated mote ended unexpectedly")
        return False

    def cut_power(self) -> None:
        """Kill it where it stands, as a loss of power does."""
        self._process.kill()
        self._process.communicate(timeout=END_S)

    def end(self) -> None:
        """End it cleanly."""
        if self._process.poll() is None:
            self._process.terminate()
        try:
            self._process.communicate(timeout=END_S)
        except subprocess.TimeoutExpired:
            self.cut_power()
