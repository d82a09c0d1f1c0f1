"""`./test campaign --ciphers`: random inputs for each variant in assembly, on simulated chips.

Their outputs are compared with the oracles'. Messages of 0 to 66 bytes with 0 to 36 bytes of associated data,
each under a new key: encrypted at each address, in place and not, opened again, some changed and refused
(unit/ciphers/sealed_messages.c). Blocks of AES with each length of key, there and back (aes_chain.c,
aes_blocks.c).
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from motecrypt.catalog import Catalog
from unit.ciphers import blocks_on_arm, sealed_on_pico, test_aes_on_pico, test_aes_on_stm32f4, test_aes_on_uno

DEVICES = ("uno", "pico", "stm32f4")
SEALING = ("aes128-ccm16", "aes256-ccm16", "ascon-aead128", "chacha20-poly1305")
KEY_BYTES = (16, 24, 32)
INPUTS = 100_000
_BLOCKS = {"pico": test_aes_on_pico.SOURCES, "stm32f4": test_aes_on_stm32f4.SOURCES}
messages_of = lru_cache(sealed_on_pico.chained)
blocks_of = lru_cache(test_aes_on_uno.chained)


@dataclass(frozen=True)
class Run:
    """A variant on a device. `key_bytes`: of blocks of AES; 0 for messages."""

    device: str
    cipher: str
    variant: str
    key_bytes: int = 0

    def __str__(self) -> str:
        return f"{self.device} {self.cipher} {self.variant}"


def runs() -> Iterator[Run]:
    """Each variant with an assembly source."""
    catalog = Catalog.load()
    for device in DEVICES:
        for cipher in SEALING:
            for body in catalog.implementations_of(cipher, device, ["motecrypt"]):
                if any(source.endswith(".S") for source in body.sources):
                    yield Run(device, cipher, body.variant)
    for key_bytes in KEY_BYTES:
        cipher = f"aes{8 * key_bytes}"
        yield Run("uno", cipher, "avr", key_bytes)
        for device, sources in _BLOCKS.items():
            for variant, (first, *_) in sources.items():
                if first.endswith(".S"):
                    yield Run(device, cipher, variant, key_bytes)


def agrees(run: Run, inputs: int, folder: Path) -> bool:
    """Whether so many inputs give what the oracle gives, and nothing else went wrong on the chip."""
    if not run.key_bytes:
        tag, total, faults, *_ = sealed_on_pico.ran(
            folder, run.cipher, run.variant, inputs, device_name=run.device
        )
        made = (bytes.fromhex(tag), int(total, 16))
        return made == messages_of(run.cipher, inputs) and int(faults, 16) == 0
    expected = blocks_of(run.key_bytes, inputs).hex()
    if run.device == "uno":
        block, back, *_ = test_aes_on_uno.ran(folder, run.key_bytes, run.key_bytes, inputs)
        return (block, back) == (expected, "1")
    sources = _BLOCKS[run.device][run.variant]
    block, faults, *_ = blocks_on_arm.ran(
        folder, run.device, sources, run.key_bytes, run.key_bytes, inputs, place="flash"
    )
    return block == expected and int(faults, 16) == 0


def campaign(inputs: int, only: Sequence[str]) -> int:
    """All runs whose names have one of the words (none: all); 0 when all agree."""
    wrong = count = 0
    for run in runs():
        if only and not any(word in str(run).split() for word in only):
            continue
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            same = agrees(run, inputs, Path(folder))
        count, wrong = count + 1, wrong + (not same)
        kind = "blocks" if run.key_bytes else "messages"
        said = "agree" if same else "DIFFER"
        print(f"{run}: {inputs:,} {kind} {said} ({time.monotonic() - started:.0f} s)", flush=True)
    print(f"{count} runs, {wrong} wrong")
    return 1 if wrong or not count else 0
