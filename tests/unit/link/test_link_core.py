"""The link core against its vectors and the independent model: every byte, in both suites, both ways."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))

import link_model as model  # noqa: E402
from link_ends import begun  # noqa: E402
from link_ports import CHECKED, FaultyLink  # noqa: E402
from motecrypt.link.native import (  # noqa: E402
    COMMAND,
    CONFIRMED,
    FILE,
    GATEWAY,
    LISTENS,
    LONG,
    SHORT,
    STREAM,
    TAG_16,
    Event,
    KeyBlock,
    Suite,
    derive,
    link_library,
    node_key,
)

STORED: list[dict[str, Any]] = json.loads(model.VECTORS.read_text())["links"]
SUITES: tuple[Suite, ...] = ("aes128-ccm", "ascon-aead128")
ERASED = b"\xff" * 20


def link_of(vector: dict[str, Any]) -> model.Model:
    """The model of a vector's link."""
    return model.Model(
        model.SUITES[vector["suite"]],
        bytes.fromhex(vector["node_key"]),
        *(vector[name] for name in ("node", "options", "packet_bytes", "generation", "epoch", "salt")),
    )


def end(link: model.Model, suite: Suite, gateway: bool, send: int = 0, receive: int = 0) -> FaultyLink:
    """An end of the core that begins from storage which the model wrote."""
    made = FaultyLink(suite)
    slot = link.slot(send, receive)
    assert made.begin(link.key_block(gateway) + slot + slot + 6 * ERASED) == Event.NOTHING
    return made


def test_the_vectors_are_what_the_model_makes() -> None:
    assert json.loads(model.VECTORS.read_text()) == model.vectors()


@pytest.mark.parametrize(
    ("message", "customisation", "start"),
    [
        ("", "", "4F50159EF70BB3DAD8807E034EAEBD44"),
        ("00", "1011121314151617", "BEF319AD66A1E93B18A981A9BAA2A2E5"),
        ("0001", "101112131415161718", "FC759DE351AE4A8C6F10C6C9C48E993E"),
        ("00", "101112131415161718191A1B1C1D1E1F20", "8E211AD9CC86534567B3EDE13518C424"),
    ],
)
def test_the_models_cxof_is_that_of_the_designers(message: str, customisation: str, start: str) -> None:
    made = model.cxof128(bytes.fromhex(message), bytes.fromhex(customisation), 16)
    assert made.hex().upper() == start


def test_the_models_ccm_is_that_of_openssl() -> None:
    from cryptography.hazmat.primitives.ciphers.aead import AESCCM

    for tag_bytes in (4, 8, 16):
        for length in (0, 1, 15, 16, 17, 48):
            sealed, tag = model.encrypt(1, bytes(range(16)), b"nonce", bytes(length), tag_bytes)
            nonce = b"nonce".ljust(13, b"\0")
            expected = AESCCM(bytes(range(16)), tag_bytes).encrypt(nonce, bytes(length), b"")
            assert sealed + tag[:tag_bytes] == expected


@pytest.mark.parametrize("vector", STORED, ids=lambda v: f"{v['suite']}-{v['node']}-{v['packet_bytes']}")
def test_keys_and_storage(vector: dict[str, Any]) -> None:
    suite: Suite = vector["suite"]
    key = node_key(suite, bytes.fromhex(vector["master"]), vector["node"], vector["generation"])
    assert key.hex() == vector["node_key"]
    for use, expected in vector["keys"].items():
        salt, epoch = (vector["salt"], vector["epoch"]) if int(use) < 4 * 32 else (vector["generation"], 0)
        assert derive(suite, key, int(use), vector["node"], salt, epoch).hex() == expected
    restored = bytes.fromhex(vector["restored"])
    master, number = bytes.fromhex(vector["master"]), vector["node"]
    after = node_key(suite, master, number, vector["generation"], restored)
    assert after.hex() == vector["node_key_when_restored"]
    for name, gateway in (("key_block_node", 0), ("key_block_gateway", GATEWAY)):
        made = FaultyLink(suite)
        options = vector["options"] | gateway
        made.provision(KeyBlock(vector["node"], options, vector["packet_bytes"], vector["generation"], key))
        first = replace(link_of(vector), epoch=0, salt=-1).slot(0, 0)
        assert made.storage == bytes.fromhex(vector[name]) + first + first + 6 * ERASED
        assert made.begin() == Event.NOTHING and made.unused == 0
    told = vector["slot"]
    slot = bytes.fromhex(told["bytes"])
    made = FaultyLink(suite)
    assert made.begin(bytes.fromhex(vector["key_block_node"]) + ERASED + slot + 6 * ERASED) == Event.NOTHING
    assert (made.unused, made.next, made.failures) == (told["send"], told["receive"], told["failures"])
    assert (made.epoch, made.salt) == (vector["epoch"], vector["salt"])


