"""The bare transport: in C for the node, in Python for the gateway, against each other and damage."""

from __future__ import annotations

import binascii
import random
import subprocess
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.link.gateway.bare import DOWN, MESSAGE_MAX, PACKET_MIN, BareNode, BareReader, bare_packets
from motecrypt.link.gateway.protocols.coap.context import CONTEXT_BYTES, has_context, new_context
from motecrypt.link.gateway.protocols.coap.message import CoapKind, CoapMessage, Code, decode, empty
from motecrypt.link.gateway_end import Gateway
from motecrypt.link.native import STORAGE_BYTES
from node_native import NativeNode, compiled_node
from stored_nodes import NODE, ForgottenStore, provisioned
from tool_sets import needs_tool_set

PING = empty(CoapKind.CON, 0x1234)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled_node(tmp_path_factory.mktemp("node") / "bed.so", "-O2", "-shared", "-fPIC")


def joined(packets: list[bytes]) -> bytes:
    """The one message that these packets of a node make."""
    reader = BareReader()
    told = [reader.take(packet) for packet in packets]
    assert not any(each.broken for each in told) and not any(each.message for each in told[:-1])
    return told[-1].message


def test_a_packet_is_laid_out_as_the_page_says() -> None:
    (packet,) = bare_packets(NODE, PING, 13, 12)
    assert packet.hex() == "87a0" + "04" + "40001234" + "e550" + "000000"
    first, second = bare_packets(NODE, bytes(range(1, 9)), 1, 12, down=False)
    assert first.hex() == "0720" + "08" + "0102030405060708" + "47"
    assert second.hex() == "0721" + "21" + "00" * 9
    assert binascii.crc_hqx(b"123456789", 0xFFFF) == 0x29B1, "the checksum that the page names"


@pytest.mark.parametrize("packet_bytes", [PACKET_MIN, 12, 32, 163, 165, 166, 255])
def test_messages_of_every_length_arrive(packet_bytes: int) -> None:
    random_ = random.Random(packet_bytes)
    for length in range(1, MESSAGE_MAX + 1):
        message = random_.randbytes(length)
        packets = bare_packets(62, message, length, packet_bytes)
        assert all(len(packet) == packet_bytes and packet[0] == DOWN | 62 for packet in packets)
        assert joined(packets) == message


def test_what_cannot_be_sent_is_refused() -> None:
    for message, packet_bytes, told in (
        (b"", 12, "0 bytes"),
        (bytes(161), 12, "161"),
        (b"x", 7, "packets of 7"),
    ):
        with pytest.raises(InputError, match=told):
            bare_packets(1, message, 0, packet_bytes)


def test_each_message_to_a_node_has_the_next_number() -> None:
    node = BareNode(NODE, 12)
    for number in range(1, 20):
        assert node.packets(b"x") == bare_packets(NODE, b"x", number, 12)
    assert bare_packets(NODE, b"x", 1, 12) != bare_packets(NODE, b"x", 2, 12)


@needs_tool_set("host")
@pytest.mark.parametrize("packet_bytes", [12, 33, 255])
def test_both_sides_cut_and_join_alike(library: Path, packet_bytes: int) -> None:
    """A ping's reset comes back, whatever else the radio brings."""
    chip = NativeNode(library, provisioned(packet_bytes))
    node = BareNode(NODE, packet_bytes)
    for number in range(20):
        ping = empty(CoapKind.CON, number)
        (packet,) = node.packets(ping)
        for odd in (
            packet[:-1],
            packet + b"\0",
            bytes([packet[0] ^ 1]) + packet[1:],
            packet[:1] + b"\3" + packet[2:],
        ):
            assert chip.receive(odd) == [] and chip.event == 0
        assert joined(chip.receive(packet)) == empty(CoapKind.RST, number) and chip.event == 1
    long = CoapMessage(CoapKind.CON, Code.GET, 1, b"T", ((11, b"a" * 120),)).encode()
    packets = node.packets(long)
    answers = [chip.receive(packet) for packet in packets]
    assert not any(answers[:-1]) and decode(joined(answers[-1])).code == 0x81


