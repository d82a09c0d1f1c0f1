"""What an audit is of, for the tests of its parts."""

from __future__ import annotations

from motecrypt.catalog import Catalog
from motecrypt.measuring.audits import Subject
from motecrypt.results.experiments.audit import implementation

CATALOG = Catalog.load()


def subject(cipher: str = "aes128-ccm8", device: str | None = None, quick: bool = True) -> Subject:
    """A shipped cipher's first variant, with seed 1."""
    body = implementation(CATALOG, CATALOG.cipher(cipher), None)
    return Subject(CATALOG, CATALOG.cipher(cipher), body, 1, quick, device)
