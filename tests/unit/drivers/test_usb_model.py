"""The USB controller of RP2040 and its host: the test is the device, and answers as firmware does, or not."""

from __future__ import annotations

from pathlib import Path

import pytest
from natively import ask, compiled

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")

# Registers (RP2040 datasheet, 4.1.4), and their aliases that set and clear bits.
MAIN, SIE_CONTROL, STATUS, BUFFERS, WHICH, INTR, INTE, SOF = 0x40, 0x4C, 0x50, 0x58, 0x5C, 0x8C, 0x90, 0x48
SET, CLEAR = 0x2000, 0x3000
PULL_UP, VBUS, CONNECTED, SETUP, RESET = 1 << 16, 1, 1 << 16, 1 << 17, 1 << 19
LAST, FULL, SECOND, STALL, AVAILABLE = 1 << 14, 1 << 15, 1 << 12, 1 << 11, 1 << 10
ENABLED, DOUBLE = 1 << 31, 1 << 30
NEVER, STEP, ATTACHES, RESETS = 2**64 - 1, 50, 100_000, 110_000
IN0, OUT0 = 0x80, 0x84
DEVICE = bytes([18, 1, 0, 2, 2, 0, 0, 64, 0x8A, 0x2E, 10, 0, 0, 1, 1, 2, 3, 1])


def configuration(data_class: int = 10, value: int = 1) -> bytes:
    """A serial port: interface 0 controls, interface 1 has the endpoints 3 (in) and 2 (out)."""
    body = bytes([9, 4, 0, 0, 1, 2, 2, 0, 0, 5, 0x24, 0, 0x20, 1, 7, 5, 0x81, 3, 8, 0, 16])
    body += bytes([9, 4, 1, 0, 2, data_class, 0, 0, 0, 7, 5, 2, 2, 64, 0, 0, 7, 5, 0x83, 2, 64, 0, 0])
    return bytes([9, 2, 9 + len(body), 0, 2, value, 0, 0x80, 50]) + body


class Device:
    """What the device does, and what must come of it; all of it happens in `done`."""

    def __init__(self, program: Path, time: int = 0) -> None:
        self._program, self.time, self._lines, self._expected = program, time, [("reset",)], [None]
        self.put(MAIN, 1).put(SIE_CONTROL + SET, PULL_UP)

    def do(self, *line: object, then: int | None = None) -> Device:
        self._lines.append(line)
        self._expected.append(then)
        return self

    def put(self, offset: int, value: int) -> Device:
        return self.do("put", offset, value, self.time)

    def reads(self, offset: int, value: int) -> Device:
        return self.do("get", offset, then=value)

    def at(self, time: int, following: int | None = None) -> Device:
        self.time = time
        return self.do("at", time, then=following)

    def step(self) -> Device:
        return self.at(self.time + STEP)

    def store(self, at: int, data: bytes) -> Device:
        for first in range(0, len(data), 8):
            piece = data[first : first + 8]
            self.do("store", at + first, len(piece), *piece)
        return self

    def holds(self, at: int, data: bytes) -> Device:
        return self.do("load", at, len(data), then=int.from_bytes(data, "little"))

    def attached(self) -> Device:
        """Through the reset of the bus."""
        self.at(self.time + ATTACHES).put(STATUS, RESET)
        return self.at(self.time + RESETS - ATTACHES)

    def asked(self, *packet: int) -> Device:
        """The next packet of a request is this one."""
        return self.step().reads(STATUS, VBUS | CONNECTED | SETUP).holds(0, bytes(packet)).put(STATUS, SETUP)

    def answers(self, data: bytes) -> Device:
        """The data stage, in packets of 64 bytes, and the empty packet of the host."""
        for first in range(0, len(data), 64):
            piece = data[first : first + 64]
            self.store(0x100, piece).arm(IN0, FULL | len(piece))
            self.step().reads(BUFFERS, 1).put(BUFFERS, 1)
        return self.arm(OUT0, 64).step().reads(BUFFERS, 2).put(BUFFERS, 2)

    def acknowledges(self) -> Device:
        self.arm(IN0, FULL).step().reads(BUFFERS, 1).holds(IN0, bytes(2))
        return self.put(BUFFERS + CLEAR, 1).reads(BUFFERS, 0)

    def arm(self, control: int, value: int) -> Device:
        return self.store(control, (value | AVAILABLE).to_bytes(2, "little"))

    def enumerated(self, whole: bytes | None = None) -> Device:
        """Up to the host's choice of the configuration."""
        whole = whole or configuration()
        self.attached().asked(0x80, 6, 0, 1, 0, 0, 18, 0).answers(DEVICE)
        self.asked(0, 5, 1, 0, 0, 0, 0, 0).acknowledges()
        self.asked(0x80, 6, 0, 2, 0, 0, 9, 0).answers(whole[:9])
        self.asked(0x80, 6, 0, 2, 0, 0, len(whole), 0).answers(whole)
        return self.asked(0, 9, whole[5], 0, 0, 0, 0, 0).acknowledges()

    def opened(self) -> Device:
        """The host has set its speed and DTR."""
        self.enumerated().asked(0x21, 0x20, 0, 0, 0, 0, 7, 0).arm(OUT0, 64).step()
        self.holds(0x100, bytes([0, 0xC2, 1, 0, 0, 0, 8])).reads(BUFFERS, 2).put(BUFFERS, 2).acknowledges()
        return self.asked(0x21, 0x22, 3, 0, 0, 0, 0, 0).acknowledges()

    def says(self, text: bytes, after: bytes = b"") -> Device:
        """All that has come to the host."""
        for number, byte in enumerate(after + text):
            self.do("said", number, then=byte)
        return self.do("said", len(after + text), then=256)

    def done(self) -> None:
        answers = ask(self._program, lines=self._lines)
        told = zip(self._lines, self._expected, answers, strict=True)
        wrong = [row for row in told if row[1] is not None and row[1] != row[2]]
        assert not wrong, wrong[:5]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("usb_harness.c", tmp_path_factory.mktemp("usb"))


