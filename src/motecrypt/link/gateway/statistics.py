"""The gateway's counts as its summary and its socket give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from motecrypt.link.gateway.drain import Drain
from motecrypt.link.gateway.lines import Line
from motecrypt.link.gateway.protocols import ProtocolThread
from motecrypt.link.gateway.spool import Spool
from motecrypt.link.gateway.tally import GatewayTally


def statistics(
    tally: GatewayTally,
    spool: Spool,
    drains: Sequence[Drain],
    protocols: Sequence[ProtocolThread],
    orders: Mapping[str, int],
    lines: Sequence[Line],
) -> dict[str, Any]:
    """What happened since the start: docs/gateway.md has the fields."""
    nodes: Mapping[str, Any] = {
        str(number): {
            "messages": node.messages,
            "files": node.files,
            "forged": node.forged,
            "limited": node.limited,
            "waiting": spool.waiting_of.get(number, 0),
            "put_off": node.put_off,
            "last_heard_ms": node.last_ms or None,
        }
        for number, node in sorted(tally.nodes.items())
    }
    return {
        "messages": tally.messages,
        "files": tally.files,
        "nodes": nodes,
        "spool": {
            "waiting": spool.waiting,
            "room": spool.room,
            "faults": tally.storage_faults,
        },
        "not_taken": {
            "spool_full": tally.waiting,
            "spool_faulty": tally.resting,
            "astray": tally.astray,
            "broken": tally.broken,
            "file_parts": tally.refused_parts,
        },
        "sinks": {
            drain.sink.name: {
                "delivered": drain.delivered,
                "faults": drain.faults,
                "trouble": drain.trouble or None,
            }
            for drain in drains
        },
        "protocols": {thread.name: thread.statistics() for thread in protocols},
        "orders": orders,
        "ports": {
            line.path: {
                "packets": line.packets,
                "skipped_bytes": line.skipped_bytes,
                "dropped_bytes": line.dropped_bytes,
                "vanished": line.lost,
            }
            for line in lines
        },
    }
