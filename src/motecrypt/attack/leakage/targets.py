"""Targets of attacks by power: which value of a cipher is predicted from what is known and a part of the key.

A target splits the key into parts that are attacked one by one. For each part, what is known falls into a few
classes (an input byte: 256), and each guess of the part predicts one value for each class. Everything else
(correlation, templates) works on these tables, so a new cipher needs a new target and nothing more. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from motecrypt.attack.leakage.traces import Bytes
from motecrypt.base.errors import InputError

Values = NDArray[np.uint8]

#: Hamming weight of each byte.
WEIGHT_OF_BYTE: Values = np.array([value.bit_count() for value in range(256)], np.uint8)

BLOCK_BYTES = 16
#: Bytes 1 to 13 of CCM's first blocks are the nonce (RFC 3610, sections 2.2 and 2.3, with L = 2).
CCM_NONCE_BYTES = 13
#: The constant of the first of twelve rounds (NIST SP 800-232, table 5).
ASCON_FIRST_CONSTANT = 0xF0
#: Rotations of the linear layer for the words that are predicted (NIST SP 800-232, section 3.4).
ASCON_ROTATIONS = {0: (0, 19, 28), 1: (0, 61, 39)}
WORD_BITS = 64


@dataclass(frozen=True)
class PowerTarget:
    """One value of a cipher that a part of the key and known data decide.

    Attributes
    ----------
    name, title
        For options, and for people.
    side
        Which data of each trace has to be known: "input" or "output".
    known_bytes
        How many bytes of it.
    parts, guesses, classes
        How many parts of the key, guesses for each, and classes of known data for each.
    classes_of
        classes_of(known (n, known_bytes), part): the class of each trace, (n,).
    values
        values(part): the predicted value, (guesses, classes), 0 to 255.
    truth
        truth(key, part): which guess is right.
    rebuild
        rebuild(scores (parts, guesses)): the key that the best guesses give. Of a longer AES key they decide
        one round key: its first 16 bytes for the first, and what would be the key of AES-128 for the last.
        Of CCM's nonce they decide bytes 1 to 13; the other three take 2^24 trials.
    """

    name: str
    title: str
    side: str
    known_bytes: int
    parts: int
    guesses: int
    classes: int
    classes_of: Callable[[Bytes, int], NDArray[np.intp]]
    values: Callable[[int], Values]
    truth: Callable[[bytes, int], int]
    rebuild: Callable[[NDArray[np.float32]], bytes]

    def weights(self, part: int) -> NDArray[np.float32]:
        """Return the predicted Hamming weights, (guesses, classes)."""
        return WEIGHT_OF_BYTE[self.values(part)].astype(np.float32)

    def recovered(self, key: bytes) -> bytes:
        """Return what `rebuild` gives when every guess is right: all the key, or as much as is decided."""
        scores = np.zeros((self.parts, self.guesses), np.float32)
        for part in range(self.parts):
            scores[part, self.truth(key, part)] = 1
        return self.rebuild(scores)

    def check(self, known: Bytes) -> Bytes:
        """Return the known data that is used, (n, known_bytes).

        Raises
        ------
        InputError
            When there is too little of it.
        """
        if known.shape[1] < self.known_bytes:
            raise InputError(
                f"the attack '{self.name}' needs {self.known_bytes} bytes of {self.side} for each trace, "
                f"these have {known.shape[1]}"
            )
        return known[:, : self.known_bytes]


# --- AES (FIPS 197)


@lru_cache(maxsize=1)
def aes_sbox() -> Values:
    """Return the S-box, computed: the inverse in GF(2^8), then the affine map (FIPS 197, section 5.1.1)."""
    powers = [1]  # of 3, which generates the multiplicative group
    while len(powers) < 255:
        doubled = powers[-1] << 1 ^ (0x11B if powers[-1] & 0x80 else 0)
        powers.append(doubled ^ powers[-1])
    box = np.full(256, 0x63, np.uint8)
    for exponent, value in enumerate(powers):
        inverse = powers[-exponent % 255]
        for shift in range(5):
            box[value] ^= (inverse << shift | inverse >> (8 - shift)) & 0xFF
    return box


@lru_cache(maxsize=1)
def aes_inverse_sbox() -> Values:
    """Return the inverse of the S-box."""
    inverse = np.zeros(256, np.uint8)
    inverse[aes_sbox()] = np.arange(256, dtype=np.uint8)
    return inverse


@lru_cache(maxsize=64)
def aes_round_keys(key: bytes) -> tuple[bytes, ...]:
    """Return the round keys of AES (FIPS 197, section 5.2), for keys of 16, 24 or 32 bytes."""
    box, words = aes_sbox(), len(key) // 4
    schedule = [key[4 * i : 4 * i + 4] for i in range(words)]
    constant = 1
    for i in range(words, 4 * (words + 7)):
        word = schedule[-1]
        if i % words == 0:
            word = bytes(box[byte] for byte in word[1:] + word[:1])
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = constant << 1 ^ (0x11B if constant & 0x80 else 0)
        elif words == 8 and i % words == 4:
            word = bytes(box[byte] for byte in word)
        schedule.append(_xor(word, schedule[i - words]))
    return tuple(b"".join(schedule[i : i + 4]) for i in range(0, len(schedule), 4))


def aes_encrypted(key: bytes, blocks: Bytes) -> Bytes:
    """Return the ciphertexts of blocks, (n, 16), under one key (FIPS 197, section 5.1)."""
    box = aes_sbox()
    first, *middle, last = (np.frombuffer(own, np.uint8) for own in aes_round_keys(key))
    shifted = [(place + 4 * (place % 4)) % BLOCK_BYTES for place in range(BLOCK_BYTES)]
    state = blocks ^ first
    for own in middle:
        columns = box[state][:, shifted].reshape(-1, 4, 4)
        beside = columns ^ np.roll(columns, -1, axis=2)
        doubled = beside << 1 ^ np.uint8(0x1B) * (beside >> 7)
        mixed = columns ^ np.bitwise_xor.reduce(columns, axis=2, keepdims=True) ^ doubled
        state = mixed.reshape(-1, BLOCK_BYTES) ^ own
    found: Bytes = box[state][:, shifted] ^ last
    return found


def aes128_key_of_last(last: bytes) -> bytes:
    """Return the key of AES-128 whose last round key this is: the schedule run backwards."""
    box = aes_sbox()
    words = [last[4 * i : 4 * i + 4] for i in range(4)]
    constants = [1]
    while len(constants) < 10:
        constants.append(constants[-1] << 1 ^ (0x11B if constants[-1] & 0x80 else 0))
    for constant in reversed(constants):
        words[1:] = [_xor(words[i], words[i - 1]) for i in (1, 2, 3)]
        turned = bytes(box[byte] for byte in words[3][1:] + words[3][:1])
        words[0] = _xor(words[0], bytes([turned[0] ^ constant]) + turned[1:])
    return b"".join(words)


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def _aes(name: str, title: str, side: str, box: Values, *, last: bool, first: int = 0) -> PowerTarget:
    """A target on bytes that the S-box, or its inverse, gives for known byte XOR round key byte.

    `first`: which byte of the block the first known byte is; with CCM's nonce, 1.
    """
    guess = np.arange(256, dtype=np.uint8)
    table = box[guess[:, None] ^ guess[None, :]]
    parts = CCM_NONCE_BYTES if first else BLOCK_BYTES

    def rebuild(scores: NDArray[np.float32]) -> bytes:
        found = scores.argmax(axis=1).astype(np.uint8).tobytes()
        return aes128_key_of_last(found) if last else found

    return PowerTarget(
        name=name,
        title=title,
        side=side,
        known_bytes=parts,
        parts=parts,
        guesses=256,
        classes=256,
        classes_of=lambda known, part: known[:, part].astype(np.intp),
        values=lambda part: table,
        truth=lambda key, part: aes_round_keys(key)[-1 if last else 0][part + first],
        rebuild=rebuild,
    )


# --- Ascon-AEAD128 (NIST SP 800-232)


def _ascon_classes(known: Bytes, part: int) -> NDArray[np.intp]:
    """Both nonce bits at three positions, as a number of six bits."""
    bits = np.unpackbits(known, axis=1, bitorder="little")
    columns = [half + position for position in _ascon_positions(part) for half in (0, WORD_BITS)]
    classes: NDArray[np.intp] = bits[:, columns].astype(np.intp) @ (1 << np.arange(6))
    return classes


def _ascon_positions(part: int) -> list[int]:
    word, bit = divmod(part, WORD_BITS)
    return [(bit + rotation) % WORD_BITS for rotation in ASCON_ROTATIONS[word]]


@lru_cache(maxsize=2)
def _ascon_values(word: int) -> Values:
    """The nonce's share in one bit of a word after the first linear layer, under guesses of three key bits.

    With x1, x2 from the key and x3, x4 from the nonce, the S-box gives y0 = x3 + x1 x4 + ... and
    y1 = x4 + x3 (x1 + x2 + 1) + ..., where what is left out does not depend on the nonce. The linear layer
    adds three bits of the same word. (After Samwel and Daemen, "DPA on hardware implementations of Ascon and
    Keyak", 2017.)
    """
    found = np.zeros((8, WORD_BITS), np.uint8)
    for guess in range(8):
        for case in range(64):
            for i in range(3):
                key, x3, x4 = guess >> i & 1, case >> 2 * i & 1, case >> (2 * i + 1) & 1
                found[guess, case] ^= (x3 ^ key & x4) if word == 0 else (x4 ^ key & x3)
    return found


def _ascon_secrets(key: bytes) -> tuple[int, int]:
    """The two words that are guessed: x1, and x1 + x2 + 1 with the round's constant in x2."""
    x1, x2 = (int.from_bytes(key[i : i + 8], "little") for i in (0, 8))
    return x1, x1 ^ x2 ^ ASCON_FIRST_CONSTANT ^ (1 << WORD_BITS) - 1


def _ascon_truth(key: bytes, part: int) -> int:
    secret = _ascon_secrets(key)[part // WORD_BITS]
    return sum((secret >> position & 1) << i for i, position in enumerate(_ascon_positions(part)))


def _ascon_rebuild(scores: NDArray[np.float32]) -> bytes:
    """Each bit of a secret word is in three parts. In each, the best guesses with and without it compete."""
    words = []
    guess = np.arange(8)
    for word in ASCON_ROTATIONS:
        votes = np.zeros(WORD_BITS)
        for bit in range(WORD_BITS):
            part = word * WORD_BITS + bit
            for i, position in enumerate(_ascon_positions(part)):
                ones = guess >> i & 1 == 1
                votes[position] += scores[part][ones].max() - scores[part][~ones].max()
        words.append(sum(int(vote > 0) << bit for bit, vote in enumerate(votes)))
    x1, mixed = words
    x2 = x1 ^ mixed ^ ASCON_FIRST_CONSTANT ^ (1 << WORD_BITS) - 1
    return x1.to_bytes(8, "little") + x2.to_bytes(8, "little")


@lru_cache(maxsize=1)
def targets() -> dict[str, PowerTarget]:
    """Return all targets by name."""
    box, inverse = aes_sbox(), aes_inverse_sbox()
    found = [
        _aes("aes-encrypt-first", "S-box output of the first round", "input", box, last=False),
        _aes("aes-encrypt-last", "S-box input of the last round", "output", inverse, last=True),
        _aes("aes-decrypt-first", "inverse S-box output of the first round", "input", inverse, last=True),
        _aes("aes-decrypt-last", "inverse S-box input of the last round", "output", box, last=False),
        _aes(
            "aes-ccm-nonce",
            "S-box output of the first round for CCM's nonce",
            "input",
            box,
            last=False,
            first=1,
        ),
        PowerTarget(
            name="ascon-initialisation",
            title="words 0 and 1 after the first round of the initialisation",
            side="input",
            known_bytes=16,
            parts=2 * WORD_BITS,
            guesses=8,
            classes=64,
            classes_of=_ascon_classes,
            values=lambda part: _ascon_values(part // WORD_BITS),
            truth=_ascon_truth,
            rebuild=_ascon_rebuild,
        ),
    ]
    return {target.name: target for target in found}


def target_named(name: str) -> PowerTarget:
    """Return a target.

    Raises
    ------
    InputError
        For an unknown name; the message says which there are.
    """
    known = targets()
    if name not in known:
        raise InputError(f"no attack '{name}'; available: {', '.join(known)}")
    return known[name]
