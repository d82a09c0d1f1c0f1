"""Instructions as the search changes them: a form with places for registers, and what each place is for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tune.values import State

READ, WRITTEN, BOTH = "r", "w", "rw"
Compute = Callable[[State, Sequence[str]], None]
Allowed = Callable[[Sequence[str]], bool]


@dataclass(frozen=True)
class Form:
    """An instruction without its registers.

    Parameters
    ----------
    text
        With {0}, {1} ... where registers are written.
    roles
        Whether each is READ, WRITTEN or BOTH.
    reads, writes
        Registers and flags that are not written in the text, as the address of a load with a fixed pointer.
    fixed
        Places whose register must stay.
    kind
        "move" (a copy), "load", "store", or "".
    constant
        A load from what is never written.
    commutes
        Its first two places can change roles.
    place
        Of a load or store: the base (a register, or the number of its place), a distance and how many bytes;
        None where the address is not known as that.
    address
        Places of the registers that make its address.
    """

    text: str
    roles: tuple[str, ...]
    compute: Compute
    allowed: Allowed
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    fixed: frozenset[int] = frozenset()
    kind: str = ""
    constant: bool = False
    commutes: bool = False
    place: tuple[str | int, int, int] | None = None
    address: tuple[int, ...] = ()


@dataclass(frozen=True)
class Line:
    """A form with its registers."""

    form: Form
    registers: tuple[str, ...]

    def __str__(self) -> str:
        return self.form.text.format(*self.registers)

    @property
    def place(self) -> tuple[str, int, int] | None:
        """Where it loads or stores: a register, a distance and how many bytes."""
        if self.form.place is None:
            return None
        base, at, size = self.form.place
        return (self.registers[base] if isinstance(base, int) else base), at, size

    @property
    def reads(self) -> frozenset[str]:
        """Registers and flags that it reads."""
        return self.form.reads.union(
            name for name, role in zip(self.registers, self.form.roles, strict=True) if role != WRITTEN
        )

    @property
    def writes(self) -> frozenset[str]:
        """Registers and flags that it writes."""
        return self.form.writes.union(
            name for name, role in zip(self.registers, self.form.roles, strict=True) if role != READ
        )

    def renamed(self, names: dict[int, str]) -> Line:
        """With other registers in these places."""
        made = tuple(names.get(i, name) for i, name in enumerate(self.registers))
        return Line(self.form, made)


def computed(code: Sequence[Line], state: State) -> State:
    """The state after the code."""
    for line in code:
        line.form.compute(state, line.registers)
    return state
