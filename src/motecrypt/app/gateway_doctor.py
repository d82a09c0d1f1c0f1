"""Check what a gateway needs before it serves, or while it does: one answer each, with what to do about it.

It changes nothing, except that it opens each port that is free for a moment.
"""

from __future__ import annotations

import grp
import os
import pwd
import shlex
import shutil
import socket
import sqlite3
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from motecrypt.app.gateway import GatewayRequest, GatewaySinks, Mqtt
from motecrypt.app.gateway_nodes import GatewayStatus, gateway_status
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.paths import read_regular
from motecrypt.base.serial_port import SerialPort
from motecrypt.build.setup import need
from motecrypt.link.gateway.items import utc
from motecrypt.link.gateway.opening import record_of
from motecrypt.link.gateway.operated import OperatedGateway
from motecrypt.link.gateway.sinks.csv_log import HEAD
from motecrypt.link.gateway.spool import is_spool
from motecrypt.link.gateway.status import NodeStatus
from motecrypt.link.keys import read_master_file
from motecrypt.link.state import RECORD_BYTES_MAX, MemoryStore

CLOCK_SET_S = datetime.fromisoformat("2025-01-01T00:00:00+00:00").timestamp()
"""A clock before this was never set: it is older than this program."""
DISK_FREE_MIN = 100_000_000
"""Bytes. The spool may grow to half a gigabyte if no sink takes messages (`spool.WAITING_MAX`)."""
FILES_FREE_MIN = 100
BROKER_S = 5.0
"""How long the broker may take for a connection."""
BACKUPS = "backup*"
"""What is looked for next to the record, behind its name and a dot."""
AGAIN = "make a new one"
PLUG_IN = "plug the radio in; ls /dev/serial/by-id lists ports"


class CheckVerdict(StrEnum):
    """How a check ended."""

    OK = "ok"
    NOTE = "note"
    WRONG = "wrong"


OK, NOTE, WRONG = CheckVerdict


@dataclass(frozen=True)
class GatewayCheck:
    """One check.

    Attributes
    ----------
    what : what was looked at. found : its state. fix : what to do, unless all is well or `found` says it.
    """

    what: str
    verdict: CheckVerdict
    found: str
    fix: str = ""

    @property
    def line(self) -> str:
        """The check in one line. An error's message has the place and the fix itself."""
        if self.fix:
            return f"{self.what}: {self.found}; {self.fix}"
        return self.found if self.verdict is CheckVerdict.WRONG else f"{self.what}: {self.found}"


def gateway_doctor(request: GatewayRequest, backups: Sequence[Path] = ()) -> list[GatewayCheck]:
    """Check the ports, record, clock, sinks and disks of a gateway with these settings.

    `backups` are copies of its record, by default those next to it whose names continue with ".backup".
    InputError if its key file cannot be read.
    """
    need("link")
    suite, master = read_master_file(request.key_file)
    record = record_of(request.key_file, request.record.state)
    checks, status = _record(request, record)
    checks += _clock(record, status)
    for port in request.ports:
        checks.append(_port(port, request.line.baud, status))
    checks += _nodes(request, status)
    found = backups or sorted(record.parent.glob(f"{record.name}.{BACKUPS}"))
    if not found:
        checks.append(GatewayCheck("backup", NOTE, "no copy is named or next to the record", _copy(record)))
    for path in found:
        checks.append(_backup(path, status, OperatedGateway(MemoryStore(), master, suite)))
    checks += _sinks(request, status)
    checks += _disks(request, record)
    return checks


# --- the record


def _record(request: GatewayRequest, record: Path) -> tuple[list[GatewayCheck], GatewayStatus | None]:
    if not record.exists():
        fix = f"'motecrypt provision 1 --key {request.key_file} --eep node1.eep' makes one"
        return [GatewayCheck(f"record {record}", WRONG, "is not there", fix)], None
    files = [record.with_name(record.name + suffix) for suffix in ("", "-wal", "-shm", ".lock")]
    checks = [check for path in files if path.exists() and (check := _private(f"record {path}", path))]
    if checks:
        return checks, None
    try:
        status = gateway_status(request.key_file, request.record.state)
    except (MotecryptError, OSError) as error:
        return [GatewayCheck(f"record {record}", WRONG, str(error))], None
    served = "a gateway serves it" if status.running else "no gateway runs"
    return [GatewayCheck(f"record {record}", OK, f"{len(status.nodes)} nodes; {served}")], status


