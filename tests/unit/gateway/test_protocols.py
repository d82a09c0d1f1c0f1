"""The seam between the gateway and protocols that nodes speak: who gets what, and what a fault costs."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from gateway_bed import DEADLINE_S, Field
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link.gateway import protocols as module
from motecrypt.link.gateway.protocols import Downlink, NodeProtocol
from motecrypt.link.gateway.protocols.address import listen_udp, shown
from motecrypt.link.native import COMMAND, CONFIRMED, LONG, Event


class Echo(NodeProtocol):
    """Takes messages that begin with '!', and answers those that begin with '!?'."""

    name = "echo"

    def __init__(self) -> None:
        self.got: list[tuple[int, bytes]] = []
        self.outcomes: list[str] = []
        self.threads: set[str] = set()
        self.go = threading.Event()
        self.go.set()
        self.closed = False
        self.near, self.far = socket.socketpair(type=socket.SOCK_DGRAM)
        self.polls = 0

    def speaks(self, content: bytes) -> bool:
        """By the first byte."""
        return content[:1] == b"!"

    def begin(self, downlink: Downlink) -> None:
        """Keep the way down."""
        self.downlink = downlink

    def heard(self, node: int, content: bytes, now_s: float) -> None:
        """Answer, or fail."""
        self.threads.add(threading.current_thread().name)
        assert self.go.wait(DEADLINE_S)
        if content == b"!bad":
            raise ValueError("cannot read that")
        self.got.append((node, content))
        if content[:2] == b"!?":
            self.downlink.send(node, content[2:], self.told)

    def told(self, outcome: str) -> None:
        """Note an outcome."""
        self.threads.add(threading.current_thread().name)
        self.outcomes.append(outcome)

    def sockets(self) -> Sequence[socket.socket]:
        """One end of a pair."""
        return [self.near]

    def readable(self, ready: socket.socket, now_s: float) -> None:
        """Say it back."""
        ready.send(ready.recv(100).upper())

    def poll(self, now_s: float) -> float:
        """Nothing is due."""
        self.polls += 1
        return now_s + 60

    def addresses(self) -> list[str]:
        """Nowhere."""
        return []

    def statistics(self) -> dict[str, int]:
        """How many came."""
        return {"got": len(self.got)}

    def close(self) -> None:
        """Note it."""
        self.closed = True


@pytest.fixture
def echo() -> Iterator[Echo]:
    made = Echo()
    yield made
    made.near.close()
    made.far.close()


@pytest.fixture
def field(tmp_path: Path, echo: Echo) -> Iterator[Field]:
    made = Field(tmp_path, 5, 6, 7)
    made.service.speak([echo], [5, 6])
    yield made
    echo.go.set()
    for thread in made.service._protocols:
        thread.stop()
        thread.join(DEADLINE_S)
        assert not thread.is_alive() and echo.closed
    made.crash()


def test_a_speaking_nodes_messages_go_to_the_protocol_and_all_others_to_the_spool(
    field: Field, echo: Echo
) -> None:
    assert field.up(5, b"!one", CONFIRMED) == [Event.ACCEPTED]
    field.up(6, b"!two")
    field.gateway.send(6, b"any", LONG)  # a command needs a message of its receiver
    field.turn()
    assert field.up(6, b"!six", CONFIRMED | COMMAND) == [Event.ACCEPTED]
    field.up(5, b"+21.4C")
    field.up(5, b"")
    field.up(7, b"!not a speaker")
    field.until(lambda: len(echo.got) == 3)
    assert echo.got == [(5, b"!one"), (6, b"!two"), (6, b"!six")]
    assert [(each.node, each.content) for each in field.waiting()] == [
        (5, b"+21.4C"),
        (5, b""),
        (7, b"!not a speaker"),
    ]
    told = field.service.statistics()
    assert told["protocols"] == {"echo": {"got": 3, "refused": 0, "faults": 0}} and told["messages"] == 3
    assert echo.threads == {"echo"}


def test_nothing_is_handed_over_before_its_counter_is_claimed(field: Field, echo: Echo) -> None:
    write = field.spool.write
    failing = True
    got: list[int] = []

    def fails(record: bytes) -> None:
        if failing:
            field.spool.undo()
            raise MotecryptError("no room")
        write(record)
        got.append(len(echo.got))

    field.spool.write = fails  # type: ignore[method-assign]
    field.nodes[5].send(b"!once", CONFIRMED)
    packets = field.packets(5)
    field.radios[0].put(*packets)
    assert field.turn() == [] and not field.service._protocols[0]._messages
    failing = False
    field.service._guarded.until_s = 0.0
    field.radios[0].put(*packets)
    assert field.turn() == [Event.ACCEPTED]
    field.until(lambda: bool(echo.got))
    field.radios[0].put(*packets)
    assert field.turn() == [], "its node knows already"
    assert field.up(5, b"!twice", CONFIRMED) == [Event.ACCEPTED]
    field.until(lambda: len(echo.got) > 1)
    assert echo.got == [(5, b"!once"), (5, b"!twice")] and got[0] == 0


def test_messages_in_one_read_are_all_handed_over(field: Field, echo: Echo) -> None:
    packets: list[bytes] = []
    for text in (b"!1", b"!2", b"!3"):
        field.nodes[5].send(text)
        packets += field.packets(5)
    field.nodes[6].send(b"!4", CONFIRMED)
    field.radios[0].put(*packets, *field.packets(6))
    field.turn()
    field.until(lambda: len(echo.got) == 4)
    assert sorted(echo.got) == [(5, b"!1"), (5, b"!2"), (5, b"!3"), (6, b"!4")]


def test_a_protocol_that_is_stuck_delays_nobody_and_in_the_end_refuses(field: Field, echo: Echo) -> None:
    echo.go.clear()
    field.up(5, b"!first", CONFIRMED)
    field.until(lambda: bool(echo.threads))
    for number in range(module.INBOX_MAX):
        assert field.up(5, b"!%d" % number, CONFIRMED) == [Event.ACCEPTED], number
    assert field.up(5, b"!c", CONFIRMED) == [Event.REFUSED]
    assert field.up(6, b"!six", CONFIRMED) == [Event.ACCEPTED], "each node has places of its own"
    assert field.up(7, b"+21.4C", CONFIRMED) == [Event.ACCEPTED]
    echo.go.set()
    field.until(lambda: len(echo.got) == module.INBOX_MAX + 2)
    assert field.service.statistics()["protocols"]["echo"]["refused"] == 1
    assert field.up(5, b"!d", CONFIRMED) == [Event.ACCEPTED]


def test_what_goes_down_is_an_order_with_an_outcome(field: Field, echo: Echo) -> None:
    came = field.up(5, b"!?back", CONFIRMED)
    for _ in range(1000):
        came += field.turn() if len(came) < 2 else []
    assert came == [Event.ACCEPTED, Event.MESSAGE] and field.nodes[5].message() == b"back"
    field.nodes[5].answer(True)
    field.radios[0].put(*field.packets(5))
    field.turn()
    field.until(lambda: bool(echo.outcomes))
    assert echo.outcomes == ["accepted"] and echo.threads == {"echo"}
    assert echo.downlink.longest == {5: 123, 6: 123}


def test_an_event_that_a_protocol_fails_at_costs_that_event_alone(
    field: Field, echo: Echo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSE_S", 0.0)
    for text in (b"!bad", b"!bad", b"!good"):
        assert field.up(5, text, CONFIRMED) == [Event.ACCEPTED]
    field.until(lambda: bool(echo.got))
    assert echo.got == [(5, b"!good")]
    assert field.told == ["echo: ValueError: cannot read that; one message is dropped"]
    assert field.service.statistics()["protocols"]["echo"]["faults"] == 2


def test_its_sockets_are_served(field: Field, echo: Echo) -> None:
    echo.far.settimeout(DEADLINE_S)
    echo.far.send(b"words")
    assert echo.far.recv(100) == b"WORDS"


def test_a_node_that_nobody_knows_cannot_speak(tmp_path: Path) -> None:
    field = Field(tmp_path, 5)
    with pytest.raises(InputError, match="node 9: not provisioned"):
        field.service.speak([], [9])
    field.crash()


def test_it_listens_on_this_computer_alone_unless_a_host_is_named() -> None:
    made = listen_udp("--coap", "0")
    assert [each.getsockname()[0] for each in made] in (["127.0.0.1", "::1"], ["127.0.0.1"])
    assert len({each.getsockname()[1] for each in made}) == 1 and not made[0].getblocking()
    port = made[0].getsockname()[1]
    assert [shown(each) for each in made] == [f"127.0.0.1:{port}", f"[::1]:{port}"][: len(made)]
    with pytest.raises(InputError, match=f"--coap {port}: Address already in use; name another"):
        listen_udp("--coap", str(port))
    for each in made:
        each.close()
    (named,) = listen_udp("--coap", "127.0.0.2:0")
    assert named.getsockname()[0] == "127.0.0.2"
    named.close()


@pytest.mark.parametrize(
    "text", ["", "x", ":5683", "host:", "localhost:65536", "-1", "1:2:x", "no.such.host.invalid:1"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=f"--coap {text}: "):
        listen_udp("--coap", text)
