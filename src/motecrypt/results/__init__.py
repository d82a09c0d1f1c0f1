"""One SQLite file of measurements and findings. Two writers and a kill -9 lose nothing stored.

Every view reads from here; nothing here measures or prints.
"""

from motecrypt.results.claims import Claims
from motecrypt.results.store import Results

__all__ = ["Claims", "Results"]