@needs_tool_set("host")
def test_parts_that_are_lost_doubled_or_out_of_order(library: Path) -> None:
    node, random_ = NativeNode(library, provisioned()), random.Random(5)
    whole = 0
    for number in range(400):
        message = CoapMessage(CoapKind.CON, Code.GET, number, b"T", ((11, random_.randbytes(40)),)).encode()
        packets = bare_packets(NODE, message, number, 12)
        kind, at = number % 4, random_.randrange(len(packets) - 1)
        if kind == 1:
            del packets[at]
        elif kind == 2:
            packets.insert(at, packets[at])
        elif kind == 3:
            packets[at], packets[at + 1] = packets[at + 1], packets[at]
        answers = [packet for each in packets for packet in node.receive(each)]
        reader = BareReader()
        told = [heard.message for heard in map(reader.take, packets) if heard.message]
        assert bool(answers) == bool(told) == (kind in (0, 2))
        assert not told or told == [message]
        whole += bool(told)
    assert whole == 200


@needs_tool_set("host")
def test_a_changed_packet_makes_no_message(library: Path) -> None:
    node, random_ = NativeNode(library, provisioned()), random.Random(6)
    message = CoapMessage(CoapKind.CON, Code.GET, 1, b"T", ((11, b"x" * 40),)).encode()
    packets = bare_packets(NODE, message, 0, 12)
    broken = 0
    for _ in range(2000):
        at, changed = random_.randrange(len(packets) - 1), random_.randrange(2, 12)
        sent = [bytearray(packet) for packet in packets]
        sent[at][changed] ^= 1 << random_.randrange(8)
        reader = BareReader()
        told = [reader.take(bytes(each)) for each in sent]
        events = []
        for each in sent:
            assert not node.receive(bytes(each))
            events.append(node.event)
        assert not any(each.message for each in told)
        assert [event == 2 for event in events] == [each.broken for each in told]
        broken += any(each.broken for each in told)
    assert broken > 1900


# --- contexts in storage


@needs_tool_set("host")
def test_a_context_is_read_from_storage(library: Path) -> None:
    storage = provisioned()
    assert len(storage) == STORAGE_BYTES + CONTEXT_BYTES and has_context(storage, STORAGE_BYTES)
    assert NativeNode(library, storage).status == 0
    for at in (*range(STORAGE_BYTES, len(storage)), 4, 9, 24):
        changed = bytearray(storage)
        changed[at] ^= 1
        assert NativeNode(library, bytes(changed)).status == 13, at  # LINK_NO_KEY
        assert at < 24 or not has_context(bytes(changed), STORAGE_BYTES)
    erased = storage[:28] + b"\xff" * (STORAGE_BYTES - 28) + storage[STORAGE_BYTES:]
    assert NativeNode(library, erased).status == 14, "its numbers are lost"


@needs_tool_set("host")
def test_a_context_of_another_provisioning_is_none(library: Path) -> None:
    """Its numbers begin again there, and would be used twice."""
    gateway, context = Gateway(ForgottenStore(), bytes(16)), new_context(NODE)
    first = context.stored(gateway.provision(NODE))
    second = gateway.provision(NODE)
    assert NativeNode(library, first).status == 0
    assert NativeNode(library, second + first[STORAGE_BYTES:]).status == 13
    assert not has_context(second + first[STORAGE_BYTES:], STORAGE_BYTES)


def test_every_context_is_another() -> None:
    first, second = new_context(NODE), new_context(NODE)
    assert first.secret != second.secret and first.salt != second.salt
    assert len(first.secret) == 16 and len(first.salt) == 8
    files = {path.name: content for path, content in first.client_files(Path("c")).items()}
    assert first.secret.hex() in files["settings.json"].decode()
    assert '"coap://node-7*"' in files["credentials.json"].decode()
    assert first.secret not in first.stored(bytes(STORAGE_BYTES)), "a node has keys, not the secret"


@needs_tool_set("host")
def test_hostile_messages_break_no_rule_of_c(tmp_path: Path) -> None:
    checks = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    program = compiled_node(tmp_path / "fuzz", "-std=gnu99", "-O1", "-g", "-DFUZZ", *checks)
    (tmp_path / "storage").write_bytes(provisioned())
    command = [program, "1", "10000", str(tmp_path / "storage")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    counts = {name: int(count) for count, name in (part.split() for part in done.stdout.split(","))}
    assert counts["doubled"] == 0 and min(counts["messages"], counts["answered"]) > 5000, done.stdout
    assert min(counts["broken"], counts["served"], counts["taken"]) > 300, done.stdout
