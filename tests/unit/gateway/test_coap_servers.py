"""The CoAP proxy from a node to servers: which ones, what comes back, what is limited."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from coap_beds import LONGEST, ProxyBed
from motecrypt.base.errors import InputError
from motecrypt.link.gateway.protocols.coap import proxy as module
from motecrypt.link.gateway.protocols.coap.message import (
    CoapKind,
    CoapMessage,
    Code,
    Option,
    decode,
    empty,
)
from motecrypt.link.gateway.protocols.coap.opening import open_coap
from motecrypt.link.gateway.protocols.coap.where import CoapServer, read_server

CON, NON, ACK, RST = CoapKind
PATH = Option.URI_PATH
INNER = ((PATH, b"a"), (PATH, b"b c"), (15, b"d"), (15, b"e=f"))


def request(
    options: tuple[tuple[int, bytes], ...] = ((PATH, b"log"),),
    kind: CoapKind = NON,
    code: int = Code.POST,
    mid: int = 9,
    payload: bytes = b"21.4",
) -> bytes:
    """A node's."""
    return CoapMessage(kind, code, mid, b"n", options, payload).encode()


def served(bed: ProxyBed) -> tuple[CoapMessage, object]:
    """What the server has got."""
    data, peer = bed.server.recvfrom(2048)
    return decode(data), peer


def test_a_node_reaches_the_server(bed: ProxyBed) -> None:
    bed.raw(request())
    got, peer = served(bed)
    assert (got.kind, got.code, got.payload, len(got.token)) == (CON, Code.POST, b"21.4", 4)
    assert got.options == ((3, b"sink.example"), (11, b"log"), (16, b"\x10"))
    reply = CoapMessage(ACK, Code.CREATED, got.mid, got.token, ((8, b"log"), (8, b"1")))
    bed.server.sendto(reply.encode(), peer)  # type: ignore[arg-type]
    bed.take(bed.reach)
    (down,) = bed.downs()
    assert (down.kind, down.code, down.token, down.options) == (
        NON,
        Code.CREATED,
        b"n",
        ((8, b"log"), (8, b"1")),
    )
    assert bed.proxy.statistics()["forwarded"] == 1


def test_a_confirmable_request_of_a_node_is_done_once_and_answered_again(bed: ProxyBed) -> None:
    bed.raw(request(kind=CON))
    bed.raw(request(kind=CON))
    got, peer = served(bed)
    bed.server.sendto(empty(ACK, got.mid), peer)  # type: ignore[arg-type]
    bed.take(bed.reach)
    bed.at(1090.0)
    separate = CoapMessage(CON, Code.CHANGED, 4242, got.token)
    bed.server.sendto(separate.encode(), peer)  # type: ignore[arg-type]
    bed.take(bed.reach)
    assert served(bed)[0] == decode(empty(ACK, 4242))
    (down,) = bed.downs()
    assert (down.kind, down.mid, down.token, down.code) == (ACK, 9, b"n", Code.CHANGED)
    bed.raw(request(kind=CON))
    assert bed.downs() == [down] and bed.proxy.statistics()["forwarded"] == 1
    bed.server.sendto(separate.encode(), peer)  # type: ignore[arg-type]
    bed.take(bed.reach)
    assert served(bed)[0] == decode(empty(ACK, 4242)) and not bed.downs()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (((Option.PROXY_URI, b"coap://other.example/a"),), Code.NO_PROXYING),
        (((Option.PROXY_URI, b"coap://sink.example:1/a"),), Code.NO_PROXYING),
        (((Option.PROXY_SCHEME, b"coap"), (Option.URI_HOST, b"other.example")), Code.NO_PROXYING),
        (((Option.HOP_LIMIT, b"\1"),), Code.HOP_LIMIT_REACHED),
        (((258, b""),), Code.BAD_OPTION),
    ],
)
def test_where_a_node_may_not_go_it_is_told(
    bed: ProxyBed, options: tuple[tuple[int, bytes], ...], code: Code
) -> None:
    bed.raw(request(options))
    (down,) = bed.downs()
    assert (down.kind, down.code, down.token) == (NON, code, b"n")


