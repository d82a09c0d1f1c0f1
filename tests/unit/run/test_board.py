"""Boards: a simulated UNO that cannot be distinguished from a real one, bootloaders, bad boards, the Pico's
volume."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from motecrypt.base import process
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import Cell
from motecrypt.build.toolchain import BuildRequest, build
from motecrypt.catalog import Catalog
from motecrypt.measuring import bench
from motecrypt.measuring.bench.board import board_device, measure_on_board
from motecrypt.results import Results
from motecrypt.simulate.emulate.images import Segment, intel_hex, read_image
from motecrypt.simulate.runners import board
from motecrypt.simulate.runners.board import BoardError, BoardSession, copy_uf2, find_volume
from motecrypt.simulate.runners.fake import FakeSession
from tool_sets import needs_tool_set

CATALOG = Catalog.load()
UNO = CATALOG.device("uno")
DEBIAN_BOOTLOADER = Path(
    "/usr/share/arduino/hardware/arduino/avr/bootloaders/atmega/ATmegaBOOT_168_atmega328.hex"
)


@contextmanager
def pretend_board(firmware: str | Path, port: Path, *options: str) -> Iterator[Path]:
    """`motecrypt run` with its UART at a pseudo-terminal that resets the chip when it is opened."""
    command = [sys.executable, "-m", "motecrypt", "run", str(firmware), "--uart", str(port), *options]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while not port.is_symlink() and time.monotonic() < deadline and running.poll() is None:
            time.sleep(0.05)
        assert port.is_symlink(), running.stderr and running.stderr.read()
        yield port
    finally:
        running.terminate()
        running.communicate(timeout=20)


def cells_of(device: str, cipher: str, variant: str, placement: str = "flash") -> list[Cell]:
    body = next(i for i in CATALOG.implementations_of(cipher, device, ["motecrypt"]) if i.variant == variant)
    target = CATALOG.device(device)
    return bench.cells_for(CATALOG, target, body, message_bytes=[16], placements=[placement])


@pytest.mark.long
@needs_tool_set("avr", "arduino", "board")
def test_a_pretend_uno_is_flashed_and_measured_like_a_real_one(tmp_path: Path, results: Results) -> None:
    cells = cells_of("uno", "aes128-ecb", "fast")
    simulated = bench.ensure(cells, results, CATALOG)
    with pretend_board("optiboot", tmp_path / "uno", "--board") as port:
        pairs = measure_on_board(cells, str(port), results, CATALOG)
    assert len(pairs) == len(cells) == 3
    for pair in pairs:
        assert pair.board.status == "ok", pair.board.reason
        assert pair.board.device == "uno-board" and not pair.board.cycles_exact
        assert pair.simulated in simulated.values()
        assert pair.board.elf_sha256 == pair.simulated.elf_sha256, "the same binary"
        # its timer's interrupt costs up to 25 cycles in 65,536
        assert pair.difference is not None and abs(pair.difference) < 0.001
    assert {m.device for m in results.measurements(cipher="aes128-ecb")} == {"uno", "uno-board"}


@pytest.mark.long
@needs_tool_set("avr", "arduino", "board")
@pytest.mark.skipif(not DEBIAN_BOOTLOADER.exists(), reason="Debian's Arduino core is not installed")
def test_avrdude_flashes_through_debians_own_bootloader(tmp_path: Path) -> None:
    code = bytes(range(256)) * 4
    file = tmp_path / "firmware.hex"
    file.write_text(intel_hex([Segment(0, code)]))
    with pretend_board(DEBIAN_BOOTLOADER, tmp_path / "uno", "--board") as port:
        command = [
            "avrdude",
            "-q",
            "-q",
            "-D",
            "-p",
            "atmega328p",
            "-c",
            "arduino",
            "-P",
            port,
            "-b",
            "57600",
        ]
        written = process.run([*command, "-U", f"flash:w:{file}:i"], timeout_s=60)
        assert written.ok, written.errors
        time.sleep(0.2)
        back = tmp_path / "back.bin"
        read = process.run([*command, "-U", f"flash:r:{back}:r"], timeout_s=60)
        assert read.ok, read.errors
    assert back.read_bytes()[: len(code)] == code


def test_debians_optiboot_that_is_too_large_is_refused() -> None:
    path = Path("/usr/share/arduino/hardware/arduino/avr/bootloaders/optiboot/optiboot_atmega328.hex")
    if not path.exists():
        pytest.skip("Debian's Arduino core is not installed")
    try:
        read_image(path, UNO)
    except InputError as error:
        assert "too large" in str(error)


# --- bad boards ----------------------------------------------------------------------------------------


@contextmanager
def fake_board(fault: str | None, greets: bool = True) -> Iterator[str]:
    """A pseudo-terminal with the pretend firmware of `runners/fake.py` at its end."""
    master, slave = os.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    fake, stop = FakeSession(fault=fault), threading.Event()
    if not greets:
        fake.read(0)

    def serve() -> None:
        while not stop.is_set():
            try:
                data = os.read(master, 4096)
            except BlockingIOError:
                data = b""
            except OSError:
                return
            if data:
                fake.write(data)
            answer = fake.read(time.monotonic())
            if answer:
                os.write(master, answer)
            time.sleep(0.002)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield os.ttyname(slave)
    finally:
        stop.set()
        thread.join()
        os.close(master)
        os.close(slave)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board, "ASK_AFTER_S", 0.2)


def test_a_good_board_is_greeted_even_when_it_was_not_reset() -> None:
    for greets in (True, False):
        with fake_board(None, greets) as port, BoardSession(port, 3) as session:
            assert b"h" in session.read(time.monotonic() + 1)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("silent", "nothing answers within 1 s"),
        ("garbage", "not a frame of protocol 1"),
        ("half-frame", "only half a frame arrived"),
        ("wrong-version", "protocol version 2, not 1: flash this motecrypt's firmware"),
    ],
)
def test_a_bad_board_is_one_clear_line(fault: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board, "ASK_AFTER_S", 0.6)  # asked once
    with fake_board(fault, greets=False) as port, pytest.raises(BoardError) as raised:
        BoardSession(port, 1)
    assert said in str(raised.value) and port in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_bad_board_stores_nothing(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board, "flasher_of", lambda device: lambda *_: None)
    monkeypatch.setattr(board, "GREETING_S", 0.5)
    monkeypatch.setattr(board.BoardSession.__init__, "__defaults__", (0.5,))
    with fake_board("silent", greets=False) as port, pytest.raises(BoardError, match="nothing answers"):
        measure_on_board(cells_of("uno", "aes128-ecb", "small"), port, results, CATALOG)
    assert results.measurements() == []


def test_a_board_that_vanishes_is_one_clear_line() -> None:
    with fake_board(None) as port:
        session = BoardSession(port, 3)
        session.read(time.monotonic() + 1)
    with pytest.raises(MotecryptError, match="vanished"):
        for _ in range(50):
            session.read(time.monotonic() + 0.05)
    session.close()


def test_no_permission_says_which_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import serial

    def refuse(*_: object, **__: object) -> None:
        raise serial.SerialException(13, "could not open port: Permission denied")

    monkeypatch.setattr(serial, "Serial", refuse)
    monkeypatch.setattr(Path, "group", lambda self: "dialout")
    with pytest.raises(InputError, match=r"permission denied; join the group dialout \(sudo usermod"):
        BoardSession("/dev/ttyACM0")


def test_no_such_port_is_said() -> None:
    with pytest.raises(InputError, match="does not exist"):
        BoardSession("/dev/ttyNONE9")


@needs_tool_set("avr", "arduino", "board")
def test_what_is_no_bootloader_is_said(tmp_path: Path) -> None:
    firmware = build(BuildRequest(UNO, cells_of("uno", "aes128-ecb", "small")[0].implementation, "flash"))
    with fake_board("silent", greets=False) as port, pytest.raises(BoardError, match="no bootloader answers"):
        board.flash_uno(UNO, firmware.elf, port)


def test_only_boards_are_boards() -> None:
    with pytest.raises(InputError, match="is not a board"):
        board_device(CATALOG.device("host"), "/dev/ttyACM0")


# --- the Pico ------------------------------------------------------------------------------------------


def test_the_picos_volume_is_found_and_written(tmp_path: Path) -> None:
    assert find_volume([str(tmp_path)]) is None
    volume = tmp_path / "user" / "RPI-RP2"
    volume.mkdir(parents=True)
    assert find_volume([str(tmp_path)]) is None, "an empty folder of that name is none"
    (volume / "INFO_UF2.TXT").write_text("UF2 Bootloader v3.0\nModel: Raspberry Pi RP2\nBoard-ID: RPI-RP2\n")
    assert find_volume([str(tmp_path)]) == volume
    copy_uf2(b"UF2", volume)
    assert (volume / "motecrypt.uf2").read_bytes() == b"UF2"


@pytest.mark.long
@needs_tool_set("pico")
def test_a_pretend_pico_takes_a_uf2_file_and_is_measured(
    tmp_path: Path, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [c for c in cells_of("pico", "aes128-ecb", "fast") if c.cache == "warm"]
    bench.ensure(cells, results, CATALOG)
    boards: list[object] = []
    volume = tmp_path / "RPI-RP2"
    volume.mkdir()
    (volume / "INFO_UF2.TXT").write_text("Board-ID: RPI-RP2\n")
    port = tmp_path / "pico"

    def flash(device: object, elf: Path, name: str) -> None:
        while boards:
            boards.pop().__exit__(None, None, None)  # type: ignore[attr-defined]
        monkeypatch.setattr(board, "find_volume", lambda **_: volume)
        board.flash_pico(CATALOG.device("pico"), elf, name)
        started = pretend_board(volume / "motecrypt.uf2", port, "--device", "pico", "--speed", "full")
        started.__enter__()
        boards.append(started)

    monkeypatch.setattr(board, "flasher_of", lambda device: flash)
    try:
        pairs = measure_on_board(cells, str(port), results, CATALOG)
    finally:
        while boards:
            boards.pop().__exit__(None, None, None)  # type: ignore[attr-defined]
    assert pairs and {p.board.status for p in pairs} == {"ok"}
    for pair in pairs:
        assert pair.difference is not None and abs(pair.difference) < 0.005
