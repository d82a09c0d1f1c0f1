"""The records that all directories share: frozen, plain, units in the names. Imports nothing of ours."""

from __future__ import annotations

import fnmatch
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeGuard, get_args

Operation = Literal[
    "setup", "encrypt", "decrypt", "keygen", "agree", "sign", "verify", "encapsulate", "decapsulate"
]
SecurityStatus = Literal["recommended", "acceptable", "legacy", "broken", "unrated"]
Timing = Literal["", "constant", "rotations", "state", "tables"]

SECURITY_STATUSES: tuple[SecurityStatus, ...] = get_args(SecurityStatus)
OPERATIONS: tuple[Operation, ...] = ("setup", "encrypt", "decrypt")
PUBLIC_KEY_OPERATIONS: tuple[Operation, ...] = get_args(Operation)[3:]
"""What a public-key algorithm does (publickey.h), in the order of bridge.c's numbers."""


@dataclass(frozen=True)
class MessageLengths:
    """Which message lengths a cipher takes, in bytes."""

    min: int = 0
    max: int = 65535
    multiple: int = 1

    def allows(self, message_bytes: int) -> bool:
        """Whether a message of this length can be encrypted."""
        return self.min <= message_bytes <= self.max and message_bytes % self.multiple == 0


@dataclass(frozen=True)
class Cipher:
    """An algorithm with its mode, as its folder describes it."""

    name: str
    family: str
    title: str
    kind: str
    source: str
    folder: Path
    key_bits: tuple[int, ...]
    nonce_bytes: int
    tag_bytes: int
    associated_data: bool
    message: MessageLengths
    mode: str | None = None
    oracle: str = "oracle.py"
    key_bits_allowed: tuple[int, int, int] | None = None
    security: SecurityStatus = "unrated"
    security_reason: str = ""
    security_source: str = ""


@dataclass(frozen=True)
class Protection:
    """What an implementation does against power analysis, and the functions that must not leak.

    Attributes
    ----------
    what : the countermeasures in words.
    setup, encrypt : the functions that work on masked values, in the set-up of a key and in an encryption.
    """

    what: str
    setup: str
    encrypt: str


@dataclass(frozen=True)
class Implementation:
    """One body of code for one cipher, ours or a library's, in one configuration; hashed by its names."""

    cipher: str
    library: str
    configuration: str
    variant: str
    key_bits: tuple[int, ...] = field(hash=False)
    header: str = field(hash=False)
    sources: tuple[str, ...] = field(hash=False)
    include: tuple[str, ...] = field(hash=False)
    defines: tuple[str, ...] = field(hash=False)
    folder: Path = field(hash=False)
    cores: tuple[str, ...] = field(default=("*",), hash=False)
    placements: tuple[str, ...] = field(default=(), hash=False)
    operations: tuple[Operation, ...] = OPERATIONS
    key_bytes_measured: int = 16
    key_bytes_allowed: int = 16
    fetched: bool = False
    c_flags: tuple[str, ...] = field(default=(), hash=False)
    note: str = ""
    best_on: tuple[str, ...] = field(default=(), hash=False)
    protection: Protection | None = field(default=None, hash=False)
    timing: Timing = field(default="", hash=False)  # what secrets steer: docs/adding.md
    multiplies: bool = field(default=False, hash=False)  # secrets, by the core's multiplier if it has one

    @property
    def name(self) -> str:
        """The implementation's name in tables: library, configuration and variant."""
        return implementation_name(self.library, self.configuration, self.variant)

    def runs_on(self, core: str) -> bool:
        """Whether it is meant for devices with this core: `cores` are shell patterns."""
        return any(fnmatch.fnmatchcase(core, pattern) for pattern in self.cores)

    def best_on_core(self, core: str) -> bool:
        """Whether it is the one to take on this core where nobody names another."""
        return any(fnmatch.fnmatchcase(core, pattern) for pattern in self.best_on)


def implementation_name(library: str, configuration: str, variant: str) -> str:
    """How an implementation is called everywhere: `library/configuration/variant`, without what is usual."""
    parts = (library, "" if configuration == "default" else configuration, variant)
    return "/".join(part for part in parts if part)


@dataclass(frozen=True)
class Memory:
    """A memory of a device: how many bytes it has, and the link addresses that mean it."""

    bytes: int
    address: int
    span: int

    def holds(self, address: int) -> bool:
        """Whether a link address is in this memory (or where it would overflow to)."""
        return self.address <= address < self.address + self.span


@dataclass(frozen=True)
class Current:
    """A supply current of a device in one state, with where the figure comes from.

    `of` is "board" for the stock board, "chip" for the chip alone, and empty if that makes no difference.
    """

    state: str
    milliamperes: float
    condition: str
    source: str
    of: str = ""


