"""Messages a second that a gateway takes and keeps: readings of six bytes of twenty nodes, in short packets.

Threshold: at least 5,000 a second of processor time, and at least 50 messages for each write of the record,
which a disk then has to sync only a hundred times a second.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from motecrypt.link.gateway import Gateway, NodeMessage
from motecrypt.link.state import FileStore
from motecrypt.toolchain.link import LISTENS, SHORT, STREAM, Event, NativeLink, link_library, open_library

THRESHOLD = 5000
MESSAGES_A_WRITE = 50
NODES = 20
AT_ONCE = 5
BATCHES = 400
READING = b"21.4 C"


class Counted(FileStore):
    """A record in a file, whose writes are counted."""

    writes = 0

    def write(self, record: bytes) -> None:
        """Replace the record."""
        self.writes += 1
        super().write(record)


def main() -> int:
    """Measure, and print what was measured."""
    with tempfile.TemporaryDirectory(prefix="motecrypt-bench.", dir=Path.cwd()) as scratch:
        store = Counted(Path(scratch) / "gateway")
        gateway = Gateway(store, bytes(16), packet_bytes=12)
        library = open_library(link_library("aes128-ccm"))
        nodes = {number: NativeLink(library) for number in range(NODES)}
        for number, node in nodes.items():
            if node.begin(gateway.provision(number, SHORT | LISTENS | STREAM)) is not Event.NOTHING:
                return 1
        taken = 0

        def hand_over(messages: Sequence[NodeMessage]) -> list[bool]:
            nonlocal taken
            taken += len(messages)
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
        f"{taken:,} messages, {taken / used:,.0f} a second of processor time, "
        f"{taken / writes:.0f} for each write; with this disk and the nodes {taken / seconds:,.0f} a second"
    )
    return 0 if taken / used >= THRESHOLD and taken / writes >= MESSAGES_A_WRITE else 1


if __name__ == "__main__":
    sys.exit(main())