def test_a_server_is_named_and_hops_are_counted(bed: ProxyBed) -> None:
    bed.raw(
        request(((Option.PROXY_URI, b"coap://sink.example:%d/a?b" % bed.port), (16, b"\3")), code=Code.GET)
    )
    got, _ = served(bed)
    assert got.options == ((3, b"sink.example"), (11, b"a"), (15, b"b"), (16, b"\2"), (23, b"\2"))


def test_a_server_that_is_silent_or_away_is_told(bed: ProxyBed) -> None:
    bed.raw(request())
    first, _ = served(bed)
    for later in (4, 12, 30, 60, 119):
        bed.at(1000.0 + later)
    (down,) = bed.downs()
    assert down.code == Code.GATEWAY_TIMEOUT and down.token == b"n"
    bed.raw(request(mid=10))
    got, peer = served(bed)
    while got.mid == first.mid:
        got, peer = served(bed)
    bed.server.sendto(empty(RST, got.mid), peer)  # type: ignore[arg-type]
    bed.take(bed.reach)
    assert [each.code for each in bed.downs()] == [Code.GATEWAY_TIMEOUT]
    bed.server.close()
    bed.raw(request(mid=11))
    bed.take(bed.reach)
    assert [each.code for each in bed.downs()] == [Code.GATEWAY_TIMEOUT]
    assert bed.proxy.statistics()["unreachable"] >= 1


def test_a_server_that_acknowledges_and_never_responds_is_given_up(bed: ProxyBed) -> None:
    bed.raw(request())
    got, peer = served(bed)
    bed.server.sendto(empty(ACK, got.mid), peer)  # type: ignore[arg-type]
    bed.take(bed.reach)
    bed.at(1000.0 + module.SERVER_S)
    assert [each.code for each in bed.downs()] == [Code.GATEWAY_TIMEOUT]
    late = CoapMessage(CON, Code.CHANGED, 1, got.token)
    bed.server.sendto(late.encode(), peer)  # type: ignore[arg-type]
    bed.take(bed.reach)
    data = [served(bed)[0] for _ in range(2)]
    assert data[-1] == decode(empty(RST, 1)) and not bed.downs()


def test_a_response_that_does_not_fit_is_a_bad_gateway(bed: ProxyBed) -> None:
    bed.raw(request())
    got, peer = served(bed)
    reply = CoapMessage(ACK, Code.CHANGED, got.mid, got.token, payload=bytes(LONGEST))
    bed.server.sendto(reply.encode(), peer)  # type: ignore[arg-type]
    bed.take(bed.reach)
    (down,) = bed.downs()
    assert down.code == Code.BAD_GATEWAY and not down.payload


def test_a_response_with_an_option_that_may_not_be_forwarded_is_a_bad_gateway(bed: ProxyBed) -> None:
    bed.raw(request())
    got, peer = served(bed)
    reply = CoapMessage(ACK, Code.CHANGED, got.mid, got.token, ((258, b""),))
    bed.server.sendto(reply.encode(), peer)  # type: ignore[arg-type]
    bed.take(bed.reach)
    assert [each.code for each in bed.downs()] == [Code.BAD_GATEWAY]


def test_a_node_has_so_many_requests_at_servers_and_no_more(bed: ProxyBed) -> None:
    for mid in range(module.FORWARDED_MAX + 1):
        bed.raw(request(mid=mid))
    assert [each.code for each in bed.downs()] == [Code.UNAVAILABLE]


def test_servers_are_read() -> None:
    assert read_server("coap://Sink.Example") == CoapServer("sink.example", 5683)
    assert read_server("coap://[::1]:61616/") == CoapServer("::1", 61616)
    for text in ("sink", "http://sink", "coap://", "coap://a:x", "coap://a/b", "coap://u@a", "coap://a?b"):
        with pytest.raises(InputError, match=r"--coap-server .*: not a server"):
            read_server(text)
    with pytest.raises(InputError, match="named twice"):
        open_coap(None, ["coap://127.0.0.1", "coap://127.0.0.1:5683"], [7])
    with pytest.raises(InputError, match=r"--coap-server coap://no\.such\.host\.invalid: .*; name another"):
        open_coap("0", ["coap://no.such.host.invalid"], [7])


