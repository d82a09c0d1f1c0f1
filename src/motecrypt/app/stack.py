"""Bound the stack of each function of a firmware, next to the deepest stack that a run has seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from motecrypt.app.run import RunRequest, started
from motecrypt.base.errors import InputError
from motecrypt.base.model import Device
from motecrypt.simulate.callgraph.bounds import ProgramStack, StackBound, program_stack, stack_bounds
from motecrypt.simulate.emulate.profiling import Profile, profile
from motecrypt.simulate.emulate.symbols import DEMANGLERS, read_symbols


@dataclass(frozen=True)
class StackRequest:
    """Whose stacks to bound.

    Attributes
    ----------
    run : the firmware, with symbols, for an AVR or a Cortex-M, and how it is run.
    pointers : by the name of a function that calls by a pointer: the functions that it can call.
    no_run : do not run it for the deepest stack seen.
    """

    run: RunRequest
    pointers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    no_run: bool = False


@dataclass(frozen=True)
class StackResult:
    """The stacks of a firmware, in bytes.

    Attributes
    ----------
    bounds : of each function, the deepest first.
    program : of main and interrupts together.
    ran : what the run counted; None without one.
    """

    device: Device
    bounds: tuple[StackBound, ...]
    program: ProgramStack
    ran: Profile | None

    @property
    def seen(self) -> dict[int, int]:
        """The deepest stack of each function that ran, by address."""
        costs = self.ran.functions if self.ran else ()
        return {c.address: c.stack_bytes for c in costs if c.stack_bytes is not None and c.calls}


def stack(request: StackRequest) -> StackResult:
    """Bound the stack of each function by its instructions, assembly and the C library among them.

    Raises
    ------
    InputError
        As `run`, the firmware has no symbols, or a function of `pointers` is not in it.
    """
    image, device, how = started(request.run)
    if image.elf is None:
        raise InputError(f"{image.path}: has no symbols; give the .elf that it was made from")
    symbols = read_symbols(image.elf, DEMANGLERS[device.runner])
    bounds = stack_bounds(image.elf, device, symbols, request.pointers)
    ran = None if request.no_run else profile(image, device, how, lambda data: None)
    program = program_stack(bounds, image, device, several=bool(ran and ran.ended.stack_reason))
    return StackResult(device, tuple(bounds), program, ran)
