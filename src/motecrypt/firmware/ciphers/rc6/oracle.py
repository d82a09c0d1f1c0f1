"""RC6 in plain Python, written from the paper (Rivest, Robshaw, Sidney, Yin, 1998), independent of our C.

Neither OpenSSL nor pycryptodome has RC6. A test also compares our C with Crypto++ where that is installed.
"""

from __future__ import annotations

from math import e, sqrt

BLOCK_BYTES = 16
WORD_BITS = 32
MASK = 2**WORD_BITS - 1
P32 = int((e - 2) * 2**WORD_BITS) | 1  # Odd(x): the odd integer nearest to x
Q32 = int((sqrt(5) - 1) / 2 * 2**WORD_BITS) | 1


def encrypt(
    cipher: str, key: bytes, nonce: bytes, ad: bytes, message: bytes, rounds: int = 20
) -> tuple[bytes, bytes]:
    """Encrypt `message` and return (ciphertext, tag); the tag is empty.

    Parameters
    ----------
    cipher
        ``rc6-{ecb|cbc|ctr}``.
    key
        1 to 255 bytes.
    nonce
        The IV or the initial counter block, 16 bytes; empty for ECB.
    ad
        Empty: these modes do not take associated data.
    message
        Whole blocks for ECB and CBC, any length for CTR.
    rounds
        20 unless a study asks for another number.

    Raises
    ------
    ValueError
        If an argument does not suit the cipher.
    """
    mode = cipher.removeprefix("rc6-")
    if mode not in {"ecb", "cbc", "ctr"} or ad:
        raise ValueError(
            f"{cipher}: unknown mode, or {len(ad)} bytes of associated data where none are taken"
        )
    words = expand(key, rounds)
    output = b""
    chain = int.from_bytes(nonce, "big")
    for start in range(0, len(message), BLOCK_BYTES):
        block = message[start : start + BLOCK_BYTES]
        if mode == "ctr":
            stream = encrypt_block(words, (chain % 2**128).to_bytes(BLOCK_BYTES, "big"))
            output += bytes(a ^ b for a, b in zip(block, stream, strict=False))
            chain += 1
            continue
        if len(block) != BLOCK_BYTES:
            raise ValueError(f"{cipher}: {len(message)} bytes are not a whole number of blocks")
        if mode == "cbc":
            block = (int.from_bytes(block, "big") ^ chain).to_bytes(BLOCK_BYTES, "big")
        block = encrypt_block(words, block)
        chain = int.from_bytes(block, "big")
        output += block
    return output, b""


def expand(key: bytes, rounds: int) -> list[int]:
    """Expand a key of 1 to 255 bytes to the 2 rounds + 4 round keys S of the paper."""
    padded = key + bytes(-len(key) % 4)
    given = [int.from_bytes(padded[i : i + 4], "little") for i in range(0, len(padded), 4)]
    words = [(P32 + i * Q32) & MASK for i in range(2 * rounds + 4)]
    a = b = 0
    for step in range(3 * max(len(given), len(words))):
        i, j = step % len(words), step % len(given)
        a = words[i] = _rotate(words[i] + a + b, 3)
        b = given[j] = _rotate(given[j] + a + b, a + b)
    return words


def encrypt_block(words: list[int], block: bytes) -> bytes:
    """Encrypt one block of 16 bytes under the round keys `words`."""
    a, b, c, d = (int.from_bytes(block[i : i + 4], "little") for i in range(0, BLOCK_BYTES, 4))
    b, d = b + words[0] & MASK, d + words[1] & MASK
    for i in range(2, len(words) - 2, 2):
        t, u = _rotate(b * (2 * b + 1), 5), _rotate(d * (2 * d + 1), 5)
        a = _rotate(a ^ t, u) + words[i] & MASK
        c = _rotate(c ^ u, t) + words[i + 1] & MASK
        a, b, c, d = b, c, d, a
    a, c = a + words[-2] & MASK, c + words[-1] & MASK
    return b"".join(word.to_bytes(4, "little") for word in (a, b, c, d))


def _rotate(word: int, amount: int) -> int:
    word, amount = word & MASK, amount % WORD_BITS
    return (word << amount | word >> (WORD_BITS - amount)) & MASK