def _private(what: str, path: Path) -> GatewayCheck | None:
    """What is wrong if it is not this user's alone."""
    told = path.stat()
    if told.st_uid != os.geteuid():
        fix = f"run this as that user, or: sudo chown $USER {path}"
        return GatewayCheck(what, WRONG, f"belongs to {_user(told.st_uid)}", fix)
    if told.st_mode & 0o077:
        return GatewayCheck(what, WRONG, "others can read or write it", f"chmod 600 {path}")
    return None


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def _backup(path: Path, status: GatewayStatus | None, reader: OperatedGateway) -> GatewayCheck:
    what = f"backup {path}"
    try:
        if check := _private(what, path):
            return check
        entries = reader.read(_kept(path))
    except (MotecryptError, OSError, sqlite3.Error) as error:
        said = getattr(error, "strerror", None) or error
        return GatewayCheck(what, WRONG, f"cannot be used: {said}", AGAIN)
    has = {entry.node: entry.generation for entry in entries if not entry.void}
    age = f"made {(time.time() - path.stat().st_mtime) / 86400:.1f} days ago"
    now = {each.node: each.generation for each in _seen(status) if each.epoch is not None}
    lacks = [str(node) for node, generation in now.items() if has.get(node) != generation]
    if lacks:
        return GatewayCheck(what, WRONG, f"{age}; lacks the keys of nodes {', '.join(lacks)}", AGAIN)
    return GatewayCheck(what, OK, f"{age}; has the keys of {len(has)} nodes")


def _copy(record: Path) -> str:
    """How a backup is made."""
    words = ["cp", str(record), f"{record}.backup"]
    if is_spool(record):
        words = ["sqlite3", str(record), f".backup {record}.backup"]
    return f"make one: umask 077; {shlex.join(words)}"


def _kept(path: Path) -> bytes:
    """The record in a copy of a spool or of a record's file."""
    if not is_spool(path):
        return read_regular(path, RECORD_BYTES_MAX)
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as base:
        row = base.execute("SELECT record FROM record").fetchone()
    if row is None:
        raise InputError("it has no record")
    return bytes(row[0])


# --- the clock


def _clock(record: Path, status: GatewayStatus | None) -> Iterator[GatewayCheck]:
    now_s, fix = time.time(), "set it: sudo timedatectl set-ntp true"
    seen = [datetime.fromisoformat(each.last_seen).timestamp() for each in _seen(status) if each.last_seen]
    files = (record, record.with_name(f"{record.name}-wal"))
    kept = [path.stat().st_mtime for path in files if path.exists()]
    newest_s = max([*seen, *kept], default=0.0)
    if now_s < CLOCK_SET_S:
        yield GatewayCheck("clock", WRONG, f"{utc(now_s)}: was never set", fix)
    elif now_s + 1 < newest_s:
        found = f"{utc(now_s)}: before the record's newest time, {utc(newest_s)}"
        yield GatewayCheck("clock", WRONG, found, fix)
    else:
        yield GatewayCheck("clock", OK, utc(now_s))


def _seen(status: GatewayStatus | None) -> Sequence[NodeStatus]:
    return () if status is None else status.nodes


# --- ports and nodes


def _port(path: str, baud: int, status: GatewayStatus | None) -> GatewayCheck:
    what = f"port {path}"
    served = {Path(port).resolve(): packets for port, packets in (status.ports if status else {}).items()}
    try:
        mode = Path(path).stat().st_mode
    except OSError as error:
        return GatewayCheck(what, WRONG, str(error.strerror), PLUG_IN)
    if not stat.S_ISCHR(mode):
        return GatewayCheck(what, WRONG, "is not a serial port", "name one such as /dev/ttyUSB0")
    if not os.access(path, os.R_OK | os.W_OK, effective_ids=True):
        return GatewayCheck(what, WRONG, "permission denied", _join(path))
    if Path(path).resolve() in served:
        return GatewayCheck(what, OK, f"the gateway has it; {served[Path(path).resolve()]} packets")
    try:
        SerialPort(path, baud).close()
    except MotecryptError as error:
        return GatewayCheck(what, WRONG, str(error))
    return GatewayCheck(what, OK, "free")


def _join(path: str) -> str:
    """How this user may use a port."""
    user = _user(os.geteuid())
    try:
        group = grp.getgrgid(Path(path).stat().st_gid)
    except KeyError:
        return "use sudo"
    if user in group.gr_mem and group.gr_gid not in os.getgroups():
        return f"log in again: this session began before {user} joined the group {group.gr_name}"
    return f"join the group {group.gr_name}: sudo usermod -aG {group.gr_name} {user}, then log in again"


