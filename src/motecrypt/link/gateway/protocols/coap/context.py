"""An OSCORE context for one node and one client (docs/coap.md): as the node's storage, as files of aiocoap.

The master secret is random and is in the client's files alone. The node gets keys. The gateway gets nothing.
Pure except for its random numbers.
"""

from __future__ import annotations

import binascii
import json
import secrets
from dataclasses import dataclass
from pathlib import Path

from motecrypt.link.gateway.protocols.coap.oscore import derive_oscore

SALT_BYTES, SECRET_BYTES = 8, 16
CLIENT_ID = 0x80
"""Of every client; a node's identifier is its number, which is less."""
CONTEXT_BYTES = 54
"""Behind a node's storage: `OSCORE_STORED_BYTES` of firmware/coap/oscore_store.h."""
VERSION = 1
_LINK_CHECK = slice(24, 28)
"""Of a node's storage (docs/link.md): the check value of its key block; each provisioning has another."""


@dataclass(frozen=True)
class OscoreContext:
    """What a node and its client share.

    Attributes
    ----------
    node : the node's number, its identifier.
    secret, salt : the master secret and salt.
    """

    node: int
    secret: bytes
    salt: bytes

    def stored(self, storage: bytes) -> bytes:
        """The node's storage with the context behind it, which belongs to this storage alone."""
        node_id, client_id = bytes([self.node]), bytes([CLIENT_ID])
        keys = derive_oscore(self.secret, self.salt, node_id, client_id)
        made = bytes([VERSION]) + node_id + client_id + keys.sender_key + keys.recipient_key + keys.common_iv
        made += storage[_LINK_CHECK]
        return storage + made + binascii.crc_hqx(made, 0xFFFF).to_bytes(2, "big")

    def client_files(self, folder: Path) -> dict[Path, bytes]:
        """What aiocoap reads: the context in `folder`, and credentials that name that folder."""
        settings = {
            "secret_hex": self.secret.hex(),
            "salt_hex": self.salt.hex(),
            "sender-id_hex": f"{CLIENT_ID:02x}",
            "recipient-id_hex": f"{self.node:02x}",
        }
        # Without "/": through a proxy aiocoap takes the proxy's port for the node's. Node 70's pattern is
        # longer, and comes first.
        credentials = {f"coap://node-{self.node}*": {"oscore": {"basedir": str(folder)}}}
        return {
            folder / "settings.json": _json(settings),
            folder / "credentials.json": _json(credentials),
        }


def new_context(node: int) -> OscoreContext:
    """A context that no node has had before."""
    return OscoreContext(node, secrets.token_bytes(SECRET_BYTES), secrets.token_bytes(SALT_BYTES))


def has_context(storage: bytes, link_bytes: int) -> bool:
    """Whether a node's storage of `link_bytes` is followed by a context that belongs to it."""
    made = storage[link_bytes : link_bytes + CONTEXT_BYTES]
    return (
        len(made) == CONTEXT_BYTES
        and made[0] == VERSION
        and made[48:52] == storage[_LINK_CHECK]
        and int.from_bytes(made[52:], "big") == binascii.crc_hqx(made[:52], 0xFFFF)
    )


def _json(content: object) -> bytes:
    return f"{json.dumps(content, indent=2)}\n".encode()
