"""The format of Mbed TLS's sample program crypt_and_hash: IV (16) | ciphertext | HMAC (digest's size).

For compatibility only: see `WEAKNESSES`. Reading and writing take constant memory for any size, and a
plaintext gets a name only after its HMAC was found right. Reference: programs/aes/crypt_and_hash.c of
Mbed TLS 2.28 (removed in 4.0; the sample of 3.6 fails for every file in CBC mode).

    IV = MD(file size as 8 bytes, little-endian | path as given)[0..15]
    d = IV | 16 zeros; 8192 times: d = MD(d[0..31] | secret), a short digest replaces only the front
    cipher key = the front of d; HMAC key = d[0..31]; the HMAC is over the ciphertext alone
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4, Blowfish, TripleDES
from cryptography.hazmat.primitives.ciphers import Cipher, CipherAlgorithm, modes
from cryptography.hazmat.primitives.ciphers.algorithms import AES

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link.files.writing import NewFile, check_target, open_source

Progress = Callable[[int, int], None]

IV_BYTES = 16
ROUNDS = 8192
SECRET_BYTES_MAX = 512
PIECE_BYTES = 1 << 20

WEAKNESSES = (
    "files of the same path and size have the same key and IV, so equal beginnings are visible (in CTR "
    "and RC4: both "
    "are readable from their difference)",
    "the HMAC covers neither the IV nor the choice of cipher",
    "8192 hashes hardly slow down guessing a password: hardware computes billions a second",
)

_ALGORITHMS: dict[str, Callable[[bytes], CipherAlgorithm]] = {
    "AES": AES,
    "DES": TripleDES,
    "BLOWFISH": Blowfish,
    "ARC4": ARC4,
}


@dataclass(frozen=True)
class FileCipher:
    """A cipher of the format. `original` is its name in Mbed TLS; `pads_to`: whole blocks of so many bytes,
    or 0 where nothing is padded."""

    name: str
    original: str
    key_bytes: int
    pads_to: int

    def engine(self, key: bytes, iv: bytes) -> Cipher[Any]:
        """The cipher with the key and as much of the IV as it takes."""
        algorithm = _ALGORITHMS[self.original.partition("-")[0]](key[: self.key_bytes])
        if self.pads_to:
            return Cipher(algorithm, modes.CBC(iv[: self.pads_to]))
        return Cipher(algorithm, None if isinstance(algorithm, ARC4) else modes.CTR(iv))


CIPHERS = {
    c.name: c
    for c in (
        *(FileCipher(f"aes{b}-cbc", f"AES-{b}-CBC", b // 8, 16) for b in (128, 192, 256)),
        *(FileCipher(f"aes{b}-ctr", f"AES-{b}-CTR", b // 8, 0) for b in (128, 192, 256)),
        FileCipher("3des-cbc", "DES-EDE3-CBC", 24, 8),
        FileCipher("blowfish-cbc", "BLOWFISH-CBC", 16, 8),
        FileCipher("rc4", "ARC4-128", 16, 0),
    )
}
DIGESTS = {"sha1": 20, "sha256": 32, "sha512": 64}


def initial_vector(digest: str, size: int, path: str) -> bytes:
    """The IV that the program derives from a file's size in bytes and its path as it was typed."""
    return hashlib.new(digest, size.to_bytes(8, "little") + os.fsencode(path)).digest()[:IV_BYTES]


def derive(digest: str, iv: bytes, secret: bytes, rounds: int = ROUNDS) -> bytes:
    """The 32 bytes (64 for SHA-512, of which 32 are used) that keys are cut from."""
    d = iv + bytes(16)
    for _ in range(rounds):
        out = hashlib.new(digest, d[:32] + secret).digest()
        d = out + d[len(out) :]
    return d


