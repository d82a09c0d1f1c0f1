"""A node with OSCORE on the bare transport (node_native.py) behind a gateway with a CoAP proxy, for tests."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

from gateway_bed import PACKET, Field
from motecrypt.link.gateway.bare import BareNode
from motecrypt.link.gateway.protocols.coap.context import OscoreContext, new_context
from motecrypt.link.gateway.protocols.coap.opening import open_coap
from motecrypt.link.native import LISTENS, SHORT, STREAM
from node_native import NativeNode, compiled_node

NODE = 7
SOON_S = 30.0


class BareWorld:
    """A gateway, node 7 on the bare transport, a radio between them that loses packets.

    Parameters
    ----------
    loss : float
        The share of packets that are lost, of each direction.
    faster : int
        Time goes by so many times faster for the node.

    Attributes
    ----------
    air : the packets that were sent, of both directions.
    """

    def __init__(
        self,
        folder: Path,
        servers: tuple[str, ...] = (),
        loss: float = 0.0,
        observes: bool = False,
        context: OscoreContext | None = None,
        faster: int = 1,
    ) -> None:
        self.field = Field(folder, 5)
        self.context = context or new_context(NODE)
        storage = self.context.stored(self.field.gateway.provision(NODE, SHORT | LISTENS | STREAM))
        self.library = compiled_node(folder / "node.so", "-O2", "-shared", "-fPIC")
        self.observes, self._faster = observes, faster
        self.node = NativeNode(self.library, storage, observes)
        assert self.node.status == 0
        self.proxy = open_coap("127.0.0.1:0", servers, [], [NODE])
        self.field.service.speak([self.proxy], [], {NODE: BareNode(NODE, PACKET)})
        self.address = self.proxy.addresses()[0]
        self.client_folder = folder / "client"
        self.client_folder.mkdir()
        for path, content in self.context.client_files(self.client_folder).items():
            path.write_bytes(content)
        self._random, self._loss = random.Random(4), loss
        self._begun = time.monotonic()
        self.air: list[bytes] = []

    @property
    def now_ms(self) -> int:
        """The time at the node."""
        return int((time.monotonic() - self._begun) * 1000 * self._faster)

    def say(self, packets: list[bytes]) -> None:
        """What the node sends."""
        for packet in packets:
            self.air.append(packet)
            if self._random.random() >= self._loss:
                self.field.radios[0].put(packet)

    def turn(self) -> None:
        """A turn of the gateway, then of the node."""
        self.field.read()
        for packet in self.field.radios[0].get():
            self.air.append(packet)
            if self._random.random() >= self._loss:
                self.say(self.node.receive(packet, self.now_ms))
        self.say(self.node.poll(self.now_ms))

    def until(self, over: Callable[[], object]) -> None:
        """Go on until something is so."""
        end = time.monotonic() + SOON_S
        while not over():
            assert time.monotonic() < end, "it never came"
            self.turn()

    def restart(self) -> None:
        """The node loses its power."""
        self.node = NativeNode(self.library, self.node.storage, self.observes)
        assert self.node.status == 0

    def close(self) -> None:
        """End it."""
        for thread in self.field.service._protocols:
            thread.stop()
            thread.join(SOON_S)
        self.field.crash()
