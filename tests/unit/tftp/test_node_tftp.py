"""The node's side of TFTP (firmware/tftp), packet by packet, and whole files with the computer's side."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from documented import missing
from motecrypt.link.tftp.packets import Opcode, Packet, TftpCode, error_packet, read_packet
from motecrypt.link.tftp.transfer import Terms, TftpTransfer
from tftp_ends import LATER, OK, REPLACED, SILENT, UNKNOWN, Air, Memory, Node, fetched

CONTENT = Random(7).randbytes(20_000)
LOSSES = (0.0, 0.05, 0.1)
LONGEST = 600_000
"""Bytes of a file whose blocks have more numbers than there are."""
LENGTHS = [0, 1, 511, 512, 20_000]


def test_the_page_of_tftp_states_the_longest_file_and_the_most_loss() -> None:
    lost = f"with {min(LOSSES):g} to {100 * max(LOSSES):g} % of all packets lost"
    told = f"files of 0 to {LONGEST:,} bytes pass between them in virtual time, {lost}"
    assert missing("tftp.md", told) == []


def request(opcode: Opcode, name: str = "log", mode: str = "octet", **options: object) -> bytes:
    return Packet(
        opcode, name=name, mode=mode, options={key: str(value) for key, value in options.items()}
    ).encode()


def data(block: int, content: bytes) -> bytes:
    return Packet(Opcode.DATA, block, content).encode()


def ack(block: int) -> bytes:
    return Packet(Opcode.ACK, block).encode()


def oack(**options: object) -> bytes:
    return Packet(Opcode.OACK, options={key: str(value) for key, value in options.items()}).encode()


def error_of(packets: list[bytes]) -> int:
    (packet,) = packets
    read = read_packet(packet)
    assert read is not None and read.opcode is Opcode.ERROR
    return read.block


@pytest.fixture
def node() -> Node:
    made = Node()
    made.files["log"] = CONTENT[:1000]
    return made


# --- whole files, with loss


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("block", [8, 119, 512])
@pytest.mark.parametrize("length", LENGTHS)
def test_a_file_of_a_node_is_fetched(length: int, block: int, loss: float) -> None:
    node = Node()
    node.files["log"] = CONTENT[:length]
    file, transfer, air = fetched(node, "log", Terms(block, 4.0, tries=40), loss, seed=length + block)
    assert transfer.error is None and file.arrived == CONTENT[:length] and file.closed == [None]
    assert file.told_size == length
    assert not loss or node.outcomes[-1] in (OK, SILENT)
    if not loss:
        assert node.outcomes == [OK] and len(air.up) == 1 + length // block + 1
        assert len(air.down) == 2 + length // block + 1
        assert node.reads == [(at, block) for at in range(0, length + 1, block)]


@pytest.mark.parametrize("loss", [0.0, 0.1])
@pytest.mark.parametrize("length", LENGTHS)
def test_a_node_takes_a_file(length: int, loss: float) -> None:
    node, file = Node(room=256), Memory(CONTENT[:length])
    air = Air(node, loss, seed=length)
    transfer = air.run(TftpTransfer.ask(Terms(128, 4.0, tries=20), file, "config", True))
    assert transfer.error is None and node.files == {"config": CONTENT[:length]}
    assert node.outcomes[-1] == OK and node.told_size == length and transfer.block_bytes == 128


@pytest.mark.parametrize("writing", [False, True], ids=["get", "put"])
@pytest.mark.parametrize("loss", [0.0, 0.1])
@pytest.mark.parametrize("length", LENGTHS)
def test_a_node_is_a_client(length: int, loss: float, writing: bool) -> None:
    node = Node(room=123)
    node.files["mine"] = CONTENT[:length]
    file = Memory(CONTENT[:length])
    air = Air(node, loss, seed=length)

    def serve(packet: bytes) -> TftpTransfer:
        asked = read_packet(packet)
        assert asked is not None
        return TftpTransfer.serve(Terms(512, 4.0, tries=20), file, asked)

    air.serve = serve
    assert (node.put("mine") if writing else node.get("theirs")) == OK and node.busy
    transfer = air.run(None)
    assert transfer.error is None and transfer.block_bytes == 119
    assert (file.arrived if writing else node.files["theirs"]) == CONTENT[:length]
    assert node.outcomes == [OK] and (writing or node.told_size == UNKNOWN)


def test_block_0_follows_65535() -> None:
    """Both ways, from the block before them on: the whole way there is the next test's."""
    sends, takes = Node(), Node()
    sends.files["log"] = CONTENT[:1000]
    sends.receive(request(Opcode.READ, blksize=8))
    takes.receive(request(Opcode.WRITE, blksize=8))
    assert sends.receive(ack(0)) == [data(1, CONTENT[:8])] and takes.receive(data(1, bytes(8))) == [ack(1)]
    for node in (sends, takes):
        node.count(65_534)
    before = 65_534
    for at, block in ((8, 65_535), (16, 0), (24, 1)):
        assert sends.receive(ack(before)) == [data(block, CONTENT[at : at + 8])]
        assert takes.receive(data(block, bytes(8))) == [ack(block)]
        before = block
    assert takes.receive(data(2, b"")) == [ack(2)] and takes.files["log"] == bytes(32)


