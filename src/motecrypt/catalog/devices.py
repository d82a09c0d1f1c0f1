"""Reads a device's folder: its device.toml next to hal.c and linker scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.base.model import Compiler, Current, Device, Memory, Placement
from motecrypt.catalog.flags import checked_compiler, checked_flags, checked_link_flags
from motecrypt.catalog.flashing import read_flashing

MEMORIES = ("flash", "ram", "eeprom")
CACHES = ("none", "warm", "cold")
STATES = ("active", "idle", "sleep")
CURRENTS_OF = ("", "board", "chip")
SIMULATORS = ("simavr", "arm", "riscv")
BENCH = ("key", "nonce", "ad", "message")
_THUMB = (
    *("alu", "multiply", "load", "store", "load_multiple", "store_multiple", "push", "pop", "pop_pc"),
    *("branch", "branch_if", "branch_if_taken", "branch_link", "branch_exchange", "write_pc"),
    *("special", "barrier", "wait", "per_register"),
)
_PIPELINE = (
    *("alu", "multiply", "multiply_accumulate", "multiply_long", "multiply_long_most"),
    *("multiply_long_accumulate", "multiply_long_accumulate_most", "divide_least", "divide_most"),
    *("load", "load_after_load", "store", "store_indexed", "store_hides", "store_blocks"),
    *("address_wait", "multiple", "per_register", "branch", "load_pc", "table_branch"),
    *("refill_direct", "refill_register", "refill_memory", "refill_split", "if_then", "skipped"),
    *("special", "barrier", "wait", "unaligned"),
)
_M33 = (
    *("alu", "multiply", "multiply_long", "divide_least", "divide_most", "load", "store", "multiple"),
    *("per_register", "branch", "load_pc", "table_branch", "refill_direct", "refill_register"),
    *("refill_memory", "refill_split", "if_then", "skipped", "special", "barrier", "wait", "unaligned"),
    *("late", "sets_flags"),
)
ARM_CYCLES = {
    "cortex-m0": _THUMB,
    "cortex-m0plus": _THUMB,
    "cortex-m3": _PIPELINE,
    "cortex-m4": _PIPELINE,
    "cortex-m33": _M33,
}
"""Cores and the costs of their instructions, as drivers/arm_thumb.h, arm_pipeline.h, arm_m33.h name them."""
ARM_CHIPS = (
    *("RP2040", "STM32F407VG", "STM32L100RC", "STM32F103C8", "AT91SAM3X8E", "nRF52840"),
    *("nRF51822", "SAMD21G18A", "STM32F051R8", "RP2350"),
)
"""Chips whose registers the driver models, as drivers/arm_chip.h names them."""

RISCV_CORES = ("sifive-e31", "qingke-v2a", "esp32c3")
"""Cores that drivers/riscv.c has."""
RISCV_CHIPS = ("FE310-G002", "CH32V003", "ESP32-C3")
"""Chips whose registers the driver models, as drivers/riscv_chip.h lists them."""
RISCV_CYCLES = (
    *("alu", "load", "load_word_result", "load_narrow_result", "store", "multiply", "multiply_result"),
    *("divide", "divide_least_result", "divide_most_result", "csr", "csr_result", "atomic", "atomic_result"),
    *(
        "fence",
        "branch",
        "branch_taken",
        "jump",
        "jump_register",
        "mispredicted",
        "fetch_word",
        "fetch_ahead",
    ),
)
"""Costs of a RISC-V core's instructions, as drivers/riscv_timing.h names them."""
AVR_IO = (0x20, 0x137)
"""Data addresses at which libsimavr reports writes: its 280 registers after the core's 32."""
_MAY_COST_NOTHING = ("_result", "mispredicted", "fetch_word", "fetch_ahead")


