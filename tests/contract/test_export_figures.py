"""An export's README has the figures of exactly that export: `measure`'s of a cipher, and the link's own."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from command_line import run
from motecrypt.air.radios import load_radio
from motecrypt.catalog import Catalog
from motecrypt.exports.commands import LinkRadio
from motecrypt.exports.library import choose
from motecrypt.exports.link import cost_question
from motecrypt.exports.targets import for_device, target
from motecrypt.measuring.experiments import link_cost
from motecrypt.measuring.experiments.link_cost import LinkCost
from motecrypt.results import Results
from motecrypt.results.experiments.link_cost import LinkCostFailure, LinkCosts
from tool_sets import needs_tool_set

pytestmark = pytest.mark.long
CATALOG = Catalog.load()
ROOT = Path(__file__).resolve().parents[2]


def rows(readme: Path) -> list[list[str]]:
    """The cells of its tables."""
    lines = readme.read_text().splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]


@needs_tool_set("avr", "pico")
def test_a_ciphers_figures_are_those_that_measure_tells(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = ("--db", str(tmp_path / "a.db")), ("--db", str(tmp_path / "b.db"))
    cipher = ("--cipher", "aes128-ccm8", "--variant", "fast")
    folder = tmp_path / "lib"
    code, out, err = run(capfd, "export", "arduino", str(folder), *cipher, *ours)
    assert code == 0 and "not measured" not in out, err
    places = ("--device", "uno", "--device", "pico", "--placement", "flash", "--bytes", "16,64", "--json")
    _, out, _ = run(capfd, "measure", *cipher, *places, *theirs)
    measured = json.loads(out)
    told = rows(folder / "README.md")
    titles = {name: device.title for name, device in CATALOG.devices.items()}
    times = [row for row in told if row[-3] in ("setup", "encrypt", "decrypt")]
    assert sorted(row[:-1] for row in times) == sorted(
        [
            titles[m["device"]],
            m["placement"] + ("" if m["cache"] == "none" else f", {m['cache']} cache"),
            str(m["key_bits"]),
            str(m["message_bytes"]),
            m["operation"],
            f"{m['cycles_median']:,}",
        ]
        for m in measured
    )
    for name in ("uno", "pico"):
        same = [m for m in measured if m["device"] == name]
        first, stack = same[0], max(m["stack_bytes"] for m in same)
        (sizes,) = (row for row in told if row[0] == titles[name] and len(row) == 7 and row not in times)
        what = (first["flash_bytes"], first["ram_bytes"], stack)
        assert sizes[1] == first["compiler"] and sizes[2] == first["measured_at"][:10]
        assert sizes[4:] == [f"{size:,}" for size in what]
    code, _, _ = run(capfd, "export", "arduino", str(folder), *cipher, *ours, "--no-measure")
    assert code == 0 and rows(folder / "README.md") == told  # they are stored


def question() -> LinkCost:
    """Of the README's node."""
    meant, cipher = target("arduino", CATALOG), CATALOG.cipher("aes128-ccm8")
    body = choose(CATALOG, cipher, meant, "small")
    return LinkCost.of(cost_question(CATALOG, meant, cipher, body, "flash", LinkRadio(load_radio("srf"))))


