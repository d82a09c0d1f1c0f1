"""A gateway's record (docs/link.md, Storage): what it keeps of its nodes, checked when it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from motecrypt.link.native import BROADCAST, RESTORED_BYTES, Restored
from motecrypt.link.state import pack, unpack

NUMBER_MAX = 2**32 - 1
"""The greatest epoch, and the greatest counter."""
GENERATION_MAX = 2**16 - 1


@dataclass(frozen=True)
class NodesRecord:
    """What a gateway keeps.

    Attributes
    ----------
    master : names the master key.
    nodes : of each number ever given out the generation, the storage (empty: void), and the epoch that the
        node has not confirmed, else 0.
    took : epoch and counter of the message that was taken last of each node.
    spent : every node may have had generations up to this one.
    restored, made : of the last restoration, and what is of it in the keys of each node.
    """

    master: str
    nodes: Mapping[int, tuple[int, bytes, int]]
    took: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    spent: int = 0
    restored: Restored = 0
    made: Mapping[int, Restored] = field(default_factory=dict)

    def encode(self, extra: Mapping[str, Any]) -> bytes:
        """The record as it is stored, with what else is to be kept in it."""
        nodes = {str(node): [made, image.hex(), epoch] for node, (made, image, epoch) in self.nodes.items()}
        content: dict[str, Any] = {"master": self.master, "nodes": nodes, **extra}
        if self.took:
            content["took"] = self.took
        if self.spent:
            made = {node: _text(restored) for node, restored in self.made.items()}
            content |= {"spent": self.spent, "restored": _text(self.restored), "made": made}
        return pack("gateway", content)

    @classmethod
    def decode(cls, record: bytes) -> NodesRecord:
        """Of what is stored; ValueError where it is damaged."""
        try:
            content = unpack("gateway", record)
            master = content["master"]
            nodes = {whole(node, BROADCAST): figures for node, figures in content["nodes"].items()}
            return cls(
                master,
                {
                    node: (whole(made, GENERATION_MAX), bytes.fromhex(image), whole(epoch, NUMBER_MAX))
                    for node, (made, image, epoch) in nodes.items()
                },
                {
                    whole(node, BROADCAST): (whole(epoch, NUMBER_MAX), whole(counter, NUMBER_MAX))
                    for node, (epoch, counter) in content.get("took", {}).items()
                },
                whole(content.get("spent", 0), GENERATION_MAX),
                _restored(content.get("restored", 0)),
                {whole(node, BROADCAST): _restored(made) for node, made in content.get("made", {}).items()},
            )
        except (KeyError, TypeError, AttributeError):
            raise ValueError from None


def _restored(value: Any) -> Restored:
    if not isinstance(value, str):
        return whole(value, NUMBER_MAX)
    random = bytes.fromhex(value)
    if len(random) != RESTORED_BYTES:
        raise ValueError
    return random


def _text(restored: Restored) -> int | str:
    return restored.hex() if isinstance(restored, bytes) else restored


def whole(value: Any, highest: int) -> int:
    """A number from 0 on, or its digits as a name in JSON; ValueError where it is none."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 2:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= highest:
        raise ValueError
    return value
