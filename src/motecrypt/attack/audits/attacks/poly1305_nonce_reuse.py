"""ChaCha20-Poly1305 with a nonce used twice: the tag's one-time key, and messages of the forger's choice.

For two messages of at most 16 bytes under one nonce, without associated data, the tags differ by

    tag - tag' = (c - c') * r^2   mod 2^130 - 5, up to a small multiple of 2^128

with c the ciphertext read as a number. So r is a square root, the right one being the one that has the 22
bits cleared which Poly1305 clears. With r the rest of the one-time key follows, and with one known message
the keystream: everything needed to write another message under that nonce.
"""

from __future__ import annotations

from collections.abc import Iterator

from motecrypt.attack.audits.attacks._play import sentence
from motecrypt.attack.audits.oracle import Access, Part, Rejected, key_bytes, randomness, xor
from motecrypt.base.model import Cipher

NAME = "poly1305-nonce-reuse"
TITLE = "ChaCha20-Poly1305: forgery after a repeated nonce"
SOURCE = "Bernstein, The Poly1305-AES message-authentication code, FSE 2005; RFC 8439, section 4"
NEEDS = "ChaCha20-Poly1305"

GAMES = 20
MESSAGE_BYTES = 16
PRIME = 2**130 - 5
CLEARED = 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF  # the bits that r may have


def applies(cipher: Cipher) -> bool:
    """Whether the cipher is ChaCha20-Poly1305 as in RFC 8439."""
    return cipher.name == "chacha20-poly1305"


def attack(first: tuple[bytes, bytes], second: tuple[bytes, bytes]) -> tuple[int, int] | None:
    """Return Poly1305's one-time key (r, s). Sees two ciphertexts of 16 bytes with their tags."""
    c1, c2 = (_number(ciphertext) for ciphertext, _ in (first, second))
    t1, t2 = (int.from_bytes(tag, "little") for _, tag in (first, second))
    if c1 == c2:
        return None
    slope = pow(c1 - c2, -1, PRIME)
    for carry in range(-4, 5):
        for r in _roots((t1 - t2 + (carry << 128)) * slope % PRIME):
            if r & ~CLEARED:
                continue
            key = r, (t1 - _polynomial(r, first[0])) % 2**128
            if tag_of(key, second[0]) == second[1]:
                return key
    return None


def tag_of(key: tuple[int, int], ciphertext: bytes) -> bytes:
    """Return the tag of a ciphertext of at most 16 bytes, without associated data, under (r, s)."""
    r, s = key
    return ((_polynomial(r, ciphertext) + s) % 2**128).to_bytes(16, "little")


def _number(ciphertext: bytes) -> int:
    """The ciphertext as Poly1305 reads it: padded to 16 bytes, and a bit above them."""
    return int.from_bytes(ciphertext.ljust(16, b"\0"), "little") + (1 << 128)


def _polynomial(r: int, ciphertext: bytes) -> int:
    lengths = (len(ciphertext) << 64) + (1 << 128)
    return (_number(ciphertext) * r * r + lengths * r) % PRIME


def _roots(square: int) -> Iterator[int]:
    root = pow(square, PRIME // 4 + 1, PRIME)  # the prime is 3 modulo 4
    if root * root % PRIME == square:
        yield root
        yield PRIME - root


def run(access: Access, cipher: Cipher, seed: int, quick: bool) -> Part:
    """Send two messages under one nonce, one of them known; see whether a third is accepted."""
    random = randomness(seed, NAME)
    forged = 0
    for _ in range(GAMES):
        victim = access.keyed(random.randbytes(key_bytes(cipher)))
        nonce = random.randbytes(cipher.nonce_bytes)
        known = sentence(random, MESSAGE_BYTES)
        first = victim.encrypt(known, nonce)
        second = victim.encrypt(sentence(random, MESSAGE_BYTES), nonce)
        key = attack(first, second)
        if key is None:
            continue
        wanted = sentence(random, MESSAGE_BYTES)
        ciphertext = xor(xor(first[0], known), wanted)
        try:
            forged += victim.decrypt(ciphertext, nonce, b"", tag_of(key, ciphertext)) == wanted
        except Rejected:
            continue
    return Part(
        NAME,
        TITLE,
        "broken by a repeated nonce" if forged else "not broken",
        "note" if forged else "good",
        (
            f"After two messages under one nonce, one of them known, a message of the forger's choice was "
            f"accepted in {forged} of {GAMES} games: the tag's one-time key follows from the two tags.",
            "This applies only if a nonce repeats; with fresh nonces the attack is impossible.",
        ),
        {"games": GAMES, "forged": forged},
    )
