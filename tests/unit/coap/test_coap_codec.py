"""The node's CoAP codec in C: RFC 7252's examples, the gateway's and aiocoap's reading, hostile bytes."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest

from coap_inputs import as_aiocoap, mutated, read_by_aiocoap, texts_are_utf8
from coap_native import NativeCoap, compiled_coap
from motecrypt.catalog import FIRMWARE
from motecrypt.link.gateway.protocols.coap.message import (
    CoapError,
    CoapKind,
    CoapMessage,
    Code,
    Option,
    decode,
    uint,
)
from tool_sets import needs_tool_set, skip_without

pytestmark = [needs_tool_set("host")]


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> NativeCoap:
    return NativeCoap(compiled_coap(tmp_path_factory.mktemp("coap") / "bed.so", "-O2", "-shared", "-fPIC"))


def test_the_examples_of_the_standard(native: NativeCoap) -> None:
    for text in (
        "40017d34bb74656d7065726174757265",
        "60457d34ff32322e332043",
        "70007d34",
        "41017d3520bb74656d7065726174757265",
    ):
        data = bytes.fromhex(text)
        assert native.again(data) == data


@pytest.mark.parametrize("length", [0, 12, 13, 268, 269, 1034, 60_000])
def test_options_at_their_edges(native: NativeCoap, length: int) -> None:
    for number in (1, 12, 13, 14, 268, 269, 270, 65535):
        message = CoapMessage(CoapKind.NON, 1, 0, options=((number, bytes(length)), (number, b"")))
        assert native.again(message.encode()) == message.encode()


def test_what_does_not_fit_is_no_message(native: NativeCoap) -> None:
    data = CoapMessage(CoapKind.NON, 1, 0, b"token", ((11, b"a"), (300, b"b")), b"payload").encode()
    assert native.again(data, len(data)) == data
    assert not any(native.again(data, room) for room in range(len(data)))


@pytest.mark.parametrize("value", [0, 1, 255, 256, 65535, 65536, 2**24, 2**32 - 1])
def test_numbers_have_no_leading_zeros(native: NativeCoap, value: int) -> None:
    assert decode(native.number(60, value)).options == ((60, uint(value)),)
    assert not native.number(0, value), "no option has the number 0"


def test_fifteen_thousand_messages_are_read_as_the_gateway_reads_them(native: NativeCoap) -> None:
    """What was read and written again says what C has read: option 0 alone cannot be written."""
    random_, taken = random.Random(1), 0
    for _ in range(15_000):
        data = mutated(random_)
        try:
            message = decode(data)
            expected = message.encode()
        except CoapError:
            expected = b""
        assert native.again(data) == expected, data.hex()
        taken += bool(expected)
    assert 5_000 < taken < 13_000


def test_random_bytes_are_read_as_the_gateway_reads_them(native: NativeCoap) -> None:
    random_ = random.Random(2)
    for _ in range(10_000):
        data = bytes([random_.randrange(0x40, 0x50)]) + random_.randbytes(random_.randrange(24))
        try:
            expected = decode(data).encode()
        except CoapError:
            expected = b""
        assert native.again(data) == expected, data.hex()


def test_five_thousand_messages_are_read_as_aiocoap_reads_them(native: NativeCoap) -> None:
    skip_without("coap")
    random_, taken = random.Random(3), 0
    for _ in range(5_000):
        data = mutated(random_)
        again = native.again(data)
        if again:
            m = decode(again)
            read = (int(m.kind), m.code, m.mid, m.token, m.options, m.payload)
            if texts_are_utf8(read):
                taken += 1
                assert as_aiocoap(read) == read_by_aiocoap(data), data.hex()
    assert taken > 1500


def test_a_hundred_thousand_hostile_messages_break_no_rule_of_c(tmp_path: Path) -> None:
    checks = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    program = compiled_coap(tmp_path / "fuzz", "-std=gnu99", "-O1", "-g", "-DFUZZ", *checks)
    done = subprocess.run([program, "1", "100000"], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    taken, answered, notified = (int(part.split()[0]) for part in done.stdout.split(","))
    assert taken > 30_000 and answered > 10_000 and notified > 1_000, done.stdout


def test_codes_and_options_are_those_of_the_gateway() -> None:
    """Whose own are compared with the registry."""
    header = (FIRMWARE / "coap" / "coap.h").read_text()
    codes, options = header.partition("Numbers of options")[::2]
    found = [re.findall(r"\bCOAP_(\w+) = (0x[0-9A-F]+|\d+)\b", part) for part in (codes, options)]
    others = {"UNAUTHORIZED": 0x81, "SERVER_ERROR": 0xA0, "ECHO": 252}
    kinds = {"HEAD_BYTES": 4, "TOKEN_MAX": 8, "CON": 0, "NON": 1, "ACK": 2, "RST": 3}
    known = {**Code.__members__, **kinds, **others}, {**Option.__members__, **others}
    for numbers, expected in zip(found, known, strict=True):
        assert len(numbers) > 10
        assert {name: int(text, 0) for name, text in numbers} == {name: expected[name] for name, _ in numbers}


def test_oscore_hides_a_request_behind_the_codes_of_the_standard() -> None:
    """RFC 8613, 4.2: POST outside, or FETCH where it observes."""
    source = (FIRMWARE / "coap" / "oscore.c").read_text()
    assert [int(text, 16) for text in re.findall(r"\bFETCH = (0x\w+)", source)] == [Code.FETCH]
