"""What a chip is: memories, vectors, clocks, blocks of registers, and how far our simulators model each.

A chip is one file, firmware/chips/NAME.toml, shared by the devices that carry it; or chip.toml next to a
device's own device.toml. A chip is read only when a firmware has run: `list` and `advise` need none.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.base.model import Device
from motecrypt.catalog.places import FIRMWARE

CHIPS = FIRMWARE / "chips"
ACCESS = ("r", "rw", "rx", "rwx")
CLOCKS = ("rc", "crystal", "pll", "external")
STATES = ("modelled", "partly", "kept", "absent")
KINDS = (
    *(
        "core",
        "interrupts",
        "debug",
        "clock",
        "reset",
        "power",
        "bus",
        "identity",
        "storage",
        "flash",
        "eeprom",
    ),
    *("gpio", "pin functions", "programmable pins", "uart", "spi", "i2c", "serial", "usb", "can", "ethernet"),
    *(
        "radio",
        "memory card",
        "external memory",
        "timer",
        "pwm",
        "rtc",
        "watchdog",
        "adc",
        "dac",
        "comparator",
    ),
    *("sensor", "audio", "display", "camera", "dma", "crypto", "random", "checksum"),
)
ADDRESS_MAX = 0xFFFF_FFFF
WORD = 4


@dataclass(frozen=True)
class AddressRange:
    """Addresses: from `address` on, so many `bytes`."""

    address: int
    bytes: int

    @property
    def end(self) -> int:
        """The first address after it."""
        return self.address + self.bytes

    def holds(self, address: int) -> bool:
        """Whether an address is one of them."""
        return self.address <= address < self.end


@dataclass(frozen=True)
class ChipMemory(AddressRange):
    """One memory.

    Parameters
    ----------
    external
        A window to a memory outside the chip, of which a board may have less.
    modelled
        Whether a simulated firmware finds it.
    cached
        Whether a cache or a buffer of lines is before it, at any clock that the chip has: then the time of a
        read may depend on its address.
    """

    access: str
    external: bool
    modelled: bool
    cached: bool = False


@dataclass(frozen=True)
class Block:
    """The registers of a peripheral, in one or more spans of addresses.

    Parameters
    ----------
    state
        "modelled": every register does what the chip's does, or is a setting without a consequence here.
        "partly": some registers do. "kept": no register does more than to keep what is written. "absent":
        there is nothing at these addresses, and a firmware that reaches them ends.
    """

    name: str
    kind: str
    state: str
    spans: tuple[AddressRange, ...]

    def holds(self, address: int) -> bool:
        """Whether a register at an address belongs to it."""
        return any(span.holds(address) for span in self.spans)


@dataclass(frozen=True)
class Gap(AddressRange):
    """Registers that are not modelled and have a note: what they are, and with which effect.

    `writes_only`: reading them has no note.
    """

    what: str
    effect: str
    writes_only: bool


@dataclass(frozen=True)
class Vectors:
    """Where the table of vectors is after a reset: `names[n]` is interrupt n, at its entry `first` + n."""

    address: int
    first: int
    names: tuple[str, ...]


@dataclass(frozen=True)
class ClockSource:
    """An oscillator or a PLL, with the frequencies that it can have."""

    name: str
    kind: str
    hz_min: int
    hz_max: int


@dataclass(frozen=True)
class CoreClock:
    """What may run the core, what does after a reset and how fast, and the fastest that the core may run."""

    sources: tuple[ClockSource, ...]
    after_reset: str
    hz_after_reset: int
    hz_max: int
    source: str


@dataclass(frozen=True)
class Reset:
    """What a register has after a reset, if it is not 0 and a driver or start-up code depends on it."""

    register: str
    address: int
    value: int


@dataclass(frozen=True)
class ChipData:
    """A chip, as its file describes it.

    Blocks, gaps and resets have the addresses of the core. The linker adds `data_address` to them on an AVR,
    as in `memory`. Without a `multiplier` a function of the compiler's library multiplies, bit by bit.
    """

    name: str
    title: str
    source: str
    data_address: int
    memory: Mapping[str, ChipMemory]
    vectors: Vectors
    clock: CoreClock
    blocks: tuple[Block, ...]
    gaps: tuple[Gap, ...]
    resets: tuple[Reset, ...]
    multiplier: bool = True

    def block_at(self, address: int) -> Block | None:
        """The block that a register belongs to."""
        return next((block for block in self.blocks if block.holds(address)), None)

    def names_of(self, addresses: Iterable[int]) -> str:
        """The blocks of these registers, each once, such as "SUPC, RTC"; "" where none is known."""
        found = (self.block_at(address) for address in addresses)
        return ", ".join(dict.fromkeys(block.name for block in found if block is not None))

    def names_by_start(self, starts: Iterable[int], registers: Iterable[int]) -> dict[int, str]:
        """Names for ranges of addresses that begin at `starts`: the blocks of the registers in each.

        A range without any of the registers has the name of the block at its start.
        """
        ordered = sorted(starts)
        used: dict[int, list[int]] = {start: [] for start in ordered}
        for register in registers:
            used[ordered[max(bisect_right(ordered, register) - 1, 0)]].append(register)
        return {start: self.names_of(found or [start]) for start, found in used.items()}


def chip_of(device: Device) -> ChipData | None:
    """The chip of a device; None where no file describes it.

    Raises
    ------
    InputError
        When its file is wrong, is of another chip, or has other memories than the device.
    """
    own, ours = device.folder / "chip.toml", CHIPS / f"{device.chip}.toml"
    path = own if own.exists() else ours
    if path is ours and (ours.parent != CHIPS or not ours.exists()):
        return None
    chip = read_chip(path)
    if chip.name != device.chip:
        raise InputError(f"{path}: 'name' is {chip.name!r}; expected {device.chip!r}, as in device.toml")
    for name, memory in device.memory.items():
        of_chip = chip.memory.get(name)
        if of_chip is None:
            raise InputError(f"{path}: 'memory.{name}' is missing; device.toml of {device.name} has it")
        fits = of_chip.external and of_chip.address <= memory.address
        fits = fits and memory.address + memory.bytes <= of_chip.end
        if not fits and (memory.address, memory.bytes) != (of_chip.address, of_chip.bytes):
            raise InputError(
                f"{path}: 'memory.{name}' is {of_chip.bytes} bytes at {of_chip.address:#x}; device.toml of "
                f"{device.name} has {memory.bytes} at {memory.address:#x}"
            )
    return chip


def read_chip(path: Path) -> ChipData:
    """A chip's file.

    Raises
    ------
    InputError
        When a key is missing, unknown or wrong, or when two parts have the same address.
    """
    table = Table.read(path)
    registers = table.table("registers")
    chip = ChipData(
        name=table.text("name", filled=True),
        title=table.text("title", filled=True),
        source=table.text("source"),
        data_address=table.integer("data_address", 0, low=0, high=ADDRESS_MAX),
        memory={name: _memory(each) for name, each in table.named_tables("memory").items()},
        vectors=_vectors(table.table("vectors")),
        clock=_clock(table.table("clock")),
        blocks=tuple(_block(each) for each in registers.tables("blocks")),
        gaps=tuple(_gap(each) for each in registers.tables("gaps", [])),
        resets=tuple(_reset(each) for each in registers.tables("resets", [])),
        multiplier=table.flag("multiplier", True),
    )
    registers.done()
    table.done()
    _check_apart(chip, path)
    _check_inside(chip, path)
    return chip


def _address(table: Table) -> int:
    return table.integer("address", low=0, high=ADDRESS_MAX)


def _span(table: Table) -> AddressRange:
    address = _address(table)
    return AddressRange(address=address, bytes=table.integer("bytes", low=1, high=ADDRESS_MAX + 1 - address))


def _memory(table: Table) -> ChipMemory:
    span = _span(table)
    memory = ChipMemory(
        address=span.address,
        bytes=span.bytes,
        access=table.text("access", choices=ACCESS),
        external=table.flag("external", False),
        modelled=table.flag("modelled", True),
        cached=table.flag("cached", False),
    )
    table.done()
    return memory


def _vectors(table: Table) -> Vectors:
    vectors = Vectors(_address(table), table.integer("first", low=0, high=255), table.texts("names"))
    named = [name for name in vectors.names if name]
    for name in named:
        if named.count(name) > 1:
            raise InputError(f"{table.where}: 'names' has {name!r} twice; expected each interrupt once")
    table.done()
    return vectors


def _clock(table: Table) -> CoreClock:
    sources = tuple(_clock_source(each) for each in table.tables("sources"))
    hz_max = table.integer("hz_max", low=1)
    clock = CoreClock(
        sources=sources,
        after_reset=table.text("after_reset", choices=[each.name for each in sources]),
        hz_after_reset=table.integer("hz_after_reset", low=1, high=hz_max),
        hz_max=hz_max,
        source=table.text("source"),
    )
    table.done()
    return clock


def _clock_source(table: Table) -> ClockSource:
    name, kind = table.text("name", filled=True), table.text("kind", choices=CLOCKS)
    hz = table.integers("hz")
    if len(hz) not in (1, 2) or not 1 <= hz[0] <= hz[-1]:
        raise table.wrong("hz", list(hz), "one frequency, or the least and the most")
    table.done()
    return ClockSource(name, kind, hz[0], hz[-1])


def _block(table: Table) -> Block:
    name = table.text("name", filled=True)
    spans = [_span(table)]
    for each in table.tables("also", []):
        spans.append(_span(each))
        each.done()
    block = Block(
        name=name,
        kind=table.text("kind", choices=KINDS),
        state=table.text("state", choices=STATES),
        spans=tuple(spans),
    )
    table.done()
    return block


def _gap(table: Table) -> Gap:
    span = _span(table)
    gap = Gap(
        address=span.address,
        bytes=span.bytes,
        what=table.text("what", filled=True),
        effect=table.text("effect", ""),
        writes_only=table.flag("writes_only", False),
    )
    table.done()
    return gap


def _reset(table: Table) -> Reset:
    register = table.text("register", filled=True)
    reset = Reset(register, _address(table), table.integer("value", low=1, high=0xFFFF_FFFF))
    table.done()
    return reset


def _check_apart(chip: ChipData, path: Path) -> None:
    """Refuse names and addresses that two parts have, and parts that do not consist of whole words."""
    parts: list[tuple[str, AddressRange]] = [
        (f"memory.{name}", memory) for name, memory in chip.memory.items()
    ]
    names = set()
    for block in chip.blocks:
        if block.name in names:
            raise InputError(f"{path}: two blocks have the name {block.name!r}; expected each once")
        names.add(block.name)
        for span in block.spans:
            parts.append(
                (f"block {block.name!r}", AddressRange(span.address + chip.data_address, span.bytes))
            )
    for name, span in parts if chip.data_address == 0 else ():
        if span.address % WORD or span.bytes % WORD:
            raise InputError(
                f"{path}: {name} has {span.bytes} bytes at {span.address:#x}; expected multiples of {WORD}"
            )
    parts.sort(key=lambda part: part[1].address)
    for (first, one), (second, other) in pairwise(parts):
        if other.address < one.end:
            raise InputError(
                f"{path}: {first} and {second} overlap at {other.address:#x}; correct an 'address' or 'bytes'"
            )


def _check_inside(chip: ChipData, path: Path) -> None:
    """Refuse vectors outside the memories, and gaps and reset values outside the blocks."""
    if not any(memory.holds(chip.vectors.address) for memory in chip.memory.values()):
        raise InputError(f"{path}: vectors: 'address' is {chip.vectors.address:#x}, where no memory is")
    places = [("gap", gap.address) for gap in chip.gaps] + [("reset", each.address) for each in chip.resets]
    for kind, address in places:
        block = chip.block_at(address)
        if block is None or block.state == "absent":
            raise InputError(
                f"{path}: {kind}: 'address' is {address:#x}, where no block is that firmware can reach"
            )
