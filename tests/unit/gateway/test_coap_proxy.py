"""The CoAP proxy from UDP to a node: where requests go, answers to clients, what is dropped and counted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from coap_beds import LONGEST, Client, ProxyBed
from motecrypt.link.gateway.protocols.coap import proxy as module
from motecrypt.link.gateway.protocols.coap import udp
from motecrypt.link.gateway.protocols.coap.message import (
    CoapKind,
    CoapMessage,
    Code,
    Option,
    block_value,
    decode,
    empty,
    uint,
)
from motecrypt.link.gateway.protocols.coap.where import CoapRefusal, node_list

CON, NON, ACK, RST = CoapKind
PATH = Option.URI_PATH
INNER = ((PATH, b"a"), (PATH, b"b c"), (15, b"d"), (15, b"e=f"))


# --- from UDP to a node


def test_a_request_goes_to_the_node_and_its_response_rides_on_the_acknowledgement(bed: ProxyBed) -> None:
    bed.ask(b"node", b"7", b"temperature", options=((Option.URI_HOST, b"localhost"), (Option.ACCEPT, b"")))
    (asked,) = bed.downs()
    assert (asked.kind, asked.code, asked.options) == (NON, Code.GET, ((PATH, b"temperature"), (17, b"")))
    assert len(asked.token) == 1 and bed.client.nothing()
    bed.up(asked, b"21.4", options=((Option.CONTENT_FORMAT, b""), (Option.MAX_AGE, b"\5")))
    told = bed.client.got()
    assert (told.kind, told.mid, told.token, told.code, told.payload) == (ACK, bed.mid, b"T", 0x45, b"21.4")
    assert told.options == ((12, b""), (14, b"\5"))
    counts = bed.proxy.statistics()
    assert counts["requests"] == counts["responses"] == 1 and counts["timeouts"] == 0


@pytest.mark.parametrize(
    "options",
    [
        ((Option.PROXY_URI, b"coap://node-7/a/b%20c?d&e=f"),),
        ((Option.PROXY_URI, b"coap://NODE-7.home:1234/a/b%20c?d&e=f"), (PATH, b"no")),
        ((Option.PROXY_SCHEME, b"coap"), (Option.URI_HOST, b"node-7"), *INNER),
        ((Option.URI_HOST, b"node-7.localhost"), (Option.URI_PORT, b"\1"), *INNER),
        ((PATH, b"node"), (PATH, b"7"), *INNER, (Option.HOP_LIMIT, b"\2")),
    ],
)
def test_a_node_is_named_by_its_host_or_by_the_path(
    bed: ProxyBed, options: tuple[tuple[int, bytes], ...]
) -> None:
    bed.ask(options=options)
    (asked,) = bed.downs()
    assert asked.options == INNER


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), "4.04"),
        (((PATH, b"other"),), "4.04"),
        (((PATH, b"node"),), "4.04"),
        (((PATH, b"node"), (PATH, b"6")), "4.04"),
        (((PATH, b"node"), (PATH, b"777")), "4.04"),
        (((PATH, b"node"), (PATH, b"x")), "4.04"),
        (((Option.PROXY_URI, b"coap://example.org/a"),), "5.05"),
        (((Option.PROXY_URI, b"coaps://node-7/a"),), "5.05"),
        (((Option.PROXY_URI, b"http://node-7/a"),), "5.05"),
        (((Option.PROXY_URI, b"coap://[1/"),), "4.02"),
        (((Option.PROXY_URI, b"\xff"),), "4.02"),
        (((Option.PROXY_SCHEME, b"http"), (Option.URI_HOST, b"node-7")), "5.05"),
        (((Option.PROXY_SCHEME, b"coap"), (Option.URI_HOST, b"example.org")), "5.05"),
        (((PATH, b"node"), (PATH, b"7"), (258, b"\2")), "4.02"),
        (((PATH, b"node"), (PATH, b"7"), (Option.HOP_LIMIT, b"\1")), "5.08"),
        (((PATH, b"node"), (PATH, b"7"), (Option.HOP_LIMIT, b"\0")), "4.00"),
        (((PATH, b"node"), (PATH, b"7"), (Option.HOP_LIMIT, b"\0\5")), "4.00"),
        (((PATH, b"node"), (PATH, b"7"), (Option.HOP_LIMIT, b"\2"), (Option.HOP_LIMIT, b"\2")), "4.00"),
    ],
)
def test_what_is_for_nobody_is_refused_at_once(
    bed: ProxyBed, options: tuple[tuple[int, bytes], ...], code: str
) -> None:
    bed.ask(options=options)
    told = bed.client.got()
    assert f"{told.code >> 5}.{told.code & 31:02}" == code and told.kind is ACK and not bed.downs()
    assert bed.proxy.statistics()["refusals"] == 1


def test_options_that_are_safe_to_forward_pass_unread(bed: ProxyBed) -> None:
    bed.ask(
        b"node", b"7", options=((Option.OSCORE, b"\1\2"), (2056, b"x")), code=Code.POST, payload=b"sealed"
    )
    (asked,) = bed.downs()
    assert asked.options == ((9, b"\1\2"), (2056, b"x")) and asked.payload == b"sealed"
    bed.up(asked, b"sealed too", Code.CHANGED, ((9, b""),))
    assert (told := bed.client.got()).options == ((9, b""),) and told.payload == b"sealed too"


def test_the_gateway_lists_its_nodes(bed: ProxyBed) -> None:
    bed.ask(b".well-known", b"core")
    told = bed.client.got()
    assert told.payload == b"</node/5>,</node/7>" and told.number(Option.CONTENT_FORMAT) == 40
    bed.ask(b".well-known", b"core", code=Code.PUT)
    assert bed.client.got().code == Code.NOT_ALLOWED


def test_the_list_of_many_nodes_is_no_amplifier() -> None:
    """Each answer is short, whatever block is asked for, and the blocks are the list (RFC 7959)."""
    whole = ",".join(f"</node/{number}>" for number in range(1, 64)).encode()
    path = ((Option.URI_PATH, b".well-known"), (Option.URI_PATH, b"core"))

    def ask(block: int | None) -> CoapMessage:
        options = path if block is None else (*path, (Option.BLOCK2, uint(block)))
        request = CoapMessage(CON, Code.GET, 1, b"T", options)
        answer = node_list(request, range(1, 64))
        sent = replace(answer, kind=ACK, mid=1, token=b"T").encode()
        assert len(sent) <= 2.5 * len(request.encode())
        return answer

    for first in (None, *range(7)):
        answer, got, used = ask(first), b"", 1 if first is None else min(first, 1)
        while True:
            assert answer.payload == whole[len(got) : len(got) + (16 << used)]
            got += answer.payload
            more = len(got) < len(whole)
            here = block_value((len(got) - 1) // (16 << used), more, used)
            assert answer.number(Option.BLOCK2) == int.from_bytes(here, "big")
            if not more:
                break
            answer = ask(len(got) // (16 << used) << 4 | used)
        assert got == whole
    answer = ask(1 << 4 | 3)  # the second block of 128 bytes: ours are shorter
    assert answer.payload == whole[128:160] and answer.number(Option.BLOCK2) == 4 << 4 | 8 | 1
    with pytest.raises(CoapRefusal):
        ask(len(whole) << 4 | 6)


def asked_and_unanswered(bed: ProxyBed, count: int, client: Client | None = None) -> None:
    for _ in range(count):
        bed.ask(b"node", b"7", b"t", token=b"A", client=client)


def test_a_client_with_all_requests_that_wait_for_a_node_makes_room_for_others(bed: ProxyBed) -> None:
    other, third = Client(bed.listener, "127.0.0.2"), Client(bed.listener, "127.0.0.3")
    asked_and_unanswered(bed, module.WAITING_MAX)
    assert bed.client.nothing()
    asked_and_unanswered(bed, 1)
    assert bed.client.got().code == Code.UNAVAILABLE and bed.client.nothing(), "its own fifth is refused"
    asked_and_unanswered(bed, 1, other)
    told = bed.client.got()
    assert told.code == Code.UNAVAILABLE and told.mid == 104, "its last one, which the node has not seen"
    asked_and_unanswered(bed, 1, third)
    assert bed.client.got().mid == 103 and other.nothing() and third.nothing()
    asked_and_unanswered(bed, 1, other)
    assert other.got().code == Code.UNAVAILABLE, "each has its part now"
    for answered, client in enumerate((bed.client, bed.client, other, third)):
        (down,) = bed.downs()
        bed.up(down, b"%d" % answered)
        assert client.got().payload == b"%d" % answered
    assert not bed.downs(), "what was given up does not go down"
    for client in (other, third):
        client.socket.close()


def test_a_client_that_registers_again_and_again_fills_no_queue(bed: ProxyBed) -> None:
    other = Client(bed.listener, "127.0.0.2")
    asked_and_unanswered(bed, 1)
    for number in range(3 * module.WAITING_MAX):
        bed.ask(b"node", b"7", b"t", observe=0, token=b"%d" % number)
    assert bed.client.nothing()
    asked_and_unanswered(bed, 1, other)
    assert other.nothing() and bed.proxy._nodes[7].waiting == 2, "a registration and a request"
    other.socket.close()


class Wire:
    """A socket that nothing comes back from."""

    def sendto(self, data: bytes, address: Any, /) -> int:
        return len(data)

    def getpeername(self) -> Any:
        raise OSError("it is connected to nobody")


def test_one_client_takes_no_room_from_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A flood of new requests, and of answers that it never acknowledges, costs the flood alone."""
    layer, wire = udp.UdpLayer(1), Wire()
    flood, others = (
        udp.Peer(wire, ("192.0.2.66", 1)),
        [udp.Peer(wire, (f"192.0.2.{n}", 5683)) for n in range(9)],
    )

    def new(peer: udp.Peer, mid: int, now_s: float = 0.0) -> bool:
        return layer.take(peer, CoapMessage(CON, Code.GET, mid, b"t").encode(), now_s) is not None

    assert all(new(flood, mid) for mid in range(udp.SEEN_MAX)) and not new(flood, udp.SEEN_MAX)
    flood = replace(flood, address=("192.0.2.66", 2))  # another port is not another client
    assert not new(flood, 1)
    assert all(new(other, 7) for other in others) and not any(new(other, 7) for other in others)
    assert len(layer._seen) == udp.SEEN_MAX
    lost: list[str] = []

    def answer(peer: udp.Peer) -> bool:
        return layer.send(peer, CON, CoapMessage(CON, Code.CONTENT, 0), b"t", 0.0, lost.append)

    assert all(answer(flood) for _ in range(udp.SENT_MAX)) and not answer(flood)
    assert all(answer(other) for other in others) and lost == ["overload"] * len(others)
    assert len(layer._sent) == udp.SENT_MAX


