"""Mutants of JavaScript: single tokens, conditions and whole simple statements. Comments, texts and patterns
are left alone, but not the code in the texts between backquotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mutants.cmutants import Place, closing
from mutants.cmutants import mutated as mutated

_SIGNS = (
    *(">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "=>", "==", "!=", "<="),
    *(">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "**", "<<", ">>"),
)
TOKEN = re.compile(
    rf"""(?P<skip>\s+|/\*.*?\*/|//[^\n]*)
      | (?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
      | (?P<number>0[xX][0-9a-fA-F]+n?|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?n?)
      | (?P<word>[A-Za-z_$][\w$]*)
      | (?P<sign>{"|".join(map(re.escape, _SIGNS))}|.)""",
    re.VERBOSE | re.DOTALL,
)
PATTERN = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*")
TEMPLATE = re.compile(r"(?:\\.|\$(?!\{)|[^\\`$])*", re.DOTALL)

BINARY = {
    "<": ("<=", ">"),
    "<=": ("<", ">"),
    ">": (">=", "<"),
    ">=": (">", "<"),
    "===": ("!==",),
    "!==": ("===",),
    "==": ("!=",),
    "!=": ("==",),
    "&&": ("||",),
    "||": ("&&",),
    "??": ("&&",),
    "+": ("-",),
    "-": ("+",),
    "*": ("/",),
    "/": ("*",),
    "%": ("*",),
    "+=": ("-=", "="),
    "-=": ("+=", "="),
    "*=": ("/=",),
    "/=": ("*=",),
}
WORDS = {"break": "continue", "continue": "break", "true": "false", "false": "true"}
METHODS = {"min": "max", "max": "min", "some": "every", "every": "some", "floor": "ceil", "ceil": "floor"}
NOT_VALUES = {"return", "typeof", "case", "in", "of", "new", "delete", "void", "instanceof", "else", "do"}
NOT_VALUES |= {"throw", "yield", "await", "const", "let", "var", "if", "while", "for", "switch"}
NOT_STATEMENTS = {*NOT_VALUES, "function", "class", "default", "try", "catch", "finally", "break", "continue"}
NOT_STATEMENTS |= {"async", "import", "export"}
ASSIGNS = ("=", "+=", "-=", "*=", "/=", "||=", "&&=", "??=")


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int

    @property
    def is_value(self) -> bool:
        """Whether a sign that follows has it on its left side."""
        named = self.kind == "word" and self.text not in NOT_VALUES
        return named or self.kind in ("number", "text", "pattern") or self.text in (")", "]")


def places(text: str) -> list[Place]:
    """Every place of a source that can be changed, in its order."""
    tokens = list(_tokens(text))
    made = (*_signs(text, tokens), *_numbers(tokens), *_statements(tokens))
    found = [Place(text.count("\n", 0, start) + 1, name, start, end, new) for name, start, end, new in made]
    return sorted(found, key=lambda place: (place.start, place.operator, place.new))


def _tokens(text: str) -> Iterator[_Token]:
    """The tokens; of a text between backquotes its parts, each `${` and `}` of them being an `open` or the
    beginning of the next part."""
    at, depths = 0, [0]
    before: _Token | None = None
    while at < len(text):
        in_template = text[at] == "`" or (text[at] == "}" and depths[-1] == 0 and len(depths) > 1)
        pattern = PATTERN.match(text, at) if text[at] == "/" and not (before and before.is_value) else None
        if in_template:
            end = TEMPLATE.match(text, at + 1).end()  # type: ignore[union-attr]
            if text[at] == "}":
                depths.pop()
            opens = text[end : end + 2] == "${"
            if opens:
                depths.append(0)
            end += 2 if opens else 1
            before = _Token("open" if opens else "text", text[at:end], at, end)
        elif pattern and text[at : at + 2] not in ("//", "/*"):
            before = _Token("pattern", pattern[0], at, pattern.end())
        else:
            match = TOKEN.match(text, at)
            assert match is not None
            at = match.end()
            if match.lastgroup == "skip":
                continue
            depths[-1] += {"{": 1, "}": -1}.get(match[0], 0)
            before = _Token(str(match.lastgroup), match[0], match.start(), at)
        at = before.end
        yield before


def _signs(text: str, tokens: list[_Token]) -> Iterator[tuple[str, int, int, str]]:
    for number, token in enumerate(tokens):
        before = tokens[number - 1] if number else None
        value = before is not None and before.is_value
        where = token.start, token.end
        if token.kind == "sign" and token.text in BINARY and value:
            for new in BINARY[token.text]:
                yield f"{token.text} to {new}", *where, new
        elif token.text == "!" or (token.text == "-" and token.kind == "sign" and not value):
            yield f"no {token.text}", *where, " "
        elif token.kind == "sign" and token.text == "?":
            yield "always", token.start, token.start, "|| true "
            yield "never", token.start, token.start, "&& false "
        elif token.kind != "word":
            continue
        elif before is not None and before.text in (".", "?."):
            if token.text in METHODS:
                yield f"{token.text} to {METHODS[token.text]}", *where, METHODS[token.text]
        elif token.text in WORDS:
            yield f"{token.text} to {WORDS[token.text]}", *where, WORDS[token.text]
        elif token.text in ("if", "while") and tokens[number + 1].text == "(":
            close = closing(tokens, number + 1)
            if close is not None:
                first, last = tokens[number + 1].end, tokens[close].start
                yield "never", first, last, "false"
                if token.text == "if":
                    yield "not", first, last, f"!({text[first:last]})"


def _numbers(tokens: list[_Token]) -> Iterator[tuple[str, int, int, str]]:
    for token in tokens:
        if token.kind == "number" and token.text.isdigit():
            for step in (1, -1):
                if int(token.text) + step >= 0:
                    yield f"number {step:+d}", token.start, token.end, str(int(token.text) + step)


def _statements(tokens: list[_Token]) -> Iterator[tuple[str, int, int, str]]:
    """Simple statements that can be left out: calls and assignments, not declarations."""
    begin, parentheses = 0, 0
    outer: list[tuple[int, int]] = []
    for number, token in enumerate(tokens):
        parentheses += {"(": 1, ")": -1}.get(token.text, 0)
        if token.kind == "open" and token.text[0] == "`":
            parentheses += 1
        elif token.kind == "text" and token.text[0] == "}":
            parentheses -= 1
        elif token.text == "{":
            outer.append((begin, parentheses))
            begin, parentheses = number + 1, 0
        elif token.text == "}" and outer:
            begin, parentheses = outer.pop()
            if not parentheses:  # not of a function within a statement
                begin = number + 1
        elif token.text == ";" and not parentheses:
            if _may_go(tokens[begin:number]):
                yield "left out", tokens[begin].start, token.start, ""
            begin = number + 1


def _may_go(statement: list[_Token]) -> bool:
    if len(statement) < 2 or statement[0].kind != "word" or statement[0].text in NOT_STATEMENTS:
        return False
    return statement[1].text in ("(", ".", "?.", "[", *ASSIGNS)
