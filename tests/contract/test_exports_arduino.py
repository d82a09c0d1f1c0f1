"""Exports built by Arduino's own builder: they compile, answer right and cost what `measure` says."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from arduino_sketchbook import Sketchbook
from motecrypt.catalog import Catalog
from motecrypt.cli import main
from motecrypt.exports.library import Export, choose, known_answer, plan
from motecrypt.exports.targets import target
from motecrypt.measuring import bench
from motecrypt.results import Results
from tool_sets import needs_tool_set

pytestmark = [
    pytest.mark.long,
    pytest.mark.crosscheck,
    needs_tool_set("arduino-builder", "avr"),
]

CATALOG = Catalog.load()
EMPTY_FUNCTION_CYCLES = 5
"""`ldi r24, 0` and `ret`: the no-op cipher's function, which `measure` subtracts with the call itself."""


class Builder(Sketchbook):
    """A sketchbook with exported ciphers."""

    def export(self, cipher: str) -> Export:
        meant = target("arduino", CATALOG)
        body = choose(CATALOG, CATALOG.cipher(cipher), meant, None)
        with Results(self.folder / "results.db") as results:
            planned = plan(CATALOG, meant, CATALOG.cipher(cipher), body, results)
        planned.write(self.folder / "libraries" / planned.name)
        return planned


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Builder:
    return Builder(tmp_path_factory.mktemp("sketchbook"))


def _said(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    out = capfd.readouterr()
    assert not stop.value.code, out.err
    return out.out


def _symbols(elf: Path) -> dict[str, int]:
    with elf.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        return {symbol.name: symbol["st_size"] for symbol in table.iter_symbols() if symbol.name}


@pytest.mark.parametrize("board", ["mega:cpu=atmega2560", "leonardo"])
def test_the_examples_compile_for_other_boards(builder: Builder, board: str) -> None:
    planned = builder.export("aes128-ccm8")
    for example in ("KnownAnswer", "Message"):
        assert builder.build(planned, example, board).is_file()


@pytest.mark.parametrize("cipher", ["aes128-ccm8", "ascon-aead128", "chacha20-poly1305", "rc4d"])
def test_the_uno_answers_as_the_oracle_does(
    builder: Builder, cipher: str, capfd: pytest.CaptureFixture[str]
) -> None:
    elf = builder.build(builder.export(cipher), "KnownAnswer", "uno")
    answer = known_answer(CATALOG.cipher(cipher))
    tag = [f"tag {answer.tag.hex().upper()}"] if answer.tag else []
    out = _said(capfd, "run", str(elf), "--device", "uno", "--until", "right\r\n")
    assert out.split("\r\n")[:-1] == [
        f"ciphertext {answer.ciphertext.hex().upper()}",
        *tag,
        "known answer: right",
    ]


LOCAL = ("sbox", "expand")  # names that only the assembly file knows


def test_the_export_costs_on_an_uno_what_measure_says(
    builder: Builder, capfd: pytest.CaptureFixture[str], results: Results
) -> None:
    """By the same flags, so without link-time optimisation; differences are known to the byte and cycle."""
    planned = builder.export("aes128-ccm8")
    elf = builder.build(planned, "KnownAnswer", "uno", lto=False)
    answer = known_answer(CATALOG.cipher("aes128-ccm8"))
    cells = bench.cells_for(
        CATALOG,
        CATALOG.devices["uno"],
        planned.body,
        message_bytes=[len(answer.message)],
        ad_bytes=[len(answer.ad)],
        placements=["flash"],
    )
    measured = {cell.operation: m for cell, m in bench.ensure(cells, results, CATALOG).items()}
    assert {m.status for m in measured.values()} == {"ok"}

    sizes = _symbols(elf)
    own = {name: size for name, size in sizes.items() if name.startswith(planned.prefix) or name in LOCAL}
    assert sum(own.values()) == measured["setup"].flash_symbol_bytes
    objects = [size for name, size in sizes.items() if name.startswith("_ZL6cipher")]  # the sketch's own
    assert objects == [measured["setup"].ram_bytes]

    out = _said(capfd, "profile", str(elf), "--device", "uno", "--until", "right\r\n", "--json")
    found: dict[str, dict[str, Any]] = {one["name"]: one for one in json.loads(out)["functions"]}
    for operation, m in measured.items():
        cost = found[f"{planned.prefix}cipher_{operation}"]
        assert m.cycles_median is not None and m.stack_bytes is not None
        assert cost["cycles_range"][0] == m.cycles_median + EMPTY_FUNCTION_CYCLES, operation
        assert cost["stack_bytes"] == m.stack_bytes + 2, operation  # and the return address


def test_a_nonce_outlives_a_restart_and_foreign_eeprom(
    builder: Builder, capfd: pytest.CaptureFixture[str]
) -> None:
    elf = builder.build(builder.export("ascon-aead128"), "Message", "uno")
    eeprom = builder.folder / "eeprom"

    def numbers(*until: str) -> list[int]:
        out = _said(capfd, "run", str(elf), "--device", "uno", "--eeprom", str(eeprom), *until)
        return [int.from_bytes(bytes.fromhex(line.split()[0]), "little") for line in out.splitlines()]

    once = ("--until", "\n")
    assert numbers("--max-seconds", "10.1") == [0, 1]
    assert numbers(*once) == [256]
    content = bytearray(eeprom.read_bytes())
    content[0:8] = bytes(8)  # the older slot torn: the newer one still says what is free
    eeprom.write_bytes(bytes(content))
    assert numbers(*once) == [512]
    content[0:16] = bytes(range(16))
    eeprom.write_bytes(bytes(content))
    out = _said(capfd, "run", str(elf), "--device", "uno", "--eeprom", str(eeprom), "--max-seconds", "1")
    assert out == "EEPROM holds something else; nothing is sent\r\n"
