"""What every radio keeps to, on every transport: a pair, two ports on a channel, many ports on one."""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable, Iterable

import pytest

from motecrypt.air.radios import Radio, RadioNetwork, RadioPair, load_radio, radio_names
from motecrypt.link.bridge import BridgeLine
from motecrypt.link.gateway_end import Gateway
from motecrypt.link.native import CONFIRMED, LISTENS, SHORT, STREAM, Event
from motecrypt.link.node import HostNode, node_record
from motecrypt.link.ports.session import Talk
from motecrypt.link.state import MemoryStore
from motecrypt.link.stream import StreamReader
from motecrypt.simulate.ports.bridge import VirtualBridge
from motecrypt.simulate.ports.virtual import VirtualRadios

Transport = RadioPair | RadioNetwork
TRANSPORTS: dict[str, tuple[int, Callable[[Radio], Transport]]] = {
    "pair": (2, RadioPair),
    "network of 2": (2, lambda radio: RadioNetwork(radio, 2)),
    "network of 5": (5, lambda radio: RadioNetwork(radio, 5)),
}
DEADLINE_S = 60.0

every_radio = pytest.mark.parametrize("name", radio_names())
every_transport = pytest.mark.parametrize("transport", TRANSPORTS)


def run(joined: Transport, until_us: float = 1e12) -> dict[int, bytes]:
    """Run all due events; returns the output of each port."""
    heard: dict[int, bytes] = {}
    while (due_us := joined.next_us()) is not None and due_us <= until_us:
        for arrival in joined.advance(due_us):
            heard[arrival.end] = heard.get(arrival.end, b"") + arrival.data
    return heard


@every_radio
@every_transport
@pytest.mark.parametrize("size", [1, 12, 13, 700])
def test_bytes_arrive_at_all_others_as_they_were_written(name: str, transport: str, size: int) -> None:
    ends, make = TRANSPORTS[transport]
    message = os.urandom(size).replace(b"+", b"-")
    for sender in (0, ends - 1):
        joined = make(load_radio(name))
        joined.write(sender, message, 5.0)
        assert run(joined) == {end: message for end in range(ends) if end != sender}


@every_radio
@every_transport
def test_a_port_answers_its_own_commands_and_nobody_else_hears_them(name: str, transport: str) -> None:
    _, make = TRANSPORTS[transport]
    joined = make(load_radio(name))
    joined.advance(2e6)
    joined.write(1, b"+++", 2e6)
    assert run(joined, 4e6) == {1: b"OK\r"}
    joined.advance(4e6)
    joined.write(1, b"ATPK\rATID\rATDN\r", 4e6)
    size = load_radio(name).packet_bytes
    assert run(joined) == {1: f"{size:02X}\rOK\r5AA5\rOK\rOK\r".encode()}


@every_radio
@every_transport
def test_the_secure_link_runs_over_it(name: str, transport: str) -> None:
    ends, make = TRANSPORTS[transport]
    radio = load_radio(name).with_figures(packet_bytes=12)
    joined, reader = make(radio), {end: StreamReader(12) for end in range(ends)}
    gateway = Gateway(MemoryStore(), bytes(range(16)))
    storage = gateway.provision(1, SHORT | LISTENS | STREAM)
    node = HostNode(MemoryStore(node_record("aes128-ccm", storage)))
    got: list[bytes] = []

    def taken(messages: Iterable[object]) -> list[bool]:
        got.extend(message.content for message in messages)  # type: ignore[attr-defined]
        return [True] * (len(got) and 1)

    for message in (b"first", b"21.4 C", b"a longer one in fragments"):
        assert node.send(message, CONFIRMED) is Event.WAITING
        joined.write(1, b"".join(node.take_packets()), joined.now_us)
        told: list[Event] = []
        while not told and (due_us := joined.next_us()) is not None:
            for arrival in joined.advance(due_us):
                packets = reader[arrival.end].packets(arrival.data, int(arrival.time_us / 1000))
                if arrival.end == 0:
                    gateway.receive(packets, taken)
                    joined.write(0, b"".join(gateway.take_packets()), joined.now_us)
                elif arrival.end == 1:
                    node.receive(packets, lambda messages: [False] * len(messages))
                    told += [event.event for event in node.take_events()]
        assert told == [Event.ACCEPTED]
    assert got == [b"first", b"21.4 C", b"a longer one in fragments"]


