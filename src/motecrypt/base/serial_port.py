"""A serial port, opened raw for one program, read and written without blocking."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import sys
import termios
from pathlib import Path
from types import TracebackType

from motecrypt.base.errors import InputError, MotecryptError

READ_BYTES = 4096


class PortError(MotecryptError):
    """The port has vanished, or the radio behind it does not answer: it may come back."""


class SerialPort:
    """A port at 115200 8N1 or another rate. Also takes the path of a virtual radio.

    Raises
    ------
    InputError
        The port does not exist, is not a serial port, is held by another program, or may not be used.
    """

    def __init__(self, path: str, baud: int = 115200) -> None:
        import serial  # of a tool set, which need("link") installs

        self.path = path
        try:
            self._serial = serial.Serial(path, baud, timeout=0, write_timeout=0, exclusive=True)
        except (OSError, ValueError, termios.error) as error:
            raise InputError(f"port {path}: {_reason(error, path)}") from None
        self._handle = self._serial.fileno()
        os.set_blocking(self._handle, False)

    def __enter__(self) -> SerialPort:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the port back."""
        try:
            self._serial.close()
        except (OSError, termios.error):
            return

    def fileno(self) -> int:
        """For select."""
        return int(self._handle)

    def read(self) -> bytes:
        """What has come; empty when nothing has.

        Raises
        ------
        PortError
            The port has vanished.
        """
        try:
            data = os.read(self._handle, READ_BYTES)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise self._vanished(error) from None
        if not data and self._hung_up():
            raise self._vanished(None)
        return data

    def _hung_up(self) -> bool:
        """An empty read means that nothing was received, or that the port no longer exists."""
        poll = select.poll()
        poll.register(self._handle, 0)
        return any(events & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, events in poll.poll(0))

    def write(self, data: bytes) -> int:
        """Hand over as many bytes as the port takes now; how many those were."""
        try:
            return os.write(self._handle, data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise self._vanished(error) from None

    def queued(self) -> int:
        """How many bytes the system has taken and not yet put on the line.

        Raises
        ------
        PortError
            The port has vanished.
        """
        try:
            return int.from_bytes(fcntl.ioctl(self._handle, termios.TIOCOUTQ, bytes(4)), sys.byteorder)
        except OSError as error:
            raise self._vanished(error) from None

    def _vanished(self, error: OSError | None) -> PortError:
        reason = f" ({error.strerror})" if error is not None and error.strerror else ""
        return PortError(f"port {self.path}: vanished{reason}; plug it in again and repeat the command")


def _group_of(path: str) -> str:
    """The group that may use a port: dialout, on Debian."""
    try:
        return Path(path).group()
    except (OSError, KeyError):
        return "dialout"


def _reason(error: Exception, path: str) -> str:
    number = getattr(error, "errno", None)
    if number == errno.ENOENT:
        return "does not exist; 'motecrypt radio srf' makes a pair of virtual ones"
    if number in (errno.EAGAIN, errno.EBUSY):
        return "busy: another program uses it; stop that one first"
    if number == errno.EACCES:
        group = _group_of(path)
        return (
            f"permission denied; join the group {group} (sudo usermod -aG {group} $USER, then log in again), "
            "or use sudo"
        )
    # pyserial reports what the system refuses to set without its number, but keeps the error behind it.
    if number in (errno.ENOTTY, errno.EINVAL) or termios.error in (type(error), type(error.__context__)):
        return "is not a serial port; name one such as /dev/ttyUSB0"
    return str(error)
