"""`motecrypt gateway doctor`: each check, when all is well and when something is wrong, with what to do."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from command_line import run
from documented import missing
from gateway_bed import PACKET, Radio
from gateway_running import Running, provision
from motecrypt import (
    GatewayCheck,
    GatewayRequest,
    GatewaySinks,
    Mqtt,
    SerialRadio,
    gateway_doctor,
    load_radio,
)
from motecrypt.app import gateway_doctor as module
from motecrypt.app.gateway_doctor import NOTE, OK, WRONG
from motecrypt.app.gateway_nodes import GatewayStatus
from motecrypt.base.errors import InputError
from motecrypt.base.serial_port import SerialPort
from motecrypt.link.gateway import heard, registry, stored
from motecrypt.link.gateway.opening import open_gateway
from motecrypt.link.gateway.spool import Spool
from motecrypt.link.gateway.status import NodeStatus
from motecrypt.link.keys import create_master_file
from motecrypt.link.native import LONG
from motecrypt.link.state import FileStore

LINE = SerialRadio(load_radio("srf"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A gateway's key, and its record with node 5."""
    create_master_file(tmp_path / "key")
    monkeypatch.chdir(tmp_path)
    provision(tmp_path)
    return tmp_path


def request(*ports: str, **given: Any) -> GatewayRequest:
    return GatewayRequest(ports, LINE, Path("key"), **given)


def checked(asked: GatewayRequest, *backups: Path) -> dict[str, GatewayCheck]:
    found = gateway_doctor(asked, backups)
    assert len({each.what for each in found}) == len(found)
    assert all(each.fix or "; " in each.found for each in found if each.verdict is not OK)
    return {each.what: each for each in found}


def one(asked: GatewayRequest, what: str, *backups: Path) -> tuple[str, str, str]:
    check = checked(asked, *backups)[what]
    return check.verdict, check.found, check.fix


