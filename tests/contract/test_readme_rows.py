"""Each command in a table of the README runs as it is written; PORT and FILE are the reader's own."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from motecrypt.cli import application
from tool_sets import needs_tool_set

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_S = 240
NO_PORT = "no-such-port"
#: They measure for minutes or need a browser, and other tests run the same: here their words are read.
LONG = ("advise", "audit", "leak", "report", "reproduce", "measure --cipher", "wlan")
#: They serve until they are stopped.
SERVING = ("gateway PORT", "radio srf --link")
SKETCH = 'void setup() { Serial.begin(115200); Serial.println(F("ready")); }\nvoid loop() {}\n'
PLAN = '[[sweep]]\nciphers = ["rc4d"]\nvariants = ["opt"]\nbytes = "16"\n'


def commands() -> list[str]:
    """Those of the tables, in their order, without ./motecrypt."""
    rows = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("| ")]
    return [command for row in rows for command in re.findall(r"`\./motecrypt ([^`]+)`", row)]


def started(words: list[str], folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "motecrypt", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "MOTECRYPT_DB": str(folder / "r.db")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    with process:
        out, err = process.communicate(timeout=DEADLINE_S)
        return process.returncode, out + err


def appears(path: Path, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not path.exists():
        assert process.poll() is None and time.monotonic() < end, (path, process.communicate())
        time.sleep(0.02)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("reader")
    (made / "sketch.ino").write_text(SKETCH)
    (made / "plan.toml").write_text(PLAN)
    (made / "log.csv").write_text("time,reading\n")
    (made / "data.bin").write_bytes(bytes(range(256)) * 40)
    return made


@pytest.fixture(scope="module")
def air(folder: Path) -> Iterator[None]:
    """The two ports that the row of the virtual radio makes."""
    (line,) = [line for line in commands() if line.startswith("radio srf --link")]
    process = started(shlex.split(line), folder)
    appears(folder / "air-b", process)
    yield
    process.terminate()
    assert ended(process)[0] == 0


def _tried() -> list[str]:
    return [line for line in commands() if not line.startswith((*LONG, *SERVING, "receive", "send"))]


@pytest.mark.long
@needs_tool_set("avr", "arduino", "host", "pico")
@pytest.mark.parametrize("line", _tried())
def test_a_row_runs_as_it_is_written(line: str, folder: Path) -> None:
    words = [{"FILE": "data.bin", "PORT": NO_PORT}.get(word, word) for word in shlex.split(line)]
    code, said = ended(started(words, folder))
    if "PORT" in line:  # a board: test_board.py has one; everything but the port is right
        assert code == 2 and NO_PORT in said, said
    else:
        assert code == 0, said


@pytest.mark.parametrize("line", [line for line in commands() if line.startswith((*LONG, *SERVING))])
def test_the_words_of_a_row_are_a_commands(line: str) -> None:
    words = shlex.split(line)
    command = application.get_command(click.Context(application), words[0])
    assert command is not None
    command.make_context(words[0], words[1:])


@pytest.mark.long
@needs_tool_set("host")
def test_the_rows_of_a_radio_talk_to_each_other(folder: Path, air: None) -> None:
    for line in ("key gateway.key --link", "key node7.key --node 7 --of gateway.key"):
        assert line in commands()
        if not (folder / line.split()[1]).exists():
            assert ended(started(shlex.split(line), folder))[0] == 0
    (receive,), (send,) = (
        [line for line in commands() if line.startswith(word)] for word in ("receive", "send")
    )
    receiving = started([*shlex.split(receive.replace("PORT", "air-b")), "--count", "1"], folder)
    assert ended(started(shlex.split(send.replace("PORT", "air-a")), folder))[0] == 0
    code, said = ended(receiving)
    assert code == 0 and "pump 3 is on" in said
    gateways = [line for line in commands() if line.startswith("gateway PORT")]
    assert len(gateways) == 3
    for line in gateways:
        code, said = ended(started([*shlex.split(line.replace("PORT", "air-b")), "--seconds", "1"], folder))
        assert code == 0, said
    assert (folder / "readings.csv").is_file() and (folder / "readings.db").is_file()
