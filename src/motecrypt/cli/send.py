"""motecrypt send: send messages and files over a serial radio."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from motecrypt.air.radios import Radio, costs, load_radio
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.paths import read_regular
from motecrypt.build.setup import need
from motecrypt.cli._link_options import (
    GROUP_NOTICE,
    NodeNumber,
    check_line,
    chosen_key,
    link_options,
    module_commands,
    named_key,
    until_the_end,
)
from motecrypt.cli._output import json_option, print_json, progress
from motecrypt.cli._through import send_through
from motecrypt.link import metrics
from motecrypt.link.file_parts import LENGTH_MAX, file_parts
from motecrypt.link.gateway.items import utc
from motecrypt.link.gateway.opening import open_gateway, open_node
from motecrypt.link.keys import link_end
from motecrypt.link.modes import MODES, encode

if TYPE_CHECKING:
    from motecrypt.base.serial_port import SerialPort
    from motecrypt.link.native import Event
    from motecrypt.link.ports.session import LinkEnd
    from motecrypt.link.ports.signals import Stop
    from motecrypt.link.told import NodeEvent, NodeMessage


@click.command(
    epilog="Example: motecrypt send /dev/ttyAMA0 --key node5.key 'pump 3 is on'",
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
@click.option(
    "--to",
    "node",
    type=NodeNumber(),
    default=None,
    help="With a gateway's key: the receiving node, or 'group' for all members of the broadcast group.",
)
@click.option("--hex", "as_hex", is_flag=True, help="The messages are bytes in hexadecimal.")
@click.option("--unconfirmed", is_flag=True, help="Do not request an answer, except if the link needs one.")
@click.option(
    "--command", "as_command", is_flag=True, help="Send as commands, which are refused if they come late."
)
@click.option(
    "--wait-s",
    type=click.FloatRange(0),
    default=10.0,
    show_default=True,
    help="With --to and --command: how long to wait first for a message of the node, so that the "
    "command is fresh.",
)
@click.option("--tries", type=click.IntRange(1, 1000), default=5, help="Retransmissions of a part of a file.")
@click.option(
    "--interval-ms",
    type=click.FloatRange(0),
    default=500.0,
    help="Pause after each message (published modes only).",
)
@link_options
@json_option
def command(
    port: str,
    messages: tuple[str, ...],
    files: tuple[Path, ...],
    node: int | None,
    as_hex: bool,
    unconfirmed: bool,
    as_command: bool,
    wait_s: float,
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

    With a node's key file they go to its gateway, with a gateway's and --to to that node. The secure link
    encrypts and authenticates, never uses a counter twice, sends again what is lost, and reports each
    message whether the other end has it. Exit code 1: one was not confirmed. Where PORT is the socket of a
    running 'motecrypt gateway', that sends, to the node that --to names.
    """
    if Path(port).is_socket():
        if mode != "safe" or files or key_file or state or module_key or (unconfirmed and as_command):
            raise InputError(f"{port} is a running gateway, which has the key: give --to and messages alone")
        texts = [_bytes(message, as_hex) for message in messages]
        asked = "command" if as_command else "unconfirmed" if unconfirmed else "message"
        texts = texts or [_line(line, as_hex) for line in sys.stdin.buffer]
        send_through(Path(port), node, texts, asked, wait_s if as_command else 0.0, as_json)
        return
    need("link")
    from motecrypt.base.serial_port import SerialPort
    from motecrypt.link.ports.commands import configure
    from motecrypt.link.ports.signals import Stop

    radio = load_radio(radio_name, packet_bytes)
    if mode != "safe" and (files or node is not None or unconfirmed or as_command):
        raise InputError(
            "--file, --to, --unconfirmed, --command: the paper's modes do not have them; omit --mode"
        )
    if unconfirmed and as_command:
        raise InputError("--unconfirmed, --command: a command always has an answer; give one of them")
    contents = [(path.name, _read(path)) for path in files]
    texts = [_bytes(message, as_hex) for message in messages]
    if not texts and not files:
        texts = [_line(line, as_hex) for line in sys.stdin.buffer]
    commands = module_commands(module_key)
    paper_key = b"" if mode == "safe" else chosen_key(mode, key_file)
    way = _way(key_file, node, state, radio) if mode == "safe" else None
    with Stop() as stop, SerialPort(port, baud) as opened:
        if commands:
            configure(opened, commands, stop)
        if way is not None:
            how = _how(way, unconfirmed, as_command, bool(files))
            delivery = _Delivery(opened, way, tries, stop)
            items = _items(texts, contents, way, how)
            if as_command and node is not None:
                delivery.hear_node(wait_s)
            summary = _send_safe(delivery, way, items, stop)
        else:
            summary = _send_paper(opened, mode, paper_key, texts, radio, interval_ms / 1000, stop)
    _print(summary, as_json)
    if summary["failed"]:
        raise MotecryptError(summary["failed"])


