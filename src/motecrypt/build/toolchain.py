"""Compilers: who they are, and how one source becomes one object. Knows nothing of ciphers."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from motecrypt import process
from motecrypt.errors import InputError, MotecryptError

_CPP = ("-std=gnu++11", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics")


class BuildError(MotecryptError):
    """The compiler or linker refused; the message is its first error."""


@lru_cache(maxsize=16)
def identity(command: str) -> str:
    """The first line of `command --version`; InputError when the compiler is missing."""
    outcome = process.run([command, "--version"], timeout_s=20)
    if not outcome.ok or not outcome.output:
        raise InputError(f"the compiler '{command}' is missing; 'motecrypt doctor' tells how to get it")
    return outcome.output.splitlines()[0].strip()


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
    if not outcome.ok:
        raise BuildError(outcome.first_error)


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
        raise BuildError(outcome.first_error)
