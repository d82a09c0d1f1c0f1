"""What the report says of made-up results."""

from __future__ import annotations

from typing import Any

from goldens.text import digest, plain, told_cost, told_figure
from goldens.views.made_up import CHOSEN, filled
from motecrypt.catalog import Catalog
from motecrypt.present.report.content import Content, gather


def report(state: str) -> dict[str, Any]:
    """The content of the report. Long parts that other goldens cover are digests."""
    catalog = Catalog.load()
    content: Content = gather(filled(state), catalog)
    found: dict[str, Any] = {
        "front": [content.measurements, content.failed, content.first, content.last, content.empty],
        "experiments": plain(content.experiments),
        "devices": [[d.device.name, d.cells, d.failed, d.runners, d.compilers] for d in content.devices],
        "libraries": [name for name, *_ in content.libraries],
        "tiles": [[t.kind, t.text, [row.id for row in t.rows], plain(t.table)] for t in content.tiles],
        "order of all figures": [figure.name for figure in content.all_figures()],
        "figures": [told_figure(figure) for figure in content.figures],
    }
    for part in content.sources:
        found[f"source {part.name}"] = [
            [part.title, part.command, part.words, plain(part.counts), part.measured],
            *([row.table, row.row, row.column] for row in part.against),
            *(told_figure(figure) for figure in part.figures),
        ]
    for cipher in content.ciphers:
        if not cipher.measured and not cipher.audit:
            continue
        best = {device: cost.implementation for device, cost in cipher.best.items()}
        found[f"cipher {cipher.cipher.name}"] = [
            [cipher.message_bytes, best, list(cipher.lengths), plain(cipher.audit)],
            *(told_cost(cost, catalog) for cost in cipher.costs),
            *(told_figure(figure) for figure in cipher.figures),
        ]
    found["order of the ciphers"] = [part.cipher.name for part in content.ciphers]
    table = plain(content.explorer)
    found["explorer"] = [table["columns"], table["worded"], table["words"], *table["rows"][::7]]
    found["explorer, all rows"] = [len(table["rows"]), digest(table["rows"])]
    data = plain(content.adviser)
    found["adviser"] = [{k: data[k] for k in ("version", "notes", "link", "sleepers")}]
    data["cells"] = {cell["name"]: cell for cell in data["cells"]}
    for kind in ("devices", "chips", "radios", "cells", "regulators"):
        found[f"adviser {kind}"] = [[name, entry] for name, entry in sorted(data[kind].items())]
    found["adviser candidates"] = [
        [device, len(all_of), *(c for c in all_of if c["cipher"] in CHOSEN[:3])]
        for device, all_of in sorted(data["candidates"].items())
    ]
    found["adviser, all candidates"] = [digest(data["candidates"])]
    return found