@dataclass(frozen=True)
class Compiler:
    """How firmware for a device is compiled and linked.

    A device's folder gives all but what a pinned toolchain adds: `linker` is the command that assembles and
    links, where that is another one than compiles; `compile_flags` only compiling takes; `root` is where the
    toolchain is unpacked, empty for the system's own; `toolchain` its name, empty where none is known.
    """

    command: str
    machine_flags: tuple[str, ...]
    flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    defines: tuple[str, ...]
    shared: bool = False
    linker: str = ""
    compile_flags: tuple[str, ...] = ()
    root: str = ""
    toolchain: str = ""

    @property
    def link_command(self) -> str:
        """What assembles and links: the compiler itself unless a toolchain has another."""
        return self.linker or self.command

    def compiling(self, source: Path) -> tuple[str, tuple[str, ...]]:
        """The command that makes an object of a source, and the flags for it alone; what links
        assembles."""
        if self.linker and source.suffix == ".S":
            return self.linker, ()
        return self.command, self.compile_flags

    @property
    def is_clang(self) -> bool:
        """Whether it is a Clang, whose warnings are others than GCC's."""
        return "clang" in self.command.rpartition("/")[2]


@dataclass(frozen=True)
class DebianPackage:
    """A Debian package, pinned. `sha256` by architecture, or by "all" where one package serves every one.

    `version` is without what Debian adds where it only builds again (+b1), which differs by architecture.
    """

    name: str
    version: str
    sha256: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class PinnedLibrary:
    """A library that a driver links: the system's own, or unpacked into the cache from pinned packages.

    `library` is the file that is linked, such as libsimavr.so, and `headers`, below an include folder, show
    whether it is there. `system` are the packages that install it where it cannot be unpacked.
    """

    name: str
    title: str
    release: str
    library: str
    headers: tuple[str, ...]
    system: tuple[str, ...]
    packages: tuple[DebianPackage, ...]


@dataclass(frozen=True)
class ToolchainTarget:
    """A toolchain for one kind of core.

    `replaces` is the compiler, as devices name it, in whose place this one is used; `version` the first line
    of its `--version`, by which the system's own is recognised. `libraries` are the packages that its
    programs need where this system's are too old for them. `resources` is where a Clang has its own headers,
    which it does not find by itself where another's loader starts it. `links`, path and what it leads to, are
    those that Debian makes only where a package is installed.
    """

    replaces: str
    command: str
    version: str
    linker: str
    compile_flags: tuple[str, ...]
    include: tuple[str, ...]
    packages: tuple[DebianPackage, ...]
    libraries: tuple[str, ...]
    resources: str = ""
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Toolchain:
    """Compiler, assembler, linker and C library as one pinned descriptor: a Debian release's packages."""

    name: str
    title: str
    release: str
    source: str
    file: Path
    targets: tuple[ToolchainTarget, ...]

    def target_for(self, command: str) -> ToolchainTarget | None:
        """The part that replaces a device's compiler, or None."""
        return next((target for target in self.targets if target.replaces == command), None)


@dataclass(frozen=True)
class Placement:
    """Where code and tables are, and what the build must say for it."""

    name: str
    caches: tuple[str, ...] = ("none",)
    defines: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    tables: str = ""  # the memory of constant tables, if it is not the one that `name` says


class Flashing(NamedTuple):
    """The tool that writes a firmware to a board, of catalog.flashing.TOOLS; the others are OpenOCD's."""

    tool: str
    configs: tuple[str, ...]
    transport: str


@dataclass(frozen=True)
class Device:
    """A microcontroller on a board, as its folder describes it."""

    name: str
    title: str
    chip: str
    core: str
    clock_hz: int
    tool_set: str
    runner: str
    source: str
    folder: Path
    hal: tuple[str, ...]
    memory: Mapping[str, Memory]
    compiler: Compiler
    placements: Mapping[str, Placement]
    bench: Mapping[str, int]
    simulator: Mapping[str, Any]
    volts: float
    volts_min: float
    volts_max: float
    currents: tuple[Current, ...]
    extra: Mapping[str, Any] = field(default_factory=dict)
    flashing: Flashing | None = None

    @property
    def simulated(self) -> bool:
        """Whether a simulator runs it: it is neither this computer nor a board on a port."""
        return self.runner not in ("host", "board")

    def current(self, state: str, of: str = "") -> Current | None:
        """The current in a state such as "active", or None where the descriptor has none.

        With `of`, the current of the "board" or of the "chip"; otherwise the first one.
        """
        return next((c for c in self.currents if c.state == state and (not of or c.of in ("", of))), None)


class CellIdentity(NamedTuple):
    """What a figure is of, and all that finds it: nothing of how it was made (compiler, runner, sources).

    `flags_asked` is empty where the device's and the implementation's own flags were wanted.
    """

    device: str
    cipher: str
    library: str
    configuration: str
    variant: str
    key_bits: int
    operation: str
    message_bytes: int
    ad_bytes: int
    placement: str
    cache: str
    flags_asked: str


