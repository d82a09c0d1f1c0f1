"""`motecrypt gateway` as a program, with a node of it on this computer behind a pseudo-terminal."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from gateway_bed import DEADLINE_S, PACKET, Radio
from link_ends import native
from motecrypt.link.gateway.opening import open_gateway
from motecrypt.link.native import CONFIRMED, LISTENS, SHORT, STREAM, Event, NativeLink
from motecrypt.link.stream import StreamReader

ROOT = Path(__file__).resolve().parents[1]
ANSWER_MS = 5000
"""Then a node sends again: on a busy machine packets follow each other too closely, and are lost."""


def provision(folder: Path, node: int = 5) -> NativeLink:
    """A node."""
    gateway = open_gateway(folder / "key", None, PACKET)
    made = native(answer_ms=ANSWER_MS)
    assert made.begin(gateway.provision(node, SHORT | LISTENS | STREAM)) is Event.NOTHING
    gateway.close()
    return made


class Running:
    """The program, next to a node on this computer."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder, self.nodes, self.radio = folder, {5: provision(folder)}, Radio()
        self._reader = StreamReader(PACKET)
        self.commands: list[bytes] = []
        self.renewed = False
        """Whether a new epoch has begun, which ended the message that was on its way."""
        (folder / "p").symlink_to(self.radio.path)
        self.process = self.started("p", *arguments)
        self.until(lambda: '"ready"' in self.out)

    @property
    def node(self) -> NativeLink:
        """Node 5."""
        return self.nodes[5]

    def started(self, port: str, *arguments: str) -> subprocess.Popen[str]:
        """Another one."""
        with (self.folder / "out").open("a") as out:
            return self._popen(port, arguments, out)

    def command(self, *words: str) -> subprocess.Popen[str]:
        """Another command, next to it."""
        return subprocess.Popen(
            [sys.executable, "-m", "motecrypt", *words],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def out(self) -> str:
        """What it has printed."""
        return (self.folder / "out").read_text()

    def _popen(self, port: str, arguments: tuple[str, ...], out: IO[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "motecrypt", "gateway", port, "--key", "key", "--json", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
        )

    def until(self, condition: Callable[[], bool]) -> None:
        """Read what it prints, and be the node, until something is so."""
        end = time.monotonic() + DEADLINE_S
        while not condition():
            assert time.monotonic() < end and self.process.poll() is None, (self.out, self.errors())
            self.hear()
            time.sleep(0.01)

    def hear(self) -> None:
        """Take what comes for the nodes, and answer it."""
        data = b""
        with suppress(BlockingIOError):
            data = os.read(self.radio._master, 4096)
        for packet in self._reader.packets(data, time.monotonic_ns() // 1_000_000):
            node = self.nodes.get(packet[0] & 63)
            event = Event.NOTHING if node is None else node.receive(packet)
            if node is not None and event is Event.COMMANDED:
                self.commands.append(node.message())
            if node is not None and event in (Event.MESSAGE, Event.COMMANDED):
                node.answer(True)
            self.renewed |= event is Event.RENEWED
        for node in self.nodes.values():
            node.poll(time.monotonic_ns() // 1_000_000)
            self.radio.put(*(node.on_line(packet) for packet in node.packets()))

    def say(self, content: bytes, node: int = 5) -> None:
        """A message of a node."""
        end = self.nodes[node]
        end.at(time.monotonic_ns() // 1_000_000)
        assert end.send(content, CONFIRMED) is Event.WAITING
        self.radio.put(*(end.on_line(packet) for packet in end.packets()))

    def errors(self) -> str:
        """What it said on standard error; it has ended, or ends now."""
        self.process.kill()
        return self.process.communicate(timeout=DEADLINE_S)[1]

    def end(self) -> None:
        """Whatever happened."""
        self.process.kill()
        self.process.communicate(timeout=DEADLINE_S)
