"""Reads toolchains: data/toolchains/<name>.toml, or a file of the user's own (docs/toolchains.md); and the
libraries that drivers link: data/libraries/<name>.toml.

Holds what these consist of, not where they come from: toolchain/pinned.py and libraries.py get them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.base.model import DebianPackage, PinnedLibrary, Toolchain, ToolchainTarget
from motecrypt.catalog.flags import checked_compiler, checked_flags
from motecrypt.catalog.places import DATA

FOLDER = DATA / "toolchains"
LIBRARIES = DATA / "libraries"
# Each becomes part of a command line, of apt's configuration or of a path: no option, address or wildcard.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_RELEASE = re.compile(r"[a-z][a-z0-9-]*")
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+")
_VERSION = re.compile(r"[0-9][A-Za-z0-9.+:~-]*")
_TRIPLE = re.compile(r"[a-z0-9_]+(?:-[a-z0-9_]+)*")
_PATH = re.compile(r"usr/[A-Za-z0-9_+-][A-Za-z0-9._+-]*(?:/[A-Za-z0-9_+-][A-Za-z0-9._+-]*)*")
#: Debian's names of the instruction sets that this may run on; "all" for packages that serve every one.
ARCHITECTURES = ("all", "amd64", "arm64", "armhf", "i386", "loong64", "ppc64el", "riscv64", "s390x")


def read_toolchains(extra: Iterable[Path] = ()) -> dict[str, Toolchain]:
    """Ours and the user's files, by name.

    Raises
    ------
    InputError
        A file cannot be read or is not as it should be, or two have one name.
    """
    found: dict[str, Toolchain] = {}
    for path in [*sorted(FOLDER.glob("*.toml")), *extra]:
        read = read_toolchain(path)
        if read.name in found:
            raise InputError(
                f"{path}: toolchain '{read.name}' is also in {found[read.name].file}; "
                "give the file another name"
            )
        found[read.name] = read
    return found


def read_toolchain(path: Path) -> Toolchain:
    """One toolchain; its name is the file's."""
    table = Table.read(path)
    _matched(path.stem, NAME, f"{path}: the file's name", "letters, digits and . _ -")
    toolchain = Toolchain(
        name=path.stem,
        title=table.text("title", filled=True),
        release=table.text("release", ""),
        source=table.text("source"),
        file=path,
        targets=tuple(_target(entry) for entry in table.tables("target")),
    )
    table.done()
    if toolchain.release:
        _matched(toolchain.release, _RELEASE, f"{path}: 'release'", "the name of a Debian release")
    if not toolchain.targets:
        raise InputError(f"{path}: 'target' is empty; expected one [[target]] for each compiler it replaces")
    replaced = [target.replaces for target in toolchain.targets]
    twice = next((name for name in replaced if replaced.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{path}: two targets replace '{twice}'; remove one of them")
    if not toolchain.release and any(target.packages for target in toolchain.targets):
        raise InputError(f"{path}: 'release' is missing; expected the Debian release that has the packages")
    return toolchain


def read_library(name: str) -> PinnedLibrary:
    """A library that a driver links."""
    path = LIBRARIES / f"{name}.toml"
    table = Table.read(path)
    table.text("source")
    library = PinnedLibrary(
        name=name,
        title=table.text("title", filled=True),
        release=table.text("release", filled=True),
        library=table.text("library", filled=True),
        headers=table.texts("headers"),
        system=table.texts("system"),
        packages=tuple(_package(entry) for entry in table.tables("package")),
    )
    table.done()
    _matched(library.release, _RELEASE, f"{path}: 'release'", "the name of a Debian release")
    for package in library.system:
        _matched(package, _PACKAGE, f"{path}: 'system'", "names of Debian packages")
    return library


def _target(table: Table) -> ToolchainTarget:
    command = checked_compiler(table.text("command"), table.where)
    linker = table.text("linker", "")
    triple = table.text("triple", "")
    include = table.texts("include", [])
    libraries = table.texts("libraries", [])
    resources = table.text("resources", "")
    where = table.where
    if triple:
        _matched(triple, _TRIPLE, f"{where}: 'triple'", "a target such as avr or arm-none-eabi")
    for folder in include:
        _matched(folder, _PATH, f"{where}: 'include'", "a folder such as usr/lib/avr/include")
    if resources:
        _matched(resources, _PATH, f"{where}: 'resources'", "a folder such as usr/lib/llvm-19/lib/clang/19")
    for name in libraries:
        _matched(name, _PACKAGE, f"{where}: 'libraries'", "names of Debian packages")
    target = ToolchainTarget(
        replaces=checked_compiler(table.text("replaces"), where),
        command=command,
        version=table.text("version", filled=True),
        linker=checked_compiler(linker, where) if linker else "",
        compile_flags=(
            *((f"--target={triple}",) if triple else ()),
            *checked_flags(table.texts("compile_flags", []), where),
        ),
        include=include,
        packages=tuple(_package(entry) for entry in table.tables("package", [])),
        libraries=libraries,
        resources=resources,
        links=tuple(_link(entry) for entry in table.tables("link", [])),
    )
    table.done()
    return target


def _link(table: Table) -> tuple[str, str]:
    pair = table.text("path"), table.text("to")
    for name, text in zip(("path", "to"), pair, strict=True):
        _matched(text, _PATH, f"{table.where}: '{name}'", "a path such as usr/lib/arm-none-eabi/lib")
    table.done()
    return pair


def _package(table: Table) -> DebianPackage:
    name, version = table.text("name"), table.text("version")
    _matched(name, _PACKAGE, f"{table.where}: 'name'", "the name of a Debian package")
    _matched(version, _VERSION, f"{table.where}: 'version'", "the version of a Debian package")
    hashes = table.table("sha256")
    pinned = []
    for architecture in ARCHITECTURES:
        digest = hashes.text(architecture, "")
        if not digest:
            continue
        if not re.fullmatch("[0-9a-f]{64}", digest):
            raise InputError(f"{hashes.where}: '{digest[:20]}' is not 64 hexadecimal digits")
        pinned.append((architecture, digest))
    hashes.done()
    table.done()
    if not pinned:
        raise InputError(f"{hashes.where}: is empty; expected a hash for each architecture, such as amd64")
    return DebianPackage(name, version, tuple(pinned))


def _matched(text: str, pattern: re.Pattern[str], what: str, expected: str) -> None:
    if not pattern.fullmatch(text):
        shown = text.encode("unicode_escape").decode()[:60]
        raise InputError(f"{what} is '{shown}'; expected {expected}")
