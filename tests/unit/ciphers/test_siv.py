"""SIV beyond its vectors: what is there or not, and where each part ends, against the oracle."""

from __future__ import annotations

from itertools import product

import pytest

from motecrypt.build.toolchain.native import BadTag, NativeCipher, open_cipher
from motecrypt.catalog import Catalog
from motecrypt.catalog.oracles import oracle

KEY = bytes(range(32))
LENGTHS = (0, 1, 2, 15, 16, 17, 33)


@pytest.fixture(scope="module")
def siv() -> NativeCipher:
    cipher = open_cipher("aes128-siv")
    cipher.setup(KEY)
    return cipher


def test_every_part_may_be_left_out_or_end_anywhere_in_a_block(siv: NativeCipher) -> None:
    expected = oracle(Catalog.load().cipher("aes128-siv"))
    for lengths in product(LENGTHS, repeat=3):
        nonce, ad, message = (bytes(range(at, at + n)) for at, n in zip((1, 64, 128), lengths, strict=True))
        sealed, tag = expected(KEY, nonce, ad, message)
        assert siv.encrypt(message, nonce, ad) == (sealed, tag), lengths
        assert siv.decrypt(sealed, nonce, ad, tag) == message, lengths
        with pytest.raises(BadTag):
            siv.decrypt(sealed, nonce, ad, tag[:-1] + bytes([tag[-1] ^ 1]))
