"""RC4D: the whole secret table from about 140 chosen two-byte messages.

With c = F_0(42) and G(x) = F_1(x) ^ c, a two-byte message (p0, p1) and its ciphertext (b0, b1) satisfy

    G(b0) = b1 ^ p0        and        G(p0 ^ c) = b0 ^ p1

so a query gives two entries of G once c is known, and c is the only value under which the entries do not
contradict each other. The last few entries are not asked for: all their orders are tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import permutations
from random import Random
from time import thread_time

from motecrypt.attack.audits import _rc4d_state as rc4d
from motecrypt.attack.audits.attacks._play import encryption_oracle
from motecrypt.attack.audits.oracle import Access, Part, key_bytes, randomness
from motecrypt.base.model import Cipher

NAME = "rc4d-chosen-plaintext"
TITLE = "RC4D: state recovery by chosen plaintext"
SOURCE = "this project's analysis of RC4D"
NEEDS = "RC4D with one key"

KEYS, KEYS_QUICK = 100, 20
#: Entries of G left to be tried instead of asked for: 5! = 120 orders.
LEFT_TO_GUESS = 5
#: A longer message distinguishes the remaining orders.
CHECK_BYTES = 255
QUERIES_MAX = 1000

Oracle = Callable[[bytes], bytes]


def applies(cipher: Cipher) -> bool:
    """Whether the cipher is RC4D with one key."""
    return cipher.name == "rc4d"


def attack(encrypt: Oracle, choose: Random) -> bytes | None:
    """Return the table that the key schedule left, or None. Sees an encryption oracle and nothing else."""
    table = _Table()
    while table.c is None:
        if table.queries >= QUERIES_MAX:
            return None
        table.ask(encrypt, choose.randrange(256), choose.randrange(256))
    while len(table.inputs_left) > LEFT_TO_GUESS:  # each question leaves one less
        table.ask(encrypt, *table.best_question(choose))
    candidates = list(table.states())
    for _ in range(8):
        if len(candidates) <= 1:
            break
        message = choose.randbytes(CHECK_BYTES)
        answer = encrypt(message)
        candidates = [state for state in candidates if rc4d.encrypt(state, message) == answer]
    return next(iter(candidates), None)


class _Table:
    """What the queries so far say about G and c."""

    def __init__(self) -> None:
        self.queries = 0
        self.c: int | None = None
        self._seen: list[tuple[int, int, int, int]] = []
        self._possible = list(range(256))
        self.g: dict[int, int] = {}
        self.inputs_left: set[int] = set(range(256))
        self.values_left: set[int] = set(range(256))

    def ask(self, encrypt: Oracle, p0: int, p1: int) -> None:
        b0, b1 = encrypt(bytes((p0, p1)))
        self.queries += 1
        self._seen.append((p0, p1, b0, b1))
        if self.c is None:
            self._possible = [c for c in self._possible if _consistent(c, self._seen)]
            if len(self._possible) != 1:
                return
            self.c = self._possible[0]
            for entry in self._seen:
                self._learn(self.c, *entry)
        else:
            self._learn(self.c, p0, p1, b0, b1)

    def _learn(self, c: int, p0: int, p1: int, b0: int, b1: int) -> None:
        for x, y in ((b0, b1 ^ p0), (p0 ^ c, b0 ^ p1)):
            self.g[x] = y
            self.inputs_left.discard(x)
            self.values_left.discard(y)

    def best_question(self, choose: Random) -> tuple[int, int]:
        """One missing entry for certain, and the best chance of a second."""
        assert self.c is not None
        x = min(self.inputs_left)
        if len(self.inputs_left) > 64:
            return x ^ self.c, choose.randrange(256)
        others = self.inputs_left - {x}
        hits = Counter(value ^ other for value in self.values_left for other in others)
        return x ^ self.c, max(range(256), key=hits.__getitem__)

    def states(self) -> Iterator[bytes]:
        """Every key-schedule table that agrees with G, c and the generator starting at j = 0."""
        assert self.c is not None
        missing, values = sorted(self.inputs_left), sorted(self.values_left)
        if len(missing) != len(values):
            return  # not a permutation, so not RC4D
        for order in permutations(values):
            g = bytearray(256)
            for x, y in (*self.g.items(), *zip(missing, order, strict=True)):
                g[x] = y
            yield from rc4d.starts_through_output(bytes(g), self.c, self.c)


def _consistent(c: int, seen: list[tuple[int, int, int, int]]) -> bool:
    """Whether G stays a one-to-one function if c is F_0(42)."""
    forward: dict[int, int] = {}
    backward: dict[int, int] = {}
    for p0, p1, b0, b1 in seen:
        for x, y in ((b0, b1 ^ p0), (p0 ^ c, b0 ^ p1)):
            if forward.setdefault(x, y) != y or backward.setdefault(y, x) != x:
                return False
    return True


def run(access: Access, cipher: Cipher, seed: int, quick: bool) -> Part:
    """Attack random keys; every recovered table must decrypt messages that were never asked for."""
    keys = KEYS_QUICK if quick else KEYS
    random = randomness(seed, NAME)
    queries: list[int] = []
    seconds: list[float] = []
    unseen = recovered = 0
    for _ in range(keys):
        victim = access.keyed(random.randbytes(key_bytes(cipher)))
        oracle = encryption_oracle(victim)
        begin = thread_time()
        state = attack(oracle, random)
        seconds.append(thread_time() - begin)
        queries.append(oracle.queries)
        secrets = [random.randbytes(n) for n in (1, 2, 3, 7, 16, 32, 47, 64, 100, 200)]
        fresh = [message for message in secrets if message not in oracle.asked]
        if state is not None and all(
            rc4d.decrypt(state, victim.encrypt(message)[0]) == message for message in fresh
        ):
            recovered += 1
            unseen += len(fresh)
    mean = sum(queries) / keys
    return Part(
        NAME,
        TITLE,
        f"broken: {recovered} of {keys} keys" if recovered else "not broken",
        "bad" if recovered else "good",
        (
            "An attacker who can get messages encrypted recovers the whole secret table: "
            f"{recovered} of {keys} random keys, {mean:.0f} queries on average (at most {max(queries)}).",
            f"With the table alone, {unseen} messages of 1 to 200 bytes that were never queried "
            "were decrypted.",
        ),
        {
            "keys": keys,
            "recovered": recovered,
            "queries_mean": round(mean, 2),
            "queries_max": max(queries),
            "queries_min": min(queries),
            "unseen_messages_decrypted": unseen,
            "processor_seconds_mean": round(sum(seconds) / keys, 4),
            "processor_seconds_max": round(max(seconds), 4),
        },
    )
