"""Assembly for ARMv7-M is offered on Cortex-M3 where Cortex-M3 has all of its instructions."""

from __future__ import annotations

from pathlib import Path

import pytest

from motecrypt.base import process
from motecrypt.base.model import Implementation
from motecrypt.catalog import FIRMWARE, Catalog
from tool_sets import needs_tool_set

CATALOG = Catalog.load()
DEVICE = CATALOG.device("stm32l1")
NOT_OFFERED = ("chacha20-poly1305",)
"""Long products take a time that varies with them there."""
CIPHERS = (
    "aes128-ecb",
    "aes128-cbc",
    "aes128-ctr",
    "aes128-ccm8",
    "aes128-siv",
    "ascon-aead128",
    *NOT_OFFERED,
)
BODIES = [
    body
    for cipher in CIPHERS
    for body in CATALOG.implementations
    if body.cipher == cipher and body.library == "motecrypt" and "armv7m" in body.variant
]


def _assembles(body: Implementation, folder: Path) -> bool:
    """Whether every source in assembly goes through the assembler for this core."""
    flags = [*DEVICE.compiler.machine_flags, *DEVICE.compiler.flags]
    places = [f"-I{place}" for place in (FIRMWARE / "include", FIRMWARE / "modes", body.folder)]
    defines = [f"-D{define}" for define in (*body.defines, f'CIPHER_HEADER="{body.header}"')]
    sources = [(body.folder / source).resolve() for source in body.sources if source.endswith(".S")]
    command = [
        DEVICE.compiler.command,
        *flags,
        *places,
        *defines,
        "-DCIPHER_KEY_BYTES_MAX=16",
        "-c",
        *sources,
    ]
    return process.run(command, cwd=folder).ok


@needs_tool_set("pico")
@pytest.mark.parametrize("body", BODIES, ids=lambda body: f"{body.cipher}-{body.variant}")
def test_what_assembles_for_cortex_m3_is_offered_there(body: Implementation, tmp_path: Path) -> None:
    offered = body.runs_on(DEVICE.core)
    assert offered == (_assembles(body, tmp_path) and body.cipher not in NOT_OFFERED)


def test_ccm_and_counter_mode_are_offered_on_cortex_m3() -> None:
    offered = {(body.cipher, body.variant) for body in BODIES if body.runs_on(DEVICE.core)}
    assert {("aes128-ccm8", "armv7m"), ("aes128-ctr", "armv7m"), ("aes128-ecb", "armv7m-small")} <= offered