def test_block_numbers_go_on_with_0_behind_65535() -> None:
    node = Node(room=64)
    content = Random(3).randbytes(LONGEST)
    node.files["log"] = content
    file, transfer, air = fetched(node, "log", Terms(8, 4.0))
    assert transfer.error is None and file.arrived == content
    numbers = [int.from_bytes(packet[2:4], "big") for packet in air.up if packet[1] == Opcode.DATA]
    assert len(numbers) == 75_001 and numbers[65_534:65_537] == [65_535, 0, 1]
    node.files.clear()
    put = Air(node).run(TftpTransfer.ask(Terms(8, 4.0), Memory(content), "log", True))
    assert put.error is None and node.files["log"] == content


def test_nothing_is_doubled_by_doubled_packets() -> None:
    """The sorcerer's apprentice: a duplicate of an ACK does not send a block twice."""
    node, file = Node(), Memory()
    node.files["log"] = CONTENT[:4096]
    air = Air(node, doubles=1.0)
    transfer = air.run(TftpTransfer.ask(Terms(512, 4.0), file, "log", False))
    assert transfer.error is None and file.arrived == CONTENT[:4096]
    assert sum(packet[1] == Opcode.DATA for packet in air.up) == 9
    assert sum(packet[1] == Opcode.ACK for packet in air.down) <= 2 * 10


# --- options


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ({"blksize": 8}, {"blksize": "8"}),
        ({"blksize": 65464}, {"blksize": "512"}),
        ({"BLKSIZE": 300, "TimeOut": 9}, {"blksize": "300", "timeout": "9"}),
        ({"tsize": 0}, {"tsize": "1000"}),
        ({"blksize": 7, "tsize": 0}, {"tsize": "1000"}),
        ({"blksize": 65465, "timeout": 1}, {"timeout": "1"}),
        ({"timeout": 0, "blksize": 512}, {"blksize": "512"}),
        ({"timeout": 256, "blksize": 512}, {"blksize": "512"}),
        ({"timeout": 255, "windowsize": 4}, {"timeout": "255"}),
        ({"blksize": "12x", "tsize": "0"}, {"tsize": "1000"}),
        ({"blksize": "", "tsize": "0"}, {"tsize": "1000"}),
        ({"blksize": "99999999999", "tsize": "4294967295"}, {"tsize": "1000"}),
        ({"blksize": "-8", "tsize": "0"}, {"tsize": "1000"}),
        ({"timeout": "4294967297", "tsize": "0"}, {"tsize": "1000"}),
    ],
)
def test_a_server_answers_the_options_that_it_knows(
    node: Node, asked: dict[str, object], chosen: dict[str, str]
) -> None:
    (answer,) = node.receive(request(Opcode.READ, **asked))
    assert read_packet(answer) == Packet(Opcode.OACK, options=chosen)
    (first,) = node.receive(ack(0))
    assert first == data(1, CONTENT[: int(chosen.get("blksize", 512))])


@pytest.mark.parametrize("asked", [{}, {"blksize": 4}, {"multicast": ""}])
def test_without_an_option_that_it_knows_the_first_block_comes_at_once(
    node: Node, asked: dict[str, object]
) -> None:
    assert node.receive(request(Opcode.READ, mode="OCTET", **asked)) == [data(1, CONTENT[:512])]


def test_who_takes_a_file_is_told_its_size_and_tells_it_back(node: Node) -> None:
    (answer,) = node.receive(request(Opcode.WRITE, tsize=4711))
    assert read_packet(answer) == Packet(Opcode.OACK, options={"tsize": "4711"}) and node.told_size == 4711
    assert node.receive(request(Opcode.WRITE)) == [ack(0)] and node.told_size == UNKNOWN
    assert node.receive(request(Opcode.WRITE, tsize=2**32)) == [ack(0)] and node.told_size == UNKNOWN


def test_a_size_that_nobody_knows_is_not_told(node: Node) -> None:
    node.tells_size = False
    assert node.receive(request(Opcode.READ, tsize=0)) == [data(1, CONTENT[:512])]


