"""Where leaks are in the source, and what meets there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from motecrypt.attack.leakage.assessment import Assessment, Leak
from motecrypt.attack.leakage.models import SUM
from motecrypt.attack.leakage.recording import CHANNELS
from motecrypt.base.model import Device
from motecrypt.simulate.emulate.images import Image
from motecrypt.simulate.emulate.symbols import DEMANGLERS, Symbols, read_symbols

_MEETS = {
    "register": "{place} is overwritten",
    "data": "values follow each other on the data bus",
    "address": "addresses follow each other on the bus",
    "flash": "words follow each other from the flash",
    "latch": "words follow each other from the RAM",
    "cell": "memory at {place} is overwritten",
    "result": "the value that is written",
    SUM: "the weighted sum",
}


@dataclass(frozen=True)
class LeakPlace:
    """An instruction that leaks.

    Attributes
    ----------
    file, line, function
        Of its source; "" and 0 where the firmware has no debug information.
    pc
        Its address.
    instruction
        The number of its strongest execution in the window.
    channel
        The strongest one.
    what
        What meets there, in words; with the line that left the value before, where it is known.
    times
        How many samples of this line and channel leak.
    strength
        The largest of the smaller |t| of both sets.
    """

    file: str
    line: int
    function: str
    pc: int
    instruction: int
    channel: str
    what: str
    times: int
    strength: float
    other: LeakPlace | None = None

    @property
    def where(self) -> str:
        """File and line, or the address."""
        return f"{Path(self.file).name}:{self.line}" if self.file else f"{self.pc:#x}"


def places(image: Image, device: Device, assessment: Assessment, leaks: Sequence[Leak]) -> list[LeakPlace]:
    """Group leaks by source line and channel, the strongest first; without lines by address.

    Parameters
    ----------
    leaks
        Of one order of the assessment, the strongest first.
    """
    symbols = read_symbols(image.elf, DEMANGLERS[device.runner]) if image.elf else Symbols((), {}, (), ())
    finder = _Finder(symbols, assessment, "x" if device.runner == "riscv" else "r")
    grouped: dict[tuple[object, ...], list[Leak]] = {}
    for leak in leaks:
        ends = [(leak.instruction, leak.channel)] + ([leak.other] if leak.other else [])
        key = tuple((finder.line_of(number), channel) for number, channel in ends)
        grouped.setdefault(key, []).append(leak)
    return [finder.place(same[0], len(same)) for same in grouped.values()]


def line_of(image: Image, device: Device, pc: int) -> str:
    """File and line of an address, or the address itself."""
    line = read_symbols(image.elf, DEMANGLERS[device.runner]).line_at(pc) if image.elf else None
    return f"{Path(line[0]).name}:{line[1]}" if line else f"{pc:#x}"


class _Finder:
    def __init__(self, symbols: Symbols, assessment: Assessment, register: str) -> None:
        self._symbols, self._assessment, self._register = symbols, assessment, register

    def line_of(self, number: int) -> object:
        """The source line of an instruction of the window, or its address."""
        pc = int(self._assessment.pcs[number])
        return self._symbols.line_at(pc) or pc

    def place(self, leak: Leak, times: int) -> LeakPlace:
        other = None
        if leak.other is not None:
            other = self._of(leak.other[0], leak.other[1], times, leak.strength, None)
        return self._of(leak.instruction, leak.channel, times, leak.strength, other)

    def _of(
        self, number: int, channel: str, times: int, strength: float, other: LeakPlace | None
    ) -> LeakPlace:
        pc = int(self._assessment.pcs[number])
        file, line = self._symbols.line_at(pc) or ("", 0)
        inside = next((f.name for f in self._symbols.functions if f.start <= pc < f.end), "")
        return LeakPlace(
            file, line, inside, pc, number, channel, self._what(number, channel), times, strength, other
        )

    def _what(self, number: int, channel: str) -> str:
        if channel == SUM:
            return _MEETS[SUM]
        meeting = self._assessment.details["meetings"][number, CHANNELS.index(channel)]
        place = int(meeting["place"])
        named = f"{self._register}{place}" if channel == "register" else f"{place:#x}"
        what = _MEETS[channel].format(place=named)
        source = int(meeting["source"])
        if source < 0 or channel == "result":
            return what
        left = self._symbols.line_at(int(self._assessment.pcs[source]))
        at = f"line {left[1]}" if left else f"{int(self._assessment.pcs[source]):#x}"
        return f"{what}: the value before is from {at}"
