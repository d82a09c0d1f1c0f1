"""Lays out the pages of the site: docs/ and README.md, with every file that they link to.

A link to a file or folder outside docs/ becomes a link to a page that shows it, or to a copy of it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
LISTED_BYTES_MAX = 60_000
"""Longer files are copied, not shown on a page."""
LANGUAGES = {
    ".c": "c",
    ".h": "c",
    ".cpp": "cpp",
    ".ino": "cpp",
    ".S": "gas",
    ".py": "python",
    ".toml": "toml",
    ".json": "json",
    ".md": "markdown",
}
_LINK = re.compile(r"(\]\()([^)\s]+)(\))")
_FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def lay_out(pages: Path) -> None:
    """Write every page of docs/ and the README into this folder, as index.md, with their pictures.

    Raises
    ------
    FileNotFoundError
        When a page links to a file that does not exist.
    """
    sources = {DOCS.joinpath(*path.relative_to(DOCS).parts): path for path in sorted(DOCS.rglob("*.md"))}
    written = {page: page.relative_to(DOCS).as_posix() for page in sources} | {ROOT / "README.md": "index.md"}
    shown: dict[Path, str] = {}
    for source, place in written.items():
        text = source.read_text(encoding="utf-8")
        _write(pages / place, _with_links(text, _mapping(source, place, written, shown, pages)))
    for path in DOCS.rglob("*"):
        if path.suffix in (".svg", ".png"):
            copy = pages / path.relative_to(DOCS)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


def _mapping(
    source: Path, place: str, written: dict[Path, str], shown: dict[Path, str], pages: Path
) -> Callable[[str], str]:
    """How a link of this page is written in the site."""

    def mapped(link: str) -> str:
        path, hash_mark, anchor = link.partition("#")
        if not path or re.match(r"[a-z]+:", path):
            return link
        target = (source.parent / path).resolve()
        if target in written:
            found = written[target]
        elif target.is_relative_to(DOCS) and target.is_file():
            found = target.relative_to(DOCS).as_posix()
        elif target.exists() and target.is_relative_to(ROOT):
            found = shown.setdefault(target, "") or _show(target, pages)
            shown[target] = found
        else:
            raise FileNotFoundError(f"{source.relative_to(ROOT)}: there is no {path}")
        return os.path.relpath(found, PurePosixPath(place).parent) + hash_mark + anchor

    return mapped


def _with_links(text: str, mapped: Callable[[str], str]) -> str:
    """The page with its links mapped, except in listings."""
    parts: list[str] = []
    end = 0
    for fence in _FENCE.finditer(text):
        parts += [_mapped(text[end : fence.start()], mapped), fence.group()]
        end = fence.end()
    return "".join([*parts, _mapped(text[end:], mapped)])


def _mapped(text: str, mapped: Callable[[str], str]) -> str:
    return _LINK.sub(lambda link: link[1] + mapped(link[2]) + link[3], text)


def _show(target: Path, pages: Path) -> str:
    """Where the site has this file or folder: a page of listings, or a copy of a long file."""
    name = target.relative_to(ROOT).as_posix()
    if target.is_file() and (not _is_text(target) or target.stat().st_size > LISTED_BYTES_MAX):
        copy = pages / "files" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(target, copy)
        return f"files/{name}"
    files = [target] if target.is_file() else sorted(path for path in target.rglob("*") if _listed(path))
    listings = [f"# {name}\n"]
    for path in files:
        mark = "`" * 5
        title = [] if path == target else [f"## {path.relative_to(target).as_posix()}\n"]
        code = path.read_text(encoding="utf-8").rstrip("\n")
        listings += [*title, f"{mark}{LANGUAGES.get(path.suffix, 'text')}\n{code}\n{mark}\n"]
    place = f"files/{name}.md"
    _write(pages / place, "\n".join(listings))
    return place


def _listed(path: Path) -> bool:
    hidden = any(part.startswith((".", "__")) for part in path.relative_to(ROOT).parts)
    return path.is_file() and not hidden and path.stat().st_size <= LISTED_BYTES_MAX and _is_text(path)


def _is_text(path: Path) -> bool:
    try:
        path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
