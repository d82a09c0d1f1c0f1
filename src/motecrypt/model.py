"""The records that every room shares: frozen, plain, units in the names. Imports nothing of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Operation = Literal["setup", "encrypt", "decrypt"]
Standing = Literal["recommended", "acceptable", "legacy", "broken", "unrated"]
Verdict = Literal["reproduced", "contradicted", "not reproducible", "not measured"]

OPERATIONS: tuple[Operation, ...] = ("setup", "encrypt", "decrypt")


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
    standing: Standing = "unrated"
    standing_reason: str = ""
    standing_source: str = ""


@dataclass(frozen=True)
class Implementation:
    """One body of code for one cipher: ours or a library's, in one configuration."""

    cipher: str
    library: str
    configuration: str
    variant: str
    key_bits: tuple[int, ...]
    header: str
    sources: tuple[str, ...]
    include: tuple[str, ...]
    defines: tuple[str, ...]
    folder: Path
    devices: tuple[str, ...] = ("*",)
    placements: tuple[str, ...] = ()
    operations: tuple[Operation, ...] = OPERATIONS
    source_package: str | None = None
    c_flags: tuple[str, ...] = ()
    note: str = ""

    @property
    def name(self) -> str:
        """The implementation's name in tables: library, configuration and variant."""
        parts = [self.library]
        if self.configuration and self.configuration != "default":
            parts.append(self.configuration)
        if self.variant:
            parts.append(self.variant)
        return "/".join(parts)


@dataclass(frozen=True)
class Comparison:
    """One published figure or claim beside ours."""

    source: str
    table: str
    row: str
    column: str
    unit: str
    published: float | str | None
    measured: float | str | None
    ratio: float | None
    verdict: Verdict
    note: str = ""


@dataclass(frozen=True)
class Section:
    """A titled table that a view hands to whoever prints it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    text: str = ""


@dataclass(frozen=True)
class Finding:
    """The stored outcome of an experiment that is not a cell: versioned, with its inputs."""

    kind: str
    version: int
    inputs: Mapping[str, Any]
    outcome: Mapping[str, Any]
    made_at: str = ""
    motecrypt_version: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