def test_a_gateway_that_is_well_has_a_line_for_each_and_exit_code_0(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    radio = Radio()
    shutil.copy("key.gateway", "key.gateway.backup")
    sinks = ["--sqlite", "log.db", "--csv", "log.csv", "--run", "true x", "--output", "inbox"]
    rest = ["--radio", "srf", "--speaks", "5", "--coap", "0", "--statistics", "9", "--queue", "7"]
    code, out, errors = run(capsys, "gateway", "doctor", radio.path, "--key", "key", *sinks, *rest)
    assert (code, errors) == (0, "")
    lines = dict(line.removeprefix("ok    ").split(": ", 1) for line in out.splitlines())
    assert all(line.startswith("ok    ") for line in out.splitlines())
    free = lines.pop(f"disk of {folder}")
    assert free.endswith(" MB free") and lines.pop("clock").startswith("20")
    assert lines == {
        "record key.gateway": "1 nodes; no gateway runs",
        f"port {radio.path}": "free",
        "backup key.gateway.backup": "made 0.0 days ago; has the keys of 1 nodes",
        "--sqlite log.db": "can be written",
        "--csv log.csv": "can be written",
        "--output inbox": "can be written",
        "--run true x": shutil.which("true"),
        "record's folder .": "can be written",
    }
    before = {path.name for path in folder.iterdir()}
    assert before == {"key", "key.gateway", "key.gateway.lock", "key.gateway.backup"}, "nothing is made"


def test_something_wrong_is_exit_code_1_and_a_note_is_not(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "gateway", "doctor", "--key", "key")
    assert (
        code == 0
        and (
            "note  backup: no copy is named or next to the record; make one: umask 077; cp key.gateway "
            "key.gateway.backup\n"
        )
        in out
    )
    code, out, _ = run(capsys, "gateway", "doctor", "no", "--key", "key", "--json")
    told = {each["what"]: each for each in json.loads(out)}
    assert code == 1 and told["port no"] == {
        "what": "port no",
        "verdict": "wrong",
        "found": "No such file or directory",
        "fix": "plug the radio in; ls /dev/serial/by-id lists ports",
    }
    code, _, errors = run(capsys, "gateway", "doctor", "--key", "no")
    assert code == 2 and "key file no: cannot be read: No such file or directory" in errors


# --- the record


def test_a_record_that_is_not_there_or_not_private(folder: Path) -> None:
    (folder / "key.gateway").chmod(0o640)
    assert one(request(), "record key.gateway") == (
        WRONG,
        "others can read or write it",
        "chmod 600 key.gateway",
    )
    (folder / "key.gateway").chmod(0o600)
    (folder / "key.gateway-wal").touch(0o644)
    assert one(request(), "record key.gateway-wal")[0] == WRONG
    (folder / "key.gateway").unlink()
    assert one(request(), "record key.gateway") == (
        WRONG,
        "is not there",
        "'motecrypt provision 1 --key key --eep node1.eep' makes one",
    )


def test_a_record_of_another_user(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = module._user(os.getuid())
    monkeypatch.setattr(os, "geteuid", lambda: 4_000_000_000)
    verdict, found, fix = one(request(), "record key.gateway.lock")
    assert (verdict, found) == (WRONG, f"belongs to {owner}")
    assert fix == "run this as that user, or: sudo chown $USER key.gateway.lock"
    assert module._user(4_000_000_000) == "user 4000000000"


def test_a_record_that_is_damaged_or_in_use(folder: Path) -> None:
    held = FileStore(folder / "key.gateway")
    assert one(request(), "record key.gateway")[:2] == (
        WRONG,
        "state file key.gateway: another program is using it; stop that one first",
    )
    held.close()
    (folder / "key.gateway").write_text("no record")
    verdict, found, fix = one(request(), "record key.gateway")
    assert (
        verdict == WRONG
        and "the gateway's record is damaged" in found
        and "restore a backup" in found
        and not fix
    )


# --- backups


def test_a_backup_is_read_and_compared(folder: Path) -> None:
    copy = folder / "copy"
    shutil.copy(folder / "key.gateway", copy)
    os.utime(copy, (time.time() - 86400 * 12.3,) * 2)
    assert one(request(), f"backup {copy}", copy)[:2] == (OK, "made 12.3 days ago; has the keys of 1 nodes")
    provision(folder)
    provision(folder, 6)
    assert one(request(), f"backup {copy}", copy) == (
        WRONG,
        "made 12.3 days ago; lacks the keys of nodes 5, 6",
        "make a new one",
    )
    copy.chmod(0o644)
    assert one(request(), f"backup {copy}", copy) == (
        WRONG,
        "others can read or write it",
        f"chmod 600 {copy}",
    )


@pytest.mark.parametrize("content", [b"", b"no record", b"SQLite format 3\0 but no more"])
def test_a_backup_that_is_none(folder: Path, content: bytes) -> None:
    copy = folder / "copy"
    copy.write_bytes(content)
    copy.chmod(0o600)
    verdict, found, fix = one(request(), f"backup {copy}", copy)
    assert (verdict, fix) == (WRONG, "make a new one") and found.startswith("cannot be used: ")
    verdict, found, _ = one(request(), "backup no", Path("no"))
    assert (verdict, found) == (WRONG, "cannot be used: No such file or directory")


def test_a_backup_of_another_master_key(folder: Path) -> None:
    create_master_file(folder / "other")
    open_gateway(folder / "other", None, PACKET).provision(5)
    verdict, found, _ = one(request(), "backup other.gateway", Path("other.gateway"))
    assert verdict == WRONG and "belongs to another master key" in found


def test_a_backup_of_a_spool_is_made_as_the_page_says(folder: Path) -> None:
    Spool(FileStore(folder / "key.gateway")).close()
    _, _, fix = one(request(), "backup")
    assert fix == ("make one: umask 077; sqlite3 key.gateway '.backup key.gateway.backup'")
    with sqlite3.connect("key.gateway") as base, sqlite3.connect("key.gateway.backup") as copy:
        base.backup(copy)
    Path("key.gateway.backup").chmod(0o600)
    before = {path.name for path in folder.iterdir()}
    assert one(request(), "backup key.gateway.backup")[:2] == (
        OK,
        "made 0.0 days ago; has the keys of 1 nodes",
    )
    assert {path.name for path in folder.iterdir()} == before
    with sqlite3.connect("key.gateway.backup") as copy:
        copy.execute("DELETE FROM record")
    copy.close()
    assert one(request(), "backup key.gateway.backup")[1] == "cannot be used: it has no record"


# --- the clock


def test_a_clock_that_was_never_set_or_goes_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fix = "set it: sudo timedatectl set-ntp true"
    now_s, real = time.time(), time.time
    monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: 86400.5))
    told = "1970-01-02T00:00:00.500Z: was never set"
    assert one(request(), "clock") == (WRONG, told, fix)
    os.utime("key.gateway", (1_760_000_000,) * 2)
    monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: 1_760_000_000 - 0.5))
    assert one(request(), "clock")[0] == OK
    monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: 1_760_000_000 - 1.5))
    assert one(request(), "clock") == (
        WRONG,
        "2025-10-09T08:53:18.500Z: before the record's newest time, 2025-10-09T08:53:20.000Z",
        fix,
    )
    node = provision(folder)
    gateway = open_gateway(folder / "key", None, PACKET)
    node.send(b"21.4 C", LONG)
    gateway.clock = lambda: now_s + 1000  # type: ignore[assignment,method-assign]
    gateway.receive(node.packets(), lambda messages: [True] * len(messages))
    gateway.close()
    monkeypatch.setattr(module, "time", SimpleNamespace(time=real))
    assert one(request(), "clock")[0] == WRONG, "a message came later than that"


