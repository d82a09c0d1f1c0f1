"""What the faulty ciphers should have said."""


def encrypt(cipher: str, key: bytes, nonce: bytes, ad: bytes, message: bytes) -> tuple[bytes, bytes]:
    """XOR with the repeated key."""
    return bytes(b ^ key[i % 16] for i, b in enumerate(message)), b""
