"""The published format by its own description, piece by piece: needs neither Mbed TLS nor its program."""

from __future__ import annotations

import hashlib
import hmac
import os
import tracemalloc
from itertools import islice
from pathlib import Path

import pytest
from Crypto.Cipher import AES, ARC4, DES3, Blowfish
from Crypto.Util import Counter
from Crypto.Util.Padding import pad

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link.files import crypt_and_hash as format_

SECRET = b"a secret"


def by_the_book(cipher: str, digest: str, plain: bytes, path: str, secret: bytes) -> bytes:
    """The format's docstring, over another library and in one piece."""
    iv = hashlib.new(digest, len(plain).to_bytes(8, "little") + path.encode()).digest()[:16]
    keys = iv + bytes(16)
    for _ in range(8192):
        made = hashlib.new(digest, keys[:32] + secret).digest()
        keys = made + keys[len(made) :]
    if cipher == "rc4":
        sealed = ARC4.new(keys[:16]).encrypt(plain)
    elif cipher.endswith("ctr"):
        counter = Counter.new(128, initial_value=int.from_bytes(iv, "big"))
        sealed = AES.new(keys[: int(cipher[3:6]) // 8], AES.MODE_CTR, counter=counter).encrypt(plain)
    elif cipher == "3des-cbc":
        sealed = DES3.new(keys[:24], DES3.MODE_CBC, iv[:8]).encrypt(pad(plain, 8))
    elif cipher == "blowfish-cbc":
        sealed = Blowfish.new(keys[:16], Blowfish.MODE_CBC, iv[:8]).encrypt(pad(plain, 8))
    else:
        sealed = AES.new(keys[: int(cipher[3:6]) // 8], AES.MODE_CBC, iv).encrypt(pad(plain, 16))
    return iv + sealed + hmac.digest(keys[:32], sealed, digest)


@pytest.mark.parametrize("cipher", sorted(format_.CIPHERS))
@pytest.mark.parametrize("digest", sorted(format_.DIGESTS))
def test_files_are_what_the_description_says(tmp_path: Path, cipher: str, digest: str) -> None:
    source, sealed, back = tmp_path / "plain", tmp_path / "sealed", tmp_path / "back"
    for length in (0, 15, 100) if digest == "sha1" else (1, 8, 16):
        plain = bytes(7 * index % 256 for index in range(length))
        source.write_bytes(plain)
        how = {"cipher": cipher, "digest": digest, "force": True}
        written = format_.encrypt_file(source, sealed, SECRET, **how)  # type: ignore[arg-type]
        assert sealed.read_bytes() == by_the_book(cipher, digest, plain, str(source), SECRET)
        assert written == sealed.stat().st_size
        assert format_.decrypt_file(sealed, back, SECRET, **how) == length  # type: ignore[arg-type]
        assert back.read_bytes() == plain


@pytest.mark.parametrize("cipher", ["aes256-cbc", "aes128-ctr", "rc4"])
@pytest.mark.parametrize("more", [-17, -1, 0, 1, 16, 64 + 5])
def test_files_of_several_pieces(
    tmp_path: Path, cipher: str, more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(format_, "PIECE_BYTES", 64)
    source, sealed, back = tmp_path / "plain", tmp_path / "sealed", tmp_path / "back"
    plain = bytes(7 * index % 256 for index in range(192 + more))
    source.write_bytes(plain)
    seen: list[tuple[int, int]] = []
    format_.encrypt_file(
        source, sealed, SECRET, cipher=cipher, path_in_iv="named", progress=lambda *done: seen.append(done)
    )
    assert sealed.read_bytes() == by_the_book(cipher, "sha512", plain, "named", SECRET)
    ends = [*range(64, len(plain), 64), len(plain)]
    assert seen == [(end, len(plain)) for end in ends]
    seen.clear()
    length = len(sealed.read_bytes()) - 16 - 64
    assert format_.decrypt_file(
        sealed, back, SECRET, cipher=cipher, progress=lambda *done: seen.append(done)
    ) == len(plain)
    assert back.read_bytes() == plain and seen[-1] == (length, length)


def test_secrets_of_1_to_512_bytes(tmp_path: Path) -> None:
    source, sealed = tmp_path / "plain", tmp_path / "sealed"
    source.write_bytes(b"x")
    for secret in (b"k", bytes(512)):
        format_.encrypt_file(source, sealed, secret, force=True)
        assert sealed.read_bytes() == by_the_book("aes256-cbc", "sha512", b"x", str(source), secret)
    for secret in (b"", bytes(513)):
        for run in (format_.encrypt_file, format_.decrypt_file):
            with pytest.raises(InputError, match="1 to 512"):
                run(source, sealed, secret, force=True)


@pytest.mark.parametrize("what", [{"cipher": "aes"}, {"digest": "md5"}])
def test_unknown_names_list_what_there_is(tmp_path: Path, what: dict[str, str]) -> None:
    (tmp_path / "plain").write_bytes(b"x")
    with pytest.raises(InputError, match=r"the format has: (aes128-cbc, .*rc4|sha1, sha256, sha512)$"):
        format_.encrypt_file(tmp_path / "plain", tmp_path / "sealed", SECRET, **what)  # type: ignore[arg-type]


def genuine(cipher: str, sealed: bytes, iv: bytes = bytes(16)) -> bytes:
    """A file whose HMAC is right, whatever its ciphertext is."""
    keys = format_.derive("sha512", iv, SECRET)
    return iv + sealed + hmac.digest(keys[:32], sealed, "sha512")


@pytest.mark.parametrize(
    ("end", "right"),
    [
        (bytes(15) + b"\x01", True),
        (bytes(14) + b"\x02\x02", True),
        (b"\x10" * 16, True),
        (bytes(16), False),
        (bytes(15) + b"\x11", False),
        (b"\x11" * 16, False),
        (bytes(14) + b"\x01\x02", False),
        (bytes(14) + b"\x03\x02", False),
        (b"\x00" + b"\x10" * 15, False),
        (bytes(15) + b"\xff", False),
    ],
)
def test_padding_is_looked_at_once_the_hmac_is_right(tmp_path: Path, end: bytes, right: bool) -> None:
    iv, source, target = bytes(range(16)), tmp_path / "sealed", tmp_path / "out"
    keys = format_.derive("sha512", iv, SECRET)
    sealed = AES.new(keys[:32], AES.MODE_CBC, iv).encrypt(b"the first block." + end)
    source.write_bytes(genuine("aes256-cbc", sealed, iv))
    if right:
        length = 32 - end[-1]
        assert format_.decrypt_file(source, target, SECRET) == length
        assert target.read_bytes() == (b"the first block." + end)[:length]
    else:
        with pytest.raises(MotecryptError, match="genuine, but not aes256-cbc"):
            format_.decrypt_file(source, target, SECRET)
        assert not target.exists()
        source.write_bytes(source.read_bytes()[:-1] + b"\0")
        with pytest.raises(MotecryptError, match="wrong key or digest"):
            format_.decrypt_file(source, target, SECRET)


@pytest.mark.parametrize(
    ("cipher", "length", "possible"),
    [
        ("aes256-cbc", 0, False),
        ("aes256-cbc", 8, False),
        ("aes256-cbc", 16, True),
        ("aes256-cbc", 24, False),
        ("3des-cbc", 0, False),
        ("3des-cbc", 8, True),
        ("aes256-ctr", -1, False),
        ("aes256-ctr", 0, True),
        ("rc4", 1, True),
    ],
)
def test_lengths_that_cannot_be(tmp_path: Path, cipher: str, length: int, possible: bool) -> None:
    source = tmp_path / "sealed"
    source.write_bytes(bytes(16 + 64 + length))
    said = "wrong key or digest" if possible else "bytes cannot be"
    with pytest.raises(MotecryptError, match=said):
        format_.decrypt_file(source, tmp_path / "out", SECRET, cipher=cipher)
    assert [path.name for path in tmp_path.iterdir()] == ["sealed"]


@pytest.mark.parametrize("change", [-1, 1])
def test_a_source_that_changes_meanwhile_is_told(
    tmp_path: Path, change: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if its size had been another when it was opened."""
    source, sealed, target = tmp_path / "plain", tmp_path / "sealed", tmp_path / "out"
    source.write_bytes(bytes(100))
    format_.encrypt_file(source, sealed, SECRET, cipher="rc4")
    opened = format_.open_source

    def other_size(path: Path) -> tuple[int, int, int]:
        handle, size, mode = opened(path)
        return handle, size - change, mode

    monkeypatch.setattr(format_, "open_source", other_size)
    with pytest.raises(MotecryptError, match=r"became shorter|wrong key or digest, or the file was changed"):
        format_.decrypt_file(sealed, target, SECRET, cipher="rc4")
    if change < 0:
        with pytest.raises(MotecryptError, match="became shorter while it was read"):
            format_.encrypt_file(source, target, SECRET, cipher="rc4")
    assert not target.exists()


@pytest.mark.parametrize("after", [b"", b"x"])
def test_what_follows_the_hmac_is_seen(tmp_path: Path, after: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that grows once its size was asked."""
    source, sealed, target = tmp_path / "plain", tmp_path / "sealed", tmp_path / "out"
    source.write_bytes(bytes(100))
    format_.encrypt_file(source, sealed, SECRET, digest="sha1")
    sealed.write_bytes(sealed.read_bytes() + after)
    opened, read, asked = format_.open_source, os.read, []

    def as_it_was(path: Path) -> tuple[int, int, int]:
        handle, size, mode = opened(path)
        return handle, size - len(after), mode

    def counted(handle: int, count: int) -> bytes:
        asked.append(count)
        return read(handle, count)

    monkeypatch.setattr(format_, "open_source", as_it_was)
    monkeypatch.setattr(format_.os, "read", counted)
    if after:
        with pytest.raises(MotecryptError, match="wrong key or digest, or the file was changed"):
            format_.decrypt_file(sealed, target, SECRET, digest="sha1")
        assert not target.exists()
    else:
        assert format_.decrypt_file(sealed, target, SECRET, digest="sha1") == 100
    assert asked == [16, 20, 1]


def test_short_reads_are_put_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, sealed, back = tmp_path / "plain", tmp_path / "sealed", tmp_path / "back"
    source.write_bytes(bytes(range(200)))
    read, readv = os.read, os.readv
    monkeypatch.setattr(format_.os, "read", lambda handle, count: read(handle, min(3, count)))
    monkeypatch.setattr(
        format_.os, "readv", lambda handle, buffers: readv(handle, [memoryview(buffers[0])[:7]])
    )
    format_.encrypt_file(source, sealed, SECRET)
    assert sealed.read_bytes() == by_the_book("aes256-cbc", "sha512", bytes(range(200)), str(source), SECRET)
    format_.decrypt_file(sealed, back, SECRET)
    assert back.read_bytes() == bytes(range(200))


def test_a_disk_that_fails_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "plain"
    source.write_bytes(bytes(10))

    def broken(*_: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(format_.os, "readv", broken)
    with pytest.raises(InputError, match="plain: cannot be read: Input/output error"):
        format_.encrypt_file(source, tmp_path / "out", SECRET)


def test_a_piece_lasts_until_the_one_after_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One is hashed while the next is read."""
    monkeypatch.setattr(format_, "PIECE_BYTES", 4)
    source = tmp_path / "plain"
    source.write_bytes(b"aaaabbbbcc")
    handle = os.open(source, os.O_RDONLY)
    try:
        pieces = format_._pieces(handle, 10, source, None)
        first, second = next(pieces), next(pieces)
        assert (bytes(first), bytes(second)) == (b"aaaa", b"bbbb")
        assert [bytes(piece) for piece in islice(pieces, 9)] == [b"cc"]
    finally:
        os.close(handle)


def test_memory_does_not_grow_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    piece = 1 << 16
    monkeypatch.setattr(format_, "PIECE_BYTES", piece)
    plain, sealed, back = tmp_path / "plain", tmp_path / "sealed", tmp_path / "back"
    plain.write_bytes(bytes(20 * piece))
    format_.encrypt_file(plain, sealed, SECRET)  # imports what it needs
    for step in (format_.encrypt_file, format_.decrypt_file):
        one, other = (plain, sealed) if step is format_.encrypt_file else (sealed, back)
        tracemalloc.start()
        try:
            step(one, other, SECRET, force=True)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 6 * piece


def test_progress_is_told_for_each_mebibyte(tmp_path: Path) -> None:
    source, size = tmp_path / "plain", (2 << 20) + 5
    source.write_bytes(bytes(size))
    seen: list[tuple[int, int]] = []
    format_.encrypt_file(source, tmp_path / "out", SECRET, progress=lambda *done: seen.append(done))
    assert seen == [(1 << 20, size), (2 << 20, size), (size, size)]
