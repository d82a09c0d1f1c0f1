"""The gateway's TFTP: real UDP clients on one side, nodes over the link and a lossy radio on the other."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from gateway_bed import DEADLINE_S
from motecrypt.base.errors import InputError
from motecrypt.link.gateway import service
from motecrypt.link.gateway.protocols.tftp import proxy as module
from motecrypt.link.gateway.protocols.tftp.node_files import FILE_MAX, FolderInlet, FolderOutlet
from motecrypt.link.gateway.protocols.tftp.opening import open_tftp
from motecrypt.link.stored_files import NodeFiles
from motecrypt.link.tftp.packets import (
    NETASCII,
    Opcode,
    Packet,
    TftpCode,
    TftpError,
    error_packet,
    read_packet,
)
from motecrypt.link.tftp.transfer import Terms, TftpTransfer
from tftp_ends import OK, Memory
from tftp_field import TftpField
from tool_sets import needs_tool_set

CONTENT = Random(9).randbytes(20_000)
CLIENT = Terms(block_max=512, timeout_s=1.0, tries=20)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gateway's loop waits for radios alone: here clients and nodes are in the same loop."""
    monkeypatch.setattr(service, "POLL_S", 0.001)
    monkeypatch.setattr(service, "QUIET_S", 0.001)


@pytest.fixture
def field(tmp_path: Path) -> Iterator[TftpField]:
    made = TftpField(tmp_path, 5, 6)
    made.ends[5].files["log"] = CONTENT[:300]
    yield made
    made.close()


