"""What a profile says of each line and instruction: source texts where they can be found, and machine code.

A firmware need not be trusted, and its debugging information may name any file of this computer. So a source
is read only if its name ends like one and it is in a folder that the caller allows.
"""

from __future__ import annotations

import bisect
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from motecrypt.base import process
from motecrypt.base.elf import code_bytes, elf_file
from motecrypt.base.errors import InputError
from motecrypt.base.model import Device
from motecrypt.base.paths import read_regular
from motecrypt.simulate.emulate.images import Image
from motecrypt.simulate.emulate.profiling import Profile

SOURCE_SUFFIXES = (
    ".c",
    ".h",
    ".cc",
    ".cpp",
    ".cxx",
    ".hpp",
    ".hh",
    ".ino",
    ".inc",
    ".s",
    ".S",
    ".sx",
    ".asm",
    ".rs",
)
SOURCE_BYTES_MAX = 4 << 20
CONTEXT_LINES = 3
"""Lines that are shown around those that ran."""
TEXT_MAX = 400
"""Characters of a line of source; the rest is cut."""

#: objdump and what it needs to know, by runner.
DISASSEMBLERS = {
    "simavr": ("avr-objdump", "-m", "avr"),
    "arm": ("arm-none-eabi-objdump", "-m", "arm", "-M", "force-thumb"),
    "riscv": ("riscv64-unknown-elf-objdump", "-m", "riscv:rv32"),
}
_LINE = re.compile(r"^\s*([0-9a-f]+):\s+(?:[0-9a-f]{2,8} ?)+\s*\t(.+)$")


@dataclass(frozen=True)
class Instruction:
    """One instruction that ran: its address, its text (empty if not known), how often, and cycles."""

    address: int
    text: str
    times: int
    cycles: int


@dataclass(frozen=True)
class SourceLine:
    """A line of a source; `times` is 0 and there are no instructions if it did not run."""

    number: int
    text: str
    times: int
    cycles: int
    instructions: tuple[Instruction, ...]


@dataclass(frozen=True)
class Listing:
    """A source file, or a function without lines.

    Parameters
    ----------
    name
        The file as the firmware names it, or the function.
    found
        Whether the source's text is in `lines`; of a function without lines it is False.
    lines
        In order; numbers are not consecutive where nothing ran. One line with number 0 for a function.
    """

    name: str
    found: bool
    cycles: int
    lines: tuple[SourceLine, ...]


def annotate(found: Profile, image: Image, device: Device, folders: Sequence[Path]) -> tuple[Listing, ...]:
    """Lines and instructions that ran, by file and function, those with most cycles first.

    Parameters
    ----------
    folders
        Where sources may be read, and where those are looked for whose names are relative.
    """
    texts = _disassembled(found.instructions, image, device)
    by_line: dict[tuple[str, int], list[Instruction]] = defaultdict(list)
    by_function: dict[str, list[Instruction]] = defaultdict(list)
    for address in sorted(found.instructions):
        times, cycles = found.instructions[address]
        one = Instruction(address, texts.get(address, ""), times, cycles)
        place = found.symbols.line_at(address)
        if place is not None:
            by_line[place].append(one)
        else:
            by_function[_function_at(found, address)].append(one)
    files: dict[str, dict[int, list[Instruction]]] = defaultdict(dict)
    for (file, line), instructions in by_line.items():
        files[file][line] = instructions
    allowed = [folder.resolve() for folder in folders]
    listings = [_of_file(name, lines, allowed) for name, lines in files.items()]
    listings += [
        Listing(name, False, _cycles(some), (SourceLine(0, "", some[0].times, _cycles(some), tuple(some)),))
        for name, some in by_function.items()
    ]
    return tuple(sorted(listings, key=lambda listing: (-listing.cycles, listing.name)))


def _cycles(instructions: Sequence[Instruction]) -> int:
    return sum(one.cycles for one in instructions)


def _function_at(found: Profile, address: int) -> str:
    functions = found.symbols.functions
    at = bisect.bisect_right(functions, address, key=lambda function: function.start) - 1
    if at >= 0 and functions[at].start <= address < functions[at].end:
        return functions[at].name
    return "code without a name"


# --- sources -------------------------------------------------------------------------------------------


def _of_file(name: str, ran: Mapping[int, list[Instruction]], allowed: Sequence[Path]) -> Listing:
    text = source_text(name, allowed)
    numbers = set(ran)
    if text is not None:
        around = range(-CONTEXT_LINES, CONTEXT_LINES + 1)
        numbers |= {n + by for n in ran for by in around if 1 <= n + by <= len(text)}
    lines = []
    for number in sorted(numbers):
        some = ran.get(number, [])
        shown = text[number - 1][:TEXT_MAX] if text is not None and number <= len(text) else ""
        lines.append(SourceLine(number, shown, some[0].times if some else 0, _cycles(some), tuple(some)))
    return Listing(name, text is not None, sum(line.cycles for line in lines), tuple(lines))


def source_text(name: str, allowed: Sequence[Path]) -> list[str] | None:
    """The lines of a source that a firmware names; None if it may not be read or is not there.

    Parameters
    ----------
    allowed
        Folders, absolute and without symbolic links.
    """
    if not name.endswith(SOURCE_SUFFIXES) or "\0" in name:
        return None
    named = Path(name)
    places = [named] if named.is_absolute() else [folder / named for folder in allowed]
    for place in places:
        try:
            real = place.resolve()
            if any(real.is_relative_to(folder) for folder in allowed) and real.suffix in SOURCE_SUFFIXES:
                return read_regular(real, SOURCE_BYTES_MAX).decode(errors="replace").splitlines()
        except (InputError, OSError, RuntimeError):
            continue
    return None


# --- machine code --------------------------------------------------------------------------------------


def _disassembled(ran: Mapping[int, tuple[int, int]], image: Image, device: Device) -> dict[int, str]:
    """The text of each instruction that ran; of those whose bytes are not in the file there is none.

    The disassembler gets the bytes alone: it need not read a file that may be damaged on purpose.
    """
    texts: dict[int, str] = {}
    for start, content in _code(image):
        inside = [address for address in ran if start <= address < start + len(content)]
        if inside:
            first = min(inside)
            texts.update(_listed(content[first - start : max(inside) + 4 - start], first, device.runner))
    return {address: text for address, text in texts.items() if address in ran}


def _code(image: Image) -> Iterable[tuple[int, bytes]]:
    if image.elf is None:
        return [(segment.address, segment.data) for segment in image.segments]
    try:
        with elf_file(image.elf) as elf:
            return code_bytes(elf)
    except InputError:  # the firmware has run, so only texts are missing
        return []


def _listed(content: bytes, start: int, runner: str) -> dict[int, str]:
    program, *options = DISASSEMBLERS[runner]
    with tempfile.NamedTemporaryFile(prefix="motecrypt-code.") as file:
        file.write(content)
        file.flush()
        words = [program, "-D", "-z", "-b", "binary", *options, f"--adjust-vma={start:#x}", file.name]
        outcome = process.run(words, work_s=process.ASKED_S)
    return parse_objdump(outcome.output) if outcome.ok else {}


def parse_objdump(text: str) -> dict[int, str]:
    """Instructions by address, of what `objdump -D` prints; comments stay, spaces become single."""
    found = {}
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is not None:
            found[int(match[1], 16)] = " ".join(match[2].split())
    return found