def encrypt_file(
    source: Path,
    target: Path,
    secret: bytes,
    *,
    cipher: str = "aes256-cbc",
    digest: str = "sha512",
    path_in_iv: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> int:
    """Encrypt a file; returns the size of the new one in bytes.

    Parameters
    ----------
    secret
        1 to 512 bytes: key or password, used in the same way.
    path_in_iv
        What the IV is derived from next to the size; default: `source` as given, as the program does.
    progress
        Called with (bytes done, bytes in all).

    Raises
    ------
    InputError
        A file that cannot be read or written, a bad secret, an unknown cipher or digest.
    MotecryptError
        The source changed its size meanwhile.
    """
    body, mac_bytes = _choose(cipher, digest, secret)
    from concurrent.futures import ThreadPoolExecutor  # which the other format does without

    check_target(source, target, force)
    handle, size, mode = open_source(source)
    try:
        iv = initial_vector(digest, size, str(source) if path_in_iv is None else path_in_iv)
        keys = derive(digest, iv, secret)
        mac = hmac.new(keys[:32], digestmod=digest)
        engine = body.engine(keys, iv).encryptor()
        # Two outputs in turn: while one is hashed, the next piece is encrypted into the other.
        output, other = _output(), _output()
        with NewFile(target, force=force, mode=mode) as out, ThreadPoolExecutor(1) as beside:
            out.write(iv)
            written = IV_BYTES
            hashing = beside.submit(mac.update, b"")
            for piece in _pieces(handle, size, source, progress):
                output, other = other, output
                made = output[: engine.update_into(piece, output)]
                hashing.result()
                hashing = beside.submit(mac.update, made)  # hashlib lets other threads run meanwhile
                out.write(made)
                written += len(made)
            hashing.result()
            last = _padded_end(engine, body, size)
            mac.update(last)
            out.write(last + mac.digest())
            out.keep()
        return written + len(last) + mac_bytes
    finally:
        os.close(handle)


def decrypt_file(
    source: Path,
    target: Path,
    secret: bytes,
    *,
    cipher: str = "aes256-cbc",
    digest: str = "sha512",
    force: bool = False,
    progress: Progress | None = None,
) -> int:
    """Decrypt a file; returns the size of the new one in bytes. Parameters as of `encrypt_file`.

    The new file gets its name only when the HMAC is right. Every byte is read once, so that what was
    verified is what was decrypted.

    Raises
    ------
    MotecryptError
        Wrong key, another digest, or a file that was changed, truncated or extended.
    """
    body, mac_bytes = _choose(cipher, digest, secret)
    from concurrent.futures import ThreadPoolExecutor  # which the other format does without

    check_target(source, target, force)
    handle, size, _ = open_source(source)
    try:
        length = size - IV_BYTES - mac_bytes
        if length < 0 or (body.pads_to and (not length or length % body.pads_to)):
            raise MotecryptError(
                f"{source}: {size} bytes cannot be {body.name} with {digest}; truncated, extended, or made "
                "with another cipher or digest"
            )
        iv = _read_exactly(handle, IV_BYTES, source)
        keys = derive(digest, iv, secret)
        mac = hmac.new(keys[:32], digestmod=digest)
        engine = body.engine(keys, iv).decryptor()
        output = _output()
        end = b""
        with NewFile(target, force=force) as out, ThreadPoolExecutor(1) as beside:
            for piece in _pieces(handle, length, source, progress):
                hashing = beside.submit(mac.update, piece)
                made = output[: engine.update_into(piece, output)]
                if body.pads_to:  # the last block is written when its padding has been looked at
                    out.write(end)
                    end = bytes(made[-body.pads_to :])
                    made = made[: -body.pads_to]
                out.write(made)
                hashing.result()
            plain_end, padding_wrong = _without_padding(end, body)
            out.write(plain_end)
            written = length - (len(end) - len(plain_end))
            tag = _read_exactly(handle, mac_bytes, source)
            if not hmac.compare_digest(tag, mac.digest()) or os.read(handle, 1):
                raise MotecryptError(
                    f"{source}: wrong key or digest, or the file was changed; nothing is written"
                )
            if padding_wrong:
                raise MotecryptError(
                    f"{source}: genuine, but not {body.name} (the format does not say which cipher); give "
                    "the right --cipher"
                )
            out.keep()
        return written
    finally:
        os.close(handle)


def _choose(cipher: str, digest: str, secret: bytes) -> tuple[FileCipher, int]:
    if cipher not in CIPHERS:
        raise InputError(f"cipher '{cipher}'; the format has: {', '.join(CIPHERS)}")
    if digest not in DIGESTS:
        raise InputError(f"digest '{digest}'; the format has: {', '.join(DIGESTS)}")
    if not 1 <= len(secret) <= SECRET_BYTES_MAX:
        raise InputError(f"a key of {len(secret)} bytes; the format takes 1 to {SECRET_BYTES_MAX}")
    return CIPHERS[cipher], DIGESTS[digest]


def _output() -> memoryview:
    """Room for a piece, and for the block (an IV's size at most) that an engine may have kept of the last."""
    return memoryview(bytearray(PIECE_BYTES) + bytes(IV_BYTES))


def _pieces(handle: int, length: int, source: Path, progress: Progress | None) -> Iterator[memoryview]:
    """The next `length` bytes in whole pieces; each is overwritten by the one after the next."""
    buffer, other = memoryview(bytearray(PIECE_BYTES)), memoryview(bytearray(PIECE_BYTES))
    left = length
    while left:
        buffer, other = other, buffer
        piece = rest = buffer[: min(PIECE_BYTES, left)]
        while rest:
            try:
                more = os.readv(handle, [rest])
            except OSError as error:
                raise InputError(f"{source}: cannot be read: {error.strerror}") from None
            if not more:
                raise MotecryptError(f"{source}: became shorter while it was read; nothing is written")
            rest = rest[more:]
        left -= len(piece)
        yield piece
        if progress is not None:
            progress(length - left, length)


def _padded_end(engine: Any, body: FileCipher, size: int) -> bytes:
    """The last block: what is left in the engine, and the padding (PKCS #7)."""
    if not body.pads_to:
        return b""
    count = body.pads_to - size % body.pads_to
    end: bytes = engine.update(bytes([count]) * count) + engine.finalize()
    return end


def _without_padding(end: bytes, body: FileCipher) -> tuple[bytes, bool]:
    """The last block without its padding, and whether that was wrong (reported only if the HMAC is right)."""
    if not body.pads_to:
        return b"", False
    count = end[-1]
    wrong = end[-count:] != bytes([count]) * count  # no count but 1 to the block's size can be right
    return (b"" if wrong else end[:-count]), wrong


def _read_exactly(handle: int, count: int, source: Path) -> bytes:
    data = b""
    while left := count - len(data):
        more = os.read(handle, left)
        if not more:
            raise MotecryptError(f"{source}: became shorter while it was read; nothing is written")
        data += more
    return data
