"""What a node's storage at the gateway says, read without the core: docs/link.md, Storage, has the layout.

The record's digest shows that it is whole, so slots are not verified here.
"""

from __future__ import annotations

from dataclasses import dataclass

from motecrypt.link.native import STORAGE_BYTES

FAILED_TAGS_MAX = 4096
"""Failed verifications of short tags after which an end accepts long messages alone."""
_SLOTS_AT, _SLOT_BYTES, _RECORD_BYTES = 28, 20, 16
_ERASED = b"\xff" * _RECORD_BYTES
_OTHER_FLAG = 0x8000


@dataclass(frozen=True)
class StoredEnd:
    """The newest record in a storage."""

    epoch: int
    failed_tags: int


def stored_end(storage: bytes) -> StoredEnd:
    """The newest record: of those that were written, the greatest number."""
    records = [storage[at : at + _RECORD_BYTES] for at in range(_SLOTS_AT, STORAGE_BYTES, _SLOT_BYTES)]
    newest = max((each[::-1] for each in records if each != _ERASED), default=bytes(_RECORD_BYTES))
    failures = int.from_bytes(newest[-2:], "big") & ~_OTHER_FLAG
    return StoredEnd(int.from_bytes(newest[:4], "big"), min(failures, FAILED_TAGS_MAX))
