"""Integrity: which changes of a message on its way go unnoticed, and what they do to it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from motecrypt.attack.audits.oracle import (
    Access,
    Keyed,
    Part,
    Rejected,
    flip,
    key_bytes,
    nearest_length,
    randomness,
    xor,
)
from motecrypt.base.model import Cipher

NAME = "integrity"
TITLE = "Changes in transit"
TRIALS = 24


@dataclass(frozen=True)
class Sent:
    """What travels, and what the receiver holds it against."""

    ciphertext: bytes
    nonce: bytes
    ad: bytes
    tag: bytes


def audit(access: Access, cipher: Cipher, seed: int) -> Part:
    """Change ciphertext, nonce, tag and associated data in every way a forger would try first.

    Parameters
    ----------
    access, cipher
        The cipher under audit and its description.
    seed
        Draws keys, nonces and messages.
    """
    random = randomness(seed, NAME)
    n = nearest_length(cipher, 48)
    counts: dict[str, list[int]] = {}
    for _ in range(TRIALS):
        victim = access.keyed(random.randbytes(key_bytes(cipher)))
        sent, _ = _send(victim, cipher, random, n)
        for name, forged in _forgeries(sent, cipher, random):
            count = counts.setdefault(name, [0, 0])
            count[0] += 1
            count[1] += _accepted(victim, forged) is not None
    effects = _effects(access, cipher, random, n)
    data: dict[str, Any] = {
        "trials": TRIALS,
        "changes": {name: {"tried": tries, "unnoticed": passed} for name, (tries, passed) in counts.items()},
        **effects,
    }
    tried = sum(value[0] for value in counts.values())
    unnoticed = sum(value[1] for value in counts.values())
    if not unnoticed:
        return Part(
            NAME,
            TITLE,
            "authenticated",
            "good",
            (
                f"All of {tried} changed messages were refused: changed, cut, extended and exchanged "
                "ciphertext, changed tag, nonce and associated data.",
            ),
            data,
        )
    loose = [name for name, (_, passed) in counts.items() if passed]
    sentences = [f"{unnoticed} of {tried} changed messages were accepted: {', '.join(loose)}."]
    sentences += _describe(effects, cipher)
    return Part(NAME, TITLE, "not authenticated", "bad", tuple(sentences), data)


def _send(victim: Keyed, cipher: Cipher, random: Random, n: int) -> tuple[Sent, bytes]:
    message = random.randbytes(n)
    nonce, ad = random.randbytes(cipher.nonce_bytes), random.randbytes(5 if cipher.associated_data else 0)
    ciphertext, tag = victim.encrypt(message, nonce, ad)
    return Sent(ciphertext, nonce, ad, tag), message


def _accepted(victim: Keyed, sent: Sent) -> bytes | None:
    try:
        return victim.decrypt(sent.ciphertext, sent.nonce, sent.ad, sent.tag)
    except Rejected:
        return None


def _forgeries(sent: Sent, cipher: Cipher, random: Random) -> Iterator[tuple[str, Sent]]:
    c, nonce, ad, tag = sent.ciphertext, sent.nonce, sent.ad, sent.tag
    for _ in range(16):
        yield "one bit of ciphertext", Sent(flip(c, random.randrange(8 * len(c))), nonce, ad, tag)
    yield "one byte of ciphertext", Sent(xor(c, bytes(len(c) - 1) + b"\x55"), nonce, ad, tag)
    half = len(c) // 2
    step = max(cipher.message.multiple, 1)
    for cut in (len(c) - step, half - half % step):
        if cut > 0 and cipher.message.allows(cut):
            yield "cut short", Sent(c[:cut], nonce, ad, tag)
    if cipher.message.allows(len(c) + step):
        yield "extended", Sent(c + random.randbytes(step), nonce, ad, tag)
    yield "halves exchanged", Sent(c[half:] + c[:half], nonce, ad, tag)
    yield "replaced by random bytes", Sent(random.randbytes(len(c)), nonce, ad, tag)
    for _ in range(4):
        if nonce:
            yield "one bit of nonce", Sent(c, flip(nonce, random.randrange(8 * len(nonce))), ad, tag)
        if tag:
            yield "one bit of tag", Sent(c, nonce, ad, flip(tag, random.randrange(8 * len(tag))))
        if ad:
            yield "one bit of associated data", Sent(c, nonce, flip(ad, random.randrange(8 * len(ad))), tag)
    if ad:
        yield "associated data cut", Sent(c, nonce, ad[:-1], tag)
    if tag:
        yield "tag of zeros", Sent(c, nonce, ad, bytes(len(tag)))


def _effects(access: Access, cipher: Cipher, random: Random, n: int) -> dict[str, Any]:
    """For each ciphertext (and nonce) byte: how many plaintext bytes a change of it moved, and which exactly.

    `controlled` holds pairs [changed byte, plaintext byte]: there the plaintext changed by exactly the
    same XOR in every trial, so a forger sets those bits at will.
    """
    touched: dict[tuple[str, int], set[int]] = {}
    exact: dict[tuple[str, int], set[int]] = {}
    for _ in range(TRIALS):
        victim = access.keyed(random.randbytes(key_bytes(cipher)))
        sent, message = _send(victim, cipher, random, n)
        for where, position in [
            *(("ciphertext", i) for i in range(n)),
            *(("nonce", i) for i in range(cipher.nonce_bytes)),
        ]:
            change = random.randrange(1, 256)
            forged = _changed(sent, where, position, change)
            plain = _accepted(victim, forged)
            if plain is None:
                continue
            difference = xor(plain, message)
            moved = {i for i, value in enumerate(difference) if value}
            same = {i for i in moved if difference[i] == change}
            key = (where, position)
            touched[key] = touched.get(key, set()) | moved
            exact[key] = exact.get(key, same) & same
    reach = [len(moved) for (where, _), moved in touched.items() if where == "ciphertext"]
    return {
        "message_bytes": n,
        "plaintext_bytes_moved_min": min(reach, default=0),
        "plaintext_bytes_moved_max": max(reach, default=0),
        "controlled": {
            where: [
                [position, at]
                for (place, position), hits in sorted(exact.items())
                if place == where
                for at in sorted(hits)
            ]
            for where in ("ciphertext", "nonce")
        },
    }


def _changed(sent: Sent, where: str, position: int, change: int) -> Sent:
    source = bytearray(getattr(sent, where))
    source[position] ^= change
    return replace(sent, **{where: bytes(source)})


def _describe(effects: dict[str, Any], cipher: Cipher) -> Iterator[str]:
    low, high = effects["plaintext_bytes_moved_min"], effects["plaintext_bytes_moved_max"]
    if low == high == effects["message_bytes"]:
        yield "One changed byte of ciphertext changes the whole plaintext: forgeries are only garbled."
    elif high:
        span = f"{low}" if low == high else f"{low} to {high}"
        noun = "byte" if high == 1 else "bytes"
        yield f"One changed byte of ciphertext changes {span} {noun} of plaintext; the rest arrives intact."
    pairs = effects["controlled"]["ciphertext"]
    if pairs:
        if all(source == at for source, at in pairs):
            yield f"At {len(pairs)} of the positions the plaintext byte changes by exactly the forger's XOR."
        elif len(pairs) <= 3:
            yield (
                "; ".join(
                    f"An XOR on ciphertext byte {source} is the same XOR on plaintext byte {at}"
                    for source, at in pairs
                )
                + "."
            )
        else:
            shift = {at - source for source, at in pairs}
            where = f" {shift.pop()} bytes further on" if len(shift) == 1 else ""
            count = len(pairs)
            yield f"At {count} positions an XOR on ciphertext is the same XOR on a plaintext byte{where}."
    if effects["controlled"]["nonce"]:
        count = len(effects["controlled"]["nonce"])
        yield f"An XOR on the nonce is the same XOR on {count} bytes of plaintext."