def test_who_is_told_of_a_loss_may_send_at_once() -> None:
    """Also while the layer repeats what is due: nothing is ended twice, and no bound is passed."""
    layer, wire = udp.UdpLayer(1), Wire()
    flood, other = udp.Peer(wire, ("192.0.2.66", 1)), udp.Peer(wire, ("192.0.2.1", 1))
    lost: list[str] = []

    def again(why: str) -> None:
        lost.append(why)
        assert len(layer._sent) <= udp.SENT_MAX
        for _ in range(2 if why == "no answer" else len(lost) == 1):
            answer(other)

    def answer(peer: udp.Peer) -> bool:
        return layer.send(peer, CON, CoapMessage(CON, Code.CONTENT, 0), b"t", layer_s, again)

    layer_s = 0.0
    while answer(flood):
        pass
    assert answer(other) and len(layer._sent) == udp.SENT_MAX and set(lost) == {"overload"}
    for layer_s in (1000.0 * number for number in range(1, 9)):  # all are due
        layer.poll(layer_s)
        assert len(layer._sent) <= udp.SENT_MAX
        assert all(decode(sent.data).mid == mid for (_, mid), sent in layer._sent.items())
    assert lost.count("no answer") > 0 < lost.count("overload")


def test_a_slow_node_is_waited_for_behind_an_empty_acknowledgement(bed: ProxyBed) -> None:
    bed.ask(b"node", b"7", b"t")
    (asked,) = bed.downs()
    assert bed.at(1000.9) == pytest.approx(1001.0) and bed.client.nothing()
    bed.at(1001.0)
    acked = bed.client.got()
    assert (acked.kind, acked.code, acked.mid, acked.token) == (ACK, 0, bed.mid, b"")
    bed.ask(b"node", b"7", b"t", mid=bed.mid)
    assert bed.client.got() == acked and not bed.downs(), "asked once more: acknowledged once more"
    bed.up(asked)
    told = bed.client.got()
    assert (told.kind, told.code, told.token, told.payload) == (CON, Code.CONTENT, b"T", b"21.4")
    for again_s in (3.1, 9.2, 21.3, 45.4):
        assert bed.client.nothing()
        bed.at(1001.0 + again_s)
        assert bed.client.got() == told
    assert bed.at(1200.0) > 1200.0 and bed.client.nothing(), "given up after four times"
    assert bed.proxy.statistics()["repeated"] == 4