class Client:
    """A UDP socket in the field's loop, with a transfer or by hand."""

    def __init__(self, field: TftpField, host: str = "127.0.0.1") -> None:
        self.field = field
        self.line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.line.bind((host, 0))
        self.line.setblocking(False)
        self.to = field.address
        self.sent: list[bytes] = []

    def say(self, packet: Packet | bytes) -> None:
        data = packet if isinstance(packet, bytes) else packet.encode()
        self.sent.append(data)
        self.line.sendto(data, self.to)

    def heard(self) -> Packet | None:
        """The next packet, if one has come; from then on its port is spoken to."""
        try:
            data, self.to = self.line.recvfrom(65536)
        except BlockingIOError:
            return None
        return read_packet(data)

    def answer(self, packet: Packet | bytes) -> Packet:
        """Say something; what comes."""
        self.say(packet)
        return self.next()

    def next(self) -> Packet:
        """What comes."""
        got: list[Packet] = []

        def come() -> bool:
            packet = self.heard()
            if packet is not None:
                got.append(packet)
            return bool(got)

        self.field.until_so(come)
        return got[0]

    def quiet(self, seconds: float) -> None:
        """Nothing is received for that time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.field.step()
            assert self.heard() is None

    def does(self, transfer: TftpTransfer) -> TftpTransfer:
        """A whole transfer."""

        def over() -> bool:
            now_s = time.monotonic()
            while transfer.packets:
                self.say(transfer.packets.popleft())
                transfer.sent(now_s)
            packet = self.heard()
            if packet is not None:
                transfer.receive(packet, now_s)
            transfer.poll(now_s)
            return transfer.over and not transfer.packets

        self.field.until_so(over)
        return transfer

    def get(self, name: str, terms: Terms = CLIENT) -> bytes:
        file = Memory()
        transfer = self.does(TftpTransfer.ask(terms, file, name, False))
        if transfer.error is not None:
            raise transfer.error
        assert file.told_size in (None, len(file.arrived))
        return bytes(file.arrived)

    def put(self, name: str, content: bytes, terms: Terms = CLIENT) -> None:
        transfer = self.does(TftpTransfer.ask(terms, Memory(content), name, True))
        if transfer.error is not None:
            raise transfer.error


@pytest.fixture
def client(field: TftpField) -> Iterator[Client]:
    made = Client(field)
    yield made
    made.line.close()


def read(name: str, mode: str = "octet", **options: object) -> Packet:
    return Packet(
        Opcode.READ, name=name, mode=mode, options={key: str(value) for key, value in options.items()}
    )


# --- files of nodes


@pytest.mark.parametrize("loss", [0.0, 0.05])
@pytest.mark.parametrize("length", [0, 1, 511, 512, 4000])
def test_a_client_gets_and_puts_a_nodes_file(tmp_path: Path, length: int, loss: float) -> None:
    field = TftpField(tmp_path, 5, loss=loss)
    client = Client(field)
    try:
        field.ends[5].files["log"] = CONTENT[:length]
        assert client.get("node/5/log") == CONTENT[:length]
        client.to = field.address
        client.put("node/5/config", CONTENT[:length], Terms(block_max=64, timeout_s=1.0, tries=20))
        assert field.ends[5].files["config"] == CONTENT[:length]
        told = field.proxy.statistics()
        assert (told["fetched"], told["delivered"], told["failed"]) == (1, 1, 0)
        assert field.service.statistics()["protocols"]["tftp"]["faults"] == 0, (
            "a port without datagrams is none"
        )
        assert not field.waiting() or all(item.content == b"hello" for item in field.waiting())
    finally:
        client.line.close()
        field.close()


@pytest.mark.parametrize("block", [8, 9, 100, 512, 1428])
def test_each_side_has_its_own_block_size(field: TftpField, client: Client, block: int) -> None:
    assert client.get("node/5/log", Terms(block_max=block, timeout_s=1.0)) == CONTENT[:300]
    asked = read_packet(client.sent[1])
    assert asked is not None and asked.opcode is Opcode.ACK
    blocks = [packet for packet in field.ends[5].sent if packet[1] == Opcode.DATA]
    assert [len(packet) for packet in blocks] == [123, 123, 66]
    assert sum(packet[1] == Opcode.ACK for packet in client.sent) == 2 + 300 // min(block, 512)


def test_the_first_answer_tells_the_size_and_comes_once_the_node_has_answered(
    field: TftpField, client: Client
) -> None:
    answer = client.answer(read("/node/05/log", tsize=0, blksize=100, timeout=3))
    assert answer == Packet(Opcode.OACK, options={"blksize": "100", "timeout": "3", "tsize": "300"})


def test_text_has_the_ends_of_lines_that_netascii_has(field: TftpField, client: Client) -> None:
    field.ends[5].files["text"] = b"one\ntwo\r\n"
    assert client.answer(read("node/5/text", NETASCII)).content == b"one\r\ntwo\r\0\r\n"
    client.say(Packet(Opcode.ACK, 1))
    field.until_so(lambda: field.proxy.statistics()["fetched"])


@needs_tool_set("tftp")
@pytest.mark.parametrize(
    ("get", "put"),
    [
        ("tftp {host} {port} -c get node/5/text got", "tftp {host} {port} -c put sent node/5/put"),
        (
            "tftp -m binary {host} {port} -c get node/5/text got",
            "tftp -m binary {host} {port} -c put sent node/5/put",
        ),
        (
            "atftp --get -r node/5/text -l got {host} {port}",
            "atftp --put -l sent -r node/5/put {host} {port}",
        ),
    ],
)
def test_real_clients_as_they_ask_by_default(field: TftpField, get: str, put: str) -> None:
    """tftp-hpa's default is the mode netascii, and atftp's is octet."""
    text = b"".join(b"%d\n" % number for number in range(400)) + b"a\r\n\r"
    field.ends[5].files["text"] = text
    (field.folder / "sent").write_bytes(text)
    for words in (get, put):
        command = words.format(host=field.address[0], port=field.address[1]).split()
        client = subprocess.Popen(command, cwd=field.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            field.until_so(lambda client=client: client.poll() is not None)
            assert client.communicate()[0].strip() == b""
        finally:
            client.kill()
    assert (field.folder / "got").read_bytes() == text and field.ends[5].files["put"] == text


def test_a_file_is_acknowledged_when_the_node_has_it(field: TftpField, client: Client) -> None:
    answer = client.answer(Packet(Opcode.WRITE, name="node/5/config", options={"blksize": "8"}))
    assert answer.opcode is Opcode.OACK and field.ends[5].name == "config"
    field.ends[5].keeps = 3
    client.say(Packet(Opcode.DATA, 1, b"1234"))
    ended = client.next()
    assert (ended.opcode, ended.block) == (Opcode.ERROR, TftpCode.DISK_FULL)
    assert "config" not in field.ends[5].files and field.proxy.statistics()["failed"] == 1


def test_the_last_ack_is_repeated(field: TftpField, client: Client) -> None:
    client.put("node/5/config", b"x")
    assert client.answer(Packet(Opcode.DATA, 1, b"x")) == Packet(Opcode.ACK, 1)


def test_a_node_that_was_never_heard_is_asked_all_the_same(tmp_path: Path) -> None:
    field = TftpField(tmp_path, 5, heard=False)
    field.ends[5].files["log"] = b"here"
    client = Client(field)
    assert client.get("node/5/log") == b"here"
    client.line.close()
    field.close()


# --- what a client's timer may not do


def test_repeated_requests_and_acks_cost_the_radio_nothing(field: TftpField, client: Client) -> None:
    """A client's timer of a second is far too quick for a radio; each asks once more, as real ones do."""
    for _ in range(5):
        client.say(read("node/5/log", blksize=100))
    first = client.next()
    assert first.opcode is Opcode.OACK
    field.until_so(lambda: not field.ends[5].busy)
    requests = sum(packet[1] == Opcode.OACK for packet in field.ends[5].sent)
    assert requests == 1
    for _ in range(5):
        client.say(Packet(Opcode.ACK, 0))
    got = [client.next()]
    client.quiet(0.3)
    assert [packet.block for packet in got] == [1], "the sorcerer's apprentice"


