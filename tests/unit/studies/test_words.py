"""The words of studies are data: every claim has its function, and every sentence the figures it names."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from motecrypt.base.errors import InputError
from motecrypt.catalog import DATA
from motecrypt.studies.claim_ids import ClaimId
from motecrypt.studies.facts import Tolerance
from motecrypt.studies.judge import Bound, Check
from motecrypt.studies.words import Words, read_words, words

FILES = sorted((DATA / "studies").glob("*.toml"))
TOLD = """
source = "A paper"
[tolerance.about]
share = 0.1
origin = "wording"
[claim.is-fast]
table = "claims"
row = "it is fast"
said = "yes"
above = 2.0
tolerance = "about"
note = ["it takes\\n{time.real:.1f} ms", "{?late}, late", "{!late}, early", "; {other} more"]
cause = "{time} is long"
known = "consistent with"
[row.again]
like = "is-fast"
id = "own-{name}"
expected = 3.0
note = "again"
why = "it says {name}"
shown_by = "motecrypt list"
derived_from = ["{name}-a", "b"]
[section.all]
title = "All of {name}"
columns = ["a", "{name}"]
text = "Said."
[texts]
one = "One {name}."
"""


def told(folder: Path, text: str = TOLD) -> Words:
    (folder / "own.toml").write_text(text)
    return read_words(folder / "own.toml")


def test_a_row_is_made_of_its_words_and_figures(tmp_path: Path) -> None:
    own = told(tmp_path)
    row = own.row("is-fast", measured="slow", found=1.0, time=12.34, late=True, other=None)
    assert (row.id, row.kind, row.source, row.table) == ("own-claim-is-fast", "claim", "A paper", "claims")
    assert (row.published, row.measured, row.verdict) == ("yes", "slow", "differs")
    assert (row.note, row.cause) == ("it takes 12.3 ms, late", "12.34 is long")
    assert row.tolerance == Tolerance(0.1, 0.0, "wording") and row.cause_known == "consistent with"
    early = own.row("is-fast", measured="fast", found=1.9, time=0.0, late=0, other=7, brief="b", topic="t")
    assert (early.note, early.verdict) == ("it takes 0.0 ms, early; 7 more", "matches")
    assert (early.brief, early.topic) == ("b", "t")


def test_a_row_takes_what_it_does_not_say_from_the_one_it_is_like(tmp_path: Path) -> None:
    own = told(tmp_path)
    row = own.row("again", name="x", time=1, published=3.0, measured=3.2)
    assert (row.id, row.row, row.note, row.kind) == ("own-x", "it is fast", "again", "claim")
    assert (row.verdict, row.derived_from, own.claims) == ("matches", ("x-a", "b"), ("is-fast",))
    failed = own.row("again", name="x", time=1, published=3.0, measured=3.0, check=(2.0, 3.0))
    assert (failed.verdict, failed.cause, failed.command) == (
        "paper is inconsistent",
        "it says x",
        "motecrypt list",
    )
    given = (Check(1.0, 2.0, "so", "run"),)
    assert own.row("again", name="x", time=1, measured=3.0, checks=given, derived_from=()).cause == "so"
    nothing = own.row("is-fast", time=None, late=None, other=None)
    assert (nothing.verdict, nothing.note) == ("not measured", ", early")


def test_a_table_and_a_text_have_their_words(tmp_path: Path) -> None:
    own = told(tmp_path)
    made = own.section("all", [("1", "2")], name="it")
    assert (made.title, made.columns, made.rows) == ("All of it", ["a", "it"], [["1", "2"]])
    assert (made.text, own.text("one", name="two")) == ("Said.", "One two.")


@pytest.mark.parametrize("given", [{}, {"time": 1.0, "other": 1}, {"late": True, "other": 1}])
def test_a_sentence_without_its_figure_is_one_error(tmp_path: Path, given: dict[str, Any]) -> None:
    own = told(tmp_path)
    with pytest.raises(
        InputError, match=r"own\.toml: is-fast: note: no figure '(time\.real|late)'; available: "
    ):
        own.row("is-fast", cause="", **given)


def test_a_claim_without_a_function_is_one_error(tmp_path: Path) -> None:
    own = told(tmp_path)
    assert own.finders({"_is_fast": len, "other": 1}) == {"is-fast": len}
    with pytest.raises(InputError, match=r"own\.toml: claim\.is-fast: no function finds its figures"):
        own.finders({"is_fast": len})


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{time} is long", "{time is long", "'cause' is .*expected a sentence with"),
        ('tolerance = "about"', 'tolerance = "exact"', "'tolerance' is 'exact'; expected one of about"),
        ('like = "is-fast"', 'like = "again"', "'like' is 'again'; expected one of is-fast"),
        ("above = 2.0", "over = 2.0", "unknown 'over'"),
        ("[texts]", "[text]", "unknown 'text'"),
        ('said = "yes"', 'topic = "speed"', "'topic' is 'speed'; expected one of rc4d-stronger"),
    ],
)
def test_a_wrong_file_is_one_error(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in TOLD
    with pytest.raises(InputError, match=said):
        told(tmp_path, TOLD.replace(old, new))


def test_bounds_and_topics_are_read(tmp_path: Path) -> None:
    for key in ("above", "at_least", "at_most", "below"):
        own = told(tmp_path, TOLD.replace("above", key).replace('said = "yes"', 'topic = "rf-line-bound"'))
        assert own.rows["is-fast"]["expected"] == Bound(key.replace("_", " "), 2.0)  # type: ignore[arg-type]
        assert own.rows["is-fast"]["topic"] == ClaimId.RF_LINE_BOUND


@pytest.mark.parametrize("study", [path.stem for path in FILES])
def test_every_claim_of_ours_has_its_function(study: str) -> None:
    own = words(study)
    if own.claims:
        module = importlib.import_module(f"motecrypt.studies.{study}.claims")
        assert list(own.finders(vars(module))) == list(own.claims)
