"""The modern container: round trips, and everything that can be done to its bytes."""

from __future__ import annotations

import hmac
import os
import struct
import sys
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link.files import container
from motecrypt.link.files.container import Secret

KEY = Secret(key=bytes(range(32)))
SMALL = 512


def sealed_file(folder: Path, plain: bytes, secret: Secret = KEY, cipher: str = "aes256-gcm") -> Path:
    source, target = folder / "plain", folder / "sealed"
    source.write_bytes(plain)
    container.encrypt_file(source, target, secret, cipher=cipher, chunk_bytes=SMALL, force=True)
    return target


def opened(sealed: Path, secret: Secret = KEY) -> bytes:
    target = sealed.with_name("out")
    container.decrypt_file(sealed, target, secret, force=True)
    return target.read_bytes()


def refused(sealed: Path, match: str | None = None, secret: Secret = KEY) -> None:
    target = sealed.with_name("refused")
    with pytest.raises(MotecryptError, match=match):
        container.decrypt_file(sealed, target, secret)
    assert not target.exists()
    assert not [p for p in sealed.parent.iterdir() if p.name.endswith(".part")]


def test_a_long_file_is_worked_on_a_mebibyte_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(bytes(5 << 19))
    told: list[tuple[int, int]] = []
    container.encrypt_file(
        tmp_path / "plain", tmp_path / "sealed", KEY, progress=lambda done, of: told.append((done, of))
    )
    assert told == [(done, 5 << 19) for done in (1 << 20, 2 << 20, 5 << 19)]


