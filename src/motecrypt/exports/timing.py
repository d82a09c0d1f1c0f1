"""Whether the time of an exported cipher may depend on its secrets: what it reads, and from which memory.

What secrets steer in an implementation is in its folder (`timing`, `multiplies`); what is cached, and whether
there is a multiplier, in a device's chip and in target.toml: there is no list of any of these here.
"""

from __future__ import annotations

from collections.abc import Sequence

from motecrypt.base.model import Cipher, Device, Implementation
from motecrypt.catalog import Catalog
from motecrypt.catalog.chips import chip_of
from motecrypt.exports.targets import Target

_STEERS = "addresses that depend on the key and the message"


def memory_of(device: Device, body: Implementation, placement: str) -> str:
    """The memory that an implementation reads at addresses which depend on secrets."""
    if body.timing == "state":
        return "ram"
    return device.placements[placement].tables or placement


def reads_a_cache(device: Device, memory: str) -> bool:
    """Whether reads of that memory may go through a cache; on a core that no chip's file describes,
    they may unless it is an AVR, which has none."""
    chip = chip_of(device)
    if memory in device.placements and device.placements[memory].caches != ("none",):
        return True
    if chip is None:
        return not device.core.startswith("avr")
    return chip.memory[memory].cached if memory in chip.memory else True


def constant(catalog: Catalog, target: Target, body: Implementation, placement: str) -> bool:
    """Whether its time does not depend on secrets where the target runs, with its tables in that place."""
    if _multiplies_in_software(catalog, target, body):
        return False
    if body.timing == "rotations":
        return not _rotates_in_loops(target)
    if body.timing not in ("state", "tables"):
        return body.timing == "constant"
    device = catalog.device(target.device)
    if target.cached or placement not in device.placements:
        return False
    return not reads_a_cache(device, memory_of(device, body, placement))


def _multiplies_in_software(catalog: Catalog, target: Target, body: Implementation) -> bool:
    """By a function of the compiler's library, which branches on the bits of its operands."""
    device = catalog.device(target.device)
    chip = chip_of(device) if device.core == target.core else None
    return body.multiplies and chip is not None and not chip.multiplier


def _rotates_in_loops(target: Target) -> bool:
    """An AVR shifts by one bit an instruction: by more in a loop."""
    return target.core.startswith("avr")


def places(catalog: Catalog, target: Target, body: Implementation) -> Sequence[str]:
    """Where its tables can be on the target's device."""
    there = catalog.device(target.device).placements
    return [place for place in there if place in (body.placements or ("flash",))]


def place(catalog: Catalog, target: Target, body: Implementation, variant: str | None, placement: str) -> str:
    """Where the tables of an export are: in the place that was asked for; with a variant that was asked for
    in flash; else in the first place from which their reads take the same time, if there is one."""
    if placement:
        return placement
    if variant:
        return "flash"
    found = [one for one in places(catalog, target, body) if constant(catalog, target, body, one)]
    return found[0] if found else "flash"


def timing_line(
    catalog: Catalog, target: Target, cipher: Cipher, body: Implementation, placement: str, asked: str
) -> str:
    """What the README of an export says; `asked` is how a command names the cipher."""
    device = catalog.device(target.device)
    if body.timing == "":
        return (
            f"**Timing: not examined.** `motecrypt audit {asked} --part taint` shows where the key and the "
            "message choose branches and addresses."
        )
    if _multiplies_in_software(catalog, target, body):
        return (
            f"**Timing: not constant.** It multiplies numbers that depend on the key and the message, and "
            f"{device.title} has no multiplier: a function of the compiler's library does it bit by bit. "
            "`ascon-aead128` does not multiply."
        )
    if body.timing == "rotations" and _rotates_in_loops(target):
        return (
            "**Timing: not constant.** It rotates words by amounts that depend on the key and the message, "
            f"which {device.title} does bit by bit. {_without(catalog, target, cipher)}"
        )
    even = body.timing in ("constant", "rotations")
    if even and body.runs_on("native"):
        return (
            "**Timing: constant.** No branch and no address depends on the key or the message: valgrind's "
            "memcheck followed both through this code, compiled by GCC for a computer. Another compiler may "
            "translate it in another way."
        )
    if even:
        return (
            "**Timing: constant.** No branch and no address depends on the key or the message: in "
            "motecrypt's simulator instructions and addresses were the same for random keys and messages."
        )
    reads = f"It reads tables at {_STEERS}"
    memory = "RAM" if memory_of(device, body, placement) == "ram" else "flash"
    if target.cached or device.core != target.core:
        return (
            f"**Timing: not constant behind a cache.** {reads}: where no cache is before them, each read "
            "takes the same time; with a data cache, or a cache before the flash, its time depends on the "
            "key. " + _without(catalog, target, cipher)
        )
    if constant(catalog, target, body, placement):
        return (
            f"**Timing: constant on this device.** {reads}. The {memory} of {device.title} has no cache: "
            "each read takes the same time. Behind a cache its time would depend on the key."
        )
    return (
        f"**Timing: not constant.** {reads}, in the {memory} of {device.title}, which has a cache: the time "
        "of a read depends on the key. " + _without(catalog, target, cipher, body)
    )


def _without(catalog: Catalog, target: Target, cipher: Cipher, body: Implementation | None = None) -> str:
    """What to ask for instead."""
    ways = [
        f"`--placement {other}`"
        for other in (places(catalog, target, body) if body else ())
        if body and constant(catalog, target, body, other)
    ]
    ways += [
        f"`--variant {other.variant}`"
        for other in catalog.implementations_of(cipher.name, None, ["motecrypt"])
        if other.timing == "constant" and other.runs_on(target.core)
    ]
    if not ways:
        return f"No variant of {cipher.name} is without tables; `ascon-aead128` is."
    return f"Constant time: {' or '.join(ways)}."