PACKETS = [name for name in radio_names() if not load_radio(name).is_serial]


@pytest.mark.parametrize("name", PACKETS)
@every_transport
def test_the_secure_link_runs_over_bridges_before_it(name: str, transport: str) -> None:
    """The bytes between a program and its bridge are cut anywhere, with garbage before them."""
    ends, make = TRANSPORTS[transport]
    radio = load_radio(name)
    packet_bytes = min(radio.packet_bytes, 255)
    joined = make(radio)
    bridges = [VirtualBridge(name, 1, packet_bytes) for _ in range(ends)]
    told: list[str] = []
    lines = [BridgeLine(packet_bytes, name, told.append, lambda: joined.now_us / 1e6) for _ in range(ends)]
    left: list[int] = []
    joined.left = lambda end, now_us: (bridges[end].left(now_us), left.append(end))[0]
    gateway = Gateway(MemoryStore(), bytes(range(16)), packet_bytes=packet_bytes)
    node = HostNode(MemoryStore(node_record("aes128-ccm", gateway.provision(1, SHORT | LISTENS))))
    talks = [
        Talk(gateway, lines[0], lambda messages: [bool(got.append(m.content)) or True for m in messages]),
        Talk(node, lines[1], lambda messages: [False] * len(messages)),
    ]
    got: list[bytes] = []

    def turn() -> None:
        """All bytes between programs and bridges move."""
        moved = True
        while moved:
            moved = False
            for end, talk in enumerate(talks):
                output = talk.take_output()
                for part in (output[:7], output[7:]):
                    for packet in bridges[end].heard(part, joined.now_us):
                        joined.send(end, packet, joined.now_us)
                answer = bridges[end].take_output()
                talk.hear(answer, joined.now_us)
                moved |= bool(output or answer)

    for talk in talks:
        talk.opened()
    bridges[0].came(b"no packet of the link", 0.0)
    turn()
    assert all(talk.ready for talk in talks)
    for message in (b"first", b"21.4 C", bytes(range(256))):
        assert talks[1].say(lambda: node.send(message, CONFIRMED), joined.now_us) is Event.WAITING  # noqa: B023
        turn()
        while talks[1].outcome() is None and (due_us := joined.next_us()) is not None:
            for arrival in joined.advance(due_us):
                bridges[arrival.end].came(arrival.data, arrival.time_us)
            turn()
        assert talks[1].outcome() is Event.ACCEPTED
    assert got == [b"first", b"21.4 C", bytes(range(256))] and told == []
    assert {0, 1} == set(left) and not any(talk.busy for talk in talks)


@pytest.mark.parametrize("nodes", [2, 5])
def test_programs_talk_over_the_ports_of_a_channel(nodes: int) -> None:
    radios = VirtualRadios(RadioNetwork(load_radio("srf"), nodes), nodes)
    over = threading.Event()
    keeper = threading.Thread(target=radios.run, args=(over.is_set,), kwargs={"seconds": DEADLINE_S})
    ports = [os.open(port, os.O_RDWR | os.O_NOCTTY) for port in radios.ports]
    assert len(set(radios.ports)) == nodes
    keeper.start()
    try:
        for sender in (0, nodes - 1):
            message = b"said by %3d!" % sender
            os.write(ports[sender], message)
            for end, port in enumerate(ports):
                heard, deadline = b"", time.monotonic() + DEADLINE_S
                while end != sender and heard != message and time.monotonic() < deadline:
                    if select.select([port], [], [], 0.1)[0]:
                        heard += os.read(port, 99)
                assert heard == (b"" if end == sender else message)
    finally:
        over.set()
        keeper.join(DEADLINE_S)
        for port in ports:
            os.close(port)
        radios.close()
    assert radios.pacing.summary()["deliveries"] == 2 * (nodes - 1)
