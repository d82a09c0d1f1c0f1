"""Rows and tables of a study whose words are data, in `data/studies/NAME.toml`.

The file has each claim and row in our words: what was published, its unit, the tolerance with its origin,
and sentences with the names of figures, `{aes.time_ms:.0f}`. The study's code gives the figures. A sentence
is left out where one of its figures is None. One that begins with `{?name}` is there only if that figure is
true, with `{!name}` only if it is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import Formatter
from typing import Any, get_args

from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.base.model import Section
from motecrypt.catalog.places import DATA
from motecrypt.studies.claim_ids import ClaimId
from motecrypt.studies.facts import CauseKnown, Comparison, FactKind, LikeForLike, Tolerance
from motecrypt.studies.judge import EXACT, Bound, Check, Evidence, Relation, compare

Parts = tuple[str, ...]
#: What a row says, each a sentence or a list of them. `said` is a published text; `why` and `shown_by` are of
#: the check that the source must pass.
TEXTS = (
    *("id", "table", "row", "column", "unit", "said", "measured", "note", "brief", "cause", "command"),
    *("bring", "needs_hardware", "why", "shown_by"),
)
#: What a row may be given in place of what the file has.
GIVEN = (
    *TEXTS,
    *("published", "expected", "tolerance", "kind", "like_for_like", "less_is_better", "known", "topic"),
)
_CONDITION = re.compile(r"\{([?!])(\w+)\}")
_FOLD = re.compile(r"\s*\n\s*")


@dataclass(frozen=True)
class Words:
    """The words of a study.

    Attributes
    ----------
    claims : ids of the claims, without "STUDY-claim-", in the order of the file.
    rows : what each claim and row says, by its name there.
    """

    study: str
    where: str
    source: str
    claims: tuple[str, ...]
    rows: Mapping[str, Mapping[str, Any]]
    sections: Mapping[str, Mapping[str, Parts]]
    texts: Mapping[str, Parts]

    def row(self, name: str, /, **given: Any) -> Comparison:
        """A row with its verdict, from its words and the figures that they name.

        A figure with the name of a field (`published`, `measured`, `expected`, `tolerance`, `note`, ...) is
        taken for it. `check` is what the source says and what it would have to say, `found` is judged in
        place of `measured`.

        Raises
        ------
        InputError
            If a sentence names a figure that is not given.
        """
        entry = self.rows[name]
        told = {key: self._told(f"{name}: {key}", entry[key], given) for key in TEXTS if key not in given}
        own: dict[str, Any] = {key: given.get(key, told.get(key, entry.get(key))) for key in GIVEN}
        if own["published"] is None and "published" not in given:
            own["published"] = own["said"] or None
        tolerance = own["tolerance"] or EXACT
        checks = given.get("checks", ())
        if given.get("check") is not None:
            said, wanted = given["check"]
            checks = (Check(said, wanted, own["why"], own["shown_by"], tolerance),)
        origins = given.get("derived_from")
        if origins is None:
            origins = [self._told(f"{name}: derived_from", (part,), given) for part in entry["derived_from"]]
        return compare(
            id=own["id"] or f"{self.study}-{name}",
            source=given.get("source", self.source),
            table=own["table"],
            row=own["row"],
            column=own["column"],
            unit=own["unit"],
            published=own["published"],
            measured=own["measured"] if "measured" in given else own["measured"] or None,
            kind=own["kind"] or "figure",
            tolerance=tolerance,
            expected=own["expected"],
            found=given.get("found"),
            evidence=Evidence(
                own["like_for_like"] or "other",
                checks=checks,
                needs_hardware=own["needs_hardware"],
                bring=own["bring"],
                derived_from=tuple(origins),
                less_is_better=own["less_is_better"],
                cause=own["cause"],
                known=own["known"],
                command=own["command"],
            ),
            note=own["note"],
            brief=own["brief"],
            figures=given.get("figures"),
            topic=own["topic"],
        )

    def section(self, name: str, rows: Sequence[Sequence[str]], /, **given: Any) -> Section:
        """A table for people: title, columns and text are of the file."""
        title, text = (
            self._told(f"{name}: {key}", self.sections[name][key], given) for key in ("title", "text")
        )
        columns = [self._told(f"{name}: columns", (part,), given) for part in self.sections[name]["columns"]]
        return Section(title, columns, [list(row) for row in rows], text)

    def text(self, name: str, /, **given: Any) -> str:
        """A text of [texts]."""
        return self._told(name, self.texts[name], given)

    def finders(self, functions: Mapping[str, Any]) -> dict[str, Callable[..., dict[str, Any]]]:
        """Each claim's function among a module's names: `_faster_than_aes` is that of faster-than-aes.

        Raises
        ------
        InputError
            If a claim has none.
        """
        found = {claim: functions.get(f"_{claim.replace('-', '_')}") for claim in self.claims}
        for claim, function in found.items():
            if function is None:
                raise InputError(f"{self.where}: claim.{claim}: no function finds its figures")
        return found  # type: ignore[return-value]

    def _told(self, what: str, parts: Parts, given: Mapping[str, Any]) -> str:
        told = []
        for part in parts:
            condition = _CONDITION.match(part)
            rest = part if condition is None else part[condition.end() :]
            if condition and bool(self._figure(what, condition[2], given)) != (condition[1] == "?"):
                continue
            if all(self._figure(what, name, given) is not None for name in _figures(rest)):
                told.append(rest.format_map(given))
        return "".join(told)

    def _figure(self, what: str, name: str, given: Mapping[str, Any]) -> Any:
        root = re.split(r"[.\[]", name)[0]
        if root not in given:
            known = ", ".join(sorted(given))
            raise InputError(f"{self.where}: {what}: no figure '{name}'; available: {known}")
        return None if given[root] is None else Formatter().get_field(name, (), given)[0]


def _figures(text: str) -> Iterator[str]:
    return (name for _, name, _, _ in Formatter().parse(text) if name is not None)


@lru_cache(maxsize=8)
def words(study: str) -> Words:
    """The words of one of the program's studies."""
    return read_words(DATA / "studies" / f"{study}.toml")


