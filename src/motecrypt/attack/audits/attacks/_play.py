"""What victims do, shared by the attacks: counted oracles, telegrams. An attacker never imports this."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from motecrypt.attack.audits.oracle import Keyed


class Counted:
    """An oracle that counts the questions and remembers them."""

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        self._answer = answer
        self.queries = 0
        self.asked: set[bytes] = set()

    def __call__(self, question: bytes) -> bytes:
        self.queries += 1
        self.asked.add(question)
        return self._answer(question)


def encryption_oracle(victim: Keyed, nonce: bytes = b"") -> Counted:
    """Return an oracle that encrypts what it is given, always under this nonce."""
    return Counted(lambda message: victim.encrypt(message, nonce)[0])


def telegram(random: Random, header: int, message_bytes: int) -> bytes:
    """Return a sensor's message: a constant first byte, a counter, then readings of a 10-bit converter.

    Each reading is two bytes, high byte first, so that the high bytes are 0 to 3; the low bytes and the
    counter take any value.
    """
    readings = b"".join(random.randrange(1024).to_bytes(2, "big") for _ in range(message_bytes // 2))
    return (bytes((header, random.randrange(256))) + readings)[:message_bytes]


WORDS = (
    *("temperature", "humidity", "pressure", "battery", "node", "door", "window", "open", "closed", "alarm"),
    *(
        "kitchen",
        "garden",
        "cellar",
        "valve",
        "pump",
        "is",
        "at",
        "of",
        "the",
        "and",
        "in",
        "on",
        "off",
        "low",
    ),
    *("percent", "degrees", "sensor", "reading", "status", "normal", "since", "minutes", "level"),
)


def sentence(random: Random, message_bytes: int) -> bytes:
    """Return plain text of exactly this length: what a node might print."""
    text = ""
    while len(text) < message_bytes:
        text += random.choice(WORDS) + " " + (f"{random.randrange(100)} " if random.random() < 0.2 else "")
    return text[:message_bytes].encode("ascii")
