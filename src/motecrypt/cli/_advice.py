"""What `advise` must have measured, and the candidates that come of it. For `report`, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from motecrypt import advise
from motecrypt.advise.costs import taken_bytes
from motecrypt.advise.gather import candidate
from motecrypt.catalog import Catalog
from motecrypt.catalog.cells import cells_for
from motecrypt.cli._ensure import ensure
from motecrypt.model import Cell, Device, Measurement
from motecrypt.results import Results
from motecrypt.studies import Needs

Progress = Callable[[int, int, str], None]
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
    lengths = [n for n in (question.message_bytes, question.answer_bytes) if n > 0]
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
                message_bytes=list(dict.fromkeys(taken_bytes(bare, n) for n in lengths)),
                key_bits=[bits],
                placements=[placement],
                caches=[cache],
            )
        found.append((bare, cells))
    return found


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
    ensure("advise", Needs(kits=(device.kit,), cells=cells), results, catalog, jobs, report)
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
