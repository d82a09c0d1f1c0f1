"""The fastest and the smallest implementations of each cipher and device, and figures that changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from motecrypt.adviser.records.page import COLUMNS, cells, sentence
from motecrypt.adviser.records.rows import RecordRow, leads, together
from motecrypt.adviser.records.stored import RecordChange
from motecrypt.base.model import Device
from motecrypt.present.terminal import BLANK, TextAnswer, TextBlock, TextTable

LEAST = ("time", "own", "stack", "RAM", "decrypt 16 B", "set-up", "µJ 64 B", "256 B", "64 B", "front")
CHANGE_COLUMNS = ("device", "cipher", "implementation", "figure", "stored", "measured")


def changes_view(changes: Sequence[RecordChange]) -> TextTable:
    """What differs from the stored figures."""
    rows = [list(asdict(change).values()) for change in changes]
    return TextTable("Figures that are no longer true", CHANGE_COLUMNS, rows, "", ("device",))


def records_view(implementations: Sequence[RecordRow], devices: Mapping[str, Device]) -> list[TextBlock]:
    """A table for each cipher on a device, with how many public implementations ours leads."""
    blocks: list[TextBlock] = []
    for (device, cipher), members in together(implementations).items():
        found = leads(members)
        behind = [lead for lead in found if not lead.leads]
        failed = [f"{row.implementation}: {row.reason}" for row in members if not row.ran]
        lines = [("Ours leads", f"{len(found) - len(behind)} of {len(found)} public implementations")]
        lines += [("Behind" if n == 0 else "", sentence(lead)) for n, lead in enumerate(behind)]
        lines += [("Did not run" if n == 0 else "", text) for n, text in enumerate(failed)]
        rows = cells(members, devices.get(device))
        table = TextTable(f"{cipher} on {device}", COLUMNS, rows, "", LEAST)
        blocks += [table, TextAnswer("", lines), BLANK]
    return blocks