def test_an_acknowledged_response_is_not_repeated(bed: ProxyBed) -> None:
    bed.ask(b"node", b"7", b"t")
    (asked,) = bed.downs()
    bed.at(1001.0)
    bed.client.got()
    bed.up(asked)
    bed.put(empty(ACK, bed.client.got().mid))
    bed.at(1100.0)
    assert bed.client.nothing()


def test_a_request_that_comes_twice_is_done_once(bed: ProxyBed) -> None:
    bed.ask(b"node", b"7", b"led", code=Code.PUT, payload=b"1")
    (asked,) = bed.downs()
    bed.ask(b"node", b"7", b"led", code=Code.PUT, payload=b"1", mid=bed.mid)
    assert not bed.downs() and bed.client.nothing()
    bed.up(asked, b"", Code.CHANGED)
    told = bed.client.got()
    bed.ask(b"node", b"7", b"led", code=Code.PUT, payload=b"1", mid=told.mid)
    assert bed.client.got() == told and not bed.downs()
    other = Client(bed.listener)
    bed.ask(b"node", b"7", b"led", client=other, mid=told.mid)
    assert len(bed.downs()) == 1, "another client's is another request"
    other.socket.close()
    bed.now_s += 248
    bed.ask(b"node", b"7", b"led", mid=told.mid)
    assert len(bed.downs()) == 1, "the number is free again"
    assert bed.proxy.statistics()["doubles"] == 2


