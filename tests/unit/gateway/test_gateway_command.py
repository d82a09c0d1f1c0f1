"""`motecrypt gateway` as its user meets it: bad input, two of them, sending through it, a clean end."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from command_line import run
from gateway_bed import DEADLINE_S, PACKET, Radio
from gateway_running import Running, provision
from motecrypt.link.gateway.opening import open_gateway
from motecrypt.link.keys import create_master_file
from motecrypt.link.native import LISTENS, SHORT, STREAM


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A gateway's key, and one without nodes."""
    for name in ("key", "empty"):
        create_master_file(tmp_path / name)
    for name, content in (("password", "secret\n"), ("open", "secret\n"), ("nothing", "")):
        (tmp_path / name).write_text(content)
        (tmp_path / name).chmod(0o644 if name == "open" else 0o600)
    (tmp_path / "text").write_text("some words, and not a certificate " * 9)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing argument 'PORT...'"),
        (["p"], "Missing option '--key'"),
        (["p", "--key", "no"], "No such file"),
        (["p", "--key", "open"], "chmod 600"),
        (["p", "--key", "password"], "not the master key"),
        (
            ["p", "--key", "empty"],
            "no node has keys of this gateway; 'motecrypt provision 1 --key empty --eep node1.eep'",
        ),
        (["no", "--key", "key"], "port no: does not exist"),
        (["text", "--key", "key"], "port text: is not a serial port"),
        (["no", "./no", "--key", "key"], "one port is named twice"),
        (["p", "--key", "key", "--radio", "smoke"], "unknown radio"),
        (["p", "--key", "key", "--packet-bytes", "0"], "it takes 1 to 240"),
        (["p", "--key", "key", "--queue", "0"], "0 is not in the range"),
        (["p", "--key", "key", "--node-rate", "x"], "'x' is not a valid float"),
        (["p", "--key", "key", "--output", "text/x"], "--output text/x: Not a directory"),
        (["p", "--key", "key", "--csv", "text"], "--csv text: has a different first line"),
        (["p", "--key", "key", "--csv", "no/x"], "--csv no/x: No such file"),
        (["p", "--key", "key", "--csv", "a", "--csv", "a"], "another program is using it"),
        (["p", "--key", "key", "--sqlite", "text"], "--sqlite text: file is not a database"),
        (["p", "--key", "key", "--sqlite", "a", "--sqlite", "./a"], "one sink is named twice"),
        (["p", "--key", "key", "--sqlite", "key.gateway"], "is the gateway's own record"),
        (["p", "--key", "key", "--run", "no-such-command"], "there is no such command"),
        (["p", "--key", "key", "--mqtt-commands"], "they need --mqtt"),
        (["p", "--key", "key", "--coap", "0"], "name the nodes that use it with --speaks"),
        (
            ["p", "--key", "key", "--coap-server", "coap://localhost"],
            "name the nodes that use it with --speaks",
        ),
        (["p", "--key", "key", "--speaks", "5"], "name the protocol"),
        (["p", "--key", "key", "--coap", "0", "--speaks", "6"], "node 6: not provisioned"),
        (["p", "--key", "key", "--coap", "0", "--speaks", "x"], "--speaks x: no nodes"),
        (["p", "--key", "key", "--coap", "0", "--speaks", "5,"], "--speaks : no nodes"),
        (["p", "--key", "key", "--coap", "0", "--speaks", "5-4"], "node numbers are 0 to 62"),
        (["p", "--key", "key", "--coap", "0", "--speaks", "5,60-63"], "node numbers are 0 to 62"),
        (["p", "--key", "key", "--coap", "x:", "--speaks", "5"], "--coap x:: not a port"),
        (["p", "--key", "key", "--coap-server", "localhost", "--speaks", "5"], "not a server; give coap://"),
        (["p", "--key", "key", "--tftp", "0"], "name the nodes that use it with --speaks"),
        (["p", "--key", "key", "--tftp-folder", "."], "name the nodes that use it with --speaks"),
        (["p", "--key", "key", "--tftp", "y:", "--speaks", "5"], "--tftp y:: not a port"),
        (["p", "--key", "key", "--tftp-folder", "no", "--speaks", "5"], "--tftp-folder no: no folder"),
        (["p", "--key", "key", "--socket", "no/x"], "socket no/x: No such file"),
        (["p", "--key", "key", "--socket", "text"], "socket text: Address already in use"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    provision(folder)
    radio = Radio()
    (folder / "p").symlink_to(radio.path)
    code, _, errors = run(capsys, "gateway", *arguments)
    assert code == 2 and said in errors, errors
    assert len(errors.strip().splitlines()) == 1 and "Traceback" not in errors


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--mqtt", "broker"], "no broker; give mqtt://"),
        (["--mqtt", "http://host/a"], "no broker"),
        (["--mqtt", "mqtt://host"], "no broker"),
        (["--mqtt", "mqtt://host/a/b"], "no broker"),
        (["--mqtt", "mqtt://host/a+"], "no broker"),
        (["--mqtt", "mqtt:///a"], "no broker"),
        (["--mqtt", "mqtt://host:99999/a"], "no broker"),
        (["--mqtt", "mqtt://host:x/a"], "no broker"),
        (["--mqtt", "mqtt://u:pass@host/a"], "visible to all"),
        (["--mqtt", "mqtt://u@host/a"], "--mqtt-password: use it together with USER@"),
        (
            ["--mqtt", "mqtt://host/a", "--mqtt-password", "password"],
            "--mqtt-password: use it together with USER@",
        ),
        (["--mqtt", "mqtt://u@host/a", "--mqtt-password", "open"], "chmod 600 open"),
        (["--mqtt", "mqtt://u@host/a", "--mqtt-password", "nothing"], "no password"),
        (["--mqtt", "mqtt://u@host/a", "--mqtt-password", "no"], "No such file"),
        (["--mqtt", "mqtt://host/a", "--mqtt-ca", "text"], "they are for TLS"),
        (["--mqtt", "mqtts://host/a", "--mqtt-ca", "text"], "--mqtt-ca"),
        (["--mqtt", "mqtts://host/a", "--mqtt-ca", "no"], "No such file"),
        (["--mqtt", "mqtts://host/a", "--mqtt-cert", "text"], "give both or none"),
        (["--mqtt", "mqtts://host/a", "--mqtt-cert", "text", "--mqtt-cert-key", "text"], "TLS"),
        (["--mqtt", "mqtt://host/a", "--mqtt-commands"], "lets anyone command the nodes"),
    ],
)
def test_a_broker_that_is_none_is_one_line_and_exit_code_2(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    pytest.importorskip("paho")
    code, _, errors = run(capsys, "gateway", "p", "--key", "key", *arguments)
    assert code == 2 and said in errors, errors
    assert len(errors.strip().splitlines()) == 1 and "secret" not in errors and "u:pass" not in errors


@pytest.mark.parametrize(
    ("url", "exposed"),
    [
        ("mqtt://broker.test/a", "messages"),
        ("mqtt://u@192.0.2.1/a", "the password and messages"),
        ("mqtt://u@127.0.0.1/a", ""),
        ("mqtt://u@[::1]:2000/a", ""),
        ("mqtt://localhost/a", ""),
        ("mqtts://u@broker.test/a", ""),
    ],
)
def test_what_others_can_read_on_the_way_to_a_broker_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], url: str, exposed: str
) -> None:
    pytest.importorskip("paho")
    login = ["--mqtt-password", "password"] if "@" in url else []
    code, _, errors = run(capsys, "gateway", "p", "--key", "empty", "--mqtt", url, *login)
    *notices, refused = errors.splitlines()
    assert code == 2 and "no node has keys" in refused
    host = url.rpartition("/")[0].rpartition("/")[2].rpartition("@")[2]
    said = f"motecrypt: --mqtt {host}: others can read {exposed} on the way; use mqtts:"
    assert notices == ([said] if exposed else [])