def _read(path: Path) -> bytes:
    try:
        content = read_regular(path)
    except InputError as error:
        raise InputError(f"--file {error}") from None
    if len(content) > LENGTH_MAX:
        raise InputError(f"--file {path}: longer than {LENGTH_MAX:,} bytes")
    return content


def _bytes(message: str, as_hex: bool) -> bytes:
    if not as_hex:
        return os.fsencode(message)
    try:
        return bytes.fromhex(message)
    except ValueError:
        raise InputError(f"--hex {message}: not hexadecimal; give digits such as 00ff") from None


def _line(line: bytes, as_hex: bool) -> bytes:
    line = line.removesuffix(b"\n")
    return _bytes(line.decode(errors="replace"), True) if as_hex else line


@dataclass(frozen=True)
class _Way:
    """An end of the link, and how it sends."""

    end: LinkEnd
    send: Callable[[bytes, int], Event]
    node: int
    options: int
    packet_bytes: int
    waits: Callable[[], bool] = lambda: False
    """Whether the node must confirm a new epoch first."""


def _way(key_file: Path | None, node: int | None, state: Path | None, radio: Radio) -> _Way:
    from motecrypt.air.link_timing import answer_ms

    path = named_key("safe", key_file)
    if link_end(path) == "node":
        if node is not None or state is not None:
            raise InputError(f"--to, --state: {path} is a node's key, which sends to its gateway; omit them")
        host = until_the_end(open_node(path, answer_ms(radio)))
        way = _Way(host, host.send, host.number, host.options, host.packet_bytes)
    else:
        if node is None:
            raise InputError(f"--to: missing; {path} is a gateway's key: name the node")
        number = node
        gateway = until_the_end(open_gateway(path, state, radio.packet_bytes, answer_ms(radio)))
        options, packet_bytes = gateway.head(number)
        way = _Way(
            end=gateway,
            send=lambda text, how: gateway.send(number, text, how),
            node=number,
            options=options,
            packet_bytes=packet_bytes,
            waits=lambda: number in gateway.epoch_unconfirmed,
        )
    check_line(way.node, way.options, way.packet_bytes, radio)
    return way


def _how(way: _Way, unconfirmed: bool, as_command: bool, files: bool) -> int:
    """How messages are sent."""
    from motecrypt.link.native import BROADCAST, COMMAND, CONFIRMED, GATEWAY, LISTENS

    if way.node == BROADCAST:
        if not way.options & GATEWAY:
            raise InputError("--key: a member of the group only receives; send with the key of its own node")
        if as_command or files:
            raise InputError(f"--to group: {GROUP_NOTICE}")
        return 0
    if way.options & LISTENS:
        return 0 if unconfirmed else CONFIRMED | (COMMAND if as_command else 0)
    if way.options & GATEWAY:
        raise InputError(f"node {way.node}: sends only and never receives")
    if as_command or files:
        raise InputError(
            f"node {way.node}: receives no answers; it can send messages, but no files or commands"
        )
    return 0


@dataclass(frozen=True)
class _Item:
    """A message or a file: what its parts are, each time that it is begun, and how they are sent."""

    name: str
    parts: Callable[[], Iterable[bytes]]
    length: int
    how: int
    again: bool
    """Whether a part may arrive twice without harm."""