def test_a_servers_name_is_looked_up_once_at_the_start(
    bed: ProxyBed, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = socket.getaddrinfo

    def noted(host: str, port: int, **more: Any) -> Any:
        asked.append(host)
        return real("127.0.0.1", port, **more)

    monkeypatch.setattr(socket, "getaddrinfo", noted)
    open_coap(None, ["coap://sink.example"], [7]).close()
    assert asked == ["sink.example"]
    bed.raw(request())
    assert served(bed)[0].options[0] == (3, b"sink.example") and len(asked) == 1, "requests ask for none"


def test_the_gateway_itself_is_no_server_of_its_own() -> None:
    free = open_coap("0", [], [7])
    addresses = free.addresses()
    free.close()
    port = addresses[0].rpartition(":")[2]
    for address in addresses:
        with pytest.raises(InputError, match="that is this gateway itself"):
            open_coap(port, [f"coap://{address}"], [7])
        other = address.removesuffix(port) + ("5683" if port != "5683" else "5684")
        open_coap(port, [f"coap://{other}"], [7]).close()


def test_the_reserved_option_is_refused_on_both_sides(bed: ProxyBed) -> None:
    bed.raw(bytes([0x51, Code.GET, 0, 9]) + b"n" + b"\0")
    assert [each.code for each in bed.downs()] == [Code.BAD_OPTION]
    bed.put(bytes([0x41, Code.GET, 0, 9]) + b"T" + b"\0")
    assert bed.client.got().code == Code.BAD_OPTION and not bed.downs()


# --- a node that observes a server


def observing(
    bed: ProxyBed, mid: int = 20, observe: bytes = b"", kind: CoapKind = NON
) -> tuple[CoapMessage, object]:
    """A node's registration, or with b"\\1" its end; what the server has got."""
    bed.raw(request(((Option.OBSERVE, observe), (PATH, b"set")), kind, Code.GET, mid, b""))
    return served(bed)


def notify(
    bed: ProxyBed,
    peer: object,
    to: CoapMessage,
    payload: bytes,
    number: int | None = 1,
    mid: int = 1,
    age: bytes = b"",
) -> CoapMessage:
    """A notification of the server, and what the node gets of it."""
    options = () if number is None else ((int(Option.OBSERVE), bytes([number])), (int(Option.MAX_AGE), age))
    message = CoapMessage(CON, Code.CONTENT, 5000 + mid, to.token, options, payload)
    bed.server.sendto(message.encode(), peer)  # type: ignore[arg-type]
    bed.take(bed.reach)
    while (told := served(bed)[0]).kind is CON:  # its request once more: nobody acknowledges it here
        pass
    assert told == decode(empty(ACK, 5000 + mid))
    (down,) = bed.downs()
    return down


@pytest.mark.parametrize("kind", [CON, NON])
def test_a_node_observes_a_server(bed: ProxyBed, kind: CoapKind) -> None:
    asked, peer = observing(bed, kind=kind)
    assert asked.options == ((3, b"sink.example"), (6, b""), (11, b"set"), (16, b"\x10"), (23, b"\2"))
    first = CoapMessage(ACK, Code.CONTENT, asked.mid, asked.token, ((6, b"\1"),), b"21")
    bed.server.sendto(first.encode(), peer)  # type: ignore[arg-type]
    bed.take(bed.reach)
    (down,) = bed.downs()
    assert (down.kind, down.token, down.number(Option.OBSERVE), down.payload) == (
        (ACK if kind is CON else NON),
        b"n",
        1,
        b"21",
    )
    for number in (2, 3):
        down = notify(bed, peer, asked, b"%d" % number, number, number)
        assert (down.kind, down.token, down.payload) == (NON, b"n", b"%d" % number)
        assert down.number(Option.OBSERVE) == number
    assert bed.proxy.statistics()["forwarded"] == 1


def test_a_node_that_registers_again_has_one_observation(bed: ProxyBed) -> None:
    first, peer = observing(bed)
    notify(bed, peer, first, b"1")
    again, _ = observing(bed, mid=21)
    while again.mid == first.mid:
        again, _ = served(bed)
    assert again.token == first.token
    assert notify(bed, peer, again, b"2", 2, 2).payload == b"2"


def test_a_node_ends_its_observation(bed: ProxyBed) -> None:
    first, peer = observing(bed)
    notify(bed, peer, first, b"1")
    end, _ = observing(bed, mid=21, observe=b"\1")
    while end.mid == first.mid:
        end, _ = served(bed)
    assert end.token == first.token and end.number(Option.OBSERVE) == 1
    assert notify(bed, peer, end, b"2", None, 2).number(Option.OBSERVE) is None
    assert_reset(bed, peer, first, 3)


def assert_reset(bed: ProxyBed, peer: object, to: CoapMessage, mid: int) -> None:
    """The server's next notification is for nobody."""
    late = CoapMessage(CON, Code.CONTENT, 6000 + mid, to.token, ((6, b"\x09"),), b"late")
    bed.server.sendto(late.encode(), peer)  # type: ignore[arg-type]
    bed.take(bed.reach)
    while (told := served(bed)[0]).mid != 6000 + mid or told.kind is ACK:
        pass
    assert told.kind is RST and not bed.downs()


def test_a_node_that_resets_a_notification_gets_no_more(bed: ProxyBed) -> None:
    first, peer = observing(bed)
    down = notify(bed, peer, first, b"1")
    bed.raw(empty(RST, down.mid ^ 1))
    down = notify(bed, peer, first, b"2", 2, 2)
    bed.raw(empty(RST, down.mid))
    assert_reset(bed, peer, first, 3)


def test_an_observation_ends_with_an_error_or_without_notifications(bed: ProxyBed) -> None:
    first, peer = observing(bed)
    assert notify(bed, peer, first, b"1", age=b"\x0a").number(Option.OBSERVE) == 1
    bed.at(1000.0 + 10 + module.SERVER_S - 1)
    notify(bed, peer, first, b"2", 2, 2, age=b"\x0a")
    bed.at(1000.0 + 2 * (10 + module.SERVER_S))
    assert not bed.downs(), "the node asks anew by itself"
    assert_reset(bed, peer, first, 3)


def test_a_notification_that_does_not_fit_ends_the_observation(bed: ProxyBed) -> None:
    first, peer = observing(bed)
    notify(bed, peer, first, b"1")
    assert notify(bed, peer, first, bytes(LONGEST), 2, 2).code == Code.BAD_GATEWAY
    assert_reset(bed, peer, first, 3)


def test_observations_count_as_requests_of_their_node(bed: ProxyBed) -> None:
    for mid in range(module.FORWARDED_MAX + 1):
        message = CoapMessage(NON, Code.GET, mid, bytes([mid]), ((6, b""), (11, b"set")))
        bed.raw(message.encode())
    assert [each.code for each in bed.downs()] == [Code.UNAVAILABLE]


# --- loops


def test_a_loop_ends(bed: ProxyBed) -> None:
    """The server passes a node's request on to that node, which asks the server again."""
    hops = 17
    for turn in range(20):
        options = ((PATH, b"loop"), *(((Option.HOP_LIMIT, bytes([hops])),) if turn else ()))
        bed.raw(request(options, mid=turn, code=Code.GET, payload=b""))
        if downs := bed.downs():
            assert [each.code for each in downs] == [Code.UNAVAILABLE] and turn == module.FORWARDED_MAX
            return
        got, _ = served(bed)
        assert got.number(Option.HOP_LIMIT) == hops - 1
        hops -= 1
    raise AssertionError("it goes on")


@pytest.mark.parametrize("code", [Code.GET, Code.POST, Code.PUT, Code.DELETE, Code.FETCH])
@pytest.mark.parametrize("kind", [CON, NON])
def test_a_stranger_on_the_bare_transport_reaches_no_server(code: Code, kind: CoapKind) -> None:
    """Without keys anyone may send as a node; what OSCORE protects is the server's to judge."""
    bed = ProxyBed(bare=(7,))
    try:
        bed.server.setblocking(False)
        bed.raw(request(kind=kind, code=code))
        with pytest.raises(BlockingIOError):
            bed.server.recv(1)
        (down,) = bed.downs()
        assert (down.code, down.token) == (Code.UNAUTHORIZED, b"n")
        assert bed.proxy.statistics()["refusals"] == 1
        bed.server.settimeout(10.0)
        bed.raw(request(((Option.OSCORE, b"\x09\x01"), (PATH, b"log")), code=Code.POST, mid=10))
        assert served(bed)[0].values(Option.OSCORE) == [b"\x09\x01"]
    finally:
        bed.close()