def endpoint(number: int, into: bool, flags: int = 0, at: int = 0x180) -> tuple[int, bytes]:
    return 8 * number + (0 if into else 4), (ENABLED | flags | at).to_bytes(4, "little")


def test_the_bus_is_reset_a_while_after_the_pull_up(program: Path) -> None:
    device = Device(program, 1000).put(INTE, 1 << 12).at(1000, 1000 + ATTACHES)
    device.at(1000 + ATTACHES - 1).reads(STATUS, VBUS).do("interrupts", then=0)
    device.at(1000 + ATTACHES, 1000 + RESETS).reads(STATUS, VBUS | CONNECTED | RESET)
    device.do("interrupts", then=1 << 12).put(STATUS + CLEAR, RESET).do("interrupts", then=0)
    device.at(1000 + RESETS).reads(STATUS, VBUS | CONNECTED).done()


@pytest.mark.parametrize("missing", [(MAIN, 0), (SIE_CONTROL, 0)])
def test_without_pull_up_or_controller_there_is_no_host(program: Path, missing: tuple[int, int]) -> None:
    device = Device(program).put(*missing).put(SIE_CONTROL, PULL_UP if missing[0] == MAIN else 0)
    device.at(10**7, NEVER).reads(STATUS, VBUS).done()


def test_a_serial_port_is_opened_and_read(program: Path) -> None:
    device = Device(program).opened()
    device.store(*endpoint(3, True)).store(0x180, b"hello").arm(0x80 + 24, FULL | 5).at(device.time + 1000)
    device.reads(BUFFERS, 1 << 6).holds(0x80 + 24, bytes([5, 0])).says(b"hello")
    device.store(0x180, b"again").arm(0x80 + 24, FULL | 5).at(device.time + 1000).says(
        b"hello"
    )  # not cleared
    device.put(BUFFERS, 1 << 6).at(device.time + 1000).says(b"again", b"hello").done()


def test_two_buffers_take_turns(program: Path) -> None:
    device = Device(program).opened().store(*endpoint(3, True, DOUBLE))
    device.store(0x180, b"one").store(0x1C0, b"two").arm(0x80 + 24, FULL | 3).arm(0x80 + 26, FULL | 3)
    device.at(device.time + 1000).reads(WHICH, 0).says(b"one").put(BUFFERS, 1 << 6)
    device.at(device.time + 1000).reads(WHICH, 1 << 6).says(b"onetwo").put(BUFFERS, 1 << 6)
    device.store(0x180, b"3").arm(0x80 + 24, FULL | 1).at(device.time + 1000).says(b"onetwo3").done()