def test_who_never_answers_gets_no_more_than_he_asks(field: TftpField, client: Client) -> None:
    client.answer(read("node/5/log"))
    client.quiet(2.5)


# --- who may ask for what


@pytest.mark.parametrize(
    "name",
    [
        *("log", "", "node/5", "node/5/", "node/x/log", "node/5/../log", "node/5/a/b", "node/5/.hidden"),
        *("../node/5/log", "node/5/" + "n" * 41, "node/5/a b", "node/5/\\log", "node/7/log", "node/63/log"),
        *("node/555/log", "node/5/log\n"),
    ],
)
@pytest.mark.parametrize("opcode", [Opcode.READ, Opcode.WRITE])
def test_names_that_are_none(field: TftpField, client: Client, name: str, opcode: Opcode) -> None:
    before = len(field.ends[5].sent)
    answer = client.answer(Packet(opcode, name=name))
    assert answer.opcode is Opcode.ERROR and answer.block in (TftpCode.NOT_FOUND, TftpCode.NO_ACCESS)
    assert field.proxy.statistics()["refused_requests"] == 1 and len(field.ends[5].sent) == before


def test_what_the_node_says_comes_through(field: TftpField, client: Client) -> None:
    answer = client.answer(read("node/5/none"))
    assert answer == Packet(Opcode.ERROR, TftpCode.NOT_FOUND, name="no such file")


@pytest.mark.parametrize(
    ("opcode", "mode"), [(Opcode.READ, "mail"), (Opcode.WRITE, "mail"), (Opcode.READ, "")]
)
def test_other_modes_are_refused(field: TftpField, client: Client, opcode: Opcode, mode: str) -> None:
    assert client.answer(Packet(opcode, name="node/5/log", mode=mode)).block == TftpCode.ILLEGAL


