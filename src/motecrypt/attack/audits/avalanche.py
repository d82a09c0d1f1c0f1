"""The diffusion part of an audit: plaintext, ciphertext, key and nonce, at many lengths. Pure.

Encryption and decryption are judged apart, since a cipher can diffuse one way only. A cipher that refuses
changed ciphertext has no second direction: there is nothing to see.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from motecrypt.attack.audits.diffusion import (
    DiffusionMap,
    DiffusionVerdict,
    Transform,
    block_bytes,
    measure,
    overall,
    verdict,
)
from motecrypt.attack.audits.oracle import (
    Access,
    Part,
    Weight,
    key_bytes,
    lengths_allowed,
    nearest_length,
    randomness,
)
from motecrypt.base.model import Cipher

NAME = "diffusion"
TITLE = "Diffusion"

LENGTHS = (1, 2, 3, 4, 8, 16, 17, 24, 32, 48)
#: The matrix of this length (or the longest below) is kept in the result.
SHOWN_BYTES = 32
TRIALS = 32
KEY_TRIALS = 24


def audit(access: Access, cipher: Cipher, seed: int, quick: bool = False) -> Part:
    """Flip every bit of plaintext, ciphertext, key and nonce, and say how far it reaches.

    Parameters
    ----------
    access, cipher
        The cipher under audit and its description.
    seed
        Draws keys, nonces and messages.
    quick
        Fewer lengths.
    """
    random = randomness(seed, NAME)
    lengths = lengths_allowed(cipher, LENGTHS) or (nearest_length(cipher, LENGTHS[-1]),)
    short = tuple(n for n in lengths if n <= SHOWN_BYTES) or lengths[:1]
    lengths = short if quick else lengths
    size = key_bytes(cipher)
    nonce = random.randbytes(cipher.nonce_bytes)
    keyed = {n: access.keyed(random.randbytes(size)) for n in lengths}
    data: dict[str, Any] = {}
    sentences: list[str] = []

    def encrypting(n: int) -> Transform:
        return lambda message: keyed[n].encrypt(message, nonce)[0]

    def decrypting(n: int) -> Transform:
        return lambda ciphertext: keyed[n].decrypt(ciphertext, nonce)

    there = [measure(encrypting(n), n, seed, TRIALS, "plaintext") for n in lengths]
    data["encrypt"] = _summary(there)
    sentences += _tell("Encryption", "plaintext", "ciphertext", there)
    if cipher.tag_bytes:
        sentences.append("Decryption was not examined: changed ciphertext is refused.")
        middle = keyed[short[-1]]
        tag = measure(lambda m: middle.encrypt(m, nonce)[1], short[-1], seed, TRIALS, "plaintext")
        data["tag"] = _summary([tag])
        sentences.append(f"A changed plaintext bit flips {100 * tag.mean_flips:.0f} % of the tag's bits.")
        back: list[DiffusionMap] = []
    else:
        back = [measure(decrypting(n), n, seed, TRIALS, "ciphertext") for n in lengths]
        data["decrypt"] = _summary(back)
        sentences += _tell("Decryption", "ciphertext", "plaintext", back)

    shown = nearest_length(cipher, 16)
    message = random.randbytes(shown)
    keys = measure(lambda key: access.keyed(key).encrypt(message, nonce)[0], size, seed, KEY_TRIALS, "key")
    data["key"] = _summary([keys])
    sentences.append(f"A changed key bit flips {100 * keys.mean_flips:.0f} % of the ciphertext's bits.")
    if keys.idle_bits:
        sentences.append(f"{len(keys.idle_bits)} of {8 * size} key bits never change anything.")
    if cipher.nonce_bytes:
        held = access.keyed(random.randbytes(size))
        nonces = measure(
            lambda one: held.encrypt(message, one)[0], cipher.nonce_bytes, seed, KEY_TRIALS, "nonce"
        )
        data["nonce"] = _summary([nonces])
        sentences.append(
            f"A changed nonce bit flips {100 * nonces.mean_flips:.0f} % of the ciphertext's bits."
        )
    else:
        sentences.append("It has no nonce to change.")
    one_way = overall(there)
    other = overall(back) if back else None
    text = one_way if other in (None, one_way) else f"{one_way} encrypting, {other} decrypting"
    return Part(NAME, TITLE, text, _weight(cipher, one_way, other), tuple(sentences), data)


def _weight(cipher: Cipher, there: DiffusionVerdict, back: DiffusionVerdict | None) -> Weight:
    if cipher.tag_bytes:
        return "good"  # what does not diffuse is caught by the tag
    return "good" if (there, back) == ("full", "full") else "note"


def _summary(maps: Sequence[DiffusionMap]) -> dict[str, Any]:
    small = [found for found in maps if found.input_bytes <= SHOWN_BYTES] or maps[:1]
    shown = max(small, key=lambda found: found.input_bytes)
    return {
        "verdict": overall(maps),
        "lengths": [_row(found) for found in maps],
        "matrix": {
            "input": shown.input_name,
            "input_bytes": shown.input_bytes,
            "output_bytes": shown.output_bytes,
            "percent_changed_by_input_bit_and_output_byte": [
                [round(100 * v) for v in row] for row in shown.changed
            ],
        },
    }


def _row(found: DiffusionMap) -> dict[str, Any]:
    reach = [len(positions) for positions in found.reach()]
    return {
        "input_bytes": found.input_bytes,
        "output_bytes": found.output_bytes,
        "trials": found.trials,
        "verdict": verdict(found),
        "block_bytes": block_bytes(found),
        "bytes_changed_mean": round(found.mean_changed, 4),
        "bits_flipped_mean": round(found.mean_flips, 4),
        "reach_bytes_min": min(reach),
        "reach_bytes_max": max(reach),
        "worst": {
            "input_bit": found.worst_input_bit,
            "output_bit": found.worst_output_bit,
            "flip_rate": found.worst_rate,
        },
        "stuck_pairs": found.stuck_pairs,
        "idle_input_bits": list(found.idle_bits),
    }


def _tell(what: str, changed: str, seen: str, maps: Sequence[DiffusionMap]) -> list[str]:
    longest = maps[-1]
    several = [found for found in maps if found.input_bytes > 1] or list(maps)
    span = f"{several[0].input_bytes} to {longest.input_bytes} bytes"
    reach = [len(positions) for found in several for positions in found.reach()]
    found = overall(maps)
    told = []
    if found == "full":
        told.append(
            f"{what} diffuses fully at {span}: each {changed} bit reaches every {seen} byte and flips "
            f"{100 * longest.mean_flips:.0f} % of the bits."
        )
        if longest.stuck_pairs and longest.trials >= 32:
            rate = "always" if longest.worst_rate > 0.5 else "never"
            told.append(
                f"Yet {longest.stuck_pairs} pairs of bits are fixed at {longest.input_bytes} bytes: "
                f"{changed} bit {longest.worst_input_bit} {rate} flips {seen} bit {longest.worst_output_bit}."
            )
    elif found == "block":
        blocks = {block_bytes(one) for one in several if verdict(one) == "block"}
        further = max(len(positions) for positions in longest.reach()) > max(blocks)
        told.append(
            f"{what} diffuses over blocks of {min(blocks)} bytes"
            + (f", and part of it further (up to {max(reach)} bytes)." if further else " and no further.")
        )
    else:
        least, most = min(len(positions) for positions in longest.reach()), max(reach)
        span = f"{most} {'byte' if most == 1 else 'bytes'}" if least == most else f"{least} to {most} bytes"
        told.append(f"{what} does not diffuse: one changed {changed} byte reaches {span} of the {seen}.")
    first = maps[0]
    if first.input_bytes == 1 and verdict(first) == "none" and found != "none":
        told.append(f"At 1 byte there is no diffusion: a changed bit flips {8 * first.mean_flips:.1f} bits.")
    return told
