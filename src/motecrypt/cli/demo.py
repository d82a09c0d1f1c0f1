"""motecrypt demo: from advice to a simulated node that its gateway receives."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing
from itertools import islice
from pathlib import Path

import click

from motecrypt.app.demo import PROGRAM, Program, beside, readings, wait_for
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.cli._output import print_command, print_next, print_words

FOLDER = Path("motecrypt-demo")
NODE = 5
READINGS = 2
STEP_S = 1800.0  # a first run installs compilers and simulators
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

    print_words("About a minute; a first run also installs what is missing, and takes some minutes longer.")
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
        wait_for((air, base), radios)
        with _beside(node) as running:
            _title(5, "Receive its readings at the gateway")
            _receive([*gateway, "--stdout"], running)
    print_words(
        f"\nThe readings are in {folder / 'readings.db'}. They were encrypted, sent, and checked on arrival."
    )
    print_words(
        "Now with your own device, radio and battery ('motecrypt list devices', 'motecrypt list radios')."
    )
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


def _beside(words: Sequence[str]) -> AbstractContextManager[Program]:
    _show(words)
    return beside(words)


def _receive(words: Sequence[str], node: Program) -> None:
    """Show what the gateway receives until the readings are there."""
    _show(words)
    with closing(readings(words, node)) as received:
        for text in islice(received, READINGS):
            print_words(text)
