"""RC4's second keystream byte is 0 twice as often as it should be (Mantin and Shamir, FSE 2001).

Anyone who receives the same message encrypted under many keys reads its second byte: the most frequent second
ciphertext byte is the plaintext byte itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from motecrypt.attack.audits.oracle import Access, Part, key_bytes, randomness
from motecrypt.base.model import Cipher

NAME = "rc4-broadcast"
TITLE = "RC4: the second byte of a message sent under many keys"
SOURCE = "Mantin and Shamir, A Practical Attack on Broadcast RC4, FSE 2001"
NEEDS = "RC4 without changes"

MESSAGES = 4096
TRIALS, TRIALS_QUICK = 20, 4


def applies(cipher: Cipher) -> bool:
    """Whether the cipher is RC4 without changes."""
    return cipher.family == "rc4"


def attack(ciphertexts: Sequence[bytes]) -> int:
    """Return the second byte of the message. Sees its ciphertexts under unknown keys."""
    counts = Counter(ciphertext[1] for ciphertext in ciphertexts)
    return max(counts, key=lambda value: (counts[value], -value))


def run(access: Access, cipher: Cipher, seed: int, quick: bool) -> Part:
    """Encrypt one message under many keys, several times over."""
    random = randomness(seed, NAME)
    trials = TRIALS_QUICK if quick else TRIALS
    right = zeros = 0
    for _ in range(trials):
        message = random.randbytes(8)
        heard = [
            access.keyed(random.randbytes(key_bytes(cipher))).encrypt(message)[0] for _ in range(MESSAGES)
        ]
        zeros += sum(ciphertext[1] == message[1] for ciphertext in heard)
        right += attack(heard) == message[1]
    share = zeros * 256 / (trials * MESSAGES)
    return Part(
        NAME,
        TITLE,
        f"second byte read in {right} of {trials}" if right else "not broken",
        "bad" if right > trials / 2 else "good",
        (
            f"The second keystream byte is 0 {share:.2f} times as often as chance (theory: 2). From "
            f"{MESSAGES:,} encryptions of one message under different keys, its second byte was read "
            f"in {right} of {trials} trials.",
        ),
        {
            "trials": trials,
            "messages": MESSAGES,
            "second_byte_read": right,
            "zero_times_chance": round(share, 3),
        },
    )
