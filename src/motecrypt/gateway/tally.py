"""What the gateway's loop counts."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class NodeTally:
    """What was received of one node."""

    allowed: float
    filled_s: float
    messages: int = 0
    files: int = 0
    forged: int = 0
    limited: int = 0
    last_ms: int = 0


@dataclass
class GatewayTally:
    """What happened since the start."""

    messages: int = 0
    files: int = 0
    refused_parts: int = 0
    astray: int = 0
    broken: int = 0
    waiting: int = 0
    resting: int = 0
    storage_faults: int = 0
    bad_orders: int = 0
    nodes: dict[int, NodeTally] = field(default_factory=dict)
