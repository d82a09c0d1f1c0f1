"""The link's ends by their files: a gateway with its record, a node with its key file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from motecrypt.link.keys import read_master_file
from motecrypt.link.state import FileStore, RecordInUse

if TYPE_CHECKING:
    from motecrypt.link.gateway.operated import OperatedGateway
    from motecrypt.link.gateway.registry import OwnRegistry, ServedRegistry
    from motecrypt.link.node import HostNode


def record_of(key_file: Path, state: Path | None) -> Path:
    """Where a gateway's record is: next to its master key, or at `state`."""
    return state or key_file.with_name(f"{key_file.name}.gateway")


def open_gateway(
    key_file: Path, state: Path | None, packet_bytes: int, answer_ms: int = 250
) -> OperatedGateway:
    """The gateway of a master key file; InputError where another program has its record."""
    from motecrypt.link.gateway.operated import OperatedGateway

    suite, master = read_master_file(key_file)
    file = FileStore(record_of(key_file, state))
    if _is_spool(file.path):
        from motecrypt.link.gateway.spool import Spool  # with SQLite, which few records need

        return OperatedGateway(Spool(file), master, suite, packet_bytes, answer_ms)
    return OperatedGateway(file, master, suite, packet_bytes, answer_ms)


def open_registry(key_file: Path, state: Path | None, packet_bytes: int = 12) -> OwnRegistry | ServedRegistry:
    """The nodes of a master key: of its record, or of the gateway that serves it now.

    Raises
    ------
    InputError
        As `open_gateway`, where the program that has the record is not a gateway.
    """
    from motecrypt.link.gateway.operated import master_name
    from motecrypt.link.gateway.registry import OwnRegistry, ServedRegistry

    try:
        return OwnRegistry(open_gateway(key_file, state, packet_bytes))
    except RecordInUse as held:
        if held.socket is None:
            raise
        suite, master = read_master_file(key_file)
        return ServedRegistry(held.socket, suite, master_name(suite, master), packet_bytes)


def open_node(key_file: Path, answer_ms: int) -> HostNode:
    """The node of a node's key file, which holds its counters, too."""
    from motecrypt.link.node import HostNode

    return HostNode(FileStore(key_file), answer_ms)


def _is_spool(path: Path) -> bool:
    """Whether `motecrypt gateway` converted a record into a spool."""
    try:
        with path.open("rb") as file:
            return file.read(6) == b"SQLite"
    except OSError:
        return False
