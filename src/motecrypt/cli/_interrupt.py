"""Ctrl-C: a command ends within about a second, whatever its threads and the programs it started are doing.

What is stored by then stays: results are stored in transactions, files are written whole or not at all.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

CODE = 130
SAID = "motecrypt: stopped"
PROGRAMS_S, END_S = 0.3, 0.8
"""Seconds from Ctrl-C until the programs that were started are killed, so that threads that wait for them
end and what is done is stored; and until this process ends."""


class Interrupts:
    """What a first Ctrl-C begins. A second one ends the process immediately."""

    def __init__(self) -> None:
        self.told = False
        self._asked = False
        self._over = threading.Event()

    def tell(self) -> None:
        """Say that the command was stopped, once."""
        if not self.told:
            self.told = True
            print(SAID, file=sys.stderr, flush=True)

    def cancel(self) -> None:
        """The command has ended by itself."""
        self._over.set()

    def come(self, number: int, frame: FrameType | None) -> None:
        """The handler of the signal."""
        if self._asked:
            self._end()
        self._asked = True
        threading.Thread(target=self._watch, daemon=True).start()
        raise KeyboardInterrupt

    def _watch(self) -> None:
        if self._over.wait(PROGRAMS_S):
            return
        _end_programs()
        if not self._over.wait(END_S - PROGRAMS_S):
            self._end()

    def _end(self) -> None:
        _end_programs()
        self.tell()
        os._exit(CODE)


def _end_programs() -> None:
    from motecrypt.base import process

    process.end(process.descendants(os.getpid()))


@contextmanager
def interrupts() -> Iterator[Interrupts]:
    """Take Ctrl-C while this is open, unless it is ignored or this is not the main thread."""
    made = Interrupts()
    if not _is_ours():
        yield made
        return
    before = signal.signal(signal.SIGINT, made.come)
    try:
        yield made
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def patient() -> Iterator[None]:
    """While this is open, Ctrl-C is an exception and nothing more: for what ends by itself, in order."""
    if not _is_ours():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _is_ours() -> bool:
    main = threading.current_thread() is threading.main_thread()
    return main and signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, None)
