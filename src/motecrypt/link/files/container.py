"""The container "modern": authenticated encryption in chunks, with a real key or a password through Argon2id.

    offset  bytes  what (numbers little-endian)
         0      8  "motefile"
         8      1  version, 1
         9      1  cipher: 1 AES-256-GCM, 2 ChaCha20-Poly1305
        10      1  key: 0 given, 1 Argon2id of a password
        11      1  n: a chunk is 2^n bytes of plaintext, n = 9 to 20
        12      4  Argon2id: memory in KiB (0 for a given key)
        16      2  Argon2id: passes
        18      2  Argon2id: lanes
        20     32  salt, random for each file
        52     32  HMAC-SHA256(header key, bytes 0 to 51)
        84         chunks: ciphertext and 16 bytes of tag each

header key | chunk key = HKDF-SHA256(key, salt, "motecrypt file 1", 64 bytes) (RFC 5869). A chunk's nonce is
its number in 11 bytes, most significant first, and 1 for the last chunk, else 0, as in STREAM (Hoang,
Reyhanitabar, Rogaway, Vizar: Online authenticated-encryption and its nonce-reuse misuse-resistance, 2015):
so chunks cannot be swapped, dropped, repeated or added. All are full but the last, which is empty only in
an empty file. The header's HMAC also ties the file to one key, which GCM and Poly1305 alone do not.
"""

from __future__ import annotations

import hmac
import os
import secrets
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.paths import open_regular
from motecrypt.link.files.writing import NewFile, check_target, open_source

Progress = Callable[[int, int], None]

MAGIC = b"motefile"
VERSION = 1
CIPHERS = {"aes256-gcm": 1, "chacha20-poly1305": 2}
_ENGINES: dict[str, Callable[[bytes], AESGCM | ChaCha20Poly1305]] = {
    "aes256-gcm": AESGCM,
    "chacha20-poly1305": ChaCha20Poly1305,
}
TAG_BYTES = 16
SALT_BYTES = 32
HEADER_BYTES = 84
CHUNK_LOG2 = 16
READ_BYTES = (
    1 << 20
)  # whole chunks of this many bytes are read, sealed and written at a time: fewer system calls
KEY_BYTES = (16, 24, 32)

# RFC 9106, 4: the second recommended choice. What a file may ask of a reader is limited: up to as much memory
# as our own files ask for, and 16 passes over it (a second or so), by itself; up to the limits when allowed.
ARGON_KIB, ARGON_PASSES, ARGON_LANES = 65_536, 3, 4
ARGON_KIB_MAX, ARGON_PASSES_MAX, ARGON_LANES_MAX = 1_048_576, 16, 16

_FIELDS = struct.Struct("<8sBBBBIHH32s")


@dataclass(frozen=True)
class Secret:
    """A key (16, 24 or 32 random bytes) or a password (any text): exactly one of the two."""

    key: bytes | None = None
    password: bytes | None = None

    def __post_init__(self) -> None:
        if (self.key is None) == (self.password is None):
            raise InputError("give a key or a password, not both")
        if self.key is not None and len(self.key) not in KEY_BYTES:
            raise InputError(f"a key of {len(self.key)} bytes; the modern format takes 16, 24 or 32")
        if self.password is not None and not self.password:
            raise InputError("an empty password; give at least one character")


@dataclass(frozen=True)
class Header:
    """What a container says of itself."""

    cipher: str
    from_password: bool
    chunk_bytes: int
    argon_kib: int
    argon_passes: int
    argon_lanes: int
    salt: bytes

    @property
    def sealed_bytes(self) -> int:
        """A full chunk with its tag."""
        return self.chunk_bytes + TAG_BYTES

    def pack(self) -> bytes:
        """Bytes 0 to 51."""
        return _FIELDS.pack(
            MAGIC,
            VERSION,
            CIPHERS[self.cipher],
            int(self.from_password),
            self.chunk_bytes.bit_length() - 1,
            self.argon_kib,
            self.argon_passes,
            self.argon_lanes,
            self.salt,
        )


def is_container(source: Path) -> bool:
    """Whether a file begins as a container does; False if it cannot be read."""
    try:
        with open_regular(source) as file:
            return file.read(len(MAGIC)) == MAGIC
    except (InputError, OSError):
        return False


