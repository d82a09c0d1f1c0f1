"""What each attack says when it was run: where nothing is to be found, and where some keys fall."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from itertools import count, cycle
from random import Random
from typing import Any
from unittest import mock

import audit_toys as toys

from goldens.noting import Noting
from goldens.text import digest, plain
from motecrypt.attack.audits import _rc4d_state as rc4d
from motecrypt.attack.audits import oracle
from motecrypt.attack.audits.attacks import (
    cbc_padding_oracle,
    ecb_block_swap,
    fixed_iv,
    keystream_reuse,
    poly1305_nonce_reuse,
    rc4_broadcast,
    rc4d_chosen,
    rc4d_distinguisher,
    rc4d_passive,
    rc4d_two_keys,
)
from motecrypt.base.model import MessageLengths
from readings.made_up import KEY, des, made_of, of_lengths

SHORT = {"KEYS": 3, "KEYS_QUICK": 2, "GAMES": 6, "TRIALS": 3, "TRIALS_QUICK": 2, "MESSAGES": 9}
TWO_KEYS = toys.described("rc4d-two-key", key_bits=(256,))


@contextmanager
def _set(attack: Any, numbers: Mapping[str, Any]) -> Iterator[None]:
    """The attack with other numbers, and a processor's clock that goes faster and faster."""
    ticks = count()
    with ExitStack() as changes:
        for name, value in numbers.items():
            if hasattr(attack, name):
                changes.enter_context(mock.patch.object(attack, name, value))
        if hasattr(attack, "thread_time"):
            clock = mock.patch.object(attack, "thread_time", lambda: 0.0123457 * next(ticks) ** 2)
            changes.enter_context(clock)
        yield


def _ran(attack: Any, access: Any, cipher: Any, quick: bool, **numbers: Any) -> Any:
    noting, drawn = toys.Told(access), []

    def drawing(*given: object) -> Noting:
        drawn.append(Noting())
        drawn[-1].setstate(oracle.randomness(*given).getstate())  # type: ignore[arg-type]
        return drawn[-1]

    with _set(attack, {**SHORT, **numbers, "randomness": drawing}):
        part = attack.run(noting, cipher, 1, quick)
    ranges = digest([each.ranges for each in drawn])
    return plain([part.verdict, part.weight, *part.sentences, part.data, noting.digest(), ranges])


def _silent(cipher: Any) -> toys.ToyAccess:
    """A cipher that nothing can be learned of: its answers are drawn again by what was asked."""

    def answer(key: bytes, message: bytes, nonce: bytes, ad: bytes) -> tuple[bytes, bytes]:
        drawn = Random(b"|".join((key, message, nonce, b"c")))
        return drawn.randbytes(len(message)), drawn.randbytes(cipher.tag_bytes)

    def back(key: bytes, ciphertext: bytes, nonce: bytes, ad: bytes, tag: bytes) -> bytes:
        if cipher.tag_bytes:
            raise oracle.Rejected
        return Random(b"|".join((key, ciphertext, nonce, b"d"))).randbytes(len(ciphertext))

    return toys.ToyAccess(answer, back)


def failures() -> dict[str, Any]:
    """What each attack says where there is nothing to find."""
    found = {}
    eights = of_lengths(0, 999, 8, mode="ecb")
    found["fixed-iv on blocks of 8"] = _ran(fixed_iv, made_of(des), eights, False)
    for attack, cipher in (
        (cbc_padding_oracle, toys.aes_cipher("cbc")),
        (ecb_block_swap, toys.aes_cipher("ecb")),
        (fixed_iv, toys.aes_cipher("cbc")),
        (fixed_iv, toys.aes_cipher("ecb")),
        (fixed_iv, toys.described("aes128-cfb", mode="cfb", nonce_bytes=16)),
        (keystream_reuse, toys.RC4),
        (keystream_reuse, toys.CCM),
        (poly1305_nonce_reuse, toys.CHACHA),
        (rc4_broadcast, toys.RC4),
        (rc4d_chosen, toys.RC4D),
        (rc4d_passive, toys.RC4D),
        (rc4d_distinguisher, toys.RC4D),
        (rc4d_two_keys, TWO_KEYS),
    ):
        for quick in (True, False):
            name = f"{attack.NAME} on {cipher.name}, {'quick' if quick else 'whole'}"
            found[name] = _ran(attack, _silent(cipher), cipher, quick)
    return found


@lru_cache(maxsize=64)
def _table(key: bytes) -> bytes:
    return bytes(toys.schedule(key))


def _rc4d(key: bytes, message: bytes, nonce: bytes) -> bytes:
    return rc4d.encrypt(_table(key), message)


def _rc4d_of_two(key: bytes, message: bytes, nonce: bytes) -> bytes:
    return rc4d.encrypt(_table(key[:16]), message, _table(key[16:]))


class Some:
    """A cipher under some of the keys, in turn, and another one under the rest."""

    def __init__(self, access: Any, other: Any, turns: Sequence[bool]) -> None:
        self._access, self._other, self._turns = access, other, cycle(turns)

    def keyed(self, key: bytes) -> Any:
        """The one or the other."""
        return (self._access if next(self._turns) else self._other).keyed(key)


