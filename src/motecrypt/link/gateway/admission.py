"""Whose messages may come now: each node has a rate, and a share of the spool.

What may not come is not even looked at, and so neither claimed nor answered: its node sends it again.
"""

from __future__ import annotations

from collections.abc import Collection

from motecrypt.link.gateway.orders import GROUP
from motecrypt.link.gateway.shares import may_add
from motecrypt.link.gateway.spool import Spool
from motecrypt.link.gateway.tally import GatewayTally


class Admission:
    """Decides before a packet is taken."""

    def __init__(self, spool: Spool, tally: GatewayTally) -> None:
        self._spool, self._tally = spool, tally
        self._nodes: frozenset[int] = frozenset()

    def begin(self, nodes: Collection[int]) -> None:
        """Packets have come; these nodes have keys now."""
        self._nodes = frozenset(nodes) - {GROUP}

    def lets_in(self, node: int, now_s: float) -> bool:
        """Whether a message of that node may come now."""
        spool, tally = self._spool, self._tally.nodes.get(node)
        if not may_add(spool.waiting_of, self._nodes, node, spool.waiting_max, spool.room):
            self._tally.waiting += 1
            if tally is not None:
                tally.put_off += 1
            return False
        return tally is None or tally.may(now_s)
