"""Our C code on the host, from Python: the only binding. One build serves this and the host runner.

`open_cipher("rc4d").encrypt(...)` compiles the cipher with the host's compiler at first use.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from pathlib import Path

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import Cipher, Implementation
from motecrypt.build.toolchain import BuildRequest, build
from motecrypt.catalog import Catalog
from motecrypt.catalog.publickey import PublicKeyAlgorithm

BAD_KEY = 1
_STATUS = {BAD_KEY: "bad key length", 2: "bad nonce length", 3: "bad message or associated-data length"}


class BadTag(MotecryptError):
    """The tag is wrong: the message was changed or the key, nonce or associated data differ."""


class _Io(ctypes.Structure):
    _fields_ = (
        ("nonce", ctypes.c_char_p),
        ("ad", ctypes.c_char_p),
        ("input", ctypes.c_void_p),
        ("output", ctypes.c_void_p),
        ("tag", ctypes.c_void_p),
        ("bytes", ctypes.c_size_t),
        ("ad_bytes", ctypes.c_size_t),
        ("nonce_bytes", ctypes.c_uint8),
    )


class NativeCipher:
    """One implementation of one cipher, compiled for the host.

    Methods raise InputError for lengths that the cipher does not take, BadTag for a wrong tag.
    """

    def __init__(
        self, cipher: Cipher | PublicKeyAlgorithm, implementation: Implementation, library: Path
    ) -> None:
        self.cipher = cipher
        self.implementation = implementation
        self._library = ctypes.CDLL(str(library))
        size = ctypes.c_size_t.in_dll(self._library, "cipher_context_bytes").value
        # Contexts may ask for an alignment: give them the largest that any does.
        self._memory = ctypes.create_string_buffer(size + 512)
        start = ctypes.addressof(self._memory)
        self._context = ctypes.c_void_p((start + 255) & ~255)
        for name in ("cipher_encrypt", "cipher_decrypt", "cipher_setup"):
            getattr(self._library, name).restype = ctypes.c_uint8
        self._library.cipher_setup.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint8]
        for name in ("cipher_encrypt", "cipher_decrypt"):
            getattr(self._library, name).argtypes = [ctypes.c_void_p, ctypes.c_void_p]

    def setup(self, key: bytes) -> None:
        """Take a key; InputError when its length does not fit."""
        if len(key) > 256 or len(key) > self.implementation.key_bytes_allowed:
            raise InputError(
                f"{self.cipher.name}: a key of {len(key)} bytes is too long; it takes up to "
                f"{min(256, self.implementation.key_bytes_allowed)}"
            )
        # In a byte 256 is 0, which no key may be: the code would read 256 bytes of it.
        status = self._library.cipher_setup(self._context, key, len(key) & 255) if key else BAD_KEY
        self._check(status, len(key))

    def _check(self, status: int, length: int) -> None:
        if status == 4:
            raise BadTag(
                f"{self.cipher.name}: the tag is wrong: message, key, nonce or associated data differ"
            )
        if status:
            raise InputError(f"{self.cipher.name}: {_STATUS.get(status, status)} ({length} bytes)")

    def _run(
        self, function: str, data: bytes, nonce: bytes, ad: bytes, tag: bytes, in_place: bool
    ) -> tuple[bytes, bytes]:
        if len(nonce) > 255:
            raise InputError(f"{self.cipher.name}: a nonce of {len(nonce)} bytes is too long")
        source = ctypes.create_string_buffer(data, len(data))
        target = source if in_place else ctypes.create_string_buffer(len(data))
        tag_buffer = ctypes.create_string_buffer(tag, max(16, len(tag)))
        io = _Io(
            nonce,
            ad,
            ctypes.addressof(source),
            ctypes.addressof(target),
            ctypes.addressof(tag_buffer),
            len(data),
            len(ad),
            len(nonce),
        )
        status = getattr(self._library, function)(self._context, ctypes.byref(io))
        self._check(status, len(data))
        return target.raw[: len(data)], tag_buffer.raw[: self.cipher.tag_bytes]

    def encrypt(
        self, message: bytes, nonce: bytes = b"", ad: bytes = b"", *, in_place: bool = True
    ) -> tuple[bytes, bytes]:
        """Ciphertext (as long as the message) and tag (b"" where the cipher has none)."""
        return self._run("cipher_encrypt", message, nonce, ad, b"", in_place)

    def decrypt(
        self,
        ciphertext: bytes,
        nonce: bytes = b"",
        ad: bytes = b"",
        tag: bytes = b"",
        *,
        in_place: bool = True,
    ) -> bytes:
        """The message; BadTag when the tag is wrong."""
        if len(tag) != self.cipher.tag_bytes:
            raise InputError(f"{self.cipher.name}: a tag of {len(tag)} bytes; it has {self.cipher.tag_bytes}")
        return self._run("cipher_decrypt", ciphertext, nonce, ad, tag, in_place)[0]


@lru_cache(maxsize=256)
def _library(implementation: Implementation) -> Path:
    device = Catalog.load().device("host")
    return build(BuildRequest(device, implementation, next(iter(device.placements)))).elf


def open_cipher(name: str, variant: str | None = None, catalog: Catalog | None = None) -> NativeCipher:
    """A cipher of ours by name, in the variant named or the first that runs on the host; of these, one
    in constant time if there is one, because a computer has caches."""
    catalog = catalog or Catalog.load()
    cipher = catalog.cipher(name)
    bodies = [i for i in catalog.implementations_of(name, "host") if variant in (None, i.variant, i.name)]
    if not bodies:
        raise InputError(f"{name}: no implementation{f' {variant!r}' if variant else ''} runs on the host")
    return open_implementation(cipher, min(bodies, key=lambda body: body.timing != "constant"))


def open_implementation(cipher: Cipher | PublicKeyAlgorithm, implementation: Implementation) -> NativeCipher:
    """A cipher in one certain implementation; or an operation of a public-key algorithm, as bridge.c makes a
    cipher of it."""
    return NativeCipher(cipher, implementation, _library(implementation))
