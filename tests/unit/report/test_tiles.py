"""The front page's findings with their evidence, and the sources' tables as data."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from goldens.views.made_up import filled
from made_rows import candidates_of
from motecrypt.adviser.exported import packed, unpacked
from motecrypt.base.model import Section
from motecrypt.catalog import Catalog
from motecrypt.present.report import gather, render
from motecrypt.present.report.sources import sources
from motecrypt.present.report.tables import COLUMNS, source_tables, without_bars
from motecrypt.present.report.tiles import Tile, _named, tiles
from motecrypt.studies.facts import Comparison


def cipher(name: str, security: str, *costs: Any, audit: tuple[Any, ...] = ()) -> Any:
    one = SimpleNamespace(name=name, security=security, security_reason="so", security_source="RFC 1")
    return SimpleNamespace(cipher=one, costs=costs, audit=audit, best={}, message_bytes=16)


def cost(name: str, status: str, implementation: str = "motecrypt/x") -> Any:
    return SimpleNamespace(
        cipher=name,
        device="uno",
        implementation=implementation,
        reason="byte 3 differs",
        ran=status == "ok",
        varies="",
        shortfall=None,
        placement="flash",
        operations={"encrypt": SimpleNamespace(status=status)},
    )


def of(kind: str, made: list[Tile]) -> list[Tile]:
    return [tile for tile in made if tile.kind == kind]


def test_broken_ciphers_have_a_tile_with_why_they_are_broken() -> None:
    audit = (SimpleNamespace(part="x", title="Replay", verdict="accepted", weight="bad", sentences=()),)
    made = tiles(
        [],
        [
            cipher("a", "recommended", cost("a", "ok")),
            cipher("b", "broken", cost("b", "ok"), audit=audit),
            cipher("c", "broken"),  # neither measured nor attacked
        ],
    )
    (tile,) = of("broken", made)
    assert tile.text == "1 cipher is broken, and is never recommended, however fast: b."
    assert list(tile.table) == [("b", "so", "RFC 1", "Replay: accepted")]
    assert not of("broken", tiles([], [cipher("a", "legacy", cost("a", "ok")), cipher("c", "broken")]))


def test_wrong_outputs_have_a_tile_with_each_of_them() -> None:
    made = tiles([], [cipher("a", "legacy", cost("a", "ok"), cost("a", "wrong-output", "lib/a"))])
    (tile,) = of("wrong", made)
    assert tile.text == "1 implementation computes wrong outputs, and has no figure here: lib/a."
    assert list(tile.table) == [("a", "uno", "lib/a", "byte 3 differs")]
    assert not of("wrong", tiles([], [cipher("a", "legacy", cost("a", "does-not-fit"))]))


def test_the_page_has_each_highlight_with_its_evidence() -> None:
    content = gather(filled("near"), Catalog.load())
    page = render(content, bundle="")
    assert len(content.tiles) >= 4 and page.count('<article class="tile') == len(content.tiles)
    for tile in content.tiles:
        assert tile.label and tile.text and (tile.rows or tile.table), tile.kind
        assert not tile.link or f'id="{tile.link}"' in page
    assert page.index('id="adviser"') < page.index('id="findings"') < page.index('id="sources"')


def test_every_row_and_every_table_of_a_source_is_in_the_data() -> None:
    parts = sources(filled("near"))
    data = source_tables(parts)
    for part in parts:
        own = data["sources"][part.name]
        assert len(own["rows"]) == len(part.rows)
        assert [section["title"] for section in own["sections"]] == [s.title for s in part.sections]
        for cells, row in zip(own["rows"], part.rows, strict=True):
            read = dict(zip(COLUMNS, (data["words"][place] for place in cells), strict=True))
            assert read["verdict"].startswith(row.verdict) and row.id in read["where"]
            assert row.cause in read["why"] and row.row in read["what"]
    assert len(data["words"]) == len(set(data["words"]))


def test_a_row_says_what_is_missing_once_and_whether_ours_is_better() -> None:
    row = Comparison(
        "s", "t", "r", "c", "ms", 10.0, 9.0, 0.9, "needs hardware", note="a chip", missing="a chip"
    )
    part = SimpleNamespace(name="s", rows=[row, replace(row, better=True, cause="x", cause_known="unknown")])
    part.sections = []
    data = source_tables([part])  # type: ignore[list-item]
    first, second = ([data["words"][place] for place in cells] for cells in data["sources"]["s"]["rows"])
    assert first[:2] == ["needs hardware: a chip", ""] and first[4:7] == ["10 ms", "9", "0.9"]
    assert second[:2] == ["needs hardware: a chip (ours is better)", "x (unknown)"]


def test_bars_for_terminals_are_left_out_of_the_page() -> None:
    section = Section("t", ["cipher", "ms", ""], [["a", "2", "████"], ["b", "1", "██ "]], "note")
    assert without_bars(section) == Section("t", ["cipher", "ms"], [["a", "2"], ["b", "1"]], "note")
    plain = Section("t", ["a"], [["█ is a block"]], "")
    assert without_bars(plain) == plain
    content = gather(filled("near"), Catalog.load())
    assert "█" in str([part.sections for part in content.sources])
    assert not any(sign in render(content, bundle="") for sign in "█▌▏▁")


def test_candidates_are_packed_without_loss() -> None:
    adviser = gather(filled("near"), Catalog.load()).adviser
    read = json.loads(json.dumps(packed(adviser)))
    assert adviser["candidates"]
    for device in adviser["candidates"]:
        assert unpacked(read, device) == candidates_of(adviser, device)


@pytest.mark.parametrize(
    ("names", "told"), [(1, "0"), (8, "0, 1, 2, 3, 4, 5, 6, 7"), (9, "1 more"), (20, "12 more")]
)
def test_eight_names_are_told_and_the_others_counted(names: int, told: str) -> None:
    said = _named(map(str, range(names)))
    assert said == told if names < 9 else said == f"0, 1, 2, 3, 4, 5, 6, 7 and {told}"
