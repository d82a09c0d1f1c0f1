"""Ends of a link for tests: the core on this computer, provisioned, and a disk that can be full."""

from __future__ import annotations

from motecrypt.base.errors import MotecryptError
from motecrypt.link.native import Event, KeyBlock, NativeLink, Suite, link_library, open_library
from motecrypt.link.state import MemoryStore


def native(suite: Suite = "aes128-ccm", answer_ms: int = 250) -> NativeLink:
    """An end without a key."""
    return NativeLink(open_library(link_library(suite)), answer_ms)


def provisioned(block: KeyBlock, suite: Suite = "aes128-ccm") -> NativeLink:
    """An end with its key block in its storage; it has not begun."""
    made = native(suite)
    made.provision(block)
    return made


def begun(block: KeyBlock, suite: Suite = "aes128-ccm") -> NativeLink:
    """An end that is ready to send and to receive."""
    made = provisioned(block, suite)
    assert made.begin() is Event.NOTHING
    return made


class FullDisk(MemoryStore):
    """A store that can be full."""

    full = False

    def write(self, record: bytes) -> None:
        """Replace the record, or refuse."""
        if self.full:
            raise MotecryptError("no space left on device")
        super().write(record)
