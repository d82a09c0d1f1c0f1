"""Instructions of ARMv6-M and ARMv7-M for the search: what they compute, and an estimate of what they cost.

The cycles are those of Cortex-M0+ (ARM DDI 0484, table 3-1) and Cortex-M4 (ARM DDI 0439, table 3-1 and
3.3.2) with memories without wait states. They only say which candidates the simulator is to run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from motecrypt.base.errors import InputError
from tune.code import BOTH, READ, WRITTEN, Allowed, Compute, Form, Line
from tune.values import Algebra, State, Word

BITS = 32
SHIFTS = {"lsl": "l", "lsr": "s", "ror": "r"}
SUMS = ("add", "adc", "sub", "sbc", "rsb", "rsc")
BITWISE = ("eor", "and", "orr", "bic", "orn")
COMMUTATIVE = ("eor", "and", "orr", "add", "adc", "mul")
SINGLE = ("mov", "mvn", "uxtb", "uxth", "sxtb", "sxth", "rev", "rev16", "revsh")
ACCESSES = {"ldr": 4, "ldrb": 1, "ldrh": 2, "str": 4, "strb": 1, "strh": 2}
MULTIPLE = ("ldm", "ldmia", "stm", "stmia")
LOW = frozenset(f"r{i}" for i in range(8))
CALCULATING = frozenset((*(f"r{i}" for i in range(13)), "r14"))


def all_low(names: Sequence[str]) -> bool:
    return LOW.issuperset(names)


def calculating(names: Sequence[str]) -> bool:
    return CALCULATING.issuperset(name for name in names if name != "r13")


@dataclass(frozen=True)
class Operand:
    """A register's place or a number, shifted."""

    place: int = -1
    number: int = 0
    shift: str = ""
    by: int = 0

    def value(self, state: State, registers: Sequence[str]) -> Word:
        algebra = state.algebra
        word = algebra.constant(self.number) if self.place < 0 else state.get(registers[self.place])
        if self.shift in SHIFTS:
            return algebra.moved(word, SHIFTS[self.shift], self.by)
        if self.shift:
            return algebra.atom(self.shift, algebra.number(word), self.by)
        return word


def _sum(algebra: Algebra, name: str, a: Word, b: Word, carry: Word) -> Word:
    if name == "rsb":
        name, a, b = "sub", b, a
    if name == "add":
        return algebra.plus(a, b)
    constant = algebra.value_of(b)
    if name == "sub" and constant is not None:
        return algebra.plus(a, algebra.constant(-constant))
    ids = [algebra.number(a), algebra.number(b)]
    return algebra.atom(name, *(sorted(ids) if name == "adc" else ids), algebra.number(carry))


def _data(name: str, flags: bool, operands: tuple[Operand, ...]) -> Compute:
    """An instruction that computes: the first operand is where to."""

    def compute(state: State, registers: Sequence[str]) -> None:
        algebra = state.algebra
        words = [operand.value(state, registers) for operand in operands[1:]]
        ids = [algebra.number(word) for word in words]
        a, b = words[0], words[-1]
        carry = state.get("C") if name in ("adc", "sbc", "rsc") else frozenset()
        if name in ("cmp", "cmn"):
            made = algebra.atom(name, *ids)
        elif name in SUMS:
            made = _sum(algebra, name, a, b, carry)
        elif name in BITWISE:
            made = {
                "eor": lambda: a ^ b,
                "and": lambda: algebra.both(a, b),
                "orr": lambda: algebra.either(a, b),
                "bic": lambda: algebra.both(a, b ^ algebra.ones),
                "orn": lambda: algebra.either(a, b ^ algebra.ones),
            }[name]()
        elif name == "mov":
            made = b
        elif name == "mvn":
            made = b ^ algebra.ones
        elif name == "mul":
            made = algebra.atom("mul", *sorted(ids))
        elif name == "asr":
            made = algebra.atom("asr", *ids)
        elif name in SHIFTS:
            amount = algebra.value_of(b)
            made = algebra.atom(name, *ids) if amount is None else algebra.moved(a, SHIFTS[name], amount)
        else:
            made = algebra.atom(name, *ids)
        if name not in ("cmp", "cmn"):
            state.set(registers[operands[0].place], made)
        if flags:
            state.set("N", algebra.atom("sign", algebra.number(made)))
            if name in (*SUMS, "cmp", "cmn"):
                key = (name, *ids, algebra.number(carry))
                state.set("C", algebra.atom("carry", *key))
                state.set("V", algebra.atom("overflow", *key))
            elif name in (*SHIFTS, "asr") or any(operand.shift for operand in operands):
                state.set("C", algebra.atom("carry", name, *ids, *(o.by for o in operands)))

    return compute


