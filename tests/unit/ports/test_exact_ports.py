"""Ports, signals and pacing against a clock and a select of our own: what is written when, what is said."""

from __future__ import annotations

import errno
import os
import signal
import termios
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.base import serial_port
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.serial_port import PortError, SerialPort
from motecrypt.link.native import Event
from motecrypt.link.ports import commands, session
from motecrypt.link.ports.signals import Stop
from motecrypt.link.stream import StreamReader
from motecrypt.link.told import NodeEvent, NodeMessage


class World:
    """Time that passes only while something waits; `events` are what comes to the port, in seconds."""

    def __init__(self, *events: tuple[float, bytes | str]) -> None:
        self.now, self.events = 100.0, [(100.0 + at, what) for at, what in events]
        self.waited: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def monotonic_ns(self) -> int:
        return round(self.now * 1e9)

    def select(
        self, readers: Sequence[Any], writers: Sequence[Any], _: object, seconds: float
    ) -> tuple[list[Any], list[Any], list[Any]]:
        self.waited.append(seconds)
        assert len(self.waited) < 5000, "waits for ever"
        ready = [w for w in writers if w.capacity]
        port = next((r for r in [*readers, *writers] if isinstance(r, Port)), None)
        if not ready:
            due = self.events[0][0] if self.events else float("inf")
            self.now = min(self.now + seconds, max(self.now, due))
        coming = bool(self.events) and self.events[0][0] <= self.now
        if coming and self.events[0][1] == "stop":
            next(r for r in readers if isinstance(r, Signal)).asked = True
            return [r for r in readers if isinstance(r, Signal)], ready, []
        return [port] if coming and port in readers else [], ready, []


class Port:
    """A port that takes `capacity` bytes at a time."""

    path = "/dev/p"

    def __init__(self, world: World, capacity: int = 1000) -> None:
        self.world, self.capacity = world, capacity
        self.written: list[tuple[float, bytes]] = []
        self.closed = False

    def write(self, data: bytes) -> int:
        part = data[: self.capacity]
        self.written.append((round(self.world.now - 100, 3), part))
        return len(part)

    def read(self) -> bytes:
        _, what = self.world.events.pop(0)
        if what == "gone":
            raise PortError("port p: vanished")
        assert isinstance(what, bytes)
        return what

    def close(self) -> None:
        self.closed = True


class Signal:
    asked = False


@pytest.fixture
def begin(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[World, Port, Signal]]:
    def made(*events: tuple[float, Any], capacity: int = 1000) -> tuple[World, Port, Signal]:
        world = World(*events)
        monkeypatch.setattr(session, "time", world)
        monkeypatch.setattr(session, "select", world)
        return world, Port(world, capacity), Signal()

    return made


class Sending:
    """An end whose message is sent again after a second, three times; any packet that comes is its answer."""

    def __init__(self, told: Event = Event.WAITING, busy: int = 0) -> None:
        self.log: list[Any] = []
        self.told, self.busy = told, busy
        self.events: list[NodeEvent] = []
        self.output: list[bytes] = []
        self.due_ms = self.sent = 0

    def send(self) -> Event:
        self.log.append("send")
        if self.busy:
            self.busy -= 1
            return Event.BUSY
        self.output, self.due_ms, self.sent = [b"mess", b"age"], self.now_ms + 1000, 1
        return self.told

    def at(self, now_ms: int) -> None:
        self.now_ms = now_ms

    def receive(self, packets: Any, hand_over: Any, astray: Any = None) -> None:
        for packet in packets:
            self.log.append((packet, self.now_ms))
            if packet == b"none":
                astray()
            elif packet == b"mine":
                self.log.append(hand_over([NodeMessage(5, packet)]))
            elif packet == b"oops":
                self.events.append(NodeEvent(5, Event.FORGED))
            else:
                self.events.append(NodeEvent(5, Event.ACCEPTED))

    def poll(self, now_ms: int) -> None:
        if self.sent and now_ms >= self.due_ms:
            self.sent += 1
            self.due_ms = now_ms + 1000
            if self.sent == 4:
                self.events.append(NodeEvent(5, Event.UNCONFIRMED))
            else:
                self.output = [b"mess", b"more"]

    def take_events(self) -> list[NodeEvent]:
        taken, self.events = self.events, []
        return taken

    def take_packets(self) -> list[bytes]:
        taken, self.output = self.output, []
        return taken


