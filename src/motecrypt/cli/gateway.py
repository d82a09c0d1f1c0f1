"""motecrypt gateway: receive from many nodes; deliver to files, SQLite, MQTT."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from motecrypt.app.link_ends import UNCONFIRMED, all_called
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.cli._link_options import GROUP, BatteryPlace, NodeNumber, line_options, state_option
from motecrypt.cli._output import json_option, print_json, print_note, print_table, table_options
from motecrypt.cli._request import FILE, FOLDER, FiniteRange, seconds_option, taken
from motecrypt.link.ports.signals import Stop

if TYPE_CHECKING:
    from motecrypt.app.gateway_nodes import GatewayStatus

NODE_MAX = 62


def _numbers(_: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[int, ...]:
    """Node numbers, from words such as 7 or 1-5,9."""
    found: set[int] = set()
    for part in ",".join(given).split(",") if given else []:
        first, _dash, last = part.partition("-")
        if not re.fullmatch(r"[0-9]{1,2}(-[0-9]{1,2})?", part):
            raise InputError(f"{option.opts[0]} {part}: no nodes; give numbers such as 7 or 1-5,9")
        numbers = range(int(first), int(last or first) + 1)
        if not numbers or numbers[-1] > NODE_MAX:
            raise InputError(f"{option.opts[0]} {part}: node numbers are 0 to {NODE_MAX}")
        found |= set(numbers)
    return tuple(sorted(found))


_nodes_option = partial(click.option, multiple=True, metavar="NODES", callback=_numbers)


class _Gateway(click.Group):
    """Serves, unless the first word names an action. A port of that name is given as ./NAME."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the words; those of an action stay as they are."""
        if args and args[0] in self.commands:
            ctx.args = list(args)
            return ctx.args
        ctx.allow_extra_args, ctx.allow_interspersed_args = False, True
        return click.Command.parse_args(self, ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Serve, or do the action."""
        if not ctx.args:
            return click.Command.invoke(self, ctx)
        name, *words = ctx.args
        ctx.invoked_subcommand, ctx.args = name, []
        with self.commands[name].make_context(name, words, parent=ctx) as context:
            return context.command.invoke(context)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The words of serving; the actions are listed below the options."""
        return click.Command.collect_usage_pieces(self, ctx)


class _Ports(click.Argument):
    """The ports, which no action has."""

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Its word in the usage of serving alone."""
        return super().get_usage_pieces(ctx) if isinstance(ctx.command, _Gateway) else []


@click.group(
    cls=_Gateway,
    no_args_is_help=False,
    epilog="Example: motecrypt gateway /dev/ttyUSB0 --key gateway.key --sqlite readings.db",
)
@click.argument("ports", metavar="PORT...", nargs=-1, required=True, cls=_Ports)
@click.option("--key", "key_file", type=FILE, required=True, help="The gateway's master key file.")
@state_option
@line_options
@click.option("--restored", is_flag=True, help="The record comes from a backup: begin new epochs first.")
@click.option("--output", type=FOLDER, help="Folder for files of nodes; without it they are refused.")
@click.option(
    "--output-mb",
    type=FiniteRange(0.1),
    default=1000.0,
    show_default=True,
    help="Megabytes of files of nodes in that folder; each node has an equal part.",
)
@click.option("--stdout", "to_stdout", is_flag=True, help="Sink: standard output (also without any sink).")
@click.option("--sqlite", type=FILE, multiple=True, help="Sink: the table 'messages' of an SQLite file.")
@click.option("--csv", type=FILE, multiple=True, help="Sink: a file of CSV.")
@click.option(
    "--csv-mb",
    type=FiniteRange(0.1),
    help="Megabytes after which another CSV file takes its place, and it becomes FILE.1.",
)
@click.option(
    "--csv-kept",
    type=click.IntRange(1, 999),
    default=9,
    show_default=True,
    help="How many earlier CSV files are kept.",
)
@click.option("--run", multiple=True, help="Sink: a command, with each message as JSON on stdin.")
@click.option("--run-seconds", type=FiniteRange(0.1), default=30.0, show_default=True, help="Its time limit.")
@click.option("--mqtt", "url", help="Sink: mqtt[s]://[USER@]HOST[:PORT]/NAME.")
@click.option("--mqtt-password", "password", type=FILE, help="A file with USER's password.")
@click.option("--mqtt-ca", "ca", type=FILE, help="Certificates to trust in place of the system's.")
@click.option("--mqtt-cert", "cert", type=FILE, help="The gateway's own certificate.")
@click.option("--mqtt-cert-key", "cert_key", type=FILE, help="The key of that certificate.")
@click.option("--mqtt-commands", "commands", is_flag=True, help="Accept commands for nodes from the broker.")
@_nodes_option("--speaks", help="Nodes that speak CoAP or TFTP, such as 7 or 1-5,9.")
@_nodes_option("--bare", help="Nodes that speak CoAP over the bare radio, without the link: with OSCORE.")
@click.option("--coap", metavar="[HOST:]PORT", help="Serve nodes to CoAP clients.")
@click.option("--coap-server", multiple=True, help="coap://HOST[:PORT] that nodes may access.")
@click.option("--tftp", metavar="[HOST:]PORT", help="Serve nodes' files to TFTP clients.")
@click.option("--tftp-folder", type=FOLDER, help="Folder whose files nodes may read by TFTP.")
@click.option("--socket", type=FILE, help="For 'motecrypt send' (default: STATE.socket).")
@click.option(
    "--queue",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    help="Messages that may wait for sinks; beyond this, nodes are not answered.",
)
@click.option(
    "--node-rate",
    type=FiniteRange(0.1),
    default=100.0,
    show_default=True,
    help="Messages a second that one node may send, over ten seconds.",
)
@click.option(
    "--battery",
    type=BatteryPlace(),
    help="Messages have the battery's millivolts from byte AT on (the first is 0), in BYTES bytes "
    "(default: 2), little-endian; 'status' shows it.",
)
@click.option(
    "--statistics", type=FiniteRange(0.1), help="Interval at which the counts are printed, in seconds."
)
@seconds_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON objects, one a line.")
def command(
    to_stdout: bool, statistics: float | None, seconds: float | None, as_json: bool, **given: Any
) -> None:
    """Serve the nodes behind the serial radios at PORT... until SIGTERM or Ctrl-C.

    Each message is kept on disk together with the state that accepts it, then the node is answered, then
    every sink gets it, at least once and under an id. A sink that is slow or down does not delay the others.
    'motecrypt send SOCKET --to N' sends to a node through the running gateway, and 'motecrypt provision' and
    'motecrypt key' give nodes keys through it. See docs/gateway.md.
    """
    from motecrypt.app.gateway import GatewayRequest, serve_gateway
    from motecrypt.link.gateway.sinks.stdout import StandardOutput

    if to_stdout or not (given["sqlite"] or given["csv"] or given["run"] or given["url"]):
        given["own"] = [StandardOutput(as_json)]
    request = taken(GatewayRequest, given)

    def ready(what: Mapping[str, Any]) -> None:
        said = f"gateway of {len(what['nodes'])} nodes at {', '.join(request.ports)}"
        _tell("ready", what, as_json, said)

    def tell(name: str, counts: Mapping[str, Any]) -> None:
        _tell(name, counts, as_json, _counted(counts))

    with Stop() as stop:
        told = partial(tell, "statistics")
        tell("summary", serve_gateway(request, print_note, ready, told, statistics, seconds, stop))


@command.command(
    short_help="Show the state of each node.", epilog="Example: motecrypt gateway status --key gateway.key"
)
@click.option("--key", "key_file", type=FILE, required=True, help="The gateway's master key file.")
@state_option
@table_options
def status(key_file: Path, state: Path | None, as_json: bool) -> None:
    """Show each node: when it was received last, messages lost on the way, its epoch, and failed tags.

    The figures are those of the gateway if it runs, else of its record. Lost are messages whose counters are
    missing since the node's keys or its epoch began. When as many short tags have failed as are allowed,
    only long messages are accepted. One failure is forgiven for each 32 messages; 'motecrypt gateway renew'
    begins an epoch, in which none has failed.
    """
    from motecrypt.app.gateway_nodes import gateway_status
    from motecrypt.link.native import BROADCAST

    found = gateway_status(key_file, state)
    if as_json:
        print_json(found)
        return
    no_battery = all(each.battery_mv is None for each in found.nodes)
    rows = [
        [
            GROUP if each.node == BROADCAST else each.node,
            each.last_seen or "",
            each.messages,
            "" if each.loss is None else f"{each.missed} ({100 * each.loss:.1f} %)",
            "void" if each.epoch is None else f"{each.epoch}{' (open)' if each.epoch_unconfirmed else ''}",
            f"{each.failed_tags} of {each.failed_tags_max}",
            *([] if no_battery else ["" if each.battery_mv is None else f"{each.battery_mv / 1000:.3f} V"]),
        ]
        for each in found.nodes
    ]
    columns = ["node", "last seen (UTC)", "messages", "lost", "epoch", "failed tags"]
    columns += [] if no_battery else ["battery"]
    print_table("Nodes", columns, rows, "\n".join(_of_gateway(found)))


@command.command(
    short_help="Check what a gateway needs.",
    epilog="Example: motecrypt gateway doctor /dev/ttyUSB0 --key gateway.key --sqlite readings.db",
)
@click.argument("ports", metavar="[PORT]...", nargs=-1)
@click.option(
    "--backup", "backups", type=FILE, multiple=True, help="A copy of the record (default: RECORD.backup*)."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines.")
@line_options
def doctor(backups: tuple[Path, ...], as_json: bool, **given: Any) -> None:
    """Check ports, record, backups, clock, sinks and disks: a line for each, with what to do about it.

    It takes all options of 'motecrypt gateway', so that the same words can be checked, and ignores those that
    are not listed here. It changes nothing, and may run next to the gateway. It opens each free port for a
    moment. Exit code 1: something is wrong.
    """
    from motecrypt.app.gateway import GatewayRequest
    from motecrypt.app.gateway_doctor import CheckVerdict, gateway_doctor

    found = gateway_doctor(taken(GatewayRequest, given), backups)
    if as_json:
        print_json(found)
    else:
        for each in found:
            print(f"{each.verdict:<5} {each.line}")
    click.get_current_context().exit(int(any(each.verdict is CheckVerdict.WRONG for each in found)))


_CHECKED = {
    *("key_file", "state", "output", "sqlite", "csv", "run"),
    *("url", "password", "ca", "cert", "cert_key"),
}
"""Options of the gateway whose values are checked. The others are accepted, and not listed in the help."""


def _also(option: click.Option) -> click.Option:
    """The same option for an action that may ignore it."""
    copied = copy.copy(option)
    copied.hidden = option.name not in _CHECKED
    return copied


_own = {parameter.name for parameter in doctor.params}
doctor.params += [
    _also(each) for each in command.params if isinstance(each, click.Option) and each.name not in _own
]


def _of_gateway(found: GatewayStatus) -> Iterator[str]:
    ports = ", ".join(f"{port} ({packets} packets)" for port, packets in found.ports.items())
    yield f"A gateway serves {ports}." if found.running else f"No gateway runs; from {found.record}."
    if found.waiting:
        yield f"Messages that wait for sinks: {found.waiting}"
    yield from (f"Sink {name}: {trouble}" for name, trouble in found.sinks.items() if trouble)
    if any(each.epoch_unconfirmed for each in found.nodes):
        yield "open: the node has not confirmed this epoch."
    if any(each.epoch is None for each in found.nodes):
        yield "void: the node needs new keys, by 'motecrypt provision'."


@command.command(
    short_help="Give a node new keys over the air.",
    epilog="Example: motecrypt gateway renew 7 --key gateway.key",
)
@click.argument("node", type=NodeNumber())
@click.option("--key", "key_file", type=FILE, required=True, help="The gateway's master key file.")
@state_option
@click.option(
    "--wait-s",
    type=FiniteRange(0, 3600),
    default=10.0,
    show_default=True,
    help="How long to wait first for a message of the node, so that none is on its way.",
)
@json_option
def renew(node: int, key_file: Path, state: Path | None, wait_s: float, as_json: bool) -> None:
    """Give NODE new keys over the air: a new epoch, in which all its counters start again.

    The running gateway begins it after the node's next message and offers it until the node confirms it; what
    the node sends before that under its old epoch is not accepted. If no gateway runs, the record is changed,
    and the gateway offers the epoch once it runs. Exit code 1: the node has not confirmed it within 10
    seconds. A node that never listens gets new keys with 'motecrypt provision'.
    """
    from motecrypt.app.gateway_nodes import renew_node

    made = renew_node(node, key_file, state, wait_s)
    if as_json:
        print_json(made)
    elif made.confirmed is not False:
        offered = "the node has it" if made.confirmed else "the gateway offers it to the node once it runs"
        print(f"node {node}: epoch {made.epoch} has begun; {offered}")
    if made.confirmed is False:
        raise MotecryptError(
            f"node {node}: epoch {made.epoch} has begun, but the node has not confirmed it yet; the gateway "
            f"continues to offer it"
        )


def _tell(name: str, record: Mapping[str, Any], as_json: bool, said: str) -> None:
    if as_json:
        print(json.dumps({name: record}), flush=True)
    else:
        print_note(said)


def _counted(counts: Mapping[str, Any]) -> str:
    sinks = ", ".join(
        f"{sink} {told['delivered']}" + (f" (down: {told['trouble']})" if told["trouble"] else "")
        for sink, told in counts["sinks"].items()
    )
    not_taken = ", ".join(
        f"{why.replace('_', ' ')} {count}" for why, count in counts["not_taken"].items() if count
    )
    return (
        f"{counts['messages']} messages and {counts['files']} files of {len(counts['nodes'])} nodes; "
        f"delivered: {sinks}; {counts['spool']['waiting']} wait"
        + (f"; not taken: {not_taken}" if not_taken else "")
        + (f"; {UNCONFIRMED}: {all_called(waiting)}" if (waiting := counts["epoch_unconfirmed"]) else "")
    )
