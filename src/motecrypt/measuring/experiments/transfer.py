"""One message after the other over a serial radio in virtual time, in each of the link's modes.

The bytes are those that `send` would write, made by the same code; the radios are the event-by-event
pair. The host's time for encryption is stored, too; it is measured, not modelled.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from motecrypt.air.radios import Radio, RadioPair, load_radio
from motecrypt.base.errors import MotecryptError
from motecrypt.base.model import ExperimentResult
from motecrypt.link.gateway_end import Gateway
from motecrypt.link.modes import decode, encode
from motecrypt.link.native import (
    CONFIRMED,
    LISTENS,
    LONG,
    SHORT,
    STREAM,
    Event,
    KeyBlock,
    NativeLink,
    link_library,
    message_bytes_max,
    open_library,
)
from motecrypt.link.node import HostNode, node_record
from motecrypt.link.state import MemoryStore
from motecrypt.link.stream import StreamReader
from motecrypt.link.told import NodeMessage
from motecrypt.results import Results
from motecrypt.results.experiments.radio_transfer import KIND, MODES, VERSION, TransferQuestion

KEY = bytes(range(32))
"""Times do not depend on the key."""

MASTER = bytes(range(16))
"""The link's keys are derived from it and never used in the paper's modes."""

NODE = 1
PACKET_BYTES = 12
OPTIONS = SHORT | LISTENS | STREAM
ENCRYPTIONS = 50


class Transfer(TransferQuestion):
    """Messages of these sizes, in every mode and with each timeout, sent in virtual time."""

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        """The result, run now if it is not stored yet."""
        stored = self.kept(results, self.asked())
        if stored is not None:
            return stored
        rows = []
        for mode in MODES:
            if progress is not None:
                progress(f"mode {mode}")
            rows += [self._row(mode, size) for size in self.message_bytes]
        return results.store_experiment(KIND, VERSION, self.asked(), {"rows": rows})

    def _row(self, mode: str, size: int) -> dict[str, Any]:
        message = bytes(ord("a") + index % 26 for index in range(size))
        row: dict[str, Any] = {"mode": mode, "message_bytes": size, "delivery_us": {}}
        for timeout_ms in self.timeouts_ms:
            radio = load_radio(self.radio).with_figures(timeout_ms=timeout_ms)
            run = _safe(radio, message) if mode == "safe" else _paper(radio, mode, message)
            row["delivery_us"][f"{timeout_ms:g}"] = run.pop("delivery_us")
            row |= run
        row["encryption_us"] = round(_encryption_us(mode, message), 2)
        return row


def _paper(radio: Radio, mode: str, message: bytes) -> dict[str, Any]:
    """Write the encoded message; returns when its last byte is out at the other end."""
    data = encode(mode, KEY, message, radio.packet_bytes)
    pair = RadioPair(radio)
    pair.write(0, data, pair.now_us)
    arrived, last_us = b"", 0.0
    while (due := pair.next_us()) is not None:
        arrivals = pair.advance(due)
        for arrival in arrivals:
            arrived += arrival.data
            last_us = arrival.time_us
    if decode(mode, KEY, arrived) != message:
        raise MotecryptError(f"transfer of {len(message)} bytes in mode {mode}: arrived as something else")
    return {
        "sent_bytes": len(data),
        "packets": pair.tally(0).sent,
        "air_us": round(pair.tally(0).air_time_us, 3),
        "write_us": round(len(data) * radio.serial_byte_us, 3),
        "delivery_us": round(last_us, 3),
    }


def _in_step(packet_bytes: int, hand_over: Callable[[bytes], None]) -> tuple[HostNode, Callable[..., None]]:
    """A node whose gateway has had its first message, and how the gateway takes packets and answers them."""
    gateway = Gateway(MemoryStore(), MASTER, packet_bytes=packet_bytes)
    node = HostNode(MemoryStore(node_record("aes128-ccm", gateway.provision(NODE, OPTIONS))))
    reader = StreamReader(packet_bytes)

    def taken(messages: Sequence[NodeMessage]) -> list[bool]:
        for message in messages:
            hand_over(message.content)
        return [True] * len(messages)

    def hear(data: bytes, at_us: float, answer: Callable[[bytes], None]) -> None:
        gateway.receive(reader.packets(data, int(at_us / 1000)), taken, reader.slip)
        answer(b"".join(gateway.take_packets()))

    node.send(b"", CONFIRMED | LONG)
    gateway.receive(node.take_packets(), lambda messages: [True] * len(messages))
    node.receive(gateway.take_packets(), lambda messages: [])
    node.take_events()
    return node, hear


def _parts(message: bytes, packet_bytes: int) -> list[bytes]:
    """The message, or what it is cut into where it does not fit into one of the link."""
    longest = message_bytes_max(OPTIONS, packet_bytes, CONFIRMED)
    return [message[at : at + longest] for at in range(0, max(len(message), 1), longest)]


def _safe(radio: Radio, message: bytes) -> dict[str, Any]:
    """Send the message over the secure link; when the gateway has it, and when the node knows."""
    got: list[bytes] = []
    node, hear = _in_step(radio.packet_bytes, got.append)
    pair, reader = RadioPair(radio), StreamReader(radio.packet_bytes)
    delivered_us, sent = 0.0, 0
    parts = _parts(message, radio.packet_bytes)
    for number, part in enumerate(parts, 1):
        node.send(part, CONFIRMED)
        output = b"".join(node.take_packets())
        sent += len(output)
        pair.write(0, output, pair.now_us)
        outcomes: list[Event] = []
        while not outcomes and (due := pair.next_us()) is not None:
            for arrival in pair.advance(due):
                at_us = arrival.time_us
                if arrival.end == 0:
                    packets = reader.packets(arrival.data, int(at_us / 1000))
                    node.receive(packets, lambda messages: [False] * len(messages), reader.slip)
                    outcomes += [told.event for told in node.take_events()]
                else:
                    hear(arrival.data, at_us, lambda data: pair.write(1, data, pair.now_us))
                    delivered_us = at_us if len(got) == number and not outcomes else delivered_us
        if outcomes != [Event.ACCEPTED]:
            raise MotecryptError(f"transfer of {len(message)} bytes in the safe mode: not accepted")
    if got != parts:
        raise MotecryptError(f"transfer of {len(message)} bytes in the safe mode: arrived as something else")
    return {
        "sent_bytes": sent,
        "packets": pair.tally(0).sent,
        "air_us": round(pair.tally(0).air_time_us, 3),
        "write_us": round(sent * radio.serial_byte_us, 3),
        "delivery_us": round(delivered_us, 3),
        "confirmed_us": round(pair.now_us, 3),
    }


def _encryption_us(mode: str, message: bytes) -> float:
    """Median time to encrypt on this host, in us; 0 for plaintext."""
    if mode == "T":
        return 0.0
    encrypt = _link_encrypts(message) if mode == "safe" else lambda: encode(mode, KEY, message)
    times = []
    for _ in range(ENCRYPTIONS):
        begun = time.perf_counter()
        encrypt()
        times.append(1e6 * (time.perf_counter() - begun))
    return statistics.median(times)


def _link_encrypts(message: bytes) -> Callable[[], object]:
    """What makes the link's packets of a message."""
    link = NativeLink(open_library(link_library("aes128-ccm")))
    link.provision(KeyBlock(NODE, OPTIONS, PACKET_BYTES, 1, MASTER))
    link.begin()
    parts = _parts(message, PACKET_BYTES)

    def encrypt() -> None:
        for part in parts:
            link.send(part, LONG)
            link.packets()

    return encrypt