def talking(end: Sending) -> tuple[session.Talk, list[Any]]:
    happened: list[Any] = []
    return session.Talk(
        end, StreamReader(4), lambda messages: [True] * len(messages), happened.append
    ), happened


def test_a_message_is_written_as_the_port_takes_it_and_its_answer_ends_it(begin: Any) -> None:
    _, port, stop = begin((0.505, b"mineoopsyes!"), capacity=4)
    end = Sending()
    talk, happened = talking(end)
    assert session.transmit(port, talk, end.send, stop) is Event.ACCEPTED
    assert port.written == [(0.0, b"mess"), (0.0, b"age")]
    assert end.log == ["send", (b"mine", 100_505), [True], (b"oops", 100_505), (b"yes!", 100_505)]
    assert happened == [NodeEvent(5, Event.FORGED)]
    assert (talk.packets, talk.packets_again, talk.sent_bytes, talk.skipped_bytes) == (2, 0, 7, 0)


@pytest.mark.parametrize("late_s", [0.5, 2.5])
def test_the_time_of_messages_is_that_of_the_line(late_s: float, begin: Any) -> None:
    """From the first byte that is written to the last answer."""
    _, port, stop = begin((late_s, b"yes!"), (late_s + 0.5, b"yes!"))
    end = Sending()
    talk, _ = talking(end)
    assert talk.seconds is None
    for seconds in (late_s, late_s + 0.5):
        assert session.transmit(port, talk, end.send, stop) is Event.ACCEPTED
        assert talk.seconds == pytest.approx(seconds)


def test_the_time_of_messages_begins_when_the_port_takes_a_byte(begin: Any) -> None:
    _, port, stop = begin((2.0, b"mine"), (3.0, b"yes!"), capacity=0)
    end = Sending()
    talk, _ = talking(end)
    read = port.read

    def reading() -> bytes:
        port.capacity = 100
        return bytes(read())

    port.read = reading
    assert session.transmit(port, talk, end.send, stop) is Event.ACCEPTED
    assert port.written[0][0] == 2.0 and talk.seconds == pytest.approx(1.0)


def test_the_time_of_a_message_without_an_answer_ends_with_its_last_byte(begin: Any) -> None:
    world, port, stop = begin(capacity=4)
    end = Sending(Event.SENT)
    talk, _ = talking(end)
    write = port.write

    def slowly(data: bytes) -> int:
        world.now += 0.25
        return int(write(data))

    port.write = slowly
    assert session.transmit(port, talk, end.send, stop) is Event.SENT
    assert talk.seconds == pytest.approx(0.5)


def test_the_time_of_messages_ends_with_the_signal(begin: Any) -> None:
    _, port, stop = begin((0.25, "stop"))
    talk, _ = talking(end := Sending())
    assert session.transmit(port, talk, end.send, stop) is Event.UNCONFIRMED
    assert talk.seconds == pytest.approx(0.25)


def test_the_line_is_empty_when_the_system_has_put_all_on_it(begin: Any) -> None:
    world, port, stop = begin()
    port.queued = lambda: max(0, 500 - round(1000 * (world.now - 100)))
    assert session.line_empty(port, stop) == pytest.approx(0.5, abs=0.0015)
    assert session.line_empty(port, stop) == 0.0
    port.queued = lambda: 1
    assert session.line_empty(port, stop, 2.0) is None and world.now == pytest.approx(102.5, abs=0.0035)
    stop.asked = True
    assert session.line_empty(port, stop) is None and world.now < 102.6


