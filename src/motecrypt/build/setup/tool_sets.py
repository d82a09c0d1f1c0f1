"""Tool sets: named sets of Debian and Python packages, described in data/setup.toml."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.build.setup.runs import CONNECT, Unreached, pip_command, trouble
from motecrypt.build.setup.shortages import left_out
from motecrypt.build.setup.systems import by_hand, has_apt, place
from motecrypt.catalog import DATA

APT_TIMEOUT_S = 1800
LISTS = Path("/var/lib/apt/lists/partial")  # apt-get update has last worked here
LISTS_S = 3600.0  # they are not fetched again within this time
PIP_TIMEOUT_S = 900
JOURNAL = Path("/var/lib/dpkg/updates")
"""Has files whose names are numbers while dpkg works, and after it was stopped."""

_done: set[tuple[str, ...]] = set()
_failed: dict[tuple[str, ...], str] = {}
"""Commands that this process has run: each runs once; a failed one fails again for the same reason."""
_unreached: list[Unreached] = []
"""That a command did not reach the network, even if it did not fail for that."""


@dataclass(frozen=True)
class ToolSet:
    """A set of packages that a command needs."""

    name: str
    title: str
    debian: tuple[str, ...]
    commands: tuple[str, ...]
    files: tuple[str, ...]
    python: tuple[str, ...]
    download_mb: int
    optional: bool
    note: str
    compiler: tuple[str, ...] = ()
    library: str = ""

    @property
    def without_compiler(self) -> ToolSet:
        """The same tool set without the packages, commands and files of its compiler for the device."""
        debian, commands, files = (
            tuple(each for each in names if each not in self.compiler)
            for names in (self.debian, self.commands, self.files)
        )
        return replace(self, debian=debian, commands=commands, files=files)

    @property
    def lock(self) -> Path:
        """The pinned and hashed requirements of its Python packages."""
        return DATA / "locks" / f"{self.name}.txt"


@dataclass(frozen=True)
class ToolSetState:
    """What of a tool set is missing: commands and files (from Debian), modules (from PyPI), and the library
    that drivers link (unpacked into the cache)."""

    tool_set: ToolSet
    missing_system: tuple[str, ...]
    missing_python: tuple[str, ...]
    missing_library: str = ""

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return not self.missing

    @property
    def missing(self) -> tuple[str, ...]:
        """Everything that is missing."""
        library = (self.missing_library,) if self.missing_library else ()
        return (*self.missing_system, *library, *self.missing_python)

    @property
    def by_hand(self) -> tuple[str, ...]:
        """The Debian packages that bring what is missing, except Python's."""
        from motecrypt.build.toolchain.libraries import library

        own = self.tool_set.debian if self.missing_system else ()
        return (*own, *(library(self.missing_library).system if self.missing_library else ()))


@lru_cache(maxsize=1)
def tool_sets() -> dict[str, ToolSet]:
    """All tool sets by name."""
    return read_tool_sets(DATA / "setup.toml")


def read_tool_sets(path: Path) -> dict[str, ToolSet]:
    """The tool sets of a file, by name; InputError for what is not as it should be."""
    read: dict[str, ToolSet] = {}
    for name, entry in Table.read(path).every_table().items():
        read[name] = ToolSet(
            name=name,
            title=entry.text("title"),
            debian=entry.texts("debian", []),
            commands=entry.texts("commands", []),
            files=entry.texts("files", []),
            python=entry.texts("python", []),
            download_mb=entry.integer("download_mb", 0, low=0),
            optional=entry.flag("optional", False),
            note=entry.text("note", ""),
            compiler=entry.texts("compiler", []),
            library=entry.text("library", ""),
        )
        entry.done()
    return read


def _tool_set(name: str) -> ToolSet:
    if name not in tool_sets():
        raise InputError(f"unknown tool set '{name}'; available: {', '.join(sorted(tool_sets()))}")
    return tool_sets()[name]