def parse_header(data: bytes, where: str) -> Header:
    """A header from its first 52 bytes, not yet verified.

    Raises
    ------
    MotecryptError
        Not a container, of another version, or beyond the limits.
    """
    if len(data) < _FIELDS.size or not data.startswith(MAGIC):
        raise MotecryptError(f"{where}: not a file of the modern format; try --format crypt-and-hash")
    _, version, cipher, kind, log2, kib, passes, lanes, salt = _FIELDS.unpack_from(data)
    if version != VERSION:
        raise MotecryptError(f"{where}: version {version} of the format; this program reads {VERSION}")
    names = {number: name for name, number in CIPHERS.items()}
    asks_too_much = kib > ARGON_KIB_MAX or passes > ARGON_PASSES_MAX or lanes > ARGON_LANES_MAX
    senseless = kind and (passes < 1 or lanes < 1 or kib < 8 * lanes)
    if cipher not in names or kind > 1 or not 9 <= log2 <= 20 or asks_too_much or senseless:
        raise MotecryptError(f"{where}: its header is damaged or exceeds the limits of this program")
    return Header(names[cipher], bool(kind), 1 << log2, kib, passes, lanes, salt)


class _Chunks:
    """Seals and opens the chunks of a file in turn: all that one read brought with one call."""

    def __init__(self, header: Header, keys: bytes) -> None:
        self._engine = _ENGINES[header.cipher](keys)
        self._plain_bytes = header.chunk_bytes
        self._sealed_bytes = header.sealed_bytes
        self._room = memoryview(bytearray(_chunks_a_read(header.chunk_bytes) * header.sealed_bytes))
        self._number = 0

    def seal(self, plain: memoryview, last: bool) -> memoryview:
        """Ciphertexts and tags; valid until the next call."""
        return self._each(self._engine.encrypt_into, plain, self._plain_bytes, TAG_BYTES, last)

    def open(self, sealed: memoryview, last: bool) -> memoryview:
        """Plaintexts; valid until the next call.

        Raises
        ------
        _NotGenuine
            With the number of the first chunk that is not.
        """
        try:
            return self._each(self._engine.decrypt_into, sealed, self._sealed_bytes, -TAG_BYTES, last)
        except (InvalidTag, ValueError):
            raise _NotGenuine(self._number) from None

    def _each(
        self, work: Callable[..., int], data: memoryview, size: int, longer: int, last: bool
    ) -> memoryview:
        room, made = self._room, 0
        for start in range(0, len(data), size) or (0,):
            end = min(start + size, len(data))
            nonce = self._number.to_bytes(11, "big") + (b"\1" if last and end == len(data) else b"\0")
            made += work(nonce, data[start:end], None, room[made : made + end - start + longer])
            self._number += 1
        return room[:made]


class _NotGenuine(Exception):
    """A chunk failed its verification; its number is the argument."""


