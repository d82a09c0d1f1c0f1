"""One reading's whole way: advice, measurement, export, keys, simulated node, the gateway's database."""

from __future__ import annotations

import json
import shlex
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from terminals import Terminals
from tool_sets import needs_tool_set

NODE = 5
MILLIVOLTS, TENTHS_OF_A_DEGREE = 311, 213
"""What the node's thermometer gives, and what the exported sketch makes of it."""
QUESTION = "--device uno --radio srf --bytes 6 --every 10s --battery 3xAA --cipher aes128-ccm8 --top 1"


def printed(said: str) -> Any:
    """The JSON of a command that also reports its progress."""
    return json.loads("".join(line for line in said.splitlines() if not line.startswith("motecrypt: ")))


def rows(database: Path) -> list[tuple[int, bytes]]:
    """Node and content of each message in the gateway's database."""
    if not database.exists():
        return []
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10)) as connection:
        try:
            return connection.execute("select node, content from messages order by id").fetchall()
        except sqlite3.OperationalError:  # the table is not made yet
            return []


@pytest.mark.long
@needs_tool_set("avr", "arduino", "link")
def test_one_reading_goes_from_advice_to_the_gateways_database(tmp_path: Path) -> None:
    terminals = Terminals(tmp_path)
    motecrypt = "./motecrypt"
    try:
        answer = printed(terminals.finish([motecrypt, "advise", *shlex.split(QUESTION), "--json"]))
        first = answer["ranked"][0]
        variant = first["implementation"].partition("/")[2]
        chosen = ["--device", "uno", "--cipher", first["cipher"], "--variant", variant, "--bytes", "6"]
        stored = printed(terminals.finish([motecrypt, "measure", *chosen, "--json"]))
        cells = {each["operation"]: each for each in stored if each["placement"] == first["placement"]}
        assert cells["encrypt"]["status"] == "ok"
        assert (
            cells["encrypt"]["cycles_median"] < first["cycles"]
        )  # the link's work is more than the cipher's

        assert answer["next"].startswith("motecrypt export arduino DIR ")
        export = shlex.split(answer["next"].replace("DIR", "node/libraries/link"))
        terminals.finish([motecrypt, *export[1:]])
        terminals.finish([motecrypt, "key", "gateway.key", "--link"])
        radio = export[export.index("--radio") :]
        keys = ["--key", "gateway.key", "--eeprom", "node.eeprom"]
        terminals.finish([motecrypt, "provision", str(NODE), *keys, *radio])
        sketch = "node/libraries/link/examples/Sensor/Sensor.ino"
        node = ["--libraries", "node/libraries", "--eeprom", "node.eeprom", "--uart", "line"]
        terminals.start([motecrypt, "run", sketch, *node, "--millivolts", str(MILLIVOLTS)])
        terminals.until((tmp_path / "line").exists)
        terminals.start([motecrypt, "gateway", "line", "--key", "gateway.key", "--sqlite", "readings.db"])
        terminals.until(lambda: len(rows(tmp_path / "readings.db")) >= 2)
    finally:
        terminals.close()

    found = rows(tmp_path / "readings.db")
    assert {number for number, _ in found} == {NODE}
    counts = [int.from_bytes(content[:2], "little") for _, content in found]
    assert all(later == earlier + 1 for earlier, later in pairwise(counts))
    assert {int.from_bytes(content[2:4], "little") for _, content in found} == {TENTHS_OF_A_DEGREE}
    assert {len(content) for _, content in found} == {6}
