"""A board's greeting, requests and flashing against a pretended port and a pretended clock."""

from __future__ import annotations

import errno
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.base.errors import FailureKind
from motecrypt.base.frames import encode
from motecrypt.base.process import Outcome
from motecrypt.catalog import Catalog
from motecrypt.simulate.emulate.images import Segment
from motecrypt.simulate.runners import board
from motecrypt.simulate.runners.board import BoardError, BoardSession
from motecrypt.simulate.runners.session import Region

UNO = Catalog.load().device("uno")
HELLO = encode(0, "h", b"hello")


class World:
    """A clock that continues while something is waited for, and a port where bytes come at their times."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.coming: list[tuple[float, bytes]] = []
        self.written: list[tuple[float, bytes]] = []
        self.opened: list[Any] = []
        self.closed = 0
        self.takes = 1 << 20
        self.slept: list[float] = []
        self.looks = 0
        clock = SimpleNamespace(monotonic=self._look, sleep=self._sleep)
        monkeypatch.setattr(board, "time", clock)
        monkeypatch.setattr(board, "select", SimpleNamespace(select=self._select))
        monkeypatch.setattr(board, "SerialPort", self._open)

    def _open(self, port: str, baud: int) -> World:
        self.opened.append((port, baud))
        return self

    def _look(self) -> float:
        self.looks += 1
        assert self.looks < 10_000, "waits for ever"
        return self.now

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def _select(self, read: list[int], write: list[int], bad: list[int], left: float) -> Any:
        if write:
            self._sleep(left)
            return [], [], []
        assert read == [7] and left >= 0
        if self.coming and self.coming[0][0] <= self.now + left:
            self.now = max(self.now, self.coming[0][0])
            return read, [], []
        self.now += left
        return [], [], []

    def fileno(self) -> int:
        return 7

    def read(self) -> bytes:
        return self.coming.pop(0)[1]

    def write(self, data: bytes) -> int:
        self.written.append((self.now - 1000, data[: self.takes]))
        return min(self.takes, len(data))

    def close(self) -> None:
        self.closed += 1

    def comes(self, *timed: tuple[float, bytes]) -> None:
        self.coming += [(1000 + at, data) for at, data in timed]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def test_a_greeting_begins_a_session_and_what_else_comes_goes_by(world: World) -> None:
    world.comes((1.5, b"boot\x7e"), (1.6, HELLO), (1.69, HELLO), (1.75, b"x"), (2.5, b"later"))
    session = BoardSession("/dev/p")
    assert world.opened == [("/dev/p", 115200)] and not world.written and not world.closed
    assert world.now == pytest.approx(1001.85)  # a tenth of a second of quiet
    assert session.read(0.0) == HELLO
    assert session.read(1003.0) == b"later" and session.read(1003.0) == b""
    assert not session.cycles_exact and not session.holds_input and session.restart() is False
    with session:
        pass
    assert world.closed == 1


@pytest.mark.parametrize(
    "before",
    [
        HELLO[:3] + bytes([HELLO[3] ^ 1]) + HELLO[4:],  # damaged
        encode(0, "k") + encode(0, "a"),
        b"\0" * (1 << 21) + b"\0\x7e",  # a frame without an end
    ],
)
def test_what_comes_before_a_greeting_is_passed_over(before: bytes, world: World) -> None:
    world.comes((0.1, before + HELLO), (0.12, HELLO))
    assert BoardSession("/dev/p").read(0.0) == HELLO and not world.written


def test_a_board_that_never_stops_talking_is_begun_with_all_the_same(world: World) -> None:
    world.comes((0.5, HELLO), *((0.5 + n / 20, b"x") for n in range(1, 200)))
    BoardSession("/dev/p")
    assert world.now == pytest.approx(1002.5, abs=0.1)  # after two seconds


def test_a_greeting_is_asked_for_every_two_seconds_for_eight(world: World) -> None:
    with pytest.raises(
        BoardError, match=r"^/dev/p: nothing answers within 8 s; is this the board's port, and is"
    ):
        BoardSession("/dev/p")
    assert [data for _, data in world.written] == [b"\x7e" + encode(n, "H") for n in (1, 2, 3)]
    assert [round(at, 1) for at, _ in world.written] == [2.0, 4.0, 6.0] and world.closed == 1
    assert world.now == pytest.approx(1008.0, abs=0.06)
    with pytest.raises(BoardError, match=r"nothing answers within 0\.3 s"):
        BoardSession("/dev/p", 0.3)


DAMAGED = HELLO[:3] + bytes([HELLO[3] ^ 1]) + HELLO[4:]


@pytest.mark.parametrize(
    ("heard", "said"),
    [
        (HELLO[:6], r"only half a frame arrived \(6 bytes\); check the cable"),
        (b"\x7e\x01\x00\x7e", r"only half a frame arrived \(4 bytes\)"),
        *(
            (noise, "frames arrive damaged; check the cable, and that the board runs at its usual clock")
            for noise in (DAMAGED, b"ab\x7e" + DAMAGED, DAMAGED + b"ab\x7e", DAMAGED + b"\0b\x7e")
        ),
        (
            b"hello there, sketch",
            r"19 bytes that are not a frame of protocol 1 \(68 65 6c 6c 6f 20 74 68 65 72 65 2c\.\.\.\)",
        ),
        (encode(0, "h", b"", version=2), "version 2"),
    ],
)  # fmt: skip
def test_who_answers_but_does_not_greet_is_told(heard: bytes, said: str, world: World) -> None:
    world.comes((0.1, heard))
    with pytest.raises(BoardError, match=f"^/dev/p: .*{said}"):
        BoardSession("/dev/p", 1.0)
    assert world.closed == 1


def _greeted(world: World) -> BoardSession:
    world.comes((0.1, HELLO))
    session = BoardSession("/dev/p")
    session.read(0.0)
    world.now = 1000.0
    return session


def test_a_request_is_sent_whole_or_not_within_ten_seconds(world: World) -> None:
    session = _greeted(world)
    world.takes = 2
    session.write(b"abcde")
    assert b"".join(data for _, data in world.written) == b"abcde"
    assert [round(at, 1) for at, _ in world.written] == [0.0, 0.1, 0.2] and world.slept == [0.1, 0.1]
    world.takes = 0
    with pytest.raises(BoardError, match=r"^/dev/p: takes no more bytes; unplug it and plug it in again$"):
        session.write(b"f")
    assert world.now == pytest.approx(1010.2, abs=0.11)


def test_cycles_and_stack_come_with_each_answer(world: World) -> None:
    session = _greeted(world)
    answer = struct.pack("<BII", 0, 70_000, 99)
    frames = [
        encode(1, "r", answer),
        encode(2, "k", answer),
        encode(3, "r", answer + b"out"),
        encode(4, "r", b"1" * 8),
    ]
    damaged = bytearray(encode(5, "r", answer))
    damaged[5] ^= 1
    frames.insert(1, bytes(damaged))
    damaged.clear()
    world.comes((0.5, b"".join(frames) + bytes(damaged)))
    assert session.read(1001.0) == b"".join(frames) + bytes(damaged)
    assert session.regions() == [Region(70_000, 99), Region(70_000, 99)] and session.regions() == []


# --- flashing ----------------------------------------------------------------------------------------------


def test_a_firmware_is_flashed_once_to_each_port(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    flashed: list[Any] = []
    monkeypatch.setattr(board, "_flashed", {})
    monkeypatch.setattr(board, "flasher_of", lambda device: lambda *given: flashed.append(given[1:]))
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("1")
    two.write_text("2")
    device = SimpleNamespace(extra={"port": "/dev/p"})
    options = board.Options()
    for elf in (one, one, two, one):
        world.comes((world.now - 1000, HELLO))
        board.open_session(device, elf, 0, options)  # type: ignore[arg-type]
    assert flashed == [(one, "/dev/p"), (two, "/dev/p"), (one, "/dev/p")]
    monkeypatch.undo()
    assert board.flasher_of(UNO) is board.flash_uno
    for chip, flash in (("RP2350", board.flash_pico2), ("ESP32-C3", board.flash_esp32c3)):
        known: Any = SimpleNamespace(chip=chip, flashing=None)
        assert board.flasher_of(known) is flash
    other: Any = SimpleNamespace(chip="Z80", flashing=None)
    with pytest.raises(BoardError, match=r"^Z80: such a board cannot be flashed; supported: ATmega"):
        board.flasher_of(other)
    assert board.identity(UNO) == "board ATmega328P, own timer"


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Outcome(None, "", ""), "avrdude is missing; 'motecrypt doctor' shows how to get it"),
        (
            Outcome(1, "", "avrdude: stk500_getsync(): not in sync"),
            "no bootloader answers; is it an UNO, and",
        ),
        (Outcome(1, "", "programmer is not responding"), "no bootloader answers"),
        (Outcome(1, "", "one\n Error: two \nerror: three"), "Error: two$"),
        (Outcome(1, "", " one \ntwo"), "one$"),
        (Outcome(1, "", ""), "avrdude printed nothing$"),
    ],
)
def test_how_an_uno_is_flashed(
    outcome: Outcome, said: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    contents: list[str] = []

    def run(command: list[str], timeout_s: float) -> Outcome:
        assert timeout_s == 120  # a port may never answer
        asked.append(command)
        contents.append(Path(command[-1].split(":")[2]).read_text())
        return outcome

    image = SimpleNamespace(segments=(Segment(0, b"a"), Segment(0x800000, b"ram")))
    laid_out: list[Any] = []
    flat = board.flat
    monkeypatch.setattr(board, "flat", lambda *given: laid_out.append(given) or flat(*given))
    monkeypatch.setattr(board, "read_image", lambda elf, device: image)
    monkeypatch.setattr(board.process, "run", run)
    with pytest.raises(BoardError, match=f"^/dev/p: could not be flashed: {said}"):
        board.flash_uno(UNO, Path("f.elf"), "/dev/p")
    outcome = Outcome(0, "", "")
    board.flash_uno(UNO, Path("f.elf"), "/dev/p")
    assert world.opened == [("/dev/p", 115200)] * 2 and world.closed == 2
    command = ["avrdude", "-q", "-q", "-D", "-p", "atmega328p", "-c", "arduino", "-x", "attempts=3"]
    assert asked[0][:-1] == [*command, "-P", "/dev/p", "-b", "115200", "-U"]
    assert contents == [":01000000619E\n:00000001FF\n"] * 2
    assert laid_out == [(image, 0, 0x800000)] * 2 and not board.BoardSession.restartable


def test_the_picos_volume_is_found_and_waited_for(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert board.find_volume([str(tmp_path)]) is None
    for name, text in (
        ("user/RPI-RP2", "RPI-RP2"),
        ("OTHER", "RPI-RP2"),
        ("ZZ", "RPI-RP2"),
        ("x/RPI-RP2", "FOO"),
    ):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "INFO_UF2.TXT").write_text(text)
    assert board.find_volume([str(tmp_path / "none"), str(tmp_path)]) == tmp_path / "user/RPI-RP2"
    found = iter([None, None, tmp_path])
    monkeypatch.setattr(board, "find_volume", lambda **_: next(found))
    assert board._wait_for_volume(5.0) == tmp_path and world.slept == [0.5, 0.5]
    monkeypatch.setattr(board, "find_volume", lambda **_: None)
    with pytest.raises(
        BoardError, match=r"^no Pico in BOOTSEL mode within 5 s: hold BOOTSEL while plugging it in"
    ):
        board._wait_for_volume(5.0)
    assert len(world.slept) == 12


def test_a_pico_is_flashed_through_its_volume_or_picotool(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    image = SimpleNamespace(segments=(Segment(0x10000000, b"a"),))
    content = board.uf2(image.segments)
    monkeypatch.setattr(board, "read_image", lambda elf, device: image)
    volumes: list[Path | None] = [tmp_path]
    monkeypatch.setattr(board, "find_volume", lambda **_: volumes[0])
    tool = [False]
    monkeypatch.setattr(board, "_picotool", lambda given: given == content and tool[0])
    waited: list[float] = []
    monkeypatch.setattr(board, "_wait_for_volume", lambda seconds: waited.append(seconds) or tmp_path)
    flash = tmp_path / "motecrypt.uf2"
    for volume, there, writes, waits in (
        (tmp_path, True, True, 0),
        (None, True, False, 0),
        (None, False, True, 1),
    ):
        volumes[0], tool[0] = volume, there
        waited.clear()
        flash.unlink(missing_ok=True)
        board.flash_pico(UNO, Path("f.elf"), "/dev/p")
        assert flash.exists() == writes and len(waited) == waits
        assert ("hold BOOTSEL while you plug the Pico in" in capfd.readouterr().err) == bool(waits)
    assert waited == [120.0] and flash.read_bytes() == content and world.slept == [0.5, 0.5]


def test_a_volume_that_goes_away_has_taken_the_file(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(handle: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(board.os, "fsync", fail)
    board.copy_uf2(b"x", tmp_path)
    assert world.slept == [0.5]
    board.copy_uf2(b"x", tmp_path / "gone")
    (tmp_path / "INFO_UF2.TXT").write_text("")
    with pytest.raises(BoardError, match=r"motecrypt\.uf2: cannot be written: Input/output error$") as told:
        board.copy_uf2(b"x", tmp_path)
    assert told.value.kind is FailureKind.BOARD


def test_picotool_is_used_where_it_sees_a_pico(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[Any]] = []
    answer = [Outcome(0, "", "")]

    def run(command: list[Any], timeout_s: float) -> Outcome:
        assert timeout_s == 120  # a port may never answer
        assert Path(command[-1]).read_bytes() == b"content"
        asked.append(command[:-1])
        return answer[0]

    monkeypatch.setattr(board.process, "run", run)
    monkeypatch.setattr(board.shutil, "which", lambda name: None)
    assert not board._picotool(b"content") and not asked
    monkeypatch.setattr(board.shutil, "which", lambda name: name)
    assert board._picotool(b"content") and asked == [["picotool", "load", "-x"]]
    answer[0] = Outcome(1, "", "")
    assert not board._picotool(b"content")


def test_a_pico_2_gets_its_own_family_and_volume(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    image = SimpleNamespace(segments=(Segment(0x10000000, b"a"),))
    monkeypatch.setattr(board, "read_image", lambda elf, device: image)
    monkeypatch.setattr(board, "_picotool", lambda given: False)
    for name in ("RPI-RP2", "RP2350"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "INFO_UF2.TXT").write_text(f"Board-ID: {name}")
    monkeypatch.setattr(board.find_volume, "__defaults__", ((str(tmp_path),), board.VOLUME))
    board.flash_pico2(UNO, Path("f.elf"), "/dev/p")
    content = (tmp_path / "RP2350" / "motecrypt.uf2").read_bytes()
    assert content == board.uf2(image.segments, 0xE48BFF59) and content[28:32] == bytes.fromhex("59ff8be4")
    assert not (tmp_path / "RPI-RP2" / "motecrypt.uf2").exists()
    (tmp_path / "RP2350" / "INFO_UF2.TXT").unlink()
    with pytest.raises(BoardError, match=r"no Pico in BOOTSEL mode within 120 s: .* mount RP2350$"):
        board.flash_pico2(UNO, Path("f.elf"), "/dev/p")
    assert (
        "hold BOOTSEL while you plug the Pico 2 in: waiting for its volume RP2350" in capfd.readouterr().err
    )


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Outcome(None, "", ""), "esptool is missing; 'motecrypt doctor' shows how to get it$"),
        (Outcome(2, "", "Serial port\nA fatal error occurred: No serial data received.\n"), "No serial data"),
        (
            Outcome(
                2, "", "A fatal error occurred: Failed to connect: no data.\nFor steps visit: https://x\n"
            ),
            "could not be flashed: Failed to connect: no data.$",
        ),
        (Outcome(2, "Connecting\nfailed", ""), "could not be flashed: failed$"),
        (Outcome(2, "", ""), "could not be flashed: esptool printed nothing$"),
    ],
)
def test_how_an_esp32c3_is_flashed(
    outcome: Outcome, said: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[Any]] = []
    contents: list[bytes] = []

    def run(command: list[Any], timeout_s: float) -> Outcome:
        assert timeout_s == 120  # a port may never answer
        asked.append(command)
        contents.append(Path(command[-1]).read_bytes())
        return outcome

    image = SimpleNamespace(
        segments=(Segment(0x42000000, b"ab"), Segment(0x42000004, b"c"), Segment(0x3FC80000, b"r"))
    )
    device: Any = SimpleNamespace(memory={"flash": SimpleNamespace(address=0x42000000, bytes=4 << 20)})
    monkeypatch.setattr(board, "read_image", lambda elf, device: image)
    monkeypatch.setattr(board.process, "run", run)
    with pytest.raises(BoardError, match=f"^/dev/p: .*{said}"):
        board.flash_esp32c3(device, Path("f.elf"), "/dev/p")
    outcome = Outcome(0, "", "")
    board.flash_esp32c3(device, Path("f.elf"), "/dev/p")
    assert asked[1][:-1] == ["esptool", "--chip", "esp32c3", "--port", "/dev/p", "write_flash", "0x0"]
    assert contents[1] == b"ab\xff\xffc"