# --- ports


def test_ports(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    radio = Radio()
    (folder / "file").touch()
    assert one(request("file"), "port file")[1] == "is not a serial port"
    said = "port /dev/null: is not a serial port; name one such as /dev/ttyUSB0"
    assert one(request("/dev/null"), "port /dev/null") == (WRONG, said, "")
    with SerialPort(radio.path):
        assert one(request(radio.path), f"port {radio.path}") == (
            WRONG,
            f"port {radio.path}: busy: another program uses it; stop that one first",
            "",
        )
    assert one(request(radio.path), f"port {radio.path}") == (OK, "free", "")


@pytest.mark.parametrize(
    ("members", "groups", "fix"),
    [
        ([], [0], "join the group dialout: sudo usermod -aG dialout ann, then log in again"),
        (["ann"], [0], "log in again: this session began before ann joined the group dialout"),
        (["ann"], [20], "join the group dialout: sudo usermod -aG dialout ann, then log in again"),
        (None, [0], "use sudo"),
    ],
)
def test_a_port_without_rights_names_the_group(
    folder: Path, monkeypatch: pytest.MonkeyPatch, members: list[str] | None, groups: list[int], fix: str
) -> None:
    radio, access = Radio(), os.access

    def group(number: int) -> SimpleNamespace:
        if members is None:
            raise KeyError
        return SimpleNamespace(gr_name="dialout", gr_gid=20, gr_mem=members)

    monkeypatch.setattr(os, "access", lambda path, *how, **given: path != radio.path and access(path, *how))
    monkeypatch.setattr(module.grp, "getgrgid", group)
    monkeypatch.setattr(os, "getgroups", lambda: groups)
    monkeypatch.setattr(module.pwd, "getpwuid", lambda number: SimpleNamespace(pw_name="ann"))
    assert one(request(radio.path), f"port {radio.path}") == (WRONG, "permission denied", fix)


def test_a_gateway_that_runs_is_checked_through_its_socket(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "key.gateway").unlink()
    running = Running(folder)
    try:
        running.say(b"21.4 C")
        running.until(lambda: '"id": "5.1.0.0"' in running.out)
        code, out, _ = run(capsys, "gateway", "doctor", "p", "--key", "key", "--csv", "log.csv")
        assert code == 0 and "ok    record key.gateway: 1 nodes; a gateway serves it\n" in out
        assert "ok    port p: the gateway has it; " in out and "make one: umask 077; sqlite3" in out
        running.until(lambda: not running.node.waiting)
        running.say(b"21.5 C")
        running.until(lambda: '"id": "5.1.0.1"' in running.out)
    finally:
        running.end()


# --- nodes, sinks, disks


def node(epoch: int | None, failed: int) -> NodeStatus:
    return NodeStatus(5, 1, epoch, False, None, 0, 0, None, failed)


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (node(0, 4095), None),
        (
            node(0, 4096),
            (
                NOTE,
                "only long messages are accepted: too many were forged",
                "'motecrypt gateway renew 5 --key key' begins a new epoch",
            ),
        ),
        (node(None, 0), (NOTE, "has no valid keys", "'motecrypt provision' makes some")),
    ],
)
def test_nodes_that_need_something(
    folder: Path, monkeypatch: pytest.MonkeyPatch, state: NodeStatus, told: tuple[str, str, str] | None
) -> None:
    status = GatewayStatus(Path("key.gateway"), True, [state], 3, {"csv:a": None, "mqtt:b": "refused"}, {})
    monkeypatch.setattr(module, "gateway_status", lambda *given: status)
    found = checked(request())
    assert (told is None) == ("node 5" not in found)
    assert told is None or (found["node 5"].verdict, found["node 5"].found, found["node 5"].fix) == told
    assert "sink csv:a" not in found
    assert found["sink mqtt:b"] == GatewayCheck(
        "sink mqtt:b", WRONG, "refused", "its messages wait, and are tried again"
    )