@pytest.mark.parametrize("vector", STORED, ids=lambda v: f"{v['suite']}-{v['node']}-{v['packet_bytes']}")
def test_every_message_is_sent_byte_for_byte(vector: dict[str, Any]) -> None:
    suite, link = vector["suite"], link_of(vector)
    for told in vector["messages"]:
        down, counter, plain = told["down"], told["counter"], bytes.fromhex(told["message"])
        packets = [bytes.fromhex(packet) for packet in told["packets"]]
        flags = told["flags"]
        if flags & FILE == COMMAND:  # its first four bytes are the last counter received
            told_counter = int.from_bytes(plain[:4].ljust(4, b"\0"), "little")
            if len(plain) < 4 or told_counter == 0xFFFFFFFF:
                continue
            sender = end(link, suite, bool(down), counter, told_counter)
            for packet in link.long(1 - down, told_counter, b"", 0).packets:
                sender.receive(packet)
            plain = plain[4:]
        else:
            sender = end(link, suite, bool(down), counter - 1 if told["form"] == "short" else counter)
        if told["form"] == "short":  # synchronised: now a short one may follow
            before = link.long(down, counter - 1, b"", CONFIRMED)
            assert sender.send(b"", CONFIRMED) == Event.WAITING
            assert sender.packets() == list(before.packets)
            answer = link.answer(down, counter - 1, before.full_tag, model.ACCEPTED, 0)
            assert sender.receive(answer) == Event.ACCEPTED
        how = flags | (LONG if told["form"] == "long" else 0)
        assert sender.send(plain, how) == (Event.WAITING if flags & CONFIRMED else Event.SENT)
        assert sender.packets() == packets and sender.counter == counter
        if not flags & CONFIRMED:
            continue
        for name, event in (("missing", Event.NOTHING), ("refused", Event.REFUSED)):
            bad = bytearray.fromhex(told["answers"][name])
            bad[-1] ^= 1
            assert sender.receive(bytes(bad)) == Event.FORGED
            assert sender.receive(bytes.fromhex(told["answers"][name])) == event
            if name == "missing" and told["form"] == "long":
                missing = [p for i, p in enumerate(packets) if i == len(packets) - 1 or not 0x2A5 >> i & 1]
                assert sender.packets() == missing
        assert not sender.waiting


@pytest.mark.parametrize("outcome", ["accepted", "accepted, no short packets", "refused"])
@pytest.mark.parametrize("vector", STORED, ids=lambda v: f"{v['suite']}-{v['node']}-{v['packet_bytes']}")
def test_every_message_is_received_and_answered_byte_for_byte(vector: dict[str, Any], outcome: str) -> None:
    suite, link = vector["suite"], link_of(vector)
    for told in vector["messages"]:
        if told["flags"] & FILE == COMMAND:
            continue
        taken = Event.FILE_PART if told["flags"] & FILE == FILE else Event.MESSAGE
        receiver = end(link, suite, not told["down"], receive=told["counter"])
        if outcome == "accepted, no short packets":
            if told["form"] == "short":
                continue
            slot = link.slot(0, told["counter"], 4096)
            receiver.begin(link.key_block(not told["down"]) + 2 * slot + 6 * ERASED)
        *first, last = [bytes.fromhex(packet) for packet in told["packets"]]
        for packet in first:
            assert receiver.receive(packet) == Event.NOTHING
        assert receiver.receive(last) == taken
        assert receiver.message().hex() == told["message"] and not receiver.packets()
        receiver.answer(outcome != "refused")
        answers = [bytes.fromhex(told["answers"][outcome])] if told["flags"] & CONFIRMED else []
        assert receiver.packets() == answers
        for packet in (*first, last):  # once more: the same answer and no message
            assert receiver.receive(packet) == Event.NOTHING
        assert receiver.packets() == answers


