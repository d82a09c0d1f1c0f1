"""Sources that several builds share are compiled once: a device's own, and those of a library.

A source can see a definition whose name it reads, or that another such definition names. What it cannot see
does not change its object and is not part of the object's key. A definition on the command line may name the
header that a source includes; where something else decides which one it is, the preprocessor's output is the
key instead.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from motecrypt.base.paths import cache_dir, write_atomically
from motecrypt.build.toolchain.includes import computed, file_hash, reached

KEPT_VERSION = 3
_TOKEN = re.compile(rb"\w+")
_MARKER = re.compile(rb'^(# \d+ )"([^"\n]*)"', re.MULTILINE)
_ELSEWHERE = (b".incbin", b".include")  # the assembler reads a file that the preprocessor has not seen
_TELLING = ("-g3", "-ggdb3", "-frecord-gcc-switches", "-fprofile", "-save-temps")  # more than the text
# Only the last is a comment to leave out: in some assemblers "//" is something else.
_COMMENT = re.compile(
    rb"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|//(?:\\\n|[^\n])*)|/\*.*?\*/""", re.DOTALL
)
# A macro that nothing else names has no effect, defined or not.
_DEFAULT = re.compile(
    rb"^[ \t]*#[ \t]*ifndef[ \t]+(\w+)[ \t]*\n[ \t]*#[ \t]*define[ \t]+\1(?=[ \t\n])", re.MULTILINE
)
_DEFINED = re.compile(rb"^[ \t]*#[ \t]*(?:define|undef)[ \t]+(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Read:
    """What a source can see: the files it reads, itself among them, and definitions (NAME=VALUE).

    `names_headers`: some of these definitions name the headers that it includes.
    """

    files: tuple[Path, ...]
    defines: tuple[str, ...]
    names_headers: bool = False


@dataclass(frozen=True)
class _Text:
    """What a file's text says to the preprocessor."""

    tokens: frozenset[bytes]
    defined: frozenset[bytes]
    pastes: bool
    reads_elsewhere: bool


def seen(
    source: Path, directories: Sequence[Path], defines: Iterable[str], flags: Iterable[str] = ()
) -> Read | None:
    """What a source can see of the files in these directories and of these definitions.

    None where it cannot be known which header it includes, or where `flags` make further definitions, or have
    the compiler record those that the source does not see.
    """
    flags = tuple(flags)
    if _telling(flags) or any(flag.startswith(("-D", "-U")) for flag in flags):
        return None
    given = {define: _TOKEN.findall(define.encode()) for define in defines}
    headers = dict(_header(define) for define in given)
    files = reached([source], directories, macros={name: value for name, value in headers.items() if value})
    texts = [_text(file, file_hash(file)) for file in files]
    including = {macro for file in files for macro in computed(file)}
    if including:
        changed = frozenset[bytes]().union(*(text.defined for text in texts))
        if any(not headers.get(macro) or macro.encode() in changed for macro in including):
            return None
        if any(text.reads_elsewhere for text in texts):
            return None
    tokens = set[bytes]().union(*(text.tokens for text in texts))
    pasted = any(text.pastes for text in texts)
    visible: set[str] = set()
    while more := {
        define
        for define in given.keys() - visible
        if given[define][0] in tokens or (pasted and _made_of(given[define][0], tokens))
    }:
        visible |= more
        tokens.update(token for define in more for token in given[define])
    return Read(tuple(files), tuple(define for define in given if define in visible), bool(including))


def _header(define: str) -> tuple[str, str]:
    """A definition's name, and the header that it is; "" if it is none."""
    name, _, value = define.partition("=")
    return name, value[1:-1] if (value[:1], value[-1:]) in (('"', '"'), ("<", ">")) else ""


@lru_cache(maxsize=8192)
def _text(file: Path, content_hash: str) -> _Text:
    content = file.read_bytes()
    code = _DEFAULT.sub(b"", _COMMENT.sub(lambda found: found[1] or b" ", content))
    return _Text(
        frozenset(_TOKEN.findall(code)),
        frozenset(_DEFINED.findall(code)),
        b"##" in content,
        any(each in content for each in _ELSEWHERE),
    )


def _telling(flags: Iterable[str]) -> bool:
    return any(flag.startswith(_TELLING) for flag in flags)


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
    if _telling(flags):
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
    name = hashlib.sha256(said.encode()).hexdigest()
    place = cache_dir() / "objects" / f"{name}.o"
    with _guard:
        making = _making[name]
    with making:
        if not place.is_file():
            compile_it()
            write_atomically(place, target.read_bytes())
            return
    shutil.copyfile(place, target)


_guard = threading.Lock()
_making: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
"""Of each object, for the thread that compiles it; others wait for it."""
