"""The computer's side of TFTP: packets, transfers packet by packet, pipes, and what a transfer costs."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from link_ends import begun
from motecrypt.link.native import (
    CONFIRMED,
    GATEWAY,
    LISTENS,
    SHORT,
    STREAM,
    TAG_16,
    Event,
    KeyBlock,
    framing,
)
from motecrypt.link.tftp.cost import TransferCost, ack_bytes, bare, best_block, link_message, over_link
from motecrypt.link.tftp.packets import (
    NETASCII,
    Opcode,
    Packet,
    TftpCode,
    TftpError,
    error_packet,
    number_in,
    read_packet,
)
from motecrypt.link.tftp.pipe import HELD_MAX, NetasciiInlet, NetasciiOutlet, Pipe
from motecrypt.link.tftp.transfer import Terms, TftpTransfer
from tftp_ends import Memory, Node, fetched

CONTENT = Random(7).randbytes(2000)
SHORT_BLOCKS = Terms(block_max=8, timeout_s=4.0, tries=3)


def request(opcode: Opcode = Opcode.READ, **options: object) -> Packet:
    return Packet(opcode, name="log", options={key: str(value) for key, value in options.items()})


def data(block: int, content: bytes) -> Packet:
    return Packet(Opcode.DATA, block, content)


def ack(block: int) -> Packet:
    return Packet(Opcode.ACK, block)


def out(transfer: TftpTransfer, now_s: float = 0.0) -> list[Packet]:
    """What it sends."""
    sent = []
    while transfer.packets:
        packet = read_packet(transfer.packets.popleft())
        assert packet is not None
        sent.append(packet)
        transfer.sent(now_s)
    return sent


def after(transfer: TftpTransfer, packet: Packet, now_s: float = 0.0) -> list[Packet]:
    transfer.receive(packet, now_s)
    return out(transfer, now_s)


def polled(transfer: TftpTransfer, now_s: float) -> list[Packet]:
    transfer.poll(now_s)
    return out(transfer, now_s)


# --- packets


@pytest.mark.parametrize(
    ("packet", "data"),
    [
        (Packet(Opcode.READ, name="a", options={"blksize": "8"}), b"\0\1a\0octet\0blksize\08\0"),
        (Packet(Opcode.WRITE, name="b", mode=NETASCII), b"\0\2b\0netascii\0"),
        (data(258, b"xy"), b"\0\3\1\2xy"),
        (ack(65535), b"\0\4\xff\xff"),
        (Packet(Opcode.ERROR, 1, name="gone"), b"\0\5\0\1gone\0"),
        (Packet(Opcode.OACK, options={"tsize": "0", "timeout": "3"}), b"\0\6tsize\0000\0timeout\0003\0"),
    ],
)
def test_a_packet_and_its_bytes(packet: Packet, data: bytes) -> None:
    assert packet.encode() == data and read_packet(data) == packet


def test_case_of_modes_and_options_counts_for_nothing_and_the_first_of_two_counts() -> None:
    packet = read_packet(b"\0\1Name\0OcTeT\0BlkSize\08\0BLKSIZE\09\0")
    assert packet == Packet(Opcode.READ, name="Name", options={"blksize": "8"})


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"\0\1", b"\0\1a", b"\0\1a\0", b"\0\1a\0octet", b"\0\1a\0octet\0x\0", b"\0\0\0\0"),
        *(b"\0\7\0\0", b"\1\3\0\1", b"\0\6a\0", b"\0\6a\0b", b"\0\3\0", b"\0\1a\0octet\0x\0008"),
    ],
)
def test_what_is_no_packet(data: bytes) -> None:
    assert read_packet(data) is None


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        st.binary(max_size=60),
        st.integers(1, 6).flatmap(
            lambda code: st.binary(max_size=60).map(lambda rest: bytes([0, code]) + rest)
        ),
    )
)
def test_any_bytes_are_read_and_what_is_read_can_be_sent(data: bytes) -> None:
    packet = read_packet(data)
    if packet is not None:
        again = read_packet(packet.encode())
        assert again is not None and again.opcode is packet.opcode and again.block == packet.block


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8),
        ("64", 64),
        ("65", None),
        ("7", None),
        ("", None),
        ("+8", None),
        ("٨", None),
        ("9" * 5000, None),
    ],
)
def test_numbers_of_options(text: str, value: int | None) -> None:
    assert number_in({"n": text}, "n", 8, 64) == value and number_in({}, "n", 0, 9) is None


def test_an_errors_text_is_plain() -> None:
    assert error_packet(3, "no\0 ü") == b"\0\5\0\3no? ?\0"


# --- a server


def test_a_server_agrees_on_options_and_sends_block_after_block() -> None:
    file = Memory(CONTENT[:20])
    transfer = TftpTransfer.serve(Terms(block_max=8), file, request(blksize=512, tsize=0, timeout=7, odd=1))
    chosen = {"blksize": "8", "timeout": "7", "tsize": "20"}
    assert out(transfer) == [Packet(Opcode.OACK, options=chosen)]
    assert after(transfer, ack(1)) == []
    assert after(transfer, ack(0)) == [data(1, CONTENT[:8])]
    assert after(transfer, ack(0)) == []
    assert after(transfer, ack(1)) == [data(2, CONTENT[8:16])] and after(transfer, ack(1)) == []
    assert after(transfer, ack(2)) == [data(3, CONTENT[16:20])] and not transfer.over
    assert after(transfer, ack(3)) == [] and transfer.over and file.closed == [None]
    assert after(transfer, ack(3)) == [] and polled(transfer, 1e9) == [] and file.closed == [None]


def test_a_server_without_options_begins_with_512_bytes_or_refuses() -> None:
    assert out(TftpTransfer.serve(Terms(), Memory(CONTENT), request())) == [data(1, CONTENT[:512])]
    assert out(TftpTransfer.serve(Terms(), Memory(), request(Opcode.WRITE))) == [ack(0)]
    refused = TftpTransfer.serve(Terms(block_max=511), Memory(CONTENT), request(tsize=0))
    assert [packet.block for packet in out(refused)] == [TftpCode.NO_OPTION] and refused.over


def test_block_0_follows_65535() -> None:
    """Both ways, from the block before them on."""
    sends = TftpTransfer.serve(SHORT_BLOCKS, Memory(CONTENT), request(blksize=8))
    takes = TftpTransfer.serve(SHORT_BLOCKS, Memory(), request(Opcode.WRITE, blksize=8))
    out(sends), out(takes)
    assert after(sends, ack(0)) == [data(1, CONTENT[:8])] and after(takes, data(1, bytes(8))) == [ack(1)]
    sends._block = takes._block = before = 65_534
    for at, block in ((8, 65_535), (16, 0), (24, 1)):
        assert after(sends, ack(before)) == [data(block, CONTENT[at : at + 8])]
        assert after(takes, data(block, bytes(8))) == [ack(block)]
        before = block
    assert after(takes, data(2, b"")) == [ack(2)] and takes.over and takes.error is None


def test_a_server_waits_for_its_file() -> None:
    file = Memory(CONTENT[:20])
    file.is_ready = False
    transfer = TftpTransfer.serve(SHORT_BLOCKS, file, request(blksize=8))
    assert out(transfer) == [] and polled(transfer, 1000) == [] and not transfer.over
    assert after(transfer, request(blksize=8), 1001) == []
    file.is_ready = True
    assert [packet.opcode for packet in polled(transfer, 1002)] == [Opcode.OACK]
    file.is_ready = False
    assert after(transfer, ack(0), 1003) == [] and polled(transfer, 2000) == []
    assert after(transfer, ack(0), 2001) == [] and after(transfer, ack(1), 2001) == []
    file.is_ready = True
    assert polled(transfer, 2002) == [data(1, CONTENT[:8])]


def test_a_request_that_comes_again_is_answered_again_until_the_client_is_heard() -> None:
    transfer = TftpTransfer.serve(SHORT_BLOCKS, Memory(CONTENT), request(blksize=8))
    first = out(transfer)
    assert transfer.repeated(request(blksize=8)) and not transfer.repeated(request(blksize=9))
    assert after(transfer, request(blksize=8)) == first and after(transfer, request(blksize=9)) == []
    after(transfer, ack(0))
    assert not transfer.repeated(request(blksize=8)) and after(transfer, request(blksize=8)) == []


def test_who_has_not_answered_gets_nothing_unasked() -> None:
    for wanted in (request(blksize=8), request(Opcode.WRITE)):
        transfer = TftpTransfer.serve(Terms(timeout_s=4.0, tries=3), Memory(CONTENT), wanted)
        out(transfer)
        assert [polled(transfer, second) for second in range(1, 13)] == [[]] * 12
        assert transfer.over and transfer.error is not None and str(transfer.error) == "no answer"
    plain = TftpTransfer.serve(Terms(timeout_s=4.0), Memory(CONTENT), request())
    out(plain)
    assert polled(plain, 5.0) == []
    after(plain, ack(1), 5.5)
    assert polled(plain, 9.5) == [data(2, CONTENT[512:1024])]


def test_a_block_goes_again_and_then_it_gives_up() -> None:
    file = Memory(CONTENT)
    transfer = TftpTransfer.serve(SHORT_BLOCKS, file, request(blksize=8))
    out(transfer)
    after(transfer, ack(0), 1.0)
    sent = [polled(transfer, 1.0 + second) for second in range(1, 20)]
    assert [index + 1 for index, each in enumerate(sent) if each] == [4, 8]
    assert transfer.over and str(file.closed[0]) == "no answer"


def test_a_server_waits_as_long_as_its_client_asked_for() -> None:
    transfer = TftpTransfer.serve(SHORT_BLOCKS, Memory(CONTENT), request(blksize=8, timeout=9))
    out(transfer)
    after(transfer, ack(0), 1.0)
    sent = [polled(transfer, 1.0 + second) for second in range(1, 40)]
    assert [index + 1 for index, each in enumerate(sent) if each] == [9, 18]
    assert transfer.over and str(transfer.error) == "no answer"
    writing = TftpTransfer.serve(SHORT_BLOCKS, Memory(), request(Opcode.WRITE, blksize=8, timeout=1))
    out(writing)
    assert writing.due_s == 1.0


def test_a_packet_that_has_not_left_has_no_deadline() -> None:
    transfer = TftpTransfer.serve(SHORT_BLOCKS, Memory(CONTENT), request(blksize=8))
    for second in range(100):
        transfer.poll(second)
    assert len(transfer.packets) == 1 and not transfer.over


def test_a_server_takes_a_file_and_acknowledges_what_is_kept() -> None:
    file = Memory()
    transfer = TftpTransfer.serve(Terms(ack_bytes=6), file, request(Opcode.WRITE, blksize=8, tsize=12))
    assert out(transfer) == [Packet(Opcode.OACK, options={"blksize": "8", "tsize": "12"})]
    transfer.receive(data(1, bytes(8)), 0.0)
    assert list(transfer.packets) == [b"\0\4\0\1\0\0"]
    out(transfer)
    file.is_kept = False
    assert after(transfer, data(2, b"last")) == [] and after(transfer, data(2, b"last")) == []
    assert polled(transfer, 1000) == [] and not transfer.over
    file.is_kept = True
    assert polled(transfer, 1001) == [ack(2)] and transfer.over and file.arrived == bytes(8) + b"last"
    assert after(transfer, data(2, b"last")) == [ack(2)] and file.closed == [None]
    assert after(transfer, data(1, bytes(8))) == [] and after(transfer, data(3, b"")) == []


def test_a_block_that_is_too_long_or_not_taken_ends_it() -> None:
    for content, code in ((bytes(9), TftpCode.ILLEGAL), (bytes(8), TftpCode.DISK_FULL)):
        file = Memory()

        def full(at: int, content: bytes, last: bool) -> None:
            raise TftpError(TftpCode.DISK_FULL, "full")

        file.write = full  # type: ignore[method-assign]
        transfer = TftpTransfer.serve(Terms(), file, request(Opcode.WRITE, blksize=8))
        out(transfer)
        assert [packet.block for packet in after(transfer, data(1, content))] == [code]
        assert transfer.over and file.closed == [transfer.error] and after(transfer, data(1, content)) == []


# --- a client


def test_a_client_takes_what_it_asked_for() -> None:
    file = Memory()
    transfer = TftpTransfer.ask(Terms(block_max=100, timeout_s=3.0, tell_timeout=True), file, "log", False)
    asked = Packet(Opcode.READ, name="log", options={"blksize": "100", "timeout": "3", "tsize": "0"})
    assert out(transfer) == [asked] and polled(transfer, 3.0) == [asked]
    answer = Packet(Opcode.OACK, options={"blksize": "64", "tsize": "65"})
    assert after(transfer, answer, 4.0) == [ack(0)] and file.told_size == 65
    assert after(transfer, answer, 5.0) == [ack(0)] and polled(transfer, 8.0) == [ack(0)]
    assert after(transfer, data(1, bytes(64)), 8.0) == [ack(1)]
    assert after(transfer, answer, 8.0) == [] and polled(transfer, 11.0) == []
    assert after(transfer, data(2, b"x"), 12.0) == [ack(2)] and transfer.over and transfer.error is None


@pytest.mark.parametrize(("timeout_s", "asked"), [(0.2, "1"), (2.4, "2"), (1000.0, "255")])
def test_the_timeout_that_is_asked_for(timeout_s: float, asked: str) -> None:
    transfer = TftpTransfer.ask(Terms(timeout_s=timeout_s, tell_timeout=True), Memory(), "log", False)
    assert out(transfer)[0].options["timeout"] == asked


@pytest.mark.parametrize(
    "options", [{"blksize": "9"}, {"blksize": "x"}, {"timeout": "1"}, {"blksize": "7"}, {}]
)
def test_a_client_refuses_what_it_did_not_ask_for(options: dict[str, str]) -> None:
    transfer = TftpTransfer.ask(SHORT_BLOCKS, Memory(CONTENT), "log", True)
    out(transfer)
    told = after(transfer, Packet(Opcode.OACK, options=options))
    assert [packet.block for packet in told] == [TftpCode.NO_OPTION] and transfer.over


@pytest.mark.parametrize("writing", [False, True])
def test_a_server_without_options_is_served_where_512_bytes_fit(writing: bool) -> None:
    for terms in (Terms(block_max=511), Terms(block_max=512)):
        file = Memory(CONTENT)
        transfer = TftpTransfer.ask(terms, file, "log", writing)
        out(transfer)
        answer = after(transfer, ack(0) if writing else data(1, CONTENT[:512]))
        if terms.block_max == 511:
            assert [packet.block for packet in answer] == [TftpCode.NO_OPTION]
        else:
            assert answer == ([data(1, CONTENT[:512])] if writing else [ack(1)])
            assert writing or (file.told_size is None and file.arrived == CONTENT[:512])


def test_a_size_that_is_not_known_is_not_told() -> None:
    transfer = TftpTransfer.ask(Terms(), Memory(CONTENT, size_known=False), "log", True)
    assert out(transfer)[0].options == {"blksize": "512"}


def test_an_error_of_the_peer_ends_it_and_a_transfer_may_be_ended() -> None:
    for code, kept in ((1, TftpCode.NOT_FOUND), (9, TftpCode.UNDEFINED)):
        file = Memory()
        transfer = TftpTransfer.ask(Terms(), file, "log", False)
        out(transfer)
        assert after(transfer, Packet(Opcode.ERROR, code, name="")) == []
        assert transfer.error is not None and transfer.error.code is kept
        assert str(transfer.error) == kept.name.lower().replace("_", " ")
    told, silent = (TftpTransfer.ask(Terms(), Memory(), "log", False) for _ in range(2))
    told.abort(TftpError(TftpCode.NO_ACCESS, "no"))
    assert list(told.packets) == [error_packet(2, "no")] and told.over
    silent.replace(TftpError(TftpCode.NO_ACCESS, "no"))
    assert not silent.packets and silent.over and silent.error is not None


# --- pipes


def joined(pipe: Pipe, sizes: int = 8) -> tuple[TftpTransfer, TftpTransfer]:
    """What comes in by one transfer goes out by the other."""
    inward = TftpTransfer.serve(Terms(), pipe.inlet, request(Opcode.WRITE, blksize=sizes))
    return inward, TftpTransfer.ask(Terms(), pipe.outlet, "log", True)


def test_whoever_writes_through_a_pipe_is_answered_when_it_has_arrived() -> None:
    inward, outward = joined(Pipe(through=True))
    assert polled(inward, 1.0) == [], "nobody has accepted it yet"
    out(outward)
    after(outward, Packet(Opcode.OACK, options={"blksize": "12"}))
    assert polled(inward, 2.0) == [Packet(Opcode.OACK, options={"blksize": "8"})]
    assert after(inward, data(1, b"12345678")) == [ack(1)], "the reader needs four bytes more"
    assert polled(outward, 2.0) == [] and after(inward, data(2, b"12345678")) == []
    assert polled(outward, 3.0) == [data(1, b"123456781234")] and polled(inward, 3.0) == []
    assert after(outward, ack(1)) == [] and polled(inward, 4.0) == [ack(2)]
    assert after(inward, data(3, b"")) == [] and polled(outward, 5.0) == [data(2, b"5678")]
    assert polled(inward, 6.0) == [] and not inward.over
    assert after(outward, ack(2)) == [] and polled(inward, 7.0) == [ack(3)] and inward.over


def test_a_pipe_keeps_order_and_tells_the_end() -> None:
    pipe = Pipe(through=True)
    pipe.inlet.write(0, b"12345678", False)
    assert pipe.outlet.read(0, 8) == b"12345678" and not pipe.inlet.kept(8) and pipe.inlet.kept(7)
    assert pipe.outlet.read(8, 8) is None and pipe.inlet.kept(8)
    pipe.inlet.write(8, b"", True)
    assert pipe.outlet.read(8, 8) == b"" and not pipe.inlet.kept(8)
    pipe.outlet.close(None)
    assert pipe.inlet.kept(8)
    local = Pipe(through=False)
    local.inlet.write(0, b"1", True)
    assert local.inlet.kept(1) and local.outlet.ready()


@pytest.mark.parametrize("reader", [False, True])
def test_an_error_comes_out_at_the_other_end(reader: bool) -> None:
    pipe, error = Pipe(through=True), TftpError(TftpCode.NOT_FOUND, "gone")
    (pipe.outlet if reader else pipe.inlet).close(error)
    (pipe.outlet if reader else pipe.inlet).close(TftpError(TftpCode.UNDEFINED, "later"))
    calls = [pipe.inlet.ready, lambda: pipe.inlet.kept(0), lambda: pipe.inlet.write(0, b"", True)]
    for call in [*calls, pipe.outlet.ready, lambda: pipe.outlet.read(0, 1)]:
        with pytest.raises(TftpError, match="gone"):
            call()


def test_a_pipe_holds_so_much_and_has_two_ends() -> None:
    pipe = Pipe(through=False, size=7)
    pipe.inlet.write(0, bytes(HELD_MAX), False)
    with pytest.raises(TftpError, match="16,777,216 bytes wait"):
        pipe.inlet.write(HELD_MAX, b"x", False)
    assert pipe.outlet.size() == 7 and pipe.inlet.size() is None and pipe.outlet.kept(0)
    with pytest.raises(TftpError, match="not to be written"):
        pipe.outlet.write(0, b"", True)
    with pytest.raises(TftpError, match="not to be read"):
        pipe.inlet.read(0, 1)


@pytest.mark.parametrize("block", [1, 3, 100])
def test_text_as_netascii_has_it(block: int) -> None:
    pipe = Pipe(through=False)
    text, made, at = NetasciiOutlet(pipe), b"", 0
    for piece, last in ((b"a\nb", False), (b"\r\n\r", False), (b"", True)):
        pipe.inlet.write(0, piece, last)
        while (got := text.read(at, block)) is not None:
            at, made = at + len(got), made + got
            if len(got) < block:
                break
    assert made == b"a\r\nb\r\0\r\n\r\0" and text.size() is None


@pytest.mark.parametrize("block", [1, 2, 3, 100])
def test_text_that_comes_as_netascii(block: int) -> None:
    pipe = Pipe(through=True)
    text, sent, made = NetasciiInlet(pipe), b"a\r\nb\r\0\r\n\r\0\r\0\n\r", b""
    assert pipe.outlet.read(0, 1) is None
    for at in range(0, len(sent), block):
        piece = sent[at : at + block]
        text.write(at, piece, at + block >= len(sent))
        assert text.kept(at + len(piece)) is (not pipe.held and not pipe.ended)
        while got := pipe.outlet.read(len(made), 1):
            made += got
    assert made == b"a\nb\r\n\r\r\n\r" and not text.kept(len(sent))
    pipe.outlet.close(None)
    assert text.kept(len(sent))


# --- cost


def radio_packets(message: bytes, packet_bytes: int, options: int) -> tuple[int, int, int, int]:
    """Packets and bytes that the link really sends for a message, and its answers'."""
    how = CONFIRMED if link_message(len(message), framing(options, packet_bytes)).answers else 0
    block = KeyBlock(5, options, packet_bytes, 1, bytes(16))
    node = begun(block)
    gateway = begun(KeyBlock(5, options | GATEWAY, packet_bytes, 1, bytes(16)))
    for content, kind in ((b"in step", CONFIRMED), (message, how)):
        assert node.send(content, kind) in (Event.SENT, Event.WAITING)
        sent = [node.on_line(packet) for packet in node.packets()]
        for packet in sent:
            if gateway.receive(packet) is Event.MESSAGE:
                gateway.answer(True)
        answers = [gateway.on_line(packet) for packet in gateway.packets()]
        for packet in answers:
            node.receive(packet)
    return len(sent), sum(map(len, sent)), len(answers), sum(map(len, answers))


