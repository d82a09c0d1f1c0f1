"""The goldens are over a small catalogue of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from goldens import frozen


@pytest.fixture(autouse=True, scope="module")
def _frozen() -> Iterator[None]:
    with frozen.catalogue():
        yield
