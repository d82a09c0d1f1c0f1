"""A fixed IV (or none): a secret read byte by byte by anyone who chooses what is sent before it.

The device encrypts attacker-chosen bytes followed by a secret, always under the same IV, as a sketch does
that keeps its IV in a constant. Equal beginnings then give equal ciphertext, so each secret byte is found
by trying its 256 values.
"""

from __future__ import annotations

from collections.abc import Callable

from motecrypt.attack.audits.attacks._play import Counted
from motecrypt.attack.audits.oracle import Access, Part, Weight, key_bytes, randomness
from motecrypt.base.model import Cipher

NAME = "fixed-iv"
TITLE = "A secret read byte by byte under a fixed IV"
SOURCE = "the chosen-prefix attack of BEAST; SP 800-38A appendix C asks for unpredictable IVs"
NEEDS = "a block cipher in CBC, CFB or ECB mode, without a tag"

SECRET_BYTES = 16
MODES = ("cbc", "cfb", "ecb")


def applies(cipher: Cipher) -> bool:
    """Whether equal beginnings under one IV give equal ciphertext, in blocks."""
    return cipher.mode in MODES and not cipher.tag_bytes


def attack(encrypt: Callable[[bytes], bytes], block_bytes: int, secret_bytes: int) -> bytes:
    """Return the secret. Sees the ciphertexts of chosen bytes followed by the secret."""
    known = b""
    for _ in range(secret_bytes):
        filler = bytes((-len(known) - 1) % block_bytes)
        end = len(filler) + len(known) + 1
        wanted = encrypt(filler)[end - block_bytes : end]
        for guess in range(256):
            tried = encrypt(filler + known + bytes((guess,)))[end - block_bytes : end]
            if tried == wanted:
                known += bytes((guess,))
                break
        else:
            break
    return known


def run(access: Access, cipher: Cipher, seed: int, quick: bool) -> Part:
    """Hide a secret behind the attacker's bytes under a fixed IV."""
    random = randomness(seed, NAME)
    block_bytes = max(cipher.message.multiple, 8)
    nonce = random.randbytes(cipher.nonce_bytes)
    secret = random.randbytes(SECRET_BYTES)
    victim = access.keyed(random.randbytes(key_bytes(cipher)))

    def oracle(chosen: bytes) -> bytes:
        message = chosen + secret
        return victim.encrypt(message + bytes(-len(message) % block_bytes), nonce)[0]

    counted = Counted(oracle)
    found = attack(counted, block_bytes, SECRET_BYTES)
    worked = found == secret
    read = len(found) if worked else 0
    cause = "has no IV" if not cipher.nonce_bytes else "is used with a fixed IV"
    weight: Weight = "bad" if not cipher.nonce_bytes else "note"
    return Part(
        NAME,
        TITLE,
        ("broken" if not cipher.nonce_bytes else "broken by a fixed IV") if worked else "not broken",
        weight if worked else "good",
        (
            f"Where the cipher {cause} and an attacker chooses the bytes before a secret, {read} of "
            f"{SECRET_BYTES} secret bytes were read with {counted.queries} queries.",
        ),
        {"secret_bytes": SECRET_BYTES, "read_bytes": read, "queries": counted.queries},
    )
