"""motecrypt gateway: receive from many nodes; deliver to files, SQLite, MQTT."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from motecrypt.air.radios import Radio, load_radio
from motecrypt.base.errors import InputError
from motecrypt.build.setup import need
from motecrypt.cli._link_options import (
    UNCONFIRMED,
    all_called,
    check_line,
    module_commands,
    new_epochs,
)
from motecrypt.link.file_parts import FileCollector
from motecrypt.link.keys import read_master_file
from motecrypt.link.state import FileStore

if TYPE_CHECKING:
    from motecrypt.link.gateway.service import GatewayService
    from motecrypt.link.gateway.sinks import Sink
    from motecrypt.link.gateway_end import Gateway

NODE_MAX = 62
_file = click.Path(path_type=Path, dir_okay=False)


@click.command(epilog="Example: motecrypt gateway /dev/ttyUSB0 --key gateway.key --sqlite readings.db")
@click.argument("ports", metavar="PORT...", nargs=-1, required=True)
@click.option("--key", "key_file", type=_file, required=True, help="The gateway's master key file.")
@click.option("--state", type=_file, default=None, help="Its record and spool (default: KEY.gateway).")
@click.option("--radio", "radio_name", default="srf", show_default=True, help="The radio at the ports.")
@click.option("--packet-bytes", type=int, default=None, help="Its packet length.")
@click.option("--baud", type=click.IntRange(300, 4_000_000), default=115200, show_default=True)
@click.option("--module-key", type=_file, default=None, help="Also switch on the radio modules' own AES-128.")
@click.option("--restored", is_flag=True, help="The record comes from a backup: begin new epochs first.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Folder for files of nodes; without it they are refused.",
)
@click.option("--stdout", "to_stdout", is_flag=True, help="Sink: standard output (also without any sink).")
@click.option("--sqlite", type=_file, multiple=True, help="Sink: the table 'messages' of an SQLite file.")
@click.option("--csv", "csv_files", type=_file, multiple=True, help="Sink: a file of CSV.")
@click.option("--run", "commands", multiple=True, help="Sink: a command, with each message as JSON on stdin.")
@click.option(
    "--run-seconds", type=click.FloatRange(0.1), default=30.0, show_default=True, help="Its time limit."
)
@click.option("--mqtt", "mqtt_url", default=None, help="Sink: mqtt[s]://[USER@]HOST[:PORT]/NAME.")
@click.option("--mqtt-password", type=_file, default=None, help="A file with USER's password.")
@click.option("--mqtt-ca", type=_file, default=None, help="Certificates to trust in place of the system's.")
@click.option("--mqtt-cert", type=_file, default=None, help="The gateway's own certificate.")
@click.option("--mqtt-cert-key", type=_file, default=None, help="The key of that certificate.")
@click.option("--mqtt-commands", is_flag=True, help="Accept commands for nodes from the broker.")
@click.option(
    "--speaks", multiple=True, metavar="NODES", help="Nodes that speak CoAP or TFTP, such as 7 or 1-5,9."
)
@click.option(
    "--bare",
    multiple=True,
    metavar="NODES",
    help="Nodes that speak CoAP over the bare radio, without the link: with OSCORE.",
)
@click.option("--coap", "coap_at", default=None, metavar="[HOST:]PORT", help="Serve nodes to CoAP clients.")
@click.option(
    "--coap-server", "coap_servers", multiple=True, help="coap://HOST[:PORT] that nodes may access."
)
@click.option(
    "--tftp", "tftp_at", default=None, metavar="[HOST:]PORT", help="Serve nodes' files to TFTP clients."
)
@click.option(
    "--tftp-folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Folder whose files nodes may read by TFTP.",
)
@click.option(
    "--socket", "socket_path", type=_file, default=None, help="For 'motecrypt send' (default: STATE.socket)."
)
@click.option(
    "--queue",
    "queue_max",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    help="Messages that may wait for sinks; beyond this, nodes are not answered.",
)
@click.option(
    "--node-rate",
    type=click.FloatRange(0.1),
    default=100.0,
    show_default=True,
    help="Messages a second that one node may send, over ten seconds.",
)
@click.option(
    "--statistics",
    type=click.FloatRange(0.1),
    default=None,
    help="Interval at which the counts are printed, in seconds.",
)
@click.option("--seconds", type=click.FloatRange(0), default=None, help="Stop after this time.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON objects, one a line.")
def command(
    ports: tuple[str, ...],
    key_file: Path,
    state: Path | None,
    radio_name: str,
    packet_bytes: int | None,
    baud: int,
    module_key: Path | None,
    restored: bool,
    output: Path | None,
    to_stdout: bool,
    sqlite: tuple[Path, ...],
    csv_files: tuple[Path, ...],
    commands: tuple[str, ...],
    run_seconds: float,
    mqtt_url: str | None,
    mqtt_password: Path | None,
    mqtt_ca: Path | None,
    mqtt_cert: Path | None,
    mqtt_cert_key: Path | None,
    mqtt_commands: bool,
    speaks: tuple[str, ...],
    bare: tuple[str, ...],
    coap_at: str | None,
    coap_servers: tuple[str, ...],
    tftp_at: str | None,
    tftp_folder: Path | None,
    socket_path: Path | None,
    queue_max: int,
    node_rate: float,
    statistics: float | None,
    seconds: float | None,
    as_json: bool,
) -> None:
    """Serve the nodes behind the serial radios at PORT... until SIGTERM or Ctrl-C.

    Each message is kept on disk together with the state that accepts it, then the node is answered, then
    every sink gets it, at least once and under an id. A sink that is slow or down does not delay the others.
    'motecrypt send SOCKET --to N' sends to a node through the running gateway. See docs/gateway.md.
    """
    need("link", *(["mqtt"] if mqtt_url else []))
    from motecrypt.air.link_timing import answer_ms
    from motecrypt.link.gateway.bare import BareNode
    from motecrypt.link.gateway.control import ControlSocket
    from motecrypt.link.gateway.drain import Drain
    from motecrypt.link.gateway.lines import Line
    from motecrypt.link.gateway.protocols import NodeProtocol
    from motecrypt.link.gateway.protocols.coap.opening import open_coap
    from motecrypt.link.gateway.protocols.tftp.opening import open_tftp
    from motecrypt.link.gateway.service import GatewayService
    from motecrypt.link.gateway.spool import Spool
    from motecrypt.link.gateway_end import Gateway
    from motecrypt.link.ports.commands import configure
    from motecrypt.link.ports.signals import Stop

    if not mqtt_url and (mqtt_password or mqtt_ca or mqtt_cert or mqtt_cert_key or mqtt_commands):
        raise InputError("--mqtt-...: they need --mqtt; name the broker")
    if len({Path(port).resolve() for port in ports}) < len(ports):
        raise InputError("PORT: one port is named twice")
    radio = load_radio(radio_name, packet_bytes)
    radio_commands = module_commands(module_key)
    suite, master = read_master_file(key_file)
    record = state or key_file.with_name(f"{key_file.name}.gateway")
    if any(path.resolve() == record.resolve() for path in (*sqlite, *csv_files)):
        raise InputError(f"--sqlite, --csv: {record} is the gateway's own record; name another file")
    broker = None
    if mqtt_url:
        from motecrypt.link.gateway.sinks.mqtt import read_broker

        broker = read_broker(mqtt_url, mqtt_password, mqtt_ca, mqtt_cert, mqtt_cert_key)
        if mqtt_commands and not broker.known:
            raise InputError(
                "--mqtt-commands: a broker without logins lets anyone command the nodes; "
                "log in with USER@ and --mqtt-password, or with --mqtt-cert"
            )
    speakers, bare_nodes = _numbers("--speaks", speaks), _numbers("--bare", bare)
    with_coap, with_tftp = bool(coap_at or coap_servers), bool(tftp_at or tftp_folder)
    if bare_nodes and not with_coap:
        raise InputError(
            "--bare: such nodes speak CoAP; say where clients ask with --coap, such as --coap 5683"
        )
    if both := set(speakers) & set(bare_nodes):
        raise InputError(
            f"--speaks, --bare: node {min(both)} is in both; it is on the link or on the bare radio"
        )
    if (with_coap or with_tftp) != bool(speakers or bare_nodes) or (with_tftp and not speakers):
        if speakers:
            raise InputError("--speaks: name the protocol, too, with --coap or --tftp")
        raise InputError("--coap, --tftp: name the nodes that use it with --speaks, such as --speaks 7")
    if output is not None:
        _folder(output)
    patience_ms = answer_ms(radio)
    context = click.get_current_context()
    with Stop() as stop, Spool(FileStore(record), queue_max) as spool:
        gateway = Gateway(spool, master, suite, radio.packet_bytes, patience_ms, together=True)
        _check_nodes(gateway, radio, key_file, restored, bare_nodes)
        setup = lambda port: configure(port, radio_commands, stop) if radio_commands else None  # noqa: E731
        lines = []
        for port in ports:
            lines.append(Line(port, baud, radio.packet_bytes, _notice, setup))
            context.call_on_close(lines[-1].close)
        collector = FileCollector(output, keeping=True) if output is not None else None
        outcome_s = 40 * patience_ms / 1000 + 5.0
        service = GatewayService(gateway, spool, lines, collector, node_rate, outcome_s, _notice)
        sinks = _sinks(
            to_stdout, sqlite, csv_files, commands, run_seconds, as_json, bool(broker), spool.waiting
        )
        if broker is not None:
            from motecrypt.link.gateway.sinks.mqtt import MqttSink

            sinks.append(MqttSink(broker, service.commanded if mqtt_commands else None, _notice))
        if len({sink.name for sink in sinks}) < len(sinks):
            raise InputError("--sqlite, --csv, --run: one sink is named twice")
        service.listen(ControlSocket(socket_path or record.with_name(f"{record.name}.socket")))
        protocols: list[NodeProtocol] = []
        if with_coap:
            protocols.append(open_coap(coap_at, coap_servers, speakers, bare_nodes))
        if with_tftp:
            heads = {node: gateway.head(node) for node in speakers}
            protocols.append(open_tftp(tftp_at, tftp_folder, output, heads, patience_ms, _notice))
        if protocols:
            on_bare = {node: BareNode(node, radio.packet_bytes) for node in bare_nodes}
            service.speak(protocols, speakers, on_bare)
        done = spool.register([sink.name for sink in sinks])
        service.start([Drain(sink, record, done[sink.name], _notice, service.end) for sink in sinks])
        if as_json:
            listening = {each.name: each.addresses() for each in protocols}
            _print({"ready": {"ports": list(ports), "nodes": list(gateway.nodes), **listening}})
        else:
            _notice(f"gateway of {len(gateway.nodes)} nodes at {', '.join(ports)}")
        service.run(stop, _over(service, seconds, statistics, as_json))
        _tell(service, "summary", as_json)


def _numbers(option: str, given: tuple[str, ...]) -> tuple[int, ...]:
    """Node numbers, from words such as 7 or 1-5,9."""
    found: set[int] = set()
    for part in ",".join(given).split(",") if given else []:
        first, _, last = part.partition("-")
        if not re.fullmatch(r"[0-9]{1,2}(-[0-9]{1,2})?", part):
            raise InputError(f"{option} {part}: no nodes; give numbers such as 7 or 1-5,9")
        numbers = range(int(first), int(last or first) + 1)
        if not numbers or numbers[-1] > NODE_MAX:
            raise InputError(f"{option} {part}: node numbers are 0 to {NODE_MAX}")
        found |= set(numbers)
    return tuple(sorted(found))


def _folder(output: Path) -> None:
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--output {output}: {error.strerror}") from None


def _check_nodes(
    gateway: Gateway, radio: Radio, key_file: Path, restored: bool, bare: tuple[int, ...]
) -> None:
    """Report which nodes will not be received; without any node there is nothing to do."""
    new_epochs(gateway, restored, _notice)
    if not gateway.nodes and not bare:
        raise InputError(
            "no node has keys of this gateway; "
            f"'motecrypt provision 1 --key {key_file} --eep node1.eep' makes some"
        )
    for number in set(gateway.nodes) - set(bare):
        try:
            check_line(number, *gateway.head(number), radio)
        except InputError as error:
            _notice(f"cannot receive: {error}")


def _sinks(
    to_stdout: bool,
    sqlite: tuple[Path, ...],
    csv_files: tuple[Path, ...],
    commands: tuple[str, ...],
    run_seconds: float,
    as_json: bool,
    others: bool,
    waiting: int,
) -> list[Sink]:
    from motecrypt.link.gateway.sinks.command import Command
    from motecrypt.link.gateway.sinks.csv_log import CsvLog
    from motecrypt.link.gateway.sinks.sqlite_log import SqliteLog
    from motecrypt.link.gateway.sinks.stdout import StandardOutput

    sinks: list[Sink] = [SqliteLog(path) for path in sqlite]
    sinks += [CsvLog(path, waiting) for path in csv_files]
    sinks += [Command(line, run_seconds) for line in commands]
    if to_stdout or not (sinks or others):
        sinks.append(StandardOutput(as_json))
    return sinks


def _over(
    service: GatewayService, seconds: float | None, every_s: float | None, as_json: bool
) -> Callable[[], bool]:
    """Whether the time limit is reached; prints the counts meanwhile."""
    begun = time.monotonic()
    next_s = begun + (every_s or 0.0)

    def over() -> bool:
        nonlocal next_s
        now = time.monotonic()
        if every_s is not None and now >= next_s:
            next_s = now + every_s
            _tell(service, "statistics", as_json)
        return seconds is not None and now - begun >= seconds

    return over


def _tell(service: GatewayService, name: str, as_json: bool) -> None:
    counts = service.statistics()
    if as_json:
        _print({name: counts})
        return
    sinks = ", ".join(
        f"{sink} {told['delivered']}" + (f" (down: {told['trouble']})" if told["trouble"] else "")
        for sink, told in counts["sinks"].items()
    )
    not_taken = ", ".join(
        f"{why.replace('_', ' ')} {count}" for why, count in counts["not_taken"].items() if count
    )
    _notice(
        f"{counts['messages']} messages and {counts['files']} files of {len(counts['nodes'])} nodes; "
        f"delivered: {sinks}; {counts['spool']['waiting']} wait"
        + (f"; not taken: {not_taken}" if not_taken else "")
        + (f"; {UNCONFIRMED}: {all_called(waiting)}" if (waiting := counts["epoch_unconfirmed"]) else "")
    )


def _notice(told: str) -> None:
    print(f"motecrypt: {told}", file=sys.stderr, flush=True)


def _print(record: dict[str, Any]) -> None:
    print(json.dumps(record), flush=True)
