"""The CoAP proxy and clients that observe a node's resource."""

from __future__ import annotations

from coap_beds import Client, ProxyBed
from motecrypt.link.gateway.protocols.coap import proxy as module
from motecrypt.link.gateway.protocols.coap.message import (
    CoapKind,
    CoapMessage,
    Code,
    Option,
    decode,
    empty,
    uint,
)

CON, NON, ACK, RST = CoapKind
PATH = Option.URI_PATH
INNER = ((PATH, b"a"), (PATH, b"b c"), (15, b"d"), (15, b"e=f"))


def observed(bed: ProxyBed, token: bytes = b"T", client: Client | None = None) -> CoapMessage:
    """A registration that the node has taken; what the node was asked."""
    bed.ask(b"node", b"7", b"t", observe=0, token=token, client=client)
    (asked,) = bed.downs()
    assert asked.number(Option.OBSERVE) == 0
    bed.up(asked, b"1", options=((Option.OBSERVE, b"\1"),))
    told = (client or bed.client).got()
    assert told.kind is ACK and told.number(Option.OBSERVE) is not None and told.token == token
    return asked


def test_an_observer_gets_notifications_in_order(bed: ProxyBed) -> None:
    asked = observed(bed)
    last = 1
    for number in range(3):
        bed.up(asked, b"%d" % number, options=((Option.OBSERVE, b""),))
        told = bed.client.got()
        assert (told.kind, told.token, told.payload) == (NON, b"T", b"%d" % number)
        now = told.number(Option.OBSERVE)
        assert now is not None and now > last
        last = now
    assert bed.proxy.statistics()["notifications"] == 3


def test_observers_of_one_resource_share_one_registration(bed: ProxyBed) -> None:
    other = Client(bed.listener)
    asked = observed(bed)
    bed.ask(b"node", b"7", b"t", observe=0, token=b"U", client=other)
    (again,) = bed.downs()
    assert again.token == asked.token and again.number(Option.OBSERVE) == 0
    bed.up(again, b"2", options=((Option.OBSERVE, b"\2"),))
    assert other.got().kind is ACK and bed.client.got().payload == b"2"
    bed.ask(b"node", b"7", b"t", observe=1, token=b"T")
    (get,) = bed.downs()
    assert get.token != asked.token and get.number(Option.OBSERVE) is None, "the other goes on"
    bed.up(get, b"3")
    assert bed.client.got().payload == b"3"
    bed.up(asked, b"4", options=((Option.OBSERVE, b"\3"),))
    assert other.got().payload == b"4" and bed.client.nothing()
    other.socket.close()


def test_without_observers_the_node_is_told(bed: ProxyBed) -> None:
    asked = observed(bed)
    bed.ask(b"node", b"7", b"t", observe=1)
    (cancelled,) = bed.downs()
    assert cancelled.token == asked.token and cancelled.number(Option.OBSERVE) == 1
    assert cancelled.values(PATH) == [b"t"]
    bed.up(cancelled, b"5")
    (get,) = bed.downs()
    assert bed.client.nothing() and get.number(Option.OBSERVE) is None


def test_an_observer_that_resets_a_notification_is_gone(bed: ProxyBed) -> None:
    asked = observed(bed)
    bed.now_s += module.CONFIRM_S
    bed.up(asked, b"2", options=((Option.OBSERVE, b"\2"),))
    told = bed.client.got()
    assert told.kind is CON
    bed.put(empty(RST, told.mid))
    (cancelled,) = bed.downs()
    assert cancelled.number(Option.OBSERVE) == 1
    bed.up(asked, b"3", options=((Option.OBSERVE, b"\3"),), mid=9)
    assert bed.client.nothing() and bed.downs() == [decode(empty(RST, 9))]


def test_an_observer_that_vanishes_is_found_out(bed: ProxyBed) -> None:
    asked = observed(bed)
    bed.at(1000.0 + module.CONFIRM_S)
    bed.up(asked, b"2", options=((Option.OBSERVE, b"\2"), (Option.MAX_AGE, uint(100_000))))
    for later in (0, 4, 12, 30, 60, 120):
        bed.at(1030.0 + later)
    assert [each.number(Option.OBSERVE) for each in bed.downs()] == [1]


def test_a_stale_notification_is_asked_for_anew(bed: ProxyBed) -> None:
    asked = observed(bed)
    bed.at(1064.9)
    assert not bed.downs()
    bed.at(1065.0)
    (again,) = bed.downs()
    assert again.token == asked.token and again.number(Option.OBSERVE) == 0 and again.values(PATH) == [b"t"]
    bed.up(again, b"2", options=((Option.OBSERVE, b"\2"), (Option.MAX_AGE, b"\5")))
    told = bed.client.got()
    assert told.payload == b"2" and told.kind is CON
    bed.put(empty(ACK, told.mid))
    bed.at(1075.0)
    assert len(bed.downs()) == 1
    bed.at(1075.0 + module.NODE_S)
    told = bed.client.got()
    assert told.code == Code.GATEWAY_TIMEOUT and told.kind is CON, "and that ends it"


