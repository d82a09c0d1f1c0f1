"""What send does through a gateway that runs: orders at its local socket."""

from __future__ import annotations

import time
from pathlib import Path

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.cli._output import print_json

OUTCOME_S = 120.0
"""More than the link needs for any one message, with others waiting before it."""
_GOOD = ("accepted", "sent")


def send_through(
    socket: Path, node: int | None, contents: list[bytes], way: str, wait_s: float, as_json: bool
) -> None:
    """Have the gateway that listens there send messages to a node, and report their outcomes.

    Raises
    ------
    InputError
        No node is named, nobody listens there, or the gateway takes no such order.
    MotecryptError
        One was not accepted.
    """
    from motecrypt.link.gateway.control import ask
    from motecrypt.link.gateway.orders import GROUP

    if node is None:
        raise InputError(f"--to: missing; {socket} is a running gateway; name the node")
    if node == GROUP and way == "message":
        way = "unconfirmed"  # as when it is sent directly
    outcomes = []
    begun = time.monotonic()
    for content in contents:
        order = {"node": node, "hex": content.hex(), "as": way, "wait_s": wait_s}
        outcomes.append(ask(socket, order, wait_s + OUTCOME_S))
    seconds = round(time.monotonic() - begun, 3)
    bad = [told for told in outcomes if told["outcome"] not in _GOOD]
    failed = "; ".join(f"message: {told['outcome']}" + _because(told) for told in bad)
    if as_json:
        summary = {"node": node, "items": len(contents), "outcomes": outcomes, "seconds": seconds}
        print_json(summary | {"failed": failed})
    else:
        print(f"{len(outcomes) - len(bad)} of {len(outcomes)} messages accepted by node {node}")
    if failed:
        raise MotecryptError(failed)


def _because(told: dict[str, object]) -> str:
    return f" ({told['why']})" if "why" in told else ""
