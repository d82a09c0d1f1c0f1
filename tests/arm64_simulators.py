"""The drivers of the simulators for arm64, compiled here against Debian's and Unicorn's libraries for it.

What they are linked to is fetched once into the cache, pinned by hash; nothing is installed.
"""

from __future__ import annotations

import hashlib
import shlex
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from motecrypt.base import process
from motecrypt.base.paths import cache_dir, make_dir
from motecrypt.build.toolchain import debian
from motecrypt.build.toolchain.drivers import DRIVERS, RECIPES
from motecrypt.build.toolchain.toolchain import BuildError
from motecrypt.catalog.toolchains import read_library

COMPILER, EMULATOR, LIBRARIES = "aarch64-linux-gnu-gcc", "qemu-aarch64", "/usr/aarch64-linux-gnu"
SIMAVR = read_library("simavr")
RELEASE = SIMAVR.release
PACKAGES = {
    **{package.name: dict(package.sha256)["arm64"] for package in SIMAVR.packages},
    "zlib1g": "52b8b8a145bbe1956bba82034f77022cbef0c3d0885c9e32d9817a7932fe1913",
}
UNICORN = "unicorn==2.1.4 --hash=sha256:bd1fb0c9af5f57e356d8a96928b4fe045b2e18f308ef23b481d5f970008aa722"
WHEEL = ("--no-deps", "--only-binary=:all:", "--platform", "manylinux2014_aarch64", "--require-hashes")


def libraries() -> Path:
    """The libraries' folder; raises BuildError if they are not available."""
    said = " ".join((RELEASE, UNICORN, *PACKAGES.values()))
    root = cache_dir() / "toolchains" / f"arm64-simulators-{hashlib.sha256(said.encode()).hexdigest()[:16]}"
    if root.is_dir():
        return root
    with TemporaryDirectory(dir=make_dir(root.parent), prefix=".arm64.") as name:
        scratch, unpacked = Path(name), Path(name) / "unpacked"
        for package, file in debian.packages(RELEASE, list(PACKAGES), scratch, architecture="arm64").items():
            if hashlib.sha256(file.read_bytes()).hexdigest() != PACKAGES[package]:
                raise BuildError(f"{file.name} is not the one that is pinned")
            _must(["dpkg-deb", "--extract", file, unpacked])
        (scratch / "wanted.txt").write_text(f"{UNICORN}\n")
        wheels = scratch / "wheels"
        _must([sys.executable, "-m", "pip", "download", *WHEEL, "-r", scratch / "wanted.txt", "-d", wheels])
        for wheel in wheels.iterdir():
            zipfile.ZipFile(wheel).extractall(unpacked / "python")
        if not root.is_dir():
            unpacked.rename(root)
    return root


def _must(command: list[str | Path]) -> None:
    outcome = process.run(command, timeout_s=process.LONG_S)
    if not outcome.ok:
        raise BuildError(f"{command[0]}: {outcome.first_error}")


def simulators(folder: Path, root: Path) -> dict[str, Path]:
    """Programs of this computer that run the arm64 drivers, by the drivers' names."""
    usr, unicorn = root / "usr", root / "python" / "unicorn"
    places = [usr / "lib/aarch64-linux-gnu", root / "lib/aarch64-linux-gnu", unicorn / "lib"]
    places = [place for place in places if place.is_dir()]
    search = ":".join(map(str, places))
    linked: dict[str, list[str | Path]] = {
        "simavr": ["-lsimavr"],
        "avr_run": ["-lsimavr", "-lutil"],
        "arm": [f"-I{unicorn / 'include'}", next(unicorn.glob("lib/libunicorn.so*")), "-lutil", "-lm"],
    }
    made = {}
    for name, flags in linked.items():
        program = folder / f"{name}.arm64"
        source = DRIVERS / RECIPES[name].source
        compile_it: list[str | Path] = [COMPILER, "-O2", source, "-idirafter", usr / "include", *flags]
        _must([*compile_it, f"-L{places[0]}", f"-Wl,-rpath-link,{search}", "-o", program])
        run_it = (EMULATOR, "-L", LIBRARIES, "-E", f"LD_LIBRARY_PATH={search}", str(program))
        made[name] = folder / name
        made[name].write_text(f'#!/bin/sh\nexec {shlex.join(run_it)} "$@"\n')
        made[name].chmod(0o755)
    return made