def test_a_non_confirmable_request_gets_such_a_response(bed: ProxyBed) -> None:
    bed.ask(b"node", b"7", b"t", kind=NON)
    (asked,) = bed.downs()
    bed.at(1005.0)
    assert bed.client.nothing()
    bed.up(asked)
    assert bed.client.got().kind is NON


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        ("not heard", Code.GATEWAY_TIMEOUT),
        ("unconfirmed", Code.GATEWAY_TIMEOUT),
        ("dropped", Code.GATEWAY_TIMEOUT),
        ("refused", Code.UNAVAILABLE),
        ("busy", Code.UNAVAILABLE),
        ("too long", Code.TOO_LARGE),
    ],
)
def test_a_node_that_is_not_reached_is_told(bed: ProxyBed, outcome: str, code: Code) -> None:
    bed.ask(b"node", b"7", b"t")
    ((_, data, told, confirmed),) = bed.down.sent
    assert confirmed
    told(outcome)
    assert bed.client.got().code == code
    bed.up(decode(data))
    assert bed.client.nothing() and bed.proxy.statistics()["strays"] == 1


def test_a_node_that_never_responds_is_given_up(bed: ProxyBed) -> None:
    bed.ask(b"node", b"7", b"t", kind=NON)
    bed.downs()
    assert bed.at(1059.9) == pytest.approx(1060.0)
    bed.at(1060.0)
    assert bed.client.got().code == Code.GATEWAY_TIMEOUT and bed.proxy.statistics()["timeouts"] == 1


