"""What attacks predict: AES against FIPS 197, Ascon against its S-box as the standard prints it."""

import numpy as np
import pytest

from motecrypt.attack.leakage import targets
from motecrypt.attack.leakage.targets import target_named
from motecrypt.base.errors import InputError

FIPS_KEY = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
FIPS_LAST = bytes.fromhex("d014f9a8c9ee2589e13f0cc8b6630ca6")

#: NIST SP 800-232, table 6; the first word's bit is the highest.
ASCON_SBOX = (4, 11, 31, 20, 26, 21, 9, 2, 27, 5, 8, 18, 29, 3, 6, 28)
ASCON_SBOX += (30, 19, 7, 14, 0, 13, 17, 24, 16, 12, 1, 25, 22, 10, 15, 23)


def test_the_sbox_is_the_standards():
    box = targets.aes_sbox()
    assert [box[value] for value in (0x00, 0x01, 0x53, 0x9A, 0xFF)] == [0x63, 0x7C, 0xED, 0xB8, 0x16]
    assert sorted(box) == list(range(256))
    assert (targets.aes_inverse_sbox()[box] == np.arange(256)).all()


def test_round_keys_are_the_standards_and_run_backwards():
    keys = targets.aes_round_keys(FIPS_KEY)
    assert (len(keys), keys[0], keys[-1]) == (11, FIPS_KEY, FIPS_LAST)
    assert targets.aes128_key_of_last(FIPS_LAST) == FIPS_KEY
    longer = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    assert targets.aes_round_keys(longer)[-1].hex() == "fe4890d1e6188d0b046df344706c631e"
    middle = bytes.fromhex("8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b")
    assert targets.aes_round_keys(middle)[-1].hex() == "e98ba06f448c773c8ecc720401002202"


@pytest.mark.parametrize("length", [16, 24, 32])
def test_blocks_are_encrypted_as_by_another_library(length):
    from Crypto.Cipher import AES

    random = np.random.default_rng(length)
    key, blocks = random.bytes(length), random.integers(0, 256, (20, 16), np.uint8)
    assert targets.aes_encrypted(key, blocks).tobytes() == AES.new(key, AES.MODE_ECB).encrypt(
        blocks.tobytes()
    )


@pytest.mark.parametrize(
    ("name", "key", "box"),
    [
        ("aes-encrypt-first", FIPS_KEY, targets.aes_sbox()),
        ("aes-encrypt-last", FIPS_LAST, targets.aes_inverse_sbox()),
        ("aes-decrypt-first", FIPS_LAST, targets.aes_inverse_sbox()),
        ("aes-decrypt-last", FIPS_KEY, targets.aes_sbox()),
    ],
)
def test_aes_predicts_from_the_round_key_that_meets_the_known_side(name, key, box):
    target = target_named(name)
    known = np.random.default_rng(1).integers(0, 256, (5, 16), dtype=np.uint8)
    for part in range(16):
        guess = target.truth(FIPS_KEY, part)
        assert guess == key[part]
        predicted = target.values(part)[guess, target.classes_of(known, part)]
        assert (predicted == box[known[:, part] ^ key[part]]).all()
    assert target.recovered(FIPS_KEY) == FIPS_KEY
    assert target.side == ("input" if name.endswith("first") else "output")


def test_ccms_nonce_meets_thirteen_bytes_of_the_key():
    target = target_named("aes-ccm-nonce")
    assert (target.parts, target.known_bytes) == (13, 13)
    assert [target.truth(FIPS_KEY, part) for part in range(13)] == list(FIPS_KEY[1:14])
    assert target.recovered(FIPS_KEY) == FIPS_KEY[1:14]


def first_round(key, nonces):
    """The words of Ascon's state after one round of the initialisation, as bits: (n, 5, 64)."""
    words = np.zeros((len(nonces), 5), np.uint64)
    words[:, 0] = 0x00001000808C0001  # NIST SP 800-232, table 14
    words[:, 1:3] = np.frombuffer(key, "<u8")
    words[:, 3:] = nonces.view("<u8")
    words[:, 2] ^= np.uint64(0xF0)
    bits = (words[:, :, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    columns = (bits * np.uint64([[16], [8], [4], [2], [1]])).sum(axis=1)
    mixed = np.array(ASCON_SBOX)[columns.astype(int)]
    bits = (mixed[:, None, :] >> np.array([[4], [3], [2], [1], [0]])) & 1
    turns = [(19, 28), (61, 39), (1, 6), (10, 17), (7, 41)]
    return np.stack(
        [
            bits[:, i] ^ np.roll(bits[:, i], -a, axis=1) ^ np.roll(bits[:, i], -b, axis=1)
            for i, (a, b) in enumerate(turns)
        ],
        axis=1,
    )


def test_ascon_predicts_every_bit_up_to_a_constant():
    random = np.random.default_rng(2)
    key = random.bytes(16)
    nonces = random.integers(0, 256, (64, 16), dtype=np.uint8)
    state = first_round(key, nonces)
    target = target_named("ascon-initialisation")
    for part in range(target.parts):
        word, bit = divmod(part, 64)
        predicted = target.values(part)[:, target.classes_of(nonces, part)]
        constant = [len(set(guess ^ state[:, word, bit])) == 1 for guess in predicted]
        assert constant == [guess == target.truth(key, part) for guess in range(8)], part


def test_ascons_key_is_rebuilt_from_the_parts():
    target = target_named("ascon-initialisation")
    key = bytes(range(100, 116))
    assert target.recovered(key) == key
    scores = np.zeros((target.parts, 8), np.float32)
    for part in range(target.parts):
        scores[part, target.truth(key, part)] = 1
    scores[5] = np.eye(8)[(target.truth(key, 5) + 1) % 8] / 2  # one weak part in error is outvoted
    assert target.rebuild(scores) == key


def test_bad_questions_are_refused():
    with pytest.raises(InputError, match="no attack 'magic'; available: aes-encrypt-first, "):
        target_named("magic")
    with pytest.raises(InputError, match="needs 16 bytes of input for each trace, these have 8"):
        target_named("aes-encrypt-first").check(np.zeros((3, 8), np.uint8))