def test_the_timeout_that_was_asked_for_holds(node: Node) -> None:
    node.receive(request(Opcode.READ, timeout=9))
    node.receive(ack(0), 1.0)
    assert node.poll(9.999) == [] and node.poll(10.0) == [data(1, CONTENT[:512])]


def test_a_node_without_room_for_512_bytes_needs_the_option(node: Node) -> None:
    small = Node(room=100)
    small.files["log"] = CONTENT
    assert error_of(small.receive(request(Opcode.READ))) == TftpCode.NO_OPTION
    assert error_of(small.receive(request(Opcode.WRITE))) == TftpCode.NO_OPTION and not small.outcomes
    (answer,) = small.receive(request(Opcode.READ, blksize=512))
    assert read_packet(answer) == Packet(Opcode.OACK, options={"blksize": "96"})
    for first in (ack(0), data(1, CONTENT[:512])):
        small = Node(room=100)
        small.files["mine"] = CONTENT
        assert (small.put("mine") if first[1] == Opcode.ACK else small.get("theirs")) == OK
        assert error_of(small.receive(first)) == TftpCode.NO_OPTION
        assert small.outcomes == [TftpCode.NO_OPTION] and not small.busy


def test_the_longest_block_may_be_set() -> None:
    node = Node(room=516, block_max=119)
    node.files["log"] = CONTENT
    (answer,) = node.receive(request(Opcode.READ, blksize=512))
    assert read_packet(answer) == Packet(Opcode.OACK, options={"blksize": "119"})


def test_a_client_asks_for_what_it_has_room_for() -> None:
    node = Node(room=123)
    node.files["mine"] = CONTENT
    assert node.get("theirs") == OK
    assert node.sent[-1] == request(Opcode.READ, "theirs", blksize=119, tsize=0)
    node.abort(TftpCode.UNDEFINED)
    assert node.put("mine") == OK
    assert node.sent[-1] == request(Opcode.WRITE, "mine", blksize=119, tsize=20_000)
    node.abort(TftpCode.UNDEFINED)
    node.tells_size = False
    assert node.put("mine") == OK
    assert node.sent[-1] == request(Opcode.WRITE, "mine", blksize=119)


@pytest.mark.parametrize(
    "answer",
    [
        oack(blksize=513),
        oack(blksize=7),
        oack(timeout=1),
        oack(blksize=512, timeout=1),
        b"\0\6blksize\0" + b"512",
        b"\0\6blksize\0",
    ],
)
def test_a_client_takes_only_what_it_asked_for(node: Node, answer: bytes) -> None:
    node.get("theirs")
    assert error_of(node.receive(answer)) == TftpCode.NO_OPTION
    assert node.outcomes == [TftpCode.NO_OPTION] and not node.busy


def test_a_client_takes_fewer_bytes_and_the_size(node: Node) -> None:
    node.get("theirs")
    assert node.receive(oack(blksize=100, tsize=150)) == [ack(0)]
    assert node.receive(oack(blksize=100, tsize=150)) == [ack(0)], "its ACK was lost"
    assert node.receive(data(1, CONTENT[:100])) == [ack(1)]
    assert node.receive(oack(blksize=100, tsize=150)) == []
    assert node.receive(data(2, CONTENT[100:150])) == [ack(2)] and node.outcomes == [OK]
    assert node.files["theirs"] == CONTENT[:150]


def test_servers_that_know_no_options_are_served(node: Node) -> None:
    node.files["mine"] = CONTENT[:600]
    node.put("mine")
    assert node.receive(ack(1)) == []
    assert node.receive(ack(0)) == [data(1, CONTENT[:512])]
    assert node.receive(ack(0)) == [] and node.receive(ack(1)) == [data(2, CONTENT[512:600])]
    assert node.receive(ack(2)) == [] and node.outcomes == [OK]
    node.get("theirs")
    assert node.receive(data(2, b"x")) == [] and node.receive(data(1, b"x")) == [ack(1)]
    assert node.files["theirs"] == b"x"


def test_acks_are_filled_where_that_is_cheaper() -> None:
    node = Node(ack_bytes=6)
    assert node.receive(request(Opcode.WRITE)) == [ack(0) + bytes(2)]
    assert node.receive(data(1, b"x")) == [ack(1) + bytes(2)]
    node.files["log"] = CONTENT
    node.receive(request(Opcode.READ))
    assert node.receive(ack(1) + bytes(2)) == [data(2, CONTENT[512:1024])]


# --- what is lost, late or wrong


