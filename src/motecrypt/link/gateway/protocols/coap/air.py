"""Nodes on the bare transport, as the message layer of UDP sees them: peers whose address is their number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from motecrypt.link.gateway.orders import WAIT_S
from motecrypt.link.gateway.protocols import Downlink, Outcome
from motecrypt.link.gateway.protocols.coap.message import CoapKind, decode
from motecrypt.link.gateway.protocols.coap.udp import Peer, UdpLayer


class BareAir:
    """Replaces a socket: a message to a node goes to the radio, once."""

    def begin(self, downlink: Downlink) -> None:
        """Keep the way down."""
        self._downlink = downlink

    def sendto(self, data: bytes, address: Any, /) -> int:
        """Send a message to the node with that number."""
        self._downlink.send(address, data, lambda outcome: None, confirmed=False, wait_s=0)
        return len(data)

    def getpeername(self) -> Any:
        """It is connected to nobody."""
        raise OSError("the radio reaches every node")


class BareDownlink(Downlink):
    """The way down to bare nodes: requests are confirmable messages of CoAP, which repeats them.

    Parameters
    ----------
    now_s : callable
        The time.
    """

    def __init__(self, downlink: Downlink, udp: UdpLayer, air: BareAir, now_s: Callable[[], float]) -> None:
        self._udp, self._air, self._now_s = udp, air, now_s
        self.longest = downlink.longest

    def send(
        self, node: int, content: bytes, told: Outcome, confirmed: bool = True, wait_s: float = WAIT_S
    ) -> None:
        """Send a request: "accepted" immediately, and something else later if the node does not answer."""
        message = decode(content)

        def lost(why: str) -> None:
            told("refused" if why == "reset" else "unconfirmed")

        peer = Peer(self._air, node)
        sent = self._udp.send(peer, CoapKind.CON, message, message.token, self._now_s(), lost)
        told("accepted" if sent else "busy")
