"""The page of a profile: its figures, and that no name can become markup or a script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from motecrypt.present.pages.profile_page import _slots, profile_page
from motecrypt.present.pages.shell import count, embedded
from motecrypt.simulate.emulate.profiling import CallNode, StackOverTime
from page_data import HOSTILE, Read, made_listings, made_profile


@pytest.fixture(scope="module")
def page() -> str:
    return profile_page(made_profile(), made_listings(), "<i>.elf", "uno", 16_000_000, "motecrypt profile x")


@pytest.fixture(scope="module")
def read(page: str) -> Read:
    return Read(page)


def data_of(read: Read) -> Any:
    return json.loads(read.scripts[0])


def test_no_name_becomes_markup_or_a_script(page: str, read: Read) -> None:
    assert len(read.scripts) == 2
    tags = {tag for tag, _ in read.elements}
    assert not tags & {"img", "i", "b", "iframe", "object", "link"}
    assert not any(name.startswith("on") for _, attributes in read.elements for name in attributes)
    assert "\u202e" not in page and "owned" in page


def test_only_the_pages_own_script_may_run_and_nothing_is_fetched(page: str, read: Read) -> None:
    policy = next(a["content"] or "" for t, a in read.elements if t == "meta" and "http-equiv" in a)
    digest = base64.b64encode(hashlib.sha256(read.scripts[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy and "default-src 'none'" in policy
    assert "http" not in re.sub(r"http-equiv", "", page)
    assert not any(
        {"src", "href"} & set(a) and not (a.get("href") or "").startswith("#") for _, a in read.elements
    )


def test_the_tree_has_every_cycle_and_puts_the_largest_first(read: Read) -> None:
    flame = data_of(read)["flame"]
    names = [flame["names"][row[1]] for row in flame["nodes"]]
    assert names[:3] == ["(start-up)", "main", "work"] and len(names) == 5
    assert [row[3] for row in flame["nodes"]] == [1000, 990, 899, 299, 1]
    assert sum(row[4] for row in flame["nodes"]) == 1000
    assert [row[0] for row in flame["nodes"]] == [-1, 0, 1, 2, 1]
    tree = [row for row in read.rows if row[0].lstrip("▾") in ("main", "work", "tiny")]
    assert ["▾main", "1", "990", "90", "99.0 %"] in tree
    assert not any(row[0] == "tiny" and row[1:3] == ["1", "1"] and len(row) == 5 for row in tree), (
        "below 0.2 %"
    )


def test_small_nodes_are_left_out_of_the_flame_graph() -> None:
    from dataclasses import replace

    many = tuple(CallNode(1, f"f{n}", 1, 1) for n in range(5000))
    found = made_profile()
    grown = replace(
        found, tree=(*found.tree, *many), ended=replace(found.ended, cycles=found.ended.cycles + 5000)
    )
    flame = data_of(Read(profile_page(grown, (), "x", "uno", 16_000_000, "m")))["flame"]
    assert len(flame["nodes"]) == 4, "tiny and all f have less than a 4000th"
    assert flame["nodes"][1][3] == 990 + 5000


def test_the_stack_over_time_is_a_chart_and_a_table(read: Read) -> None:
    rows = [row for row in read.rows if len(row) == 4 and row[3] in ("main", "work")]
    assert rows == [["0", "16", "4", "main"], ["16", "32", "24", "work"], ["64", "80", "4", "main"]]
    stack = data_of(read)["stack"]
    assert stack["unit"] == "µs" and stack["slot"] == pytest.approx(16)
    assert [slot and slot[0] for slot in stack["slots"]] == [4, 24, 32, None, 4]
    charts = [a for t, a in read.elements if a.get("role") == "img"]
    assert charts and "at most 32 bytes" in (charts[0]["aria-label"] or "")


def test_lines_have_their_cycles_and_instructions(read: Read) -> None:
    rows = [row for row in read.rows if len(row) == 5]
    assert ["▸2", "12", "1.2 %", "3", "<b>twice</b>(5);"] in rows
    assert ["1", "", "", "", "int work(void) {"] in rows
    instructions = data_of(read)["instructions"]
    assert instructions[0][1] == [["10", "ldi r24, 0x05", 3, 3], ["12", "rcall .+6", 3, 9]]
    assert instructions[1] == [[["40", "", 6, 299]]]


def test_what_is_missing_is_reported(page: str) -> None:
    assert "SPI: nothing is connected" in page and "2 calls were too deep" in page


def nested(value: object, depth: int) -> object:
    return value if depth == 0 else {"a": [nested(value, depth - 1)]}


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts(one)


def test_embedded_data_cannot_end_its_element_at_any_depth() -> None:
    written = embedded({HOSTILE: nested(HOSTILE, 3)})
    assert not set("<>&\u202e") & set(written)
    assert all("</script>" in text or text == "a" for text in texts(json.loads(written)))


@pytest.mark.parametrize(
    ("value", "shown"), [(None, ""), (0, "0"), (1234567, "1,234,567"), (0.12345, "0.1235"), (1234.5, "1,234")]
)
def test_numbers_for_people(value: float | None, shown: str) -> None:
    assert count(value) == shown


@pytest.mark.parametrize(
    ("slots", "unit", "each"), [(1, "µs", 5.0), (199, "µs", 5.0), (200, "ms", 5e-3), (200_000, "s", 5e-6)]
)
def test_the_slider_has_the_unit_of_the_whole_run(slots: int, unit: str, each: float) -> None:
    """5 µs a slot: 200 of them are a millisecond."""
    made = _slots(StackOverTime(80, ((12, "main"),) * slots), 16_000_000)
    assert made["unit"] == unit and made["slot"] == pytest.approx(each)
    assert made["names"] == ["main"] and made["slots"] == [[12, 0]] * slots