def test_a_block_that_was_not_acknowledged_goes_again_and_then_it_gives_up(node: Node) -> None:
    node.receive(request(Opcode.READ))
    again = [node.poll(second) for second in range(1, 50)]
    assert [index + 1 for index, sent in enumerate(again) if sent] == list(range(4, 40, 4))
    assert all(sent in ([], [data(1, CONTENT[:512])]) for sent in again)
    assert node.outcomes == [SILENT] and not node.busy and node.poll(1000) == []


def test_an_ack_begins_the_count_of_tries_anew(node: Node) -> None:
    node.receive(request(Opcode.READ))
    for second in range(1, 37):
        node.poll(second)
    node.receive(ack(1), 36.5)
    assert node.poll(40.4) == [] and node.poll(40.5) == [data(2, CONTENT[512:1000])] and not node.outcomes


def test_the_time_begins_when_the_packet_has_left(node: Node) -> None:
    node.receive(request(Opcode.READ))
    node.left(3.0)
    assert node.poll(6.9) == [] and len(node.poll(7.0)) == 1


def test_the_clock_may_go_round(node: Node) -> None:
    late = 2**32 / 1000 - 1
    node.receive(request(Opcode.READ), late)
    assert node.poll(late + 3.9) == [] and len(node.poll(late + 4.0)) == 1


def test_who_receives_sends_nothing_of_itself_and_gives_up(node: Node) -> None:
    node.receive(request(Opcode.WRITE, blksize=8))
    node.receive(data(1, bytes(8)))
    assert [node.poll(second) for second in range(1, 50)] == [[]] * 49
    assert node.outcomes == [SILENT] and node.receive(data(2, b"")) != []


def test_a_server_that_is_asked_says_nothing_more_of_itself(node: Node) -> None:
    node.receive(request(Opcode.READ, blksize=8))
    assert [node.poll(second) for second in range(1, 50)] == [[]] * 49 and node.outcomes == [SILENT]


def test_a_client_repeats_its_request_and_its_first_ack(node: Node) -> None:
    node.get("theirs")
    asked = request(Opcode.READ, "theirs", blksize=512, tsize=0)
    assert node.poll(4.0) == [asked] and node.poll(8.0) == [asked]
    node.receive(oack(blksize=512), 9.0)
    assert node.poll(13.0) == [ack(0)]
    node.receive(data(1, bytes(512)), 14.0)
    assert node.poll(18.0) == []


def test_only_the_last_block_is_acknowledged_again(node: Node) -> None:
    node.receive(request(Opcode.WRITE, blksize=8))
    node.receive(data(1, bytes(8)))
    node.receive(data(2, bytes(8)))
    assert node.receive(data(2, bytes(8))) == [ack(2)]
    for block in (0, 1, 4, 65_535):
        assert node.receive(data(block, bytes(8))) == []
    assert node.receive(data(3, b"")) == [ack(3)] and node.outcomes == [OK]
    assert node.receive(data(3, b"")) == [ack(3)], "the last ACK was lost"
    assert node.files["log"] == bytes(16) and node.outcomes == [OK]


@pytest.mark.parametrize("block", [0, 2, 3, 65_535])
def test_other_acks_are_not_answered(node: Node, block: int) -> None:
    node.receive(request(Opcode.READ))
    assert node.receive(ack(block)) == []
    assert node.receive(ack(1)) == [data(2, CONTENT[512:1000])] and node.receive(ack(1)) == []


def test_blocks_after_a_restart_are_refused_and_nothing_else_is_answered(node: Node) -> None:
    assert error_of(node.receive(data(5, bytes(512)))) == TftpCode.UNKNOWN_ID
    for packet in (ack(3), error_packet(0, "x"), oack(blksize=8), b"\0\7\0\0", b"\1\1\0\0", b"\0\3\0"):
        assert node.receive(packet) == []


def test_a_block_that_is_too_long_ends_it(node: Node) -> None:
    node.receive(request(Opcode.WRITE, blksize=8))
    assert error_of(node.receive(data(1, bytes(9)))) == TftpCode.ILLEGAL and node.outcomes == [
        TftpCode.ILLEGAL
    ]


@pytest.mark.parametrize("code", [*range(9), 9, 256, 65_535])
def test_an_error_ends_it(node: Node, code: int) -> None:
    node.receive(request(Opcode.READ))
    assert node.receive(error_packet(code, "no more")) == []
    assert node.outcomes == [code if code <= 8 else 0] and not node.busy


def test_a_new_request_ends_what_is_served(node: Node) -> None:
    node.receive(request(Opcode.READ))
    node.files["other"] = b"short"
    assert node.receive(request(Opcode.READ, "other")) == [data(1, b"short")]
    assert node.outcomes == [REPLACED]
    node.receive(ack(1))
    assert node.outcomes == [REPLACED, OK]


