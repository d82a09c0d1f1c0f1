"""motecrypt send: the sender of messages and files over a serial radio."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from motecrypt.cli._link_options import (
    chosen_key,
    chosen_radio,
    link_options,
    module_commands,
    state_path,
)
from motecrypt.cli._output import json_option, print_json, progress
from motecrypt.errors import InputError, MotecryptError
from motecrypt.link import Counters, FileStore, Sender, SendOutcome, Timing, largest_message_bytes, metrics
from motecrypt.link.files import file_messages, plain
from motecrypt.link.modes import MODES, encode
from motecrypt.paths import read_regular
from motecrypt.radios import Radio, costs
from motecrypt.setup import need

if TYPE_CHECKING:
    from motecrypt.ports.serial_port import SerialPort
    from motecrypt.ports.signals import Stop

FRAGMENTS = 64
"""Fragments of one piece of a file: long enough to fill the air, short enough to show progress."""


@click.command(
    epilog="Example: motecrypt send /dev/ttyAMA0 --key link.key 'pump 3 is on'",
)
@click.argument("port", metavar="PORT")
@click.argument("messages", nargs=-1, metavar="[MESSAGE]...")
@click.option(
    "--file",
    "files",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file to send; may be repeated.",
)
@click.option("--tries", type=click.IntRange(1, 1000), default=5, help="Times a message is sent anew.")
@click.option(
    "--interval-ms", type=click.FloatRange(0), default=500.0, help="Pause after each message (not safe)."
)
@link_options
@json_option
def command(
    port: str,
    messages: tuple[str, ...],
    files: tuple[Path, ...],
    tries: int,
    interval_ms: float,
    key_file: Path | None,
    mode: str,
    radio_name: str,
    packet_bytes: int | None,
    baud: int,
    state: Path | None,
    module_key: Path | None,
    as_json: bool,
) -> None:
    """Send messages and files over the serial radio at PORT; lines from standard input where none is named.

    The safe mode encrypts and authenticates with AES-CCM, never uses a counter twice, sends again what
    is lost, and tells of each message whether the receiver has it. Exit code 1: one was not confirmed.
    """
    need("link")
    from motecrypt.ports.commands import configure
    from motecrypt.ports.serial_port import SerialPort
    from motecrypt.ports.signals import Stop

    radio = chosen_radio(radio_name, packet_bytes)
    key = chosen_key(mode, key_file)
    if files and mode != "safe":
        raise InputError("--file: the paper's modes carry messages only; leave --mode out")
    contents = [(path.name, _read(path)) for path in files]
    texts = [message.encode() for message in messages]
    if not texts and not files:
        texts = [line.rstrip(b"\n") for line in sys.stdin.buffer]
    commands = module_commands(module_key)
    with Stop() as stop, SerialPort(port, baud) as opened:
        if commands:
            configure(opened, commands, stop)
        if mode == "safe":
            store = FileStore(state_path(state, key_file, "counter"))
            sender = Sender(key, Counters(store, key), Timing.of(radio), time.perf_counter)
            parts = _parts(texts, contents, radio)
            summary = _send_safe(opened, sender, parts, tries, stop)
        else:
            summary = _send_paper(opened, mode, key, texts, radio, interval_ms / 1000, stop)
    _print(summary, as_json)
    if summary["failed"]:
        raise MotecryptError(summary["failed"])


def _read(path: Path) -> bytes:
    try:
        return read_regular(path)
    except InputError as error:
        raise InputError(f"--file {error}") from None


def _parts(
    texts: list[bytes], files: list[tuple[str, bytes]], radio: Radio
) -> list[tuple[str, Iterator[bytes], int]]:
    """What to send, one entry for each message or file: its name, its sealed parts, its length."""
    largest = largest_message_bytes(radio.packet_bytes)
    for text in texts:
        if len(text) > largest - 1:
            raise InputError(f"a message of {len(text)} bytes; {largest - 1} is the most, else use --file")
    longest = max(min(largest, largest * FRAGMENTS // 255), 60)
    parts = [("message", iter([plain(text)]), len(text)) for text in texts]
    return parts + [(name, file_messages(name, content, longest), len(content)) for name, content in files]


def _send_safe(
    port: SerialPort,
    sender: Sender,
    parts: list[tuple[str, Iterator[bytes], int]],
    tries: int,
    stop: Stop,
) -> dict[str, Any]:
    from motecrypt.ports.session import transmit

    begun, frame_length, lost, sent = time.monotonic(), 0, [], 0
    total = sum(length for _, _, length in parts)
    with progress("send") as report:
        for name, messages, length in parts:
            done = sent
            for message in messages:
                outcome = SendOutcome.UNCONFIRMED
                for _ in range(tries if name != "message" else 1):
                    # A piece of a file does no harm when it comes twice; a message would.
                    outcome = transmit(port, sender, message, stop)
                    if outcome is SendOutcome.ACCEPTED or stop.asked or not sender.heard:
                        break
                if outcome is not SendOutcome.ACCEPTED:
                    lost.append(f"{name}: {outcome.value}{_why(outcome, sender, stop)}")
                    break
                done = min(done + len(message), sent + length)
                report(done, total, name)
            sent += length
            if stop.asked:
                break
    seconds, tally = time.monotonic() - begun, sender.tally
    frame_length = sender.frame_bytes
    return {
        "mode": "safe",
        "items": len(parts),
        "message_bytes": total,
        "sent_bytes": tally.frames * frame_length,
        "expansion": metrics.expansion(tally.frames * frame_length, total) if total else None,
        "seconds": round(seconds, 3),
        "throughput_kb_s": metrics.throughput_kb_s(total, 1000 * seconds) if seconds else None,
        "encryption_ms": round(1000 * tally.sealing_s, 3),
        "frames": tally.frames,
        "frames_sent_again": tally.frames_again,
        "accepted": tally.accepted,
        "refused": tally.refused,
        "unconfirmed": tally.unconfirmed,
        "failed": "; ".join(lost),
    }


def _why(outcome: SendOutcome, sender: Sender, stop: Stop) -> str:
    if stop.asked:
        return " (stopped)"
    if outcome is SendOutcome.REFUSED:
        return " (the receiver had it in hand before, and may have it; it takes nothing twice)"
    if sender.heard:
        return " (the receiver answers but accepts nothing: have both ends the same key?)"
    return " (no answer: is the receiver running, with the same packet length and module key?)"


def _send_paper(
    port: SerialPort, mode: str, key: bytes, texts: list[bytes], radio: Radio, interval_s: float, stop: Stop
) -> dict[str, Any]:
    from motecrypt.ports.session import pause, write_all

    print(
        f"motecrypt: mode {mode} ({MODES[mode].title}) is there to reproduce a paper; do not deploy it",
        file=sys.stderr,
    )
    rows = []
    with progress("send") as report:
        for number, text in enumerate(texts, start=1):
            begun = time.perf_counter()
            data = encode(mode, key, text, radio.packet_bytes)
            encryption_ms = 1000 * (time.perf_counter() - begun)
            write_ms = 1000 * write_all(port, data, stop)
            cost = costs(radio, max(len(data), 1))
            plain_ms = costs(radio, max(len(text), 1)).delivery_time_us / 1000
            rows.append(
                {
                    "message_bytes": len(text),
                    "sent_bytes": len(data),
                    "expansion": metrics.expansion(len(data), len(text)) if text else None,
                    "encryption_ms": round(encryption_ms, 4),
                    "write_returned_ms": round(write_ms, 4),
                    "line_rate_bound_ms": round(cost.write_time_us / 1000, 3),
                    "model_delivery_ms": round(cost.delivery_time_us / 1000, 3),
                    "throughput_kb_s": round(
                        metrics.throughput_kb_s(len(data), cost.delivery_time_us / 1000), 3
                    ),
                    "time_difference_ms": round(
                        metrics.time_difference_ms(cost.delivery_time_us / 1000, plain_ms), 3
                    ),
                }
            )
            report(number, len(texts), "message")
            pause(port, cost.delivery_time_us / 1e6 + interval_s, stop)
            if stop.asked:
                break
    unsent = len(texts) - len(rows)
    return {
        "mode": mode,
        "items": len(texts),
        "messages": rows,
        "failed": f"{unsent} messages not sent (stopped)" if unsent else "",
    }


def _print(summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(summary)
        return
    if summary["mode"] != "safe":
        for row in summary["messages"]:
            print(
                f"{row['message_bytes']} bytes as {row['sent_bytes']}: "
                f"encrypted in {row['encryption_ms']} ms, "
                f"write() returned after {row['write_returned_ms']} ms; the line needs "
                f"{row['line_rate_bound_ms']} ms, delivery {row['model_delivery_ms']} ms by the model "
                f"({row['time_difference_ms']:+} ms to plaintext, {row['throughput_kb_s']} KB/s)"
            )
        return
    rate = summary["throughput_kb_s"]
    print(
        f"{summary['message_bytes']} bytes in {summary['seconds']} s"
        + (f" ({rate:.3f} KB/s)" if rate else "")
        + f": {summary['accepted']} sealed messages accepted, {summary['refused']} refused, "
        f"{summary['unconfirmed']} unconfirmed; {summary['frames']} frames, "
        f"{summary['frames_sent_again']} of them again; {summary['sent_bytes']} bytes sent; "
        f"encryption {summary['encryption_ms']} ms"
    )
