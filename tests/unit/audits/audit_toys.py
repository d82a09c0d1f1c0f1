"""Ciphers in plain Python that the audits are tried on: slow, written from their definitions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from motecrypt.attack.audits.oracle import Rejected
from motecrypt.base.model import Cipher, MessageLengths

IV = 42


def schedule(key: bytes) -> list[int]:
    """RC4's key schedule."""
    s, j = list(range(256)), 0
    for i in range(256):
        j = (j + s[i] + key[i % len(key)]) % 256
        s[i], s[j] = s[j], s[i]
    return s


def rc4(key: bytes, message: bytes) -> bytes:
    """RC4: encrypts and decrypts."""
    s, i, j, out = schedule(key), 0, 0, bytearray()
    for byte in message:
        i = (i + 1) % 256
        j = (j + s[i]) % 256
        s[i], s[j] = s[j], s[i]
        out.append(byte ^ s[(s[i] + s[j]) % 256])
    return bytes(out)


def _pass(key: bytes, message: bytes, decrypts: bool) -> bytes:
    s, i, j, out = schedule(key), 0, 0, bytearray()
    previous = IV
    for byte in message:
        i = (i + 1) % 256
        j = (j + s[i]) % 256
        s[i], s[j] = s[j], s[i]
        out.append(s[(s[i] + s[j]) % 256] ^ s[previous] ^ byte)
        previous = byte if decrypts else out[-1]
    return bytes(out)


def rc4d_encrypt(key: bytes, message: bytes) -> bytes:
    """RC4D as its source describes it: RC4 with feedback, reversed, and once more."""
    return _pass(key, _pass(key, message, False)[::-1], False)


def rc4d_decrypt(key: bytes, ciphertext: bytes) -> bytes:
    """The inverse of `rc4d_encrypt`."""
    return _pass(key, _pass(key, ciphertext, True)[::-1], True)


def rc4d_two_keys(key: bytes, message: bytes) -> bytes:
    """RC4D with a key for each pass."""
    half = len(key) // 2
    return _pass(key[half:], _pass(key[:half], message, False)[::-1], False)


Function = Callable[[bytes, bytes, bytes, bytes], tuple[bytes, bytes]]
Inverse = Callable[[bytes, bytes, bytes, bytes, bytes], bytes]


class Toy:
    """A keyed cipher made of two functions of key, message, nonce, associated data (and tag)."""

    def __init__(self, key: bytes, encrypt: Function, decrypt: Inverse) -> None:
        self._key, self._encrypt, self._decrypt = key, encrypt, decrypt

    def encrypt(self, message: bytes, nonce: bytes = b"", ad: bytes = b"") -> tuple[bytes, bytes]:
        """Ciphertext and tag."""
        return self._encrypt(self._key, message, nonce, ad)

    def decrypt(self, ciphertext: bytes, nonce: bytes = b"", ad: bytes = b"", tag: bytes = b"") -> bytes:
        """The message; raises Rejected."""
        return self._decrypt(self._key, ciphertext, nonce, ad, tag)


class ToyAccess:
    """Keyed toys."""

    def __init__(self, encrypt: Function, decrypt: Inverse) -> None:
        self._encrypt, self._decrypt = encrypt, decrypt

    def keyed(self, key: bytes) -> Toy:
        """The toy under a key."""
        return Toy(key, self._encrypt, self._decrypt)


class Told:
    """An access that notes all that it is asked."""

    def __init__(self, access: ToyAccess) -> None:
        self._access = access
        self._asked = hashlib.sha256()

    def keyed(self, key: bytes) -> Toy:
        """The cipher under a key, which is noted."""
        held = self._access.keyed(key)

        def encrypt(_: bytes, *given: bytes) -> tuple[bytes, bytes]:
            self._asked.update(repr(("encrypt", key, given)).encode())
            return held.encrypt(*given)

        def decrypt(_: bytes, *given: bytes) -> bytes:
            self._asked.update(repr(("decrypt", key, given)).encode())
            return held.decrypt(*given)

        return Toy(key, encrypt, decrypt)

    def digest(self) -> str:
        """Of all that was asked, in its order."""
        return self._asked.hexdigest()[:12]