def read_device(folder: Path) -> Device:
    table = Table.read(folder / "device.toml")
    table.renamed("kit", "tool_set")
    supply = table.table("supply")
    runner = table.text("runner", filled=True)
    device = Device(
        name=folder.name,
        title=table.text("title", filled=True),
        chip=(chip := table.text("chip", filled=True)),
        core=(core := table.text("core", filled=True)),
        clock_hz=table.integer("clock_hz", low=1, high=100_000_000_000),
        tool_set=table.text("tool_set", filled=True),
        runner=runner,
        source=table.text("source"),
        folder=folder,
        hal=table.texts("hal"),
        memory={name: _read_memory(t) for name, t in table.named_tables("memory", choices=MEMORIES).items()},
        compiler=_read_compiler(table.table("compiler")),
        placements={name: _read_placement(name, t) for name, t in table.named_tables("placement").items()},
        bench=_read_bench(table.table("bench")),
        simulator=_read_simulator(
            runner, core, chip, table.table("simulator", ... if runner in SIMULATORS else {})
        ),
        volts=supply.number("volts", above=0),
        volts_min=supply.number("volts_min", above=0),
        volts_max=supply.number("volts_max", above=0),
        currents=tuple(_read_current(t) for t in table.tables("current", [])),
        extra=_read_extra(table.table("extra", {})),
        flashing=read_flashing(table.table("flashing", {})),
    )
    supply.done()
    table.done()
    if not device.volts_min <= device.volts <= device.volts_max:
        raise InputError(f"{supply.where}: needs volts_min <= volts <= volts_max")
    if "flash" not in device.memory:
        raise InputError(f"{table.where}: 'memory.flash' is missing; expected its bytes, address and span")
    return device


def _read_bench(table: Table) -> dict[str, int]:
    """How many bytes the benchmark firmware holds of each."""
    held = {name: table.integer(name, low=1, high=1 << 20) for name in BENCH}
    table.done()
    return held


def _read_simulator(runner: str, core: str, chip: str, table: Table) -> dict[str, Any]:
    """The settings of the chip for a runner, as plain data; runners other than these take what they like."""
    values = table.plain()
    if runner == "simavr":
        table.text("mcu", filled=True)
        for name in ("mark_address", "simulated_address"):
            table.integer(name, low=AVR_IO[0], high=AVR_IO[1])
        line = table.integer("line_address", 0, low=0, high=AVR_IO[1])
        if 0 < line < AVR_IO[0]:
            raise table.wrong("line_address", line, f"0 for none, or at least {AVR_IO[0]:#x}")
        table.integer("max_cycles", low=1)
    elif runner == "arm":
        for name in ("vectors", "mark_address", "simulated_address", "stack_limit"):
            table.integer(name, low=0, high=0xFFFF_FFFF)
        table.integer("max_cycles", low=1)
        for name in ("bus_read_extra", "bus_write_extra", "io_port_saves"):
            table.integer(name, low=0, high=1000)
        _check_known(table, runner, core, tuple(ARM_CYCLES), chip, ARM_CHIPS)
        cycles = table.table("cycles")
        for name in ARM_CYCLES[core]:
            cycles.integer(name, low=0, high=1000)
        cycles.done()
        _check_cache(table)
        _check_memory(table)
    elif runner == "riscv":
        _check_riscv(table, core, chip)
    else:
        return values
    table.done()
    return values


def _check_known(
    table: Table, runner: str, core: str, cores: tuple[str, ...], chip: str, chips: tuple[str, ...]
) -> None:
    """Refuse a core or a chip that a driver does not have."""
    for what, given, known in (("core", core, cores), ("chip", chip, chips)):
        if given not in known:
            raise InputError(
                f"{table.where}: runner '{runner}' has no {what} {given!r}; choose one of {', '.join(known)}"
            )


def _check_riscv(table: Table, core: str, chip: str) -> None:
    """Settings of drivers/riscv.c: costs of instructions are at least 1, those of results may be 0."""
    for name in ("mark_address", "simulated_address", "stack_limit"):
        table.integer(name, low=0, high=0xFFFF_FFFF)
    table.integer("max_cycles", low=1)
    _check_known(table, "riscv", core, RISCV_CORES, chip, RISCV_CHIPS)
    cycles = table.table("cycles")
    for name in RISCV_CYCLES:
        high = 7 if name == "fetch_ahead" else 255
        cycles.integer(name, low=0 if name.endswith(_MAY_COST_NOTHING) else 1, high=high)
    cycles.done()
    predictor = table.table("predictor", {})
    if predictor.plain():
        for name, high in (("btb", 64), ("bht", 1024), ("ras", 16)):
            predictor.integer(name, low=1, high=high)
    predictor.done()
    _check_cache(table)


