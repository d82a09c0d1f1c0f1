"""A gateway as its operator uses it: on top of messages, new keys and epochs for a node while it runs."""

from __future__ import annotations

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link.gateway_end import EPOCH_MAX, Gateway
from motecrypt.link.native import BOTH_WAYS, Event, Suite
from motecrypt.link.state import MemoryStore
from motecrypt.link.told import called


class OperatedGateway(Gateway):
    """The same gateway, with what an operator asks for."""

    @property
    def name(self) -> str:
        """What names its master key in records and requests."""
        return self._name()

    @property
    def packet_bytes(self) -> int:
        """The packet length of its radio."""
        return self._packet_bytes

    def epoch(self, node: int) -> int:
        """The epoch of a node; InputError where there is none of that number."""
        return self._link(node).epoch

    def provision(self, node: int, options: int = BOTH_WAYS) -> bytes:
        """New keys for a node number. If they cannot be kept, an offer of a new epoch continues, too."""
        before = self._renewing.get(node)
        try:
            return super().provision(node, options)
        except (MotecryptError, OSError):
            if before is not None:
                self._renewing[node] = before
            raise

    def renew(self, node: int, now_s: int) -> int:
        """Begin a new epoch for one node; it is offered to the node until that confirms it.

        Parameters
        ----------
        now_s : int
            Seconds since 1970: the epoch, unless the node's is as great already.

        Returns
        -------
        int
            The epoch.

        Raises
        ------
        InputError
            No such node, one that does not listen, or the broadcast group.
        """
        link, before = self._link(node), self._renewing.get(node)
        epoch = min(max(link.epoch + 1, now_s), EPOCH_MAX)
        event = link.renew(epoch) if epoch > link.epoch else Event.TOO_LONG
        if event is Event.TOO_LONG:
            raise unrenewable(node)
        self._renewing[node] = epoch
        try:
            if event is not Event.WAITING:
                raise MotecryptError(f"{called(node)}: its new epoch cannot be stored")
            self._commit()
        except (MotecryptError, OSError):
            del self._renewing[node]
            if before is not None:
                self._renewing[node] = before
            raise
        self._gather([link])
        return epoch


def master_name(suite: Suite, master: bytes) -> str:
    """What names a master key and its suite in records and requests, and shows neither."""
    return OperatedGateway(MemoryStore(), master, suite).name


def unrenewable(node: int) -> InputError:
    """Of a node that does not listen, or has no further epoch, and of the group."""
    return InputError(
        f"{called(node)}: cannot confirm a new epoch over the air; give it new keys with "
        "'motecrypt provision'"
    )
