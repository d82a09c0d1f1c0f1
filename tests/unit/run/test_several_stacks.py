"""Firmware with several stacks, as of tasks: no figure of the deepest one, and each function's own cycles."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from command_line import run
from motecrypt.base.model import Device
from motecrypt.build.toolchain.scripts import link_flags
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.profiling import FunctionCost, Profile, profile
from motecrypt.simulate.emulate.run import Ended, FreeRun, run_freely
from tool_sets import needs_tool_set, on_devices

HERE = Path(__file__).parent
CATALOG = Catalog.load()
TASKS = on_devices(*map(CATALOG.device, ("uno", "pico", "stm32f4", "hifive1", "ch32v003")))
"""Those that the switch in tasks.c is written for: a return address of an ATmega2560 has three bytes."""
UNTIL = FreeRun(until=".", max_seconds=2)


def built(device: Device, folder: Path, source: str, *flags: str) -> Path:
    elf = folder / f"{Path(source).stem}.elf"
    compiler = device.compiler
    command: list[str | Path] = [compiler.command, *compiler.machine_flags, "-O1", "-g", HERE / source]
    command += [device.folder / name for name in device.hal]
    command += [f"-D{name}" for name in compiler.defines]
    command += [f"-I{FIRMWARE / 'include'}", *link_flags(device, "flash"), *flags, "-o", elf]
    subprocess.run(command, check=True, timeout=60)
    return elf


def ran(device: Device, elf: Path) -> Ended:
    said: list[bytes] = []
    ended = run_freely(read_image(elf, device), device, UNTIL, said.append)
    assert ended.reason == "until" and b"".join(said).endswith(b"."), ended.detail
    return ended


def profiled(device: Device, elf: Path) -> tuple[Profile, dict[str, FunctionCost]]:
    found = profile(read_image(elf, device), device, UNTIL, lambda _: None)
    assert found.ended.reason == "until", found.ended.detail
    return found, {cost.name: cost for cost in found.functions}


@pytest.mark.parametrize("name", TASKS)
def test_tasks_have_no_deepest_stack(tmp_path: Path, name: str) -> None:
    device = CATALOG.device(name)
    ended = ran(device, built(device, tmp_path, "tasks.c"))
    assert (ended.stack_bytes, ended.stack_reason) == (None, "several stacks")


@pytest.mark.parametrize("name", [*TASKS, *on_devices(CATALOG.device("mega2560"))])
@pytest.mark.parametrize("optimised", ["-Os", "-O0"])
def test_a_large_frame_is_counted(tmp_path: Path, name: str, optimised: str) -> None:
    device = CATALOG.device(name)
    room = 500 if name == "ch32v003" else 600
    elf = built(device, tmp_path, "tasks.c", f"-DDEEP={room}", optimised)
    ended = ran(device, elf)
    assert ended.stack_reason == "" and ended.stack_bytes is not None
    assert 2 * room <= ended.stack_bytes < 2 * room + 160
    found, costs = profiled(device, elf)
    assert found.ended.stack_bytes == ended.stack_bytes
    fixed, sized = costs["fixed"].stack_bytes, costs["sized"].stack_bytes
    assert fixed is not None and room <= fixed < room + 40
    assert sized is not None and 2 * room <= sized < 2 * room + 100


FRAME = """
#include "hal.h"
__attribute__((naked, noinline)) static void framed(const uint32_t *words) {
    __asm__ volatile("push {r7, lr}\\n mov r7, sp\\n subs r7, #240\\n BETWEEN\\n mov sp, r7\\n b 1f\\n"
                     "1: add sp, #240\\n pop {r7, pc}");
}
int main(void) {
    static const uint32_t words[4];
    hal_init();
    framed(words);
    hal_write('.');
    for (;;) {}
}
"""


@needs_tool_set("pico")
@pytest.mark.parametrize("between", ["nop", "ldmia.w r0, {r1, r2}", "ldr.w r1, [r0]", "add.w r1, r0, r2"])
def test_a_frame_is_followed_over_instructions_of_32_bits(tmp_path: Path, between: str) -> None:
    """Its register stays computed from the stack pointer while others are written."""
    source, device = tmp_path / "frame.c", CATALOG.device("stm32f4")
    source.write_text(FRAME.replace("BETWEEN", between))
    ended = ran(device, built(device, tmp_path, str(source)))
    assert ended.stack_reason == "" and ended.stack_bytes is not None and ended.stack_bytes >= 248


@pytest.mark.parametrize("name", TASKS)
def test_a_profile_does_not_charge_a_task_for_another(tmp_path: Path, name: str) -> None:
    device = CATALOG.device(name)
    found, costs = profiled(device, built(device, tmp_path, "tasks.c"))
    assert found.ended.stack_reason == "several stacks" and found.stack_over_time is None
    little, much, spin = costs["little_work"], costs["much_work"], costs["spin"]
    assert (little.calls, much.calls, spin.calls) == (5, 5, 19)
    assert little.cycles_range is not None and much.cycles_range is not None
    # 20 and 2,000 rounds of the same loop
    assert 20 < much.cycles_range[1] / little.cycles_range[1] < 110
    assert costs["little_task"].cycles < much.cycles_range[1], "without the other task"
    assert costs["much_task"].cycles > 10 * costs["little_task"].cycles
    # Each cycle is charged once, and to the function whose instruction took it.
    assert sum(cost.self_cycles for cost in found.functions if cost.calls) == found.ended.cycles
    for cost in (little, much, spin, costs["little_task"], costs["much_task"]):
        function = found.symbols.function_at(cost.address)
        assert function is not None
        own = sum(n for pc, (_, n) in found.instructions.items() if function.start <= pc < function.end)
        assert abs(own - cost.self_cycles) <= own * 0.02 + 20
    for cost in (little, much, spin):
        assert cost.stack_bytes is not None and cost.stack_bytes < 100
    assert costs["little_task"].stack_bytes is None, "what was below it is not known"


@needs_tool_set("pico")
@pytest.mark.parametrize("name", ["pico", "pico2"])
def test_tasks_on_the_process_stack_are_kept_apart(tmp_path: Path, name: str) -> None:
    """PendSV's handler has the main stack; its cycles count for no task."""
    device = CATALOG.device(name)
    elf = built(device, tmp_path, "tasks_pendsv.c")
    ended = ran(device, elf)
    assert (ended.stack_bytes, ended.stack_reason, ended.interrupts) == (None, "several stacks", 10)
    found, costs = profiled(device, elf)
    little, much, handler = costs["little_work"], costs["much_work"], costs["on_pendsv"]
    assert (little.calls, much.calls, handler.calls, costs["spin"].calls) == (5, 5, 10, 19)
    assert little.cycles_range is not None and much.cycles_range is not None
    assert 50 < much.cycles_range[1] / little.cycles_range[1] < 110
    assert little.cycles_range[0] == little.cycles_range[2], "without the other task and the handler"
    assert costs["little_task"].cycles < much.cycles_range[1]
    assert handler.cycles == handler.self_cycles + costs["next"].cycles < little.cycles
    assert sum(cost.self_cycles for cost in found.functions if cost.calls) == found.ended.cycles
    for cost in (little, much, handler):
        assert cost.stack_bytes is not None and cost.stack_bytes < 40


@needs_tool_set("pico")
def test_a_bound_says_that_it_is_of_one_stack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`stack` bounds the stack of main: it does not say that a program with tasks fits."""
    device = CATALOG.device("pico")
    elf = str(built(device, tmp_path, "tasks_pendsv.c"))
    code, shown, _ = run(capsys, "stack", elf, "--device", "pico", "--until", ".")
    assert code == 0 and "several in the run: this is main's" in shown and ": fits" not in shown
    _, shown, _ = run(capsys, "stack", elf, "--device", "pico", "--until", ".", "--json")
    told = json.loads(shown)
    assert told["program"]["several"] and told["run"]["stack_reason"] == "several stacks"
    alone = str(built(device, tmp_path, "tasks.c", "-DDEEP=100"))
    code, shown, _ = run(capsys, "stack", alone, "--device", "pico", "--until", ".")
    assert code == 0 and "several" not in shown