def _long(name: str) -> Compute:
    """A long multiplication into two registers."""

    def compute(state: State, registers: Sequence[str]) -> None:
        algebra = state.algebra
        a, b = sorted(algebra.number(state.get(registers[i])) for i in (2, 3))
        sums = [] if name == "umull" else [algebra.number(state.get(registers[i])) for i in (0, 1)]
        sums = sorted(sums) if name == "umaal" else sums
        state.set(registers[0], algebra.atom(name, "low", a, b, *sums))
        state.set(registers[1], algebra.atom(name, "high", a, b, *sums))

    return compute


def _access(name: str, base: int, index: Operand | None, at: int, after: int) -> Compute:
    size, loads = ACCESSES[name], name.startswith("ldr")

    def compute(state: State, registers: Sequence[str]) -> None:
        algebra = state.algebra
        start = state.get(registers[base])
        address = algebra.plus(start, algebra.constant(at))
        if index is not None:
            address = algebra.plus(address, index.value(state, registers))
        where = algebra.place(address)
        if after:
            state.set(registers[base], algebra.plus(start, algebra.constant(after)))
        if loads:
            state.set(registers[0], state.load(*where, size))
        else:
            state.store(*where, size, state.get(registers[0]))

    return compute


def _multiple(name: str, count: int, back: bool) -> Compute:
    def compute(state: State, registers: Sequence[str]) -> None:
        algebra = state.algebra
        start = state.get(registers[0])
        base, at = algebra.place(start)
        values = [state.get(register) for register in registers[1:]]
        if back:
            state.set(registers[0], algebra.plus(start, algebra.constant(4 * count)))
        for number, register in enumerate(registers[1:]):
            if name.startswith("ldm"):
                state.set(register, state.load(base, at + 4 * number, 4))
            else:
                state.store(base, at + 4 * number, 4, values[number])

    return compute


