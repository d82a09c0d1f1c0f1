"""The largest stack of each function: its own, and the deepest path of calls below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from motecrypt.base.errors import InputError
from motecrypt.base.model import Device
from motecrypt.simulate.callgraph.avr import TABLE_JUMP, avr_step
from motecrypt.simulate.callgraph.code import Call, Flow, MachineCode, Step, read_code, walk
from motecrypt.simulate.callgraph.thumb import thumb_step
from motecrypt.simulate.emulate.images import Image
from motecrypt.simulate.emulate.symbols import Symbols

_THREE_BYTES_FLASH = 128 * 1024
"""AVRs with more flash push three bytes for a return address."""


@dataclass(frozen=True)
class StackBound:
    """The stack of a function in bytes, with its return address where the call pushes it, as in a profile.

    Attributes
    ----------
    own : without what it calls.
    worst : the most that it and what it calls can take; at least that where it is not `bounded`.
    path : the functions of the deepest path, from this one on.
    calls : the functions that it calls.
    recursion : functions below it that can call themselves again, each as a path that ends where it began.
    pointers : functions below it that call by a pointer whose target is not known.
    dynamic : functions below it with a stack of variable size.
    """

    name: str
    address: int
    own: int
    worst: int
    path: tuple[str, ...]
    calls: tuple[str, ...]
    recursion: tuple[tuple[str, ...], ...] = ()
    pointers: tuple[str, ...] = ()
    dynamic: tuple[str, ...] = ()

    @property
    def bounded(self) -> bool:
        """Whether `worst` is the most that it can take."""
        return not (self.recursion or self.pointers or self.dynamic)

    @property
    def reason(self) -> str:
        """Why it is not bounded, with the functions that are the reason; empty where it is."""
        said = [f"recursion {' > '.join(cycle)}" for cycle in self.recursion]
        said += [f"{name} calls by a pointer" for name in self.pointers]
        said += [f"{name} has a stack of variable size" for name in self.dynamic]
        return "; ".join(said[:3]) + (f"; and {len(said) - 3} more" if len(said) > 3 else "")


@dataclass(frozen=True)
class ProgramStack:
    """The stack of a program: main, with the deepest interrupt where these are known by their names.

    Attributes
    ----------
    main, interrupt_bytes : the most that these can take; at least that where they are not `bounded`, for
        this `reason`. None without a function main.
    room : bytes of RAM above the data; None where that is not known.
    several : the run had several stacks, so this one is not all that the program needs.
    """

    main: int | None
    interrupt: str
    interrupt_bytes: int
    bounded: bool
    reason: str
    room: int | None
    several: bool


@dataclass(frozen=True)
class _Below:
    """What was found about a function and all below it."""

    worst: int
    path: tuple[int, ...]
    recursion: frozenset[tuple[int, ...]] = frozenset()
    pointers: frozenset[int] = frozenset()
    dynamic: frozenset[int] = frozenset()


@dataclass(frozen=True)
class _Graph:
    code: MachineCode
    step: Step
    return_bytes: int
    pointed: Mapping[int, Sequence[int]]
    flows: dict[int, Flow] = field(default_factory=dict)
    done: dict[int, _Below] = field(default_factory=dict)

    def flow(self, entry: int) -> Flow:
        if entry not in self.flows:
            flow = walk(self.code, entry, self.step)
            if self.code.name(entry).startswith(TABLE_JUMP):  # its jump is to a case of its caller
                flow = Flow(entry, flow.frame, (), flow.dynamic)
            self.flows[entry] = flow
        return self.flows[entry]

    def calls(self, entry: int) -> list[tuple[Call, int]]:
        """Each call with its target, those by pointers that were said among them."""
        found: list[tuple[Call, int]] = []
        for call in self.flow(entry).calls:
            if call.target is not None:
                if self.code.half_at(call.target) is not None:
                    found.append((call, call.target))
            else:
                found += [(call, target) for target in self.pointed.get(entry, ())]
        return found

    def below(self, entry: int) -> _Below:
        """Without recursion of ours: firmware may call deeper than Python does."""
        order, state = [entry], {entry: 0}
        while order:
            at = order[-1]
            if state[at] == 0:
                state[at] = 1
                ahead = [t for _, t in self.calls(at) if t not in self.done and state.get(t, 0) == 0]
                for target in ahead:
                    state[target] = 0
                order += ahead
                continue
            order.pop()
            if at not in self.done:
                self.done[at] = self._joined(at, [o for o in order if state[o] == 1])
                state[at] = 2
        return self.done[entry]

    def _joined(self, entry: int, open_calls: list[int]) -> _Below:
        flow = self.flow(entry)
        best = _Below(flow.frame, (entry,))
        recursion: set[tuple[int, ...]] = set()
        pointers: set[int] = set()
        dynamic = {entry} if flow.dynamic else set[int]()
        if any(c.target is None for c in flow.calls) and not self.pointed.get(entry):
            pointers.add(entry)
        for call, target in self.calls(entry):
            if target == entry and call.kind == "jump":
                continue  # a loop to the function's own beginning
            if target in open_calls or target == entry:
                first = open_calls.index(target) if target in open_calls else len(open_calls)
                recursion.add((*open_calls[first:], entry, target))
                continue
            below = self.done.get(target)
            if below is None:
                continue
            depth = call.depth + below.worst + (self.return_bytes if call.kind != "jump" else 0)
            if depth > best.worst:
                best = _Below(depth, (entry, *below.path))
            recursion |= below.recursion
            pointers |= below.pointers
            dynamic |= below.dynamic
        return _Below(best.worst, best.path, frozenset(recursion), frozenset(pointers), frozenset(dynamic))


def stack_bounds(
    elf: Path, device: Device, symbols: Symbols, pointed: Mapping[str, Sequence[str]] | None = None
) -> list[StackBound]:
    """The bounds of every function of a firmware, the deepest first.

    Parameters
    ----------
    pointed
        By the name of a function that calls by a pointer: the names of the functions that it can call.

    Raises
    ------
    InputError
        The core is neither an AVR nor a Cortex-M, the file is damaged or has no symbols, or a function of
        `pointed` is not in it.
    """
    step, return_bytes = _core(device)
    code = read_code(elf, symbols)
    named = {function.name.partition("(")[0]: function.start for function in code.functions}
    targets: dict[int, list[int]] = {}
    for caller, called in (pointed or {}).items():
        for name in (caller, *called):
            if name not in named:
                raise InputError(
                    f"{elf}: has no function '{name}'; --pointer is CALLER=TARGET, of its functions"
                )
        targets[named[caller]] = [named[name] for name in called]
    graph = _Graph(code, step, return_bytes, targets)
    found = [_bound(graph, function.start) for function in code.functions if not code.is_data(function.start)]
    return sorted(found, key=lambda bound: (-bound.worst, bound.name))


def program_stack(
    bounds: Sequence[StackBound], image: Image, device: Device, *, several: bool
) -> ProgramStack:
    """The stack of the whole program, from the bounds of its functions."""
    main = next((b for b in bounds if b.name.partition("(")[0] == "main"), None)
    vectors = [b for b in bounds if b.name.startswith("__vector_") and b.name != "__vector_default"]
    deepest = max(vectors, key=lambda b: b.worst, default=None)
    open_ended = [b for b in vectors if not b.bounded]  # each may be deeper than the deepest that is known
    needed = list(dict.fromkeys(b for b in (main, deepest, *open_ended) if b is not None))
    ram, end = device.memory["ram"], image.data_end
    return ProgramStack(
        main=main.worst if main else None,
        interrupt=deepest.name if deepest else "",
        interrupt_bytes=deepest.worst if deepest else 0,
        bounded=all(b.bounded for b in needed),
        reason="; ".join(dict.fromkeys(b.reason for b in needed if b.reason)),
        room=ram.address + ram.bytes - end if end and ram.holds(end) else None,
        several=several,
    )


def _core(device: Device) -> tuple[Step, int]:
    if device.runner == "simavr":
        return_bytes = 3 if device.memory["flash"].bytes > _THREE_BYTES_FLASH else 2
        return avr_step(return_bytes), return_bytes
    if device.runner == "arm":
        return thumb_step, 0
    raise InputError(f"{device.name}: stack bounds are for AVR and Cortex-M; choose another --device")


def _bound(graph: _Graph, entry: int) -> StackBound:
    below, name = graph.below(entry), graph.code.name
    called = dict.fromkeys(name(target) for _, target in graph.calls(entry) if target != entry)
    return StackBound(
        name=name(entry),
        address=entry,
        own=graph.flow(entry).frame + graph.return_bytes,
        worst=below.worst + graph.return_bytes,
        path=tuple(map(name, below.path)),
        calls=tuple(called),
        recursion=tuple(sorted(tuple(map(name, cycle)) for cycle in below.recursion)),
        pointers=tuple(sorted(map(name, below.pointers))),
        dynamic=tuple(sorted(map(name, below.dynamic))),
    )


def dot(bounds: Sequence[StackBound]) -> str:
    """The graph of calls for Graphviz, each function with its own and its worst stack."""
    lines = ["digraph calls {", "  node [shape=box];"]
    for bound in bounds:
        most = f"{bound.worst}" if bound.bounded else f"{bound.worst} or more"
        lines.append(
            f'  "{_quoted(bound.name)}" [label="{_quoted(bound.name)}\\n{bound.own} / {most} bytes"];'
        )
    for bound in bounds:
        lines += [f'  "{_quoted(bound.name)}" -> "{_quoted(name)}";' for name in bound.calls]
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
