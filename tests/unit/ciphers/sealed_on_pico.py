"""Runs a chain of sealed messages on a simulated ARM (sealed_messages.c), or makes it by the oracle."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from motecrypt.base.model import Cell, Measurement
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.catalog.oracles import oracle
from motecrypt.measuring.bench import cells_for, ensure
from motecrypt.results import Results
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import FreeRun, run_freely
from tool_sets import skip_without

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


def ran(
    folder: Path, cipher: str, variant: str, messages: int, *defines: str, device_name: str = "pico"
) -> list[str]:
    """What the chip prints: see sealed_messages.c."""
    device = CATALOG.device(device_name)
    skip_without(device.tool_set)
    body = next(
        i for i in CATALOG.implementations_of(cipher, device.name, ["motecrypt"]) if i.variant == variant
    )
    given = (
        *device.compiler.defines,
        *body.defines,
        *defines,
        f'CIPHER_HEADER="{body.header}"',
        f"MESSAGES={messages}u",
    )
    sources = [(body.folder / source).resolve() for source in body.sources]
    command = [
        *(device.compiler.command, *device.compiler.machine_flags, *device.compiler.flags, *_FLAGS),
        *(
            f"-D{define}"
            for define in (*given, f"CIPHER_KEY_BYTES_MAX={CATALOG.cipher(cipher).key_bits[0] // 8}")
        ),
        f"-DNONCE_LENGTH={CATALOG.cipher(cipher).nonce_bytes}",
        *(f"-I{FIRMWARE / 'include'}", f"-I{FIRMWARE / 'modes'}", f"-I{body.folder}"),
        *device.compiler.link_flags,
        *(flag.replace("{device}", str(device.folder)) for flag in device.placements["flash"].link_flags),
        *(str(device.folder / name) for name in device.hal),
        *(*map(str, sources), str(Path(__file__).parent / "sealed_messages.c")),
        *("-o", str(folder / "chain.elf")),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    output = bytearray()
    asked = FreeRun(until=".", max_seconds=3600)
    ended = run_freely(read_image(folder / "chain.elf", device), device, asked, output.extend)
    assert ended.reason == "until", ended
    return output.decode().rstrip(".").split()


def measured(
    results: Path, cipher: str, variant: str, device_name: str, lengths: Sequence[int], ad_bytes: int
) -> dict[Cell, Measurement]:
    """What messages of these lengths take."""
    device = CATALOG.device(device_name)
    skip_without(device.tool_set)
    body = next(
        i for i in CATALOG.implementations_of(cipher, device.name, ["motecrypt"]) if i.variant == variant
    )
    cells = cells_for(CATALOG, device, body, message_bytes=lengths, ad_bytes=[ad_bytes])
    with Results(results) as store:
        return dict(ensure(cells, store, CATALOG, jobs=1))


def main() -> None:
    """Many messages: `python -m unit.ciphers.sealed_on_pico DEVICE CIPHER VARIANT MESSAGES`."""
    device, cipher, variant, messages = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        tag, total, faults, *_ = ran(Path(folder), cipher, variant, int(messages), device_name=device)
    same = (bytes.fromhex(tag), int(total, 16)) == chained(cipher, int(messages)) and int(faults, 16) == 0
    print(f"{cipher}, {variant} on {device}: {messages} messages {'agree' if same else 'DIFFER'}")
    sys.exit(not same)


if __name__ == "__main__":
    main()
