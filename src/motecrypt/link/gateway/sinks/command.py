"""A command of the user's, started for each item, which is JSON on its standard input."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress

from motecrypt.base.errors import InputError
from motecrypt.link.gateway.items import Item
from motecrypt.link.gateway.sinks import Sink, SinkError

SAID_BYTES = 200


class Command(Sink):
    """Runs a command without a shell. Exit code 0 takes the item; anything else has it come again.

    Parameters
    ----------
    line : str
        The command and its arguments, quoted as for a shell.
    seconds : float
        How long it may take; then it is killed, with all that it has started.

    Raises
    ------
    InputError
        There is no such command.
    """

    batch = 1

    def __init__(self, line: str, seconds: float = 30.0) -> None:
        self.name = f"run:{line}"
        self._seconds = seconds
        try:
            self._words = shlex.split(line)
        except ValueError as error:
            raise InputError(f"--run {line}: {error}") from None
        if not self._words or shutil.which(self._words[0]) is None:
            raise InputError(f"--run {line}: there is no such command")
        self._running: subprocess.Popen[bytes] | None = None
        self._closed = False

    def deliver(self, items: Sequence[Item]) -> None:
        """Run it for each."""
        for item in items:
            self._run(item)

    def _run(self, item: Item) -> None:
        environment = {**os.environ, "MOTECRYPT_ID": item.name, "MOTECRYPT_NODE": str(item.node)}
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
            # Files and no pipes: anyone who inherits a pipe and lives on would be waited for.
            given.write(json.dumps(item.record()).encode() + b"\n")
            given.seek(0)
            try:
                running = self._running = subprocess.Popen(
                    self._words,
                    stdin=given,
                    stdout=subprocess.DEVNULL,
                    stderr=said,
                    env=environment,
                    start_new_session=True,
                )
                if self._closed:
                    self._kill()
                code = running.wait(self._seconds)
            except OSError as error:
                raise SinkError(f"{self._words[0]}: {error.strerror}") from None
            except subprocess.TimeoutExpired:
                self._kill()
                running.wait()
                raise SinkError(f"{self._words[0]}: killed after {self._seconds:g} s") from None
            if code != 0:
                said.seek(max(0, said.seek(0, os.SEEK_END) - SAID_BYTES))
                lines = said.read().decode(errors="replace").strip().splitlines()
                told = f": {lines[-1]}" if lines else ""
                raise SinkError(f"{self._words[0]}: ended with {code}{told}")

    def hurry(self) -> None:
        """Kill what runs, and what is started from now on."""
        self._closed = True
        self._kill()

    def _kill(self) -> None:
        """With all that it has started."""
        if self._running is not None and self._running.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._running.pid, signal.SIGKILL)