def _chunks_a_read(chunk_bytes: int) -> int:
    return max(1, READ_BYTES // chunk_bytes)


def keys_of(header: Header, secret: Secret) -> tuple[bytes, bytes]:
    """Header key and chunk key, 32 bytes each."""
    if header.from_password:
        if secret.password is None:
            raise InputError("this file was made with a password; give it instead of a key")
        material = _argon(header, secret.password)
    else:
        if secret.key is None:
            raise InputError("this file was made with a key; give it (--key-file) instead of a password")
        material = secret.key
    derived = HKDF(SHA256(), 64, header.salt, b"motecrypt file 1").derive(material)
    return derived[:32], derived[32:]


def _argon(header: Header, password: bytes) -> bytes:
    try:
        from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

        return Argon2id(
            salt=header.salt,
            length=32,
            iterations=header.argon_passes,
            lanes=header.argon_lanes,
            memory_cost=header.argon_kib,
        ).derive(password)
    except (ImportError, UnsupportedAlgorithm):
        raise InputError(
            "passwords need Argon2id, which this 'cryptography' lacks: update it, or use a key"
        ) from None


def encrypt_file(
    source: Path,
    target: Path,
    secret: Secret,
    *,
    cipher: str = "aes256-gcm",
    chunk_bytes: int = 1 << CHUNK_LOG2,
    force: bool = False,
    progress: Progress | None = None,
) -> int:
    """Encrypt a file; returns the size of the new one in bytes.

    Parameters
    ----------
    chunk_bytes
        A power of two, 512 to 1048576: what a reader must hold in memory. Small ones for nodes.
    progress
        Called with (bytes done, bytes in all).
    """
    if cipher not in CIPHERS:
        raise InputError(f"cipher '{cipher}'; the modern format has: {', '.join(CIPHERS)}")
    if chunk_bytes not in [1 << n for n in range(9, 21)]:
        raise InputError(f"chunks of {chunk_bytes} bytes; give a power of two, 512 to 1048576")
    check_target(source, target, force)
    handle, size, mode = open_source(source)
    try:
        hashed = secret.key is None
        salt = secrets.token_bytes(SALT_BYTES)
        header = Header(
            cipher=cipher,
            from_password=secret.password is not None,
            chunk_bytes=chunk_bytes,
            argon_kib=ARGON_KIB if hashed else 0,
            argon_passes=ARGON_PASSES if hashed else 0,
            argon_lanes=ARGON_LANES if hashed else 0,
            salt=salt,
        )
        header_key, chunk_key = keys_of(header, secret)
        packed = header.pack()
        chunks = _Chunks(header, chunk_key)
        with NewFile(target, force=force, mode=mode) as out:
            out.write(packed + hmac.digest(header_key, packed, "sha256"))
            written = HEADER_BYTES
            read_bytes = _chunks_a_read(chunk_bytes) * chunk_bytes
            for plain, last in _read(handle, size, read_bytes, source, progress):
                sealed = chunks.seal(plain, last)
                out.write(sealed)
                written += len(sealed)
            out.keep()
        return written
    finally:
        os.close(handle)


def decrypt_file(
    source: Path,
    target: Path,
    secret: Secret,
    *,
    force: bool = False,
    allow_costly: bool = False,
    progress: Progress | None = None,
) -> int:
    """Decrypt a container; returns the size of the plaintext in bytes. The file appears whole or not at all.

    A new file is its owner's alone; one that is replaced keeps its permissions.

    Parameters
    ----------
    allow_costly
        Whether the header may ask for more than 64 MiB of memory; nobody has verified it before the
        password has been through Argon2id.

    Raises
    ------
    InputError
        The header asks for that much.
    MotecryptError
        Wrong key or password, or a file that was changed, cut, extended or reordered.
    """
    check_target(source, target, force)
    handle, size, _ = open_source(source)
    try:
        start = bytearray(min(size, HEADER_BYTES))
        _fill(memoryview(start), handle, source)
        header = parse_header(bytes(start), str(source))
        if header.argon_kib > ARGON_KIB and not allow_costly:
            raise InputError(
                f"{source}: its password header needs {header.argon_kib // 1024:,} MiB of memory; if "
                "you trust its origin, use --allow-costly"
            )
        header_key, chunk_key = keys_of(header, secret)
        expected = hmac.digest(header_key, start[: _FIELDS.size], "sha256")
        if not hmac.compare_digest(expected, start[_FIELDS.size :]):
            what = "password" if header.from_password else "key"
            raise MotecryptError(f"{source}: wrong {what}, or its header was changed; nothing is written")
        read_bytes = _chunks_a_read(header.chunk_bytes) * header.sealed_bytes
        chunks, written = _Chunks(header, chunk_key), 0
        with NewFile(target, force=force) as out:
            body = size - HEADER_BYTES
            for sealed, last in _read(handle, body, read_bytes, source, progress):
                try:
                    plain = chunks.open(sealed, last)
                except _NotGenuine as error:
                    raise MotecryptError(
                        f"{source}: chunk {error} is not genuine: the file was changed, cut, extended or "
                        "reordered; nothing is written"
                    ) from None
                if last and body > TAG_BYTES and body % header.sealed_bytes == TAG_BYTES:
                    raise MotecryptError(f"{source}: ends in an empty chunk; nothing is written")
                out.write(plain)
                written += len(plain)
            out.keep()
        return written
    finally:
        os.close(handle)


def _read(
    handle: int, length: int, read_bytes: int, source: Path, progress: Progress | None
) -> Iterator[tuple[memoryview, bool]]:
    """Pieces of `length` bytes and whether each is the last; one empty piece of an empty file. A piece is
    valid until the next.
    """
    left, room = length, memoryview(bytearray(min(read_bytes, length)))
    while True:
        piece = room[:left]
        _fill(piece, handle, source)
        left -= len(piece)
        last = not left
        if last and os.read(handle, 1):
            raise MotecryptError(f"{source}: grew while it was read; nothing is written")
        yield piece, last
        if progress is not None:
            progress(length - left, length)
        if last:
            return


def _fill(room: memoryview, handle: int, source: Path) -> None:
    try:
        while room:
            count = os.readv(handle, [room])
            if not count:
                raise MotecryptError(f"{source}: became shorter while it was read; nothing is written")
            room = room[count:]
    except OSError as error:
        raise InputError(f"{source}: cannot be read: {error.strerror}") from None
