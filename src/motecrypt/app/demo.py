"""Programs of motecrypt that run at the same time, and what a gateway among them receives."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

from motecrypt.base.errors import MotecryptError

PORTS_S = 60.0
READING_S = 180.0
END_S = 20.0
PROGRAM = (sys.executable, "-P", "-m", "motecrypt")
Program = subprocess.Popen[bytes]


@contextmanager
def beside(words: Sequence[str], output: int = subprocess.DEVNULL) -> Iterator[Program]:
    """A command that runs meanwhile; what it says is kept for the case that it fails."""
    started = subprocess.Popen(
        [*PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE
    )
    try:
        yield started
    finally:
        _end(started)


def _end(started: Program) -> None:
    """Ask it to end, and end it where it does not."""
    if started.poll() is None:
        started.send_signal(signal.SIGTERM)
    try:
        started.wait(END_S)
    except subprocess.TimeoutExpired:
        started.kill()
        started.wait(END_S)
    for stream in (started.stdout, started.stderr):
        if stream is not None:
            stream.close()


def check(started: Program, what: str) -> None:
    """MotecryptError with its last line where it has ended."""
    if started.poll() is not None:
        assert started.stderr is not None
        said = started.stderr.read().decode(errors="replace").strip().splitlines()
        raise MotecryptError(f"{what} ended early: {said[-1] if said else 'it said nothing'}")


def wait_for(ports: Sequence[Path], radios: Program) -> None:
    """Until the radios have made their ports."""
    end = time.monotonic() + PORTS_S
    while not all(port.exists() for port in ports):
        check(radios, "the virtual radios")
        if time.monotonic() > end:
            raise MotecryptError(f"no virtual radios after {PORTS_S:g} s")
        time.sleep(0.05)


def readings(words: Sequence[str], node: Program) -> Generator[str, None, None]:
    """What that gateway receives, as sentences, while the node runs."""
    with beside([*words, "--json"], subprocess.PIPE) as gateway:
        assert gateway.stdout is not None
        with closing(_lines(gateway.stdout, gateway, node)) as lines:
            for line in lines:
                record = json.loads(line)
                if record.get("kind") == "message":
                    yield _reading(record)


def _lines(stream: IO[bytes], gateway: Program, node: Program) -> Generator[bytes, None, None]:
    """The gateway's lines, each within a time; MotecryptError when none comes."""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        gathered = b""
        end = time.monotonic() + READING_S
        while True:
            if selector.select(0.5):
                data = os.read(stream.fileno(), 65536)
                if not data:
                    gateway.wait(END_S)
                gathered += data
                *whole, gathered = gathered.split(b"\n")
                for line in whole:
                    end = time.monotonic() + READING_S
                    yield line
            check(gateway, "the gateway")
            check(node, "the node")
            if time.monotonic() > end:
                raise MotecryptError(f"no reading within {READING_S:g} s")


def _reading(record: dict[str, Any]) -> str:
    """A message of the example Sensor: its number, and the temperature in tenths of a degree."""
    content = bytes.fromhex(record["hex"])
    number, tenths = (int.from_bytes(content[i : i + 2], "little", signed=i > 0) for i in (0, 2))
    return f"node {record['node']}: reading {number}, {tenths / 10:.1f} degrees Celsius ({record['hex']})"
