"""Every cipher of ours on a device of each instruction set: right outputs, and the cycles that are on record.

A device compiles parts that the host does not: the bytes of an 8-bit core, the EEPROM, what is written for
one compiler. Outputs are compared with the oracle when measuring. The cycles of each are kept by compiler in
tests/golden/cycles; a faster or slower one fails here, with each of these compilers, until it is kept:
`PYTHONPATH=src:tests .venv/bin/python -m vectors.test_on_devices`. A new cipher has none until then.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from goldens import frozen
from motecrypt.base.model import Cipher, Device, Measurement
from motecrypt.catalog import Catalog
from motecrypt.measuring import bench
from motecrypt.results import Results
from tool_sets import needs_tool_set
from toolchains import OWN, kept_toolchains, root_of

KEPT = Path(__file__).resolve().parents[1] / "golden" / "cycles"
CATALOG = Catalog.load()
DEVICES = [CATALOG.device(name) for name in ("uno", "pico", "stm32f4")]
"""The other AVRs take the same cycles, but for calls: contract/test_devices.py."""
LONG_KEYS = ("aes192-ecb", "aes256-ecb", "aes256-ccm8", "aes256-siv")
"""A mode does not know how long AES's key is: these stand for the rest."""
CIPHERS = [
    cipher
    for name, cipher in sorted(CATALOG.ciphers.items())
    if name in LONG_KEYS or not name.startswith(("aes192", "aes256"))
]
FROZEN = frozen.names()["ciphers"] & {cipher.name for cipher in CIPHERS}
"""What must be on record: the ciphers of the small catalogue."""
Figures = dict[str, int | str]


def _length_bytes(cipher: Cipher) -> int:
    """Whole blocks where the cipher wants them; else a message that ends within a block."""
    return 48 if cipher.message.multiple > 1 else 61


def _measured(
    device: Device, cipher: Cipher, results: Results, toolchain: str
) -> tuple[list[Measurement], Figures]:
    """What each of our implementations costs in RAM, or in flash where it has no other place.

    Returns the measurements and, by "implementation operation key-bits message-bytes", the cycles, or the
    reason why there are none.
    """
    cells = [
        cell
        for body in CATALOG.implementations_of(cipher.name, device.name, ["motecrypt"])
        for cell in bench.cells_for(
            CATALOG,
            device,
            body,
            message_bytes=[_length_bytes(cipher)],
            placements=[list(device.placements)[-1]],
            toolchain=toolchain,
        )
        if cell.cache in ("none", "warm")
    ]
    found = list(bench.ensure(cells, results, CATALOG).values())
    figures: Figures = {}
    for m in found:
        name = f"{m.implementation} {m.operation} {m.key_bits} {m.message_bytes}"
        figures[name] = m.status if m.cycles_median is None else m.cycles_median
    return found, dict(sorted(figures.items()))


def _constant(cipher: Cipher, device: Device) -> set[str]:
    """Those that their folder calls constant in time: 32 random keys and messages must take the same way."""
    even = ("constant",) if device.core.startswith("avr") else ("constant", "rotations")
    return {
        body.name
        for body in CATALOG.implementations_of(cipher.name, device.name, ["motecrypt"])
        if body.timing in even
    }


def _kept_in(device: Device, found: list[Measurement]) -> Path:
    version = re.search(r"\b(\d+\.\d+)\.\d+\b", found[0].compiler)
    assert version, found[0].compiler
    return KEPT / f"{device.name}-gcc-{version[1]}.json"


TOOLCHAINS = [
    pytest.param(
        device, toolchain, id=f"{device.name}-{toolchain}" if toolchain else device.name, marks=marks
    )
    for device in DEVICES
    for toolchain in kept_toolchains(device.compiler.command)
    for marks in ([needs_tool_set(device.tool_set), *([pytest.mark.long] if toolchain else [])],)
]
"""Each device with the system's compiler, and with the others that figures are kept for."""


@pytest.mark.parametrize("cipher", CIPHERS, ids=lambda cipher: cipher.name)
@pytest.mark.parametrize(("device", "toolchain"), TOOLCHAINS)
def test_outputs_and_cycles(device: Device, toolchain: str, cipher: Cipher, results: Results) -> None:
    if not CATALOG.implementations_of(cipher.name, device.name, ["motecrypt"]):
        pytest.skip(f"{cipher.name} has no implementation for {device.name}")
    if toolchain != OWN:
        root_of(toolchain, device.compiler.command)
    found, figures = _measured(device, cipher, results, toolchain)
    failed = [f"{m.implementation}: {m.reason}" for m in found if m.status not in ("ok", "does-not-fit")]
    assert not failed, failed
    steady = _constant(cipher, device)
    varying = [f"{m.implementation} {m.operation}" for m in found if m.timing_varies]
    assert not [name for name in varying if name.split()[0] in steady], varying
    kept = _kept_in(device, found)
    assert kept.exists(), f"no cycles are on record for {found[0].compiler}; see the top of this file"
    on_record = json.loads(kept.read_text())
    assert set(on_record) >= FROZEN
    assert figures == on_record.get(cipher.name, figures)


@pytest.mark.parametrize(
    ("device", "cipher"),
    [
        pytest.param(CATALOG.device(name), CATALOG.cipher(cipher), id=f"{name}-{cipher}", marks=marks)
        for name in ("esp32c3", "hifive1")
        for cipher in ("ascon-aead128", "chacha20-poly1305")
        for marks in [needs_tool_set(CATALOG.device(name).tool_set)]
    ],
)
def test_constant_assembly_for_riscv_takes_the_same_way(
    device: Device, cipher: Cipher, results: Results
) -> None:
    bodies = [
        body
        for body in CATALOG.implementations_of(cipher.name, device.name, ["motecrypt"])
        if body.timing == "constant" and any(source.endswith(".S") for source in body.sources)
    ]
    cells = [
        cell
        for body in bodies
        for cell in bench.cells_for(CATALOG, device, body, message_bytes=[61], placements=["flash"])
    ]
    found = list(bench.ensure(cells, results, CATALOG).values())
    assert len(found) >= 3 and {(m.status, m.timing_varies) for m in found} == {("ok", False)}


def main() -> int:
    """Keep the cycles of today's code, with the system's compilers and the other toolchains."""
    with tempfile.TemporaryDirectory() as folder, Results(Path(folder) / "results.db") as results:
        for device in DEVICES:
            for toolchain in kept_toolchains(device.compiler.command):
                record = {}
                for cipher in CIPHERS:
                    if CATALOG.implementations_of(cipher.name, device.name, ["motecrypt"]):
                        found, record[cipher.name] = _measured(device, cipher, results, toolchain)
                kept = _kept_in(device, found)
                kept.parent.mkdir(exist_ok=True)
                kept.write_text(json.dumps(record, indent=0) + "\n")
                print(f"{kept.name}: {sum(map(len, record.values()))} figures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
