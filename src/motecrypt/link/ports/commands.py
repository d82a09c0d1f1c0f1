"""Setting up a radio module through its own command mode, over its serial port."""

from __future__ import annotations

from motecrypt.base.serial_port import PortError, SerialPort
from motecrypt.link.ports.session import pause, write_all
from motecrypt.link.ports.signals import Stop

QUIET_S = 1.2
"""A little more than the second of silence that must come before and after ``+++``."""

ANSWER_S = 0.15
TRIES = 20


def configure(port: SerialPort, commands: list[str], stop: Stop) -> None:
    """Enter command mode, give the commands, apply them and leave.

    Raises
    ------
    PortError
        The module does not answer, or refuses a command.
    """
    pause(port, QUIET_S, stop)
    write_all(port, b"+++", stop)
    _expect(port, "+++", stop)
    for command in [*commands, "ATAC", "ATDN"]:
        write_all(port, command.encode("ascii") + b"\r", stop)
        # A key must not reach the screen through an error line.
        _expect(port, command[:4], stop)


def _expect(port: SerialPort, command: str, stop: Stop) -> None:
    answer = b""
    for _ in range(TRIES):
        answer += pause(port, ANSWER_S, stop)
        if b"OK\r" in answer or stop.asked:
            return
        if b"ERR\r" in answer:
            raise PortError(f"port {port.path}: the module refuses {command}")
    raise PortError(
        f"port {port.path}: the module does not answer {command}; is it an SRF at this baud rate?"
    )
