"""Bridges: the frames byte by byte, the core in C and the virtual one, and the computer's end of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge_native import FAULT, NativeBridge, compiled_bridge
from fuzz.cores import CORES
from fuzz.link import CHECKS, run
from motecrypt.base.frames import END, Frames, crc16, decode, encode
from motecrypt.link import bridge as module
from motecrypt.link.bridge import BridgeHello, BridgeLine, PacketSignal, gone, received, took
from motecrypt.simulate.ports.bridge import VirtualBridge

PAGE = Path(__file__).resolve().parents[3] / "docs" / "formats.md"
HELLO = BridgeHello(1, 32, 4, 1000, 0, 1, 0, "nrf24")
PACKET = bytes(range(12))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled_bridge(tmp_path_factory.mktemp("bridge") / "bridge.so")


@pytest.fixture(scope="module")
def resting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that may send for 10 of 1,000."""
    return compiled_bridge(tmp_path_factory.mktemp("bridge") / "bridge.so", "-DBRIDGE_DUTY=10")


# --- the frames


def vectors() -> dict[str, bytes]:
    """The examples of docs/formats.md."""
    section = PAGE.read_text().partition("## The bridge protocol")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|`]+) \| `((?:[0-9a-f]{2} ?)+)` \|$", section, re.MULTILINE)
    return {name: bytes.fromhex(frame) for name, frame in rows}


def test_the_frames_of_the_page(library: Path) -> None:
    told = vectors()
    assert told["who is there"] == encode(1, "H")
    assert told["greeting of an nRF24 that started 258 ms ago"] == encode(
        1, "h", BridgeHello(1, 32, 4, 1000, 0, 1, 258, "nrf24").encode()
    )
    assert told["send 7e 7d 00"] == encode(2, "S", b"\x7e\x7d\x00")
    assert told["taken, leaves immediately"] == encode(2, "s", took(0))
    assert told["it has left at 300 ms, after 5 ms"] == encode(2, "d", gone(300, 5))
    assert told["a packet at 400 ms with -70 dBm and 6.25 dB, after one that was lost"] == encode(
        0, "p", received(400, b"\x01\x02\x03", -70, 25, 1)
    )
    bridge = NativeBridge(library, 258)
    bridge.output()
    bridge.hear(told["who is there"])
    assert bridge.output() == told["greeting of an nRF24 that started 258 ms ago"]
    bridge.at(295)
    bridge.hear(told["send 7e 7d 00"])
    assert bridge.output() == told["taken, leaves immediately"]
    bridge.at(300)
    bridge.poll()
    assert bridge.sent() == [b"\x7e\x7d\x00"]
    assert bridge.output() == told["it has left at 300 ms, after 5 ms"]
    bridge.full = True
    bridge.at(390)
    bridge.came(b"\x09")
    bridge.full = False
    bridge.at(400)
    bridge.came(b"\x01\x02\x03", -70, 25)
    assert bridge.output() == told["a packet at 400 ms with -70 dBm and 6.25 dB, after one that was lost"]


# --- the core in C


def test_it_greets_when_it_starts_and_when_it_is_asked(library: Path) -> None:
    bridge = NativeBridge(library, 7)
    assert bridge.frames() == [(0, "h", BridgeHello(1, 32, 4, 1000, 0, 1, 7, "nrf24").encode())]
    bridge.hear(encode(9, "H"))
    assert [frame[:2] for frame in bridge.frames()] == [(9, "h")]


def test_packets_leave_in_order_and_one_too_many_is_refused(library: Path) -> None:
    bridge = NativeBridge(library)
    bridge.output()
    for number in range(5):
        bridge.hear(encode(number + 1, "S", bytes([number])))
    assert [(frame[0], frame[2][0]) for frame in bridge.frames()] == [(1, 0), (2, 0), (3, 0), (4, 0), (5, 1)]
    for _ in range(3):
        bridge.poll()
    bridge.hear(encode(6, "S", b"\x06"))
    for _ in range(4):
        bridge.poll()
    assert bridge.sent() == [b"\x00", b"\x01", b"\x02", b"\x03", b"\x06"]
    assert [frame[:2] for frame in bridge.frames() if frame[1] == "d"] == [(n, "d") for n in (1, 2, 3, 4, 6)]


@pytest.mark.parametrize(("length", "status"), [(0, 2), (1, 0), (32, 0)])
def test_lengths_that_the_radio_does_not_have_are_refused(length: int, status: int, library: Path) -> None:
    bridge = NativeBridge(library)
    bridge.output()
    bridge.hear(encode(3, "S", bytes(length)))
    assert bridge.frames() == [(3, "s", took(status))]


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (encode(5, "S", PACKET, version=2), (0, 2)),
        (encode(5, "Z"), (5, 3)),
        (encode(5, "S", bytes(33)), (0, 4)),
        (encode(5, "S", bytes(255)), (0, 4)),
        (encode(5, "S", PACKET).replace(b"S", b"T"), (0, 1)),
        (b"\x7e\x01\x02\x7e", (0, 1)),
        (b"\x7e\x01\x7d\x7e", (0, 1)),
    ],
)
def test_what_is_wrong_is_answered_and_the_next_is_taken(
    frame: bytes, code: tuple[int, int], library: Path
) -> None:
    bridge = NativeBridge(library)
    bridge.output()
    bridge.hear(frame + encode(6, "S", PACKET))
    assert bridge.frames() == [(code[0], "e", bytes([code[1]])), (6, "s", took(0))]


def test_a_frame_that_is_too_short_is_none_whatever_its_checksum(library: Path) -> None:
    """With a suitable number the checksum's first byte is a request."""
    bridge = NativeBridge(library)
    bridge.output()
    for sequence in range(256):
        body = bytes([1, sequence])
        body += crc16(body).to_bytes(2, "big")
        for byte in (0x7D, 0x7E):
            body = body.replace(bytes([byte]), bytes([0x7D, byte ^ 0x20]))
        bridge.hear(b"\x7e" + body + b"\x7e")
        assert bridge.frames() == [(0, "e", b"\x01")], sequence


def test_hostile_bytes_break_nothing(tmp_path: Path) -> None:
    assert run(CORES["bridge"].build(tmp_path / "program", *CHECKS), 20_000, 1) is None


def test_the_hostile_bytes_reach_nearly_every_line_and_branch(tmp_path: Path) -> None:
    lines, branches = CORES["bridge"].coverage(tmp_path, 20_000)
    assert lines >= 98 and branches >= 94, (lines, branches)


def test_a_radio_that_may_not_always_send_rests(resting: Path) -> None:
    bridge = NativeBridge(resting)
    assert bridge.frames()[0][2][3:5] == (10).to_bytes(2, "little")
    bridge.air_ms = 41
    bridge.at(1000)
    bridge.hear(encode(1, "S", PACKET) + encode(2, "S", PACKET))
    bridge.poll()  # until 1041, and then it rests for 99 times 41 ms
    assert bridge.frames()[-1] == (1, "d", (1041).to_bytes(4, "little") + bytes(2))
    assert bridge.sent() == [PACKET]
    for at_ms, sent in ((1042, 0), (1041 + 41 * 99 - 1, 0), (1041 + 41 * 99, 1)):
        bridge.at(at_ms)
        bridge.poll()
        assert len(bridge.sent()) == sent
    bridge.hear(encode(3, "S", PACKET))
    assert bridge.frames()[-1] == (3, "s", took(0, 41 * 99))


def test_the_rest_ends_where_the_clock_wraps_around(resting: Path) -> None:
    bridge = NativeBridge(resting, 0xFFFF_FF00)
    bridge.air_ms = 10
    bridge.at(0xFFFF_FF00)
    bridge.hear(encode(1, "S", PACKET) + encode(2, "S", PACKET))
    bridge.poll()
    for at_ms, sent in ((0xFFFF_FF0A, 1), ((0xFFFF_FF0A + 989) & 0xFFFFFFFF, 0), (0x2E8, 1)):
        bridge.at(at_ms)
        bridge.poll()
        assert len(bridge.sent()) == sent, hex(at_ms)


def test_a_radio_that_does_not_send_is_told(library: Path) -> None:
    bridge = NativeBridge(library)
    bridge.output()
    bridge.air_ms = FAULT
    bridge.at(5)
    bridge.hear(encode(1, "S", PACKET))
    bridge.poll()
    assert bridge.frames() == [(1, "s", took(0)), (1, "s", took(3))]


def test_packets_that_the_line_does_not_take_are_counted(library: Path) -> None:
    bridge = NativeBridge(library)
    bridge.output()
    bridge.full = True
    bridge.at(5)
    for _ in range(300):
        bridge.came(PACKET)
    bridge.full = False
    bridge.at(6)
    bridge.came(PACKET)
    bridge.came(PACKET)
    assert [frame[2][6] for frame in bridge.frames()] == [255, 0]


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (encode(5, "S", PACKET, version=2), (0, "e", b"\x02")),
        (encode(5, "S", PACKET).replace(b"S", b"T"), (0, "e", b"\x01")),
        (bytes(module.FRAME_MAX + 1), (0, "e", b"\x04")),
        (encode(5, "Z"), (5, "e", b"\x03")),
    ],
)
def test_the_virtual_one_names_what_is_wrong(data: bytes, answer: tuple[int, str, bytes]) -> None:
    virtual = VirtualBridge("nrf24", 1, 32)
    assert [*virtual.heard(data, 0.0)] == []
    assert [decode(body) for body in Frames().feed(virtual.take_output())] == [answer]
    assert [*virtual.heard(b"\x7e" + encode(6, "S", PACKET), 0.0)] == [PACKET]


def test_the_virtual_one_holds_as_many_packets_as_the_core_and_of_the_same_lengths() -> None:
    virtual = VirtualBridge("nrf24", 2, 32)
    lengths = (1, 2, 32, 33, 0, 5, 6, 7)
    sent = [*virtual.heard(b"".join(encode(n + 1, "S", bytes(n)) for n in lengths), 0.0)]
    assert [len(packet) for packet in sent] == [2, 32, 5, 6]
    told = [decode(body) for body in Frames().feed(virtual.take_output())]
    statuses = (2, 0, 0, 2, 2, 0, 0, 1)
    assert told == [(n + 1, "s", took(status)) for n, status in zip(lengths, statuses, strict=True)]


def test_the_virtual_one_has_times_in_ms() -> None:
    virtual = VirtualBridge("nrf24", 1, 32)
    virtual.came(PACKET, 5_000_999.0)
    assert [*virtual.heard(encode(1, "S", PACKET) + encode(2, "H"), 6_000_000.0)] == [PACKET]
    virtual.left(7_000_999.0)
    virtual.left(7_000_999.0)
    told = [decode(body) for body in Frames().feed(virtual.take_output())]
    assert told == [
        (0, "p", received(5_000, PACKET)),
        (1, "s", took(0)),
        (2, "h", BridgeHello(1, 32, 4, 1000, 0, 1, 6_000, "nrf24").encode()),
        (1, "d", gone(7_000)),
    ]


def test_the_virtual_one_lives_longer_than_its_clock() -> None:
    virtual = VirtualBridge("nrf24", 1, 32)
    later_us = 1000.0 * (1 << 32) + 5000
    assert [*virtual.heard(encode(1, "S", PACKET) + encode(2, "H"), later_us)] == [PACKET]
    virtual.left(later_us)
    virtual.came(PACKET, later_us)
    told = [decode(body) for body in Frames().feed(virtual.take_output())]
    assert told[2:] == [(1, "d", gone(5)), (0, "p", received(5, PACKET))]
    assert BridgeHello.decode(told[1][2]).running_ms == 5
    assert gone(1, 70_000) == gone(1, 65_535)


def test_both_ends_have_the_same_numbers(library: Path) -> None:
    bridge = NativeBridge(library)
    assert bridge.numbers() == (module.UNKNOWN, FAULT)
    assert (module.UNKNOWN, module.GREETING_S, module.GONE_S) == (127, 3.0, 10.0)
    assert received(5, b"") == bytes([5, 0, 0, 0, 127, 127, 0])


@given(
    parts=st.lists(
        st.one_of(
            st.binary(max_size=40),
            st.builds(encode, st.integers(1, 255), st.just("S"), st.binary(max_size=40)),
            st.builds(encode, st.integers(0, 255), st.sampled_from("HSZh"), st.binary(max_size=3)),
        ),
        max_size=12,
    )
)
def test_the_virtual_one_answers_as_the_core(parts: list[bytes], library: Path) -> None:
    """Whatever comes: both answer frames in the same way; for too long ones the error may differ."""
    native, virtual = NativeBridge(library), VirtualBridge("nrf24", 1, 32)
    native.output()
    for part in parts:
        native.hear(part)
        told = [*virtual.heard(part, 0.0)]
        ours, theirs = native.frames(), [decode(body) for body in Frames().feed(virtual.take_output())]

        def plain(frames: list[tuple[int, str, bytes]]) -> list[tuple[int, str, bytes]]:
            return [frame for frame in frames if frame[1] != "e" and frame[2][:1] != b"\x02"]

        assert plain(ours) == plain(theirs)
        for _ in told:
            native.poll()
            virtual.left(0.0)
        assert native.sent() == told
        assert native.frames() == [decode(body) for body in Frames().feed(virtual.take_output())]


# --- the computer's end


class Line:
    """A computer's end with a clock of its own."""

    def __init__(self, packet_bytes: int = 32, radio: str = "nrf24") -> None:
        self.now_s = 100.0
        self.told: list[str] = []
        self.end = BridgeLine(packet_bytes, radio, self.told.append, lambda: self.now_s)

    def hear(self, *frames: bytes) -> list[bytes]:
        return [*self.end.packets(b"".join(frames), 0)]

    def greeted(self, hello: BridgeHello = HELLO) -> None:
        self.hear(encode(0, "h", hello.encode()))


def test_it_asks_who_is_there() -> None:
    line = Line()
    assert line.end.opened() == b"%c" % END + encode(1, "H")
    assert not line.end.ready
    line.greeted()
    assert line.end.ready and line.end.hello == HELLO and line.told == []


def test_a_radio_may_have_no_name() -> None:
    assert BridgeHello.decode(HELLO.encode()[:11]).radio == ""


def test_packets_come_out_of_frames_with_their_signal() -> None:
    line = Line()
    frame = encode(0, "p", received(5, PACKET, -70, 25, 2))
    assert line.hear(frame[:7]) == []
    assert line.hear(frame[7:], encode(0, "p", received(6, b"")), frame) == [PACKET, b"", PACKET]
    assert line.end.signal == PacketSignal(5, -70, 6.25) and line.end.lost == 4
    line.hear(encode(0, "p", received(5, PACKET)))
    assert line.end.signal == PacketSignal(5, None, None)


def test_no_more_packets_go_to_a_bridge_than_it_holds() -> None:
    line = Line()
    assert line.end.room and line.end.framed(PACKET) == encode(1, "S", PACKET)
    assert not line.end.room, "nothing is known of it yet"
    line.greeted()
    for sequence in range(2, 6):
        assert line.end.room and line.end.framed(PACKET) == encode(sequence, "S", PACKET)
    assert not line.end.room and line.end.busy
    line.hear(encode(2, "s", took(0)), encode(3, "d", bytes(6)))
    assert line.end.room and line.end.refused == 0
    line.hear(encode(2, "s", took(1)), encode(2, "s", took(1)), encode(99, "s", took(3)))
    assert line.end.refused == 1
    line.hear(encode(4, "d", bytes(6)), encode(5, "d", bytes(6)))
    assert not line.end.busy


def test_a_packet_of_which_nothing_is_heard_gives_its_place_free_in_time() -> None:
    line = Line()
    line.greeted(BridgeHello(1, 32, 1, 10, 0, 1, 0, "nrf24"))
    line.end.framed(PACKET)
    line.now_s += module.GONE_S - 0.1
    assert not line.end.room
    line.hear(encode(1, "s", took(0, 60_000)))
    line.now_s += 60 + module.GONE_S - 0.1
    assert line.end.busy and not line.end.room
    line.now_s += 0.1
    assert not line.end.busy and line.end.room


def test_a_bridge_that_starts_again_holds_nothing() -> None:
    line = Line()
    line.greeted()
    line.end.framed(PACKET)
    line.greeted()
    assert not line.end.busy
    line.end.framed(PACKET)
    assert line.end.opened() and not line.end.busy


def test_numbers_of_requests_go_around_without_the_0() -> None:
    line = Line()
    numbers = [decode(Frames().feed(line.end.framed(b"x"))[0])[0] for _ in range(256)]
    assert numbers == [*range(1, 256), 1]


@pytest.mark.parametrize(
    ("hello", "said"),
    [
        (BridgeHello(1, 32, 4, 1000, 0, 1, 0, "lora"), ["the bridge has the radio lora, not nrf24"]),
        (
            BridgeHello(1, 31, 4, 1000, 0, 1, 0, "nrf24"),
            ["the bridge takes packets of 1 to 31 bytes; those of the nodes have up to 32"],
        ),
        (BridgeHello(32, 32, 4, 1000, 0, 1, 0, "nrf24"), []),
        (
            BridgeHello(33, 40, 4, 1000, 0, 1, 0, "nrf24"),
            ["the bridge takes packets of 33 to 40 bytes; those of the nodes have up to 32"],
        ),
        (HELLO, []),
    ],
)
def test_what_does_not_fit_is_said_once(hello: BridgeHello, said: list[str]) -> None:
    line = Line()
    line.greeted(hello)
    line.greeted(BridgeHello(**{**vars(hello), "running_ms": 999}))
    assert line.told == said


@pytest.mark.parametrize("other", ["lora", "zigbee"])
def test_another_bridge_at_the_port_is_noticed(other: str) -> None:
    line = Line()
    for name in ("nrf24", other, other, "nrf24", other):
        line.greeted(BridgeHello(1, 32, 4, 1000, 0, 1, 0, name))
    assert line.told == [f"the bridge has the radio {other}, not nrf24"] * 2


@pytest.mark.parametrize("kind", "aciqtz")
def test_what_a_later_bridge_may_say_is_not_understood_and_does_no_harm(kind: str) -> None:
    line = Line()
    line.greeted()
    line.end.framed(PACKET)
    assert line.hear(encode(1, kind, took(1)), encode(1, kind, HELLO.encode())) == []
    assert line.end.busy and line.end.refused == 0 and line.told == [] and line.end.skipped_bytes == 0


def test_a_port_where_nobody_greets_is_reported_once() -> None:
    line = Line()
    line.end.watch()
    line.end.opened()
    line.now_s += module.GREETING_S
    line.end.watch()
    assert line.told == []
    line.now_s += 0.1
    line.end.watch()
    line.end.watch()
    assert line.told == [module.NOBODY]
    line.end.opened()
    line.greeted()
    line.now_s += 100
    line.end.watch()
    assert len(line.told) == 1


def test_a_radio_that_does_not_answer_is_reported_until_it_does() -> None:
    line = Line()
    fault = encode(0, "e", b"\x05")
    line.hear(*(encode(0, "e", payload) for payload in (b"\x01", b"\x06", b"\x05\x01", b"")))
    assert line.told == []
    line.hear(fault, fault)
    assert line.told == ["the bridge's radio does not answer; check its supply and its wiring"]
    line.hear(encode(1, "d", bytes(6)), fault)
    assert len(line.told) == 2


def test_another_version_is_named() -> None:
    line = Line()
    line.hear(encode(0, "h", HELLO.encode(), version=2))
    assert line.told == ["bridge: protocol version 2, not 1: flash this motecrypt's firmware"]
    assert not line.end.ready


@pytest.mark.parametrize(
    "frame",
    [
        b"\x00\xff\x7e",
        encode(0, "h", HELLO.encode()[:10]),
        encode(0, "h", bytes(11) + b"nrf24"),
        encode(0, "h", BridgeHello(5, 4, 4, 1000, 0, 1, 0, "nrf24").encode()),
        encode(0, "h", BridgeHello(1, 32, 0, 1000, 0, 1, 0, "nrf24").encode()),
        encode(0, "h", BridgeHello(1, 32, 4, 1001, 0, 1, 0, "nrf24").encode()),
        encode(0, "p", bytes(6)),
        encode(1, "s", bytes(4)),
        bytes(1000),
    ],
)
def test_what_is_no_frame_is_counted_and_skipped(frame: bytes) -> None:
    line = Line()
    assert line.hear(frame) == []
    assert line.end.skipped_bytes > 0 and not line.end.ready
    assert line.hear(b"\x7e", encode(0, "p", received(5, PACKET))) == [PACKET]


@given(data=st.lists(st.binary(max_size=80), max_size=20))
def test_whatever_comes_nothing_breaks(data: list[bytes]) -> None:
    line = Line()
    for part in data:
        line.hear(part)
    assert line.hear(b"\x7e", encode(0, "p", received(5, PACKET)))[-1:] == [PACKET]
