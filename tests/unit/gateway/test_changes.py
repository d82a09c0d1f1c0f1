"""Keys given out by a gateway that runs: nothing of other nodes is lost, and what is refused is one line."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from command_line import run
from gateway_bed import DEADLINE_S, MASTER, OPTIONS, Field
from gateway_running import ANSWER_MS, Running, provision
from link_ends import native
from motecrypt.app.key import NodeKeyRequest
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link.gateway import registry
from motecrypt.link.gateway.changes import Changes
from motecrypt.link.gateway.control import ask
from motecrypt.link.gateway.opening import open_registry
from motecrypt.link.gateway.operated import master_name
from motecrypt.link.gateway.orders import Order
from motecrypt.link.gateway.registry import OwnRegistry, ServedRegistry
from motecrypt.link.keys import create_master_file
from motecrypt.link.native import BROADCAST, CONFIRMED, LISTENS, LONG, STORAGE_BYTES, Event
from motecrypt.link.state import FileStore, RecordInUse

NAME = master_name("aes128-ccm", MASTER)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A gateway's key, and another's."""
    for name in ("key", "other"):
        create_master_file(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def running(folder: Path) -> Iterator[Running]:
    made = Running(folder)
    yield made
    made.end()


class Sender:
    """Node 5, which sends one message after the other."""

    def __init__(self, running: Running) -> None:
        self._running, self.sent = running, list[bytes]()

    def goes_on(self, condition: Callable[[], bool]) -> Callable[[], bool]:
        """The same condition; the node sends meanwhile."""

        def still() -> bool:
            if not self._running.node.waiting:
                if not self._running.renewed:
                    self.sent.append(b"%06d" % len(self.sent))
                elif messages(self._running, 5)[-1:] == self.sent[-1:]:
                    self._running.renewed = False  # the last one arrived before the epoch ended
                    return condition()
                self._running.renewed = False
                self._running.say(self.sent[-1])
            return condition()

        return still

    def through(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end; the node sends meanwhile."""
        process = self._running.command(*words)
        self._running.until(self.goes_on(lambda: process.poll() is not None))
        out, errors = process.communicate(timeout=DEADLINE_S)
        return subprocess.CompletedProcess(words, process.returncode, out, errors)


def messages(running: Running, node: int) -> list[bytes]:
    """What the gateway has delivered of a node."""
    told = [json.loads(line) for line in running.out.splitlines()]
    return [bytes.fromhex(each["hex"]) for each in told if each.get("node") == node]


def test_nodes_get_keys_while_messages_flow(running: Running) -> None:
    sender = Sender(running)
    for words in (
        ("provision", "6", "--key", "key", "--image", "node6"),
        ("key", "node7.key", "--node", "7", "--of", "key"),
        ("provision", "group", "--key", "key", "--image", "all"),
        ("provision", "group", "--key", "key", "--image", "late", "--member"),
        ("provision", "6", "--key", "key", "--image", "node6b"),
    ):
        done = sender.through(*words)
        assert done.returncode == 0, done.stderr
    running.until(lambda: not running.node.waiting)
    running.until(lambda: messages(running, 5) == sender.sent)
    assert len(sender.sent) > 5 and running.process.poll() is None
    for image in ("node6", "node6b"):
        running.nodes[6] = native(answer_ms=ANSWER_MS)
        assert running.nodes[6].begin((running.folder / image).read_bytes()) is Event.NOTHING
        running.say(image.encode(), 6)
        running.until(lambda: "6" in counts(running))
    assert counts(running)["6"]["forged"] >= 1, "its first keys are void"
    running.until(lambda: messages(running, 6) == [b"node6b"])
    listed = sender.through("provision", "--list", "--key", "key", "--json")
    told = {entry["node"]: entry["generation"] for entry in json.loads(listed.stdout)}
    assert told == {5: 1, 6: 2, 7: 1, BROADCAST: 1}
    running.process.terminate()
    running.process.wait(DEADLINE_S)
    with open_kept(running.folder) as kept:
        assert {entry.node: entry.generation for entry in kept.entries()} == told


def counts(running: Running) -> dict[str, Any]:
    """The gateway's counts of its nodes; the line is silent afterwards, so that a new packet begins."""
    time.sleep(0.05)
    found: dict[str, Any] = ask(running.folder / "key.gateway.socket", {"statistics": True}, DEADLINE_S)
    return dict(found["nodes"])


@contextmanager
def open_kept(folder: Path) -> Iterator[OwnRegistry]:
    """The record, which no gateway has."""
    opened = open_registry(folder / "key", None)
    assert isinstance(opened, OwnRegistry)
    yield opened
    opened.close()


def test_a_node_is_renewed_after_its_next_message(running: Running) -> None:
    sender = Sender(running)
    done = sender.through("gateway", "renew", "5", "--key", "key", "--wait-s", "600")
    assert done.returncode == 0, done.stderr
    epoch = running.node.epoch
    assert epoch > 0
    assert done.stdout == f"node 5: epoch {epoch} has begun; the node has it\n"
    running.until(sender.goes_on(lambda: len(sender.sent) > 3 and not running.renewed))
    running.until(lambda: not running.node.waiting)
    running.until(lambda: messages(running, 5) == sender.sent)
    ids = [json.loads(line).get("id", "") for line in running.out.splitlines()]
    assert ids[1] == "5.1.0.0" and f"5.1.{epoch}.0" in ids, "its counters begin again"


def test_a_node_that_is_silent_is_offered_its_epoch_and_the_exit_code_says_so(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody, running.nodes = running.nodes, {}
    renewal = running.command("gateway", "renew", "5", "--key", "key", "--wait-s", "0", "--json")
    running.until(lambda: renewal.poll() is not None)
    out, errors = renewal.communicate(timeout=DEADLINE_S)
    told = json.loads(out)
    assert renewal.returncode == 1 and (told["node"], told["confirmed"]) == (5, False)
    assert errors == (
        f"motecrypt: node 5: epoch {told['epoch']} has begun, but the node has not confirmed it yet; the "
        "gateway continues to offer it\n"
    )
    running.nodes = nobody
    running.until(lambda: running.node.epoch == told["epoch"])
    running.say(b"21.4 C")
    running.until(lambda: messages(running, 5) == [b"21.4 C"])


def test_without_a_gateway_the_record_is_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    provision(folder)
    code, out, errors = run(capsys, "gateway", "renew", "5", "--key", "key")
    assert code == 0 and errors == ""
    assert out.startswith("node 5: epoch ") and out.endswith(
        " has begun; the gateway offers it to the node once it runs\n"
    )
    code, out, _ = run(capsys, "provision", "--list", "--key", "key", "--json")
    assert json.loads(out)[0]["epoch_unconfirmed"] is True


def test_a_gateway_with_another_socket_is_found(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    running = Running(folder, "--socket", "elsewhere")
    try:
        assert run(capsys, "provision", "6", "--key", "key", "--image", "node6")[0] == 0
        (folder / "inner").mkdir()
        monkeypatch.chdir(folder / "inner")
        assert run(capsys, "provision", "7", "--key", "../key", "--image", "node7")[0] == 0
        assert not (folder / "key.gateway.socket").exists() and running.process.poll() is None
    finally:
        running.end()


def test_a_number_in_use_is_refused_before_a_firmware_is_built(running: Running) -> None:
    built: list[str] = []
    asked = NodeKeyRequest(5)
    with pytest.raises(InputError, match="node 5: already has keys"):
        asked.write(Path("eeprom"), bytes, Path("key"), None, lambda: built.append("firmware"))
    assert built == [] and not Path("eeprom").exists()
    NodeKeyRequest(6).write(Path("eeprom"), bytes, Path("key"), None, lambda: built.append("firmware"))
    assert built == ["firmware"] and len(Path("eeprom").read_bytes()) == STORAGE_BYTES
    with pytest.raises(InputError, match="node 6: already has keys"):
        NodeKeyRequest(6).write(Path("again"), bytes, Path("key"), None)
    NodeKeyRequest(6, replace=True).write(Path("again"), bytes, Path("key"), None)
    assert Path("again").read_bytes()[4] == 2, "its second generation"


# --- refusals


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("key", "new", "--node", "5", "--of", "key"),
            "node 5: already has keys; give another number, or --replace, which makes those invalid",
        ),
        (
            ("provision", "6", "--key", "other", "--state", "key.gateway", "--image", "new"),
            "the running gateway has another master key; name the file of that one",
        ),
        (
            ("key", "new", "--node", "6", "--of", "other", "--state", "key.gateway"),
            "the running gateway has another master key; name the file of that one",
        ),
        (
            ("provision", "6", "--key", "key", "--packet-bytes", "24", "--image", "new"),
            "node 6: the radio of the running gateway is on a serial line, with packets of 12 bytes; give "
            "--radio and --packet-bytes of that radio, or stop the gateway first",
        ),
        (
            ("provision", "6", "--key", "key", "--radio", "nrf24", "--packet-bytes", "12", "--image", "new"),
            "node 6: the radio of the running gateway is on a serial line, with packets of 12 bytes; give "
            "--radio and --packet-bytes of that radio, or stop the gateway first",
        ),
        (
            ("provision", "group", "--key", "key", "--image", "new", "--member"),
            "there is no group yet; provision it first, without --member",
        ),
        (("gateway", "renew", "9", "--key", "key"), "node 9: not provisioned"),
        (
            ("gateway", "renew", "5", "--key", "other", "--state", "key.gateway"),
            "the running gateway has another master key; name the file of that one",
        ),
    ],
)
def test_what_is_refused_is_one_line_and_exit_code_2_and_changes_nothing(
    running: Running, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    before = run(capsys, "provision", "--list", "--key", "key", "--json")[1]
    code, _, errors = run(capsys, *words)
    assert (code, errors) == (2, f"motecrypt: {said}\n")
    assert not (running.folder / "new").exists()
    assert run(capsys, "provision", "--list", "--key", "key", "--json")[1] == before
    running.say(b"21.4 C")
    running.until(lambda: messages(running, 5) == [b"21.4 C"])


@contextmanager
def as_nobody() -> Iterator[None]:
    """A user without rights runs what follows."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_user_without_rights_at_the_socket_is_told_so(
    running: Running, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # only what it asks of the socket: elsewhere such a user may not read where motecrypt is
    def ask_as_nobody(path: Path, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        with as_nobody():
            return ask(path, request, seconds)

    monkeypatch.setattr(registry, "ask", ask_as_nobody)
    (running.folder / "key.gateway.socket").chmod(0)
    opened = [running.folder, *list(running.folder.parents)[:-2]]
    modes = {path: path.stat().st_mode & 0o7777 for path in opened}
    try:
        for path in opened:
            path.chmod(modes[path] | 0o011)
        code, _, errors = run(capsys, "provision", "6", "--key", "key", "--image", "new")
    finally:
        for path in opened:
            path.chmod(modes[path])
    assert code == 2 and errors == (
        f"motecrypt: socket {running.folder}/key.gateway.socket: Permission denied; only the gateway's user "
        "may use it: run this as that user\n"
    )
    assert not (running.folder / "new").exists()


def test_a_program_that_is_no_gateway_keeps_its_record_for_itself(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "key.gateway.lock").write_bytes(b"/left/by/a/killed/gateway\0")
    held = FileStore(folder / "key.gateway")
    code, _, errors = run(capsys, "provision", "6", "--key", "key", "--image", "new")
    assert (code, errors) == (
        2,
        "motecrypt: state file key.gateway: another program is using it; stop that one first\n",
    )
    held.serve_at(Path("elsewhere"))
    code, _, errors = run(capsys, "provision", "6", "--key", "key", "--image", "new")
    assert (code, errors) == (
        2,
        f"motecrypt: socket {folder}/elsewhere: No such file or directory; is 'motecrypt gateway' running?\n",
    )
    held.close()
    assert run(capsys, "provision", "6", "--key", "key", "--image", "new")[0] == 0


@pytest.mark.parametrize("named", [b"", b"/no/end", b"\0"])
def test_a_name_that_is_not_whole_is_none(tmp_path: Path, named: bytes) -> None:
    held = FileStore(tmp_path / "record")
    (tmp_path / "record.lock").write_bytes(named)
    with pytest.raises(RecordInUse) as caught:
        FileStore(tmp_path / "record")
    assert caught.value.socket is None
    held.close()


# --- turn by turn


def asked(field: Field, request: dict[str, Any]) -> list[dict[str, Any]]:
    """A request at the socket; takes its answers, now and later."""
    told: list[dict[str, Any]] = []
    field.service._asked(request, told.append)
    return told


def fields(**changed: object) -> dict[str, object]:
    """A node's fields as `provision` gives them."""
    return {
        "master": NAME,
        "node": 6,
        "options": OPTIONS,
        "packet_bytes": 12,
        "replace": False,
        **changed,
    }


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"provision": 7}, "provision takes master, node, options, packet_bytes, replace"),
        ({"provision": {}}, "provision takes master, node"),
        ({"provision": fields(more=1)}, "provision takes master, node"),
        ({"provision": fields(master="0")}, "the running gateway has another master key"),
        ({"provision": fields(node=64)}, "node is 0 to 63"),
        ({"provision": fields(node=-1)}, "node is 0 to 63"),
        ({"provision": fields(node="6")}, "node is 0 to 63"),
        ({"provision": fields(node=True)}, "node is 0 to 63"),
        ({"provision": fields(options=128)}, "options is 0 to 127"),
        ({"provision": fields(packet_bytes=None)}, "packet_bytes is 0 to 255"),
        ({"provision": fields(replace=1)}, "replace is true or false"),
        ({"provision": fields(options=LISTENS)}, "on a serial line, with packets of 12 bytes"),
        ({"provision": fields(packet_bytes=13)}, "on a serial line, with packets of 12 bytes"),
        ({"provision": fields(packet_bytes=11)}, "on a serial line, with packets of 12 bytes"),
        ({"provision": fields(node=5)}, "node 5: already has keys"),
        ({"member": {}}, "member takes master"),
        ({"member": {"master": NAME}}, "there is no group yet"),
        ({"registry": {"master": None}}, "another master key"),
        ({"renew": {"master": NAME, "node": 5}}, "renew takes master, node, wait_s"),
        ({"renew": {"master": NAME, "node": 5, "wait_s": 3601}}, "wait_s is 0 to 3600"),
        ({"renew": {"master": NAME, "node": 5, "wait_s": True}}, "wait_s is 0 to 3600"),
        ({"renew": {"master": NAME, "node": 9, "wait_s": 0}}, "node 9: not provisioned"),
        ({"renew": {"master": NAME, "node": 4, "wait_s": 0}}, "node 4: cannot confirm a new epoch over the"),
    ],
)
def test_bad_requests_are_one_line_and_change_nothing(
    tmp_path: Path, request_: dict[str, Any], said: str
) -> None:
    field = Field(tmp_path, 5)
    field.add(4, OPTIONS & ~LISTENS)
    before = field.spool.writes
    (told,) = asked(field, request_)
    assert set(told) == {"error"} and said in told["error"] and "\n" not in told["error"]
    assert field.spool.writes == before and field.told == [] and not field.service._changes
    field.crash()