def _items(texts: list[bytes], files: list[tuple[str, bytes]], way: _Way, how: int) -> list[_Item]:
    from motecrypt.link.native import CONFIRMED, FILE, message_bytes_max

    largest = message_bytes_max(way.options, way.packet_bytes, how)
    for text in texts:
        if len(text) > largest:
            raise InputError(f"a message of {len(text)} bytes; {largest} is the most, else use --file")
    part = message_bytes_max(way.options, way.packet_bytes, FILE)

    def message(text: bytes) -> _Item:
        return _Item("message", lambda: [text], len(text), how, False)

    def file(name: str, content: bytes) -> _Item:
        parts = lambda: file_parts(name, content, part)  # noqa: E731
        return _Item(name, parts, len(content), CONFIRMED | FILE, True)

    return [*map(message, texts), *(file(name, content) for name, content in files)]


_GOOD = ("accepted", "sent")


class _Delivery:
    """Sends items one after the other, and counts the outcome of their parts."""

    def __init__(self, port: SerialPort, way: _Way, tries: int, stop: Stop) -> None:
        from motecrypt.link.native import Event
        from motecrypt.link.ports.session import Talk

        self._port, self._way, self._tries, self._stop = port, way, tries, stop
        self.told: dict[str, int] = {}
        self.forged = 0

        def happened(told: NodeEvent) -> None:
            self.forged += told.event is Event.FORGED

        self._heard: set[int] = set()

        def refuse(messages: Sequence[NodeMessage]) -> list[bool]:
            """Messages that come meanwhile are not taken: this end only sends now."""
            self._heard.update(message.node for message in messages)
            return [False] * len(messages)

        self.talk = Talk(way.end, way.packet_bytes, refuse, happened)

    def hear_node(self, seconds: float) -> None:
        """Wait for a message of the other end: a command is fresh for sixteen of them."""
        from motecrypt.link.ports.session import hear_until

        node = self._way.node
        hear_until(self._port, self.talk, lambda: node in self._heard, self._stop, seconds)

    def item(self, item: _Item, report: Callable[[int], None]) -> str:
        """Send a message once, or a file until it has all been taken; its outcome."""
        outcome = "unconfirmed"
        for _ in range(self._tries if item.again else 1):
            done = 0
            for part in item.parts():
                outcome = self._part(item, part)
                if outcome not in _GOOD:
                    break
                done = min(done + len(part), item.length)
                report(done)
            if outcome != "refused" or self._stop.asked:
                break  # a refused file is announced again: the other end may have restarted
        return outcome

    def _part(self, item: _Item, part: bytes) -> str:
        from motecrypt.link.ports.session import transmit

        outcome = "unconfirmed"
        for _ in range(self._tries if item.again else 1):
            event = transmit(self._port, self.talk, lambda: self._way.send(part, item.how), self._stop)
            outcome = event.name.lower().replace("_", " ")
            self.told[outcome] = self.told.get(outcome, 0) + 1
            if outcome != "unconfirmed" or self._stop.asked:
                break
        return outcome


def _send_safe(delivery: _Delivery, way: _Way, items: list[_Item], stop: Stop) -> dict[str, Any]:
    lost: list[str] = []
    total, sent, accepted = sum(item.length for item in items), 0, 0
    with progress("send") as report:
        for number, item in enumerate(items):
            if stop.asked:
                lost.append(f"{len(items) - number} of {len(items)} not sent (stopped)")
                break
            before, name = sent, item.name
            outcome = delivery.item(item, lambda done: report(before + done, total, name))  # noqa: B023
            if outcome not in _GOOD:
                why = _why(outcome, bool(delivery.forged), way.waits(), stop)
                lost.append(f"{item.name}: {outcome}{why}")
            sent += item.length
            accepted += item.length * (outcome == "accepted")
    told, talk = delivery.told, delivery.talk
    seconds = talk.seconds
    return {
        "mode": "safe",
        "node": way.node,
        "items": len(items),
        "message_bytes": total,
        "accepted_bytes": accepted,
        "sent_bytes": talk.sent_bytes,
        "expansion": metrics.expansion(talk.sent_bytes, total) if total else None,
        "seconds": None if seconds is None else round(seconds, 6),
        "throughput_kb_s": metrics.throughput_kb_s(accepted, 1000 * seconds)
        if accepted and seconds
        else None,
        "packets": talk.packets,
        "packets_sent_again": talk.packets_again,
        **{name: told.get(name, 0) for name in ("accepted", "sent", "refused", "unconfirmed")},
        "failed": "; ".join(lost),
    }


