"""Storage of a node with an OSCORE context, as `motecrypt provision --oscore` writes it, for tests."""

from __future__ import annotations

from motecrypt.link.gateway.protocols.coap.context import OscoreContext, new_context
from motecrypt.link.gateway_end import Gateway
from motecrypt.link.native import LISTENS, SHORT, STREAM

NODE = 7


class ForgottenStore:
    """A gateway's record that nobody reads again."""

    def read(self) -> bytes | None:
        """There is none."""
        return None

    def write(self, record: bytes) -> None:
        """Forget it."""


def provisioned(packet_bytes: int = 12, context: OscoreContext | None = None) -> bytes:
    """What a node gets."""
    gateway = Gateway(ForgottenStore(), bytes(16), packet_bytes=packet_bytes)
    storage = gateway.provision(NODE, SHORT | LISTENS | STREAM)
    return (context or new_context(NODE)).stored(storage)
