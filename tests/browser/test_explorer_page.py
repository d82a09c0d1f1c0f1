"""The explorer in a real browser: filters, scales, fronts, table, pins, its address, copies and errors."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path
from typing import Any

import pytest

from motecrypt.base.model import SECURITY_STATUSES
from report_data import STACKS


def _shown(page: Any) -> None:
    page.evaluate("location.hash = '#explorer'")
    page.wait_for_function("document.getElementById('explorer-count').textContent !== ''")


def _rows(page: Any, selector: str = "#explorer-table tbody tr") -> list[dict[str, str]]:
    rows: list[dict[str, str]] = page.eval_on_selector_all(
        selector,
        """rows => rows.map(r => Object.fromEntries([...r.cells].filter(c => c.dataset.column)
            .map(c => [c.dataset.column, c.textContent])))""",
    )
    return rows


def _count(page: Any) -> int:
    return int(page.text_content("#explorer-count").split()[0])


def _choose(page: Any, name: str, value: str) -> None:
    page.select_option(f"#explorer-form select[name={name}]", value)


def test_filters_narrow_the_explorer(opened: Any) -> None:
    page = opened.page
    _shown(page)
    everything = _count(page)
    assert everything > 20
    page.uncheck("#explorer-form input[name=device][value=pico]")
    fewer = _count(page)
    assert 0 < fewer < everything
    assert {row["device"] for row in _rows(page)} == {"uno"}
    page.uncheck("#explorer-form input[name=security][value=acceptable]")
    assert {row["security"] for row in _rows(page)} == {"recommended"}
    page.check("#explorer-form input[name=security][value=broken]")
    assert _count(page) > 0
    page.fill("#explorer-form input[name=search]", "ASCON motecrypt")
    assert {row["cipher"] for row in _rows(page)} == {"ascon-aead128"}
    assert all(row["implementation"].startswith("motecrypt/") for row in _rows(page))
    page.fill("#explorer-form input[name=search]", "no such cipher")
    assert _count(page) == 0
    assert "Nothing fits these filters" in page.text_content("#explorer-plot")
    page.click("[data-explorer=reset]")
    assert _count(page) == everything
    page.fill("#explorer-form input[name=flash]", "2k")
    assert 0 < _count(page) < everything
    assert all(int(row["flash"].replace(",", "")) <= 2048 for row in _rows(page))
    page.check("#explorer-form input[name=constant]")
    assert {row["varies"] for row in _rows(page)} == {"none seen"}
    assert opened.console == []


@pytest.mark.parametrize(("x", "y"), [("flash", "time"), ("energy", "ram"), ("stack", "security")])
def test_the_front_holds_no_point_that_another_beats(opened: Any, x: str, y: str) -> None:
    page = opened.page
    _shown(page)
    _choose(page, "x", x)
    _choose(page, "y", y)
    _choose(page, "bytes", "64")
    found = page.evaluate(
        """([x, y]) => {
          const state = explorerState();
          const points = chosenRows(state).filter(r => r.message_bytes === 64).map(row =>
            ({row, x: QUANTITIES[x].of(row, "encrypt"), y: QUANTITIES[y].of(row, "encrypt")}));
          return {points: points.map(p => [p.row.device, p.x, p.y]),
                  front: paretoFront(points).map(p => [p.row.device, p.x, p.y])};
        }""",
        [x, y],
    )
    assert found["front"]

    def beaten(point: list[Any]) -> bool:
        return any(
            device == point[0] and a <= point[1] and b <= point[2] and (a, b) != (point[1], point[2])
            for device, a, b in found["points"]
        )

    assert not any(beaten(point) for point in found["front"])
    unbeaten = {tuple(point) for point in found["points"] if not beaten(point)}
    assert unbeaten == {tuple(point) for point in found["front"]}


def test_a_map_of_cost_and_security_has_every_status(opened: Any) -> None:
    page = opened.page
    _shown(page)
    _choose(page, "x", "security")
    page.wait_for_selector("#explorer-plot svg")
    there = page.evaluate("[...new Set(explorerShown.last.here.map((row) => row.security))]")
    labels = page.evaluate(
        "[...document.querySelectorAll('#explorer-plot svg .mark-text.role-axis-label text')]"
        ".map(e => e.textContent)"
    )
    assert {"recommended", "legacy", "broken"} <= set(there) <= set(SECURITY_STATUSES)
    assert [label for label in labels if label in SECURITY_STATUSES] == [
        s for s in SECURITY_STATUSES if s in there
    ]
    assert "across" not in page.text_content("#explorer-count").split(";")[1]


@pytest.mark.parametrize("operation", STACKS)
def test_the_stack_is_that_of_the_operation(opened: Any, operation: str) -> None:
    """In the chart, on its axis, in the table and on the axis of lengths."""
    page = opened.page
    _shown(page)
    _choose(page, "y", "stack")
    _choose(page, "operation", operation)
    assert {row["stack"] for row in _rows(page)} == {str(STACKS[operation])}
    found = page.evaluate("""() => {
      const chart = (id) => drawn.get(document.getElementById(id)).specification;
      return ["explorer-plot", "lengths-plot"].map(chart).map((one) => {
        const { field, title } = one.layer[0].encoding.y;
        return [title, [...new Set(one.data.values.map((row) => row[field]))]];
      });
    }""")
    done = {"setup": "set up the key"}.get(operation, operation)
    assert found == [[f"stack to {done}, bytes", [STACKS[operation]]]] * 2


def test_cold_and_warm_caches_are_not_in_one_chart(opened: Any) -> None:
    page = opened.page
    _shown(page)
    found = page.evaluate("""() => {
      explorerShown.started = true;
      const rows = explorerRows();
      for (const row of rows.filter((one) => one.placement === "flash, cold")) {
        rows.push({ ...row, placement: "flash, warm", encrypt_us: row.encrypt_us / 7 });
      }
      return Object.fromEntries(["cold", "warm"].map((cache) => {
        explorerForm.elements.cache.value = cache;
        updateExplorer();
        const { here } = explorerShown.last;
        const { specification } = drawn.get(document.getElementById("explorer-plot"));
        const of = (device) =>
          [...new Set(here.filter((row) => row.device === device).map((row) => row.placement))];
        return [cache, [of("pico"), of("uno"), specification.layer.at(-1).encoding.y.title, location.hash]];
      }));
    }""")
    for cache, (pico, uno, title, address) in found.items():
        assert (pico, uno) == ([f"flash, {cache}"], ["flash"])
        assert title.startswith(f"time to encrypt, µs, {cache} flash cache")
        assert ("cache=warm" in address) == (cache == "warm")


def test_a_scale_is_chosen_and_said(opened: Any) -> None:
    page = opened.page
    _shown(page)
    assert "across logarithmic, up logarithmic" in page.text_content("#explorer-count")
    _choose(page, "yscale", "linear")
    assert "across logarithmic, up linear" in page.text_content("#explorer-count")
    page.wait_for_function(
        "/time to encrypt, µs, cold flash cache(?! .log)/"
        ".test(document.querySelector('#explorer-plot svg')?.textContent)"
    )
    _choose(page, "y", "stack")  # all the same: linear, if not asked for otherwise
    _choose(page, "yscale", "auto")
    assert "up linear" in page.text_content("#explorer-count")
    _choose(page, "yscale", "log")
    assert "up logarithmic" in page.text_content("#explorer-count")


def test_the_table_sorts_by_any_column(opened: Any) -> None:
    page = opened.page
    _shown(page)
    page.click("#explorer-table button[data-sort=time]")
    times = [float(row["time"].replace(",", "")) for row in _rows(page)]
    assert len(times) == 50 and times == sorted(times)
    page.click("#explorer-table button[data-sort=time]")
    assert page.get_attribute("#explorer-table th[aria-sort]", "aria-sort") == "descending"
    times = [float(row["time"].replace(",", "")) for row in _rows(page)]
    assert times == sorted(times, reverse=True)
    assert page.evaluate("document.activeElement.dataset.sort") == "time"
    page.click("#explorer-table button[data-sort=security]")
    order = [SECURITY_STATUSES.index(row["security"]) for row in _rows(page)]
    assert order == sorted(order)
    page.click("#explorer-more")
    assert len(_rows(page)) == 100


def test_two_pinned_rows_are_compared(opened: Any) -> None:
    page = opened.page
    _shown(page)
    for place in (3, 0, 1):
        page.click(f"#explorer-table tbody tr:nth-child({place + 1}) button")
    rows = _rows(page)[:2]
    table = page.eval_on_selector_all(
        "#explorer-compared tr", "rows => rows.map(r => [...r.cells].map(c => c.textContent))"
    )
    assert table[0][1:3] == [f"{r['device']} {r['cipher']} {r['implementation']}" for r in rows]
    flash = next(line for line in table if line[0] == "flash")
    first, second = (int(text.replace(",", "")) for text in flash[1:3])
    assert flash[3] == f"{float(f'{second / first:.4g}'):g} times"
    page.click("#explorer-table tbody tr:nth-child(1) button")
    assert "Pin a second row" in page.text_content("#explorer-compared .note")


def test_the_address_keeps_what_was_chosen(opened: Any, browser: Any) -> None:
    page = opened.page
    _shown(page)
    _choose(page, "x", "ram")
    _choose(page, "yscale", "log")
    _choose(page, "bytes", "64")
    page.uncheck("#explorer-form input[name=device][value=pico]")
    page.fill("#explorer-form input[name=search]", "aes128 & ccm")
    page.fill("#explorer-form input[name=search]", "aes128")
    page.click("#explorer-table button[data-sort=flash]")
    page.click("#explorer-table tbody tr:nth-child(2) button")
    before = (page.text_content("#explorer-count"), _rows(page), page.text_content("#explorer-compared"))
    assert before[1]
    address = page.url
    assert "#explorer?" in address and "ram" in address
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_function("document.getElementById('explorer-count').textContent !== ''")
    assert (
        page.text_content("#explorer-count"),
        _rows(page),
        page.text_content("#explorer-compared"),
    ) == before
    hostile = (
        "#explorer?x=__proto__&bytes=7&sort=constructor&pin=<img src=x onerror=alert(1)>"
        "&device=uno,<b>&search=%25"
    )
    page.evaluate("hash => { location.hash = hash }", hostile)
    page.wait_for_function("explorerForm.elements.search.value === '%'")
    assert page.input_value("#explorer-form select[name=x]") == "ram"  # what there is not changes nothing
    assert page.evaluate("document.querySelectorAll('#explorer img').length") == 0
    assert opened.console == []


def test_link_command_and_csv_are_of_what_is_shown(opened: Any, tmp_path: Path) -> None:
    page = opened.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    _shown(page)
    page.fill("#explorer-form input[name=search]", "ascon")
    page.click("[data-explorer=link]")
    page.wait_for_function("document.getElementById('explorer-copied').textContent.startsWith('Copied')")
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    page.click("[data-explorer=command]")
    page.wait_for_function("document.getElementById('explorer-copied').textContent.includes('measure')")
    words = shlex.split(page.evaluate("navigator.clipboard.readText()"))
    assert words[:2] == ["motecrypt", "measure"]
    assert words[-2:] == ["--bytes", "16"]
    assert {words[i + 1] for i, word in enumerate(words) if word == "--cipher"} == {"ascon-aead128"}
    with page.expect_download() as waiting:
        page.click("[data-explorer=csv]")
    target = tmp_path / "explorer.csv"
    waiting.value.save_as(target)
    rows = list(csv.DictReader(target.read_text().splitlines()))
    assert len(rows) == _count(page)
    assert {row["cipher"] for row in rows} == {"ascon-aead128"}
    assert {"device", "encrypt_us", "flash_bytes", "security", "front"} <= set(rows[0])


def test_csv_holds_no_formula(opened: Any) -> None:
    text = opened.page.evaluate("csv([{a: '=1+1', b: '-2.5', c: '@x', d: 'a,b', e: -3}])")
    assert text.splitlines()[1] == "'=1+1,-2.5,'@x,\"a,b\",-3"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("flash", "lots", "Flash at most 'lots': write a number of bytes, such as 4096 or 4k"),
        ("ram", "-3", "RAM at most '-3': write a number of bytes, such as 4096 or 4k"),
    ],
)
def test_a_wrong_field_is_marked_and_told(opened: Any, name: str, text: str, said: str) -> None:
    page = opened.page
    _shown(page)
    field = f"#explorer-form input[name={name}]"
    page.fill(field, text)
    assert page.get_attribute(field, "aria-invalid") == "true"
    described = page.get_attribute(field, "aria-describedby")
    assert page.text_content(f"#{described}") == said
    assert said in page.text_content("#explorer-count")
    page.fill(field, "4k")
    assert page.get_attribute(field, "aria-invalid") is None
    assert _count(page) > 0


def test_both_axes_of_one_figure_are_refused(opened: Any) -> None:
    page = opened.page
    _shown(page)
    _choose(page, "y", "flash")
    assert page.get_attribute("#explorer-form select[name=y]", "aria-invalid") == "true"
    assert "choose another figure than across" in page.text_content("#explorer-count")


def test_many_points_are_drawn_as_fewer_and_the_front_stays(opened: Any) -> None:
    page = opened.page
    _shown(page)
    found = page.evaluate(
        """() => {
          const state = explorerState();
          const points = [];
          for (let i = 0; i < 20000; i += 1) {
            const security = i % 3 ? "recommended" : "broken";
            const row = {device: i % 2 ? "uno" : "pico", security, placement: "flash"};
            points.push({row, x: 1 + (i * 7919) % 9973, y: 1 + (i * 104729) % 9967});
          }
          const front = paretoFront(points);
          const specification = scatter(points, front, state);
          const values = specification.data.values;
          return {drawn: values.length, counted: values.reduce((sum, v) => sum + v.count, 0),
                  front: values.filter(v => v.front).map(v => [v.x, v.y]).sort(),
                  wanted: front.map(p => [p.x, p.y]).sort()};
        }"""
    )
    assert found["counted"] == 20000
    assert found["drawn"] <= 1500 + len(found["wanted"])
    assert found["front"] == found["wanted"]