@pytest.mark.parametrize("vector", STORED, ids=lambda v: f"{v['suite']}-{v['node']}-{v['packet_bytes']}")
def test_an_epoch_is_told_and_answered_byte_for_byte(vector: dict[str, Any]) -> None:
    suite, link, told = vector["suite"], link_of(vector), vector["epoch_message"]
    packets = [bytes.fromhex(packet) for packet in told["packets"]]
    gateway, node = end(link, suite, True, 100, 100), end(link, suite, False, 100, 100)
    assert gateway.renew(told["epoch"], told["salt"]) == Event.WAITING and gateway.packets() == packets
    events = [node.receive(packet) for packet in packets]
    assert events[-1] == Event.RENEWED and set(events[:-1]) <= {Event.NOTHING}
    assert [answer.hex() for answer in node.packets()] == [told["answer"]]
    assert gateway.receive(bytes.fromhex(told["answer"])) == Event.ACCEPTED
    for made in (gateway, node):
        assert (made.epoch, made.salt, made.unused, made.next) == (told["epoch"], told["salt"], 0, 0)
        assert made.begin() == Event.NOTHING and (made.epoch, made.salt) == (told["epoch"], told["salt"])
    assert node.receive(packets[0]) == Event.NOTHING
    assert [node.receive(packet) for packet in packets[1:]] == [Event.NOTHING] * len(packets[1:])
    assert node.epoch == told["epoch"] and node.unused == 0, "an epoch told again is answered, not begun"
    old = link.long(1, link.epoch, b"", CONFIRMED | 16 * model.EPOCH)
    for packet in old.packets:
        assert node.receive(packet) == Event.NOTHING
    assert node.epoch == told["epoch"], "an epoch that is over does not come back"


@pytest.mark.parametrize("vector", STORED, ids=lambda v: f"{v['suite']}-{v['node']}-{v['packet_bytes']}")
def test_another_epoch_that_is_not_above_its_own_is_refused_with_its_number(vector: dict[str, Any]) -> None:
    suite, link, told = vector["suite"], link_of(vector), vector["epoch_message"]
    own = replace(link, epoch=(0x2BCD << 18) + 0x3FFFF, salt=3)
    gateway, node = end(link, suite, True, 100, 100), end(own, suite, False, 100, 100)
    assert gateway.renew(told["epoch"], told["salt"]) == Event.WAITING
    for packet in gateway.packets():
        assert node.receive(packet) == Event.NOTHING
    (answer,) = node.packets()
    assert answer.hex() == told["refused"] and (node.epoch, node.salt, node.unused) == (own.epoch, 3, 100)
    assert gateway.receive(answer[:-1] + bytes([answer[-1] ^ 1])) == Event.FORGED and gateway.waiting
    assert gateway.receive(answer) == Event.REFUSED and not gateway.waiting
    assert gateway.epoch == own.epoch, "the greatest of that number, so that the next is above the node's"
    before = own.long(0, 100, b"", CONFIRMED)
    assert node.send(b"", CONFIRMED) == Event.WAITING
    assert node.packets() == list(before.packets), "its keys stay"


@pytest.mark.parametrize("vector", STORED, ids=lambda v: f"{v['suite']}-{v['node']}-{v['packet_bytes']}")
def test_a_node_takes_an_offer_of_version_2_0(vector: dict[str, Any]) -> None:
    suite, link, told = vector["suite"], replace(link_of(vector), version=2), vector["epoch_message"]
    packets = [bytes.fromhex(packet) for packet in told["packets_of_version_2_0"]]
    gateway, node = end(link, suite, True, 100, 100), end(link, suite, False, 100, 100)
    assert gateway.renew(told["epoch"], link.generation) == Event.WAITING and gateway.packets() == packets
    assert [node.receive(packet) for packet in packets][-1] == Event.RENEWED
    assert (node.epoch, node.salt) == (told["epoch"], link.generation)
    assert [gateway.receive(packet) for packet in node.packets()] == [Event.ACCEPTED]


