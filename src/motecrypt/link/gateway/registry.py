"""Who gives nodes their keys: this process, which holds a gateway's record, or the gateway that serves it.

Both refuse the same things in the same words, so a command does not care which one it has.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link.gateway.control import ask
from motecrypt.link.gateway.operated import OperatedGateway
from motecrypt.link.native import BROADCAST, STORAGE_BYTES
from motecrypt.link.told import NodeEntry, called

ASK_S = 60.0
"""How long a gateway may take for a change: it may wait for a slow disk, or for a lock on its record."""
CONFIRM_S = 10.0
"""How long a renewal waits for the node to confirm its new epoch."""


class NodeRegistry(Protocol):
    """The nodes of a gateway and their keys."""

    @property
    def suite(self) -> str:
        """How its nodes encrypt."""

    def entries(self) -> tuple[NodeEntry, ...]:
        """Every number that was ever given out."""

    def check_free(self, node: int, replace: bool) -> None:
        """Refuse a number that a node has, unless that one is to be replaced."""

    def provision(self, node: int, options: int, replace: bool) -> bytes:
        """New keys for a number; the storage to be written into the node."""

    def member(self) -> bytes:
        """The storage of one more member of the group."""

    def renew(self, node: int, wait_s: float) -> dict[str, Any]:
        """Begin a new epoch for a node: the epoch, and whether the node has confirmed it."""

    def close(self) -> None:
        """Let another program have the record."""


class OwnRegistry:
    """Of a gateway whose record this process holds."""

    def __init__(self, gateway: OperatedGateway) -> None:
        self.gateway = gateway
        self.suite: str = gateway.suite

    @property
    def waiting(self) -> int | None:
        """Messages that wait for sinks; None where the record has none."""
        return getattr(self.gateway.store, "waiting", None)

    def entries(self) -> tuple[NodeEntry, ...]:
        """Every number that was ever given out."""
        return self.gateway.registry()

    def check_free(self, node: int, replace: bool) -> None:
        """Refuse a number that a node has, unless that one is to be replaced."""
        if node in self.gateway.nodes and not replace:
            raise in_use(node)

    def provision(self, node: int, options: int, replace: bool) -> bytes:
        """New keys for a number; the storage to be written into the node."""
        self.check_free(node, replace)
        return self.gateway.provision(node, options)

    def member(self) -> bytes:
        """The storage of one more member of the group."""
        return self.gateway.member()

    def renew(self, node: int, wait_s: float) -> dict[str, Any]:
        """Begin a new epoch for a node: the epoch. The gateway offers it once it runs."""
        return {"node": node, "epoch": self.gateway.renew(node, int(time.time())), "confirmed": None}

    def close(self) -> None:
        """Let another program have the record."""
        self.gateway.close()


class ServedRegistry:
    """Of a gateway that runs: it makes the changes, while messages flow.

    Parameters
    ----------
    socket : Path
        Where it takes requests.
    name : str
        Of the master key (`operated.master_name`): the gateway refuses to change another's record.
    packet_bytes : int
        Of the radio of nodes that get keys.
    """

    def __init__(self, socket: Path, suite: str, name: str, packet_bytes: int) -> None:
        self.socket, self.suite = socket, suite
        self._name, self._packet_bytes = name, packet_bytes

    def ask(self, action: str, fields: Mapping[str, object], wait_s: float = 0) -> dict[str, Any]:
        """One request, in the name of the master key."""
        return ask(self.socket, {action: {"master": self._name, **fields}}, ASK_S + wait_s)

    def entries(self) -> tuple[NodeEntry, ...]:
        """Every number that was ever given out."""
        return tuple(NodeEntry(**entry) for entry in self.ask("registry", {})["nodes"])

    def check_free(self, node: int, replace: bool) -> None:
        """Refuse a number that a node has, unless that one is to be replaced."""
        if not replace and any(entry.node == node and not entry.void for entry in self.entries()):
            raise in_use(node)

    def provision(self, node: int, options: int, replace: bool) -> bytes:
        """New keys for a number; the storage to be written into the node."""
        fields = {"node": node, "options": options, "packet_bytes": self._packet_bytes, "replace": replace}
        return self._storage("provision", fields)

    def member(self) -> bytes:
        """The storage of one more member of the group."""
        return self._storage("member", {})

    def _storage(self, action: str, fields: Mapping[str, object]) -> bytes:
        try:
            storage = bytes.fromhex(self.ask(action, fields)["storage"])
        except InputError:
            raise
        except MotecryptError as error:
            raise MotecryptError(f"{error}; no keys were written; repeat the command") from None
        if len(storage) != STORAGE_BYTES:
            raise MotecryptError(f"socket {self.socket}: its program is not a gateway of this version")
        return storage

    def renew(self, node: int, wait_s: float) -> dict[str, Any]:
        """Begin a new epoch for a node: the epoch, and whether the node has confirmed it."""
        return self.ask("renew", {"node": node, "wait_s": wait_s}, wait_s + CONFIRM_S)

    def close(self) -> None:
        """Nothing is held."""


def in_use(node: int) -> InputError:
    """A number that has keys already."""
    member = {BROADCAST: " or --member"}.get(node, "")
    return InputError(
        f"{called(node)}: already has keys; give another number{member}, or --replace, which makes those "
        "invalid"
    )


def told_entries(entries: tuple[NodeEntry, ...]) -> dict[str, Any]:
    """Entries as an answer at the socket."""
    return {"nodes": [asdict(entry) for entry in entries]}
