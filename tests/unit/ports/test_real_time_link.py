"""The link in real time: programs, virtual radios and a simulated node together. Deadlines are generous."""

from __future__ import annotations

import json
import os
import random
import select
import signal
import time
import tty
from collections.abc import Sequence
from pathlib import Path

import pytest

from command_line import run
from commands_running import (
    DEADLINE_S,
    finish,
    listening,
    provision,
    radios,
    records,
    start,
    wait_for,
)
from motecrypt.base.errors import InputError
from motecrypt.base.serial_port import SerialPort
from motecrypt.build.toolchain.drivers import driver
from motecrypt.catalog import Catalog
from motecrypt.exports.link import plan_sketch
from motecrypt.link import create_key_file, read_key_file
from motecrypt.link.keys import create_master_file
from motecrypt.link.native import LISTENS, SHORT, STREAM
from motecrypt.simulate.paper_node import PaperNode, build_example, build_paper
from motecrypt.simulate.ports.node import RunningNode

pytestmark = pytest.mark.long


def called(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    folder: Path,
    arguments: Sequence[str],
) -> tuple[int, str, str]:
    """A command in this process: its exit code, and what it says."""
    monkeypatch.chdir(folder)
    capfd.readouterr()
    return run(capfd, *arguments)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A gateway's key, and node 5's; and a key for the paper's modes."""
    create_key_file(tmp_path / "aes")
    create_master_file(tmp_path / "key")
    provision(tmp_path, 5)
    return tmp_path