def test_a_group_in_use_gets_another_member_or_new_keys(tmp_path: Path) -> None:
    field = Field(tmp_path, 5, BROADCAST)
    (told,) = asked(field, {"provision": fields(node=BROADCAST)})
    assert told["error"] == (
        "the group: already has keys; give another number or --member, or --replace, which makes those "
        "invalid"
    )
    (told,) = asked(field, {"member": {"master": NAME}})
    assert len(bytes.fromhex(told["storage"])) == STORAGE_BYTES
    field.crash()


def test_no_group_can_be_renewed(tmp_path: Path) -> None:
    field = Field(tmp_path, 5, BROADCAST)
    (told,) = asked(field, {"renew": {"master": NAME, "node": BROADCAST, "wait_s": 0}})
    assert told["error"].startswith("the group: cannot confirm a new epoch over the air; give it new keys")
    for given in (1_800_000_000, 0):
        with pytest.raises(InputError, match="the group: cannot confirm"):
            field.gateway.renew(BROADCAST, given)
    field.crash()


def test_a_change_is_one_write_and_a_full_disk_leaves_the_record_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    field = Field(tmp_path, 5)
    field.gateway.restored(1_800_000_000)
    field.gateway.take_packets()
    field.gateway.provision(7)
    registry_, writes = field.gateway.registry(), field.spool.writes

    def full(record: bytes) -> None:
        field.spool.undo()
        raise MotecryptError("state file: no space left")

    with monkeypatch.context() as patch:
        patch.setattr(field.spool, "write", full)
        for request in (
            {"provision": fields()},
            {"provision": fields(node=5, replace=True)},
            {"renew": {"master": NAME, "node": 7, "wait_s": 0}},
        ):
            told = asked(field, request)
            field.service._guarded.until_s = 0.0
            field.service.turn(field.stop)
            assert told == [{"failed": "state file: no space left"}]
            assert field.gateway.registry() == registry_ and field.gateway.epoch_unconfirmed == (5,)
    assert not field.service._changes and len(field.told) == 1
    assert field.service.statistics()["spool"]["faults"] == 3
    field.service._guarded.until_s = 0.0
    (told_,) = asked(field, {"provision": fields()})
    assert len(bytes.fromhex(told_["storage"])) == STORAGE_BYTES and field.spool.writes == writes + 1
    field.restart()
    assert [entry.node for entry in field.gateway.registry()] == [5, 6, 7]
    assert field.gateway.epoch_unconfirmed == (5,)
    field.crash()


