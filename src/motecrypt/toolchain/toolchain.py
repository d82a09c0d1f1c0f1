"""Compilers: who they are, and how one source becomes one object. Knows nothing of ciphers."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from motecrypt import process
from motecrypt.errors import FailureKind, InputError, MotecryptError

_CPP = ("-std=gnu++11", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics")
# What a linker takes from beside the compiler, by the names of all the C libraries that we build with.
_RUNTIME = ("libc.a", "libc_nano.a", "libm.a", "libgcc.a", "crt0.o")


class BuildError(MotecryptError):
    """The compiler or linker refused; the message is its first error.

    `transient` when that says nothing of the source: it was killed, found no room, or is not installed.
    `cause` is the complaint without the place it was made at, where there is one.
    """

    usual_kind = FailureKind.REFUSED

    def __init__(
        self, message: str, *, kind: FailureKind | None = None, transient: bool = False, cause: str = ""
    ) -> None:
        super().__init__(message, kind=kind, transient=transient)
        self.cause = cause


def failure(outcome: process.Outcome, prefix: str = "") -> BuildError:
    """The error of a compiler or linker that did not end well."""
    killed = outcome.code is None or outcome.code < 0 or "signal terminated program" in outcome.errors
    full = "No space left on device" in outcome.errors
    said = "No space left on device" if full else outcome.first_error
    kind = FailureKind.INTERRUPTED if killed or full else FailureKind.REFUSED
    return BuildError(prefix + said, kind=kind, transient=killed or full, cause=said.rsplit(": ", 1)[-1])


@lru_cache(maxsize=16)
def identity(command: str) -> str:
    """The first line of `command --version`; InputError when the compiler is missing."""
    outcome = process.run([command, "--version"], timeout_s=20)
    if not outcome.ok or not outcome.output:
        raise InputError(f"the compiler '{command}' is missing; 'motecrypt doctor' tells how to get it")
    return outcome.output.splitlines()[0].strip()


@lru_cache(maxsize=64)
def installed_file(command: str, flags: tuple[str, ...], name: str) -> Path | None:
    """Where a compiler finds a library's file, or None where it has none of that name."""
    outcome = process.run([command, *flags, f"-print-file-name={name}"], timeout_s=20)
    path = Path(outcome.output.strip())
    return path.resolve() if outcome.ok and path.is_absolute() and path.is_file() else None


@lru_cache(maxsize=16)
def runtime(command: str, flags: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The C library and the compiler's own, by name and content: what they hold is linked in too."""
    chips = (flag.removeprefix("-mmcu=") for flag in flags if flag.startswith("-mmcu="))
    names = (*_RUNTIME, *(f"crt{chip}.o" for chip in chips))  # avr-libc has a start-up file for each chip
    found = ((name, installed_file(command, flags, name)) for name in names)
    return tuple((name, hashlib.sha256(path.read_bytes()).hexdigest()) for name, path in found if path)


def compile_object(
    command: str,
    flags: tuple[str, ...],
    source: Path,
    target: Path,
    directory: Path,
    *,
    plain: bool = False,
) -> None:
    """Compile one source to one object. Language by suffix: .c is C99 (GNU), .cpp C++11 as Arduino has it
    (no exceptions, no run-time types), .S assembly; `plain` leaves it to the flags."""
    languages = {".c": ["-std=gnu99"], ".cpp": [*_CPP], ".cc": [*_CPP]}
    language = [] if plain else languages.get(source.suffix, [])
    driver = command
    if source.suffix in (".cpp", ".cc") and command.endswith("gcc"):
        driver = command[:-3] + "g++"
    outcome = process.run([driver, *language, *flags, "-c", source, "-o", target], cwd=directory)
    if outcome.code is None:
        told = f"{source.name} needs the compiler {driver}, which is not installed"
        raise BuildError(told, kind=FailureKind.MISSING, transient=True)
    if not outcome.ok:
        raise failure(outcome)
    _made(target, driver)


def _made(target: Path, command: str) -> None:
    if not target.is_file():
        raise BuildError(f"{command} said that it went well and made no {target.name}")


def link(
    command: str,
    flags: tuple[str, ...],
    objects: list[Path],
    target: Path,
    directory: Path,
    *,
    libraries: tuple[str, ...] = (),
) -> None:
    """Link objects; the memory limits are checked by the caller, who knows by how much they fail."""
    names = [o.name for o in objects]
    outcome = process.run(
        [command, *flags, *names, *libraries, "-o", target.name, "-Wl,-Map=map"], cwd=directory
    )
    if not outcome.ok:
        raise failure(outcome)
    _made(directory / target.name, command)
