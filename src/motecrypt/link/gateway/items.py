"""Received messages, each with a unique name. Independent of storage."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

Kind = Literal["message", "command", "file"]


@dataclass(frozen=True)
class Item:
    """One message of a node, or one file.

    Attributes
    ----------
    node, generation, epoch, counter : its name (docs/link.md); generation identifies the keys of one
    provisioning. received_ms : since 1970.
    content : the bytes; of a file the path under which it is.
    length : in bytes, of the message or of the file.
    seq : its place in the spool; 0 before it has one.
    """

    node: int
    generation: int
    epoch: int
    counter: int
    kind: Kind
    received_ms: int
    content: bytes
    length: int
    seq: int = 0

    @property
    def name(self) -> str:
        """The four numbers by which a sink recognises duplicates."""
        return f"{self.node}.{self.generation}.{self.epoch}.{self.counter}"

    @property
    def received(self) -> str:
        """When it came, in UTC, to the millisecond."""
        return utc(self.received_ms / 1000)

    def record(self) -> dict[str, Any]:
        """What every sink reports it: docs/gateway.md has the fields."""
        if self.kind == "file":
            shown: dict[str, Any] = {"file": self.content.decode(errors="replace"), "bytes": self.length}
        else:
            shown = message_record(self.content)
        named = {"id": self.name, "node": self.node, "kind": self.kind, "received": self.received}
        return {**shown, **named}

    def line(self) -> str:
        """For people."""
        if self.kind == "file":
            return f"node {self.node}: {self.content.decode(errors='replace')}: {self.length} bytes"
        return f"node {self.node}: {readable(self.content)}"


def utc(seconds: float) -> str:
    """A time since 1970 in UTC, to the millisecond."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def message_record(content: bytes) -> dict[str, Any]:
    """A message's bytes as they are reported in JSON."""
    return {"message": readable(content), "hex": content.hex(), "bytes": len(content)}


def readable(content: bytes) -> str:
    """Text as it is; anything that could play tricks with a terminal as hex."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content.hex()
    return text if text.isprintable() else content.hex()
