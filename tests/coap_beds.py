"""A CoAP proxy for tests, without a link: a way down that tests answer by hand, and a UDP client."""

from __future__ import annotations

import select
import socket
from collections.abc import Callable

from gateway_bed import Field
from motecrypt.link.gateway.protocols import Downlink
from motecrypt.link.gateway.protocols.coap.message import (
    CoapKind,
    CoapMessage,
    Code,
    Option,
    block_value,
    decode,
    uint,
)
from motecrypt.link.gateway.protocols.coap.proxy import CoapProxy
from motecrypt.link.gateway.protocols.coap.where import CoapServer
from motecrypt.link.native import CONFIRMED, Event

WAIT_S = 10.0
LONGEST = 123


class Down(Downlink):
    """What goes down to nodes, kept."""

    def __init__(self, nodes: tuple[int, ...]) -> None:
        super().__init__(lambda order: None, dict.fromkeys(nodes, LONGEST), lambda call: None)
        self.sent: list[tuple[int, bytes, Callable[[str], None], bool]] = []

    def send(
        self,
        node: int,
        content: bytes,
        told: Callable[[str], None],
        confirmed: bool = True,
        wait_s: float = 0,
    ) -> None:
        """Keep it."""
        self.sent.append((node, content, told, confirmed))


class Client:
    """A UDP socket that speaks to another, at one of this computer's addresses."""

    def __init__(self, to: socket.socket, host: str = "127.0.0.1") -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((host, 0))
        self.socket.connect(to.getsockname())
        self.socket.settimeout(WAIT_S)

    def got(self) -> CoapMessage:
        """The next message that has come."""
        return decode(self.socket.recv(2048))

    def nothing(self) -> bool:
        """Whether nothing has come."""
        return not select.select([self.socket], [], [], 0)[0]


