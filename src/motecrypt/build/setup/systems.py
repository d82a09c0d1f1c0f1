"""How to install Debian's packages by hand on this system, by data/systems.toml. Installs nothing."""

from __future__ import annotations

import platform
import shlex
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from motecrypt.base.descriptor import Table
from motecrypt.catalog import DATA

OS_RELEASE = Path("/etc/os-release")


@dataclass(frozen=True)
class System:
    """A system without apt-get, and what Debian's packages are called there."""

    title: str
    ids: tuple[str, ...]
    install: str
    python: str
    note: str
    packages: Mapping[str, str]
    files: Mapping[str, str]

    def by_hand(self, debian: Iterable[str]) -> str:
        """What to do for these packages of Debian: a command, then what else to look for."""
        debian = tuple(dict.fromkeys(debian))
        names = list(dict.fromkeys(self.packages[each] for each in debian if self.packages.get(each)))
        unknown = [each for each in debian if each not in self.packages]
        says = [f"{self.install} {' '.join(names)}"] if names else []
        if unknown:
            says.append(f"look for what Debian calls {', '.join(unknown)}")
        if self.note and any(self.packages.get(each) == "" for each in debian):
            says.append(self.note)
        return f"{'; '.join(says)} (untested on {self.title})"


def read_systems(path: Path) -> dict[str, System]:
    """The systems of a file, by name; InputError for what is not as it should be."""
    read: dict[str, System] = {}
    for name, entry in Table.read(path).every_table().items():
        read[name] = System(
            title=entry.text("title"),
            ids=entry.texts("ids"),
            install=entry.text("install"),
            python=entry.text("python"),
            note=entry.text("note", ""),
            packages=_texts(entry.table("packages")),
            files=_texts(entry.table("files")),
        )
        entry.done()
    return read


def _texts(table: Table) -> dict[str, str]:
    read = {key: table.text(key) for key in table.plain()}
    table.done()
    return read


@lru_cache(maxsize=1)
def systems() -> dict[str, System]:
    """All systems by name."""
    return read_systems(DATA / "systems.toml")


def has_apt() -> bool:
    """Whether apt-get is there, so that Debian's names are the right ones."""
    return shutil.which("apt-get") is not None


def this_system() -> System | None:
    """The system by /etc/os-release or uname; None where it has apt-get or nobody described it."""
    if has_apt():
        return None
    for each in (*_release_ids(), platform.system()):
        for system in systems().values():
            if each in system.ids:
                return system
    return None


def _release_ids() -> list[str]:
    """ID, then those of ID_LIKE, nearest first; none without the file."""
    try:
        lines = OS_RELEASE.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    told = dict(line.partition("=")[::2] for line in lines if "=" in line)
    try:
        return [
            word
            for key in ("ID", "ID_LIKE")
            for part in shlex.split(told.get(key, ""))
            for word in part.split()
        ]
    except ValueError:  # an open quote
        return []


def by_hand(debian: Iterable[str]) -> str:
    """How to install these packages of Debian here: one line."""
    debian = tuple(dict.fromkeys(debian))
    if has_apt():
        return f"apt-get install --no-install-recommends {' '.join(debian)}"
    system = this_system()
    if system is None:
        return f"look for what Debian calls {', '.join(debian)}"
    return system.by_hand(debian)


def place(file: str) -> str:
    """Where a file of a Debian package is here; empty where commands alone show what is there."""
    system = this_system()
    return file if system is None else system.files.get(file, file)
