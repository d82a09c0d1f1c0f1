"""Every implementation of every cipher, on the host: all vectors, and random inputs against the oracle.

The count of vectors and of random runs is printed for each cipher (`pytest -rP` or `./test vectors`).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest

from costs import ALL
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cipher
from motecrypt.build.toolchain.native import BadTag, NativeCipher, open_implementation
from motecrypt.catalog import Catalog
from motecrypt.catalog.oracles import Vector, oracle, vectors

CATALOG = Catalog.load()
RANDOM_RUNS = 10_000 if ALL else 2_500
LENGTHS_BYTES = 80
OTHER_NONCES = ("ccm4", "ccm8", "ccm16", "siv", "hctr2")
"""Take nonces of several lengths: unit/ciphers has them."""
KEYS = {
    "rc2": range(1, 129),
    "rc4d-two-key": range(10, 256, 2),
    "rc6": range(1, 256),
}
"""The lengths of keys in bytes, of ciphers that take more than `key_bits_allowed`."""

NO_PUBLISHED_VECTORS = {
    "aes192-cts": "RFC 3962 and RFC 8009 have none for 192-bit keys; the oracle's random inputs stand alone",
}


def _engines(cipher: Cipher) -> list[NativeCipher]:
    bodies = CATALOG.implementations_of(cipher.name, "host", ["motecrypt"])
    return [open_implementation(cipher, body) for body in bodies]


CIPHERS = sorted(CATALOG.ciphers.values(), key=lambda c: c.name)


@pytest.mark.parametrize("cipher", CIPHERS, ids=lambda c: c.name)
def test_all_vectors(cipher: Cipher) -> None:
    known = list(vectors(cipher))
    if cipher.name in NO_PUBLISHED_VECTORS:
        assert not known, f"{cipher.name} has vectors now: take it off the list"
        pytest.skip(NO_PUBLISHED_VECTORS[cipher.name])
    assert known, f"{cipher.name} has no vectors"
    for engine in _engines(cipher):
        for vector in known:
            _check_vector(engine, vector)
    print(f"{cipher.name}: {len(known)} vectors, {len(_engines(cipher))} implementations")


def _check_vector(engine: NativeCipher, vector: Vector) -> None:
    where = f"{engine.implementation.name}: {vector.source}: {vector.comment}"
    bits = engine.implementation.key_bits
    if engine.cipher.key_bits_allowed is None and len(vector.key) * 8 not in bits:
        pytest.fail(f"{where}: a vector for {len(vector.key) * 8}-bit keys")
    if len(bits) == 1 and engine.implementation.key_bytes_allowed < len(vector.key):
        return
    try:
        engine.setup(vector.key)
    except InputError:
        assert len(vector.key) * 8 not in bits or not vector.valid, where
        return
    if not vector.valid:
        with pytest.raises((BadTag, InputError)):
            engine.decrypt(vector.ciphertext, vector.nonce, vector.ad, vector.tag)
        return
    for in_place in (True, False):
        got = engine.encrypt(vector.message, vector.nonce, vector.ad, in_place=in_place)
        assert got == (vector.ciphertext, vector.tag), where
        back = engine.decrypt(vector.ciphertext, vector.nonce, vector.ad, vector.tag, in_place=in_place)
        assert back == vector.message, where


def _random_inputs(cipher: Cipher, count: int) -> Iterator[tuple[bytes, bytes, bytes, bytes]]:
    source = random.Random(f"differential {cipher.name}")
    rule = cipher.message
    for number in range(count):
        longest = min(rule.max, LENGTHS_BYTES if number % 50 else 6 * LENGTHS_BYTES)
        length = source.randint(rule.min, max(rule.min, longest))
        length -= length % rule.multiple
        yield (
            source.randbytes(source.choice(cipher.key_bits) // 8),
            source.randbytes(cipher.nonce_bytes),
            source.randbytes(source.randint(0, 40)) if cipher.associated_data else b"",
            source.randbytes(max(length, rule.min)),
        )


@pytest.mark.parametrize("cipher", CIPHERS, ids=lambda c: c.name)
def test_random_inputs_agree_with_the_oracle(cipher: Cipher) -> None:
    encrypt = oracle(cipher)
    engines = _engines(cipher)
    assert engines, f"{cipher.name} has no implementation of ours on the host"
    flips = random.Random(f"flips {cipher.name}")
    for number, (key, nonce, ad, message) in enumerate(_random_inputs(cipher, RANDOM_RUNS)):
        expected = encrypt(key, nonce, ad, message)
        for engine in engines:
            if len(key) * 8 not in engine.implementation.key_bits:
                continue
            engine.setup(key)
            in_place = bool(number & 1)
            assert engine.encrypt(message, nonce, ad, in_place=in_place) == expected, (
                engine.implementation.name
            )
            assert engine.decrypt(expected[0], nonce, ad, expected[1], in_place=not in_place) == message
            if cipher.tag_bytes and number % 10 == 0:
                _check_refused(engine, flips, nonce, ad, *expected)
    print(f"{cipher.name}: {RANDOM_RUNS} random inputs, {len(engines)} implementations")


def _check_refused(
    engine: NativeCipher, flips: random.Random, nonce: bytes, ad: bytes, ciphertext: bytes, tag: bytes
) -> None:
    whole = bytearray(ciphertext + tag)
    whole[flips.randrange(len(whole))] ^= 1 << flips.randrange(8)
    at = len(ciphertext)
    with pytest.raises(BadTag):
        engine.decrypt(bytes(whole[:at]), nonce, ad, bytes(whole[at:]))


def _takes_key(engine: NativeCipher, key_bytes: int) -> bool:
    try:
        engine.setup(bytes(n & 255 for n in range(key_bytes)))
    except InputError:
        return False
    return True


def _pattern(cipher: Cipher) -> str:
    return re.sub(r"\d{3}", "{key_bits}", cipher.name)


@pytest.mark.parametrize("cipher", CIPHERS, ids=lambda c: c.name)
def test_no_other_length_of_key_nonce_or_message_is_taken(cipher: Cipher) -> None:
    # The ciphers of one "{key_bits}" have the same code, which takes every length that it was built for.
    same = [c for c in CIPHERS if c.folder == cipher.folder and _pattern(c) == _pattern(cipher)]
    exact = {bits // 8 for each in same for bits in each.key_bits}
    low, high, step = cipher.key_bits_allowed or (0, -1, 1)
    allowed = {bits // 8 for bits in range(low, high + 1, step)} or exact
    lengths = next((taken for name, taken in KEYS.items() if cipher.name.startswith(name)), allowed)
    for engine in _engines(cipher):
        body = engine.implementation
        taken = exact if {"RC4_K", "RC4D_K"} & {*body.defines} else lengths
        for length in range(258):
            right = length in taken and length <= body.key_bytes_allowed
            assert _takes_key(engine, length) == right, (body.name, length)
        assert _takes_key(engine, cipher.key_bits[0] // 8)
        message = bytes(
            range(cipher.message.multiple * max(1, -(-cipher.message.min // cipher.message.multiple)))
        )
        nonce = bytes(cipher.nonce_bytes)
        engine.encrypt(message, nonce)
        refused = [(bytes(n), nonce) for n in range(100) if not cipher.message.allows(n)]
        if cipher.nonce_bytes and not cipher.name.endswith(OTHER_NONCES):
            refused += [(message, bytes(n)) for n in range(33) if n != cipher.nonce_bytes]
        for given, with_nonce in refused:
            with pytest.raises(InputError):
                engine.encrypt(given, with_nonce)
            with pytest.raises(InputError):
                engine.decrypt(given, with_nonce, b"", bytes(cipher.tag_bytes))


@pytest.mark.parametrize("cipher", CIPHERS, ids=lambda c: c.name)
def test_every_cipher_says_how_it_stands(cipher: Cipher) -> None:
    assert cipher.security != "unrated", f"{cipher.folder}: {cipher.name} has no security"
    assert cipher.security_reason and cipher.security_source
