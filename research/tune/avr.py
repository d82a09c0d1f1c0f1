"""Instructions of AVR for the search: what they compute and cost (DS40002061, instruction set summary)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from motecrypt.base.errors import InputError
from tune.code import BOTH, READ, WRITTEN, Allowed, Compute, Form, Line
from tune.values import ZERO, Algebra, State, Word

BITS = 8
POINTERS = {"X": "r26", "Y": "r28", "Z": "r30"}
_CYCLES = {"mul": 2, "lpm": 3, "ldd": 2, "ld": 2, "std": 2, "st": 2}
PLAIN = ("eor", "and", "or", "add", "adc", "sub", "sbc")
SINGLE = ("com", "lsr", "ror", "swap", "neg", "inc", "dec")
UPPER = ("ldi", "andi", "ori", "subi", "sbci")


def any_register(_: Sequence[str]) -> bool:
    return True


def upper(names: Sequence[str]) -> bool:
    return int(names[0][1:]) >= 16


def _next(name: str, by: int = 1) -> str:
    return f"r{int(name[1:]) + by}"


def _address(state: State, name: str) -> tuple[object, int]:
    pointer = POINTERS[name]
    ids = (state.algebra.number(state.get(pointer)), state.algebra.number(state.get(_next(pointer))))
    return ids, 0


def _carry(state: State, *key: object) -> None:
    state.set("C", state.algebra.atom("carry", *key))


def _sign(state: State, word: Word) -> None:
    state.set("N", state.algebra.atom("sign", state.algebra.number(word)))


def _in(state: State, bit: int) -> Word:
    """The carry as a bit of a byte."""
    carry = state.get("C")
    return state.algebra.atom("bit", bit, state.algebra.number(carry))


def _plain(name: str) -> Compute:
    def compute(state: State, registers: Sequence[str]) -> None:
        algebra = state.algebra
        to, other = registers[0], registers[-1]
        a, b = state.get(to), state.get(other)
        if name == "eor":
            made = a ^ b
        elif name == "and":
            made = algebra.both(a, b)
        elif name == "or":
            made = algebra.either(a, b)
        elif name in ("add", "adc") and a == b:
            made = algebra.moved(a, "l", 1) ^ (_in(state, 0) if name == "adc" else ZERO)
            _carry(state, "top", algebra.number(a))
        elif name == "sbc" and a == b:
            made = algebra.atom("borrowed", algebra.number(state.get("C")))
        else:
            ids = (algebra.number(a), algebra.number(b))
            ids = (min(ids), max(ids)) if name in ("add", "adc") else ids
            carry = algebra.number(state.get("C")) if name in ("adc", "sbc") else -1
            made = algebra.plus(a, b) if name == "add" else algebra.atom(name, ids, carry)
            _carry(state, name, ids, carry)
        state.set(to, made)
        _sign(state, made)

    return compute


def _single(name: str) -> Compute:
    def compute(state: State, registers: Sequence[str]) -> None:
        algebra, to = state.algebra, registers[0]
        a = state.get(to)
        if name == "com":
            made = a ^ algebra.ones
            state.set("C", algebra.constant(1))
        elif name == "swap":
            state.set(to, algebra.moved(a, "r", 4))
            return
        elif name in ("lsr", "ror"):
            made = algebra.moved(a, "s", 1) ^ (_in(state, 7) if name == "ror" else ZERO)
            _carry(state, "lowest", algebra.number(a))
        else:
            made = algebra.atom(name, algebra.number(a))
            if name == "neg":
                _carry(state, name, algebra.number(a))
        state.set(to, made)
        _sign(state, made)

    return compute


def _upper(name: str, value: int) -> Compute:
    def compute(state: State, registers: Sequence[str]) -> None:
        algebra, to = state.algebra, registers[0]
        constant = algebra.constant(value)
        if name == "ldi":
            state.set(to, constant)
            return
        a = state.get(to)
        if name == "andi":
            made = algebra.both(a, constant)
        elif name == "ori":
            made = algebra.either(a, constant)
        else:
            carry = algebra.number(state.get("C")) if name == "sbci" else -1
            made = algebra.plus(a, algebra.constant(-value)) if name == "subi" else ZERO
            if name == "sbci":
                made = algebra.atom(name, algebra.number(a), value, carry)
            _carry(state, name, algebra.number(a), value, carry)
        state.set(to, made)
        _sign(state, made)

    return compute


def _move(state: State, registers: Sequence[str]) -> None:
    state.set(registers[0], state.get(registers[1]))


def _multiply(state: State, registers: Sequence[str]) -> None:
    algebra = state.algebra
    ids = sorted(algebra.number(state.get(name)) for name in registers)
    state.set("r0", algebra.atom("low product", *ids))
    state.set("r1", algebra.atom("high product", *ids))
    _carry(state, "product", *ids)


def _bit(name: str, bit: int) -> Compute:
    def compute(state: State, registers: Sequence[str]) -> None:
        algebra, to = state.algebra, registers[0]
        if name == "bst":
            state.set("T", algebra.atom("bit of", algebra.number(state.get(to)), bit))
        else:
            ids = algebra.number(state.get(to)), algebra.number(state.get("T"))
            state.set(to, algebra.atom("with bit", *ids, bit))

    return compute


def _load(pointer: str, at: int, table: bool) -> Compute:
    def compute(state: State, registers: Sequence[str]) -> None:
        base, _ = _address(state, pointer)
        if table:
            state.set(registers[0], state.algebra.atom("table", base))
        else:
            state.set(registers[0], state.load(base, at, 1))

    return compute


def _store(pointer: str, at: int) -> Compute:
    def compute(state: State, registers: Sequence[str]) -> None:
        base, _ = _address(state, pointer)
        state.store(base, at, 1, state.get(registers[0]))

    return compute


@lru_cache(maxsize=4096)
def _form(name: str, rest: str) -> Form:
    flags = frozenset(("C", "N"))
    if name in PLAIN:
        same = rest == "0, 0"
        text = f"{name} {{0}}, {{0}}" if same else f"{name} {{0}}, {{1}}"
        reads = frozenset("C") if name in ("adc", "sbc") else frozenset()
        writes = frozenset("N") if name in ("eor", "and", "or") else flags
        roles = (BOTH,) if same else (BOTH, READ)
        if same and name == "sbc":
            roles = (WRITTEN,)
        commutes = not same and name not in ("sub", "sbc")
        return Form(text, roles, _plain(name), any_register, reads, writes, commutes=commutes)
    if name in SINGLE:
        reads = frozenset("C") if name == "ror" else frozenset()
        writes = frozenset() if name == "swap" else frozenset("N") if name in ("inc", "dec") else flags
        return Form(f"{name} {{0}}", (BOTH,), _single(name), any_register, reads, writes)
    if name == "mov":
        return Form("mov {0}, {1}", (WRITTEN, READ), _move, any_register, kind="move")
    if name == "mul":
        writes = frozenset(("r0", "r1", "C"))
        return Form("mul {0}, {1}", (READ, READ), _multiply, any_register, writes=writes)
    raise InputError(f"the search does not know the AVR instruction '{name} {rest}'")


@lru_cache(maxsize=4096)
def _numbered(name: str, value: int) -> Form:
    role = WRITTEN if name == "ldi" else BOTH
    reads = frozenset("C") if name == "sbci" else frozenset()
    writes = frozenset() if name == "ldi" else frozenset("N") if name in ("andi", "ori") else frozenset("CN")
    return Form(f"{name} {{0}}, {value}", (role,), _upper(name, value), upper, reads, writes)


@lru_cache(maxsize=4096)
def _memory(name: str, pointer: str, at: int) -> Form:
    reads = frozenset((POINTERS[pointer], _next(POINTERS[pointer])))
    where = f"{pointer}+{at}" if at else pointer
    allowed: Allowed = any_register
    if name == "lpm":
        return Form("lpm {0}, Z", (WRITTEN,), _load("Z", 0, True), allowed, reads, kind="load", constant=True)
    place = (pointer, at, 1)
    if name in ("ldd", "ld"):
        load = _load(pointer, at, False)
        return Form(f"{name} {{0}}, {where}", (WRITTEN,), load, allowed, reads, kind="load", place=place)
    store = _store(pointer, at)
    return Form(f"{name} {where}, {{0}}", (READ,), store, allowed, reads, kind="store", place=place)


def read(text: str) -> list[Line]:
    """An instruction as objdump prints it. MOVW becomes two moves; `printed` puts them together again.

    Raises
    ------
    InputError
        The search does not know the instruction.
    """
    name, _, rest = text.partition("\t") if "\t" in text else text.partition(" ")
    words = [word.strip() for word in rest.split(";")[0].split(",")]
    if name == "movw":
        low = [_next(words[0], by) for by in (0, 1)], [_next(words[1], by) for by in (0, 1)]
        return [Line(_form("mov", ""), pair) for pair in zip(*low, strict=True)]
    if name in ("lsl", "rol", "clr", "tst"):
        name = {"lsl": "add", "rol": "adc", "clr": "eor", "tst": "and"}[name]
        words = [words[0], words[0]]
    if name in PLAIN:
        same = len(set(words)) == 1
        return [Line(_form(name, "0, 0" if same else "0, 1"), tuple(words[:1] if same else words))]
    if name in (*SINGLE, "mov", "mul"):
        return [Line(_form(name, ""), tuple(words))]
    if name in UPPER:
        return [Line(_numbered(name, int(words[1], 0) & 255), (words[0],))]
    if name in ("bst", "bld"):
        return [Line(_bits(name, int(words[1])), (words[0],))]
    place = re.fullmatch(r"([XYZ])(?:\+(\d+))?", words[0 if name in ("st", "std") else -1])
    if name in ("ld", "ldd", "st", "std", "lpm") and place:
        register = words[1] if name in ("st", "std") else words[0]
        return [Line(_memory(name, place[1], int(place[2] or 0)), (register,))]
    raise InputError(f"the search does not know the AVR instruction '{text}'")


@lru_cache(maxsize=64)
def _bits(name: str, bit: int) -> Form:
    if name == "bst":
        return Form(f"bst {{0}}, {bit}", (READ,), _bit(name, bit), any_register, writes=frozenset("T"))
    return Form(f"bld {{0}}, {bit}", (BOTH,), _bit(name, bit), any_register, reads=frozenset("T"))


def _pairs(first: Line, second: Line) -> str | None:
    """Two moves as one MOVW."""
    if first.form.kind != "move" or second.form.kind != "move":
        return None
    (to, source), (to2, source2) = sorted((first.registers, second.registers), key=lambda r: int(r[0][1:]))
    aligned = int(to[1:]) % 2 == 0 and int(source[1:]) % 2 == 0
    if not aligned or to2 != _next(to) or source2 != _next(source) or to == source:
        return None
    return f"movw {to}, {source}"


def printed(code: Sequence[Line]) -> list[str]:
    """The code as text."""
    made, at = [], 0
    while at < len(code):
        pair = _pairs(code[at], code[at + 1]) if at + 1 < len(code) else None
        made.append(pair or str(code[at]))
        at += 2 if pair else 1
    return made


def estimated(code: Sequence[Line]) -> float:
    """Cycles; they do not depend on the order, except where two moves become one."""
    return sum(_CYCLES.get(text.partition(" ")[0], 1) for text in printed(code))


def algebra() -> Algebra:
    return Algebra(BITS)


REGISTERS = tuple(f"r{i}" for i in range(32))
