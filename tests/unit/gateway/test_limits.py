"""Each limit of the gateway where it is reached and where it is passed, by its own value."""

from __future__ import annotations

import os
import tty
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from coap_beds import ProxyBed
from gateway_bed import item
from motecrypt.base.errors import InputError
from motecrypt.link import state
from motecrypt.link.gateway import lines
from motecrypt.link.gateway.orders import TOKEN_MAX, read_order
from motecrypt.link.gateway.protocols.coap import udp
from motecrypt.link.gateway.protocols.coap.message import CoapKind, CoapMessage, Code, decode, empty
from motecrypt.link.gateway.protocols.tftp import proxy as tftp
from motecrypt.link.gateway.queues import NewestKept
from motecrypt.link.gateway.sinks import SinkError, command, mqtt
from motecrypt.link.native import PIECES_MAX
from motecrypt.link.state import FileStore
from motecrypt.link.stream import StreamReader


class Datagrams:
    """A socket with datagrams that wait."""

    def __init__(self, waiting: list[bytes]) -> None:
        self.waiting, self.sent = iter(waiting), 0

    def recvfrom(self, count: int) -> tuple[bytes, tuple[str, int]]:
        try:
            return next(self.waiting)[:count], ("192.0.2.1", 5683)
        except StopIteration:
            raise BlockingIOError from None

    def sendto(self, data: bytes, address: Any) -> int:
        self.sent += 1
        return len(data)


def test_coap_reads_so_many_datagrams_and_leaves_the_rest_for_the_next_turn() -> None:
    layer = udp.UdpLayer(1)
    messages = [CoapMessage(CoapKind.NON, Code.GET, mid).encode() for mid in range(udp.READ_MAX + 1)]
    ready: Any = Datagrams(messages)
    assert len(list(layer.receive(ready, 0.0))) == udp.READ_MAX
    assert [message.mid for _, message in layer.receive(ready, 0.0)] == [udp.READ_MAX]


@pytest.mark.parametrize(("over", "whole"), [(0, True), (1, False)])
def test_coap_takes_a_datagram_of_the_longest_length_whole(over: int, whole: bool) -> None:
    head = len(CoapMessage(CoapKind.NON, Code.POST, 7, payload=b"x").encode()) - 1
    message = CoapMessage(CoapKind.NON, Code.POST, 7, payload=bytes(udp.DATAGRAM_MAX - head + over))
    ready: Any = Datagrams([message.encode()])
    ((_, got),) = udp.UdpLayer(1).receive(ready, 0.0)
    assert (got == message) is whole


def test_so_many_messages_wait_for_their_acknowledgement_and_no_more() -> None:
    layer, sockets = udp.UdpLayer(1), Datagrams([])
    peer = udp.Peer(sockets, ("192.0.2.1", 5683))

    def send() -> bool:
        return layer.send(peer, CoapKind.CON, CoapMessage(CoapKind.CON, Code.GET, 0), b"t", 0.0)

    assert all(send() for _ in range(udp.SENT_MAX)) and not send()
    assert layer.counts["overload"] == 1 and sockets.sent == udp.SENT_MAX
    (_, mid), *_ = layer._sent
    layer.take(peer, empty(CoapKind.ACK, mid), 0.0)
    assert send() and not send()


def test_so_many_answers_to_a_node_are_kept_and_the_oldest_goes(bed: ProxyBed) -> None:
    def ask(mid: int) -> bytes:
        options = ((11, b"log"),)
        return CoapMessage(CoapKind.CON, Code.POST, mid, b"n", options, b"21.5").encode()

    def serve() -> None:
        data, peer = bed.server.recvfrom(2048)
        got = decode(data)
        bed.server.sendto(CoapMessage(CoapKind.ACK, Code.CHANGED, got.mid, got.token).encode(), peer)
        bed.take(bed.reach)

    for mid in range(32 + 1):
        bed.raw(ask(mid))
        serve()
        assert [down.mid for down in bed.downs()] == [mid]
    bed.raw(ask(1))
    assert [down.mid for down in bed.downs()] == [1], "kept"
    bed.raw(ask(0))
    assert not bed.downs(), "the server is asked again"


