"""Drives an end of the link over a port, in real time."""

from __future__ import annotations

import select
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Protocol

from motecrypt.base.errors import InputError
from motecrypt.base.serial_port import PortError, SerialPort
from motecrypt.link.bridge import GREETING_S, NOBODY
from motecrypt.link.native import Event
from motecrypt.link.ports.signals import Stop
from motecrypt.link.stream import PortFraming
from motecrypt.link.told import OUTCOMES, HandOver, NodeEvent

REOPEN_S = 0.5
POLL_S = 0.02
"""How often an end that waits for an answer checks its clock."""
LINE_S = 0.001
"""How often it is checked whether the line has taken all."""
LEAVES_S = 120.0
"""How long the last packets may take to leave a radio that may not always send."""
BUSY_S = 10.0
"""How long a message may wait until the one before it, such as a new epoch, is over."""


def now_us() -> float:
    """A clock that never goes back, in us."""
    return time.monotonic_ns() / 1000


def _ms(time_us: float) -> int:
    """The whole milliseconds of a time."""
    whole, _ = divmod(time_us, 1000)
    return int(whole)


def _wait(port: SerialPort, stop: Stop, writing: bool, seconds: float) -> tuple[bool, bool]:
    """Wait for bytes, for room to write where that is wanted, or for a signal: (readable, writable)."""
    waiting: list[SerialPort | Stop] = [port, stop]
    readable, writable, _ = select.select(waiting, [port] if writing else [], [], seconds)
    return port in readable, bool(writable)


class LinkEnd(Protocol):
    """A gateway or a node (link/)."""

    def receive(
        self, packets: Iterable[bytes], hand_over: HandOver, astray: Callable[[], None] = ...
    ) -> None:
        """Take packets."""

    def at(self, now_ms: int) -> None:
        """Set the clock."""

    def poll(self, now_ms: int) -> None:
        """Send again what was not answered."""

    def take_events(self) -> list[NodeEvent]:
        """What has happened."""

    def take_packets(self) -> list[bytes]:
        """What is to be sent."""


class Talk:
    """An end of the link behind a serial line: bytes and the time in us go in, bytes come out.

    Parameters
    ----------
    end : LinkEnd
    framing : PortFraming
        How its packets pass the port.
    hand_over : HandOver
        Gets the messages that come, and says of each whether it is taken.
    happened : callable, optional
        Gets what else happens but the outcomes of messages.

    Attributes
    ----------
    packets, packets_again, sent_bytes : what was sent, and how many of the packets again.
    seconds : measured from the first byte handed to the port until the last message had its outcome or, where
        nobody answers, until the port had taken its last byte; None before anything was sent.
    """

    def __init__(
        self,
        end: LinkEnd,
        framing: PortFraming,
        hand_over: HandOver,
        happened: Callable[[NodeEvent], None] = lambda event: None,
    ) -> None:
        self._end, self._hand_over, self._happened = end, hand_over, happened
        self._framing = framing
        self._first = b""
        self._waiting: deque[bytes] = deque()
        self._outcome: Event | None = None
        self._seen: set[bytes] = set()
        self.packets = 0
        self.packets_again = 0
        self.sent_bytes = 0
        self._begun_us: float | None = None
        self._ended_us = 0.0

    @property
    def seconds(self) -> float | None:
        """What the messages took; None before anything was sent."""
        return None if self._begun_us is None else (self._ended_us - self._begun_us) / 1e6

    def timed(self, at_us: float, writes: bool) -> None:
        """A message is written or ends at that time; `seconds` begins with the first byte written."""
        if writes and self._begun_us is None:
            self._begun_us = at_us
        self._ended_us = at_us

    def hear(self, data: bytes, at_us: float) -> None:
        """Bytes that came from the port."""
        now_ms = _ms(at_us)
        self._end.at(now_ms)
        self._end.receive(self._framing.packets(data, now_ms), self._hand_over, self._framing.slip)
        self._gather()

    def tick(self, at_us: float) -> None:
        """Time has passed."""
        self._framing.watch()
        self._end.poll(_ms(at_us))
        self._gather()

    def say(self, send: Callable[[], Event], at_us: float) -> Event:
        """Begin a message: `send` hands it to the end."""
        self._end.at(_ms(at_us))
        self._outcome = None
        self._seen.clear()
        return send()

    def take_output(self) -> bytes:
        """The bytes to write to the port."""
        packets = self._end.take_packets()
        self.packets += len(packets)
        for packet in packets:
            self.packets_again += packet in self._seen
            self._seen.add(packet)
            self.sent_bytes += len(packet)
        self._waiting.extend(packets)
        output, self._first = self._first, b""
        while self._waiting and self._framing.room:
            output += self._framing.framed(self._waiting.popleft())
        return output

    def opened(self) -> None:
        """The port has been opened: what is behind it may know of nothing."""
        self._first = self._framing.opened()

    @property
    def ready(self) -> bool:
        """Whether what is behind the port has answered."""
        return self._framing.ready

    @property
    def busy(self) -> bool:
        """Whether packets have not left yet."""
        return bool(self._waiting) or self._framing.busy

    def outcome(self) -> Event | None:
        """The outcome of the message; None while that is not known."""
        return self._outcome

    @property
    def skipped_bytes(self) -> int:
        """Bytes that belonged to no packet."""
        return self._framing.skipped_bytes

    def _gather(self) -> None:
        for told in self._end.take_events():
            if told.event in OUTCOMES:
                self._outcome = told.event
            else:
                self._happened(told)


