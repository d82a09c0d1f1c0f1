"""Serve the nodes behind serial radios: their messages go to sinks, each at least once and under an id."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from motecrypt.app.link_ends import Notice, SerialRadio, make_folder
from motecrypt.base.errors import InputError
from motecrypt.build.setup import need
from motecrypt.link.file_parts import FileCollector
from motecrypt.link.gateway.bare import BareNode
from motecrypt.link.gateway.clock import LoopClock
from motecrypt.link.gateway.control import ControlSocket
from motecrypt.link.gateway.drain import Drain
from motecrypt.link.gateway.heard import BatteryField
from motecrypt.link.gateway.lines import Line
from motecrypt.link.gateway.opening import record_of
from motecrypt.link.gateway.operated import OperatedGateway
from motecrypt.link.gateway.protocols import NodeProtocol
from motecrypt.link.gateway.protocols.coap.opening import open_coap
from motecrypt.link.gateway.protocols.tftp.opening import open_tftp
from motecrypt.link.gateway.service import GatewayService
from motecrypt.link.gateway.sinks import Sink
from motecrypt.link.gateway.sinks.command import Command
from motecrypt.link.gateway.sinks.csv_log import CsvLog
from motecrypt.link.gateway.sinks.rotation import Rotation
from motecrypt.link.gateway.sinks.sqlite_log import SqliteLog
from motecrypt.link.gateway.spool import Spool
from motecrypt.link.keys import read_master_file
from motecrypt.link.native import BROADCAST
from motecrypt.link.ports.signals import Stop
from motecrypt.link.state import FileStore
from motecrypt.link.stored_files import NodeFiles


@dataclass(frozen=True)
class Mqtt:
    """A broker.

    Attributes
    ----------
    url : mqtt[s]://[USER@]HOST[:PORT]/NAME; None: no broker.
    password : a file with USER's. ca : certificates to trust in place of the system's.
    cert, cert_key : the gateway's own certificate.
    commands : whether commands for nodes are accepted from it.
    """

    url: str | None = None
    password: Path | None = None
    ca: Path | None = None
    cert: Path | None = None
    cert_key: Path | None = None
    commands: bool = False


@dataclass(frozen=True)
class GatewaySinks:
    """Where messages go.

    Attributes
    ----------
    sqlite, csv : files. csv_mb : megabytes of a CSV file, after which another one takes its place; None: any
    number. csv_kept : how many earlier ones are kept.
    run : commands that get each message as JSON, with a time limit of `run_seconds`.
    own : other sinks: any `motecrypt.link.gateway.sinks.Sink`.
    """

    sqlite: Sequence[Path] = ()
    csv: Sequence[Path] = ()
    csv_mb: float | None = None
    csv_kept: int = 9
    run: Sequence[str] = ()
    run_seconds: float = 30.0
    mqtt: Mqtt = field(default_factory=Mqtt)
    own: Sequence[Sink] = ()

    def rotation(self) -> Rotation | None:
        """Of CSV files; InputError where one of them would become an earlier file of another."""
        if self.csv_mb is None:
            return None
        made = Rotation(int(self.csv_mb * 10**6), self.csv_kept)
        places = [path.absolute() for path in self.csv]
        for path in places:
            for other in made.earlier(path):
                if other in places:
                    raise InputError(f"--csv {other}: is an earlier file of --csv {path}; name another file")
        return made


@dataclass(frozen=True)
class NodeProtocols:
    """What nodes speak besides messages.

    Attributes
    ----------
    speaks : nodes that speak CoAP or TFTP. bare : those that speak CoAP without the link, with OSCORE.
    coap, tftp : "[HOST:]PORT" where their clients ask.
    coap_server : coap://HOST[:PORT] that nodes may access. tftp_folder : whose files nodes may read.
    """

    speaks: Sequence[int] = ()
    bare: Sequence[int] = ()
    coap: str | None = None
    coap_server: Sequence[str] = ()
    tftp: str | None = None
    tftp_folder: Path | None = None

    def spoken(self) -> tuple[bool, bool]:
        """Whether CoAP and TFTP are spoken; InputError where one has no nodes, or nodes none."""
        coap, tftp = bool(self.coap or self.coap_server), bool(self.tftp or self.tftp_folder)
        if self.bare and not coap:
            raise InputError(
                "--bare: such nodes speak CoAP; say where clients ask with --coap, such as --coap 5683"
            )
        if both := set(self.speaks) & set(self.bare):
            raise InputError(
                f"--speaks, --bare: node {min(both)} is in both; it is on the link or on the bare radio"
            )
        if (coap or tftp) != bool(self.speaks or self.bare) or (tftp and not self.speaks):
            if self.speaks:
                raise InputError("--speaks: name the protocol, too, with --coap or --tftp")
            raise InputError("--coap, --tftp: name the nodes that use it with --speaks, such as --speaks 7")
        return coap, tftp


@dataclass(frozen=True)
class GatewayRecord:
    """What a gateway keeps.

    Attributes
    ----------
    state : its record and spool, by default next to its key. socket : for orders, by default next to these.
    restored : the record comes from a backup: begin new epochs first.
    queue : messages that may wait for sinks; beyond this, nodes are not answered.
    """

    state: Path | None = None
    socket: Path | None = None
    restored: bool = False
    queue: int = 100_000


@dataclass(frozen=True)
class GatewayNodes:
    """What nodes may take, and what their messages have.

    Attributes
    ----------
    node_rate : messages a second that one node may send, over ten seconds.
    output_mb : megabytes that files of nodes may have, each node an equal part of them.
    battery : where messages have the battery's voltage, for `gateway_status`; None: nowhere.
    """

    node_rate: float = 100.0
    output_mb: float = 1000.0
    battery: BatteryField | None = None


@dataclass(frozen=True)
class GatewayRequest:
    """A gateway.

    Attributes
    ----------
    ports : paths of serial ports. line : the radio at each. key_file : the gateway's master key.
    output : a folder for files of nodes; None: they are refused.
    """

    ports: Sequence[str]
    line: SerialRadio
    key_file: Path
    record: GatewayRecord = field(default_factory=GatewayRecord)
    output: Path | None = None
    sinks: GatewaySinks = field(default_factory=GatewaySinks)
    protocols: NodeProtocols = field(default_factory=NodeProtocols)
    nodes: GatewayNodes = field(default_factory=GatewayNodes)


Counts = Mapping[str, Any]


def serve_gateway(
    request: GatewayRequest,
    notice: Notice = lambda told: None,
    ready: Callable[[Mapping[str, Any]], None] = lambda what: None,
    counts: Callable[[Counts], None] = lambda counts: None,
    every_s: float | None = None,
    seconds: float | None = None,
    stop: Stop | None = None,
) -> Counts:
    """Serve nodes for these `seconds`, or until `stop` is asked; the counts at the end.

    `ready` gets the ports, the nodes and the addresses of protocols once it works; `counts` gets the counts
    each `every_s`. InputError for what cannot be.
    """
    stop = stop or Stop()
    with ExitStack() as opened:
        service, served = open_service(request, opened, stop, notice)
        ready(served)
        service.run(stop, _over(service, seconds, every_s, counts))
        return service.statistics()


def open_service(
    request: GatewayRequest,
    opened: ExitStack,
    stop: Stop,
    notice: Notice,
    clock: LoopClock | None = None,
) -> tuple[GatewayService, Mapping[str, Any]]:
    """A gateway that is ready to run, and what `serve_gateway` calls `ready` with; `opened` closes it.

    `clock` is another time than this computer's, for simulations. InputError for what cannot be.
    """
    mqtt, protocols, line = request.sinks.mqtt, request.protocols, request.line
    need("link", *(["mqtt"] if mqtt.url else []))
    if not mqtt.url and mqtt != Mqtt():
        raise InputError("--mqtt-...: they need --mqtt; name the broker")
    _check_sizes(request)
    if len({Path(port).resolve() for port in request.ports}) < len(request.ports):
        raise InputError("PORT: one port is named twice")
    setup, patience_ms = line.setup(stop), line.answer_ms()
    suite, master = read_master_file(request.key_file)
    record = record_of(request.key_file, request.record.state)
    if any(path.resolve() == record.resolve() for path in (*request.sinks.sqlite, *request.sinks.csv)):
        raise InputError(f"--sqlite, --csv: {record} is the gateway's own record; name another file")
    broker = _broker(mqtt, notice) if mqtt.url else None
    protocols.spoken()
    if request.output is not None:
        make_folder(request.output)
    file = FileStore(record)
    spool = opened.enter_context(Spool(file, request.record.queue))
    gateway = OperatedGateway(spool, master, suite, line.radio.packet_bytes, patience_ms, together=True)
    gateway.serial = line.radio.is_serial
    gateway.battery = request.nodes.battery
    line.check_all(gateway, request.record.restored, notice, protocols.bare)
    if not gateway.nodes and not protocols.bare:
        raise InputError(
            "no node has keys of this gateway; "
            f"'motecrypt provision 1 --key {request.key_file} --eep node1.eep' makes some"
        )
    lines = [
        opened.enter_context(closing(Line(port, line.baud, line.framing(port, notice), notice, setup)))
        for port in request.ports
    ]
    stored = _stored(request, gateway, opened)
    collector = FileCollector(request.output, True, stored) if request.output is not None else None
    outcome_s = 40 * patience_ms / 1000 + 5.0
    service = GatewayService(
        gateway, spool, lines, collector, request.nodes.node_rate, outcome_s, notice, clock
    )
    sinks = _sinks(request.sinks, spool.waiting)
    if broker is not None:
        from motecrypt.link.gateway.sinks.mqtt import MqttSink

        sinks.append(MqttSink(broker, service.commanded if mqtt.commands else None, notice))
    if len({sink.name for sink in sinks}) < len(sinks):
        raise InputError("--sqlite, --csv, --run: one sink is named twice")
    control = ControlSocket(request.record.socket or record.with_name(f"{record.name}.socket"))
    service.listen(control)
    spoken = _speak(service, gateway, request, patience_ms, notice, stored)
    done = spool.register([sink.name for sink in sinks])
    service.start([Drain(sink, record, done[sink.name], notice, service.end) for sink in sinks])
    file.serve_at(control.path)
    addresses = {each.name: each.addresses() for each in spoken}
    served = {"ports": list(request.ports), "nodes": list(gateway.nodes), **addresses}
    return service, served


def _check_sizes(request: GatewayRequest) -> None:
    """InputError for a size of what was not asked for, and for files that are each other's earlier ones."""
    sinks = request.sinks
    for option, given, needs, there in (
        ("--csv-mb", sinks.csv_mb is not None, "--csv", bool(sinks.csv)),
        ("--csv-kept", sinks.csv_kept != GatewaySinks.csv_kept, "--csv-mb", sinks.csv_mb is not None),
        (
            "--output-mb",
            request.nodes.output_mb != GatewayNodes.output_mb,
            "--output",
            request.output is not None,
        ),
    ):
        if given and not there:
            raise InputError(f"{option}: it needs {needs}; give that, too")
    sinks.rotation()