def test_one_transfer_at_a_time_for_each_node(field: TftpField, client: Client) -> None:
    other = Client(field)
    client.answer(read("node/5/log", blksize=8))
    field.ends[6].files["log"] = b"six"
    field.ends[5].blocked = True
    client.to = field.address
    third = Client(field)
    field.until_so(lambda: not field.ends[5].busy)
    waiting = Client(field)
    field.ends[5].gives = 0x41  # it has nothing yet
    waiting.say(read("node/5/log"))
    field.until_so(lambda: field.ends[5].busy)
    assert "busy with another transfer" in other.answer(read("node/5/log")).name
    assert third.get("node/6/log") == b"six"
    for each in (other, third, waiting):
        each.line.close()


def test_many_clients_are_told_that_there_are_too_many(
    field: TftpField, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CLIENTS_MAX", 1)
    client.answer(read("node/5/log"))
    field.until_so(lambda: not field.ends[5].busy)
    other = Client(field)
    assert other.answer(read("node/6/log")).name == "1 transfers are running"
    other.line.close()


def test_an_address_with_most_transfers_makes_room_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CLIENTS_MAX", 2)
    field = TftpField(tmp_path, 5, 6, 7)
    first, last, third, other = Client(field), Client(field), Client(field), Client(field, "127.0.0.2")
    for node, client in ((5, first), (6, last)):
        field.ends[node].files["log"] = b"here"
        field.ends[node].gives = 0x41  # it has nothing yet
        client.say(read(f"node/{node}/log"))
        field.until_so(lambda node=node: field.ends[node].busy)  # type: ignore[misc]
    field.ends[7].files["log"] = b"seven"
    assert third.answer(read("node/7/log")).name == "2 transfers are running", "the same address"
    assert other.get("node/7/log") == b"seven"
    told = last.next()
    assert (told.opcode, told.name) == (Opcode.ERROR, "it makes room for another client")
    field.until_so(lambda: not field.ends[6].busy)
    assert field.ends[5].busy and first.heard() is None, "its first one goes on"
    for client in (first, last, third, other):
        client.line.close()
    field.close()


def test_another_port_does_not_disturb_a_transfer(field: TftpField, client: Client) -> None:
    first = client.answer(read("node/5/log", blksize=100))
    other = Client(field)
    other.to = client.to
    assert other.answer(Packet(Opcode.ACK, 0)).block == TftpCode.UNKNOWN_ID
    other.to = client.to
    other.say(error_packet(0, "end it"))
    assert first.opcode is Opcode.OACK and client.answer(Packet(Opcode.ACK, 0)).content == CONTENT[:100]
    other.line.close()


def test_what_is_no_request_is_dropped_and_counted(field: TftpField, client: Client) -> None:
    for data in (b"", b"\0\1x", b"\0\3\0\1", b"\0\4\0\0", b"GET / HTTP/1.1", bytes(2000), b"\0\5\0\0\0"):
        client.say(data)
    field.until_so(lambda: field.proxy.statistics()["malformed"] == 7)
    assert client.heard() is None


def test_a_flood_of_requests_makes_no_sockets(field: TftpField, client: Client) -> None:
    others = [Client(field) for _ in range(40)]
    for each in others:
        for name in ("node/5/log", "node/6/log", "node/9/log"):
            each.say(read(name))

    def refused() -> int:
        return field.proxy.statistics()["refused_requests"]

    field.until_so(lambda: refused() >= 100)
    assert len(field.proxy.sockets()) <= 2 + (3 * len(others) - refused())  # one for each that was taken
    for each in others:
        each.line.close()


# --- nodes that ask


def test_a_node_reads_a_file_of_the_folder(field: TftpField) -> None:
    (field.folder / "served" / "table.bin").write_bytes(CONTENT[:1000])
    assert field.ends[5].get("table.bin", time.monotonic()) == OK
    field.until_so(lambda: field.ends[5].outcomes)
    assert field.ends[5].outcomes == [OK] and field.ends[5].files["table.bin"] == CONTENT[:1000]
    field.until_so(lambda: field.proxy.statistics()["read_by_nodes"] == 1)


def test_what_a_node_puts_is_a_file_and_overwrites_nothing(field: TftpField) -> None:
    for length in (300, 0, 119):
        field.ends[5].files["day.csv"] = CONTENT[:length]
        assert field.ends[5].put("day.csv", time.monotonic()) == OK
        field.until_so(lambda: not field.ends[5].busy)
    put = field.folder / "put"
    field.until_so(lambda: field.proxy.statistics()["put_by_nodes"] == 3)
    assert sorted(path.name for path in put.iterdir()) == ["day-2.csv", "day-3.csv", "day.csv"]
    assert (put / "day.csv").read_bytes() == CONTENT[:300] and (put / "day-3.csv").read_bytes() == CONTENT[
        :119
    ]
    assert (put / "day.csv").stat().st_mode & 0o777 == 0o600
    assert field.told[-1] == f"node 5: {put}/day-3.csv: 119 bytes"


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/passwd", "link", "sub", "pipe", ".hidden", "none", "sub/file"]
)
def test_a_node_gets_nothing_but_regular_files_of_that_folder(field: TftpField, name: str) -> None:
    served = field.folder / "served"
    (field.folder / "secret").write_text("secret")
    (served / "link").symlink_to(field.folder / "secret")
    (served / "sub").mkdir()
    (served / "sub" / "file").write_text("x")
    (served / ".hidden").write_text("x")
    os.mkfifo(served / "pipe")
    end = field.ends[5]
    assert end.get(name, time.monotonic()) == OK
    field.until_so(lambda: end.outcomes)
    assert end.outcomes[0] in (TftpCode.NOT_FOUND, TftpCode.NO_ACCESS) and name not in end.files
    assert end.put(name, time.monotonic()) in (OK, TftpCode.NOT_FOUND)


