"""Libraries that drivers link (data/libraries): the system's own, or unpacked into the cache.

Like a pinned toolchain they come from a Debian archive whose signature is checked, with the hashes that their
descriptor pins, and nothing is installed.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import threading
from functools import cache
from pathlib import Path

from motecrypt.base.errors import FailureKind, InputError
from motecrypt.base.model import PinnedLibrary
from motecrypt.base.paths import cache_dir, make_dir
from motecrypt.build.toolchain import pinned
from motecrypt.build.toolchain.toolchain import BuildError, installed_file
from motecrypt.catalog.toolchains import read_library

#: Where a system has the headers of what is installed.
HEADERS = Path("/usr/include")
_failed: dict[Path, str] = {}  # tried once a process
_lock = threading.Lock()


@cache
def library(name: str) -> PinnedLibrary:
    """A library's descriptor."""
    return read_library(name)


def have(name: str) -> bool:
    """Whether a library is installed or in the cache. Fetches nothing."""
    return _is_installed(library(name)) or _root(library(name)).is_dir()


def fetch(name: str) -> None:
    """Unpack a library into the cache, unless it is installed or there already.

    Raises
    ------
    InputError
        It is not available; the message is one line with the reason.
    """
    wanted = library(name)
    root = _root(wanted)
    with _lock:
        if have(name):
            return
        if root not in _failed:
            try:
                with pinned.alone(root):
                    if not root.is_dir():  # else another process has fetched it meanwhile
                        _fetch(wanted, root)
                return
            except BuildError as error:
                _failed[root] = f"{wanted.title} is not available: {error}"
        raise InputError(_failed[root])


def flags(name: str, compiler: str) -> tuple[str, ...]:
    """The compiler's flags to link a library: headers, file, and the folder to search at run time.

    Raises
    ------
    BuildError
        It is not there.
    """
    wanted = library(name)
    if _is_installed(wanted):
        file = installed_file(compiler, (), wanted.library)
        if file is not None:
            return (str(file),)
    usr = _root(wanted) / "usr"
    files = sorted(usr.glob(f"lib/*-linux-*/{wanted.library}"))
    if not files:
        raise BuildError(
            f"{wanted.title}: missing; 'motecrypt doctor' shows how to get it", kind=FailureKind.MISSING
        )
    # An old-style path is also searched for what the library itself needs, such as libelf.
    at_run_time = f"-Wl,--disable-new-dtags,-rpath,{files[0].parent}"
    return (f"-I{usr / 'include'}", f"-L{files[0].parent}", str(files[0].resolve()), at_run_time)


def headers(name: str) -> Path:
    """The include folder that a library's headers are in, installed or not."""
    return HEADERS if _is_installed(library(name)) else _root(library(name)) / "usr" / "include"


def _is_installed(wanted: PinnedLibrary) -> bool:
    return all((HEADERS / header).is_file() for header in wanted.headers)


def _root(wanted: PinnedLibrary) -> Path:
    packages = [(package.name, package.sha256) for package in wanted.packages]
    said = json.dumps([pinned.LAYOUT, wanted.release, packages, pinned.architecture()])
    return cache_dir() / "libraries" / f"{wanted.name}-{hashlib.sha256(said.encode()).hexdigest()[:16]}"


def _fetch(wanted: PinnedLibrary, root: Path) -> None:
    with tempfile.TemporaryDirectory(dir=make_dir(root.parent), prefix=f".{wanted.name}.") as name:
        pinned.unpacked_packages(wanted.title, wanted.release, wanted.packages, Path(name)).rename(root)
