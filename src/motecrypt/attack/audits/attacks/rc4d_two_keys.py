"""RC4D with a key of its own for each pass, as its author suggests: both secret tables, by chosen plaintext.

With F the functions of the first pass and H those of the second, a two-byte message (p0, p1) and its
ciphertext (b0, b1) satisfy

    H_1(b0) ^ F_0(42) = b1 ^ p0        and        F_1(p0 ^ F_0(42)) ^ H_0(42) = b0 ^ p1

so a query gives one entry of each of two tables, now with nothing to guess first. The second pass's table is
undone for all guesses of its constant and of j; each start that remains names both constants, and with
them the first pass's table is undone as for one key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from time import thread_time

from motecrypt.attack.audits import _rc4d_state as rc4d
from motecrypt.attack.audits.attacks._play import encryption_oracle
from motecrypt.attack.audits.oracle import Access, Part, key_bytes, randomness
from motecrypt.base.model import Cipher

NAME = "rc4d-two-keys"
TITLE = "RC4D with two keys: recovery of both states by chosen plaintext"
SOURCE = "this project's analysis of RC4D"
NEEDS = "RC4D with two keys"

KEYS, KEYS_QUICK = 20, 3
CHECK_BYTES = 64
BYTES = range(256)

Oracle = Callable[[bytes], bytes]


def applies(cipher: Cipher) -> bool:
    """Whether the cipher is RC4D with two keys."""
    return cipher.name == "rc4d-two-key"


def attack(encrypt: Oracle, choose: Random) -> tuple[bytes, bytes] | None:
    """Return the tables of both passes, or None. Sees an encryption oracle and nothing else."""
    tables = _collect(encrypt)
    if tables is None:
        return None
    first_table, second_table = tables
    message = choose.randbytes(CHECK_BYTES)
    answer = encrypt(message)
    for constant, j, second in rc4d.starts(second_table, 2):
        s2 = bytes(value ^ constant for value in second_table)
        first_constant = constant ^ s2[(s2[2] + s2[j]) & 255]  # F_0(42)
        second_constant = rc4d.functions(second, 1)[0][rc4d.FEEDBACK_START]  # H_0(42)
        g = bytes(first_table[x ^ first_constant] for x in range(256))
        for first in rc4d.starts_through_output(g, second_constant, first_constant):
            if rc4d.encrypt(first, message, second) == answer:
                return first, second
    return None


def _collect(encrypt: Oracle) -> tuple[bytes, bytes] | None:
    """Ask until both tables are known: [p0] -> b0 ^ p1, and [b0] -> b1 ^ p0."""
    first: dict[int, int] = {}
    second: dict[int, int] = {}
    while len(first) < 255 or len(second) < 255:
        p0, p1 = _question(first, second)
        b0, b1 = encrypt(bytes((p0, p1)))
        if first.setdefault(p0, b0 ^ p1) != b0 ^ p1 or second.setdefault(b0, b1 ^ p0) != b1 ^ p0:
            return None  # not RC4D
    whole = _completed(first), _completed(second)
    return None if None in whole else (whole[0] or b"", whole[1] or b"")


def _question(first: dict[int, int], second: dict[int, int]) -> tuple[int, int]:
    """The next message: a missing entry of the first table and a likely one of the second, or that alone."""
    wanted = [x for x in BYTES if x not in second] or [0]
    missing = [x for x in BYTES if x not in first]
    if len(missing) > 1:
        values = sorted(set(BYTES) - set(first.values()))
        hits = Counter(value ^ other for value in values[:24] for other in wanted[:24])
        return missing[0], max(BYTES, key=hits.__getitem__)
    known = next(iter(first))
    return known, first[known] ^ wanted[0]


def _completed(table: dict[int, int]) -> bytes | None:
    """The table with its last entry, which is the one value left; None if it is not a permutation."""
    inputs, values = set(BYTES) - set(table), set(BYTES) - set(table.values())
    if len(inputs) != len(values) or len(inputs) > 1:
        return None
    whole = {**table, **dict(zip(inputs, values, strict=True))}
    return bytes(whole[x] for x in BYTES)


def run(access: Access, cipher: Cipher, seed: int, quick: bool) -> Part:
    """Attack random pairs of keys; the recovered tables must decrypt messages that were never asked for."""
    keys = KEYS_QUICK if quick else KEYS
    random = randomness(seed, NAME)
    queries: list[int] = []
    seconds: list[float] = []
    recovered = 0
    for _ in range(keys):
        victim = access.keyed(random.randbytes(key_bytes(cipher)))
        oracle = encryption_oracle(victim)
        begin = thread_time()
        found = attack(oracle, random)
        seconds.append(thread_time() - begin)
        queries.append(oracle.queries)
        secrets = [random.randbytes(n) for n in (1, 3, 16, 47, 128)]
        recovered += found is not None and all(
            rc4d.decrypt(found[0], victim.encrypt(secret)[0], found[1]) == secret for secret in secrets
        )
    return Part(
        NAME,
        TITLE,
        f"broken: {recovered} of {keys} keys" if recovered else "not broken",
        "bad" if recovered else "good",
        (
            f"A key for each pass does not help: both secret tables were recovered for {recovered} of {keys} "
            f"random pairs of keys, {sum(queries) / keys:.0f} queries on average (at most {max(queries)}), "
            "and decrypted messages of 1 to 128 bytes that were never queried.",
        ),
        {
            "keys": keys,
            "recovered": recovered,
            "queries_mean": round(sum(queries) / keys, 2),
            "queries_max": max(queries),
            "processor_seconds_mean": round(sum(seconds) / keys, 4),
            "processor_seconds_max": round(max(seconds), 4),
        },
    )
