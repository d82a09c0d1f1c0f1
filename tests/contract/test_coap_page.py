"""The commands of docs/coap.md: from nothing to a temperature that coap-client reads from a simulated UNO."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from kits import needs_kit
from terminals import ROOT, Terminals

PAGE = (ROOT / "docs" / "coap.md").read_text()
READING = r"[+-]\d\d\.\dC"


def commands() -> list[list[str]]:
    """The commands of that section, as words."""
    section = PAGE.split("## From nothing to a temperature\n")[1].split("\n## ")[0]
    lines = "".join(re.findall(r"```sh\n(.*?)```", section, re.DOTALL)).splitlines()
    return [shlex.split(line) for line in lines]


@pytest.mark.long
@needs_kit("avr", "arduino", "link", "coap")
def test_the_page_leads_from_nothing_to_a_temperature(tmp_path: Path) -> None:
    radio, key, make, mote, gateway, read, switch, observe = commands()
    terminals = Terminals(tmp_path)
    try:
        terminals.start(radio)
        terminals.until((tmp_path / "air-b").exists)
        terminals.finish(key)
        terminals.finish(make)
        running = terminals.start(mote)
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
