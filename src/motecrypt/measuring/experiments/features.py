"""What a cipher takes and how far it diffuses, found by trying it on the host."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from motecrypt.attack.audits import diffusion
from motecrypt.attack.audits.oracle import flip, key_bytes, randomness
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cipher, ExperimentResult, Implementation
from motecrypt.build.toolchain import BuildRequest, key_of
from motecrypt.build.toolchain.native import NativeCipher, open_implementation
from motecrypt.catalog import Catalog
from motecrypt.results import Results
from motecrypt.results.experiments.features import KIND, VERSION, FeatureQuestion

MESSAGE_LENGTHS = (*range(67), 127, 128, 129, 254, 255, 256, 257, 511, 512, 513, 1000, 4096)
KEY_LENGTHS = range(257)
#: Two and three blocks of 16 bytes, and lengths that no block divides. A cipher takes what it can.
DIFFUSION_LENGTHS = (2, 3, 16, 32, 33, 48)
TRIALS = 48
TRIES = 16
#: The length at which single bits of a ciphertext are changed, in bytes.
CHANGED_LENGTH = 32


class FeatureProbe(FeatureQuestion):
    """Try every message and key length, and measure diffusion, on the host's build of one variant."""

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        """Return the stored result, or try the cipher and store what was found."""
        cipher, body = self._subject()
        inputs = self._inputs(cipher, body)
        stored = self.kept(results, inputs)
        if stored is not None:
            return stored
        if progress is not None:
            progress(f"{self.cipher} {self.variant}: lengths and diffusion")
        return results.store_experiment(KIND, VERSION, inputs, self._try(cipher, body), self.asked())

    def _subject(self) -> tuple[Cipher, Implementation]:
        catalog = Catalog.load()
        bodies = catalog.implementations_of(self.cipher, "host", ("motecrypt",))
        for body in bodies:
            if body.variant == self.variant:
                return catalog.cipher(self.cipher), body
        raise InputError(
            f"{self.cipher}: no variant '{self.variant}' runs on the host; "
            f"available: {', '.join(body.variant for body in bodies)}"
        )

    def _inputs(self, cipher: Cipher, body: Implementation) -> dict[str, Any]:
        host = Catalog.load().device("host")
        build = key_of(BuildRequest(host, body, next(iter(host.placements))))
        return {
            **self.asked(),
            "build": build,
            "code": _code_hash(),
        }

    def _try(self, cipher: Cipher, body: Implementation) -> Mapping[str, Any]:
        native = open_implementation(cipher, body)
        random = randomness(self.seed, KIND, cipher.name, body.variant)
        keys = [n for n in KEY_LENGTHS if _takes_key(native, random.randbytes(n))]
        native.setup(random.randbytes(key_bytes(cipher)))
        nonce = random.randbytes(cipher.nonce_bytes)

        def encrypt(message: bytes) -> bytes:
            return native.encrypt(message, nonce)[0]

        lengths = [n for n in MESSAGE_LENGTHS if _takes(encrypt, random.randbytes(n))]
        spread = [n for n in DIFFUSION_LENGTHS if n in lengths]
        verdict, maps = diffusion.diffusion_verdict(encrypt, spread, self.seed, TRIALS)
        return {
            "message_bytes": lengths,
            "message_bytes_tried": list(MESSAGE_LENGTHS),
            "messages": spell(lengths, MESSAGE_LENGTHS),
            "key_bytes": keys,
            "keys": spell(keys, KEY_LENGTHS),
            "diffusion": verdict,
            "diffusion_lengths": spread,
            "diffusion_changed": [round(found.mean_changed, 4) for found in maps],
            "diffusion_flips": [round(found.mean_flips, 4) for found in maps],
            "block_bytes": max((diffusion.block_bytes(found) for found in maps), default=0),
            "identity_bytes": [
                n
                for n in lengths
                if n in range(1, 33)
                and all(encrypt(m) == m for m in (random.randbytes(n) for _ in range(TRIES)))
            ],
            "decrypt_reach_bytes": _reach(
                lambda c: native.decrypt(c, nonce), [random.randbytes(CHANGED_LENGTH) for _ in range(TRIES)]
            ),
            "last_byte_passes_through": all(
                _last_byte_passes_through(encrypt, random.randbytes(CHANGED_LENGTH), 1 << bit)
                for bit in range(8)
            ),
        }


def _takes_key(native: NativeCipher, key: bytes) -> bool:
    try:
        native.setup(key)
    except InputError:
        return False
    return True


def _takes(encrypt: Callable[[bytes], bytes], message: bytes) -> bool:
    try:
        encrypt(message)
    except InputError:
        return False
    return True


def _reach(transform: diffusion.Transform, samples: Sequence[bytes]) -> int:
    """The most bytes of output that any single changed input bit changed."""
    most = 0
    for sample in samples:
        before = transform(sample)
        for bit in range(8 * len(sample)):
            after = transform(flip(sample, bit))
            most = max(most, sum(a != b for a, b in zip(before, after, strict=True)))
    return most


def _last_byte_passes_through(encrypt: diffusion.Transform, message: bytes, d: int) -> bool:
    """Whether XOR of `d` into the last byte of the message is XOR of `d` in the first of the ciphertext."""
    other = message[:-1] + bytes([message[-1] ^ d])
    return encrypt(message)[0] ^ encrypt(other)[0] == d


def spell(taken: Sequence[int], tried: Iterable[int]) -> str:
    """Describe briefly which lengths in bytes are taken, of those that were tried.

    "any", "16", "multiples of 16", "5 to 255", or the list.
    """
    wanted = list(tried)
    if list(taken) == wanted:
        return "any"
    if len(taken) == 1:
        return str(*taken)
    if taken and list(taken) == [n for n in wanted if n >= taken[0]]:
        return f"{taken[0]} to {taken[-1]}"
    step = min(filter(None, taken), default=None)
    if step and list(taken) == [n for n in wanted if n % step == 0]:
        return f"multiples of {step}"
    return ", ".join(map(str, taken)) or "none"


@lru_cache(maxsize=1)
def _code_hash() -> str:
    """A hash of the code that tries and judges: a change of it makes every result again."""
    sources = (Path(__file__), Path(diffusion.__file__))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:16]
