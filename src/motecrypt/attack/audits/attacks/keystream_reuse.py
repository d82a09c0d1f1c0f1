"""A keystream used twice: messages read from ciphertexts alone, then wholly with one message known.

A stream cipher without a nonce (RC4 under one key) uses the same keystream for all messages; a mode with a
nonce does when the nonce repeats. The attacker guesses each keystream byte by how well it turns a column of
ciphertexts into text, then has one message leaked.
"""

from __future__ import annotations

from collections.abc import Sequence

from motecrypt.attack.audits.attacks._play import sentence
from motecrypt.attack.audits.oracle import Access, Part, key_bytes, nearest_length, randomness, xor
from motecrypt.base.model import Cipher

NAME = "keystream-reuse"
TITLE = "Messages read from a keystream used again"
SOURCE = "the two-time pad; RFC 7465 and RFC 8439 section 4 warn of it"
NEEDS = "a cipher that adds a keystream to the message"

MESSAGES, MESSAGE_BYTES = 40, 64
KEYSTREAM_MODES = ("ctr", "ofb", "ccm", "gcm")

#: Rough frequencies of letters in English text, per thousand characters.
_BY_FREQUENCY = "etaoinsrhldcumpfgwybvkxjqz"
_PER_THOUSAND = (
    94,
    69,
    61,
    56,
    54,
    53,
    50,
    48,
    39,
    33,
    31,
    24,
    23,
    20,
    18,
    16,
    15,
    15,
    14,
    12,
    8,
    6,
    2,
    1,
    1,
    1,
)
_LETTERS = dict(zip(_BY_FREQUENCY, _PER_THOUSAND, strict=True))


def applies(cipher: Cipher) -> bool:
    """Whether the cipher adds a keystream to the message."""
    streams = cipher.kind == "stream" and not cipher.name.startswith("rc4d")
    return streams or cipher.mode in KEYSTREAM_MODES or cipher.name.startswith("chacha20")


def attack(ciphertexts: Sequence[bytes]) -> bytes:
    """Return the most likely keystream. Sees ciphertexts and nothing else."""
    keystream = bytearray()
    for column in zip(*ciphertexts, strict=True):
        keystream.append(max(range(256), key=lambda guess: sum(_likely(byte ^ guess) for byte in column)))
    return bytes(keystream)


def attack_with_known(ciphertexts: Sequence[bytes], known: int, message: bytes) -> list[bytes]:
    """Return all messages, given one of them."""
    keystream = xor(ciphertexts[known], message)
    return [xor(ciphertext, keystream) for ciphertext in ciphertexts]


def _likely(character: int) -> int:
    if character == 32:
        return 150
    if 48 <= character <= 57:
        return 12
    letter = chr(character).lower()
    if letter in _LETTERS and character < 128:
        return _LETTERS[letter] if character >= 97 else _LETTERS[letter] // 8
    return 0 if 32 < character < 127 else -200


def run(access: Access, cipher: Cipher, seed: int, quick: bool) -> Part:
    """Send sentences under one key (and one nonce), and see what the attackers read."""
    random = randomness(seed, NAME)
    victim = access.keyed(random.randbytes(key_bytes(cipher)))
    nonce = random.randbytes(cipher.nonce_bytes)
    n = nearest_length(cipher, MESSAGE_BYTES)
    messages = [sentence(random, n) for _ in range(MESSAGES)]
    ciphertexts = [victim.encrypt(message, nonce)[0] for message in messages]
    keystream = attack(ciphertexts)
    right = sum(
        a == b
        for c, m in zip(ciphertexts, messages, strict=True)
        for a, b in zip(xor(c, keystream), m, strict=True)
    )
    share = right / (MESSAGES * n)
    whole = sum(a == b for a, b in zip(attack_with_known(ciphertexts, 0, messages[0]), messages, strict=True))
    worked = share > 0.5 or whole == MESSAGES
    nonces = bool(cipher.nonce_bytes)
    how = "under one key and one nonce" if nonces else "under one key"
    sentences = [
        f"From {MESSAGES} ciphertexts alone, sent {how}, {100 * share:.0f} % of the characters of English "
        f"sentences were read; with one message known, {whole} of {MESSAGES} messages were read in full."
    ]
    if nonces:
        sentences.append("This applies only if a nonce repeats; with fresh nonces the attack is impossible.")
    verdict = ("broken by a repeated nonce" if nonces else "broken") if worked else "not broken"
    data = {
        "messages": MESSAGES,
        "message_bytes": n,
        "characters_read": round(share, 4),
        "messages_read_with_one_known": whole,
        "repeats_nonce": nonces,
    }
    return Part(
        NAME, TITLE, verdict, ("note" if nonces else "bad") if worked else "good", tuple(sentences), data
    )
