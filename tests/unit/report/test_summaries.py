"""What the report states of a device's cryptographic hardware."""

from __future__ import annotations

import pytest

from motecrypt.catalog import Catalog
from motecrypt.catalog.accelerators import accelerator_of
from motecrypt.present.report.summaries import DeviceSummary


def test_only_hardware_that_is_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {}
    for device in Catalog.load().devices.values():
        known = accelerator_of(device.chip)
        has = "blocks" if known and known.blocks else "no blocks" if known else "not known"
        told[has] = DeviceSummary(device, 1, 0, (), ()).hardware
    assert told["blocks"] is not None and told["blocks"].blocks
    assert told["no blocks"] is None and told["not known"] is None
