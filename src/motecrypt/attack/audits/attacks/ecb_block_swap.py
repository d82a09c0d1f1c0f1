"""ECB: a new message put together from overheard ones, block by block, that the receiver takes for real."""

from __future__ import annotations

from collections.abc import Sequence

from motecrypt.attack.audits.attacks._play import sentence
from motecrypt.attack.audits.oracle import Access, Part, key_bytes, randomness
from motecrypt.base.model import Cipher

NAME = "ecb-block-swap"
TITLE = "ECB: messages assembled from recorded blocks"
SOURCE = "SP 800-38A section 6.1 and appendix"
NEEDS = "a block cipher in ECB mode"

GAMES = 50


def applies(cipher: Cipher) -> bool:
    """Whether each block is encrypted by itself."""
    return cipher.mode == "ecb"


def attack(overheard: Sequence[tuple[int, bytes]], target: int, block_bytes: int) -> bytes:
    """Return a ciphertext that opens the target valve.

    The attacker saw commands go by and what happened afterwards: `overheard` holds the valve that moved
    (positive: opened, negative: closed) and the ciphertext. A command is three blocks: who, which, what.
    """
    which = next(c for valve, c in overheard if abs(valve) == target)
    what = next(c for valve, c in overheard if valve > 0 and valve != target)
    return which[: 2 * block_bytes] + what[2 * block_bytes :]


def run(access: Access, cipher: Cipher, seed: int, quick: bool) -> Part:
    """Overhear commands that open and close valves; forge the one that was never sent."""
    random = randomness(seed, NAME)
    block_bytes = cipher.message.multiple
    forged = 0

    def command(valve: int, opens: bool) -> bytes:
        words = ("gateway", f"v {valve}", "open" if opens else "close")
        return b"".join(word.encode().ljust(block_bytes, b"\0") for word in words)

    for _ in range(GAMES):
        victim = access.keyed(random.randbytes(key_bytes(cipher)))
        target = random.randrange(1, 8)
        moves = [(valve, valve != target and random.random() < 0.6) for valve in range(1, 9)]
        moves.append((8, True))
        overheard = [(v if opens else -v, victim.encrypt(command(v, opens))[0]) for v, opens in moves]
        message = victim.decrypt(attack(overheard, target, block_bytes))
        forged += message == command(target, True)
    text = sentence(random, 2 * block_bytes) * 8
    ciphertext = access.keyed(random.randbytes(key_bytes(cipher))).encrypt(text)[0]
    blocks = [ciphertext[i : i + block_bytes] for i in range(0, len(ciphertext), block_bytes)]
    return Part(
        NAME,
        TITLE,
        "broken" if forged == GAMES else f"forged {forged} of {GAMES}",
        "bad" if forged else "good",
        (
            f"Without the key, from recorded commands, a command that was never sent was forged in {forged} "
            f"of {GAMES} games: the blocks of different messages fit together.",
            f"A text of {len(blocks)} blocks that repeats itself 8 times shows {len(set(blocks))} different.",
        ),
        {"games": GAMES, "forged": forged, "blocks": len(blocks), "different_blocks": len(set(blocks))},
    )
