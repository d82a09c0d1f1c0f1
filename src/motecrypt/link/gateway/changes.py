"""Changes of a running gateway's record that other programs of its user ask for, while messages flow.

The loop calls it when no message is half taken. A change is one write of the record, in the same thread as
all others: a crash leaves the record before the change, or the one after it. The answer, with a node's keys,
leaves after that write.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict
from typing import Any

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link.gateway.operated import OperatedGateway, unrenewable
from motecrypt.link.gateway.orders import WAIT_MAX_S, Told
from motecrypt.link.gateway.registry import CONFIRM_S, OwnRegistry, told_entries
from motecrypt.link.gateway.status import node_statuses
from motecrypt.link.native import BROADCAST, GATEWAY, LISTENS, STREAM
from motecrypt.link.told import called

_FIELDS = {
    "registry": {"master"},
    "provision": {"master", "node", "options", "packet_bytes", "replace"},
    "member": {"master"},
    "renew": {"master", "node", "wait_s"},
    "status": {"master"},
}


class _Renewal:
    """A new epoch for a node: to begin after its next message, then to be confirmed.

    Attributes
    ----------
    begin_s : when it begins at the latest. end_s : until when a confirmation is answered, once it has begun.
    """

    def __init__(self, node: int, tell: Told, begin_s: float) -> None:
        self.node, self.tell, self.begin_s = node, tell, begin_s
        self.end_s: float | None = None

    def over(self, epoch: int, confirmed: bool) -> None:
        """Answer."""
        self.tell({"node": self.node, "epoch": epoch, "confirmed": confirmed})

    def failed(self, why: str) -> None:
        """Answer that it has not begun."""
        self.tell({"failed": why})


class Changes:
    """What changes the record of a gateway that runs.

    Parameters
    ----------
    flying : callable
        Whether a message to that node waits for its outcome.
    replaced : callable
        Called with a node that has new keys: what is kept of the earlier one is void.
    speakers : callable
        The nodes whose protocols were opened with their options and packet length.
    statistics : callable
        The gateway's counts since its start.
    """

    def __init__(
        self,
        gateway: OperatedGateway,
        flying: Callable[[int], bool],
        replaced: Callable[[int], None],
        speakers: Callable[[], Collection[int]],
        statistics: Callable[[], dict[str, Any]],
    ) -> None:
        self._gateway, self._registry = gateway, OwnRegistry(gateway)
        self._flying, self._replaced, self._speakers = flying, replaced, speakers
        self._statistics = statistics
        self._renewals: dict[int, _Renewal] = {}

    def __bool__(self) -> bool:
        """Whether a renewal is in progress."""
        return bool(self._renewals)

    @staticmethod
    def concern(request: dict[str, Any]) -> bool:
        """Whether a request is one for changes."""
        return len(request) == 1 and next(iter(request)) in _FIELDS

    def take(self, request: dict[str, Any], tell: Told, now_s: float) -> None:
        """Do what is asked and answer, now or later.

        Raises
        ------
        MotecryptError
            The record cannot be written now; that is answered, too.
        """
        ((action, given),) = request.items()
        try:
            self._check(action, given)
            if action == "registry":
                tell(told_entries(self._registry.entries()))
            elif action == "provision":
                tell({"storage": self._provision(given).hex()})
            elif action == "status":
                tell({"nodes": list(map(asdict, node_statuses(self._gateway))), **self._statistics_of_all()})
            elif action == "member":
                tell({"storage": self._registry.member().hex()})
            else:
                self._renew(given, tell, now_s)
        except InputError as error:
            tell({"error": str(error)})
        except (MotecryptError, OSError) as error:
            tell({"failed": str(error)})
            raise

    def _check(self, action: str, given: object) -> None:
        if not isinstance(given, dict) or set(given) != _FIELDS[action]:
            raise InputError(f"invalid request: {action} takes {', '.join(sorted(_FIELDS[action]))}")
        if given["master"] != self._gateway.name:
            raise InputError("the running gateway has another master key; name the file of that one")
        if "node" in given:
            _whole("node", given["node"], BROADCAST)

    def _statistics_of_all(self) -> dict[str, Any]:
        """Of the gateway as a whole: what its nodes have is in their own states."""
        told = self._statistics()
        return {name: told[name] for name in ("spool", "sinks", "ports", "not_taken")}

    # --- keys

    def _provision(self, given: dict[str, Any]) -> bytes:
        node, options = given["node"], _whole("options", given["options"], GATEWAY - 1)
        packet_bytes = _whole("packet_bytes", given["packet_bytes"], 255)
        if not isinstance(given["replace"], bool):
            raise InputError("invalid request: replace is true or false")
        if bool(options & STREAM) != self._gateway.serial or packet_bytes != self._gateway.packet_bytes:
            where = "on a serial line" if self._gateway.serial else "behind a bridge"
            raise InputError(
                f"{called(node)}: the radio of the running gateway is {where}, with packets of "
                f"{self._gateway.packet_bytes} bytes; give --radio and --packet-bytes of that radio, or "
                "stop the gateway first"
            )
        head = (options | GATEWAY, packet_bytes)
        if node in self._speakers() and head != self._gateway.head(node):
            raise InputError(
                f"{called(node)}: speaks CoAP or TFTP through the running gateway; stop that to change its "
                f"options"
            )
        storage = self._registry.provision(node, options, given["replace"])
        if node in self._renewals:
            self._renewals.pop(node).failed(f"{called(node)}: has new keys meanwhile")
        self._replaced(node)
        return storage

    # --- epochs

    def _renew(self, given: dict[str, Any], tell: Told, now_s: float) -> None:
        node, wait_s = given["node"], given["wait_s"]
        if isinstance(wait_s, bool) or not isinstance(wait_s, int | float) or not 0 <= wait_s <= WAIT_MAX_S:
            raise InputError(f"invalid request: wait_s is 0 to {WAIT_MAX_S:g}")
        options, _ = self._gateway.head(node)
        if node == BROADCAST or not options & LISTENS:
            raise unrenewable(node)
        if node in self._renewals:
            raise InputError(f"{called(node)}: a renewal is in progress; wait for its end")
        self._renewals[node] = _Renewal(node, tell, now_s + wait_s)

    def turn(self, taken: Collection[int], now_s: float) -> None:
        """Begin what may begin, and give up waiting.

        Parameters
        ----------
        taken
            Nodes whose messages were taken and answered just now: nothing of theirs is on its way.
        """
        for node, renewal in list(self._renewals.items()):
            if renewal.end_s is not None:
                if now_s >= renewal.end_s:
                    self._over(node, False)
            elif (node in taken or now_s >= renewal.begin_s) and not self._flying(node):
                self._begin(renewal, now_s)

    def _begin(self, renewal: _Renewal, now_s: float) -> None:
        try:
            self._gateway.renew(renewal.node, int(self._gateway.clock()))
        except (MotecryptError, OSError) as error:
            self._renewals.pop(renewal.node).failed(str(error))
            raise
        renewal.end_s = now_s + CONFIRM_S

    def confirmed(self, node: int) -> None:
        """A node has confirmed its new epoch."""
        renewal = self._renewals.get(node)
        if renewal is not None and renewal.end_s is not None:
            self._over(node, True)

    def _over(self, node: int, confirmed: bool) -> None:
        self._renewals.pop(node).over(self._gateway.epoch(node), confirmed)

    def close(self) -> None:
        """The gateway ends."""
        for node, renewal in list(self._renewals.items()):
            if renewal.end_s is not None:
                self._over(node, False)
            else:
                self._renewals.pop(node).failed(f"{called(node)}: not renewed: the gateway ends")


def _whole(name: str, value: object, highest: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= highest:
        raise InputError(f"invalid request: {name} is 0 to {highest}")
    return value
