"""RC2 independent of our C: pycryptodome's ARC2, set to count every bit of the key (it would count 1024)."""

from __future__ import annotations

BLOCK_BYTES = 8


def encrypt(cipher: str, key: bytes, nonce: bytes, ad: bytes, message: bytes) -> tuple[bytes, bytes]:
    """Encrypt `message` and return (ciphertext, tag); the tag is empty, these modes do not authenticate.

    Parameters
    ----------
    cipher
        ``rc2-{ecb|cbc|ctr}``.
    key
        5 to 128 bytes, all of whose bits are effective.
    nonce
        The IV or the initial counter block, 8 bytes; empty for ECB.
    ad
        Empty: these modes do not take associated data.
    message
        Whole blocks for ECB and CBC, any length for CTR.

    Raises
    ------
    ValueError
        If an argument does not suit the cipher.
    """
    from Crypto.Cipher import ARC2

    mode = cipher.removeprefix("rc2-")
    if mode not in {"ecb", "cbc", "ctr"} or ad:
        raise ValueError(
            f"{cipher}: unknown mode, or {len(ad)} bytes of associated data where none are taken"
        )
    if mode == "cbc":
        chained = ARC2.new(key, ARC2.MODE_CBC, iv=nonce, effective_keylen=8 * len(key))
        return bytes(chained.encrypt(message)), b""
    plain = ARC2.new(key, ARC2.MODE_ECB, effective_keylen=8 * len(key))
    if mode == "ecb":
        return bytes(plain.encrypt(message)), b""
    counter = int.from_bytes(nonce, "big")
    blocks = -(-len(message) // BLOCK_BYTES)
    counters = b"".join(((counter + i) % 2**64).to_bytes(BLOCK_BYTES, "big") for i in range(blocks))
    return bytes(a ^ b for a, b in zip(message, plain.encrypt(counters), strict=False)), b""
