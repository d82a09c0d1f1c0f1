"""A firmware's machine code by address, and what the walks of all cores share. Independent of cores."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Literal

from motecrypt.base.elf import code_bytes, elf_file, symbols_of
from motecrypt.base.errors import InputError
from motecrypt.simulate.emulate.symbols import Function, Symbols

VISITS_MAX = 40
"""Times that a place is reached with a deeper stack each time, before its loop is taken to have no bound."""

CallKind = Literal["call", "jump", "pointer"]


@dataclass(frozen=True)
class Call:
    """A call, or a jump into another function, with the bytes of stack that are taken then; a return address
    comes on top. `target`: None if a register holds it."""

    address: int
    target: int | None
    depth: int
    kind: CallKind


@dataclass(frozen=True)
class Flow:
    """What one function does with the stack, by itself.

    Attributes
    ----------
    frame : the deepest stack, in bytes, without what it calls.
    dynamic : the stack pointer is set from a value that is not known, or pushed in a loop.
    """

    entry: int
    frame: int
    calls: tuple[Call, ...]
    dynamic: bool


@dataclass(frozen=True)
class State:
    """The stack's depth in bytes, and the registers that hold a place in it or a number."""

    depth: int
    known: Mapping[int, tuple[str, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class StepOutcome:
    """What one instruction does: its size in bytes, the state after it, and where it goes.

    `follows`: whether the next instruction is reached; `targets`: other places in code; `table`: it jumps to
    where a register says, such as a case of a table.
    """

    size: int
    state: State
    follows: bool = True
    targets: tuple[int, ...] = ()
    calls: tuple[Call, ...] = ()
    table: bool = False
    dynamic: bool = False


Step = Callable[["MachineCode", int, State], StepOutcome]


@dataclass(frozen=True)
class MachineCode:
    """Executable bytes by address, the functions in them, and ranges that are data."""

    sections: tuple[tuple[int, bytes], ...]
    functions: tuple[Function, ...]
    labels: Mapping[int, str]
    data: tuple[tuple[int, int], ...]

    @cached_property
    def _starts(self) -> list[int]:
        return [function.start for function in self.functions]

    @cached_property
    def _names(self) -> dict[int, str]:
        return {function.start: function.name for function in self.functions}

    def bytes_at(self, address: int, count: int) -> bytes:
        """A number of bytes, or fewer at the end; none outside of code."""
        for start, content in self.sections:
            if start <= address < start + len(content):
                return content[address - start : address - start + count]
        return b""

    def half_at(self, address: int) -> int | None:
        """A little-endian half word; None outside of code."""
        content = self.bytes_at(address, 2)
        return int.from_bytes(content, "little") if len(content) == 2 else None

    def word_at(self, address: int) -> int | None:
        """A little-endian word; None outside of code."""
        content = self.bytes_at(address, 4)
        return int.from_bytes(content, "little") if len(content) == 4 else None

    def is_data(self, address: int) -> bool:
        """Whether a table or a constant is there."""
        at = bisect.bisect_right(self.data, (address, 1 << 40)) - 1
        return at >= 0 and self.data[at][0] <= address < self.data[at][1]

    def bounds(self, address: int) -> tuple[int, int]:
        """The function that an address is in; else from there to the next function or the end of the code."""
        starts = self._starts
        at = bisect.bisect_right(starts, address) - 1
        if at >= 0 and address < self.functions[at].end:
            return self.functions[at].start, self.functions[at].end
        ends = starts[at + 1 : at + 2]
        ends += [
            start + len(content)
            for start, content in self.sections
            if start <= address < start + len(content)
        ]
        return address, min(ends, default=address)

    def section_end(self, address: int) -> int:
        """Where the code that an address is in ends; the address itself outside of code."""
        ends = (s + len(content) for s, content in self.sections if s <= address < s + len(content))
        return next(ends, address)

    def name(self, address: int) -> str:
        """A function's name; of a place inside one, its own label, or the function's name and the offset."""
        start, _ = self.bounds(address)
        named = self._names
        if address in named:
            return named[address]
        if address in self.labels:
            return self.labels[address]
        return f"{named[start]}+{address - start:#x}" if start in named else f"{address:#x}"


def read_code(elf: Path, symbols: Symbols) -> MachineCode:
    """The code of an ELF.

    Raises
    ------
    InputError
        It is damaged, or has no symbols.
    """
    if not symbols.functions:
        raise InputError(f"{elf}: has no symbols, so that its functions are not known; build it without -s")
    with elf_file(elf) as opened:
        sections, table = code_bytes(opened), list(symbols_of(opened))
    ends = [start + len(content) for start, content in sections]
    marks: list[tuple[int, bool]] = []
    data: list[tuple[int, int]] = []
    for symbol in table:
        address, kind = symbol["st_value"], symbol.name[:2]
        if kind in ("$t", "$a", "$d") and symbol["st_info"]["type"] == "STT_NOTYPE":  # ARM's mapping symbols
            marks.append((address, kind == "$d"))
        elif symbol["st_info"]["type"] == "STT_OBJECT" and symbol["st_size"]:
            data.append((address, address + symbol["st_size"]))
    marks.sort()
    for (address, is_data), (following, _) in pairwise([*marks, (1 << 40, False)]):
        if is_data:
            end = min((end for end in ends if end > address), default=address)
            data.append((address, min(following, end)))
    return MachineCode(sections, symbols.functions, symbols.labels, tuple(sorted(data)))


def walk(code: MachineCode, entry: int, step: Step) -> Flow:
    """Follow every path through a function from its entry, with the stack's depth.

    Where a jump goes by a register, all that has not been reached is taken to be its cases, each with the
    depth of the jump; where everything has been reached, it leads out of the function.
    """
    start, end = code.bounds(entry)
    end = min(end, code.section_end(entry))  # a symbol may claim any size
    left = start
    frame, dynamic = 0, False
    calls: dict[tuple[int, int | None], Call] = {}
    depths: dict[int, int] = {}
    visits: dict[int, int] = {}
    tables: list[tuple[int, State]] = []
    has_cases = False
    covered: set[int] = set()
    ahead: list[tuple[int, State]] = [(entry, State(0))]
    while True:
        while ahead:
            address, state = ahead.pop()
            while start <= address < end and not code.is_data(address):
                if address in depths and depths[address] >= state.depth:
                    break
                depths[address] = state.depth
                visits[address] = visits.get(address, 0) + 1
                if visits[address] > VISITS_MAX:
                    dynamic = True
                    break
                done = step(code, address, state)
                covered.update(range(address, address + done.size, 2))
                frame, dynamic = max(frame, state.depth, done.state.depth), dynamic or done.dynamic
                for call in done.calls:
                    known = calls.get((call.address, call.target))
                    if known is None or known.depth < call.depth:
                        calls[call.address, call.target] = call
                for target in done.targets:
                    if start <= target < end:
                        ahead.append((target, done.state))
                    else:
                        calls[address, target] = Call(address, target, done.state.depth, "jump")
                if done.table:
                    tables.append((address, done.state))
                if not done.follows:
                    break
                address, state = address + done.size, done.state
                if address >= end and any(call.kind == "call" for call in done.calls):
                    break  # a call at the very end does not return
            else:
                if address >= end and not code.is_data(address) and code.half_at(address) is not None:
                    calls[address, address] = Call(
                        address, address, state.depth, "jump"
                    )  # runs into the next
        while tables and left < end and (left in covered or code.is_data(left)):
            left += 2
        if not tables or left >= end:
            break
        has_cases = True
        covered.add(left)
        ahead.append((left, max((state for _, state in tables), key=lambda state: state.depth)))
    for address, state in tables if not has_cases else ():
        calls[address, None] = Call(address, None, state.depth, "pointer")
    return Flow(entry, frame, tuple(sorted(calls.values(), key=lambda call: call.address)), dynamic)


def without(known: Mapping[int, tuple[str, int]], *registers: int) -> dict[int, tuple[str, int]]:
    """What the other registers hold."""
    return {register: value for register, value in known.items() if register not in registers}


def forget(state: State, registers: Sequence[int]) -> State:
    """The state without what these registers held."""
    if not any(register in state.known for register in registers):
        return state
    return State(state.depth, without(state.known, *registers))
