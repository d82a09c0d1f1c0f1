"""The same for the Pico: calls, recursion, tail calls, inlining, longjmp, stack, time and input."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.simulate.emulate.images import Image, elf_of, read_image, uf2
from motecrypt.simulate.emulate.profiling import FunctionCost, Profile, profile
from motecrypt.simulate.emulate.run import Ended, FreeRun, Uart, run_freely
from tool_sets import needs_tool_set

HERE = Path(__file__).parent
pytestmark = needs_tool_set("pico")
PICO = Catalog.load().device("pico")
DEVICE = FIRMWARE / "devices" / "pico"


def build(source: Path, target: Path, *flags: str) -> Path:
    own = [DEVICE / name for name in ("hal.c", "startup.S", "boot2.S")]
    link = ["-nostartfiles", "--specs=nano.specs", f"-T{DEVICE / 'flash.ld'}", f"-I{FIRMWARE / 'include'}"]
    options = ["-mcpu=cortex-m0plus", "-mthumb", "-Os", "-gdwarf-4", *flags]
    subprocess.run(["arm-none-eabi-gcc", *options, *link, *own, source, "-o", target], check=True)
    return target


def with_input(data: bytes, run: Callable[[int], object]) -> None:
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)
    try:
        run(reader)
    finally:
        os.close(reader)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    target = tmp_path_factory.mktemp("pico") / "profiled.elf"
    return read_image(build(HERE / "profiled_pico.c", target), PICO)


@pytest.fixture(scope="module")
def found(image: Image) -> Profile:
    made: list[Profile] = []
    with_input(
        b"a",
        lambda descriptor: made.append(
            profile(image, PICO, FreeRun(max_seconds=1, uart=Uart(input=descriptor)), lambda data: None)
        ),
    )
    return made[0]


def cost(found: Profile, name: str) -> FunctionCost:
    return next(c for c in found.functions if c.name == name)


def test_every_cycle_belongs_to_one_function(found: Profile) -> None:
    assert found.ended.reason == "stop"
    assert sum(c.self_cycles for c in found.functions if c.calls is not None) == found.ended.cycles
    assert sum(cycles for _, cycles in found.stacks) == found.ended.cycles


def test_plain_calls(found: Profile) -> None:
    leaf, twice = cost(found, "leaf"), cost(found, "twice")
    # MOVS 1, 100 SUBS, 99 BNE taken, one not, BX 2
    assert leaf.self_cycles_range == (302, 302, 302)
    assert (leaf.calls, twice.calls) == (17, 8)
    # PUSH 3, two BL 6, POP with PC 5
    assert twice.cycles_range == (2 * 302 + 14,) * 3
    assert twice.stack_bytes == 8


def test_recursion_counts_once(found: Profile) -> None:
    down = cost(found, "down")
    assert down.calls == 10 and down.cycles == down.self_cycles
    assert down.cycles_range is not None and down.cycles_range[2] == down.cycles
    assert down.stack_bytes == 10 * 8


def test_a_tail_call_is_a_call(found: Profile) -> None:
    first, second, third = (cost(found, name) for name in ("first", "second", "third"))
    assert (first.calls, second.calls, third.calls) == (2, 2, 2)
    assert first.self_cycles == 2 * (10 * 3 + 2)
    assert second.cycles == second.self_cycles + third.cycles
    assert first.cycles == first.self_cycles + second.cycles
    assert ("main", "first", "second", "third") in [stack[-4:] for stack, _ in found.stacks]


def test_an_inlined_function_shows_where_it_is(found: Profile) -> None:
    inside = cost(found, "inside")
    assert inside.calls is None and inside.inlined_into == ("around",)
    assert inside.cycles == 2 * (1 + 80 * 3 - 1)


def test_longjmp_ends_what_it_leaves(found: Profile) -> None:
    leaves = cost(found, "leaves")
    assert leaves.calls == 1 and leaves.cycles < 302
    assert not [s for s, _ in found.stacks if "leaves" in s and s[-1] == "leaf"]


def test_stack(found: Profile) -> None:
    large = cost(found, "large").stack_bytes
    assert large is not None and 512 <= large <= 528
    assert found.ended.stack_bytes is not None and large < found.ended.stack_bytes < large + 40


def test_lines_know_what_registers_cost(found: Profile) -> None:
    lines = sum(line.cycles for line in found.lines)
    assert found.ended.cycles * 0.999 < lines <= found.ended.cycles


def run_once(image: Image, data: bytes = b"a") -> tuple[Ended, bytes]:
    text = bytearray()
    ended: list[Ended] = []
    with_input(
        data,
        lambda descriptor: ended.append(
            run_freely(image, PICO, FreeRun(max_seconds=1, uart=Uart(input=descriptor)), text.extend)
        ),
    )
    return ended[0], bytes(text)


def test_run_shows_the_uart_and_its_timer_agrees(image: Image) -> None:
    ended, text = run_once(image)
    assert text[:4] == b"123b", "three dots and the answer to its input"
    cycles = int(text[4:12], 16)
    assert abs(cycles - 3_000_000) < 3_000_000 * 0.0005
    assert ended.cycles / 125e6 < ended.seconds < ended.cycles / 125e6 + 0.001, "it boots from a slower clock"


def test_a_uf2_file_runs_like_its_elf(image: Image, tmp_path: Path) -> None:
    path = tmp_path / "profiled.uf2"
    path.write_bytes(uf2(image.segments))
    assert run_once(read_image(path, PICO))[1] == run_once(image)[1]


def test_what_is_not_modelled_is_said(tmp_path: Path) -> None:
    source = tmp_path / "touches.c"
    source.write_text(
        '#include "hal.h"\n#include <stdint.h>\n'
        "#define AT(a) (*(volatile uint32_t *)(a))\n"
        "int main(void) { hal_init(); AT(0x40044000) = 1; AT(0xD0000080) = 7; for (;;) { } }\n"
    )
    ended = run_freely(
        read_image(build(source, tmp_path / "t.elf"), PICO), PICO, FreeRun(), lambda data: None
    )
    assert [note.partition(":")[0] for note in ended.notes] == ["I2C", "the interpolators"]
    assert [t.name for t in ended.touched] == ["I2C0_IC_CON", "SIO_INTERP0_ACCUM0"]


def test_the_boot_rom_is_our_own(tmp_path: Path) -> None:
    """Its version, 3, moves to where no memory is: the fault names the address."""
    code = bytes.fromhex("1320 0078 0007 0078 fee7".replace(" ", ""))  # r0 = [0x13]; r0 = [r0 << 28]; b .
    vectors = (0x20040000).to_bytes(4, "little") + (0x10000109).to_bytes(4, "little")
    path = tmp_path / "rom.elf"
    from motecrypt.simulate.emulate.images import ARM, Segment

    path.write_bytes(elf_of([Segment(0x10000100, vectors + code)], ARM, 0x10000109))
    ended = run_freely(read_image(path, PICO), PICO, FreeRun(), lambda data: None)
    assert "0x30000000, where nothing is" in ended.detail


def test_a_flat_file_may_have_code_in_ram(tmp_path: Path) -> None:
    """It does not say where: this one puts a loop into RAM and goes there."""
    code = bytes.fromhex("0248 0349 0160 0130 0047 c046".replace(" ", ""))  # [r0] = r1; bx r0 + 1
    code += (0x20000000).to_bytes(4, "little") + (0xE7FEE7FE).to_bytes(4, "little")
    vectors = (0x20040000).to_bytes(4, "little") + (0x10000109).to_bytes(4, "little")
    path = tmp_path / "ram.bin"
    path.write_bytes(bytes(256) + vectors + code)
    ended = run_freely(read_image(path, PICO), PICO, FreeRun(max_seconds=0.001), lambda data: None)
    assert (ended.reason, ended.pc) == ("limit", 0x20000000)