def test_what_is_not_ours_is_skipped_to_the_next_silence(begin: Any) -> None:
    _, port, stop = begin((0.1, b"noneyes!"), (0.2, b"yes!"))
    end = Sending()
    talk, _ = talking(end)
    assert session.transmit(port, talk, end.send, stop) is Event.ACCEPTED
    assert end.log == ["send", (b"none", 100_100), (b"yes!", 100_200)] and talk.skipped_bytes == 4


def test_an_unanswered_message_is_sent_again_when_it_is_due(begin: Any) -> None:
    world, port, stop = begin()
    end = Sending()
    talk, _ = talking(end)
    assert session.transmit(port, talk, end.send, stop) is Event.UNCONFIRMED
    again = [(1.0, b"messmore"), (2.0, b"messmore")]
    assert port.written == [(0.0, b"message"), *again]
    assert world.now == pytest.approx(103.0) and set(world.waited) == {0.02}
    assert (talk.packets, talk.packets_again, talk.sent_bytes) == (6, 3, 23)
    assert session.transmit(port, talk, end.send, stop) is Event.UNCONFIRMED
    assert (talk.packets, talk.packets_again) == (12, 6), "each message for itself"


def test_while_bytes_wait_here_no_answer_is_late(begin: Any) -> None:
    world, port, stop = begin((3.0, "stop"), capacity=0)
    end = Sending()
    assert session.transmit(port, talking(end)[0], end.send, stop) is Event.UNCONFIRMED
    assert end.sent == 1 and world.now == 103.0


def test_a_signal_leaves_a_message_unconfirmed(begin: Any) -> None:
    _, port, stop = begin((0.25, "stop"))
    end = Sending()
    assert session.transmit(port, talking(end)[0], end.send, stop) is Event.UNCONFIRMED
    assert port.written == [(0.0, b"message")] and end.sent == 1


def test_a_message_that_nobody_answers_is_written_whole(begin: Any) -> None:
    _, port, stop = begin(capacity=4)
    end = Sending(Event.SENT)
    assert session.transmit(port, talking(end)[0], end.send, stop) is Event.SENT
    assert b"".join(data for _, data in port.written) == b"message"
    end = Sending(Event.USED_UP)
    end.send = lambda: Event.USED_UP  # type: ignore[method-assign]
    assert session.transmit(port, talking(end)[0], end.send, stop) is Event.USED_UP


def test_a_message_waits_for_the_one_before_it_for_ten_seconds(begin: Any) -> None:
    world, port, stop = begin((0.5, b"yes!"))
    end = Sending(busy=3)
    assert session.transmit(port, talking(end)[0], end.send, stop) is Event.ACCEPTED
    assert end.log == ["send"] * 4 + [(b"yes!", 100_500)]
    end = Sending(busy=10_000)
    begun = world.now
    assert session.transmit(port, talking(end)[0], end.send, stop) is Event.UNCONFIRMED
    assert 10.0 < world.now - begun < 10.05 and not end.sent


def test_it_listens_until_it_has_heard_and_no_longer(begin: Any) -> None:
    world, port, stop = begin((0.51, b"mine"), (0.7, b"mine"), (3.0, "stop"), capacity=2)
    end = Sending()
    talk, _ = talking(end)
    end.now_ms = 0
    end.send()
    session.hear_until(port, talk, lambda: len(end.log) > 1, stop, 2.0)
    assert end.log == ["send", (b"mine", 100_510), [True]] and len(world.events) == 2
    assert b"".join(data for _, data in port.written) == b"message"
    session.hear_until(port, talk, lambda: False, stop, 2.0)
    assert world.now == pytest.approx(102.52, abs=0.03) and not stop.asked
    session.hear_until(port, talk, lambda: False, stop, 20.0)
    assert stop.asked and world.now == pytest.approx(103.0)


def test_an_end_that_listens_answers_and_looks_at_its_clock() -> None:
    end = Sending()
    talk, _ = talking(end)
    feed = session.answering(talk)
    end.now_ms = 7
    end.send()
    assert feed(b"min", 7e3) == b"message" and end.log == ["send"]
    assert feed(b"e", 8e3) == b"" and end.log[1:] == [(b"mine", 8), [True]]
    assert feed(b"", 1006e3) == b"" and feed(b"", 1007e3) == b"messmore"
    assert talk.outcome() is None and feed(b"yes!", 1008e3) == b"" and talk.outcome() is Event.ACCEPTED
    talk.say(end.send, 1009.9e3)
    assert talk.outcome() is None and end.now_ms == 1009