@pytest.mark.parametrize(
    ("length", "pieces"),
    [(0, [b""]), (3, [b"abc"]), (4, [b"abcd"]), (5, [b"abcd", b"e"]), (8, [b"abcd", b"efgh"])],
)
def test_a_file_is_read_in_pieces_of_which_one_is_the_last(
    tmp_path: Path, length: int, pieces: list[bytes]
) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"abcdefgh"[:length])
    handle = os.open(source, os.O_RDONLY)
    try:
        pieces_read = islice(container._read(handle, length, 4, source, None), 9)
        read = [(bytes(piece), last) for piece, last in pieces_read]
    finally:
        os.close(handle)
    assert read == [(piece, number == len(pieces)) for number, piece in enumerate(pieces, 1)]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    plain=st.one_of(
        st.binary(max_size=40), st.integers(0, 5 * SMALL).map(lambda n: bytes(i % 251 for i in range(n)))
    ),
    cipher=st.sampled_from(sorted(container.CIPHERS)),
)
def test_what_goes_in_comes_out(tmp_path: Path, plain: bytes, cipher: str) -> None:
    sealed = sealed_file(tmp_path, plain, cipher=cipher)
    chunks = max(1, -(-len(plain) // SMALL))
    assert sealed.stat().st_size == container.HEADER_BYTES + len(plain) + 16 * chunks
    assert opened(sealed) == plain


def test_a_fixed_file_opens_for_ever(tmp_path: Path) -> None:
    """Golden: the layout in the module's docstring, computed here from its parts alone."""
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    key, salt = bytes(range(32)), bytes(range(100, 132))
    pseudo_random = hmac.digest(salt, key, "sha256")  # HKDF, RFC 5869
    first = hmac.digest(pseudo_random, b"motecrypt file 1\x01", "sha256")
    second = hmac.digest(pseudo_random, first + b"motecrypt file 1\x02", "sha256")
    head = b"motefile" + bytes([1, 2, 0, 9]) + bytes(8) + salt
    body = ChaCha20Poly1305(second).encrypt(bytes(12), bytes(512), None)
    body += ChaCha20Poly1305(second).encrypt(bytes(10) + b"\x01\x01", b"end", None)
    path = tmp_path / "golden"
    path.write_bytes(head + hmac.digest(first, head, "sha256") + body)
    assert opened(path) == bytes(512) + b"end"


def test_every_flipped_byte_is_refused(tmp_path: Path) -> None:
    sealed = sealed_file(tmp_path, bytes(SMALL) + b"and a bit")
    genuine = sealed.read_bytes()
    for place in range(len(genuine)):
        damaged = bytearray(genuine)
        damaged[place] ^= 1 << place % 8
        sealed.write_bytes(damaged)
        refused(sealed)


def test_every_truncation_extension_and_reordering_is_refused(tmp_path: Path) -> None:
    sealed = sealed_file(tmp_path, b"".join(bytes([i]) * SMALL for i in range(4)))
    genuine, chunk = sealed.read_bytes(), SMALL + 16
    head, body = genuine[: container.HEADER_BYTES], genuine[container.HEADER_BYTES :]
    chunks = [body[i : i + chunk] for i in range(0, len(body), chunk)]
    for length in [*range(container.HEADER_BYTES + 20), *range(len(genuine) - 600, len(genuine))]:
        sealed.write_bytes(genuine[:length])
        refused(sealed)
    for number in range(4):  # cut at a chunk's end: only the last chunk's mark shows it
        sealed.write_bytes(head + b"".join(chunks[:number]))
        refused(sealed)
    changes = ([1, 0, 2, 3], [0, 1, 1, 3], [0, 2, 3], [0, 1, 2, 3, 3], [3], [0, 1, 3, 2])
    for order in changes:
        sealed.write_bytes(head + b"".join(chunks[i] for i in order))
        refused(sealed, "not genuine")
    sealed.write_bytes(genuine + b"x")
    refused(sealed)


def test_a_chunk_of_another_file_is_refused(tmp_path: Path) -> None:
    one, chunk = sealed_file(tmp_path, bytes(3 * SMALL)).read_bytes(), SMALL + 16
    sealed = sealed_file(tmp_path, bytes(3 * SMALL))
    two, at = sealed.read_bytes(), container.HEADER_BYTES
    sealed.write_bytes(two[:at] + one[at : at + chunk] + two[at + chunk :])
    refused(sealed, "chunk 0")


def test_wrong_keys_and_passwords(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "ARGON_KIB", 64)
    sealed = sealed_file(tmp_path, b"secret")
    refused(sealed, "wrong key", Secret(key=bytes(32)))
    refused(sealed, "made with a key", Secret(password=b"p"))
    sealed = sealed_file(tmp_path, b"secret", Secret(password=b"correct horse"))
    assert opened(sealed, Secret(password=b"correct horse")) == b"secret"
    refused(sealed, "wrong password", Secret(password=b"battery staple"))
    refused(sealed, "made with a password")


def test_a_header_cannot_ask_for_much_memory(tmp_path: Path) -> None:
    sealed = sealed_file(tmp_path, b"x")
    genuine = bytearray(sealed.read_bytes())
    genuine[10:16] = bytes([1, 9]) + (1 << 31).to_bytes(4, "little")
    sealed.write_bytes(genuine)
    refused(sealed, "exceeds the limits", Secret(password=b"p"))


def test_a_header_that_asks_for_more_than_64_mib_needs_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, secret = tmp_path / "p", Secret(password=b"p")
    plain.write_bytes(b"x")
    asked: list[int] = []

    def cheap(header: container.Header, password: bytes) -> bytes:
        asked.append(header.argon_kib)
        return bytes(32)

    monkeypatch.setattr(container, "_argon", cheap)
    for kib, costly in ((65_536, False), (65_537, True), (1_048_576, True)):
        with monkeypatch.context() as as_made:
            as_made.setattr(container, "ARGON_KIB", kib)
            container.encrypt_file(plain, tmp_path / "s", secret, force=True)
        asked.clear()
        if costly:
            with pytest.raises(InputError, match=rf" needs {kib // 1024:,} MiB of memory; .*--allow-costly"):
                container.decrypt_file(tmp_path / "s", tmp_path / "t", secret, force=True)
            assert not asked, "refused before any of it is spent"
        container.decrypt_file(tmp_path / "s", tmp_path / "t", secret, force=True, allow_costly=costly)
        assert asked == [kib]


def test_senseless_requests(tmp_path: Path) -> None:
    source = tmp_path / "plain"
    source.write_bytes(b"x")
    with pytest.raises(InputError, match="power of two"):
        container.encrypt_file(source, tmp_path / "out", KEY, chunk_bytes=1000)
    for nonsense in ({}, {"key": bytes(32), "password": b"p"}, {"key": bytes(31)}, {"password": b""}):
        with pytest.raises(InputError):
            Secret(**nonsense)


def header_with(**changes: int) -> bytes:
    """The packed first 52 bytes, by the layout in the module's docstring."""
    fields = {"version": 1, "cipher": 1, "kind": 1, "log2": 16, "kib": 65_536, "passes": 3, "lanes": 4}
    fields |= changes
    head = b"motefile" + bytes([fields["version"], fields["cipher"], fields["kind"], fields["log2"]])
    head += fields["kib"].to_bytes(4, "little")
    head += fields["passes"].to_bytes(2, "little") + fields["lanes"].to_bytes(2, "little")
    return head + bytes(range(32))


@pytest.mark.parametrize(
    ("field", "taken", "refused"),
    [
        ("version", [1], [0, 2, 255]),
        ("cipher", [1, 2], [0, 3, 255]),
        ("kind", [0, 1], [2, 255]),
        ("log2", [9, 20], [0, 8, 21, 255]),
        ("kib", [32, 1_048_576], [0, 31, 1_048_577, 0xFFFFFFFF]),
        ("passes", [1, 16], [0, 17, 0xFFFF]),
        ("lanes", [1, 16], [0, 17, 0xFFFF]),
    ],
)
def test_a_headers_fields_are_taken_up_to_their_bounds(
    field: str, taken: list[int], refused: list[int]
) -> None:
    for value in taken:
        header = container.parse_header(header_with(**{field: value}), "f")
        assert header.pack() == header_with(**{field: value})
    for value in refused:
        with pytest.raises(MotecryptError, match="f: "):
            container.parse_header(header_with(**{field: value}), "f")


def test_a_header_of_a_key_asks_for_no_argon() -> None:
    header = container.parse_header(header_with(kind=0, kib=0, passes=0, lanes=0), "f")
    assert (header.from_password, header.chunk_bytes, header.salt) == (False, 65_536, bytes(range(32)))


@pytest.mark.parametrize("length", [0, 7, 8, 51])
def test_a_short_header_is_no_container(length: int) -> None:
    with pytest.raises(MotecryptError, match="not a file of the modern format"):
        container.parse_header(header_with()[:length], "f")
    assert container.parse_header(header_with(), "f").argon_kib == 65_536


@pytest.mark.parametrize("chunk_bytes", [256, 511, 513, 1 << 21, 0, -512])
def test_chunks_are_powers_of_two_from_512_to_1048576(tmp_path: Path, chunk_bytes: int) -> None:
    (tmp_path / "plain").write_bytes(b"x")
    with pytest.raises(InputError, match="512 to 1048576"):
        container.encrypt_file(tmp_path / "plain", tmp_path / "out", KEY, chunk_bytes=chunk_bytes)
    for good in (512, 1 << 20):
        container.encrypt_file(tmp_path / "plain", tmp_path / "sealed", KEY, chunk_bytes=good, force=True)
        assert opened(tmp_path / "sealed") == b"x"


def test_a_password_costs_what_rfc_9106_recommends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "_argon", lambda header, password: bytes(32))
    (tmp_path / "plain").write_bytes(b"x")
    written = container.encrypt_file(tmp_path / "plain", tmp_path / "sealed", Secret(password=b"p"))
    data = (tmp_path / "sealed").read_bytes()
    assert written == len(data) == 84 + 1 + 16
    # RFC 9106, 4, the second choice: 64 MiB, three passes, four lanes. Chunks are 64 KiB.
    assert data[:20] == b"motefile" + bytes([1, 1, 1, 16]) + struct.pack("<IHH", 65_536, 3, 4)
    container.encrypt_file(tmp_path / "plain", tmp_path / "sealed", KEY, force=True)
    assert (tmp_path / "sealed").read_bytes()[8:20] == bytes([1, 1, 0, 16]) + bytes(8)


@pytest.mark.parametrize("how", ["absent", "unsupported"])
def test_without_argon2id_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.kdf import argon2

    class Unsupported:
        def __init__(self, **_: object) -> None:
            raise UnsupportedAlgorithm("this OpenSSL has none")

    monkeypatch.setattr(argon2, "Argon2id", Unsupported)
    if how == "absent":
        monkeypatch.setitem(sys.modules, argon2.__name__, None)
    header = container.parse_header(header_with(kib=64, passes=2, lanes=3), "f")
    with pytest.raises(InputError, match=r"passwords need Argon2id, .*update it, or use a key"):
        container._argon(header, b"password")


def test_argon2id_is_asked_for_what_the_header_says() -> None:
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

    header = container.parse_header(header_with(kib=64, passes=2, lanes=3), "f")
    salt = bytes(range(32))
    expected = Argon2id(salt=salt, length=32, iterations=2, lanes=3, memory_cost=64).derive(b"password")
    assert container._argon(header, b"password") == expected
    head, chunks = container.keys_of(header, Secret(password=b"password"))
    assert (len(head), len(chunks)) == (32, 32) and head != chunks


def test_progress_of_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "READ_BYTES", SMALL)
    source, sealed, back = tmp_path / "plain", tmp_path / "sealed", tmp_path / "back"
    source.write_bytes(bytes(2 * SMALL + 5))
    seen: list[tuple[int, int]] = []
    container.encrypt_file(source, sealed, KEY, chunk_bytes=SMALL, progress=lambda *done: seen.append(done))
    assert seen == [(512, 1029), (1024, 1029), (1029, 1029)]
    seen.clear()
    length = container.decrypt_file(sealed, back, KEY, progress=lambda *done: seen.append(done))
    assert length == 1029 and seen == [(528, 1077), (1056, 1077), (1077, 1077)]