class Reader:
    """Reads instructions as objdump prints them with `-M reg-names-raw`."""

    def __init__(self, thumb2: bool) -> None:
        self.thumb2 = thumb2
        self._allowed: Allowed = calculating if thumb2 else all_low

    def read(self, text: str) -> list[Line]:
        """One instruction.

        Raises
        ------
        InputError
            The search does not know the instruction.
        """
        name, _, rest = text.strip().partition("\t" if "\t" in text else " ")
        rest = re.split(r"\s*[;@]", rest)[0].strip().replace("sp", "r13")
        registers = tuple(re.findall(r"\br\d+\b", rest))
        form = self._form(name, re.sub(r"\br\d+\b", "R", rest), registers == tuple(dict.fromkeys(registers)))
        if form is None:
            raise InputError(f"the search does not know the ARM instruction '{text.strip()}'")
        tied = len(form.roles) == len(registers) + 1
        if tied:  # two operands written, three meant
            registers = (registers[0], *registers)
        registers = registers[: len(form.roles)]  # of a product the third is the first
        return [Line(form, registers)]

    @lru_cache(maxsize=4096)  # noqa: B019 (two readers live as long as the program)
    def _form(self, name: str, rest: str, _distinct: bool) -> Form | None:
        plain, _, width = name.partition(".")
        suffix = f".{width}" if width else ""
        if plain in ACCESSES:
            return self._access_form(plain, suffix, rest)
        if plain in MULTIPLE:
            return self._multiple_form(plain, suffix, rest)
        if plain in ("umull", "umlal", "umaal"):
            roles = (WRITTEN if plain == "umull" else BOTH,) * 2 + (READ, READ)
            return Form(f"{plain} {{0}}, {{1}}, {{2}}, {{3}}", roles, _long(plain), self._allowed)
        operands = _operands(rest)
        if operands is None:
            return None
        flags = plain in ("cmp", "cmn") or (
            plain.endswith("s") and plain[:-1] in (*SUMS, *BITWISE, *SHIFTS, "asr", "mul", "mov", "mvn")
        )
        base = plain[:-1] if flags and plain not in ("cmp", "cmn") else plain
        if base not in (*SUMS, *BITWISE, *SHIFTS, "asr", "mul", *SINGLE, "cmp", "cmn"):
            return None
        return self._data_form(plain + suffix, base, flags, operands)

    def _data_form(self, name: str, base: str, flags: bool, operands: tuple[Operand, ...]) -> Form:
        two = len(operands) == 2 and base not in (*SINGLE, "cmp", "cmn")
        compares = base in ("cmp", "cmn")
        allowed = self._allowed
        high = not self.thumb2 and not flags and base in ("mov", "add")
        if high or (compares and not self.thumb2):
            allowed = calculating
        if compares:
            shown, operands = operands, (Operand(), *operands)
            roles = tuple(READ for operand in shown if operand.place >= 0)
        elif two and self.thumb2:
            operands = (Operand(0), Operand(1), _raised(operands[1], 1))
            shown = operands
            roles = (WRITTEN, *(READ for operand in operands[1:] if operand.place >= 0))
        elif two:
            shown, operands = operands, (operands[0], operands[0], operands[1])
            roles = (BOTH, *(READ for operand in shown[1:] if operand.place >= 0))
        else:
            shown = operands
            tied = not self.thumb2 and base == "mul"
            if tied:  # muls rd, rn, rd
                operands = (Operand(0), Operand(0), Operand(1))
                text = f"{name} {{0}}, {{1}}, {{0}}"
                return Form(
                    text,
                    (BOTH, READ),
                    _data(base, flags, operands),
                    allowed,
                    writes=frozenset("N"),
                    commutes=True,
                )
            roles = (WRITTEN, *(READ for operand in operands[1:] if operand.place >= 0))
        text = f"{name} " + ", ".join(_shown(operand) for operand in shown)
        writes = frozenset()
        if flags:
            carries = base in (*SUMS, *SHIFTS, "asr") or compares or any(o.shift for o in operands)
            writes = frozenset("NC") if carries else frozenset("N")
            writes |= frozenset("V") if base in SUMS or compares else frozenset()
        reads = frozenset("C") if base in ("adc", "sbc", "rsc") else frozenset()
        plain_second = len(shown) == 2 and shown[1].place >= 0 and not shown[1].shift
        kind = "move" if base == "mov" and plain_second else ""
        commutes = two and not self.thumb2 and base in COMMUTATIVE and plain_second
        return Form(
            text, roles, _data(base, flags, operands), allowed, reads, writes, kind=kind, commutes=commutes
        )

    def _access_form(self, name: str, suffix: str, rest: str) -> Form | None:
        role = WRITTEN if name.startswith("ldr") else READ
        kind = "load" if role == WRITTEN else "store"
        indexed = re.fullmatch(r"R, \[R, R(?:, lsl #(\d+))?\]", rest)
        if indexed:
            shift = f", lsl #{indexed[1]}" if indexed[1] else ""
            index = Operand(2, shift="lsl" if indexed[1] else "", by=int(indexed[1] or 0))
            return Form(
                f"{name}{suffix} {{0}}, [{{1}}, {{2}}{shift}]",
                (role, READ, READ),
                _access(name, 1, index, 0, 0),
                self._allowed,
                kind=kind,
                address=(1, 2),
            )
        plain = re.fullmatch(r"R, \[R(?:, #(-?\d+))?\](!)?(?:, #(-?\d+))?", rest)
        if not plain:
            return None
        at, after = int(plain[1] or 0), int(plain[3] or 0)
        text = f"{name}{suffix} {{0}}, [{{1}}" + (f", #{at}]" if plain[1] else "]")
        text += "!" if plain[2] else f", #{after}" if plain[3] else ""
        after = at if plain[2] else after
        return Form(
            text,
            (role, BOTH if after else READ),
            _access(name, 1, None, at, after),
            _base_may_be_stack(self._allowed),
            kind=kind,
            place=(1, at, ACCESSES[name]),
            address=(1,),
        )

    def _multiple_form(self, name: str, suffix: str, rest: str) -> Form | None:
        found = re.fullmatch(r"R(!?), \{([R, ]+)\}", rest)
        if not found:
            return None
        count = found[2].count("R")
        places = ", ".join(f"{{{1 + i}}}" for i in range(count))
        role = WRITTEN if name.startswith("ldm") else READ
        allowed = self._allowed

        def ascending(names: Sequence[str]) -> bool:
            numbers = [int(register[1:]) for register in names[1:]]
            return allowed(names) and numbers == sorted(set(numbers)) and names[0] not in names[1:]

        return Form(
            f"{name}{suffix} {{0}}{found[1]}, {{{{{places}}}}}",
            (BOTH if found[1] else READ, *(role,) * count),
            _multiple(name, count, bool(found[1])),
            ascending,
            kind="load" if role == WRITTEN else "store",
            place=(0, 0, 4 * count),
            address=(0,),
        )