def test_all_is_written_or_the_port_is_blamed(begin: Any) -> None:
    world, port, stop = begin(capacity=2)
    assert session.write_all(port, b"abcde", stop) == 0.0
    assert [data for _, data in port.written] == [b"ab", b"cd", b"e"]
    port.capacity = 0
    with pytest.raises(PortError, match=r"^port /dev/p: does not accept data; is the radio switched on\?$"):
        session.write_all(port, b"a", stop, deadline_s=3.0)
    assert world.now == 104.0
    begun = world.now
    with pytest.raises(MotecryptError):
        session.write_all(port, b"a", stop)
    assert world.now - begun == 61.0
    stop.asked = True
    assert session.write_all(port, b"a", stop) == 0.0


def test_a_pause_returns_what_came(begin: Any) -> None:
    world, port, stop = begin((0.25, b"a"), (0.5, b"b"), (2.0, b"late"))
    assert session.pause(port, 1.0, stop) == b"ab" and world.now == 101.0
    assert world.waited == [1.0, 0.75, 0.5]
    world.events = [(101.5, "stop")]
    assert session.pause(port, 1.0, stop) == b"" and world.now == 101.5


def listening(
    monkeypatch: pytest.MonkeyPatch, ports: list[Any], rounds: int, **settings: Any
) -> tuple[list[Any], list[str]]:
    fed: list[Any] = []
    said: list[str] = []

    def opened(path: str, baud: int) -> Any:
        assert (path, baud) == ("p", 9600)
        made = ports.pop(0)
        if isinstance(made, Exception):
            raise made
        return made

    def feed(data: bytes, at_us: float) -> bytes:
        fed.append((data, round(at_us / 1e6 - 100, 3)))
        return b"<" + data + b">" if data else b""

    monkeypatch.setattr(session, "SerialPort", opened)
    over = settings.pop("over", lambda: len(fed) >= rounds)
    session.listen("p", 9600, feed, settings.pop("stop", Signal()), over, said.append, **settings)
    return fed, said


