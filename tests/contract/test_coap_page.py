"""The commands of docs/coap.md: a simulated UNO speaks CoAP over the link, and with OSCORE without it."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from motecrypt.catalog import Catalog
from motecrypt.exports.link import plan_sketch
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.paper_node import build_example
from terminals import ROOT, Terminals
from tool_sets import needs_tool_set

PAGE = (ROOT / "docs" / "coap.md").read_text()
READING = r"[+-]\d\d\.\dC"


def commands(title: str) -> list[list[str]]:
    """The commands of a section, as words."""
    section = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    lines = "".join(re.findall(r"```sh\n(.*?)```", section, re.DOTALL)).splitlines()
    return [shlex.split(line) for line in lines]


@pytest.mark.long
@needs_tool_set("avr", "arduino", "link", "coap")
def test_the_page_leads_from_nothing_to_a_temperature(tmp_path: Path) -> None:
    radio, key, make, node, gateway, read, switch, observe = commands("From nothing to a temperature")
    terminals = Terminals(tmp_path)
    try:
        terminals.start(radio)
        terminals.until((tmp_path / "air-b").exists)
        terminals.finish(key)
        terminals.finish(make)
        running = terminals.start(node)
        terminals.until(lambda: "running at" in running.read_text())
        serving = terminals.start(gateway)
        terminals.until(lambda: "gateway of 1 nodes" in serving.read_text())
        assert re.fullmatch(READING, terminals.finish(read).strip())
        led = [*switch[:1], switch[-1]]
        assert terminals.finish(led).strip() == "0"
        assert not terminals.finish(switch).strip()
        assert terminals.finish(led).strip() == "1"
        told = terminals.start(observe)
        terminals.until(lambda: len(re.findall(READING, told.read_text())) >= 2)
    finally:
        terminals.close()


def with_python(words: list[str]) -> list[str]:
    """aiocoap's client of this Python."""
    assert words[0] == "aiocoap-client"
    return [sys.executable, "-u", "-m", "aiocoap.cli.client", "-q", *words[1:]]


@pytest.mark.long
@needs_tool_set("avr", "arduino", "link", "coap")
def test_the_page_leads_to_a_temperature_that_the_gateway_cannot_read(tmp_path: Path) -> None:
    radio, key, provision, make, node, gateway, read, switch = commands("OSCORE end to end")
    terminals = Terminals(tmp_path)
    try:
        terminals.start(radio)
        terminals.until((tmp_path / "air-b").exists)
        for each in (key, provision, make):
            terminals.finish(each)
        storage = (tmp_path / "node7.eeprom").read_bytes()
        running = terminals.start(node)
        terminals.until(lambda: "running at" in running.read_text())
        serving = terminals.start(gateway)
        terminals.until(lambda: "gateway of 1 nodes" in serving.read_text())
        assert re.search(READING, terminals.finish(with_python(read)))
        terminals.finish(with_python(switch))
        led = [*read[:-1], "coap://node-7/led"]
        assert terminals.finish(with_python(led)).strip().endswith("1")
        program = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]
        told = terminals.start([sys.executable, "-u", "-c", program])
        terminals.until(lambda: len(re.findall(READING, told.read_text())) >= 2)
        assert (tmp_path / "node7.eeprom").read_bytes() != storage, "its numbers outlive a loss of power"
    finally:
        terminals.close()


@needs_tool_set("avr", "arduino")
def test_the_sketch_takes_what_the_page_says(tmp_path: Path) -> None:
    flash, ram = re.findall(r"Oscore takes about ([\d.]+) KB of flash and ([\d.]+) KB of RAM", PAGE)[0]
    sketch = plan_sketch(Catalog.load(), "aes128-ccm", "oscore")
    build_example(sketch.library.files, sketch.path, tmp_path / "oscore.elf", None)
    image = read_image(tmp_path / "oscore.elf", Catalog.load().device("uno"))
    assert image.flash_bytes == pytest.approx(1000 * float(flash), rel=0.05)
    assert image.ram_bytes == pytest.approx(1000 * float(ram), rel=0.05)


def test_a_node_without_a_context_is_refused(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from motecrypt.cli.node import command
    from motecrypt.link.keys import create_master_file

    create_master_file(tmp_path / "gateway.key")
    words = [str(tmp_path / "a.elf"), "--key", str(tmp_path / "gateway.key"), "--node", "7"]
    told = CliRunner().invoke(command, [*words, "--example", "oscore"])
    assert "needs an OSCORE context; make a new file with 'motecrypt provision 7" in str(told.exception)
    assert not (tmp_path / "a.elf").exists()
