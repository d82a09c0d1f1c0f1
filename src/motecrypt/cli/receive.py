"""motecrypt receive: receive messages and files over a serial radio."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import click

from motecrypt.app.link_ends import UNCONFIRMED, all_called
from motecrypt.app.paper_link import PaperLink, check_key, receive_paper
from motecrypt.app.receive import Received, ReceiveRequest, ReceiveResult, Until, receive
from motecrypt.base.errors import InputError
from motecrypt.cli._link_options import mode_options
from motecrypt.cli._output import print_note
from motecrypt.cli._request import FILE, FOLDER, FiniteRange, seconds_option, taken
from motecrypt.link.file_parts import FileReceived
from motecrypt.link.ports.signals import Stop


@click.command(
    epilog="Example: motecrypt receive /dev/ttyAMA0 --key link.key --output inbox",
)
@click.argument("port", metavar="PORT")
@click.option("--output", type=FOLDER, default=Path(), help="Folder for files that arrive (default: here).")
@click.option("--count", type=click.IntRange(1), help="Stop after this number of messages or files.")
@seconds_option
@click.option(
    "--gap-ms",
    type=FiniteRange(1),
    default=250.0,
    show_default=True,
    help="Silence that ends a message (published modes only); longer than the radio's timeout.",
)
@click.option("--group", type=FILE, help="With a node's key: also the key file of its broadcast group.")
@click.option(
    "--restored",
    is_flag=True,
    help="The gateway's record comes from a backup: every node begins a new epoch first.",
)
@mode_options
@click.option("--hex", "as_hex", is_flag=True, help="Print every message in hexadecimal, text too.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object a line; the last is the summary."
)
def command(mode: str, gap_ms: float, as_hex: bool, as_json: bool, **given: Any) -> None:
    """Receive messages and files from the serial radio at PORT until Ctrl-C, --count or --seconds.

    With a gateway's key file they are those of its nodes, with a node's key file those for that node. Each
    message is shown once, even if packets are lost, repeated or forged on the way. Accepted messages are
    remembered over restarts. If the port disappears, it waits for it.
    """
    if mode != "safe" and (given["restored"] or given["group"] is not None):
        raise InputError("--restored, --group: the paper's modes have no record; omit --mode")
    arrived = partial(show, as_json=as_json, as_hex=as_hex)
    with Stop() as stop:
        if mode == "safe":
            check_key(mode, given["key_file"])
            result = receive(taken(ReceiveRequest, given), arrived, print_note, stop)
        else:
            link = taken(PaperLink, given | {"mode": mode, "pause_s": gap_ms / 1000})
            result = receive_paper(link, arrived, taken(Until, given), print_note, stop)
    if as_json:
        print(json.dumps({"summary": result.document()}), flush=True)
    else:
        _summary(result)


def show(arrival: Received, as_json: bool, as_hex: bool) -> None:
    """A line for a message or a file."""
    record, content = arrival.document(), arrival.content
    if isinstance(content, FileReceived):
        line = f"{content.path}: {content.length} bytes"
    else:
        line = record["hex" if as_hex else "message"]
    sender = "" if arrival.node is None else f"node {arrival.node}: "
    print(json.dumps(record) if as_json else f"{sender}{line}", flush=True)


def _summary(result: ReceiveResult) -> None:
    record = result.document()
    waiting = record.pop("epoch_unconfirmed", ())
    del record["seconds"]
    print_note(", ".join(f"{name.replace('_', ' ')} {value}" for name, value in record.items()))
    if waiting:
        print_note(f"{UNCONFIRMED}: {all_called(waiting)}; run this again, without --restored")
