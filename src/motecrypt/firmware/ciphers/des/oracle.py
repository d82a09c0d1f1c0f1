"""DES and triple DES independent of our C: pycryptodome for DES, OpenSSL (`cryptography`) for triple DES."""

from __future__ import annotations

BLOCK_BYTES = 8


def encrypt(cipher: str, key: bytes, nonce: bytes, ad: bytes, message: bytes) -> tuple[bytes, bytes]:
    """Encrypt `message` and return (ciphertext, tag); the tag is empty, these modes do not authenticate.

    Parameters
    ----------
    cipher
        ``{des|3des}-{ecb|cbc|ctr}``.
    key
        8 bytes for DES, 24 for triple DES, parity bits included (and ignored).
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
    name, _, mode = cipher.partition("-")
    if (name, len(key)) not in {("des", 8), ("3des", 24)} or mode not in {"ecb", "cbc", "ctr"} or ad:
        raise ValueError(
            f"{cipher}: {8 * len(key)} key bits, {len(ad)} bytes of associated data do not suit it"
        )
    if mode != "ctr":
        return _run(name, mode, key, nonce, message), b""
    counter = int.from_bytes(nonce, "big")
    blocks = -(-len(message) // BLOCK_BYTES)
    counters = b"".join(((counter + i) % 2**64).to_bytes(BLOCK_BYTES, "big") for i in range(blocks))
    stream = _run(name, "ecb", key, b"", counters)
    return bytes(a ^ b for a, b in zip(message, stream, strict=False)), b""


def _run(name: str, mode: str, key: bytes, iv: bytes, data: bytes) -> bytes:
    if name == "des":
        from Crypto.Cipher import DES

        des = DES.new(key, DES.MODE_ECB) if mode == "ecb" else DES.new(key, DES.MODE_CBC, iv=iv)
        return bytes(des.encrypt(data))
    from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
    from cryptography.hazmat.primitives.ciphers import Cipher, modes

    encryptor = Cipher(TripleDES(key), modes.ECB() if mode == "ecb" else modes.CBC(iv)).encryptor()
    return encryptor.update(data) + encryptor.finalize()