def test_tftp_reads_so_many_datagrams_and_leaves_the_rest_for_the_next_turn() -> None:
    proxy = tftp.TftpProxy([], {}, 1.0)
    ready: Any = Datagrams([b"none"] * (tftp.READS_MAX + 1))
    proxy.readable(ready, 0.0)
    assert proxy._counts["malformed"] == tftp.READS_MAX
    proxy.readable(ready, 0.0)
    assert proxy._counts["malformed"] == tftp.READS_MAX + 1


@pytest.fixture
def line() -> Iterator[lines.Line]:
    master, slave = os.openpty()
    tty.setraw(slave)
    made = lines.Line(os.ttyname(slave), 115200, StreamReader(12), print)
    yield made
    made.close()
    os.close(master)
    os.close(slave)


def test_so_many_bytes_wait_for_a_port_and_further_packets_are_dropped(line: lines.Line) -> None:
    line.say(bytes(lines.OUTPUT_MAX - 12))
    line.say(bytes(13))
    assert line.dropped_bytes == 13
    line.say(bytes(12))
    line.say(bytes(1))
    assert line.dropped_bytes == 14 and line.writing and line.waiting(0) == lines.OUTPUT_MAX
    line.say(b"\1" + bytes(11))
    assert line.dropped_bytes == 14 and line.waiting(1) == 12, "another node has room of its own"
    line.close()
    assert line.dropped_bytes == 14 + lines.OUTPUT_MAX + 12 and not line.writing


