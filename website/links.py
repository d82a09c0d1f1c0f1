"""Finds what is broken in a built site: links to nothing, and anything that asks a network."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
QUIET_LINKS = {"canonical", "next", "prev"}


class _Page(HTMLParser):
    """The links, the loaded files and the anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = {name: value for name, value in attributes if value is not None}
        self.anchors.update(named[name] for name in ("id", "name") if name in named)
        if tag == "a" and "href" in named:
            self.links.append(named["href"])
        elif tag in LOADED and LOADED[tag] in named and named.get("rel") not in QUIET_LINKS:
            self.loaded.append(named[LOADED[tag]])


@cache
def _page(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def faults(folder: Path) -> Iterator[str]:
    """What is broken in the HTML files below this folder, a line each: page, link, and why."""
    for path in sorted(folder.rglob("*.html")):
        page = _page(path)
        name = path.relative_to(folder).as_posix()
        for link in page.loaded:
            if urlsplit(link).netloc:
                yield f"{name}: {link} is loaded from a network"
        for link in {*page.links, *page.loaded}:
            yield from (f"{name}: {link}: {why}" for why in _broken(path, link, folder))


def _broken(path: Path, link: str, folder: Path) -> Iterator[str]:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(folder.resolve()):
        yield "outside the site"
    elif not target.is_file():
        yield "there is no such file"
    elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in _page(target).anchors:
        yield "there is no such heading"