@pytest.mark.parametrize("options", [SHORT | LISTENS | STREAM, SHORT | LISTENS, LISTENS | STREAM | TAG_16])
@pytest.mark.parametrize("packet_bytes", [12, 32, 64])
def test_what_a_message_costs_is_what_the_link_sends(packet_bytes: int, options: int) -> None:
    framed = framing(options, packet_bytes)
    block = best_block(framed)
    for length in {4, ack_bytes(framed), 12, 6, 31, packet_bytes - 6, block + 4}:
        cost = link_message(length, framed)
        told = (cost.packets, cost.bytes, cost.answers, cost.answer_bytes)
        assert told == radio_packets(bytes(length), packet_bytes, options), length


@pytest.mark.parametrize(
    ("packet_bytes", "options", "room", "block"),
    [
        (12, 7, None, 119),
        (12, 6, None, 119),
        (12, 7, 100, 92),
        (12, 15, None, 111),
        (64, 3, None, 899),
        (32, 3, 64, 42),
    ],
)
def test_the_block_that_fills_packets(packet_bytes: int, options: int, room: int | None, block: int) -> None:
    assert best_block(framing(options, packet_bytes), room) == block


@pytest.mark.parametrize("length", [0, 1, 511, 512, 20_000])
def test_what_a_bare_transfer_costs_is_what_the_ends_send(length: int) -> None:
    node = Node(room=64)
    node.files["log"] = bytes(length)
    _, transfer, air = fetched(node, "log", Terms(8, 5.0, tell_timeout=True))
    assert transfer.error is None
    cost = bare(length, 8, 12)
    parts = [[-(-len(packet) // 12) for packet in sent] for sent in (air.up, air.down)]
    assert (cost.sender_packets, cost.receiver_packets) == (sum(parts[0]), sum(parts[1]))
    assert (cost.sender_bytes, cost.receiver_bytes) == tuple(
        sum(map(len, sent)) for sent in (air.up, air.down)
    )
    assert cost.blocks == length // 8 + 1


def test_what_20000_bytes_cost() -> None:
    assert bare(20_000, 8, 12) == TransferCost(2501, 2504, 30_038, 2506, 10_048)
    assert over_link(20_000, 8, framing(7, 12)) == TransferCost(2501, 7509, 90_108, 5009, 60_108)
    best = over_link(20_000, 119, framing(7, 12))
    assert best == TransferCost(169, 2530, 30_360, 346, 4152)
    assert best.packets == 2876 and best.bytes == 34_512
