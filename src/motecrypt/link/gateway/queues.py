"""Queues between threads in which each peer has places of its own, which others cannot take."""

from __future__ import annotations

import threading
from collections import Counter, deque
from typing import Generic, TypeVar

Peer = TypeVar("Peer")
Entry = TypeVar("Entry")


class SharedQueue(Generic[Peer, Entry]):
    """First in, first out, with as many places for each peer; a peer that has used them is refused.

    Parameters
    ----------
    each_max : int
        Places of one peer.
    """

    def __init__(self, each_max: int) -> None:
        self._each_max, self._lock = each_max, threading.Lock()
        self._entries: deque[tuple[Peer, Entry]] = deque()
        self._used: Counter[Peer] = Counter()

    def __len__(self) -> int:
        return len(self._entries)

    def room(self, peer: Peer) -> int:
        """How many more a peer may put."""
        with self._lock:
            return self._each_max - self._used[peer]

    def put(self, peer: Peer, entry: Entry) -> bool:
        """Add one; whether there was room."""
        with self._lock:
            if self._used[peer] >= self._each_max:
                return False
            self._used[peer] += 1
            self._entries.append((peer, entry))
            return True

    def get(self) -> tuple[Peer, Entry] | None:
        """The one that came first, or None."""
        with self._lock:
            if not self._entries:
                return None
            peer, entry = self._entries.popleft()
            self._used[peer] -= 1
            if not self._used[peer]:
                del self._used[peer]
            return peer, entry


class NewestKept(Generic[Peer, Entry]):
    """First in, first out, with places for all; when it is full, who has most of them loses its oldest.

    Parameters
    ----------
    most : int
        Places for all.
    """

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._entries: deque[tuple[Peer, Entry]] = deque()
        self._used: Counter[Peer] = Counter()

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, peer: Peer, entry: Entry) -> None:
        """Add one."""
        with self._lock:
            self._used[peer] += 1
            self._entries.append((peer, entry))
            if len(self._entries) > self._most:
                ((greedy, _),) = self._used.most_common(1)
                self._take(next(at for at, (who, _) in enumerate(self._entries) if who == greedy))

    def get(self) -> tuple[Peer, Entry] | None:
        """The one that came first, or None."""
        with self._lock:
            return self._take(0) if self._entries else None

    def _take(self, at: int) -> tuple[Peer, Entry]:
        peer, entry = self._entries[at]
        del self._entries[at]
        self._used[peer] -= 1
        return peer, entry
