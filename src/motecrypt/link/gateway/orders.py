"""What is to be sent to nodes: read from JSON, kept in order for each node, and answered with their
outcome."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from motecrypt.base.errors import InputError

WAYS = ("command", "message", "unconfirmed")
WAITING_MAX = 20
"""Orders of one source that wait for one node."""
WAIT_S, WAIT_MAX_S = 10.0, 3600.0
GROUP = 63
"""The broadcast group, from which nothing is received."""
TOKEN_MAX = 64
TEXT_MAX = 16_384
"""Bytes of an order in JSON."""

Told = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Order:
    """A message for a node.

    Attributes
    ----------
    way : "command", "message" (confirmed) or "unconfirmed".
    wait_s : how long it may wait until the node is received for the first time; 0: it is sent immediately.
    token : the sender's own name for it, reported with its outcome.
    tell : gets the outcome.
    source : the way that it came by. Each has places of its own, and takes turns with others.
    """

    node: int
    content: bytes
    way: str
    wait_s: float
    token: str
    tell: Told
    source: str = ""

    def over(self, outcome: str, why: str = "") -> None:
        """Report its outcome."""
        self.tell(
            {
                "node": self.node,
                "outcome": outcome,
                **({"why": why} if why else {}),
                **({"id": self.token} if self.token else {}),
            }
        )


def read_order(node: object, text: bytes, tell: Told, source: str = "") -> Order:
    """An order in JSON: docs/gateway.md has its fields.

    Raises
    ------
    InputError
        What is wrong with it.
    """
    try:
        if len(text) > TEXT_MAX:
            raise ValueError
        fields = json.loads(text.decode())
        if not isinstance(fields, dict):
            raise ValueError
    except (ValueError, RecursionError):
        raise InputError('invalid order: give JSON such as {"hex": "698813"}') from None
    return order_of(node, fields, tell, source)


def order_of(node: object, fields: dict[str, Any], tell: Told, source: str = "") -> Order:
    """The same from what the JSON says."""
    odd = sorted(set(fields) - {"hex", "text", "as", "wait_s", "id"})
    if odd:
        raise InputError(f"invalid order: unknown field {odd[0]!r}; allowed: hex, text, as, wait_s, id")
    if not isinstance(node, int) or isinstance(node, bool) or not 0 <= node <= GROUP:
        raise InputError(f"invalid order: its node is not a number from 0 to 62, or {GROUP} for the group")
    if ("hex" in fields) == ("text" in fields):
        raise InputError("invalid order: give one of hex and text")
    given: Any = fields.get("hex", fields.get("text"))
    try:
        content = bytes.fromhex(given) if "hex" in fields else given.encode()
    except (ValueError, TypeError, AttributeError):
        raise InputError("invalid order: its hex or text cannot be read") from None
    way, wait_s, token = fields.get("as", "command"), fields.get("wait_s", WAIT_S), fields.get("id", "")
    if way not in WAYS:
        raise InputError(f"invalid order: as is one of {', '.join(WAYS)}")
    if isinstance(wait_s, bool) or not isinstance(wait_s, int | float) or not 0 <= wait_s <= WAIT_MAX_S:
        raise InputError(f"invalid order: wait_s is 0 to {WAIT_MAX_S:g}")
    if not isinstance(token, str) or len(token) > TOKEN_MAX:
        raise InputError(f"invalid order: its id is a text of at most {TOKEN_MAX} letters")
    return Order(node, content, way, float(wait_s), token, tell, source)


@dataclass(frozen=True)
class _Flight:
    """An order that has been sent, and until when its outcome is waited for."""

    order: Order
    end_s: float


class Outbox:
    """Orders that wait, one on its way at a time for each node; those who have sent them take turns.

    Parameters
    ----------
    outcome_s : float
        Seconds without an outcome after which an order is unconfirmed, also if the link still waits.
    """

    def __init__(self, outcome_s: float) -> None:
        self._outcome_s = outcome_s
        self._waiting: dict[tuple[int, str], deque[tuple[Order, float]]] = {}
        self._flying: dict[int, _Flight] = {}
        self._commanded: set[int] = set()
        self.told: dict[str, int] = {}

    def __bool__(self) -> bool:
        return bool(self._flying) or any(self._waiting.values())

    def add(self, order: Order, now_s: float) -> None:
        """One more; it is reported as dropped immediately if there is no room."""
        waiting = self._waiting.setdefault((order.node, order.source), deque())
        if len(waiting) >= WAITING_MAX:
            self._over(order, "dropped", f"{WAITING_MAX} others wait already for this node")
            return
        waiting.append((order, now_s + order.wait_s))

    def next(
        self, heard: Callable[[int], bool], now_s: float, free: Callable[[int], bool] = lambda node: True
    ) -> Iterator[Order]:
        """What may be sent now, one for each node. Each is then to be `flying`, `over`, or is offered again.

        A node takes one command for each message of its own (docs/link.md, Commands), so a second one waits.
        `free`: whether the port takes packets for a node.
        """
        offered: set[int] = set()
        for (node, _), waiting in list(self._waiting.items()):
            while waiting:
                order, end_s = waiting[0]
                if not self._ready(order, heard):
                    why = f"no packet from the node for {order.wait_s:g} s"
                elif node in self._flying or node in offered:
                    break
                elif free(node):
                    offered.add(node)
                    yield order
                    break
                else:
                    end_s, why = end_s + self._outcome_s, "its port does not take packets"
                if now_s <= end_s:
                    break
                waiting.popleft()
                self._over(order, "not heard", why)

    def _ready(self, order: Order, heard: Callable[[int], bool]) -> bool:
        if order.wait_s == 0 or order.node == GROUP:
            return True
        return heard(order.node) and not (order.way == "command" and order.node in self._commanded)

    def heard(self, node: int) -> None:
        """A message of that node came: it may be commanded again."""
        self._commanded.discard(node)

    def flying(self, order: Order, now_s: float) -> None:
        """It has left, and has an outcome some time."""
        self._take(order)
        self._flying[order.node] = _Flight(order, now_s + self._outcome_s)
        if order.way == "command":
            self._commanded.add(order.node)

    def flies(self, node: int) -> bool:
        """Whether one for that node is on its way."""
        return node in self._flying

    def over(self, order: Order, outcome: str, why: str = "") -> None:
        """One that `next` gave has its outcome without an answer."""
        self._take(order)
        self._over(order, outcome, why)

    def _take(self, order: Order) -> None:
        """It waits no longer, and the other ways to this node come before the next one of its own."""
        key = (order.node, order.source)
        waiting = self._waiting.pop(key)
        waiting.popleft()
        if waiting:
            self._waiting[key] = waiting

    def outcome(self, node: int, outcome: str) -> None:
        """The link reports the outcome of a message to a node."""
        flight = self._flying.pop(node, None)
        if flight is not None:
            self._over(flight.order, outcome)

    def expire(self, now_s: float) -> None:
        """Give up what has had no outcome for too long."""
        for node, flight in list(self._flying.items()):
            if now_s > flight.end_s:
                self.outcome(node, "unconfirmed")

    def close(self) -> None:
        """The gateway ends: what has been sent is unknown, and the rest is not sent."""
        for node in list(self._flying):
            self.outcome(node, "unconfirmed")
        for waiting in self._waiting.values():
            while waiting:
                self._over(waiting.popleft()[0], "not sent", "the gateway ends")

    def _over(self, order: Order, outcome: str, why: str = "") -> None:
        self.told[outcome] = self.told.get(outcome, 0) + 1
        order.over(outcome, why)
