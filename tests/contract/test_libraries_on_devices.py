"""The libraries that come with motecrypt, on the devices: what runs, what does not fit and by how much."""

from __future__ import annotations

import re

import pytest

from motecrypt.base.model import Measurement
from motecrypt.catalog import Catalog
from motecrypt.measuring import bench
from motecrypt.results import Results

CATALOG = Catalog.load()


def _measure(device: str, name: str, cipher: str, results: Results) -> list[Measurement]:
    (body,) = [b for b in CATALOG.implementations_of(cipher, device) if b.name == name]
    cells = bench.cells_for(CATALOG, CATALOG.device(device), body, message_bytes=[48], placements=["flash"])
    found = list(bench.ensure(cells, results, CATALOG).values())
    for measurement in found:
        if "cannot be had" in measurement.reason:
            pytest.skip(measurement.reason)
    return found


@pytest.mark.parametrize(
    ("device", "name", "cipher"),
    [
        ("pico", "mbedtls/rom-tables", "aes128-cbc"),
        ("pico", "mbedtls/rom-fewer-tables", "aes128-ccm8"),
        ("pico", "tiny-aes-c", "aes192-cbc"),
        ("pico", "libtomcrypt/small-code", "aes128-cbc"),
        ("pico", "libtomcrypt", "rc6-cbc"),
        ("pico", "wolfssl/small-tables", "aes128-cbc"),
        ("pico", "bearssl/ct", "aes128-cbc"),
        ("pico", "monocypher", "chacha20-poly1305"),
        ("uno", "tiny-aes-c", "aes128-ctr"),
        ("uno", "wolfssl/small-tables", "aes128-cbc"),
        ("uno", "bearssl/small", "aes128-cbc"),
        ("uno", "monocypher", "chacha20-poly1305"),
    ],
)
def test_it_runs(device: str, name: str, cipher: str, results: Results) -> None:
    for found in _measure(device, name, cipher, results):
        assert found.status == "ok", found.reason
        assert found.cycles_median and found.flash_bytes and found.ram_bytes


@pytest.mark.parametrize(
    ("name", "memory"),
    [("mbedtls/rom-tables", "RAM"), ("libtomcrypt", "RAM"), ("bearssl/big", "RAM"), ("wolfssl", "flash")],
)
def test_what_does_not_fit_says_by_how_much(name: str, memory: str, results: Results) -> None:
    uno = CATALOG.device("uno")
    for found in _measure("uno", name, "aes128-cbc", results):
        assert found.status == "does-not-fit" and found.cycles_median is None
        told = re.fullmatch(r"does not fit: needs ([\d,]+) of ([\d,]+) bytes of (\w+)", found.reason)
        assert told and told[3] == memory
        needed, there = (int(told[n].replace(",", "")) for n in (1, 2))
        assert there == uno.memory[memory.lower()].bytes < needed
        assert found.flash_bytes and found.ram_bytes, "sizes are known all the same"


def test_code_for_an_int_of_32_bits_is_caught_on_avr(results: Results) -> None:
    for found in _measure("uno", "bearssl/ctmul32", "chacha20-poly1305", results):
        assert found.status == "wrong-output" and "the oracle gives" in found.reason
