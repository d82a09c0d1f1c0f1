"""Mistakes in the storage of the gateway, each as a patch: the power cuts must find every one of them."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from motecrypt.link import file_parts, gateway_end, native, state
from motecrypt.link.gateway import spool
from motecrypt.link.gateway.drain import Drain
from motecrypt.link.gateway.sinks import csv_log, rotation, sqlite_log

Patch = tuple[Any, str, Any]


def _unsynced() -> SimpleNamespace:
    """The module os without fsync."""
    return SimpleNamespace(**vars(os) | {"fsync": lambda handle: None})


def _nothing(folder: object) -> None:
    """In place of `sync_folder`."""


def _leveled(owner: type, level: str) -> Patch:
    whole: Callable[..., None] = owner.__init__  # type: ignore[misc]

    def begin(self: Any, *given: Any) -> None:
        whole(self, *given)
        base: sqlite3.Connection = self._base
        base.execute(f"PRAGMA synchronous={level}")

    return owner, "__init__", begin


def _not_restored() -> list[Patch]:
    """After a write of the record that failed, the links keep what it was to keep."""
    commit, begin = gateway_end.Gateway._commit, native.NativeLink.begin
    inside: list[bool] = []

    def committing(self: gateway_end.Gateway, *given: Any) -> None:
        inside.append(True)
        try:
            commit(self, *given)
        finally:
            inside.pop()

    def beginning(self: native.NativeLink, storage: bytes | None = None) -> native.Event:
        return native.Event.NOTHING if inside else begin(self, storage)

    return [(gateway_end.Gateway, "_commit", committing), (native.NativeLink, "begin", beginning)]


def _sure(self: sqlite_log.SqliteLog, items: Sequence[Any]) -> None:
    self._unsure = False
    _DELIVER(self, items)


def _zeros_kept(self: csv_log.CsvLog, start: int, end: int, waiting: int) -> set[str]:
    rows = list(self._backwards(start, end))
    os.ftruncate(self._handle, end - len(rows[0]))
    return {row.partition(b",")[0].decode(errors="replace") for row in rows[1:][:waiting]}


def _parts_alone(self: file_parts.FileCollector, node: int, arrived: int, label: bytes) -> None:
    os.fsync(arrived)


def _hasty(self: Drain) -> None:
    if self._reader is None:
        self._reader = spool.SpoolReader(self._spool)
    items = self._reader.after(self.done, self.sink.batch)
    if items:
        self.done = items[-1].seq
        self.sink.deliver(items)


_DELIVER = sqlite_log.SqliteLog.deliver


@dataclass(frozen=True)
class Defect:
    """A mistake.

    Attributes
    ----------
    shows : in which kind of life: "plain", with "faults" of the disk, or of "records".
    rare : whether it takes hundreds of cuts.
    """

    shows: str
    patches: Sequence[Patch]
    rare: bool = False


DEFECTS = {
    "the spool is not synced": Defect("plain", [_leveled(spool.Spool, "OFF")]),
    "the end of SQLite's journal is not synced": Defect("plain", [_leveled(sqlite_log.SqliteLog, "FULL")]),
    "SQLite is sure after a commit that failed": Defect(
        "faults", [(sqlite_log.SqliteLog, "deliver", _sure)], rare=True
    ),
    "CSV is not synced": Defect("plain", [(csv_log, "os", _unsynced())]),
    "the name of a new CSV file is not synced": Defect("plain", [(csv_log, "sync_folder", _nothing)]),
    "zeros stay in CSV": Defect("plain", [(csv_log.CsvLog, "_rows", _zeros_kept)], rare=True),
    "the names of a rotation are not synced": Defect(
        "plain", [(rotation, "sync_folder", _nothing)], rare=True
    ),
    "the announcement of a file is not synced": Defect(
        "plain", [(file_parts.FileCollector, "_sync_parts", _parts_alone)], rare=True
    ),
    "the name of a file is not synced": Defect("plain", [(file_parts, "sync_folder", _nothing)], rare=True),
    "items count as delivered before they are": Defect("plain", [(Drain, "_turn", _hasty)]),
    "a record is not synced": Defect("records", [(state, "os", _unsynced())]),
    "the name of a record is not synced": Defect("records", [(state, "sync_folder", _nothing)]),
    "the state is not restored after a failed write": Defect("faults", _not_restored()),
}


@contextmanager
def defect(name: str) -> Iterator[None]:
    """With one of them."""
    before = [(owner, what, getattr(owner, what)) for owner, what, _ in DEFECTS[name].patches]
    for owner, what, new in DEFECTS[name].patches:
        setattr(owner, what, new)
    try:
        yield
    finally:
        for owner, what, old in before:
            setattr(owner, what, old)
