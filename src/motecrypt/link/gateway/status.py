"""The state of each node, from a gateway's record: of a gateway that runs, or of the file."""

from __future__ import annotations

from dataclasses import dataclass

from motecrypt.link.gateway.items import utc
from motecrypt.link.gateway.operated import OperatedGateway
from motecrypt.link.gateway.stored import FAILED_TAGS_MAX, stored_end


@dataclass(frozen=True)
class NodeStatus:
    """A node at its gateway.

    Attributes
    ----------
    generation, epoch : of its keys; no epoch (None) if the keys are void.
    epoch_unconfirmed : whether it has a new epoch that it has not confirmed.
    last_seen : when a message of it was taken last, in UTC; None if that is not known.
    messages, missed : taken under these keys; counters below the newest whose message never came.
    loss : the share of these; None before the first message.
    failed_tags, failed_tags_max : wrong short tags, and after how many only long messages are accepted.
    battery_mv : its battery, by the last message that said it; None if none did.
    """

    node: int
    generation: int
    epoch: int | None
    epoch_unconfirmed: bool
    last_seen: str | None
    messages: int
    missed: int
    loss: float | None
    failed_tags: int
    failed_tags_max: int = FAILED_TAGS_MAX
    battery_mv: int | None = None


def node_statuses(gateway: OperatedGateway) -> list[NodeStatus]:
    """Of every number that was ever given out."""
    return [
        _status(gateway, entry.node, entry.generation, entry.epoch_unconfirmed)
        for entry in gateway.registry()
    ]


def _status(gateway: OperatedGateway, node: int, generation: int, unconfirmed: bool) -> NodeStatus:
    storage, heard = gateway.storage(node), gateway.heard.get(node)
    end = stored_end(storage) if storage else None
    now = heard if end and heard and (heard.generation, heard.epoch) == (generation, end.epoch) else None
    return NodeStatus(
        node,
        generation,
        end.epoch if end else None,
        unconfirmed,
        utc(heard.last_s) if heard else None,
        now.messages if now else 0,
        now.missed if now else 0,
        now.loss if now else None,
        end.failed_tags if end else 0,
        battery_mv=heard.battery_mv if heard else None,
    )
