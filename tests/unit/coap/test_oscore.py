"""OSCORE on the node: RFC 8613's vectors, agreement with aiocoap, replays, restarts, storage that fails."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from motecrypt.base.errors import InputError
from motecrypt.link.gateway.protocols.coap.message import CoapKind, CoapMessage, Code, Option, decode
from motecrypt.link.gateway.protocols.coap.oscore import OscoreKeys, derive_oscore
from oscore_native import NativeOscore, Status, compiled_oscore
from tool_sets import needs_tool_set, skip_without

pytestmark = [needs_tool_set("host")]
SECRET = bytes(range(1, 17))
SALT = bytes.fromhex("9e7ca92223786340")
PLAIN = bytes.fromhex("44015d1f00003974396c6f63616c686f737483747631")
"""RFC 8613, appendix C: the master secret and salt, and the request of C.4."""
READ = CoapMessage(CoapKind.CON, Code.GET, 1, b"T", ((11, b"t"),)).encode()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled_oscore(tmp_path_factory.mktemp("oscore") / "bed.so", "-O2", "-shared", "-fPIC")


def pair(library: Path) -> tuple[NativeOscore, NativeOscore]:
    """A client and a server."""
    client = NativeOscore(library, derive_oscore(SECRET, SALT, b"", b"\1"), b"", b"\1")
    return client, NativeOscore(library, derive_oscore(SECRET, SALT, b"\1", b""), b"\1", b"")


def sent(told: bytes | Status) -> bytes:
    """The bytes, unless it is a refusal."""
    assert isinstance(told, bytes), told
    return told


def test_keys_are_those_of_the_standard() -> None:
    """Appendix C.1.1, C.1.2, C.2.1."""
    client = derive_oscore(SECRET, SALT, b"", b"\1")
    assert client.sender_key.hex() == "f0910ed7295e6ad4b54fc793154302ff"
    assert client.recipient_key.hex() == "ffb14e093c94c9cac9471648b4f98710"
    assert client.common_iv.hex() == "4622d4dd6d944168eefb54987c"
    server = derive_oscore(SECRET, SALT, b"\1", b"")
    assert (server.sender_key, server.recipient_key) == (client.recipient_key, client.sender_key)
    unsalted = derive_oscore(SECRET, b"", b"\0", b"\1")
    assert unsalted.sender_key.hex() == "321b26943253c7ffb6003b0b64d74041"
    assert unsalted.recipient_key.hex() == "e57b5635815177cd679ab4bcec9d7dda"
    assert unsalted.common_iv.hex() == "be35ae297d2dace910c52e99f9"


def test_keys_that_cannot_be_are_refused() -> None:
    for secret, sender, recipient in ((b"x" * 15, b"", b"\1"), (SECRET, bytes(8), b""), (SECRET, b"a", b"a")):
        with pytest.raises(InputError, match=r"bytes; |the same"):
            derive_oscore(secret, b"", sender, recipient)


def test_messages_are_those_of_the_standard(library: Path) -> None:
    """Appendix C.4, C.5, C.7: a request of each client, and a response without Partial IV."""
    client, server = pair(library)
    client.next(20)
    request = sent(client.protect(PLAIN))
    assert request.hex() == "44025d1f00003974396c6f63616c686f7374620914ff612f1092f1776f1c1668b3825e"
    assert server.unprotect(request) == PLAIN
    plain = bytes.fromhex("64455d1f00003974ff48656c6c6f20576f726c6421")
    response = sent(server.protect(plain))
    assert response.hex() == "64445d1f0000397490ffdbaad1e9a7e7b2a813d3c31524378303cdafae119106"
    assert client.unprotect(response) == plain
    other = NativeOscore(library, derive_oscore(SECRET, b"", b"\0", b"\1"), b"\0", b"\1")
    other.next(20)
    request = sent(other.protect(bytes.fromhex("440171c30000b932396c6f63616c686f737483747631")))
    assert request.hex() == "440271c30000b932396c6f63616c686f737463091400ff4ed339a5a379b0b8bc731fffb0"


def test_a_response_with_a_sequence_number_is_read(library: Path) -> None:
    """Appendix C.8."""
    client, _ = pair(library)
    client.next(20)
    client.protect(PLAIN)
    response = bytes.fromhex("64445d1f00003974920100ff4d4c13669384b67354b2b6175ff4b8658c666a6cf88e")
    assert client.unprotect(response) == bytes.fromhex("64455d1f00003974ff48656c6c6f20576f726c6421")


def test_a_message_is_taken_once_in_any_order_within_the_window(library: Path) -> None:
    client, server = pair(library)
    requests = [sent(client.protect(READ)) for _ in range(40)]
    for number in (5, 3, 4, 39, 8):
        assert server.unprotect(requests[number]) == READ
        assert server.unprotect(requests[number]) is Status.REPLAYED
    assert server.unprotect(requests[7]) is Status.REPLAYED, "32 behind the newest"
    assert server.unprotect(requests[3]) is Status.REPLAYED
    assert server.unprotect(requests[38]) == READ


def test_what_was_changed_is_refused_and_claims_nothing(library: Path) -> None:
    client, server = pair(library)
    request = sent(client.protect(READ))
    for at in range(len(request) - 9, len(request)):
        changed = bytearray(request)
        changed[at] ^= 1
        assert server.unprotect(bytes(changed)) is Status.FORGED
    assert server.unprotect(request) == READ


@pytest.mark.parametrize(
    ("option", "status"),
    [
        ("0900", Status.FORGED),
        ("0901", Status.FORGED),
        ("090002", Status.UNKNOWN),
        ("08", Status.MALFORMED),
        ("0100", Status.MALFORMED),
        ("010002", Status.MALFORMED),
        ("00", Status.MALFORMED),
        ("", Status.MALFORMED),
        ("0d0000000000", Status.MALFORMED),
        ("0a00", Status.MALFORMED),
        ("190000", Status.MALFORMED),
        ("2900", Status.MALFORMED),
        ("4900", Status.MALFORMED),
        ("8900", Status.MALFORMED),
        ("0900" + "00" * 8, Status.MALFORMED),
        ("0cffffffff", Status.REPLAYED),
    ],
)
def test_options_that_are_none(library: Path, option: str, status: Status) -> None:
    _, server = pair(library)
    message = CoapMessage(CoapKind.CON, Code.POST, 1, b"", ((9, bytes.fromhex(option)),), bytes(20))
    assert server.unprotect(message.encode()) is status


def test_what_is_no_protected_message(library: Path) -> None:
    client, server = pair(library)
    assert server.unprotect(READ) is Status.PLAIN
    for data in (b"", b"\x40\0\0\0", b"\x40\2\0\0\xff"):
        assert server.unprotect(data) is Status.MALFORMED and client.protect(data) is Status.MALFORMED
    short = CoapMessage(CoapKind.CON, Code.POST, 1, b"", ((9, b"\x09\0"),), bytes(8)).encode()
    assert server.unprotect(short) is Status.MALFORMED
    request = sent(client.protect(READ))
    as_response = bytes([request[0], Code.CHANGED]) + request[2:]
    server.unprotect(request)
    assert server.unprotect(as_response) in (Status.FORGED, Status.MALFORMED), "no response within a request"


def test_what_it_adds_is_what_the_page_says(library: Path) -> None:
    keys = derive_oscore(SECRET, SALT, b"\2", b"\1")
    for number, added in ((0, 14), (254, 14), (256, 15), (2**24, 17)):
        client = NativeOscore(library, keys, b"\2", b"\1")
        client.next(number)
        for payload in (b"", b"+21.4C"):
            request = CoapMessage(CoapKind.CON, Code.POST, 1, b"T", ((11, b"t"),), payload).encode()
            assert len(sent(client.protect(request))) == len(request) + added
            response = CoapMessage(CoapKind.ACK, Code.CHANGED, 1, b"T", (), payload).encode()
            assert len(sent(client.protect(response))) == len(response) + 11


def test_what_has_no_room_is_told(library: Path) -> None:
    client, server = pair(library)
    request = sent(client.protect(READ))
    for room in range(len(request)):
        assert client.protect(READ, room) is Status.NO_ROOM
    assert isinstance(client.protect(READ, len(request)), bytes)
    assert server.unprotect(request, len(READ) - 1) is Status.NO_ROOM
    request = sent(client.protect(READ))
    assert server.unprotect(request, len(READ)) == READ


def test_notifications_are_taken_in_order_and_once(library: Path) -> None:
    """The sequence number orders them (section 4.1.3.5.2); one response may come without one."""
    client, server = pair(library)
    options = ((6, b""), (11, b"t"))
    asked = CoapMessage(CoapKind.CON, Code.GET, 1, b"T", options).encode()
    assert server.unprotect(sent(client.protect(asked))) == asked
    notified = [
        sent(
            server.protect(CoapMessage(CoapKind.NON, Code.CONTENT, mid, b"T", ((6, b"\x63"),), b"n").encode())
        )
        for mid in range(4)
    ]
    last = sent(server.protect(CoapMessage(CoapKind.NON, 0x84, 9, b"T").encode()))
    for number in (0, 2):
        plain = client.unprotect(notified[number])
        assert isinstance(plain, bytes) and decode(plain).number(Option.OBSERVE) == number + 1
        for older in range(number + 1):
            assert client.unprotect(notified[older]) is Status.REPLAYED
    assert isinstance(client.unprotect(last), bytes)
    assert client.unprotect(last) is Status.REPLAYED
    assert isinstance(client.unprotect(notified[3]), bytes)
    sent(client.protect(asked))
    assert client.unprotect(notified[3]) is Status.FORGED, "it belongs to the request before"


# --- storage


def test_no_number_is_used_twice_over_restarts(library: Path) -> None:
    keys, seen, kept = derive_oscore(SECRET, SALT, b"", b"\1"), set(), (0, 0)
    for messages in (1, 64, 65, 3):
        client = NativeOscore(library, keys, b"", b"\1", kept)
        for _ in range(messages):
            option = decode(sent(client.protect(READ))).values(Option.OSCORE)[0]
            assert option not in seen
            seen.add(option)
            kept = client.kept
    assert kept[0] == 64 + 64 + 128 + 64


def test_nothing_that_was_taken_is_taken_again_after_a_restart(library: Path) -> None:
    client, server = pair(library)
    requests = [sent(client.protect(READ)) for _ in range(60)]
    for number in (0, 1, 20):
        assert server.unprotect(requests[number]) == READ
    kept = server.kept
    assert kept[1] == 20 + 16
    again = NativeOscore(library, derive_oscore(SECRET, SALT, b"\1", b""), b"\1", b"", kept)
    for number in range(36):
        assert again.unprotect(requests[number]) is Status.REPLAYED
    assert again.unprotect(requests[36]) == READ


def test_the_last_message_before_a_restart_is_not_taken_again(library: Path) -> None:
    client, server = pair(library)
    keys = derive_oscore(SECRET, SALT, b"\1", b"")
    for number in range(36):
        request = sent(client.protect(READ))
        assert server.unprotect(request) == READ
        again = NativeOscore(library, keys, b"\1", b"", server.kept)
        assert again.unprotect(request) is Status.REPLAYED, number


def test_a_request_that_holds_a_response_is_malformed(library: Path) -> None:
    """Its tag is right: the other end itself is wrong."""
    from cryptography.hazmat.primitives.ciphers.aead import AESCCM

    keys = derive_oscore(SECRET, SALT, b"", b"\1")
    nonce = bytes(12) + b"\7"
    nonce = bytes(a ^ b for a, b in zip(nonce, keys.common_iv, strict=True))
    external = bytes.fromhex("8501810a40" + "4107" + "40")
    aad = bytes.fromhex("8368456e63727970743040") + bytes([0x40 | len(external)]) + external
    for inner, status in ((Code.CONTENT, Status.MALFORMED), (0, Status.MALFORMED), (Code.GET, None)):
        sealed = AESCCM(keys.sender_key, 8).encrypt(nonce, bytes([inner]), aad)
        message = CoapMessage(CoapKind.CON, Code.POST, 1, b"", ((9, b"\x09\7"),), sealed)
        _, server = pair(library)
        told = server.unprotect(message.encode())
        assert told is status or (status is None and isinstance(told, bytes)), told


def test_storage_is_written_now_and_then(library: Path) -> None:
    client, server = pair(library)
    before = client.library.bed_kept()
    for _ in range(64):
        assert server.unprotect(sent(client.protect(READ))) == READ
    assert client.library.bed_kept() - before == 1 + 4


def test_storage_that_fails_lets_nothing_out_and_nothing_in(library: Path) -> None:
    client, server = pair(library)
    requests = [sent(client.protect(READ)) for _ in range(64)]
    client.library.bed_break(1)
    assert client.protect(READ) is Status.STORAGE and server.unprotect(requests[0]) is Status.STORAGE
    client.library.bed_break(0)
    assert server.unprotect(requests[0]) == READ
    assert isinstance(client.protect(READ), bytes)


def test_the_last_number_is_the_end(library: Path) -> None:
    client, server = pair(library)
    client.next(2**32 - 65)
    assert server.unprotect(sent(client.protect(READ))) == READ
    client.next(2**32 - 1)
    assert client.protect(READ) is Status.USED_UP


# --- with aiocoap


def theirs(folder: Path, sender: bytes, recipient: bytes) -> Any:
    """aiocoap's end, with its files."""
    from aiocoap import oscore

    folder.mkdir()
    settings = {"secret_hex": SECRET.hex(), "salt_hex": SALT.hex()}
    settings |= {"sender-id_hex": sender.hex(), "recipient-id_hex": recipient.hex()}
    (folder / "settings.json").write_text(json.dumps(settings))
    return oscore.FilesystemSecurityContext(str(folder))


