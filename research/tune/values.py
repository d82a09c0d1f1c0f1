"""What instructions compute, as expressions: two sequences with equal expressions compute the same.

A word is a sum (exclusive or) of terms, each an atom that has been rotated or shifted. Sums, rotations,
shifts, complements and constants are therefore compared as linear maps, in any order. Sums with a carry are
compared as multisets. Everything else is an atom: its name and its operands. Equal expressions are equal
values. Different ones may be equal too: a right sequence may be refused, and a wrong one never passes.
"""

from __future__ import annotations

from collections.abc import Hashable

Term = tuple[int, tuple[tuple[str, int], ...]]
Word = frozenset[Term]
ZERO: Word = frozenset()


class Algebra:
    """The expressions of one kernel, for words of so many bits."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self._atoms: dict[Hashable, int] = {}
        self._words: dict[Word, int] = {}
        self._sums: dict[Word, tuple[int, tuple[int, ...]]] = {}
        self._word_of: list[Word] = []
        self.ones = self.constant(-1)

    def atom(self, *key: Hashable) -> Word:
        """What an instruction gives of which nothing else is known."""
        return frozenset(((self._atoms.setdefault(key, len(self._atoms)), ()),))

    def number(self, word: Word) -> int:
        """A number for an expression: equal for equal ones."""
        found = self._words.get(word)
        if found is None:
            found = self._words[word] = len(self._words)
            self._word_of.append(word)
        return found

    def constant(self, value: int) -> Word:
        """Its bits: each is a term of its own, with a negative number."""
        return frozenset((-1 - bit, ()) for bit in range(self.bits) if value >> bit & 1)

    def value_of(self, word: Word) -> int | None:
        """The value of a constant."""
        if any(atom >= 0 for atom, _ in word):
            return None
        return sum(1 << -1 - atom for atom, _ in word)

    def moved(self, word: Word, kind: str, by: int) -> Word:
        """Rotated right ("r"), or shifted left ("l") or right ("s")."""
        if by == 0:
            return word
        made: set[Term] = set()
        for atom, chain in word:
            term = self._moved(atom, chain, kind, by)
            if term is not None:
                made ^= {term}
        return frozenset(made)

    def _moved(self, atom: int, chain: tuple[tuple[str, int], ...], kind: str, by: int) -> Term | None:
        if atom < 0:
            bit = -1 - atom
            bit = (bit - by) % self.bits if kind == "r" else bit + by if kind == "l" else bit - by
            return (-1 - bit, ()) if 0 <= bit < self.bits else None
        if chain and chain[-1][0] == kind:
            total = chain[-1][1] + by
            chain = chain[:-1]
            by = total % self.bits if kind == "r" else total
        if kind != "r" and by >= self.bits:
            return None
        return atom, (*chain, (kind, by)) if by else chain

    def both(self, a: Word, b: Word) -> Word:
        """The bits that are set in both."""
        made = ZERO
        if self.ones <= a:
            a, made = a ^ self.ones, made ^ b
        if self.ones <= b:
            b, made = b ^ self.ones, made ^ a
        if a == b:
            return made ^ a
        if not a or not b:
            return made
        return made ^ self.atom("and", *sorted((self.number(a), self.number(b))))

    def either(self, a: Word, b: Word) -> Word:
        """The bits that are set in one."""
        return a ^ b ^ self.both(a, b)

    def plus(self, a: Word, b: Word) -> Word:
        """Their sum, without its carry."""
        constant, parts = 0, []
        for word in (a, b):
            value = self.value_of(word)
            if value is not None:
                constant += value
            elif word in self._sums:
                constant += self._sums[word][0]
                parts += self._sums[word][1]
            else:
                parts.append(self.number(word))
        constant %= 1 << self.bits
        if not parts:
            return self.constant(constant)
        if len(parts) == 1 and not constant:
            return self._word_of[parts[0]]
        key = (constant, tuple(sorted(parts)))
        made = self.atom("sum", *key)
        self._sums[made] = key
        return made

    def place(self, address: Word) -> tuple[Hashable, int]:
        """An address as what it is relative to, and a distance."""
        value = self.value_of(address)
        if value is not None:
            return "zero", value
        constant, parts = self._sums.get(address, (0, (self.number(address),)))
        half = 1 << self.bits - 1
        return parts, (constant + half) % (2 * half) - half


class State:
    """Registers, flags and memory as expressions. A register begins with an atom of its name.

    Memory at different bases is taken as different memory; the vectors check it.
    """

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra
        self.registers: dict[str, Word] = {}
        self.memory: dict[tuple[Hashable, int, int], Word] = {}

    def get(self, name: str) -> Word:
        found = self.registers.get(name)
        if found is None:
            found = self.registers[name] = self.algebra.atom("at first", name)
        return found

    def set(self, name: str, word: Word) -> None:
        self.registers[name] = word

    def _over(self, base: Hashable, at: int, size: int) -> list[tuple[Hashable, int, int]]:
        return [
            key
            for key in self.memory
            if key[0] == base and key != (base, at, size) and key[1] < at + size and at < key[1] + key[2]
        ]

    def load(self, base: Hashable, at: int, size: int) -> Word:
        found = self.memory.get((base, at, size))
        if found is not None:
            return found
        over = frozenset((key, self.algebra.number(self.memory[key])) for key in self._over(base, at, size))
        return self.algebra.atom("load", base, at, size, over)

    def store(self, base: Hashable, at: int, size: int, word: Word) -> None:
        for key in self._over(base, at, size):
            self.memory[key] = self.algebra.atom("partly", key, self.algebra.number(self.memory.pop(key)), at)
        self.memory[base, at, size] = word