def test_without_folders_a_node_is_refused(tmp_path: Path) -> None:
    field = TftpField(tmp_path, 5, served=False)
    end = field.ends[5]
    end.files["day.csv"] = b"x"
    for act in (end.get, end.put):
        act("day.csv", time.monotonic())
        field.until_so(lambda: not end.busy)
    assert end.outcomes == [TftpCode.NOT_FOUND, TftpCode.NO_ACCESS]
    field.close()


def test_a_nodes_own_request_comes_first(field: TftpField, client: Client) -> None:
    (field.folder / "served" / "table.bin").write_bytes(b"table")
    field.ends[5].gives = 0x41
    client.say(read("node/5/log"))
    field.until_so(lambda: field.ends[5].busy)
    field.ends[5].abort(0)
    field._say(5)
    assert client.next().opcode is Opcode.ERROR
    client.to = field.address
    field.ends[5].get("table.bin", time.monotonic())
    field._say(5)
    client.say(read("node/5/log"))
    field.until_so(lambda: field.ends[5].files.get("table.bin") == b"table")


def test_other_messages_of_the_node_go_to_the_sinks(field: TftpField) -> None:
    field.exchange(5, b"+21.4C")
    field.exchange(5, b"\0\7")
    assert [item.content for item in field.waiting()][-2:] == [b"+21.4C", b"\0\7"]


def test_malformed_packets_of_a_node_are_counted(field: TftpField) -> None:
    for content in (b"\0\7\0\0", b"\0\1log", b"\0\0\0\0\0"):
        field.exchange(5, content)
    field.until_so(lambda: field.proxy.statistics()["malformed"] == 3)


def test_blocks_of_a_transfer_that_nobody_knows_are_refused(field: TftpField) -> None:
    """The gateway was started again meanwhile."""
    end = field.ends[5]
    end.sent.append(Packet(Opcode.DATA, 7, b"x").encode())
    got: list[bytes] = []
    real = end.receive
    end.receive = lambda packet, now_s=0.0: (got.append(packet), real(packet, now_s))[1]  # type: ignore[method-assign]
    field.until_so(lambda: got)
    packet = read_packet(got[0])
    assert packet is not None and (packet.opcode, packet.block) == (Opcode.ERROR, TftpCode.UNKNOWN_ID)


