"""The list of what the simulated AVR does as the chip does: well-formed, tested, and reported."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from avr_counted import UNO, assemble

from motecrypt.base.model import Device
from motecrypt.catalog import Catalog
from motecrypt.simulate.emulate.conformance import STATES, Condition, Feature, features, table, watch_list
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.profiling import profile
from motecrypt.simulate.emulate.run import ChipSettings, FreeRun, run_freely
from tool_sets import needs_tool_set

TESTS = Path(__file__).parents[2]
DOCS = TESTS.parent / "docs"
FOUND = features("ATmega328P")
NOTED = [feature for feature in FOUND if feature.note]


@pytest.mark.parametrize("feature", FOUND, ids=lambda f: f"{f.part}-{f.what}")
def test_a_feature_says_what_it_should(feature: Feature) -> None:
    assert feature.part and feature.what and feature.state in STATES
    assert bool(feature.tests) == (feature.state == "modelled"), "modelled is what has a counted test"
    assert bool(feature.bound and feature.by) or feature.state != "modelled"
    assert bool(feature.note) == bool(feature.when)
    assert feature.state != "modelled" or not feature.note
    assert feature.state != "not modelled" or feature.note, "a firmware that touches it is told"
    assert re.fullmatch(r"[ -~]*", feature.note) and not set(feature.note) & set('"\\|')
    assert len(feature.note) < 200 and len(feature.when) <= 4
    for test in feature.tests:
        place, _, name = test.partition("::")
        assert f"\ndef {name}(" in (TESTS / place).read_text(), test


def test_the_documentation_has_the_list() -> None:
    assert table(FOUND) in (DOCS / "fidelity.md").read_text()


def test_a_list_is_of_a_chip() -> None:
    assert features("RP2040") == () and watch_list("RP2040") == ""
    assert FOUND[0].part == "core" and len(NOTED) > 10


def test_the_drivers_list_has_a_line_for_each_note() -> None:
    lines = watch_list(UNO.chip).splitlines()
    assert len(lines) == len(NOTED)
    assert (
        "CLKPR: the clock prescaler is not modelled; cycles are right, seconds are not\t0x61:0xf:any" in lines
    )
    assert any(line.endswith("\t0x53:0x1:0x1 0x53:0xe:any") for line in lines)
    given = watch_list(UNO.chip, ("millivolts",)).splitlines()
    assert [line for line in lines if line not in given] == [line for line in lines if line.startswith("ADC")]


def _stores(conditions: tuple[Condition, ...]) -> str:
    """Stores that make all conditions hold, in their order."""
    values: dict[int, int] = {}
    for c in conditions:
        bits = c.mask & -c.mask if c.value is None else c.value
        values[c.address] = values.get(c.address, 0) | bits
    return "".join(f"    put {address:#x}, {value:#x}\n" for address, value in values.items())


def _notes(folder: Path, body: str, device: Device = UNO, **how: object) -> tuple[str, ...]:
    image = read_image(assemble(folder, body + "    finish\n", device=device), device)
    return run_freely(image, device, FreeRun(max_seconds=0.01, **how), lambda data: None).notes  # type: ignore[arg-type]


@needs_tool_set("avr")
@pytest.mark.parametrize("feature", NOTED, ids=lambda f: f"{f.part}-{f.what}")
def test_a_note_comes_once_and_only_where_all_conditions_hold(feature: Feature, tmp_path: Path) -> None:
    stores = _stores(feature.when)
    assert _notes(tmp_path, stores + stores).count(feature.note) == 1
    lines = stores.splitlines(keepends=True)
    if len(lines) > 1 and all(c.value != 0 for c in feature.when):
        for line in lines:
            assert feature.note not in _notes(tmp_path, line)
        assert _notes(tmp_path, "".join(reversed(lines))).count(feature.note) == 1


@needs_tool_set("avr")
def test_what_is_modelled_says_nothing(tmp_path: Path) -> None:
    modelled = """
    put SMCR, 1
    put TCCR0A, 3               ; fast PWM, as Arduino's core has it
    put TIMSK0, 1
    put TCCR1A, 1               ; phase correct
    put TCCR1B, 3
    put TIMSK1, 1
    put TWBR, 72
    put UCSR0C, 6
    put ADCSRA, 0x87
    put CLKPR, 0x80
    put GTCCR, 0x40
    put SPDR, 1
    """
    assert _notes(tmp_path, modelled) == ()


@needs_tool_set("avr")
def test_a_voltage_makes_the_adcs_note_untrue(tmp_path: Path) -> None:
    start = "    put ADCSRA, 0xC7\n"
    assert [note[:4] for note in _notes(tmp_path, start)] == ["ADC:"]
    assert _notes(tmp_path, start, chip=ChipSettings(millivolts=1000)) == ()


@needs_tool_set("avr")
def test_a_profile_says_it_too(tmp_path: Path) -> None:
    image = read_image(assemble(tmp_path, "    put OSCCAL, 0x80\n    finish\n"), UNO)
    ended = profile(image, UNO, FreeRun(max_seconds=0.01), lambda data: None).ended
    assert [note[:6] for note in ended.notes] == ["OSCCAL"]


def test_only_the_fidelity_table_claims_exact_cycles() -> None:
    root = TESTS.parent
    places = [
        root / "README.md",
        *DOCS.glob("*.md"),
        *(root / "src").rglob("*.py"),
        *(root / "src").rglob("*.html"),
    ]
    claim = re.compile(
        r"cycle[- ]accurate|cycles\s+(are|is)\s+exact|\bexact\s+(core\s+)?cycles", re.IGNORECASE
    )
    found = [str(p) for p in places if p.name != "fidelity.md" and claim.search(p.read_text())]
    assert found == []
    assert not claim.search((DOCS / "fidelity.md").read_text().partition("##")[2])


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        *((name, ("ADC", "SPI", "TWI")) for name in ("uno", "nano", "mega2560", "leonardo", "atmega8")),
        *((name, ("ADC", "SPI", "TWI")) for name in ("atmega644p", "atmega1284p", "atmega128rfa1")),
        *((name, ("ADC",)) for name in ("attiny84", "attiny85")),
    ],
)
def test_every_avr_says_that_nothing_is_connected(name: str, parts: tuple[str, ...], tmp_path: Path) -> None:
    device = Catalog.load().device(name)
    small = device.chip in ("ATmega8", "ATtiny84", "ATtiny85")
    for part, (usual, own) in {
        "ADC": ("put 0x7A, 0xC0", "put 0x26, 0xC0"),
        "SPI": ("put 0x4C, 0x50\n    put 0x4E, 1", "put 0x2D, 0x50\n    put 0x2F, 1"),
        "TWI": ("put 0xBC, 0x24", "put 0x56, 0x24"),
    }.items():
        told = _notes(tmp_path, f"    {own if small else usual}\n", device)
        named = [note.split(":")[0].split(" ")[0] for note in told]
        assert named == ([part] if part in parts else []), (part, told)