class ProxyBed:
    """A proxy of nodes 5 and 7, with a server that nodes may reach, at a time that tests set."""

    def __init__(self, bare: tuple[int, ...] = ()) -> None:
        self.listener = _bound()
        self.server, reach = _bound(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.server.settimeout(WAIT_S)
        reach.connect(self.server.getsockname())
        reach.setblocking(False)
        self.reach = reach
        self.port = int(self.server.getsockname()[1])
        nodes = [number for number in (5, 7) if number not in bare]
        self.proxy = CoapProxy([self.listener], [(CoapServer("sink.example", self.port), reach)], nodes, bare)
        self.down = Down((5, 7))
        self.proxy.begin(self.down)
        self.now_s = 1000.0
        self.client = Client(self.listener)
        self.mid = 100

    def close(self) -> None:
        """Give the sockets back."""
        self.proxy.close()
        self.server.close()
        self.client.socket.close()

    def at(self, now_s: float) -> float:
        """Go on in time."""
        self.now_s = now_s
        return self.proxy.poll(now_s)

    def ask(
        self,
        *path: bytes,
        code: int = Code.GET,
        token: bytes = b"T",
        observe: int | None = None,
        options: tuple[tuple[int, bytes], ...] = (),
        payload: bytes = b"",
        kind: CoapKind = CoapKind.CON,
        client: Client | None = None,
        mid: int | None = None,
    ) -> None:
        """A client's request, taken by the proxy."""
        self.mid += 1
        every = [*options, *((int(Option.URI_PATH), part) for part in path)]
        if observe is not None:
            every.append((Option.OBSERVE, uint(observe)))
        message = CoapMessage(kind, code, self.mid if mid is None else mid, token, tuple(every), payload)
        self.put(message.encode(), client)

    def put(self, data: bytes, client: Client | None = None) -> None:
        """Bytes of a client, taken by the proxy."""
        (client or self.client).socket.send(data)
        self.take(self.listener)

    def take(self, ready: socket.socket) -> None:
        """What has come at one of the proxy's sockets."""
        assert select.select([ready], [], [], WAIT_S)[0]
        self.proxy.readable(ready, self.now_s)

    def downs(self, node: int = 7) -> list[CoapMessage]:
        """What went down to a node since the last call; all of it is accepted."""
        sent, self.down.sent = self.down.sent, []
        for _, _, told, _ in sent:
            told("accepted")
        assert {each[0] for each in sent} <= {node}
        return [decode(each[1]) for each in sent]

    def up(
        self,
        asked: CoapMessage,
        payload: bytes = b"21.4",
        code: int = Code.CONTENT,
        options: tuple[tuple[int, bytes], ...] = (),
        kind: CoapKind = CoapKind.NON,
        mid: int = 1,
    ) -> None:
        """A node's response to what it was asked."""
        self.raw(CoapMessage(kind, code, mid, asked.token, options, payload).encode())

    def raw(self, content: bytes, node: int = 7) -> None:
        """A message of a node."""
        self.proxy.heard(node, content, self.now_s)


def _bound() -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind(("127.0.0.1", 0))
    made.setblocking(False)
    return made


class SpeakingNode:
    """A node on this computer that speaks CoAP over the link: temperature, LED, a long text.

    Attributes
    ----------
    to_send : messages that are sent as soon as the link is free; got : responses to its own requests.
    answer : makes the response to a request.
    """

    TEXT = bytes(range(48, 123)) * 4

    def __init__(self, field: Field, number: int) -> None:
        self._field, self._number = field, number
        self.led = b"0"
        self.observer: CoapMessage | None = None
        self.to_send: list[bytes] = []
        self.answer: Callable[[bytes], bytes] = lambda data: self._respond(decode(data)).encode()
        self.got: list[CoapMessage] = []

    def turn(self) -> None:
        """Have the gateway take a turn, and answer."""
        link = self._field.nodes[self._number]
        for event in self._field.turn():
            if event is Event.MESSAGE:
                data = link.message()
                message = decode(data)
                link.answer(True)
                self._field.radios[0].put(*self._field.packets(self._number))
                if message.is_request:
                    self.to_send.append(self.answer(data))
                else:
                    self.got.append(message)
        if self.to_send and link.send(self.to_send[0], CONFIRMED) is Event.WAITING:
            del self.to_send[0]
            self._field.radios[0].put(*self._field.packets(self._number))

    def notify(self, payload: bytes) -> None:
        """Notify its observer."""
        assert self.observer is not None
        options = ((int(Option.OBSERVE), b"\2"),)
        message = CoapMessage(CoapKind.NON, Code.CONTENT, 9, self.observer.token, options, payload)
        self.to_send.append(message.encode())

    def _respond(self, request: CoapMessage) -> CoapMessage:
        path, code = request.values(Option.URI_PATH), request.code
        options: tuple[tuple[int, bytes], ...] = ()
        if path == [b"temperature"] and code == Code.GET:
            answer, payload = Code.CONTENT, b"+21.4C"
            if request.number(Option.OBSERVE) == 0:
                self.observer, options = request, ((int(Option.OBSERVE), b"\1"),)
            elif request.number(Option.OBSERVE) == 1:
                self.observer = None
        elif path == [b"led"] and code == Code.PUT:
            self.led, answer, payload = request.payload, Code.CHANGED, b""
        elif path == [b"led"] and code == Code.GET:
            answer, payload = Code.CONTENT, self.led
        elif path == [b"text"] and code == Code.GET:
            block = request.number(Option.BLOCK2) or 2
            number, exponent = block >> 4, min(block & 7, 2)
            begin, end = number << 4 + exponent, number + 1 << 4 + exponent
            answer, payload = Code.CONTENT, self.TEXT[begin:end]
            options = ((int(Option.BLOCK2), block_value(number, end < len(self.TEXT), exponent)),)
        else:
            answer, payload = Code.NOT_FOUND, b""
        return CoapMessage(CoapKind.NON, answer, request.mid, request.token, options, payload)
