"""One SQLite file of measurements and findings. Two writers and a kill -9 lose nothing stored.

Every view reads from here; nothing here measures or prints. `load` is for notebooks and other programs.
"""

from motecrypt.results.claims import Claims
from motecrypt.results.reading import StoredMeasurements, load
from motecrypt.results.store import Results

__all__ = ["Claims", "Results", "StoredMeasurements", "load"]