@needs_tool_set("avr", "host")
def test_the_links_figures_are_the_simulators(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And agree with another program that counts the core by the chip's own timer."""
    from unit.link.test_link_on_uno import played

    db, folder = tmp_path / "r.db", tmp_path / "lib"
    given = ("--cipher", "aes128-ccm8", "--variant", "small", "--link", "--radio", "srf", "--db", str(db))
    code, _, _ = run(capfd, "export", "arduino", str(folder), *given, "--no-measure")
    assert code == 0 and "Not measured: export again" in (folder / "README.md").read_text()
    code, _, err = run(capfd, "export", "arduino", str(folder), *given)
    assert code == 0, err
    monkeypatch.setattr(link_cost, "built", None)  # from here on nothing is built
    with Results(db) as results:
        found = question().ensure(results)
        read = LinkCosts.from_json(found.outcome)
    assert read is not None and read.receive_cycles is not None and read.refuse_cycles is not None
    told = rows(folder / "README.md")
    (sizes,) = (row for row in told if row[0] == "Arduino UNO R3")
    what = (read.flash_bytes, read.ram_bytes, read.buffer_bytes, read.stack_bytes)
    assert sizes[1:3] == [read.compiler, found.made_at[:10]] and sizes[4:] == [f"{size:,}" for size in what]
    cycles = (
        read.send_cycles,
        read.receive_cycles,
        read.refuse_cycles,
        read.derive_cycles,
        read.start_cycles,
    )
    assert [row[1] for row in told[-5:]] == [f"{count:,}" for count in cycles]

    core = {step.name: count for step, count, _ in played(tmp_path, "small")}
    for mine, theirs in (
        (read.send_cycles, core["seal"]),
        (read.receive_cycles, core["open"]),
    ):
        assert 0 <= mine - theirs <= 400  # node.c copies the message
    cell_cycles = 16e6 * 3.4e-3
    cells = (read.refuse_cycles - core["forged again"]) / cell_cycles
    assert 8 <= cells <= 12  # the failure is noted: its byte and a check value, twice


@needs_tool_set("avr", "host")
def test_of_a_link_that_sends_other_packets_there_is_no_figure(tmp_path: Path) -> None:
    wrong = replace(question(), flags=("-Os", "-DMC_FAULT_SHARED_KEY"))
    with Results(tmp_path / "r.db") as results:
        found = wrong.ensure(results)
        assert wrong.answer(results) == (
            LinkCostFailure("the link on the chip differs from the link on this computer"),
            found.made_at[:10],
        )


@pytest.mark.parametrize(
    ("target_name", "storage", "sends_only"),
    [("pico-sdk", "flash.h", False), ("c", "file.h", True)],
)
@needs_tool_set("pico", "host")
def test_a_32_bit_chips_link_is_measured_with_its_storage(
    target_name: str, storage: str, sends_only: bool, tmp_path: Path
) -> None:
    meant, cipher = target(target_name, CATALOG), CATALOG.cipher("ascon-aead128")
    body = choose(CATALOG, cipher, meant, None)
    radio = LinkRadio(load_radio("nrf24"), sends_only)
    asked = LinkCost.of(cost_question(CATALOG, meant, cipher, body, "flash", radio))
    assert (asked.storage, asked.fixed, asked.packet_bytes) == (storage, True, 32)
    with Results(tmp_path / "r.db") as results:
        read = LinkCosts.from_json(asked.ensure(results).outcome)
    assert read is not None and (read.receive_cycles is None) == sends_only
    assert 0 < read.ram_bytes < 200 and 2000 < read.flash_bytes < 20_000 and read.buffer_bytes == 154
    assert read.send_cycles < read.send_cycles + read.derive_cycles < read.start_cycles


@needs_tool_set("pico", "host")
@pytest.mark.parametrize(
    ("name", "variant"), [("aes128-ccm8", "tables"), ("ascon-aead128", "words")], ids=["aes", "ascon"]
)
def test_the_link_of_a_cortex_m4_is_the_assembly_and_takes_what_the_page_says(
    name: str, variant: str, tmp_path: Path
) -> None:
    meant = for_device(target("c", CATALOG), CATALOG.device("stm32f4"))
    cipher = CATALOG.cipher(name)
    found = []
    with Results(tmp_path / "r.db") as results:
        for body in (choose(CATALOG, cipher, meant, variant), choose(CATALOG, cipher, meant, "armv7m")):
            question = cost_question(CATALOG, meant, cipher, body, "flash", None)
            told = LinkCosts.from_json(LinkCost.of(question).ensure(results).outcome)
            assert isinstance(told, LinkCosts)
            found.append(told)
    plain, assembly = found
    assert assembly.send_cycles < 0.55 * plain.send_cycles
    assert assembly.start_cycles < 0.5 * plain.start_cycles
    cycles = (plain.send_cycles, assembly.send_cycles, plain.start_cycles, assembly.start_cycles)
    if "12.2.1" in plain.compiler:
        row = f"| `{name}` (`{variant}`, `armv7m`) | " + " | ".join(f"{count:,}" for count in cycles)
        assert row in (ROOT / "docs" / "export.md").read_text()