def test_what_the_host_types_comes_when_the_device_can_take_it(program: Path) -> None:
    device = Device(program).opened().do("type", 0x41).do("type", 0x42).store(*endpoint(2, False, at=0x200))
    device.at(device.time + 5000).reads(BUFFERS, 0).arm(0x80 + 20, 64).at(device.time + 1000)
    device.reads(BUFFERS, 1 << 5).holds(0x200, b"AB").holds(0x80 + 20, bytes([2, FULL >> 8])).done()


def test_data_before_the_port_is_open_waits(program: Path) -> None:
    device = Device(program).store(*endpoint(3, True)).store(0x180, b"early").arm(0x80 + 24, FULL | 5)
    device.opened().says(b"").at(device.time + 1000).says(b"early").done()


def test_a_device_that_does_not_answer_is_waited_for(program: Path) -> None:
    device = Device(program).attached().asked(0x80, 6, 0, 1, 0, 0, 18, 0)
    device.at(device.time + 10**6).reads(BUFFERS, 0).reads(STATUS, VBUS | CONNECTED).answers(DEVICE)
    device.asked(0, 5, 1, 0, 0, 0, 0, 0).done()


def test_a_request_that_is_refused_is_not_repeated(program: Path) -> None:
    device = Device(program).attached().asked(0x80, 6, 0, 1, 0, 0, 18, 0).arm(IN0, STALL).step()
    device.reads(BUFFERS, 0).store(IN0, bytes(2)).asked(0, 5, 1, 0, 0, 0, 0, 0).done()


def test_a_device_that_is_no_serial_port_is_left_alone(program: Path) -> None:
    device = Device(program).enumerated(configuration(data_class=3)).store(*endpoint(3, True))
    device.store(0x180, b"x").arm(0x80 + 24, FULL | 1).at(device.time + 10**6)
    device.reads(STATUS, VBUS | CONNECTED).reads(BUFFERS, 0).says(b"").done()


def test_a_configuration_is_chosen_by_its_own_number(program: Path) -> None:
    Device(program).enumerated(configuration(value=7)).done()


@pytest.mark.parametrize(
    "broken", [bytes([9, 2, 20, 0, 1, 1, 0, 0x80, 50, 0, 0]), configuration()[:9] + b"\xff" * 40]
)
def test_a_descriptor_of_nonsense_ends_the_search(program: Path, broken: bytes) -> None:
    whole = broken[:2] + bytes([len(broken), 0]) + broken[4:]
    Device(program).enumerated(whole).at(10**7).says(b"").done()


def test_a_buffer_outside_the_memory_or_a_disabled_endpoint_sends_nothing(program: Path) -> None:
    device = Device(program).opened().arm(0x80 + 24, FULL | 5).at(device_time := 10**6).says(b"")
    device.store(*endpoint(3, True, at=0xFC0)).store(0xFC0, b"edge").arm(0x80 + 24, FULL | 4)
    device.at(device_time + 1000).says(b"edge").put(BUFFERS, 1 << 6)
    device.store(24, (ENABLED | 0x1000).to_bytes(4, "little")).arm(0x80 + 24, FULL | 4).at(device_time + 3000)
    device.says(b"edge").done()


def test_unplugged_and_plugged_in_again(program: Path) -> None:
    device = Device(program).opened().put(SIE_CONTROL + CLEAR, PULL_UP).at(device_time := 10**6, NEVER)
    device.put(SIE_CONTROL + SET, PULL_UP).at(device_time, device_time + ATTACHES)
    device.opened().store(*endpoint(3, True)).store(0x180, b"b").arm(0x80 + 24, FULL | 1)
    device.at(device.time + 1000).says(b"b").done()


def test_another_device_in_its_place_has_none_of_its_endpoints(program: Path) -> None:
    device = Device(program).opened().put(SIE_CONTROL + CLEAR, PULL_UP).at(device_time := 10**6, NEVER)
    device.put(SIE_CONTROL + SET, PULL_UP).at(device_time, device_time + ATTACHES)
    device.enumerated(configuration(data_class=3)).store(*endpoint(3, True)).store(0x180, b"x")
    device.arm(0x80 + 24, FULL | 1).at(device.time + 10**6)
    device.reads(STATUS, VBUS | CONNECTED).reads(BUFFERS, 0).says(b"").done()


def test_frames_are_counted_once_the_bus_is_in_use(program: Path) -> None:
    device = Device(program).opened().put(INTE, 1 << 17).reads(SOF, RESETS // 1000).do("interrupts", then=0)
    device.at(5_000_000).do("interrupts", then=1 << 17).reads(SOF, 5000 & 0x7FF).do(
        "interrupts", then=0
    ).done()
