"""What results, costs and figures say, as text that can be kept and compared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from motecrypt.base.model import OPERATIONS
from motecrypt.catalog import Catalog


def plain(value: Any) -> Any:
    """JSON data of anything that a view returns: numbers to nine digits, no catalog and no folder in it.

    What Pythons differ by goes: Python 3.12 sums floats more exactly, so a difference may be 0 or 7e-12.
    """
    if isinstance(value, float):
        return float(f"{round(value, 9):.9g}")
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, str) or not isinstance(value, Iterable):
        return value
    return [plain(entry) for entry in (sorted(value) if isinstance(value, set | frozenset) else value)]


def told_cost(cost: Any, catalog: Catalog) -> list[Any]:
    """Place, sizes, times and energies of a cost, and why it has none."""
    device = catalog.devices.get(cost.device)
    sizes = (cost.flash_bytes, cost.ram_bytes, cost.stack_bytes)
    times = [[plain(cost.time_us(o)), plain(cost.energy_uj(o, device))] for o in OPERATIONS]
    place = (cost.device, cost.implementation, cost.key_bits, cost.placement, cost.flags)
    return [*place, cost.message_bytes, cost.ad_bytes, *sizes, times, cost.varies, cost.ran, cost.reason]


def told_figure(figure: Any) -> list[Any]:
    """Name, title, caption and outline of a figure, and the first lines of its data."""
    said = [figure.name, figure.title, figure.caption, figure.command, figure.panels]
    return [*said, outline(figure.specification), digest(plain(figure.specification)), *_csv(figure)]


def _csv(figure: Any) -> list[str]:
    lines = figure.as_csv().splitlines()
    return [*lines[:3], f"{len(lines)} lines {digest(lines)}"]


def outline(specification: Any) -> Any:
    """A specification without its data: their number instead."""
    if isinstance(specification, Mapping):
        return {k: len(v) if k == "values" else outline(v) for k, v in specification.items()}
    return [outline(e) for e in specification] if isinstance(specification, list | tuple) else specification


def inline_values(specification: Any) -> list[Any]:
    """Every inline value of a specification."""
    if isinstance(specification, Mapping):
        parts = [v if k == "values" else inline_values(v) for k, v in specification.items()]
        return [value for part in parts for value in part]
    parts = [inline_values(e) for e in specification] if isinstance(specification, list) else []
    return [value for part in parts for value in part]


def digest(value: Any) -> str:
    """A hash of JSON data, used where the data is too long to keep."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


def written(found: Mapping[str, Any]) -> str:
    """JSON, sorted, with a line for each entry of each list: differences show line by line."""
    parts = []
    for key, value in sorted(found.items()):
        entries = [json.dumps(plain(e), sort_keys=True, ensure_ascii=False) for e in value]
        if isinstance(value, Mapping):
            entries = [json.dumps([k, plain(v)], ensure_ascii=False) for k, v in sorted(value.items())]
        parts.append(f"{json.dumps(key)}: [\n" + ",\n".join(entries) + "\n]")
    return "{\n" + ",\n".join(parts) + "\n}\n"