def _has_file(pattern: str) -> bool:
    path = Path(pattern)
    if any(c in pattern for c in "*?["):
        return any(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
    return path.exists()


def state(name: str, *, compiler: bool = True) -> ToolSetState:
    """What of the tool set is there and what is missing, with or without its compiler. Installs nothing."""
    tool_set = _tool_set(name) if compiler else _tool_set(name).without_compiler
    system = [c for c in tool_set.commands if shutil.which(c) is None]
    system += [f for f in map(place, tool_set.files) if f and not _has_file(f)]
    modules = [m for m in tool_set.python if importlib.util.find_spec(m) is None]
    library = tool_set.library if tool_set.library and not _has_library(tool_set.library) else ""
    return ToolSetState(tool_set, tuple(system), tuple(modules), library)


def _has_library(name: str) -> bool:
    from motecrypt.build.toolchain import libraries

    return libraries.have(name)


def have(name: str) -> bool:
    """Whether the tool set is complete."""
    return state(name).complete


def need(*names: str, compiler: bool = True) -> None:
    """Make sure that tool sets are there; installs what is missing, saying so first on standard error.

    Parameters
    ----------
    compiler
        False: without the tool sets' compilers for their devices, where a pinned toolchain takes their place.

    Raises
    ------
    InputError
        When something cannot be installed; the line says how to do it by hand.
    """
    need_each([(name, compiler) for name in names])


def need_each(wanted: Iterable[tuple[str, bool]]) -> None:
    """As `need`, each tool set with its compiler or without. Several come together: Debian's packages by one
    call of apt-get, and Python's at the same time."""
    wanted = list(dict.fromkeys(wanted))
    states = [state(name, compiler=compiler) for name, compiler in wanted]
    _list_without_apt(states)
    _announce(states)
    _install_together(states)
    for name, compiler in wanted:
        missing = state(name, compiler=compiler)
        try:
            if missing.missing_system:
                _install_debian(missing.tool_set)
            if missing.missing_library:
                _get_library(missing)
            if missing.missing_python:
                _install_python(missing.tool_set)
            left = state(name, compiler=compiler)
            if not left.complete:
                what = ", ".join(left.missing)
                raise InputError(f"tool set '{name}' is still incomplete after installing: {what} missing")
        except InputError as error:
            if not missing.tool_set.optional:
                raise
            _say(f"continuing without an optional tool set: {error}; {missing.tool_set.note}")
            left_out(missing.tool_set.title, str(error))


def _list_without_apt(states: Sequence[ToolSetState]) -> None:
    """Where apt-get is missing, refuse with one list of what all the tool sets lack."""
    lacking = [missing for missing in states if missing.by_hand and not missing.tool_set.optional]
    if not lacking or has_apt():
        return
    titles = "; ".join(missing.tool_set.title for missing in lacking)
    packages = by_hand(package for missing in lacking for package in missing.by_hand)
    raise InputError(f"{titles}: missing, and apt-get is not available; install by hand: {packages}")


def _announce(states: Sequence[ToolSetState]) -> None:
    """Print for several tool sets what will be installed and how long that takes, before it begins."""
    lacking = [missing.tool_set for missing in states if not missing.complete]
    if len(lacking) > 1:
        names = "; ".join(tool_set.title for tool_set in lacking)
        size = _size(sum(tool_set.download_mb for tool_set in lacking))
        _say(f"this run first installs, once: {names} ({size})")


def _install_together(states: Sequence[ToolSetState]) -> None:
    """Most of what several tool sets lack. What fails here is tried again for each, which shows why."""
    of_debian = [missing.tool_set for missing in states if missing.missing_system]
    of_python = [missing.tool_set for missing in states if missing.missing_python]
    if len(of_debian) + len(of_python) < 2:
        return

    def python() -> None:
        if of_python:
            with contextlib.suppress(InputError):
                _install_python(*of_python)

    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        meanwhile = pool.submit(python)
        if len(of_debian) > 1:
            with contextlib.suppress(InputError):
                _install_debian(together(of_debian))
        meanwhile.result()


def together(several: Sequence[ToolSet]) -> ToolSet:
    """The Debian packages of several tool sets as one."""
    return replace(
        several[0],
        name="",
        title="; ".join(tool_set.title for tool_set in several),
        debian=tuple(dict.fromkeys(package for tool_set in several for package in tool_set.debian)),
        download_mb=sum(tool_set.download_mb for tool_set in several),
    )


def _say(text: str) -> None:
    print(f"motecrypt: {text}", file=sys.stderr, flush=True)


def _install_debian(tool_set: ToolSet) -> None:
    packages = " ".join(tool_set.debian)
    how = by_hand(tool_set.debian)
    if not has_apt():
        raise InputError(f"{tool_set.title}: missing, and apt-get is not available; install by hand: {how}")
    prefix: list[str] = []
    if os.geteuid() != 0:
        if shutil.which("sudo") is None:
            raise InputError(f"{tool_set.title}: missing; as root, run: {how}")
        prefix = ["sudo", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8"]
    _say(f"installing {tool_set.title} with apt-get ({_size(tool_set.download_mb)}): {packages}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    apt = [*prefix, "apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3"]
    failure = f"{tool_set.title}: could not be installed"
    install = [*apt, "-o", "APT::Status-Fd=1", "install", "-y", "--no-install-recommends", *tool_set.debian]
    if _is_half_done():
        _trouble([*prefix, "dpkg", "--configure", "-a"], environment, APT_TIMEOUT_S)
    known = tuple(install) in _done or tuple(install) in _failed
    if not known and _are_fresh() and not _trouble(install, environment, APT_TIMEOUT_S):
        _done.add(tuple(install))
        return
    for command in ([*apt, "update"], install):
        _run(command, environment, APT_TIMEOUT_S, failure, f"; run by hand: {how}")


SLOW_MB_S, FAST_MB_S = 1.0, 10.0
"""Megabytes a second of slow and of fast networks and disks together."""


def _size(download_mb: int) -> str:
    """How much is downloaded, and how long that and its installation take."""
    low, high = (max(1, round(download_mb / speed / 60)) for speed in (FAST_MB_S, SLOW_MB_S))
    minutes = f"{low} to {high} minutes" if high > low else "a minute at most"
    return f"about {download_mb} MB, {minutes}"


def _are_fresh() -> bool:
    """Whether Debian's lists of packages were fetched just now."""
    try:
        return 0 <= time.time() - LISTS.stat().st_mtime < LISTS_S
    except OSError:
        return False


def _is_half_done() -> bool:
    """Whether dpkg was stopped while it installed something, so that it first has to finish that."""
    try:
        return any(entry.name.isdigit() for entry in JOURNAL.iterdir())
    except OSError:
        return False


def _get_library(missing: ToolSetState) -> None:
    """Unpack the library that drivers link; if it is not available, install the system's packages of it."""
    from motecrypt.build.toolchain import libraries

    try:
        libraries.fetch(missing.missing_library)
    except InputError as error:
        _say(f"{error}; installing the system's own instead")
        wanted = libraries.library(missing.missing_library)
        _install_debian(replace(missing.tool_set, title=wanted.title, debian=wanted.system))


def _install_python(*several: ToolSet) -> None:
    locks = [str(tool_set.lock) for tool_set in several]
    title = "; ".join(tool_set.title for tool_set in several)
    if sys.prefix == sys.base_prefix:
        raise InputError(
            f"{title}: packages of {', '.join(locks)} are missing; install them into a virtual environment"
        )
    modules = ", ".join(dict.fromkeys(name for tool_set in several for name in tool_set.python))
    download_mb = sum(tool_set.download_mb for tool_set in several)
    size = "" if any(tool_set.debian for tool_set in several) else f"{_size(download_mb)}, "
    _say(f"installing {title} with pip: {modules} ({size}pinned and hashed)")
    _run(
        pip_command(locks),
        dict(os.environ),
        PIP_TIMEOUT_S,
        f"{title}: could not be installed",
        f": pip failed with {', '.join(locks)}",
    )
    importlib.invalidate_caches()


def _run(command: list[str], environment: dict[str, str], timeout_s: float, failure: str, how: str) -> None:
    if tuple(command) in _done:
        return
    why = _failed.get(tuple(command)) or _trouble(command, environment, timeout_s)
    if why:
        _failed[tuple(command)] = why
        if _unreached:
            raise InputError(f"{failure}: {_unreached[0]}; {CONNECT}")
        raise InputError(f"{failure}{how} ({why})")
    _done.add(tuple(command))


def _trouble(command: list[str], environment: dict[str, str], timeout_s: float) -> str:
    return trouble(command, environment, timeout_s, _say, _unreached.append)
