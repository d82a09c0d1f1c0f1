"""Reads a device's folder: its device.toml beside hal.c and linker scripts."""

from __future__ import annotations

from pathlib import Path

from motecrypt.catalog.flags import checked_compiler, checked_flags, checked_link_flags
from motecrypt.descriptor import Table
from motecrypt.model import Compiler, Current, Device, Memory, Placement


def read_device(folder: Path) -> Device:
    table = Table.read(folder / "device.toml")
    supply = table.table("supply")
    device = Device(
        name=folder.name,
        title=table.text("title"),
        chip=table.text("chip"),
        core=table.text("core"),
        clock_hz=table.integer("clock_hz"),
        kit=table.text("kit"),
        runner=table.text("runner"),
        source=table.text("source"),
        folder=folder,
        hal=table.texts("hal"),
        memory={name: _read_memory(t) for name, t in table.named_tables("memory").items()},
        compiler=_read_compiler(table.table("compiler")),
        placements={name: _read_placement(name, t) for name, t in table.named_tables("placement").items()},
        bench={key: int(value) for key, value in table.table("bench").rest().items()},
        simulator=table.table("simulator", {}).rest(),
        volts=supply.number("volts"),
        volts_min=supply.number("volts_min"),
        volts_max=supply.number("volts_max"),
        currents=tuple(_read_current(t) for t in table.tables("current", [])),
        extra=table.table("extra", {}).rest(),
    )
    supply.done()
    table.done()
    return device


def _read_memory(table: Table) -> Memory:
    memory = Memory(table.integer("bytes"), table.integer("address"), table.integer("span"))
    table.done()
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
        caches=table.texts("caches", ["none"]),
        defines=table.texts("defines", []),
        link_flags=checked_link_flags(table.texts("link_flags", []), table.where),
    )
    table.done()
    return placement


def _read_current(table: Table) -> Current:
    current = Current(
        table.text("state"), table.number("milliamperes"), table.text("condition"), table.text("source")
    )
    table.done()
    return current
