"""The names that a set of C files brings into a program, and the same files with a prefix before each.

Two copies of one cipher, or two ciphers, can then live in one program: macros, functions, objects, tags and
constants of one never meet those of another. No preprocessor and no compiler: names at file scope are
found by counting braces, and the branches of a condition are all read. A name means the same in all files of
a set, so it is replaced wherever it is a whole word, but not in comments and strings: removing the prefixes
gives the original files again, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from motecrypt.base.errors import InputError

_TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//(?:\\\n|[^\n])*)
    |(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<join>\\\n)
    |(?P<line>\n)
    |(?P<space>[ \t\f\v\r]+)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
    |(?P<mark>\#\#|.)""",
    re.DOTALL | re.VERBOSE,
)
_KEYWORDS = frozenset(
    (
        *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum"),
        *("extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return"),
        *("short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void"),
        *("volatile", "while", "asm", "main", "defined"),
    )
)
#: Words before ## that make names of the C library (uint##n##_t), which keep their own.
_STANDARD = ("int", "uint", "INT", "UINT")
_INCLUDES = ("include", "import")
#: Before a string that is a function's name: __attribute__((alias("name"))).
_ALIASES = (("alias", "("), ("__alias__", "("))


class Token(NamedTuple):
    """A piece of a C file: its kind, a group of the expression above, and its text."""

    kind: str
    text: str


@dataclass(frozen=True)
class Names:
    """What is to be prefixed: whole words, and how words begin that ## joins."""

    words: frozenset[str]
    heads: tuple[str, ...]

    def has(self, word: str) -> bool:
        """Whether a word is one of them."""
        return word in self.words or word.startswith(self.heads)


def tokens(text: str) -> list[Token]:
    """A C file in pieces; joined, they are the file."""
    return [Token(str(m.lastgroup), m[0]) for m in _TOKEN.finditer(text)]


def names_of(files: Iterable[tuple[str, str]], keep: Iterable[str] = ()) -> Names:
    """All that these files define or declare at file scope; of each file its name and its text.

    Parameters
    ----------
    keep
        Words that keep their names: the members of a public structure, for example.

    Raises
    ------
    InputError
        When a file joins names with ## that begin with an argument: their names are unknown.
    """
    words: set[str] = set()
    heads: set[str] = set()
    for name, text in files:
        directives, code = _apart(tokens(text))
        for line in directives:
            words |= _defined(line)
            heads |= _heads(line, name)
        words |= set(_declared(code))
    taken = {word for word in words if word not in _KEYWORDS and not _reserved(word)}
    return Names(frozenset(taken - set(keep)), tuple(sorted(heads)))


def prefixed(text: str, names: Names, prefix: str) -> str:
    """The file with the prefix before every such name, outside comments, strings and <headers>."""
    made: list[str] = []
    directive = ""  # the word behind this line's #, or "#" itself, or nothing
    angled = False
    last = ("", "")  # the two pieces before this one that are neither space nor comment
    at_start = True
    for token in tokens(text):
        if token.kind == "line":
            directive, angled, at_start = "", False, True
        elif token.kind == "mark" and token.text == "#" and at_start:
            directive, at_start = "#", False
        elif token.kind not in ("space", "comment", "join"):
            if directive == "#":
                directive = token.text
            at_start = False
            angled = angled or (directive in _INCLUDES and token.text == "<")
        whole = token.kind == "word" and directive not in ("pragma", "error", "warning") and not angled
        if whole and names.has(token.text):
            made.append(prefix + token.text)
        elif last in _ALIASES and token.kind == "text" and names.has(token.text[1:-1]):
            made.append(f'"{prefix}{token.text[1:]}')
        else:
            made.append(token.text)
        if token.kind not in ("space", "comment", "join", "line"):
            last = (last[1], token.text)
    return "".join(made)


def _reserved(word: str) -> bool:
    """A name of the compiler's or the C library's own."""
    return word.startswith("__") or (len(word) > 1 and word[0] == "_" and word[1].isupper())


