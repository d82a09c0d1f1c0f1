"""What the gateway's loop counts."""

from __future__ import annotations

from dataclasses import dataclass, field

BURST_S = 10.0
"""A node may use its allowance of this many seconds in one burst."""


@dataclass
class NodeTally:
    """What was received of one node, how much more may come (`allowed` messages, `rate` more a second),
    and its packets that were `put_off` because the spool was full or its share of it used."""

    rate: float
    filled_s: float
    allowed: float = field(init=False)
    messages: int = 0
    files: int = 0
    forged: int = 0
    limited: int = 0
    put_off: int = 0
    last_ms: int = 0

    def __post_init__(self) -> None:
        self.allowed = self.rate * BURST_S

    def may(self, now_s: float) -> bool:
        """Whether the node has sent no more than it is allowed."""
        self.allowed = min(self.allowed + (now_s - self.filled_s) * self.rate, self.rate * BURST_S)
        self.filled_s = now_s
        if self.allowed < 1:
            self.limited += 1
            return False
        return True


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
