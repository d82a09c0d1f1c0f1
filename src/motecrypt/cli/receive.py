"""motecrypt receive: receive messages and files over a serial radio."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from motecrypt.air.radios import Radio, load_radio
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.build.setup import need
from motecrypt.cli._link_options import (
    UNCONFIRMED,
    all_called,
    called,
    check_line,
    chosen_key,
    link_options,
    module_commands,
    named_key,
    new_epochs,
    until_the_end,
)
from motecrypt.link.file_parts import ANNOUNCEMENT, FileCollector, FileReceived
from motecrypt.link.gateway.items import message_record, utc
from motecrypt.link.gateway.opening import open_gateway, open_node
from motecrypt.link.keys import link_end
from motecrypt.link.modes import MODES, decode

if TYPE_CHECKING:
    from motecrypt.link.gateway_end import Gateway
    from motecrypt.link.ports.session import LinkEnd, Talk
    from motecrypt.link.told import NodeEvent, NodeMessage

LINGER_S = 2.0
"""Longer than the sender's longest deadline for a short message, so that its last retransmission is
answered."""

LINGER_MAX_S = 5.0

QUIET_S = 0.1
"""How often an end without input checks its clock."""


@dataclass
class _MessagePrinter:
    """Shows what arrives, line by line."""

    as_json: bool
    as_hex: bool = False
    items: int = 0
    faults: int = 0
    clock: Callable[[], float] = time.time
    """Seconds since 1970; `received` in JSON."""
    first: float | None = None
    last: float = 0.0
    """When the first item arrived, and the last one."""
    summary: dict[str, Any] = field(default_factory=dict)
    epoch_unconfirmed: tuple[int, ...] | None = None
    """At the end, of a gateway: its nodes that have not confirmed their new epoch."""

    def item(self, content: bytes | FileReceived, at: float | None = None, **details: Any) -> None:
        """Show it; `at` is when its last byte arrived, now if not given."""
        self.items += 1
        self.last = self.clock() if at is None else at
        self.first = self.last if self.first is None else self.first
        if isinstance(content, FileReceived):
            record: dict[str, Any] = {"file": str(content.path), "bytes": content.length, **details}
            line = f"{content.path}: {content.length} bytes"
        else:
            record = {**message_record(content), **details}
            line = record["hex" if self.as_hex else "message"]
        sender = f"node {details['node']}: " if "node" in details else ""
        record["received"] = utc(self.last)
        print(json.dumps(record) if self.as_json else f"{sender}{line}", flush=True)

    def fault(self, what: str) -> None:
        self.faults += 1
        print(f"motecrypt: {what}", file=sys.stderr, flush=True)

    def notice(self, what: str) -> None:
        print(f"motecrypt: {what}", file=sys.stderr, flush=True)


class _Ending:
    """When to end by oneself. With --count in the safe mode, only once the sender is quiet: it may not
    have received that its last message was accepted, and ask again."""

    def __init__(
        self, printer: _MessagePrinter, count: int | None, seconds: float | None, linger_s: float
    ) -> None:
        self._printer, self._count, self._linger_s = printer, count, linger_s
        self._end = None if seconds is None else time.monotonic() + seconds
        self._heard = time.monotonic()
        self._reached: float | None = None

    @property
    def closing(self) -> bool:
        """Whether the count is reached: no new message is taken any more."""
        return self._count is not None and self._printer.items >= self._count

    def noting(self, feed: Callable[[bytes, float], bytes]) -> Callable[[bytes, float], bytes]:
        """The same feed, which also notes when something came."""

        def noted(data: bytes, at_us: float) -> bytes:
            if data:
                self._heard = time.monotonic()
            return feed(data, at_us)

        return noted

    def over(self) -> bool:
        """Whether the end has come."""
        now = time.monotonic()
        if self.closing:
            if self._reached is None:
                self._reached = now
            return now - self._heard >= self._linger_s or now - self._reached >= LINGER_MAX_S
        return self._end is not None and now >= self._end


@click.command(
    epilog="Example: motecrypt receive /dev/ttyAMA0 --key link.key --output inbox",
)
@click.argument("port", metavar="PORT")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Folder for files that arrive (default: here).",
)
@click.option(
    "--count", type=click.IntRange(1), default=None, help="Stop after this number of messages or files."
)
@click.option("--seconds", type=click.FloatRange(0), default=None, help="Stop after this time.")
@click.option(
    "--gap-ms",
    type=click.FloatRange(1),
    default=250.0,
    show_default=True,
    help="Silence that ends a message (published modes only); longer than the radio's timeout.",
)
@click.option(
    "--group",
    "group_file",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="With a node's key: also the key file of its broadcast group.",
)
@click.option(
    "--restored",
    is_flag=True,
    help="The gateway's record comes from a backup: every node begins a new epoch first.",
)
@link_options
@click.option("--hex", "as_hex", is_flag=True, help="Print every message in hexadecimal, text too.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object a line; the last is the summary."
)
def command(
    port: str,
    output: Path,
    count: int | None,
    seconds: float | None,
    gap_ms: float,
    group_file: Path | None,
    restored: bool,
    key_file: Path | None,
    mode: str,
    radio_name: str,
    packet_bytes: int | None,
    baud: int,
    state: Path | None,
    module_key: Path | None,
    as_hex: bool,
    as_json: bool,
) -> None:
    """Receive messages and files from the serial radio at PORT until Ctrl-C, --count or --seconds.

    With a gateway's key file they are those of its nodes, with a node's key file those for that node. Each
    message is shown once, even if packets are lost, repeated or forged on the way. Accepted messages are
    remembered over restarts. If the port disappears, it waits for it.
    """
    need("link")
    from motecrypt.link.ports.commands import configure
    from motecrypt.link.ports.session import answering, listen
    from motecrypt.link.ports.signals import Stop

    radio = load_radio(radio_name, packet_bytes)
    if mode != "safe" and (restored or group_file is not None):
        raise InputError("--restored, --group: the paper's modes have no record; omit --mode")
    paper_key = b"" if mode == "safe" else chosen_key(mode, key_file)
    commands = module_commands(module_key)
    printer = _MessagePrinter(as_json, as_hex)
    ending = _Ending(printer, count, seconds, LINGER_S if mode == "safe" else 0.0)

    with Stop() as stop:
        setup = (lambda opened: configure(opened, commands, stop)) if commands else None
        if mode == "safe":
            _folder(output)
            end = _end(key_file, state, radio, restored, printer)
            if group_file is not None:
                end = _member(end, group_file, radio)
            heard = _Heard(FileCollector(output), printer, ending)
            talk = heard.talk(end, radio.packet_bytes)
            feed, quiet_s = answering(talk), QUIET_S
        else:
            printer.notice(f"mode {mode} ({MODES[mode].title}): anyone can forge these messages")
            feed, quiet_s = _gathering(mode, paper_key, printer), gap_ms / 1000
        listen(port, baud, ending.noting(feed), stop, ending.over, printer.notice, quiet_s, setup=setup)
        if mode == "safe":
            printer.summary = {
                "messages": heard.messages,
                "forged": heard.forged,
                "skipped_bytes": talk.skipped_bytes,
            }
            printer.epoch_unconfirmed = heard.epoch_unconfirmed
    _summary(printer, mode)


def _end(
    key_file: Path | None, state: Path | None, radio: Radio, restored: bool, printer: _MessagePrinter
) -> LinkEnd:
    """The end of the link that the key file is for."""
    from motecrypt.air.link_timing import answer_ms

    path = named_key("safe", key_file)
    if link_end(path) == "node":
        if restored or state is not None:
            raise InputError(f"--restored, --state: {path} is a node's key; use them with a gateway's key")
        node = until_the_end(open_node(path, answer_ms(radio)))
        check_line(node.number, node.options, node.packet_bytes, radio)
        return node
    gateway = until_the_end(open_gateway(path, state, radio.packet_bytes, answer_ms(radio)))
    new_epochs(gateway, restored, printer.notice)
    for number in gateway.nodes:
        try:
            check_line(number, *gateway.head(number), radio)
        except InputError as error:
            printer.notice(f"cannot receive: {error}")
    return gateway


def _member(end: LinkEnd, group_file: Path, radio: Radio) -> LinkEnd:
    """The node with the broadcast group that it is in."""
    from motecrypt.air.link_timing import answer_ms
    from motecrypt.link.node import HostNode, MemberNode

    if not isinstance(end, HostNode) or link_end(group_file) != "node":
        raise InputError("--group: --key must be a node's key, and --group that of a member of the group")
    group = until_the_end(open_node(group_file, answer_ms(radio)))
    check_line(group.number, group.options, group.packet_bytes, radio)
    return MemberNode(end, group)


class _Heard:
    """What the link delivers: messages are shown, files are collected, the rest is counted."""

    def __init__(self, collector: FileCollector, printer: _MessagePrinter, ending: _Ending) -> None:
        self._collector, self._printer, self._ending = collector, printer, ending
        self._bound: set[int] = set()
        self._gateway: Gateway | None = None
        self._begun: dict[int, float] = {}
        self.messages = 0
        self.forged = 0

    @property
    def epoch_unconfirmed(self) -> tuple[int, ...] | None:
        """The nodes that have not confirmed their new epoch; None at a node."""
        return None if self._gateway is None else self._gateway.epoch_unconfirmed

    def talk(self, end: LinkEnd, packet_bytes: int) -> Talk:
        """That end with these ears."""
        from motecrypt.link.gateway_end import Gateway
        from motecrypt.link.ports.session import Talk

        self._gateway = end if isinstance(end, Gateway) else None
        return Talk(end, packet_bytes, lambda messages: [*map(self._take, messages)], self._happened)

    def _take(self, message: NodeMessage) -> bool:
        from motecrypt.link.native import Event

        if self._ending.closing:
            return False
        if message.event is Event.FILE_PART:
            try:
                file = self._collector.take(message.node, message.content)
            except MotecryptError as error:
                self._printer.fault(str(error))
                return False
            now = self._printer.clock()
            if message.content[:1] == bytes([ANNOUNCEMENT]):
                self._begun[message.node] = now
            begun = self._begun.setdefault(message.node, now)
            if file is not None:
                del self._begun[message.node]
                self._printer.item(file, now, node=message.node, receiving_ms=round(1000 * (now - begun), 3))
        else:
            details = {"command": True} if message.event is Event.COMMANDED else {}
            self._printer.item(message.content, node=message.node, **details)
        self.messages += 1
        return True

    def _happened(self, told: NodeEvent) -> None:
        from motecrypt.link.native import Event

        if told.event is Event.FORGED:
            self.forged += 1
        elif told.event is Event.BOUND and told.node not in self._bound:
            self._bound.add(told.node)
            self._printer.notice(
                f"{called(told.node)}: too many of its short packets were forged; only long ones are accepted"
            )
        elif told.event is Event.RENEWED:
            what = "its gateway began a new epoch" if self._gateway is None else "confirmed its new epoch"
            self._printer.notice(f"node {told.node}: {what}")


def _folder(output: Path) -> None:
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--output {output}: {error.strerror}") from None


def _gathering(mode: str, key: bytes, printer: _MessagePrinter) -> Callable[[bytes, float], bytes]:
    """The paper's modes have no frames: silence ends a message."""
    gathered = bytearray()
    first_us = last_us = last = 0.0

    def feed(data: bytes, at_us: float) -> bytes:
        nonlocal first_us, last_us, last
        if data:
            first_us = at_us if not gathered else first_us
            last_us, last = at_us, printer.clock()
            gathered.extend(data)
            if len(gathered) > 1 << 16:
                gathered.clear()
                printer.fault("more than 65536 bytes without a pause; dropped")
        elif gathered:
            received = bytes(gathered)
            gathered.clear()
            try:
                printer.item(
                    decode(mode, key, received),
                    last,
                    received_bytes=len(received),
                    receiving_ms=round((last_us - first_us) / 1000, 3),
                )
            except MotecryptError as error:
                printer.fault(str(error))
        return b""

    return feed


def _summary(printer: _MessagePrinter, mode: str) -> None:
    record = {"mode": mode, "items": printer.items, "faults": printer.faults, **printer.summary}
    waiting = printer.epoch_unconfirmed
    if printer.as_json:
        seconds = None if printer.first is None else round(printer.last - printer.first, 3)
        more = {"seconds": seconds} | ({} if waiting is None else {"epoch_unconfirmed": waiting})
        print(json.dumps({"summary": record | more}), flush=True)
        return
    figures = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in record.items())
    printer.notice(figures)
    if waiting:
        printer.notice(f"{UNCONFIRMED}: {all_called(waiting)}; run this again, without --restored")
