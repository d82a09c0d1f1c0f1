"""The program of a bridge: a board with a radio that is a computer's radio. Each folder in `bridges` is one.

It holds bridge.toml (the library, the wiring, the channel and how many packets the program holds) and the
sketch as a template. Adding one edits nothing else.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from motecrypt.air.radios import Radio
from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.catalog import FIRMWARE
from motecrypt.exports.library import TEMPLATES, environment

BRIDGES = Path(__file__).resolve().parent / "bridges"
PORT = "/dev/ttyUSB0"
_SKETCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9_]{0,62}")
TESTED = (
    "It was compiled for an UNO with that library, and its frames were tried in a simulator; it was not "
    "tried with a radio."
)


def bridge_names() -> list[str]:
    """The radios that there is a program for."""
    return sorted(path.parent.name for path in BRIDGES.glob("*/bridge.toml"))


def read_bridge(path: Path) -> dict[str, str | int]:
    """What a program is made for; InputError for a file that is not as those that there are."""
    table = Table.read(path)
    given: dict[str, str | int] = {
        name: table.text(name, filled=True) for name in ("library", "library_source", "wiring")
    }
    given["channel"] = table.integer("channel", low=0, high=255)
    given["queue"] = table.integer("queue", low=1, high=255)
    table.done()
    return given


def bridge_files(name: str, radio: Radio) -> dict[str, bytes]:
    """The files of a sketch of that name, by path.

    Raises
    ------
    InputError
        There is no program for the radio, or no sketch can have that name.
    """
    if radio.is_serial:
        raise InputError(f"--radio {radio.name}: it is a serial line itself and needs no bridge")
    if radio.name not in bridge_names():
        known = ", ".join(bridge_names())
        raise InputError(f"--radio {radio.name}: there is no program of a bridge for it; known: {known}")
    if not _SKETCH.fullmatch(name):
        raise InputError(f"{name!r}: not the name of a sketch; take letters, digits and _, such as MyBridge")
    given = read_bridge(BRIDGES / radio.name / "bridge.toml")
    low, high = (int(radio.value(f"packet_bytes_{end}")) for end in ("min", "max"))
    command = shlex.join(["motecrypt", "gateway", PORT, "--key", "gateway.key", "--radio", radio.name])
    words = {**given, "name": name, "title": radio.title, "command": command, "tested": TESTED}
    options: dict[str, str | int] = {
        "PACKET_MIN": low,
        "PACKET_MAX": min(high, 255),
        "QUEUE": given["queue"],
    }
    if "duty_percent" in radio.figures:
        options["DUTY"] = max(1, int(10 * radio.value("duty_percent")))
    header = "".join(f"#define BRIDGE_{key} {value}\n" for key, value in options.items())
    made = environment(BRIDGES, TEMPLATES)
    return {
        f"{name}.ino": made.get_template(f"{radio.name}/bridge.ino.j2").render(words).encode(),
        "README.md": made.get_template("README.md.j2").render(words).encode(),
        "LICENSE": made.get_template("LICENSE.j2").render().encode(),
        "bridge.c": (FIRMWARE / "bridge" / "bridge.c").read_bytes(),
        "bridge.h": (FIRMWARE / "bridge" / "bridge.h").read_bytes(),
        "bridge_options.h": f"/* {radio.title}. */\n{header}".encode(),
    }
