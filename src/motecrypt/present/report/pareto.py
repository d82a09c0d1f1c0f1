"""The figure of a cipher's implementations: cycles against flash on each device, ours and public ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from motecrypt.adviser.records.plan import LENGTHS
from motecrypt.adviser.records.rows import RecordRow, front, rows_of, together
from motecrypt.base.model import Cipher
from motecrypt.present.report import charts
from motecrypt.present.report.costs import Cost
from motecrypt.present.report.figure import Figure

#: Fewer points than these on a device show nothing that the table does not.
POINTS_MIN = 3
LENGTH = LENGTHS[0]


def pareto_figure(cipher: Cipher, costs: Sequence[Cost], stored: Sequence[RecordRow]) -> Figure | None:
    """What was measured with code and tables in flash, and the recorded public code, a panel for each device.

    None for a cipher that the records do not compare, and where no device has enough implementations.
    """
    kept = [row for row in stored if row.cipher == cipher.name]
    if not kept:
        return None
    measured = [
        found
        for cost in costs
        if cost.placement in ("flash", "flash, warm") and not cost.flags and not cost.ad_bytes
        if cost.key_bits == cipher.key_bits[0] and cost.message_bytes in LENGTHS
        if (found := cost.of("encrypt")) is not None
    ]
    rows = rows_of(measured)
    devices, there = {row.device for row in rows}, {(row.device, row.implementation) for row in rows}
    rows += [
        row
        for row in kept
        if row.recorded and row.device in devices and (row.device, row.implementation) not in there
    ]
    panels = {device: _values(members) for (device, _), members in together(rows).items()}
    panels = {device: values for device, values in sorted(panels.items()) if len(values) >= POINTS_MIN}
    if not panels:
        return None
    chosen = " ".join(f"--device {device}" for device in panels)
    return Figure(
        name=f"{cipher.name}-pareto",
        title=f"{cipher.name}: cycles against flash",
        caption=(
            f"Cycles to encrypt {LENGTH} bytes with {cipher.name} against flash, for each implementation; "
            "code and tables in flash, a flash cache warm. A filled mark is on the Pareto front: no other "
            "implementation is at most as large in flash and cycles, and smaller in one of them. Recorded: "
            "public code that no package client brings."
        ),
        command=f"motecrypt records {chosen} --cipher {cipher.name}",
        specification=charts.pareto(panels, f"cycles to encrypt {LENGTH} bytes"),
    )


def _values(members: Sequence[RecordRow]) -> list[dict[str, Any]]:
    """The points of one device: the rows that ran at LENGTH, in the order of their cycles."""
    # The figure has one length, so its front is that of this length.
    at = [replace(row, encrypt_cycles=(row.encrypt_cycles[0],) * len(LENGTHS)) for row in members]
    best = front(at)
    return [
        {
            "implementation": row.implementation,
            "whose": "ours" if row.ours else "recorded" if row.recorded else "public",
            "flash_bytes": row.flash_bytes,
            "cycles": row.encrypt_cycles[0],
            "front": "front" if row in best else "behind",
        }
        for row in at
        if row.ran
    ]
