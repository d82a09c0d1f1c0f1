"""Drives the link's state machines over a port, in real time."""

from __future__ import annotations

import select
import time
from collections.abc import Callable

from motecrypt.errors import InputError, MotecryptError
from motecrypt.link import Receiver, Sender, SendOutcome, Window
from motecrypt.ports.serial_port import SerialPort
from motecrypt.ports.signals import Stop

REOPEN_S = 0.5


def now_us() -> float:
    """A clock that never goes back, in us."""
    return time.monotonic_ns() / 1000


def _wait(port: SerialPort, stop: Stop, writing: bool, seconds: float) -> tuple[bool, bool]:
    """Wait for bytes, for room to write where that is wanted, or for a signal: (readable, writable)."""
    waiting: list[SerialPort | Stop] = [port, stop]
    readable, writable, _ = select.select(waiting, [port] if writing else [], [], seconds)
    return port in readable, bool(writable)


def transmit(port: SerialPort, sender: Sender, message: bytes, stop: Stop) -> SendOutcome:
    """Send one message and wait for what becomes of it; a signal makes it unconfirmed.

    Raises
    ------
    MotecryptError
        The port has vanished.
    """
    sender.submit(message, now_us())
    output = sender.take_output()
    while sender.busy:
        deadline_us = sender.deadline_us() or 0.0
        wait_s = max((deadline_us - now_us()) / 1e6, 0.0)
        readable, writable = _wait(port, stop, bool(output), wait_s)
        if stop.asked:
            sender.abandon()
            break
        if writable:
            output = output[port.write(output) :]
        if readable:
            sender.feed(port.read(), now_us())
        if not output:
            # While bytes are still queued here, no answer to them can be late.
            sender.tick(now_us())
        output += sender.take_output()
    return sender.outcome or SendOutcome.UNCONFIRMED


def write_all(port: SerialPort, data: bytes, stop: Stop, deadline_s: float = 60.0) -> float:
    """Write bytes as they are; the seconds until the port had taken the last one.

    Raises
    ------
    MotecryptError
        The port has vanished, or takes nothing more.
    """
    begun = time.monotonic()
    while data and not stop.asked:
        _, writable, _ = select.select([stop], [port], [], 1.0)
        if writable:
            data = data[port.write(data) :]
        if time.monotonic() - begun > deadline_s:
            raise MotecryptError(f"port {port.path}: takes no bytes; is the radio switched on?")
    return time.monotonic() - begun


def pause(port: SerialPort, seconds: float, stop: Stop) -> bytes:
    """Wait, and return what came meanwhile."""
    came, end = b"", time.monotonic() + seconds
    while not stop.asked and (left := end - time.monotonic()) > 0:
        if _wait(port, stop, False, left)[0]:
            came += port.read()
    return came


def listen(
    path: str,
    baud: int,
    feed: Callable[[bytes, float], bytes],
    stop: Stop,
    over: Callable[[], bool],
    notice: Callable[[str], None],
    quiet_s: float = 0.25,
    setup: Callable[[SerialPort], None] | None = None,
) -> None:
    """Read a port until a signal comes or `over` says so; a port that vanishes is waited for.

    Parameters
    ----------
    feed : callable
        Gets what came and the time in us, returns what to write. Gets b"" after `quiet_s` without bytes.
    notice : callable
        Gets one line for the user.
    setup : callable, optional
        Called with the port each time it has been opened.
    """
    port: SerialPort | None = SerialPort(path, baud)
    fresh = True
    try:
        while not stop.asked and not over():
            if port is None:
                port = _reopen(path, baud, stop, over)
                if port is None:
                    return
                notice(f"port {path}: is back")
                fresh = True
            try:
                if fresh and setup is not None:
                    setup(port)
                fresh = False
                _serve(port, feed, stop, over, quiet_s)
            except MotecryptError as error:
                if isinstance(error, InputError):
                    raise
                notice(f"{error}; waiting for it")
                port.close()
                port = None
    finally:
        if port is not None:
            port.close()


def _serve(
    port: SerialPort,
    feed: Callable[[bytes, float], bytes],
    stop: Stop,
    over: Callable[[], bool],
    quiet_s: float,
) -> None:
    output = b""
    while not stop.asked and not over():
        readable, writable = _wait(port, stop, bool(output), quiet_s)
        if readable:
            output += feed(port.read(), now_us())
        elif not writable and not stop.asked:
            output += feed(b"", now_us())
        if output:
            output = output[port.write(output) :]
    _drain(port, output)


def _drain(port: SerialPort, output: bytes) -> None:
    """The last answer, so that the sender learns that its last message was accepted."""
    end = time.monotonic() + 1.0
    while output and time.monotonic() < end:
        _, writable, _ = select.select([], [port], [], 0.1)
        if writable:
            output = output[port.write(output) :]


def _reopen(path: str, baud: int, stop: Stop, over: Callable[[], bool]) -> SerialPort | None:
    while not stop.asked and not over():
        try:
            return SerialPort(path, baud)
        except InputError:
            select.select([stop], [], [], REOPEN_S)
    return None


def receiving(receiver: Receiver, window: Window) -> Callable[[bytes, float], bytes]:
    """What `listen` feeds for the safe mode; in quiet moments the window is saved."""
    saved = [0]

    def feed(data: bytes, at_us: float) -> bytes:
        if data:
            receiver.feed(data)
        elif receiver.tally.accepted > saved[0]:
            saved[0] = receiver.tally.accepted
            window.save()
        return receiver.take_output()

    return feed
