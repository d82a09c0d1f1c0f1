"""The command of a simulated node in real time, and how it ends. Runs no simulator."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.base.errors import MotecryptError
from motecrypt.catalog import Catalog
from motecrypt.simulate.ports import node
from motecrypt.simulate.ports.node import RunningNode

UNO = Catalog.load().device("uno")


class Process:
    """A program that ends after a number of waits, with a given output."""

    def __init__(self, command: list[str], settings: dict[str, Any]) -> None:
        self.command, self.settings = command, settings
        self.image = Path(command[command.index("--image") + 1])
        self.content = self.image.read_bytes()
        self.mode = self.image.parent.stat().st_mode & 0o777
        self.asked: list[Any] = []
        self.said, self.returncode = b"", 0
        self.late = 0
        self.ended = False
        self.stderr: Any = SimpleNamespace(read=lambda: self.said)

    def _wait(self, seconds: float) -> None:
        if self.late:
            self.late -= 1
            raise subprocess.TimeoutExpired("node", seconds)

    def wait(self, seconds: float) -> None:
        self.asked.append(("wait", seconds))
        self._wait(seconds)

    def communicate(self, timeout: float) -> None:
        self.asked.append(("communicate", timeout))
        self._wait(timeout)

    def poll(self) -> int | None:
        return 0 if self.ended else None

    def kill(self) -> None:
        self.asked.append("kill")

    def terminate(self) -> None:
        self.asked.append("terminate")


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Process]:
    made: list[Process] = []
    monkeypatch.setattr(
        node.subprocess,
        "Popen",
        lambda command, **settings: made.append(Process(command, settings)) or made[-1],
    )
    monkeypatch.setattr(node, "read_image", lambda elf, device: (elf, device.name))
    monkeypatch.setattr(node, "flat", lambda image, first, last: (first, f"{image} {last:#x}".encode()))
    return made


def test_a_nodes_command(begun: list[Process]) -> None:
    elf = Path("f.elf")
    base = ["driver", "--mcu", UNO.simulator["mcu"], "--clock", str(UNO.clock_hz), "--image"]
    rest = ["--port", "/dev/p", "--real", "--adc", "314"]
    for eeprom, more in ((None, []), (Path("e"), ["--eeprom", "e"])):
        with RunningNode(Path("driver"), elf, "/dev/p", eeprom):
            made = begun[-1]
            assert made.command == [*base, str(made.image), *rest, *more, "--events", "2"]
            assert made.content == f"{(elf, 'uno')} 0x800000".encode() and made.mode == 0o700
            null, pipe = subprocess.DEVNULL, subprocess.PIPE
            assert made.settings == {"stdin": null, "stdout": null, "stderr": pipe}
        assert made.asked == ["terminate", ("communicate", 5.0)] and not made.image.parent.exists()


def test_how_a_node_has_ended(begun: list[Process]) -> None:
    running = RunningNode(Path("driver"), Path("f.elf"), "p")
    process = begun[0]
    process.late = 1
    assert running.wait(2.5) is True and process.asked == [("wait", 2.5)]
    stopped = b'warning\n{"event": "stopped"}\n'
    process.said = stopped
    assert running.wait(0.0) is False
    process.said = b'{"event": "stopped"}\nlast words'
    for said, code, told in (
        (b'x\n{"event": "gone", "detail": "port p: vanished"}', 0, "port p: vanished"),
        (stopped, 1, "the simulated node ended unexpectedly"),
        (stopped, -9, "the simulated node ended unexpectedly"),
        (b'{"event": "zz"}', 0, "the simulated node ended unexpectedly"),
        (b"", 0, "the simulated node ended unexpectedly"),
        (b'{"event": "stopped"}\nlast \xff words\n', 0, "last \ufffd words"),
    ):
        process.said, process.returncode = said, code
        with pytest.raises(MotecryptError) as error:
            running.wait(0.0)
        assert str(error.value) == told
    process.stderr, process.returncode = None, 0
    with pytest.raises(MotecryptError, match="ended unexpectedly"):
        running.wait(0.0)
    process.ended = True
    process.asked.clear()
    running.end()
    assert process.asked == [("communicate", 5.0)]


def test_a_node_that_does_not_end_loses_its_power(begun: list[Process]) -> None:
    running = RunningNode(Path("driver"), Path("f.elf"), "p")
    begun[0].late = 1
    running.end()
    assert begun[0].asked == ["terminate", ("communicate", 5.0), "kill", ("communicate", 5.0)]
    assert not begun[0].image.parent.exists()
    running = RunningNode(Path("driver"), Path("f.elf"), "p")
    running.cut_power()
    assert begun[1].asked == ["kill", ("communicate", 5.0)] and not begun[1].image.parent.exists()