def described(name: str, kind: str = "stream", **changes: object) -> Cipher:
    """A cipher record for a toy."""
    values: dict[str, object] = {
        "name": name,
        "family": name.split("-")[0],
        "title": name,
        "kind": kind,
        "source": "tests",
        "folder": Path(),
        "key_bits": (128,),
        "nonce_bytes": 0,
        "tag_bytes": 0,
        "associated_data": False,
        "message": MessageLengths(),
    }
    return Cipher(**{**values, **changes})  # type: ignore[arg-type]


RC4 = described("rc4")
RC4D = described("rc4d", message=MessageLengths(min=1))
rc4_access = ToyAccess(lambda k, m, n, a: (rc4(k, m), b""), lambda k, c, n, a, t: rc4(k, c))
rc4d_access = ToyAccess(
    lambda k, m, n, a: (rc4d_encrypt(k, m), b""), lambda k, c, n, a, t: rc4d_decrypt(k, c)
)


def _aes(mode: str, key: bytes, nonce: bytes):  # type: ignore[no-untyped-def]
    from Crypto.Cipher import AES

    if mode == "ecb":
        return AES.new(key, AES.MODE_ECB)
    if mode == "cbc":
        return AES.new(key, AES.MODE_CBC, iv=nonce)
    if mode == "ctr":
        return AES.new(key, AES.MODE_CTR, nonce=b"", initial_value=nonce)
    return AES.new(key, AES.MODE_CCM, nonce=nonce, mac_len=8)


def aes_access(mode: str) -> ToyAccess:
    """AES-128 of another library in a mode: ecb, cbc or ctr."""
    return ToyAccess(
        lambda k, m, n, a: (_aes(mode, k, n).encrypt(m), b""),
        lambda k, c, n, a, t: _aes(mode, k, n).decrypt(c),
    )


def aes_cipher(mode: str) -> Cipher:
    """The record of `aes_access(mode)`."""
    return described(
        f"aes128-{mode}",
        "block mode",
        mode=mode,
        nonce_bytes=0 if mode == "ecb" else 16,
        message=MessageLengths(multiple=1 if mode == "ctr" else 16),
    )


def _ccm_encrypt(key: bytes, message: bytes, nonce: bytes, ad: bytes) -> tuple[bytes, bytes]:
    cipher = _aes("ccm", key, nonce)
    cipher.update(ad)
    return cipher.encrypt_and_digest(message)  # type: ignore[no-any-return]


def _ccm_decrypt(key: bytes, ciphertext: bytes, nonce: bytes, ad: bytes, tag: bytes) -> bytes:
    cipher = _aes("ccm", key, nonce)
    cipher.update(ad)
    try:
        return cipher.decrypt_and_verify(ciphertext, tag)  # type: ignore[no-any-return]
    except ValueError as wrong:
        raise Rejected from wrong


def _chacha(key: bytes, nonce: bytes):  # type: ignore[no-untyped-def]
    from Crypto.Cipher import ChaCha20_Poly1305

    return ChaCha20_Poly1305.new(key=key, nonce=nonce)


def _chacha_decrypt(key: bytes, ciphertext: bytes, nonce: bytes, ad: bytes, tag: bytes) -> bytes:
    try:
        return _chacha(key, nonce).decrypt_and_verify(ciphertext, tag)  # type: ignore[no-any-return]
    except ValueError as wrong:
        raise Rejected from wrong


chacha_access = ToyAccess(lambda k, m, n, a: _chacha(k, n).encrypt_and_digest(m), _chacha_decrypt)
CHACHA = described(
    "chacha20-poly1305", "aead", key_bits=(256,), nonce_bytes=12, tag_bytes=16, associated_data=True
)

ccm_access = ToyAccess(_ccm_encrypt, _ccm_decrypt)
CCM = described("aes128-ccm8", "aead", mode="ccm", nonce_bytes=13, tag_bytes=8, associated_data=True)
