"""The source paper's four metrics, as it numbers them."""

from __future__ import annotations


def throughput_kb_s(message_bytes: float, time_ms: float) -> float:
    """(1) Size over transmission time; KB is 1000 bytes, so bytes per millisecond."""
    return message_bytes / time_ms


def time_difference_ms(ciphertext_ms: float, plaintext_ms: float) -> float:
    """(2) How much longer the ciphertext takes."""
    return ciphertext_ms - plaintext_ms


def expansion(sent_bytes: float, message_bytes: float) -> float:
    """(3) and (4) How many bytes are sent for each byte of the message."""
    return sent_bytes / message_bytes
