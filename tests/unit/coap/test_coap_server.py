"""The node's CoAP server in C: GET, PUT, POST, what it refuses, observe and blocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from coap_native import ROOM, NativeCoap, compiled_coap
from motecrypt.link.gateway.protocols.coap.message import (
    CoapKind,
    CoapMessage,
    Code,
    Option,
    block_value,
    empty,
    uint,
)
from tool_sets import needs_tool_set

pytestmark = [needs_tool_set("host")]
CON, NON, ACK, RST = CoapKind
TEXT = bytes(48 + at % 75 for at in range(300))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled_coap(tmp_path_factory.mktemp("coap") / "bed.so", "-O2", "-shared", "-fPIC")


@pytest.fixture
def native(library: Path) -> NativeCoap:
    return NativeCoap(library)


def request(
    path: bytes,
    *options: tuple[int, bytes],
    code: int = Code.GET,
    kind: CoapKind = CON,
    token: bytes = b"T",
    payload: bytes = b"",
) -> CoapMessage:
    """A request."""
    segments = [(int(Option.URI_PATH), part) for part in path.split(b"/")] if path else []
    return CoapMessage(kind, code, 0x1234, token, (*segments, *options), payload)


def test_a_response_rides_on_the_acknowledgement_or_has_a_number_of_its_own(native: NativeCoap) -> None:
    told = native.ask(request(b"temperature"))
    assert told == CoapMessage(ACK, Code.CONTENT, 0x1234, b"T", (), b"+21.4C")
    told = native.ask(request(b"temperature", kind=NON, token=b"12345678"))
    assert told == CoapMessage(NON, Code.CONTENT, 1001, b"12345678", (), b"+21.4C")
    assert native.ask(request(b"temperature", kind=NON)).mid == 1002


def test_a_resource_is_written(native: NativeCoap) -> None:
    assert native.ask(request(b"led", code=Code.PUT, payload=b"on")).code == Code.CHANGED
    assert native.ask(request(b"led")).payload == b"on"
    assert native.ask(request(b"led", code=Code.PUT, payload=b"too long")).code == Code.BAD_REQUEST
    assert native.ask(request(b"led")).payload == b"on"
    assert native.ask(request(b"store", code=Code.POST, payload=b"x")).code == Code.CREATED
    assert native.stored() == b"x"


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (request(b""), Code.NOT_FOUND),
        (request(b"temperatur"), Code.NOT_FOUND),
        (request(b"temperature/x"), Code.NOT_FOUND),
        (request(b"a"), Code.NOT_FOUND),
        (request(b"a/"), Code.NOT_FOUND),
        (request(b"text"), Code.NOT_FOUND),
        (CoapMessage(CON, Code.GET, 1, b"", ((11, b"a/text"),)), Code.NOT_FOUND),
        (request(b"temperature", code=Code.PUT), Code.NOT_ALLOWED),
        (request(b"temperature", code=Code.DELETE), Code.NOT_ALLOWED),
        (request(b"store"), Code.NOT_ALLOWED),
        (request(b".well-known/core", code=Code.PUT), Code.NOT_ALLOWED),
        (request(b"led", (Option.IF_NONE_MATCH, b""), code=Code.PUT), Code.BAD_OPTION),
        (request(b"led", (Option.OSCORE, b"")), Code.BAD_OPTION),
        (request(b"led", (2051, b"")), Code.BAD_OPTION),
        (request(b"led", (Option.BLOCK2, b"\1\2\3\4")), Code.BAD_OPTION),
        (request(b"led", (Option.BLOCK2, b""), (Option.BLOCK2, b"")), Code.BAD_OPTION),
        (request(b"led", (Option.BLOCK1, b"")), Code.BAD_OPTION),
        (request(b"led", (Option.BLOCK2, b"\7")), Code.BAD_REQUEST),
        (request(b"led", (Option.ACCEPT, b"\x3c")), Code.NOT_ACCEPTABLE),
        (request(b"led", (Option.ACCEPT, b"")), Code.CONTENT),
        (
            request(b"led", (Option.URI_HOST, b"x"), (Option.URI_PORT, b""), (15, b"q"), (2052, b"")),
            Code.CONTENT,
        ),
    ],
)
def test_what_is_refused_and_what_is_not(native: NativeCoap, message: CoapMessage, code: Code) -> None:
    told = native.ask(message)
    assert told.code == code and told.kind is ACK and told.token == message.token
    assert (told.code == Code.CONTENT) or not told.payload


def test_what_asks_for_nothing_has_no_answer_or_a_reset(native: NativeCoap) -> None:
    assert native.serve(empty(CON, 7)) == empty(RST, 7), "a ping"
    for data in (
        empty(NON, 7),
        empty(ACK, 7),
        empty(RST, 7),
        b"",
        b"\x40\1\0",
        b"\x80\1\0\0",
        b"\x40\1\0\0\xff",
    ):
        assert not native.serve(data)
    assert native.serve(CoapMessage(CON, Code.CONTENT, 7, b"T").encode()) == empty(RST, 7)
    for kind in (ACK, RST):
        assert not native.serve(request(b"led", kind=kind).encode())
    assert not native.serve(CoapMessage(NON, Code.CONTENT, 7, b"T").encode())
    assert not native.serve(request(b"led").encode(), ROOM - 1) and native.serve(
        request(b"led").encode(), ROOM
    )


def test_resources_are_listed(native: NativeCoap) -> None:
    told = native.ask(request(b".well-known/core"))
    assert told.payload == b"</temperature>;obs,</led>,</a/text>;obs,</store>"
    assert told.options == ((Option.CONTENT_FORMAT, b"\x28"),)
    got = b""
    for number in range(4):
        part = native.ask(request(b".well-known/core", (Option.BLOCK2, block_value(number, False, 0))))
        assert part.values(Option.BLOCK2) == [block_value(number, number < 2, 0)] or number == 3
        got += part.payload
    assert got == told.payload and part.code == Code.BAD_REQUEST


# --- blocks


def test_a_long_representation_comes_in_blocks(native: NativeCoap) -> None:
    first = native.ask(request(b"a/text"))
    assert first.values(Option.BLOCK2) == [block_value(0, True, 2)] and first.payload == TEXT[:64]
    got = first.payload
    for number in range(1, 5):
        part = native.ask(request(b"a/text", (Option.BLOCK2, block_value(number, False, 2))))
        assert part.values(Option.BLOCK2) == [block_value(number, number < 4, 2)]
        got += part.payload
    assert got == TEXT
    assert native.ask(request(b"a/text", (Option.BLOCK2, block_value(5, False, 2)))).code == Code.BAD_REQUEST
    assert (
        native.ask(request(b"a/text", (Option.BLOCK2, block_value(4095, False, 2)))).code == Code.BAD_REQUEST
    )
    assert native.ask(request(b"a/text", (Option.BLOCK2, b"\xff\xff\xf6"))).code == Code.BAD_REQUEST


@pytest.mark.parametrize(("asked", "told"), [(0, 0), (1, 1), (2, 2), (3, 2), (6, 2)])
def test_the_smaller_block_size_is_taken(native: NativeCoap, asked: int, told: int) -> None:
    part = native.ask(request(b"a/text", (Option.BLOCK2, block_value(0, False, asked))))
    assert part.values(Option.BLOCK2) == [block_value(0, True, told)] and part.payload == TEXT[: 16 << told]
    if asked == 3:
        part = native.ask(request(b"a/text", (Option.BLOCK2, block_value(1, False, 3))))
        assert part.values(Option.BLOCK2) == [block_value(2, True, 2)] and part.payload == TEXT[128:192]


def test_a_long_payload_is_taken_in_blocks(native: NativeCoap) -> None:
    for number in range(5):
        payload, more = TEXT[64 * number : 64 * number + 64], number < 4
        block = block_value(number, more, 2)
        told = native.ask(request(b"store", (Option.BLOCK1, block), code=Code.PUT, payload=payload))
        assert told.code == (Code.CONTINUE if more else Code.CHANGED) and told.values(Option.BLOCK1) == [
            block
        ]
    assert native.stored() == TEXT
    block = block_value(0, True, 2)
    told = native.ask(request(b"store", (Option.BLOCK1, block), code=Code.PUT, payload=b"short"))
    assert told.code == Code.BAD_REQUEST
    block = block_value(8, False, 2)
    told = native.ask(request(b"store", (Option.BLOCK1, block), code=Code.PUT, payload=b"x"))
    assert told.code == Code.TOO_LARGE
    told = native.ask(request(b"store", (Option.BLOCK1, b"\xff\xff\xf6"), code=Code.PUT, payload=b"x"))
    assert told.code == Code.TOO_LARGE


# --- who observes

OBSERVE = (int(Option.OBSERVE), b"")
CANCEL = (int(Option.OBSERVE), b"\1")


def observing(path: bytes, token: bytes, option: tuple[int, bytes] = OBSERVE) -> CoapMessage:
    """A registration, or its end."""
    segments = tuple((int(Option.URI_PATH), part) for part in path.split(b"/"))
    return CoapMessage(NON, Code.GET, 0x1234, token, (option, *segments))


def test_observers_are_told_and_forgotten(native: NativeCoap) -> None:
    assert native.ask(observing(b"temperature", b"A")).number(Option.OBSERVE) == 0
    assert native.ask(observing(b"temperature", b"BB")).number(Option.OBSERVE) == 0
    told = native.notifications(0)
    assert [each.token for each in told] == [b"A", b"BB"] and all(each.kind is NON for each in told)
    assert [each.number(Option.OBSERVE) for each in told] == [1, 2] and told[0].payload == b"+21.4C"
    assert len({each.mid for each in told}) == 2
    assert not native.notifications(2), "another resource"
    assert native.ask(observing(b"temperature", b"A", CANCEL)).number(Option.OBSERVE) is None
    assert [each.token for each in native.notifications(0)] == [b"BB"]
    assert not native.serve(empty(RST, native.notifications(0)[0].mid))
    assert not native.notifications(0)


def test_registrations_are_bounded_and_renewed(native: NativeCoap) -> None:
    for token in (b"A", b"B", b"A", b"C"):
        told = native.ask(observing(b"temperature", token))
        assert (told.number(Option.OBSERVE) is None) == (token == b"C") and told.payload == b"+21.4C"
    assert sorted(each.token for each in native.notifications(0)) == [b"A", b"B"]
    native.ask(observing(b"temperature", b"B", CANCEL))
    assert native.ask(observing(b"a/text", b"C")).number(Option.OBSERVE) is not None
    (told,) = native.notifications(2)
    assert told.values(Option.BLOCK2) == [block_value(0, True, 2)] and told.payload == TEXT[:64]


def test_a_registration_is_refused_by_a_reset_of_its_response(native: NativeCoap) -> None:
    told = native.ask(observing(b"temperature", b"A"))
    native.serve(empty(RST, told.mid))
    assert not native.notifications(0)


def test_what_cannot_be_observed_is_read(native: NativeCoap) -> None:
    assert native.ask(observing(b"led", b"A")).number(Option.OBSERVE) is None
    assert not native.notifications(1)
    odd = (int(Option.OBSERVE), uint(2))
    assert native.ask(observing(b"temperature", b"A", odd)).number(Option.OBSERVE) is None
