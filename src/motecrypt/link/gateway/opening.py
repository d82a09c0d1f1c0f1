"""The link's ends by their files: a gateway with its record, a node with its key file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from motecrypt.link.keys import read_master_file
from motecrypt.link.state import FileStore

if TYPE_CHECKING:
    from motecrypt.link.gateway_end import Gateway
    from motecrypt.link.node import HostNode


def record_of(key_file: Path, state: Path | None) -> Path:
    """Where a gateway's record is: next to its master key, or at `state`."""
    return state or key_file.with_name(f"{key_file.name}.gateway")


def open_gateway(key_file: Path, state: Path | None, packet_bytes: int, answer_ms: int = 250) -> Gateway:
    """The gateway of a master key file; InputError where another program has its record."""
    from motecrypt.link.gateway_end import Gateway

    suite, master = read_master_file(key_file)
    file = FileStore(record_of(key_file, state))
    if _is_spool(file.path):
        from motecrypt.link.gateway.spool import Spool  # with SQLite, which few records need

        return Gateway(Spool(file), master, suite, packet_bytes, answer_ms)
    return Gateway(file, master, suite, packet_bytes, answer_ms)


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
