"""A gateway that speaks TFTP, with nodes (firmware/tftp over the link) behind a radio that loses packets."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from gateway_bed import DEADLINE_S, OPTIONS, PACKET, Field
from motecrypt.link.gateway.protocols.address import listen_udp
from motecrypt.link.gateway.protocols.tftp.proxy import TftpProxy
from motecrypt.link.native import CONFIRMED, Event, framing
from motecrypt.link.tftp.cost import ack_bytes, confirmed
from tftp_ends import Node

FRAMING = framing(OPTIONS, PACKET)
ROOM = 123
"""Bytes of the longest message over packets of 12 bytes."""


class TftpField(Field):
    """The gateway at UDP ports of its own choice, and nodes.

    Attributes
    ----------
    ends : by node number.
    address : where clients ask.
    on_air : packets of the radio, up and down.
    """

    def __init__(
        self,
        folder: Path,
        *nodes: int,
        loss: float = 0.0,
        served: bool = True,
        timeout_s: float = 0.3,
        heard: bool = True,
    ) -> None:
        super().__init__(folder, *nodes)
        self.ends = {node: Node(ROOM, timeout_ms=300, ack_bytes=ack_bytes(FRAMING)) for node in nodes}
        self._loss, self._random, self.on_air = loss, Random(1), [0, 0]
        self.heads = dict.fromkeys(nodes, (OPTIONS, PACKET))
        (folder / "served").mkdir()
        (folder / "put").mkdir()
        inner = (folder / "served", folder / "put") if served else (None, None)
        self.proxy = TftpProxy(listen_udp("--tftp", "0"), self.heads, timeout_s, *inner, self.told.append)
        self.address = self.proxy.sockets()[0].getsockname()[:2]
        self.service.speak([self.proxy], nodes)
        self._sent = dict.fromkeys(nodes, 0)
        for node in nodes if heard else ():  # synchronised from the start
            self.exchange(node, b"hello")

    def exchange(self, node: int, content: bytes) -> None:
        """A confirmed reading."""
        self.up(node, content, CONFIRMED)

    def step(self) -> None:
        """A turn of everything."""
        self.service.turn(self.stop)
        now_s = time.monotonic()
        for packet in self.radios[0].get():
            self.on_air[1] += 1
            if self._random.random() >= self._loss:
                self._down(packet, now_s)
        for node, end in self.ends.items():
            link = self.nodes[node]
            told = link.poll(int(now_s * 1000))
            end.blocked = link.waiting
            if told is Event.UNCONFIRMED or not link.waiting:
                end.poll(now_s)
            self._say(node)

    def _down(self, packet: bytes, now_s: float) -> None:
        node = packet[0] & 63
        link, end = self.nodes[node], self.ends[node]
        event = link.receive(packet)
        end.blocked = link.waiting
        if event is Event.MESSAGE:
            content = link.message()
            link.answer(True)
            end.receive(content, now_s)
        elif event in (Event.ACCEPTED, Event.REFUSED):
            end.left(now_s)
        self._say(node)

    def _say(self, node: int) -> None:
        """What the node puts is a message of the link."""
        link, end = self.nodes[node], self.ends[node]
        for packet in end.sent[self._sent[node] :]:
            self._sent[node] += 1
            how = CONFIRMED if confirmed(len(packet), FRAMING) else 0
            assert link.send(packet, how) in (Event.SENT, Event.WAITING, Event.BUSY)
        for packet in self.packets(node):
            self.on_air[0] += 1
            if self._random.random() >= self._loss:
                self.radios[0].put(packet)

    def until_so(self, condition: Callable[[], object], seconds: float = DEADLINE_S) -> None:
        """Go on until something is so."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, (self.told, self.proxy.statistics())
            self.step()

    def close(self) -> None:
        """End all threads."""
        for thread in self.service._protocols:
            thread.stop()
            thread.join(DEADLINE_S)
            assert not thread.is_alive()
        self.crash()
