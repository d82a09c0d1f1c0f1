"""The nodes of a gateway, of its record or through the gateway that serves it: state, and new epochs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from motecrypt.build.setup import need
from motecrypt.link.gateway.opening import open_registry, record_of
from motecrypt.link.gateway.registry import OwnRegistry
from motecrypt.link.gateway.status import NodeStatus, node_statuses
from motecrypt.link.prebuilt import core_needs


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


@dataclass(frozen=True)
class GatewayStatus:
    """The state of a gateway.

    Attributes
    ----------
    record : the file. running : whether a gateway serves it now.
    nodes : every number that was ever given out.
    waiting : messages that wait for sinks; None where no gateway has served the record yet.
    sinks, ports : of a gateway that runs: what is wrong now with a sink (None: nothing); packets of a port.
    """

    record: Path
    running: bool
    nodes: Sequence[NodeStatus]
    waiting: int | None
    sinks: Mapping[str, str | None] = field(default_factory=dict)
    ports: Mapping[str, int] = field(default_factory=dict)


def gateway_status(key_file: Path, state: Path | None = None) -> GatewayStatus:
    """The state of a gateway's nodes: from the gateway if it runs, else from its record.

    InputError where another program that is not a gateway has the record.
    """
    need(*core_needs())
    record = record_of(key_file, state)
    with closing(open_registry(key_file, state)) as nodes:
        if isinstance(nodes, OwnRegistry):
            return GatewayStatus(record, False, node_statuses(nodes.gateway), nodes.waiting)
        told = nodes.ask("status", {})
    return GatewayStatus(
        record,
        True,
        [NodeStatus(**each) for each in told["nodes"]],
        told["spool"]["waiting"],
        {name: sink["trouble"] for name, sink in told["sinks"].items()},
        {name: port["packets"] for name, port in told["ports"].items()},
    )


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
    need(*core_needs())
    with closing(open_registry(key_file, state)) as nodes:
        return Renewed(**nodes.renew(node, wait_s))
