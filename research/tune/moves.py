"""Random changes of a kernel: its order, the names of its registers, and its copies.

A change is a proposal: `climb` compares what the code computes before and after it. Proposals are made so
that most are right. Lines of code change places while neither needs the other. A register's name changes
together with the names of all values that it meets (a Kempe chain of the interference graph), so no two
values share a register.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from tune.code import BOTH, WRITTEN, Line

FARTHEST = 40
Code = tuple[Line, ...]
NO_ORDER = frozenset(("N", "V"))
"""Flags that only branches and carries behind the kernel read."""


@dataclass
class Web:
    """A value in a register from where it is made to where it is read last: its places are (line, place)."""

    name: str
    begins: float
    ends: float
    places: list[tuple[int, int]]
    pinned: bool


def webs(code: Sequence[Line], leaves: frozenset[str]) -> list[Web]:
    """All values. One is pinned if it comes from before the kernel, is read after it (`leaves`), or is in a
    register that an instruction names without a place."""
    current: dict[str, Web] = {}
    made: list[Web] = []

    def value(name: str) -> Web:
        if name not in current:
            current[name] = Web(name, -1, -1, [], pinned=True)
            made.append(current[name])
        return current[name]

    def new(name: str, at: float) -> Web:
        current[name] = Web(name, at, at, [], pinned=False)
        made.append(current[name])
        return current[name]

    for i, line in enumerate(code):
        form = line.form
        for name in sorted(form.reads):
            web = value(name)
            web.ends, web.pinned = i, True
        for place, (name, role) in enumerate(zip(line.registers, form.roles, strict=True)):
            if role != WRITTEN:
                web = value(name)
                web.ends = i
                web.places.append((i, place))
        for place, (name, role) in enumerate(zip(line.registers, form.roles, strict=True)):
            if role == WRITTEN:
                new(name, i).places.append((i, place))
        for name in sorted(form.writes):
            new(name, i).pinned = True
    for name, web in current.items():
        if name in leaves:
            web.ends, web.pinned = len(code), True
    return made


def _meet(a: Web, b: Web) -> bool:
    """Whether two values exist at the same time. One that is read last where another is made does not."""
    return a.begins < max(b.ends, b.begins + 0.5) and b.begins < max(a.ends, a.begins + 0.5)


def _renamed(code: Sequence[Line], changes: dict[tuple[int, int], str]) -> Code:
    by_line: dict[int, dict[int, str]] = {}
    for (i, place), name in changes.items():
        by_line.setdefault(i, {})[place] = name
    return tuple(line.renamed(by_line[i]) if i in by_line else line for i, line in enumerate(code))


def _valid(code: Sequence[Line]) -> bool:
    return all(line.form.allowed(line.registers) for line in code)


@dataclass(frozen=True)
class Mover:
    """Proposes changes of a kernel's code.

    Parameters
    ----------
    registers
        All that may be used: others keep a caller's values.
    leaves
        Registers that are read behind the kernel.
    """

    registers: tuple[str, ...]
    leaves: frozenset[str]
    carries: frozenset[str]

    def propose(self, code: Code, random: Random) -> Code | None:
        """Changed code, or None where a change was not possible."""
        moves: Sequence[Callable[[Code, Random], Code | None]] = (
            *(self.shift,) * 10,
            *(self.rename,) * 6,
            *(self.exchange,) * 2,
            *(self.copy,) * 3,
            self.drop,
        )
        made = random.choice(moves)(code, random)
        return made if made is not None and _valid(made) else None

    def _apart(self, a: Line, b: Line) -> bool:
        """Whether two neighbours can change places."""
        a_reads, a_writes, b_reads, b_writes = a.reads, a.writes, b.reads, b.writes
        if a_writes & b_reads or a_reads & b_writes or (a_writes & b_writes) - NO_ORDER - self.carries:
            return False
        if "store" not in (a.form.kind, b.form.kind) or not (a.form.kind and b.form.kind):
            return True
        if "move" in (a.form.kind, b.form.kind):
            return True
        if a.place is None or b.place is None:
            return False
        (base, at, size), (base2, at2, size2) = a.place, b.place
        return base == base2 and (at + size <= at2 or at2 + size2 <= at)

    def shift(self, code: Code, random: Random) -> Code | None:
        """Move a line as far as it may go, or less."""
        at = random.randrange(len(code))
        step = random.choice((-1, 1))
        limit = min(FARTHEST, 1 + int(random.expovariate(0.15)))
        to = at
        while limit and 0 <= to + step < len(code):
            pair = (code[to + step], code[at]) if step < 0 else (code[at], code[to + step])
            if not self._apart(*pair):
                break
            to, limit = to + step, limit - 1
        if to == at:
            return None
        made = list(code)
        made.insert(to, made.pop(at))
        return tuple(made)

    def rename(self, code: Code, random: Random) -> Code | None:
        """Put a value into another register, and what is there into its own."""
        there = webs(code, self.leaves)
        free = [web for web in there if not web.pinned]
        if not free:
            return None
        first = random.choice(free)
        return self._recoloured(code, there, first, random.choice(self.registers))

    def _recoloured(self, code: Code, there: Sequence[Web], first: Web, other: str) -> Code | None:
        if other == first.name:
            return None
        pair = {first.name: other, other: first.name}
        colours = [web for web in there if web.name in pair]
        if other in self.leaves and not any(web.name == other for web in colours):
            return None
        chain, new = [], [first]
        while new:
            web = new.pop()
            if web.pinned:
                return None
            chain.append(web)
            known = {id(w) for w in (*chain, *new)}
            new += [w for w in colours if w.name != web.name and id(w) not in known and _meet(w, web)]
        return _renamed(code, {place: pair[web.name] for web in chain for place in web.places})

    def exchange(self, code: Code, random: Random) -> Code | None:
        """Let the other operand of a commutative instruction be overwritten."""
        at = random.randrange(len(code))
        line = code[at]
        if not line.form.commutes or len(set(line.registers)) == 1:
            return None
        to, other = line.registers
        there = webs(code, self.leaves)
        place = {where: web for web in there for where in web.places}
        web, dying = place[at, 0], place[at, 1]
        if dying.ends > at or (web.pinned and web.ends == len(code)):
            return None
        changes = {where: other for where in web.places if where[0] > at}
        return _renamed(code, {**changes, (at, 0): other, (at, 1): to})

    def copy(self, code: Code, random: Random) -> Code | None:
        """Do without a copy, or let the two registers of one change roles."""
        copies = [i for i, line in enumerate(code) if line.form.kind == "move"]
        if not copies:
            return None
        at = random.choice(copies)
        to, source = code[at].registers
        if to == source:
            return (*code[:at], *code[at + 1 :])
        place = {where: web for web in webs(code, self.leaves) for where in web.places}
        made, kept = place[at, 0], place[at, 1]
        later = {where: source for where in made.places if where[0] > at}
        way = random.randrange(5)
        if way == 0:  # the copy's readers read the source
            without = _renamed(code, later)
        elif way == 1:  # the source is made where the copy goes
            without = _renamed(code, dict.fromkeys(kept.places, to))
        elif way == 2:  # they change roles
            roles = {where: to for where in kept.places if where[0] > at}
            return _renamed(code, {**later, **roles})
        elif way == 3:  # one reader reads the source
            if not later:
                return None
            where = random.choice(list(later))
            if code[where[0]].form.roles[where[1]] == BOTH:
                return None
            return _renamed(code, {where: source})
        else:  # to is renamed first, so that one of the other ways is right
            there = webs(code, self.leaves)
            first = next((web for web in there if (at, 0) in web.places and not web.pinned), None)
            return None if first is None else self._recoloured(code, there, first, source)
        return (*without[:at], *without[at + 1 :])

    def drop(self, code: Code, random: Random) -> Code | None:
        """Do without a line."""
        at = random.randrange(len(code))
        return (*code[:at], *code[at + 1 :])
