"""Mutants of C sources: single tokens and whole simple statements. Comments and directives are left alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

TOKEN = re.compile(
    r"""(?P<skip>/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:\\\n|[^\n])*)
      | (?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
      | (?P<number>0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?)(?P<suffix>[uUlL]*)(?![\w.])
      | (?P<word>[A-Za-z_]\w*)
      | (?P<sign><<=|>>=|\+\+|--|->|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s\w])""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)

BINARY = {
    "<": ("<=", ">"),
    "<=": ("<", ">"),
    ">": (">=", "<"),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "&&": ("||",),
    "||": ("&&",),
    "+": ("-",),
    "-": ("+",),
    "*": ("+",),
    "/": ("*",),
    "%": ("*",),
    "<<": (">>",),
    ">>": ("<<",),
    "&": ("|",),
    "|": ("&",),
    "^": ("|", "&"),
    "+=": ("-=", "="),
    "-=": ("+=", "="),
    "*=": ("/=",),
    "|=": ("&=", "="),
    "&=": ("|=", "="),
    "^=": ("|=", "="),
    "<<=": (">>=",),
    ">>=": ("<<=",),
}
EITHER_WAY = {"++": "--", "--": "++"}
WORDS = {"break": "continue", "continue": "break"}
NOT_STATEMENTS = {"return", "goto", "case", "default", "typedef", "extern", "struct", "enum", "else", "do"}


@dataclass(frozen=True)
class Place:
    """One change: which characters become what."""

    line: int
    operator: str
    start: int
    end: int
    new: str


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


def _tokens(text: str) -> list[_Token]:
    found = []
    for match in TOKEN.finditer(text):
        kind = "number" if match.lastgroup == "suffix" else str(match.lastgroup)
        if kind != "skip":
            found.append(_Token(kind, match.group("number") or match.group(), match.start(), match.end()))
    return found


def places(text: str) -> list[Place]:
    """Every place of a source that can be changed, in its order."""
    tokens = _tokens(text)
    found = []
    for operator, start, end, new in (*_signs(text, tokens), *_numbers(tokens), *_statements(tokens)):
        found.append(Place(text.count("\n", 0, start) + 1, operator, start, end, new))
    return sorted(found, key=lambda place: (place.start, place.operator, place.new))


def mutated(text: str, place: Place) -> str:
    """The source with that change."""
    return text[: place.start] + place.new + text[place.end :]


def _signs(text: str, tokens: list[_Token]) -> Iterator[tuple[str, int, int, str]]:
    for number, token in enumerate(tokens):
        before = tokens[number - 1] if number else None
        value = before is not None and (
            (before.kind == "word" and before.text not in ("return", "case", "sizeof"))
            or before.kind == "number"
            or before.text in (")", "]")
        )
        if token.text in EITHER_WAY:
            yield "step", token.start, token.end, EITHER_WAY[token.text]
        elif token.text in ("*", "&") and not text[token.end].isspace():
            continue  # of a pointer, as clang-format sets them
        elif token.kind == "sign" and token.text in BINARY and value:
            for new in BINARY[token.text]:
                yield f"{token.text} to {new}", token.start, token.end, new
        elif token.text in ("!", "~") or (token.text == "-" and not value):
            yield f"no {token.text}", token.start, token.end, " "
        elif token.text in WORDS:
            yield f"{token.text} to {WORDS[token.text]}", token.start, token.end, WORDS[token.text]
        elif token.text in ("if", "while") and tokens[number + 1].text == "(":
            close = closing(tokens, number + 1)
            if close is not None:
                first, last = tokens[number + 1].end, tokens[close].start
                yield "never", first, last, "0"
                if token.text == "if":
                    yield "not", first, last, f"!({text[first:last]})"


class HasText(Protocol):
    """A token of some language."""

    @property
    def text(self) -> str:
        """As it is in the source."""


def closing(tokens: Sequence[HasText], opening: int) -> int | None:
    """The number of the token that closes the parenthesis that this one opens; None where none does."""
    depth = 0
    for number in range(opening, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[number].text, 0)
        if depth == 0:
            return number
    return None


def _numbers(tokens: list[_Token]) -> Iterator[tuple[str, int, int, str]]:
    for number, token in enumerate(tokens):
        if token.kind != "number" or "." in token.text:
            continue
        digits = token.text
        width = token.start + len(digits)
        value = int(digits, 0) if digits[:2].lower() == "0x" else int(digits)
        for step in (-1,) if _declares(tokens, number) else (1, -1):
            new = value + step
            if new >= 0:
                shown = f"0x{new:0{len(digits) - 2}x}" if digits[:2].lower() == "0x" else str(new)
                yield f"number {step:+d}", token.start, width, shown


def _declares(tokens: list[_Token], number: int) -> bool:
    """Whether the number is in the size of an array that is declared, where more of it makes a longer array:
    one means the same."""
    begin, end = number, number
    while begin >= 0 and _grows(tokens[begin]):
        begin -= 1
    while end < len(tokens) and _grows(tokens[end]):
        end += 1
    if begin < 2 or end == len(tokens) or (tokens[begin].text, tokens[end].text) != ("[", "]"):
        return False
    kind, name = tokens[begin - 2], tokens[begin - 1]
    return name.kind == "word" and kind.kind == "word" and kind.text not in NOT_STATEMENTS


def _grows(token: _Token) -> bool:
    """Whether the token is one of those of a sum or product."""
    return (
        token.kind == "number"
        or token.text in ("+", "*")
        or (token.kind == "word" and token.text != "sizeof")
    )


def _statements(tokens: list[_Token]) -> Iterator[tuple[str, int, int, str]]:
    """Simple statements that can be left out: calls and assignments, not declarations."""
    begin, parentheses, braces = 0, 0, 0
    for number, token in enumerate(tokens):
        parentheses += {"(": 1, ")": -1}.get(token.text, 0)
        if token.text in ("{", "}") or (token.text == ":" and tokens[begin].text in ("case", "default")):
            braces += {"{": 1, "}": -1}.get(token.text, 0)
            begin = number + 1
        elif token.text == ";" and parentheses == 0:
            statement = tokens[begin:number]
            if braces and _may_go(statement):
                yield "left out", statement[0].start, token.start, ""
            begin = number + 1


def _may_go(statement: list[_Token]) -> bool:
    if len(statement) < 2 or statement[0].text in NOT_STATEMENTS or "{" in [t.text for t in statement]:
        return False
    if statement[0].text in ("if", "for", "while", "switch", "static", "const", "volatile"):
        return False
    if statement[0].text == "*" or statement[1].text in ("++", "--") or statement[0].text in ("++", "--"):
        return True
    if statement[0].kind != "word":
        return False
    # `name(`, `name[`, `name.`, `name->`, `name =`: a call or an assignment; `type name` is a declaration.
    return statement[1].text in ("(", "[", ".", "->", "=", "+=", "-=", "|=", "&=", "^=", "<<=", ">>=")
