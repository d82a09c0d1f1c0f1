"""The report by keyboard alone: the whole page is walked with Tab, and panels open and close by key."""

from __future__ import annotations

from typing import Any

STEPS_MAX = 900
"""More than the page has places for the focus: an end that is not reached is a trap."""

HERE = """() => {
  const e = document.activeElement;
  if (!e || e === document.body || e === document.documentElement) return null;
  const box = e.getBoundingClientRect();
  const style = getComputedStyle(e);
  const label = [...(e.labels ?? [])].map((one) => one.textContent).join(" ");
  const ids = (e.getAttribute("aria-labelledby") ?? "").split(" ");
  const by = ids.map((id) => document.getElementById(id)?.textContent);
  window.walked ??= new Map();
  if (!window.walked.has(e)) window.walked.set(e, window.walked.size);
  return {
    number: window.walked.get(e),
    what: `${e.tagName.toLowerCase()}#${e.id} ${e.textContent.slice(0, 40)}`,
    name: (e.getAttribute("aria-label") || by.join("") || label || e.textContent || e.title || "").trim(),
    seen: box.width > 0 && box.height > 0 && style.visibility === "visible",
    ring: (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1)
      || style.boxShadow !== "none",
    onScreen: box.bottom > 0 && box.top < innerHeight,
    top: box.top + scrollY,
    section: e.closest("section, header, nav, footer, main")?.id ?? "",
  };
}"""

REACHABLE = """() => [...document.querySelectorAll(
    "a[href], button, input, select, textarea, summary, [tabindex='0']")]
  .filter((e) => !e.disabled && e.tabIndex >= 0 && e.checkVisibility({ visibilityProperty: true })
    && !(e.closest("details:not([open])") && !(e.tagName === "SUMMARY"
      && !e.parentElement.parentElement.closest("details:not([open])"))))
  .filter((e) => e.type !== "radio" || e.checked || !document.querySelector(`[name='${e.name}']:checked`))
  .filter((e) => !window.walked.has(e))
  .map((e) => `${e.tagName.toLowerCase()}#${e.id} ${e.name ?? ""} ${e.textContent.slice(0, 40)}`)"""


def _walk(page: Any, key: str = "Tab") -> list[dict[str, Any]]:
    """Every place of the focus from the page's start to its end."""
    found: list[dict[str, Any]] = []
    for _ in range(STEPS_MAX):
        page.keyboard.press(key)
        here = page.evaluate(HERE)
        if here is None or (found and here["number"] < found[-1]["number"] and key == "Tab"):
            return found
        found.append(here)
    raise AssertionError(f"a trap: {found[-1]['what']}")


def test_tab_reaches_everything_in_order_with_a_name_and_a_ring(opened: Any) -> None:
    opened.settle()
    page = opened.page
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.evaluate("document.activeElement?.blur(); scrollTo(0, 0)")
    page.wait_for_timeout(300)
    places = _walk(page)
    assert len(places) > 60
    assert not [one["what"] for one in places if not one["name"]], "without a name"
    assert not [one["what"] for one in places if not one["ring"]], "without a visible focus"
    assert not [one["what"] for one in places if not (one["seen"] and one["onScreen"])], "not to be seen"
    assert not page.evaluate(REACHABLE), "not reached"
    numbers = [one["number"] for one in places]
    assert len(numbers) == len(set(numbers)), "goes round"
    sections = [one["section"] for one in places]
    order = list(dict.fromkeys(sections))
    entered = [name for n, name in enumerate(sections) if n == 0 or sections[n - 1] != name]
    assert len(entered) <= len(order) + 2, f"jumps between sections: {entered}"


def test_panels_open_and_close_by_key(opened: Any) -> None:
    page = opened.page
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = false; })")
    count = page.locator("main details").count()
    assert count > 5
    panel = page.locator("#sources details").first
    for key in ("Enter", "Space"):
        panel.locator("summary").first.focus()
        page.keyboard.press(key)
        assert panel.evaluate("one => one.open"), key
        page.keyboard.press("Tab")
        assert panel.evaluate("one => one.contains(document.activeElement)"), "into what it opened"
        page.keyboard.press("Escape")
        assert not panel.evaluate("one => one.open"), "Escape closes it"
        assert page.evaluate("document.activeElement.tagName") == "SUMMARY", "and gives the focus back"


def test_a_control_of_the_explorer_works_by_key(opened: Any) -> None:
    page = opened.page
    page.evaluate("location.hash = '#explorer'")
    page.wait_for_function("document.getElementById('explorer-count').textContent !== ''")
    before = page.text_content("#explorer-count")
    page.focus("#explorer-form input[name=device][value=pico]")
    page.keyboard.press("Space")
    assert page.text_content("#explorer-count") != before
    heading = page.locator("#explorer-table thead button").nth(1)
    heading.focus()
    page.keyboard.press("Enter")
    assert page.locator("#explorer-table thead [aria-sort]").count() == 1
    assert page.evaluate("document.activeElement.closest('thead') !== null"), "the focus stays"