def _check_cache(table: Table) -> None:
    """A flash cache, and what a missed line costs by how the flash is read: both or neither."""
    there = table.plain()
    if "flash_cache" not in there and "flash_read" not in there:
        return
    cache, reads = table.table("flash_cache"), table.tables("flash_read")
    if not reads:
        raise table.wrong("flash_read", [], "at least one way to read the flash")
    for name in ("bytes", "ways", "line_bytes"):
        cache.integer(name, low=1, high=1 << 24)
    cache.done()
    for read in reads:
        read.text("name", filled=True)
        read.integer("clocks", low=1, high=10_000)
        read.integer("divider", low=1, high=1000)
        read.text("source")
        read.done()


def _check_memory(table: Table) -> None:
    """A flash with wait states: its lines, what reads ahead, its caches. What is not given is 0."""
    memory = table.table("memory", {})
    if not memory.plain():
        return
    if "flash_cache" in table.plain():
        raise InputError(f"{table.where}: give 'memory' or 'flash_cache', not both")
    line_bytes = memory.integer("line_bytes", low=4, high=256)
    if line_bytes & (line_bytes - 1):
        raise memory.wrong("line_bytes", line_bytes, "a power of two")
    for name in ("wait_states", "data_wait_states", "ahead_delay", "core_ahead_bytes", "core_word_cycles"):
        memory.integer(name, 0, low=0, high=64)
    for name in ("reads_ahead", "keeps_ahead", "shared"):
        memory.integer(name, 0, low=0, high=1)
    for cache in ("code", "data"):
        lines = memory.integer(f"{cache}_lines", 0, low=0, high=1024)
        if lines & (lines - 1):
            raise memory.wrong(f"{cache}_lines", lines, "a power of two")
        bounds: dict[str, Any] = {"low": 1, "high": min(lines, 64)} if lines else {"low": 0, "high": 64}
        ways = memory.integer(f"{cache}_ways", ... if lines else 0, **bounds)
        if ways & (ways - 1):
            raise memory.wrong(f"{cache}_ways", ways, "a power of two")
    memory.done()


def _read_extra(table: Table) -> dict[str, Any]:
    values = table.plain()
    for name in ("wake", "store_byte"):
        table.number(f"{name}_us", 0.0, low=0)
        table.text(f"{name}_source", "")
    table.done()
    return values


def _read_memory(table: Table) -> Memory:
    memory = Memory(
        bytes=table.integer("bytes", low=1),
        address=table.integer("address", low=0),
        span=table.integer("span", low=1),
    )
    table.done()
    if memory.span < memory.bytes:
        raise InputError(f"{table.where}: 'span' is less than 'bytes'")
    return memory


def _read_compiler(table: Table) -> Compiler:
    compiler = Compiler(
        command=checked_compiler(table.text("command"), table.where),
        machine_flags=checked_flags(table.texts("machine_flags", []), table.where),
        flags=checked_flags(table.texts("flags"), table.where),
        link_flags=checked_link_flags(table.texts("link_flags", []), table.where),
        defines=table.texts("defines", []),
        shared=table.flag("shared", False),
    )
    table.done()
    return compiler


def _read_placement(name: str, table: Table) -> Placement:
    placement = Placement(
        name=name,
        caches=table.texts("caches", ["none"], choices=CACHES),
        defines=table.texts("defines", []),
        link_flags=checked_link_flags(table.texts("link_flags", []), table.where),
        tables=table.text("tables", "", choices=("flash", "ram")),
    )
    table.done()
    return placement


def _read_current(table: Table) -> Current:
    current = Current(
        state=table.text("state", choices=STATES),
        milliamperes=table.number("milliamperes", above=0),
        condition=table.text("condition", filled=True),
        source=table.text("source"),
        of=table.text("of", "", choices=CURRENTS_OF),
    )
    table.done()
    return current
