"""Fixtures shared by all suites: results in a scratch directory, firmware cached once for the session."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from motecrypt.results import Results
from motecrypt.setup import shortages

# A busy machine is slow, which says nothing of the code: no example has a deadline.
settings.register_profile("motecrypt", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("motecrypt")


@pytest.fixture(autouse=True)
def _own_shortages() -> None:
    """What an earlier test in this process went without is not told at the end of this one's command."""
    shortages.summary()


@pytest.fixture
def results(tmp_path: Path) -> Iterator[Results]:
    """An empty results file."""
    with Results(tmp_path / "results.db") as opened:
        yield opened