def test_requests_of_several_clients_do_not_mix(bed: ProxyBed) -> None:
    other = Client(bed.listener)
    bed.ask(b"node", b"7", b"a")
    bed.ask(b"node", b"7", b"b", client=other)
    (first,) = bed.downs()
    assert not bed.downs(), "one request at a time"
    assert bed.at(1009.9) == pytest.approx(1010.0)
    bed.at(1010.0)
    (second,) = bed.downs()
    bed.up(second, b"for b")
    bed.up(first, b"for a")
    for client, payload in ((bed.client, b"for a"), (other, b"for b")):
        assert client.got().kind is ACK
        assert client.got().payload == payload
    other.socket.close()


def test_the_next_request_goes_when_the_one_before_it_is_over(bed: ProxyBed) -> None:
    for path in (b"a", b"b", b"c", b"d"):
        bed.ask(b"node", b"7", path)
    (asked,) = bed.downs()
    bed.up(asked)
    ((_, data, told, _),) = bed.down.sent
    bed.down.sent.clear()
    assert decode(data).values(PATH) == [b"b"]
    bed.up(decode(data))  # the response comes before the outcome
    ((_, data, told_c, _),) = bed.down.sent
    bed.down.sent.clear()
    asked = decode(data)
    assert asked.values(PATH) == [b"c"]
    told("accepted")
    bed.at(1011.0)
    assert not bed.down.sent, "which is then no news of the request that is on its way"
    told_c("accepted")
    bed.up(asked)
    ((_, data, told, _),) = bed.down.sent
    bed.down.sent.clear()
    told("unconfirmed")
    told_codes = []
    while len(told_codes) < 4:
        message = bed.client.got()
        if message.code:  # else an acknowledgement
            told_codes.append(message.code)
    assert told_codes == [*[Code.CONTENT] * 3, Code.GATEWAY_TIMEOUT]
    bed.ask(b"node", b"7", b"e")
    assert len(bed.downs()) == 1


def test_a_node_is_not_flooded(bed: ProxyBed) -> None:
    for _ in range(5):
        bed.ask(b"node", b"7", b"t")
    assert bed.client.got().code == Code.UNAVAILABLE
    (asked,) = bed.downs()
    bed.ask(b"node", b"7", b"t")
    assert bed.client.got().code == Code.UNAVAILABLE, "they wait for their responses"
    bed.up(asked)
    assert bed.client.got().code == Code.CONTENT
    bed.ask(b"node", b"7", b"t")
    assert bed.client.nothing() and len(bed.downs()) == 1
    bed.ask(b"node", b"5", b"t")
    assert len(bed.downs(5)) == 1, "another node is not touched"


def test_a_request_that_is_too_long_for_a_node_is_refused_with_the_size_that_fits(bed: ProxyBed) -> None:
    bed.ask(b"node", b"7", b"t", code=Code.PUT, payload=bytes(LONGEST - 5 - 2 - 1))
    assert len(bed.down.sent[0][1]) == LONGEST
    bed.down.sent.clear()
    bed.ask(b"node", b"7", b"t", code=Code.PUT, payload=bytes(LONGEST - 5 - 2))
    told = bed.client.got()
    assert told.code == Code.TOO_LARGE and told.options == ((Option.SIZE1, uint(LONGEST - 5 - 2 - 1)),)
    blocks = ((Option.BLOCK1, block_value(0, True, 3)),)
    bed.ask(b"node", b"7", b"t", code=Code.PUT, payload=bytes(128), options=blocks)
    told = bed.client.got()
    assert told.code == Code.TOO_LARGE and told.options == ((Option.BLOCK1, block_value(0, True, 2)),)
    bed.ask(b"node", b"7", b"x" * 125)
    told = bed.client.got()
    assert told.code == Code.TOO_LARGE and not told.options and not bed.down.sent


