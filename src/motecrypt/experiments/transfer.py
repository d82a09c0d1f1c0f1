"""One message after the other over a serial radio in virtual time, in each of the link's modes.

The bytes are those that `send` would write, made by the same code; the radios are the event-by-event
pair. Beside the times it keeps how long this host takes to encrypt, which is measured, not modelled.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

from motecrypt.errors import MotecryptError
from motecrypt.findings.radio_transfer import KIND, MODES, VERSION, TransferQuestion
from motecrypt.link import Counters, MemoryStore, Receiver, Sender, Timing, Window
from motecrypt.link.files import plain
from motecrypt.link.modes import decode, encode
from motecrypt.link.sealing import Sealer
from motecrypt.model import Finding
from motecrypt.radios import Radio, RadioPair, load_radio
from motecrypt.results import Results

KEY = bytes(range(32))
"""Times do not depend on the key."""

ENCRYPTIONS = 50


class Transfer(TransferQuestion):
    """Messages of these sizes, in every mode and with each timeout, sent in virtual time."""

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> Finding:
        """The finding, run now if it is not stored yet."""
        stored = self.kept(results, self.asked())
        if stored is not None:
            return stored
        rows = []
        for mode in MODES:
            if progress is not None:
                progress(f"mode {mode}")
            rows += [self._row(mode, size) for size in self.message_bytes]
        return results.store_finding(KIND, VERSION, self.asked(), {"rows": rows})

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
    """Write what the mode makes of the message; when its last byte is out at the other end."""
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


def _safe(radio: Radio, message: bytes) -> dict[str, Any]:
    """Send the message over the safe link; when the receiver has it, and when the sender knows."""
    got: list[bytes] = []
    sender = Sender(KEY, Counters(MemoryStore(), KEY), Timing.of(radio))
    receiver = Receiver(KEY, Window(MemoryStore()), radio.packet_bytes, lambda m, s, c: got.append(m))
    pair = RadioPair(radio)
    sender.submit(plain(message), pair.now_us)
    output = sender.take_output()
    pair.write(0, output, pair.now_us)
    delivered_us = 0.0
    while sender.busy and (due := pair.next_us()) is not None:
        arrivals = pair.advance(due)
        for arrival in arrivals:
            if arrival.end == 0:
                sender.feed(arrival.data, arrival.time_us)
            else:
                receiver.feed(arrival.data)
                delivered_us = delivered_us or (arrival.time_us if got else 0.0)
                pair.write(1, receiver.take_output(), arrival.time_us)
    if got != [plain(message)] or sender.busy:
        raise MotecryptError(f"transfer of {len(message)} bytes in the safe mode: not accepted")
    return {
        "sent_bytes": len(output),
        "packets": pair.tally(0).sent,
        "air_us": round(pair.tally(0).air_time_us, 3),
        "write_us": round(len(output) * radio.serial_byte_us, 3),
        "delivery_us": round(delivered_us, 3),
        "confirmed_us": round(pair.now_us, 3),
    }


def _encryption_us(mode: str, message: bytes) -> float:
    """Median time to encrypt on this host, in us; 0 for plaintext."""
    if mode == "T":
        return 0.0
    sealer, times = Sealer(os.urandom(32)), []
    for number in range(ENCRYPTIONS):
        begun = time.perf_counter()
        if mode == "safe":
            sealer.seal(1, number, plain(message))
        else:
            encode(mode, KEY, message)
        times.append(1e6 * (time.perf_counter() - begun))
    return statistics.median(times)
