"""Ascon in assembly on a simulated Pico: messages in a chain against the oracle, as with our C there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kits import skip_without
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.catalog.oracles import oracle
from motecrypt.emulate.images import read_image
from motecrypt.emulate.run import FreeRun, run_freely

HERE = Path(__file__).parent
MESSAGES = 200
CATALOG = Catalog.load()
FLAGS = ("-std=gnu99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-DCIPHER_TAG_BYTES=16")


def chained(messages: int) -> tuple[bytes, int]:
    """The last tag and the sum over all ciphertexts, as ascon_messages.c makes them."""
    seal = oracle(CATALOG.cipher("ascon-aead128"))
    drawn = 1

    def draw(count: int) -> bytes:
        nonlocal drawn
        made = bytearray()
        for _ in range(count):
            drawn = (drawn * 1664525 + 1013904223) & 0xFFFFFFFF
            made.append(drawn >> 24)
        return bytes(made)

    key, nonce, total = bytes(16), bytearray(16), 0
    for number in range(messages):
        plain = draw(number % 67)
        ciphertext, key = seal(key, bytes(nonce), draw(number * 5 % 37), plain)
        for byte in ciphertext:
            total = (total * 31 + byte) & 0xFFFFFFFF
        nonce[number % 16] ^= key[0]
    return key, total


def ran(folder: Path, variant: str, messages: int) -> list[str]:
    """What the chip prints: see ascon_messages.c."""
    pico = CATALOG.device("pico")
    skip_without(pico.kit)
    body = next(
        i for i in CATALOG.implementations_of("ascon-aead128", "pico", ["motecrypt"]) if i.variant == variant
    )
    placement = (flag.replace("{device}", str(pico.folder)) for flag in pico.placements["flash"].link_flags)
    command = [
        *(pico.compiler.command, *pico.compiler.machine_flags, *pico.compiler.flags, *FLAGS),
        *(f'-DCIPHER_HEADER="{body.header}"', f"-DMESSAGES={messages}u", f"-I{FIRMWARE / 'include'}"),
        *(
            f"-I{FIRMWARE / 'modes'}",
            f"-I{FIRMWARE / 'ciphers/ascon'}",
            *pico.compiler.link_flags,
            *placement,
        ),
        *(str(pico.folder / name) for name in pico.hal),
        *(str(FIRMWARE / "ciphers/ascon" / source) for source in body.sources),
        *(str(HERE / "ascon_messages.c"), "-o", str(folder / "chain.elf")),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    output = bytearray()
    asked = FreeRun(until=".", max_seconds=3600)
    ended = run_freely(read_image(folder / "chain.elf", pico), pico, asked, output.extend)
    assert ended.reason == "until", ended
    return output.decode().rstrip(".").split()


@pytest.mark.parametrize("variant", ["armv6m", "interleaved"])
def test_messages_are_those_of_the_oracle_and_all_take_the_same_time(tmp_path: Path, variant: str) -> None:
    """At each address, in place and not; bytes around them stay as they are; what is changed is refused."""
    tag, total, faults, *cycles = ran(tmp_path, variant, MESSAGES)
    expected_tag, expected_total = chained(MESSAGES)
    assert (tag, int(total, 16), int(faults, 16)) == (expected_tag.hex(), expected_total, 0)
    least, most = [int(text, 16) for text in cycles[::2]], [int(text, 16) for text in cycles[1::2]]
    assert len(least) == 5 and min(least) > 1000
    assert least == most
    if variant == "armv6m":
        assert least[0] < 12 * 152 + 120
        assert least[1] < min(least[2:]), "words are copied as words where they lie at multiples of four"