def _broker(mqtt: Mqtt, notice: Notice) -> Any:
    from motecrypt.link.gateway.sinks.mqtt import read_broker

    broker = read_broker(str(mqtt.url), mqtt.password, mqtt.ca, mqtt.cert, mqtt.cert_key)
    if mqtt.commands and not broker.known:
        raise InputError(
            "--mqtt-commands: a broker without logins lets anyone command the nodes; "
            "log in with USER@ and --mqtt-password, or with --mqtt-cert"
        )
    if broker.exposed:
        notice(f"--mqtt {broker.host}: others can read {broker.exposed} on the way; use mqtts:")
    return broker


def _sinks(asked: GatewaySinks, waiting: int) -> list[Sink]:
    rotation = asked.rotation()
    return [
        *map(SqliteLog, asked.sqlite),
        *(CsvLog(path, waiting, rotation) for path in asked.csv),
        *(Command(line, asked.run_seconds) for line in asked.run),
        *asked.own,
    ]


def _stored(request: GatewayRequest, gateway: OperatedGateway, opened: ExitStack) -> NodeFiles | None:
    """What nodes have in the folder for their files, and may have: each node with keys an equal part."""
    if request.output is None:
        return None
    total = int(request.nodes.output_mb * 10**6)
    files = NodeFiles(request.output, lambda: total // max(1, len(set(gateway.nodes) - {BROADCAST})))
    opened.callback(files.close)
    return files


def _speak(
    service: GatewayService,
    gateway: OperatedGateway,
    request: GatewayRequest,
    patience_ms: int,
    notice: Notice,
    stored: NodeFiles | None,
) -> list[NodeProtocol]:
    """Begin to serve the protocols of nodes."""
    asked, spoken = request.protocols, list[NodeProtocol]()
    coap, tftp = asked.spoken()
    if coap:
        spoken.append(open_coap(asked.coap, asked.coap_server, asked.speaks, asked.bare))
    if tftp:
        heads = {node: gateway.head(node) for node in asked.speaks}
        folders = (asked.tftp_folder, request.output)
        spoken.append(open_tftp(asked.tftp, *folders, heads, patience_ms, notice, stored))
    if spoken:
        packet_bytes = request.line.radio.packet_bytes
        service.speak(spoken, asked.speaks, {node: BareNode(node, packet_bytes) for node in asked.bare})
    return spoken


def _over(
    service: GatewayService, seconds: float | None, every_s: float | None, counts: Callable[[Counts], None]
) -> Callable[[], bool]:
    """Whether the time limit is reached; hands on the counts meanwhile."""
    begun = time.monotonic()
    next_s = begun + (every_s or 0.0)

    def over() -> bool:
        nonlocal next_s
        now = time.monotonic()
        if every_s is not None and now >= next_s:
            next_s = now + every_s
            counts(service.statistics())
        return seconds is not None and now - begun >= seconds

    return over
