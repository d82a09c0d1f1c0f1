"""motecrypt demo: from advice to a simulated node that its gateway receives."""

from __future__ import annotations

import json
import os
import selectors
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.cli._output import print_command, print_next, print_words

FOLDER = Path("motecrypt-demo")
NODE = 5
READINGS = 2
STEP_S = 1800.0  # a first run installs compilers and simulators
PORTS_S = 60.0
READING_S = 180.0
END_S = 20.0
PROGRAM = (sys.executable, "-P", "-m", "motecrypt")
QUESTION = ("--device", "uno", "--radio", "srf", "--bytes", "6", "--every", "10s", "--battery", "3xAA")
WEIGHED = ("--cipher", "aes128-ccm8", "--library", "motecrypt")


@click.command(epilog="Example: motecrypt demo")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=FOLDER)
def command(folder: Path) -> None:
    """Choose a cipher, export it with the secure link, run a node in the simulator, receive its readings.

    FOLDER is a new one, by default motecrypt-demo. Everything that the demo makes stays in it. The node and
    the gateway are joined by two virtual radios. Each command is printed before it runs, to be tried again.
    A first run also installs a compiler and a simulator, and reports it.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: is there already; name a new folder, or remove this one")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from error
    from motecrypt.build.setup import need

    _say("About a minute; a first run also installs what is missing, and takes some minutes longer.")
    need("avr", "arduino", "link")
    step = _advice()
    library = folder / "libraries" / "link"
    _title(2, "Export the advised cipher, with the secure link, as an Arduino library")
    _run([str(library) if word == "DIR" else word for word in step])
    key, memory = folder / "gateway.key", folder / "node.eeprom"
    _title(3, "Make a key for the gateway, and give node 5 its own")
    _run(["key", str(key), "--link"])
    _run(["provision", str(NODE), "--key", str(key), "--radio", "srf", "--eeprom", str(memory)])
    _title(4, "Run the node in the simulator, with a virtual radio at its serial line")
    air, base = folder / "node.port", folder / "gateway.port"
    sketch = library / "examples" / "Sensor" / "Sensor.ino"
    node = ["run", str(sketch), "--libraries", str(folder / "libraries"), "--eeprom", str(memory)]
    node += ["--uart", str(air), "--millivolts", "311"]
    gateway = ["gateway", str(base), "--key", str(key), "--sqlite", str(folder / "readings.db")]
    with _beside(["radio", "srf", "--link", str(air), "--link", str(base)]) as radios:
        _wait_for((air, base), radios)
        with _beside(node) as running:
            _title(5, "Receive its readings at the gateway")
            _receive([*gateway, "--stdout"], running)
    _say(
        f"\nThe readings are in {folder / 'readings.db'}. They were encrypted, sent, and checked on arrival."
    )
    _say("Now with your own device, radio and battery ('motecrypt list devices', 'motecrypt list radios').")
    print_next("motecrypt advise --device uno --radio srf --bytes 20 --every 10s --battery 3xAA")


def _advice() -> list[str]:
    """Show the advice; the words of the command that it names as the next."""
    _title(1, "Ask which cipher to use: six bytes every ten seconds, from an UNO on three AA cells")
    asked = ["advise", *QUESTION, *WEIGHED]
    _run([*asked, "--top", "1"])
    done = subprocess.run(
        [*PROGRAM, *asked, "--json"], stdout=subprocess.PIPE, timeout=STEP_S, check=False, text=True
    )
    step = json.loads(done.stdout)["next"] if done.returncode == 0 else None
    if not step:
        raise MotecryptError("the advice names no command that comes next")
    return shlex.split(step)[1:]


def _say(text: str) -> None:
    print_words(text)


def _title(number: int, text: str) -> None:
    print_words(f"\n{number}. {text}", "bold")


def _show(words: Sequence[str]) -> None:
    print_command(f"$ motecrypt {shlex.join(words)}")


def _run(words: Sequence[str]) -> None:
    """Run a command and pass its output through; a failed one has printed its reason."""
    _show(words)
    done = subprocess.run([*PROGRAM, *words], stdin=subprocess.DEVNULL, timeout=STEP_S, check=False)
    if done.returncode:
        raise MotecryptError(f"motecrypt {words[0]} failed")


@contextmanager
def _beside(words: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A command that runs meanwhile; what it says is kept for the case that it fails."""
    _show(words)
    started = subprocess.Popen(
        [*PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        yield started
    finally:
        _end(started)


def _end(started: subprocess.Popen[Any]) -> None:
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


def _check(started: subprocess.Popen[bytes], what: str) -> None:
    if started.poll() is not None:
        assert started.stderr is not None
        said = started.stderr.read().decode(errors="replace").strip().splitlines()
        raise MotecryptError(f"{what} ended early: {said[-1] if said else 'it said nothing'}")


def _wait_for(ports: Sequence[Path], radios: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PORTS_S
    while not all(port.exists() for port in ports):
        _check(radios, "the virtual radios")
        if time.monotonic() > end:
            raise MotecryptError(f"no virtual radios after {PORTS_S:g} s")
        time.sleep(0.05)


def _receive(words: Sequence[str], node: subprocess.Popen[bytes]) -> None:
    """Show what the gateway receives until the readings are there."""
    _show(words)
    gateway = subprocess.Popen(
        [*PROGRAM, *words, "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert gateway.stdout is not None
        received = 0
        for line in _lines(gateway.stdout, gateway, node):
            record = json.loads(line)
            if record.get("kind") == "message":
                _say(_reading(record))
                received += 1
            if received == READINGS:
                return
    finally:
        _end(gateway)


def _lines(
    stream: IO[bytes], gateway: subprocess.Popen[bytes], node: subprocess.Popen[bytes]
) -> Iterator[bytes]:
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
            _check(gateway, "the gateway")
            _check(node, "the node")
            if time.monotonic() > end:
                raise MotecryptError(f"no reading within {READING_S:g} s")


def _reading(record: dict[str, Any]) -> str:
    """A message of the example Sensor: its number, and the temperature in tenths of a degree."""
    content = bytes.fromhex(record["hex"])
    number, tenths = (int.from_bytes(content[i : i + 2], "little", signed=i > 0) for i in (0, 2))
    return f"node {record['node']}: reading {number}, {tenths / 10:.1f} degrees Celsius ({record['hex']})"
