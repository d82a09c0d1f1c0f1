"""Shares of what is bounded and used by many: a peer that wants much takes nothing that belongs to others.

Pure. Of half of the places each peer has an equal part of its own. The other half is for any of them.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

Peer = TypeVar("Peer", bound=Hashable)


def share_of_each(most: int, peers: int) -> int:
    """The places that belong to one peer alone; at least one.

    Parameters
    ----------
    most : int
        Places for all.
    peers : int
        How many may use them.
    """
    return max(1, most // (2 * max(1, peers)))


def may_add(
    used: Mapping[int, int], peers: Collection[int], peer: int, most: int, room: int | None = None
) -> bool:
    """Whether a peer may take one more place.

    Parameters
    ----------
    used : mapping of int to int
        Places that each has.
    peers : collection of int
        Who has a share.
    room : int, optional
        Places that are free, where others than these peers use them, too.
    """
    each = share_of_each(most, len(peers))
    if peer in peers and used.get(peer, 0) < each:
        return True
    free = most - sum(used.values()) if room is None else room
    if free > each * len(peers):
        return True
    return free > sum(max(0, each - used.get(other, 0)) for other in peers if other != peer)


def gives_way(used: Mapping[Peer, int], peer: Peer) -> Peer | None:
    """Where all places are used: who loses one to this peer, or None where nobody has two more than it.

    For peers that nobody can count beforehand, such as clients by their address.
    """
    most = max(used, key=lambda each: used[each], default=peer)
    return most if used.get(most, 0) > used.get(peer, 0) + 1 else None
