"""A node of a gateway gets a new epoch: in the record, or through the gateway that serves it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from motecrypt.build.setup import need
from motecrypt.link.gateway.opening import open_registry


@dataclass(frozen=True)
class Renewed:
    """A node's new epoch.

    Attributes
    ----------
    epoch : its number, which is in all its keys from now on.
    confirmed : whether the node has it; None where no gateway runs that could offer it.
    """

    node: int
    epoch: int
    confirmed: bool | None


def renew_node(node: int, key_file: Path, state: Path | None = None, wait_s: float = 10.0) -> Renewed:
    """Give a node new keys over the air: a new epoch, which its gateway offers until the node confirms it.

    A gateway that runs begins it after the node's next message, at the latest after `wait_s`. `key_file` has
    the gateway's master key; `state` is its record, by default next to its key.

    Raises
    ------
    InputError
        No such node, one that never listens, or another program that has the record.
    MotecryptError
        The gateway ended, or cannot write its record.
    """
    need("host")
    with closing(open_registry(key_file, state)) as nodes:
        return Renewed(**nodes.renew(node, wait_s))
