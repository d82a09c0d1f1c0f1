"""The data of an audit's timing part, as views read it."""

from __future__ import annotations

from dataclasses import dataclass

from motecrypt.results.experiments.answers import Answer


@dataclass(frozen=True)
class TimingParting(Answer):
    """How traces part at a source line: for each trace what followed there, or was touched, by execution
    from number `first` on."""

    kind: str
    line: str
    first: int
    sequences: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class TimingSplit(Answer):
    """A source line at which traces part: by a branch, or by an address in a memory."""

    kind: str
    memory: str
    function: str
    line: str


@dataclass(frozen=True)
class TimingRow(Answer):
    """One operation of one variant. `spread`: pairs of cycles and of how many inputs took them; empty where
    all took the same."""

    variant: str
    placement: str
    cache: str
    operation: str
    verdict: str
    cycles_min: int
    cycles_max: int
    inputs: int
    splits: tuple[TimingSplit, ...] = ()
    spread: tuple[tuple[int, int], ...] = ()
    partings: tuple[TimingParting, ...] = ()


@dataclass(frozen=True)
class TimingData(Answer):
    """All variants on one device, the audited one first."""

    message_bytes: int
    rows: tuple[TimingRow, ...]
