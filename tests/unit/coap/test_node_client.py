"""A node that observes a resource of a server: over the bare transport with OSCORE, aiocoap as the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from motecrypt.link.gateway.bare import BareReader, bare_packets
from motecrypt.link.gateway.protocols.coap.context import CLIENT_ID, OscoreContext, new_context
from motecrypt.link.gateway.protocols.coap.message import CoapKind, CoapMessage, Code, Option, decode, uint
from motecrypt.link.gateway.protocols.coap.oscore import derive_oscore
from node_native import NativeNode, compiled_node
from oscore_native import NativeOscore, compiled_oscore
from stored_nodes import NODE, provisioned
from tool_sets import needs_tool_set

pytestmark = [needs_tool_set("host")]
PACKET = 12
TOKEN = b"c"
MINUTE_MS = 60_000
RETRY_MS, STALE_MS = 5000, 5000


class Server:
    """The other end of the context: it reads the node's requests and answers them."""

    def __init__(self, library: Path, node: NativeNode, context: OscoreContext) -> None:
        node_id, own_id = bytes([NODE]), bytes([CLIENT_ID])
        keys = derive_oscore(context.secret, context.salt, own_id, node_id)
        self.node, self.end, self._number = node, NativeOscore(library, keys, own_id, node_id), 0

    def request(self, now_ms: int) -> CoapMessage | None:
        """What the node asks for now."""
        packets = self.node.poll(now_ms)
        if not packets:
            return None
        reader = BareReader()
        (sealed,) = [told.message for told in map(reader.take, packets) if told.message]
        plain = self.end.unprotect(sealed)
        assert isinstance(plain, bytes), plain
        return decode(plain)

    def sealed(
        self,
        payload: bytes,
        number: int | None = 1,
        max_age_s: int | None = None,
        code: int = Code.CONTENT,
        kind: CoapKind = CoapKind.NON,
        options: tuple[tuple[int, bytes], ...] = (),
        token: bytes = TOKEN,
    ) -> bytes:
        """A protected response or notification."""
        every = [*options]
        every += [] if number is None else [(int(Option.OBSERVE), uint(number))]
        every += [] if max_age_s is None else [(int(Option.MAX_AGE), uint(max_age_s))]
        self._number += 1
        message = CoapMessage(kind, code, self._number, token, tuple(every), payload)
        told = self.end.protect(message.encode())
        assert isinstance(told, bytes), told
        return told

    def tell(self, message: bytes, now_ms: int) -> CoapMessage | None:
        """Send it; what the node says to it."""
        self._number += 1
        said = [
            answer
            for packet in bare_packets(NODE, message, self._number, PACKET)
            for answer in self.node.receive(packet, now_ms)
        ]
        reader = BareReader()
        told = [heard.message for heard in map(reader.take, said) if heard.message]
        return decode(told[0]) if told else None


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder, flags = tmp_path_factory.mktemp("client"), ("-O2", "-shared", "-fPIC")
    return compiled_node(folder / "node.so", *flags), compiled_oscore(folder / "oscore.so", *flags)


@pytest.fixture
def server(libraries: tuple[Path, Path]) -> Server:
    context = new_context(NODE)
    return Server(libraries[1], NativeNode(libraries[0], provisioned(context=context), True), context)


def test_it_registers_and_takes_notifications_in_order(server: Server) -> None:
    asked = server.request(0)
    assert asked is not None and (asked.kind, asked.code, asked.token) == (CoapKind.NON, Code.GET, TOKEN)
    assert asked.options == ((Option.OBSERVE, b""), (Option.URI_PATH, b"setpoint"))
    assert server.tell(server.sealed(b"21"), 100) is None and server.node.setpoint == (Code.CONTENT, b"21", 1)
    old, new = server.sealed(b"22"), server.sealed(b"23")
    server.tell(new, 200)
    server.tell(old, 300)
    server.tell(new, 400)
    assert server.node.setpoint == (Code.CONTENT, b"23", 2), "neither an older one nor one twice"