def test_what_waits_for_the_earlier_node_has_an_outcome(tmp_path: Path) -> None:
    field = Field(tmp_path, 5)
    field.up(5, b"21.4 C", LONG | CONFIRMED)
    outcomes: list[dict[str, Any]] = []
    field.service._outbox.add(Order(5, b"x", "message", 0, "", outcomes.append), 0.0)
    renewed = asked(field, {"renew": {"master": NAME, "node": 5, "wait_s": 3600}})
    field.service.turn(field.stop)
    field.service._bound.add(5)
    assert field.service._outbox.flies(5) and 5 in field.service._routes.where
    (told,) = asked(field, {"provision": fields(node=5, replace=True)})
    assert [each["outcome"] for each in outcomes] == ["unconfirmed"]
    assert renewed == [{"failed": "node 5: has new keys meanwhile"}]
    assert 5 not in field.service._routes.where and 5 not in field.service._bound
    field.nodes[5] = native()
    assert field.nodes[5].begin(bytes.fromhex(told["storage"])) is Event.NOTHING
    assert Event.ACCEPTED in field.up(5, b"22.0 C", LONG | CONFIRMED)
    field.crash()


def test_a_node_whose_protocol_is_served_keeps_its_options(tmp_path: Path) -> None:
    field = Field(tmp_path, 5)
    field.service._speakers = frozenset({5})
    (told,) = asked(field, {"provision": fields(node=5, options=OPTIONS & ~LISTENS, replace=True)})
    assert told["error"] == (
        "node 5: speaks CoAP or TFTP through the running gateway; stop that to change its options"
    )
    (told,) = asked(field, {"provision": fields(node=5, replace=True)})
    assert "storage" in told
    field.crash()


