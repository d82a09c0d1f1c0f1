"""What confuses profilers does not confuse ours: a firmware whose costs are known by construction."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from motecrypt.catalog import Catalog
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.profiling import FunctionCost, Profile, profile, speedscope
from motecrypt.simulate.emulate.run import FreeRun
from tool_sets import needs_tool_set

HERE = Path(__file__).parent
pytestmark = needs_tool_set("avr")
UNO = Catalog.load().device("uno")


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("profile") / "profiled.elf"
    flags = ["-mmcu=atmega328p", "-Os", "-gdwarf-4", "-Wall", "-Werror"]
    subprocess.run(["avr-gcc", *flags, HERE / "profiled.c", "-o", target], check=True)
    return target


@pytest.fixture(scope="module")
def found(elf: Path) -> Profile:
    return profile(read_image(elf, UNO), UNO, FreeRun(max_seconds=1), lambda data: None)


def cost(found: Profile, name: str) -> FunctionCost:
    return next(c for c in found.functions if c.name == name)


def test_it_ends_by_itself(found: Profile) -> None:
    assert found.ended.reason == "sleep"


def test_every_cycle_belongs_to_one_function(found: Profile) -> None:
    assert sum(c.self_cycles for c in found.functions if c.calls is not None) == found.ended.cycles
    assert sum(cycles for _, cycles in found.stacks) == found.ended.cycles
    assert sum(line.cycles for line in found.lines) <= found.ended.cycles


def test_plain_calls(found: Profile) -> None:
    twice = cost(found, "twice")
    assert twice.calls == 8
    # leaf: 1000 and its return (4); twice: a call (4), and a jump (3) that makes the second a tail call
    assert cost(found, "leaf").self_cycles_range == (1004, 1004, 1004)
    assert twice.cycles_range == (2 * 1004 + 7, 2 * 1004 + 7, 2 * 1004 + 7)
    assert twice.self_cycles == 8 * 7
    assert twice.stack_bytes == 4


def test_recursion_counts_once(found: Profile) -> None:
    down = cost(found, "down")
    assert down.calls == 10
    assert down.cycles == down.self_cycles, "nothing else is called"
    assert down.cycles_range is not None and down.self_cycles_range is not None
    assert down.cycles_range[2] == down.cycles, "the outermost call holds all"
    assert down.self_cycles_range[1] * 9 < down.cycles < down.self_cycles_range[2] * 10 + 1
    assert down.stack_bytes is not None and down.stack_bytes >= 10 * 3


def test_a_tail_call_is_a_call(found: Profile) -> None:
    first, second, third = (cost(found, name) for name in ("first", "second", "third"))
    assert (first.calls, second.calls, third.calls) == (2, 2, 2)
    assert third.self_cycles_range == (304, 304, 304)
    assert second.cycles_range == (203 + 304,) * 3
    assert first.cycles_range == (103 + 203 + 304,) * 3
    assert first.self_cycles == 2 * 103
    assert ("main", "first", "second", "third") in [stack[-4:] for stack, _ in found.stacks]


def test_functions_that_jump_to_each_other_build_no_tower(found: Profile) -> None:
    assert (cost(found, "ping").calls, cost(found, "pong").calls) == (51, 50)
    assert max(len(stack) for stack, _ in found.stacks) < 20
    assert cost(found, "ping").stack_bytes == 2


def test_interrupts_count_for_their_handler_alone(found: Profile) -> None:
    handler, interrupted = cost(found, "__vector_16"), cost(found, "interrupted")
    assert interrupted.cycles == interrupted.self_cycles == 100_000 + 4
    assert handler.calls == found.ended.interrupts > 30
    assert handler.cycles_range is not None
    # four cycles to begin (DS40002061B, 7.7.1), the vector's jump (3), leaf, and the handler's own
    assert handler.cycles_range[0] > 4 + 3 + 1004
    assert cost(found, "leaf").calls == 8 * 2 + 1 + (handler.calls or 0)
    assert interrupted.stack_bytes == 2, "not the handler's"


def test_an_inlined_function_shows_where_it_is(found: Profile) -> None:
    inside, around = cost(found, "inside"), cost(found, "around")
    assert inside.calls is None and inside.inlined_into == ("around",)
    assert inside.cycles == 2 * 500
    assert around.calls == 2 and around.self_cycles >= 2 * 500


def test_the_stack_pointer_between_its_halves_is_not_believed(found: Profile) -> None:
    large = cost(found, "large")
    assert large.stack_bytes is not None and 260 + 2 <= large.stack_bytes <= 260 + 12
    dig = cost(found, "dig").stack_bytes
    assert dig is not None and dig % 10 == 0 and 36 <= dig // 10 <= 42
    assert found.ended.stack_bytes is not None and found.ended.stack_bytes < dig + 20


def test_longjmp_ends_what_it_leaves(found: Profile) -> None:
    assert cost(found, "leaves").calls == 1
    assert cost(found, "caught").calls == 1
    caught = cost(found, "caught").cycles_range
    assert caught is not None and 1004 + 50 < caught[0] < 1004 + 50 + 200
    assert all("leaves" not in stack or stack[-1] in ("leaves", "longjmp") for stack, _ in found.stacks)


def test_lines(found: Profile) -> None:
    source = (HERE / "profiled.c").read_text().splitlines()
    number = next(i for i, line in enumerate(source, 1) if "delay_cycles(1000)" in line)
    line = next(x for x in found.lines if x.line == number and x.file.endswith("profiled.c"))
    leaf = cost(found, "leaf")
    assert 1000 * (leaf.calls or 0) <= line.cycles <= leaf.self_cycles


def test_speedscope_file(found: Profile) -> None:
    made = speedscope(found, "profiled.elf")
    (only,) = made["profiles"]
    assert only["endValue"] == sum(only["weights"]) == found.ended.cycles
    assert all(0 <= frame < len(made["shared"]["frames"]) for stack in only["samples"] for frame in stack)


def test_without_symbols_functions_are_addresses(found: Profile, elf: Path, tmp_path: Path) -> None:
    stripped = tmp_path / "stripped.elf"
    subprocess.run(["avr-strip", elf, "-o", stripped], check=True)
    bare = profile(read_image(stripped, UNO), UNO, FreeRun(max_seconds=1), lambda data: None)
    assert not bare.symbols_found
    down = next(c for c in bare.functions if c.address == cost(found, "down").address)
    assert down.name == hex(down.address) and down.calls == 10
    assert down.cycles_range == cost(found, "down").cycles_range


EXAMPLES = Path("/usr/share/arduino/hardware/arduino/avr/libraries")


@needs_tool_set("arduino")
@pytest.mark.parametrize(
    ("example", "functions", "lost_ticks"),
    [
        ("EEPROM/examples/eeprom_crc/eeprom_crc.ino", {"eeprom_read_byte", "Print::write"}, 2),
        ("Wire/examples/i2c_scanner/i2c_scanner.ino", {"twi_writeTo", "HardwareSerial::write"}, 2),
        # It sends each byte with interrupts off, and so loses ticks on a real UNO, too.
        (
            "SoftwareSerial/examples/SoftwareSerialExample/SoftwareSerialExample.ino",
            {"SoftwareSerial::write"},
            20,
        ),
    ],
)
def test_libraries_that_nobody_here_wrote(example: str, functions: set[str], lost_ticks: int) -> None:
    from motecrypt.build.toolchain.arduino import build_sketch

    found = profile(
        read_image(build_sketch(EXAMPLES / example), UNO), UNO, FreeRun(max_seconds=0.5), lambda data: None
    )
    there = {c.name.partition("(")[0] for c in found.functions}
    assert functions <= there, there
    assert sum(c.self_cycles for c in found.functions if c.calls is not None) == found.ended.cycles
    handler = cost(found, "__vector_16")
    assert handler.calls == pytest.approx(0.5 * 16e6 / 16384, abs=lost_ticks), "a tick every 1.024 ms"
    assert any(line.file.endswith(Path(example).name) for line in found.lines)
