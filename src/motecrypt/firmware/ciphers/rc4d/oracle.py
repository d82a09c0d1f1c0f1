"""RC4D in plain Python from its description; nobody else has it, and this shares no code with our C."""

from __future__ import annotations

IV = 42


def encrypt(cipher: str, key: bytes, nonce: bytes, ad: bytes, message: bytes) -> tuple[bytes, bytes]:
    """Encrypt `message` and return (ciphertext, tag); the tag is empty, RC4D does not authenticate.

    Parameters
    ----------
    cipher
        ``rc4d`` (one key for both passes) or ``rc4d-two-key`` (the first half of the key for the first
        pass, the second half for the second).
    key
        1 to 256 bytes for each pass.
    nonce, ad
        Empty: RC4D has neither.
    message
        Any length, also none.

    Raises
    ------
    ValueError
        If an argument does not suit the cipher.

    Notes
    -----
    M. Kwasnicki, "Strong encryption for small payloads on Arduino": RC4 with cipher feedback through the
    S-box, reverse, once more. `decrypt` is its inverse, for tests of the other direction.
    """
    first, second = _keys(cipher, key, nonce, ad)
    return _cfb(second, _cfb(first, message, decrypt=False)[::-1], decrypt=False), b""


def decrypt(cipher: str, key: bytes, nonce: bytes, ad: bytes, ciphertext: bytes) -> bytes:
    """Decrypt `ciphertext`; the parameters are those of `encrypt`."""
    first, second = _keys(cipher, key, nonce, ad)
    return _cfb(first, _cfb(second, ciphertext, decrypt=True)[::-1], decrypt=True)


def _keys(cipher: str, key: bytes, nonce: bytes, ad: bytes) -> tuple[bytes, bytes]:
    if nonce or ad:
        raise ValueError(f"{cipher}: does not take a nonce or associated data")
    if cipher == "rc4d" and 1 <= len(key) <= 256:
        return key, key
    if cipher == "rc4d-two-key" and 2 <= len(key) <= 512 and len(key) % 2 == 0:
        return key[: len(key) // 2], key[len(key) // 2 :]
    raise ValueError(f"{cipher}: a key of {len(key)} bytes does not suit it")


def _cfb(key: bytes, text: bytes, *, decrypt: bool) -> bytes:
    """One pass: the paper's pseudo-code, where the byte fed back is always the one of the ciphertext."""
    s = list(range(256))
    j = 0
    for i in range(256):
        j = (j + s[i] + key[i % len(key)]) % 256
        s[i], s[j] = s[j], s[i]
    output: list[int] = []
    i = j = 0
    for a in range(len(text)):
        i = (i + 1) % 256
        j = (j + s[i]) % 256
        s[i], s[j] = s[j], s[i]
        k = s[(s[i] + s[j]) % 256]
        fed = IV if a == 0 else text[a - 1] if decrypt else output[a - 1]
        output.append(k ^ s[fed] ^ text[a])
    return bytes(output)
