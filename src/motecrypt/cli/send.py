"""motecrypt send: send messages and files over a serial radio."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from motecrypt.app.paper_link import PaperLink, check_key, send_paper
from motecrypt.app.send import SendHow, SendRequest, order, send
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.cli._link_options import NodeNumber, mode_options
from motecrypt.cli._output import json_option, print_json, print_note, progress
from motecrypt.cli._request import FILE, FiniteRange, taken
from motecrypt.link.ports.signals import Stop


@click.command(
    epilog="Example: motecrypt send /dev/ttyAMA0 --key node5.key 'pump 3 is on'",
)
@click.argument("port", metavar="PORT")
@click.argument("messages", nargs=-1, metavar="[MESSAGE]...")
@click.option("--file", "files", multiple=True, type=FILE, help="A file to send; may be repeated.")
@click.option(
    "--to",
    type=NodeNumber(),
    help="With a gateway's key: the receiving node, or 'group' for all members of the broadcast group.",
)
@click.option("--hex", "as_hex", is_flag=True, help="The messages are bytes in hexadecimal.")
@click.option("--unconfirmed", is_flag=True, help="Do not request an answer, except if the link needs one.")
@click.option(
    "--command", "as_command", is_flag=True, help="Send as commands, which are refused if they come late."
)
@click.option(
    "--wait-s",
    type=FiniteRange(0),
    default=10.0,
    show_default=True,
    help="With --to and --command: how long to wait first for a message of the node, so that the "
    "command is fresh.",
)
@click.option("--tries", type=click.IntRange(1, 1000), default=5, help="Retransmissions of a part of a file.")
@click.option(
    "--interval-ms",
    type=FiniteRange(0),
    default=500.0,
    help="Pause after each message (published modes only).",
)
@mode_options
@json_option
def command(
    port: str,
    messages: tuple[str, ...],
    as_hex: bool,
    unconfirmed: bool,
    as_command: bool,
    interval_ms: float,
    mode: str,
    as_json: bool,
    **given: Any,
) -> None:
    """Send messages and files over the serial radio at PORT; lines from standard input where none is named.

    With a node's key file they go to its gateway, with a gateway's and --to to that node. The secure link
    encrypts and authenticates, never uses a counter twice, sends again what is lost, and reports each
    message whether the other end has it. Exit code 1: one was not confirmed. Where PORT is the socket of a
    running 'motecrypt gateway', that sends, to the node that --to names.
    """
    kind = "command" if as_command else "unconfirmed" if unconfirmed else "message"
    files, to, through = given["files"], given["to"], Path(port).is_socket()
    own = given["key_file"] or given["state"] or given["line"].module_key
    if through and (mode != "safe" or files or own or (unconfirmed and as_command)):
        raise InputError(f"{port} is a running gateway, which has the key: give --to and messages alone")
    if mode != "safe" and (files or to is not None or unconfirmed or as_command):
        raise InputError(
            "--file, --to, --unconfirmed, --command: the paper's modes do not have them; omit --mode"
        )
    if unconfirmed and as_command:
        raise InputError("--unconfirmed, --command: a command always has an answer; give one of them")
    texts = [_bytes(message, as_hex) for message in messages]
    if not texts and not files:
        texts = [_line(each, as_hex) for each in sys.stdin.buffer]
    if through:
        told = order(Path(port), texts, to, SendHow(kind, given["wait_s"]))
        if as_json:
            print_json(told.document())
        else:
            count = len(told.outcomes)
            print(f"{count - len(told.lost)} of {count} messages accepted by node {told.node}")
        if told.failed:
            raise MotecryptError(told.failed)
        return
    given |= {"port": port, "messages": texts, "kind": kind, "mode": mode, "pause_s": interval_ms / 1000}
    with Stop() as stop, progress("send") as report:
        if mode == "safe":
            check_key(mode, given["key_file"])
            summary = send(taken(SendRequest, given), report, stop, print_note).document()
        else:
            summary = asdict(send_paper(taken(PaperLink, given), texts, print_note, report, stop))
    if as_json:
        print_json(summary)
    else:
        print("\n".join(map(_row, summary["messages"])) if mode != "safe" else _sent(summary))
    if summary["failed"]:
        raise MotecryptError(summary["failed"])


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


def _row(row: dict[str, Any]) -> str:
    taken = row["line_empty_ms"]
    on_line = "the line did not take all" if taken is None else f"all was on the line after {taken} ms"
    return (
        f"{row['message_bytes']} bytes as {row['sent_bytes']}: measured: "
        f"encrypted in {row['encryption_ms']} ms, write() returned after {row['write_returned_ms']} ms, "
        f"{on_line}; modelled: "
        f"{row['modelled_line_ms']} ms on the line, delivery {row['modelled_delivery_ms']} ms "
        f"({row['modelled_time_difference_ms']:+} ms to plaintext, {row['modelled_throughput_kb_s']} KB/s)"
    )


def _sent(summary: dict[str, Any]) -> str:
    rate, seconds = summary["throughput_kb_s"], summary["seconds"]
    return (
        f"{summary['message_bytes']} bytes, {summary['accepted_bytes']} accepted"
        + (f", in {seconds:.3f} s" if seconds is not None else "")
        + (f" ({rate:.3f} KB/s)" if rate else "")
        + f": {summary['accepted']} messages accepted, {summary['sent']} sent without an answer, "
        f"{summary['refused']} refused, {summary['unconfirmed']} unconfirmed; {summary['packets']} packets, "
        f"{summary['packets_sent_again']} of them again; {summary['sent_bytes']} bytes sent"
    )
