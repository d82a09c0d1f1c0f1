"""The ARM driver next to cycles: the flash cache against a second model, faults, deadlines, bad files."""

from __future__ import annotations

import dataclasses
import struct
from collections import OrderedDict
from pathlib import Path

import pytest
from arm_snippets import FLASH, VECTORS, changed, elf, firmware, halfwords, pico, run

from motecrypt.base import process
from motecrypt.build.toolchain import BuildRequest, build
from motecrypt.build.toolchain.drivers import driver
from motecrypt.catalog import Catalog, empty_implementation
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.profiling import profile
from motecrypt.simulate.emulate.run import FreeRun, run_freely
from motecrypt.simulate.runners import Fault, Options, arm
from motecrypt.simulate.runners.protocol import Client
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")


def misses(dump: Path, bytes_: int = 16384, ways: int = 2, line: int = 8) -> int:
    """Misses of a least-recently-used cache over a dumped trace, by the plainest model there is."""
    sets: dict[int, OrderedDict[int, None]] = {}
    count = 0

    def look_up(address: int) -> None:
        nonlocal count
        if address >> 24 != FLASH >> 24:
            return
        number = address // line
        lines = sets.setdefault(number % (bytes_ // line // ways), OrderedDict())
        if number in lines:
            lines.move_to_end(number)
            return
        count += 1
        lines[number] = None
        if len(lines) > ways:
            lines.popitem(last=False)

    fetched = None
    for text in dump.read_text().splitlines():
        if text == "end":
            break
        pc, address = (int(part, 16) for part in text.split())
        if pc != fetched:  # several addresses of one instruction are several lines
            look_up(pc)
        fetched = pc
        if address != 0xFFFFFFFF:
            look_up(address)
    return count


@pytest.mark.parametrize("cache", ["cold", "kept"])
def test_misses_equal_a_second_models(tmp_path: Path, cache: str) -> None:
    # r0 = 0x10001000; 200 reads of a word, 0x410 bytes apart: sets collide; then the same again
    walk = "20c8 2341 011b 6811 18d2 3801 d1fb"
    start = "2201 0712 2101 0309 1852"  # r2 = 0x10000000 + 0x1000
    code = halfwords(f"{start} {walk} {start} {walk}")
    dump = tmp_path / "dump"
    region = run(tmp_path, code, Options(trace=True, cache=cache, dump=dump))
    expected = misses(dump)
    if cache == "cold":  # a kept one also holds what start-up left in it
        assert region.extra["cache_misses"] == expected
    assert expected - 8 <= region.extra["cache_misses"] <= expected
    assert expected > 200
    assert region.cycles == region.extra["core_cycles"] + 56 * region.extra["cache_misses"]


def test_another_flash_read_changes_the_penalty_alone(tmp_path: Path) -> None:
    device = pico()
    reads = device.simulator["flash_read"]
    assert [r.miss_cycles for r in arm.flash_reads(device)] == [56, 112, 384]
    code = halfwords("46c0 " * 40)
    fast = run(tmp_path, code, Options(cache="cold"))
    slow = run(tmp_path, code, Options(cache="cold"), changed(device, flash_read=reads[1:]))
    assert fast.extra == slow.extra
    assert fast.extra["cache_misses"] == 40 * 2 // 8 or fast.extra["cache_misses"] == 40 * 2 // 8 + 1
    assert slow.cycles - fast.cycles == 56 * fast.extra["cache_misses"]


@pytest.mark.parametrize(
    ("code", "options", "said"),
    [
        ("de00", Options(), "undefined instruction at 0x1000011"),
        ("be00", Options(), "breakpoint"),
        ("df00", Options(), "supervisor call"),
        ("6800", Options(), "read from 0x0, where nothing is, at 0x10000118"),
        ("2003 0700 6001", Options(), "wrote to 0x30000000, where nothing is"),
        ("2001 0700 6001", Options(), "wrote to the flash at 0x10000000"),
        (
            "6811 1c50 6801",
            Options(trace=True),
            "unaligned access to 0x20010001 at 0x1000011c",
        ),  # ldr r1, [r0]
        ("6811 1c50 6801", Options(), "unaligned access to 0x20010001 at 0x1000011c"),
        ("6811 1c90 6801", Options(), "unaligned access to 0x20010002 at 0x1000011c"),
        ("6811 1c50 8801", Options(), "unaligned access to 0x20010001 at 0x1000011c"),  # ldrh r1, [r0]
        ("6811 1c50 6001", Options(), "unaligned access to 0x20010001 at 0x1000011c"),  # str r1, [r0]
        ("6811 1c90 8041 8001 3001 8001", Options(), "unaligned access to 0x20010003 at 0x10000122"),  # strh
        ("6811 1c90 c802", Options(), "unaligned access to 0x20010002 at 0x1000011c"),  # ldm r0!, {r1}
        ("6811 1c50 5a81", Options(), "unaligned access to 0x40020001 at 0x1000011c"),  # ldrh r1, [r0, r2]
        ("f04f 0101", Options(), "undefined instruction"),  # mov.w r1, #1, which ARMv6-M has not
        ("f240 1101", Options(), "undefined instruction"),  # movw r1, #257
        ("4678 4700", Options(), "ARM state"),
        ("2001 0740 3001 4700", Options(), "jumped to data at 0x20000000"),
        ("e7fe", Options(), "no answer within 2000000 cycles: the firmware is at 0x10000118"),
        ("b500 e7fd", Options(), "the stack ran out of its memory"),
        ("bf30 e7fd", Options(), "sleeps"),
    ],
)
def test_a_fault_is_told_in_one_line(tmp_path: Path, code: str, options: Options, said: str) -> None:
    device = changed(pico(), max_cycles=2_000_000)
    with pytest.raises(Fault) as caught:
        run(tmp_path, halfwords(code), options, device)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("profiled", [False, True])
def test_a_free_run_faults_on_an_unaligned_access_too(tmp_path: Path, profiled: bool) -> None:
    path = tmp_path / "unaligned.elf"
    path.write_bytes(
        firmware(halfwords("6811 1c90 8801 7801 1c41 780b 6801"))
    )  # ldrh +2, ldrb +2, +3; ldr +2
    image, how = read_image(path, pico()), FreeRun(max_seconds=0.01)
    ended = (
        profile(image, pico(), how, lambda data: None).ended
        if profiled
        else run_freely(image, pico(), how, lambda data: None)
    )
    assert (ended.reason, ended.detail) == ("fault", "unaligned access to 0x20010002 at 0x10000124")


def say(*arguments: str | Path) -> process.Outcome:
    """Run the driver by itself, with nothing on its input; its events go to standard error."""
    return process.run([driver("arm"), *arguments], timeout_s=20)


def start(path: Path) -> list[str | Path]:
    """The arguments that a session would use, without events."""
    whole = arm.command(pico(), path, Options())
    at = whole.index("--events")
    return [*whole[1:at], *whole[at + 2 :]]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is too short for an ELF file"),
        (b"#!/bin/sh\n" + bytes(80), "is not a 32-bit little-endian ELF file"),
        (firmware([])[:70], "ends inside its program headers"),
        (firmware([])[:-4], "ends inside a segment"),
        (firmware([]).replace(b"\x28\x00", b"\x53\x00", 1), "is not an executable for this processor"),
        (elf(0x08000000, bytes(64), 0x08000001), "has a segment outside the device's memories"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "damaged.elf"
    path.write_bytes(content)
    outcome = say(*start(path))
    assert outcome.code == 2
    assert outcome.errors.strip() == f"arm: {path} {said}"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--core", "cortex-m99"],
        ["--cycles", "alu=1"],
        ["--core", "cortex-m0plus", "--cycles", "alu=1,frob=2"],
        ["--core", "cortex-m0plus", "--cycles", "alu=1"],
        ["--core", "cortex-m0plus", "--ram", "0x20000000"],
        ["--core", "cortex-m0plus", "--cache", "100:2:8"],
        ["--core"],
        ["--frob", "1"],
        [],
    ],
)
def test_bad_arguments_are_refused_in_one_line(arguments: list[str]) -> None:
    outcome = say(*arguments)
    assert outcome.code == 2
    assert len(outcome.errors.strip().splitlines()) == 1


def test_any_single_damaged_byte_ends_in_one_line(tmp_path: Path) -> None:
    whole = firmware(halfwords("3001"))
    path = tmp_path / "damaged.elf"
    for at in range(0, len(whole), 3):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        outcome = process.run([driver("arm"), *start(path), "--max-cycles", "100000"], timeout_s=20)
        assert outcome.code in (0, 2, 3), f"byte {at}: {outcome}"


@pytest.mark.parametrize("placement", ["flash", "ram"])
def test_the_start_up_code_reaches_its_clock_and_baud(placement: str) -> None:
    firmware_ = build(BuildRequest(pico(), empty_implementation(), placement))
    outcome = say(*start(firmware_.elf))
    assert outcome.code == 0
    assert '"clock_hz":125000000,"baud":115207' in outcome.errors  # 0.006 % above 115,200


def test_the_faster_clock_is_a_define() -> None:
    device = pico()
    compiler = dataclasses.replace(device.compiler, defines=("CLOCK_MHZ=133",))
    built = build(
        BuildRequest(dataclasses.replace(device, compiler=compiler), empty_implementation(), "flash")
    )
    outcome = say(*start(built.elf))
    assert '"clock_hz":133000000,"baud":115201' in outcome.errors


@pytest.mark.parametrize(("placement", "cache"), [("flash", "warm"), ("flash", "cold"), ("ram", "none")])
def test_the_boards_own_timer_and_painted_stack_agree(placement: str, cache: str) -> None:
    firmware_ = build(BuildRequest(pico(), empty_implementation(), placement))
    with arm.open_session(pico(), firmware_.elf, 0, Options(trace=True, cache=cache)) as session:
        client = Client(session, 20)
        hello = client.wait_ready()
        client.set_key(bytes(16))
        client.set_message(bytes(16))
        extra = []
        for repetitions in (1, 2000):
            ran = client.run("encrypt", repetitions, 0)
            regions = session.regions()
            assert len(regions) == repetitions
            extra.append(ran.timer_cycles - sum(r.cycles for r in regions))
            assert ran.painted_stack_bytes - max(r.stack_bytes or 0 for r in regions) in range(33)
    assert hello.clock_hz == 125_000_000
    # Between the marks of one repetition and the next is the loop of bench.c: a constant for each, except for
    # the cold cache's misses outside the region.
    each = (extra[1] - extra[0]) / 1999
    assert 10 < extra[0] < 3000
    assert 10 < each < (80 if cache != "cold" else 1200)


def test_runs_are_reproducible(tmp_path: Path) -> None:
    code = halfwords("ca0b c21b 20c8 3801 d1fd")
    options = Options(trace=True, cache="cold")
    assert run(tmp_path, code, options) == run(tmp_path, code, options)


def test_the_device_holds_its_figures_with_sources() -> None:
    for read in arm.flash_reads(pico()):
        assert read.source
        assert read.divider in (2, 4)
    assert struct.unpack("<I", firmware([])[84:88])[0] == 0x20008000  # the stack's top, at VECTORS
    assert pico().simulator["vectors"] == VECTORS
    assert "cortex-m0plus" in Catalog.load().device("pico").core
