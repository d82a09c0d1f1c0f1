"""Protocols that nodes speak over the link: messages of such nodes go to a protocol, not to the sinks.

A protocol has a module here and a thread of its own, so nothing that it waits for delays the radio. A node's
message is handed over once it is claimed on disk; what goes down to a node is an ordinary order (orders.py).
"""

from __future__ import annotations

import select
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from motecrypt.link.gateway.orders import WAIT_S, Order
from motecrypt.link.gateway.queues import SharedQueue

INBOX_MAX = 16
"""Messages of one node that wait for a protocol; more are refused, so that the node sends them again."""
IDLE_S = 1.0
PAUSE_S = 0.1
"""Seconds that a protocol pauses after a fault."""

Outcome = Callable[[str], None]
"""Gets the outcome of a message to a node: one of docs/gateway.md, such as "accepted"."""


class Downlink:
    """The way down to the nodes, for a protocol in its own thread.

    Parameters
    ----------
    longest : mapping of int to int
        The longest message that each node can be sent, in bytes.
    """

    def __init__(
        self,
        order: Callable[[Order], None],
        longest: Mapping[int, int],
        post: Callable[[Callable[[], None]], None],
        source: str = "",
    ) -> None:
        self._order, self._post, self._source = order, post, source
        self.longest = longest

    def send(
        self, node: int, content: bytes, told: Outcome, confirmed: bool = True, wait_s: float = WAIT_S
    ) -> None:
        """Send a message to a node; `told` is called later, in the protocol's thread."""
        self._order(
            Order(
                node=node,
                content=content,
                way="message" if confirmed else "unconfirmed",
                wait_s=wait_s,
                token="",
                source=self._source,
                tell=lambda outcome: self._post(lambda: told(str(outcome["outcome"]))),
            )
        )


class NodeProtocol(ABC):
    """One protocol. All but `speaks` and `statistics` is called in its own thread.

    Attributes
    ----------
    name : as in options and statistics.
    """

    name: str

    @abstractmethod
    def speaks(self, content: bytes) -> bool:
        """Whether a message belongs to this protocol, by its first byte; called in the radio's thread."""

    @abstractmethod
    def begin(self, downlink: Downlink) -> None:
        """Called once, before anything else."""

    @abstractmethod
    def heard(self, node: int, content: bytes, now_s: float) -> None:
        """A message of a node."""

    @abstractmethod
    def sockets(self) -> Sequence[socket.socket]:
        """What to wait for, now."""

    @abstractmethod
    def readable(self, ready: socket.socket, now_s: float) -> None:
        """Something waits at one of these; it may not block."""

    @abstractmethod
    def poll(self, now_s: float) -> float:
        """Do what is due, and say when this is to be called next (at the latest)."""

    @abstractmethod
    def addresses(self) -> list[str]:
        """Where it listens, as HOST:PORT each."""

    @abstractmethod
    def statistics(self) -> dict[str, int]:
        """Counts since the start; called in the radio's thread."""

    @abstractmethod
    def close(self) -> None:
        """The gateway ends."""


class ProtocolThread(threading.Thread):
    """Runs one protocol.

    Parameters
    ----------
    order : callable
        Gets what is to be sent to nodes; from any thread.
    notice : callable
        Gets one line for the user when a fault occurs that was not there before.

    Attributes
    ----------
    refused, faults : messages of nodes that found no room in the inbox; events that the protocol failed at.
    """

    def __init__(
        self,
        protocol: NodeProtocol,
        order: Callable[[Order], None],
        longest: Mapping[int, int],
        notice: Callable[[str], None],
    ) -> None:
        super().__init__(name=protocol.name, daemon=True)
        self.protocol, self._notice = protocol, notice
        self._offered: list[tuple[int, bytes]] = []
        self._messages: SharedQueue[int, bytes] = SharedQueue(INBOX_MAX)
        self._calls: deque[Callable[[], None]] = deque()
        self._wake_read, self._wake_write = socket.socketpair()
        self._wake_read.setblocking(False)
        self._wake_write.setblocking(False)
        self._over = False
        self._fault = ""
        self._downlink = Downlink(order, longest, self._post, protocol.name)
        self.refused = 0
        self.faults = 0

    # --- in the radio's thread

    def speaks(self, content: bytes) -> bool:
        """Whether a message belongs to it."""
        return self.protocol.speaks(content)

    def offer(self, node: int, content: bytes) -> bool:
        """Take a message that is about to be claimed; whether there is room."""
        if sum(each == node for each, _ in self._offered) >= self._messages.room(node):
            self.refused += 1
            return False
        self._offered.append((node, content))
        return True

    def keep(self) -> None:
        """What was offered is claimed on disk: now it is handed over."""
        if self._offered:
            for node, content in self._offered:
                self._messages.put(node, content)
            self._offered.clear()
            self._wake()

    def forget(self) -> None:
        """What was offered was not kept: its node sends it again."""
        self._offered.clear()

    def statistics(self) -> dict[str, int]:
        """Counts since the start."""
        return {**self.protocol.statistics(), "refused": self.refused, "faults": self.faults}

    def stop(self) -> None:
        """End soon."""
        self._over = True
        self._wake()

    def _post(self, call: Callable[[], None]) -> None:
        self._calls.append(call)
        self._wake()

    def _wake(self) -> None:
        with suppress(BlockingIOError, OSError):
            self._wake_write.send(b"!")

    # --- in its own thread

    def run(self) -> None:
        """Serve until `stop`."""
        self._guarded(lambda: self.protocol.begin(self._downlink))
        while not self._over:
            self._guarded(self._turn)
        self._guarded(self.protocol.close)

    def _turn(self) -> None:
        now_s = time.monotonic()
        pause_s = min(IDLE_S, max(0.0, self.protocol.poll(now_s) - now_s))
        sockets = list(self.protocol.sockets())
        ready, _, _ = select.select([self._wake_read, *sockets], [], [], pause_s)
        if self._wake_read in ready:
            with suppress(BlockingIOError):
                self._wake_read.recv(4096)
        while self._calls:
            self._guarded(self._calls.popleft())
        while (got := self._messages.get()) is not None:
            self._guarded(lambda: self.protocol.heard(*got, time.monotonic()))
        for each in sockets:
            if each in ready:
                self._guarded(lambda: self.protocol.readable(each, time.monotonic()))  # noqa: B023

    def _guarded(self, act: Callable[[], None]) -> None:
        """Whatever goes wrong costs this event alone."""
        try:
            act()
        except Exception as error:
            self.faults += 1
            why = f"{type(error).__name__}: {error}"
            if why != self._fault:
                self._notice(f"{self.name}: {why}; one message is dropped")
            self._fault = why
            time.sleep(PAUSE_S)
