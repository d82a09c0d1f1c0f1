"""Sources that several builds share are compiled once: a device's own, and those of a library.

A source can see a definition whose name it reads, or that another such definition names. What it cannot see
does not change its object and is not part of the object's key. Where a definition decides which
header a source includes, the preprocessor's output is the key instead.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from motecrypt.paths import cache_dir, write_atomically
from motecrypt.toolchain.includes import reached

KEPT_VERSION = 3
_COMPUTED = re.compile(rb"^[ \t]*#[ \t]*(?:include|include_next|import)\b(?![ \t]*[\"<])", re.MULTILINE)
_TOKEN = re.compile(rb"\w+")
_MARKER = re.compile(rb'^(# \d+ )"([^"\n]*)"', re.MULTILINE)
_ELSEWHERE = (b".incbin", b".include")  # the assembler reads a file that the preprocessor has not seen
_TELLING = ("-g3", "-ggdb3", "-frecord-gcc-switches", "-fprofile", "-save-temps")  # more than the text


@dataclass(frozen=True)
class Read:
    """What a source can see: the files it reads, itself among them, and definitions (NAME=VALUE)."""

    files: tuple[Path, ...]
    defines: tuple[str, ...]


def seen(source: Path, directories: Sequence[Path], defines: Iterable[str]) -> Read | None:
    """What a source can see of the files in these directories and of these definitions.

    None where a definition shows which header it includes: then what it reads cannot be known.
    """
    files = reached([source], directories)
    content = b"\n".join(file.read_bytes() for file in files)
    if _COMPUTED.search(content):
        return None
    tokens, pasted = set(_TOKEN.findall(content)), b"##" in content
    given = {define: _TOKEN.findall(define.encode()) for define in defines}
    visible: set[str] = set()
    while more := {
        define
        for define in given.keys() - visible
        if given[define][0] in tokens or (pasted and _made_of(given[define][0], tokens))
    }:
        visible |= more
        tokens.update(token for define in more for token in given[define])
    return Read(tuple(files), tuple(define for define in given if define in visible))


def compiled(text: bytes | None, flags: Iterable[str], named: Callable[[str], str]) -> str | None:
    """What all that is compiled of a source comes to, as one hash.

    None where an object depends on more: on files that the assembler reads, or on the definitions themselves,
    which debug information may keep.

    Parameters
    ----------
    text
        The preprocessed source (`toolchain.preprocessed`), with its line markers.
    flags
        All that the compiler is given.
    named
        What debug information calls a file, so that it counts and not where it is.
    """
    if text is None or any(each in text for each in _ELSEWHERE):
        return None
    if any(flag.startswith(_TELLING) for flag in flags):
        return None

    def marker(found: re.Match[bytes]) -> bytes:
        return found[1] + named(found[2].decode(errors="surrogateescape")).encode(errors="surrogateescape")

    return hashlib.sha256(_MARKER.sub(marker, text)).hexdigest()


def _made_of(name: bytes, tokens: Collection[bytes]) -> bool:
    """Whether a name can be pasted together (##) from these tokens."""
    ends = {0}
    for end in range(1, len(name) + 1):
        if any(name[begin:end] in tokens for begin in ends):
            ends.add(end)
    return len(name) in ends


def kept(made_of: object, target: Path, compile_it: Callable[[], None]) -> None:
    """Make `target` by compiling it, or copy what was compiled from the same before.

    Parameters
    ----------
    made_of
        All that its bytes depend on, as JSON: the compiler, its flags and the result of `seen`.
    """
    said = json.dumps([KEPT_VERSION, made_of], sort_keys=True)
    place = cache_dir() / "objects" / f"{hashlib.sha256(said.encode()).hexdigest()}.o"
    if place.is_file():
        shutil.copyfile(place, target)
        return
    compile_it()
    write_atomically(place, target.read_bytes())