_IDENTITY = operator.attrgetter(*CellIdentity._fields)


@dataclass(frozen=True)
class Cell:
    """One thing to measure. `flags` empty means the device's own, `toolchain` empty the system's own.

    The toolchain is not part of the identity: it states how to make the figure, and a reader who names
    one gets only its figures.
    """

    device: str
    implementation: Implementation
    operation: Operation
    key_bits: int
    message_bytes: int
    ad_bytes: int = 0
    placement: str = "flash"
    cache: str = "none"
    flags: tuple[str, ...] = ()
    toolchain: str = ""

    @property
    def identity(self) -> CellIdentity:
        """What finds this cell's stored figures."""
        body = self.implementation
        return CellIdentity(
            device=self.device,
            cipher=body.cipher,
            library=body.library,
            configuration=body.configuration,
            variant=body.variant,
            key_bits=self.key_bits,
            operation=self.operation,
            message_bytes=self.message_bytes,
            ad_bytes=self.ad_bytes,
            placement=self.placement,
            cache=self.cache,
            flags_asked=" ".join(self.flags),
        )


@dataclass(frozen=True)
class Shortfall:
    """What did not fit, and where: bytes needed and bytes there are."""

    memory: str
    needed: int
    available: int

    @property
    def missing(self) -> int:
        """Bytes too many."""
        return self.needed - self.available

    @property
    def text(self) -> str:
        """In words, for every place that reports it."""
        name = {"ram": "RAM"}.get(self.memory, self.memory)
        return f"needs {self.needed:,} of {self.available:,} bytes of {name}"

    @classmethod
    def from_json(cls, stored: object) -> Shortfall | None:
        """From what a results file holds; None where that is nothing, or not this."""
        if not isinstance(stored, Mapping):
            return None
        memory, needed, available = (stored.get(name) for name in ("memory", "needed", "available"))
        if not isinstance(memory, str) or not _count(needed) or not _count(available):
            return None
        return cls(memory=memory, needed=needed, available=available)


def _count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


@dataclass(frozen=True, slots=True)
class Measurement:
    """The stored figures of one cell, with all that is needed to repeat it. Without a run
    the figures are None. `status` is "ok" or a word for the failure, `reason` a sentence for people. What
    code needs for decisions is in `extra`: `failure` (a kind of failure), `shortfall`, `transient`. `flags`
    are what the compiler was given, `flags_asked` what the cell asked for instead of the device's own.
    `toolchain` is the name of the one that was used, empty where no descriptor fits; `system_toolchain`
    whether it was the system's own, and not unpacked for the purpose."""

    device: str
    library: str
    configuration: str
    cipher: str
    variant: str
    key_bits: int
    operation: str
    message_bytes: int
    ad_bytes: int
    tag_bytes: int
    placement: str
    cache: str
    cycles_min: int | None
    cycles_median: int | None
    cycles_max: int | None
    inputs: int
    timing_varies: bool | None
    time_us: float | None
    flash_bytes: int | None
    flash_symbol_bytes: int | None
    ram_bytes: int | None
    eeprom_bytes: int | None
    stack_bytes: int | None
    status: str
    reason: str
    compiler: str
    flags: str
    runner: str
    cycles_exact: bool
    elf_sha256: str
    measured_at: str
    motecrypt_version: str
    extra: Mapping[str, Any] = field(default_factory=dict)
    flags_asked: str = ""
    toolchain: str = ""
    system_toolchain: bool = True

    @property
    def identity(self) -> CellIdentity:
        """What these figures are of; equal to the identity of the cell that was measured."""
        return CellIdentity(*_IDENTITY(self))

    @property
    def transient(self) -> bool:
        """Whether the reason is in the moment (a killed compiler, a full disk), not in the cell."""
        return bool(self.extra.get("transient"))

    @property
    def implementation(self) -> str:
        """The implementation's name, as in `Implementation.name`."""
        return implementation_name(self.library, self.configuration, self.variant)

    @property
    def shortfall(self) -> Shortfall | None:
        """What did not fit and by how much; None where it ran, failed otherwise, or nobody stored it."""
        return Shortfall.from_json(self.extra.get("shortfall"))


@dataclass(frozen=True)
class Section:
    """A titled table that a view hands to anyone who prints it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    text: str = ""


RECORDED = "recorded"
"""The input that marks a result that shipped with the program: the time when it was made."""


@dataclass(frozen=True)
class ExperimentResult:
    """The stored outcome of an experiment that is not a cell: versioned, with its inputs."""

    kind: str
    version: int
    inputs: Mapping[str, Any]
    outcome: Mapping[str, Any]
    made_at: str = ""
    motecrypt_version: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
