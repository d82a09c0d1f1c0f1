"""The bed of the CoAP proxy, for its tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coap_beds import ProxyBed


@pytest.fixture
def bed() -> Iterator[ProxyBed]:
    made = ProxyBed()
    yield made
    made.close()