def _why(outcome: str, forged: bool, waits: bool, stop: Stop) -> str:
    if stop.asked:
        return " (stopped)"
    if waits:
        return " (the node has not confirmed its new epoch, and receives nothing before; is it in range?)"
    if outcome == "refused":
        return (
            " (the other end does not accept it now, or accepted it before; it never accepts a message twice)"
        )
    if outcome == "used up":
        return " (all counters of this key are used; give the node a new one)"
    if outcome == "storage":
        return " (the counters cannot be stored, so nothing was sent)"
    if forged:
        return " (the other end has a different key)"
    return " (no answer: is the other end running, with this node's key and packet length?)"


def _send_paper(
    port: SerialPort, mode: str, key: bytes, texts: list[bytes], radio: Radio, interval_s: float, stop: Stop
) -> dict[str, Any]:
    from motecrypt.link.ports.session import line_empty, pause, write_all

    print(
        f"motecrypt: mode {mode} ({MODES[mode].title}) exists to reproduce a paper; do not deploy it",
        file=sys.stderr,
    )
    rows = []
    with progress("send") as report:
        for number, text in enumerate(texts, start=1):
            begun = time.perf_counter()
            data = encode(mode, key, text, radio.packet_bytes)
            encryption_ms = 1000 * (time.perf_counter() - begun)
            written = time.time()
            write_s = write_all(port, data, stop)
            rest_s = line_empty(port, stop)
            cost = costs(radio, max(len(data), 1))
            rows.append(
                {
                    "message_bytes": len(text),
                    "sent_bytes": len(data),
                    "expansion": metrics.expansion(len(data), len(text)) if text else None,
                    "encryption_ms": round(encryption_ms, 4),
                    "written": utc(written),
                    "write_returned_ms": round(1000 * write_s, 4),
                    "line_empty_ms": None if rest_s is None else round(1000 * (write_s + rest_s), 4),
                    **_modelled(radio, len(data), len(text)),
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


def _modelled(radio: Radio, sent_bytes: int, message_bytes: int) -> dict[str, float]:
    """What the radio's model says of a message and of its plaintext: nothing here is measured."""
    cost = costs(radio, max(sent_bytes, 1))
    delivery_ms = cost.delivery_time_us / 1000
    plain_ms = costs(radio, max(message_bytes, 1)).delivery_time_us / 1000
    figures = {
        "line_ms": cost.write_time_us / 1000,
        "delivery_ms": delivery_ms,
        "throughput_kb_s": metrics.throughput_kb_s(sent_bytes, delivery_ms),
        "time_difference_ms": metrics.time_difference_ms(delivery_ms, plain_ms),
    }
    return {f"modelled_{name}": round(float(value), 3) for name, value in figures.items()}


def _print(summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(summary)
        return
    if summary["mode"] != "safe":
        for row in summary["messages"]:
            print(
                f"{row['message_bytes']} bytes as {row['sent_bytes']}: measured: "
                f"encrypted in {row['encryption_ms']} ms, "
                f"write() returned after {row['write_returned_ms']} ms, "
                f"{_taken(row['line_empty_ms'])}; modelled: "
                f"{row['modelled_line_ms']} ms on the line, delivery {row['modelled_delivery_ms']} ms "
                f"({row['modelled_time_difference_ms']:+} ms to plaintext, "
                f"{row['modelled_throughput_kb_s']} KB/s)"
            )
        return
    rate, seconds = summary["throughput_kb_s"], summary["seconds"]
    print(
        f"{summary['message_bytes']} bytes, {summary['accepted_bytes']} accepted"
        + (f", in {seconds:.3f} s" if seconds is not None else "")
        + (f" ({rate:.3f} KB/s)" if rate else "")
        + f": {summary['accepted']} messages accepted, {summary['sent']} sent without an answer, "
        f"{summary['refused']} refused, {summary['unconfirmed']} unconfirmed; {summary['packets']} packets, "
        f"{summary['packets_sent_again']} of them again; {summary['sent_bytes']} bytes sent"
    )


def _taken(line_empty_ms: float | None) -> str:
    if line_empty_ms is None:
        return "the line did not take all"
    return f"all was on the line after {line_empty_ms} ms"
