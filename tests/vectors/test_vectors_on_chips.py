"""Published vectors on a chip, of assembly for its core: the host, where the others run them, has none."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from motecrypt.base.model import Device, Implementation
from motecrypt.build.toolchain.scripts import link_flags
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.catalog.oracles import Vector, vectors
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import FreeRun, run_freely
from tool_sets import skip_without

HERE = Path(__file__).parent
CATALOG = Catalog.load()
BODIES = [
    pytest.param(CATALOG.device(name), body, id=f"{name}-{body.cipher}-{body.variant}")
    for name in ("pico", "stm32f4", "stm32l1", "esp32c3")
    for body in CATALOG.implementations
    if body.library == "motecrypt"
    and any(source.endswith(".S") for source in body.sources)
    and body.runs_on(CATALOG.device(name).core)
    and list(vectors(CATALOG.cipher(body.cipher)))
]
"""Those of the Pico, the STM32F4, the STM32L1 and the ESP32-C3: an UNO has no room for the vectors."""


def _header(taken: Sequence[Vector]) -> str:
    rows, entries = [], []
    for number, vector in enumerate(taken):
        parts = (vector.key, vector.nonce, vector.ad, vector.message, vector.ciphertext, vector.tag)
        numbers = ", ".join(map(str, b"".join(parts)))
        rows.append(f"static const uint8_t bytes_{number}[] = {{{numbers}}};")
        sizes = (
            len(vector.ciphertext),
            len(vector.ad),
            len(vector.key),
            len(vector.nonce),
            int(vector.valid),
        )
        entries.append(f"    {{bytes_{number}, {', '.join(map(str, sizes))}}},")
    longest = max(max(len(vector.ciphertext), len(vector.ad)) for vector in taken)
    rows += ["static const struct vector vectors[] = {", *entries, "};"]
    return "\n".join([*rows, f"enum {{ COUNT = {len(taken)}, LONGEST = {longest + 4} }};", ""])


def _can_be_asked(body: Implementation, vector: Vector) -> bool:
    """Whether the tag is as long as the build's, and the message as long as its ciphertext."""
    tag_bytes = CATALOG.cipher(body.cipher).tag_bytes
    same = len(vector.message) == len(vector.ciphertext) or not vector.valid
    return len(vector.tag) == tag_bytes and len(vector.key) * 8 in body.key_bits and same


@pytest.mark.parametrize(("device", "body"), BODIES)
def test_all_vectors_on_the_chip(device: Device, body: Implementation, tmp_path: Path) -> None:
    skip_without(device.tool_set)
    known = list(vectors(CATALOG.cipher(body.cipher)))
    taken = [vector for vector in known if _can_be_asked(body, vector)]
    assert len([v for v in taken if v.valid]) == len([v for v in known if v.valid])
    (tmp_path / "vectors.h").write_text(_header(taken))
    defines = (*body.defines, f'CIPHER_HEADER="{body.header}"', 'VECTORS_HEADER="vectors.h"')
    command = [
        *(device.compiler.command, *device.compiler.machine_flags, *device.compiler.flags),
        *(f"-D{define}" for define in (*defines, f"CIPHER_KEY_BYTES_MAX={body.key_bytes_measured}")),
        *(f"-I{place}" for place in (tmp_path, FIRMWARE / "include", FIRMWARE / "modes", body.folder)),
        *link_flags(device, "flash"),
        *(str(device.folder / name) for name in device.hal),
        *(str((body.folder / source).resolve()) for source in body.sources),
        *(str(HERE / "vectors_on_chip.c"), "-o", str(tmp_path / "vectors.elf")),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    output = bytearray()
    asked = FreeRun(until=".", max_seconds=3600)
    ended = run_freely(read_image(tmp_path / "vectors.elf", device), device, asked, output.extend)
    assert ended.reason == "until", ended
    count, wrong = (int(text, 16) for text in output.decode().rstrip(".").split())
    assert (count, wrong) == (len(taken), 0)
    print(f"{body.cipher}, {body.variant}: {count} of {len(known)} vectors")