def read_words(path: Path) -> Words:
    """Read a file of words.

    Raises
    ------
    InputError
        If it cannot be read, has an unknown key, or a sentence that is no template.
    """
    file = Table.read(path)
    source = "".join(_parts(file, "source"))
    limits, spread = file.named_tables("tolerance", {}), file.named_tables("section", {})
    claims, others = file.named_tables("claim", {}), file.named_tables("row", {})
    told = file.table("texts", {})
    file.done()
    tolerances = {
        name: Tolerance(
            entry.number("share", 0.0), entry.number("absolute", 0.0), entry.text("origin", filled=True)
        )
        for name, entry in _done(limits)
    }
    rows: dict[str, Mapping[str, Any]] = {}
    for name, entry in {**claims, **others}.items():
        read = _row(entry, tolerances, rows)
        if name in claims:
            read = {**read, "kind": "claim", "id": (f"{path.stem}-claim-{name}",)}
        rows[name] = read
    sections = {
        name: {key: _parts(entry, key) for key in ("title", "columns", "text")}
        for name, entry in _done(spread)
    }
    texts = {name: _parts(told, name) for name in told.plain()}
    return Words(path.stem, str(path), source, tuple(claims), rows, sections, texts)


def _done(tables: Mapping[str, Table]) -> Iterator[tuple[str, Table]]:
    """Each table, and once it was used a complaint about what is left in it."""
    for name, entry in tables.items():
        yield name, entry
        entry.done()


def _row(
    entry: Table, tolerances: Mapping[str, Tolerance], above: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, Any]:
    """A row's own words and, where it has none, those of the row that it is `like`."""
    own: dict[str, Any] = {key: _parts(entry, key) for key in (*TEXTS, "derived_from")}
    own |= {
        "kind": entry.text("kind", "", choices=get_args(FactKind)),
        "like_for_like": entry.text("like_for_like", "", choices=get_args(LikeForLike)),
        "topic": entry.text("topic", "", choices=tuple(ClaimId)),
        "known": entry.text("known", "", choices=get_args(CauseKnown)),
        "published": entry.number("published", None),
        "less_is_better": entry.flag("less_is_better", None),
        "expected": entry.number("expected", None),
    }
    for relation in get_args(Relation):
        value = entry.number(relation.replace(" ", "_"), None)
        own["expected"] = own["expected"] if value is None else Bound(relation, value)
    limit = entry.text("tolerance", "", choices=tolerances)
    own["tolerance"] = tolerances.get(limit)
    like = entry.text("like", "", choices=above)
    entry.done()
    base = above.get(like, {})
    return {key: base.get(key, value) if value in ("", (), None) else value for key, value in own.items()}


def _parts(entry: Table, key: str) -> Parts:
    """A sentence or several, each with its line breaks as spaces."""
    parts = tuple(_FOLD.sub(" ", part.strip("\n")) for part in entry.text_or_texts(key, ()))
    for part in parts:
        try:
            list(_figures(_CONDITION.sub("", part)))
        except ValueError as error:
            raise entry.wrong(key, part, f"a sentence with {{figures}}: {error}") from error
    return parts