def test_a_port_is_read_answered_and_given_back(begin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, port, _ = begin((0.1, b"a"), (0.6, b"b"), capacity=2)
    fresh: list[Any] = []
    fed, said = listening(monkeypatch, [port], 4, setup=fresh.append)
    assert fed == [(b"a", 0.1), (b"", 0.35), (b"", 0.6), (b"b", 0.6)] or fed == [
        (b"a", 0.1), (b"", 0.35), (b"b", 0.6), (b"", 0.85),
    ]  # fmt: skip
    assert b"".join(data for _, data in port.written) == b"<a><b>"
    assert fresh == [port] and port.closed and said == []


def test_a_port_that_vanishes_is_waited_for(begin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    world, port, stop = begin((0.1, "gone"), (2.0, b"b"))
    back = Port(world)
    refused = InputError("port p: does not exist")
    fresh: list[Any] = []
    fed, said = listening(
        monkeypatch, [port, refused, refused, back], 1, setup=fresh.append, quiet_s=3.0, stop=stop
    )
    assert said == ["port p: vanished; waiting for it", "port p: is back"]
    assert fed == [(b"b", 2.0)] and fresh == [port, back] and port.closed and back.closed
    assert 0.5 in world.waited and back.written == [(2.0, b"<b>")]


def test_waiting_for_a_port_ends_too(begin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    world, port, stop = begin((0.1, "gone"))
    refused = InputError("port p: does not exist")
    fed, said = listening(
        monkeypatch, [port, refused, refused], 1, quiet_s=3.0, stop=stop, over=lambda: world.now > 100.9
    )
    assert fed == [] and said == ["port p: vanished; waiting for it"]

    def wrong(port: object) -> None:
        raise InputError("the radio is none")

    _, other, _ = begin()
    with pytest.raises(InputError, match="none"):
        listening(monkeypatch, [other], 1, setup=wrong)
    assert other.closed


def test_the_last_answer_is_written_within_a_second(begin: Any) -> None:
    world, port, _ = begin(capacity=1)
    session._drain(port, b"ab")
    assert port.written == [(0.0, b"a"), (0.0, b"b")]
    port.capacity = 0
    session._drain(port, b"ab")
    assert 101.0 <= world.now < 101.2 and set(world.waited) == {0.1}


def test_a_full_disk_is_told_as_what_it_is(begin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, port, stop = begin((0.1, b"a"))

    def full(data: bytes, at_us: float) -> bytes:
        raise MotecryptError("state file key: cannot be written: No space left on device")

    monkeypatch.setattr(session, "SerialPort", lambda path, baud: port)
    said: list[str] = []
    with pytest.raises(MotecryptError, match="No space left"):
        session.listen("p", 9600, full, stop, lambda: False, said.append)
    assert said == [] and port.closed


def configured(monkeypatch: pytest.MonkeyPatch, answers: dict[bytes, list[bytes]]) -> list[Any]:
    done: list[Any] = []
    port = SimpleNamespace(path="/dev/p")

    def pause(given: object, seconds: float, stop: object) -> bytes:
        if seconds == 1.2:
            done.append("quiet")
            return b"OK\r"
        assert seconds == 0.15
        sent = done[-1]
        return answers[sent].pop(0) if answers.get(sent) else b""

    monkeypatch.setattr(commands, "pause", pause)
    monkeypatch.setattr(commands, "write_all", lambda given, data, stop: done.append(data))
    commands.configure(port, ["ATEE1", "ATEK00112233"], Signal())  # type: ignore[arg-type]
    return done


def test_a_module_is_set_up_command_by_command(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = [b"+++", b"ATEE1\r", b"ATEK00112233\r", b"ATAC\r", b"ATDN\r"]
    slow = [b""] * 18 + [b"O", b"K\r"]
    assert configured(monkeypatch, {**dict.fromkeys(sent, [b"OK\r"] * 9), sent[1]: slow}) == ["quiet", *sent]
    fine = {command: [b"OK\r"] for command in sent}
    with pytest.raises(MotecryptError, match=r"^port /dev/p: the module refuses ATEK$"):
        configured(monkeypatch, {**fine, sent[2]: [b"ERR\r"]})
    fine = {command: [b"OK\r"] for command in sent}
    late = [b""] * 20 + [b"OK\r"]
    with pytest.raises(
        MotecryptError,
        match=r"^port /dev/p: the module does not answer \+\+\+; is it an SRF at this baud rate\?$",
    ):
        configured(monkeypatch, {**fine, sent[0]: late})
    monkeypatch.setattr(Signal, "asked", True)
    assert configured(monkeypatch, {}) == ["quiet", *sent]


def test_signals_are_asked_for_and_given_back() -> None:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    for number in numbers:
        with Stop() as stop:
            assert not stop.asked and not os.get_blocking(stop.fileno()) and not os.get_blocking(stop._write)
            signal.raise_signal(number)
            signal.raise_signal(number)
            assert stop.asked and os.read(stop.fileno(), 9) == b"!!"
            with pytest.raises(BlockingIOError):
                os.read(stop.fileno(), 1)
            handle = stop.fileno()
        assert [signal.getsignal(n) for n in numbers] == before
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(handle)
    with Stop() as stop:
        for _ in range(70_000):  # more than a pipe takes: nobody waits for it
            stop.ask()


# --- serial ports ------------------------------------------------------------------------------------------


def test_what_is_wrong_with_a_port_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def said(number: int | None) -> str:
        return serial_port._reason(OSError(number, "text") if number else ValueError("text"), "/no/such/port")

    assert said(errno.ENOENT).startswith("does not exist; 'motecrypt radio srf'")
    for number in (errno.EAGAIN, errno.EBUSY):
        assert said(number) == "busy: another program uses it; stop that one first"
    assert said(errno.EACCES).startswith(
        "permission denied; join the group dialout (sudo usermod -aG dialout "
    )
    for number in (errno.ENOTTY, errno.EINVAL):
        assert said(number) == "is not a serial port; name one such as /dev/ttyUSB0"
    assert serial_port._reason(termios.error(5, "x"), "p") == said(errno.ENOTTY)
    assert said(None) == "text" and said(errno.EIO) == "[Errno 5] text"
    hidden = ValueError("pyserial's")
    hidden.__context__ = termios.error(22, "x")
    assert serial_port._reason(hidden, "p") == said(errno.ENOTTY)
    assert serial_port._group_of("/dev/null") == Path("/dev/null").group()


def test_a_port_is_read_and_written_without_waiting() -> None:
    master, slave = os.openpty()
    try:
        with SerialPort(os.ttyname(slave), 9600) as port:
            assert not os.get_blocking(port.fileno())
            assert port.read() == b"" and port.queued() == 0
            assert port.write(b"abc") == 3 and os.read(master, 9) == b"abc"
            os.write(master, bytes(range(100, 110)))
            while not (came := port.read()):
                pass
            assert came == bytes(range(100, 110))
            taken = [port.write(bytes(4096)) for _ in range(100)]
            assert sum(taken) > 4096 and taken[-1] == 0
            with pytest.raises(InputError, match=r"^port .*: busy: another program uses it"):
                SerialPort(os.ttyname(slave))
            os.close(master)
            os.close(slave)
            master = slave = -1
            for call in (port.read, lambda: port.write(b"x"), port.queued):
                with pytest.raises(
                    MotecryptError, match=r"vanished.*; plug it in again and repeat the command$"
                ):
                    call()
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(port.fileno())
    finally:
        for handle in (master, slave):
            if handle >= 0:
                os.close(handle)


def test_a_port_that_has_nothing_or_takes_nothing_now(monkeypatch: pytest.MonkeyPatch) -> None:
    master, slave = os.openpty()
    try:
        with SerialPort(os.ttyname(slave)) as port:
            settings = termios.tcgetattr(slave)
            settings[6][termios.VMIN] = 1  # a read of nothing is an error then
            termios.tcsetattr(slave, termios.TCSANOW, settings)
            assert port.read() == b"" and port.fileno() == port._serial.fileno()
            for error in (OSError(5, "said"), OSError(5, ""), OSError("bare")):

                def fail(*_: object, error: OSError = error) -> Any:
                    raise error

                monkeypatch.setattr(serial_port, "os", SimpleNamespace(read=fail, write=fail))
                reason = " (said)" if error.strerror else ""
                for call in (port.read, lambda: port.write(b"x")):
                    with pytest.raises(MotecryptError) as told:
                        call()
                    hint = "plug it in again and repeat the command"
                    assert str(told.value) == f"port {port.path}: vanished{reason}; {hint}"
            monkeypatch.setattr(serial_port, "os", os)
            for broken in (OSError, termios.error):

                def close(broken: type[Exception] = broken) -> None:
                    raise broken

                with monkeypatch.context() as patch:
                    patch.setattr(port._serial, "close", close)
                    port.close()
    finally:
        os.close(master)
        os.close(slave)


def test_the_group_of_a_port_is_dialout_where_none_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (OSError, KeyError):

        def group(path: Path, error: type[Exception] = error) -> str:
            raise error

        monkeypatch.setattr(Path, "group", group)
        assert serial_port._group_of("p") == "dialout"


def test_what_is_no_port_is_told_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    for error in (OSError(errno.ENOENT, "x"), ValueError("text"), termios.error(5, "x")):

        def opened(*arguments: Any, error: Exception = error, **settings: Any) -> None:
            asked.append((arguments, settings))
            raise error

        monkeypatch.setattr("serial.Serial", opened)
        with pytest.raises(InputError) as told:
            SerialPort("p")
        assert str(told.value) == f"port p: {serial_port._reason(error, 'p')}"
    assert asked == [(("p", 115200), {"timeout": 0, "write_timeout": 0, "exclusive": True})] * 3
