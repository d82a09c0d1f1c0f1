"""Every library's implementation, on the host: all vectors, and random inputs against the oracle.

What a library gets wrong is on a list here, exactly: a fault that is fixed upstream fails the test too.
"""

from __future__ import annotations

import ctypes
import random

import pytest
from test_every_cipher import _check_refused, _check_vector, _random_inputs

from motecrypt.base.errors import InputError
from motecrypt.base.model import Implementation
from motecrypt.build.toolchain import BuildError
from motecrypt.build.toolchain.native import BadTag, NativeCipher, open_implementation
from motecrypt.catalog import Catalog
from motecrypt.catalog.oracles import Vector, oracle, vectors

pytestmark = pytest.mark.long

CATALOG = Catalog.load()
RANDOM_RUNS = 500


def _known_fault(body: Implementation, ad: bytes, message: bytes) -> bool:
    """LibTomCrypt 1.18.2 pads nothing behind associated data that no message follows."""
    padded = len(ad) % 16 != 0 and not message
    return (body.library, body.cipher) == ("libtomcrypt", "chacha20-poly1305") and padded


LIBRARY_BODIES = [
    body
    for body in CATALOG.implementations
    if body.library != "motecrypt" and body in CATALOG.implementations_of(body.cipher, "host")
]


def _engine(body: Implementation) -> NativeCipher:
    try:
        return open_implementation(CATALOG.cipher(body.cipher), body)
    except BuildError as error:
        if "cannot be had" in str(error):
            pytest.skip(str(error))
        raise


def _takes(body: Implementation, vector: Vector) -> bool:
    return len(vector.key) <= body.key_bytes_allowed


def _refuses_key(engine: NativeCipher, key: bytes) -> bool:
    try:
        engine.setup(key)
    except InputError:
        return True
    return False


@pytest.mark.parametrize("body", LIBRARY_BODIES, ids=lambda b: f"{b.cipher}-{b.name}")
def test_all_vectors(body: Implementation) -> None:
    engine = _engine(body)
    checked = 0
    for vector in vectors(engine.cipher):
        if not _takes(body, vector) or (vector.valid and _refuses_key(engine, vector.key)):
            assert len(vector.key) * 8 not in body.key_bits
            continue
        if _known_fault(body, vector.ad, vector.message):
            engine.setup(vector.key)
            _, tag = engine.encrypt(vector.message, vector.nonce, vector.ad)
            assert not vector.valid or tag != vector.tag, "mended upstream? take it off the list"
            continue
        _check_vector(engine, vector)
        checked += 1
    assert checked or engine.cipher.name == "aes192-cts"
    print(f"{body.name} {body.cipher}: {checked} vectors")


@pytest.mark.parametrize("body", LIBRARY_BODIES, ids=lambda b: f"{b.cipher}-{b.name}")
def test_random_inputs_agree_with_the_oracle(body: Implementation) -> None:
    engine = _engine(body)
    encrypt = oracle(engine.cipher)
    flips = random.Random(body.name)
    for number, (key, nonce, ad, message) in enumerate(_random_inputs(engine.cipher, RANDOM_RUNS)):
        if len(key) * 8 not in body.key_bits or _known_fault(body, ad, message):
            continue
        expected = encrypt(key, nonce, ad, message)
        engine.setup(key)
        in_place = bool(number & 1)
        assert engine.encrypt(message, nonce, ad, in_place=in_place) == expected
        assert engine.decrypt(expected[0], nonce, ad, expected[1], in_place=not in_place) == message
        if engine.cipher.tag_bytes and number % 10 == 0:
            _check_refused(engine, flips, nonce, ad, *expected)


@pytest.mark.parametrize(
    "body",
    [b for b in LIBRARY_BODIES if CATALOG.cipher(b.cipher).tag_bytes],
    ids=lambda b: f"{b.cipher}-{b.name}",
)
def test_a_wrong_tag_leaves_no_plaintext(body: Implementation) -> None:
    engine = _engine(body)
    key = bytes(range(max(body.key_bits) // 8))
    nonce, message = bytes(engine.cipher.nonce_bytes), b"a message to hide".ljust(32)
    engine.setup(key)
    ciphertext, tag = engine.encrypt(message, nonce, b"ad")
    wrong = bytes([tag[0] ^ 1]) + tag[1:]
    seen = []
    create = ctypes.create_string_buffer

    def remember(*arguments: object) -> ctypes.Array[ctypes.c_char]:
        buffer = create(*arguments)  # type: ignore[call-overload]
        seen.append(buffer)
        return buffer  # type: ignore[no-any-return]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ctypes, "create_string_buffer", remember)
        with pytest.raises(BadTag):
            engine.decrypt(ciphertext, nonce, b"ad", wrong, in_place=False)
    assert seen and not any(message[:8] in buffer.raw for buffer in seen)