@pytest.mark.parametrize("change", [-1, 1])
def test_a_source_that_changes_meanwhile_is_told(
    tmp_path: Path, change: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if its size had been another when it was opened."""
    source, target = tmp_path / "plain", tmp_path / "out"
    source.write_bytes(bytes(1000))
    opened_source = container.open_source

    def other_size(path: Path) -> tuple[int, int, int]:
        handle, size, mode = opened_source(path)
        return handle, size - change, mode

    monkeypatch.setattr(container, "open_source", other_size)
    said = "became shorter while it was read" if change < 0 else "grew while it was read"
    with pytest.raises(MotecryptError, match=f"plain: {said}; nothing is written"):
        container.encrypt_file(source, target, KEY, chunk_bytes=SMALL)
    assert not target.exists()


def test_an_empty_last_chunk_is_refused(tmp_path: Path) -> None:
    """One that only the key's owner can make: full chunks, then an empty one."""
    sealed = sealed_file(tmp_path, bytes(SMALL))
    header = container.parse_header(sealed.read_bytes(), "f")
    _, chunk_key = container.keys_of(header, KEY)
    chunks = container._Chunks(header, chunk_key)
    head = sealed.read_bytes()[: container.HEADER_BYTES]
    sealed.write_bytes(
        head + b"".join(bytes(chunks.seal(memoryview(plain), not plain)) for plain in (bytes(SMALL), b""))
    )
    refused(sealed, "ends in an empty chunk")


def test_short_reads_and_failing_disks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, sealed = tmp_path / "plain", tmp_path / "sealed"
    source.write_bytes(bytes(range(200)))
    read = os.readv
    with monkeypatch.context() as patched:
        patched.setattr(container.os, "readv", lambda handle, rooms: read(handle, [rooms[0][:7]]))
        container.encrypt_file(source, sealed, KEY, chunk_bytes=SMALL)
        assert opened(sealed) == bytes(range(200))

    def broken(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(container.os, "readv", broken)
    with pytest.raises(InputError, match="plain: cannot be read: Input/output error"):
        container.encrypt_file(source, sealed, KEY, force=True)


def test_what_a_read_leaves_is_asked_for_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, sealed = tmp_path / "plain", tmp_path / "sealed"
    source.write_bytes(bytes(index % 251 for index in range(SMALL + 300)))
    asked: list[int] = []
    read = os.readv

    def short(handle: int, rooms: list[memoryview]) -> int:
        asked.append(len(rooms[0]))
        return read(handle, [rooms[0][:200]])

    monkeypatch.setattr(container.os, "readv", short)
    monkeypatch.setattr(container, "READ_BYTES", SMALL)
    container.encrypt_file(source, sealed, KEY, chunk_bytes=SMALL)
    assert asked == [512, 312, 112, 300, 100]
    asked.clear()
    assert opened(sealed) == source.read_bytes()
    assert asked == [84, 528, 328, 128, 316, 116]


@pytest.mark.parametrize("length", [0, 1, 2 * SMALL, 3 * SMALL - 1, 3 * SMALL, 4 * SMALL, 5 * SMALL + 7])
@pytest.mark.parametrize("read_bytes", [SMALL, 2 * SMALL, 3 * SMALL + 1, 100 * SMALL])
def test_how_many_chunks_are_read_read_bytes_changes_no_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int, read_bytes: int
) -> None:
    """A chunk's number and mark of the last are the same wherever the reads end."""
    plain = bytes(index % 251 for index in range(length))
    monkeypatch.setattr(container.secrets, "token_bytes", bytes)
    whole = sealed_file(tmp_path, plain).read_bytes()
    monkeypatch.setattr(container, "READ_BYTES", read_bytes)
    sealed = sealed_file(tmp_path, plain)
    assert sealed.read_bytes() == whole and opened(sealed) == plain
    damaged = bytearray(whole)
    damaged[-1] ^= 1
    sealed.write_bytes(damaged)
    refused(sealed, f"chunk {max(length - 1, 0) // SMALL} is not genuine")


def test_what_is_a_container(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content, expected in (
        (b"motefile", True),
        (b"motefile and more", True),
        (b"motefil", False),
        (b"motefild", False),
        (b"motefilf", False),
    ):
        path.write_bytes(content)
        assert container.is_container(path) is expected
    assert container.is_container(tmp_path / "none") is False


@pytest.mark.parametrize("length", [16, 24, 32])
def test_keys_of_every_size(tmp_path: Path, length: int) -> None:
    secret = Secret(key=bytes(range(length)))
    sealed = sealed_file(tmp_path, b"x", secret)
    assert opened(sealed, secret) == b"x"
    with pytest.raises(InputError, match="16, 24 or 32"):
        Secret(key=bytes(length + 1))


def test_unknown_ciphers_list_what_there_is(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"x")
    with pytest.raises(InputError, match="aes256-gcm, chacha20-poly1305"):
        container.encrypt_file(tmp_path / "plain", tmp_path / "out", KEY, cipher="rc4")