def test_a_request_comes_second_while_it_is_a_client(node: Node) -> None:
    node.get("theirs")
    assert node.receive(request(Opcode.READ)) == [] and not node.outcomes
    node.receive(oack(blksize=512))
    assert node.receive(request(Opcode.WRITE)) == []
    node.receive(data(1, b"x"))
    assert node.receive(request(Opcode.READ)) == [data(1, CONTENT[:512])]


def test_one_transfer_at_a_time(node: Node) -> None:
    assert node.get("theirs") == OK and node.get("others") == LATER and node.put("log") == LATER
    assert error_of(node.abort(TftpCode.NO_ACCESS)) == TftpCode.NO_ACCESS and node.outcomes == [
        TftpCode.NO_ACCESS
    ]
    assert node.abort(TftpCode.NO_ACCESS) == [] and node.put("log") == OK


@pytest.mark.parametrize(
    "packet",
    [
        b"\0\1log",
        b"\0\1log\0octet",
        b"\0\1log\0octet\0blksize\0",
        b"\0\1log\0octet\0blksize\0008",
        b"\0\1log\0octet\0\0",
        b"\0\1log\0",
    ],
)
def test_half_a_request_is_none(node: Node, packet: bytes) -> None:
    assert node.receive(packet) == [] and not node.busy and not node.name


@pytest.mark.parametrize("mode", ["netascii", "mail", "", "octe", "octets"])
def test_only_mode_octet(node: Node, mode: str) -> None:
    assert error_of(node.receive(request(Opcode.READ, mode=mode))) == TftpCode.ILLEGAL and not node.name


# --- what its files say


@pytest.mark.parametrize("opcode", [Opcode.READ, Opcode.WRITE])
def test_a_file_that_may_not_be_opened(node: Node, opcode: Opcode) -> None:
    node.opens = TftpCode.NO_ACCESS
    assert error_of(node.receive(request(opcode))) == TftpCode.NO_ACCESS and not node.busy
    assert node.outcomes == [], "what was not opened is not closed"
    assert node.get("theirs") == TftpCode.NO_ACCESS and not node.busy and node.outcomes == []


def test_a_file_that_is_not_there(node: Node) -> None:
    (answer,) = node.receive(request(Opcode.READ, "../log"))
    assert answer == error_packet(1, "no such file") and node.name == "../log"


def test_what_cannot_be_read_or_written_ends_it(node: Node) -> None:
    node.gives = TftpCode.UNDEFINED
    assert error_of(node.receive(request(Opcode.READ))) == TftpCode.UNDEFINED
    node.takes = TftpCode.DISK_FULL
    node.receive(request(Opcode.WRITE))
    assert error_of(node.receive(data(1, b"x"))) == TftpCode.DISK_FULL
    assert node.outcomes == [TftpCode.UNDEFINED, TftpCode.DISK_FULL] and not node.busy


def test_a_file_that_is_not_kept_is_not_acknowledged(node: Node) -> None:
    node.keeps = TftpCode.DISK_FULL
    node.receive(request(Opcode.WRITE))
    assert error_of(node.receive(data(1, b"x"))) == TftpCode.DISK_FULL and node.files.keys() == {"log"}
    assert not node.busy and error_of(node.receive(data(1, b"x"))) == TftpCode.UNKNOWN_ID


def test_what_is_not_there_yet_is_asked_for_again(node: Node) -> None:
    node.gives = LATER
    assert node.receive(request(Opcode.READ)) == [] and node.poll(100) == [] and node.busy
    assert node.receive(ack(1)) == []
    node.gives = OK
    assert node.poll(101) == [data(1, CONTENT[:512])]
    node.takes = LATER
    node.receive(request(Opcode.WRITE))
    assert node.receive(data(1, b"x")) == []
    node.takes = OK
    assert node.receive(data(1, b"x")) == [ack(1)]


def test_what_the_transport_does_not_take_goes_later(node: Node) -> None:
    node.blocked = True
    assert node.receive(request(Opcode.READ)) == [] and node.poll(100) == []
    assert node.receive(ack(1)) == [], "nobody acknowledges what never left"
    node.blocked = False
    assert node.poll(101) == [data(1, CONTENT[:512])] and node.poll(104) == [] and len(node.poll(105)) == 1


def test_a_name_that_is_too_long_for_a_request() -> None:
    node = Node(room=64)
    assert node.get("n" * 40) == TftpCode.ILLEGAL and not node.busy and not node.sent and not node.name
    assert node.get("n" * 24) == OK
