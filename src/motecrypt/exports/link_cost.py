"""The program that a simulator counts an exported link with (firmware/link/cost), and it without the link."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from motecrypt.build.toolchain import toolchain
from motecrypt.build.toolchain.firmware import BuildRequest, CipherInputs
from motecrypt.build.toolchain.includes import file_hash, reached
from motecrypt.build.toolchain.scripts import link_flags
from motecrypt.build.toolchain.sizes import Sizes, elf_sizes, symbols
from motecrypt.catalog import FIRMWARE
from motecrypt.exports.link_node import FixedRadio, node_inputs
from motecrypt.link.native import FOLDER, LISTENS, Suite

_PROGRAM = FOLDER / "cost" / "cost.c"
_FLAGS = (
    "-std=gnu11",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-common",
)


@dataclass(frozen=True)
class LinkProgram:
    """What to build.

    Attributes
    ----------
    request : the cipher's build: its implementation, device and placement.
    radio : options and packet length of the node's key block.
    fixed : whether these are constants of the program.
    storage : the header of its storage.
    flags : of the compiler, next to the chip's own.
    message_bytes : the longest message.
    """

    request: BuildRequest
    suite: Suite
    radio: FixedRadio
    fixed: bool
    storage: str
    flags: tuple[str, ...]
    message_bytes: int

    @property
    def inputs(self) -> CipherInputs:
        """The link's own sources, directories and definitions: those of the export, without the board's."""
        board = ("flash.c",) if self._in_flash else ()
        given = node_inputs(self.request, self.suite, self.radio if self.fixed else None, self.storage, board)
        return CipherInputs(given.sources, (*given.directories, FIRMWARE / "include"), given.defines)

    @property
    def _in_flash(self) -> bool:
        return self.storage == "flash.h"

    @property
    def _own_defines(self) -> list[str]:
        sends = [] if self.radio.options & LISTENS else ["COST_SENDS"]
        return [
            f"COST_MESSAGE={self.message_bytes}",
            f"COST_PACKET={self.radio.packet_bytes}",
            *(["COST_FLASH"] if self._in_flash else []),
            *sends,
            *self.request.device.compiler.defines,
        ]

    @property
    def key(self) -> str:
        """A hash of all compiler inputs."""
        device, given = self.request.device, self.inputs
        compiler = device.compiler
        board = [device.folder / name for name in device.hal]
        read = reached([_PROGRAM, *given.sources, *board], given.directories, given.headers_named)
        parts = [
            toolchain.identity(compiler.command),
            *toolchain.runtime(compiler.link_command, compiler.machine_flags),
            compiler.machine_flags,
            [flag for flag in self._linking() if not flag.startswith("-T")],
            (*_FLAGS, *self.flags),
            given.defines,
            self._own_defines,
            sorted((path.name, file_hash(path)) for path in read),
        ]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def _linking(self) -> list[str]:
        return list(link_flags(self.request.device, self.request.placement))


@dataclass(frozen=True)
class BuiltProgram:
    """The ELF, where its data ends, and its sizes next to those of the same without the link."""

    elf: Path
    data_end: int
    with_link: Sizes
    without: Sizes
    compiler: str


@contextmanager
def built(program: LinkProgram) -> Iterator[BuiltProgram]:
    """Build it, for as long as it is used.

    Raises
    ------
    BuildError
        With the compiler's first error.
    """
    device = program.request.device
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as scratch:
        work = Path(scratch)
        board = [device.folder / name for name in device.hal]
        _compile(program, work / "board", board, ("-fno-lto", *device.compiler.flags))
        _compile(program, work / "link", [_PROGRAM, *program.inputs.sources], program.flags)
        _compile(program, work / "empty", [_PROGRAM], (*program.flags, "-DCOST_NOTHING"))
        elf, empty = (_link(program, work, name) for name in ("link", "empty"))
        table = symbols(elf)
        yield BuiltProgram(
            elf,
            table.get("_end", table.get("__bss_end__", table.get("end", 0))),
            elf_sizes(elf, device.memory),
            elf_sizes(empty, device.memory),
            toolchain.identity(device.compiler.command),
        )


def _compile(program: LinkProgram, folder: Path, sources: Sequence[Path], flags: Sequence[str]) -> None:
    compiler, given = program.request.device.compiler, program.inputs
    folder.mkdir()
    include = [f"-I{place}" for place in given.directories]
    defines = [f"-D{name}" for name in (*given.defines, *program._own_defines)]
    command = [compiler.command, *compiler.machine_flags, *_FLAGS, *flags, *defines, *include, "-c"]
    outcome = toolchain.run_compiler([*command, *sources], cwd=folder)
    if not outcome.ok:
        raise toolchain.failure(outcome, folder, "link: ")


def _link(program: LinkProgram, work: Path, name: str) -> Path:
    compiler = program.request.device.compiler
    objects = [*sorted((work / name).glob("*.o")), *sorted((work / "board").glob("*.o"))]
    elf = work / f"{name}.elf"
    command = [compiler.link_command, *compiler.machine_flags, *program.flags, "-Wl,--gc-sections"]
    outcome = toolchain.run_compiler([*command, *objects, *program._linking(), "-o", elf])
    if not outcome.ok:
        raise toolchain.failure(outcome, work, "link: ")
    return elf