def test_sinks_that_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "file").touch()
    (folder / "inner").mkdir()
    cases: list[tuple[Callable[[Path], dict[str, Any]], str, str, str]] = [
        (sqlite, "inner", "is not a regular file", "name another one"),
        (csv, "no/log.csv", f"{folder}/no: No such file or directory", f"mkdir -p {folder}/no"),
        (csv, "file/log.csv", f"{folder}/file: Not a directory", "name another one"),
        (output, "file", f"{folder}/file: Not a directory", "name another one"),
    ]
    for given, name, found, fix in cases:
        checks = [
            each for each in gateway_doctor(request(**given(Path(name)))) if each.what.endswith(f" {name}")
        ]
        assert [(each.verdict, each.found, each.fix) for each in checks] == [(WRONG, found, fix)], name
    assert one(request(output=Path("new/deep")), "--output new/deep")[0] == OK
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, *how, **given: Path(path) != folder and access(path, *how))
    user = module._user(os.geteuid())
    told = (WRONG, f"{folder}: cannot be written", f"sudo chown {user} {folder}")
    assert one(request(**sqlite(Path("new.db"))), "--sqlite new.db") == told
    assert one(request(), "record's folder .") == told
    assert one(request(**sqlite(Path("file"))), "--sqlite file")[0] == OK, "the file itself may be written"


def test_files_that_are_to_be_replaced_are_checked(folder: Path) -> None:
    sinks = GatewaySinks(csv=[Path("log.csv")], csv_mb=1)
    assert one(request(sinks=sinks), "--csv log.csv")[0] == OK
    (folder / "log.csv.1").write_text("mine")
    (check,) = [each for each in gateway_doctor(request(sinks=sinks)) if each.what == "--csv log.csv"]
    assert check.verdict == WRONG and check.line == (
        "--csv log.csv: log.csv.1 is not an earlier file of it; move that away"
    )


def sqlite(path: Path) -> dict[str, Any]:
    return {"sinks": GatewaySinks(sqlite=[path])}


def csv(path: Path) -> dict[str, Any]:
    return {"sinks": GatewaySinks(csv=[path])}


def output(path: Path) -> dict[str, Any]:
    return {"output": path}


def test_a_command_that_is_none(folder: Path) -> None:
    for line in ("no-such-command x", ""):
        told = one(request(sinks=GatewaySinks(run=[line])), f"--run {line}")
        assert told == (WRONG, "there is no such command", "install it")


