"""AES independent of our C: OpenSSL through `cryptography`; ciphertext stealing built here over its CBC."""

from __future__ import annotations

BLOCK_BYTES = 16


def encrypt(cipher: str, key: bytes, nonce: bytes, ad: bytes, message: bytes) -> tuple[bytes, bytes]:
    """Encrypt `message` and return (ciphertext, tag); the tag is empty, these modes do not authenticate.

    Parameters
    ----------
    cipher
        ``aes{key_bits}-{ecb|cbc|ctr|cts}``.
    key
        16, 24 or 32 bytes, as the cipher's name says.
    nonce
        The IV or the initial counter block, 16 bytes; empty for ECB.
    ad
        Empty: these modes do not take associated data.
    message
        Whole blocks for ECB and CBC, any length for CTR, at least 16 bytes for CTS.

    Raises
    ------
    ValueError
        If an argument does not suit the cipher.

    Notes
    -----
    CTS is variant CS3 of the addendum to SP 800-38A: CBC over the message padded with zeros, the last two
    ciphertext blocks exchanged, then cut to the length of the message. One block alone is plain CBC.
    """
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    name, _, mode = cipher.partition("-")
    if name != f"aes{8 * len(key)}" or ad:
        raise ValueError(
            f"{cipher}: a key of {8 * len(key)} bits and {len(ad)} bytes of associated data do not suit it"
        )

    def run(openssl_mode: modes.ECB | modes.CBC | modes.CTR, data: bytes) -> bytes:
        encryptor = Cipher(algorithms.AES(key), openssl_mode).encryptor()
        return encryptor.update(data) + encryptor.finalize()

    if mode == "ecb":
        return run(modes.ECB(), message), b""
    if mode == "cbc":
        return run(modes.CBC(nonce), message), b""
    if mode == "ctr":
        return run(modes.CTR(nonce), message), b""
    if mode != "cts":
        raise ValueError(f"{cipher}: no such mode here")
    if len(message) < BLOCK_BYTES:
        raise ValueError(f"{cipher}: a message needs at least {BLOCK_BYTES} bytes")
    blocks = run(modes.CBC(nonce), message + bytes(-len(message) % BLOCK_BYTES))
    if len(message) == BLOCK_BYTES:
        return blocks, b""
    exchanged = blocks[: -2 * BLOCK_BYTES] + blocks[-BLOCK_BYTES:] + blocks[-2 * BLOCK_BYTES : -BLOCK_BYTES]
    return exchanged[: len(message)], b""
