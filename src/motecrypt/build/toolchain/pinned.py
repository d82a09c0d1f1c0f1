"""Pinned toolchains: the system's own where it is the same, else unpacked into the cache.

A toolchain's packages come from a Debian archive whose signature is checked (debian.py), and have the hashes
that its descriptor pins. Where their programs need a newer C library than this system's, they run with the
libraries of their own release, through its own loader: a small shell script is in each program's place.
GCC finds the rest of itself by where it is, so nothing else is changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from motecrypt.base import process
from motecrypt.base.errors import FailureKind, InputError
from motecrypt.base.model import Compiler, DebianPackage, Device, Toolchain, ToolchainTarget
from motecrypt.base.paths import cache_dir, make_dir
from motecrypt.build.toolchain import debian
from motecrypt.build.toolchain.toolchain import BuildError, identity

#: Part of where a toolchain is unpacked: another number unpacks everything again.
LAYOUT = 1
_LOADER = "ld-linux*.so*"
_PARTS = ("cc1", "as", "ld")  # what GCC runs; a clang contains all of them except its linker's programs
_locks: dict[Path, threading.Lock] = {}  # by folder: two toolchains may be unpacked at the same time
_failed: dict[tuple[str, str], str] = {}  # tried once a process: a command must not wait again for each cell


@dataclass(frozen=True)
class Place:
    """Where a toolchain's target was found: `root` is empty for the system's own."""

    root: str


def with_toolchain(device: Device, name: str, known: Mapping[str, Toolchain]) -> Device:
    """The device with the compiler of a toolchain; with its own, reported by name where it is one of these.

    Parameters
    ----------
    name
        A toolchain's name; empty: the system's own compiler.
    known
        The toolchains there are (`Catalog.toolchains`).

    Raises
    ------
    InputError
        The toolchain is not for this device, or not available.
    """
    compiler = device.compiler
    if not name:
        return replace(device, compiler=replace(compiler, toolchain=name_of(compiler, known.values())))
    toolchain = known[name]
    target = target_of(toolchain, device, known.values())
    return replace(device, compiler=_compiler(compiler, toolchain, target, place(toolchain, target)))


def target_of(toolchain: Toolchain, device: Device, known: Iterable[Toolchain]) -> ToolchainTarget:
    """The part of a toolchain that compiles for a device.

    Raises
    ------
    InputError
        It has none; the message names the toolchains that have.
    """
    command = device.compiler.command
    target = toolchain.target_for(command)
    if target is None:
        others = [other.name for other in known if other.target_for(command)]
        there = f"; there are for it: {', '.join(others)}" if others else ""
        raise InputError(
            f"toolchain {toolchain.name} has nothing for {device.name}, which takes {command}{there}"
        )
    return target


def name_of(compiler: Compiler, known: Iterable[Toolchain]) -> str:
    """Which of these toolchains the system's own compiler is; empty for none of them."""
    for toolchain in known:
        target = toolchain.target_for(compiler.command)
        if target is not None and target.command == compiler.command and is_system(target):
            return toolchain.name
    return ""


def is_system(target: ToolchainTarget) -> bool:
    """Whether what is installed is the same: by the compiler's own word, and the versions of its packages
    where this system has Debian's."""
    try:
        if identity(target.command) != target.version:
            return False
        if target.linker:
            identity(target.linker)
    except InputError:
        return False
    installed = _installed(tuple(package.name for package in target.packages))
    return installed is None or all(
        _same_version(installed.get(package.name, ""), package.version) for package in target.packages
    )


def _same_version(installed: str, pinned: str) -> bool:
    """Equal except for +b1, which Debian adds where it only builds again."""
    return re.sub(r"\+b\d+$", "", installed) == pinned


_whole: dict[tuple[str, ...], Mapping[str, str]] = {}  # of packages that were all installed: these stay


def _installed(names: tuple[str, ...]) -> Mapping[str, str] | None:
    """The versions of the packages that are installed; None without dpkg."""
    if not names or shutil.which("dpkg-query") is None:
        return None
    if names in _whole:
        return _whole[names]
    form = "${Package} ${Version} ${db:Status-Status}\n"
    told = process.run(["dpkg-query", "--show", f"--showformat={form}", *names], work_s=process.ASKED_S)
    rows = (line.split() for line in told.output.splitlines())
    found = {row[0]: row[1] for row in rows if len(row) == 3 and row[2] == "installed"}
    if len(found) == len(names):
        _whole[names] = found
    return found