def test_a_broker(folder: Path) -> None:
    pytest.importorskip("paho")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        url = f"mqtt://127.0.0.1:{port}/home"
        asked = request(sinks=GatewaySinks(mqtt=Mqtt(url)))
        assert one(asked, f"--mqtt {url}") == (OK, f"127.0.0.1:{port} answers", "")
    assert one(asked, f"--mqtt {url}") == (
        WRONG,
        "Connection refused",
        "start the broker, or name another",
    )
    asked = request(sinks=GatewaySinks(mqtt=Mqtt("http://x")))
    assert one(asked, "--mqtt http://x")[1].startswith("--mqtt: no broker; give mqtt://")


@pytest.mark.parametrize(
    ("blocks", "files", "told"),
    [
        (100_000, 100, (OK, "100 MB free", "")),
        (99_999, 100, (WRONG, "99 MB free", "delete files; it needs 100 MB")),
        (100_000, 99, (WRONG, "99 new files are possible", "delete some files")),
    ],
)
def test_a_disk_that_is_nearly_full(
    folder: Path, monkeypatch: pytest.MonkeyPatch, blocks: int, files: int, told: tuple[str, str, str]
) -> None:
    fields = {"f_bavail": blocks, "f_frsize": 1000, "f_files": 1000, "f_favail": files}
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(**fields))
    assert one(request(), f"disk of {folder}") == told
    fields |= {"f_files": 0, "f_favail": 0, "f_bavail": 10**9}
    assert one(request(), f"disk of {folder}")[0] == OK, "a file system without a table of files"


def test_each_disk_is_named_once(folder: Path) -> None:
    (folder / "inner").mkdir()
    asked = request(sinks=GatewaySinks(csv=[Path("inner/log.csv")]), output=Path("new/deep"))
    assert [what for what in checked(asked) if what.startswith("disk of")] == [f"disk of {folder}"]
    other = Path("/dev/shm")
    if other.is_dir() and other.stat().st_dev != folder.stat().st_dev:
        asked = request(sinks=GatewaySinks(csv=[other / "log.csv"]))
        assert [what for what in checked(asked) if what.startswith("disk of")] == [
            f"disk of {folder}",
            f"disk of {other}",
        ]


def test_the_page_states_the_limits() -> None:
    year = time.gmtime(module.CLOCK_SET_S).tm_year
    told = (
        f"it is before {year}, or before",
        f"less than {module.DISK_FREE_MIN // 10**6} MB are free, or fewer than {module.FILES_FREE_MIN} files",
        f"take a connection within {module.BROKER_S:g} s",
        f"by default `RECORD.{module.BACKUPS}`",
        f"has not confirmed it within {registry.CONFIRM_S:g} s",
        f"next multiple of {heard.SEND_BLOCK} is a restart",
        f"at {stored.FAILED_TAGS_MAX:,} only long messages",
    )
    assert missing("gateway.md", *told) == []


def test_a_line_says_what_and_how_to_fix_it_once() -> None:
    assert GatewayCheck("disk", OK, "7 MB free").line == "disk: 7 MB free"
    assert GatewayCheck("disk", WRONG, "7 MB free", "delete files").line == "disk: 7 MB free; delete files"
    assert GatewayCheck("port p", WRONG, "port p: busy; stop it").line == "port p: busy; stop it"


def test_a_key_that_cannot_be_read_is_bad_input(folder: Path) -> None:
    (folder / "key").chmod(0o644)
    with pytest.raises(InputError, match="chmod 600 key"):
        gateway_doctor(request())


def test_it_takes_every_option_of_the_gateway() -> None:
    from motecrypt.cli.gateway import command, doctor

    assert {each.name for each in command.params} <= {each.name for each in doctor.params}
    shown = {each.opts[0] for each in doctor.params if not getattr(each, "hidden", False)}
    assert {"--key", "--csv", "--mqtt", "--output", "--baud"} <= shown and "--queue" not in shown
