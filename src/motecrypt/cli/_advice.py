"""What `advise` must have measured, and the candidates that come of it. For `report`, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from motecrypt.adviser import api as advise
from motecrypt.adviser.costs import taken_bytes
from motecrypt.adviser.gather import candidate
from motecrypt.app.ensure import ensure
from motecrypt.base.model import Cell, Device, Measurement
from motecrypt.catalog import Catalog
from motecrypt.catalog.cells import cells_for
from motecrypt.cli._output import print_note
from motecrypt.results import Results
from motecrypt.studies import Needs

if TYPE_CHECKING:
    from motecrypt.base.progress import Progress

Wanted = tuple[advise.Candidate, list[Cell]]


def wanted(
    catalog: Catalog,
    device: Device,
    question: advise.Question,
    ciphers: Sequence[str] = (),
    libraries: Sequence[str] = (),
) -> list[Wanted]:
    """Every candidate with the cells that decide on it: none where no figure could help it."""
    link = advise.link_facts()
    found: list[Wanted] = []
    lengths = asked_lengths(question)
    for body, bits, placement, cache in advise.placed(catalog, device):
        if (ciphers and body.cipher not in ciphers) or (libraries and body.library not in libraries):
            continue
        bare = candidate(catalog.cipher(body.cipher), body, bits, placement, cache)
        cells: list[Cell] = []
        if advise.unfit(bare, question, link) is None:
            cells = cells_for(
                catalog,
                device,
                body,
                message_bytes=list(dict.fromkeys(m for n in lengths for m in _measured(bare, device, n))),
                key_bits=[bits],
                placements=[placement],
                caches=[cache],
            )
        found.append((bare, cells))
    return found


def asked_lengths(question: advise.Question) -> list[int]:
    """The lengths of the messages that are sent and received."""
    return [n for n in (question.message_bytes, question.answer_bytes) if n > 0]


def most_bytes(device: Device) -> int:
    """The longest message that the benchmark firmware holds on a device."""
    return int(device.bench["message"])


def _measured(bare: advise.Candidate, device: Device, message_bytes: int) -> tuple[int, ...]:
    """The lengths to measure for a message: its own, or, where the firmware holds none so long, two for the
    straight line through them; one is the longest that it holds."""
    taken, most = taken_bytes(bare, message_bytes), most_bytes(device)
    if taken <= most:
        return (taken,)
    multiple = bare.message_bytes_multiple
    return tuple(max(bare.message_bytes_min, n // multiple * multiple) for n in (most // 2, most))


def extended(one: advise.Candidate, device: Device, lengths: Sequence[int]) -> advise.Candidate:
    """The candidate with a point for each length beyond what the firmware holds, on the straight line through
    the two that were measured for it."""
    points = list(one.points)
    for message_bytes in lengths:
        taken, pair = taken_bytes(one, message_bytes), _measured(one, device, message_bytes)
        found = [p for p in one.points if p.message_bytes in pair]
        if len(pair) < 2 or len(found) < 2:
            continue
        low, high = found[0], found[-1]
        part = (taken - low.message_bytes) / (high.message_bytes - low.message_bytes)
        points.append(
            advise.Point(
                taken,
                high.setup_cycles,
                low.encrypt_cycles + part * (high.encrypt_cycles - low.encrypt_cycles),
                low.decrypt_cycles + part * (high.decrypt_cycles - low.decrypt_cycles),
            )
        )
    return replace(one, points=tuple(sorted(points, key=lambda point: point.message_bytes)))


def ensured(
    found: Sequence[Wanted],
    results: Results,
    catalog: Catalog,
    device: Device,
    jobs: int | None,
    report: Progress,
) -> list[advise.Candidate]:
    """The same candidates with their newest measurements, made where they were missing."""
    cells = [cell for _, some in found for cell in some]
    print_note(ensure("advise", Needs(kits=(device.kit,), cells=cells), results, catalog, jobs, report))
    measured = results.newest(cells)
    return [
        _filled(catalog, bare, some, [measured[c] for c in some if c in measured]) for bare, some in found
    ]


def _filled(
    catalog: Catalog, bare: advise.Candidate, cells: Sequence[Cell], measurements: Sequence[Measurement]
) -> advise.Candidate:
    if not cells:
        return bare
    cell = cells[0]
    cipher = catalog.cipher(bare.cipher)
    return candidate(cipher, cell.implementation, cell.key_bits, cell.placement, cell.cache, measurements)
