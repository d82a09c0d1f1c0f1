"""A driver that starts its firmware again gives what one of its own gives, and ends as its child does."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from avr_snippets import CHIP, UART
from avr_snippets import simavr as simavr_run

from motecrypt.base import process
from motecrypt.base.errors import FailureKind
from motecrypt.base.model import Device
from motecrypt.build.toolchain import BuildRequest, Firmware, build
from motecrypt.build.toolchain.drivers import driver
from motecrypt.catalog import Catalog
from motecrypt.measuring.bench import passes
from motecrypt.simulate.runners import Fault, Options, Region, Session, runner_of
from motecrypt.simulate.runners.protocol import Client
from motecrypt.simulate.runners.session import DriverSession
from tool_sets import needs_tool_set, on_devices

CATALOG = Catalog.load()
SIMULATED = on_devices(CATALOG.device("uno"), CATALOG.device("pico"))
LENGTHS = (16, 48, 17, 16)
DEADLINE_S = 30.0


def firmware_of(device: Device) -> Firmware:
    body = CATALOG.implementations_of("aes128-ccm8", device.name, ["motecrypt"])[0]
    return build(BuildRequest(device, body, next(iter(device.placements))))


def regions(session: Session, length: int) -> list[Region]:
    client = Client(session, DEADLINE_S)
    client.wait_ready()
    client.set_key(bytes(16))
    client.set_nonce(bytes(13))
    client.set_message(bytes(range(length)))
    return [client.run(o, 1, 8) and session.regions()[0] for o in ("setup", "encrypt", "decrypt")]


def child_of(session: DriverSession) -> int:
    pid = session._process.pid
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        children = process._tree(pid)[1:]
        if children:
            return children[0].pid
        time.sleep(0.01)
    raise TimeoutError


@pytest.mark.parametrize("name", SIMULATED)
def test_each_start_gives_what_a_process_of_its_own_gives(name: str) -> None:
    device = CATALOG.device(name)
    firmware, runner = firmware_of(device), runner_of(device.runner)
    caches = device.placements[next(iter(device.placements))].caches
    for options in (Options(trace=True, cache=caches[0]), Options(cache=caches[-1])):
        alone = []
        for length in LENGTHS:
            with runner.open_session(device, firmware.elf, firmware.data_end, options) as session:
                alone.append(regions(session, length))
        starts, again, processes = passes.starts_of(device, firmware), [], set()
        for length in LENGTHS:
            with starts.start(options) as session:
                again.append(regions(session, length))
                processes.add(session._process.pid)  # type: ignore[attr-defined]
        starts.close()
        assert again == alone and len(processes) == 1


@pytest.mark.parametrize("name", SIMULATED)
def test_after_a_fault_or_with_other_options_there_is_another_process(name: str) -> None:
    device = CATALOG.device(name)
    firmware = firmware_of(device)
    starts, processes = passes.starts_of(device, firmware), []
    cache = device.placements[next(iter(device.placements))].caches[-1]
    few, many = Options(cache=cache, max_cycles=200), Options(cache=cache)
    for options in (many, few, many, many):
        try:
            with starts.start(options) as session:
                processes.append(session._process.pid)  # type: ignore[attr-defined]
                regions(session, 16)
        except Fault as fault:
            assert options is few and fault.kind is FailureKind.SILENT
    starts.close()
    assert len(set(processes)) == 3 and processes[2] == processes[3]


@needs_tool_set("avr")
def test_nothing_that_a_firmware_leaves_behind_is_there_at_the_next_start(tmp_path: Path) -> None:
    """It sends a byte of the RAM, of the EEPROM and of a register, changes all three, and waits."""
    look = """
    lds r24, 0x300
    rcall send
    sbi 0x1f, 0
    in r24, 0x20
    rcall send
    in r24, 0x2a
    rcall send
    ldi r24, 0x7e
    rcall send
    ldi r20, 0x55
    sts 0x300, r20
    out 0x2a, r20
    out 0x20, r20
    sbi 0x1f, 2
    sbi 0x1f, 1
1:  sbic 0x1f, 1
    rjmp 1b
    ldi r24, 'd'
    rcall send
    ldi r24, 0x7e
    rcall send
    rcall take
    rjmp .-2
"""
    simavr_run(UART + look, tmp_path, "--max-cycles", "100")  # leaves its ELF file
    with DriverSession(
        [driver("simavr"), *CHIP, "--events", "{events}", tmp_path / "f.elf"], restarts=True
    ) as session:
        for _ in range(3):
            told, deadline = b"", time.monotonic() + DEADLINE_S
            while told.count(b"~") < 2 and time.monotonic() < deadline:
                told += session.read(deadline)
            assert told == b"\x00\xff\x00~d~"
            assert session.restart()


@needs_tool_set("avr")
@pytest.mark.parametrize(("sent", "transient"), [(signal.SIGKILL, True), (signal.SIGSEGV, False)])
def test_the_driver_ends_as_its_child_does(sent: signal.Signals, transient: bool) -> None:
    uno = CATALOG.device("uno")
    firmware = firmware_of(uno)
    with runner_of("simavr").open_session(uno, firmware.elf, firmware.data_end, Options()) as session:
        Client(session, DEADLINE_S).wait_ready()
        os.kill(child_of(session), sent)
        with pytest.raises(Fault, match=f"ended with -{sent.value}") as told:
            session.read(time.monotonic() + DEADLINE_S)
        assert told.value.transient is transient
        assert not session.restart()


@needs_tool_set("avr")
def test_no_child_outlives_its_driver() -> None:
    uno = CATALOG.device("uno")
    firmware = firmware_of(uno)
    with runner_of("simavr").open_session(uno, firmware.elf, firmware.data_end, Options()) as session:
        Client(session, DEADLINE_S).wait_ready()
        child = child_of(session)
        session._process.kill()
        deadline = time.monotonic() + DEADLINE_S
        while runs(child) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not runs(child)


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