def test_nodes_take_turns_at_a_port(line: lines.Line) -> None:
    """A port that takes little: the node that has little to be said is not behind all of the other one's."""
    written, takes = [], [5, 0]

    def write(data: bytes) -> int:
        took = takes.pop(0) if takes else len(data)
        written.append(data[:took])
        return took

    line.port.write = write  # type: ignore[union-attr,method-assign]
    packets = [bytes([5]) + bytes([number]) * 11 for number in range(lines.TURN_BYTES // 12 + 5)]
    for packet in packets:
        line.say(packet)
    line.write()
    assert b"".join(written) == packets[0][:5] and line.writing
    for number in range(2):
        line.say(bytes([0x80 | 6]) + bytes([number]) * 11)
    line.write()
    assert line.writing, "the port takes no more"
    line.write()
    assert not line.writing and line.dropped_bytes == 0
    said = b"".join(written)
    came = [said[at : at + 12] for at in range(0, len(said), 12)]
    assert [each for each in came if each[0] == 5] == packets, "in order"
    assert lines.TURN_BYTES == 512, "44 ms at 115200 baud"
    first = lines.TURN_BYTES // 12 + 1
    assert [each[0] & 63 for each in came] == [5] * first + [5, 6, 5, 6, 5, 5]


def test_a_longest_message_has_room_at_a_port() -> None:
    assert (PIECES_MAX + 1) * 255 <= lines.OUTPUT_MAX


def test_a_line_that_has_heard_nothing_has_no_packet(line: lines.Line) -> None:
    assert (line.packets, line.lost, list(line.heard(0))) == (0, 0, [])


def test_a_port_that_vanished_is_tried_twice_a_second(
    line: lines.Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, tried = [100.0], list[float]()

    def absent(path: str, baud: int) -> None:
        tried.append(now[0])
        raise InputError(f"{path}: absent")

    monkeypatch.setattr(lines, "SerialPort", absent)
    monkeypatch.setattr(lines, "time", SimpleNamespace(monotonic=lambda: now[0]))
    line.close()
    for _ in range(9):
        line.reopen()
        now[0] += 0.125
    assert tried == [100.0, 100.5, 101.0]


def test_an_order_has_an_id_of_so_many_letters() -> None:
    def read(letters: int) -> object:
        return read_order(5, b'{"text": "x", "id": "%s"}' % (b"x" * letters), lambda told: None)

    assert read(TOKEN_MAX)
    with pytest.raises(InputError, match=f"at most {TOKEN_MAX} letters"):
        read(TOKEN_MAX + 1)


def test_the_end_of_what_a_command_says_is_told(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\nprintf 'a%0{command.SAID_BYTES}d' 7 >&2\nexit 3\n")
    script.chmod(0o700)
    with pytest.raises(SinkError) as raised:
        command.Command(str(script)).deliver([item(1)])
    assert str(raised.value) == f"{script}: ended with 3: {7:0{command.SAID_BYTES}d}"


def test_so_many_outcomes_wait_for_a_broker_and_the_oldest_goes() -> None:
    def commanded(node: int, text: bytes, tell: Any) -> None:
        tell({"number": int(text)})

    sink = mqtt.MqttSink(mqtt.read_broker("mqtt://host/home"), commanded)
    for number in range(mqtt.OUTCOMES_MAX + 1):
        topic = "motecrypt/home/node/5/command"
        message: Any = SimpleNamespace(topic=topic, retain=False, payload=b"%d" % number)
        sink._on_message(None, None, message)
    outcomes = [sink._outcomes.get() for _ in range(mqtt.OUTCOMES_MAX)]
    assert outcomes == [(5, {"number": number}) for number in range(1, mqtt.OUTCOMES_MAX + 1)]
    assert sink._outcomes.get() is None


def test_a_node_with_many_outcomes_pushes_out_none_of_others() -> None:
    kept: NewestKept[int, int] = NewestKept(10)
    for number in range(2):
        kept.put(6, number)
    for number in range(100):
        kept.put(5, number)
    kept.put(7, 0)
    got = [kept.get() for _ in range(len(kept))]
    assert got == [(6, 0), (6, 1), *((5, number) for number in range(93, 100)), (7, 0)]


@pytest.mark.parametrize(("each_s", "given_up"), [(9.9, False), (10.1, True)])
def test_a_slow_broker_is_waited_for_as_long_as_it_makes_progress(
    each_s: float, given_up: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It acknowledges one message of ten in that time, so all of them in ten times that."""
    sink, now, mids = mqtt.MqttSink(mqtt.read_broker("mqtt://host/home")), [0.0], iter(range(10))
    client: Any = SimpleNamespace(publish=lambda *given, **more: SimpleNamespace(mid=next(mids)))
    acknowledged = iter(range(10))

    def loop(seconds: float) -> None:
        now[0] += each_s
        if not given_up:
            sink._acknowledged[next(acknowledged)] = ""

    monkeypatch.setattr(mqtt, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(sink, "_connected", lambda: client)
    monkeypatch.setattr(sink, "_loop", loop)
    items = [item(number) for number in range(10)]
    if given_up:
        with pytest.raises(SinkError, match="has acknowledged nothing for 10 s"):
            sink.deliver(items)
    else:
        sink.deliver(items)
    assert now[0] == pytest.approx(each_s * (1 if given_up else 10))


def test_a_gateway_has_a_name_of_so_many_letters() -> None:
    assert mqtt.read_broker(f"mqtt://host/{'a' * mqtt.NAME_MAX}").name == "a" * mqtt.NAME_MAX
    with pytest.raises(InputError, match="no broker"):
        mqtt.read_broker(f"mqtt://host/{'a' * (mqtt.NAME_MAX + 1)}")


def test_a_record_has_so_many_bytes(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "record")
    try:
        store.write(bytes(state.RECORD_BYTES_MAX))
        assert store.read() == bytes(state.RECORD_BYTES_MAX)
        store.write(bytes(state.RECORD_BYTES_MAX + 1))
        with pytest.raises(InputError, match="record"):
            store.read()
    finally:
        store.close()