def _at_most(n: int) -> Callable[[bytes, bytes, bytes], bytes]:
    """RC4D for messages up to that length, and nothing of it for longer ones."""
    return lambda k, m, nonce: _rc4d(k, m, nonce) if len(m) <= n else bytes(len(m))


def _first_bytes(n: int) -> Callable[[bytes, bytes, bytes], bytes]:
    """A keystream for the first bytes, and nothing to learn of the rest."""
    return lambda k, m, nonce: bytes(b ^ 7 for b in m[:n]) + Random(m).randbytes(len(m[n:]))


def _receiving_by_turns() -> toys.ToyAccess:
    """ChaCha20-Poly1305 whose receiver refuses, accepts, and accepts something else."""
    turn = count()

    def decrypt(key: bytes, ciphertext: bytes, nonce: bytes, ad: bytes, tag: bytes) -> bytes:
        step = next(turn) % 4
        if not step:
            raise oracle.Rejected
        right = toys.chacha_access.keyed(key).decrypt(ciphertext, nonce, ad, tag)
        return (right, bytes(16), b"\xff" * 16)[step - 1]

    def encrypt(key: bytes, message: bytes, nonce: bytes, ad: bytes) -> tuple[bytes, bytes]:
        return toys.chacha_access.keyed(key).encrypt(message, nonce, ad)

    return toys.ToyAccess(encrypt, decrypt)


def successes() -> dict[str, Any]:
    """What each attack says where some keys fall, or where it is a near thing."""
    found: dict[str, Any] = {}
    for attack, cipher, access in (
        (cbc_padding_oracle, toys.aes_cipher("cbc"), toys.aes_access("cbc")),
        (ecb_block_swap, toys.aes_cipher("ecb"), toys.aes_access("ecb")),
        (poly1305_nonce_reuse, toys.CHACHA, toys.chacha_access),
        (rc4d_chosen, toys.RC4D, made_of(_rc4d)),
        (rc4d_two_keys, TWO_KEYS, made_of(_rc4d_of_two)),
    ):
        some = Some(access, _silent(cipher), (True, False, True))
        found[f"{attack.NAME} on some keys"] = _ran(attack, some, cipher, False)
    for claimed in (b"", b"\xff" * 16):
        name = f"fixed-iv, {len(claimed)} bytes claimed"
        with mock.patch.object(fixed_iv, "attack", lambda *given, of=claimed: of):
            found[name] = _ran(fixed_iv, toys.aes_access("cbc"), toys.aes_cipher("cbc"), True)
    name = "poly1305-nonce-reuse on a receiver by turns"
    found[name] = _ran(poly1305_nonce_reuse, _receiving_by_turns(), toys.CHACHA, True)
    short = toys.described("rc4d", message=MessageLengths(1, 4))
    some = Some(made_of(_rc4d), made_of(_at_most(4)), (True, False, True))
    table, fixed = _table(KEY), made_of(lambda k, m, n: rc4d.encrypt(_table(KEY), m))
    for first in (0, 255):
        claims = cycle([rc4d_passive.TableClaim(table, messages, first, 1.0) for messages in (5, 6, 6)])
        with mock.patch.object(rc4d_passive, "attack", lambda heard, of=claims: next(of)):
            found[f"rc4d-ciphertext-only, {first} claimed"] = _ran(rc4d_passive, fixed, short, False)
    found["rc4d-ciphertext-only on some keys"] = _ran(rc4d_passive, some, short, False)
    opened, changed = made_of(lambda k, m, n: m[::-1]), made_of(lambda k, m, n: bytes(b ^ 1 for b in m))
    for caught in (0, 1, 18, 19):
        some = Some(
            opened, made_of(lambda k, m, n: bytes(len(m))), (True,) * caught + (False,) * (20 - caught)
        )
        name = f"rc4d-distinguisher on {caught} of 20 keys"
        found[name] = _ran(rc4d_distinguisher, some, toys.RC4D, True, GAMES=40)
    for read in (0, 1, 2, 3, 4):
        some = Some(made_of(lambda k, m, n: m), changed, (True,) * 9 * read + (False,) * 9 * (4 - read))
        found[f"rc4-broadcast, {read} of 4"] = _ran(rc4_broadcast, some, toys.RC4, True, TRIALS_QUICK=4)
    # No word has a space in the second place, where all answers are equal: half the characters are read.
    two = toys.described("rc4", message=MessageLengths(2, 2))
    half = made_of(lambda k, m, n: bytes((m[0] ^ 7, 0)))
    found["keystream-reuse, half"] = _ran(keystream_reuse, half, two, True, MESSAGES=40)
    for n in (16, 40, 64):
        access = made_of(_first_bytes(n))
        found[f"keystream-reuse, {n} bytes"] = _ran(keystream_reuse, access, toys.RC4, True, MESSAGES=40)
    return found
