"""Determinism and expansion: what equal messages, lengths and a repeated nonce give away. Pure."""

from __future__ import annotations

from random import Random
from typing import Any

from motecrypt.attack.audits.oracle import (
    Access,
    Keyed,
    Part,
    Weight,
    key_bytes,
    lengths_allowed,
    nearest_length,
    randomness,
    xor,
)
from motecrypt.base.model import Cipher

NAME = "determinism"
TITLE = "Equal messages, repeated nonces, lengths"
TRIALS = 32
SHARED_PREFIXES = (0, 1, 8, 16, 24, 32)


def audit(access: Access, cipher: Cipher, seed: int) -> Part:
    """Encrypt equal and related messages, with equal and fresh nonces, and compare.

    Parameters
    ----------
    access, cipher
        The cipher under audit and its description.
    seed
        Draws keys, nonces and messages.
    """
    random = randomness(seed, NAME)
    n = nearest_length(cipher, 48)
    victim = access.keyed(random.randbytes(key_bytes(cipher)))
    repeated = _repeated_nonce(victim, cipher, random, n)
    blocks = _equal_blocks(victim, cipher, random)
    growth = _expansion(victim, cipher, random)
    data: dict[str, Any] = {"message_bytes": n, **repeated, "equal_block_bytes": blocks, **growth}
    sentences, weight, verdict = _read(cipher, data)
    return Part(NAME, TITLE, verdict, weight, tuple(sentences), data)


def _repeated_nonce(victim: Keyed, cipher: Cipher, random: Random, n: int) -> dict[str, Any]:
    """What two messages under one nonce give away, as numbers of leading bytes that hold in all trials."""
    equal_same = equal_fresh = 0
    xor_leak = n
    prefix_leak = {prefix: n for prefix in SHARED_PREFIXES if prefix < n}
    for _ in range(TRIALS):
        nonce, message = random.randbytes(cipher.nonce_bytes), random.randbytes(n)
        first = victim.encrypt(message, nonce)
        equal_same += victim.encrypt(message, nonce) == first
        equal_fresh += victim.encrypt(message, random.randbytes(cipher.nonce_bytes)) == first
        other = random.randbytes(n)
        second = victim.encrypt(other, nonce)[0]
        differences = zip(xor(first[0], second), xor(message, other), strict=True)
        xor_leak = min(xor_leak, _leading(c == p for c, p in differences))
        for prefix in prefix_leak:
            tail = bytes((message[prefix] ^ random.randrange(1, 256),)) + random.randbytes(n - prefix - 1)
            third = victim.encrypt(message[:prefix] + tail, nonce)[0]
            same = _leading(a == b for a, b in zip(first[0], third, strict=True))
            prefix_leak[prefix] = min(prefix_leak[prefix], same)
    return {
        "trials": TRIALS,
        "equal_with_same_nonce": equal_same,
        "equal_with_fresh_nonce": equal_fresh,
        "xor_leak_bytes": xor_leak,
        "prefix_leak_bytes": {str(prefix): same for prefix, same in prefix_leak.items()},
    }


def _equal_blocks(victim: Keyed, cipher: Cipher, random: Random) -> int:
    """Return the size of block whose repetition inside one message shows in its ciphertext; 0 if there is
    none."""
    for size in (8, 16):
        if not cipher.message.allows(4 * size):
            continue
        shown = []
        for _ in range(TRIALS):
            message = random.randbytes(size) * 4
            ciphertext = victim.encrypt(message, random.randbytes(cipher.nonce_bytes))[0]
            shown.append(ciphertext[:size] == ciphertext[size : 2 * size] == ciphertext[2 * size : 3 * size])
        if all(shown):
            return size
    return 0


def _expansion(victim: Keyed, cipher: Cipher, random: Random) -> dict[str, Any]:
    """Return how many bytes are sent for messages of several lengths, with nonce and tag."""
    sent = {}
    for n in lengths_allowed(cipher, (1, 2, 8, 15, 16, 17, 32, 48, 64, 100)):
        ciphertext, tag = victim.encrypt(random.randbytes(n), random.randbytes(cipher.nonce_bytes))
        sent[str(n)] = len(ciphertext) + len(tag) + cipher.nonce_bytes
    one_byte_clear = False
    if cipher.message.allows(1):
        one_byte_clear = all(
            victim.encrypt(bytes((value,)), bytes(cipher.nonce_bytes))[0] == bytes((value,))
            for value in range(256)
        )
    return {
        "sent_bytes": sent,
        "overhead_bytes": cipher.nonce_bytes + cipher.tag_bytes,
        "one_byte_in_clear": one_byte_clear,
    }


def _read(cipher: Cipher, data: dict[str, Any]) -> tuple[list[str], Weight, str]:
    n, leak, block = data["message_bytes"], data["xor_leak_bytes"], data["equal_block_bytes"]
    fresh_equal = data["equal_with_fresh_nonce"]
    prefixes = {int(prefix): same for prefix, same in data["prefix_leak_bytes"].items()}
    shows_prefix = any(prefix and same >= min(prefix, 8) for prefix, same in prefixes.items())
    sentences: list[str] = []
    weight: Weight
    if not cipher.nonce_bytes:
        verdict, weight = "deterministic", "bad"
        sentences.append(
            "There is no nonce: equal messages give equal ciphertexts, so an eavesdropper sees repeated "
            "messages and can build a dictionary."
        )
    elif fresh_equal:
        verdict, weight = "nonce without effect", "bad"
        sentences.append(f"Equal messages gave equal ciphertexts under {fresh_equal} fresh nonces.")
    else:
        verdict, weight = "randomised by its nonce", "good"
        sentences.append("Equal messages under fresh nonces give different ciphertexts.")
    when = "Under a repeated nonce" if cipher.nonce_bytes else "Since no nonce separates messages,"
    if leak == n:
        sentences.append(
            f"{when} the XOR of two ciphertexts is the XOR of the two messages: one known, both known."
        )
    elif leak > 0:
        sentences.append(f"{when} the XOR of the first {leak} bytes of two messages shows.")
    elif shows_prefix:
        longest = max(prefixes)
        sentences.append(
            f"{when} a common beginning shows: {longest} equal plaintext bytes gave {prefixes[longest]} "
            "equal ciphertext bytes."
        )
    else:
        sentences.append(f"{when} only whether two messages are equal is visible.")
    if cipher.nonce_bytes and (leak or shows_prefix):
        verdict = f"{verdict}, which must not repeat"
        if not fresh_equal:
            weight = "note"
    if block:
        verdict, weight = f"{verdict}; equal blocks show", "bad"
        sentences.append(f"Equal blocks of {block} bytes inside a message give equal blocks of ciphertext.")
    if data["one_byte_in_clear"]:
        weight = "bad"
        sentences.append("A message of one byte is always sent unencrypted.")
    overhead = data["overhead_bytes"]
    grows = (
        f"Every message grows by {overhead} bytes on air ({cipher.nonce_bytes} nonce, {cipher.tag_bytes} tag)"
    )
    sentences.append(f"{grows}, if the nonce is sent." if overhead else "Messages do not grow on air.")
    if cipher.message.multiple > 1:
        sentences.append(f"Lengths are multiples of {cipher.message.multiple} bytes: others need padding.")
    return sentences, weight, verdict


def _leading(holds: Any) -> int:
    count = 0
    for one in holds:
        if not one:
            break
        count += 1
    return count
