"""Drivers and the programs that run them: they report events immediately, and end with their parent
process."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import arm_assembly as arm
import avr_snippets as avr
import pytest
from natively import ended_in_time

from motecrypt.build.toolchain.drivers import driver
from motecrypt.simulate.emulate.images import ARM, Segment, elf_of
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr", "pico")
DEADLINE_S = 20.0
MOST = ["--max-cycles", str(1 << 62)]
#: A region, a frame, and a wait for what never comes.
AVR_ANSWERS = avr.UART + "    ldi r16, 1\n    out 0x1e, r16\n    nop\n    out 0x1e, r17\n"
AVR_ANSWERS += "    ldi r24, '!'\n    rcall send\n    ldi r24, 0x7e\n    rcall send\n    rcall take\n"
ARM_ANSWERS = arm.BEGIN + "    nop\n" + arm.FINISH + arm.WAIT


def avr_free(folder: Path) -> list[str]:
    (folder / "image").write_bytes(b"\x78\x94\xff\xcf")  # sei, and an endless loop
    return [str(driver("avr_run")), *avr.CHIP, *MOST, "--image", str(folder / "image")]


def avr_locked(folder: Path) -> list[str]:
    (folder / "avr.elf").write_bytes(elf_of([Segment(0, avr.assemble(AVR_ANSWERS, folder))], avr.AVR, 0))
    return [str(driver("simavr")), *avr.CHIP, *MOST, "--mark", "0x3e", str(folder / "avr.elf")]


def arm_locked(folder: Path, code: str = ARM_ANSWERS) -> list[str]:
    image = arm.assemble(code, folder)
    (folder / "arm.elf").write_bytes(elf_of([Segment(arm.VECTORS, image)], ARM, arm.ENTRY | 1))
    return [str(driver("arm")), *arm.options(), *MOST, str(folder / "arm.elf")]


def arm_free(folder: Path) -> list[str]:
    return [*arm_locked(folder, "    b .\n"), "--free"]


def line_of(descriptor: int) -> bytes:
    """The next line; what is there after the deadline, if none comes."""
    got, ends = b"", time.monotonic() + DEADLINE_S
    while not got.endswith((b"\n", b"~")) and time.monotonic() < ends:
        if select.select([descriptor], [], [], 0.1)[0]:
            got += os.read(descriptor, 1)
    return got


@pytest.mark.parametrize("prepare", [avr_locked, arm_locked, avr_free, arm_free])
def test_what_has_happened_is_told_while_the_driver_runs_on(
    tmp_path: Path, prepare: Callable[[Path], list[str]]
) -> None:
    reader, writer = os.pipe()
    command = [*prepare(tmp_path), "--events", str(writer)]
    locked = prepare in (avr_locked, arm_locked)
    command += ["--trace", "--dump", str(tmp_path / "dump")] if locked else ["--pty", "pty"]
    running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[writer])
    os.close(writer)
    with ended_in_time(running):
        assert running.stdin is not None and running.stdout is not None
        assert line_of(reader).startswith(b'{"event":"region"' if locked else b'{"event":"port"')
        if locked:
            assert line_of(running.stdout.fileno()) == b"!~"
            assert (tmp_path / "dump").read_text().endswith("\nend\n")
        assert running.poll() is None
        running.stdin.close()
        running.stdout.close()
    os.close(reader)


def confined(process: int) -> Path:
    """What the kernel says of a driver, once all is open and the firmware begins; or after the deadline."""
    status, ends = Path(f"/proc/{process}/status"), time.monotonic() + DEADLINE_S
    while "Seccomp:\t2" not in status.read_text() and time.monotonic() < ends:
        time.sleep(0.01)
    return status


@pytest.mark.parametrize("prepare", [avr_locked, arm_locked, avr_free, arm_free])
def test_what_has_been_read_is_closed(tmp_path: Path, prepare: Callable[[Path], list[str]]) -> None:
    """While the firmware runs, no file is open but those that are written."""
    command = prepare(tmp_path)
    if prepare in (avr_free, arm_free):
        (tmp_path / "functions").write_text("0 20\n")
        command += ["--profile", str(tmp_path / "p"), "--functions", str(tmp_path / "functions")]
    if prepare is avr_free:
        (tmp_path / "notes").write_text("text\t0x66:1:any\n")
        (tmp_path / "data").write_bytes(bytes(9))
        command += ["--notes", str(tmp_path / "notes"), "--data", str(tmp_path / "data")]
        command += ["--eeprom", str(tmp_path / "eeprom")]
    running = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    with ended_in_time(running):
        status = confined(running.pid)
        isolated = "Seccomp:\t2" in status.read_text()
        open_ = [str(file.readlink()) for file in (status.parent / "fd").iterdir()]
        assert running.stdin is not None
        running.stdin.close()
    own = {Path(name).name for name in open_ if name.startswith(str(tmp_path))}
    assert isolated, "the firmware runs unconfined"
    written = {"avr_free": {"p", "eeprom"}, "arm_free": {"p"}}
    assert own == written.get(prepare.__name__, set())


@pytest.mark.parametrize("prepare", [avr_locked, arm_locked, avr_free, arm_free])
def test_it_ends_with_whoever_started_it(tmp_path: Path, prepare: Callable[[Path], list[str]]) -> None:
    command = prepare(tmp_path)
    there, held = os.pipe()
    start = "import subprocess, sys, time; p = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, "
    start += f"stdin={there}); print(p.pid, flush=True); time.sleep(60)"
    parent = subprocess.Popen(
        [sys.executable, "-c", start, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=[there],
    )
    assert parent.stdout is not None
    child = confined(int(parent.stdout.readline()))
    ends = time.monotonic() + DEADLINE_S
    parent.send_signal(signal.SIGKILL)
    parent.wait(DEADLINE_S)
    parent.stdout.close()
    while child.exists() and "State:\tZ" not in child.read_text() and time.monotonic() < ends:
        time.sleep(0.01)
    gone = not child.exists() or "State:\tZ" in child.read_text()
    if not gone:
        os.kill(int(child.parent.name), signal.SIGKILL)
    os.close(there)
    os.close(held)
    assert gone
