"""CBC without authentication: a receiver that shows whether the padding was right decrypts everything.

The receiver decrypts, looks at the PKCS#7 padding, and answers yes or no (an error reply, a reset, silence:
any difference will do). Vaudenay, EUROCRYPT 2002.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from time import thread_time

from motecrypt.attack.audits.attacks._play import sentence
from motecrypt.attack.audits.oracle import Access, Keyed, Part, key_bytes, randomness, xor
from motecrypt.base.model import Cipher

NAME = "cbc-padding-oracle"
TITLE = "CBC: decryption through a padding oracle"
SOURCE = "Vaudenay, Security Flaws Induced by CBC Padding, EUROCRYPT 2002"
NEEDS = "CBC over whole blocks, without a tag"

MESSAGE_LENGTHS = (5, 21, 47)


def applies(cipher: Cipher) -> bool:
    """Whether the cipher is CBC over whole blocks, without a tag."""
    return cipher.mode == "cbc" and not cipher.tag_bytes and cipher.message.multiple > 1


def pad(message: bytes, block_bytes: int) -> bytes:
    """PKCS#7."""
    count = block_bytes - len(message) % block_bytes
    return message + bytes((count,)) * count


def receiver(victim: Keyed, block_bytes: int) -> Callable[[bytes, bytes], bool]:
    """Return a receiver of (nonce, ciphertext) that says whether the padding was right, and nothing else."""

    def accepts(nonce: bytes, ciphertext: bytes) -> bool:
        plain = victim.decrypt(ciphertext, nonce)
        count = plain[-1]
        return 1 <= count <= block_bytes and plain.endswith(bytes((count,)) * count)

    return accepts


def attack(
    accepts: Callable[[bytes, bytes], bool], nonce: bytes, ciphertext: bytes, block_bytes: int
) -> tuple[bytes, int]:
    """Return the padded message and the number of questions. Sees one message and the receiver's answers."""
    blocks = [nonce] + [ciphertext[i : i + block_bytes] for i in range(0, len(ciphertext), block_bytes)]
    questions, plain = 0, b""
    for previous, block in pairwise(blocks):
        inside = bytearray(block_bytes)  # the block as it is before the XOR with the previous one
        for at in range(block_bytes - 1, -1, -1):
            count = block_bytes - at
            forged = bytearray(at) + bytes(value ^ count for value in inside[at:])
            for guess in range(256):
                forged[at] = guess
                questions += 1
                if not accepts(bytes(forged), block):
                    continue
                if count == 1 and at:  # the byte before might have completed a longer padding by chance
                    forged[at - 1] ^= 1
                    questions += 1
                    sure = accepts(bytes(forged), block)
                    forged[at - 1] ^= 1
                    if not sure:
                        continue
                inside[at] = guess ^ count
                break
        plain += xor(bytes(inside), previous)
    return plain, questions


def run(access: Access, cipher: Cipher, seed: int, quick: bool) -> Part:
    """Encrypt sentences with padding; decrypt them by the receiver's answers alone."""
    random = randomness(seed, NAME)
    block_bytes = cipher.message.multiple
    read = total = questions = 0
    begin = thread_time()
    for n in MESSAGE_LENGTHS[:1] if quick else MESSAGE_LENGTHS:
        victim = access.keyed(random.randbytes(key_bytes(cipher)))
        nonce, message = random.randbytes(cipher.nonce_bytes), sentence(random, n)
        ciphertext, _ = victim.encrypt(pad(message, block_bytes), nonce)
        plain, asked = attack(receiver(victim, block_bytes), nonce, ciphertext, block_bytes)
        questions += asked
        total += len(ciphertext)
        read += len(ciphertext) if plain == pad(message, block_bytes) else 0
    return Part(
        NAME,
        TITLE,
        "broken" if read == total else "not broken",
        "bad" if read else "good",
        (
            f"Against a receiver without authentication that reports wrong padding, {read} of "
            f"{total} bytes were decrypted without the key, with {questions / total:.0f} questions a byte.",
        ),
        {
            "bytes": total,
            "bytes_read": read,
            "questions": questions,
            "questions_per_byte": round(questions / total, 1),
            "processor_seconds": round(thread_time() - begin, 3),
        },
    )
