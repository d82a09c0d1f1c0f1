"""The sensor mote's firmware: ours, from firmware/motes, over the secure link or the source paper's way."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from motecrypt import process
from motecrypt.catalog import FIRMWARE
from motecrypt.errors import InputError
from motecrypt.toolchain.link import DEFINES, SUITES, Suite
from motecrypt.toolchain.toolchain import BuildError

_FLAGS = (
    *("-mmcu=atmega328p", "-Os", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror"),
    *("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-DF_CPU=16000000UL"),
)
_CCM = ("link/prf_cmac.c", "modes/ccm.c", "ciphers/aes/aes_fast.c")
_ASCON = ("link/prf_ascon.c", "ciphers/ascon/ascon_aead128.c", "ciphers/ascon/ascon_bytes.c")
_SUITES: dict[Suite, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "aes128-ccm": (('-DCIPHER_HEADER="ccm.h"', '-DBLOCK_HEADER="aes_fast.h"'), _CCM),
    "ascon-aead128": (('-DCIPHER_HEADER="ascon_bytes.h"',), _ASCON),
}
"""For an AVR: defines and sources."""


@dataclass(frozen=True)
class Mote:
    """What is built into a sensor mote.

    Attributes
    ----------
    mode : "safe", or "C" for the source paper's way.
    interval_ms : pause between readings, 1 to 65535.
    key : 16, 24 or 32 bytes in mode C; over the link none, because the key is in the node's storage.
    suite : how the link encrypts.
    """

    mode: Literal["safe", "C"]
    interval_ms: int = 1000
    key: bytes = b""
    suite: Suite = "aes128-ccm"

    def __post_init__(self) -> None:
        if self.mode == "C" and len(self.key) not in (16, 24, 32):
            raise InputError(f"a key of {len(self.key)} bytes; AES takes 16, 24 or 32")
        if not 1 <= self.interval_ms <= 65535:
            raise InputError(f"an interval of {self.interval_ms} ms; give 1 to 65535")


def build_mote(mote: Mote, target: Path) -> None:
    """Compile and link the firmware. In mode C it holds the key: `target` is made its owner's alone.

    Raises
    ------
    BuildError
        With the compiler's first error.
    """
    sensor = FIRMWARE / "motes" / "sensor"
    sources = [sensor / "uno.c", FIRMWARE / "devices" / "uno" / "hal.c"]
    folders = [FIRMWARE / name for name in ("include", "modes", "ciphers/aes", "ciphers/ascon", "link")]
    secret = ""
    if mote.mode == "C":
        secret = f"#define MOTE_KEY {', '.join(map(str, mote.key))}\n"
        names: tuple[str, ...] = ("motes/sensor/paper.c", "modes/cbc.c", "ciphers/aes/aes_fast.c")
        defines = ["-DCIPHER_KEY_BYTES_MAX=32", '-DCIPHER_HEADER="cbc.h"', '-DBLOCK_HEADER="aes_fast.h"']
    else:
        cipher, names = _SUITES[mote.suite]
        names = ("motes/sensor/sensor.c", "link/link.c", "link/keys.c", "link/store.c", *names)
        defines = [*DEFINES, f"-DLINK_SUITE={SUITES[mote.suite].suite}", *cipher]
    sources += [FIRMWARE / name for name in names]
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as scratch:
        # In a file, since a command line can be read by everyone on the machine.
        settings = Path(scratch) / "mote_settings.h"
        settings.write_text(f"#define MOTE_INTERVAL_MS {mote.interval_ms}u\n{secret}")
        elf = Path(scratch) / "mote.elf"
        include = [part for folder in folders for part in ("-I", folder)]
        command: list[str | Path] = ["avr-gcc", *_FLAGS, *defines, "-include", settings, *include]
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
