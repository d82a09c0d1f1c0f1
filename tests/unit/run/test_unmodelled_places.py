"""What a run used that is not modelled: the names of registers and blocks, and where each was used first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog
from motecrypt.catalog.chips import chip_of
from motecrypt.simulate.emulate import run
from motecrypt.simulate.emulate.images import Image
from motecrypt.simulate.emulate.run import Ended, Touched, Unmodelled, with_places
from motecrypt.simulate.emulate.symbols import Function, Symbols

KNOWN = Catalog.load()
UNO, PICO = KNOWN.device("uno"), KNOWN.device("pico")
SYMBOLS = Symbols((Function("main", 0x10, 0x20),), {}, ((0x10, "m.c", 1), (0x14, "m.c", 2)), ())


def image(elf: Path | None) -> Image:
    return Image(Path("f"), (), None, 0, None, 0, elf)


def ended(touched: tuple[Touched, ...], *unmodelled: Unmodelled) -> Ended:
    return Ended("stop", "", 1, 1.0, 1, 0, 0, (), touched=touched, unmodelled=unmodelled)


def used(address: int, pc: int, name: str = "own") -> Unmodelled:
    return Unmodelled(address=address, name=name, pc=pc, reads=1, writes=2)


@pytest.fixture(autouse=True)
def symbols(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    asked: list[Any] = []

    def read(elf: Path, demangler: str) -> Symbols:
        asked.append((elf, demangler))
        if elf.name == "damaged":
            raise InputError("damaged")
        return SYMBOLS

    monkeypatch.setattr(run, "read_symbols", read)
    return asked


def test_each_first_use_has_its_function_and_line(symbols: list[Any]) -> None:
    blocks = (used(1, 0x14), used(2, 0x10), used(3, 0x99), used(4, 0x2))
    found = with_places(ended((), *blocks), image(Path("elf")), UNO).unmodelled
    assert symbols == [(Path("elf"), "avr-c++filt")]
    assert [(block.address, block.function, block.file, block.line) for block in found] == [
        (1, "main", "m.c", 2),
        (2, "main", "m.c", 1),
        (3, "", "m.c", 2),
        (4, "", "", 0),
    ]
    assert {(block.name, block.reads, block.writes) for block in found} == {("own", 1, 2)}


@pytest.mark.parametrize("elf", [None, Path("damaged")])
def test_without_symbols_there_are_no_places(elf: Path | None, symbols: list[Any]) -> None:
    run_of = ended((), used(1, 0x14))
    assert with_places(run_of, image(elf), UNO) == run_of
    assert len(symbols) == (elf is not None)
    assert with_places(ended(()), image(Path("elf")), UNO) == ended(()) and len(symbols) == (elf is not None)


def test_registers_of_an_avr_have_their_names() -> None:
    touched = (Touched(0x7A, "", 3, 4), Touched(0x2, "", 5, 6))
    found = with_places(ended(touched, used(0x7A, 0), used(0x1FF, 0)), image(None), UNO)
    assert found.touched == (Touched(0x7A, "ADCSRA", 3, 4), Touched(0x2, "", 5, 6))
    assert [block.name for block in found.unmodelled] == ["ADCSRA", "own"]


def test_blocks_of_another_chip_have_the_names_of_the_registers_used() -> None:
    chip = chip_of(PICO)
    assert chip is not None
    first, second = (chip.blocks[n].spans[0].address for n in (3, 5))
    touched = (Touched(first + 4, "", 1, 0), Touched(second, "", 1, 0))
    run_of = ended(touched, used(first, 0), used(second, 0), used(0xFFFF0000, 0))
    found = with_places(run_of, image(None), PICO)
    names = chip.names_by_start([first, second, 0xFFFF0000], [first + 4, second])
    assert [block.name for block in found.unmodelled[:2]] == [names[first], names[second]]
    assert names[first] and names[second] and found.touched == touched
    assert with_places(ended((), used(first, 0)), image(None), PICO).unmodelled[0].name == "own"
