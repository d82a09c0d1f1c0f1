"""Runs proselint with our rules over all text and prints each hit: `python tests/prose/main.py`.

`./test lint` runs it. texts.py collects the text; this file defines rules and hits.
"""

from __future__ import annotations

import re
import sys
import tomllib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from proselint.checks import __register__
from proselint.config import DEFAULT
from proselint.registry.checks import Check

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from prose.texts import Text, collect  # noqa: E402

RULES = Path(__file__).with_name("rules.toml")
KINDS = ("page", "docstring", "comment", "message")
_END = re.compile(r"(?<=[.!?:;])\s+")
# The signs and letters of a formula are not words: "a0 + h". X is code.
_WORD = re.compile(r"(?<!\S)\S*(?:[A-Za-z]{2}|\b[aAIX]\b|\b\d)\S*")
_FIELDS = {"name", "patterns", "instead", "kinds", "except", "before"}


@dataclass(frozen=True)
class Rule:
    """What must not be written, and what to write instead."""

    name: str
    patterns: tuple[re.Pattern[str], ...]
    instead: str
    kinds: tuple[str, ...]
    exceptions: tuple[re.Pattern[str], ...]
    before: re.Pattern[str] | None  # the words before a correct match

    def hits(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the rule is broken."""
        for pattern in self.patterns:
            for found in pattern.finditer(text):
                if self.before is not None and self.before.search(
                    text, max(0, found.start() - 20), found.start()
                ):
                    continue
                if not any(exception.fullmatch(found[0]) for exception in self.exceptions):
                    yield found.span()


@dataclass(frozen=True)
class Hit:
    """One broken rule at one place."""

    path: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


@dataclass(frozen=True)
class Book:
    """All rules of rules.toml."""

    rules: tuple[Rule, ...]
    sentence_words: int
    off: tuple[str, ...]


def read_rules(path: Path = RULES) -> Book:
    """The rules of a file; a ValueError for a field or kind that is not known."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    rules = []
    for entry in document["rule"]:
        if odd := set(entry) - _FIELDS:
            raise ValueError(f"{path.name}: unknown field {sorted(odd)[0]!r} in rule {entry.get('name')!r}")
        kinds = tuple(entry.get("kinds", KINDS))
        if odd := set(kinds) - set(KINDS):
            raise ValueError(f"{path.name}: unknown kind {sorted(odd)[0]!r} in rule {entry['name']!r}")
        patterns, exceptions = (
            tuple(re.compile(text, re.IGNORECASE | re.MULTILINE) for text in entry.get(field, ()))
            for field in ("patterns", "except")
        )
        before = re.compile(entry["before"]) if "before" in entry else None
        rules.append(Rule(entry["name"], patterns, entry["instead"], kinds, exceptions, before))
    return Book(tuple(rules), document["sentence_words"], tuple(document["proselint_off"]))


def check(texts: Sequence[Text], book: Book) -> list[Hit]:
    """All hits, kind by kind: our rules, long sentences and proselint's own checks."""
    stock = [
        check
        for check in __register__
        if any(on and check.matches_partial(name) for name, on in DEFAULT["checks"].items())
        and not any(check.matches_partial(name) for name in book.off)
    ]
    found: set[Hit] = set()
    for kind in KINDS:
        of_kind = [text for text in texts if text.kind == kind]
        found.update(_ours(of_kind, [rule for rule in book.rules if kind in rule.kinds]))
        found.update(_long(of_kind, book.sentence_words))
        found.update(_stock(of_kind, stock))
    return sorted(found, key=lambda hit: (hit.path, hit.line, hit.rule))


class _Sheet:
    """Texts as one document with a line for each, so that an expression runs over all of them in one go."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self._texts = texts
        lines = [str(text) for text in texts]
        self.content = "\n" + "\n".join(lines) + "\n"
        self._starts = list(accumulate((len(line) + 1 for line in lines), initial=1))

    def hit(self, at: int, rule: str, message: str) -> Hit:
        row = min(bisect_right(self._starts, at) - 1, len(self._texts) - 1)
        text = self._texts[row]
        return Hit(text.path, text.line_at(at - self._starts[row]), rule, message)


def _ours(texts: Sequence[Text], rules: Sequence[Rule]) -> Iterator[Hit]:
    sheet = _Sheet(texts)
    for rule in rules:
        for start, end in rule.hits(sheet.content):
            yield sheet.hit(start, rule.name, f"'{sheet.content[start:end]}': {rule.instead}")


def _long(texts: Sequence[Text], words: int) -> Iterator[Hit]:
    for text in texts:
        column = 0
        for sentence in _END.split(str(text)):
            count = len(_WORD.findall(sentence))
            if count > words:
                message = f"a sentence of {count} words: at most {words}"
                yield Hit(text.path, text.line_at(column), "sentence", message)
            column += len(sentence) + 1


def _stock(texts: Sequence[Text], checks: Sequence[Check]) -> Iterator[Hit]:
    sheet = _Sheet(texts)
    for each in checks:
        for result in each.check_with_flags(sheet.content):
            start, end = result.span
            if "\n" not in sheet.content[start:end].strip():
                shown = sheet.content[start:end].strip()
                yield sheet.hit(start, f"proselint {result.check_path}", f"'{shown}': {result.message}")


def main(root: Path = ROOT) -> int:
    """Print every hit; 1 if there is one."""
    texts = collect(root)
    hits = check(texts, read_rules())
    for hit in hits:
        print(hit)
    count = sum(len(text.words) for text in texts)
    files = len({text.path for text in texts})
    print(f"prose: {len(hits)} hits in {count:,} words of {files} files")
    return 1 if hits else 0


if __name__ == "__main__":
    sys.exit(main())
