"""Where the gateway's items go: one file for each kind. A sink does not depend on the radio or the spool."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from motecrypt.base.errors import MotecryptError
from motecrypt.link.gateway.items import Item


class SinkError(MotecryptError):
    """Not delivered, or perhaps in part: the same items come again, later."""


class SinkClosed(MotecryptError):
    """Anyone who read this sink has gone, and nobody else will come."""


class Sink(ABC):
    """Takes items, each at least once and in their order; a thread of its own calls it.

    Attributes
    ----------
    name : identifies it among the gateway's sinks, also after a restart.
    batch : the most items that it gets in one call.
    """

    name = ""
    batch = 100

    @abstractmethod
    def deliver(self, items: Sequence[Item]) -> None:
        """Take them; on return they are where they belong. SinkError: they come again."""

    def idle(self, seconds: float) -> bool:
        """Nothing to deliver: a time of its own, no longer than that; False if it needs none."""
        return False

    def hurry(self) -> None:  # noqa: B027 - a sink that is never slow needs none
        """The gateway ends; from another thread, also while the sink is at work: it stops soon."""

    def finish(self) -> None:  # noqa: B027 - nor one that keeps nothing open
        """The last call, in the sink's own thread."""
