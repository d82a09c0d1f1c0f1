"""The link's core as shared libraries in the wheel, for computers without a compiler: made, and found.

A wheel has one for each suite and kind of machine whose compiler was there. They link no library: what they
call of C is in every process. With each is the hash of the sources that it was made of, and it is taken only
where the installed sources have the same.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import platform
import shutil
import struct
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from motecrypt.base.errors import MotecryptError
from motecrypt.build.toolchain.includes import file_hash, reached
from motecrypt.link.recipe import SUITES, Suite

CORES = Path(__file__).parent / "cores"
LIST = "cores.json"
COMPILERS: Mapping[str, tuple[str, ...]] = {
    "x86_64": ("x86_64-linux-gnu-gcc",),
    "aarch64": ("aarch64-linux-gnu-gcc",),
    # For each Raspberry Pi, also the first and the Zero; Debian's own programs for armhf need an ARMv7.
    "armhf": ("arm-linux-gnueabihf-gcc", "-march=armv6+fp", "-marm"),
}
"""By the kind of machine that a core is for."""

FLAGS = ("-s", "-nostdlib", "-Wl,--build-id=none", "-Wl,-z,noexecstack")
COMPILE_S = 120


def machine() -> str:
    """What this process is, by the names of COMPILERS; empty where there is none for it.

    A Raspberry Pi may have a kernel of 64 bits and programs of 32: what counts is the process.
    """
    bits = 8 * struct.calcsize("P")
    kind = platform.machine().lower()
    if not sys.platform.startswith("linux") or sys.byteorder != "little":
        return ""
    if kind in ("x86_64", "amd64"):
        return "x86_64" if bits == 64 else ""
    if kind == "aarch64" and bits == 64:
        return "aarch64"
    hard_float = "eabihf" in str(sysconfig.get_config_var("HOST_GNU_TYPE"))
    return "armhf" if kind.startswith(("arm", "aarch64")) and bits == 32 and hard_float else ""


def sources_key(suite: Suite) -> str:
    """The hash of what a core is made of: its sources, all that they include, and its definitions."""
    command = SUITES[suite].command()
    paths = [part for part in command if isinstance(part, Path)]
    sources = [path for path in paths if path.suffix]  # a folder has none
    places = [path for path in paths if path not in sources]
    names = [str(part) for part in command if not isinstance(part, Path)]
    hashes = [file_hash(path) for path in reached(sources, places)]
    return hashlib.sha256("\0".join((*hashes, *names)).encode()).hexdigest()


@lru_cache(maxsize=8)
def prebuilt_core(suite: Suite) -> Path | None:
    """The core in this installation for this machine, if its sources are those that are installed."""
    listed: Any = _listed().get(_name(suite, machine()))
    path = CORES / _name(suite, machine())
    try:
        fits = listed["sources"] == sources_key(suite) and listed["sha256"] == _sha256(path)
        if fits:
            ctypes.CDLL(str(path))
    except (
        TypeError,
        LookupError,
        OSError,
    ):  # there is none, it is for another system, or the list was changed
        return None
    return path if fits else None


def core_needs() -> tuple[str, ...]:
    """The tool sets without which there is no core on this computer, for `need`."""
    return () if all(prebuilt_core(suite) for suite in SUITES) else ("host",)


def make_cores(folder: Path, kinds: Sequence[str] = tuple(COMPILERS)) -> dict[str, str]:
    """Compile the cores of these kinds of machines whose compiler is here; returns the compilers' versions.

    Equal sources and compilers make equal bytes, wherever the sources are.
    """
    folder.mkdir(parents=True, exist_ok=True)
    listed: dict[str, Any] = {}
    versions: dict[str, str] = {}
    for kind in kinds:
        compiler, *own = COMPILERS[kind]
        if shutil.which(compiler) is None:
            continue
        versions[kind] = _run([compiler, "--version"]).splitlines()[0]
        for suite, recipe in SUITES.items():
            core = folder / _name(suite, kind)
            command = recipe.command(compiler=compiler)
            _run([*map(str, command), *own, *FLAGS, "-o", str(core)])
            core.chmod(0o644)
            listed[core.name] = {
                "sources": sources_key(suite),
                "sha256": _sha256(core),
                "compiler": versions[kind],
            }
    (folder / LIST).write_text(json.dumps(listed, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return versions


def _name(suite: Suite, kind: str) -> str:
    return f"{suite}-{kind}.so"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _listed() -> dict[str, Any]:
    """What the wheel brought; nothing in a clone."""
    try:
        read = json.loads((CORES / LIST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_S, check=False)
    if done.returncode != 0:
        first = (done.stderr.strip() or "no reason given").splitlines()[0]
        raise MotecryptError(f"link core: {command[0]}: {first}")
    return done.stdout