def transmit(port: SerialPort, talk: Talk, send: Callable[[], Event], stop: Stop) -> Event:
    """Send one message and wait for its outcome; a signal makes it unconfirmed.

    Parameters
    ----------
    send : callable
        Hands the message to the end of the link.

    Returns
    -------
    Event
        ACCEPTED, REFUSED, UNCONFIRMED; SENT, where nobody answers; else why it was not sent.

    Raises
    ------
    MotecryptError
        The port has vanished, or the end's state cannot be kept.
    """
    told = talk.say(send, now_us())
    output, begun = talk.take_output(), time.monotonic()
    while told in (Event.WAITING, Event.BUSY):
        readable, writable = _wait(port, stop, bool(output), POLL_S)
        if stop.asked:
            talk.timed(now_us(), False)
            return Event.UNCONFIRMED
        if writable:
            talk.timed(now_us(), True)
            output = output[port.write(output) :]
        if readable:
            talk.hear(port.read(), now_us())
        if not output and not talk.busy:
            # While bytes are still queued here, no answer to them can be late.
            talk.tick(now_us())
        if told is Event.BUSY:
            if time.monotonic() - begun > BUSY_S:
                return Event.UNCONFIRMED
            told = talk.say(send, now_us())
        else:
            told = talk.outcome() or told
        output += talk.take_output()
    talk.timed(now_us(), bool(output))
    write_all(port, output, stop)
    if talk.busy:
        hear_until(port, talk, lambda: not talk.busy, stop, LEAVES_S)
    if told is Event.SENT:
        talk.timed(now_us(), False)
    return told


def greet(port: SerialPort, talk: Talk, stop: Stop) -> None:
    """Wait until what is behind a port that was just opened has answered: packets before that would be lost.

    Raises
    ------
    PortError
        It does not.
    """
    talk.opened()
    hear_until(port, talk, lambda: talk.ready, stop, 2 * GREETING_S)
    if not talk.ready and not stop.asked:
        raise PortError(f"port {port.path}: {NOBODY}")


def hear_until(port: SerialPort, talk: Talk, heard: Callable[[], bool], stop: Stop, seconds: float) -> None:
    """Take what comes, and answer it, until `heard` reports it, but no longer than that."""
    output, end = talk.take_output(), time.monotonic() + seconds
    while not stop.asked and not heard() and time.monotonic() < end:
        readable, writable = _wait(port, stop, bool(output), POLL_S)
        if writable:
            output = output[port.write(output) :]
        if readable:
            talk.hear(port.read(), now_us())
        output += talk.take_output()
    write_all(port, output, stop)


def write_all(port: SerialPort, data: bytes, stop: Stop, deadline_s: float = 60.0) -> float:
    """Write bytes as they are; the seconds until the port had taken the last one.

    Raises
    ------
    PortError
        The port has vanished, or takes nothing more.
    """
    begun = time.monotonic()
    while data and not stop.asked:
        _, writable, _ = select.select([stop], [port], [], 1.0)
        if writable:
            data = data[port.write(data) :]
        if time.monotonic() - begun > deadline_s:
            raise PortError(f"port {port.path}: does not accept data; is the radio switched on?")
    return time.monotonic() - begun


def line_empty(port: SerialPort, stop: Stop, deadline_s: float = 60.0) -> float | None:
    """Wait until the system has put all on the line; the seconds, to LINE_S, or None if it takes longer.

    Raises
    ------
    PortError
        The port has vanished.
    """
    begun = time.monotonic()
    while port.queued():
        if stop.asked or time.monotonic() - begun > deadline_s:
            return None
        select.select([stop], [], [], LINE_S)
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
    """Read a port until a signal comes or `over` reports it; a port that vanishes is waited for.

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
    try:
        while not stop.asked and not over():
            if port is None:
                port = _reopen(path, baud, stop, over)
                if port is None:
                    return
                notice(f"port {path}: is back")
            try:
                if setup is not None:
                    setup(port)
                _serve(port, feed, stop, over, quiet_s)
            except PortError as error:  # only port errors: a full disk is not one
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


def answering(talk: Talk) -> Callable[[bytes, float], bytes]:
    """What `listen` feeds for the link."""

    def feed(data: bytes, at_us: float) -> bytes:
        if data:
            talk.hear(data, at_us)
        talk.tick(at_us)
        return talk.take_output()

    return feed