def _base_may_be_stack(allowed: Allowed) -> Allowed:
    def check(names: Sequence[str]) -> bool:
        return (
            allowed([name for i, name in enumerate(names) if i == 0 or name != "r13"]) and names[0] != "r13"
        )

    return check


def _raised(operand: Operand, by: int) -> Operand:
    place = operand.place + by if operand.place >= 0 else -1
    return Operand(place, operand.number, operand.shift, operand.by)


def _operands(rest: str) -> tuple[Operand, ...] | None:
    """The operands of an instruction that computes."""
    made: list[Operand] = []
    place = 0
    for word in (word.strip() for word in rest.split(",")):
        shift = re.fullmatch(r"(lsl|lsr|asr|ror) #(\d+)", word)
        if word == "R":
            made.append(Operand(place))
            place += 1
        elif re.fullmatch(r"#-?(\d+|0x[0-9a-f]+)", word):
            made.append(Operand(number=int(word[1:], 0)))
        elif shift and made and made[-1].place >= 0:
            made[-1] = Operand(made[-1].place, shift=shift[1], by=int(shift[2]))
        else:
            return None
    return tuple(made)


def _shown(operand: Operand) -> str:
    if operand.place < 0:
        return f"#{operand.number}"
    return f"{{{operand.place}}}" + (f", {operand.shift} #{operand.by}" if operand.shift else "")


def printed(code: Sequence[Line]) -> list[str]:
    """The code as text."""
    return [str(line) for line in code]


def _is_multiple(line: Line) -> bool:
    return line.form.text.startswith(("ldm", "stm"))


def estimated_m0(code: Sequence[Line]) -> float:
    """Cycles; they do not depend on the order."""
    total = 0
    for line in code:
        total += (
            len(line.registers) if _is_multiple(line) else 2 if line.form.kind in ("load", "store") else 1
        )
    return total


def estimated_m4(code: Sequence[Line]) -> float:
    """Cycles without wait states: which loads and stores overlap, and which addresses wait."""
    total, after = 0, ""
    loaded: frozenset[str] = frozenset()
    made: frozenset[str] = frozenset()
    for line in code:
        kind = line.form.kind
        if kind not in ("load", "store"):
            total, after, loaded, made = total + 1, "", frozenset(), line.writes
            continue
        address = frozenset(line.registers[i] for i in line.form.address)
        overlaps = after == "load" and not address & loaded
        total += bool(address & made)
        made = frozenset()
        if _is_multiple(line):
            total += len(line.registers) + (kind == "load" and after == "store")
            after, loaded = "", frozenset()
        elif kind == "load":
            total += 1 if overlaps else 2 + (after == "store")
            after, loaded = "load", line.writes
        else:
            indexed = len(line.form.address) > 1
            total += 1 + indexed - overlaps
            after, loaded = "" if indexed else "store", frozenset()
    return total


def algebra() -> Algebra:
    return Algebra(BITS)
