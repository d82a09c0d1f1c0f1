"""Messages a second that a gateway takes and keeps: readings of six bytes of twenty nodes, in short packets.

Once with its record in a file, as in `receive`, and once with the spool of `gateway`, which keeps the
messages, too. Threshold of each: at least 5,000 a second of processor time, and at least 50 messages for each
write, which a disk then has to sync only a hundred times a second.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from motecrypt.link.gateway.items import Item
from motecrypt.link.gateway.spool import Spool
from motecrypt.link.gateway_end import Gateway, NodeMessage
from motecrypt.link.native import LISTENS, SHORT, STREAM, Event, NativeLink, link_library, open_library
from motecrypt.link.state import FileStore

THRESHOLD = 5000
MESSAGES_A_WRITE = 50
NODES = 20
AT_ONCE = 5
BATCHES = 400
READING = b"21.4 C"


class _Counted(FileStore):
    """A record in a file, whose writes are counted."""

    writes = 0

    def write(self, record: bytes) -> None:
        """Replace the record."""
        self.writes += 1
        super().write(record)

    def take(self, messages: Sequence[NodeMessage]) -> None:
        """Who gets them keeps nothing."""


class _Spooled(Spool):
    """A spool, which counts its writes itself."""

    def take(self, messages: Sequence[NodeMessage]) -> None:
        """Have them kept by the next write."""
        self.put(
            Item(
                node=message.node,
                generation=message.generation,
                epoch=message.epoch,
                counter=message.counter,
                kind="message",
                received_ms=0,
                content=message.content,
                length=len(message.content),
            )
            for message in messages
        )


def main() -> int:
    """Measure both, and print what was measured."""
    with tempfile.TemporaryDirectory(prefix="motecrypt-bench.", dir=Path.cwd()) as scratch:
        good = _measure("record", _Counted(Path(scratch) / "record"))
        spool = _Spooled(FileStore(Path(scratch) / "spool"))
        return 0 if _measure("spool", spool) and good else 1


def _measure(name: str, store: _Counted | _Spooled) -> bool:
    gateway = Gateway(store, bytes(16), packet_bytes=12, together=isinstance(store, Spool))
    library = open_library(link_library("aes128-ccm"))
    nodes = {number: NativeLink(library) for number in range(NODES)}
    for number, node in nodes.items():
        if node.begin(gateway.provision(number, SHORT | LISTENS | STREAM)) is not Event.NOTHING:
            return False
    taken = 0

    def hand_over(messages: Sequence[NodeMessage]) -> list[bool]:
        nonlocal taken
        taken += len(messages)
        store.take(messages)
        return [True] * len(messages)

    used, before, started = 0.0, store.writes, time.monotonic()
    for _ in range(BATCHES):
        packets = []
        for node in nodes.values():
            for _ in range(AT_ONCE):
                node.send(READING)
            packets += node.packets()
        begun = time.process_time()
        gateway.receive(packets, hand_over)
        answers = gateway.take_packets()
        used += time.process_time() - begun
        for answer in answers:
            nodes[answer[0] & 63].receive(answer)
    seconds, writes = time.monotonic() - started, store.writes - before
    store.close()
    print(
        f"{name}: {taken:,} messages, {taken / used:,.0f} a second of processor time, "
        f"{taken / writes:.0f} for each write; with this disk and the nodes {taken / seconds:,.0f} a second"
    )
    return taken / used >= THRESHOLD and taken / writes >= MESSAGES_A_WRITE


if __name__ == "__main__":
    sys.exit(main())
