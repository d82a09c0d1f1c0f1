"""CCM beyond its vectors: every nonce length, and the message length that each allows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESCCM

from motecrypt.base.errors import InputError
from motecrypt.build.toolchain.native import BadTag, NativeCipher, open_implementation
from motecrypt.catalog import Catalog

KEY = bytes(range(16))


@pytest.fixture(scope="module", params=[(), ("__ARM_FEATURE_UNALIGNED=1",)], ids=["bytes", "words"])
def ccm(request: pytest.FixtureRequest) -> NativeCipher:
    """With nonces and sums by bytes, and by words as on cores that read them anywhere."""
    catalog = Catalog.load()
    body = catalog.implementations_of("aes128-ccm8", "host")[0]
    body = replace(body, defines=(*body.defines, *request.param))
    cipher = open_implementation(catalog.cipher("aes128-ccm8"), body)
    cipher.setup(KEY)
    return cipher


@pytest.mark.parametrize("nonce_bytes", range(7, 14))
@pytest.mark.parametrize("length", [0, 1, 16, 255, 256, 257])
def test_every_nonce_length_agrees_with_openssl(ccm: NativeCipher, nonce_bytes: int, length: int) -> None:
    nonce, message, ad = bytes(range(nonce_bytes)), bytes(length), b"header"
    sealed, tag = ccm.encrypt(message, nonce, ad)
    assert sealed + tag == AESCCM(KEY, 8).encrypt(nonce, message, ad)
    assert ccm.decrypt(sealed, nonce, ad, tag) == message
    with pytest.raises(BadTag):
        ccm.decrypt(sealed, nonce, ad, bytes([tag[0] ^ 1]) + tag[1:])


@pytest.mark.parametrize("nonce_bytes", [0, 6, 14, 15, 16])
def test_other_nonce_lengths_are_refused(ccm: NativeCipher, nonce_bytes: int) -> None:
    with pytest.raises(InputError, match="nonce"):
        ccm.encrypt(b"message", bytes(nonce_bytes))
    with pytest.raises(InputError, match="nonce"):
        ccm.decrypt(b"message", bytes(nonce_bytes), b"", bytes(8))


def test_a_message_that_its_length_field_cannot_tell_is_refused(ccm: NativeCipher) -> None:
    # SP 800-38C: with a nonce of 13 bytes the length has two. A counter that wraps would repeat a key stream.
    longest = bytes(0xFFFF)
    sealed, tag = ccm.encrypt(longest, bytes(13))
    assert sealed + tag == AESCCM(KEY, 8).encrypt(bytes(13), longest, b"")
    for length in (0x10000, 0x10001, 0x20000):
        with pytest.raises(InputError, match="length"):
            ccm.encrypt(bytes(length), bytes(13))
        with pytest.raises(InputError, match="length"):
            ccm.decrypt(bytes(length), bytes(13), b"", bytes(8))
    sealed, tag = ccm.encrypt(bytes(0x10000), bytes(12))
    assert sealed + tag == AESCCM(KEY, 8).encrypt(bytes(12), bytes(0x10000), b"")


@pytest.mark.parametrize("ad_bytes", [1, 13, 14, 15, 0xFEFF, 0xFF00, 0xFF01, 0x10000])
def test_long_associated_data_has_the_long_form_of_its_length(ccm: NativeCipher, ad_bytes: int) -> None:
    ad = bytes(index % 251 for index in range(ad_bytes))
    sealed, tag = ccm.encrypt(b"message", bytes(13), ad)
    assert sealed + tag == AESCCM(KEY, 8).encrypt(bytes(13), b"message", ad)
