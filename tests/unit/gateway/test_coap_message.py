"""CoAP messages as bytes: examples of RFC 7252, what is malformed, and agreement with aiocoap's codec."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coap_inputs import Read, as_aiocoap, mutated, read_by_aiocoap, texts_are_utf8
from motecrypt.link.gateway.protocols.coap.message import (
    CoapError,
    CoapKind,
    CoapMessage,
    Code,
    Option,
    block_value,
    decode,
    empty,
    uint,
)
from tool_sets import skip_without

REQUEST = bytes.fromhex("40017d34bb") + b"temperature"
RESPONSE = bytes.fromhex("60457d34ff") + b"22.3 C"
"""RFC 7252, appendix A, figures 16 and 18."""

messages = st.builds(
    CoapMessage,
    kind=st.sampled_from(CoapKind),
    code=st.integers(1, 255),
    mid=st.integers(0, 65535),
    token=st.binary(max_size=8),
    options=st.lists(st.tuples(st.integers(1, 65535), st.binary(max_size=300)), max_size=5).map(
        lambda options: tuple(sorted(options, key=lambda option: option[0]))
    ),
    payload=st.binary(max_size=40),
)


def test_the_examples_of_the_standard() -> None:
    request = CoapMessage(CoapKind.CON, Code.GET, 0x7D34, options=((Option.URI_PATH, b"temperature"),))
    assert request.encode() == REQUEST and decode(REQUEST) == request and request.is_request
    response = CoapMessage(CoapKind.ACK, Code.CONTENT, 0x7D34, payload=b"22.3 C")
    assert response.encode() == RESPONSE and decode(RESPONSE) == response and response.is_response
    assert empty(CoapKind.RST, 0x7D34) == bytes.fromhex("70007d34")
    assert not decode(empty(CoapKind.ACK, 1)).is_request and not decode(empty(CoapKind.ACK, 1)).is_response
    with_token = CoapMessage(CoapKind.CON, Code.GET, 0x7D35, b"\x20", ((11, b"temperature"),))
    assert with_token.encode().hex() == "41017d3520bb74656d7065726174757265", "figure 17"


@pytest.mark.parametrize(
    ("length", "head"),
    [(12, "bc"), (13, "bd00"), (268, "bdff"), (269, "be0000"), (1034, "be02fd")],
)
def test_lengths_of_options_at_their_edges(length: int, head: str) -> None:
    message = CoapMessage(CoapKind.NON, 1, 0, options=((11, bytes(length)),))
    data = message.encode()
    assert data[4:].hex() == head + "00" * length and decode(data) == message


@pytest.mark.parametrize(
    ("number", "head"),
    [(12, "c0"), (13, "d000"), (268, "d0ff"), (269, "e00000"), (65535, "e0fef2")],
)
def test_numbers_of_options_at_their_edges(number: int, head: str) -> None:
    message = CoapMessage(CoapKind.NON, 1, 0, options=((number, b""),))
    assert message.encode()[4:].hex() == head and decode(message.encode()) == message


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "version 1"),
        ("400100", "version 1"),
        ("00010000", "version 1"),
        ("80010000", "version 1"),
        ("49010000" + "00" * 9, "more than 8 bytes"),
        ("4f010000" + "00" * 15, "more than 8 bytes"),
        ("4000000000", "empty message"),
        ("4100000055", "empty message"),
        ("4201000055", "token ends too early"),
        ("40010000f0", "reserved value 15"),
        ("400100000f", "reserved value 15"),
        ("40010000d0", "head ends too early"),
        ("40010000e000", "head ends too early"),
        ("400100000d", "head ends too early"),
        ("400100000e00", "head ends too early"),
        ("4001000001", "ends too late"),
        ("40010000b274", "ends too late"),
        ("40010000e0fef310", "ends too late"),
        ("40010000ff", "without a payload"),
        ("40010000b174ff", "without a payload"),
    ],
)
def test_what_is_malformed_is_refused(text: str, why: str) -> None:
    with pytest.raises(CoapError, match=why):
        decode(bytes.fromhex(text))


@pytest.mark.parametrize(
    "message",
    [
        CoapMessage(CoapKind.NON, 1, 0, token=bytes(9)),
        CoapMessage(CoapKind.NON, 1, 65536),
        CoapMessage(CoapKind.NON, 256, 0),
        CoapMessage(CoapKind.NON, 1, 0, options=((0, b""),)),
        CoapMessage(CoapKind.NON, 1, 0, options=((65536, b""),)),
        CoapMessage(CoapKind.NON, 1, 0, options=((1, bytes(65536)),)),
    ],
)
def test_what_nothing_can_encode_is_refused(message: CoapMessage) -> None:
    with pytest.raises(CoapError):
        message.encode()


def test_numbers_in_options() -> None:
    assert [uint(value).hex() for value in (0, 1, 255, 256, 65536)] == ["", "01", "ff", "0100", "010000"]
    assert [block_value(*each).hex() for each in ((0, False, 0), (1, True, 2), (300, False, 6))] == [
        "",
        "1a",
        "12c6",
    ]
    message = CoapMessage(CoapKind.NON, 1, 0, options=((6, b""), (11, b"a"), (11, b"b"), (14, b"\1\0")))
    assert message.number(Option.OBSERVE) == 0 and message.number(Option.MAX_AGE) == 256
    assert message.number(Option.ETAG) is None and message.values(Option.URI_PATH) == [b"a", b"b"]
    assert message.without(6, 14).options == ((11, b"a"), (11, b"b"))
    assert message.having(7, b"x").encode()[4:].hex() == "60" + "1178" + "4161" + "0162" + "320100"


@given(messages)
def test_what_is_encoded_is_read_again(message: CoapMessage) -> None:
    assert decode(message.encode()) == message


def _ours(data: bytes) -> Read | None:
    try:
        message = decode(data)
    except CoapError:
        return None
    kind, code = int(message.kind), message.code
    options = tuple((number, value) for number, value in message.options)
    return kind, code, message.mid, message.token, options, message.payload


def test_ten_thousand_messages_are_read_as_aiocoap_reads_them() -> None:
    skip_without("coap")
    random_ = random.Random(7252)
    taken = refused = 0
    for _ in range(10_000):
        data = mutated(random_)
        ours = _ours(data)
        refused += ours is None
        if ours is not None and texts_are_utf8(ours):
            taken += 1
            assert as_aiocoap(ours) == read_by_aiocoap(data), data.hex()
    assert taken > 3000 and refused > 1000


def test_the_numbers_of_options_are_those_of_the_registry() -> None:
    """RFC 7252, 12.2; RFC 7641, 8; RFC 7959, 6; RFC 8613, 13.2; RFC 8768, 6."""
    registry = "IF_MATCH 1 URI_HOST 3 ETAG 4 IF_NONE_MATCH 5 OBSERVE 6 URI_PORT 7 LOCATION_PATH 8"
    registry += " OSCORE 9 URI_PATH 11"
    registry += (
        " CONTENT_FORMAT 12 MAX_AGE 14 URI_QUERY 15 HOP_LIMIT 16 ACCEPT 17 LOCATION_QUERY 20 BLOCK2 23"
    )
    registry += " BLOCK1 27 SIZE2 28 PROXY_URI 35 PROXY_SCHEME 39 SIZE1 60"
    assert " ".join(f"{option.name} {int(option)}" for option in Option) == registry


def test_codes_are_those_of_the_registry() -> None:
    """RFC 7252, 12.1; RFC 7959, 6; RFC 8132, 6; RFC 8768, 6: class and detail."""
    registry = {
        "EMPTY": 0.00,
        "GET": 0.01,
        "POST": 0.02,
        "PUT": 0.03,
        "DELETE": 0.04,
        "FETCH": 0.05,
        "CREATED": 2.01,
        "CHANGED": 2.04,
        "CONTENT": 2.05,
        "CONTINUE": 2.31,
        "BAD_REQUEST": 4.00,
        "UNAUTHORIZED": 4.01,
        "BAD_OPTION": 4.02,
        "NOT_FOUND": 4.04,
        "NOT_ALLOWED": 4.05,
        "NOT_ACCEPTABLE": 4.06,
        "TOO_LARGE": 4.13,
        "BAD_GATEWAY": 5.02,
        "UNAVAILABLE": 5.03,
        "GATEWAY_TIMEOUT": 5.04,
        "NO_PROXYING": 5.05,
        "HOP_LIMIT_REACHED": 5.08,
    }
    assert {code.name: (code >> 5) + (code & 31) / 100 for code in Code} == pytest.approx(registry)
