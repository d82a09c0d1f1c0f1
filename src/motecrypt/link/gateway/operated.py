"""A gateway as its operator uses it: new keys and epochs for a node, and counts of what was received."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link.gateway import heard
from motecrypt.link.gateway.heard import BatteryField, Heard
from motecrypt.link.gateway_end import Gateway
from motecrypt.link.native import Suite
from motecrypt.link.record import NUMBER_MAX
from motecrypt.link.state import MemoryStore, Store, unpack
from motecrypt.link.told import HandOver, NodeEntry, NodeMessage, called


class OperatedGateway(Gateway):
    """The same gateway, with what an operator asks for. Its record counts what was received of each node."""

    heard: Mapping[int, Heard] = MappingProxyType({})
    clock = staticmethod(time.time)
    serial = True
    """Whether its radio is a serial line; else it has packets, behind a bridge."""
    battery: BatteryField | None = None
    """Where messages have the battery's voltage, if they do."""
    _news = False

    def close(self) -> None:
        """Let another program have the record, in which the last messages are counted, too."""
        if self._news and not self._together:
            self._changed = True
            with suppress(MotecryptError, OSError):
                self._commit()
        super().close()

    def _load(self, record: bytes) -> None:
        super()._load(record)
        try:
            self._count(heard.read(unpack("gateway", record).get("heard", {})))
        except ValueError:
            raise self._damaged() from None

    def _count(self, counts: Mapping[int, Heard]) -> None:
        self.heard = counts
        if counts:
            self.extra = {"heard": heard.kept(counts)}

    def _commit(
        self,
        hand_over: Callable[[], None] | None = None,
        nodes: Iterable[int] = (),
        sent: int | None = None,
    ) -> None:
        before, kept = self.heard, self.extra
        try:
            super()._commit(hand_over, nodes, sent)
        except (MotecryptError, OSError):
            self.heard, self.extra = before, kept
            raise

    def receive(
        self, packets: Iterable[bytes], hand_over: HandOver, astray: Callable[[], None] = lambda: None
    ) -> None:
        """Take packets as they come, and count the messages in them."""

        def counted(messages: Sequence[NodeMessage]) -> Sequence[bool]:
            verdicts = hand_over(messages)
            now_s = min(max(int(self.clock()), 0), NUMBER_MAX)
            news = dict(self.heard)
            for message in messages:
                news[message.node] = heard.after(news.get(message.node), message, now_s, self.battery)
            self._count(news)
            self._news |= bool(messages)
            return verdicts

        super().receive(packets, counted, astray)

    @property
    def name(self) -> str:
        """What names its master key in records and requests."""
        return self._name()

    @property
    def packet_bytes(self) -> int:
        """The packet length of its radio."""
        return self._packet_bytes

    @property
    def store(self) -> Store:
        """Where its record is kept."""
        return self._store

    def storage(self, node: int) -> bytes:
        """A node's storage in the record; empty where it is void."""
        return self._durable[node]

    def epoch(self, node: int) -> int:
        """The epoch of a node; InputError where there is none of that number."""
        return self._link(node).epoch

    def read(self, record: bytes) -> tuple[NodeEntry, ...]:
        """The nodes of another record of the same master key; InputError where it is damaged or another's."""
        return type(self)(MemoryStore(record), self._master, self.suite).registry()

    def renew(self, node: int, now_s: int) -> int:
        """Begin a new epoch for one node; it is offered to the node until that confirms it.

        If one is being offered, that one continues.

        Parameters
        ----------
        now_s : int
            Seconds since 1970, as for `restored`.

        Returns
        -------
        int
            The epoch.

        Raises
        ------
        InputError
            No such node, one that does not listen, or the broadcast group.
        """
        link = self._link(node)
        if node in self._renewing:
            return link.epoch
        try:
            if not self._offer(node, link, now_s):
                raise unrenewable(node)
            self._commit()
        except (MotecryptError, OSError):
            self._renewing.pop(node, None)
            raise
        self._gather([link])
        return link.epoch


def master_name(suite: Suite, master: bytes) -> str:
    """What names a master key and its suite in records and requests, and shows neither."""
    return OperatedGateway(MemoryStore(), master, suite).name


def unrenewable(node: int) -> InputError:
    """Of a node that does not listen, or has no further epoch, and of the group."""
    return InputError(
        f"{called(node)}: cannot confirm a new epoch over the air; give it new keys with "
        "'motecrypt provision'"
    )
