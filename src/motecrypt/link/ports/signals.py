"""Ending cleanly: SIGINT and SIGTERM become something a select loop can wait for."""

from __future__ import annotations

import os
import signal
import weakref
from types import FrameType, TracebackType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop:
    """Ends what waits: `ask` sets `asked` and wakes selects on `fileno`, from any thread. While this context
    is open, SIGINT, SIGTERM and SIGHUP do so."""

    def __init__(self) -> None:
        self.asked = False
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        self._close = weakref.finalize(self, close_all, self._read, self._write)

    def __enter__(self) -> Stop:
        self._before = {number: signal.signal(number, self.ask) for number in _SIGNALS}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._close()

    def fileno(self) -> int:
        """Readable once a signal has come."""
        return self._read

    def ask(self, number: int = 0, frame: FrameType | None = None) -> None:
        """End soon."""
        self.asked = True
        try:
            os.write(self._write, b"!")
        except BlockingIOError:
            return


def close_all(*descriptors: int) -> None:
    """Close these descriptors."""
    for descriptor in descriptors:
        os.close(descriptor)
