"""The nodes behind the CoAP proxy: who waits for what, and one request at a time down to each."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from motecrypt.link.gateway.protocols import Downlink, Outcome
from motecrypt.link.gateway.protocols.coap.message import CoapMessage
from motecrypt.link.gateway.protocols.coap.udp import Peer
from motecrypt.link.gateway.shares import gives_way

ANSWER_S = 10.0
"""Seconds that a node may take to respond before it gets the next request."""
NEVER = float("inf")


@dataclass
class CoapClient:
    """Who waits for a node's response, or observes: the request that asked for it."""

    peer: Peer
    request: CoapMessage
    answered: bool = False
    confirmed_s: float = 0.0


@dataclass
class AskedOfNode:
    """A request at a node, by its token there.

    Attributes
    ----------
    end_s : when it is given up.
    observes : the request without what differs from client to client, where they observe.
    notified : the last number of a notification.
    renew_s : when its last notification is stale.
    """

    token: bytes
    mid: int
    end_s: float
    clients: list[CoapClient]
    observes: bytes | None = None
    notified: int = 0
    renew_s: float = NEVER

    @property
    def one_host(self) -> bool:
        """Whether all who wait for it have one address."""
        return len({client.peer.host for client in self.clients}) == 1

    def made_room(self, host: Any) -> CoapClient | None:
        """Remove the last client of the address with most of them, where that gives way to `host`."""
        greedy = gives_way(Counter(client.peer.host for client in self.clients), host)
        if greedy is None:
            return None
        last = [client for client in self.clients if client.peer.host == greedy][-1]
        self.clients.remove(last)
        return last


@dataclass
class Forwarded:
    """A node's request at a server.

    Attributes
    ----------
    data : as it came.
    end_s : when it is given up.
    observes : whether notifications are to follow.
    answered : whether the first response has come.
    mid : of the last notification.
    """

    node: int
    request: CoapMessage
    data: bytes
    end_s: float
    observes: bool = False
    answered: bool = False
    mid: int | None = None


@dataclass(frozen=True)
class _Ordered:
    """A request that waits until it may go down."""

    data: bytes
    told: Outcome
    asked: AskedOfNode | None = None


def last_of_greedy(every: Sequence[AskedOfNode], host: Any) -> AskedOfNode | None:
    """The last request of the address with most of them, where that gives way to `host`.

    Requests that clients of several addresses wait for are nobody's.
    """
    owned = [(asked, asked.clients[0].peer.host) for asked in every if asked.one_host]
    greedy = gives_way(Counter(owner for _, owner in owned), host)
    return None if greedy is None else [asked for asked, owner in owned if owner == greedy][-1]


class CoapNode:
    """One node.

    Parameters
    ----------
    now_s : callable
        The time.
    bare : bool
        Whether it is on the bare transport, not on the link.

    Attributes
    ----------
    asked : its requests, by their token; replies : what it was answered, by its confirmable request, and
        until when that is kept.
    next_s : when the next request may go down.
    """

    def __init__(self, number: int, now_s: Callable[[], float], bare: bool = False) -> None:
        self.number, self._now_s, self.bare = number, now_s, bare
        self._token = self._mid = 0
        self.asked: dict[bytes, AskedOfNode] = {}
        self.replies: dict[bytes, tuple[float, bytes]] = {}
        self._queue: deque[_Ordered] = deque()
        self._asks: _Ordered | None = None
        self.next_s = 0.0

    def begin(self, downlink: Downlink) -> None:
        """Keep the way down."""
        self._downlink = downlink

    @property
    def longest(self) -> int:
        """The longest message that it can be sent, in bytes."""
        return self._downlink.longest[self.number]

    @property
    def waiting(self) -> int:
        """Requests that wait until they may go down."""
        return len(self._queue)

    @property
    def unanswered(self) -> list[AskedOfNode]:
        """Requests that some client waits for."""
        return [each for each in self.asked.values() if any(not who.answered for who in each.clients)]

    @property
    def observed(self) -> list[AskedOfNode]:
        """Those that are observed."""
        return [each for each in self.asked.values() if each.observes is not None]

    def new_mid(self) -> int:
        """A message ID."""
        self._mid = (self._mid + 1) & 0xFFFF
        return self._mid

    def new_token(self) -> bytes:
        """A token of one byte that is free."""
        tokens = (bytes([(self._token + step) & 0xFF]) for step in range(1, 257))
        token = next(each for each in tokens if each not in self.asked)
        self._token = token[0]
        return token

    # --- down, a request at a time (RFC 7252, section 4.7)

    def withdraw(self, asked: AskedOfNode) -> None:
        """What waits to go down for this request does not go."""
        self._queue = deque(each for each in self._queue if each.asked is not asked)

    def order(
        self, data: bytes, told: Outcome = lambda outcome: None, asked: AskedOfNode | None = None
    ) -> None:
        """Send a request as soon as those before it are over."""
        self._queue.append(_Ordered(data, told, asked))
        self.send_next()

    def send_next(self) -> None:
        """The next request, unless the response to the one before it is still waited for."""
        if not self._queue or self._now_s() < self.next_s:
            return
        ordered = self._queue.popleft()
        self.next_s, self._asks = NEVER, ordered

        def told(outcome: str) -> None:
            if self._asks is ordered:  # else it was answered before this was known
                self.next_s = self._now_s() + (ANSWER_S if outcome == "accepted" else 0)
            ordered.told(outcome)
            self.send_next()

        self._downlink.send(self.number, ordered.data, told, wait_s=0)

    def settled(self) -> None:
        """It has responded: it may be asked for the next thing."""
        self.next_s, self._asks = 0.0, None
        self.send_next()