def test_a_response_with_an_option_that_may_not_be_passed_on_is_a_bad_gateway(bed: ProxyBed) -> None:
    bed.ask(b"node", b"7", b"t")
    bed.up(*bed.downs(), options=((2, b""),))
    assert bed.client.got().code == Code.BAD_GATEWAY


def test_a_node_that_confirms_and_one_that_resets(bed: ProxyBed) -> None:
    bed.ask(b"node", b"7", b"t")
    (asked,) = bed.downs()
    bed.up(asked, kind=CON, mid=77)
    assert bed.client.got().payload == b"21.4"
    assert bed.down.sent[0][3] is False and bed.downs() == [decode(empty(ACK, 77))]
    bed.up(asked, kind=CON, mid=78)
    assert bed.downs() == [decode(empty(RST, 78))], "nobody has asked"
    bed.ask(b"node", b"7", b"t")
    (asked,) = bed.downs()
    bed.raw(empty(RST, asked.mid))
    assert bed.client.got().code == Code.BAD_GATEWAY
    bed.ask(b"node", b"7", b"t")
    (asked,) = bed.downs()
    bed.up(asked, kind=ACK, mid=asked.mid)
    assert bed.client.got().payload == b"21.4", "a piggybacked response, too"


# --- what is malformed


def test_malformed_messages_are_counted_and_a_confirmable_one_is_reset(bed: ProxyBed) -> None:
    bed.put(bytes.fromhex("40011234ff"))
    assert bed.client.got() == decode(empty(RST, 0x1234))
    bed.put(empty(CON, 0x77))
    assert bed.client.got() == decode(empty(RST, 0x77)), "a ping"
    for text in ("", "00", "50011234ff", "80011234", "5fe01234"):
        bed.put(bytes.fromhex(text))
    bed.put(bytes.fromhex("40201234"))
    assert bed.client.got() == decode(empty(RST, 0x1234)), "a code of a class that is none"
    assert bed.client.nothing() and bed.proxy.statistics()["malformed"] == 7
    bed.raw(b"\x40\1\2\3\xff")
    bed.raw(empty(CON, 5))
    assert bed.proxy.statistics()["node_malformed"] == 2 and bed.downs() == [decode(empty(RST, 5))]


def test_random_bytes_from_both_sides_break_nothing(bed: ProxyBed) -> None:
    import random

    from coap_inputs import mutated

    random_ = random.Random(5)
    for _ in range(1500):
        bed.now_s += 0.5
        bed.put(mutated(random_))
        bed.raw(mutated(random_))
        for node, data, told, _ in bed.down.sent[:]:
            assert len(data) <= LONGEST and decode(data)
            told(random_.choice(("accepted", "unconfirmed", "refused")))
            bed.raw(CoapMessage(NON, Code.CONTENT, 1, decode(data).token, payload=b"x").encode(), node)
        bed.down.sent.clear()
        bed.proxy.poll(bed.now_s)
        while not bed.client.nothing():
            bed.client.socket.recv(2048)
    bed.now_s += 1000
    bed.proxy.poll(bed.now_s)
    assert all(not node.asked for node in bed.proxy._nodes.values()) and not bed.proxy._forwarded


def test_what_is_remembered_is_bounded(bed: ProxyBed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(udp, "SEEN_MAX", 3)
    for _ in range(4):
        bed.ask(b"other", kind=NON)
    assert bed.proxy.statistics()["overload"] == 1
    bed.now_s += 146
    bed.ask(b"other", kind=NON)
    assert bed.proxy.statistics()["overload"] == 1
