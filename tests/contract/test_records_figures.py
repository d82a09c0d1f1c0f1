"""The stored figures of the records are what the simulators give today: the fastest of ours everywhere.

`motecrypt records --check` measures all; this measures one implementation for each device and cipher.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from motecrypt.adviser.records.needs import cells_of
from motecrypt.adviser.records.plan import read_plan
from motecrypt.adviser.records.rows import rows_of, together
from motecrypt.adviser.records.stored import changes, read_rows
from motecrypt.base.model import Device
from motecrypt.catalog import Catalog
from motecrypt.measuring.bench import ensure
from motecrypt.results import Results
from tool_sets import skip_without
from toolchains import root_of

CATALOG, PLAN = Catalog.load(), read_plan()


@pytest.mark.parametrize("device", PLAN.devices(CATALOG), ids=lambda device: device.name)
def test_the_fastest_of_ours_costs_what_is_stored(device: Device, results: Results) -> None:
    skip_without(device.tool_set)
    root_of(PLAN.toolchain_of(device), device.compiler.command)
    groups = together(row for row in read_rows() if row.device == device.name and row.ours)
    assert {cipher for _, cipher in groups} == set(PLAN.ciphers)
    fastest = [members[0] for members in groups.values()]
    bodies = [
        body
        for row in fastest
        for body in CATALOG.implementations_of(row.cipher, device.name, [row.library])
        if body.name == row.implementation
    ]
    cells = [cell for body in bodies for cell in cells_of(CATALOG, PLAN, device, body)]
    found = ensure(cells, results, CATALOG)
    assert changes(fastest, rows_of(found[cell] for cell in cells)) == [], "run 'python -m made.records'"