def test_aiocoap_derives_the_same_keys(tmp_path: Path) -> None:
    skip_without("coap")
    made = theirs(tmp_path / "aiocoap", b"ab", b"c")
    keys = OscoreKeys(made.sender_key, made.recipient_key, made.common_iv)
    assert derive_oscore(SECRET, SALT, b"ab", b"c") == keys


def test_a_node_serves_aiocoap(library: Path, tmp_path: Path) -> None:
    skip_without("coap")
    import aiocoap

    client = theirs(tmp_path / "aiocoap", b"ab", b"c")
    server = NativeOscore(library, derive_oscore(SECRET, SALT, b"c", b"ab"), b"c", b"ab")
    random_ = random.Random(8613)
    for number in range(200):
        payload = random_.randbytes(random_.randrange(30))
        asked = aiocoap.Message(code=random_.choice((1, 3)), payload=payload, uri=f"coap://h/a/{number}?q")
        outer, request_id = client.protect(asked)
        outer.mid, outer.mtype, outer.token = number, aiocoap.CON, b"T"
        plain = decode(sent(server.unprotect(outer.encode())))
        assert plain.code == int(asked.code) and plain.payload == payload and plain.mid == number
        assert plain.values(Option.URI_PATH) == [b"a", str(number).encode()]
        response = CoapMessage(
            CoapKind.ACK, Code.CONTENT, number, b"T", ((12, b""), (14, b"\5")), payload[::-1]
        )
        sealed = sent(server.protect(response.encode()))
        told = client.unprotect(aiocoap.Message.decode(sealed), request_id)[0]
        assert int(told.code) == Code.CONTENT and told.payload == payload[::-1] and told.opt.max_age == 5


