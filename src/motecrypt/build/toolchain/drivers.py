"""The small C and C++ programs that drive simulators, compiled at first use and cached by content."""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from motecrypt.base import process
from motecrypt.base.errors import FailureKind
from motecrypt.base.paths import cache_dir, make_dir
from motecrypt.build.toolchain import libraries
from motecrypt.build.toolchain.includes import file_hash, reached
from motecrypt.build.toolchain.toolchain import BuildError, failure, identity, installed_file, run_compiler
from motecrypt.catalog import PACKAGE

DRIVERS = PACKAGE / "simulate" / "drivers"
HASHED_BYTES_MAX = 4 << 20


@dataclass(frozen=True)
class Recipe:
    """How one driver is compiled. `flags` may look things up, so it is called when needed."""

    source: str
    compiler: str
    flags: Callable[[], tuple[str, ...]]


def _unicorn_flags() -> tuple[str, ...]:
    import importlib.util

    spec = importlib.util.find_spec("unicorn")
    if spec is None or not spec.submodule_search_locations:
        raise BuildError(
            "the unicorn package is missing; 'motecrypt doctor' shows how to get it", kind=FailureKind.MISSING
        )
    folder = Path(next(iter(spec.submodule_search_locations)))
    library = folder / "lib"
    shared = next(iter(sorted(library.glob("libunicorn.so*"))), None)
    if shared is None:
        raise BuildError(
            f"{library}: libunicorn is missing; reinstall the unicorn package", kind=FailureKind.MISSING
        )
    return (f"-I{folder / 'include'}", str(shared), f"-Wl,-rpath,{library}")


def _adapter(library: str) -> tuple[str, ...]:
    """Adapters to installed libraries are themselves libraries, which drivers/host.c loads."""
    return ("-shared", "-fPIC", f"-l{library}")


RECIPES = {
    "simavr": Recipe("simavr.c", "gcc", lambda: libraries.flags("simavr", "gcc")),
    "avr_run": Recipe("avr_run.c", "gcc", lambda: (*libraries.flags("simavr", "gcc"), "-lutil")),
    "arm": Recipe("arm.c", "gcc", lambda: (*_unicorn_flags(), "-lutil", "-lm")),
    "riscv": Recipe("riscv.c", "gcc", lambda: ("-lutil",)),
    "host": Recipe("host.c", "gcc", lambda: ("-ldl", "-lm")),
    "taint": Recipe("taint.c", "gcc", lambda: ("-g", "-ldl")),
    "taint_public_key": Recipe("taint_public_key.c", "gcc", lambda: ("-g", "-ldl")),
    "adapter_libtomcrypt": Recipe("adapter_libtomcrypt.c", "gcc", lambda: _adapter("tomcrypt")),
    "adapter_openssl": Recipe("adapter_openssl.c", "gcc", lambda: _adapter("crypto")),
    "adapter_cryptopp": Recipe("adapter_cryptopp.cc", "g++", lambda: _adapter("cryptopp")),
    "wlan": Recipe("wlan.cc", "g++", lambda: _ns3_flags()),
}


def _ns3_flags() -> tuple[str, ...]:
    # Named one by one: pkg-config's list asks for development files of libraries that we do not use.
    if not Path("/usr/include/ns3").is_dir():
        raise BuildError("ns-3 is missing; 'motecrypt doctor' shows how to get it", kind=FailureKind.MISSING)
    modules = ("wifi", "internet", "applications", "energy", "mobility", "propagation", "network", "core")
    # ns-3 from 3.43 (Debian 13) on is C++20; 3.37 (Debian 12) takes it as well.
    return ("-std=c++20", *(f"-lns3-{module}" for module in modules))


_lock = threading.Lock()


@lru_cache(maxsize=16)
def driver(name: str) -> Path:
    """The compiled driver, ready to run; raises BuildError with the compiler's first error."""
    recipe = RECIPES[name]
    with _lock:
        flags = recipe.flags()
        key = hashlib.sha256("\0".join((driver_identity(name), *flags)).encode()).hexdigest()
        target = make_dir(cache_dir() / "drivers") / f"{name}-{key[:16]}"
        if target.exists():
            return target
        handle, scratch = tempfile.mkstemp(dir=target.parent, prefix=f".{name}.")
        os.close(handle)
        command: list[str | Path] = [recipe.compiler, "-O2", DRIVERS / recipe.source, *flags, "-o", scratch]
        outcome = run_compiler(command, work_s=process.LONG_S)
        if not outcome.ok:
            Path(scratch).unlink(missing_ok=True)
            raise failure(outcome, target.parent, f"driver {name}: ")
        Path(scratch).chmod(0o755)
        Path(scratch).replace(target)
        return target


@lru_cache(maxsize=16)
def driver_identity(name: str) -> str:
    """A hash of the driver's sources, compiler, flags and the libraries it is linked to: part of every
    measurement's key. Independent of their folders."""
    recipe = RECIPES[name]
    parts = [file_hash(path) for path in reached([DRIVERS / recipe.source], [])]
    parts.append(identity(recipe.compiler))
    for flag in recipe.flags():
        if flag.startswith("-l"):
            library = installed_file(recipe.compiler, (), f"lib{flag[2:]}.so")
            parts.append(f"{flag} {_library_hash(library)}")
        elif flag.startswith("/"):
            parts.append(_library_hash(Path(flag)))
        elif "/" not in flag:  # else a place to look in, and what is found there counts
            parts.append(flag)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _library_hash(library: Path | None) -> str:
    """What a shared library is, reported by its content, or by its name where it is large."""
    if library is None:
        return "missing"
    size = library.stat().st_size
    return f"{library.name} {size}" if size > HASHED_BYTES_MAX else file_hash(library)
