"""Firmware of nodes for the UNO: an exported example, or the source paper's way (firmware/nodes/paper)."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from motecrypt.base import process
from motecrypt.base.errors import InputError
from motecrypt.base.paths import cache_dir, make_dir, write_atomically
from motecrypt.build.toolchain.arduino import build_sketch
from motecrypt.build.toolchain.toolchain import BuildError
from motecrypt.catalog import FIRMWARE

INTERVAL_MS = 1000
"""Between readings, where none is given."""

_FLAGS = (
    *("-mmcu=atmega328p", "-Os", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror"),
    *("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-DF_CPU=16000000UL"),
)
_DEFINES = ("-DCIPHER_KEY_BYTES_MAX=32", '-DCIPHER_HEADER="cbc.h"', '-DBLOCK_HEADER="aes_fast.h"')
_SOURCES = (
    *("nodes/paper/uno.c", "devices/uno/hal.c", "nodes/paper/paper.c"),
    *("modes/cbc.c", "ciphers/aes/aes_fast.c"),
)


def check_interval(interval_ms: int) -> None:
    """InputError unless it is 1 to 65535 milliseconds."""
    if not 1 <= interval_ms <= 65535:
        raise InputError(f"an interval of {interval_ms} ms; give 1 to 65535")


@dataclass(frozen=True)
class PaperNode:
    """A node that sends as the source paper does.

    Attributes
    ----------
    key : 16, 24 or 32 bytes, which its firmware then holds.
    interval_ms : pause between readings, 1 to 65535.
    """

    key: bytes
    interval_ms: int = INTERVAL_MS

    def __post_init__(self) -> None:
        if len(self.key) not in (16, 24, 32):
            raise InputError(f"a key of {len(self.key)} bytes; AES takes 16, 24 or 32")
        check_interval(self.interval_ms)


def build_example(files: Mapping[str, bytes], sketch: str, target: Path, interval_ms: int | None) -> None:
    """Compile a sketch of an exported Arduino library as Arduino's IDE does.

    Parameters
    ----------
    files
        The export's, by their paths.
    sketch
        The path of one of them.
    interval_ms
        What INTERVAL_MS is, from 1 to 65535; None: what the sketch has.

    Raises
    ------
    InputError
        When there is no Arduino core, or `target` cannot be written.
    BuildError
        With the compiler's first error.
    """
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    # Named by its content, because compiled code contains the paths of its sources.
    library = cache_dir() / "exports" / digest.hexdigest()[:32] / "library"
    for name, content in files.items():
        place = library / name
        if not (place.is_file() and place.read_bytes() == content):
            make_dir(place.parent)
            write_atomically(place, content)
    defines = []
    if interval_ms is not None:
        check_interval(interval_ms)
        defines.append(f"INTERVAL_MS={interval_ms}u")
    _write(target, build_sketch(library / sketch, [library.parent], defines).read_bytes())


def build_paper(node: PaperNode, target: Path) -> None:
    """Compile and link the paper's node. It holds the key: `target` is made its owner's alone.

    Raises
    ------
    BuildError
        With the compiler's first error.
    """
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as scratch:
        # In a file, since a command line can be read by everyone on the machine.
        settings = Path(scratch) / "node_settings.h"
        key = ", ".join(map(str, node.key))
        settings.write_text(f"#define NODE_INTERVAL_MS {node.interval_ms}u\n#define NODE_KEY {key}\n")
        elf = Path(scratch) / "node.elf"
        folders = [FIRMWARE / name for name in ("include", "modes", "ciphers/aes")]
        include = [part for folder in folders for part in ("-I", folder)]
        command: list[str | Path] = ["avr-gcc", *_FLAGS, *_DEFINES, "-include", settings, *include]
        outcome = process.run([*command, *(FIRMWARE / name for name in _SOURCES), "-o", elf])
        if not outcome.ok:
            raise BuildError(f"the paper's node: {outcome.first_error}")
        content = elf.read_bytes()
    _write(target, content)


def _write(target: Path, content: bytes) -> None:
    try:
        target.touch(mode=0o600)
        target.chmod(0o600)
        target.write_bytes(content)
    except OSError as error:
        raise InputError(f"{target}: {error.strerror}; choose another file") from None
