"""One SQLite file of measurements and experiment results. Two writers and a kill -9 lose nothing stored.

Every view reads from here; nothing here measures or prints. `load` is for notebooks and other programs.
"""

from typing import TYPE_CHECKING

from motecrypt.base.lazy import on_demand
from motecrypt.results.claims import Claims
from motecrypt.results.opening import Stored, opened
from motecrypt.results.store import Results

if TYPE_CHECKING:
    from motecrypt.results.reading import StoredMeasurements, load

__all__ = ["Claims", "Results", "Stored", "StoredMeasurements", "load", "opened"]

__getattr__ = on_demand(__name__, {"StoredMeasurements": "reading", "load": "reading"})
