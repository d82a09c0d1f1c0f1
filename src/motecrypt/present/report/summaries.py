"""What the report reports one device, one cipher and one part of an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from motecrypt.base.model import Cipher, Device
from motecrypt.catalog.accelerators import Accelerator, accelerator_of
from motecrypt.present.report.costs import Cost
from motecrypt.present.report.figure import Figure


@dataclass(frozen=True)
class DeviceSummary:
    """A device, and on what its figures were made."""

    device: Device
    cells: int
    failed: int
    runners: tuple[str, ...]
    compilers: tuple[str, ...]

    @property
    def hardware(self) -> Accelerator | None:
        """The chip's cryptographic hardware; None where it has none, or nothing is known."""
        found = accelerator_of(self.device.chip)
        return found if found and found.blocks else None


@dataclass(frozen=True)
class AuditSummary:
    """One part of a cipher's audit, from its result."""

    part: str
    title: str
    verdict: str
    weight: str
    sentences: tuple[str, ...]
    implementation: str
    made_at: str


@dataclass(frozen=True)
class CipherSummary:
    """A cipher: its security status, what it costs at one length, its audit and figures."""

    cipher: Cipher
    message_bytes: int
    best: Mapping[str, Cost]
    costs: Sequence[Cost]
    lengths: Sequence[int]
    audit: Sequence[AuditSummary]
    figures: Sequence[Figure]

    @property
    def measured(self) -> bool:
        """Whether anything of it was measured."""
        return bool(self.costs)