def test_a_response_without_observe_ends_an_observation(bed: ProxyBed) -> None:
    asked = observed(bed)
    bed.up(asked, b"gone", Code.NOT_FOUND)
    told = bed.client.got()
    assert told.code == Code.NOT_FOUND and not told.values(Option.OBSERVE)
    bed.ask(b"node", b"7", b"t", observe=0)
    (asked,) = bed.downs()
    bed.up(asked, b"cannot be observed")
    told = bed.client.got()
    assert told.payload == b"cannot be observed" and not told.values(Option.OBSERVE)


def test_observations_are_bounded(bed: ProxyBed) -> None:
    for number in range(module.OBSERVATIONS_MAX):
        bed.ask(b"node", b"7", b"%d" % number, observe=0, token=b"%d" % number)
        bed.up(*bed.downs(), options=((Option.OBSERVE, b"\1"),))
        bed.client.got()
    bed.ask(b"node", b"7", b"one more", observe=0)
    (asked,) = bed.downs()
    assert asked.number(Option.OBSERVE) is None, "it is asked, and not observed"
    bed.up(asked)
    clients = [Client(bed.listener) for _ in range(module.OBSERVERS_MAX)]
    for client in clients:
        bed.ask(b"node", b"7", b"0", observe=0, client=client)
        last = bed.downs()
        bed.up(*last, options=((Option.OBSERVE, b"\1"),) if last[0].values(Option.OBSERVE) else ())
    assert last[0].number(Option.OBSERVE) is None
    for client in clients:
        client.socket.close()


def test_who_observes_everything_leaves_room_for_others(bed: ProxyBed) -> None:
    other = Client(bed.listener, "127.0.0.2")
    for number in range(module.OBSERVATIONS_MAX):
        bed.ask(b"node", b"7", b"%d" % number, observe=0, token=b"%d" % number)
        bed.up(*bed.downs(), options=((Option.OBSERVE, b"\1"),))
        assert bed.client.got().number(Option.OBSERVE) is not None
    bed.ask(b"node", b"7", b"t", observe=0, token=b"U", client=other)
    ended = bed.client.got()
    assert (ended.code, ended.token) == (Code.UNAVAILABLE, b"7") and ended.kind is CON, "its last one"
    (cancelled,) = bed.downs()
    assert cancelled.number(Option.OBSERVE) == 1 and cancelled.values(PATH) == [b"7"]
    bed.up(cancelled)
    (asked,) = bed.downs()
    assert asked.number(Option.OBSERVE) == 0 and asked.values(PATH) == [b"t"]
    bed.up(asked, b"1", options=((Option.OBSERVE, b"\1"),))
    assert other.got().number(Option.OBSERVE) is not None and bed.client.nothing()
    assert len(bed.proxy._nodes[7].observed) == module.OBSERVATIONS_MAX
    other.socket.close()


def test_who_observes_one_resource_many_times_leaves_room_for_others(bed: ProxyBed) -> None:
    other = Client(bed.listener, "127.0.0.2")
    for number in range(module.OBSERVERS_MAX):
        bed.ask(b"node", b"7", b"t", observe=0, token=b"%d" % number)
        (asked,) = bed.downs()
        bed.up(asked, b"1", options=((Option.OBSERVE, b"\1"),))
        for _ in range(number + 1):
            assert bed.client.got().payload == b"1"
    bed.ask(b"node", b"7", b"t", observe=0, token=b"U", client=other)
    ended = bed.client.got()
    assert (ended.code, ended.token) == (Code.UNAVAILABLE, b"15")
    bed.up(*bed.downs(), b"2", options=((Option.OBSERVE, b"\1"),))
    assert other.got().payload == b"2"
    assert {bed.client.got().token for _ in range(15)} == {b"%d" % number for number in range(15)}
    other.socket.close()


def test_a_resource_that_several_observe_is_not_taken_from_them(bed: ProxyBed) -> None:
    """Two clients observe it; the one of them that observes all others loses one that it alone observes."""
    other, third = (Client(bed.listener, f"127.0.0.{number}") for number in (2, 3))
    for number in range(module.OBSERVATIONS_MAX):
        bed.ask(b"node", b"7", b"%d" % number, observe=0, token=b"%d" % number)
        bed.up(*bed.downs(), options=((Option.OBSERVE, b"\1"),))
        bed.client.got()
    bed.ask(b"node", b"7", b"7", observe=0, token=b"U", client=other)
    bed.up(*bed.downs(), options=((Option.OBSERVE, b"\1"),))
    assert other.got() and bed.client.got()
    bed.ask(b"node", b"7", b"t", observe=0, token=b"V", client=third)
    assert bed.client.got().token == b"6" and other.nothing()
    for client in (other, third):
        client.socket.close()
