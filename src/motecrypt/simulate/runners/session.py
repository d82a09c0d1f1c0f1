"""A running firmware: its UART as a byte pipe and the regions that were timed. The runners' contract.

`Starts` gives one session after another of one firmware, in one process where that can be.

A driver program (drivers/*.c) is a subprocess whose standard input and output are the firmware's UART
and which writes one JSON object a line to an events descriptor.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from motecrypt.base import process
from motecrypt.base.errors import FailureKind, StackOverflow
from motecrypt.base.frames import ProtocolError
from motecrypt.simulate.runners.protocol import Clock

END_S = 2.0
"""Processor time that a driver may use to end."""

# Signals that a user, the system or a full memory sends, and no firmware raises by itself.
_SENT_BY_OTHERS = (signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM)


class Fault(ProtocolError):
    """The firmware crashed, never answered, ran into its stack or flooded its UART.

    `transient` when that was not the firmware's doing: someone ended the simulator. `overflow` says how
    far its stack ran into the data, where that is why and the simulator knows it.
    """

    usual_kind = FailureKind.CRASHED
    overflow: StackOverflow | None = None


_FAULT_KINDS = {kind.value: kind for kind in (FailureKind.STACK, FailureKind.SILENT, FailureKind.FLOOD)}
"""The kinds of fault that a driver names; any other is a crash."""


@dataclass(frozen=True)
class Region:
    """One timed region: core cycles and, from a tracing run, stack bytes and trace digest."""

    cycles: int
    stack_bytes: int | None = None
    trace: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Options:
    """How to run: with tracing, with which flash-cache state, dumping the trace to a file; `max_cycles`
    a request may take (None: the device's limit)."""

    trace: bool = False
    cache: str = "none"
    dump: Path | None = None
    max_cycles: int | None = None


class Session(Protocol):
    """One started firmware.

    `holds_input`: what is written waits until the firmware reads it, however much it is. `clock`: what a
    deadline counts; processor time of a simulator, which is right however slowly it gets it.
    """

    clock: Clock

    cycles_exact: bool
    holds_input: bool

    def write(self, data: bytes) -> None:
        """Send bytes to the firmware's UART."""

    def read(self, deadline: float) -> bytes:
        """Bytes from its UART; b"" when the deadline passed; raises Fault when it died or hangs."""

    def regions(self) -> list[Region]:
        """The regions timed since the last call."""

    restartable: bool
    """Whether `restart` can serve; else nothing of the session may be kept from the next one."""

    def restart(self) -> bool:
        """Start the firmware again as if it were the first time; False where only another session can."""

    def close(self) -> None:
        """End it."""

    def __enter__(self) -> Session: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class DriverSession:
    """A session with a driver program.

    Parameters
    ----------
    command
        The driver and its arguments; "{events}" means the number of the events descriptor.
    cycles_exact
        Whether its cycle counts are exact (a simulator) or sampled (a host).
    restarts
        Whether the driver can start its firmware again (`--restarts DESCRIPTOR`).
    """

    def __init__(
        self, command: Sequence[str | Path], *, cycles_exact: bool = True, restarts: bool = False
    ) -> None:
        self.cycles_exact = cycles_exact
        self.holds_input = True
        events_out, events_in = os.pipe()
        restarts_out, restarts_in = os.pipe()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the session
        arguments = [str(part).replace("{events}", str(events_in)) for part in command]
        arguments += ["--restarts", str(restarts_out)] if restarts else []
        self.restartable = restarts
        try:
            self._process = subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                pass_fds=(events_in, restarts_out),
                bufsize=0,
            )
        except OSError:
            os.close(events_out)
            os.close(restarts_in)
            raise
        finally:
            os.close(events_in)
            os.close(restarts_out)
        self._waited_s = 0.0
        self.clock = Clock(lambda: self._waited_s, "s of processor time")
        self._events, self._restarts = events_out, restarts_in
        os.set_blocking(events_out, False)
        self._event_text = b""
        self._fault: Fault | None = None

    def write(self, data: bytes) -> None:
        """Send bytes; raises Fault when the driver is removed."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(data)
        except BrokenPipeError:
            raise self._death() from None

    def read(self, deadline: float) -> bytes:
        """Receive bytes; b"" when the driver has worked up to the deadline, as counted in silence."""
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        waiting = [descriptor, self._events]
        while True:
            try:
                ready, used_s = process.readable(waiting, self._process.pid, deadline - self._waited_s)
            except process.Hangs as why:
                process.kill(self._process)
                said = f"no answer: the simulator was killed {why}"
                raise Fault(said, kind=FailureKind.SILENT, transient=True) from None
            self._waited_s += used_s
            if descriptor in ready:
                break
            if not ready:
                if used_s:  # its answer would come too late
                    process.kill(self._process)
                return b""
            if not self._drain_events():  # they ended first: the driver is about to end
                waiting = [descriptor]
        data = os.read(descriptor, 65536)
        if not data:
            raise self._death()
        return data

    def _drain_events(self) -> bool:
        """Take what events there are, so that a driver with many never waits; False at their end."""
        try:
            data = os.read(self._events, 65536)
        except BlockingIOError:
            return True
        self._event_text += data
        return bool(data)

    def _death(self) -> Fault:
        process.ends(self._process, END_S)
        self._read_events()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        code = self._process.returncode
        if self._fault is not None:
            return self._fault
        ended = code is not None and -code in _SENT_BY_OTHERS
        reason = said[-1] if said and not ended else f"the simulator ended with {code}"
        return Fault(reason, kind=FailureKind.ENDED if ended else None, transient=ended)

    def _read_events(self) -> list[Region]:
        size: int | None = None
        while size != len(self._event_text):
            size = len(self._event_text)
            self._drain_events()
        *lines, self._event_text = self._event_text.split(b"\n")
        regions = []
        for line in lines:
            event = json.loads(line)
            if event["event"] == "region":
                known = {"event", "cycles", "stack", "trace"}
                extra = {k: v for k, v in event.items() if k not in known}
                regions.append(Region(event["cycles"], event.get("stack"), event.get("trace"), extra))
            elif event["event"] == "fault":
                self._fault = Fault(event["detail"], kind=_FAULT_KINDS.get(event.get("kind")))
                if "stack_pointer" in event:
                    self._fault.overflow = StackOverflow(event["stack_pointer"], event["stack_limit"])
        return regions

    def regions(self) -> list[Region]:
        """The regions timed since the last call."""
        return self._read_events()

    def restart(self) -> bool:
        """Start the firmware again in the same driver, which must be waiting for a request."""
        self._read_events()
        if not self.restartable or self._fault is not None or self._process.poll() is not None:
            return False
        try:
            os.write(self._restarts, b"r")
        except BrokenPipeError:
            return False
        return True

    def close(self) -> None:
        """End the driver and free its descriptors."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        process.ends(self._process, END_S)
        os.close(self._events)
        os.close(self._restarts)
        self._errors.close()

    def __enter__(self) -> DriverSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Starts:
    """One start after the other of one firmware, each as if it were the first.

    The driver of the last start is used again where it can be: the start before ended well, and had the same
    options.

    Parameters
    ----------
    open_session
        Starts the firmware with options in a process of its own.
    """

    def __init__(self, open_session: Callable[[Options], Session]) -> None:
        self._open_session = open_session
        self._kept: tuple[Options, Session] | None = None

    @contextmanager
    def start(self, options: Options) -> Iterator[Session]:
        """A started firmware, from its greeting on."""
        session = self._again(options)
        try:
            yield session
        except BaseException:
            session.close()
            raise
        if session.restartable:
            self._kept = (options, session)
        else:
            session.close()

    def _again(self, options: Options) -> Session:
        kept, self._kept = self._kept, None
        if kept is not None:
            if kept[0] == options and kept[1].restart():
                return kept[1]
            kept[1].close()
        return self._open_session(options)

    def close(self) -> None:
        """End the driver that is kept, if one is."""
        kept, self._kept = self._kept, None
        if kept is not None:
            kept[1].close()
