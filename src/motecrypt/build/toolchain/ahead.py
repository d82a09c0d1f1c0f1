"""Fetches and unpacks the toolchains and libraries that a command needs while its environment is being made.

setup.sh runs it with the system's Python: it imports nothing but the standard library and modules that need
nothing else. A failure here is not an error yet: the command asks for the part again and reports the reason.
"""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

from motecrypt.base import process
from motecrypt.base.errors import MotecryptError
from motecrypt.build.toolchain import libraries
from motecrypt.build.toolchain.pinned import stage, target_of
from motecrypt.catalog import DATA, Catalog

FILE = DATA / "ahead.txt"
# In the place of a release:
UNPACKED = "unpacked"  # before toolchains: NAME:DEVICE
LIBRARIES = "libraries"  # before libraries


def wanted(command: str, release: str) -> list[tuple[str, str]]:
    """The toolchains, each with a device, that a command by itself needs unpacked on a Debian release.

    Those that the release itself has are left out: apt-get installs them.
    """
    pairs = (pair.partition(":") for pair in _named(command, UNPACKED))
    known = Catalog.load().toolchains
    return [(name, device) for name, _, device in pairs if known[name].release != release]


def _named(command: str, kind: str) -> list[str]:
    rows = [line.split() for line in FILE.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    return [name for row in rows if row[:2] == [command, kind] for name in row[2:]]


def fetch_library(name: str) -> None:
    """Unpack one library; nothing if it is not available."""
    with contextlib.suppress(MotecryptError, OSError):
        libraries.fetch(name)


def fetch(name: str, device: str) -> None:
    """Unpack one toolchain; nothing if it is not available."""
    catalog = Catalog.load()
    toolchain = catalog.toolchain(name)
    with contextlib.suppress(MotecryptError, OSError):
        stage(toolchain, target_of(toolchain, catalog.device(device), catalog.toolchains.values()))


def main(command: str) -> None:
    """Get all at the same time."""
    release = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    pairs = wanted(command, release)
    linked = _named(command, LIBRARIES)
    with ThreadPoolExecutor(max(1, len(pairs) + len(linked))) as pool:
        first = [pool.submit(fetch_library, name) for name in linked]  # they are small
        then = [pool.submit(fetch, *pair) for pair in pairs]
        for each in (*first, *then):
            each.result()


def _stop(*_: object) -> None:
    """Ctrl-C: what is unpacked by halves is in folders that no command takes."""
    process.end(process.descendants(os.getpid()))
    os._exit(130)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, _stop)  # a shell has its background programs ignore it
    main(sys.argv[1])
