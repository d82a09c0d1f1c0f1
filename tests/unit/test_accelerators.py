"""Published facts of cryptographic hardware: what ships, what a file must have, and where people see it."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from goldens.views.made_up import filled
from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog
from motecrypt.catalog.accelerators import (
    UNITS,
    Accelerator,
    accelerator_of,
    accelerators,
    read_accelerators,
)
from motecrypt.cli import application
from motecrypt.present.report import gather, render
from motecrypt.present.report.summaries import DeviceSummary
from motecrypt.results import Results

WHOLE = """
title = "A chip"
chips = ["XY1*"]
source = "its manual"
[[block]]
name = "CRYPT"
algorithm = "AES"
key_bits = [128]
modes = ["ECB"]
decrypts = true
source = "section 3"
[[block.published]]
kind = "time"
what = "a block"
value = 14
unit = "cycles"
source = "table 9"
[[block.published]]
kind = "attack"
what = "the key"
source = "a paper"
[[without]]
chips = ["XY0*"]
source = "it has no such section"
"""


def known(chip: str) -> Accelerator:
    found = accelerator_of(chip)
    assert found is not None, chip
    return found


def read(folder: Path, text: str) -> tuple[Accelerator, ...]:
    path = folder / "xy.toml"
    path.write_text(text)
    return read_accelerators(path)


@pytest.mark.parametrize(
    ("chip", "blocks"),
    [
        ("nRF52840", "ECB, CCM, CryptoCell 310"),
        ("nRF52832", "ECB, CCM"),
        ("STM32F407VG", "none"),
        ("STM32F415RG", "CRYP"),
        ("STM32L100RC", "none"),
        ("STM32L486RG", "AES"),
        ("STM32U585AI", "AES, SAES"),
        ("ESP32", "AES"),
        ("ESP32-C3", "AES"),
        ("ATSAMD51J20A", "AES"),
        ("ATSAML21J18B", "AES"),
        ("SAME70Q21", "AES"),
        ("SAMD21G18A", "none"),
        ("AT91SAM3X8E", "none"),
        ("RP2040", "none"),
        ("RP2350A", "SHA-256"),
        ("ATmega328P", "none"),
        ("ATmega128RFA1", "transceiver AES"),
    ],
)
def test_a_chip_has_what_its_maker_lists(chip: str, blocks: str) -> None:
    assert known(chip).text == known(chip.lower()).text == blocks
    assert [each for each in accelerators() if each.covers(chip)] == [known(chip)], "two files know it"


def test_nothing_is_said_of_chips_that_no_file_covers() -> None:
    assert accelerator_of("host") is None and accelerator_of("STM32H743") is None


@pytest.mark.parametrize(
    ("chip", "block", "kind", "figures"),
    [
        ("nRF52840", "ECB", "time", [(17, "us")]),
        ("nRF52840", "CryptoCell 310", "current", [(5, "mA")]),
        ("nRF52832", "ECB", "attack", [(90_000, "traces")]),
        ("STM32F417", "CRYP", "time", [(14, "cycles"), (18, "cycles")]),
        ("STM32F437", "CRYP", "time", [(14, "cycles"), (25, "cycles")]),
        ("STM32U585", "AES", "time", [(51, "cycles"), (75, "cycles"), (114, "cycles")]),
        ("STM32U585", "SAES", "time", [(528, "cycles"), (743, "cycles")]),
        ("STM32WLE5", "AES", "time", [(51, "cycles"), (59, "cycles"), (218, "cycles")]),
        ("ESP32", "AES", "throughput", [(8.2, "MB/s")]),
        ("SAMD51", "AES", "time", [(57, "cycles"), (77, "cycles")]),
        ("SAML21", "AES", "time", []),
        ("RP2350", "SHA-256", "time", [(57, "cycles")]),
    ],
)
def test_figures_are_as_published(chip: str, block: str, kind: str, figures: list[tuple[float, str]]) -> None:
    (found,) = [each for each in known(chip).blocks if each.name == block]
    assert [(fact.value, fact.unit) for fact in found.published if fact.kind == kind] == figures


def test_modes_say_what_a_block_cannot() -> None:
    ecb, ccm, cell = known("nRF52840").blocks
    assert (ecb.modes, ecb.decrypts, ccm.modes, ccm.decrypts) == (("ECB",), False, ("CCM",), True)
    assert "GCM" not in cell.modes and "CCM" not in known("STM32F415").blocks[0].modes


def test_a_file_is_read_as_written(tmp_path: Path) -> None:
    found, without = read(tmp_path, WHOLE)
    (block,) = found.blocks
    time, attack = block.published
    assert (found.title, found.chips, block.key_bits, block.decrypts) == ("A chip", ("XY1*",), (128,), True)
    assert (time.value, time.unit, attack.value, attack.unit) == (14, "cycles", None, "")
    assert (without.text, without.blocks, without.chips) == ("none", (), ("XY0*",))
    assert found.encrypts and not without.encrypts


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('algorithm = "AES"', 'algorithm = "ASE"', "algorithm"),
        ('modes = ["ECB"]', 'modes = ["EBC"]', "modes"),
        ("key_bits = [128]", "key_bits = [129]", "key_bits"),
        ("key_bits = [128]", "key_bits = []", "key_bits"),
        ("value = 14", "value = 0", "value"),
        ("value = 14\n", "", "value"),
        ('unit = "cycles"', 'unit = "mA"', "unit"),
        ('kind = "time"', 'kind = "limit"', "value"),
        ('what = "the key"', 'what = "the key"\nvalue = 5', "'value' and 'unit', or neither"),
        ('what = "the key"', 'what = "the key"\nunit = "traces"', "'value' and 'unit', or neither"),
        ('source = "table 9"', 'source = " "', "source"),
        ('source = "table 9"\n', "", "source"),
        ('chips = ["XY1*"]', "chips = []", "chips"),
        ('chips = ["XY0*"]', 'chips = [" "]', "chips"),
        ("decrypts = true\n", "", "decrypts"),
    ],
)
def test_a_fault_is_one_line_with_its_place(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert old in WHOLE
    with pytest.raises(InputError) as told:
        read(tmp_path, WHOLE.replace(old, new, 1))
    assert "xy.toml" in str(told.value) and said in str(told.value) and "\n" not in str(told.value)


def test_a_file_that_describes_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="describes nothing"):
        read(tmp_path, 'title = "A chip"\nsource = "its manual"\n')


def test_the_list_has_every_fact_with_its_source() -> None:
    done = CliRunner().invoke(application, ["list", "accelerators", "--json"])
    rows = json.loads(done.stdout)
    facts = [fact for each in accelerators() for block in each.blocks for fact in block.published]
    assert [row["published"] for row in rows if row["kind"]] == [fact.what for fact in facts]
    assert [row["value"] for row in rows if row["kind"]] == [fact.value for fact in facts]
    assert {row["kind"] for row in rows} == {None, *UNITS}
    assert all(row["source"].strip() and row["chips"] for row in rows)
    shown = {row["accelerator"]: row["modes"] for row in rows}
    assert shown["nRF52840: ECB"] == "ECB, encryption only" and shown["nRF52840: CCM"] == "CCM"
    assert "SAM L21: AES" in shown and shown["none"] is None
    told = CliRunner().invoke(application, ["list", "accelerators"], env={"COLUMNS": "100"}).stdout
    assert told.startswith("Accelerators (published, not measured)\n") and "nRF52840: ECB" in told


def test_devices_are_listed_with_their_blocks() -> None:
    rows = json.loads(CliRunner().invoke(application, ["list", "devices", "--json"]).stdout)
    found = {row["device"]: row["cipher_hardware"] for row in rows}
    assert found["nrf52840"] == "ECB, CCM, CryptoCell 310"
    assert (found["uno"], found["stm32f4"], found["host"]) == ("none", "none", None)


def test_the_report_shows_blocks_of_chips_that_have_any() -> None:
    devices = Catalog.load().devices
    parts = {name: DeviceSummary(devices[name], 1, 0, (), ()) for name in ("nrf52840", "uno", "host")}
    assert parts["nrf52840"].hardware == known("nRF52840")
    assert parts["uno"].hardware is None and parts["host"].hardware is None
    with Results(filled("near").path) as results:
        content = gather(results, Catalog.load())
    page = render(replace(content, devices=list(parts.values())), bundle="")
    assert page.count("cryptographic hardware, published, not measured: AES") == 3
    assert (
        "AES with 128-bit keys, ECB, encryption only; encrypt a block of 16 bytes, at most: 17 us (time; "
        in page
    )
    assert "15,017 KB/s" in page
