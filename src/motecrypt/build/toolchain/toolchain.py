"""Compilers: their identity, and how one source becomes one object. Independent of ciphers."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from motecrypt.base import process
from motecrypt.base.errors import FailureKind, InputError, MotecryptError

_CPP = ("-std=gnu++11", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics")
# What a linker takes from next to the compiler, by the names of all the C libraries that we build with.
_RUNTIME = ("libc.a", "libc_nano.a", "libm.a", "libgcc.a", "crt0.o")


#: With less space free, a compiler's error is not its source's fault.
ROOM_BYTES = 1 << 20


class BuildError(MotecryptError):
    """The compiler or linker refused; the message is its first error.

    `transient` when the source is not the reason: it was killed, the disk was full, or it is not installed.
    `cause` is the error without its file and line, if there is one.
    """

    usual_kind = FailureKind.REFUSED

    def __init__(
        self, message: str, *, kind: FailureKind | None = None, transient: bool = False, cause: str = ""
    ) -> None:
        super().__init__(message, kind=kind, transient=transient)
        self.cause = cause


def run_compiler(
    command: Sequence[str | Path], *, cwd: Path | None = None, work_s: float = process.WORK_S
) -> process.Outcome:
    """Run a compiler or linker, once more where it fails: what fails twice does so for its input's sake.

    One that is killed or not found is not tried again.
    """
    outcome = process.run(command, cwd=cwd, work_s=work_s)
    if outcome.ok or outcome.code is None or outcome.code < 0:
        return outcome
    return process.run(command, cwd=cwd, work_s=work_s)


def failure(outcome: process.Outcome, folder: Path, prefix: str = "") -> BuildError:
    """The error of a compiler or linker that did not end well, twice.

    It is transient when it was not found, was ended by a signal or its deadline, or when `folder`, which it
    writes to, has no room; never by what it says.
    """
    if outcome.code is None:
        return BuildError(prefix + outcome.first_error, kind=FailureKind.MISSING, transient=True)
    full = shutil.disk_usage(folder).free < ROOM_BYTES
    said = f"no space left in {folder}" if full else outcome.told_errors
    lost = full or outcome.code < 0
    kind = FailureKind.INTERRUPTED if lost else FailureKind.REFUSED
    return BuildError(
        prefix + said,
        kind=kind,
        transient=lost,
        cause=(said if full else outcome.first_error).rpartition(": ")[2],
    )


@lru_cache(maxsize=16)
def identity(command: str) -> str:
    """The first line of `command --version`; InputError when the compiler is missing."""
    outcome = process.run([command, "--version"], work_s=process.ASKED_S)
    if not outcome.ok or not outcome.output:
        raise InputError(f"the compiler '{command}' is missing; 'motecrypt doctor' shows how to get it")
    return outcome.output.splitlines()[0].strip()


@lru_cache(maxsize=64)
def installed_file(command: str, flags: tuple[str, ...], name: str) -> Path | None:
    """Where a compiler finds a library's file, or None where it has none of that name."""
    outcome = process.run([command, *flags, f"-print-file-name={name}"], work_s=process.ASKED_S)
    path = Path(outcome.output.strip())
    return path.resolve() if outcome.ok and path.is_absolute() and path.is_file() else None


@lru_cache(maxsize=16)
def runtime(command: str, flags: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The C library and the compiler's own, by name and content: what they hold is linked in too; and the
    assembler and the linker, by their versions."""
    chips = (flag.removeprefix("-mmcu=") for flag in flags if flag.startswith("-mmcu="))
    names = (*_RUNTIME, *(f"crt{chip}.o" for chip in chips))  # avr-libc has a start-up file for each chip
    names = (*names, *_picolibc(command, flags))
    found = ((name, installed_file(command, flags, name)) for name in names)
    linked = tuple((name, hashlib.sha256(path.read_bytes()).hexdigest()) for name, path in found if path)
    return (*linked, *((name, _part_version(command, name)) for name in ("as", "ld")))


def _picolibc(command: str, flags: tuple[str, ...]) -> tuple[str, ...]:
    """Names of picolibc's files from where the compiler looks: Debian installs them elsewhere."""
    if "--specs=picolibc.specs" not in flags:
        return ()
    target = process.run([command, "-dumpmachine"], work_s=process.ASKED_S).output.strip()
    kind = process.run([command, *flags, "-print-multi-directory"], work_s=process.ASKED_S).output.strip()
    return tuple(f"../../../picolibc/{target}/lib/{kind}/{name}" for name in ("libc.a", "libm.a"))


def _part_version(command: str, name: str) -> str:
    """What the assembler or linker that a compiler runs calls itself; empty where it runs none."""
    path = process.run([command, f"-print-prog-name={name}"], work_s=process.ASKED_S).output.strip()
    told = process.run([path, "--version"], work_s=process.ASKED_S).output if path else ""
    return told.partition("\n")[0].strip()


def compile_object(
    command: str,
    flags: tuple[str, ...],
    source: Path,
    target: Path,
    directory: Path,
    *,
    plain: bool = False,
) -> None:
    """Compile one source to one object. Language by suffix: .c is C99 (GNU), .cpp C++11 as in Arduino
    (no exceptions, no run-time types), .S assembly; `plain` leaves it to the flags."""
    driver, language = _spoken(command, source, plain)
    outcome = run_compiler([driver, *language, *flags, "-c", source, "-o", target], cwd=directory)
    if outcome.code is None:
        told = f"{source.name} needs the compiler {driver}, which is not installed"
        raise BuildError(told, kind=FailureKind.MISSING, transient=True)
    if not outcome.ok:
        raise failure(outcome, directory)
    _made(target, driver)


def preprocessed(command: str, flags: tuple[str, ...], source: Path, directory: Path) -> bytes | None:
    """What the compiler compiles of a source: definitions put in, headers too. None if that fails."""
    driver, language = _spoken(command, source, False)
    target = directory / f"{source.stem}.preprocessed"
    outcome = run_compiler([driver, *language, *flags, "-E", source, "-o", target], cwd=directory)
    if not outcome.ok or not target.is_file():
        return None
    text = target.read_bytes()
    target.unlink()
    return text


def _spoken(command: str, source: Path, plain: bool) -> tuple[str, list[str]]:
    """The compiler for a source, and its flags for the language."""
    languages = {".c": ["-std=gnu99"], ".cpp": [*_CPP], ".cc": [*_CPP]}
    language = [] if plain else languages.get(source.suffix, [])
    if source.suffix in (".cpp", ".cc") and command.endswith("gcc"):
        return command[:-3] + "g++", language
    return command, language


def _made(target: Path, command: str) -> None:
    if not target.is_file():
        raise BuildError(f"{command} reported success but made no {target.name}")


def link(
    command: str,
    flags: tuple[str, ...],
    objects: list[Path],
    target: Path,
    directory: Path,
    *,
    libraries: tuple[str, ...] = (),
) -> None:
    """Link objects; the memory limits are checked by the caller, which has the sizes."""
    names = [o.name for o in objects]
    outcome = run_compiler(
        [command, *flags, *names, *libraries, "-o", target.name, "-Wl,-Map=map"], cwd=directory
    )
    if not outcome.ok:
        raise failure(outcome, directory)
    _made(directory / target.name, command)
