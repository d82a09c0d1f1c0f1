"""A study's results as one archive for a review, and its verification. Nothing here measures or prints.

`archive` writes and reads the file, `contents` makes what is in it, `checks` compares a bundle with what its
own results give.
"""

from motecrypt.present.bundle.archive import Bundle
from motecrypt.present.bundle.checks import (
    BundleCheck,
    compare_measured,
    packed_results,
    read_manifest,
    verify,
)
from motecrypt.present.bundle.contents import checked, pack

__all__ = [
    "Bundle",
    "BundleCheck",
    "checked",
    "compare_measured",
    "pack",
    "packed_results",
    "read_manifest",
    "verify",
]
