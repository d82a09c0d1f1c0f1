"""Finds out why a figure of a gate grew: both builds are taken apart, and run again with a profile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from motecrypt.app.gate import OPERATION_FUNCTIONS, Taken, bounds_of, built, fed
from motecrypt.base.errors import MotecryptError
from motecrypt.base.frames import encode
from motecrypt.base.model import Cell, Device
from motecrypt.catalog import Catalog
from motecrypt.gate.causes import WORDS, PartFacts, grown, sizes
from motecrypt.gate.judge import GateCheck
from motecrypt.measuring.bench.inputs import draw
from motecrypt.simulate.emulate.contents import contents_of
from motecrypt.simulate.emulate.images import Image, read_image
from motecrypt.simulate.emulate.profiling import Profile, profile
from motecrypt.simulate.emulate.run import ChipSettings, FreeRun, Uart
from motecrypt.simulate.emulate.symbols import DEMANGLERS, read_symbols
from motecrypt.simulate.runners.protocol import OPERATION_CODES

_BYTE_S = 20 / 115_200  # of input and output, twice what the line takes
_MARGIN_S = 0.05
PROFILES_MAX = 12
"""Of failed checks of cycles, those whose cause is looked for: each takes two runs."""


def causes_of(failed: Sequence[GateCheck], head: Taken, base: Taken) -> dict[tuple[str, str], list[str]]:
    """The causes of failed checks, by benchmark and measure; nothing where the base's build is not here."""
    found: dict[tuple[str, str], list[str]] = {}
    profiles = 0
    for check in failed:
        key = (check.benchmark, check.measure)
        if check.base is None or check.value is None or key in found:
            continue
        profiles += check.measure == "cycles"
        if check.measure == "cycles" and profiles > PROFILES_MAX:
            continue
        try:
            found[key] = _causes(check, head, base)
        except MotecryptError as error:  # the figure is shown without its cause
            found[key] = [f"the cause could not be looked for: {error}"]
    return found


def _causes(check: GateCheck, head: Taken, base: Taken) -> list[str]:
    if check.measure not in WORDS:
        return []
    difference = (check.value or 0) - (check.base or 0)
    if check.measure == "cycles":
        parts = [_cycles(check, taken) for taken in (base, head)]
    else:
        parts = [_parts(check, taken) for taken in (base, head)]
    before, after = parts
    if before is None or after is None:
        return []
    told = grown(before, after, WORDS[check.measure], difference)
    rest = difference - sum(after.values()) + sum(before.values())
    if check.measure == "cycles" and rest > 0 and check.benchmark in head.cells:
        cell, _ = head.cells[check.benchmark]
        if cell.cache != "none":  # the profile counts what instructions take where every access hits
            told.append(f"misses of the flash cache +{rest:,.0f} cycles")
    return told


def _parts(check: GateCheck, taken: Taken) -> dict[str, float] | None:
    """What each function and variable of the check's build takes."""
    if check.build in taken.firmware:
        ran = taken.firmware[check.build]
        elf, device = ran.image.elf, ran.device
    elif check.build in taken.builds:
        device, elf = built(*taken.builds[check.build])
    else:
        return None
    return None if elf is None else sizes(_facts(elf, device), check.measure.removesuffix("_worst"))


def _facts(elf: Path, device: Device) -> list[PartFacts]:
    symbols = read_symbols(elf, DEMANGLERS.get(device.runner, "c++filt"))
    items = contents_of(elf, symbols, device.memory)
    frames = {bound.address: bound.own for bound in bounds_of(elf, device)}
    return [
        PartFacts(item.name, item.flash, item.ram, frames.get(item.address) if item.is_code else None)
        for item in items
    ]


# --- cycles ------------------------------------------------------------------------------------------


def _cycles(check: GateCheck, taken: Taken) -> dict[str, float] | None:
    """The cycles that each function took by itself: of a firmware's run, or of one operation with the first
    of the inputs that were measured."""
    if check.build in taken.firmware:
        ran = taken.firmware[check.build]
        function = check.benchmark.removeprefix(check.build).removeprefix("/")
        return _below(ran.profile, function)
    if check.benchmark not in taken.cells:
        return None
    cell, catalog = taken.cells[check.benchmark]
    device, elf = built(cell, catalog)
    if not device.simulated:
        return None
    seconds = _MARGIN_S + 4 * (check.value or 0) / device.clock_hz
    found = _operated(read_image(elf, device), device, cell, catalog, seconds)
    return _below(found, OPERATION_FUNCTIONS[cell.operation])


def _operated(image: Image, device: Device, cell: Cell, catalog: Catalog, seconds: float) -> Profile:
    cipher = catalog.cipher(cell.implementation.cipher)
    data = draw(cipher.name, 0, cell.key_bits, cipher.nonce_bytes, cell.ad_bytes, cell.message_bytes)
    frames = [("K", data.key), ("N", data.nonce), ("A", data.ad), ("M", data.message)]
    frames = [(kind, payload) for kind, payload in frames if payload or kind == "M"]
    wanted = ["setup", *(["encrypt"] if cell.operation != "setup" else [])]
    wanted += ["decrypt"] if cell.operation == "decrypt" else []
    frames += [("R", bytes([OPERATION_CODES[name], 1, 0])) for name in wanted]
    uart = b"".join(encode(number, kind, payload) for number, (kind, payload) in enumerate(frames, start=1))
    told = 2 * len(uart) + len(wanted) * (64 + 2 * cell.message_bytes)
    with fed(uart) as handle:
        how = FreeRun(
            max_seconds=len(wanted) * seconds + told * _BYTE_S,
            max_output=None,
            uart=Uart(input=handle),
            chip=ChipSettings(cache="kept" if cell.cache != "none" else "none"),
        )
        return profile(image, device, how, lambda data: None)


def _below(found: Profile, function: str) -> dict[str, float]:
    """Own cycles of each function in the calls of one of them; of all where it is empty."""
    costs: dict[str, float] = {}
    for stack, cycles in found.stacks:
        if not function or function in stack:
            costs[stack[-1]] = costs.get(stack[-1], 0) + cycles
    return costs