@pytest.mark.parametrize("suite", SUITES)
def test_random_links_agree_with_the_model(suite: Suite) -> None:
    random = Random(f"differential {suite}")
    for trial in range(60):
        options = random.choice((SHORT | LISTENS, SHORT | LISTENS | STREAM, LISTENS)) | random.choice(
            (0, TAG_16)
        )
        packet_bytes = random.choice((12, 13, 24, 32, 64, 255)) if trial % 2 else random.randrange(12, 256)
        if options & TAG_16:
            packet_bytes = max(packet_bytes, 13)
        link = model.Model(
            model.SUITES[suite],
            random.randbytes(16),
            random.randrange(63),
            options,
            packet_bytes,
            random.randrange(1 << 16),
            random.getrandbits(32),
        )
        down = random.randrange(2)
        counter = random.choice((random.randrange(1, 300), random.getrandbits(32) % 0xFFFFFF00 + 1))
        sender = end(link, suite, bool(down), counter)
        receiver = end(link, suite, not down, receive=counter)
        for _ in range(12):
            longest = 15 * (packet_bytes - 3) - 4 - link.long_tag
            room = packet_bytes - 6
            length = random.choice((room, random.randrange(room + 1), random.randrange(longest + 1)))
            plain, confirmed = random.randbytes(length), random.random() < 0.5
            fits = length == room if options & STREAM else length <= room
            due = sender.since < 127 and sender.since % 32 == 31
            short = bool(options & SHORT) and fits and sender.since < 127 and not due
            used = sender.unused
            event = sender.send(plain, CONFIRMED if confirmed else 0)
            sync = bool(options & SHORT) and fits and not short and not due
            flags = CONFIRMED if confirmed or sync else 0
            packed = (
                link.short(down, used, plain, confirmed) if short else link.long(down, used, plain, flags)
            )
            sent = sender.packets()
            assert sent == list(packed.packets)
            assert event == (Event.WAITING if confirmed or sync else Event.SENT)
            order = list(sent)
            if len(order) > 1 and random.random() < 0.5:
                random.shuffle(order)
            events = [receiver.receive(packet) for packet in order]
            assert events.count(Event.MESSAGE) == 1 and receiver.message() == plain
            receiver.answer(True)
            if confirmed or sync:
                answer = receiver.packets()[-1]
                assert answer == link.answer(down, used, packed.full_tag, model.ACCEPTED, 0)
                assert sender.receive(answer) == Event.ACCEPTED
            else:
                assert not receiver.packets()


@pytest.mark.parametrize("suite", SUITES)
def test_any_flipped_bit_of_a_packet_is_refused(suite: Suite) -> None:
    link = model.Model(model.SUITES[suite], bytes(16), 5, SHORT | LISTENS, 32, 1)
    for packed in (link.short(0, 40, b"reading", True), link.long(0, 40, b"a reading", CONFIRMED)):
        (packet,) = packed.packets
        for bit in range(8 * len(packet)):
            receiver = end(link, suite, True, receive=40)
            changed = bytearray(packet)
            changed[bit // 8] ^= 1 << bit % 8
            assert receiver.receive(bytes(changed)) not in (Event.MESSAGE, Event.COMMANDED, Event.RENEWED)


@pytest.mark.skipif(bool(os.environ.get(CHECKED)), reason="is run by this test")
def test_all_of_this_under_address_and_undefined_behaviour_checkers(tmp_path: Path) -> None:
    runtime = subprocess.run(
        ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, timeout=60, check=True
    ).stdout.strip()
    environment = os.environ | {
        "LD_PRELOAD": runtime,
        "ASAN_OPTIONS": "detect_leaks=0:exitcode=99",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        CHECKED: "1",
        "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}",
    }
    names = [__file__]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *names]
    done = subprocess.run(
        [*command, "-n", "0"], capture_output=True, text=True, timeout=600, env=environment, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_a_suite_is_compiled_and_read_once() -> None:
    assert link_library("aes128-ccm") is link_library("aes128-ccm")


def test_the_longest_packets_carry_the_longest_message() -> None:
    node = begun(KeyBlock(5, SHORT | LISTENS, 255, 1, bytes(16)))
    longest = 15 * (255 - 3) - 4 - 8
    assert node.send(bytes(longest + 1)) == Event.TOO_LONG
    assert node.send(bytes(longest)) == Event.SENT and len(node.packets()) == 15
