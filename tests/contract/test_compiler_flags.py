"""`measure --flags`: optimisation levels and link-time optimisation give plausible figures, and what is
measured is still there: LTO must not fold the code under test into the benchmark, nor away."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from motecrypt.base.model import Cell, Implementation, Measurement
from motecrypt.build.toolchain import BuildRequest, build
from motecrypt.build.toolchain.sizes import symbols
from motecrypt.catalog import Catalog
from motecrypt.measuring import bench
from motecrypt.results import Results
from toolchains import OWN, for_compiler, kept_toolchains, root_of

MYLIBRARY = Path(__file__).parents[2] / "examples" / "mylibrary"
CATALOG = Catalog.load(libraries=[MYLIBRARY])
LEVELS = (("-Os",), ("-O2",), ("-O3",), ("-Os", "-flto"), ("-O3", "-flto"))
ENTRY_POINTS = ("cipher_setup", "cipher_encrypt", "cipher_decrypt")
#: A byte substituted and a round key added, for 16 bytes in each of 10 rounds: no code does with less.
LEAST_CYCLES_PER_BLOCK = 160


def _body(device: str, library: str, cipher: str = "aes128-cbc") -> Implementation:
    bodies = CATALOG.implementations_of(cipher, device, [library])
    return next(b for b in bodies if b.variant in ("", "small"))


def _cells(
    device: str, body: Implementation, flags: tuple[str, ...], *lengths: int, toolchain: str = OWN
) -> list[Cell]:
    return bench.cells_for(
        CATALOG,
        CATALOG.device(device),
        body,
        message_bytes=lengths,
        placements=["flash"],
        caches=["none", "warm"],
        flags=flags,
        toolchain=toolchain,
    )


def _figures(found: dict[Cell, Measurement], flags: tuple[str, ...]) -> dict[tuple[str, int], Measurement]:
    return {(c.operation, c.message_bytes): m for c, m in found.items() if c.flags == flags}


@pytest.mark.long
@pytest.mark.parametrize("library", ["motecrypt", "mylibrary"])
@pytest.mark.parametrize("device", ["uno", "pico"])
def test_levels_compare(device: str, library: str, results: Results) -> None:
    body = _body(device, library)
    wanted = [cell for flags in LEVELS for cell in _cells(device, body, flags, 48, 96)]
    found = bench.ensure(wanted, results, CATALOG)
    assert {m.status for m in found.values()} == {"ok"}, {m.reason for m in found.values()}
    by_level = {flags: _figures(found, flags) for flags in LEVELS}
    for flags, figures in by_level.items():
        short, long = figures["encrypt", 48], figures["encrypt", 96]
        assert short.flags.endswith(" ".join(flags))
        assert short.cycles_median and long.cycles_median
        assert short.cycles_median > 3 * LEAST_CYCLES_PER_BLOCK
        assert long.cycles_median / short.cycles_median == pytest.approx(2, abs=0.1)
        assert figures["setup", 48].cycles_median
        assert short.flash_symbol_bytes and short.flash_symbol_bytes > 256  # an S-box at least
    for plain in (("-Os",), ("-O3",)):
        a, b = by_level[plain], by_level[(*plain, "-flto")]
        for at in a:
            ratio = (b[at].cycles_median or 0) / (a[at].cycles_median or 1)
            assert 0.4 < ratio < 1.6, f"{at} with {plain}: LTO changes cycles by {ratio:.2f}"
        size = (b["encrypt", 48].flash_symbol_bytes or 0) / (a["encrypt", 48].flash_symbol_bytes or 1)
        assert 0.4 < size < 1.6, f"LTO changes the code's size by {size:.2f}"
    fastest = min(by_level[f]["encrypt", 48].cycles_median or 0 for f in (("-O2",), ("-O3",)))
    assert fastest <= (by_level["-Os",]["encrypt", 48].cycles_median or 0)


@pytest.mark.parametrize("device", ["uno", "pico"])
def test_link_time_optimisation_keeps_the_entry_points(device: str) -> None:
    request = BuildRequest(CATALOG.device(device), _body(device, "motecrypt"), "flash", ("-O3", "-flto"))
    table = symbols(build(request).elf)
    assert all(name in table for name in ENTRY_POINTS)


# device, compiler: what 256 bits take for 128, encrypting and decrypting. By the rounds it is 14 / 10; GCC
# 14.2 makes faster code of the shorter keys alone.
LONGEST_KEY = {
    "uno": {"5.4": (1.4, 1.4), "14.2": (1.61, 1.45)},
    "pico": {"12.2": (1.4, 1.4), "14.2": (1.64, 1.55)},
}


@pytest.mark.parametrize(
    ("device", "toolchain"),
    [
        (device, toolchain)
        for device in LONGEST_KEY
        for toolchain in kept_toolchains(CATALOG.device(device).compiler.command)
    ],
)
def test_192_bits_lie_between_128_and_256(device: str, toolchain: str, results: Results) -> None:
    if toolchain != OWN:
        root_of(toolchain, CATALOG.device(device).compiler.command)
    cycles = {}
    for bits in (128, 192, 256):
        body = _body(device, "motecrypt", f"aes{bits}-cbc")
        found = bench.ensure(_cells(device, body, (), 48, toolchain=toolchain), results, CATALOG)
        for cell, m in found.items():
            assert m.status == "ok", m.reason
            cycles[bits, cell.operation] = m.cycles_median or 0
    expected = for_compiler(m.compiler, LONGEST_KEY[device])
    for operation, ratio in zip(("encrypt", "decrypt"), expected, strict=True):
        first, middle, last = (cycles[bits, operation] for bits in (128, 192, 256))
        assert middle / first == pytest.approx(12 / 10, abs=0.05)
        assert last / first == pytest.approx(ratio, abs=0.08)


def test_a_flag_that_the_compiler_does_not_know_is_a_failed_cell(results: Results) -> None:
    cells = _cells("uno", _body("uno", "mylibrary", "rc4"), ("-Owrong",), 16)
    for found in bench.ensure(cells, results, CATALOG).values():
        assert found.status == "build-failed" and "-O" in found.reason