def test_a_renewal_waits_for_a_message_and_for_what_is_on_its_way(tmp_path: Path) -> None:
    field = Field(tmp_path, 5)
    field.up(5, b"21.4 C", LONG | CONFIRMED)
    request = {"renew": {"master": NAME, "node": 5, "wait_s": 3600}}
    told = asked(field, request)
    (again,) = asked(field, request)
    assert again["error"] == "node 5: a renewal is in progress; wait for its end"
    field.service.turn(field.stop)
    assert field.gateway.epoch_unconfirmed == () and told == []
    outcomes: list[dict[str, Any]] = []
    field.service._outbox.add(Order(5, b"x", "message", 0, "", outcomes.append), 0.0)
    field.service.turn(field.stop)
    assert field.service._outbox.flies(5) and field.down(field.radios[0]) == [Event.MESSAGE]
    field.nodes[5].answer(True)
    answer = field.packets(5)
    assert field.up(5, b"21.5 C", CONFIRMED) == [Event.ACCEPTED]
    assert field.gateway.epoch_unconfirmed == (), "a message to the node waits for its outcome"
    field.radios[0].put(*answer)
    field.turn()
    assert [each["outcome"] for each in outcomes] == ["accepted"]
    events = field.up(5, b"21.6 C", CONFIRMED)
    assert events == [Event.ACCEPTED, Event.RENEWED], "the answer leaves first"
    assert field.gateway.epoch_unconfirmed == (5,) and told == []
    field.radios[0].put(*field.packets(5))
    field.turn()
    assert told == [{"node": 5, "epoch": field.nodes[5].epoch, "confirmed": True}]
    assert field.service.statistics()["messages"] == 3 and not field.service._changes
    field.crash()