@pytest.fixture
def running(folder: Path) -> Iterator[Running]:
    made = Running(folder)
    yield made
    made.end()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_a_signal_and_ends_with_its_counts(running: Running, number: int) -> None:
    running.say(b"21.4 C")
    running.until(lambda: '"id": "5.1.0.0"' in running.out)
    running.process.send_signal(number)
    _, errors = running.process.communicate(timeout=DEADLINE_S)
    assert running.process.returncode == 0 and errors == ""
    told = [json.loads(line) for line in running.out.splitlines()]
    assert told[0] == {"ready": {"ports": ["p"], "nodes": [5]}}
    assert told[1]["message"] == "21.4 C" and told[1]["node"] == 5
    summary = told[-1]["summary"]
    assert summary["messages"] == summary["sinks"]["stdout"]["delivered"] == 1
    assert not (running.folder / "key.gateway.socket").exists()


@pytest.mark.parametrize("arguments", [(), *(("--speaks", "5", name, "0") for name in ("--coap", "--tftp"))])
def test_it_listens_on_a_network_only_for_coap_and_tftp(folder: Path, arguments: tuple[str, ...]) -> None:
    running = Running(folder, *arguments)
    try:
        open_here = {
            handle.readlink().name.removeprefix("socket:[").rstrip("]")
            for handle in Path(f"/proc/{running.process.pid}/fd").iterdir()
            if handle.readlink().name.startswith("socket:[")
        }
        told = [
            line.split()
            for name in ("tcp", "tcp6", "udp", "udp6")
            if (table := Path("/proc/net", name)).exists()
            for line in table.read_text().splitlines()[1:]
        ]
        at = {fields[1].rpartition(":")[0] for fields in told if fields[9] in open_here}
        loopback = {"0100007F", "00000000000000000000000001000000"}
        assert open_here and bool(at) == bool(arguments) and at <= loopback
    finally:
        running.end()


