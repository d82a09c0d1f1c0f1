"""Sources that several builds share are compiled once: a device's own, and those of a library.

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
from dataclasses import dataclass
from pathlib import Path

from motecrypt.paths import cache_dir, make_dir
from motecrypt.toolchain.includes import reached

KEPT_VERSION = 1
_COMPUTED = re.compile(rb"^[ \t]*#[ \t]*include[ \t]+[A-Za-z_]", re.MULTILINE)
_WORD = re.compile(rb"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Read:
    """What a source can see: the files it reads, itself among them, and definitions (NAME=VALUE)."""

    files: tuple[Path, ...]
    defines: tuple[str, ...]


def seen(source: Path, directories: Sequence[Path], defines: Iterable[str]) -> Read | None:
    """What a source can see of the files in these directories and of these definitions.

    None where a definition tells which header it includes: then what it reads cannot be known.
    """
    files = reached([source], directories)
    words: set[bytes] = set()
    for file in files:
        content = file.read_bytes()
        if _COMPUTED.search(content):
            return None
        words.update(_WORD.findall(content))
    visible = (define for define in defines if define.partition("=")[0].encode() in words)
    return Read(tuple(files), tuple(visible))


def kept(made_of: object, target: Path, compile_it: Callable[[], None]) -> None:
    """Make `target` by compiling it, or copy what was compiled from the same before.

    Parameters
    ----------
    made_of
        All that its bytes depend on, as JSON: the compiler and its flags, what `seen` tells.
    """
    said = json.dumps([KEPT_VERSION, made_of], sort_keys=True)
    place = cache_dir() / "objects" / f"{hashlib.sha256(said.encode()).hexdigest()}.o"
    if place.is_file():
        shutil.copyfile(place, target)
        return
    compile_it()
    make_dir(place.parent)
    with tempfile.NamedTemporaryFile(dir=place.parent, delete=False) as scratch:
        scratch.write(target.read_bytes())
    Path(scratch.name).replace(place)
