"""Runs a chain of sealed messages on a simulated Pico (sealed_messages.c), or makes it by the oracle."""

from __future__ import annotations

import subprocess
from pathlib import Path

from kits import skip_without
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.catalog.oracles import oracle
from motecrypt.emulate.images import read_image
from motecrypt.emulate.run import FreeRun, run_freely

CATALOG = Catalog.load()
_FLAGS = ("-std=gnu99", "-Wall", "-Wextra", "-Wconversion", "-Werror")


def chained(cipher: str, messages: int) -> tuple[bytes, int]:
    """The last tag and the sum over all ciphertexts."""
    seal = oracle(CATALOG.cipher(cipher))
    drawn = 1

    def draw(count: int) -> bytes:
        nonlocal drawn
        made = bytearray()
        for _ in range(count):
            drawn = (drawn * 1664525 + 1013904223) & 0xFFFFFFFF
            made.append(drawn >> 24)
        return bytes(made)

    key = bytes(CATALOG.cipher(cipher).key_bits[0] // 8)
    tag, nonce, total = key[:16], bytearray(CATALOG.cipher(cipher).nonce_bytes), 0
    for number in range(messages):
        plain = draw(number % 67)
        ciphertext, tag = seal(key, bytes(nonce), draw(number * 5 % 37), plain)
        key = tag * (len(key) // len(tag))
        for byte in ciphertext:
            total = (total * 31 + byte) & 0xFFFFFFFF
        nonce[number % len(nonce)] ^= tag[0]
    return tag, total


def ran(folder: Path, cipher: str, variant: str, messages: int, *defines: str) -> list[str]:
    """What the chip prints: see sealed_messages.c."""
    pico = CATALOG.device("pico")
    skip_without(pico.kit)
    body = next(i for i in CATALOG.implementations_of(cipher, "pico", ["motecrypt"]) if i.variant == variant)
    given = (*body.defines, *defines, f'CIPHER_HEADER="{body.header}"', f"MESSAGES={messages}u")
    sources = [(body.folder / source).resolve() for source in body.sources]
    command = [
        *(pico.compiler.command, *pico.compiler.machine_flags, *pico.compiler.flags, *_FLAGS),
        *(
            f"-D{define}"
            for define in (*given, f"CIPHER_KEY_BYTES_MAX={CATALOG.cipher(cipher).key_bits[0] // 8}")
        ),
        f"-DNONCE_LENGTH={CATALOG.cipher(cipher).nonce_bytes}",
        *(f"-I{FIRMWARE / 'include'}", f"-I{FIRMWARE / 'modes'}", f"-I{body.folder}"),
        *pico.compiler.link_flags,
        *(flag.replace("{device}", str(pico.folder)) for flag in pico.placements["flash"].link_flags),
        *(str(pico.folder / name) for name in pico.hal),
        *(*map(str, sources), str(Path(__file__).parent / "sealed_messages.c")),
        *("-o", str(folder / "chain.elf")),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    output = bytearray()
    asked = FreeRun(until=".", max_seconds=3600)
    ended = run_freely(read_image(folder / "chain.elf", pico), pico, asked, output.extend)
    assert ended.reason == "until", ended
    return output.decode().rstrip(".").split()