def test_nodes_with_keys_have_equal_parts_of_the_room_for_files(tmp_path: Path) -> None:
    from motecrypt.air.radios import load_radio
    from motecrypt.app.gateway import GatewayNodes, GatewayRequest, _stored
    from motecrypt.app.link_ends import SerialRadio
    from motecrypt.link.gateway.operated import OperatedGateway
    from motecrypt.link.state import MemoryStore
    from motecrypt.link.stored_files import ShareUsed

    gateway = OperatedGateway(MemoryStore(), bytes(16))
    for node in (5, 6, 63):
        gateway.provision(node)
    request = GatewayRequest(
        ["p"],
        SerialRadio(load_radio("srf")),
        tmp_path / "key",
        output=tmp_path,
        nodes=GatewayNodes(output_mb=10),
    )
    opened = ExitStack()
    stored = _stored(request, gateway, opened)
    assert stored is not None
    room = 5_000_000 // 4096 * 4096
    stored.check(5, room, "")
    with pytest.raises(ShareUsed):
        stored.check(5, room + 1, "")
    gateway.provision(7)
    with pytest.raises(ShareUsed):
        stored.check(5, room, "")
    opened.close()
    assert GatewayRequest([], request.line, tmp_path).nodes.output_mb == 1000


def test_two_on_one_port_or_one_spool_are_refused_in_one_line(running: Running) -> None:
    create_master_file(running.folder / "other")
    gateway = open_gateway(running.folder / "other", None, PACKET)
    gateway.provision(5, SHORT | LISTENS | STREAM)
    gateway.close()
    elsewhere = Radio()
    for port, arguments, said in (
        ("p", ["--key", "other"], "port p: busy: another program uses it; stop that one first"),
        (elsewhere.path, [], "state file key.gateway: another program is using it; stop that one first"),
    ):
        second = running.started(port, *arguments)
        _, errors = second.communicate(timeout=DEADLINE_S)
        assert second.returncode == 2 and errors == f"motecrypt: {said}\n"
    running.say(b"21.4 C")
    running.until(lambda: '"id": "5.1.0.0"' in running.out)


