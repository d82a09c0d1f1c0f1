"""Collects the text that people read: pages, help, messages, docstrings and comments, each with its place.

It reads files only. It knows no rule.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Where text is collected, by the kind that the rules name.
PAGES = (
    "*.md",
    "docs/**/*.md",
    "changes/**/*.md",
    "examples/**/*.md",
    "tests/**/*.md",
    "research/*.md",
    ".github/**/*.md",
)
TEMPLATES = ("src/**/*.md.j2", "src/**/*.ino.j2", "src/**/*.h.j2", "src/**/*.c.j2")
MARKUP = ("src/motecrypt/present/report/templates/*.html",)
PYTHON = ("src/**/*.py", "tests/**/*.py", "benchmarks/**/*.py", "research/**/*.py", "examples/**/*.py")
C = tuple(
    f"{place}/**/*.{end}" for place in ("src", "tests", "examples") for end in ("c", "h", "cc", "cpp", "S")
)
SCRIPTS = ("src/**/*.js", "tests/**/*.mjs")
TOML = ("src/**/*.toml", "examples/**/*.toml", "tests/mutants/*.toml", "pyproject.toml")
SHELL = ("setup.sh", "test", "bench", "motecrypt", ".ci/*", ".github/**/*.yml", "CITATION.cff")
# Words of others: what papers print.
LEFT_OUT = ("src/motecrypt/data/published/", "src/motecrypt/data/recorded/", "tests/prose/")

PLACEHOLDER = "X"  # for what a program fills in, and for code
_CODE = re.compile(r"(`+)(?!`).+?\1")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARK = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_TAG = re.compile(r"<(script|style)\b.*?</\1>|<!--.*?-->|<[^>]+>", re.DOTALL)
_C_COMMENT = re.compile(r"/\*(.*?)\*/|//([^\n]*)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_SCRIPT_STRING = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`")
_SCRIPT_PATTERN = re.compile(r"((?<=[(,=:] )|(?<=\()|(?<=return ))/(?![/*])(\\.|\[[^\]]*\]|[^/\n\\])+/[a-z]*")
_FILLED = re.compile(r"\$\{(?:[^{}]|\{[^{}]*\})*\}")
# Code, in which every quote is closed before the sign, and the comment.
_PYTHON_COMMENT = re.compile(r"""^((?:[^#"']|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')*)#+\s*(.*)$""")
# "r10      loop counter": a name and its meaning, in columns.
_LISTED = re.compile(r"\S+(, \S+)*  +\S")
_WORDS_MIN = 3  # a shorter string is a name or a unit


@dataclass(frozen=True)
class Text:
    """One paragraph, cell, comment, docstring or message on one line, with the source line of each word."""

    path: str
    kind: str  # page, docstring, comment, message
    words: tuple[str, ...]
    lines: tuple[int, ...]

    def __str__(self) -> str:
        return " ".join(self.words)

    def line_at(self, column: int) -> int:
        """The source line of the word at a column of the text."""
        end = 0
        for word, line in zip(self.words, self.lines, strict=True):
            end += len(word) + 1
            if column < end:
                return line
        return self.lines[-1]


def collect(root: Path) -> list[Text]:
    """All texts under the root, file by file."""
    readers = {PAGES: _page, TEMPLATES: _template, MARKUP: _markup, PYTHON: _python, C: _c, TOML: _toml}
    readers[SCRIPTS] = _script
    found = []
    for patterns, reader in {**readers, SHELL: _shell}.items():
        for path in sorted({path for pattern in patterns for path in root.glob(pattern)}):
            name = path.relative_to(root).as_posix()
            if (
                path.is_file()
                and not name.startswith(LEFT_OUT)
                and "/." not in f"/{name}".replace("/.ci/", "/")
            ):
                found += [text for text in reader(name, path.read_text(encoding="utf-8")) if text.words]
    return found


def _text(path: str, kind: str, lines: list[tuple[int, str]]) -> Text:
    placed = [(word, line) for line, words in lines for word in words.split()]
    return Text(path, kind, tuple(word for word, _ in placed), tuple(line for _, line in placed))


def _plain(markdown: str) -> str:
    """A line without code and addresses."""
    return _LINK.sub(r"\1", _CODE.sub(PLACEHOLDER, markdown)).replace("**", "").replace("*", "")


def _page(path: str, source: str) -> Iterator[Text]:
    """Paragraphs, items, headings and cells of tables; no blocks of code."""
    paragraph: list[tuple[int, str]] = []
    fence = ""
    for number, line in enumerate([*source.splitlines(), ""], 1):
        stripped = line.strip()
        if stripped.startswith(("```", "~~~")):
            fence = "" if fence else stripped[:3]
            stripped = ""
        elif fence:
            continue
        begins = re.match(r"(#+ |[-*] |\d+\. |\||:::)", stripped)
        if (not stripped or begins) and paragraph:
            # Code may run over the end of a line: the paragraph is cleaned as a whole.
            yield _joined(path, paragraph)
            paragraph = []
        if stripped.startswith("|"):
            for cell in _plain(stripped).strip("|").split("|"):
                if cell.strip(" -:"):
                    yield _text(path, "page", [(number, cell)])
        elif stripped:
            paragraph.append((number, stripped[begins.end() :] if begins else stripped))


def _joined(path: str, paragraph: list[tuple[int, str]]) -> Text:
    """A paragraph as one text; the words of a cleaned line keep the line on which they begin."""
    whole = "\n".join(line for _, line in paragraph)
    keep = _CODE.sub(lambda found: PLACEHOLDER + "\n" * found[0].count("\n"), whole.replace("\n", " \n"))
    multi = re.compile(r"(`+)[^`]+\1", re.DOTALL)
    keep = multi.sub(lambda found: PLACEHOLDER + "\n" * found[0].count("\n"), keep)
    keep = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", keep).replace("**", "").replace("*", "")
    return _text(path, "page", list(enumerate(keep.split("\n"), paragraph[0][0])))


def _template(path: str, source: str) -> Iterator[Text]:
    blank = _MARK.sub(lambda found: PLACEHOLDER + "\n" * found[0].count("\n"), source)
    yield from _page(path, blank) if path.endswith(".md.j2") else _c(path, blank)


def _markup(path: str, source: str) -> Iterator[Text]:
    """The text of each block element."""
    blank = _MARK.sub(lambda found: PLACEHOLDER + "\n" * found[0].count("\n"), source)
    blocks = re.sub(
        r"</?(p|li|dt|dd|h\d|td|th|tr|div|section|summary|figcaption|label|option|ul|ol)\b", "\0\\g<0>", blank
    )
    number = 1
    for part in blocks.split("\0"):
        plain = _TAG.sub(lambda found: "\n" * found[0].count("\n"), part)
        yield _text(path, "page", list(enumerate(plain.split("\n"), number)))
        number += part.count("\n")


def _python(path: str, source: str) -> Iterator[Text]:
    nodes = _nodes(ast.parse(source))
    docstrings = [node for node in map(_docstring_of, nodes) if node is not None]
    for node in docstrings:
        yield from _docstring(path, node)
    yield from _comments(path, source, _inside_strings(nodes))
    if path.startswith("src/"):
        yield from _messages(path, nodes, {id(node) for node in docstrings})


def _nodes(tree: ast.AST) -> list[ast.AST]:
    """Every node but the contexts of names; ast.walk takes twice the time."""
    found, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        found.append(node)
        for inner in node.__dict__.values():
            if type(inner) is list:
                waiting += [item for item in inner if isinstance(item, ast.AST)]
            elif isinstance(inner, ast.AST) and not isinstance(inner, ast.expr_context):
                waiting.append(inner)
    return found


def _docstring_of(node: ast.AST) -> ast.Constant | None:
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            return first.value if isinstance(first.value.value, str) else None
    return None


def _inside_strings(nodes: list[ast.AST]) -> set[int]:
    """The lines on which a string goes over the end of the line."""
    return {
        number
        for node in nodes
        if isinstance(node, ast.Constant | ast.JoinedStr) and (node.end_lineno or 0) > node.lineno
        for number in range(node.lineno, (node.end_lineno or 0) + 1)
    }


def _docstring(path: str, node: ast.Constant) -> Iterator[Text]:
    """Its paragraphs; sections such as Parameters item by item."""
    paragraph: list[tuple[int, str]] = []
    text = str(node.value)
    indented = min((len(x) - len(x.lstrip()) for x in text.splitlines()[1:] if x.strip()), default=0)
    for number, line in enumerate([*text.splitlines(), ""], node.lineno):
        stripped = line.strip()
        deeper = number > node.lineno and len(line) - len(line.lstrip()) > indented
        new = (
            not stripped
            or re.match(r"- |\* |-{3,}", stripped)
            or (not deeper and paragraph[-1:] and " : " in line)
        )
        if new and paragraph:
            yield _code_out(path, "docstring", paragraph)
            paragraph = []
        if stripped and not stripped.startswith((">>>", "---")):
            # Names before their meaning are code.
            paragraph.append((number, re.sub(r"^[\w, ]+ : ", f"{PLACEHOLDER} : ", stripped)))


def _code_out(path: str, kind: str, lines: list[tuple[int, str]]) -> Text:
    return _text(path, kind, [(number, re.sub(r"(`+).+?\1", PLACEHOLDER, line)) for number, line in lines])


def _comments(path: str, source: str, strings: set[int]) -> Iterator[Text]:
    """Comments of Python; those on lines of their own that follow each other are one."""
    block: list[tuple[int, str]] = []
    for number, line in enumerate(source.splitlines(), 1):
        found = _PYTHON_COMMENT.match(line) if "#" in line and number not in strings else None
        if found is None or re.match(r"noqa|type:|fmt:|pragma|ruff:|!", found[2]):
            continue
        alone = not found[1].strip()
        if block and not (alone and number == block[-1][0] + 1):
            yield _code_out(path, "comment", block)
            block = []
        block.append((number, found[2]))
    if block:
        yield _code_out(path, "comment", block)


def _messages(path: str, nodes: list[ast.AST], docstrings: set[int]) -> Iterator[Text]:
    """Strings of several words: help, errors, notes, cells of a view."""
    split = {
        node.value.id
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr == "split" and isinstance(node.value, ast.Name)
    }
    parts: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and split & {getattr(target, "id", "") for target in node.targets}:
            parts.add(id(node.value))  # a list of words
        if isinstance(node, ast.JoinedStr):
            parts.update(id(part) for part in ast.walk(node) if part is not node)
            pieces = [x.value if isinstance(x, ast.Constant) else PLACEHOLDER for x in node.values]
            text = "".join(str(piece) for piece in pieces)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            text = node.value
        else:
            continue
        if id(node) not in parts and _is_prose(text):
            yield from _paragraphs(path, "message", node.lineno, text)


def _is_prose(text: str) -> bool:
    words = re.findall(r"(?<![\w.-])[A-Za-z']{2,}(?![\w(=])", text)
    code = re.search(
        r"^\s*(SELECT|CREATE|INSERT|UPDATE|DELETE|PRAGMA|WITH|#include)\b|[{};]\s*$|\\[bwds]|\(\?"
        r"|\bsans-serif\b",  # a list of fonts in CSS
        text,
    )
    return len(words) >= _WORDS_MIN and " " in text.strip() and not code


def _paragraphs(path: str, kind: str, line: int, text: str) -> Iterator[Text]:
    for part in re.split(r"\n\s*\n|\n\s*- ", text):
        yield _code_out(path, kind, [(line, part.replace("\b", " "))])


def _c(path: str, source: str) -> Iterator[Text]:
    """Comments of C; `//` on following lines are one."""
    block: list[tuple[int, str]] = []
    number, end = 1, 0
    for found in _C_COMMENT.finditer(source):
        number += source.count("\n", end, found.start())
        end = found.start()
        if found[1] is not None:
            lines = [(number + n, line.strip(" *\t-")) for n, line in enumerate(found[1].split("\n"))]
            paragraph: list[tuple[int, str]] = []
            for at, words in [*lines, (0, "")]:
                if paragraph and (not words or _LISTED.match(words)):
                    yield _code_out(path, "comment", paragraph)
                    paragraph = []
                if words:
                    paragraph.append((at, words))
        elif found[2] is not None:
            alone = not source[source.rfind("\n", 0, found.start()) + 1 : found.start()].strip()
            if block and not (alone and number == block[-1][0] + 1):
                yield _code_out(path, "comment", block)
                block = []
            block.append((number, found[2].strip()))
        elif "/drivers/" in path and _is_prose(text := found[0][1:-1].replace("\\n", " ")):
            yield from _paragraphs(path, "message", number, text)
    if block:
        yield _code_out(path, "comment", block)


def _script(path: str, source: str) -> Iterator[Text]:
    """Comments and sentences of JavaScript, without what the templates fill in."""
    source = _SCRIPT_PATTERN.sub(PLACEHOLDER, source)
    yield from _c(path, source)
    blank = _C_COMMENT.sub(
        lambda found: found[0] if found[0][0] in "\"'" else "\n" * found[0].count("\n"), source
    )
    for found in _SCRIPT_STRING.finditer(blank):
        text = _FILLED.sub(PLACEHOLDER, found[0][1:-1])
        if _is_prose(text):
            yield from _paragraphs(path, "message", 1 + blank.count("\n", 0, found.start()), text)


def _toml(path: str, source: str) -> Iterator[Text]:
    """Comments and sentences of a descriptor."""
    yield from _shell(path, source)
    lines = source.splitlines()

    def strings(value: object) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            for key, inner in value.items():
                if key not in ("quote", "printed", "source", "license", "licence", "before", "after"):
                    yield from strings(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from strings(inner)

    for value in strings(tomllib.loads(source)):
        if _is_prose(value):
            first = value.strip().splitlines()[0][:40]
            number = next((n for n, line in enumerate(lines, 1) if first in line), 1)
            yield from _paragraphs(path, "message", number, value)


def _shell(path: str, source: str) -> Iterator[Text]:
    """Comments that begin with # on lines of their own, or after a space."""
    block: list[tuple[int, str]] = []
    for number, line in enumerate([*source.splitlines(), ""], 1):
        found = re.match(r"^(\s*|.*\s)#\s(.*)$", line)
        alone = found is not None and not found[1].strip()
        listed = found is not None and _LISTED.match(found[2].strip())
        if block and (listed or not (alone and number == block[-1][0] + 1)):
            yield _code_out(path, "comment", block)
            block = []
        if found is not None:
            block.append((number, found[2]))