def test_a_confirmable_notification_is_acknowledged_each_time(server: Server) -> None:
    server.request(0)
    server.tell(server.sealed(b"21"), 0)
    notified = server.sealed(b"22", kind=CoapKind.CON)
    for _ in range(2):
        told = server.tell(notified, 0)
        assert told is not None and (told.kind, told.code, told.mid) == (
            CoapKind.ACK,
            0,
            decode(notified).mid,
        )
    assert server.node.setpoint == (Code.CONTENT, b"22", 2)


def test_what_it_did_not_ask_for_is_reset(server: Server) -> None:
    server.request(0)
    for kind in (CoapKind.CON, CoapKind.NON):
        told = server.tell(server.sealed(b"no", kind=kind, token=b"x"), 0)
        assert told is not None and told.kind is CoapKind.RST
    assert server.tell(server.sealed(b"no", None, kind=CoapKind.NON, token=b"x"), 0) is None
    assert server.node.setpoint[2] == 0


def test_a_forged_or_changed_notification_is_not_taken(server: Server) -> None:
    server.request(0)
    sealed = server.sealed(b"21")
    server.tell(sealed[:-1] + bytes([sealed[-1] ^ 1]), 0)
    server.tell(CoapMessage(CoapKind.NON, Code.CONTENT, 9, TOKEN, ((6, b"\1"),), b"99").encode(), 0)
    assert server.node.setpoint[2] == 0
    server.tell(sealed, 0)
    assert server.node.setpoint == (Code.CONTENT, b"21", 1)


def test_it_asks_again_later_and_later_until_an_answer_comes(server: Server) -> None:
    now = 0
    for pause in (5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 320_000):
        assert server.request(now) is not None and server.request(now + pause - 1) is None
        now += pause
    assert server.request(now) is not None
    server.tell(server.sealed(b"21", max_age_s=10), now)
    assert server.request(now + 10_000 + STALE_MS - 1) is None
    assert server.request(now + 10_000 + STALE_MS) is not None, "stale"
    assert server.request(now + 10_000 + STALE_MS + RETRY_MS) is not None, "at first soon again"


def test_it_registers_anew_when_the_observation_is_over(server: Server) -> None:
    server.request(0)
    server.tell(server.sealed(b"21"), 0)
    server.tell(server.sealed(b"", None, code=Code.NOT_FOUND), 1000)
    assert server.node.setpoint == (Code.NOT_FOUND, b"", 2)
    assert server.request(1000 + RETRY_MS - 1) is None
    assert server.request(1000 + RETRY_MS) is not None
    server.tell(server.sealed(b"24", 1), 7000)
    assert server.node.setpoint == (Code.CONTENT, b"24", 3)


def test_it_registers_anew_with_a_server_that_has_restarted(server: Server) -> None:
    server.request(0)
    server.tell(server.sealed(b"21"), 0)
    assert server.request(MINUTE_MS + STALE_MS) is not None
    server.tell(server.sealed(b"22", 0), MINUTE_MS + STALE_MS)
    assert server.node.setpoint == (Code.CONTENT, b"22", 2)


def test_it_proves_that_it_is_there_now(server: Server) -> None:
    """RFC 9175: the server's Echo option comes back immediately with the next request."""
    server.request(0)
    echo = ((252, b"8 bytes."),)
    server.tell(server.sealed(b"", None, code=0x81, options=echo), 10)
    asked = server.request(10)
    assert asked is not None and asked.values(252) == [b"8 bytes."] and asked.number(Option.OBSERVE) == 0
    server.tell(server.sealed(b"", None, code=0x81, options=((252, bytes(17)),)), 20)
    assert server.request(20) is None, "too long to be kept"
    for now in (20_000, 20_010, 20_020):
        server.request(now)
        server.tell(server.sealed(b"", None, code=0x81, options=echo), now)
    assert server.request(20_030) is None, "not on and on"


def test_it_ends_the_observation(server: Server) -> None:
    server.request(0)
    server.tell(server.sealed(b"21"), 0)
    server.node.end(5)
    asked = server.request(5)
    assert asked is not None and asked.number(Option.OBSERVE) == 1 and asked.token == TOKEN
    assert server.request(10**8) is None
    server.tell(server.sealed(b"22", None), 5)
    assert server.node.setpoint == (Code.CONTENT, b"21", 1)