def place(toolchain: Toolchain, target: ToolchainTarget, mirror: str = "") -> Place:
    """Where the toolchain is: the system's own if it is the same, else unpacked, fetched now if need be.

    Raises
    ------
    InputError
        It is not available: one line gives the reason and what would do.
    """
    if is_system(target):
        return Place("")
    if not target.packages:
        raise InputError(
            f"toolchain {toolchain.name}: no {target.command} in PATH that calls itself '{target.version}', "
            f"and {toolchain.file.name} names no packages to get it from"
        )
    root = _root(toolchain, target)
    with _locks.setdefault(root, threading.Lock()):
        if root.is_dir():
            return Place(str(root))
        key = (str(root), mirror)
        if key not in _failed:
            try:
                with alone(root):
                    if not root.is_dir():  # else another process has fetched it meanwhile
                        _fetch(toolchain, target, root, mirror)
                return Place(str(root))
            except BuildError as error:
                _failed[key] = (
                    f"toolchain {toolchain.name} is not available: {error}; it needs "
                    f"{', '.join(package.name for package in target.packages)} of Debian "
                    f"{toolchain.release}, from this machine's sources or with --mirror ADDRESS"
                )
        raise InputError(_failed[key])


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """Of several processes, one at a time."""
    with (make_dir(cache_dir() / "debian") / f"{root.name}.lock").open("w") as lock:
        debian.alone(lock)
        yield


def _root(toolchain: Toolchain, target: ToolchainTarget) -> Path:
    packages = [(package.name, package.sha256) for package in target.packages]
    said = json.dumps([LAYOUT, toolchain.release, packages, target.libraries, target.links, architecture()])
    digest = hashlib.sha256(said.encode()).hexdigest()[:16]
    return cache_dir() / "toolchains" / f"{toolchain.name}-{target.command}-{digest}"


@lru_cache(maxsize=1)
def architecture() -> str:
    """What Debian calls this machine's instruction set, such as amd64."""
    told = process.run(["dpkg", "--print-architecture"], work_s=process.ASKED_S)
    machine = os.uname().machine  # where dpkg is missing
    return told.output.strip() or {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)


def stage(toolchain: Toolchain, target: ToolchainTarget, mirror: str = "") -> None:
    """Fetch and unpack what `place` will need, so that it only has to finish: next to tool sets that are
    being installed, whose libraries decide whether the toolchain needs its own.

    Raises
    ------
    BuildError
        It is not available.
    """
    if is_system(target) or not target.packages:
        return
    root = _root(toolchain, target)
    with _locks.setdefault(root, threading.Lock()), alone(root):
        if root.is_dir() or _staged(root).is_dir():
            return
        with tempfile.TemporaryDirectory(dir=make_dir(root.parent), prefix=f".{toolchain.name}.") as name:
            _unpacked(toolchain, target, Path(name), mirror).rename(_staged(root))


def _staged(root: Path) -> Path:
    return root.with_name(f".{root.name}.unpacked")


def _fetch(toolchain: Toolchain, target: ToolchainTarget, root: Path, mirror: str) -> None:
    make_dir(root.parent)
    with tempfile.TemporaryDirectory(dir=root.parent, prefix=f".{toolchain.name}.") as name:
        scratch = Path(name)
        if _staged(root).is_dir():
            unpacked = _staged(root).rename(scratch / "unpacked")
        else:
            unpacked = _unpacked(toolchain, target, scratch, mirror)
        for path, to in target.links:
            (unpacked / path).symlink_to(os.path.relpath(to, Path(path).parent))
        if not _runs(unpacked, target):
            libraries = debian.packages(toolchain.release, target.libraries, scratch, mirror)
            _unpack(libraries.values(), unpacked)
            _wrap(unpacked)
            if not _runs(unpacked, target):
                raise BuildError(
                    f"{target.command} does not run here, not even with its own libraries "
                    f"({', '.join(target.libraries) or 'none are named'})",
                    kind=FailureKind.MISSING,
                )
        try:
            unpacked.rename(root)
        except OSError:
            if not root.is_dir():  # else another process was faster
                raise


def _unpacked(toolchain: Toolchain, target: ToolchainTarget, scratch: Path, mirror: str) -> Path:
    what = f"the toolchain {toolchain.name}"
    return unpacked_packages(what, toolchain.release, target.packages, scratch, mirror)