def _apart(all_tokens: list[Token]) -> tuple[list[list[Token]], list[Token]]:
    """The preprocessor's lines, and all the rest with a mark where a condition begins, turns and ends."""
    directives: list[list[Token]] = []
    code: list[Token] = []
    line: list[Token] | None = None
    at_start = True
    for token in all_tokens:
        if token.kind in ("space", "comment", "join"):
            continue
        if token.kind == "line":
            if line is not None:
                directives.append(line)
                code += _turns(line)
            line, at_start = None, True
        elif line is not None:
            line.append(token)
        elif at_start and token.text == "#":
            line = []
        else:
            code.append(token)
            at_start = False
    if line is not None:
        directives.append(line)
        code += _turns(line)
    return directives, code


def _turns(line: list[Token]) -> list[Token]:
    word = line[0].text if line else ""
    turn = {"ifdef": "if", "ifndef": "if", "elif": "else"}.get(word, word)
    return [Token("turn", turn)] if turn in ("if", "else", "endif") else []


def _defined(line: list[Token]) -> set[str]:
    return {line[1].text} if len(line) > 1 and line[0].text == "define" else set()


def _heads(line: list[Token], where: str) -> set[str]:
    """How the words begin that a macro makes with ##."""
    if not line or line[0].text != "define":
        return set()
    texts = [token.text for token in line]
    arguments: set[str] = set()
    if len(texts) > 2 and texts[2] == "(" and ")" in texts:
        arguments = {text for text in texts[3 : texts.index(")")] if text != ","}
    found: set[str] = set()
    for at, text in enumerate(texts[:-1]):
        if texts[at + 1] != "##" or (at and texts[at - 1] == "##"):
            continue
        if text in arguments:
            raise InputError(
                f"{where}: the macro {texts[1]} joins names with ## that begin with its argument; such names "
                "cannot be given a prefix"
            )
        if line[at].kind == "word" and text not in _STANDARD:
            found.add(text)
    return found


def _declared(code: list[Token]) -> Iterator[str]:
    """Names declared outside of functions: functions, objects, types, tags, constants of enumerations."""
    braces = parentheses = 0
    in_value = in_enum = False
    depths: list[tuple[int, int, bool, bool]] = []
    for at, (kind, text) in enumerate(code):
        before = code[at - 1].text if at else ";"
        after = code[at + 1].text if at + 1 < len(code) else ""
        if kind == "turn":
            if text == "if":
                depths.append((braces, parentheses, in_value, in_enum))
            elif depths:
                if text == "else":  # each branch begins where the first one did
                    braces, parentheses, in_value, in_enum = depths[-1]
                else:
                    depths.pop()
        elif text == "{":
            in_enum = in_enum or (braces == 0 and _opens_enum(code, at))
            braces += 1
        elif text == "}":
            braces = max(0, braces - 1)
            in_enum = in_enum and braces > 0
        elif text in "([":
            parentheses += 1
        elif text in ")]":
            parentheses = max(0, parentheses - 1)
        elif text == ";" and braces == 0:
            in_value = False
        elif text == "=" and braces == 0 and parentheses == 0:
            in_value = True
        elif text == "," and braces == 0 and parentheses == 0:
            in_value = False
        elif kind != "word" or text in _KEYWORDS:
            continue
        elif in_enum and braces == 1 and before in "{,":
            yield text
        elif braces == 0 and not in_value:
            ahead = code[at - 2].text if at > 1 else ""
            pointer = parentheses == 1 and (ahead, before, after) == ("(", "*", ")")  # void (*name)(int)
            tag = before in ("struct", "union", "enum") and after in ("{", ";")
            name = before not in ("struct", "union", "enum", "]", ")") and after in ("(", "[", "=", ";", ",")
            if tag or pointer or (parentheses == 0 and name):
                yield text


def _opens_enum(code: list[Token], at: int) -> bool:
    """Whether this brace is that of `enum {` or `enum tag {`."""
    before = [token.text for token in code[max(0, at - 2) : at]]
    return before[-1:] == ["enum"] or before[-2:-1] == ["enum"]
