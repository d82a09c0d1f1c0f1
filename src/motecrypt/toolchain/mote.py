"""The sensor mote's firmware: ours, from firmware/motes, with the key and the stream number built in."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from motecrypt import process
from motecrypt.catalog import FIRMWARE
from motecrypt.errors import InputError
from motecrypt.toolchain.toolchain import BuildError

STREAM_MAX = 2**31 - 1
"""Streams above are the random ones of hosts (link/state.py)."""

_FLAGS = (
    *("-mmcu=atmega328p", "-Os", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror"),
    *("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"),
    *("-DF_CPU=16000000UL", "-DCIPHER_KEY_BYTES_MAX=32", '-DBLOCK_HEADER="aes_fast.h"'),
)


@dataclass(frozen=True)
class Mote:
    """What is built into a sensor mote.

    Attributes
    ----------
    mode : "safe", or "C" for the source paper's way.
    key : 16, 24 or 32 bytes.
    stream : 1 to 2^31 - 1; must differ between motes that share a key. Not used by mode C.
    interval_ms : pause between readings, 1 to 65535.
    """

    mode: Literal["safe", "C"]
    key: bytes
    stream: int = 1
    interval_ms: int = 1000

    def __post_init__(self) -> None:
        if len(self.key) not in (16, 24, 32):
            raise InputError(f"a key of {len(self.key)} bytes; AES takes 16, 24 or 32")
        if not 1 <= self.stream <= STREAM_MAX:
            raise InputError(f"stream {self.stream}; give 1 to {STREAM_MAX}, another one for each mote")
        if not 1 <= self.interval_ms <= 65535:
            raise InputError(f"an interval of {self.interval_ms} ms; give 1 to 65535")


def build_mote(mote: Mote, target: Path) -> None:
    """Compile and link the firmware. It holds the key: `target` is made readable by its owner alone.

    Raises
    ------
    BuildError
        With the compiler's first error.
    """
    motes, aes = FIRMWARE / "motes", FIRMWARE / "ciphers" / "aes"
    sources = [motes / "sensor" / "sensor.c", motes / "sensor" / "uno.c", aes / "aes_fast.c"]
    sources.append(FIRMWARE / "devices" / "uno" / "hal.c")
    if mote.mode == "C":
        sources.append(FIRMWARE / "modes" / "cbc.c")
        defines = ["-DMOTE_MODE_C", '-DCIPHER_HEADER="cbc.h"']
    else:
        sources += [motes / "link" / "link.c", motes / "link" / "counter.c", FIRMWARE / "modes" / "ccm.c"]
        defines = ['-DCIPHER_HEADER="ccm.h"', "-DCIPHER_TAG_BYTES=8"]
    folders = [FIRMWARE / "include", FIRMWARE / "modes", aes, motes / "link"]
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as scratch:
        # In a file, since a command line can be read by everyone on the machine.
        secrets = Path(scratch) / "mote_key.h"
        secrets.write_text(
            f"#define MOTE_KEY {', '.join(map(str, mote.key))}\n"
            f"#define MOTE_STREAM {mote.stream}ul\n"
            f"#define MOTE_INTERVAL_MS {mote.interval_ms}u\n"
        )
        elf = Path(scratch) / "mote.elf"
        include = [part for folder in folders for part in ("-I", folder)]
        command: list[str | Path] = ["avr-gcc", *_FLAGS, *defines, "-include", secrets, *include]
        outcome = process.run([*command, *sources, "-o", elf])
        if not outcome.ok:
            raise BuildError(f"sensor mote: {outcome.first_error}")
        content = elf.read_bytes()
    try:
        target.touch(mode=0o600)
        target.chmod(0o600)
        target.write_bytes(content)
    except OSError as error:
        raise InputError(f"{target}: {error.strerror}; choose another file") from None
