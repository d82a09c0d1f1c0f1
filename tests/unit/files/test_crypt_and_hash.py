"""The published format: exchanged with the real program, and what it does with damaged files."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link.files import crypt_and_hash as format_

LINE = b"A line of text, as a node would log it: 21.5 degrees, 3.01 V.\r\n"
SECRET = bytes.fromhex("e76b2413958b00e193")
PAIRS = [(c, d) for c in format_.CIPHERS for d in format_.DIGESTS]
# For decryption the program requires the file without its HMAC in whole blocks, in CTR too.
LENGTHS = {"ctr": (0, 16, 640, 1 << 16), "rc4": (0, 1, 17, 630)}


def real(program: Path, mode: int, source: Path, target: Path, cipher: str, digest: str, key: str) -> None:
    original = format_.CIPHERS[cipher].original
    command = [program, str(mode), source, target, original, digest.upper(), key]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, (done.stdout, done.stderr)


@pytest.mark.parametrize(("cipher", "digest"), PAIRS)
def test_exchanged_with_the_real_program_both_ways(
    crypt_and_hash: Path, tmp_path: Path, cipher: str, digest: str
) -> None:
    lengths = LENGTHS.get(cipher.rpartition("-")[2], (0, 1, 15, 16, 17, 630, 6300, (1 << 20) + 5))
    for length in lengths:
        plain = (LINE * (length // len(LINE) + 1))[:length]
        source, theirs, ours = (tmp_path / f"{name}{length}" for name in ("plain", "theirs", "ours"))
        source.write_bytes(plain)
        real(crypt_and_hash, 0, source, theirs, cipher, digest, "hex:" + SECRET.hex())
        written = format_.encrypt_file(source, ours, SECRET, cipher=cipher, digest=digest)
        assert ours.read_bytes() == theirs.read_bytes()
        assert written == ours.stat().st_size
        back, forth = tmp_path / f"back{length}", tmp_path / f"forth{length}"
        real(crypt_and_hash, 1, ours, back, cipher, digest, "hex:" + SECRET.hex())
        assert back.read_bytes() == plain
        assert format_.decrypt_file(theirs, forth, SECRET, cipher=cipher, digest=digest) == length
        assert forth.read_bytes() == plain


def test_keys_from_files_and_text_are_the_programs(crypt_and_hash: Path, tmp_path: Path) -> None:
    from motecrypt.link.files import secrets

    source, key_file = tmp_path / "plain", tmp_path / "key"
    source.write_bytes(LINE)
    key_file.write_bytes(bytes(range(256)) * 2)
    for number, (typed, secret) in enumerate(
        (
            (str(key_file), secrets.compatible_key_file(key_file)),
            ("correct horse", secrets.compatible_text("correct horse", "test")),
            ("hex:0102ff", secrets.compatible_text("hex:0102ff", "test")),
        )
    ):
        theirs, ours = tmp_path / f"theirs{number}", tmp_path / f"ours{number}"
        real(crypt_and_hash, 0, source, theirs, "aes256-cbc", "sha512", typed)
        format_.encrypt_file(source, ours, secret)
        assert ours.read_bytes() == theirs.read_bytes()


def test_ctr_and_rc4_of_any_length_come_back(tmp_path: Path) -> None:
    source, sealed, back = tmp_path / "plain", tmp_path / "sealed", tmp_path / "back"
    for cipher in ("aes192-ctr", "rc4"):
        for length in (0, 1, 31, 4097):
            source.write_bytes(bytes(length))
            format_.encrypt_file(source, sealed, SECRET, cipher=cipher, force=True)
            assert sealed.stat().st_size == 16 + length + 64
            assert format_.decrypt_file(sealed, back, SECRET, cipher=cipher, force=True) == length
            assert back.read_bytes() == bytes(length)


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    source, target = tmp_path / "plain", tmp_path / "sealed"
    source.write_bytes(LINE)
    format_.encrypt_file(source, target, SECRET)
    return target


def refused(sealed: Path, **how: str) -> None:
    target = sealed.with_name("out")
    with pytest.raises(MotecryptError):
        format_.decrypt_file(sealed, target, SECRET, **how)  # type: ignore[arg-type]
    assert sorted(p.name for p in sealed.parent.iterdir()) == ["plain", "sealed"], "nothing is left behind"


def test_every_flipped_byte_is_refused(sealed: Path) -> None:
    genuine = sealed.read_bytes()
    for place in range(len(genuine)):
        damaged = bytearray(genuine)
        damaged[place] ^= 1 << place % 8
        sealed.write_bytes(damaged)
        refused(sealed)


def test_every_truncation_and_extension_is_refused(sealed: Path) -> None:
    genuine = sealed.read_bytes()
    for length in range(len(genuine)):
        sealed.write_bytes(genuine[:length])
        refused(sealed)
    for more in (b"\0", bytes(16), genuine[-64:], genuine):
        sealed.write_bytes(genuine + more)
        refused(sealed)


def test_a_wrong_key_digest_or_cipher_is_refused(sealed: Path) -> None:
    with pytest.raises(MotecryptError, match="wrong key"):
        format_.decrypt_file(sealed, sealed.with_name("out"), SECRET + b"x")
    refused(sealed, digest="sha256")
    # The HMAC covers no cipher: what refuses here is the padding, by luck in 1 of 256 cases not.
    refusals = 0
    for number in range(4):
        secret, again = SECRET + bytes([number]), sealed.with_name(f"again{number}")
        format_.encrypt_file(sealed, again, secret)
        try:
            format_.decrypt_file(again, sealed.with_name(f"out{number}"), secret, cipher="aes128-cbc")
        except MotecryptError as error:
            assert "genuine, but not aes128-cbc" in str(error)
            refusals += 1
    assert refusals >= 2


def test_secrets_of_a_wrong_length_are_refused(sealed: Path) -> None:
    for secret in (b"", bytes(513)):
        with pytest.raises(InputError, match="1 to 512"):
            format_.encrypt_file(sealed, sealed.with_name("out"), secret)


def test_what_the_facts_say_of_the_format() -> None:
    """Same path and size: same IV; and a short digest leaves the end of the 32 bytes zero."""
    iv = format_.initial_vector("sha512", 630, "/fs/input.txt")
    assert iv == hashlib.sha512(b"\x76\x02" + bytes(6) + b"/fs/input.txt").digest()[:16]
    keys = format_.derive("sha1", iv, SECRET)
    assert len(keys) == 32
    assert keys[20:] == bytes(12)


def test_memory_stays_constant(tmp_path: Path) -> None:
    """A sparse file of 256 MB in a child's own peak (its ru_maxrss would begin at its parent's)."""
    import sys

    source, target = tmp_path / "big", tmp_path / "big.enc"
    with source.open("wb") as file:
        file.truncate(1 << 28)
    code = (
        "import sys; from pathlib import Path; from motecrypt.link.files import crypt_and_hash as f; "
        "f.encrypt_file(Path(sys.argv[1]), Path(sys.argv[2]), b'k'); "
        "print(next(x.split()[1] for x in open('/proc/self/status') if x.startswith('VmHWM')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(source), str(target)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={"PYTHONPATH": str(Path(__file__).resolve().parents[3] / "src")},
    )
    assert target.stat().st_size == (1 << 28) + 16 + 16 + 64
    assert int(done.stdout) < 64 * 1024, "KiB"