def test_ten_kilobytes_arrive_intact_under_loss(folder: Path) -> None:
    content = random.Random(1).randbytes(10_240)
    (folder / "data.bin").write_bytes(content)
    with radios(folder, "--loss", "0.1", "--seed", "3"):
        receiver = listening(folder, "--key", "key", "--output", "inbox", "--count", "2")
        sender = start("send", "a", "--key", "node5", "--json", "--file", "data.bin", "hello", folder=folder)
        output, errors = finish(sender)
        assert sender.returncode == 0, errors
        received, _ = finish(receiver)
    summary = json.loads(output)
    assert summary["refused"] == 0 and summary["packets_sent_again"] > 0 and summary["failed"] == ""
    first, second, last = records(received)
    assert first["message"] == "hello" and second["bytes"] == 10_240
    assert first["node"] == second["node"] == 5
    assert (folder / "inbox" / "data.bin").read_bytes() == content
    assert summary["accepted"] == 1 + 2 + -(-10_240 // 114)
    assert last["summary"]["messages"] == summary["accepted"]  # type: ignore[index]


def test_messages_go_both_ways_as_they_are(folder: Path) -> None:
    (folder / "down.bin").write_bytes(b"\0" * 300)
    with radios(folder):
        receiver = listening(folder, "--key", "key", "--count", "3")
        sender = start("send", "a", "--key", "node5", "--hex", "00ff", "0102", "", folder=folder)
        assert finish(sender) and sender.returncode == 0
        received, errors = finish(receiver)
        assert [record["hex"] for record in records(received)[:-1]] == ["00ff", "0102", ""], errors
        options = ["--key", "node5", "--output", "inbox", "--count", "3"]
        node = listening(folder, *options, port="a", lock="node5.lock")
        for arguments in (
            ["plain"],
            ["--unconfirmed", "sixsix"],
            ["--file", "down.bin"],
        ):
            sender = start("send", "b", "--key", "key", "--to", "5", *arguments, folder=folder)
            _, errors = finish(sender)
            assert sender.returncode == 0, errors
        received, errors = finish(node)
    shown = records(received)[:-1]
    assert [record.get("message") for record in shown] == ["plain", "sixsix", None], errors
    assert not any("command" in record for record in shown)
    assert (folder / "inbox" / "down.bin").read_bytes() == b"\0" * 300


def test_a_restored_gateway_is_believed_again_after_a_new_epoch(folder: Path) -> None:
    backup = (folder / "key.gateway").read_bytes()
    with radios(folder):
        receiver = listening(folder, "--key", "key", "--count", "1")
        sender = start("send", "a", "--key", "node5", "before", folder=folder)
        assert finish(sender) and sender.returncode == 0 and finish(receiver)
        (folder / "key.gateway").write_bytes(backup)
        node = listening(folder, "--key", "node5", "--seconds", "20", port="a", lock="node5.lock")
        gateway = listening(folder, "--key", "key", "--restored", "--seconds", "20")
        told, errors = finish(gateway)
        assert "need new keys" not in errors and "node 5: confirmed its new epoch" in errors
        assert records(told)[-1]["summary"]["epoch_unconfirmed"] == []  # type: ignore[index]
        _, errors = finish(node)
        assert "its gateway began a new epoch" in errors
        receiver = listening(folder, "--key", "key", "--count", "1")
        sender = start("send", "a", "--key", "node5", "after", folder=folder)
        _, errors = finish(sender)
        assert sender.returncode == 0, errors
        received, _ = finish(receiver)
    assert records(received)[0]["message"] == "after"


def test_the_papers_modes_carry_messages(folder: Path) -> None:
    for mode, expected in (("T", 14), ("P", 36), ("B", 32)):
        with radios(folder):
            options = ["--mode", mode, "--key", "aes"]
            receiver = start("receive", "b", "--json", *options, "--count", "1", folder=folder)
            time.sleep(0.5)
            for _ in range(20):
                # No mode of the paper's shows whether anybody listens yet.
                sender = start("send", "a", "--json", *options, "fourteen bytes", folder=folder)
                output, errors = finish(sender)
                assert sender.returncode == 0 and "do not deploy" in errors
                if receiver.poll() is not None:
                    break
            received, _ = finish(receiver)
        row = json.loads(output)["messages"][0]
        assert row["sent_bytes"] == expected and row["message_bytes"] == 14
        assert records(received)[0]["message"] == "fourteen bytes"


def test_another_key_is_told_and_nothing_is_accepted(folder: Path) -> None:
    create_master_file(folder / "other")
    provision(folder, 5, key="other")
    with radios(folder):
        receiver = listening(folder, "--key", "key")
        sender = start("send", "a", "--key", "node5", "secret", folder=folder)
        _, errors = finish(sender)
        assert sender.returncode == 1 and "this node's key" in errors.splitlines()[-1]
        receiver.send_signal(signal.SIGTERM)
        received, _ = finish(receiver)
    summary = records(received)[-1]["summary"]
    assert receiver.returncode == 0 and summary["messages"] == 0  # type: ignore[index]
    assert summary["forged"] > 0  # type: ignore[index]


def test_a_port_that_vanishes_is_one_line_and_the_receiver_waits(folder: Path) -> None:
    with radios(folder) as pair:
        receiver = listening(folder, "--key", "key", "--count", "1")
        (folder / "big").write_bytes(bytes(200_000))
        sender = start("send", "a", "--key", "node5", "--file", "big", folder=folder)
        wait_for((folder / ".motecrypt-node5.part").exists)
        pair.send_signal(signal.SIGINT)
        _, errors = finish(sender)
        assert sender.returncode == 1 and "vanished" in errors.splitlines()[-1]
        pair.wait(DEADLINE_S)
    with radios(folder):
        # Both ends are new ports; the receiver finds its own again.
        for _ in range(20):
            sender = start("send", "a", "--key", "node5", "here again", folder=folder)
            _, errors = finish(sender)
            if sender.returncode == 0:
                break
        received, errors = finish(receiver)
    assert "waiting for it" in errors and "is back" in errors
    assert records(received)[0]["message"] == "here again" and not (folder / "big-2").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["send", "/dev/nonesuch", "--key", "node5", "x"], "does not exist"),
        (["receive", "/dev/nonesuch", "--key", "key"], "does not exist"),
        (["send", "key", "--key", "node5", "x"], "is not a serial port"),
        (["send", "a", "x"], "--key: missing"),
        (["send", "a", "--key", "open", "x"], "chmod 600"),
        (["send", "a", "--key", "short", "--mode", "C", "x"], "16, 24 or 32"),
        (["send", "a", "--key", "key", "--mode", "C", "x"], "cannot be used here"),
        (["send", "a", "--key", "aes", "x"], "not a key of the secure link"),
        (["send", "a", "--key", "key", "x"], "--to: missing"),
        (["send", "a", "--key", "key", "--to", "9", "x"], "node 9: not provisioned"),
        (["send", "a", "--key", "node5", "--to", "5", "x"], "is a node's key"),
        (["send", "a", "--key", "node5", "x" * 124], "123 is the most"),
        (["send", "a", "--key", "node5", "--packet-bytes", "24", "x"], "give --packet-bytes 12"),
        (["send", "a", "--key", "node5", "--hex", "0"], "not hexadecimal"),
        (["send", "a", "--key", "node5", "--command", "--unconfirmed", "x"], "give one of them"),
        (["send", "a", "--key", "aes", "--mode", "C", "--file", "key"], "omit --mode"),
        (["send", "a", "--key", "key", "--to", "7", "x"], "sends only and never receives"),
        (["send", "a", "--key", "node7", "--file", "key"], "no files or commands"),
        (
            ["send", "a", "--key", "node8", "x"],
            "for a packet radio, and srf has a serial line; give the --radio",
        ),
        (["receive", "a", "--key", "node5", "--restored"], "is a node's key"),
        (["receive", "a", "--key", "aes", "--mode", "C", "--restored"], "omit --mode"),
        (["send", "a", "--key", "node5", "--packet-bytes", "0", "x"], "it takes 1 to 240"),
        (["send", "a", "--key", "node5", "--radio", "smoke", "x"], "unknown radio"),
        (["radio", "srf", "--loss", "2"], "probability"),
        (["node", "--key", "key", "x.elf"], "--node: missing"),
        (["node", "--key", "key", "--mode", "C", "--node", "3", "x.elf"], "mode C has no nodes"),
        (["node", "--key", "key", "--node", "5", "x.elf"], "already has keys"),
        (["node", "--key", "aes", "--node", "3", "x.elf"], "not the master key"),
        (["node", "--key", "aes", "--mode", "C", "--example", "uart", "x.elf"], "a program of its own"),
        (["node", "--key", "key", "--node", "3", "--example", "lora", "x.elf"], "unknown example 'lora'"),
        (
            ["node", "--key", "key", "--node", "3", "--example", "uart", "--interval-ms", "9", "x.elf"],
            "--interval-ms: the example 'uart' has no interval",
        ),
        (["node", "--key", "key", "--node", "3", "x.elf", "--eeprom", "zeros"], "contains no node"),
        (["node", "--key", "key", "--node", "3", "x.elf", "--eeprom", "eeprom5"], "is node 5's"),
        (["key", "new", "--node", "5", "--of", "key"], "already has keys"),
        (["key", "new", "--node", "9"], "--of: missing"),
        (["key", "new", "--of", "key"], "--of: not for this kind of key; give --node as well"),
        (["key", "new", "--link", "--one-way"], "--one-way: not for this kind of key; give --node as well"),
        (
            ["key", "new", "--suite", "ascon-aead128"],
            "--suite: not for this kind of key; give --link as well",
        ),
        (
            ["key", "new", "--link", "--bits", "128"],
            "--bits: not for this kind of key; omit --link and --node",
        ),
        (["key", "new", "--node", "9", "--link"], "give one of them"),
        (["key", "key", "--node", "9", "--of", "key"], "File exists"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    folder: Path,
    arguments: Sequence[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (folder / "open").write_text("00" * 32)
    (folder / "short").write_text("00" * 5)
    (folder / "short").chmod(0o600)
    (folder / "zeros").write_bytes(bytes(1024))
    storage = provision(folder, 5)
    (folder / "eeprom5").write_bytes(storage)
    provision(folder, 7, SHORT | STREAM)
    if "node8" in arguments:
        provision(folder, 8, SHORT | LISTENS)
    if arguments[0] in ("send", "receive"):
        master, slave = os.openpty()
        tty.setraw(slave)
        (folder / "a").symlink_to(os.ttyname(slave))
    code, _, errors = called(monkeypatch, capfd, folder, arguments)
    assert code == 2 and message in errors and errors.count("\n") == 1, errors
    assert not (folder / "new").exists()
    if arguments[0] in ("send", "receive"):
        assert not select.select([master], [], [], 0)[0], "nothing may be sent"
        os.close(master)
        os.close(slave)


def test_a_busy_port_and_a_damaged_key_file_are_refused(folder: Path) -> None:
    master, slave = os.openpty()
    tty.setraw(slave)
    name = os.ttyname(slave)
    with SerialPort(name), pytest.raises(InputError, match="busy"):
        SerialPort(name)
    record = (folder / "node5").read_bytes()
    (folder / "node5").write_bytes(record[:-3] + b"x\n")
    process = start("send", name, "--key", "node5", "x", folder=folder)
    _, errors = finish(process)
    assert process.returncode == 2 and "damaged" in errors and errors.count("\n") == 1
    assert not select.select([master], [], [], 0)[0], "nothing may be sent"
    os.close(master)
    os.close(slave)


def test_keys_are_made_for_both_ends(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for arguments, text in (
        (["key", "link2", "--link", "--suite", "ascon-aead128"], "a gateway's master key (ascon-aead128)"),
        (["key", "node3", "--node", "3", "--of", "link2", "--tag-16", "--long-only"], "node 3"),
        (["key", "again", "--node", "3", "--of", "link2", "--replace", "--one-way"], "node 3"),
        (["key", "plain", "--bits", "128"], "a new 128-bit key"),
    ):
        code, output, errors = called(monkeypatch, capfd, folder, arguments)
        assert code == 0 and text in output, errors
        # Its lock goes with the process; here all are one.
        (folder / "link2.gateway.lock").unlink(missing_ok=True)
    assert len(read_key_file(folder / "plain")) == 16
    for name, options, generation in (("node3", LISTENS | STREAM | 8, 1), ("again", SHORT | STREAM, 2)):
        storage = bytes.fromhex(json.loads((folder / name).read_text().splitlines()[0])["storage"])
        assert tuple(storage[:6]) == (3, 3, options, 12, generation, 0)
        assert (folder / name).stat().st_mode & 0o777 == 0o600
    assert (folder / "link2.gateway").stat().st_mode & 0o777 == 0o600


def test_command_mode_over_a_port(folder: Path) -> None:
    with radios(folder), SerialPort(str(folder / "a")) as port:
        time.sleep(1.2)
        answer = b""
        for text in (b"+++", b"ATPK\r", b"ATZZ\r", b"ATDN\r"):
            port.write(text)
            end = time.monotonic() + DEADLINE_S
            before = len(answer)
            while time.monotonic() < end and not answer[before:].endswith((b"OK\r", b"ERR\r")):
                select.select([port], [], [], 1.0)
                answer += port.read()
    assert answer == b"OK\r0C\rOK\rERR\rOK\r"


def test_the_modules_own_encryption_is_switched_on_at_both_ends(folder: Path) -> None:
    create_key_file(folder / "module", 16)
    module = ["--module-key", "module"]
    options = ["--key", "node5", *module]
    with radios(folder):
        receiver = start("receive", "b", "--json", "--key", "key", *module, "--count", "1", folder=folder)
        sender = start("send", "a", *options, "sealed twice", folder=folder)
        _, errors = finish(sender)
        for _ in range(5):
            # The receiver's module may have been set up after the sender's first question was over.
            if sender.returncode == 0:
                break
            sender = start("send", "a", *options, "sealed twice", folder=folder)
            _, errors = finish(sender)
        assert sender.returncode == 0, errors
        received, _ = finish(receiver)
    assert records(received)[0]["message"] == "sealed twice"


def test_bytes_never_come_before_the_model_says(folder: Path) -> None:
    process = start("radio", "srf", "--link", "a", "--link", "b", "--json", folder=folder)
    while not (folder / "b").is_symlink():
        assert process.poll() is None
        time.sleep(0.02)
    with SerialPort(str(folder / "a")) as first, SerialPort(str(folder / "b")) as second:
        begun = time.monotonic()
        first.write(bytes(31))
        got = b""
        while len(got) < 31 and time.monotonic() < begun + DEADLINE_S:
            select.select([second], [], [], 1.0)
            got += second.read()
        took = time.monotonic() - begun
    process.send_signal(signal.SIGINT)
    output, _ = finish(process)
    assert got == bytes(31) and took > 31 * 86.8e-6 + 0.1
    pacing = json.loads(output[output.index("}\n{") + 2 :])["pacing"]
    assert pacing["deliveries"] == 3 and pacing["median_us"] >= 0 and pacing["overrun_bytes"] == 0


def readings(output: str) -> list[str]:
    return [str(record["message"]) for record in records(output)[:-1]]


def build(folder: Path, interval_ms: int) -> None:
    """The exported example that `motecrypt node` takes by itself."""
    sketch = plan_sketch(Catalog.load(), "aes128-ccm", "thermometer")
    build_example(sketch.library.files, sketch.path, folder / "node.elf", interval_ms)


def node(folder: Path, interval_ms: int, options: int = SHORT | LISTENS | STREAM) -> RunningNode:
    """Node 7 in the simulator at port a; its EEPROM outlives it."""
    if not (folder / "eeprom").exists():
        (folder / "eeprom").write_bytes(provision(folder, 7, options).ljust(1024, b"\xff"))
        build(folder, interval_ms)
    return RunningNode(driver("avr_run"), folder / "node.elf", str(folder / "a"), folder / "eeprom")


def test_uno_to_gateway_with_a_power_cut(folder: Path) -> None:
    with radios(folder, "--loss", "0.1", "--seed", "5"):
        node(folder, 100).cut_power()
        receiver = listening(folder, "--key", "key", "--count", "12")
        for last in (False, True):
            running = node(folder, 100)
            try:
                if last:
                    received, errors = finish(receiver)
                else:
                    time.sleep(1.5)
            finally:
                running.cut_power()
    assert readings(received) == ["+24.6C"] * 12, errors
    assert {record["node"] for record in records(received)[:-1]} == {7}
    assert records(received)[-1]["summary"]["forged"] == 0  # type: ignore[index]


def test_a_node_takes_commands(folder: Path) -> None:
    with radios(folder), node(folder, 300):
        receiver = listening(folder, "--key", "key", "--count", "3")
        assert finish(receiver) and receiver.returncode == 0
        for command, code in (("63", 0), ("639001", 1), ("69e803", 0), ("78", 1)):
            # An unknown command is refused, and the sender gets the refusal.
            arguments = ["--key", "key", "--to", "7", "--command", "--hex", command]
            sender = start("send", "b", *arguments, folder=folder)
            _, errors = finish(sender)
            assert sender.returncode == code and ("refused" in errors) == bool(code), (command, errors)
        receiver = listening(folder, "--key", "key", "--count", "2")
        received, errors = finish(receiver)
    assert readings(received) == ["+24.6C"] * 2, errors


def test_uno_to_gateway_in_the_papers_mode(folder: Path) -> None:
    build_paper(PaperNode(read_key_file(folder / "aes"), 1500), folder / "node.elf")
    with radios(folder):
        options = ["--key", "aes", "--mode", "C", "--gap-ms", "500", "--count", "2"]
        receiver = start("receive", "b", "--json", *options, folder=folder)
        time.sleep(1.0)
        with RunningNode(driver("avr_run"), folder / "node.elf", str(folder / "a")):
            received, errors = finish(receiver)
    assert all(text.startswith("n=000") for text in readings(received)), errors
    assert records(received)[0]["received_bytes"] == 32


def test_with_a_damaged_eeprom_the_node_says_so_once_and_sends_no_packet(folder: Path) -> None:
    build(folder, 20)
    (folder / "eeprom").write_bytes(bytes(1024))
    master, slave = os.openpty()
    tty.setraw(slave)
    told = (
        b"Thermometer: no keys for this sketch: "
        b"motecrypt provision NUMBER --key gateway.key --radio srf --eep node.eep\r\n"
    )
    got = b""
    with RunningNode(driver("avr_run"), folder / "node.elf", os.ttyname(slave), folder / "eeprom"):
        while len(got) < len(told) and select.select([master], [], [], DEADLINE_S)[0]:
            got += os.read(master, 4096)
        assert got == told
        assert not select.select([master], [], [], 2.0)[0]
    os.close(master)
    os.close(slave)


def test_a_group_hears_what_it_is_told_and_its_node_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """From keys to messages; and what a group does not do is one line."""

    def does(*arguments: str) -> tuple[int, str, str]:
        return called(monkeypatch, capfd, tmp_path, arguments)

    for words in (
        ("key", "gw", "--link"),
        ("key", "n5", "--node", "5", "--of", "gw"),
        ("key", "grp", "--node", "group", "--of", "gw"),
    ):
        code, _, err = does(*words)
        assert code == 0 and ("protects only against attackers without it" in err) == ("group" in words), err
    code, out, _ = does("provision", "--key", "gw", "--list", "--json")
    assert [(entry["node"], entry["generation"]) for entry in json.loads(out)] == [(5, 1), (63, 1)]
    with radios(tmp_path):
        hears = start("receive", "b", "--key", "n5", "--group", "grp", "--json", folder=tmp_path)
        assert hears.stdout is not None
        end = time.monotonic() + DEADLINE_S
        while not select.select([hears.stdout], [], [], 0.5)[0]:  # until it listens: nobody confirms
            assert time.monotonic() < end
            code, _, err = does("send", "a", "--key", "gw", "--to", "group", "all lamps off", "short!")
            assert code == 0, err
        assert does("send", "a", "--key", "gw", "--to", "5", "for you")[0] == 0
        hears.send_signal(signal.SIGINT)
        *got, _ = [json.loads(line) for line in finish(hears)[0].splitlines()]
        heard = [(line["node"], line["message"]) for line in got]
        assert (
            heard[-1] == (5, "for you")
            and {(63, "short!"), (63, "all lamps off")} >= set(heard[:-1]) != set()
        )
        for words, message in (
            (("send", "a", "--key", "gw", "--to", "group", "--command", "x"), "carries messages alone"),
            (("send", "a", "--key", "gw", "--to", "group", "--file", "gw"), "carries messages alone"),
            (
                ("send", "a", "--key", "gw", "--to", "63", "x"),
                "'63' is not a node; give a number from 0 to 62",
            ),
            (("send", "b", "--key", "grp", "x"), "a member of the group only receives"),
            (("receive", "b", "--key", "gw", "--group", "grp"), "--key must be a node's key"),
            (("receive", "b", "--key", "n5", "--group", "gw"), "--key must be a node's key"),
            (("receive", "b", "--key", "n5", "--group", "n5"), "another program"),
            (("receive", "b", "--mode", "T", "--group", "grp"), "--restored, --group: the paper's modes"),
        ):
            code, _, err = does(*words)
            assert code == 2 and message in err and err.count("\n") == 1, err


def test_a_group_is_provisioned_once_and_joined_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def does(*arguments: str) -> tuple[int, str, str]:
        return called(monkeypatch, capfd, tmp_path, arguments)

    does("key", "gw", "--link")
    to = ("--key", "gw")
    for words, message in (
        (("provision", "group", "--member", *to, "--image", "x"), "there is no group yet"),
        (("provision", "5", "--member", *to, "--image", "x"), "--member: a node has its own keys"),
        (("provision", "group", "--sends-only", *to, "--image", "x"), "--sends-only: a group's members only"),
        (("provision", "group", "--member", *to, "--block"), "--member: a key block has no counters"),
        (
            ("provision", "63", *to, "--image", "x"),
            "'63' is not a node; give a number from 0 to 62, or 'group'",
        ),
        (("key", "x", "--node", "5", "--of", "gw", "--member"), "--member: use it with --node group"),
        (("key", "x", "--node", "group", "--of", "gw", "--one-way"), "--one-way: a group's members only"),
    ):
        code, _, err = does(*words)
        assert code == 2 and message in err and err.count("\n") == 1, err
        assert not (tmp_path / "x").exists()
    for generation, (name, more) in enumerate((("a", ()), ("b", ())), start=1):
        code, out, _ = does("provision", "group", *to, "--image", name, *more)
        assert code == 0 and f"keys of the group, generation {generation}; write it into each member" in out
    code, out, _ = does("provision", "group", *to, "--image", "c", "--member")
    assert code == 0 and "generation 2; write it once" in out
    first, second, third = ((tmp_path / name).read_bytes()[:28] for name in "abc")
    assert first != second == third
    code, _, err = does("key", "k", "--node", "group", "--of", "gw")
    assert code == 2 and "the group: already has keys; give another number or --member, or --replace" in err
    code, _, err = does("key", "k", "--node", "group", "--of", "gw", "--member")
    assert code == 0, err
