"""A device's own sources, compiled once for all ciphers that they know nothing of.

What a source reads tells which definitions it can see: one whose name stands nowhere in it changes no byte of
its object, and is no part of what the object is kept under.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from motecrypt.paths import cache_dir, make_dir
from motecrypt.toolchain.includes import file_hash, reached

KEPT_VERSION = 1
_COMPUTED = re.compile(rb"^[ \t]*#[ \t]*include[ \t]+[A-Za-z_]", re.MULTILINE)
_WORD = re.compile(rb"[A-Za-z_]\w*")


def seen(
    source: Path, directories: Sequence[Path], defines: Iterable[str]
) -> tuple[list[Path], list[str]] | None:
    """The files that a source reads, and those of the definitions (NAME=VALUE) that it can see.

    None where a definition tells which header it includes: then what it reads cannot be known.
    """
    files = reached([source], directories)
    words: set[bytes] = set()
    for file in files:
        content = file.read_bytes()
        if _COMPUTED.search(content):
            return None
        words.update(_WORD.findall(content))
    return files, [define for define in defines if define.partition("=")[0].encode() in words]


def kept(
    parts: object, files: Sequence[Path], defines: Sequence[str], target: Path, compile_it: Callable[[], None]
) -> None:
    """Make `target` by compiling it, or copy what was compiled from the same before.

    Parameters
    ----------
    parts
        The compiler, its libraries and its flags, as JSON.
    files, defines
        What `seen` tells.
    """
    told = [(file.name, file_hash(file)) for file in files]
    said = json.dumps([KEPT_VERSION, parts, told, list(defines)], sort_keys=True)
    place = cache_dir() / "objects" / f"{hashlib.sha256(said.encode()).hexdigest()}.o"
    if place.is_file():
        shutil.copyfile(place, target)
        return
    compile_it()
    make_dir(place.parent)
    with tempfile.NamedTemporaryFile(dir=place.parent, delete=False) as scratch:
        scratch.write(target.read_bytes())
    Path(scratch.name).replace(place)