def unpacked_packages(
    what: str, release: str, packages: Sequence[DebianPackage], scratch: Path, mirror: str = ""
) -> Path:
    """A folder with packages of a release as they are, each checked; `what` they are is said to the user.

    Raises
    ------
    BuildError
        One is not available, or is not as pinned.
    """
    own = architecture()
    pins = {package.name: dict(package.sha256) for package in packages}
    for name, hashes in pins.items():
        if "all" not in hashes and own not in hashes:
            raise BuildError(
                f"{name} is pinned for {', '.join(hashes)}, and this is {own}",
                kind=FailureKind.MISSING,
            )
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise BuildError("apt-get and dpkg-deb are not available", kind=FailureKind.MISSING)
    print(
        f"motecrypt: fetching {what} ({', '.join(pins)} of Debian {release}) into the cache; "
        "nothing is installed",
        file=sys.stderr,
    )
    files = debian.packages(release, list(pins), scratch, mirror)
    for package, file in files.items():
        _check(file, pins[package].get("all") or pins[package][own])
    folder = scratch / "unpacked"
    folder.mkdir()
    _unpack(files.values(), folder)
    return folder


def _check(file: Path, pinned: str) -> None:
    got = hashlib.sha256(file.read_bytes()).hexdigest()
    if got != pinned:
        raise BuildError(
            f"{file.name} has the hash {got[:16]}…, pinned is {pinned[:16]}…: refused",
            kind=FailureKind.MISSING,
        )


def _unpack(files: Iterable[Path], target: Path) -> None:
    def extract(file: Path) -> None:
        outcome = process.run(["dpkg-deb", "--extract", file, target], work_s=process.LONG_S)
        if not outcome.ok:
            raise BuildError(f"{file.name} cannot be unpacked: {outcome.first_error}", transient=True)

    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(process.processors()) as pool:
        list(pool.map(extract, files))


def _commands(root: Path, target: ToolchainTarget) -> list[Path]:
    """The compiler and, where it is another, what links."""
    names = dict.fromkeys(name for name in (target.command, target.linker) if name)
    return [root / "usr" / "bin" / name for name in names]


def _runs(root: Path, target: ToolchainTarget) -> bool:
    """Whether the unpacked programs run here: the compiler, and what it runs itself."""
    for command in _commands(root, target):
        if not process.run([command, "--version"]).ok:
            return False
        for part in _PARTS:
            told = process.run([command, f"-print-prog-name={part}"])
            program = Path(told.output.strip())
            inside = program.is_absolute() and root in program.resolve().parents
            if inside and not process.run([program, "--version"]).ok:
                return False
    return True


def _wrap(root: Path) -> None:
    """Let every program run through the loader that is here, with the libraries that are here.

    The program itself is renamed, with a dot before its name. A script of the old name starts it and passes
    the script's name, by which GCC finds its parts. The paths in it are relative: the folder may be moved.
    """
    loaders = [path for path in sorted(root.rglob(_LOADER)) if not path.is_symlink() and path.is_file()]
    if not loaders:
        return
    loader = loaders[0]
    places = ("**/lib/*-linux-*/lib*.so*", "usr/lib/lib*.so*")
    folders = sorted({path.parent for pattern in places for path in root.glob(pattern)})
    every = list(root.rglob("*"))
    programs = {path: path.with_name(f".{path.name}") for path in every if _is_program(path)}
    links = {
        path: programs[path.resolve()] for path in every if path.is_symlink() and path.resolve() in programs
    }
    for program, hidden in programs.items():
        program.rename(hidden)
    for script, hidden in {
        **programs,
        **links,
    }.items():  # the target of a link is relative to the link's folder
        here = script.parent
        libraries = ":".join(f"$here/{os.path.relpath(folder, here)}" for folder in folders)
        start = f'"$here/{os.path.relpath(loader, here)}" --library-path "{libraries}" --argv0 "$0"'
        script.unlink(missing_ok=True)
        script.write_text(
            f'#!/bin/sh\nhere=${{0%/*}}\nexec {start} "$here/{os.path.relpath(hidden, here)}" "$@"\n'
        )
        script.chmod(0o755)


def _is_program(path: Path) -> bool:
    """Whether it is a program that asks for a loader, and no library."""
    if path.is_symlink() or not path.is_file() or not os.access(path, os.X_OK) or ".so" in path.name:
        return False
    from motecrypt.base.elf import elf_file

    try:
        with elf_file(path) as elf:
            return any(elf.iter_segments("PT_INTERP"))
    except InputError:
        return False


def _compiler(own: Compiler, toolchain: Toolchain, target: ToolchainTarget, found: Place) -> Compiler:
    def command(name: str) -> str:
        return f"{found.root}/usr/bin/{name}" if found.root else name

    resources = [f"-resource-dir={found.root}/{target.resources}"] if target.resources and found.root else []
    include = (f"-isystem{found.root}/{folder}" for folder in target.include)
    return replace(
        own,
        command=command(target.command),
        linker=command(target.linker) if target.linker else "",
        compile_flags=(*target.compile_flags, *resources, *include),
        root=found.root,
        toolchain=toolchain.name,
    )