def test_a_node_that_has_its_share_is_told_so_and_so_is_the_user(tmp_path: Path) -> None:
    field = TftpField(tmp_path, 5, 6)
    field.proxy._stored = NodeFiles(tmp_path / "put", lambda: 8192)
    for node, name, kept in ((5, "a", True), (5, "b", False), (6, "b", True)):
        field.ends[node].files[name] = CONTENT[:5000]
        assert field.ends[node].put(name, time.monotonic()) == OK
        field.until_so(lambda node=node: field.ends[node].outcomes)  # type: ignore[misc]
        outcome = field.ends[node].outcomes.pop()
        assert outcome == (OK if kept else TftpCode.DISK_FULL)
    field.until_so(lambda: field.proxy.statistics()["put_by_nodes"] == 2)
    assert sorted(path.name for path in (tmp_path / "put").glob("[a-z]*")) == ["a", "b"]
    (told,) = [each for each in field.told if "its share of" in each]
    assert told.startswith("node 5: has files of 8,192 bytes in ")
    field.close()


# --- nodes and clients that vanish


def test_a_node_that_is_silent_ends_the_transfer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    field = TftpField(tmp_path, 5, timeout_s=0.02)
    client = Client(field)
    field.ends[5].opens = 0x40
    field.ends[5].receive = lambda packet, now_s=0.0: []  # type: ignore[method-assign]
    answer = client.answer(read("node/5/log"))
    assert (answer.opcode, answer.name) == (Opcode.ERROR, "no answer")
    client.line.close()
    field.close()


def test_a_client_that_ends_its_transfer_ends_the_nodes(field: TftpField, client: Client) -> None:
    field.ends[5].files["log"] = CONTENT
    client.answer(read("node/5/log", blksize=100))
    client.say(error_packet(0, "enough"))
    field.until_so(lambda: field.ends[5].outcomes)
    assert field.ends[5].outcomes[0] != OK and not field.ends[5].busy
    field.until_so(lambda: len(field.proxy.sockets()) == 2)


def test_the_gateways_end_is_told(field: TftpField, client: Client) -> None:
    client.answer(read("node/5/log", blksize=100))
    for thread in field.service._protocols:
        thread.stop()
        thread.join(DEADLINE_S)
    assert client.next() == Packet(Opcode.ERROR, 0, name="the gateway ends")


# --- its parts


def test_folders_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none: no folder"):
        open_tftp("0", tmp_path / "none", None, {}, 250, print)
    made = open_tftp("0", tmp_path, None, {}, 1250, print)
    assert made._timeout_s == 2 and made.addresses()[0].startswith("127.0.0.1:")
    made.close()
    waits = [open_tftp(None, tmp_path, None, {}, ms, print)._timeout_s for ms in (1, 1000, 1001, 10**6)]
    assert waits == [1, 1, 2, 255]


def test_a_nodes_file_has_a_bound_and_leaves_nothing_behind(tmp_path: Path) -> None:
    inlet = FolderInlet(tmp_path, 5, "big", lambda path, length: None)
    inlet.write(0, b"x", False)
    assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(TftpError, match="16,777,216"):
        inlet.write(FILE_MAX, b"x", True)
    inlet.close(None)
    assert not list(tmp_path.iterdir())
    for call in (
        lambda: inlet.read(0, 1),
        lambda: FolderInlet(tmp_path / "no", 5, "a", lambda path, length: None),
    ):
        with pytest.raises(TftpError):
            call()
    (tmp_path / "f").write_bytes(b"abc")
    outlet = FolderOutlet(tmp_path, "f")
    assert outlet.size() == 3 and outlet.read(1, 5) == b"bc"
    with pytest.raises(TftpError):
        outlet.write(0, b"", True)
    outlet.close(None)
