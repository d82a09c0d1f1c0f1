"""RC4D: two questions distinguish it from a random permutation, for any key and any length."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from motecrypt.attack.audits.attacks._play import encryption_oracle
from motecrypt.attack.audits.oracle import Access, Part, key_bytes, randomness
from motecrypt.base.model import Cipher

NAME = "rc4d-distinguisher"
TITLE = "RC4D: distinguished from a random permutation by two queries"
SOURCE = "this project's analysis of RC4D"
NEEDS = "RC4D"

GAMES = 400
MESSAGE_BYTES = 16


def applies(cipher: Cipher) -> bool:
    """Whether the cipher is RC4D, with one key or two."""
    return cipher.family == "rc4d"


def attack(encrypt: Callable[[bytes], bytes], choose: Random) -> bool:
    """Return whether the oracle is RC4D: a change of the last plaintext byte reappears in C[0] as it is."""
    message = bytearray(choose.randbytes(MESSAGE_BYTES))
    change = choose.randrange(1, 256)
    first = encrypt(bytes(message))
    message[-1] ^= change
    return first[0] ^ encrypt(bytes(message))[0] == change


def run(access: Access, cipher: Cipher, seed: int, quick: bool) -> Part:
    """Play the game half with the cipher and half with random answers."""
    random = randomness(seed, NAME)
    caught = mistaken = 0
    for _ in range(GAMES // 2):
        victim = access.keyed(random.randbytes(key_bytes(cipher)))
        caught += attack(encryption_oracle(victim), random)
        mistaken += attack(lambda message: random.randbytes(len(message)), random)
    games = GAMES // 2
    return Part(
        NAME,
        TITLE,
        f"distinguished: {caught} of {games}",
        "bad" if caught > games * 0.9 else "good",
        (
            f"Two queries recognise the cipher in {caught} of {games} games, and mistake random answers "
            f"for it "
            f"in {mistaken} of {games} (1 in 256 is chance): changing the last plaintext byte by any value "
            "changes the first ciphertext byte by that same value.",
        ),
        {"games": games, "recognised": caught, "false_alarms": mistaken, "queries": 2},
    )
