"""RC4D: the whole secret table from overheard ciphertexts, when all messages begin with the same byte.

The last step of the second pass works on the first plaintext byte: with n the length,

    b[n-1] = F_(n-1)(b[n-2]) ^ c ^ p0

so if p0 is the same in all messages, each ciphertext shows one entry of the table after step n, up to one
constant. About 1,200 messages show all entries but two. The constant and j (65,536 guesses) are undone
step by step to the start, where j must be 0; of the some 256 tables that remain, the true one is the
one under which the overheard messages do not decrypt to noise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from time import thread_time

from motecrypt.attack.audits import _rc4d_state as rc4d
from motecrypt.attack.audits.attacks._play import telegram
from motecrypt.attack.audits.oracle import Access, Part, key_bytes, randomness, xor
from motecrypt.base.model import Cipher

NAME = "rc4d-ciphertext-only"
TITLE = "RC4D: state recovery from ciphertexts alone"
SOURCE = "this project's analysis of RC4D"
NEEDS = "RC4D with one key"

LENGTHS = (4, 16, 32, 64)
KEYS, KEYS_QUICK = 40, 3
MESSAGES_MAX = 1800
#: Table entries that may still be missing when listening stops: 2! orders are tried.
LEFT_TO_GUESS = 2
#: The entries that may be missing when MESSAGES_MAX ciphertexts were received.
LEFT_AT_END = 4
SAMPLE, POSITIONS, FINALISTS = 128, 8, 8


def applies(cipher: Cipher) -> bool:
    """Whether the cipher is RC4D with one key."""
    return cipher.name == "rc4d"


@dataclass(frozen=True)
class TableClaim:
    """What the attacker concludes.

    Attributes
    ----------
    state
        The table that the key schedule left.
    messages
        Ciphertexts received.
    first_byte
        The constant first byte of the messages, recovered with the table.
    lead
        How far the winner's score is above the best other table's: 1 is a tie.
    """

    state: bytes
    messages: int
    first_byte: int
    lead: float


def attack(next_ciphertext: Callable[[], bytes]) -> TableClaim | None:
    """Return the recovered table, or None. It receives ciphertexts of one length and nothing else."""
    heard: list[bytes] = []
    entries: dict[int, int] = {}
    while len(entries) < 256 - LEFT_TO_GUESS and len(heard) < MESSAGES_MAX:
        ciphertext = next_ciphertext()
        heard.append(ciphertext)
        if entries.setdefault(ciphertext[-2], ciphertext[-1]) != ciphertext[-1]:
            return None  # the first byte is not constant
    if len(entries) < 256 - LEFT_AT_END or len(set(entries.values())) < len(entries):
        return None
    sample, everything = _columns(heard[:SAMPLE]), _columns(heard)
    candidates: set[bytes] = set()
    missing = sorted(set(range(256)) - set(entries))
    for order in permutations(sorted(set(range(256)) - set(entries.values()))):
        table = bytearray(256)
        for x, y in (*entries.items(), *zip(missing, order, strict=True)):
            table[x] = y
        candidates.update(state for _, _, state in rc4d.starts(table, len(everything)))
    if not candidates:
        return None
    best = sorted(candidates, key=lambda state: (-structure(state, sample, POSITIONS), state))[:FINALISTS]
    scores = sorted(((structure(state, everything, len(everything)), state) for state in best), reverse=True)
    score, state = scores[0]
    return TableClaim(
        state=state,
        messages=len(heard),
        first_byte=rc4d.decrypt(state, ciphertext)[0],  # as of any of them
        lead=score / scores[1][0] if len(scores) > 1 else float(score),
    )


def structure(state: bytes, columns: Sequence[bytes], positions: int) -> int:
    """Return how unevenly byte values are spread in the decrypted messages, after the first byte.

    Decrypts all messages together, column by column (column i holds byte i of every ciphertext). The sum
    of squared counts of byte values, over the positions 1 to `positions`: lowest for noise.
    """
    n = len(columns)
    tables = rc4d.functions(state, n)

    def first_pass(position: int) -> bytes:
        at = n - 1 - position  # the second pass ran over the reversed first
        before = columns[at - 1] if at else bytes((rc4d.FEEDBACK_START,)) * len(columns[at])
        return xor(columns[at], before.translate(tables[at]))

    total, previous = 0, first_pass(0)
    for position in range(1, min(n - 1, positions) + 1):
        intermediate = first_pass(position)
        plain = xor(intermediate, previous.translate(tables[position]))
        total += sum(count * count for count in Counter(plain).values())
        previous = intermediate
    return total


def _columns(ciphertexts: Sequence[bytes]) -> list[bytes]:
    return [bytes(column) for column in zip(*ciphertexts, strict=True)]


def run(access: Access, cipher: Cipher, seed: int, quick: bool) -> Part:
    """Overhear telegrams of each length under random keys; decrypt others of other lengths."""
    keys = KEYS_QUICK if quick else KEYS
    rows = []
    for n in (length for length in LENGTHS if cipher.message.allows(length)):
        random = randomness(seed, NAME, n)
        recovered, messages, seconds, unseen = 0, [], [], 0
        for _ in range(keys):
            victim = access.keyed(random.randbytes(key_bytes(cipher)))
            header = random.randrange(256)
            begin = thread_time()
            claim = attack(lambda: victim.encrypt(telegram(random, header, n))[0])  # noqa: B023
            seconds.append(thread_time() - begin)
            secrets = [random.randbytes(length) for length in (1, 2, 5, 16, 33, 47, 64, 128)]
            if claim is None:
                messages.append(MESSAGES_MAX)
                continue
            messages.append(claim.messages)
            if claim.first_byte == header and all(
                rc4d.decrypt(claim.state, victim.encrypt(secret)[0]) == secret for secret in secrets
            ):
                recovered += 1
                unseen += len(secrets)
        rows.append(
            {
                "message_bytes": n,
                "keys": keys,
                "recovered": recovered,
                "messages_mean": round(sum(messages) / keys, 1),
                "messages_max": max(messages),
                "unseen_messages_decrypted": unseen,
                "processor_seconds_mean": round(sum(seconds) / keys, 4),
                "processor_seconds_max": round(max(seconds), 4),
            }
        )
    recovered = sum(int(row["recovered"]) for row in rows)
    total = keys * len(rows)
    return Part(
        NAME,
        TITLE,
        f"broken: {recovered} of {total} keys" if recovered else "not broken",
        "bad" if recovered else "good",
        (
            "An eavesdropper who only knows that all messages begin with the same byte (but not "
            "which) recovers the whole secret table: "
            + ", ".join(
                f"{row['recovered']} of {row['keys']} keys at {row['message_bytes']} bytes "
                f"from {row['messages_mean']:.0f} messages on average (at most {row['messages_max']})"
                for row in rows
            )
            + ".",
            "The messages were telegrams: a counter, then 10-bit readings. If all bytes after the first "
            "were uniform noise, about 256 tables would remain, and one known message would decide.",
            "Each recovered table then decrypted random messages of 1 to 128 bytes that were never recorded.",
        ),
        {"lengths": rows, "messages_limit": MESSAGES_MAX},
    )
