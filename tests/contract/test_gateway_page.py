"""The commands of docs/gateway.md, from nothing to readings at a broker; and the systemd unit there."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from command_line import run
from terminals import DEADLINE_S, Terminals
from tool_sets import needs_tool_set

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "gateway.md").read_text()


def commands() -> list[list[str]]:
    """The commands of that section, as words."""
    section = PAGE.split("## From nothing to readings at a broker\n")[1].split("\n## ")[0]
    lines = "".join(re.findall(r"```sh\n(.*?)```", section, re.DOTALL)).splitlines()
    return [shlex.split(line) for line in lines]


@pytest.mark.long
@needs_tool_set("avr", "link", "mqtt", "mosquitto")
def test_the_page_leads_from_nothing_to_readings_at_a_broker(tmp_path: Path) -> None:
    radio, broker, listener, key, make, node, gateway, send = commands()
    terminals = Terminals(tmp_path)
    try:
        terminals.start(radio)
        terminals.until((tmp_path / "air-b").exists)
        listening = terminals.start(broker)
        terminals.until(lambda: "running" in listening.read_text())
        heard = terminals.start(listener)
        terminals.finish(key)
        terminals.finish(make)
        running = terminals.start(node)
        terminals.until(lambda: "running at" in running.read_text())
        terminals.start(gateway)
        terminals.until(lambda: "home/gateway online" in heard.read_text())
        terminals.until(lambda: heard.read_text().count("node/7/message {") >= 2)
        assert "1 of 1 messages accepted by node 7" in terminals.finish(send)
        last = terminals.running[-1]
        last.send_signal(signal.SIGTERM)
        assert last.wait(DEADLINE_S) == 0
        terminals.running.pop()
        shown = [line.split(" ", 1) for line in heard.read_text().splitlines()]
        readings = [json.loads(text) for topic, text in shown if topic == "motecrypt/home/node/7/message"]
        assert all(re.fullmatch(r"[+-]\d\d\.\dC", each["message"]) for each in readings)
        rows = (tmp_path / "readings.csv").read_text().splitlines()[1:]
        ids = [row.split(",")[0] for row in rows]
        assert len(set(ids)) == len(ids) and {each["id"] for each in readings} <= set(ids)
    finally:
        terminals.close()


def unit() -> tuple[str, configparser.ConfigParser]:
    """The unit, as text and as systemd would read it."""
    text = PAGE.split("```ini\n")[1].split("```")[0]
    read = configparser.ConfigParser(interpolation=None, strict=False)  # a key may come again
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read_string(text)
    return text, read


def test_the_units_command_is_one_that_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    _, read = unit()
    words = shlex.split(read["Service"]["ExecStart"])
    assert words[:2] == ["/opt/motecrypt/motecrypt", "gateway"]
    code, out, _ = run(capsys, "gateway", "--help")
    assert code == 0
    assert all(word.split("=")[0] in out for word in words if word.startswith("--"))
    assert read["Service"]["RestartPreventExitStatus"] == "2"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd-analyze")
@pytest.mark.parametrize(
    "words", [["verify"], ["security", "--offline=true", "--threshold=30"]], ids=["verify", "security"]
)
def test_systemd_takes_the_unit_and_calls_it_ok(tmp_path: Path, words: list[str]) -> None:
    """What is exposed is at most 3.0 of 10; "OK" goes to 4.9."""
    text, _ = unit()
    path = tmp_path / "motecrypt-gateway.service"
    path.write_text(text.replace("/opt/motecrypt/motecrypt", shutil.which("true") or "/bin/true"))
    command = ["systemd-analyze", "--no-pager", *words, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "motecrypt-gateway" not in done.stderr, done.stderr
    assert words == ["verify"] or done.returncode == 0, done.stdout
