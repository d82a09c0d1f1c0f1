"""What the harness compares, for any set of instructions. It does not depend on an engine."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol

TIMEOUT_S = 600

END = b"\x7e"
"""What a firmware sends after its last state; what follows does not count."""
Piece = str
"""Lines of assembly that belong together, such as a comparison and its branch."""


@dataclass(frozen=True)
class Program:
    """A random body between a known state and the report of what it left behind."""

    seed: int
    pieces: tuple[Piece, ...]
    interrupt_after: int | None = None
    """Cycles from the beginning of the body, about, to an interrupt; None: there is none."""

    def without(self, at: int, count: int) -> Program:
        """The same with some pieces left out."""
        return Program(self.seed, self.pieces[:at] + self.pieces[at + count :], self.interrupt_after)


@dataclass(frozen=True)
class Ended:
    """How a program ended in one engine."""

    state: bytes
    cycles: int | None = None
    """Of the body; None where the engine does not count."""


class Core(Protocol):
    """A set of instructions: how programs for it are made, built and read."""

    name: str
    state_bytes: int
    drivers: ClassVar[Sequence[str]]
    """Of ours, that run its firmware."""

    def program(self, seed: int) -> Program:
        """A random program; equal seeds give equal ones."""
        ...

    def build(self, programs: Sequence[Program], engine: Engine, folder: Path) -> Path:
        """One firmware of several programs for an engine, as an ELF file in the folder."""
        ...

    def describe(self, one: bytes, other: bytes) -> str:
        """The first differences of two states, for a person."""
        ...


class Engine(Protocol):
    """Something that runs firmware."""

    name: str

    def run(self, firmware: Path, folder: Path) -> tuple[bytes, list[int] | None]:
        """What the firmware sent, END included, and the cycles of each body.

        Raises
        ------
        EngineFault
            It did not end as it must.
        """
        ...


class EngineFault(Exception):
    """An engine that did not run the firmware to its end. Two such faults are never the same."""


@dataclass(frozen=True)
class Difference:
    """A program that did not end the same, as short as it could be made."""

    program: Program
    what: str

    def __str__(self) -> str:
        body = "\n".join(self.program.pieces)
        return f"seed {self.program.seed}: {self.what}\n{body}"


def run(core: Core, engine: Engine, programs: Sequence[Program], folder: Path) -> list[Ended]:
    """Each program's end. Cycles are those that it takes more than an empty one, which is run first."""
    firmware = core.build([Program(0, ()), *programs], engine, folder)
    sent, cycles = engine.run(firmware, folder)
    count, size = len(programs) + 1, 2 * core.state_bytes
    if sent[count * size : count * size + 1] != END:
        raise EngineFault(f"{engine.name} sent {len(sent)} bytes for {count} programs of {size}")
    states = [decoded(sent[at : at + size]) for at in range(0, count * size, size)]
    if cycles is None:
        return [Ended(state) for state in states[1:]]
    assert len(cycles) == count, (engine.name, len(cycles), count)
    return [Ended(state, taken - cycles[0]) for state, taken in zip(states[1:], cycles[1:], strict=True)]


def decoded(sent: bytes) -> bytes:
    """Bytes from halves, the upper one first, each in the lower bits of a byte that is never END."""
    return bytes((high & 15) << 4 | (low & 15) for high, low in zip(sent[::2], sent[1::2], strict=True))


def differences(
    core: Core, engines: Sequence[Engine], other: Engine, programs: Sequence[Program], folder: Path
) -> list[Difference]:
    """The programs that an engine ends otherwise than the other one, each shrunk with the first such."""
    expected = _ends(core, other, programs, folder)
    ends = [_ends(core, engine, programs, folder) for engine in engines]
    found = []
    for program, two, *all_ours in zip(programs, expected, *ends, strict=True):
        for engine, one in zip(engines, all_ours, strict=True):
            if what := _differ(core, one, two):
                found.append(_shrunk(program, what, partial(_once, core, engine, other, folder)))
                break
    return found


def _ends(
    core: Core, engine: Engine, programs: Sequence[Program], folder: Path
) -> Sequence[Ended | EngineFault]:
    """As run; where the firmware as a whole does not end, each half by itself."""
    try:
        return run(core, engine, programs, folder)
    except EngineFault as error:
        if len(programs) == 1:
            return [error]
        half = len(programs) // 2
        return [*_ends(core, engine, programs[:half], folder), *_ends(core, engine, programs[half:], folder)]


def _differ(core: Core, one: Ended | EngineFault, other: Ended | EngineFault) -> str:
    """How, or nothing."""
    if isinstance(one, EngineFault) or isinstance(other, EngineFault):
        return f"{one} / {other}"
    if one.state != other.state:
        return core.describe(one.state, other.state)
    if one.cycles is not None and other.cycles is not None and one.cycles != other.cycles:
        return f"{one.cycles} cycles / {other.cycles}"
    return ""


def _once(core: Core, one: Engine, other: Engine, folder: Path, program: Program) -> str:
    (first,), (second,) = (_ends(core, engine, [program], folder) for engine in (one, other))
    return _differ(core, first, second)


def _shrunk(program: Program, what: str, differs: Callable[[Program], str]) -> Difference:
    """Leaves out pieces, halves first, for as long as it still differs."""
    step = max(1, len(program.pieces) // 2)
    while step:
        at = 0
        while at < len(program.pieces):
            shorter = program.without(at, step)
            if told := differs(shorter):
                program, what = shorter, told
            else:
                at += step
        step //= 2
    return Difference(program, what)


def ran(command: Sequence[str | Path], codes: Sequence[int] = (0,)) -> subprocess.CompletedProcess[bytes]:
    """An engine's own process, without input, and with one of these exit codes; its events are on standard
    error."""
    command = [str(part).replace("{events}", "2") for part in command]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise EngineFault(f"{Path(command[0]).name} did not end") from error
    if done.returncode not in codes:
        raise EngineFault(f"{Path(command[0]).name}: exit code {done.returncode}: {done.stderr[-300:]!r}")
    return done


def regions(said: bytes) -> tuple[list[int], dict[str, Any]]:
    """The cycles of each region, and the last event, of what a driver of ours says on standard error."""
    events = [json.loads(line) for line in said.decode().splitlines() if line.startswith("{")]
    return [event["cycles"] for event in events if event["event"] == "region"], events[-1]


def assembled(compiler: Sequence[str], text: str, folder: Path) -> Path:
    """The text as an ELF file; the same one again is not assembled again."""
    source, elf = folder / "lockstep.S", folder / "lockstep.elf"
    text = f"/* {' '.join(compiler)} */\n{text}"
    if elf.is_file() and source.read_text() == text:
        return elf
    elf.unlink(missing_ok=True)
    source.write_text(text)
    done = subprocess.run(
        [*compiler, "-nostdlib", source, "-o", elf],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return elf


def flat(elf: Path, objcopy: str) -> Path:
    """The image of an ELF file, from its lowest address on."""
    image = elf.with_suffix(".bin")
    subprocess.run([objcopy, "-O", "binary", "--gap-fill", "0xff", elf, image], check=True, timeout=TIMEOUT_S)
    return image


def named(names: Sequence[str], one: bytes, other: bytes) -> str:
    """The names of the bytes that differ, with both values."""
    pairs = zip(names, one, other, strict=True)
    return ", ".join(f"{name} {a:02x} / {b:02x}" for name, a, b in pairs if a != b)


def seeded(core: str, seed: int) -> random.Random:
    """The source of randomness of one program."""
    return random.Random(f"{core} {seed}")