def test_how_long_is_waited() -> None:
    assert (registry.ASK_S, registry.CONFIRM_S) == (60.0, 10.0)


def test_renewals_end_by_the_clock_and_with_the_gateway(tmp_path: Path) -> None:
    field = Field(tmp_path, 5, 6)
    changes = Changes(field.gateway, lambda node: False, lambda node: None, tuple, dict)
    told: list[dict[str, Any]] = []
    for node in (5, 6):
        changes.take({"renew": {"master": NAME, "node": node, "wait_s": 10}}, told.append, 100.0)
    changes.turn((), 109.9)
    assert field.gateway.epoch_unconfirmed == () and changes
    changes.turn((6,), 109.9)
    assert field.gateway.epoch_unconfirmed == (6,)
    changes.turn((), 110.0)
    assert field.gateway.epoch_unconfirmed == (5, 6) and told == []
    changes.confirmed(9)
    changes.turn((), 109.9 + registry.CONFIRM_S)
    assert [(each["node"], each["confirmed"]) for each in told] == [(6, False)]
    changes.take({"renew": {"master": NAME, "node": 6, "wait_s": 10}}, told.append, 200.0)
    changes.confirmed(6)  # of the epoch before
    changes.close()
    assert not changes and sorted(map(str, told[1:])) == sorted(
        [
            str({"failed": "node 6: not renewed: the gateway ends"}),
            str({"node": 5, "epoch": field.gateway._renewing[5], "confirmed": False}),
        ]
    )
    field.crash()


