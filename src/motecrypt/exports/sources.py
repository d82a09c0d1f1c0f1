"""The C files of one implementation as `measure` compiles them, put side by side and prefixed.

The files are found as the build finds them: sources from the catalogue, headers by following what they
include. They are then copied to one folder, with a header that defines what the build passes to the compiler
as -D, since an Arduino library has no command line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from motecrypt.base.errors import InputError
from motecrypt.base.paths import read_regular
from motecrypt.build.toolchain.firmware import BuildRequest, CipherInputs, cipher_inputs
from motecrypt.build.toolchain.includes import find, reached
from motecrypt.exports.names import names_of, prefixed

CONFIG = "export_config.h"
"""The header of definitions; every source includes it first."""

_C_FILES = (".c", ".h", ".inc")
_ASSEMBLY = ".S"
_DIRECTIVE = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_GLOBAL = re.compile(r"^[ \t]*\.global[ \t]+(\w+)", re.MULTILINE)
_INCLUDE = re.compile(r'^([ \t]*#[ \t]*include[ \t]*)(["<])([^">\n]+)[">]', re.MULTILINE)
#: Members of `struct cipher_io` (cipher.h), which callers name.
_MEMBERS = ("nonce", "ad", "input", "output", "tag", "bytes", "ad_bytes", "nonce_bytes")


@dataclass(frozen=True)
class ExportedSources:
    """Files by name; which of them are compiled, in the build's order; and which headers callers include."""

    files: Mapping[str, str]
    compiled: tuple[str, ...]
    headers: tuple[str, ...]


def exported_sources(request: BuildRequest, prefix: str) -> ExportedSources:
    """The files of a build's cipher, each name of theirs behind the prefix.

    Raises
    ------
    InputError
        When a file is neither C nor assembly, is not text, or makes names that cannot be prefixed.
    """
    return exported_inputs(cipher_inputs(request), ("cipher.h", request.implementation.header), prefix)


def exported_inputs(given: CipherInputs, public: Sequence[str], prefix: str) -> ExportedSources:
    """The same of whatever a compiler is given; `public` are the headers that callers include."""
    paths = reached(given.sources, given.directories, (*public, *given.headers_named))
    flat = _flat_names(paths)
    plain = {CONFIG: _config(given, flat)}
    plain |= {flat[path]: _with_flat_includes(path, given, flat) for path in paths}
    names = names_of(((name, _as_c(name, text)) for name, text in plain.items()), keep=_MEMBERS)
    compiled = tuple(flat[source] for source in given.sources)
    # C and assembly share what is in headers: an instruction can be called as a C source's function (`add`).
    shared = names_of(
        ((name, _as_c(name, text)) for name, text in plain.items() if not name.endswith(".c")), keep=_MEMBERS
    )
    made = {
        name: prefixed(text, shared if name.endswith(_ASSEMBLY) else names, prefix)
        for name, text in plain.items()
    }
    for name in compiled:
        made[name] = f'#include "{CONFIG}"\n{made[name]}'
    headers = [find(name, list(map(str, given.directories))) for name in public]
    return ExportedSources(made, compiled, tuple(flat[path] for path in headers if path))


def _as_c(name: str, text: str) -> str:
    """What C's rules say something about: of assembly, the preprocessor's lines and what other files see."""
    if not name.endswith(_ASSEMBLY):
        return text
    return "\n".join((*_DIRECTIVE.findall(text), *(f"void {each}(void);" for each in _GLOBAL.findall(text))))


def _flat_names(paths: Sequence[Path]) -> dict[Path, str]:
    """A name for each file in one common folder: its own, with its folder's before it where two are equal."""
    own = [path.name for path in paths]
    flat = {
        path: path.name if own.count(path.name) == 1 else f"{path.parent.name}_{path.name}" for path in paths
    }
    for path, name in flat.items():
        if path.suffix not in (*_C_FILES, _ASSEMBLY):
            raise InputError(f"{path}: only C and assembly (.S) can be exported, and this is '{path.suffix}'")
        if name == CONFIG or list(flat.values()).count(name) > 1:
            raise InputError(f"{path}: another file of the export is called {name}; give it another name")
    return flat


def _text(path: Path) -> str:
    try:
        return read_regular(path).decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text: {error.reason} at byte {error.start}") from None


def _with_flat_includes(path: Path, given: CipherInputs, flat: Mapping[Path, str]) -> str:
    folders = [str(path.parent), *map(str, given.directories)]

    def named(match: re.Match[str]) -> str:
        found = find(match[3], folders)
        return f'{match[1]}"{flat[found]}"' if found and found in flat else match[0]

    return _INCLUDE.sub(named, _text(path))


def _config(given: CipherInputs, flat: Mapping[Path, str]) -> str:
    lines = []
    for define in given.defines:
        name, _, value = define.partition("=")
        if value[:1] == '"':
            found = find(value.strip('"'), list(map(str, given.directories)))
            value = f'"{flat[found]}"' if found and found in flat else value
        lines.append(f"#define {name} {value or 1}")
    return "\n".join(
        [
            f"/* {CONFIG}: definitions that the measured build passes as -D. */",
            "#ifndef MOTECRYPT_EXPORT_CONFIG_H",
            "#define MOTECRYPT_EXPORT_CONFIG_H",
            "",
            *lines,
            "",
            "#endif",
            "",
        ]
    )