def test_send_goes_through_it(running: Running, capsys: pytest.CaptureFixture[str]) -> None:
    running.say(b"21.4 C")
    running.until(lambda: '"id": "5.1.0.0"' in running.out)
    sender = running.command("send", "key.gateway.socket", "--to", "5", "--command", "a", "b", "--json")
    running.until(lambda: running.commands == [b"a"])
    running.say(b"21.4 C")  # a message of the node serves one command
    running.until(lambda: sender.poll() is not None)
    out, errors = sender.communicate(timeout=DEADLINE_S)
    assert sender.returncode == 0, errors
    told = json.loads(out)
    assert [each["outcome"] for each in told["outcomes"]] == ["accepted"] * 2 and told["failed"] == ""
    for arguments, code, said in (
        (["--to", "9", "x"], 1, "message: dropped (node 9: not provisioned)"),
        (["x"], 2, "--to: missing"),
        (["--to", "5", "--key", "key", "x"], 2, "is a running gateway, which has the key"),
        (["--to", "5", "--file", "key"], 2, "give --to and messages alone"),
    ):
        assert run(capsys, "send", "key.gateway.socket", *arguments)[0::2] == (code, capsys_line(said))


class capsys_line(str):  # noqa: N801 - compares as a line that contains it
    """Equal to one line that holds these words."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and str(self) in other and other.count("\n") == 1

    __hash__ = str.__hash__


def test_provision_and_receive_know_a_spool(running: Running, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (("receive", "p"), ("send", "p", "--to", "5", "x")):
        code, _, errors = run(capsys, *words, "--key", "key")
        assert code == 2 and errors == (
            "motecrypt: state file key.gateway: 'motecrypt gateway' is using it; send through its socket, "
            f"{running.folder}/key.gateway.socket, or stop it first\n"
        )
    running.process.terminate()
    running.process.wait(DEADLINE_S)
    code, _, errors = run(capsys, "provision", "6", "--key", "key", "--image", "image")
    assert code == 0, errors
    code, out, _ = run(capsys, "provision", "--list", "--key", "key", "--json")
    assert [entry["node"] for entry in json.loads(out)] == [5, 6]
    code, out, errors = run(capsys, "receive", "p", "--key", "key", "--seconds", "0", "--json")
    assert code == 0, errors


def test_a_socket_of_no_gateway_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left = socket.socket(socket.AF_UNIX)
    left.bind("left")
    left.close()
    code, _, errors = run(capsys, "send", "left", "--to", "5", "x")
    assert code == 2 and errors == (
        "motecrypt: socket left: Connection refused; is 'motecrypt gateway' running?\n"
    )


def test_a_port_may_have_the_name_of_an_action(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    provision(folder)
    radio = Radio()
    (folder / "status").symlink_to(radio.path)
    code, out, _ = run(capsys, "gateway", "./status", "--key", "key", "--seconds", "0", "--json")
    assert code == 0 and json.loads(out.splitlines()[0])["ready"]["ports"] == ["./status"]
    code, out, _ = run(capsys, "gateway", "--key", "key", "status", "--seconds", "0", "--json")
    assert code == 0 and json.loads(out.splitlines()[0])["ready"]["ports"] == ["status"]
    assert "No gateway runs" in run(capsys, "gateway", "status", "--key", "key")[1]


def test_without_json_counts_are_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    provision(folder)
    radio = Radio()
    given = ("--key", "key", "--seconds", "0.3", "--statistics", "0.1", "--sqlite", "log.db")
    code, out, errors = run(capsys, "gateway", radio.path, *given)
    assert code == 0 and out == ""
    lines = errors.splitlines()
    assert lines[0] == f"motecrypt: gateway of 1 nodes at {radio.path}"
    counts = f"motecrypt: 0 messages and 0 files of 0 nodes; delivered: sqlite:{folder}/log.db 0; 0 wait"
    assert len(lines) >= 3 and set(lines[1:]) == {counts}


def test_nodes_of_other_radios_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    provision(folder)
    radio = Radio()
    code, out, errors = run(
        capsys, "gateway", radio.path, "--key", "key", "--packet-bytes", "24", "--seconds", "0", "--json"
    )
    assert code == 0 and "cannot receive: node 5: provisioned for packets of 12 bytes, not 24" in errors
    assert json.loads(out.splitlines()[-1])["summary"]["messages"] == 0