def test_an_epoch_is_greater_than_every_one_before(tmp_path: Path) -> None:
    field = Field(tmp_path, 5)
    for number, now_s in enumerate((1_800_000_000, 1_700_000_000, 2**33), 1):
        epoch = field.gateway.renew(5, now_s)
        assert epoch >> 18 == number and field.gateway.epoch(5) == epoch
        assert field.gateway.renew(5, now_s) == epoch, "it is being offered: that one continues"
        field.gateway._confirmed(5)
    field.gateway._links[5].renew(2**32 - 1, 7)
    with pytest.raises(InputError, match="node 5: cannot confirm a new epoch over the air; give"):
        field.gateway.renew(5, 0)
    field.crash()


def test_nothing_is_changed_by_an_order_of_a_broker(tmp_path: Path) -> None:
    field = Field(tmp_path, 5)
    told: list[dict[str, Any]] = []
    for text in ({"provision": fields()}, {"renew": {"master": NAME, "node": 5, "wait_s": 0}}):
        field.service.commanded(5, json.dumps(text).encode(), told.append)
    field.service.turn(field.stop)
    assert [each["outcome"] for each in told] == ["dropped", "dropped"]
    assert len(field.gateway.registry()) == 1 and not field.service._changes
    field.crash()


# --- the other end


class Answering:
    """A program at a socket that answers each line with the same one."""

    def __init__(self, path: Path, answer: bytes) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._answer, self.asked = answer, list[dict[str, Any]]()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            line, _ = self._listener.accept()
            with line:
                self.asked.append(json.loads(line.recv(65536)))
                line.sendall(self._answer)


def test_an_outcome_that_is_unknown_says_what_to_do(tmp_path: Path) -> None:
    for name, answer, said in (
        ("ended", b"", "the outcome is unknown; no keys were written; repeat the command"),
        ("other", b'{"storage": "00"}\n', "its program is not a gateway of this version"),
    ):
        answering = Answering(tmp_path / name, answer)
        served = ServedRegistry(tmp_path / name, "aes128-ccm", NAME, 12)
        with pytest.raises(MotecryptError, match=said) as caught:
            served.provision(6, OPTIONS, False)
        assert not isinstance(caught.value, InputError)
        assert answering.asked == [{"provision": fields()}]