def test_a_node_asks_aiocoap(library: Path, tmp_path: Path) -> None:
    skip_without("coap")
    import aiocoap
    from aiocoap import oscore

    client = NativeOscore(library, derive_oscore(SECRET, SALT, b"c", b"ab"), b"c", b"ab")
    server = theirs(tmp_path / "aiocoap", b"ab", b"c")
    server.recipient_replay_window.initialize_empty()
    for number in range(100):
        options = ((3, b"host"), (11, b"log"), (12, b""), (16, b"\5"))
        asked = CoapMessage(CoapKind.NON, Code.POST, number, b"T", options, b"%d" % number)
        sealed = aiocoap.Message.decode(sent(client.protect(asked.encode())))
        assert sealed.opt.uri_host == "host" and not sealed.opt.uri_path
        oscore.verify_start(sealed)
        plain, request_id = server.unprotect(sealed)
        assert plain.payload == b"%d" % number and plain.opt.uri_path == ("log",)
        outer, _ = server.protect(aiocoap.Message(code=aiocoap.CHANGED, payload=b"ok"), request_id)
        outer.mid, outer.mtype, outer.token = number, aiocoap.NON, b"T"
        assert decode(sent(client.unprotect(outer.encode()))).payload == b"ok"


def test_a_hundred_thousand_changed_messages_break_no_rule_of_c(tmp_path: Path) -> None:
    checks = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    program = compiled_oscore(tmp_path / "fuzz", "-std=gnu99", "-O1", "-g", "-DFUZZ", *checks)
    done = subprocess.run([program, "1", "100000"], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    taken, forged, malformed = (int(part.split()[0]) for part in done.stdout.split(","))
    assert min(taken, forged, malformed) > 10_000, done.stdout
