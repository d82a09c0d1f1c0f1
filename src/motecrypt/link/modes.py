"""The source paper's ways to send a message, to reproduce it; nobody should deploy one.

None of them authenticates: anyone who can send can change, repeat and forge messages, and the answer to a
wrong padding reveals the plaintext byte by byte (Vaudenay 2002). T, C and P have no IV on the
air, so equal messages are equal ciphertexts. The hex string of C and P doubles every byte.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from cryptography.hazmat.primitives.ciphers.modes import CBC

from motecrypt.base.errors import MotecryptError

BLOCK = 16
FILL = b"+"
"""What the paper pads packets with (its figure 5)."""


@dataclass(frozen=True)
class PaperMode:
    """One way: its letter, what it is, whether it needs a key, sends an IV and bytes, fills packets up."""

    letter: str
    title: str
    keyed: bool = True
    binary: bool = False
    filled: bool = False


MODES = {
    "T": PaperMode("T", "plaintext", keyed=False),
    "C": PaperMode("C", "AES-CBC as a hex string, fixed IV that is not sent"),
    "P": PaperMode("P", "C, padded with + to whole packets", filled=True),
    "B": PaperMode("B", "AES-CBC in binary, random IV sent in front", binary=True),
}


def _cbc(key: bytes, iv: bytes) -> Cipher[CBC]:
    return Cipher(algorithms.AES(key), CBC(iv))


def _encrypt(key: bytes, iv: bytes, message: bytes) -> bytes:
    padder = padding.PKCS7(8 * BLOCK).padder()
    encryptor = _cbc(key, iv).encryptor()
    return encryptor.update(padder.update(message) + padder.finalize()) + encryptor.finalize()


def _decrypt(key: bytes, iv: bytes, ciphertext: bytes) -> bytes:
    decryptor = _cbc(key, iv).decryptor()
    unpadder = padding.PKCS7(8 * BLOCK).unpadder()
    return unpadder.update(decryptor.update(ciphertext) + decryptor.finalize()) + unpadder.finalize()


def encode(mode: str, key: bytes, message: bytes, packet_bytes: int = 12) -> bytes:
    """What goes to the serial port for a message. `key` is not used by T."""
    way = MODES[mode]
    if not way.keyed:
        return message
    if way.binary:
        iv = os.urandom(BLOCK)
        return iv + _encrypt(key, iv, message)
    text = _encrypt(key, bytes(BLOCK), message).hex().upper().encode()
    return text + FILL * (-len(text) % packet_bytes) if way.filled else text


def decode(mode: str, key: bytes, received: bytes) -> bytes:
    """The message in what came from the serial port.

    Raises
    ------
    MotecryptError
        It is not what this mode and key make: damaged, cut, or of another mode or key.
    """
    way = MODES[mode]
    if not way.keyed:
        return received
    try:
        if way.binary:
            iv, ciphertext = received[:BLOCK], received[BLOCK:]
        else:
            iv, ciphertext = bytes(BLOCK), bytes.fromhex(received.rstrip(FILL).decode("ascii"))
        if not ciphertext:
            raise ValueError("nothing there")
        return _decrypt(key, iv, ciphertext)
    except ValueError:
        raise MotecryptError(
            f"{len(received)} bytes that are not a message of mode {mode} under this key: "
            "damaged, or another mode"
        ) from None


def encoded_bytes(mode: str, message_bytes: int, packet_bytes: int = 12) -> int:
    """The length of what `encode` makes, without a key."""
    way = MODES[mode]
    if not way.keyed:
        return message_bytes
    padded = (message_bytes // BLOCK + 1) * BLOCK
    if way.binary:
        return BLOCK + padded
    return -(-2 * padded // packet_bytes) * packet_bytes if way.filled else 2 * padded
