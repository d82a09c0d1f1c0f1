"""Standard output: a line for each item."""

from __future__ import annotations

import json
from collections.abc import Sequence

from motecrypt.link.gateway.items import Item
from motecrypt.link.gateway.sinks import Sink, SinkClosed, SinkError


class StandardOutput(Sink):
    """Lines for people, or JSON objects."""

    name = "stdout"
    batch = 100

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json

    def deliver(self, items: Sequence[Item]) -> None:
        """Print them."""
        lines = (json.dumps(item.record()) if self._as_json else item.line() for item in items)
        try:
            print("\n".join(lines), flush=True)
        except BrokenPipeError:
            raise SinkClosed("standard output: its reader has closed it") from None
        except OSError as error:
            raise SinkError(f"standard output: {error.strerror}") from None
