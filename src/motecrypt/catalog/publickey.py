"""Reads a public-key algorithm's folder: algorithm.toml next to an oracle, vectors and perhaps sources; and
what a library's folder says of such algorithms ([[public_key]])."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, cast

from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.base.model import (
    PUBLIC_KEY_OPERATIONS,
    SECURITY_STATUSES,
    Implementation,
    Operation,
    SecurityStatus,
)
from motecrypt.catalog.ciphers import known_cores
from motecrypt.catalog.flags import checked_flags
from motecrypt.catalog.places import FIRMWARE

FOLDER = FIRMWARE / "publickey"
SIZES = ("seed", "secret", "public", "shared", "signature", "ciphertext", "random")
#: What an algorithm's `kind` may be, and what such an algorithm does next to making keys.
KINDS: dict[str, tuple[Operation, ...]] = {
    "agreement": ("agree",),
    "signature": ("sign", "verify"),
    "encapsulation": ("encapsulate", "decapsulate"),
}
#: Inputs and outputs of an operation, in the order of bridge.c.
INPUTS: dict[Operation, tuple[str, ...]] = {
    "keygen": ("seed",),
    "agree": ("secret", "public"),
    "sign": ("secret",),
    "verify": ("public", "signature"),
    "encapsulate": ("public", "random"),
    "decapsulate": ("secret", "ciphertext"),
}
OUTPUTS: dict[Operation, tuple[str, ...]] = {
    "keygen": ("secret", "public"),
    "agree": ("shared",),
    "sign": ("signature",),
    "verify": (),
    "encapsulate": ("ciphertext", "shared"),
    "decapsulate": ("shared",),
}
BYTES_MAX = 8192
ON_A_MESSAGE: tuple[Operation, ...] = ("sign", "verify")


@dataclass(frozen=True)
class PublicKeyAlgorithm:
    """A public-key algorithm, as its folder describes it.

    `sizes` are the bytes of inputs and outputs, by the names in `SIZES`; `seed` is of a key pair, `random`
    of one encapsulation. `inputs` is how many different inputs a measurement runs. `stack_bytes` is the stack
    that firmware for Cortex-M gets where the device's own choice is too small; 0 where it is not.
    `public_in_secret` are parts of a secret key that everybody may know, as (at, bytes). `public_functions`
    are functions of libraries that work on public values alone, which are derived from secrets.
    """

    name: str
    title: str
    kind: str
    source: str
    folder: Path
    key_bits: int
    operations: tuple[Operation, ...]
    sizes: Mapping[str, int] = field(hash=False)
    inputs: int = 4
    stack_bytes: int = 0
    public_in_secret: tuple[tuple[int, int], ...] = ()
    public_functions: tuple[str, ...] = ()
    oracle: str = "oracle.py"
    security: SecurityStatus = "unrated"
    security_reason: str = ""
    security_source: str = ""

    tag_bytes: ClassVar[int] = 0

    def input_bytes(self, operation: Operation) -> int:
        """The inputs of an operation, without a message that is signed."""
        return sum(self.sizes[name] for name in INPUTS[operation])

    def output_bytes(self, operation: Operation) -> int:
        """The outputs of an operation."""
        return sum(self.sizes[name] for name in OUTPUTS[operation])


def read_public_key_folder(
    folder: Path, cores: Collection[str]
) -> tuple[list[PublicKeyAlgorithm], list[Implementation]]:
    """The algorithms of a folder, and its own implementations of them."""
    table = Table.read(folder / "algorithm.toml")
    title, source = table.text("title"), table.text("source")
    table.renamed("standing", "security")
    rating = table.table("security", {})
    security: tuple[SecurityStatus, str, str] = ("unrated", "", "")
    if rating.plain():
        level = cast(SecurityStatus, rating.text("level", choices=SECURITY_STATUSES))
        security = (level, rating.text("reason"), rating.text("source"))
    rating.done()
    found = [_algorithm(entry, folder, title, source, security) for entry in table.tables("algorithm")]
    entries = [PublicKeyEntry.read(entry, cores) for entry in table.tables("implementation", [])]
    table.done()
    known = {algorithm.name: algorithm for algorithm in found}
    made = []
    for entry in entries:
        bodies = entry.implementations(known, Shared("motecrypt", folder))
        if not bodies:
            raise InputError(f"{folder / 'algorithm.toml'}: an implementation matches no algorithm of it")
        made += bodies
    return found, made


def _algorithm(
    entry: Table, folder: Path, title: str, source: str, security: tuple[SecurityStatus, str, str]
) -> PublicKeyAlgorithm:
    kind = entry.text("kind", choices=tuple(KINDS))
    does = ("keygen", *KINDS[kind])
    wanted = entry.texts("operations", list(does), choices=does)
    table = entry.table("sizes")
    sizes = {name: table.integer(name, 0, low=0, high=BYTES_MAX) for name in SIZES}
    table.done()
    level, reason, where = security
    algorithm = PublicKeyAlgorithm(
        name=entry.text("name"),
        title=entry.text("title", title),
        kind=kind,
        source=entry.text("source", source),
        folder=folder,
        key_bits=entry.integer("key_bits", low=1),
        operations=tuple(o for o in PUBLIC_KEY_OPERATIONS if o in wanted),
        sizes=sizes,
        inputs=entry.integer("inputs", 4, low=2, high=32),
        stack_bytes=entry.integer("stack_bytes", 0, low=0, high=1 << 20),
        public_in_secret=_parts(entry, sizes["secret"]),
        public_functions=entry.texts("public_functions", []),
        security=level,
        security_reason=reason,
        security_source=where,
    )
    entry.done()
    if not sizes["seed"]:
        raise InputError(f"{entry.where}: 'sizes' needs 'seed' in bytes: measured keys are made from one")
    for operation in algorithm.operations:
        for name in (*INPUTS[operation], *OUTPUTS[operation]):
            if not sizes[name]:
                raise InputError(f"{entry.where}: 'sizes' needs '{name}' in bytes: '{operation}' has one")
    return algorithm


def _parts(entry: Table, secret_bytes: int) -> tuple[tuple[int, int], ...]:
    """Pairs of offset and length within the secret key."""
    flat = entry.integers("public_in_secret", [])
    pairs = tuple(zip(flat[: len(flat) // 2 * 2 : 2], flat[1::2], strict=True))
    if len(flat) % 2 or any(at < 0 or count < 1 or at + count > secret_bytes for at, count in pairs):
        raise InputError(
            f"{entry.where}: 'public_in_secret' is {list(flat)}; expected offset and bytes, in turns, "
            f"within the secret key's {secret_bytes:,} bytes"
        )
    return pairs


@dataclass(frozen=True)
class Shared:
    """What all implementations of a library have in common."""

    library: str
    folder: Path
    sources: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    c_flags: tuple[str, ...] = ()
    fetched: bool = False
    note: str = ""


@dataclass(frozen=True)
class PublicKeyEntry:
    """An implementation in a descriptor: one firmware for each of its operations."""

    where: str
    algorithms: tuple[str, ...]
    variant: str
    operations: tuple[Operation, ...]
    sources: tuple[str, ...]
    include: tuple[str, ...]
    defines: tuple[str, ...]
    cores: tuple[str, ...]
    placements: tuple[str, ...]
    c_flags: tuple[str, ...]
    note: str

    @staticmethod
    def read(entry: Table, cores: Collection[str]) -> PublicKeyEntry:
        """From [[public_key]] or [[implementation]]; InputError where it is wrong."""
        operations = entry.texts("operations", choices=PUBLIC_KEY_OPERATIONS)
        read = PublicKeyEntry(
            where=entry.where,
            algorithms=entry.texts("algorithms"),
            variant=entry.text("variant", ""),
            operations=tuple(o for o in PUBLIC_KEY_OPERATIONS if o in operations),
            sources=entry.texts("sources"),
            include=entry.texts("include", []),
            defines=entry.texts("defines", []),
            cores=known_cores(entry, cores),
            placements=entry.texts("placements", []),
            c_flags=checked_flags(entry.texts("c_flags", []), entry.where),
            note=entry.text("note", ""),
        )
        entry.done()
        return read

    def implementations(
        self, known: Mapping[str, PublicKeyAlgorithm], shared: Shared
    ) -> list[Implementation]:
        """One for each algorithm and operation."""
        return [
            Implementation(
                cipher=algorithm.name,
                library=shared.library,
                configuration="default",
                variant=self.variant,
                key_bits=(algorithm.key_bits,),
                header="bridge.h",
                sources=(*self.sources, *shared.sources, f"{FOLDER}/bridge.c"),
                include=(*shared.include, *self.include),
                defines=(*_defines(algorithm, operation), *shared.defines, *self.defines),
                folder=shared.folder,
                cores=self.cores,
                placements=self.placements,
                operations=(operation,),
                fetched=shared.fetched,
                c_flags=(*shared.c_flags, *self.c_flags),
                note=self.note or shared.note,
            )
            for algorithm in known.values()
            if any(fnmatch.fnmatchcase(algorithm.name, pattern) for pattern in self.algorithms)
            for operation in self.operations
            if operation in algorithm.operations
        ]


def _defines(algorithm: PublicKeyAlgorithm, operation: Operation) -> tuple[str, ...]:
    sizes = (f"PUBLIC_KEY_{name.upper()}_BYTES={bytes_}" for name, bytes_ in algorithm.sizes.items())
    return (*sizes, f"PUBLIC_KEY_OPERATION={PUBLIC_KEY_OPERATIONS.index(operation)}")
