"""Kwasnicki, "Strong encryption for small payloads on Arduino": RC4D against RC4 and AES."""
