"""What the toys with a tag should have said."""


def encrypt(cipher: str, key: bytes, nonce: bytes, ad: bytes, message: bytes) -> tuple[bytes, bytes]:
    """XOR with the repeated key; the tag sums up the key's first bytes and every fourth of the message."""
    tag = bytes((key[i] + sum(message[i::4])) & 0xFF for i in range(4))
    return bytes(b ^ key[i % 16] for i, b in enumerate(message)), tag