def _nodes(request: GatewayRequest, status: GatewayStatus | None) -> Iterator[GatewayCheck]:
    for each in _seen(status):
        what = f"node {each.node}"
        if each.epoch is None:
            yield GatewayCheck(what, NOTE, "has no valid keys", "'motecrypt provision' makes some")
        elif each.failed_tags >= each.failed_tags_max:
            fix = f"'motecrypt gateway renew {each.node} --key {request.key_file}' begins a new epoch"
            yield GatewayCheck(what, NOTE, "only long messages are accepted: too many were forged", fix)


# --- sinks and disks


def _sinks(request: GatewayRequest, status: GatewayStatus | None) -> Iterator[GatewayCheck]:
    sinks, asked = request.sinks, request.output
    for path in sinks.sqlite:
        yield _writable(f"--sqlite {path}", path)
    for path in sinks.csv:
        yield _rotated(sinks, path) or _writable(f"--csv {path}", path)
    if asked is not None:
        yield _writable(f"--output {asked}", next(_there(asked)) / "file")
    for line in sinks.run:
        words = shlex.split(line)
        found = shutil.which(words[0]) if words else None
        if found:
            yield GatewayCheck(f"--run {line}", OK, found)
        else:
            yield GatewayCheck(f"--run {line}", WRONG, "there is no such command", "install it")
    if sinks.mqtt.url:
        yield _broker(sinks.mqtt)
    for name, trouble in (status.sinks if status else {}).items():
        if trouble:
            yield GatewayCheck(f"sink {name}", WRONG, trouble, "its messages wait, and are tried again")


def _rotated(sinks: GatewaySinks, path: Path) -> GatewayCheck | None:
    """What is in the way of --csv-mb."""
    try:
        rotation = sinks.rotation()
        if rotation is not None:
            rotation.check(path, HEAD)
    except InputError as error:
        return GatewayCheck(f"--csv {path}", WRONG, str(error))
    return None


def _writable(what: str, path: Path) -> GatewayCheck:
    """Whether this user may write a file, or make it."""
    if path.exists() and not path.is_file():
        return GatewayCheck(what, WRONG, "is not a regular file", "name another one")
    told = path if path.exists() else path.absolute().parent
    if not told.exists():
        return GatewayCheck(what, WRONG, f"{told}: No such file or directory", f"mkdir -p {told}")
    if not told.is_dir() and told != path:
        return GatewayCheck(what, WRONG, f"{told}: Not a directory", "name another one")
    if not os.access(told, os.W_OK, effective_ids=True):
        return GatewayCheck(
            what, WRONG, f"{told}: cannot be written", f"sudo chown {_user(os.geteuid())} {told}"
        )
    return GatewayCheck(what, OK, "can be written")


def _there(path: Path) -> Iterator[Path]:
    """The path and the folders that it is in, as far as they exist; the innermost first."""
    return (each for each in (path.absolute(), *path.absolute().parents) if each.exists())


def _broker(mqtt: Mqtt) -> GatewayCheck:
    from motecrypt.link.gateway.sinks.mqtt import read_broker

    what = f"--mqtt {mqtt.url}"
    try:
        broker = read_broker(str(mqtt.url), mqtt.password, mqtt.ca, mqtt.cert, mqtt.cert_key)
        socket.create_connection((broker.host, broker.port), BROKER_S).close()
    except MotecryptError as error:
        return GatewayCheck(what, WRONG, str(error))
    except OSError as error:
        return GatewayCheck(what, WRONG, str(error.strerror or error), "start the broker, or name another")
    return GatewayCheck(what, OK, f"{broker.host}:{broker.port} answers")


def _disks(request: GatewayRequest, record: Path) -> Iterator[GatewayCheck]:
    folders = [record.parent, *(path.parent for path in (*request.sinks.sqlite, *request.sinks.csv))]
    if request.output is not None:
        folders.append(request.output)
    seen: set[int] = set()
    for folder in folders:
        there = next(_there(folder))
        if there.stat().st_dev not in seen:
            seen.add(there.stat().st_dev)
            yield _disk(there)
    yield _writable(f"record's folder {record.parent}", record.parent / f"{record.name}.new")


def _disk(folder: Path) -> GatewayCheck:
    told = os.statvfs(folder)
    free, what = told.f_bavail * told.f_frsize, f"disk of {folder}"
    found = f"{free // 1_000_000:,} MB free"
    if free < DISK_FREE_MIN:
        return GatewayCheck(what, WRONG, found, f"delete files; it needs {DISK_FREE_MIN // 1_000_000} MB")
    if told.f_files and told.f_favail < FILES_FREE_MIN:
        return GatewayCheck(what, WRONG, f"{told.f_favail} new files are possible", "delete some files")
    return GatewayCheck(what, OK, found)
