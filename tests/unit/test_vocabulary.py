"""The rule that holds names to one word for one thing."""

from __future__ import annotations

import pytest

from lint.names import offences, replaced
from lint.sources import parsed


@pytest.mark.parametrize(
    ("name", "word"),
    [
        *(("build_mote", "mote"), ("FileMote", "mote"), ("MOTE_LENGTHS", "mote"), ("motes", "mote")),
        *(("KitState", "kit"), ("needs_kits", "kit"), ("kit", "kit")),
        *(("motecrypt", ""), ("motecrypt_kind", ""), ("remote", ""), ("kitchen", ""), ("node", "")),
    ],
)
def test_a_word_is_found_inside_a_name_and_only_whole(name: str, word: str) -> None:
    assert replaced(name) == word


@pytest.mark.parametrize(
    "code",
    ["def build_mote(): pass", "class Mote: pass", "def f(mote): pass", "x.mote", "f(mote=1)", "mote = 1"],
)
def test_every_kind_of_name_is_read(code: str) -> None:
    (found,) = {each.rpartition(": ")[2] for each in offences((parsed(code),))}
    assert found == "'mote' is called 'node'"


def test_text_has_rules_of_its_own() -> None:
    assert not list(offences((parsed('"""A mote."""\nx = "kit"'),)))
