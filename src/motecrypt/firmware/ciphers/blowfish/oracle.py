"""Blowfish independent of our C: OpenSSL through `cryptography`."""

from __future__ import annotations

BLOCK_BYTES = 8


def encrypt(cipher: str, key: bytes, nonce: bytes, ad: bytes, message: bytes) -> tuple[bytes, bytes]:
    """Encrypt `message` and return (ciphertext, tag); the tag is empty, these modes do not authenticate.

    Parameters
    ----------
    cipher
        ``blowfish-{ecb|cbc|ctr}``.
    key
        4 to 56 bytes.
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
    from cryptography.hazmat.decrepit.ciphers.algorithms import Blowfish
    from cryptography.hazmat.primitives.ciphers import Cipher, modes

    def run(openssl_mode: modes.Mode, data: bytes) -> bytes:
        encryptor = Cipher(Blowfish(key), openssl_mode).encryptor()
        return encryptor.update(data) + encryptor.finalize()

    mode = cipher.removeprefix("blowfish-")
    if mode not in {"ecb", "cbc", "ctr"} or ad:
        raise ValueError(
            f"{cipher}: unknown mode, or {len(ad)} bytes of associated data where none are taken"
        )
    if mode == "cbc":
        return run(modes.CBC(nonce), message), b""
    if mode == "ecb":
        return run(modes.ECB(), message), b""
    counter = int.from_bytes(nonce, "big")
    blocks = -(-len(message) // BLOCK_BYTES)
    counters = b"".join(((counter + i) % 2**64).to_bytes(BLOCK_BYTES, "big") for i in range(blocks))
    return bytes(a ^ b for a, b in zip(message, run(modes.ECB(), counters), strict=False)), b""
